// The button "Near me": the same search around the reader, nearest first.
export function nearMe(t) {
  const button = document.getElementById("nearme");
  if (!button || !isSecureContext || !navigator.geolocation) return;
  button.hidden = false;
  const refused = document.createElement("p");
  refused.className = "relaxed";
  refused.setAttribute("role", "status");
  button.form.append(refused);
  refused.hidden = true;
  button.addEventListener("click", () => {
    button.disabled = true;
    navigator.geolocation.getCurrentPosition(({ coords }) => {
      const asked = new URLSearchParams(new FormData(button.form));
      for (const name of ["radius", "bbox", "cursor"]) asked.delete(name);
      asked.set("lat", coords.latitude.toFixed(5));
      asked.set("lon", coords.longitude.toFixed(5));
      asked.set("sort", "distance");
      location.assign("/?" + asked);
    }, () => {
      button.disabled = false;
      refused.textContent = t.refused;
      refused.hidden = false;
    }, { enableHighAccuracy: true, timeout: 15000, maximumAge: 60000 });
  });
}

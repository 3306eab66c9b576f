// startShare adds a button that shares the page with its view of the map, and one on each card that
// copies its facts. Both need a secure context: this machine, or HTTPS.
export function startShare(map, t) {
  if (!isSecureContext || !navigator.clipboard) return;
  const told = document.createElement("p");
  told.className = "told";
  told.setAttribute("role", "status");
  document.body.append(told);
  let fading = 0;
  const copy = (text) =>
    navigator.clipboard.writeText(text).then(() => {
      told.textContent = t.copied;
      clearTimeout(fading);
      fading = setTimeout(() => (told.textContent = ""), 3000);
    }, () => {});

  const share = document.getElementById("share");
  if (share) {
    share.hidden = false;
    share.addEventListener("click", () => {
      const url = location.origin + location.pathname + location.search + (map ? map.here() : location.hash);
      if (navigator.share) navigator.share({ title: document.title, url }).catch(() => {});
      else copy(url);
    });
  }
  for (const more of document.querySelectorAll(".more[data-copy]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = t.copy;
    button.addEventListener("click", () => copy(more.dataset.copy));
    more.insertBefore(button, more.querySelector("details"));
  }
}

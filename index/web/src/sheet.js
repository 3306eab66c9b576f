// On a phone the list is a sheet over the map that stops at three heights, as shares of the screen.
// At the lowest the cards are side by side and can be swiped.
const stops = [0.12, 0.5, 0.92];

// startSheet gives the list a handle that can be dragged, pressed, and moved with the arrow keys,
// and returns actions that show the map or the list. It calls swiped with the ID of the
// item whose card was swiped to. On a wide screen the style sheet makes it an ordinary column.
export function startSheet(columns, list, total, t, swiped) {
  document.documentElement.classList.add("sheet");
  const handle = document.createElement("button");
  handle.type = "button";
  handle.className = "handle";
  handle.setAttribute("aria-controls", list.id);
  const word = document.createElement("span");
  word.textContent = `${t.list} (${total.toLocaleString(document.documentElement.lang)})`;
  handle.append(word);
  list.prepend(handle);

  // On a phone the footer goes to the end of the list, because the page itself does not scroll.
  const foot = document.getElementById("foot");
  const narrow = matchMedia("screen and (max-width: 56rem)");
  const place = () => (narrow.matches ? list.append(foot) : document.body.insertBefore(foot, document.getElementById("page-data")));
  narrow.addEventListener("change", place);
  place();

  let stop = 1;
  try {
    const kept = sessionStorage.getItem("sheet");
    if (/^[012]$/.test(kept)) stop = +kept;
  } catch {
    // storage is disabled: every page starts at half height
  }
  function to(n) {
    stop = Math.max(0, Math.min(stops.length - 1, n));
    list.style.height = "";
    columns.dataset.stop = stop;
    handle.setAttribute("aria-expanded", String(stop > 0));
    handle.setAttribute("aria-label", `${word.textContent}, ${t["sheet" + stop]}`);
    if (stop === 0) list.scrollTop = 0;
    list.querySelector("li.selected")?.scrollIntoView({ block: "nearest", inline: "center" });
    try {
      sessionStorage.setItem("sheet", stop);
    } catch {}
  }
  to(stop);

  let from = null; // where a drag began: y, height
  let dragged = false;
  handle.addEventListener("pointerdown", (e) => {
    if (e.button !== 0) return;
    from = { y: e.clientY, height: list.offsetHeight };
    dragged = false;
    handle.setPointerCapture(e.pointerId);
  });
  handle.addEventListener("pointermove", (e) => {
    if (!from || (!dragged && Math.abs(e.clientY - from.y) < 6)) return;
    dragged = true;
    columns.classList.add("dragging");
    const room = columns.offsetHeight;
    list.style.height = `${Math.max(stops[0] * room, Math.min(stops[2] * room, from.height + from.y - e.clientY))}px`;
  });
  const release = () => {
    if (!from) return;
    from = null;
    columns.classList.remove("dragging");
    if (!dragged) return;
    const share = list.offsetHeight / columns.offsetHeight;
    to(stops.reduce((best, s, n) => (Math.abs(s - share) < Math.abs(stops[best] - share) ? n : best), 0));
  };
  handle.addEventListener("pointerup", release);
  handle.addEventListener("pointercancel", release);
  handle.addEventListener("click", () => {
    if (!dragged) to((stop + 1) % stops.length);
    dragged = false; // the click that ends a drag does not count
  });
  handle.addEventListener("keydown", (e) => {
    const n = { ArrowUp: stop + 1, ArrowDown: stop - 1, Home: 2, End: 0 }[e.key];
    if (n === undefined) return;
    e.preventDefault();
    to(n);
  });
  // Keyboard focus opens the list, and a tap on a card opens it there.
  list.addEventListener("focusin", (e) => {
    if (e.target !== handle && stop === 0 && narrow.matches && e.target.matches(":focus-visible")) to(1);
  });
  list.addEventListener("click", (e) => {
    const card = e.target.closest("ol > li");
    if (!card || stop !== 0 || !narrow.matches || e.target.closest("a, button")) return;
    to(1);
    card.scrollIntoView({ block: "nearest" });
  });

  const cards = list.querySelector("ol");
  const middle = (e) => e.offsetLeft + e.offsetWidth / 2;
  let settling = 0;
  cards?.addEventListener("scroll", () => {
    clearTimeout(settling);
    if (stop !== 0 || !narrow.matches) return;
    settling = setTimeout(() => {
      const far = (card) => Math.abs(middle(card) - cards.scrollLeft - middle(cards));
      const near = [...cards.children].reduce((best, card) => (far(card) < far(best) ? card : best));
      swiped(near.id);
    }, 120);
  }, { passive: true });

  return {
    showMap: () => narrow.matches && stop === 2 && to(1),
    showList: () => narrow.matches && stop === 0 && to(1),
  };
}

// startKeys adds keyboard shortcuts for everything; ? lists them.
export function startKeys(map, t) {
  const help = document.createElement("dialog");
  help.className = "help";
  help.setAttribute("aria-label", t.keys);
  const title = document.createElement("h2");
  title.textContent = t.keys;
  const list = document.createElement("dl");
  for (const [key, what] of [["/", t.key_search], ["j", t.key_next], ["k", t.key_previous], ["Enter", t.key_open], ["m", t.key_map], ["Esc", t.key_close]]) {
    const dt = document.createElement("dt"), dd = document.createElement("dd"), kbd = document.createElement("kbd");
    kbd.textContent = key;
    dt.append(kbd);
    dd.textContent = what;
    list.append(dt, dd);
  }
  const form = document.createElement("form");
  form.method = "dialog";
  const ok = document.createElement("button");
  ok.textContent = t.close_popup;
  form.append(ok);
  help.append(title, list, form);
  document.body.append(help);
  const opener = document.getElementById("keys");
  if (opener) {
    opener.hidden = false;
    opener.addEventListener("click", () => help.showModal());
  }

  const hits = [...document.querySelectorAll("ol > li")];
  const step = (by) => {
    const now = hits.findIndex((li) => li.contains(document.activeElement));
    const from = now >= 0 ? now : hits.findIndex((li) => li.classList.contains("selected"));
    const li = hits[Math.max(0, Math.min(hits.length - 1, from < 0 ? 0 : from + by))];
    if (!li) return;
    map?.select(li.id);
    (li.querySelector("h2 a") || li.querySelector("button, a, summary"))?.focus();
  };
  addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.altKey || e.metaKey || e.isComposing || e.defaultPrevented) return;
    const typing = e.target.closest?.("input, textarea, select");
    if (e.key === "Escape") {
      for (const d of document.querySelectorAll("details.facet[open]")) {
        d.open = false;
        d.querySelector("summary").focus();
      }
      map?.close();
      return;
    }
    if (typing || help.open) return;
    const q = document.getElementById("q");
    switch (e.key) {
      case "/": q?.focus(); q?.select(); break;
      case "j": step(1); break;
      case "k": step(-1); break;
      case "m": map?.focus(); break;
      case "?": help.showModal(); break;
      default: return;
    }
    e.preventDefault();
  });
}

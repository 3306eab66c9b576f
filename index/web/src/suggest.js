// startSuggestions makes input a combobox (ARIA 1.2): the focus stays in it, and the list below
// shows completions of what is typed.
export function startSuggestions(input, t) {
  if (!input) return;
  const list = document.createElement("ul");
  list.id = "suggestions";
  list.className = "suggestions";
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", t.suggestions);
  input.parentElement.append(list);
  const said = document.createElement("p");
  said.className = "unseen";
  said.setAttribute("role", "status");
  input.parentElement.append(said);
  for (const [name, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id })) input.setAttribute(name, value);

  let at = -1, timer = 0, running = null, typed = "";
  const close = () => {
    clearTimeout(timer);
    running?.abort();
    list.hidden = true;
    at = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const mark = (n) => {
    list.children[at]?.setAttribute("aria-selected", "false");
    at = n;
    const option = list.children[at];
    if (option) {
      option.setAttribute("aria-selected", "true");
      input.setAttribute("aria-activedescendant", option.id);
      input.value = option.dataset.text;
    } else {
      input.removeAttribute("aria-activedescendant");
      input.value = typed;
    }
  };
  const ask = async () => {
    typed = input.value;
    if (typed.trim().length < 2) return close();
    running?.abort();
    running = new AbortController();
    let found = [];
    try {
      const r = await fetch("/v1/suggest?limit=8&q=" + encodeURIComponent(typed), { signal: running.signal });
      if (!r.ok) return close();
      found = (await r.json()).suggestions;
    } catch {
      return; // more was typed, or the server is gone
    }
    list.replaceChildren(...found.map((s, i) => {
      const option = document.createElement("li");
      option.id = "suggestion" + i;
      option.dataset.text = s.text;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      const kind = document.createElement("span");
      kind.className = "quiet";
      kind.textContent = t["kind_" + s.kind] || "";
      option.append(s.text, " ", kind);
      return option;
    }));
    at = -1;
    input.removeAttribute("aria-activedescendant");
    list.hidden = found.length === 0;
    input.setAttribute("aria-expanded", String(found.length > 0));
    said.textContent = found.length ? `${found.length} ${t.suggestions}` : "";
  };
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, 120);
  });
  input.addEventListener("keydown", (e) => {
    const n = list.children.length;
    if (e.isComposing || list.hidden || n === 0) return;
    if (e.key === "ArrowDown") mark(at + 1 < n ? at + 1 : -1);
    else if (e.key === "ArrowUp") mark(at === -1 ? n - 1 : at - 1);
    else if (e.key === "Escape") {
      input.value = typed;
      close();
      e.stopPropagation();
    } else return;
    e.preventDefault();
  });
  input.addEventListener("blur", close);
  input.form.addEventListener("submit", close);
  list.addEventListener("pointerdown", (e) => {
    e.preventDefault(); // keeps the focus in the input
    const option = e.target.closest("li");
    if (!option) return;
    input.value = option.dataset.text;
    close();
    input.form.requestSubmit();
  });
}

// People correct cards: the operator with the token of the data directory, visitors by suggestions.
// Texts of pages and of people are set as text, never as markup.
"use strict";

(() => {
  const texts = JSON.parse(document.getElementById("correct-texts").textContent);
  const stored = "gazehound-token";
  let token = sessionStorage.getItem(stored) || "";

  // el creates an element with attributes and children; strings become text nodes.
  function el(name, attributes = {}, ...children) {
    const e = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "onclick" || key === "onsubmit") e.addEventListener(key.slice(2), value);
      else e.setAttribute(key, value);
    }
    e.append(...children.filter((c) => c !== null));
    return e;
  }

  const say = (key, ...values) => texts[key].replace(/%s/g, () => values.shift());
  const button = (text, onclick, name) => el("button", { type: "button", onclick, ...(name ? { "aria-label": name } : {}) }, text);

  // api sends a request and returns the answer; an error has the status and the problem's words.
  async function api(method, path, body, headers = {}) {
    const all = { "X-Gazehound-Control": "1", ...headers };
    if (token) all.Authorization = "Bearer " + token;
    if (body) all["Content-Type"] = "application/json";
    const r = await fetch(path, { method, headers: all, body: body ? JSON.stringify(body) : undefined, cache: "no-store" });
    const answer = await r.json().catch(() => ({}));
    if (r.ok) return answer;
    const known = { 401: "token", 412: "stale", 429: "many" }[r.status];
    const detail = [answer.title || r.statusText, answer.parameter === "value" ? answer.expected : answer.hint].filter(Boolean).join(". ");
    throw Object.assign(new Error(known ? say(known) : say("failed", detail)), { status: r.status });
  }

  // said describes a correction in words.
  const said = (f) => texts["what_" + f.what] + (f.value ? ": " + (texts["value_" + f.value] || f.value) : "");

  const fields = [["name", "text"], ["kind", "text"], ["phone", "tel"], ["hours", "text"]];

  // A panel corrects one address. done is called after each change, and gets whether the card is dealt with.
  function panel(id, name, state, done) {
    const message = el("p", { role: "status", class: "said" });
    const facts = el("ul", { class: "facts" });
    const entry = el("div", { class: "entry" });
    const choices = el("div", { class: "choices" });
    const box = el("div", { class: "panel", role: "group", "aria-label": say("group", name) }, choices, entry, message, facts);
    let tag = state ? state.etag : "";

    function showFacts(list) {
      facts.replaceChildren(...list.map((f) => el("li", {},
        said(f) + " ", f.contradicted ? el("span", { class: "badge" }, say("contradicted")) : null, " ",
        button(say("undo"), () => send({ undo: f.n }, say("undone"), false), say("undo") + ": " + said(f)))));
    }

    async function send(body, text, dealtWith) {
      try {
        const path = token ? "/v1/corrections" : "/v1/suggestions";
        const answer = await api("POST", path, body, token ? { "If-Match": tag || "*" } : {});
        entry.replaceChildren();
        tag = answer.etag || tag;
        if (token) showFacts(answer.facts || []);
        message.textContent = text;
        done(dealtWith && !body.undo, !!body.undo);
      } catch (e) {
        message.textContent = e.message;
        if (e.status === 401) forget();
        if (e.status === 412) await load();
      }
    }

    function forget() {
      token = "";
      sessionStorage.removeItem(stored);
      for (const f of document.querySelectorAll("#correct-login")) f.hidden = false;
    }

    async function load() {
      if (!token) return;
      try {
        const s = await api("GET", "/v1/corrections/" + id);
        tag = s.etag;
        showFacts(s.facts);
      } catch (e) {
        message.textContent = e.message;
        if (e.status === 401) forget();
      }
    }

    const decide = (what, value) => send({ address: id, what, ...(value ? { value } : {}) }, say(token ? "saved" : "thanks", said({ what, value })), true);

    function ask(what, type) {
      const field = "f-" + id + "-" + what;
      const input = el("input", { id: field, type, required: "", maxlength: "255", autocomplete: "off", value: (state && state[what === "hours" ? "opening_hours" : what]) || "" });
      entry.replaceChildren(el("form", { onsubmit: (e) => {
        e.preventDefault();
        send({ address: id, what, value: input.value }, say(token ? "saved" : "thanks", said({ what, value: input.value })), false);
      } }, el("label", { for: field }, say("ask_" + what)), input, el("button", {}, say("save")),
      button(say("cancel"), () => { entry.replaceChildren(); choices.querySelector("button").focus(); })));
      input.focus();
    }

    choices.append(
      button(say("confirm"), () => decide("confirm")),
      button(say("gone_closed"), () => decide("gone", "closed")),
      button(say("gone_moved"), () => decide("gone", "moved")),
      ...fields.map(([what, type]) => button(say("set_" + what), () => ask(what, type))),
      button(say("reject"), () => decide("reject")),
      button(say("private"), () => decide("private")),
    );
    if (!token) choices.querySelector("button").remove(); // to confirm is the operator's
    if (state) showFacts(state.facts); else load();
    return box;
  }

  // Cards of the search page.
  for (const place of document.querySelectorAll(".correct[data-id]")) {
    const { id, name } = place.dataset;
    const open = button(say(token ? "correct" : "suggest"), () => {
      const opened = open.getAttribute("aria-expanded") === "true";
      open.setAttribute("aria-expanded", String(!opened));
      if (opened) {
        place.querySelector(".panel").remove();
        return;
      }
      place.append(panel(id, name, null, () => {}));
      place.querySelector(".panel button").focus();
    }, say(token ? "correct" : "suggest") + ": " + name);
    open.setAttribute("aria-expanded", "false");
    place.append(open);
  }

  // The page with the queue.
  const queue = document.getElementById("queue");
  if (!queue) return;
  const login = document.getElementById("correct-login"), status = document.getElementById("queue-status");
  const latest = document.getElementById("latest");

  function doubt(d) {
    const item = el("li", {});
    const heading = el("h2", { tabindex: "-1" }, d.name || d.address);
    const about = [d.address, d.kind_title, d.phone, d.opening_hours, d.status && (texts["value_" + d.status] || d.status)].filter(Boolean).join(" · ");
    const page = d.evidence[0];
    const link = page && /^https?:/.test(page.url) ? el("a", { href: page.url, rel: "noopener noreferrer nofollow ugc" }, page.title || page.url) : null;
    const card = el("article", {}, heading,
      el("p", { class: "address" }, about),
      el("p", {}, ...d.reasons.map((r) => el("span", { class: "badge" }, texts["reason_" + r] || r))),
      page ? el("p", { class: "snippet" }, page.snippet) : null,
      el("p", { class: "facts" }, link, " ", el("a", { href: "/addresses/" + d.id }, say("card"))),
      d.suggestions.length ? el("ul", {}, ...d.suggestions.map((s) => el("li", {}, say("suggested", said(s))))) : null);
    card.append(panel(d.id, d.name || d.address, d, (dealtWith) => {
      item.classList.toggle("dealt", dealtWith);
      if (!dealtWith) return;
      const next = item.nextElementSibling;
      if (next) next.querySelector("h2").focus();
    }));
    item.append(card);
    return item;
  }

  async function fill() {
    login.hidden = !!token;
    if (!token) return;
    try {
      status.textContent = say("loading");
      const q = await api("GET", "/v1/doubts?lang=" + document.documentElement.lang);
      queue.replaceChildren(...q.doubts.map(doubt));
      status.textContent = q.waiting ? say("waiting", q.waiting) : say("none");
      const list = await api("GET", "/v1/corrections");
      latest.replaceChildren(...list.corrections.filter((f) => f.what !== "undo").map((f) => {
        const of = f.address ? el("a", { href: "/addresses/" + f.address }, f.address) : (f.pages || []).join(" ");
        const item = el("li", {}, new Date(f.time).toLocaleString(document.documentElement.lang) + " · " + said(f) + " · ", of, " ");
        item.append(f.undone ? el("span", { class: "badge" }, say("undone")) : button(say("undo"), async () => {
          try {
            await api("POST", "/v1/corrections", { undo: f.n });
            await fill();
            status.textContent = say("undone");
          } catch (e) {
            status.textContent = e.message;
          }
        }, say("undo") + ": " + said(f)));
        return item;
      }));
    } catch (e) {
      status.textContent = e.message;
      if (e.status === 401) {
        token = "";
        sessionStorage.removeItem(stored);
        login.hidden = false;
      }
    }
  }

  login.addEventListener("submit", (e) => {
    e.preventDefault();
    token = document.getElementById("correct-token").value.trim();
    sessionStorage.setItem(stored, token);
    fill();
  });
  document.getElementById("more").addEventListener("click", () => { fill().then(() => status.focus()); });
  fill();
})();

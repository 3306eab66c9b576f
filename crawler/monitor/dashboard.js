// The dashboard of a running crawl. Text from crawled pages is set as text, never as markup.
"use strict";

const $ = (id) => document.getElementById(id);
const svgNS = "http://www.w3.org/2000/svg";
let token = document.querySelector("meta[name=gazehound-token]").content || sessionStorage.getItem("gazehound-token") || "";
const lang = document.documentElement.lang, texts = JSON.parse($("texts").textContent);
const locale = navigator.languages.find((l) => l.split("-")[0] === lang) || lang; // of clocks
let span = "10m", depth = 1, last = null, points = null, plan = null, paused = false;

// el creates an element with attributes and children; strings become text nodes.
function el(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) {
    if (k === "onclick") e.addEventListener("click", v); else e.setAttribute(k, v);
  }
  e.append(...children.filter((c) => c !== null));
  return e;
}

function shape(name, attributes = {}, text = "") {
  const e = document.createElementNS(svgNS, name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text) e.textContent = text;
  return e;
}

// say fills in a text, and sayOf its singular or plural, by n; named translates a word of the API.
const say = (key, ...values) => texts[key].replace(/%s/g, () => values.shift());
function sayOf(n, key, ...values) {
  const [one, many] = texts[key].split("|");
  return (n === 1 ? one : many).replace(/%s/g, () => values.shift());
}
const named = (kind, word) => texts[kind + "_" + word.replaceAll(" ", "_")] || word.replaceAll("_", " ");

const whole = (n) => Math.round(n).toLocaleString(lang);
const decimal = (x, digits) => x.toLocaleString(lang, { minimumFractionDigits: digits, maximumFractionDigits: digits });
const short = (x) => x.toLocaleString(lang, { maximumFractionDigits: 1 });
const percent = (x) => decimal(100 * x, 1) + "\u00a0%";
const megabytes = (n) => whole(n / 1e6) + " MB";

function duration(seconds) {
  const s = Math.max(0, Math.round(seconds)), d = Math.floor(s / 86400), h = Math.floor(s / 3600) % 24, m = Math.floor(s / 60) % 60;
  if (d) return d + " d " + h + " h";
  if (h) return h + " h " + m + " min";
  if (m) return m + " min " + (s % 60) + " s";
  return s + " s";
}

function tell(text) {
  $("message").textContent = text;
  $("message").hidden = !text;
}

// get returns the JSON of one of our own addresses.
async function get(path) {
  const r = await fetch(path, { headers: token ? { Authorization: "Bearer " + token } : {} });
  if (r.status === 401) {
    $("login").hidden = false;
    throw new Error(say("wants_token"));
  }
  const body = await r.json();
  if (!r.ok) throw new Error(r.status === 404 ? say("not_known") : say("failed", body.title || r.statusText));
  return body;
}

// post changes something: what is one of pause, resume, stop, checkpoint, labels.
async function post(what, body) {
  try {
    const r = await fetch(what === "labels" ? "v1/labels" : "v1/crawl/" + what, {
      method: "POST", body: body ? JSON.stringify(body) : "",
      headers: { Authorization: "Bearer " + token, "X-Gazehound-Control": "1", "Content-Type": "application/json" },
    });
    if (!r.ok) throw new Error((await r.json()).title || r.statusText);
    return true;
  } catch (e) {
    tell(say("failed", e.message));
    return false;
  }
}

function show(s) {
  if (!s.at || s.at.startsWith("0001")) return; // no second has passed yet
  last = s;
  paused = !!s.paused;
  const took = duration((Date.parse(s.at) - Date.parse(s.started)) / 1000);
  let state = say("running", took, named("bound", s.bottleneck)), because = s.because;
  if (s.end) [state, because] = [say("ended", took, named("end", s.end)), ""];
  else if (s.stopping) [state, because] = [say("stopping", took), say("open_pages")];
  else if (paused) [state, because] = [say("paused"), say("held")];
  if ($("state").textContent !== state) $("state").textContent = state;
  $("because").textContent = because;
  $("pause").textContent = say(paused ? "resume" : "pause");
  for (const id of ["pause", "checkpoint", "stop"]) $(id).disabled = !!s.end || !!s.stopping;
  for (const f of s.figures) $("n-" + f.id).replaceChildren(f.value, el("small", {}, f.note));
  const h = s.hosts;
  $("hoststate").textContent = say("hosts", whole(h.known), whole(h.ready), whole(h.waiting), whole(h.backoff));
  const losses = (s.log_loss || []).map((x) => (x === null ? say("unknown") : decimal(x, 2)));
  $("loss").textContent = say("loss", losses.join(" · "));
  $("advice").replaceChildren(...((s.advice || []).length ? s.advice : [say("no_advice")]).map((t) => el("li", {}, t)));
  for (const d of s.fresh || []) dot(d.lon, d.lat, Date.parse(d.found) / 1000 || 0, true);
  if (s.fresh) drawDots();
  if (points && span === "10m") {
    append(s);
    curves();
  }
}

// append adds the state s, sent once a second, to the curves of the last ten minutes.
function append(s) {
  const t = Math.floor(Date.parse(s.at) / 1000), n = points.t.length - 1;
  const row = { t, pages: s.pages, relevant: s.relevant, links_queued: s.links_queued, addresses: s.addresses, harvest_1000: s.harvest_1000 };
  for (const [k, v] of Object.entries(row)) {
    if (n >= 0 && points.t[n] === t && k !== "t") points[k][n] = v; else if (!(n >= 0 && points.t[n] === t)) points[k].push(v);
  }
  while (points.t.length > 600) for (const k of Object.keys(row)) points[k].shift();
}

// chart draws lines over time; a gap in time or a null interrupts the line.
function chart(svg, t, lines, options) {
  const w = svg.clientWidth || 600, h = svg.clientHeight || 200, left = 44, bottom = 18, top = 8;
  const values = lines.flatMap((l) => l.y.filter((v) => v !== null));
  svg.setAttribute("viewBox", "0 0 " + w + " " + h);
  if (t.length < 2 || !values.length) {
    svg.replaceChildren(shape("text", { x: left, y: h / 2 }, say("unknown")));
    return;
  }
  const max = nice(Math.max(options.least, ...values)), from = t[0], to = Math.max(t[t.length - 1], from + 1);
  const x = (v) => left + (w - left - 6) * (v - from) / (to - from), y = (v) => h - bottom - (h - bottom - top) * v / max;
  const parts = [];
  for (const share of options.ticks) {
    parts.push(shape("path", { class: "grid", d: "M" + left + " " + y(max * share) + "H" + w }), shape("text", { x: left - 6, y: y(max * share) + 4, "text-anchor": "end" }, options.label(max * share)));
  }
  const clock = (v) => new Date(v * 1000).toLocaleString(locale, to - from > 86400 ? { month: "short", day: "numeric" } : { hour: "2-digit", minute: "2-digit", second: to - from < 3600 ? "2-digit" : undefined });
  parts.push(shape("text", { x: left, y: h - 4 }, clock(from)), shape("text", { x: w - 4, y: h - 4, "text-anchor": "end" }, clock(to)));
  const hole = 3 * Math.max((to - from) / 600, median(t));
  for (const l of lines) {
    let d = "", pen = false;
    l.y.forEach((v, i) => {
      if (v === null || (i > 0 && t[i] - t[i - 1] > hole)) pen = false;
      if (v === null) return;
      d += (pen ? "L" : "M") + x(t[i]).toFixed(1) + " " + y(v).toFixed(1);
      pen = true;
    });
    parts.push(shape("path", { class: "line", d }));
  }
  svg.replaceChildren(...parts);
}

function median(t) {
  const gaps = t.slice(1).map((v, i) => v - t[i]).sort((a, b) => a - b);
  return gaps[Math.floor(gaps.length / 2)] || 1;
}

function nice(v) {
  const p = 10 ** Math.floor(Math.log10(v));
  return [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map((f) => f * p).find((n) => n >= v);
}

// leastPages is the number of pages from which a share of relevant ones is drawn.
const leastPages = 50;

function curves() {
  const p = points;
  const settled = (y) => y.map((v, i) => (p.pages[i] < leastPages ? null : v));
  chart($("harvest"), p.t, [{ y: settled(p.harvest_1000) }], { least: 0.05, ticks: [0, 0.5, 1], label: (v) => short(100 * v) + " %" });
  const wide = Math.max(1, Math.round(p.t.length / 60)); // smooths the rate
  const rate = p.t.map((t, i) => {
    const j = Math.max(0, i - Math.max(wide, 5));
    return i > j && t > p.t[j] ? Math.max(0, (p.pages[i] - p.pages[j]) / (t - p.t[j])) : null;
  });
  chart($("rate"), p.t, [{ y: rate }], { least: 1, ticks: [0, 1], label: short });
  chart($("queue"), p.t, [{ y: p.links_queued }], { least: 10, ticks: [0, 1], label: (v) => (v >= 10000 ? Math.round(v / 1000) + "k" : whole(v)) });
  const n = p.t.length - 1;
  if (n > 10) {
    const pages = p.pages[n] - p.pages[0], grown = p.links_queued[n] - p.links_queued[0];
    let text = "";
    if (pages > 20) {
      text = grown >= 0 ? say("grows", decimal(grown / pages, 1)) : say("end", duration(p.links_queued[n] * (p.t[n] - p.t[0]) / -grown));
    }
    $("end").textContent = text;
  }
}

async function loadCurves() {
  points = await get("v1/crawl/series?span=" + span);
  curves();
}

// The map is equirectangular around its middle, which is precise enough for a city.
let drawn = [], dirty = false; // of drawn: when it was found, in Unix seconds, and a piece of a path

async function loadMap() {
  const f = await get("v1/crawl/found");
  const places = [...f.streets, ...f.dots]; // where something is, or else the whole region
  const at = places.length > 20 || !f.outline.length ? places : f.outline.flat();
  if (!at.length) {
    $("map").replaceChildren(shape("text", { x: 320, y: 210, "text-anchor": "middle", fill: "currentColor" }, say("nothing_found")));
    plan = null;
    return;
  }
  const lons = at.map((p) => p[0]), lats = at.map((p) => p[1]);
  const min = (a) => a.reduce((x, y) => Math.min(x, y)), max = (a) => a.reduce((x, y) => Math.max(x, y));
  const [w, e, s, n] = [min(lons), max(lons), min(lats), max(lats)], squeeze = Math.cos((s + n) / 2 * Math.PI / 180);
  const scale = Math.min(600 / Math.max((e - w) * squeeze, 1e-4), 380 / Math.max(n - s, 1e-4));
  plan = { x: (lon) => 320 + (lon - (w + e) / 2) * squeeze * scale, y: (lat) => 210 - (lat - (s + n) / 2) * scale };
  const outline = f.outline.map((ring) => "M" + ring.map((p) => plan.x(p[0]).toFixed(1) + " " + plan.y(p[1]).toFixed(1)).join("L") + "Z").join("");
  const square = (p) => "M" + (plan.x(p[0]) - 2.5).toFixed(1) + " " + (plan.y(p[1]) - 2.5).toFixed(1) + "h5v5h-5z";
  drawn = [];
  for (const d of f.dots) dot(d[0], d[1], d[2], false);
  $("map").replaceChildren(
    shape("path", { class: "land", d: outline }),
    shape("path", { class: "open", d: f.streets.filter((p) => !p[2]).map(square).join("") }),
    shape("path", { class: "covered", d: f.streets.filter((p) => p[2]).map(square).join("") }),
    shape("path", { class: "dots", id: "dots" }), shape("g", { id: "fresh" }));
  drawDots();
}

function dot(lon, lat, found, fresh) {
  if (!plan) return;
  const x = plan.x(lon).toFixed(1), y = plan.y(lat).toFixed(1);
  drawn.push([found, "M" + x + " " + y + "h0"]);
  dirty = true;
  const pulses = $("fresh");
  if (fresh && pulses && pulses.childElementCount < 50) {
    const c = shape("circle", { class: "fresh", cx: x, cy: y, r: 2 });
    c.addEventListener("animationend", () => c.remove());
    pulses.append(c);
  }
}

function drawDots() {
  if (!plan || !$("dots") || !dirty) return;
  dirty = false;
  const [shown, time] = atTime();
  $("dots").setAttribute("d", shown.map((d) => d[1]).join(""));
  $("map").setAttribute("aria-label", time ? sayOf(shown.length, "map_until", time, whole(shown.length)) : sayOf(shown.length, "map", whole(shown.length)));
}

// The slider goes back through this run. Which streets were covered then is not known, so their
// squares fade.
function atTime() {
  const times = drawn.map((d) => d[0]).filter(Boolean);
  const [first, last] = times.reduce(([a, b], t) => [Math.min(a, t), Math.max(b, t)], [Infinity, 0]);
  $("times").hidden = !(last - first >= 2);
  const share = $("when").value / $("when").max, live = share === 1 || $("times").hidden;
  $("map").classList.toggle("past", !live);
  const until = first + (last - first) * share, time = live ? "" : new Date(until * 1000).toLocaleTimeString(locale);
  const shown = live ? drawn : drawn.filter((d) => d[0] <= until);
  $("then").value = live ? say("now") : sayOf(shown.length, "then", time, whole(shown.length));
  return [shown, time];
}

async function loadHosts() {
  const { hosts } = await get("v1/crawl/hosts?limit=12");
  $("hosts").tBodies[0].replaceChildren(...hosts.map((h) => el("tr", {},
    el("td", { class: "url" }, h.host), el("td", { class: "n" }, whole(h.pages)), el("td", { class: "n" }, h.pages ? percent(h.relevant / h.pages) : "–"), el("td", { class: "n" }, whole(h.errors)),
    el("td", { class: h.robots === "allowed" ? "quiet" : "" }, h.refused ? say("refused", named("robots", h.robots), whole(h.refused)) : named("robots", h.robots)),
    el("td", {}, named("state", h.state) + (h.wait_s > 0 ? " " + duration(Math.ceil(h.wait_s)) : "")))));
  const titles = [...$("hosts").tHead.rows[0].cells].map((c) => c.textContent);
  for (const row of $("hosts").tBodies[0].rows) [...row.cells].forEach((c, i) => { c.dataset.label = titles[i]; }); // for narrow screens
}

// spark draws counts of equal time spans as bars.
function spark(counts) {
  const most = Math.max(...counts, 1), n = counts.length;
  const bars = counts.map((c, i) => (c ? "M" + i + " 20h.8v" + (-Math.max(1, 19 * c / most)).toFixed(1) + "h-.8z" : "")).join("");
  const svg = shape("svg", { class: "spark", viewBox: "0 0 " + n + " 20", preserveAspectRatio: "none", role: "img", "aria-label": say("spark", whole(counts.reduce((a, b) => a + b, 0)), whole(Math.max(...counts))) });
  svg.append(shape("path", { d: bars }));
  return svg;
}

async function loadErrors() {
  const { errors } = await get("v1/crawl/errors");
  $("errors").tBodies[0].replaceChildren(...(errors.length ? errors.map((e) => el("tr", {},
    el("td", {}, named("reason", e.reason)), el("td", { class: "quiet" }, named("kind", e.kind)), el("td", { class: "n" }, whole(e.count)), el("td", {}, spark(e.trend)))) : [el("tr", {}, el("td", {}, say("none")))]));
}

async function loadNext() {
  const { links } = await get("v1/crawl/frontier?limit=10");
  const rows = (links || []).map((l) => el("tr", {},
    el("td", { class: "n" }, decimal(l.priority, 3)), el("td", { class: "url" }, l.url, l.anchor ? el("span", { class: "quiet" }, " " + say("open") + l.anchor + say("close")) : null),
    el("td", {}, el("button", { type: "button", "aria-label": say("why_link", l.url), onclick: () => why(l.url) }, say("why")))));
  if (!$("next").contains(document.activeElement)) $("next").tBodies[0].replaceChildren(...rows);
}

// trendLine draws the history of a term's log-odds, with zero as its base line.
function trendLine(t, every) {
  const y = t.trend || [], [low, high] = [Math.min(0, ...y), Math.max(0, ...y)], room = Math.max(high - low, 0.01);
  const svg = shape("svg", { class: t.log_odds < 0 ? "trend minus" : "trend", viewBox: "0 0 31 14", preserveAspectRatio: "none", "aria-hidden": "true" });
  if (y.length < 2) return svg; // the number beside it says all
  const at = (v) => (13 - 12 * (v - low) / room).toFixed(1), step = 31 / (y.length - 1);
  svg.setAttribute("role", "img");
  svg.removeAttribute("aria-hidden");
  svg.setAttribute("aria-label", say("from", decimal(y[0], 2), duration(every * (y.length - 1))));
  svg.append(shape("path", { class: "zero", d: "M0 " + at(0) + "H31" }), shape("path", { d: "M" + y.map((v, i) => (i * step).toFixed(2) + " " + at(v)).join("L") }));
  svg.append(shape("title", {}, say("from", decimal(y[0], 2), duration(every * (y.length - 1)))));
  return svg;
}

function termLine(t, most, trend) {
  const bar = shape("svg", { class: t.log_odds < 0 ? "bar minus" : "bar", viewBox: "0 0 100 9", preserveAspectRatio: "none", "aria-hidden": "true" });
  bar.append(shape("rect", { width: (100 * Math.min(1, Math.abs(t.log_odds) / Math.max(most, 0.01))).toFixed(1), height: 9 }));
  const word = el("span", {}, t.word, t.feature ? el("span", { class: "quiet" }, " " + named("feature", t.feature)) : null);
  word.title = (t.feature ? t.feature + ":" : "") + t.word + ", " + say("term", t.relevant, t.other);
  return el("li", {}, word, el("span", { class: "n" }, (t.log_odds > 0 ? "+" : "") + decimal(t.log_odds, 2)), trend || null, bar);
}

async function loadTerms() {
  const { terms, every_s } = await get("v1/crawl/model?top=100&depth=" + depth + "&feature=" + encodeURIComponent($("feature").value));
  const most = Math.max(...terms.map((t) => Math.abs(t.log_odds)), 0);
  const list = (kept) => (kept.length ? kept.slice(0, 12).map((t) => termLine(t, most, trendLine(t, every_s))) : [el("li", { class: "quiet" }, say("nothing"))]);
  $("for").replaceChildren(...list(terms.filter((t) => t.log_odds > 0)));
  $("against").replaceChildren(...list(terms.filter((t) => t.log_odds < 0)));
}

async function loadStreets() {
  const { streets } = await get("v1/crawl/coverage?limit=12");
  $("streets").tBodies[0].replaceChildren(...streets.map((s) => el("tr", {}, el("td", {}, s.name, s.city ? el("span", { class: "quiet" }, " " + s.city) : null), el("td", { class: "n" }, whole(s.found)),
    el("td", { class: "n" }, s.houses ? whole(s.houses) : "–"), el("td", {}, el("meter", { min: 0, max: Math.max(s.houses, 1), value: Math.min(s.found, Math.max(s.houses, 1)), "aria-label": say("of_houses", s.found, s.houses) })))));
}

// why shows the explanation of a URL.
async function why(url) {
  const box = $("why");
  $("askurl").value = url;
  box.className = "open";
  try {
    const x = await get("v1/crawl/explain?url=" + encodeURIComponent(url));
    const parts = [el("p", {}, el("strong", {}, x.url))];
    const line = (...text) => parts.push(el("p", {}, ...text));
    if (x.state === "queued") {
      line(say("waits", decimal(x.priority, 3), x.strategy), x.queued_priority !== x.priority ? " " + say("was_queued", decimal(x.queued_priority, 3)) : "");
    } else {
      const what = [named("kind", x.kind), x.reason ? named("reason", x.reason) : "", x.kind === "page" ? say(x.relevant ? "relevant" : "not_relevant") : ""].filter(Boolean).join(", ");
      const found = (x.addresses || []).length;
      line(say("visited", what), found ? " " + sayOf(found, "addresses", whole(found)) : "");
    }
    if (x.link && x.link.anchor) line(x.link.around ? say("link_near", x.link.anchor, x.link.around) : say("link", x.link.anchor));
    line(say("path", (x.path || []).map((p) => p.url + (p.relevant === true ? " (" + say("relevant") + ")" : p.seed ? " (" + say("seed") + ")" : "")).join(" → ")));
    line(sayOf(x.distance, "distance", x.distance, x.depth));
    if (x.decayed !== undefined && x.boost !== undefined) line(say("sum", decimal(x.decayed + x.boost, 3), decimal(x.decayed, 3), decimal(x.boost, 3)));
    if (x.demoted) line(say("demoted", x.factor, x.demoted));
    const groups = x.worth ? [[say("value", decimal(x.worth.log_odds, 2)), x.worth.terms]] : (x.depths || []).map((d) => [say("ahead", d.depth, d.trained ? percent(d.probability) : say("untrained")), d.terms]);
    const bars = [];
    for (const [name, terms] of groups) {
      const most = Math.max(...terms.map((t) => Math.abs(t.log_odds)), 0);
      bars.push(el("div", {}, el("h3", {}, name), el("ul", {}, ...terms.slice(0, 8).map((t) => termLine({ ...t, word: t.word || t.term, feature: "" }, most)))));
    }
    if (x.state === "visited" && x.kind === "page") {
      const label = (relevant) => async () => {
        if (await post("labels", { url: x.url, relevant })) tell(say(relevant ? "learned" : "learned_not", x.url));
      };
      parts.push(el("div", { class: "thumbs" }, say("wrong"), el("button", { type: "button", onclick: label(true) }, say("up")), el("button", { type: "button", onclick: label(false) }, say("down"))));
    }
    box.replaceChildren(el("div", {}, ...parts), el("div", { class: "groups" }, ...bars));
  } catch (e) {
    box.className = "";
    box.replaceChildren(el("p", {}, e.message));
  }
}

// listen reads the event stream with fetch, which can send the token; EventSource cannot.
async function listen() {
  for (;;) {
    try {
      const r = await fetch("v1/crawl/events?lang=" + lang, { headers: token ? { Authorization: "Bearer " + token } : {} });
      if (r.status === 401) {
        $("login").hidden = false;
        $("state").textContent = say("closed");
        return;
      }
      if (!r.ok) throw new Error(r.statusText);
      const reader = r.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        const events = (rest + value).split("\n\n");
        rest = events.pop();
        for (const text of events) {
          const lines = text.split("\n");
          if (!lines.includes("event: status")) continue; // the status has new addresses, too
          show(JSON.parse(lines.filter((l) => l.startsWith("data: ")).map((l) => l.slice(6)).join("\n")));
        }
      }
    } catch (e) { /* the crawl may have ended; look again */ }
    if (!last || !last.end) {
      $("state").textContent = say("lost");
      $("because").textContent = last ? say("lost_why") : "";
      for (const id of ["pause", "checkpoint", "stop"]) $(id).disabled = true;
    }
    await new Promise((again) => setTimeout(again, 3000));
  }
}

// every calls f now and at this interval while the page is visible.
function every(seconds, f) {
  const once = () => { if (!document.hidden) f().catch((e) => { if ($("login").hidden) console.debug(e.message); }); };
  once();
  setInterval(once, 1000 * seconds);
}

function choose(attribute, f) {
  const buttons = document.querySelectorAll("button[data-" + attribute + "]");
  for (const b of buttons) {
    b.addEventListener("click", () => {
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === b));
      f(b.dataset[attribute]);
    });
  }
}

function start() {
  listen();
  every(10, loadCurves);
  every(30, loadMap);
  every(2, loadHosts);
  every(2, loadErrors);
  every(2, loadNext);
  every(10, loadTerms);
  every(10, loadStreets);
}

$("when").addEventListener("input", () => {
  dirty = true;
  drawDots();
});
$("pause").addEventListener("click", () => post(paused ? "resume" : "pause"));
$("checkpoint").addEventListener("click", async () => { if (await post("checkpoint")) tell(say("saved")); });
$("stop").addEventListener("click", () => { if (confirm(say("confirm_stop"))) post("stop"); });
$("ask").addEventListener("submit", (e) => { e.preventDefault(); why($("askurl").value); });
$("feature").addEventListener("change", () => loadTerms());
$("login").addEventListener("submit", (e) => {
  e.preventDefault();
  token = $("token").value.trim();
  sessionStorage.setItem("gazehound-token", token);
  location.reload();
});
choose("span", (s) => { span = s; loadCurves(); });
choose("depth", (d) => { depth = d; loadTerms(); });
addEventListener("resize", () => { if (points) curves(); });
$("corrections").hidden = !location.pathname.startsWith("/operator/"); // the service has that page
start();

import L from "leaflet";
import "leaflet.markercluster";
import { Basemap } from "./basemap.js";
import { startSheet } from "./sheet.js";

const still = matchMedia("(prefers-reduced-motion: reduce)").matches;

// An Icon is an HTML marker with a name for screen readers.
const Icon = L.DivIcon.extend({
  createIcon(old) {
    const e = L.DivIcon.prototype.createIcon.call(this, old);
    e.setAttribute("aria-label", this.options.label);
    e.title = this.options.label;
    return e;
  },
});

function icon(kind, text, label, size) {
  const face = document.createElement("span");
  face.textContent = text;
  return new Icon({ html: face, label, className: "mark-" + kind, iconSize: [size, size] });
}

function element(tag, text, attributes = {}) {
  const e = document.createElement(tag);
  e.textContent = text;
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  return e;
}

// isPlace reports whether a box is so small, some metres, that no zoom parts what is in it.
const isPlace = ([west, south, east, north]) => east - west < 5e-5 && north - south < 5e-5;

// startMap replaces the drawing in section by a map, and returns the actions for keys.
export function startMap(section, data) {
  const t = data.texts;
  const frame = document.createElement("div");
  frame.className = "leaflet-host";
  frame.setAttribute("role", "application");
  frame.setAttribute("aria-label", t.map);
  section.querySelector("svg")?.remove();
  section.prepend(frame);
  section.classList.add("live");
  const columns = section.parentElement;
  let touched = false; // the reader has moved the map, so it is not moved automatically
  const sheet = startSheet(columns, document.getElementById("list"), data.total + data.places.length, t, swiped);

  const map = L.map(frame, {
    zoomControl: false, attributionControl: false, minZoom: 3, maxZoom: 19, maxBounds: [[-85, -190], [85, 190]], zoomSnap: 0.5,
    zoomAnimation: !still, fadeAnimation: !still, markerZoomAnimation: !still,
  });
  keepForPrint(frame);
  L.control.zoom({ position: "topright", zoomInTitle: t.zoomin, zoomOutTitle: t.zoomout }).addTo(map);
  L.control.scale({ imperial: false }).addTo(map);

  if (data.tiles) {
    L.tileLayer(data.tiles, { maxZoom: 19, referrerPolicy: "origin" }).addTo(map);
  } else {
    new Basemap(data.basemap, data.levels || []).addTo(map);
  }
  if (data.outline?.length) {
    L.polygon(data.outline.map((ring) => ring.map(([lon, lat]) => [lat, lon])), { className: data.basemap || data.tiles ? "coast line" : "coast", interactive: false }).addTo(map);
  }

  // The view: that of the address (#map=), else the area searched for, else all hits.
  const whole = L.latLngBounds(data.bounds);
  const told = /^#map=([\d.]+)\/(-?[\d.]+)\/(-?[\d.]+)$/.exec(location.hash);
  if (told && Math.abs(told[2]) <= 85 && Math.abs(told[3]) <= 180) {
    map.setView([+told[2], +told[3]], Math.min(19, +told[1]));
  } else {
    map.fitBounds(whole, { padding: [24, 24], maxZoom: 17, animate: false });
  }
  for (const svg of map.getPane("overlayPane").querySelectorAll("svg")) svg.setAttribute("aria-hidden", "true"); // the section has a label

  // Clusters split without animation: zoomToShowLayer never calls back if another zoom begins
  // during one.
  const group = L.markerClusterGroup({
    showCoverageOnHover: false, animate: false, spiderfyOnMaxZoom: false, maxClusterRadius: 34, spiderfyDistanceMultiplier: 1.4, chunkedLoading: true,
    iconCreateFunction: (cluster) => {
      const all = cluster.getAllChildMarkers();
      const n = all.reduce((sum, m) => sum + (m.options.count || 1), 0);
      const numbers = all.map((m) => m.options.number).filter(Boolean).sort((a, b) => a - b);
      const near = all.map((m) => m.options.near).find(Boolean);
      const label = `${n} ${t.addresses}${near ? ` ${t.near} ${near}` : ""}${numbers.length ? ` (${numbers.join(", ")})` : ""}`;
      return icon(numbers.length ? "cluster hit" : "cluster", String(n), label, n < 100 ? 32 : 40);
    },
  }).addTo(map);

  // Marks of one place cannot be drawn apart: they open as a list.
  group.on("clusterclick", (e) => {
    const b = e.layer.getBounds();
    if (isPlace([b.getWest(), b.getSouth(), b.getEast(), b.getNorth()])) listHere(e.layer, b.getCenter());
  });

  const markers = new Map(); // ID of an item of the list → its marker
  const own = new Set(data.hits.map((h) => h.id));
  for (const h of data.hits) {
    if (!h.at) continue;
    const m = L.marker([h.at[1], h.at[0]], {
      number: h.n, near: h.street, icon: icon(h.missing ? "hit missing" : "hit", String(h.n), `${h.n} ${h.title}, ${h.address}${h.missing ? `, ${t.notinosm}` : ""}`, 28), keyboard: true, riseOnHover: true,
    });
    m.bindPopup(() => popup(h.title, h.address, h.missing ? t.notinosm : "", "#" + h.item, t.inlist), { autoPan: true, autoPanPaddingTopLeft: [12, 64], closeButton: true });
    m.on("popupopen", () => select(h.item));
    markers.set(h.item, m);
    group.addLayer(m);
  }

  for (const p of data.places) {
    const m = L.marker([p.at[1], p.at[0]], { icon: icon("hit missing", "◇", `${p.title}, ${t.onmap}`, 28), keyboard: true, riseOnHover: true });
    m.bindPopup(() => popup(p.title, "", t.onmap, "#" + p.item, t.inlist), { autoPanPaddingTopLeft: [12, 64] }).addTo(map);
    m.on("popupopen", () => select(p.item));
    markers.set(p.item, m);
  }

  // popup contains only text nodes and links to this site.
  function popup(title, address, note, href, link) {
    const box = element("div", "");
    box.append(element("strong", title), element("span", address));
    if (note) box.append(element("span", note, { class: "badge" }));
    const a = element("a", link, { href });
    a.addEventListener("click", sheet.showList);
    box.append(a);
    return box;
  }

  // One item is selected, in the list and on the map, where it may be inside a cluster.
  let selected = "", marked = null;
  function select(item) {
    selected = item;
    for (const li of document.querySelectorAll("ol > li")) li.classList.toggle("selected", li.id === item);
    document.getElementById(item)?.scrollIntoView({ block: "nearest", inline: "center", behavior: still ? "auto" : "smooth" });
    mark();
  }
  function mark() {
    marked?.classList.remove("current");
    const m = markers.get(selected);
    marked = m && (group.hasLayer(m) ? group.getVisibleParent(m) : m)?.getElement();
    marked?.classList.add("current");
  }
  map.on("moveend", mark);
  function swiped(item) {
    if (item === selected) return;
    select(item);
    const m = markers.get(item);
    touched = false;
    map.closePopup();
    if (m && !map.getBounds().pad(-0.1).contains(m.getLatLng())) map.panTo(m.getLatLng(), { animate: !still });
  }
  let opener = null;
  map.on("popupopen", (e) => {
    opener = document.activeElement;
    const box = e.popup.getElement();
    box.setAttribute("role", "dialog");
    box.setAttribute("aria-label", box.querySelector("strong")?.textContent || "");
    box.querySelector(".leaflet-popup-close-button")?.setAttribute("aria-label", t.close_popup);
    if (opener && frame.contains(opener)) box.querySelector("a[href^='#'], a[href^='/']")?.focus({ preventScroll: true });
  });
  map.on("popupclose", () => {
    if (opener?.isConnected && frame.contains(opener)) opener.focus({ preventScroll: true });
  });

  // All other matches: one marker each if they are few, else counts for the cells of a grid, by the
  // server.
  const few = data.total <= 1000;
  const cells = L.layerGroup().addTo(map);
  let running = null;
  async function matches() {
    if (data.total <= data.hits.length) return;
    running?.abort();
    running = new AbortController();
    const q = new URLSearchParams(data.filters);
    const view = map.getBounds().pad(0.2);
    const clip = (v, most) => Math.max(-most, Math.min(most, v)).toFixed(6);
    if (!few) {
      const box = [clip(view.getWest(), 180), clip(view.getSouth(), 85), clip(view.getEast(), 180), clip(view.getNorth(), 85)].map(Number);
      const given = q.get("bbox")?.split(",").map(Number);
      if (given && given[0] <= given[2]) {
        for (const i of [0, 1]) box[i] = Math.max(box[i], given[i]);
        for (const i of [2, 3]) box[i] = Math.min(box[i], given[i]);
      }
      if (box[0] > box[2] || box[1] > box[3]) return cells.clearLayers();
      q.set("bbox", box.join(","));
    } else if (!q.has("bbox")) {
      q.set("bbox", "-180,-85,180,85");
    }
    q.set("zoom", few ? "22" : String(Math.min(20, Math.floor(map.getZoom()))));
    let answer;
    try {
      const r = await fetch("/v1/clusters?" + q, { signal: running.signal });
      if (!r.ok) return;
      answer = await r.json();
    } catch {
      return; // another view was requested, or the server is gone: the list stays
    }
    cells.clearLayers();
    for (const f of answer.features) {
      const { count, id, bbox } = f.properties;
      const at = [f.geometry.coordinates[1], f.geometry.coordinates[0]];
      if (count === 1) {
        if (own.has(id)) continue;
        const m = L.marker(at, { icon: icon("dot", "", t.other, 24) });
        m.on("click keypress", (e) => {
          if (e.type === "click" || e.originalEvent.key === "Enter") more(m, id);
        });
        (few ? group : cells).addLayer(m);
      } else {
        const mine = data.hits.filter((h) => h.at && bbox[0] <= h.at[0] && h.at[0] <= bbox[2] && bbox[1] <= h.at[1] && h.at[1] <= bbox[3]).length;
        if (few && mine >= count) continue;
        const n = few ? count - mine : count;
        const m = L.marker(at, { count: n, icon: icon("cluster", String(n), `${n} ${t.addresses}`, n < 100 ? 32 : 40), zIndexOffset: -1000 });
        m.on("click keypress", () => {
          if (isPlace(bbox) || map.getZoom() >= 19) listHere(m, m.getLatLng(), bbox);
          else map.fitBounds([[bbox[1], bbox[0]], [bbox[3], bbox[2]]], { padding: [40, 40], maxZoom: Math.min(19, map.getZoom() + 4) });
        });
        (few ? group : cells).addLayer(m);
      }
    }
  }

  // listHere lists the matches at a place, and leads to all of them.
  async function listHere(m, at, bbox = [at.lng, at.lat, at.lng, at.lat]) {
    const q = new URLSearchParams(data.filters), margin = 2e-5;
    for (const name of ["lat", "lon", "radius", "sort"]) q.delete(name);
    q.set("bbox", [bbox[0] - margin, bbox[1] - margin, bbox[2] + margin, bbox[3] + margin].map((v) => v.toFixed(6)).join(","));
    const all = "/?" + new URLSearchParams([...q, ...(data.lang ? [["lang", data.lang]] : [])]);
    q.set("limit", "50");
    const r = await fetch("/v1/search?" + q).catch(() => null);
    if (!r?.ok) return;
    const answer = await r.json();
    const box = element("div", ""), list = element("ul", "", { class: "here-list" });
    box.append(element("strong", `${answer.numberMatched.toLocaleString(document.documentElement.lang)} ${t.addresses}`), list);
    for (const f of answer.features) {
      const n = data.hits.find((h) => h.id === f.id)?.n;
      const item = element("li", ""), a = element("a", f.properties.name || f.properties.label || f.id, { href: n ? "#r" + n : "/addresses/" + f.id });
      if (n) a.addEventListener("click", sheet.showList);
      item.append(a);
      list.append(item);
    }
    box.append(element("a", t.show, { href: all }));
    L.popup({ autoPanPaddingTopLeft: [12, 112], maxWidth: 320 }).setLatLng(at).setContent(box).openOn(map);
  }

  // more shows an address that is not in the list.
  async function more(m, id) {
    const r = await fetch("/v1/addresses/" + encodeURIComponent(id)).catch(() => null);
    if (!r?.ok) return;
    const p = (await r.json()).properties;
    const q = new URLSearchParams({ q: [p.name, p["addr:street"], p["addr:housenumber"]].filter(Boolean).join(" ").slice(0, 190) });
    if (data.lang) q.set("lang", data.lang);
    m.unbindPopup().bindPopup(popup(p.name || p.label || "", p.label || "", "", "/?" + q, t.show)).openPopup();
  }
  matches();

  // "Search this area" appears when a reader has moved the map.
  const area = element("button", t.searcharea, { type: "button", class: "area", hidden: "" });
  section.append(area);
  const searchHere = () => {
    const b = map.getBounds();
    const q = new URLSearchParams(data.filters);
    for (const name of ["lat", "lon", "radius", "sort"]) if (q.has("radius")) q.delete(name);
    q.set("bbox", [b.getWest(), b.getSouth(), b.getEast(), b.getNorth()].map((v) => v.toFixed(5)).join(","));
    if (data.lang) q.set("lang", data.lang);
    location.assign("/?" + q + here());
  };
  area.addEventListener("click", searchHere);

  // With this box checked, moving the map searches, for the rest of the session.
  const follow = element("label", "", { class: "follow" });
  const box = element("input", "", { type: "checkbox" });
  follow.append(box, " " + t.follow);
  section.append(follow);
  try {
    box.checked = sessionStorage.getItem("follow") === "1";
  } catch {
    // storage is disabled: the box applies to this page only
  }
  let settling = 0;
  box.addEventListener("change", () => {
    try {
      sessionStorage.setItem("follow", box.checked ? "1" : "");
    } catch {}
    if (box.checked) searchHere();
  });
  const here = () => {
    const c = map.getCenter();
    return `#map=${map.getZoom()}/${c.lat.toFixed(5)}/${c.lng.toFixed(5)}`;
  };
  let byPopup = false; // the map moved to make room for a popup: no new search
  map.on("autopanstart", () => (byPopup = true));
  for (const event of ["pointerdown", "wheel", "keydown"]) frame.addEventListener(event, () => (touched = true), { passive: true });
  map.on("moveend", () => {
    if (!few) matches();
    if (!touched) return;
    if (byPopup) return (byPopup = false);
    area.hidden = false;
    clearTimeout(settling);
    if (box.checked) settling = setTimeout(searchHere, 900);
    history.replaceState(history.state, "", location.pathname + location.search + here());
    for (const a of document.querySelectorAll("a[data-keepmap]")) a.hash = here();
  });
  addEventListener("hashchange", () => {
    if (/^#[rm]\d+$/.test(location.hash)) select(location.hash.slice(1));
  });

  // "Where am I?" asks the browser for the position, only on a click and only in a secure context.
  if (isSecureContext && navigator.geolocation) {
    const bar = element("div", "", { class: "leaflet-bar" });
    const button = element("a", "◎", { href: "#map", role: "button", title: t.locate, "aria-label": t.locate, class: "locate" });
    bar.append(button);
    L.DomEvent.disableClickPropagation(bar);
    const control = L.control({ position: "topright" });
    control.onAdd = () => bar;
    control.addTo(map);
    const word = element("p", "", { class: "located", role: "status", hidden: "" });
    section.append(word);
    const say = (text) => {
      word.textContent = text;
      word.hidden = !text;
    };
    const place = L.layerGroup().addTo(map);
    const found = ({ coords }) => {
      button.removeAttribute("aria-busy");
      const at = [coords.latitude, coords.longitude];
      const area = L.circle(at, { radius: coords.accuracy, className: "here", interactive: false });
      const m = L.marker(at, { icon: icon("here", "", t.here, 26), zIndexOffset: 1000 });
      const q = new URLSearchParams(data.filters);
      for (const name of ["bbox", "radius"]) q.delete(name);
      q.set("lat", at[0].toFixed(5));
      q.set("lon", at[1].toFixed(5));
      q.set("sort", "distance");
      if (data.lang) q.set("lang", data.lang);
      m.bindPopup(popup(t.here, `± ${Math.max(1, Math.round(coords.accuracy))} m`, "", "/?" + q, t.nearest), { autoPanPaddingTopLeft: [12, 64] });
      place.clearLayers().addLayer(area).addLayer(m);
      touched = true;
      map.fitBounds(L.latLng(at).toBounds(Math.max(400, 2 * coords.accuracy)), { animate: !still });
      say(data.outline?.length && !whole.pad(0.5).contains(at) ? t.faraway : "");
    };
    const failed = (e) => {
      button.removeAttribute("aria-busy");
      say(e.code === 1 ? t.refused : t.unknown_place);
    };
    button.addEventListener("click", (e) => {
      e.preventDefault();
      if (button.hasAttribute("aria-busy")) return;
      button.setAttribute("aria-busy", "true");
      say("");
      navigator.geolocation.getCurrentPosition(found, failed, { enableHighAccuracy: true, timeout: 15000, maximumAge: 60000 });
    });
    button.addEventListener("keydown", (e) => {
      if (e.key === " ") {
        e.preventDefault();
        button.click();
      }
    });
    map.on("click", () => say(""));
  }

  // The number of an item selects its pin.
  for (const [item, m] of markers) {
    const badge = document.querySelector(`#${item} .number`);
    if (!badge) continue;
    const name = badge.textContent === "◇" ? m.options.icon.options.label : badge.textContent;
    const b = element("button", badge.textContent, { type: "button", class: "number", "aria-label": `${name}: ${t.showonmap}` });
    b.addEventListener("click", () => show(item));
    badge.replaceWith(b);
    const li = document.getElementById(item);
    li.addEventListener("mouseenter", () => m.getElement()?.classList.add("hover"));
    li.addEventListener("mouseleave", () => m.getElement()?.classList.remove("hover"));
  }
  function show(item) {
    const m = markers.get(item);
    if (!m) return;
    touched = false;
    sheet.showMap();
    const open = () => {
      if (!map.getBounds().contains(m.getLatLng())) map.panTo(m.getLatLng(), { animate: !still });
      m.openPopup();
    };
    if (group.hasLayer(m)) group.zoomToShowLayer(m, open);
    else open();
  }

  new ResizeObserver(() => map.invalidateSize({ pan: false })).observe(frame);

  return {
    focus: () => {
      sheet.showMap();
      frame.focus();
    },
    close: () => map.closePopup(),
    show,
    select,
    selected: () => selected,
    here,
  };
}

// keepForPrint prints the map as it is on the screen, no wider than a page: Leaflet does not draw again
// for paper.
function keepForPrint(frame) {
  const page = 680; // pixels of A4 between its margins
  addEventListener("beforeprint", () => {
    const { offsetWidth: width, offsetHeight: height } = frame;
    Object.assign(frame.style, { width: width + "px", height: height + "px", zoom: Math.min(1, page / width) });
  });
  addEventListener("afterprint", () => Object.assign(frame.style, { width: "", height: "", zoom: "" }));
}

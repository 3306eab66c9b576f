import L from "leaflet";

// The extent of a tile in units.
const extent = 8192;
const maxTiles = 160; // in the cache
const family = 'system-ui, "Noto Sans", "DejaVu Sans", sans-serif';
const dark = matchMedia("(prefers-color-scheme: dark)");

// Widths of lines in pixels by zoom: [zoom, width], interpolated in between.
const widths = {
  major: [[6, 0.7], [10, 1.6], [13, 3.4], [15, 7], [17, 13], [19, 24]],
  middle: [[8, 0.5], [11, 1.1], [13, 2.4], [15, 5.5], [17, 11], [19, 20]],
  minor: [[11, 0.3], [13, 1], [14, 2], [15, 3.6], [17, 8], [19, 15]],
  path: [[13, 0.4], [15, 1], [17, 2], [19, 4]],
  rail: [[9, 0.5], [13, 1], [17, 2.4], [19, 4]],
  river: [[8, 0.6], [12, 1.4], [15, 3], [19, 9]],
};

function width(kind, zoom) {
  const steps = widths[kind];
  if (zoom <= steps[0][0]) return steps[0][1];
  for (let i = 1; i < steps.length; i++) {
    const [z0, w0] = steps[i - 1], [z1, w1] = steps[i];
    if (zoom <= z1) return w0 * (w1 / w0) ** ((zoom - z0) / (z1 - z0));
  }
  return steps[steps.length - 1][1];
}

// A Basemap draws streets, water, woods, buildings and names of the gazetteer
// on one canvas, and a grid where it has no streets. A tile of the server is
// {kind: [{n: name, p: [[x, y, dx, dy, …], …]}]}.
export const Basemap = L.Renderer.extend({
  options: { pane: "tilePane", padding: 0.3 },

  // levels are the zoom levels for which the server has tiles, if any.
  initialize(prefix, levels) {
    L.Renderer.prototype.initialize.call(this, {});
    this._prefix = prefix;
    this._levels = levels;
    this._tiles = new Map();
    this._redraw = () => this._draw();
  },

  getEvents() {
    return { ...L.Renderer.prototype.getEvents.call(this), resize: this._update };
  },

  _initContainer() {
    const canvas = (this._container = document.createElement("canvas"));
    canvas.setAttribute("aria-hidden", "true");
    this._ctx = canvas.getContext("2d");
    dark.addEventListener("change", this._redraw);
  },

  _destroyContainer() {
    cancelAnimationFrame(this._frame);
    dark.removeEventListener("change", this._redraw);
    L.DomUtil.remove(this._container);
  },

  // Leaflet's own paths are not drawn here.
  _updatePaths() {},
  _onZoomEnd() {},
  _onViewReset() { this._reset(); },

  _update() {
    const map = this._map;
    if (!map || (map._animatingZoom && this._bounds)) return;
    L.Renderer.prototype._update.call(this);
    const size = this._bounds.getSize(), scale = Math.min(2, window.devicePixelRatio || 1), canvas = this._container;
    L.DomUtil.setPosition(canvas, this._bounds.min);
    canvas.width = Math.ceil(scale * size.x);
    canvas.height = Math.ceil(scale * size.y);
    canvas.style.width = size.x + "px";
    canvas.style.height = size.y + "px";
    this._scale = scale;
    this._load();
    this._draw();
  },

  // _visible returns the tiles of the view: [key, x, y].
  _visible() {
    const zoom = this._map.getZoom();
    this._level = this._levels.findLast((l) => l <= zoom - (zoom >= 14 ? 1 : 0)) ?? this._levels[0];
    const side = 256 * 2 ** (zoom - this._level), origin = this._map.getPixelOrigin(), across = 2 ** this._level;
    const lo = this._bounds.min.add(origin).divideBy(side).floor(), hi = this._bounds.max.add(origin).divideBy(side).floor();
    const all = [];
    for (let x = Math.max(0, lo.x); x <= Math.min(across - 1, hi.x); x++) {
      for (let y = Math.max(0, lo.y); y <= Math.min(across - 1, hi.y); y++) all.push([`${this._level}/${x}/${y}`, x, y]);
    }
    return all;
  },

  _isEmpty() { return !(this._map.getZoom() >= this._levels[0]); },

  _load() {
    if (this._isEmpty()) return;
    for (const [key] of this._visible()) {
      const tile = this._tiles.get(key);
      if (tile) { // mark it as used last
        this._tiles.delete(key);
        this._tiles.set(key, tile);
        continue;
      }
      this._tiles.set(key, {});
      fetch(this._prefix + key)
        .then((r) => (r.status === 204 ? {} : r.ok ? r.json() : Promise.reject()))
        .then((t) => this._tiles.has(key) && this._tiles.set(key, t), () => this._tiles.delete(key))
        .then(() => {
          cancelAnimationFrame(this._frame);
          this._frame = requestAnimationFrame(this._redraw);
        });
    }
    while (this._tiles.size > maxTiles) this._tiles.delete(this._tiles.keys().next().value);
  },

  _draw() {
    if (!this._map || !this._bounds) return;
    const ctx = this._ctx, zoom = this._map.getZoom(), origin = this._map.getPixelOrigin(), css = getComputedStyle(this._container);
    const colour = (name) => css.getPropertyValue("--map-" + name).trim();
    const s = this._scale, min = this._bounds.min;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.fillStyle = colour("land");
    ctx.fillRect(0, 0, this._container.width, this._container.height);
    ctx.setTransform(s, 0, 0, s, -s * min.x, -s * min.y);
    ctx.lineCap = ctx.lineJoin = "round";
    if (this._isEmpty()) return this._grid(colour);

    const side = 256 * 2 ** (zoom - this._level), unit = side / extent;
    const tiles = this._visible().flatMap(([key, x, y]) => {
      const t = this._tiles.get(key);
      return t ? [{ t, left: x * side - origin.x, top: y * side - origin.y }] : [];
    });
    const roads = ["minor", "middle", "major"];
    if (!tiles.some(({ t }) => roads.some((kind) => t[kind]))) this._grid(colour);
    const trace = (kind, closed, some) => {
      ctx.beginPath();
      for (const { t, left, top } of some) {
        for (const f of t[kind] || []) {
          for (const p of f.p) {
            let x = p[0], y = p[1];
            ctx.moveTo(left + x * unit, top + y * unit);
            for (let i = 2; i < p.length; i += 2) ctx.lineTo(left + (x += p[i]) * unit, top + (y += p[i + 1]) * unit);
            if (closed) ctx.closePath();
          }
        }
      }
    };
    const area = (kind, name) => {
      ctx.fillStyle = colour(name);
      for (const tile of tiles) { // one path each: tiles overlap, and two in one path would leave a hole
        trace(kind, true, [tile]);
        ctx.fill("evenodd");
      }
    };
    const line = (kind, name, w, dash = []) => {
      trace(kind, false, tiles);
      ctx.strokeStyle = colour(name);
      ctx.lineWidth = w;
      ctx.setLineDash(dash);
      ctx.stroke();
    };
    area("green", "green");
    area("water", "water");
    if (zoom >= 15.5) {
      area("building", "building");
      line("building", "outline", 1);
    }
    line("river", "water", width("river", zoom));
    line("path", "path", width("path", zoom), [3, 3]);
    ctx.setLineDash([]);
    if (zoom >= 13) for (const kind of roads) line(kind, "casing", width(kind, zoom) + (zoom >= 15 ? 2 : 1.2));
    line("rail", "rail", width("rail", zoom));
    for (const kind of roads) line(kind, zoom < 13 && kind === "minor" ? "casing" : kind, width(kind, zoom));
    const taken = [];
    this._places(tiles, unit, zoom, colour, taken);
    if (zoom >= 14.5) this._names(tiles, unit, zoom, colour, taken);
    if (zoom >= 13) this._lands(tiles, unit, zoom, colour, taken);
    if (zoom >= 16.5) this._points("place", 11, "place", tiles, unit, colour, taken);
    if (zoom >= 17) this._points("number", 10, "name", tiles, unit, colour, taken);
  },

  // _grid draws lines of latitude and longitude, about 100 pixels apart.
  _grid(colour) {
    const ctx = this._ctx, map = this._map, { min, max } = this._bounds;
    const low = map.layerPointToLatLng([min.x, max.y]), high = map.layerPointToLatLng([max.x, min.y]);
    const least = ((high.lng - low.lng) / (max.x - min.x)) * 100, ten = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].find((n) => n * ten >= least) * ten;
    ctx.beginPath();
    for (let lng = Math.floor(low.lng / step) * step; lng < high.lng; lng += step) {
      const { x } = map.latLngToLayerPoint([0, lng]);
      ctx.moveTo(x, min.y);
      ctx.lineTo(x, max.y);
    }
    for (let lat = Math.floor(low.lat / step) * step; lat < high.lat; lat += step) {
      const { y } = map.latLngToLayerPoint([lat, 0]);
      ctx.moveTo(min.x, y);
      ctx.lineTo(max.x, y);
    }
    ctx.strokeStyle = colour("grid");
    ctx.lineWidth = 1;
    ctx.setLineDash([]);
    ctx.stroke();
  },

  // _points writes house numbers, or names of shops, offices and the like, where they are.
  _points(kind, px, fill, tiles, unit, colour, taken) {
    this._ctx.font = `${px}px ${family}`;
    for (const { t, left, top } of tiles) {
      for (const f of t[kind] || []) {
        const text = f.n.length > 28 ? f.n.slice(0, 27) + "…" : f.n;
        for (const [tx, ty] of f.p) {
          const x = left + tx * unit, y = top + ty * unit;
          if (this._bounds.contains([x, y])) this._write(text, x, y, 0, px, colour(fill), colour("halo"), taken);
        }
      }
    }
  },

  // _write draws a text at a point, rotated by an angle, if there is room.
  _write(text, x, y, angle, px, fill, halo, taken) {
    const ctx = this._ctx, w = ctx.measureText(text).width, dots = [];
    for (let d = -w / 2; d <= w / 2; d += px / 2) dots.push([x + d * Math.cos(angle), y + d * Math.sin(angle)]);
    if (dots.some(([a, b]) => taken.some(([c, d]) => Math.abs(a - c) < px && Math.abs(b - d) < px))) return false;
    taken.push(...dots);
    ctx.save();
    ctx.translate(x, y);
    ctx.rotate(angle);
    ctx.strokeStyle = halo;
    ctx.lineWidth = 3;
    ctx.strokeText(text, 0, 0);
    ctx.fillStyle = fill;
    ctx.fillText(text, 0, 0);
    ctx.restore();
    return true;
  },

  // _places draws the names of towns, the larger ones first.
  _places(tiles, unit, zoom, colour, taken) {
    const ctx = this._ctx, room = apart(320);
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    for (const [kind, from, to, px] of [["city", 5, 14, 17], ["town", 8, 15, 15], ["village", 11, 16.5, 12.5]]) {
      if (zoom < from || zoom > to) continue;
      ctx.font = `600 ${px}px ${family}`;
      for (const { t, left, top } of tiles) {
        for (const f of t[kind] || []) {
          for (const [tx, ty] of f.p) {
            const x = left + tx * unit, y = top + ty * unit;
            if (f.n && room.has(f.n, x, y) && this._write(f.n, x, y, 0, px, colour("place"), colour("halo"), taken)) room.take(f.n, x, y);
          }
        }
      }
    }
  },

  // _lands draws the names of waters and parks that have room for them, and the names of rivers along
  // their lines.
  _lands(tiles, unit, zoom, colour, taken) {
    const ctx = this._ctx, room = apart(320);
    ctx.font = `italic 11px ${family}`;
    const put = (n, x, y, angle, fill) => {
      if (room.has(n, x, y) && this._write(n, x, y, angle, 11, fill, colour("halo"), taken)) room.take(n, x, y);
    };
    for (const { t, left, top } of tiles) {
      for (const kind of ["water", "green"]) {
        for (const f of t[kind] || []) {
          if (!f.n) continue;
          let x = 0, y = 0, box = [Infinity, Infinity, -Infinity, -Infinity];
          const p = f.p[0];
          for (let i = 0; i < p.length; i += 2) {
            x += p[i];
            y += p[i + 1];
            box = [Math.min(box[0], x), Math.min(box[1], y), Math.max(box[2], x), Math.max(box[3], y)];
          }
          if ((box[2] - box[0]) * unit < ctx.measureText(f.n).width || (box[3] - box[1]) * unit < 14) continue;
          put(f.n, left + ((box[0] + box[2]) / 2) * unit, top + ((box[1] + box[3]) / 2) * unit, 0, colour(kind === "water" ? "water-name" : "green-name"));
        }
      }
      for (const f of t.river || []) {
        if (!f.n) continue;
        for (const p of f.p) {
          const run = stretch(p, unit, left, top, ctx.measureText(f.n).width + 6);
          if (run) put(f.n, run.x, run.y, run.angle, colour("water-name"));
        }
      }
    }
  },

  // _names draws street names along the straightest stretch of each street.
  _names(tiles, unit, zoom, colour, taken) {
    const ctx = this._ctx, room = apart(260);
    for (const kind of ["major", "middle", "minor", "path"]) {
      if (kind === "path" && zoom < 17) continue;
      const px = kind === "path" ? 10 : zoom >= 17 ? 13 : 11;
      ctx.font = `${px}px ${family}`;
      for (const { t, left, top } of tiles) {
        for (const f of t[kind] || []) {
          if (!f.n) continue;
          const w = ctx.measureText(f.n).width;
          for (const p of f.p) {
            const run = stretch(p, unit, left, top, w + 6);
            if (!run) continue;
            const { x, y, angle } = run;
            if (room.has(f.n, x, y) && this._write(f.n, x, y, angle, px, colour("name"), colour("halo"), taken)) room.take(f.n, x, y);
          }
        }
      }
    }
  },
});

// apart keeps the same name from being written twice within some pixels.
function apart(pixels) {
  const at = new Map(); // name → where it is written
  return {
    has: (name, x, y) => !(at.get(name) || []).some(([a, b]) => Math.hypot(a - x, b - y) < pixels),
    take: (name, x, y) => at.set(name, [...(at.get(name) || []), [x, y]]),
  };
}

// stretch returns the middle and the angle of the longest nearly straight run of p, if it is at
// least that long. Text at this angle is never upside down.
function stretch(p, unit, left, top, least) {
  let best = null, longest = least;
  const xs = [left + p[0] * unit], ys = [top + p[1] * unit];
  for (let i = 2, x = p[0], y = p[1]; i < p.length; i += 2) {
    xs.push(left + (x += p[i]) * unit);
    ys.push(top + (y += p[i + 1]) * unit);
  }
  for (let i = 0; i + 1 < xs.length; i++) {
    const first = Math.atan2(ys[i + 1] - ys[i], xs[i + 1] - xs[i]);
    let j = i + 1;
    while (j + 1 < xs.length) {
      const turn = Math.atan2(ys[j + 1] - ys[j], xs[j + 1] - xs[j]) - first;
      if (Math.abs(Math.atan2(Math.sin(turn), Math.cos(turn))) > 0.22) break;
      j++;
    }
    const d = Math.hypot(xs[j] - xs[i], ys[j] - ys[i]);
    if (d >= longest) {
      longest = d;
      let angle = Math.atan2(ys[j] - ys[i], xs[j] - xs[i]);
      if (angle > Math.PI / 2) angle -= Math.PI;
      if (angle < -Math.PI / 2) angle += Math.PI;
      best = { x: (xs[i] + xs[j]) / 2, y: (ys[i] + ys[j]) / 2, angle };
    }
  }
  return best;
}

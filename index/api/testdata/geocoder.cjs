// Asks a server through the Photon class of leaflet-control-geocoder, as a map
// page does, and prints what comes back. Leaflet looks at a browser's globals
// when it is loaded, and needs none of them here.
// usage: node geocoder.cjs FOLDER-OF-node_modules URL QUERY
const fs = require("fs");
const path = require("path");

const [folder, url, query] = process.argv.slice(2);
global.window = global;
global.screen = {};
global.document = { documentElement: { style: {} }, createElement: () => ({ style: {}, setAttribute() {} }), addEventListener() {} };
Object.defineProperty(global, "navigator", { value: { userAgent: "node", platform: "node" }, configurable: true });
global.addEventListener = () => {};

const L = require(path.join(folder, "leaflet"));
const geocoder = { exports: {} };
const source = fs.readFileSync(path.join(folder, "leaflet-control-geocoder/dist/Control.Geocoder.js"), "utf8");
new Function("exports", "module", "require", source)(geocoder.exports, geocoder, () => L);

(async () => {
  const photon = new geocoder.exports.geocoders.Photon({ serviceUrl: url + "api/", reverseUrl: url + "reverse/", geocodingQueryParams: { street_number: true },
    reverseQueryParams: { street_number: true } });
  const map = { getCenter: () => L.latLng(53.14, 8.21), getZoom: () => 13 };
  const found = await photon.geocode(query, { map });
  const near = await photon.reverse(L.latLng(53.1401, 8.2141), 65536);
  const plain = (all) => all.map((r) => ({ name: r.name, lat: r.center.lat, lng: r.center.lng, valid: r.bbox.isValid() }));
  console.log(JSON.stringify({ found: plain(found), near: plain(near), suggested: plain(await photon.suggest(query.slice(0, 4))) }));
})().catch((e) => {
  console.error(e);
  process.exit(1);
});

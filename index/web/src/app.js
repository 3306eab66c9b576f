// The search page works without this script. It adds a map that can be moved,
// suggestions while typing, and keys.
import { startMap } from "./map.js";
import { startSuggestions } from "./suggest.js";
import { startKeys } from "./keys.js";
import { nearMe } from "./near.js";
import { startShare } from "./share.js";

const data = JSON.parse(document.getElementById("page-data").textContent);
const section = document.getElementById("map");
const map = section && startMap(section, data);
startSuggestions(document.getElementById("q"), data.texts);
startKeys(map, data.texts);
nearMe(data.texts);
startShare(map, data.texts);

// Opens the filters on a wide screen in browsers whose style sheet cannot.
const filters = document.querySelector("details.filters");
if (filters && !CSS.supports("selector(::details-content)")) {
  const wide = matchMedia("print, (min-width: 56.01rem)");
  wide.addEventListener("change", () => (filters.open = wide.matches));
  filters.open = wide.matches;
}

// One open filter at a time, and none after a click elsewhere.
document.addEventListener("click", (e) => {
  for (const d of document.querySelectorAll("details.facet[open]")) {
    if (!d.contains(e.target)) d.open = false;
  }
});

// The search page works without this script. It adds a map that can be moved,
// suggestions while typing, and keys.
import { startMap } from "./map.js";
import { startSuggestions } from "./suggest.js";
import { startKeys } from "./keys.js";

const data = JSON.parse(document.getElementById("page-data").textContent);
const section = document.getElementById("map");
const map = section && startMap(section, data);
startSuggestions(document.getElementById("q"), data.texts);
startKeys(map, data.texts);

// One open filter at a time, and none after a click elsewhere.
document.addEventListener("click", (e) => {
  for (const d of document.querySelectorAll("details.facet[open]")) {
    if (!d.contains(e.target)) d.open = false;
  }
});

package index

import "math"

// Record returns what programs read of a hit on a terminal, as the members of a JSON object.
func (h *Hit) Record() map[string]any {
	line := map[string]any{
		"type": "address", "id": h.ID, "name": h.Name, "kind": h.Kind,
		"street": h.Street, "housenumber": h.HouseNumber, "postcode": h.Postcode, "city": h.City,
		"state": h.State, "country": h.Country, "address": h.Line(),
		"site": h.Site, "url": h.Evidence[0].URL, "evidence": h.Evidence[0].Snippet.Text,
		"precision": h.Precision, "level": h.Level, "confidence": h.Confidence,
		"mentions": h.Mentions, "hosts": h.Hosts,
		"first_seen": h.FirstSeen, "last_seen": h.LastSeen,
	}
	if len(h.Names) > 0 {
		line["names"] = h.Names
	}
	if !h.Gone.IsZero() {
		line["gone"] = h.Gone
	}
	if h.HasPoint {
		line["lat"], line["lon"] = h.Point[1], h.Point[0]
	}
	if h.Distance >= 0 {
		line["distance_m"] = math.Round(h.Distance)
	}
	return line
}

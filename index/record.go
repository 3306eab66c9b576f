package index

import (
	"math"
	"unicode/utf8"
)

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
	if h.Status != "" {
		line["status"], line["status_words"] = h.Status, h.StatusWords
	}
	if corrected := h.Corrected(); len(corrected) > 0 {
		line["corrected"] = corrected
	}
	if h.HasPoint {
		line["lat"], line["lon"] = h.Point[1], h.Point[0]
	}
	if h.Distance >= 0 {
		line["distance_m"] = math.Round(h.Distance)
	}
	return line
}

// Proof returns why an address of Index.Address is listed, as the members of a JSON object: what it
// was matched with, and each page with the span of the address in its snippet, in characters.
func (h *Hit) Proof() map[string]any {
	pages := []map[string]any{}
	for _, e := range h.Evidence {
		page := map[string]any{"url": e.URL, "title": e.Title, "snippet": e.Snippet.Text, "fetched": e.Fetched,
			"confidence": math.Round(100*e.Confidence) / 100, "origin": e.Origin}
		if e.Lang != "" {
			page["lang"] = e.Lang
		}
		if text, at := e.Snippet.Text, e.Snippet.Address; at[0] < at[1] {
			page["span"] = []int{utf8.RuneCountInString(text[:at[0]]), utf8.RuneCountInString(text[:at[1]])}
		}
		pages = append(pages, page)
	}
	return map[string]any{"id": h.ID, "label": h.Label(), "mentions": h.Mentions,
		"first_seen": h.FirstSeen, "last_seen": h.LastSeen,
		"precision": h.Precision, "level": h.Level, "place": h.Place, "object": h.Object, "evidence": pages}
}

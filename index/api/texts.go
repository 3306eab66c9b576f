package api

import (
	"fmt"

	"gazehound/index"
)

// words are what this package says in one language. The API says everything in
// English; the page says in its reader's language what is wrong with a search.
type words map[string]string

// say fills a text in, which has the verbs of fmt.
func (t words) say(key string, args ...any) string { return fmt.Sprintf(t[key], args...) }

// texts are the words by language.
var texts = map[string]words{
	"en": {
		// What a parameter wants, in "NAME wants …".
		"want_words": fmt.Sprintf("words, at most %d characters", index.MaxQueryLength), "want_beginning": fmt.Sprintf("the beginning of a word, at most %d characters", index.MaxQueryLength),
		"want_box": "minLon,minLat,maxLon,maxLat", "want_latitude": "a number of degrees between -90 and 90", "want_longitude": "a number of degrees between -180 and 180",
		"want_metres":     fmt.Sprintf("metres around lat and lon, more than 0 and at most %d", index.MaxRadius),
		"want_kilometres": fmt.Sprintf("kilometres around lat and lon, more than 0 and at most %d", index.MaxRadius/1000),
		"want_street":     "the name of a street", "want_postcode": "a postcode", "want_whole_postcode": "a whole postcode", "want_city": "the name of a city", "want_number": "a house number",
		"want_host": "a host or site such as www.example.org", "want_kind": "a kind of place: a tag of OpenStreetMap such as amenity=dentist, a key such as shop for all of its kinds, or a name in English, German, French, Spanish, Italian or Dutch", "want_month": "a month of first sight such as 2026-11",
		"want_precision": "the least precision of the coordinate", "want_level": "how much the gazetteer vouches for, at least", "want_since": "2026-11-21 or 7d",
		"want_interval": "a time of first sight, or an interval such as 2026-11-21T00:00:00Z/..", "want_truth": "true or false",
		"want_site_wide": "true for what stands on most pages of a site, such as in its footer, or false", "want_limit": "a whole number from 1 to %d", "want_cursor": "the cursor of a next link",
		"want_facets": "facets with commas between them: %s", "want_fields": "names of properties with commas between them", "want_json": "json",
		"want_zoom": "a whole number from 0 to 24", "want_grid": fmt.Sprintf("a whole number from 0 to %d", index.MaxZoom), "want_scale": "a number from 0 (near is most) to 1 (near means nothing)",
		"want_removal": fmt.Sprintf("what the form for removals is filled in with, at most %d bytes", maxWhat), "want_language": "a language such as de or en",
		"one_of": "one of %s", "one_of_these": "%s: one of %s",

		// What is wrong with a search, in whole sentences.
		"unread":  "The part after ? is not of the form name=value&name=value with valid %% escapes.",
		"unknown": "%q is not a parameter here.", "twice": "%s is given %d times; once is possible.", "often": "%s is given %d times; %d are possible.",
		"wants": "%s wants %s, got %q.", "not_utf8": "the value is not UTF-8.", "long": "the value has %d characters; %d are possible.", "nul": "the value holds a NUL character.",
		"between": "%s must be between -%g and %g, got %g.", "limit": "limit must be 1 to %d, got %d.", "no_number": "%q is not a number.",
		"four": "bbox wants 4 numbers with commas between them, got %d.", "box_lon": "a longitude of the bbox is not between -180 and 180.", "box_lat": "a latitude of the bbox is not between -90 and 90.",
		"box_order": "minLat %g is greater than maxLat %g.", "box_exchanged": "%s It looks like minLat,minLon,maxLat,maxLon. %s", "lat_first": "bbox=%s is minLat,minLon,…; expected minLon,minLat,maxLon,maxLat.",
		"exchanged": "Nothing is known there, and there is something where lat and lon are exchanged.",
		"no_lon":    "lon is missing; lat and lon go together.", "no_lat": "lat is missing; lat and lon go together.",
		"no_centre": "lat and lon are missing; radius is a distance around them.", "no_start": "lat and lon are missing; sort=distance orders by the distance from them.",
		"cursor": "cursor is none of this index's, or belongs to another query; only limit may differ.", "slow": "The query took longer than %v.",
		"away": "The index lies on several nodes, and none of them answers.", "closed": "The index is closed.", "failed": "The index could not be read; the server's log says more.",

		// What to do about it.
		"escape": "Escape %% as %%25, & as %%26 and ; as %%3B in values.", "mean": "Did you mean %s?", "point": "Write a decimal point, not a comma: %s",
		"no_house": "The map has no number %[1]s in %[2]s.",
		"count":    "numberMatched is in every answer; limit=1 is the least.", "again": "Leave cursor out to begin again.", "smaller": "Ask for a smaller area or fewer words, or try again.",
		"no_lang": "The answers are the same in every language; leave it out.", "no_q": "Words go to /api; /structured has street, housenumber, postcode and city.",
		"by_degrees": "Use lat=…&lon=…, so that their order cannot be mistaken.", "follow": "Follow the link with rel=next; its cursor leads to the next page.",
		"in_metres": "Did you mean radius? It is in metres on /v1/search and in kilometres on /reverse.", "into_q": "Put the words into q, such as q=Lange Straße 5.",

		// Why a removal request is not taken.
		"removal_elsewhere": "The request came from another site's page. Please use this form.", "removal_long": "The request is too long.", "removal_unread": "The request could not be read.",
		"removal_utf8": "The request is not UTF-8 text.", "removal_empty": "Please say which page, site or address it is about.",
		"removal_field": fmt.Sprintf("One of the fields is too long; %d, %d and %d bytes are possible.", maxWhat, maxReason, maxContact),
		"removal_many":  "There are many requests at the moment. Please try again in a minute.", "removal_failed": "The request could not be stored. Please write to the operator.",
	},
	"de": {
		"want_words": fmt.Sprintf("Wörter, höchstens %d Zeichen", index.MaxQueryLength), "want_beginning": fmt.Sprintf("den Anfang eines Wortes, höchstens %d Zeichen", index.MaxQueryLength),
		"want_box": "minLon,minLat,maxLon,maxLat", "want_latitude": "eine Zahl von Grad zwischen -90 und 90", "want_longitude": "eine Zahl von Grad zwischen -180 und 180",
		"want_metres":     fmt.Sprintf("Meter um lat und lon, mehr als 0 und höchstens %d", index.MaxRadius),
		"want_kilometres": fmt.Sprintf("Kilometer um lat und lon, mehr als 0 und höchstens %d", index.MaxRadius/1000),
		"want_street":     "den Namen einer Straße", "want_postcode": "eine Postleitzahl", "want_whole_postcode": "eine ganze Postleitzahl", "want_city": "den Namen eines Ortes", "want_number": "eine Hausnummer",
		"want_host": "eine Website wie www.example.org", "want_kind": "eine Art von Ort: ein Tag von OpenStreetMap wie amenity=dentist, ein Schlüssel wie shop für alle seine Arten, oder ein Name auf Deutsch, Englisch, Französisch, Spanisch, Italienisch oder Niederländisch", "want_month": "den Monat, in dem etwas zuerst gesehen wurde, etwa 2026-11",
		"want_precision": "wie genau die Lage mindestens ist", "want_level": "wie viel das Ortsverzeichnis mindestens bestätigt", "want_since": "einen Tag wie 2026-11-21 oder eine Dauer wie 7d",
		"want_interval": "eine Zeit oder einen Zeitraum wie 2026-11-21T00:00:00Z/..", "want_truth": "true oder false",
		"want_site_wide": "true für das, was auf den meisten Seiten einer Website steht, oder false", "want_limit": "eine ganze Zahl von 1 bis %d", "want_cursor": "den Wert aus einem Link zu weiteren Ergebnissen",
		"want_facets": "Merkmale, mit Kommas dazwischen: %s", "want_fields": "Namen von Eigenschaften, mit Kommas dazwischen", "want_json": "json",
		"want_zoom": "eine ganze Zahl von 0 bis 24", "want_grid": fmt.Sprintf("eine ganze Zahl von 0 bis %d", index.MaxZoom), "want_scale": "eine Zahl von 0 (Nähe zählt am meisten) bis 1 (Nähe zählt nicht)",
		"want_removal": fmt.Sprintf("womit das Formular ausgefüllt ist, höchstens %d Bytes", maxWhat), "want_language": "eine Sprache wie de oder en",
		"one_of": "eines von %s", "one_of_these": "%s: eines von %s",

		"unread":  "Was hinter dem ? steht, hat nicht die Form name=wert&name=wert mit richtigen %%-Zeichen.",
		"unknown": "%q kennt diese Suche nicht.", "twice": "%s steht %d-mal da; einmal ist möglich.", "often": "%s steht %d-mal da; %d-mal ist möglich.",
		"wants": "%s erwartet %s, nicht %q.", "not_utf8": "der Wert ist kein Text in UTF-8.", "long": "der Wert hat %d Zeichen; %d sind möglich.", "nul": "der Wert enthält ein NUL-Zeichen.",
		"between": "%s muss zwischen -%g und %g liegen und ist %g.", "limit": "limit muss von 1 bis %d sein und ist %d.", "no_number": "%q ist keine Zahl.",
		"four": "bbox erwartet 4 Zahlen mit Kommas dazwischen, nicht %d.", "box_lon": "eine Länge der bbox liegt nicht zwischen -180 und 180.", "box_lat": "eine Breite der bbox liegt nicht zwischen -90 und 90.",
		"box_order": "minLat %g ist größer als maxLat %g.", "box_exchanged": "%s Das sieht nach minLat,minLon,maxLat,maxLon aus. %s", "lat_first": "bbox=%s ist minLat,minLon,…; erwartet wird minLon,minLat,maxLon,maxLat.",
		"exchanged": "Dort ist nichts bekannt; mit vertauschtem lat und lon gibt es etwas.",
		"no_lon":    "lon fehlt; lat und lon gehören zusammen.", "no_lat": "lat fehlt; lat und lon gehören zusammen.",
		"no_centre": "lat und lon fehlen; radius ist eine Entfernung von dort.", "no_start": "lat und lon fehlen; sort=distance ordnet nach der Entfernung von dort.",
		"cursor": "cursor gehört nicht zu diesem Verzeichnis oder zu einer anderen Suche.", "slow": "Die Suche dauerte länger als %v.",
		"away": "Das Verzeichnis liegt auf mehreren Knoten, und keiner von ihnen antwortet.", "closed": "Das Verzeichnis ist geschlossen.", "failed": "Das Verzeichnis ließ sich nicht lesen; mehr steht im Protokoll des Servers.",

		"escape": "In Werten steht %%25 für %%, %%26 für & und %%3B für ;.", "mean": "Meinten Sie %s?", "point": "Mit Punkt statt Komma: %s",
		"no_house": "Die Karte hat in %[2]s keine Nummer %[1]s.",
		"count":    "Die Anzahl steht in jeder Antwort; limit=1 ist das Wenigste.", "again": "Ohne cursor beginnt die Suche von vorn.", "smaller": "Ein kleinerer Ausschnitt oder weniger Wörter helfen, oder ein neuer Versuch.",
		"no_lang": "Die Antworten sind in jeder Sprache gleich; lassen Sie es weg.", "no_q": "Wörter gehören zu /api; /structured hat street, housenumber, postcode und city.",
		"by_degrees": "Mit lat=…&lon=… lässt sich die Reihenfolge nicht verwechseln.", "follow": "Der Link zu weiteren Ergebnissen führt auf die nächste Seite.",
		"in_metres": "Meinten Sie radius? Es zählt Meter.", "into_q": "Die Wörter gehören in q, etwa q=Lange Straße 5.",

		"removal_elsewhere": "Die Anfrage kam von der Seite einer anderen Website. Bitte benutzen Sie dieses Formular.", "removal_long": "Die Anfrage ist zu lang.", "removal_unread": "Die Anfrage war nicht zu lesen.",
		"removal_utf8": "Die Anfrage ist kein Text in UTF-8.", "removal_empty": "Bitte sagen Sie, um welche Seite, Website oder Adresse es geht.",
		"removal_field": fmt.Sprintf("Eines der Felder ist zu lang; %d, %d und %d Bytes sind möglich.", maxWhat, maxReason, maxContact),
		"removal_many":  "Im Augenblick kommen viele Anfragen. Bitte versuchen Sie es in einer Minute wieder.", "removal_failed": "Die Anfrage konnte nicht gespeichert werden. Bitte schreiben Sie dem Betreiber.",
	},
}

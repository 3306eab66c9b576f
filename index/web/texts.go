package web

// texts are the page's own words, by language.
var texts = map[string]map[string]string{
	"en": {
		"open": "“", "close": "”",
		"tagline": "Addresses found on the web", "in": "in", "label": "Search names, streets, postcodes and words", "search": "Search",
		"placeholder": "name, street, postcode …", "skip": "Skip the map", "address": "address", "addresses": "addresses",
		"results": "Results", "map": "Map of the results", "pages": "pages", "page": "page", "since": "seen since", "nearby": "Nearby", "site": "site",
		"ofsite": "Only this site", "why": "Why is this listed?", "fetched": "read on", "next": "Next results", "first": "First results",
		"street": "street", "postcode": "postcode", "around": "around", "area": "in a chosen area", "remove": "Remove filter", "chips": "Filters",
		"none": "No address for", "noneplain": "No address fits.", "wordsonly": "Search for the words alone, without the filters", "everything": "Show everything that was found",
		"maybe": "The crawl may not have seen it yet.", "relaxed": "Nothing has all these words; these come close.", "typo": "Check the spelling, or use fewer words.",
		"empty": "No pages yet.", "emptyhow": "Start: gazehound crawl", "emptybeside": "gazehound crawl --serve 127.0.0.1:8090 shows this page while the crawl runs.",
		"unread": "This search could not be answered.", "from": "from", "foot": "Names and texts belong to the pages they are from.", "data": "Coordinates:",
		"precision_street": "position of the street only", "precision_postcode": "position of the postcode area only", "precision_city": "position of the town only",
		"precision_interpolated": "position estimated between neighbours", "nopoint": "position not known", "api": "The same as data", "lang": "Deutsch", "region": "Outline of the region", "others": "further results",
		"sort": "sorted by distance", "busiest": "those that most pages name come first",
	},
	"de": {
		"open": "„", "close": "“",
		"tagline": "Adressen aus dem Netz", "in": "in", "label": "Namen, Straßen, Postleitzahlen und Wörter suchen", "search": "Suchen",
		"placeholder": "Name, Straße, Postleitzahl …", "skip": "Karte überspringen", "address": "Adresse", "addresses": "Adressen",
		"results": "Ergebnisse", "map": "Karte der Ergebnisse", "pages": "Seiten", "page": "Seite", "since": "gesehen seit", "nearby": "In der Nähe", "site": "Website",
		"ofsite": "Nur diese Website", "why": "Warum steht das hier?", "fetched": "gelesen am", "next": "Weitere Ergebnisse", "first": "Erste Ergebnisse",
		"street": "Straße", "postcode": "Postleitzahl", "around": "um", "area": "in einem Ausschnitt", "remove": "Filter entfernen", "chips": "Filter",
		"none": "Keine Adresse zu", "noneplain": "Keine Adresse passt.", "wordsonly": "Nur nach den Wörtern suchen, ohne die Filter", "everything": "Alles zeigen, was gefunden wurde",
		"maybe": "Vielleicht hat der Crawl sie noch nicht gesehen.", "relaxed": "Nichts enthält alle diese Wörter; dies kommt nahe.", "typo": "Schreibweise prüfen oder weniger Wörter nehmen.",
		"empty": "Noch keine Seiten.", "emptyhow": "Start: gazehound crawl", "emptybeside": "gazehound crawl --serve 127.0.0.1:8090 zeigt diese Seite, während der Crawl läuft.",
		"unread": "Diese Suche ließ sich nicht beantworten.", "from": "aus", "foot": "Namen und Texte gehören den Seiten, von denen sie sind.", "data": "Koordinaten:",
		"precision_street": "nur die Lage der Straße", "precision_postcode": "nur die Lage des Postleitzahlgebiets", "precision_city": "nur die Lage des Ortes",
		"precision_interpolated": "Lage zwischen Nachbarn geschätzt", "nopoint": "Lage unbekannt", "api": "Dasselbe als Daten", "lang": "English", "region": "Umriss der Region", "others": "weitere Ergebnisse",
		"sort": "nach Entfernung", "busiest": "zuerst die, die am meisten Seiten nennen",
	},
}

package grammar

import (
	"os"
	"strings"
	"testing"
)

func TestTokenize(t *testing.T) {
	for text, want := range map[string]string{
		"W.-C.-Röntgen-Str. 2":        "W.-C.-Röntgen-Str.|2",
		"Hauptstr.12a, 26121":         "Hauptstr.|12a|,|26121",
		"Sport- und Park 7–15":        "Sport-|und|Park|7–15",
		"17th St., N.W.\n\nSte #5":    "17th|St.|,|N.W.|\n|Ste|#|5",
		"535-B 39A/B 178/179 1+3":     "535-B|39A/B|178/179|1+3",
		"Okken_Str. 4 alte_uhr@":      "Okken|Str.|4|alte|_|uhr|@",
		"06.05.2018 9:00 2.5":         "06.05.2018|9:00|2.5",
		"d'Or \u00adStra\u00adße\xff": "d'Or|\u00ad|Stra\u00adße|\xff",
	} {
		var got []string
		for _, tok := range Tokenize(text, 0, len(text), nil) {
			got = append(got, tok.Text())
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("Tokenize(%q) = %q, want %q", text, s, want)
		}
	}
}

func TestStreetBefore(t *testing.T) {
	for _, c := range []struct{ text, name, number, unit string }{
		{"Lange Straße 5,", "Lange Straße", "5", ""},
		{"GmbH + Co. KG W.-C.-Röntgen-Str. 2 /", "W.-C.-Röntgen-Str.", "2", ""},
		{"Bundesverband Hauptstadtbüro Almstadtstraße 7", "Almstadtstraße", "7", ""},
		{"LSVD Prinz Eugen Straße 12 ,", "Prinz Eugen Straße", "12", ""},
		{"Herr Müller, Köpenicker Str. 178/179\n", "Köpenicker Str.", "178/179", ""},
		{"Besuchen Sie uns in der Dorfstraße 23,", "Dorfstraße", "23", ""},
		{"Straße des 17. Juni 135", "Straße des 17. Juni", "135", ""},
		{"Straße nach Fichtenwalde 13,", "Straße nach Fichtenwalde", "13", ""},
		{"An der Grünwalder Brücke 1", "An der Grünwalder Brücke", "1", ""},
		{"Hochstr 35 - 37\n", "Hochstr", "35 - 37", ""},
		{"Weißenburgstr. 4 (Hinterhof, EG)\n", "Weißenburgstr.", "4", ""},
		{"Conventstraße 8-10 / Haus A\n", "Conventstraße", "8-10", "Haus A"},
		{"Feldweg\n9\n", "Feldweg", "9", ""},
		{"Via Bologna, 32 – ", "Via Bologna", "32", ""},
		{"im wiesental 19b ,", "im wiesental", "19b", ""},
		{"Paulusplatz\n", "Paulusplatz", "", ""},
		{"GmbH, Altonaer Poststraße 5\n", "Altonaer Poststraße", "5", ""},
		{"in der Leipziger Poststraße 5\n", "Leipziger Poststraße", "5", ""},
		{"Firma Lehmann Neustädtische Kirchstraße 12\n", "Neustädtische Kirchstraße", "12", ""},
		{"Schwarze Bärenstraße 5\n", "Schwarze Bärenstraße", "5", ""},
		{"Peter Reents\nAm Weener Bahnhof 5\n", "Am Weener Bahnhof", "5", ""},
		{"Dr. Eberlestraße 5\n", "Dr. Eberlestraße", "5", ""},
		{"Dr. Karl Rennergasse 5\n", "Dr. Karl Rennergasse", "5", ""}, // "Dr. Karl" is nobody without a surname
		{"Karl Rennergasse 5\n", "Karl Rennergasse", "5", ""},
		{"Bibliothekstraße 1\nMZH, Ebene 3\n", "Bibliothekstraße", "1", ""},
		{"Gasthaus Karl Rennergasse 5\n", "Rennergasse", "5", ""},
		{"Anschrift: Johann Reents - Straße 5\n", "Johann Reents - Straße", "5", ""},
		{"Johann Reents – Strasse 5\n", "Johann Reents – Strasse", "5", ""},
		{"Tenniszentrum - Reentsstraße 5\n", "Reentsstraße", "5", ""},
		{"beim Eltern Kind Zentrum im Pfarrweg 5\n", "Pfarrweg", "5", ""},
		{"\nAlt Reentser Weg 5\n", "Alt Reentser Weg", "5", ""},
		{"c.so Reents I, 5\n", "c.so Reents I", "5", ""},
		{"p.le Reents 5/bis\n", "p.le Reents", "5/bis", ""},
		{"Località Reents\n", "Località Reents", "", ""},
		{"Via Reents n.c. 5 - Palazzina C -", "Via Reents", "5", "Palazzina C"},
		{"Platz am Markt 5\n", "Platz am Markt", "5", ""},
		{"in der Breiten Gasse 5\n", "Breiten Gasse", "5", ""},
		{"Müller Poststraße 5\n", "Poststraße", "5", ""},
		{"Theater Bahnhofstraße 5\n", "Bahnhofstraße", "5", ""},
		{"Rechtsanwalt Rosenberger Poststraße 5\n", "Poststraße", "5", ""},
		{"Praxis Dr. Becker Poststraße 5\n", "Poststraße", "5", ""},
		{"Muster B.V.\nVan der Hoopweg 40\n", "Van der Hoopweg", "40", ""},
		{"De Ruyterkade 5\n", "De Ruyterkade", "5", ""},
		{"kantoor 's-Gravenweg 21\n", "'s-Gravenweg", "21", ""},
		{"'t Hooghuisweg 3\n", "'t Hooghuisweg", "3", ""},
		{"Tweede Jan Steenstraat 7\n", "Tweede Jan Steenstraat", "7", ""},
		{"Karel de Grotelaan 7\n", "Karel de Grotelaan", "7", ""},
		{"op de hoek van de Kerkstraat 7\n", "Kerkstraat", "7", ""},
		{"Bij de Kerkstraat 7\n", "Kerkstraat", "7", ""},
		{"Adres Jan Steenstraat 7\n", "Jan Steenstraat", "7", ""},
		{"Tandarts Okken Kerkstraat 7\n", "Kerkstraat", "7", ""},
		{"Tandartspraktijk Okken Kerkstraat 7\n", "Kerkstraat", "7", ""},
		{"Store Kongensgade 7\n", "Store Kongensgade", "7", ""},
		{"Store Kannikestræde 7\n", "Store Kannikestræde", "7", ""},
		{"Ved Kongensgade 7\n", "Kongensgade", "7", ""},
		{"Der Feldweg 7\n", "Feldweg", "7", ""},
		{"Via 25 Aprile 7\n", "Via 25 Aprile", "7", ""},
		{"Via alla Chiesa 7\n", "Via alla Chiesa", "7", ""},
		{"Piazzale Uwe dalle Bande 7\n", "Piazzale Uwe dalle Bande", "7", ""},
		{"P.zza Uwe dalle Bande 7\n", "P.zza Uwe dalle Bande", "7", ""}, {"V.le Garibaldi, 5 ■ ", "V.le Garibaldi", "5", ""},
		{"Werner von Siemensstraße 7\n", "Werner von Siemensstraße", "7", ""},
		{"Bertha von Suttner Platz 7\n", "Bertha von Suttner Platz", "7", ""},
		{"am Bunten Garten an der Poststraße 15 in ", "Poststraße", "15", ""},
		{"Lange Straße 15 / Ecke Poststraße\n", "Lange Straße", "15", ""},
		{"Lange Straße 15 a, Ecke Alte Poststraße, ", "Lange Straße", "15 a", ""},
		{"Lange Straße 15 OT Okken, ", "Lange Straße", "15", ""},
		{"Lange Straße 15 ~ ", "Lange Straße", "15", ""},
		{"Lange Straße 15 ° ", "Lange Straße", "15", ""},
		{"Lange Straße o. Nr., ", "Lange Straße", "", ""},
		{"Lange Straße Haus-Nr. 15, ", "Lange Straße", "15", ""},
		{"Straße Hauptstraße 15\nPLZ ", "Hauptstraße", "15", ""},
		{"Kerkstraat 12 bis A, ", "Kerkstraat", "12 bis A", ""},
		{"Ecke Lange und Poststraße 7\n", "Poststraße", "7", ""},
		{"Wir sind umgezogen von Poststraße 7\n", "Poststraße", "7", ""},
		{"Telefon 5", "", "", ""},
		{"am 12. Mai 2018", "", "", ""},
		{"", "", "", ""},
	} {
		tok := Tokenize(c.text, 0, len(c.text), nil)
		s, _ := StreetBefore(tok, nil)
		if got := s.Name.Of(c.text); got != c.name || s.Number.Of(c.text) != c.number ||
			s.Unit.Of(c.text) != c.unit {
			t.Errorf("%q: name %q, number %q, unit %q; want %q, %q, %q", c.text, got, s.Number.Of(c.text), s.Unit.Of(c.text), c.name, c.number, c.unit)
		}
	}
}

// Streets of countries whose towns have many of several words are read whole.
func TestWholeStreets(t *testing.T) {
	file, err := os.ReadFile("testdata/streets.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for street := range strings.Lines(string(file)) {
		street = strings.TrimSpace(street)
		if strings.HasPrefix(street, "#") {
			continue
		}
		n++
		text := "Reents\n" + street + " 12\n"
		s, _ := StreetBefore(Tokenize(text, 0, len(text), nil), nil)
		if got := s.Name.Of(text); got != street || s.Number.Of(text) != "12" {
			t.Errorf("%q: name %q, number %q", street, got, s.Number.Of(text))
		}
	}
	if n == 0 {
		t.Error("no streets")
	}
}

func TestUSBefore(t *testing.T) {
	for _, c := range []struct{ text, number, name, unit, box string }{
		{"122 Doty Circle\n", "122", "Doty Circle", "", ""},
		{"(303) 683-5033 600 17th Street\nSuite 2800 South\n", "600", "17th Street", "Suite 2800 South", ""},
		{"N112 W16700 Mequon Road ", "N112 W16700", "Mequon Road", "", ""},
		{"504 E. Route 66 Suite # 102\n", "504", "E. Route 66", "Suite # 102", ""},
		{"2204 E. Main\n", "2204", "E. Main", "", ""},
		{"242 N AVENUE 25 SUITE 300, ", "242", "N AVENUE 25", "SUITE 300", ""},
		{"1300 New York Avenue, N.W.\n", "1300", "New York Avenue, N.W.", "", ""},
		{"100 ave of the stars\n", "100", "ave of the stars", "", ""},
		{"123 St. Charles Ave, ", "123", "St. Charles Ave", "", ""},
		{"535-B Main Street\n", "535-B", "Main Street", "", ""},
		{"400 A South Boulevard, ", "400 A", "South Boulevard", "", ""},
		{"unit 111 501 south mill st ", "501", "south mill st", "unit 111", ""},
		{"P.O. Box 3830\n", "", "", "", "P.O. Box 3830"},
		{"4515 West Lovers Lane\nP.O. Box 7330\n", "4515", "West Lovers Lane", "", "P.O. Box 7330"},
		{"Rural Route 1 Box 7, ", "", "", "", "Rural Route 1 Box 7"},
		{"One Velvet Drive, ", "One", "Velvet Drive", "", ""},
		{"457 N. 300 E., ", "457", "N. 300 E.", "", ""},
		{"457 South 1250 West, Suite 3\n", "457", "South 1250 West", "Suite 3", ""},
		{"Okken Hall, situated at 30, Reents Avenue ", "30", "Reents Avenue", "", ""},
		{"Hall, 12 - 14 Reents Avenue ", "12 - 14", "Reents Avenue", "", ""},
		{"200 - 5050 Reents Avenue ", "5050", "Reents Avenue", "", ""},
		{"2 - 15 Reents Avenue ", "15", "Reents Avenue", "", ""},
		{"No. 12, Reents Avenue ", "12", "Reents Avenue", "", ""},
		{"Ground Floor 12 Reents Avenue ", "12", "Reents Avenue", "Ground Floor", ""},
		{"in 2014 we were 500 people\n", "", "", "", ""},
		{"", "", "", "", ""},
	} {
		tok := Tokenize(c.text, 0, len(c.text), nil)
		s, _ := USBefore(tok, false)
		if s.Number.Of(c.text) != c.number || s.Name.Of(c.text) != c.name || s.Unit.Of(c.text) != c.unit ||
			s.POBox.Of(c.text) != c.box {
			t.Errorf("%q: number %q, name %q, unit %q, box %q", c.text, s.Number.Of(c.text), s.Name.Of(c.text), s.Unit.Of(c.text), s.POBox.Of(c.text))
		}
	}
}

func TestStreetAfter(t *testing.T) {
	for text, want := range map[string]string{
		", Lange Straße 5":                   "5",
		", Lange Straße 5, 7\n":              "5, 7",
		", Lange Straße 5, 7 und 9":          "5, 7 und 9",
		", Lange Straße 5 a":                 "5 a",
		", Lange Straße 5 I ":                "5", // a bar
		", Lange Straße 5; 80 Parkplätze":    "5",
		", Lange Straße 5, 441 12345":        "5",
		", Lange Straße 12, 3":               "12",
		"\nLange Straße 5-7, 80 m² im Hof\n": "5-7",
		" (Lange Straße 5)":                  "5",
		", in der Lange Straße 5":            "5",
	} {
		s, ok := StreetAfter(Tokenize(text, 0, len(text), nil), nil)
		if got := s.Number.Of(text); !ok || s.Name.Of(text) != "Lange Straße" || got != want {
			t.Errorf("%q: name %q, number %q, want %q", text, s.Name.Of(text), got, want)
		}
	}
	for _, text := range []string{", An der Reents 5", ", Auf der Reents 5", ", In der Reents 5"} {
		s, ok := StreetAfter(Tokenize(text, 0, len(text), nil), nil)
		if got := s.Name.Of(text); !ok || got != text[2:len(text)-2] {
			t.Errorf("%q: name %q", text, got)
		}
	}
}

func TestPremisesBefore(t *testing.T) {
	for text, want := range map[string]string{
		"Block 1 Unit A1-3 Pinewood Court, ":        "Pinewood Court",
		"Address Worth Park, ":                      "Worth Park",
		"Training at Reents Park\n":                 "Reents Park",
		"Unit 5, Reents Park\n":                     "Reents Park",
		"Garage, Mill Lane, Okken Trading Estate, ": "Mill Lane",
	} {
		s, ok := PremisesBefore(Tokenize(text, 0, len(text), nil))
		if got := s.Name.Of(text); !ok || got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestSpelled(t *testing.T) {
	for _, c := range [][3]string{
		{"GB", "sw1a1aa", "SW1A 1AA"}, {"GB", "N6 6HL", "N6 6HL"}, {"GB", "N6", "N6"}, {"CA", "m6k1t6", "M6K 1T6"}, {"NL", "1012js", "1012 JS"},
		{"NL", "1012", "1012"}, {"DE", "26121", "26121"}, {"US", "97227-1234", "97227"}, {"", "x", "x"}, {"GB", "", ""},
	} {
		if got := Find(c[0]).Spelled(c[1]); got != c[2] {
			t.Errorf("%q: %q, want %q", c[:2], got, c[2])
		}
	}
}

func TestSpanishProvince(t *testing.T) {
	for code, want := range map[string]string{"01001": "Álava", "08001": "Barcelona", "28232": "Madrid", "46015": "Valencia", "50014": "Zaragoza", "52001": "Melilla", "53001": "", "00100": "", "2800": "", "": "", "ab123": ""} {
		if got := spanishProvince(code); got != want {
			t.Errorf("%q: %q, want %q", code, got, want)
		}
	}
}

func TestState(t *testing.T) {
	for s, want := range map[string]string{
		"CA": "CA", "ca": "CA", "D.C.": "DC", "IL.": "IL", "North  Carolina": "NC", "new\nyork": "NY", "Texas": "TX", "XX": "", "Bavaria": "", "": "",
		"District of Columbia": "DC", strings.Repeat("x", 99): "",
	} {
		if got := State("US", s); got != want {
			t.Errorf("State(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestSplitCity(t *testing.T) {
	for name, want := range map[string][3]string{
		"Frankfurt am Main":           {"Frankfurt", "m", ""},
		"Wien, Wieden":                {"Wien", "w", ""},
		"Graz,02.Bez.:Sankt Leonhard": {"Graz", "l", ""},
		"Aarau 1":                     {"Aarau", "1", ""},
		"Dessau-Roßlau":               {"", "r", "Dessau"},
		"Halle (Saale)":               {"Halle", "s", ""},
		"Bad Homburg":                 {"", "h", ""},
		"Königs Wusterhausen":         {"", "w", ""},
		"Berlin":                      {"", "", ""},
	} {
		base, rest, first := SplitCity(name)
		letter := ""
		if rest != 0 {
			letter = string(rest)
		}
		if got := [3]string{base, letter, first}; got != want {
			t.Errorf("SplitCity(%q) = %q, want %q", name, got, want)
		}
	}
}

// Words are looked up folded: one that is not would never be found.
func TestWordsAreFolded(t *testing.T) {
	for _, words := range []map[string]bool{streetTypes, leadTypes, adjectiveWords, unitWords, floorWords, placeLabels, boxWords, numberWords} {
		for w := range words {
			if Fold(w) != w {
				t.Errorf("%q is looked up as %q", w, Fold(w))
			}
		}
	}
}

// The parts of a street lie in the tokens, in no bytes twice where they are
// name and number.
func FuzzStreets(f *testing.F) {
	for _, s := range []string{"Lange Straße 5,", "504 E. Route 66 Suite # 102\n", "12, rue du Rhône", "Postfach 10 11", "One Two Three Ave", "a-\u00ad.5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tok := Tokenize(text, 0, len(text), nil)
		if len(tok) > MaxTokens {
			t.Fatalf("%d tokens", len(tok))
		}
		last := 0
		for _, k := range tok {
			if k.Start < last || k.End <= k.Start || k.End > len(text) {
				t.Fatalf("token %+v of %q", k, text)
			}
			last = k.End
		}
		check := func(s Street, ok bool) {
			for _, part := range [...]Span{s.Name, s.Number, s.Unit, s.POBox} {
				if part.Empty() {
					continue
				}
				if part.Start < 0 || part.End > len(text) || tok[0].Start > part.Start {
					t.Fatalf("%+v of %q", s, text)
				}
			}
			if ok && !s.Name.Empty() && !s.Number.Empty() && s.Name.Start < s.Number.End &&
				s.Number.Start < s.Name.End {
				t.Fatalf("name and number overlap: %+v of %q", s, text)
			}
		}
		check(StreetBefore(tok, nil))
		check(StreetBefore(tok, func(name string) bool { return len(name)%2 == 0 }))
		check(NumberStreetBefore(tok, nil))
		check(StreetAfter(tok, nil))
		check(USBefore(tok, false))
		check(USBefore(tok, true))
		for i := range tok {
			s, _, ok := USForward(tok, i)
			check(s, ok)
		}
	})
}

// A French street ends where its city may begin.
func TestFrenchStreet(t *testing.T) {
	for text, want := range map[string]string{
		"Rue Kléber Anzin":                                 "Rue Kléber",
		"Rue Victor Hugo Anzin":                            "Rue Victor Hugo",
		"rue louis blanc périgueux":                        "rue louis blanc",
		"Rue de la Nouzillère Mussidan":                    "Rue de la Nouzillère",
		"Rue de l'Aviation Darois":                         "Rue de l'Aviation",
		"Rue d'York Dijon":                                 "Rue d'York",
		"Rue des Cités du Parc Audincourt":                 "Rue des Cités du Parc",
		"Rue du Champ Aux Moines Le Bosc-Roger-en-Roumois": "Rue du Champ Aux Moines",
		"Rue du Docteur Jean Bertholet Toulon":             "Rue du Docteur Jean Bertholet",
		"Avenue du Général de Gaulle Nanterre":             "Avenue du Général de Gaulle",
		"Rue Charles de Gaulle Metz":                       "Rue Charles de Gaulle",
		"Rue Pierre et Marie Curie Plérin":                 "Rue Pierre et Marie Curie",
		"Rue du 11 Novembre 1918 Bourges":                  "Rue du 11 Novembre 1918",
		"Place du Vieux Moulin Rodez":                      "Place du Vieux Moulin",
		"Rue de la Croix Rouge Lens":                       "Rue de la Croix Rouge",
		"Grande Rue Athie":                                 "Grande Rue",
		"Grand-Rue Grilly":                                 "Grand-Rue",
		"Rue Saint-Marc Aunay-sur-Odon":                    "Rue Saint-Marc",
		"Rue du Stade":                                     "Rue du Stade",
		"Rue de la Haie Forest Charleville-Mézières":       "Rue de la Haie Forest",
		"Rue des Champs Saint-Michel Caen":                 "Rue des Champs Saint-Michel",
		"Rue Victor Hugo Le Havre":                         "Rue Victor Hugo",
		"Rue Croix Pierson Le Havre":                       "Rue Croix Pierson",
		"rue de la gare la ferte sous jouarre":             "rue de la gare",
		"Rue de la Gare Saint Denis":                       "Rue de la Gare",
		"Avenue du 1er Régiment d'Infanterie Vierzon":      "Avenue du 1er Régiment d'Infanterie",
		"Rue du 1er Mai Lens":                              "Rue du 1er Mai",
		"Avenue Pierre Mendès France":                      "Avenue Pierre Mendès France",
		"Rue Jean Moulin":                                  "Rue Jean Moulin",
		"Lange Straße":                                     "Lange Straße",
		"Rue":                                              "Rue",
		"Rue de la":                                        "Rue de la",
		"":                                                 "",
	} {
		words := strings.Fields(text)
		if got := strings.Join(words[:frenchStreet(words)], " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

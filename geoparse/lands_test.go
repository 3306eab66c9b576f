package geoparse

import (
	"strings"
	"testing"

	"gazehound/gazetteer"
	"gazehound/geoparse/markup"

	"github.com/paulmach/orb"
)

// TestKnownStreets reads addresses of which the gazetteer has the house, in the spelling of the people
// there. house is "country|postcode|city|street|number"; want is "street|number" as the text has them,
// where the text is not to be found as a house, with the precision behind it.
func TestKnownStreets(t *testing.T) {
	for _, c := range []struct{ house, text, want string }{
		// The French comma and the words that lead to an address.
		{"FR|25330|Amancey|rue du Puits|11", "Épicerie Colin\n11, rue du Puits\n25330 Amancey", "rue du Puits|11"},
		{"FR|25330|Amancey|rue du Puits|11bis", "11bis, rue du Puits, 25330 Amancey", "rue du Puits|11bis"},
		{"FR|25330|Amancey|place du Marché|3", "Mairie - 3, place du Marché - 25330 Amancey", "place du Marché|3"},
		{"BE|5000|Namur|rue du Puits|11", "11, rue du Puits à 5000 Namur", "rue du Puits|11"},
		{"FR|31000|Toulouse|rue des Lilas|17", "Retrouvez-nous au 17 rue des Lilas, 31000 Toulouse.", "rue des Lilas|17"},
		{"FR|31000|Toulouse|rue des Lilas|17", "Un atelier situé 17 rue des Lilas à 31000 Toulouse", "rue des Lilas|17"},
		{"LU|2449|Luxembourg|rue des Lilas|17", "Le siège du 17, rue des Lilas, L-2449 Luxembourg", "rue des Lilas|17"},
		{"BE|4000|Liège|quai des Lilas|17", "La boutique sise 17 quai des Lilas, 4000 Liège", "quai des Lilas|17"},
		// Whatever a street is called.
		{"FR|59000|Lille|Clos des Merles|3", "3 Clos des Merles\n59000 Lille", "Clos des Merles|3"},
		{"FR|59000|Lille|Digue du Nord|8", "8 Digue du Nord, 59000 Lille", "Digue du Nord|8"},
		{"FR|59000|Lille|Corniche Verte|2", "Corniche Verte 2 - 59000 Lille", "Corniche Verte|2"},
		{"DE|26121|Oldenburg|Wolfsangel|9", "Café am Wall, Wolfsangel 9, 26121 Oldenburg", "Wolfsangel|9"},
		{"DE|22113|Hamburg|Billwerder Billdeich|256", "Hof Ahrens, Billwerder Billdeich 256, 22113 Hamburg", "Billwerder Billdeich|256"},
		{"NL|1012|Amsterdam|Zandhoek|14", "Zandhoek 14, 1012 AB Amsterdam", "Zandhoek|14"},
		{"NL|1012|Amsterdam|Zandhoek|14", "Het adres Zandhoek 14 1012 AB te Amsterdam", "Zandhoek|14"},
		// The town is no street of itself, unless it has a number.
		{"DE|26121|Varel|Varel|9", "Hotel zur Post, Varel, 26121 Varel", "||postcode"},
		{"DE|26121|Varel|Varel|9", "Rathaus\nVarel\n26121 Varel", "||postcode"},
		{"DE|26121|Varel|Varel|9", "Saal 9 Varel, 26121 Varel", "||postcode"},
		{"DE|26121|Varel|Varel|9", "Hof Ahrens\nVarel 9\n26121 Varel", "Varel|9"},
		// Usual abbreviations.
		{"ES|47195|Arroyo|Calle Sol|4", "C/ Sol, 4, 47195 Arroyo", "C/ Sol|4"},
		{"ES|47195|Arroyo|Calle Sol|4", "Cl. Sol 4, 47195 Arroyo", "Cl. Sol|4"},
		{"ES|47195|Arroyo|Plaza de la Fuente|1", "Pza. Fuente, 1, 47195 Arroyo", "Pza. Fuente|1"},
		{"ES|47195|Arroyo|Avenida del Puerto|12", "Avda. Puerto 12, 47195 Arroyo", "Avda. Puerto|12"},
		{"ES|47195|Arroyo|Calle Sol|4", "Calle del Sol, 4, 47195 Arroyo", "Calle del Sol|4"},
		{"IT|20871|Vimercate|Via Verdi|4", "V. Verdi n. 4, 20871 Vimercate", "V. Verdi|4"},
		{"FR|25330|Amancey|rue de la Croix|11", "11 r. de la Croix, 25330 Amancey", "r. de la Croix|11"},
		{"FR|25330|Amancey|place de la Croix|11", "11 pl. de la Croix, 25330 Amancey", "pl. de la Croix|11"},
		{"US|84115|Salt Lake City|State Route 9|2210", "2210 SR-9, Salt Lake City, UT 84115", "SR-9|2210"},
		{"US|84115|Salt Lake City|US Highway 50|310", "310 US-50, Salt Lake City, UT 84115", "US-50|310"},
		{"US|84115|Salt Lake City|State Highway 12|77", "77 State Highway No 12, Salt Lake City, UT 84115", "State Highway No 12|77"},
		{"US|84115|Salt Lake City|County Road 12|77", "77 CR 12, Salt Lake City, UT 84115", "CR 12|77"},
		{"US|84115|Salt Lake City|South 300 West|450", "450 S 300 W, Salt Lake City, UT 84115", "S 300 W|450"},
		{"DE|10623|Berlin|Straße des 17. Juni|135", "Str. d. 17. Juni 135, 10623 Berlin", "Str. d. 17. Juni|135"},
		// Words for "number", and none.
		{"ES|47195|Arroyo|Calle Sol|4", "Calle Sol, núm. 4, 47195 Arroyo", "Calle Sol|4"},
		{"ES|47195|Arroyo|Calle Sol|4", "Calle Sol, n.º 4, 47195 Arroyo", "Calle Sol|4"},
		{"IT|20871|Vimercate|Via Verdi|4", "Via Verdi, num. 4, 20871 Vimercate", "Via Verdi|4"},
		{"IT|20871|Vimercate|Via Verdi|4", "Via Verdi n° 4, 20871 Vimercate", "Via Verdi|4"},
		{"IT|20871|Vimercate|Via Verdi|4", "Via Verdi snc, 20871 Vimercate (MB)", "Via Verdi||street"},
		{"IT|20871|Vimercate|Via Verdi|4", "Via Verdi senza numero, 20871 Vimercate", "Via Verdi||street"},
		{"IT|20871|Vimercate|Via Verdi|4", "Via Verdi, senza numero civico, 20871 Vimercate", "Via Verdi||street"},
		{"ES|47195|Arroyo|Calle Sol|4", "Calle Sol, s/n, 47195 Arroyo", "Calle Sol||street"},
		// Numbers of houses.
		{"DE|26121|Oldenburg|Dammweg|14 1/2", "Dammweg 14½, 26121 Oldenburg", "Dammweg|14½"},
		{"DE|26121|Oldenburg|Dammweg|14 1/2", "Dammweg 14 ½, 26121 Oldenburg", "Dammweg|14 ½"},
		{"US|84115|Salt Lake City|Main St|226 1/2", "226½ Main St, Salt Lake City, UT 84115", "Main St|226½"},
		{"US|84115|Salt Lake City|Main St|226 1/2", "226 ½ Main St, Salt Lake City, UT 84115", "Main St|226 ½"},
		{"DE|26121|Oldenburg|Dammweg|7-9", "Dammweg 7, 26121 Oldenburg", "Dammweg|7"},
		{"DE|26121|Oldenburg|Dammweg|50", "Dammweg 48-50, 26121 Oldenburg", "Dammweg|48-50"},
		{"DE|26121|Oldenburg|Dammweg|48", "Dammweg 48–50, 26121 Oldenburg", "Dammweg|48–50"},
		{"DE|26121|Oldenburg|Dammweg|14", "Dammweg 12+14, 26121 Oldenburg", "Dammweg|12+14"},
		{"DE|26121|Oldenburg|Dammweg|7-9", "Dammweg 8, 26121 Oldenburg", "Dammweg|8|street"},
		{"DE|26121|Oldenburg|Prof.-Kahl-Straße|4", "Prof.‑Kahl‑Straße 4, 26121 Oldenburg", "Prof.‑Kahl‑Straße|4"},
		{"DE|26121|Oldenburg|Prof.-Kahl-Straße|4", "Prof.–Kahl–Straße 4, 26121 Oldenburg", "Prof.–Kahl–Straße|4"},
		{"DE|26121|Oldenburg|Georg-Kahl-Straße|4", "Georg―Kahl―Straße 4, 26121 Oldenburg", "Georg―Kahl―Straße|4"},
		{"DK|1665|København V|Skovgade|42", "Skovgade 42 4 tv\n1665 København V", "Skovgade|42"},
		{"DK|1665|København V|Skovgade|42", "Skovgade 42, 4. th, 1665 København V", "Skovgade|42"},
		{"DK|1665|København V|Skovgade|42", "Skovgade 42 st tv, 1665 København V", "Skovgade|42"},
		{"AT|1070|Wien|Lange Gasse|5", "Lange Gasse 5, Stiege 2, Tür 14, 1070 Wien", "Lange Gasse|5"},
		{"AT|1070|Wien|Lange Gasse|5", "Lange Gasse 5/2/14, 1070 Wien", "Lange Gasse|5/2/14"},
		{"AT|1070|Wien|Lange Gasse|5", "Lange Gasse 5 Stg. 2 Top 14, 1070 Wien", "Lange Gasse|5"},
		// Names with numbers.
		{"DE|68159|Mannheim|C 4|5", "Teehaus im Quadrat, C 4, 5, 68159 Mannheim", "C 4|5"},
		{"DE|26121|Oldenburg|An der B 27|4", "An der B 27 4, 26121 Oldenburg", "An der B 27|4"},
		{"NL|1012|Amsterdam|Plein 1940|1", "Plein 1940 1, 1012 AB Amsterdam", "Plein 1940|1"},
		{"FR|59000|Lille|rue du 8 Mai 1945|6", "6, rue du 8 Mai 1945, 59000 Lille", "rue du 8 Mai 1945|6"},
		{"IT|20871|Vimercate|Via 25 Aprile|3", "Via 25 Aprile 3, 20871 Vimercate", "Via 25 Aprile|3"},
		// A building behind a street.
		{"US|97227|Portland|N Otter Blvd|3705", "3705 N Otter Blvd Otter Point Lofts, Portland, OR 97227", "N Otter Blvd|3705"},
		{"US|97227|Portland|Cedar Way|12", "12 Cedar Way Cedar Business Center, Portland, OR 97227", "Cedar Way|12"},
		{"US|97227|Portland|SW Ash St|900", "900 SW Ash St The Ash Building, Portland, OR 97227", "SW Ash St|900"},
		{"GB|LS9|Leeds|Tanner Lane|31", "31 Tanner Lane, Riverside House, Leeds LS9 7ZZ", "Tanner Lane|31"},
		// The order "postcode town, street number".
		{"DE|68159|Mannheim|C 4|5", "68159 Mannheim, C 4, 5", "C 4|5"},
		{"FR|59000|Lille|Clos des Merles|3", "59000 Lille, 3 Clos des Merles", "Clos des Merles|3"},
		{"ES|47195|Arroyo|Calle Sol|4", "47195 Arroyo, C/ Sol, nº 4", "C/ Sol|4"},
	} {
		checkKnown(t, c.house, c.text, c.want)
	}
}

// TestWholePostcodes reads whole and short postcodes with a gazetteer that has the one or the other.
func TestWholePostcodes(t *testing.T) {
	for _, c := range []struct{ house, text, want string }{
		{"NL|1017 ZB|Amsterdam|Bakkersgracht|12", "Atelier\nBakkersgracht 12\n1017 ZB Amsterdam", "Bakkersgracht|12"},
		{"NL|1017ZB|Amsterdam|Bakkersgracht|12", "Bakkersgracht 12, 1017 Amsterdam", "Bakkersgracht|12"},
		{"NL|1017|Amsterdam|Bakkersgracht|12", "Bakkersgracht 12, 1017 ZB Amsterdam", "Bakkersgracht|12"},
		{"NL|3811 AB|Amersfoort|Kerkpad|3", "kerkpad 3, 3811ab amersfoort", "kerkpad|3"},
		{"NL|3811 AB|Amersfoort|Kerkpad|3", "kerkpad 3, 3811 ab amersfoort", "kerkpad|3"},
		{"NL|3811 AB|Amersfoort|Kerkpad|3", "Kerkpad 3, 3811 CD Amersfoort", "Kerkpad|3"},
		{"GB|LS9 7ZB|Leeds|Weaver Lane|31", "Weaver Books\n31 Weaver Lane\nLeeds\nLS9 7ZB", "Weaver Lane|31"},
		{"GB|LS9 7ZB|Leeds|Weaver Lane|31", "31 Weaver Lane, Leeds LS9", "Weaver Lane|31"},
		{"GB|LS9 7ZB|Leeds|Weaver Lane|31", "31 Weaver Lane\nLeeds\nLS9\n", "Weaver Lane|31"},
		{"GB|LS9 7ZB|Leeds|Weaver Lane|31", "31 weaver lane, leeds, ls9 7zb", "weaver lane|31"},
		{"GB|LS9|Leeds|Weaver Lane|31", "31 Weaver Lane, LS9 7ZB Leeds", "Weaver Lane|31"},
		{"GB|LS9 7ZB|Leeds|Weaver Lane|31", "Weaver Lane has 31 shops, the 2nd in ls9 is a 4th", ""},
		{"CA|L6Y 9Z9|Brampton|Otter Crescent|18", "18 Otter Crescent, Brampton, ON L6Y 9Z9", "Otter Crescent|18"},
		{"CA|L6Y 9Z9|Brampton|Otter Crescent|18", "18 Otter Crescent, Brampton, ON L6Y9Z9", "Otter Crescent|18"},
		{"CA|L6Y|Brampton|Otter Crescent|18", "18 Otter Crescent, Brampton, ON L6Y 9Z9", "Otter Crescent|18"},
		{"PT|1200-205|Lisboa|Rua das Flores|8", "Rua das Flores, 8, 1200-205 Lisboa", "Rua das Flores|8"},
		{"PT|1200-205|Lisboa|Rua das Flores|8", "R. das Flores 8, 1200 Lisboa", "R. das Flores|8"},
		{"US|97227|Portland|Cedar Way|12", "12 Cedar Way, Portland, OR 97227 1234", "Cedar Way|12"},
		{"US|97227|Portland|Cedar Way|12", "12 Cedar Way, Portland, OR 972271234", "Cedar Way|12"},
		{"US|97227|Portland|Cedar Way|12", "12 Cedar Way, Portland, OR 97227-1234", "Cedar Way|12"},
	} {
		checkKnown(t, c.house, c.text, c.want)
	}
}

// TestYearsNearNames: a year behind a number, and a comma or the end of its line behind it, is no postcode of a
// town that the gazetteer does not have.
func TestYearsNearNames(t *testing.T) {
	p, err := New(testGazetteer(t, gazetteer.Place{Kind: gazetteer.Postcode, Country: "AT", Postcode: "2013",
		City: "Göllersdorf", Names: []string{"Göllersdorf"}, Point: orb.Point{16, 48}, HasPoint: true}), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		"Hauptstraße 5, 2013 Göllersdorf":                1,
		"Hauptstraße 5, 2013 Weilerau":                   1,
		"Die Pforte, Herbolzheim, 35, 2013, Harms":       0,
		"Faires Frühstück 2018\nFrühstück 2013\nSamstag": 0,
	} {
		if v := parse(t, p, Input{Text: text}); len(v.Addresses) != want {
			t.Errorf("%q: %+v, want %d", text, v.Addresses, want)
		}
	}
}

// TestWrittenPlaces reads town and postcode as pages write them: what the address has of both.
func TestWrittenPlaces(t *testing.T) {
	postcode := func(country, code, city, state string) gazetteer.Place {
		return gazetteer.Place{Kind: gazetteer.Postcode, Country: country, Postcode: code, City: city, State: state,
			Names: []string{city}, Point: orb.Point{8, 50}, HasPoint: true}
	}
	elsewhere := postcode("US", "97327", "Brownsville", "OR")
	elsewhere.Point = orb.Point{8, 51.5}
	p, err := New(testGazetteer(t, postcode("GB", "LS9", "Leeds", ""), postcode("GB", "SE1", "London", ""),
		postcode("US", "97227", "Portland", "OR"), elsewhere), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"18 Weaver Lane\nLS9 7ZB\nLeeds":                        "Weaver Lane|18|LS9 7ZB|Leeds",
		"18 Weaver Lane, LS9 7ZB, Leeds":                        "Weaver Lane|18|LS9 7ZB|Leeds",
		"18 Weaver Road\nSE1 9ZG London":                        "Weaver Road|18|SE1 9ZG|London",
		"18 Weaver Lane, LEEDS. LS9 7ZB":                        "Weaver Lane|18|LS9 7ZB|LEEDS",
		"18 Weaver Lane, Leeds, West Yorkshire. LS9 7ZB":        "Weaver Lane|18|LS9 7ZB|Leeds",
		"Weaver House, 18 Weaver Lane, Leeds. Postcode LS9 7ZB": "Weaver Lane|18|LS9 7ZB|Leeds",
		"Shop\n18 Weaver Lane\nLeeds\nLS9\nTel 0113":            "Weaver Lane|18|LS9|Leeds",
		"18 Weaver Lane\nLondon\nSE1":                           "Weaver Lane|18|SE1|London",
		"18 Weaver Lane, London, SE1.":                          "Weaver Lane|18|SE1|London",
		"Weaver Road, Otter Hill, Leeds LS9 7ZB":                "Weaver Road||LS9 7ZB|Leeds",
		"Otter Hill, Leeds LS9 7ZB":                             "Otter Hill||LS9 7ZB|Leeds",
		"12 Cedar Way, Portland, OR 972271234":                  "Cedar Way|12|97227-1234|Portland",
		"12 Cedar Way, Portland, OR 97227 1234":                 "Cedar Way|12|97227-1234|Portland",
		"12 Cedar Way\nPortland, Oregon 972271234\n":            "Cedar Way|12|97227-1234|Portland",
		"12 Cedar Way, Portland, OR 97327":                      "Cedar Way|12||Portland",
		"12 Cedar Way\nPortland, OR 97327-1234":                 "Cedar Way|12||Portland",
	} {
		var got []string
		for _, a := range parse(t, p, Input{Text: text}).Addresses {
			got = append(got, strings.Join([]string{a.Street, a.HouseNumber, a.Postcode, a.City}, "|"))
		}
		if s := strings.Join(got, " & "); s != want {
			t.Errorf("%q: %q; want %q", text, s, want)
		}
	}
}

// An address that its page states with and without the postcode is one.
func TestWithAndWithoutPostcode(t *testing.T) {
	var codes []gazetteer.Place
	for _, code := range []string{"97227", "97232"} {
		codes = append(codes, gazetteer.Place{Kind: gazetteer.Postcode, Country: "US", Postcode: code, City: "Portland",
			State: "OR", Names: []string{"Portland"}, Point: orb.Point{8, 50}, HasPoint: true})
	}
	p, err := New(testGazetteer(t, codes...), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const half = "Visit us at 12 Cedar Way in Portland, OR.\n"
	for text, want := range map[string]string{
		half + "12 Cedar Way, Portland, OR 97227":                                                 "12|97227",
		half + "14 Cedar Way, Portland, OR 97227":                                                 "12| 14|97227",
		half + "12 Cedar Way, Portland, OR 97227\nThe other:\n12 Cedar Way, Portland, OR 97232\n": "12| 12|97227 12|97232",
	} {
		var got []string
		for _, a := range parse(t, p, Input{Text: text}).Addresses {
			got = append(got, a.HouseNumber+"|"+a.Parts().Postcode)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestListedCountries reads addresses of countries that the grammar has no words of.
func TestListedCountries(t *testing.T) {
	for _, c := range []struct{ house, text, want string }{
		{"PL|87-400|Golub|Długa|4", "Sklep, ul. Długa 4, 87-400 Golub", "ul. Długa|4"},
		{"PL|87-400|Golub|Plac Wolności|1", "pl. Wolności 1\n87-400 Golub", "pl. Wolności|1"},
		{"PL|00-950|Warszawa|Aleja Róż|20", "al. Róż 20 m. 5, 00–950 Warszawa", "al. Róż|20"},
		{"PL|87-400|Golub|Długa|4", "Zapraszamy na ul. Długą lub Długa 4 w Golubiu, 87-400 Golub", "Długa|4"},
		{"CZ|664 31|Lelekovice|Zahradní|7", "Zahradní 7, 664 31 Lelekovice", "Zahradní|7"},
		{"CZ|66431|Lelekovice|náměstí Míru|12/4", "nám. Míru 12/4, 66431 Lelekovice", "nám. Míru|12/4"},
		{"CZ|664 31|Lelekovice|Zahradní|7", "Zahradní č.p. 7, CZ-664 31 Lelekovice", "Zahradní|7"},
		{"SK|811 01|Bratislava|Panská|3", "Panská 3\n811 01 Bratislava", "Panská|3"},
		{"SE|114 55|Stockholm|Storgatan|5", "Storgatan 5, 114 55 Stockholm", "Storgatan|5"},
		{"SE|114 55|Stockholm|Storgatan|5", "Storgatan 5, SE-114 55 Stockholm", "Storgatan|5"},
		{"SE|11455|Stockholm|Storgatan|5 B", "Storgatan 5 B\nS-114 55 STOCKHOLM", "Storgatan|5 B"},
		{"NO|0150|Oslo|Skippergata|7", "Skippergata 7, 0150 Oslo", "Skippergata|7"},
		{"NO|0150|Oslo|Skippergata|7", "Skippergata 7, N-0150 Oslo", "Skippergata|7"},
		{"FI|00100|Helsinki|Aleksanterinkatu|9", "Aleksanterinkatu 9, 00100 Helsinki", "Aleksanterinkatu|9"},
		{"FI|00100|Helsinki|Aleksanterinkatu|9", "Aleksanterinkatu 9 A 4, FI-00100 Helsinki", "Aleksanterinkatu|9"},
		{"PT|1200-205|Lisboa|Avenida da Liberdade|8", "Av. da Liberdade, n.º 8, 2.º Dto, 1200-205 Lisboa", "Av. da Liberdade|8"},
		{"IE|P51 KT93|Mallow|Bridge Street|4", "4 Bridge Street, Mallow, Co. Cork, P51 KT93", "Bridge Street|4"},
		{"IE|D6W XY00|Dublin|Bridge Street|4", "4 Bridge Street, Dublin D6WXY00", "Bridge Street|4"},
		{"IE||Mallow|Bridge Street|4", "4 Bridge Street\nMallow\nCo. Cork\nP51 KT93", "Bridge Street|4"},
		{"AD|AD500|Andorra la Vella|Carrer del Riu|8", "Carrer del Riu, 8\nAD500 Andorra la Vella", "Carrer del Riu|8"},
		{"AD|AD500|Andorra la Vella|Carrer del Riu|8", "C/ del Riu 8, AD-500 Andorra la Vella", "C/ del Riu|8"},
		{"AD|AD500|Andorra la Vella|Carrer del Riu|8", "C. Riu 8, AD 500 Andorra la Vella", "C. Riu|8"},
		{"HU|1011|Budapest|Fő utca|5", "1011 Budapest, Fő u. 5.", "Fő u.|5"},
		{"HU|1011|Budapest|Fő utca|5", "1011 Budapest, Fő utca 5.", "Fő utca|5"},
		{"HR|10000|Zagreb|Ilica|12", "Ilica 12, 10000 Zagreb", "Ilica|12"},
		{"SI|1000|Ljubljana|Čopova ulica|12", "Čopova ul. 12, SI-1000 Ljubljana", "Čopova ul.|12"},
		{"GR|105 63|Αθήνα|Ερμού|5", "Ερμού 5, 105 63 Αθήνα", "Ερμού|5"},
		{"RO|060274|București|Strada Florilor|9", "Str. Florilor nr. 9, 060274 București", "Str. Florilor|9"},
		{"LV|LV-1010|Rīga|Brīvības iela|9", "Brīvības iela 9, LV-1010 Rīga", "Brīvības iela|9"},
		{"EE|10123|Tallinn|Viru|9", "Viru 9, 10123 Tallinn", "Viru|9"},
		{"IS|101|Reykjavík|Laugavegur|9", "Laugavegur 9, 101 Reykjavík", "Laugavegur|9"},
		{"TR|34400|İstanbul|Lale Sokak|9", "Lale Sokak No: 9, 34400 İstanbul", "Lale Sokak|9"},
		// Not the street, or not of the town.
		{"PL|87-400|Golub|Długa|4", "87-400 osób, Golub 4", ""},
		{"SE|114 55|Stockholm|Storgatan|5", "Tel. 114 55 Stockholm är fullt", "||postcode"},
		{"CZ|664 31|Lelekovice|Zahradní|7", "Objednávka 664 31 kusů", ""},
	} {
		checkKnown(t, c.house, c.text, c.want)
	}
}

// checkKnown parses text with a gazetteer of one house.
func checkKnown(t *testing.T, house, text, want string) {
	t.Helper()
	f := strings.Split(house, "|")
	place := gazetteer.Place{
		ID: "node/1", Kind: gazetteer.House, Country: f[0], Postcode: f[1], City: f[2], Street: f[3],
		HouseNumber: f[4], Names: []string{f[3]}, Point: orb.Point{8, 50}, HasPoint: true,
	}
	if f[0] == "US" {
		place.State = map[string]string{"84115": "UT", "97227": "OR"}[f[1]]
	}
	p, err := New(testGazetteer(t, place), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range parse(t, p, Input{Text: text}).Addresses {
		s := a.Street + "|" + a.HouseNumber
		if a.Precision != gazetteer.HousePrecision {
			s += "|" + a.Precision.String()
		}
		got = append(got, s)
	}
	if strings.Join(got, " & ") != want {
		t.Errorf("%s: %q gives %q; want %q", house, text, got, want)
	}
}

// TestStatedInEveryCountry reads addresses that markup states, with a gazetteer of one house.
func TestStatedInEveryCountry(t *testing.T) {
	for _, c := range []struct{ house, street, postcode, city, country, want string }{
		{"PL|87-400|Golub|Długa|4", "ul. Długa 4", "87-400", "Golub", "PL", "ul. Długa|4|house"},
		{"BR|01310-100|São Paulo|Avenida Paulista|900", "Avenida Paulista, 900", "01310-100", "São Paulo", "BR", "Avenida Paulista|900|house"},
		{"BR|01310-100|São Paulo|Avenida Paulista|900", "Av. Paulista, 900", "01310-100", "São Paulo", "BR", "Av. Paulista|900|house"},
		{"BR|01310-100|São Paulo|Avenida Paulista|900", "Av. Paulista, 900", "01310-100", "Curitiba", "BR", ""},
		{"NZ|1010|Auckland|Queen Street|12", "12 Queen Street", "1010", "Auckland", "NZ", "Queen Street|12|house"},
		{"ZA|8001|Cape Town|Long Street|12", "12 Long Street", "8001", "Cape Town", "ZA", "Long Street|12|house"},
		{"IE|P51 KT93|Mallow|Bridge Street|4", "4 Bridge Street", "P51 KT93", "Mallow", "Ireland", "Bridge Street|4|house"},
		{"IE||Mallow|Bridge Street|4", "4 Bridge Street", "", "Mallow", "IE", "Bridge Street|4|house"},
		{"SE|114 55|Stockholm|Storgatan|5", "Storgatan 5", "11455", "Stockholm", "", "Storgatan|5|house"},
		{"DE|26121|Oldenburg|Dammweg|5", "Av. Paulista, 900", "01310-100", "São Paulo", "BR", "Av. Paulista|900|none"},
		{"IT|10043|Orbassano|Via Roma|7", "7 Via Roma", "10043", "Orbassano", "IT", "Via Roma|7|house"},
		{"DE|26121|Oldenburg|Dammweg|5", "Lote", "", "São Paulo", "BR", ""},
	} {
		f := strings.Split(c.house, "|")
		p, err := New(testGazetteer(t, gazetteer.Place{
			ID: "node/1", Kind: gazetteer.House, Country: f[0], Postcode: f[1], City: f[2], Street: f[3],
			HouseNumber: f[4], Names: []string{f[3]}, Point: orb.Point{8, 50}, HasPoint: true,
		}), nil, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		page := `<script type="application/ld+json">{"@type":"Bakery","name":"Loaf","address":{"@type":"PostalAddress",` +
			`"streetAddress":"` + c.street + `","postalCode":"` + c.postcode + `","addressLocality":"` + c.city +
			`","addressCountry":"` + c.country + `"}}</script><p>Welcome`
		doc := markup.Parse([]byte(page))
		var got []string
		for _, a := range parse(t, p, Input{Text: markup.Text(doc), Doc: doc}).Addresses {
			got = append(got, a.Street+"|"+a.HouseNumber+"|"+a.Precision.String())
		}
		if strings.Join(got, " & ") != c.want {
			t.Errorf("%s: %s, %s %s, %s gives %q; want %q", c.house, c.street, c.postcode, c.city, c.country, got, c.want)
		}
	}
}

func TestReachIn(t *testing.T) {
	street := func(country string) gazetteer.Place {
		return gazetteer.Place{Kind: gazetteer.Street, Street: "Aa", Names: []string{"Aa"}, City: "Bb", Country: country}
	}
	code := func(country string) gazetteer.Place {
		return gazetteer.Place{Kind: gazetteer.Postcode, Postcode: "10000", City: "Bb", Names: []string{"Bb"}, Country: country}
	}
	for _, c := range []struct {
		place gazetteer.Place
		want  Reach
		text  string
	}{
		{street("DE"), FullReach, "in DE"},
		{code("DE"), PostcodeReach, "without streets"},
		{street("PL"), StreetReach, "where their street"},
		{code("PL"), PostcodeReach, "no streets"},
		{street("BR"), NoReach, "markup"},
		{street(""), FullReach, ""},
	} {
		got, text := ReachIn(gazetteer.Of(c.place), "")
		if got != c.want || !strings.Contains(text, c.text) || (text == "") != (c.text == "") {
			t.Errorf("%s: %d, %q; want %d, %q", c.place.Country, got, text, c.want, c.text)
		}
	}
}

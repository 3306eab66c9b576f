package markup

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func ld(json string) string { return `<script type="application/ld+json">` + json + `</script>` }

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name, page string
		want       []Statement
	}{
		{"JSON-LD", ld(`{"@context":"https://schema.org","@type":"Bakery","name":"Backhaus","telephone":"+49 441 1",
			"address":{"@type":"PostalAddress","streetAddress":"Markt 1","postalCode":"26122","addressLocality":"Oldenburg","addressRegion":"NI","addressCountry":{"@type":"Country","name":"DE"}},
			"geo":{"@type":"GeoCoordinates","latitude":53.14,"longitude":"8,21"}}`),
			[]Statement{{Origin: JSONLD, Name: "Backhaus", Type: "Bakery", Phone: "+49 441 1", Street: "Markt 1", Postcode: "26122", City: "Oldenburg", State: "NI", Country: "DE", Lat: 53.14, Lon: 8.21, HasPoint: true}}},
		{"JSON-LD graph, list, types, number", ld(`[{"@graph":[{"@type":["Organization","Place"],"name":["A","B"],"location":{"address":[{"@type":["PostalAddress"],"streetAddress":["Markt 1","Hof"],"postalCode":8001}]}}]}]`),
			[]Statement{{Origin: JSONLD, Street: "Markt 1, Hof", Postcode: "8001"}}},
		{"JSON-LD event", ld(`{"@type":"Event","name":"Konzert","location":{"@type":"Place","address":{"streetAddress":"Markt 1"}}}`),
			[]Statement{{Origin: JSONLD, Street: "Markt 1", Scene: true}}},
		{"event of microdata", `<div itemscope itemtype="https://schema.org/MusicEvent"><b itemprop="name">Konzert</b><p itemprop="location" itemscope ` +
			`itemtype="https://schema.org/Place"><b itemprop="name">Halle</b><i itemprop="address">Markt 1</i></p></div>`,
			[]Statement{{Origin: Microdata, Name: "Halle", Raw: "Markt 1", Scene: true}}},
		{"JSON-LD text address", ld(`{"name":"Caf&eacute;","address":"Markt 1<br>26122 Olden&shy;burg"}`),
			[]Statement{{Origin: JSONLD, Name: "Café", Raw: "Markt 1\n26122 Oldenburg"}}},
		{"JSON-LD reference", ld(`{"@graph":[{"@type":"Organization","name":"O","address":{"@id":"#a"}},{"@id":"#a","@type":"PostalAddress","streetAddress":"Markt 1"}]}`),
			[]Statement{{Origin: JSONLD, Name: "O", Street: "Markt 1"}}},
		{"JSON-LD circle", ld(`{"@graph":[{"@id":"#a","address":{"@id":"#b"}},{"@id":"#b","address":{"@id":"#a"},"streetAddress":"Markt 1"}]}`),
			[]Statement{{Origin: JSONLD, Street: "Markt 1"}}},
		{"JSON-LD point only", ld(`{"name":"Turm","geo":{"latitude":"53.14","longitude":"8.21"}}`),
			[]Statement{{Origin: JSONLD, Name: "Turm", Lat: 53.14, Lon: 8.21, HasPoint: true}}},
		{"JSON-LD founder", ld(`{"@type":"LocalBusiness","name":"O","founder":{"@type":"Person","givenName":"Uwe","address":{"streetAddress":"M 1"}},"address":{"streetAddress":"M 1"}}`),
			[]Statement{{Origin: JSONLD, Name: "O", Street: "M 1"}, {Origin: JSONLD, Street: "M 1", Person: true}}},
		{"JSON-LD founder elsewhere", ld(`{"@type":"LocalBusiness","name":"O","founder":{"@type":"Person","name":"Uwe","address":{"streetAddress":"M 2"}},"address":{"streetAddress":"M 1"}}`),
			[]Statement{{Origin: JSONLD, Name: "O", Street: "M 1"}, {Origin: JSONLD, Name: "Uwe", Street: "M 2", Person: true}}},
		{"JSON-LD wrapped and wrong", ld("//<![CDATA[\n{\"address\":{\"streetAddress\":\"Markt\t1\",\n},}\n//]]>") + ld(`<!-- {"address":"Hof 2"}; -->`),
			[]Statement{{Origin: JSONLD, Street: "Markt 1"}, {Origin: JSONLD, Raw: "Hof 2"}}},
		{"JSON-LD hostile types", ld(`{"address":[1,null,{"streetAddress":{"a":[1]},"postalCode":true,"addressLocality":"Ort"},[["x"]]],"geo":{"latitude":1e309,"longitude":"NaN"},"telephone":{},"name":[[]]}`),
			[]Statement{{Origin: JSONLD, Raw: "x"}, {Origin: JSONLD, City: "Ort"}}},
		{"JSON-LD points off the Earth", ld(`[{"geo":{"latitude":91,"longitude":8},"address":"a"},{"geo":{"latitude":0,"longitude":0},"address":"b"},{"geo":[5],"address":"c"}]`),
			[]Statement{{Origin: JSONLD, Raw: "a"}, {Origin: JSONLD, Raw: "b"}, {Origin: JSONLD, Raw: "c"}}},
		{"other scripts", `<script>{"address":"x"}</script><script type=application/json>{"address":"x"}</script>` + ld("{"), nil},
		{"microdata", `<div itemscope itemtype=http://schema.org/LocalBusiness><b itemprop=name>Backhaus</b>
			<p itemprop=address itemscope itemtype=http://schema.org/PostalAddress><span itemprop=streetAddress>Markt 1</span>, <span itemprop=postalCode>26122</span>
			<span itemprop=addressLocality>Oldenburg</span><meta itemprop=addressCountry content=DE></p><a itemprop=telephone href=tel:0441>0441 1</a>
			<div itemprop=geo itemscope><meta itemprop=latitude content=53.14><meta itemprop=longitude content=8.21></div></div>`,
			[]Statement{{Origin: Microdata, Name: "Backhaus", Phone: "0441 1", Street: "Markt 1", Postcode: "26122", City: "Oldenburg", Country: "DE", Lat: 53.14, Lon: 8.21, HasPoint: true}}},
		{"microdata without an address item", `<div itemscope><b itemprop=name>O</b><p itemprop=address>Markt 1<br>Ort</p><i itemprop=streetAddress>Hof 2</i></div>`,
			[]Statement{{Origin: Microdata, Name: "O", Street: "Hof 2", Raw: "Markt 1\nOrt"}}},
		{"microdata within", `<div itemscope><b itemprop=name>Haus</b><div itemprop=location itemscope><p itemprop=address itemscope><i itemprop=streetAddress>Hof 2</i></p></div></div>`,
			[]Statement{{Origin: Microdata, Name: "Haus", Street: "Hof 2"}}},
		{"RDFa", `<div vocab="http://schema.org/" typeof=Organization><b property=name>O</b><p property=address typeof=PostalAddress><span property=streetAddress>Markt 1</span> <span property="schema:postalCode">3500</span></p></div>`,
			[]Statement{{Origin: RDFa, Name: "O", Street: "Markt 1", Postcode: "3500"}}},
		{"RDFa data-vocabulary", `<div xmlns:v="http://rdf.data-vocabulary.org/#" typeof="v:Organization"><b property="v:name">O</b><span rel="v:address"><span typeof="v:Address"><i property="v:street-address">Markt 1</i><i property="v:locality">Ort</i></span></span></div>`,
			[]Statement{{Origin: RDFa, Name: "O", Street: "Markt 1", City: "Ort"}}},
		{"hCard", `<div class=vcard><p class="fn org">O</p><div class=adr><span class=street-address>Markt 1</span><span class=extended-address>Hof</span><span class=postal-code>26122</span><span class=locality>Oldenburg</span>
			<abbr class=country-name title=Germany>D</abbr></div><p class=tel>0441</p><span class=geo><abbr class=latitude title=53.14>N</abbr><abbr class=longitude title=8.21>E</abbr></span></div>`,
			[]Statement{{Origin: HCard, Name: "O", Phone: "0441", Street: "Markt 1", Unit: "Hof", Postcode: "26122", City: "Oldenburg", Country: "Germany", Lat: 53.14, Lon: 8.21, HasPoint: true}}},
		{"hCard without adr, h-card", `<div class=vcard><i class=street-address>Markt 1</i></div><div class=h-card><b class=p-name>P</b><i class=p-street-address>Hof 2</i><i class=p-postal-code>3500</i></div>`,
			[]Statement{{Origin: HCard, Street: "Markt 1"}, {Origin: HCard, Name: "P", Street: "Hof 2", Postcode: "3500"}}},
		{"adr of words, geo of numbers", `<p class=adr>Markt 1<br>Ort</p><i class=geo>53.14; 8.21</i>`,
			[]Statement{{Origin: HCard, Raw: "Markt 1\nOrt"}, {Origin: HCard, Lat: 53.14, Lon: 8.21, HasPoint: true}}},
		{"address element", `<address>Markt 1<br>Ort</address><address> </address>`, []Statement{{Origin: Element, Raw: "Markt 1\nOrt"}}},
		{"geo meta", `<meta name=ICBM content="53.14, 8.21"><p>x<meta name=geo.region content=DE-NI><meta name=geo.placename content=Oldenburg>`,
			[]Statement{{Origin: GeoMeta, City: "Oldenburg", State: "NI", Country: "DE", Lat: 53.14, Lon: 8.21, HasPoint: true}}},
		{"open graph", `<meta property=og:street-address content="Markt 1"><meta property="place:location:latitude" content=53.14><meta property="place:location:longitude" content=8.21>`,
			[]Statement{{Origin: GeoMeta, Street: "Markt 1", Lat: 53.14, Lon: 8.21, HasPoint: true}}},
		{"half a point is none", `<meta name=place:location:latitude content=53.14><meta name=geo.position content="x;y">`, nil},
		{"once", `<address>Markt 1</address><address>Markt  1</address>` + ld(`{"name":"O","address":{"streetAddress":"M 1"}}`) + ld(`{"address":{"streetAddress":"M 1"},"telephone":"1"}`) + ld(`{"name":"P","address":{"streetAddress":"M 1"}}`),
			[]Statement{{Origin: Element, Raw: "Markt 1"}, {Origin: JSONLD, Name: "O", Phone: "1", Street: "M 1"}, {Origin: JSONLD, Name: "P", Street: "M 1"}}},
		{"document order", `<address>a</address>` + ld(`{"address":"b"}`) + `<a href="geo:53.14,8.21">c</a><address>d</address>`,
			[]Statement{{Origin: Element, Raw: "a"}, {Origin: JSONLD, Raw: "b"}, {Origin: MapLink, Lat: 53.14, Lon: 8.21, HasPoint: true}, {Origin: Element, Raw: "d"}}},
		{"nothing", `<p>Markt 1, 26122 Oldenburg <span itemprop=streetAddress>x</span><div itemscope></div><a href=/map>x</a>`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Read(Parse([]byte(c.page))).Statements
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("Find(%s): -want +got\n%s", c.page, diff)
			}
			checkStatements(t, got)
		})
	}
}

func TestMapLinks(t *testing.T) {
	type place struct {
		raw      string
		lat, lon float64
	}
	for href, want := range map[string]place{
		"https://maps.google.com/?q=Markt+1,+26122+Oldenburg":                                                              {"Markt 1, 26122 Oldenburg", 0, 0},
		"https://maps.google.de/maps?q=53.14,8.21(Rathaus)&z=17":                                                           {"", 53.14, 8.21},
		"http://www.google.com/maps?daddr=Markt+1&saddr=Bremen":                                                            {"Markt 1", 0, 0},
		"https://www.google.com/maps/place/Rathaus+Oldenburg/@53.1,8.2,17z/data=!3m1!4b1!4m5!3m4!1s0x0!8m2!3d53.14!4d8.21": {"Rathaus Oldenburg", 53.14, 8.21},
		"https://www.google.de/maps/@53.14,8.21,17z":                                                                       {"", 53.14, 8.21},
		"https://www.google.de/maps/@53.14,8.21,7z":                                                                        {"", 0, 0},
		"https://www.google.de/maps/@53.14,8.21,350m/data=!3m1!1e3":                                                        {"", 53.14, 8.21},
		"https://www.google.com/maps/dir//Markt+1,+Oldenburg/@53.1,8.2,17z/":                                               {"Markt 1, Oldenburg", 53.1, 8.2},
		"https://www.google.com/maps/dir/?api=1&destination=Markt%201":                                                     {"Markt 1", 0, 0},
		"https://www.google.com/maps/search/?api=1&query=53.14%2C8.21":                                                     {"", 53.14, 8.21},
		"https://www.google.com/maps/embed?pb=!1m18!1m12!1m3!1d2392.1!2d8.21!3d53.14!2m3!1f0!2f0!3f0!5e0":                  {"", 53.14, 8.21},
		"https://www.google.com/maps/embed/v1/place?key=x&q=Markt+1+Krems":                                                 {"Markt 1 Krems", 0, 0},
		"https://maps.googleapis.com/maps/api/staticmap?markers=color:red|53.14,8.21&center=Oldenburg":                     {"Oldenburg", 53.14, 8.21},
		"https://www.openstreetmap.org/?mlat=53.14&mlon=8.21#map=5/1/2":                                                    {"", 53.14, 8.21},
		"https://www.openstreetmap.org/#map=18/53.14/8.21&layers=N":                                                        {"", 53.14, 8.21},
		"https://www.openstreetmap.org/#map=6/53.14/8.21":                                                                  {"", 0, 0},
		"https://www.openstreetmap.org/export/embed.html?bbox=1,2,3,4&marker=53.14%2C8.21":                                 {"", 53.14, 8.21},
		"https://www.openstreetmap.org/search?query=Markt%201":                                                             {"Markt 1", 0, 0},
		"https://www.bing.com/maps?cp=53.14~8.21&lvl=17":                                                                   {"", 53.14, 8.21},
		"https://bing.com/maps/default.aspx?rtp=~adr.Markt 1, Oldenburg":                                                   {"Markt 1, Oldenburg", 0, 0},
		"https://bing.com/maps?sp=point.53.14_8.21_Rathaus":                                                                {"", 53.14, 8.21},
		"https://maps.apple.com/?ll=53.14,8.21&q=Rathaus":                                                                  {"Rathaus", 53.14, 8.21},
		"http://maps.apple.com/?address=1,Infinite+Loop,Cupertino":                                                         {"1,Infinite Loop,Cupertino", 0, 0},
		"https://waze.com/ul?ll=53.14,8.21&navigate=yes":                                                                   {"", 53.14, 8.21},
		"geo:53.14,8.21;u=35?q=Markt%201":                                                                                  {"Markt 1", 53.14, 8.21},
		"GEO:53.14,8.21,100":                                                                                               {"", 0, 0},
		"geo:0,0?q=Markt+1":                                                                                                {"Markt 1", 0, 0},
		"geo:91,8":                                                                                                         {"", 0, 0},
		"https://maps.google.com/?q=":                                                                                      {"", 0, 0},
		"https://maps.google.com/?ll=,&q=place_id:ChIJ":                                                                    {"", 0, 0},
		"https://evil.example/maps.google.com/?q=Markt+1":                                                                  {"", 0, 0},
		"https://google.com.evil.example/maps?q=Markt+1":                                                                   {"", 0, 0},
		"https://www.google.com/search?q=maps":                                                                             {"", 0, 0},
		"/maps?q=Markt+1":                                                                                                  {"", 0, 0},
		"https://maps.google.com/%zz?q=%zz":                                                                                {"", 0, 0},
		"https://www.google.com/maps/place/" + strings.Repeat("!3d", 1000):                                                 {strings.Repeat("!3d", 1000), 0, 0},
	} {
		s, ok := parseMapLink(href)
		if got := (place{s.Raw, s.Lat, s.Lon}); got != want || ok != (want != place{}) || s.HasPoint != (want.lat != 0) {
			t.Errorf("parseMapLink(%.120q) = %+v, %v; want %+v", href, got, ok, want)
		}
	}
}

func TestFindIsBounded(t *testing.T) {
	var many strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&many, `{"address":{"streetAddress":"Markt %d"}},`, i)
	}
	for name, page := range map[string]string{
		"statements": ld("[" + many.String() + "1]"),
		"long list":  ld("[" + many.String() + strings.Repeat(`{"name":"`+strings.Repeat("x", 900)+`"},`, 1000) + "1]"),
		"long":       ld(`{"address":{"streetAddress":"` + strings.Repeat("ü", 1e5) + `"},"name":"` + strings.Repeat("&amp;<b>", 1e4) + `"}`),
		"long raw":   "<address>" + strings.Repeat("Markt 1<br>", 1e5),
		"deep":       ld(strings.Repeat(`{"location":`, 5000) + `{"address":"x"}` + strings.Repeat("}", 5000)),
		"big":        ld(`{"address":"` + strings.Repeat("x", 2<<20) + `"}`),
	} {
		found := Read(Parse([]byte(page))).Statements
		checkStatements(t, found)
		t.Logf("%s: %d", name, len(found))
		if (name == "statements" || name == "long list") && len(found) != MaxStatements {
			t.Errorf("%d statements; want %d", len(found), MaxStatements)
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, seed := range []string{
		ld(`{"@graph":[{"name":"O","address":{"@id":"#a"},"geo":{"latitude":1e309,"longitude":"8,2"}},{"@id":"#a","@type":["PostalAddress"],"streetAddress":["Markt 1"]}]}`),
		`<div itemscope><p itemprop=address itemscope><i itemprop=streetAddress>Markt 1</i></p><p itemprop=geo itemscope><meta itemprop=latitude content=1></p></div>`,
		`<div class="vcard adr"><i class=geo>1;2</i><abbr class=tel title=x></abbr></div><address>Markt 1`,
		`<a href="https://www.google.com/maps/place/x/@1,2,17z/data=!3d1!4d2">x</a><a href="geo:1,2?q=x">`,
		`<div typeof=v:Address property=address><i property=v:locality>x</i></div><meta name=geo.position content=1;2>`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, page []byte) {
		checkStatements(t, Read(Parse(page)).Statements)
	})
}

func FuzzMapLink(f *testing.F) {
	f.Add("https://www.google.com/maps/place/x/@1,2,17z/data=!3d1!4d2")
	f.Add("geo:1,2;u=3?q=x")
	f.Add("https://www.openstreetmap.org/?mlat=1&mlon=2#map=18/1/2")
	f.Fuzz(func(t *testing.T, href string) {
		if s, ok := parseMapLink(href); ok {
			s.finish()
			if s.says() {
				checkStatements(t, []Statement{s})
			}
		}
	})
}

// JSON-LD as page builders and their users break it.
func TestBrokenJSONLD(t *testing.T) {
	const object = `{"@type":"Bakery","name":"Bäckerei Kruse","address":{"@type":"PostalAddress","streetAddress":"Deichweg 5","postalCode":"26122","addressLocality":"Oldenburg"}}`
	for _, script := range []string{
		object,
		"\ufeff" + object,
		"\n// data of the shop\n" + object + "\n// end\n",
		"//<![CDATA[\n" + object + "\n//]]>",
		strings.ReplaceAll(object, `"`, "&quot;"),
		strings.Replace(object, "Bäckerei Kruse", `Kruse\\'s`, 1),
	} {
		script = strings.ReplaceAll(script, `\\'`, `\'`)
		page := `<html><head><script type="application/ld+json">` + script + `</script></head><body>-</body></html>`
		if found := Read(Parse([]byte(page))).Statements; len(found) != 1 || found[0].Street != "Deichweg 5" || !strings.Contains(found[0].Name, "Kruse") {
			t.Errorf("%.60q: %+v", script, found)
		}
	}
}

package differences

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gazehound/gazetteer"
	"gazehound/geoparse"
	"gazehound/index"

	"github.com/paulmach/orb"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// Bleve's analysis workers belong to the process, not to an index.
		goleak.IgnoreTopFunction("github.com/blevesearch/bleve_index_api.AnalysisWorker"))
}

var day = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// A shop is a place as the web and the map have it; an empty name is none.
type shop struct {
	want string // kinds of differences
	web  stated
	onMap
}

type stated struct {
	name, kind, number string // in Hauptstraße
	said               string // kind by the page's own markup
	phone, site, hours string
	status             string // what the page's words say of it
	directory          bool   // stated by a directory only
	person             bool
}

type onMap struct{ name, number, tags string } // tags are divided by "|"

// house returns where a number of the street is: 30 m from one to the next.
func house(number string) orb.Point {
	n := 0
	fmt.Sscan(number, &n)
	return orb.Point{8.2 + float64(n)*0.00045, 53.14}
}

// shops are the truth of a street.
var shops = []shop{
	// All equal, however it is written.
	{"", stated{name: "Adler-Apotheke", kind: "amenity=pharmacy", number: "1", phone: "+49441123401", site: "https://adler.example/", hours: "Mo-Fr 08:00-18:00"},
		onMap{"Adler Apotheke", "1", "amenity=pharmacy|phone=0441 123401|website=http://www.adler.example|opening_hours=Mo-Fr 08:00-18:00"}},
	{"", stated{name: "Bäckerei Brandt GmbH", kind: "shop=bakery", number: "2", site: "https://brandt.example/", hours: "Mo-Sa 06:00-18:00"},
		onMap{"Bäckerei Brandt", "2", "shop=bakery|phone=+49 441 9|website=https://brandt.example|opening_hours=Mo-Sa 06:00-18:00; PH off"}},
	{"", stated{name: "Café Dorn", kind: "amenity=cafe", number: "3"}, onMap{"Dorn", "3", "amenity=cafe"}},
	{"", stated{name: "Eisen-Ehlers Oldenburg", kind: "shop=hardware", number: "4"}, onMap{"Eisen Ehlers", "", "shop=hardware"}},
	{"", stated{name: "Fahrrad Fuchs", kind: "shop=bicycle", number: "5", phone: "+49441123405"},
		onMap{"Fahrrad Fuchs", "5", "shop=bicycle|contact:phone=+49 441 777; +49 441 123405"}},
	{"", stated{name: "Gasthaus Gruber", kind: "amenity=restaurant", number: "6", hours: "Mo-Su 11:00-22:00"},
		onMap{"Gasthaus Gruber", "6", "amenity=restaurant|opening_hours=whenever we like"}},
	// The map lacks them, although it knows the house.
	{"missing", stated{name: "Hutladen Hansen", kind: "shop=hats", number: "11"}, onMap{}},
	{"missing", stated{name: "Imkerei Ilse", kind: "craft=beekeeper", number: "12", phone: "+49441123412", site: "https://imkerei.example/"}, onMap{}},
	{"missing", stated{name: "Juwelier Jansen", kind: "shop=jewelry", number: "13"}, onMap{}},
	{"missing", stated{name: "Kiosk Krause", kind: "shop=kiosk", number: "1"}, onMap{}}, // beside the pharmacy
	{"missing", stated{name: "Lotto Lange", kind: "shop=lottery", number: "15", directory: true}, onMap{}},
	// They have moved.
	{"moved", stated{name: "Musikhaus Meyer", kind: "shop=musical_instrument", number: "21", phone: "+49441123421"},
		onMap{"Musikhaus Meyer", "61", "shop=musical_instrument|phone=+49 441 123421"}},
	{"moved", stated{name: "Nähstube Nolte", kind: "craft=dressmaker", number: "22", site: "https://nolte.example/"},
		onMap{"Nähstube Nolte", "62", "craft=dressmaker|website=https://www.nolte.example/start"}},
	{"moved", stated{name: "Optik Ostermann", kind: "shop=optician", number: "23"}, onMap{"Optik Ostermann", "63", "shop=optician"}},
	// They have closed.
	{"closed", stated{name: "Papier Paulsen", kind: "shop=stationery", number: "31", phone: "+494411", status: "dauerhaft geschlossen"}, onMap{"Papier Paulsen", "31", "shop=stationery"}},
	{"closed", stated{name: "Quelle Shop", kind: "shop=department_store", number: "32", status: "permanently closed"}, onMap{"Quelle-Shop", "32", "shop=department_store"}},
	{"moved", stated{name: "Reisebüro Rabe", kind: "shop=travel_agency", number: "33", status: "umgezogen nach"}, onMap{"Reisebüro Rabe", "33", "shop=travel_agency"}}, // nobody says where
	{"", stated{name: "Sattlerei Sander", kind: "craft=saddler", number: "34", status: "endgültig geschlossen"}, onMap{}},                                              // nothing to do on the map
	// Something else.
	{"phone", stated{name: "Teeladen Thiele", kind: "shop=tea", number: "41", phone: "+49441123441"}, onMap{"Teeladen Thiele", "41", "shop=tea|phone=+49 441 999941"}},
	{"phone", stated{name: "Uhren Ulrich", kind: "shop=watches", number: "42", phone: "+49441123442"}, onMap{"Uhren Ulrich", "42", "shop=watches"}},
	{"website", stated{name: "Vinothek Vogt", kind: "shop=wine", number: "43", site: "https://vogt.example/"}, onMap{"Vinothek Vogt", "43", "shop=wine|website=https://old.example/"}},
	{"", stated{name: "Wäscherei Wolf", kind: "shop=laundry", number: "44", site: "https://branchen.example/", directory: true}, onMap{"Wäscherei Wolf", "44", "shop=laundry"}}, // the directory's own
	{"opening_hours", stated{name: "Zoo Zander", kind: "shop=pet", number: "45", hours: "Mo-Fr 09:00-18:00"}, onMap{"Zoo Zander", "45", "shop=pet|opening_hours=Mo-Sa 09:00-18:00"}},
	{"name", stated{name: "Neue Apotheke am Markt", kind: "amenity=pharmacy", number: "46"}, onMap{"Löwen-Apotheke", "46", "amenity=pharmacy"}},
	{"name", stated{name: "Blumen Brinkmann", kind: "shop=florist", number: "47", phone: "+49441123447"}, onMap{"Flora", "47", "shop=florist|phone=+49 441 123447"}},
	{"kind", stated{name: "Linde", kind: "amenity=bar", said: "tourism=hotel", number: "49"}, onMap{"Linde", "49", "amenity=bar"}}, // the map's object gave the page its kind
	{"kind", stated{name: "Krone", kind: "amenity=restaurant", number: "48"}, onMap{"Krone", "48", "amenity=bar"}},
	// No page states them, and of some none would.
	{"not_found", stated{}, onMap{"Schuhhaus Schulte", "51", "shop=shoes"}},
	{"not_found", stated{}, onMap{"Tierarzt Timm", "", "amenity=veterinary"}},
	{"", stated{}, onMap{"Kriegerdenkmal", "", "historic=memorial"}},
	{"", stated{}, onMap{"Parkplatz Nord", "", "amenity=parking"}},
	// Branches of a chain have not moved.
	{"", stated{name: "Lidl", kind: "shop=supermarket", number: "7"}, onMap{"Lidl", "7", "shop=supermarket"}},
	{"missing", stated{name: "Lidl", kind: "shop=supermarket", number: "71"}, onMap{}},
	// Two of one kind at one door are not one with a new name.
	{"missing", stated{name: "Dr. Weiss", kind: "amenity=doctors", number: "72"}, onMap{}},
	{"missing", stated{name: "Dr. Schwarz", kind: "amenity=doctors", number: "72"}, onMap{}},
	{"not_found", stated{}, onMap{"Praxis Rot", "72", "amenity=doctors"}},
	// A home is in no list.
	{"", stated{name: "Erika Muster", number: "73", person: true}, onMap{}},
	{"missing", stated{name: "Steuerberaterin Eva Muster", kind: "office=tax_advisor", number: "74", person: true}, onMap{}},
	// Hostile text is a name like any other.
	{"missing", stated{name: `=cmd|' /C calc'!A0 <script>alert(1)</script>`, kind: "shop=computer", number: "75"}, onMap{}},
}

// street returns the web and the map of the shops.
func street(t testing.TB, shops []shop) (*index.Index, *gazetteer.Gazetteer) {
	t.Helper()
	x, err := index.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	place := func(kind gazetteer.Kind, id, number string) gazetteer.Place {
		return gazetteer.Place{ID: id, Kind: kind, Names: []string{"Hauptstraße"}, Street: "Hauptstraße", HouseNumber: number, Postcode: "26122", City: "Oldenburg",
			Country: "DE", Point: house(number), HasPoint: true}
	}
	places := []gazetteer.Place{}
	for i, s := range shops {
		if s.onMap.name == "" {
			continue
		}
		id := fmt.Sprintf("node/%d", 100+i)
		p := place(gazetteer.POI, id, s.onMap.number)
		p.Names = []string{s.onMap.name}
		p.Object = &gazetteer.Object{ID: id, Names: p.Names, Tags: strings.Split(s.tags, "|")}
		if s.onMap.number == "" { // a point without an address, beside what pages state of it
			p.Street, p.Postcode, p.City = "", "", ""
			p.Point = house(s.web.number)
			if s.web.number == "" {
				p.Point = orb.Point{8.3, 53.2}
			}
		}
		places = append(places, p)
	}
	var pages []index.Document
	for i, s := range shops {
		if s.web.name != "" {
			pages = append(pages, s.web.document(i))
		}
	}
	// The directory states so many others that it is nobody's own site.
	for n := range 30 {
		d := stated{name: fmt.Sprintf("Firma %d", n), number: fmt.Sprint(500 + n), directory: true}
		document := d.document(900 + n)
		document.Addresses[0].Precision, document.Addresses[0].City, document.Addresses[0].Postcode = gazetteer.CityPrecision, "Windmoor", "26999"
		pages = append(pages, document)
	}
	errs := make(chan error, len(pages))
	for _, d := range pages {
		go func() { errs <- x.Put(t.Context(), d) }()
	}
	for range pages {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	return x, gazetteer.Of(places...)
}

func (s stated) document(n int) index.Document {
	text := "Hauptstraße " + s.number + ", 26122 Oldenburg"
	url, role := fmt.Sprintf("https://shop%d.example/", n), geoparse.OwnRole
	if s.site != "" {
		url = s.site
	}
	if s.directory {
		url, role = fmt.Sprintf("https://branchen.example/%d", n), geoparse.ListedRole
	}
	head := s.name + "\n"
	start := len([]rune(head))
	b := geoparse.Belongings{Name: s.name, Kind: s.kind, StatedKind: s.said, Phone: s.phone, Hours: s.hours}
	if s.directory {
		b.Website = s.site
	}
	if b.StatusWords = s.status; s.status != "" {
		if b.Status = geoparse.ClosedStatus; strings.Contains(s.status, "umgezogen") {
			b.Status = geoparse.MovedStatus
		}
	}
	return index.Document{URL: url, Title: s.name, Lang: "de", Fetched: day, Text: head + text + "\n" + s.status, Addresses: []geoparse.Address{{
		Text: text, Start: start, End: start + len([]rune(text)), Street: "Hauptstraße", HouseNumber: s.number, Postcode: "26122", City: "Oldenburg", Country: "DE",
		Level: geoparse.VerifiedLevel, Confidence: 0.98, Precision: gazetteer.HousePrecision, Point: house(s.number), InRegion: true, Role: role, Person: s.person,
		Place: gazetteer.Place{ID: "way/" + s.number, Kind: gazetteer.House, Street: "Hauptstraße"}, Belongings: b,
	}}}
}

// of names the place of a difference as the truth does.
func of(d *Difference) string {
	if d.Kind == NotFound || d.Kind == Moved || d.Kind == Closed {
		return d.Place.Names[0]
	}
	return d.Hit.Name
}

// Of a street whose truth is written down, every list has just what belongs to it.
func TestCompare(t *testing.T) {
	x, g := street(t, shops)
	c, err := Compare(t.Context(), x, g, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, got := map[Kind][]string{}, map[Kind][]string{}
	for _, s := range shops {
		for kind := range strings.FieldsSeq(s.want) {
			name := s.web.name
			if k := Kind(kind); k == NotFound || k == Moved || k == Closed {
				name = s.onMap.name
			}
			want[Kind(kind)] = append(want[Kind(kind)], name)
		}
	}
	for i := range c.All {
		d := &c.All[i]
		if d.Kind == Website && d.Map == "" { // that of the page itself: the truth leaves these out
			continue
		}
		got[d.Kind] = append(got[d.Kind], of(d))
	}
	for _, kind := range Kinds {
		right := 0
		for _, name := range got[kind] {
			if slices.Contains(want[kind], name) {
				right++
			} else {
				t.Errorf("%s: %q is none", kind, name)
			}
		}
		for _, name := range want[kind] {
			if !slices.Contains(got[kind], name) {
				t.Errorf("%s: %q is not listed", kind, name)
			}
		}
		t.Logf("%-14s %d listed, %d right of %d", kind, len(got[kind]), right, len(want[kind]))
	}
	if len(c.All) == 0 || c.Stated < 30 {
		t.Fatalf("%d differences, %d stated", len(c.All), c.Stated)
	}
	for i := range c.All {
		d := &c.All[i]
		if (d.Evidence == nil) != (d.Kind == NotFound) || d.Confidence <= 0 || d.Confidence > 1 || (d.Place == nil) != (d.Kind == Missing) {
			t.Errorf("%+v", d)
		}
		if d.Kind == Phone && d.Web != "+49 441 123441" && d.Web != "+49 441 123442" {
			t.Errorf("phone %q", d.Web)
		}
	}
}

// Filters are those of a search; counts do not depend on the kinds that are chosen.
func TestSelect(t *testing.T) {
	x, g := street(t, shops)
	c, err := Compare(t.Context(), x, g, nil)
	if err != nil {
		t.Fatal(err)
	}
	selected := func(f Filter) (names []string) {
		t.Helper()
		some, counts, err := c.Select(f)
		if err != nil {
			t.Fatal(err)
		}
		sum := map[Kind]int{}
		for _, d := range some {
			names = append(names, string(d.Kind)+" "+d.Label())
			sum[d.Kind]++
		}
		for kind, n := range sum {
			if counts[kind] != n {
				t.Errorf("%+v: %d %s, %d counted", f, n, kind, counts[kind])
			}
		}
		return names
	}
	box := orb.Bound{Min: orb.Point{8.3 - 0.01, 53.19}, Max: orb.Point{8.31, 53.21}}
	for _, c := range []struct {
		name string
		f    Filter
		want string
	}{
		{"kind of place", Filter{Filters: index.Filters{Kind: []string{"amenity=veterinary"}}}, "not_found Tierarzt Timm"},
		{"kind and list", Filter{Filters: index.Filters{Kind: []string{"amenity=pharmacy"}}, Kinds: []Kind{Name}}, "name Neue Apotheke am Markt"},
		{"box", Filter{Filters: index.Filters{Box: &box}, Kinds: []Kind{NotFound}}, "not_found Tierarzt Timm"},
		{"near", Filter{Filters: index.Filters{Center: &orb.Point{8.3, 53.2}, Radius: 10}}, "not_found Tierarzt Timm"},
		{"host", Filter{Filters: index.Filters{Host: []string{"imkerei.example"}}}, "missing Imkerei Ilse"},
		{"sure", Filter{MinConfidence: 0.85, Kinds: []Kind{Moved}}, "moved Musikhaus Meyer moved Nähstube Nolte moved Reisebüro Rabe"},
		{"later", Filter{Filters: index.Filters{Since: day.AddDate(0, 0, 1)}}, ""},
	} {
		got := selected(c.f)
		slices.Sort(got)
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
	}
	if _, _, err := c.Select(Filter{Filters: index.Filters{Kind: []string{"zzzz"}}}); !errors.Is(err, index.ErrQuery) {
		t.Errorf("a kind that is none: %v", err)
	}
}

// The files can be read by what they are for: a task has one object and its tags.
func TestWrite(t *testing.T) {
	x, g := street(t, shops)
	c, err := Compare(t.Context(), x, g, nil)
	if err != nil {
		t.Fatal(err)
	}
	write := func(format string, f Filter) (string, int) {
		t.Helper()
		some, _, err := c.Select(f)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		sum, err := Write(&b, format, some, Terms{"ODbL-1.0", "© OpenStreetMap contributors"})
		if err != nil {
			t.Fatal(err)
		}
		if format != "maproulette" && sum.LeftOut > 0 {
			t.Errorf("%s: %+v", format, sum)
		}
		return b.String(), sum.Written
	}
	text, n := write("geojson", Filter{})
	var collection struct {
		Type, Licence string
		Features      []struct {
			ID         string
			Properties map[string]any
		}
	}
	if err := json.Unmarshal([]byte(text), &collection); err != nil || len(collection.Features) != n || n != len(c.All) || collection.Licence != "ODbL-1.0" {
		t.Errorf("geojson: %d of %d, %v", len(collection.Features), n, err)
	}
	ids := map[string]bool{}
	for _, f := range collection.Features {
		if ids[f.ID] {
			t.Errorf("%s is there twice", f.ID)
		}
		ids[f.ID] = true
	}
	text, n = write("csv", Filter{})
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) != n+1 || strings.Contains(text, ",=cmd") || strings.Contains(text, "\n=cmd") {
		t.Errorf("csv: %d rows of %d, %v", len(rows), n, err)
	}
	text, n = write("maproulette", Filter{})
	if n == 0 || strings.Count(text, "\x1e") != n || strings.Contains(text, "@evidence") {
		t.Errorf("%d tasks: %.300s", n, text)
	}
	for line := range strings.Lines(text) {
		var one task
		if err := json.Unmarshal([]byte(strings.TrimPrefix(line, "\x1e")), &one); err != nil || one.Work == nil || len(one.Work.Operations) != 1 {
			t.Fatalf("%v: %s", err, line)
		}
		if data := one.Work.Operations[0].Data; !strings.HasPrefix(data.ID, "node/") || len(data.Operations) == 0 {
			t.Errorf("%+v", one)
		}
	}
	if !strings.Contains(text, `"setTags","data":{"amenity":"restaurant"`) || !strings.Contains(text, `"phone":"+49 441 123441"`) {
		t.Errorf("no tags to set in %s", text)
	}
	if text, n = write("maproulette", Filter{Kinds: []Kind{Closed}}); n != 2 || strings.Contains(text, "cooperativeWork") || strings.Contains(text, "@evidence") {
		t.Errorf("%d plain tasks: %s", n, text)
	}
	if _, err := Write(new(bytes.Buffer), "osc", nil, Terms{}); err == nil {
		t.Error("a file to upload can be written")
	}
}

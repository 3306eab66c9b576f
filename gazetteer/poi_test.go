package gazetteer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/paulmach/orb"
)

func TestPOIs(t *testing.T) {
	poi := func(id int, name string, lon float64, tags ...string) Place {
		return Place{ID: fmt.Sprintf("node/%d", id), Kind: POI, Names: []string{name}, Country: "DE", City: "Oldenburg", Point: orb.Point{lon, 53}, HasPoint: true,
			Object: &Object{ID: fmt.Sprintf("node/%d", id), Names: []string{name}, Tags: tags}}
	}
	places := []Place{
		poi(1, "Löwen-Apotheke", 8.1, "amenity=pharmacy", "opening_hours=Mo-Fr 08:00-18:00"), poi(2, "Irish Pub", 8.2, "amenity=pub"),
		poi(3, "Café Barbarossa", 8.3, "amenity=cafe"), poi(4, "Barbarossa Bäckerei", 8.4, "shop=bakery"), poi(5, "Nudelhaus", 8.5, "amenity=restaurant", "cuisine=thai;asian"),
	}
	g := Of(places...)
	for _, c := range []struct {
		words, tags string
		near        *orb.Point
		want        string
	}{
		{"barbarossa", "", nil, "Barbarossa Bäckerei; Café Barbarossa"}, {"barb", "", nil, "Barbarossa Bäckerei; Café Barbarossa"},
		{"cafe barbarossa", "", nil, "Café Barbarossa"}, {"loewenapotheke", "", nil, "Löwen-Apotheke"}, {"Löwen Apotheke", "", nil, "Löwen-Apotheke"},
		{"", "amenity=pub", nil, "Irish Pub"}, {"", "amenity=restaurant cuisine=thai", nil, "Nudelhaus"}, {"", "amenity=restaurant cuisine=greek", nil, ""},
		{"", "amenity=pharmacy|amenity=pub", &orb.Point{8.2, 53}, "Irish Pub; Löwen-Apotheke"}, {"apo irish", "", nil, ""}, {"?!", "", nil, ""},
		{strings.Repeat("wort ", 1000), "", nil, ""},
	} {
		q := POIQuery{Words: strings.Fields(c.words), Near: c.near, Limit: 10}
		if c.tags != "" {
			q.Tags = strings.Split(c.tags, "|")
		}
		var got []string
		for _, p := range g.POIs(q) {
			got = append(got, p.Names[0])
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%.40s %s: %q, want %q", c.words, c.tags, got, c.want)
		}
	}
	if got := g.POIs(POIQuery{Words: []string{"loewen"}, Limit: 1}); len(got) != 1 || got[0].Object.Tag("opening_hours") != "Mo-Fr 08:00-18:00" {
		t.Errorf("%+v", got)
	}
}

// What is no point of interest is refused: without a position, a name or a tag, and a name is bounded.
func TestBadPOIs(t *testing.T) {
	object := &Object{ID: "node/1", Names: []string{"x"}, Tags: []string{"shop=kiosk"}}
	for what, p := range map[string]Place{
		"no position": {Kind: POI, Names: []string{"x"}, Object: object},
		"no name":     {Kind: POI, HasPoint: true, Object: object},
		"no tag":      {Kind: POI, Names: []string{"x"}, HasPoint: true},
		"10 kB name":  {Kind: POI, Names: []string{strings.Repeat("x", 10_000)}, HasPoint: true, Object: object},
	} {
		if err := p.check(); err == nil {
			t.Errorf("%s: taken", what)
		}
	}
}

package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"gazehound/crawler/cluster/partition"
)

// The paper's table 1: the 100 largest cities by time zone, two of them in
// Hawaii and Alaska.
func TestPlacesOfTable1(t *testing.T) {
	t.Parallel()
	const dir = "../../../shared/data/gazetteer/"
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no GeoNames files: %v", err)
	}
	a := &app{}
	o := placesOptions{by: "time-zone", groups: 5, cities: dir + "geonames-cities15000/cities15000.txt", states: dir + "geonames-admin/admin1CodesASCII.txt"}
	nodes, known, err := a.places(t.Context(), "us-top-100", o)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	where := map[string]string{}
	cities := 0
	for _, n := range nodes {
		names = append(names, n.Name)
		cities += len(n.Cities)
		for _, c := range n.Cities {
			where[c.String()] = n.Name
			if c.StateName == "" || c.Population < 100_000 {
				t.Errorf("%+v", c)
			}
		}
	}
	if !slices.Equal(names, []string{"general", "utc-10_utc-9", "utc-8", "utc-7", "utc-6", "utc-5"}) || cities != 100 {
		t.Errorf("%d cities on %v", cities, names)
	}
	for city, zone := range map[string]string{
		"New York City, NY": "utc-5", "Detroit, MI": "utc-5", "Indianapolis, IN": "utc-5", "Lexington-Fayette, KY": "utc-5",
		"Chicago, IL": "utc-6", "Houston, TX": "utc-6", "El Paso, TX": "utc-7", "Phoenix, AZ": "utc-7", "Glendale, AZ": "utc-7",
		"Los Angeles, CA": "utc-8", "Las Vegas, NV": "utc-8", "Honolulu, HI": "utc-10_utc-9", "Anchorage, AK": "utc-10_utc-9",
	} {
		if where[city] != zone {
			t.Errorf("%s is on %q, want %q", city, where[city], zone)
		}
	}
	if !slices.ContainsFunc(known, func(c partition.City) bool { return c.String() == "Portland, ME" }) {
		t.Error("the other Portland is not known")
	}

	// The written file can be read.
	var out bytes.Buffer
	if err := partition.WriteNodes(&out, nodes, known); err != nil {
		t.Fatal(err)
	}
	again, others, err := partition.ParseNodes(&out)
	if err != nil || len(again) != len(nodes) || len(others) != len(known) {
		t.Errorf("%d nodes, %d known, %v", len(again), len(others), err)
	}

	for by, groups := range map[string]int{"state": 7, "size": 3} {
		nodes, _, err := a.places(t.Context(), "us-top-50", placesOptions{by: by, groups: groups, cities: o.cities})
		if err != nil || len(nodes) != groups+1 {
			t.Errorf("by %s: %d nodes, %v", by, len(nodes), err)
		}
	}
	for _, bad := range []struct {
		spec string
		o    placesOptions
		want string
	}{
		{"us-top-100", placesOptions{by: "state", groups: 5}, "needs --cities"},
		{"us-top-0", placesOptions{by: "state", groups: 5, cities: o.cities}, "one city or more"},
		{"li-top-99", placesOptions{by: "state", groups: 5, cities: o.cities}, "cities of LI"},
		{"us-top-9", placesOptions{by: "state", groups: 5, cities: o.states}, "admin1CodesASCII.txt"},
		{"us-top-9", placesOptions{by: "state", groups: 5, cities: "none.txt"}, "none.txt"},
	} {
		if _, _, err := a.places(t.Context(), bad.spec, bad.o); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s with %+v: %v, want %q", bad.spec, bad.o, err, bad.want)
		}
	}
}

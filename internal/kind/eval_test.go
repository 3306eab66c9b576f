package kind

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/paulmach/osm"
	"github.com/paulmach/osm/osmpbf"
	"github.com/paulmach/osm/osmxml"
)

// TestEvalNames says how often the name of an object of OpenStreetMap gives the kind
// that its tags say. Kinds that the name-suggestion-index takes for one another, such
// as cafe and bakery, count as right: mappers choose between them. What is named
// after its surroundings, such as a car park, is left out. EVAL_ERRORS=1 lists the
// wrong ones.
func TestEvalNames(t *testing.T) {
	if run := flag.Lookup("test.run"); run == nil || !strings.Contains(run.Value.String(), "Eval") {
		t.Skip("long: asked for by make eval")
	}
	data := "../../../shared/data/gazetteer"
	if _, err := os.Stat(data); err != nil {
		t.Skipf("real data not found: %v", err)
	}
	alike := readAlike(t)
	given, right := 0, 0
	for _, set := range []struct{ file, lang, country string }{
		{"osm-kaiserslautern-de/kaiserslautern.osm.gz", "de", "DE"},
		{"osm-liechtenstein/liechtenstein-latest.osm.pbf", "de", "LI"},
		{"osm-krems-at/krems.osm.gz", "de", "AT"},
		{"osm-lower-manhattan-us/nyc.osm.pbf", "en", "US"},
		{"osm-autauga-al-us+liechtenstein/apidb-test-data.pbf", "en", "US"},
		{"osm-andorra/andorra.osm.gz", "es", "ES"},
		{"osm-monaco/monaco.osm.gz", "fr", "FR"},
	} {
		objects, named, good := 0, 0, 0
		for name, want := range kindsByName(t, filepath.Join(data, set.file)) {
			objects++
			got := OfName(name, set.lang, set.country)
			if got == "" {
				continue
			}
			named++
			if a, b := Main(got), Main(want); a == b || alike[[2]string{a, b}] {
				good++
			} else if os.Getenv("EVAL_ERRORS") != "" {
				t.Logf("%q: %s, is %s", name, got, want)
			}
		}
		given, right = given+named, right+good
		t.Logf("%-52s %4d objects, %.3f get a kind, %.3f of these are right", set.file, objects, float64(named)/float64(objects), float64(good)/float64(named))
	}
	if share := float64(right) / float64(given); share < 0.94 || given < 800 {
		t.Errorf("%d names give a kind, %.3f of them are right; 800 and .94 are wanted", given, share)
	}
}

// kindsByName returns the kinds of the named objects of an extract.
func kindsByName(t *testing.T, path string) map[string]string {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var scanner osm.Scanner = osmpbf.New(t.Context(), bytes.NewReader(data), 1)
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		scanner = osmxml.New(t.Context(), io.Reader(z))
	}
	defer scanner.Close()
	found := map[string]string{}
	for scanner.Scan() {
		var tags map[string]string
		switch o := scanner.Object().(type) {
		case *osm.Node:
			tags = o.Tags.Map()
		case *osm.Way:
			tags = o.Tags.Map()
		case *osm.Relation:
			tags = o.Tags.Map()
		}
		id := OfTags(tags)
		if name := tags["name"]; name != "" && id != "" && !slices.Contains([]string{"amenity=parking", "amenity=car_sharing"}, Main(id)) {
			found[name] = id
		}
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

// readAlike reads pairs of kinds that are taken for one another.
func readAlike(t *testing.T) map[[2]string]bool {
	text, err := os.ReadFile("testdata/alike.txt")
	if err != nil {
		t.Fatal(err)
	}
	pairs := map[[2]string]bool{}
	for line := range strings.Lines(string(text)) {
		for _, a := range strings.Fields(line) {
			for _, b := range strings.Fields(line) {
				pairs[[2]string{a, b}] = true
			}
		}
	}
	return pairs
}

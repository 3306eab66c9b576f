package osm

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"gazehound/gazetteer"
)

// real returns the path of a real extract, or skips the test.
func real(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "data", "gazetteer", name)
	if _, err := os.Stat(path); err != nil {
		t.Skip("real data is missing: ", err)
	}
	return path
}

const kaiserslautern = "osm-kaiserslautern-de/kaiserslautern.osm.gz"

func TestTry(t *testing.T) {
	for _, f := range []string{kaiserslautern, "osm-liechtenstein/liechtenstein-latest.osm.pbf", "osm-autauga-al-us+liechtenstein/apidb-test-data.pbf", "osm-lower-manhattan-us/nyc.osm.pbf", "osm-krems-at/krems.osm.gz", "osm-andorra/andorra.osm.gz", "osm-monaco/monaco.osm.gz"} {
		dir := t.TempDir()
		b, err := gazetteer.NewBuilder(dir)
		if err != nil {
			t.Fatal(err)
		}
		var e *Extract
		err = b.Add(&gazetteer.Source{Name: filepath.Base(f), Format: "osm"}, func(emit func(gazetteer.Place) error) error {
			e, err = Read(context.Background(), real(t, f), Options{}, emit)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Finish(context.Background()); err != nil {
			t.Fatal(err)
		}
		g, err := gazetteer.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		sites := len(e.Sites)
		e.Sites = nil
		t.Logf("%s %+v sites %d\n  %+v", f, *e, sites, g.Stats())
		for _, name := range []string{"Kaiserslautern", "Vaduz", "Prattville", "Monaco", "Krems an der Donau", "Andorra la Vella", "Manhattan"} {
			r, err := g.Region(name)
			if err != nil {
				continue
			}
			t.Logf("  region %s %s %s %s est %v codes %v bound %v", r.ID, r.Name, r.State, r.Country, r.Estimated, r.Postcodes, r.Bound())
		}
		g.Close()
	}
}

package export

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/encoding/wkb"
)

// readGeoParquet reads a file and checks what holds for every one.
func readGeoParquet(t testing.TB, text string) []overturePlace {
	t.Helper()
	f, err := parquet.OpenFile(strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	geo, _ := f.Lookup("geo")
	var meta struct {
		Version string
		Primary string `json:"primary_column"`
		Columns map[string]struct {
			Encoding string
			Types    []string `json:"geometry_types"`
			Covering struct{ Bbox map[string][]string }
		}
	}
	if err := json.Unmarshal([]byte(geo), &meta); err != nil || meta.Version != "1.1.0" || meta.Columns[meta.Primary].Encoding != "WKB" {
		t.Errorf("%v in the metadata %q", err, geo)
	}
	for _, path := range meta.Columns[meta.Primary].Covering.Bbox {
		if _, ok := f.Schema().Lookup(path...); !ok {
			t.Errorf("there is no column %v", path)
		}
	}
	places, err := parquet.Read[overturePlace](strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range places {
		g, err := wkb.Unmarshal(p.Geometry)
		at, ok := g.(orb.Point)
		if b := p.Box; err != nil || !ok || float32(at[0]) != b.West || float32(at[0]) != b.East || float32(at[1]) != b.South || float32(at[1]) != b.North {
			t.Errorf("%v of %v in %+v, %v", at, p.ID, b, err)
		}
	}
	return places
}

func TestGeoParquet(t *testing.T) {
	text, sum := export(t, town(t, shops), "geoparquet", options())
	places := readGeoParquet(t, text)
	if len(places) != sum.Addresses || sum.Addresses != 6 || sum.LeftOut != 1 {
		t.Errorf("%d places, %+v", len(places), sum)
	}
	i := slices.IndexFunc(places, func(p overturePlace) bool { return p.Names.Primary == "Tischlerei Harms" })
	if i < 0 {
		t.Fatalf("%+v", places)
	}
	got := places[i]
	got.ID, got.Geometry, got.Box = "", nil, overtureBox{}
	want := overturePlace{
		Names: overtureNames{"Tischlerei Harms"}, Categories: overtureCategories{"joiner", []string{"craft=joiner"}}, Confidence: 0.98,
		Websites:  []string{"https://www.tischlerei-harms.example/"},
		Addresses: []overtureAddress{{"Nadorster Straße 12a", "Oldenburg", "26123", "", "DE"}},
		Sources: []overtureSource{
			{"tischlerei-harms.example", "https://www.tischlerei-harms.example/kontakt", "2026-11-21T10:12:40Z", 0.98},
			{"tischlerei-harms.example", "https://www.tischlerei-harms.example/impressum", "2026-11-24T10:12:40Z", 0.98},
		},
	}
	if d := cmp.Diff(want, got, cmp.Transformer("list", func(s []string) string { return strings.Join(s, " ") })); d != "" {
		t.Error(d)
	}
}

// DuckDB reads the file, too.
func TestGeoParquetByDuckDB(t *testing.T) {
	const script = `
const { DuckDBInstance } = require("@duckdb/node-api");
(async () => {
  const db = await (await DuckDBInstance.create()).connect();
  const r = await db.runAndReadAll("SELECT names.primary, categories.primary, addresses[1].freeform, addresses[1].country, sources[1].record_id, round(bbox.xmin, 4), typeof(geometry), confidence FROM '" + process.argv[1] + "' ORDER BY names.primary");
  console.log(r.getRows().map((row) => row.join("|")).join("\n"));
})();`
	node, err := exec.LookPath("node")
	if err != nil || exec.Command(node, "-e", `require("@duckdb/node-api")`).Run() != nil {
		t.Skip("no DuckDB here (npm install @duckdb/node-api, and NODE_PATH)")
	}
	text, sum := export(t, town(t, shops), "geoparquet", options())
	name := filepath.Join(t.TempDir(), "a.parquet")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), node, "-e", script, name).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := strings.Count(string(out), "\n"); n != sum.Addresses || !strings.Contains(string(out), "Tischlerei Harms|joiner|Nadorster Straße 12a|DE|https://www.tischlerei-harms.example/kontakt|8.2187") || !strings.Contains(string(out), "GEOMETRY('OGC:CRS84')") {
		t.Errorf("%d rows of %d: %s", n, sum.Addresses, out)
	}
}

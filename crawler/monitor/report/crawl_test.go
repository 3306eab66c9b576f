package report

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"
)

var update = flag.Bool("update", false, "write the golden files anew")

// madeUp returns a small crawl:
//
//	www.a.example/ ─┬─ /r1 (relevant) ── /x ── www.b.example/r3 (relevant)
//	                ├─ /r2 (relevant, the text of /r1)
//	                ├─ /gone (404)
//	                └─ /waits ×10
//
// of which r1 has an address on Lange Straße and one that no gazetteer knows,
// r2 the first of them, and r3 one on Hauptstraße and the first.
func madeUp(t *testing.T) *frontier.Frontier {
	t.Helper()
	f, err := frontier.Open(frontier.Options{InMemory: true, Memory: 32e6})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	entry := func(raw string, parent *frontier.Entry, distance int) frontier.Entry {
		u, err := weburl.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		e := frontier.Entry{URL: u, Distance: distance, Priority: 0.5}
		if parent != nil {
			e.Depth, e.Parent = parent.Depth+1, frontier.KeyOf(parent.URL)
		}
		return e
	}
	seed := entry("http://www.a.example/", nil, 0)
	r1, r2, gone := entry("http://www.a.example/r1", &seed, 1), entry("http://www.a.example/r2", &seed, 1), entry("http://www.a.example/gone", &seed, 1)
	x := entry("http://www.a.example/x", &r1, 1)
	r3 := entry("http://www.b.example/r3", &x, 2)
	found := []frontier.Entry{r1, r2, gone}
	for i := range 10 {
		found = append(found, entry("http://www.a.example/waits"+strconv.Itoa(i), &seed, 1))
	}
	if _, err := f.Push(t.Context(), seed); err != nil {
		t.Fatal(err)
	}
	page := func(text uint64, addresses ...string) frontier.Outcome {
		return frontier.Outcome{Kind: "page", Relevant: len(addresses) > 0, Addresses: addresses, Check: &frontier.Check{Text: text, Relevant: len(addresses) > 0}}
	}
	for _, v := range []struct {
		e     frontier.Entry
		o     frontier.Outcome
		found []frontier.Entry
	}{
		{seed, page(1), found},
		{r1, page(2, "lange 1", "unknown"), []frontier.Entry{x}},
		{r2, page(2, "lange 1"), nil},
		{gone, frontier.Outcome{Kind: "error", Reason: "http_4xx"}, nil},
		{x, page(3), []frontier.Entry{r3}},
		{r3, page(4, "haupt 7", "lange 1"), nil},
	} {
		v.o.At = time.Now()
		if _, err := f.Done(t.Context(), v.e, v.o, v.found...); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// madeUpStreets has ten streets, of them Lange and Hauptstraße.
var madeUpStreets = Options{Streets: 10, Street: func(address string) string {
	street, _, _ := strings.Cut(address, " ")
	if street == "unknown" {
		return ""
	}
	return street
}}

func TestRead(t *testing.T) {
	f := madeUp(t)
	c, err := Read(t.Context(), "may", f, madeUpStreets)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	check("pages", c.Pages, 5)
	check("relevant", c.Relevant, 3)
	check("harvest", c.Harvest, 0.6)
	check("recent harvest", c.HarvestRecent, 0.6)
	check("contents", c.Contents, 2)
	check("content harvest", c.ContentHarvest, 0.4)
	check("addresses", c.Addresses, 3)
	check("hosts", [2]int{c.Hosts, c.RelevantHosts}, [2]int{2, 2})
	check("biggest host", c.Biggest, Host{"www.a.example", 4, 2, 0.5, 2})
	check("off the biggest host", c.OffBiggest, Host{"", 1, 1, 1, 2})
	check("seed distances", c.SeedDistances, []int{0, 2, 0, 1})
	check("bridges", c.Bridges, []int{0, 1})
	check("waiting", c.Waiting, int64(10))
	check("curve", c.Curve, []Point{{1, 0, 0, 0}, {2, 1, 2, 1}, {3, 2, 2, 1}, {4, 2, 2, 1}, {5, 3, 3, 2}})
	m := c.Streets
	check("meter", [6]int{m.Gazetteer, m.Mentioned, m.Unknown, m.Sites, m.Once, m.Twice}, [6]int{10, 2, 1, 2, 1, 1})
	// Chao2: 2 + ½·1²/(2·1).
	check("estimate", m.Estimate, 2.25)

	// A page that is visited again counts once, with what it has now.
	u, _ := weburl.Parse("http://www.a.example/r2")
	again := frontier.Outcome{Kind: "page", Relevant: true, Addresses: []string{"lange 1", "lange 2"}, At: time.Now(), Check: &frontier.Check{Text: 9, Relevant: true}}
	if err := f.Revise(t.Context(), frontier.KeyOf(u), again); err != nil {
		t.Fatal(err)
	}
	second, err := Read(t.Context(), "now", f, madeUpStreets)
	if err != nil {
		t.Fatal(err)
	}
	check("pages after a revisit", second.Pages, 5)
	check("addresses after a revisit", second.Addresses, 4)
	check("contents after a revisit", second.Contents, 3)
	check("streets after a revisit", second.Streets.Mentioned, 2)
	new, gone := second.Against(c)
	check("against", [2]int{new, gone}, [2]int{1, 0})
	new, gone = c.Against(second)
	check("against the later one", [2]int{new, gone}, [2]int{0, 1})
}

// A footer counts as harvest, and not without site-wide addresses.
func TestSiteWide(t *testing.T) {
	counter := newCounter(Options{}, 1)
	for i := range 10 {
		u, err := weburl.Parse(fmt.Sprintf("http://footer.example/%d", i))
		if err != nil {
			t.Fatal(err)
		}
		counter.add(&frontier.Node{Entry: frontier.Entry{URL: u}, Outcome: frontier.Outcome{
			Kind: "page", Relevant: i < 6, SiteWide: i < 4, Addresses: []string{"foot 1"},
		}}, 0)
	}
	if c := counter.finish(); c.SiteWide != 4 || c.Relevant != 6 || c.OwnHarvest != .2 {
		t.Errorf("%d site-wide of %d relevant, own harvest %v; want 4 of 6, 0.2", c.SiteWide, c.Relevant, c.OwnHarvest)
	}
}

func TestReadNothing(t *testing.T) {
	f, err := frontier.Open(frontier.Options{InMemory: true, Memory: 32e6})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, err := Read(t.Context(), "empty", f, madeUpStreets)
	if err != nil {
		t.Fatal(err)
	}
	r := Report{Crawls: []*Crawl{c}}
	for _, format := range Formats {
		var b strings.Builder
		if err := r.Write(&b, format); err != nil || strings.Contains(b.String(), "NaN") {
			t.Errorf("%s: %v\n%s", format, err, b.String())
		}
	}
}

func TestWrite(t *testing.T) {
	c, err := Read(t.Context(), "this|crawl\x1b[31m", madeUp(t), madeUpStreets)
	if err != nil {
		t.Fatal(err)
	}
	earlier, err := Read(t.Context(), "may", madeUp(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	gates, err := ParseThresholds("harvest=10%,streets=200")
	if err != nil {
		t.Fatal(err)
	}
	r := Report{Crawls: []*Crawl{c, earlier}, Thresholds: []ThresholdResult{gates[0].Check(c), gates[1].Check(c)}}
	for _, format := range []string{"text", "md", "csv"} {
		var b strings.Builder
		if err := r.Write(&b, format); err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", "report."+format)
		if *update {
			if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(golden, []byte(b.String()), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if b.String() != string(want) {
			t.Errorf("%s:\n%s\nwant (-update writes it anew)\n%s", format, b.String(), want)
		}
	}
	var b strings.Builder
	if err := r.Write(&b, "svg"); err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(b.String())); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("svg: %v", err)
		}
	}
	if err := r.Write(io.Discard, "pdf"); err == nil {
		t.Error("pdf: no error")
	}
}

func TestGates(t *testing.T) {
	c := &Crawl{Harvest: 0.25, Addresses: 7}
	for _, g := range []struct {
		text   string
		passed []bool
		bad    string
	}{
		{text: "harvest=0.25,addresses=8", passed: []bool{true, false}},
		{text: " harvest = 25% ", passed: []bool{true}},
		{text: "streets=0", passed: []bool{false}}, // not known without a gazetteer
		{text: "harvst=1", bad: `"harvst" is not one of pages, `},
		{text: "harvest", bad: "is not NAME=NUMBER"},
		{text: "", bad: "is not NAME=NUMBER"},
		{text: "harvest=NaN", bad: "must be a number"},
		{text: "harvest=1e999", bad: "must be a number"},
		{text: "harvest=ten", bad: `got "ten"`},
	} {
		gates, err := ParseThresholds(g.text)
		if g.bad != "" {
			if err == nil || !strings.Contains(err.Error(), g.bad) {
				t.Errorf("%q: error %v, want %q", g.text, err, g.bad)
			}
			continue
		}
		if err != nil || len(gates) != len(g.passed) {
			t.Errorf("%q: %v, %v", g.text, gates, err)
			continue
		}
		for i := range gates {
			if r := gates[i].Check(c); r.Passed != g.passed[i] {
				t.Errorf("%q: %s", g.text, r)
			}
		}
	}
	for _, m := range metrics {
		if m.of(&Crawl{}); m.name == "" || m.words == "" {
			t.Errorf("%+v has no name", m)
		}
	}
}

// TestMeterTruth checks the meter on made-up webs that are fully known: sites mention each of 400
// streets with its own probability, and the crawl has seen some of the sites. With equal
// probabilities the 95 % interval contains the truth in at least 90 of 100 webs. With very unequal
// ones the estimate is a lower bound: nearer to the truth than the count, and above the truth by a
// twentieth at most in the mean.
func TestMeterTruth(t *testing.T) {
	const streets, webs = 400, 100
	random := rand.New(rand.NewPCG(1, 2))
	for _, web := range []struct {
		name   string
		spread float64 // of the logarithms of the chances
		sites  int
	}{
		{"equal", 0, 60}, {"equal, few sites", 0, 25}, {"unequal", 1, 60}, {"very unequal", 2, 100},
	} {
		within, found, estimate := 0, 0.0, 0.0
		for range webs {
			m := newMeter(Options{Streets: 10 * streets, Street: func(a string) string { return a }})
			for street := range streets {
				chance := min(0.03*math.Exp(web.spread*(random.NormFloat64()-web.spread/2)), 1)
				for site := range web.sites {
					if random.Float64() < chance {
						m.mention(strconv.Itoa(site), strconv.Itoa(street))
					}
				}
			}
			r := m.read(10, 5000, 1)
			if r.Low <= streets && streets <= r.High {
				within++
			}
			if r.Low > r.Estimate || r.Estimate > r.High || r.Estimate < float64(r.Mentioned) || r.Seen < 0 || r.Seen > 1 {
				t.Fatalf("%s: %+v", web.name, r)
			}
			found += float64(r.Mentioned) / webs
			estimate += r.Estimate / webs
		}
		t.Logf("%-17s found %.0f, estimated %.0f of %d; within the interval %d of %d", web.name, found, estimate, streets, within, webs)
		if web.spread == 0 && within < 90 {
			t.Errorf("%s: the truth lies within the interval in %d of %d webs", web.name, within, webs)
		}
		if math.Abs(streets-estimate) > (streets-found)*0.75 || estimate > streets*1.05 {
			t.Errorf("%s: found %.0f, estimated %.0f of %d", web.name, found, estimate, streets)
		}
	}
}

func TestMeterBounds(t *testing.T) {
	m := newMeter(Options{Streets: 3, Street: func(a string) string { return a }})
	for i := range 3 {
		m.mention("s"+strconv.Itoa(i), "street "+strconv.Itoa(i)) // nothing twice: the estimate would be 5
	}
	r := m.read(3, 5000, 7)
	if r.Estimate != 3 || r.High != 3 || r.Found != 1 {
		t.Errorf("no more streets than the gazetteer has: %+v", r)
	}
	for _, c := range []struct {
		new, pages, waiting, sites int
		want                       string
	}{
		{0, 500, 9, 20, TooSoon}, {9, 5000, 9, 5, TooSoon}, {9, 5000, 0, 20, No}, {9, 5000, 9, 20, Yes}, {2, 5000, 9, 20, Hardly}, {0, 5000, 9, 20, No},
	} {
		r := &Meter{Gazetteer: 1000, Mentioned: 100, Estimate: 150, Sites: c.sites, New: c.new}
		if r.advise(c.pages, int64(c.waiting)); r.GoOn != c.want || r.Advice == "" {
			t.Errorf("%+v: %s, %s", c, r.GoOn, r.Advice)
		}
	}
}

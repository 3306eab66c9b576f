package monitor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/gazetteer"
	"gazehound/geoparse"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func at(t testing.TB, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// visit makes a visit of a page that found links.
func visit(t testing.TB, host string, n, depth int, relevant bool, links int) *crawler.Visit {
	v := &crawler.Visit{
		Entry:   frontier.Entry{URL: at(t, fmt.Sprintf("http://%s/%d", host, n)), Depth: depth, Distance: 1, Priority: .5},
		Outcome: frontier.Outcome{Kind: "page", Status: 200, Relevant: relevant, At: time.Now()}, Response: &page.Response{Status: 200, Took: time.Millisecond},
		New: links,
	}
	for i := range links {
		v.Found = append(v.Found, frontier.Entry{URL: at(t, fmt.Sprintf("http://%s/%d/%d", host, n, i)), Depth: depth + 1, Distance: 1, Priority: .5})
	}
	if relevant {
		place := gazetteer.Place{ID: fmt.Sprint("node/", n), Kind: gazetteer.House, Street: fmt.Sprintf("Straße %d", n%20), Postcode: "26121", City: "Oldenburg", Country: "DE", HouseNumber: fmt.Sprint(n)}
		v.Verdict = geoparse.Verdict{Relevant: true, Addresses: []geoparse.Address{{Street: place.Street, HouseNumber: place.HouseNumber, Postcode: place.Postcode, City: place.City, Country: "DE",
			Place: place, InRegion: true, Precision: gazetteer.HousePrecision, Point: orb.Point{8 + float64(n)/1000, 53}}}}
		v.Outcome.Addresses = []string{v.Verdict.Addresses[0].Key()}
	}
	return v
}

// A point is found again as long as its span lasts, whatever comes between,
// and a series that was stored and loaded is the same.
func TestSeries(t *testing.T) {
	for _, span := range spans {
		t.Run(span.Name, rapid.MakeCheck(func(t *rapid.T) {
			every := int64(span.Every / time.Second)
			s := newSeries(span)
			want := map[int64]Point{}
			now := rapid.Int64Range(1, 2e9).Draw(t, "start")
			for _, gap := range rapid.SliceOfN(rapid.Int64Range(0, 3*every), 1, 200).Draw(t, "gaps") {
				now += gap
				if rapid.IntRange(0, 50).Draw(t, "leap") == 0 {
					now += every * int64(span.Size)
				}
				p := Point{At: now, Pages: now / 3, Harvest: .5}
				s.add(p)
				want[now/every] = p
			}
			var kept []Point
			for n := now/every - int64(span.Size) + 1; n <= now/every; n++ {
				if p, ok := want[n]; ok {
					kept = append(kept, p)
				}
			}
			if diff := cmp.Diff(kept, s.last(now)); diff != "" {
				t.Fatal(diff)
			}
			again := newSeries(span)
			again.decode(s.encode(now))
			if diff := cmp.Diff(kept, again.last(now)); diff != "" {
				t.Fatalf("stored and loaded: %s", diff)
			}
			again.decode([]byte("something else"))
		}))
	}
}

// The board counts streets, places, hosts and losses, and its curves outlive
// it.
func TestBoard(t *testing.T) {
	b := NewBoard()
	for i := range 25 {
		b.list(placeIn(fmt.Sprintf("Straße %d", i)), 6)
		other := placeIn(fmt.Sprintf("Straße %d", i))
		other.Postcode = "26122"
		b.list(other, 4) // the same street
	}
	b.cover("DE|26121|oldenburg|str 24|1") // too early: the tree has it, too
	b.find = func(address string) string {
		part := strings.Split(address, "|")
		return gazetteer.StreetID(gazetteer.Place{Country: part[0], City: part[2], Street: part[3]})
	}
	b.cover("DE|26122|oldenburg|str 24|1")
	b.cover("DE|26122|oldenburg|str 24|1#200") // a unit of the same house
	b.cover("DE|26121|oldenburg|str 99|1")     // not of the region
	b.Place(orb.Point{8.5, 53})
	if c := b.Tick(Snapshot{}).Streets; c != (Coverage{}) {
		t.Errorf("before all is counted the coverage is %+v", c)
	}
	b.counted = true
	for i := range 40 {
		b.Visit(visit(t, "a.example", i, 1, i%2 == 0, 2))
		b.Visit(visit(t, "a.example", i, 1, i%2 == 0, 2)) // once more changes nothing but the counts
	}
	failed := visit(t, "b.example", 1, 1, false, 0)
	failed.Outcome = frontier.Outcome{Kind: "error", Reason: "dns"}
	b.Visit(failed)
	now := time.Now()
	s := b.Tick(Snapshot{At: now, Pages: 80, Relevant: 40, HarvestRecent: .5, Errors: map[string]int64{"dns": 1}})
	if want := (Coverage{All: 25, Found: 11, Recent: 10}); s.Streets != want {
		t.Errorf("streets %+v, want %+v", s.Streets, want)
	}
	if len(s.Fresh) != 20 || len(b.Dots()) != 21 || len(b.Tick(s.Snapshot).Fresh) != 0 {
		t.Errorf("%d new places, %d in all", len(s.Fresh), len(b.Dots()))
	}
	if s.Harvest != .5 {
		t.Errorf("harvest %v of 80 pages", s.Harvest)
	}
	hosts := b.Hosts(10)
	if len(hosts) != 2 || hosts[0].Name != "a.example" || hosts[0].Pages != 80 || hosts[0].Relevant != 40 || hosts[1].Errors != 1 {
		t.Errorf("hosts %+v", hosts)
	}
	streets, _ := b.Streets(1)
	if len(streets) != 1 || streets[0].Houses != 10 || streets[0].Found != 0 {
		t.Errorf("the street with most to find: %+v", streets)
	}
	streets, _ = b.Streets(25)
	if i := slices.IndexFunc(streets, func(s Street) bool { return s.Name == "Straße 24" }); i < 0 || streets[i].Found != 1 {
		t.Errorf("the street of one house: %+v", streets)
	}
	trail := []frontier.Node{{Entry: frontier.Entry{URL: at(t, "http://a.example/x"), Depth: 1, Anchor: "kontakt"}}}
	b.Example(trail, true, func(_ []string, depth int) (float64, bool) { return []float64{.5, 0, 0}[depth-1], true })
	if s := b.Tick(s.Snapshot); s.LogLoss[0] == nil || math.Abs(*s.LogLoss[0]-math.Ln2) > 1e-9 || s.LogLoss[1] != nil {
		t.Errorf("log-loss %v", s.LogLoss)
	}
	f, err := frontier.Open(frontier.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := b.Save(f, true); err != nil {
		t.Fatal(err)
	}
	again := NewBoard()
	if err := again.Load(f); err != nil {
		t.Fatal(err)
	}
	for _, span := range spans {
		want, _ := b.History(span.Name)
		got, ok := again.History(span.Name)
		if diff := cmp.Diff(want, got); !ok || len(got) == 0 || diff != "" {
			t.Errorf("%s after a restart: %d points, %s", span.Name, len(got), diff)
		}
	}
}

// Values are kept every so often, the last ones only, and forgotten with what
// they are of.
func TestTrends(t *testing.T) {
	x := trends[string]{every: time.Minute, most: 10}
	start, asked := time.Now(), 0
	for second := range 2000 {
		x.sample(start.Add(time.Duration(second)*time.Second), func() map[string]float64 {
			asked++
			return map[string]float64{"kontakt": float64(second), "agb": 1}
		})
	}
	points := x.points["kontakt"]
	if len(points) != 10 || points[9] != 1980 || points[8] != 1920 || asked != 34 {
		t.Errorf("%v after %d samples", points, asked)
	}
	x.sample(start.Add(time.Hour), func() map[string]float64 { return map[string]float64{"kontakt": 1} })
	if len(x.points) != 1 {
		t.Errorf("what is not there any more has %v", x.points["agb"])
	}
}

// Whatever comes, the board stays within its bounds.
func TestBoardBounds(t *testing.T) {
	if testing.Short() {
		t.Skip("40,000 visits")
	}
	b := NewBoard()
	for i := range 2*maxDots + 5_000 {
		b.Visit(visit(t, fmt.Sprintf("h%d.example", i), i, 1, true, 0))
	}
	if b.hosts.Len() > maxHosts || len(b.dots) != maxDots || len(b.fresh) > maxFresh {
		t.Errorf("%d hosts, %d places, %d new ones", b.hosts.Len(), len(b.dots), len(b.fresh))
	}
}

// testAdmin returns an Admin of a board on which something has happened.
func testAdmin(t testing.TB, change func(*Options)) (*Admin, *[]string) {
	b := NewBoard()
	b.Visit(visit(t, "a.example", 1, 1, true, 3))
	b.Tick(Snapshot{Region: "Oldenburg", At: time.Now(), Started: time.Now(), Pages: 1, Relevant: 1, Queued: 3, Workers: 2, Errors: map[string]int64{"dns": 1}, Skipped: map[string]int64{"robots": 2}})
	var did []string
	scope, err := crawler.NewScope(crawler.ScopeRules{Delay: 2 * time.Second, Longest: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	scope.SetDelay = func(time.Duration, bool, time.Duration) {}
	did1 := func(what string) func() { return func() { did = append(did, what) } }
	o := Options{
		Board: b, Version: "test", Region: "Oldenburg <b>", Token: "sesame-sesame-sesame", Hand: true, Loopback: true, Features: []string{"anchor", "host"},
		Outline: orb.MultiPolygon{{{{8, 53}, {9, 53}, {9, 54}, {8, 53}}}},
		Terms: func(depth int, feature string, n int) []Term {
			return []Term{{Feature: feature, Word: "kontakt", LogOdds: 1}}
		},
		Next:    func(n int) ([]Link, error) { return []Link{{URL: "http://a.example/2", Priority: .5}}, nil },
		Explain: func(url string) (any, error) { return nil, fmt.Errorf("%q is %w", url, ErrUnknown) },
		Extras:  func() Extras { return Extras{Documents: 1, Updates: [3]int{3, 2, 1}} },
		Pause:   did1("pause"), Resume: did1("resume"), Stop: did1("stop"), Checkpoint: func() error { did = append(did, "checkpoint"); return nil },
		Label: func(_ context.Context, url string, relevant bool) error {
			did = append(did, fmt.Sprint("label ", url, " ", relevant))
			return nil
		},
		Seeds: func(_ context.Context, urls []string) (SeedsTaken, error) {
			did = append(did, fmt.Sprint("seeds ", urls))
			return SeedsTaken{Taken: len(urls), Refused: []RefusedSeed{}}, nil
		},
		Scope:    scope,
		Ordered:  func(what string) { did = append(did, what) },
		Nodes:    func(context.Context) (any, error) { return map[string]any{"alone": true}, nil },
		Troubles: func() []string { return nil },
	}
	if change != nil {
		change(&o)
	}
	return NewAdmin(o), &did
}

func ask(a *Admin, method, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:8091"+path, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	return w
}

// Only those who know the token change anything, and only from our own page or
// from no page at all.
func TestAdminGuard(t *testing.T) {
	const token, control = "Bearer sesame-sesame-sesame", "X-Gazehound-Control"
	a, did := testAdmin(t, nil)
	for _, c := range []struct {
		name, method, path, body string
		header                   []string
		want                     int
	}{
		{"no token", "POST", "/v1/crawl/stop", "", []string{control, "1"}, 401},
		{"wrong token", "POST", "/v1/crawl/stop", "", []string{control, "1", "Authorization", "Bearer guess"}, 401},
		{"token as a user", "POST", "/v1/crawl/stop", "", []string{control, "1", "Authorization", "Basic sesame-sesame-sesame"}, 401},
		{"no header of ours", "POST", "/v1/crawl/stop", "", []string{"Authorization", token}, 403},
		{"another web site", "POST", "/v1/crawl/stop", "", []string{control, "1", "Authorization", token, "Origin", "https://evil.example"}, 403},
		{"another web site, modern", "POST", "/v1/crawl/stop", "", []string{control, "1", "Authorization", token, "Sec-Fetch-Site", "cross-site"}, 403},
		{"a name bound to us", "POST", "/v1/crawl/stop", "", []string{control, "1", "Authorization", token, "Host", "evil.example:8091"}, 421},
		{"a name bound to us, reading", "GET", "/", "", []string{"Host", "evil.example"}, 421},
		{"by GET", "GET", "/v1/crawl/stop", "", []string{control, "1", "Authorization", token}, 405},
		{"label without a verdict", "POST", "/v1/labels", `{"url":"http://a.example/"}`, []string{control, "1", "Authorization", token}, 400},
		{"label, no JSON", "POST", "/v1/labels", `url=1`, []string{control, "1", "Authorization", token}, 400},
		{"label, endless", "POST", "/v1/labels", `{"url":"` + strings.Repeat("a", 1<<20), []string{control, "1", "Authorization", token}, 400},
	} {
		if w := ask(a, c.method, c.path, c.body, c.header...); w.Code != c.want {
			t.Errorf("%s: %d %s, want %d", c.name, w.Code, w.Body, c.want)
		}
	}
	if len(*did) > 0 {
		t.Fatalf("something was done: %v", *did)
	}
	good := []string{control, "1", "Authorization", token, "Origin", "http://127.0.0.1:8091"}
	for _, action := range []string{"pause", "resume", "checkpoint", "stop"} {
		if w := ask(a, "POST", "/v1/crawl/"+action, "", good...); w.Code != 200 {
			t.Errorf("%s: %d %s", action, w.Code, w.Body)
		}
	}
	if w := ask(a, "POST", "/v1/labels", `{"url":"http://a.example/","relevant":false}`, good...); w.Code != 200 {
		t.Errorf("label: %d %s", w.Code, w.Body)
	}
	if diff := cmp.Diff([]string{"pause", "resume", "checkpoint", "stop", "label http://a.example/ false"}, *did); diff != "" {
		t.Error(diff)
	}
	if page := ask(a, "GET", "/", "").Body.String(); !strings.Contains(page, "sesame-sesame-sesame") || !strings.Contains(page, "Oldenburg &lt;b&gt;") {
		t.Error("the page on loopback has no token, or markup in the name of the region")
	}

	closed, _ := testAdmin(t, func(o *Options) { o.Closed, o.Hand, o.Loopback = true, false, false })
	for _, path := range []string{"/v1/crawl", "/v1/crawl/series", "/v1/crawl/hosts", "/v1/crawl/errors", "/v1/crawl/coverage", "/v1/crawl/found", "/v1/crawl/model", "/v1/crawl/frontier", "/v1/crawl/explain?url=x", "/v1/crawl/orders", "/v1/crawl/nodes", "/v1/crawl/events", "/metrics"} {
		if w := ask(closed, "GET", path, "", "Host", "crawl.example"); w.Code != 401 {
			t.Errorf("%s of a closed listener without the token: %d", path, w.Code)
		}
	}
	if w := ask(closed, "GET", "/metrics", "", "Authorization", token, "Host", "crawl.example"); w.Code != 200 {
		t.Errorf("metrics with the token: %d", w.Code)
	}
	if w := ask(closed, "GET", "/", "", "Host", "crawl.example"); w.Code != 200 || strings.Contains(w.Body.String(), "sesame") {
		t.Errorf("the page of a closed listener: %d, or it hands the token out", w.Code)
	}
}

// Every answer is what it says it is; bad values are refused with what was
// expected.
func TestAdminAnswers(t *testing.T) {
	a, _ := testAdmin(t, nil)
	for _, path := range []string{"/v1/crawl", "/v1/crawl/series", "/v1/crawl/series?span=90d", "/v1/crawl/hosts?limit=3", "/v1/crawl/errors", "/v1/crawl/coverage", "/v1/crawl/found", "/v1/crawl/model?depth=2&feature=host&top=3", "/v1/crawl/frontier", "/v1/crawl/frontier", "/v1/crawl/orders", "/v1/crawl/nodes"} {
		w := ask(a, "GET", path, "")
		if w.Code != 200 || !json.Valid(w.Body.Bytes()) || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		if strings.Contains(w.Body.String(), "NaN") {
			t.Errorf("%s has NaN", path)
		}
	}
	for path, want := range map[string]int{
		"/v1/crawl/series?span=1y": 400, "/v1/crawl/hosts?limit=0": 400, "/v1/crawl/hosts?limit=ten": 400, "/v1/crawl/coverage?limit=-1": 400, "/v1/crawl/model?depth=4": 400,
		"/v1/crawl/model?feature=smell": 400, "/v1/crawl/frontier?limit=1000": 400, "/v1/crawl/explain": 400, "/v1/crawl/explain?url=" + strings.Repeat("a", 5000): 400,
		"/v1/crawl/model?limit=3": 400, "/v1/crawl/model?top=0": 400, "/v1/crawl/orders?x": 400, "/v1/crawl/hosts?limit=3&top=3": 400,
		"/v1/crawl/explain?url=http://x.example/": 404, "/nothing": 404,
	} {
		if w := ask(a, "GET", path, ""); w.Code != want {
			t.Errorf("%.60s: %d %s, want %d", path, w.Code, w.Body, want)
		}
	}
	if w := ask(a, "GET", "/readyz", ""); w.Code != 200 || w.Body.String() != `{"status":"ready"}`+"\n" {
		t.Errorf("readyz: %d %s", w.Code, w.Body)
	}
	ill, _ := testAdmin(t, func(o *Options) { o.Troubles = func() []string { return []string{"the disk is full"} } })
	for _, path := range []string{"/healthz", "/readyz"} {
		if w := ask(ill, "GET", path, ""); w.Code != 503 || !strings.Contains(w.Body.String(), "the disk is full") {
			t.Errorf("%s of a crawl that is not well: %d %s", path, w.Code, w.Body)
		}
	}
	ill.o.Board.Tick(Snapshot{At: time.Now(), Paused: true})
	if w := ask(ill, "GET", "/readyz", ""); !strings.Contains(w.Body.String(), "paused") {
		t.Errorf("readyz of a paused crawl: %s", w.Body)
	}
}

// The metrics pass Prometheus' own lint, have the names that dashboards use,
// and no host among their labels.
func TestMetrics(t *testing.T) {
	a, _ := testAdmin(t, nil)
	r := registry(a.o.Board, "test", a.o.Extras)
	problems, err := testutil.GatherAndLint(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	text := ask(a, "GET", "/metrics", "").Body.String()
	for _, name := range []string{
		`gazehound_pages_total{result="relevant"} 1`, `gazehound_harvest_ratio{window="1000"}`, "gazehound_addresses", "gazehound_addresses_new_total", "gazehound_frontier_links 3",
		`gazehound_frontier_hosts{state="backoff"}`, "gazehound_fetch_duration_seconds_bucket", "gazehound_fetch_bytes_total", `gazehound_http_responses_total{class="2xx"} 1`,
		`gazehound_errors_total{class="dns"} 1`, `gazehound_predictor_updates_total{depth="1"} 3`, "gazehound_link_priority_bucket", `gazehound_bridge_depth_pages_total{depth="1"} 1`,
		"gazehound_index_docs 1", "gazehound_disk_free_bytes", `gazehound_build_info{strategy="",version="test"} 1`, "go_goroutines", "process_cpu_seconds_total",
	} {
		if !strings.Contains(text, name) {
			t.Errorf("/metrics has no %s", name)
		}
	}
	if strings.Contains(text, "a.example") {
		t.Error("/metrics names a host")
	}
	families, err := a.o.Board.gather(Extras{Node: &Node{Name: "n1", Nodes: 3, Outbox: 7}})
	if err != nil {
		t.Fatal(err)
	}
	ofNodes := 0
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "gazehound_cluster_") && f.GetMetric()[0].GetLabel()[0].GetValue() == "n1" {
			ofNodes++
		}
	}
	if ofNodes != 6 {
		t.Errorf("%d metrics of a node, want 6", ofNodes)
	}
}

// A reader who does not read never holds the crawl up; the others get
// everything, and a sign of life where nothing happens.
func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEvents()
		var out [2]bytes.Buffer
		done := make(chan bool)
		slow := make(chan bool)
		for i := range out {
			w := &stream{ResponseRecorder: httptest.NewRecorder(), out: &out[i]}
			if i == 1 {
				w.hold = slow
			}
			go func() {
				e.serve(w, httptest.NewRequest("GET", "/", nil), State{Because: "first"},
					func(s State) []byte { return fmt.Appendf(nil, "%q", s.Because) })
				done <- true
			}()
		}
		synctest.Wait()
		const seconds = 50
		for i := range seconds {
			e.publish([]event{{kind: "address", data: []byte("{}")}}, State{Because: fmt.Sprint(i)})
			synctest.Wait()
		}
		time.Sleep(heartbeat + time.Second)
		synctest.Wait()
		e.close()
		close(slow)
		<-done
		<-done
		text := out[0].String()
		if strings.Count(text, "data: ") != 2*seconds+1 || !strings.Contains(text, ": still here\n\n") || !strings.Contains(text, `"first"`) {
			t.Errorf("the reader got %d events:\n%.300s", strings.Count(text, "data: "), text)
		}
		if text := out[1].String(); strings.Count(text, "event: address") != seconds || strings.Count(text, "event: status") > 3 {
			t.Errorf("the slow reader got\n%.900s", text)
		}
		if e.enter() {
			t.Error("a closed stream takes readers")
		}
	})
}

// A reader that reconnects gets the events that it missed, in this run or the next, as far as they
// are kept, and then the current state.
func TestEventsMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ill := []string{}
		a, _ := testAdmin(t, func(o *Options) { o.Troubles = func() []string { return ill } })
		read := func(lastID string) (ids []string, kinds string, text string) {
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			var out bytes.Buffer
			r := httptest.NewRequestWithContext(ctx, "GET", "http://127.0.0.1:8091/v1/crawl/events", nil)
			if lastID != "" {
				r.Header.Set("Last-Event-ID", lastID)
			}
			a.ServeHTTP(&stream{ResponseRecorder: httptest.NewRecorder(), out: &out}, r)
			for line := range strings.Lines(out.String()) {
				if id, ok := strings.CutPrefix(line, "id: "); ok {
					ids = append(ids, strings.TrimSpace(id))
				}
				if kind, ok := strings.CutPrefix(line, "event: "); ok {
					kinds += kind[:2] + " "
				}
			}
			return ids, kinds, out.String()
		}
		second := func(visits ...int) {
			for _, n := range visits {
				a.o.Board.Visit(visit(t, "b.example", n, 1, true, 0))
			}
			a.Publish(a.o.Board.Tick(Snapshot{At: time.Now()}))
			time.Sleep(time.Second)
		}
		second() // the visit of testAdmin
		ids, kinds, _ := read("")
		if kinds != "st " {
			t.Errorf("who comes first reads %q", kinds)
		}
		second(100, 101)
		ill = append(ill, "the disk is full")
		second(100)
		ill = nil
		second()
		again, kinds, text := read(ids[0])
		if kinds != "ad ad al al st " || !strings.Contains(text, `"url":"http://b.example/100","street":"Straße 0","housenumber":"100"`) || !strings.Contains(text, `"reasons":["the disk is full"],"well":false}`) {
			t.Errorf("who comes again reads %q:\n%s", kinds, text)
		}
		if !slices.IsSorted(append(ids, again...)) {
			t.Errorf("events do not have growing numbers: %v, %v", ids, again)
		}
		if _, kinds, _ := read(again[len(again)-1]); kinds != "st " {
			t.Errorf("who has missed nothing reads %q", kinds)
		}
		for _, odd := range []string{"x", "-1", "0", strings.Repeat("9", 100)} {
			if _, kinds, _ := read(odd); kinds != "st " {
				t.Errorf("with the number %.20q somebody reads %q", odd, kinds)
			}
		}
		for i := range 2 * maxReplay {
			a.events.publish([]event{{kind: "alert", data: fmt.Append(nil, i)}}, State{})
		}
		if ids, _, _ := read("1"); len(ids) > maxReplay+1 || len(ids) < maxReplay/2 {
			t.Errorf("%d events are sent again", len(ids))
		}
		if other := newEvents(); other.last < a.events.last-3*maxReplay {
			t.Error("the numbers of the next run begin before those of this one")
		}
		a.Close()
	})
}

// The number of readers is limited.
func TestEventsReaders(t *testing.T) {
	e := newEvents()
	for range maxReaders {
		if !e.enter() {
			t.Fatal("refused")
		}
	}
	w := httptest.NewRecorder()
	e.serve(w, httptest.NewRequest("GET", "/", nil), State{}, nil)
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("one too many: %d", w.Code)
	}
	e.close()
}

// A stream is a ResponseWriter that may be slow.
type stream struct {
	*httptest.ResponseRecorder
	out  *bytes.Buffer
	hold chan bool
}

func (s *stream) Write(b []byte) (int, error) {
	if s.hold != nil {
		<-s.hold
	}
	return s.out.Write(b)
}

func (s *stream) SetWriteDeadline(time.Time) error { return nil }

// BenchmarkVisit is the cost of a visit, with and without a reader of the dashboard.
func BenchmarkVisit(b *testing.B) {
	for _, readers := range []int{0, 10} {
		b.Run(fmt.Sprintf("readers=%d", readers), func(b *testing.B) {
			a, _ := testAdmin(b, nil)
			defer a.Close()
			for range readers {
				a.events.enter() // none of them reads
			}
			visits := make([]*crawler.Visit, 1000)
			for i := range visits {
				visits[i] = visit(b, fmt.Sprintf("h%d.example", i%200), i, 1, i%5 == 0, 40)
			}
			n := 0
			for b.Loop() {
				a.o.Board.Visit(visits[n%len(visits)])
				if n++; n%200 == 0 { // a second of a fast crawl
					a.Publish(a.o.Board.Tick(Snapshot{At: time.Now(), Pages: int64(n)}))
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pages/s")
		})
	}
}

func placeIn(street string) gazetteer.Place {
	return gazetteer.Place{Street: street, Postcode: "26121", City: "Oldenburg", Country: "DE", Point: orb.Point{8, 53}}
}

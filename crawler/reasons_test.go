package crawler_test

import (
	"bytes"
	"context"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/fetch"
	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/demo"
	"gazehound/crawler/order"
	"gazehound/crawler/order/trap"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/geoparse"

	"golang.org/x/net/html"
)

// reasonsWeb is the made-up town and an endless shop, with links on each page of
// the town that no link of the crawl may come of.
type reasonsWeb struct{ town *demo.Town }

const oddLinks = `<p><a rel="nofollow" href="/nobody-follows.html">Werbung</a> <a href="http://user:secret@www.a.example/">Zugang</a>
<a href="mailto:info@a.example">Post</a> <a href="#top">nach oben</a> <a href="/offer.pdf">Angebot</a> <a href="http://shop.example/0">Laden</a></p>`

func (w reasonsWeb) Fetch(ctx context.Context, u weburl.URL) (*page.Response, error) {
	if u.Host() == "shop.example" && u.Path() != "/robots.txt" {
		return endless{}.Fetch(ctx, u)
	}
	r, err := w.town.Fetch(ctx, u)
	if u.Host() == "shop.example" {
		return &page.Response{URL: u, Status: 404, Fetched: time.Now()}, nil
	}
	if err != nil {
		return nil, &fetch.Error{Class: fetch.ClassDNS, URL: u, Err: err} // a host outside of the town
	}
	if r.Status == 200 && strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
		r.Body = bytes.Replace(r.Body, []byte("</body>"), []byte(oddLinks+"</body>"), 1)
	}
	return r, nil
}

// Judge calls relevant what is so by construction.
func (w reasonsWeb) Judge(_ context.Context, p *page.Page) (v geoparse.Verdict, err error) {
	facts, _ := w.town.Truth(p.URL)
	v.Relevant = len(facts.Addresses) > 0
	return v, nil
}

// links counts the links of a page in its bytes, with another reader than the
// crawl's: to the web, each target once, and those that are not to be followed
// or not to be used one by one.
func (w reasonsWeb) links(t *testing.T, u weburl.URL) (n int64) {
	t.Helper()
	r, err := w.Fetch(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	followed, base := true, u
	targets := map[weburl.URL]bool{u: true}
	for z := html.NewTokenizer(bytes.NewReader(r.Body)); z.Next() != html.ErrorToken; {
		token := z.Token()
		attr := map[string]string{}
		for _, a := range token.Attr {
			attr[a.Key] = a.Val
		}
		ref, is := "", false
		switch token.Data {
		case "meta":
			followed = followed && !(attr["name"] == "robots" && strings.Contains(attr["content"], "nofollow"))
		case "link":
			is = slices.Contains([]string{"canonical", "next", "prev"}, attr["rel"])
			ref = attr["href"]
		case "a":
			ref, is = attr["href"], attr["href"] != "" && attr["href"][0] != '#'
		}
		if !is || token.Type == html.EndTagToken {
			continue
		}
		to, err := base.Resolve(ref)
		switch {
		case !followed, attr["rel"] == "nofollow", err != nil && strings.HasPrefix(ref, "http"):
			n++
		case err == nil && !targets[to]:
			targets[to] = true
			n++
		}
	}
	return n
}

// elsewhere are other nodes, to which every seventh host belongs.
type elsewhere struct{ routed atomic.Int64 }

func (p *elsewhere) Route(_ context.Context, _ *page.Page, found []frontier.Entry) (own, others []frontier.Entry, err error) {
	for _, e := range found {
		h := fnv.New32a()
		h.Write([]byte(e.URL.Host()))
		if e.Depth > 0 && h.Sum32()%7 == 0 {
			p.routed.Add(1)
			e.Owner = "seventh"
			others = append(others, e)
		} else {
			own = append(own, e)
		}
	}
	return own, others, nil
}
func (*elsewhere) Moved(context.Context, frontier.Entry) (bool, error) { return false, nil }
func (*elsewhere) Visited(frontier.Entry) bool                         { return false }
func (*elsewhere) Admit(context.Context) error                         { return nil }
func (*elsewhere) Wait(context.Context) (bool, error)                  { return false, nil }

// Over a whole crawl with every limit that there is, each link that was seen is
// queued, visited, known, or left out for one reason, and no other.
func TestReasonsAddUp(t *testing.T) {
	o := demo.DefaultOptions()
	o.Sites, o.PagesPerSite, o.Streets = 120, 30, 40
	town, err := demo.New(o)
	if err != nil {
		t.Fatal(err)
	}
	web := reasonsWeb{town}
	traps, nodes := trap.New(), &elsewhere{}
	order, err := order.New("limited-distance-5", order.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := frontier.Open(frontier.Options{InMemory: true, Memory: 32e6, MaxPerHost: 60, PerPart: func(u weburl.URL) (string, int64) {
		top, _, below := strings.Cut(strings.TrimPrefix(u.Path(), "/"), "/")
		if !below {
			return "/", 0
		}
		return "/" + top + "/", 25
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	gate := noDelays(t, func(ctx context.Context, u weburl.URL, _ int64) (*page.Response, error) { return web.Fetch(ctx, u) })
	excluded := regexp.MustCompile(`\.pdf$`)
	var want int64
	var seeds []string
	for _, u := range town.Seeds() {
		seeds = append(seeds, u.String())
		want++
	}
	ended := map[string]int64{}
	c := &crawler.Crawler{
		Options:  crawler.Options{Workers: 4, MaxPages: 1200, MaxDepth: 7, Grace: time.Second},
		Frontier: f, Fetcher: web, Gate: gate, Judge: web, Strategy: order, Traps: traps, Peers: nodes,
		Scope: func(u weburl.URL) string {
			if excluded.MatchString(u.Path()) {
				return "excluded"
			}
			return ""
		},
		Report: func(v *crawler.Visit) {
			ended[string(v.Outcome.Kind)+" "+v.Outcome.Reason]++
			switch v.Outcome.Kind {
			case "page":
				want += web.links(t, v.Entry.URL)
			case "redirect":
				want++
			}
		},
	}
	seed(t, c, seeds...)
	if err := c.Run(t.Context()); err != nil && err != crawler.ErrPageLimit {
		t.Fatal(err)
	}
	totals := f.Totals()
	var dropped int64
	for _, n := range totals.Dropped {
		dropped += n
	}
	t.Logf("%d links = %d queued + %d visited + %d known + %d left out %v; visits %v", totals.Links, totals.Queued, totals.Visited, totals.Repeats, dropped, totals.Dropped, ended)
	if totals.Links != want {
		t.Errorf("%d links were seen, and the pages have %d", totals.Links, want)
	}
	if sum := totals.Queued + totals.Parked + totals.Visited + totals.Repeats + dropped; sum != totals.Links {
		t.Errorf("%d links, and %d with a reason", totals.Links, sum)
	}
	for _, reason := range []string{"nofollow", "bad_url", "excluded", "depth", "strategy", "host_limit", "path_limit", "other_node"} {
		if totals.Dropped[reason] == 0 {
			t.Errorf("nothing was left out because of %s", reason)
		}
		delete(totals.Dropped, reason)
	}
	if len(totals.Dropped) > 0 {
		t.Errorf("reasons that nobody has named: %v", totals.Dropped)
	}
	if nodes.routed.Load() == 0 || ended["skipped robots"] == 0 || ended["redirect "] == 0 {
		t.Errorf("visits: %v; %d links to other nodes", ended, nodes.routed.Load())
	}
	if patterns, params := traps.Counts(); patterns+params == 0 {
		t.Error("no trap was found; links of traps are parked and not left out")
	}
}

package crawler_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"gazehound/crawler"
	"gazehound/crawler/fetch"
	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/crawltest"
	"gazehound/crawler/order"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
)

// evilSite is a site whose pages lead inside: by links, base elements, redirects, its robots.txt and its
// sitemap. It keeps a list of the hosts that it was asked for, as a proxy is.
type evilSite struct {
	inside []string
	mu     sync.Mutex
	hosts  map[string]int
}

func (s *evilSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.hosts[r.Host]++
	s.mu.Unlock()
	kind, number, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	i := 0
	fmt.Sscan(number, &i)
	host := s.inside[i%len(s.inside)]
	w.Header().Set("Content-Type", "text/html")
	switch kind {
	case "":
		fmt.Fprintln(w, "<title>x</title>", here)
		for i, host := range s.inside {
			for _, kind := range []string{"base", "redirect", "refresh"} {
				fmt.Fprintf(w, "<a href=/%s/%d>x</a>\n", kind, i)
			}
			fmt.Fprintf(w, "<a href='http://%[1]s/link'>x</a><a href='//%[1]s/link2'>y</a><a href='https://%[1]s:8091/link3'>z</a>\n", host)
		}
	case "base":
		fmt.Fprintf(w, "<base href='http://%s/base/'><a href=meta-data>x</a>", host)
	case "refresh":
		fmt.Fprintf(w, "<meta http-equiv=refresh content='0; url=http://%s/refresh'>", host)
	case "redirect":
		w.Header().Set("Location", "http://"+host+"/redirect")
		w.WriteHeader(http.StatusFound)
	case "robots.txt":
		if r.Host == "two.example" {
			w.Header().Set("Location", "http://169.254.169.254/robots.txt")
			w.WriteHeader(http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprintf(w, "Sitemap: http://%s/sitemap.xml\n", r.Host)
		for _, host := range s.inside {
			fmt.Fprintf(w, "Sitemap: http://%s/sitemap.xml\n", host)
		}
	case "sitemap.xml":
		w.Header().Set("Content-Type", "application/xml")
		fmt.Fprintln(w, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
		for _, host := range s.inside {
			fmt.Fprintf(w, "<url><loc>http://%s/sitemap</loc></url>\n", host)
		}
		fmt.Fprintln(w, "</urlset>")
	default:
		http.NotFound(w, r)
	}
}

// A directFetcher fetches the hosts of evilSite by a client that may connect to this machine, and all
// others by one that may not.
type directFetcher struct{ open, guarded *fetch.Client }

func (d directFetcher) of(u weburl.URL) *fetch.Client {
	if strings.HasSuffix(u.Hostname(), ".example") {
		return d.open
	}
	return d.guarded
}

func (d directFetcher) Fetch(ctx context.Context, u weburl.URL) (*page.Response, error) {
	return d.of(u).Fetch(ctx, u)
}

func (d directFetcher) FetchPrefix(ctx context.Context, u weburl.URL, max int64) (*page.Response, error) {
	return d.of(u).FetchPrefix(ctx, u, max)
}

// No page leads a crawl inside, directly or through a proxy: by links, base elements, redirects,
// robots.txt, sitemaps or seeds, however the host is spelled.
func TestNothingLeadsInside(t *testing.T) {
	inside := strings.Fields(crawltest.Fixture("hosts/inside.txt"))
	for _, proxied := range []bool{false, true} {
		t.Run(fmt.Sprintf("proxied=%v", proxied), func(t *testing.T) {
			site := &evilSite{inside: inside, hosts: map[string]int{}}
			server := httptest.NewServer(site)
			defer server.Close()
			o := fetch.DefaultOptions()
			if proxied {
				o.Proxy = server.URL
			}
			guarded, err := fetch.New(o)
			if err != nil {
				t.Fatal(err)
			}
			defer guarded.Close()
			d := directFetcher{guarded, guarded}
			port := ""
			if !proxied {
				port = server.URL[strings.LastIndex(server.URL, ":"):]
				o.AllowPrivate = true
				o.Resolve = func(context.Context, string) ([]netip.Addr, error) {
					return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
				}
				if d.open, err = fetch.New(o); err != nil {
					t.Fatal(err)
				}
				defer d.open.Close()
			}
			f, err := frontier.Open(frontier.Options{InMemory: true, Memory: 32e6})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			breadth, err := order.New("breadth-first", order.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var visits ledger
			c := &crawler.Crawler{
				Options: crawler.Options{Workers: 8, Sitemaps: true}, Frontier: f, Fetcher: d, Gate: noDelays(t, d.FetchPrefix), Judge: judge{}, Strategy: breadth,
				Scope: func(weburl.URL) string { return "" }, Report: visits.report,
			}
			seeds := []string{"http://evil.example" + port + "/", "http://two.example" + port + "/x"}
			for _, host := range inside {
				if _, err := weburl.Parse("http://" + host + "/seed"); err == nil {
					seeds = append(seeds, "http://"+host+"/seed")
				}
			}
			seed(t, c, seeds...)
			if err := c.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			refused := map[string]int{}
			for _, v := range visits.visits {
				if u := v.Entry.URL; !strings.HasSuffix(u.Hostname(), ".example") {
					if v.Outcome.Kind != "skipped" || v.Outcome.Reason != fetch.ClassPrivateAddress {
						t.Errorf("%s: %s %s", u, v.Outcome.Kind, v.Outcome.Reason)
					}
					refused[strings.Split(strings.TrimPrefix(u.Path(), "/"), "/")[0]]++
				}
			}
			for _, way := range []string{"link", "link2", "link3", "base", "refresh", "redirect", "seed"} {
				if refused[way] < 25 { // spellings of one host count once
					t.Errorf("only %d hosts inside were refused by way of %s", refused[way], way)
				}
			}
			foreign := f.Totals().Dropped["sitemap_foreign"]
			if foreign < int64(len(inside))*3/4 {
				t.Errorf("only %d URLs of the sitemap were left out", foreign)
			}
			site.mu.Lock()
			defer site.mu.Unlock()
			for host, n := range site.hosts {
				if !slices.Contains([]string{"evil.example" + port, "two.example" + port}, host) {
					t.Errorf("%d requests for %s", n, host)
				}
			}
			t.Logf("%d spellings; refused as %v, in the sitemap %d; asked for %v", len(inside), refused, foreign, site.hosts)
		})
	}
}

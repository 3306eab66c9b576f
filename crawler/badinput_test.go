package crawler_test

import (
	"context"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/fetch"
	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/crawltest"
	"gazehound/crawler/order"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
)

var update = flag.Bool("update", false, "rewrite docs/bad-input.md")

// A badInput is one kind of hostile behaviour. Each URL is crawled beside a good page and must get
// the outcome beside it:
//
//	/name          a case of crawltest.Hostile
//	odd/path       a path of the server oddities
//	robots/name    a page of a host whose robots.txt is one of badRobots
//	host.example   looked up in addresses, with the guard up
//	anything else  the URL itself, with the guard up
//
// A URL after "> " is not requested directly but reached through another one.
//
// held names further tests, as package.Test, for what one fetch cannot show.
type badInput struct {
	what string
	urls map[string]string
	held string
}

const ok = "page"

// badInputs are in the order of their numbers, from 1.
var badInputs = []badInput{
	{"a host resolves to 127.0.0.1", map[string]string{"loopback.example": "skipped private_address"}, ""},
	{"a host resolves to 169.254.169.254", map[string]string{"metadata.example": "skipped private_address"}, ""},
	{"a host resolves to 10/8, 172.16/12, 192.168/16, 100.64/10, 0.0.0.0", map[string]string{"ten.example": "skipped private_address", "oneseventwo.example": "skipped private_address",
		"oneninetwo.example": "skipped private_address", "nat.example": "skipped private_address", "zero.example": "skipped private_address"}, "fetch.TestRefusal"},
	{"a host resolves to ::1, fc00::/7, fe80::, ::ffff:127.0.0.1", map[string]string{"six.example": "skipped private_address", "ula.example": "skipped private_address",
		"link.example": "skipped private_address", "mapped.example": "skipped private_address"}, "fetch.TestRefusal"},
	{"numbers as hosts", map[string]string{"http://2130706433/": "skipped private_address", "http://0x7f.1/": "skipped private_address",
		"http://127.1/": "skipped private_address", "http://0177.0.0.1/": "skipped private_address"}, "fetch.TestInsideIsUnreachable"},
	{"names inside a network (fritz.box, *.svc, *.consul) or of an address in it (10.0.0.1.nip.io), also with a proxy", nil,
		"fetch.TestRefuseHost"},
	{"other ports of this machine, neighbours with global IPv6 addresses", nil, "fetch.TestOwnNetwork"},
	{"first lookup public, second private (rebinding)", nil, "fetch.TestGuard"},
	{"one public and one private address", map[string]string{"two.example": "skipped private_address"}, "fetch.TestGuard"},
	{"redirect from public to private", map[string]string{"/redirect-private": "redirect"}, "crawler.TestRedirectsAreChecked"},
	{"connection accepted, never answers", map[string]string{"/never-answers": "error timeout"}, ""},
	{"one byte at a time in headers", map[string]string{"/slow-header": "error timeout"}, ""},
	{"one byte at a time in the body", map[string]string{"/slow-body": "error timeout"}, ""},
	{"connection reset", map[string]string{"/reset-mid-body": "error connect", "/reset-before": "error connect", "/closes-at-once": "error connect"}, ""},
	{"TLS expired, wrong host, self-signed", map[string]string{"tls": "error tls"}, "fetch.TestTLS crawler.TestBadTLSIsNotRetriedByHTTP"},
	{"NXDOMAIN, SERVFAIL and slow DNS", map[string]string{"nowhere.example": "error dns", "servfail.example": "error dns", "slowdns.example": "error dns"}, ""},
	{"userinfo or odd port in the URL", map[string]string{"http://loopback.example:22/": "skipped robots_unreachable", "http://loopback.example:25/": "skipped robots_unreachable", "http://u:p@a.example/": "no URL"}, "fetch.TestBadPort"},
	{"keep-alive connection closed at reuse", map[string]string{"/closes-second-use": ok}, "fetch.TestAsksOnce fetch.TestAsksOnceOverHTTP2"},
	{"no status line (HTTP/0.9)", map[string]string{"/http-0.9": "error protocol"}, ""},
	{"status 200:OK, abc, 999, binary", map[string]string{"/bad-status-line": "error protocol", "/status-abc": "error protocol", "/status-999": "error protocol", "/binary-status": "error protocol"}, ""},
	{"header without colon, folded, with NUL or CR", map[string]string{"/header-without-colon": "error protocol", "/header-folded": ok, "/header-nul": "error protocol", "/header-cr": "error protocol"}, ""},
	{"one header of 10 MB", map[string]string{"/header-10mb": "skipped too_large"}, ""},
	{"10,000 headers, and headers without end", map[string]string{"/headers-10000": "skipped too_large", "/headers-endless": "skipped too_large"}, ""},
	{"Content-Length of letters, negative, too short, too long, twice, 10 GB", map[string]string{"/length-abc": "error protocol", "/length-negative": "error protocol",
		"/length-too-short": ok, "/length-too-long": "error connect", "/length-twice": "error protocol", "/length-10gb": "skipped too_large"}, ""},
	{"chunks of a bad size, or without an end", map[string]string{"/chunk-bad-size": "error protocol", "/chunk-huge-size": "error protocol", "/chunk-no-end": "error connect"}, ""},
	{"chunked body that goes on for ever", map[string]string{"/chunk-endless": "skipped too_large", "/chunk-tiny": "skipped too_large", "/body-endless": "skipped too_large"}, ""},
	{"gzip, brotli, zstd bombs", map[string]string{"/gzip-bomb": "skipped too_large", "/gzip-bomb-twice": "skipped too_large", "/br-bomb": "skipped too_large", "/zstd-bomb": "skipped too_large"}, ""},
	{"gzip inside gzip", map[string]string{"/gzip-in-gzip": "skipped content_type", "/gzip-twice": ok}, ""},
	{"false, unknown, raw, truncated codings", map[string]string{"/gzip-plain": ok, "/deflate-raw": ok, "/deflate-zlib": ok, "/br": ok, "/zstd": ok,
		"/coding-unknown": "error protocol", "/gzip-truncated": "error protocol", "/gzip-corrupt": "error protocol"}, "fetch.FuzzDecode"},
	{"204 and 304 with a body", map[string]string{"/204-with-body": "skipped no_content", "/304-with-body": "error protocol"}, ""},
	{"redirect to itself", map[string]string{"/redirect-self": "error redirect_loop"}, ""},
	{"redirect from A to B to A", map[string]string{"/redirect-a": "redirect", "/redirect-b": "redirect"}, ""},
	{"30 redirects in a row", map[string]string{"odd/hop/1": "redirect", "> odd/hop/11": "error redirect_loop"}, ""},
	{"redirect to javascript:, file:, data:, ftp:, nothing, //, no UTF-8", map[string]string{"/redirect-javascript": "error bad_redirect", "/redirect-file": "error bad_redirect",
		"/redirect-data": "error bad_redirect", "/redirect-ftp": "error bad_redirect", "/redirect-empty": "error bad_redirect", "/redirect-slashes": "error bad_redirect",
		"/redirect-none": "error bad_redirect", "/redirect-latin1": "redirect"}, "fetch.FuzzLocation"},
	{"Refresh header and meta refresh to the page itself", map[string]string{"odd/refresh": ok}, ""},
	{"429 with Retry-After in seconds, as date, negative, of 10 years", map[string]string{"/429-retry-10-years": "error http_429", "odd/429/-5": "error http_429",
		"odd/429/Sat, 21 Nov 2026 10:00:00 GMT": "error http_429"}, "polite.TestRetryAfter"},
	{"503 for ever", map[string]string{"/503-retry-after": "error http_5xx"}, "polite.TestRest"},
	{"401 and 407 with a body without end", map[string]string{"/401-endless": "error http_4xx", "odd/407": "error http_4xx"}, ""},
	{"Set-Cookie of 1 MB, 5,000 of them, for a public suffix, for others", map[string]string{"/cookies-1mb": "skipped too_large", "odd/cookies": ok}, "fetch.TestCookies"},
	{"Content-Type missing, wrong, with an unknown charset", map[string]string{"/type-missing": ok, "/type-missing-pdf": "skipped content_type", "/type-pdf-as-html": "skipped content_type",
		"/type-pdf": "skipped content_type", "/type-sloppy": ok}, "page.TestNotHTML"},
	{"200 for every path (soft 404)", map[string]string{"odd/soft": ok}, "crawler.TestTraps"},
	{"another body at every fetch", map[string]string{"odd/dice": ok}, "crawler.TestRevisit"},
	{"robots.txt with a BOM", map[string]string{"robots/bom": "skipped robots"}, ""},
	{"robots.txt in UTF-16", map[string]string{"robots/utf16": "skipped robots"}, ""},
	{"robots.txt of 600 KB", map[string]string{"robots/long": "skipped robots"}, "robots.TestConformance"},
	{"robots.txt is an HTML page", map[string]string{"robots/html": ok}, ""},
	{"robots.txt: 5xx, 429, timeout, reset", map[string]string{"robots/500": "skipped robots_unreachable", "robots/429": "skipped robots_unreachable",
		"robots/timeout": "skipped robots_unreachable", "robots/reset": "skipped robots_unreachable"}, "robots.TestUnreachable"},
	{"robots.txt: 404, 410, 403", map[string]string{"robots/404": ok, "robots/410": ok, "robots/403": ok}, "robots.TestStatus"},
	{"robots.txt redirects six times, or to another host", map[string]string{"robots/hops": ok, "robots/elsewhere": "skipped robots"}, "robots.TestRedirects"},
	{"Crawl-delay of 1e9, negative, NaN, a fraction", map[string]string{"robots/delay": ok}, "robots.TestCrawlDelay"},
	{"Disallow: /*a*a*a*a*a*a*b$", map[string]string{"robots/stars": ok}, "robots.TestBlowUp"},
	{"robots.txt: agents in a row, CR only, queries, escapes, U+0130", map[string]string{"robots/cr": "skipped robots"}, "robots.TestConformance robots.FuzzMatches"},
	{"sitemaps: of themselves, nested, long, bombs, foreign, year 9999", nil, "sitemap.TestRead sitemap.TestMemory sitemap.FuzzRead crawler.TestSitemaps"},
	{"100,000 nested divs", map[string]string{"odd/divs": ok}, "page.TestHostilePages"},
	{"1,000,000 links on one page", map[string]string{"odd/links": ok, "odd/links-10mb": "skipped too_large"}, "page.TestHostilePages"},
	{"an attribute or text of megabytes, 100,000 attributes", map[string]string{"odd/attribute": ok, "odd/attributes": ok, "odd/text": "skipped too_large"}, "page.TestHostilePages"},
	{"unclosed tags, NULs, invalid UTF-8, mixed and missing charsets", map[string]string{"odd/soup": ok}, "page.TestCharset page.FuzzParse"},
	{"hostile base href", map[string]string{"odd/base": ok}, "page.TestHostilePages"},
	{"endless calendar", nil, "crawler.TestTraps"},
	{"explosion of facets", nil, "crawler.TestTraps"},
	{"repeated segments, host inside the path, growing relative path", nil, "crawler.TestTraps trap.TestStructure"},
	{"session ids and tracking parameters", nil, "crawler.TestTraps weburl.TestParse"},
	{"URLs of 10 MB, 2,000 segments, %00, %2e%2e/, homographs, punycode errors, dots, ports", map[string]string{"http://a.example/" + strings.Repeat("x", 10<<20): "no URL",
		"http://a.example" + strings.Repeat("/x", 2000): "no URL", "http://xn--a.example/": "no URL", "http://a..example/": "no URL", "odd/%00": "error http_4xx", "odd/a/%2e%2e/dice": ok}, "weburl.TestParse weburl.TestParseErrors"},
	{"slow endless generated text; links in comments and scripts; nofollow, noindex", map[string]string{"odd/honeypot": ok, "/slow-body": "error timeout"}, "crawler.TestTraps page.TestRobots page.TestLinks"},
	{"50,000 lines like addresses, RTL, hostile JSON-LD, NaN", map[string]string{"odd/addresses": ok}, "geoparse.TestHostile markup.TestFindIsBounded"},
	{"stored scripts, formulas, line ends in logs, hostile queries, full disk, clock, kill", nil,
		"api.TestBrowserHostile export.TestGuard export.TestHostile api.TestMalformed frontier.TestDiskFull frontier.TestKill main.TestCrawlKilled"},
	{"a page that hits a defect of this program: panic while it is parsed, judged, learned or indexed", nil, "crawler.TestPanicOverPage index.TestPanicInWriter"},
}

// badRobots are robots.txt files by name. A number is a status.
var badRobots = map[string]string{
	"bom":   "\xef\xbb\xbfUser-agent: *\nDisallow: /",
	"utf16": "\xff\xfeU\x00s\x00e\x00r\x00-\x00a\x00g\x00e\x00n\x00t\x00:\x00*\x00\n\x00D\x00i\x00s\x00a\x00l\x00l\x00o\x00w\x00:\x00/\x00",
	"long":  strings.Repeat("User-agent: other\nDisallow: /filler/filler\n", 11_000) + "User-agent: *\nDisallow: /\n" + strings.Repeat("# filler\n", 20_000),
	"html":  "<!DOCTYPE html><title>Not found</title>", "500": "500", "429": "429", "404": "404", "410": "410", "403": "403",
	"timeout": "timeout", "reset": "reset", "hops": "hops", "elsewhere": "elsewhere",
	"delay": "User-agent: *\nCrawl-delay: 1e9\nCrawl-delay: -3\nCrawl-delay: NaN\n",
	"stars": "User-agent: *\nDisallow: /*a*a*a*a*a*a*b$\n",
	"cr":    "User-agent: a\rUser-agent: gazehound\rDisallow: /\r",
}

// addresses are those of the hosts that are looked up with the guard up.
var addresses = map[string][]string{
	"loopback": {"127.0.0.1"}, "metadata": {"169.254.169.254"}, "ten": {"10.1.2.3"}, "oneseventwo": {"172.16.1.1"}, "oneninetwo": {"192.168.1.1"},
	"nat": {"100.64.1.1"}, "zero": {"0.0.0.0"}, "six": {"::1"}, "ula": {"fc00::1"}, "link": {"fe80::1"}, "mapped": {"::ffff:127.0.0.1"},
	"two": {"10.0.0.1", "127.0.0.1"},
}

// oddities answers what needs no broken HTTP.
func oddities(w http.ResponseWriter, r *http.Request) {
	host, _, _ := strings.Cut(r.Host, ":")
	if name, ok := strings.CutSuffix(host, ".robots.example"); ok && r.URL.Path == "/robots.txt" {
		switch rules := badRobots[name]; rules {
		case "timeout":
			<-r.Context().Done()
		case "reset":
			panic(http.ErrAbortHandler)
		case "hops":
			http.Redirect(w, r, "/robots.txt?"+r.URL.RawQuery+"x", http.StatusFound)
		case "elsewhere":
			http.Redirect(w, r, "http://"+strings.Replace(r.Host, name, "bom", 1)+"/robots.txt", http.StatusFound)
		case "500", "429", "404", "410", "403":
			var status int
			fmt.Sscan(rules, &status)
			w.WriteHeader(status)
		default:
			io.WriteString(w, rules)
		}
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	kind, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch kind {
	case "hop":
		var n int
		fmt.Sscan(rest, &n)
		if n < 30 {
			http.Redirect(w, r, fmt.Sprintf("/hop/%d", n+1), http.StatusFound)
		}
	case "refresh":
		w.Header().Set("Refresh", "0")
		io.WriteString(w, `<meta http-equiv="refresh" content="0; url=/refresh">`)
	case "429":
		w.Header().Set("Retry-After", rest)
		w.WriteHeader(http.StatusTooManyRequests)
	case "407":
		w.WriteHeader(http.StatusProxyAuthRequired)
	case "cookies":
		for i := range 1000 {
			w.Header().Add("Set-Cookie", fmt.Sprintf("c%d=x; Domain=example", i))
		}
	case "soft", "":
		io.WriteString(w, "<p>Diese Seite gibt es nicht.")
	case "dice":
		fmt.Fprintf(w, "<p>%d", time.Now().UnixNano())
	case "divs":
		io.WriteString(w, strings.Repeat("<div>", 100_000))
	case "links":
		io.WriteString(w, strings.Repeat("<a href=#>", 150_000))
	case "links-10mb":
		io.WriteString(w, strings.Repeat("<a href=x>", 1_000_000))
	case "attribute":
		io.WriteString(w, "<a href='"+strings.Repeat("x", 1_900_000)+"'>x</a>")
	case "attributes":
		io.WriteString(w, "<a "+strings.Repeat("a b=c ", 100_000)+">x</a>")
	case "text":
		io.WriteString(w, strings.Repeat("x", 5<<20))
	case "soup":
		io.WriteString(w, "<b><i><p>\x00\xff\xc3<script>charset=utf-7</script><table><td><a href=>"+strings.Repeat("<p", 1000))
	case "base":
		io.WriteString(w, `<base href="javascript:alert(1)"><base href="http://[::1"><a href="x">x</a>`)
	case "honeypot":
		io.WriteString(w, `<!-- <a href="/trap">x</a> --><script type="ignore"><a href="/trap">x</a></script><a rel="nofollow" href="/trap">x</a>`)
	case "addresses":
		io.WriteString(w, strings.Repeat("Straße 1, 26121 Ort<br>\n", 50_000))
	default:
		http.NotFound(w, r)
	}
}

// TestBadInputs is the table of all bad inputs: each gets a named outcome within bounded memory, and
// the crawl continues. It also checks or writes docs/bad-input.md; TestMain finds leaked goroutines.
func TestBadInputs(t *testing.T) {
	if len(badInputs) != 67 {
		t.Fatalf("%d bad inputs; want 67", len(badInputs))
	}
	log.SetOutput(io.Discard) // net/http logs bytes behind a 204
	defer log.SetOutput(os.Stderr)
	w := newBadWeb()
	defer w.close()
	clients := newSplitFetcher(t)
	tests := allTests(t)
	for i, row := range badInputs {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			for _, name := range strings.Fields(row.held) {
				if !tests[name] {
					t.Errorf("%s does not exist", name)
				}
			}
			if len(row.urls) == 0 && row.held == "" {
				t.Fatal("nothing holds this row")
			}
			w.crawl(t, badInputCrawler(t, clients), row.urls)
		})
	}
	writeBadInputs(t)
}

// A badWeb serves the URLs of the table.
type badWeb struct {
	hostile     *crawltest.Hostile
	odd, secure *httptest.Server
	port        string // of odd
}

func newBadWeb() *badWeb {
	w := &badWeb{hostile: crawltest.NewHostile(), odd: httptest.NewServer(http.HandlerFunc(oddities)),
		secure: httptest.NewUnstartedServer(http.HandlerFunc(oddities))}
	for _, s := range []*httptest.Server{w.odd, w.secure} {
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
	}
	w.secure.StartTLS()
	_, w.port, _ = strings.Cut(strings.TrimPrefix(w.odd.URL, "http://"), ":")
	return w
}

func (w *badWeb) close() {
	w.hostile.Close()
	w.odd.Close()
	w.secure.Close()
}

// url returns the whole URL of one of the table.
func (w *badWeb) url(short string) string {
	switch {
	case short == "tls":
		return w.secure.URL + "/soft"
	case strings.HasPrefix(short, "/"):
		return w.hostile.URL(short[1:])
	case strings.HasPrefix(short, "odd/"):
		return "http://odd.example:" + w.port + "/" + strings.ReplaceAll(short[4:], " ", "%20")
	case strings.HasPrefix(short, "robots/"):
		return "http://" + short[7:] + ".robots.example:" + w.port + "/soft"
	case !strings.HasPrefix(short, "http"):
		return "http://" + short + "/"
	}
	return short
}

// crawl crawls the URLs of a row and a good one, and holds that each has the outcome that is wanted.
// Those with "> " before them are found, not seeds.
func (w *badWeb) crawl(t *testing.T, c *crawler.Crawler, urls map[string]string) {
	t.Helper()
	last := mustURL("http://good.example:" + w.port + "/soft")
	wants := map[frontier.Key]string{frontier.KeyOf(last): ok}
	var seeds []weburl.URL
	for raw, want := range urls {
		if strings.HasPrefix(raw, "/") && want != "error timeout" {
			// The hostile server closes connections after complete answers. A page requested on one of them
			// before the close arrives gets no answer, and is requested again later.
			c.Options.Retries = 1
		}
		short, found := strings.CutPrefix(raw, "> ")
		u, err := weburl.Parse(w.url(short))
		if (err != nil) != (want == "no URL") {
			t.Errorf("%.100s: %v; want %s", raw, err, want)
		}
		if err != nil {
			continue
		}
		if !found {
			seeds = append(seeds, u)
		}
		wants[frontier.KeyOf(u)] = want
	}
	if _, err := c.Seed(t.Context(), append(seeds, last)); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 600<<20 { // client, server and trees
		t.Errorf("allocated %d MB", used>>20)
	}
	f := c.Frontier.(*frontier.Frontier)
	for key, want := range wants {
		n, known, err := f.Get(key)
		got := strings.TrimSpace(string(n.Outcome.Kind) + " " + n.Outcome.Reason)
		if got != want || !known || n.State != frontier.Visited || err != nil {
			t.Errorf("%.100s: %s, %v; want %s", n.URL, got, err, want)
		}
	}
	if _, known, _ := f.Get(frontier.KeyOf(mustURL("http://odd.example:" + w.port + "/trap"))); known {
		t.Error("the honeypot was queued")
	}
}

// writeBadInputs holds docs/bad-input.md equal to the table.
func writeBadInputs(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Bad inputs\n\nWhat is the outcome of hostile input? `TestBadInputs` crawls every URL of this table beside a good page,\n" +
		"checks outcome, memory and goroutines, and writes this file (`go test ./crawler -run BadInputs -update`).\n" +
		"Outcomes are those of `status` and `explain`; further tests show what one fetch cannot.\n\n" +
		"| input | outcome | further tests |\n|---|---|---|\n")
	for _, row := range badInputs {
		by := map[string][]string{}
		for raw, want := range row.urls {
			if raw = strings.TrimPrefix(raw, "odd/"); len(raw) > 60 {
				raw = fmt.Sprintf("%.30s… (%d bytes)", raw, len(raw))
			}
			by[want] = append(by[want], "`"+raw+"`")
		}
		var outcomes []string
		for want, raws := range by {
			slices.Sort(raws)
			if len(by) == 1 {
				outcomes = append(outcomes, want)
			} else {
				outcomes = append(outcomes, want+": "+strings.Join(raws, " "))
			}
		}
		slices.Sort(outcomes)
		fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.ReplaceAll(row.what, "*", `\*`), strings.Join(outcomes, "; "), row.held)
	}
	file := filepath.Join("..", "docs", "bad-input.md")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != b.String() {
		t.Errorf("docs/bad-input.md is not the table of the test (%v); -update writes it", err)
	}
}

// A splitFetcher requests hosts of the tests with loopback allowed, and all others with the guard up.
// Its timeout is long, except for answers that never come.
type splitFetcher struct{ open, guarded, brief *fetch.Client }

func newSplitFetcher(t *testing.T) *splitFetcher {
	t.Helper()
	o := fetch.DefaultOptions()
	o.UserAgent, o.Timeout, o.MaxBody = "gazehound/test", 2*time.Second, 2<<20
	o.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
		switch host {
		case "nowhere.example":
			return nil, nil
		case "servfail.example":
			return nil, fmt.Errorf("server misbehaving")
		case "slowdns.example":
			<-ctx.Done()
			return nil, ctx.Err()
		}
		var found []netip.Addr
		for _, a := range addresses[strings.TrimSuffix(host, ".example")] {
			found = append(found, netip.MustParseAddr(a))
		}
		if found == nil {
			found = []netip.Addr{netip.MustParseAddr("127.0.0.1")}
		}
		return found, nil
	}
	guarded, err := fetch.New(o)
	if err != nil {
		t.Fatal(err)
	}
	o.AllowPrivate, o.Cookies, o.Timeout = true, true, 30*time.Second
	open, err := fetch.New(o)
	if err != nil {
		t.Fatal(err)
	}
	o.Timeout = 300 * time.Millisecond
	brief, err := fetch.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { open.Close(); guarded.Close(); brief.Close() })
	return &splitFetcher{open, guarded, brief}
}

func (s *splitFetcher) of(u weburl.URL) *fetch.Client {
	switch u.Path() {
	case "/never-answers", "/slow-header", "/slow-body":
		return s.brief
	}
	if u.Hostname() == "timeout.robots.example" || u.Hostname() == "slowdns.example" {
		return s.brief
	}
	name, test := strings.CutSuffix(u.Hostname(), ".example")
	if test && addresses[name] == nil || u.Hostname() == "127.0.0.1" && u.Host() != "127.0.0.1" {
		return s.open
	}
	return s.guarded
}

func (s *splitFetcher) Fetch(ctx context.Context, u weburl.URL) (*page.Response, error) {
	return s.of(u).Fetch(ctx, u)
}

func (s *splitFetcher) FetchPrefix(ctx context.Context, u weburl.URL, max int64) (*page.Response, error) {
	return s.of(u).FetchPrefix(ctx, u, max)
}

func badInputCrawler(t *testing.T, s *splitFetcher) *crawler.Crawler {
	t.Helper()
	f, err := frontier.Open(frontier.Options{InMemory: true, Memory: 32e6})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	order, err := order.New("breadth-first", order.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &crawler.Crawler{
		Options:  crawler.Options{Workers: 8, Grace: time.Second, Sitemaps: true, Reservations: true},
		Frontier: f, Fetcher: s, Gate: noDelays(t, s.FetchPrefix), Judge: judge{}, Strategy: order,
		Scope: func(weburl.URL) string { return "" },
	}
}

// allTests returns the names of all tests of the module, as package.Test.
func allTests(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	// Not the folder of the repository: go runs a test again when a folder that it listed has changed,
	// and any command of git changes .git.
	for _, root := range []string{"cmd", "crawler", "gazetteer", "geoparse", "index", "internal", "predictor"} {
		err := filepath.WalkDir(filepath.Join("..", root), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, decl := range file.Decls {
				if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil {
					found[strings.TrimSuffix(file.Name.Name, "_test")+"."+f.Name.Name] = true
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(found) < 100 {
		t.Fatalf("%d tests found", len(found))
	}
	return found
}

// A redirect's target passes scope, robots.txt and the guard of addresses at
// each hop, like any link.
func TestRedirectsAreChecked(t *testing.T) {
	s := crawltest.MustWeb(`
-- http://a.example/scope --
HTTP 302
Location: http://outside.example/

-- http://a.example/robots --
HTTP 301
Location: http://b.example/hop

-- http://b.example/hop --
HTTP 307
Location: http://c.example/private

-- http://c.example/robots.txt --
User-agent: *
Disallow: /private
-- http://c.example/private --
x
-- http://a.example/guard --
HTTP 308
Location: http://10.0.0.1/

`).Start(1)
	defer s.Close()
	c, l := newCrawler(t, s, "breadth-first", nil, nil)
	o := fetch.DefaultOptions()
	o.AllowPrivate, o.Resolve, o.Timeout = true, s.Resolve, 2*time.Second
	client, err := fetch.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	port := strings.TrimPrefix(s.Proxy(), "http://127.0.0.1")
	direct := withPort{client, port}
	c.Fetcher = direct
	c.Gate = noDelays(t, func(ctx context.Context, u weburl.URL, _ int64) (*page.Response, error) { return direct.Fetch(ctx, u) })
	c.Scope = func(u weburl.URL) string {
		if u.Hostname() == "outside.example" {
			return "out_of_scope"
		}
		return ""
	}
	seed(t, c, "http://a.example/scope", "http://a.example/robots", "http://a.example/guard")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, v := range l.visits {
		got[strings.TrimPrefix(v.Entry.URL.String(), "http://")] = strings.TrimSpace(string(v.Outcome.Kind) + " " + v.Outcome.Reason)
	}
	want := map[string]string{
		"a.example/scope": "redirect out_of_scope", "a.example/robots": "redirect", "b.example/hop": "redirect",
		"c.example/private": "skipped robots", "a.example/guard": "redirect", "10.0.0.1/": "skipped private_address",
	}
	for url, outcome := range want {
		if got[url] != outcome {
			t.Errorf("%s: %q; want %q", url, got[url], outcome)
		}
	}
	if len(got) != len(want) {
		t.Errorf("visits %v", got)
	}
	for _, r := range s.Requests() {
		if r.Host == "outside.example" || r.Path == "/private" {
			t.Errorf("asked for %s%s", r.Host, r.Path)
		}
	}
}

// withPort requests the hosts of a made-up web at its port, under their own names.
type withPort struct {
	*fetch.Client
	port string
}

func (w withPort) Fetch(ctx context.Context, u weburl.URL) (*page.Response, error) {
	at := u
	if strings.HasSuffix(u.Hostname(), ".example") {
		at = mustURL("http://" + u.Hostname() + w.port + u.Path())
	}
	r, err := w.Client.FetchPrefix(ctx, at, 1<<20)
	if r != nil {
		r.URL = u
	}
	return r, err
}

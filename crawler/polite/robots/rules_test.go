package robots

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gazehound/crawler/weburl"

	"github.com/jimsmart/grobotstxt"
	"pgregory.net/rapid"
)

const agent = "gazehound"

var robotsURL = mustParse("http://a.example/robots.txt")

func mustParse(raw string) weburl.URL {
	u, err := weburl.Parse(raw)
	if err != nil {
		panic(err)
	}
	return u
}

func normalPath(u weburl.URL) string {
	path := u.Path()
	if q := u.Query(); q != "" {
		path += "?" + q
	}
	return normal(path, false)
}

// TestConformance is RFC 9309 and the hostile files of the web as a table:
// a file, and paths with "+" allowed and "-" not.
func TestConformance(t *testing.T) {
	for _, c := range []struct{ name, body, paths string }{
		// RFC 9309, section 2.2 and 5.
		{"empty file", "", "+/ +/x"},
		{"everybody", "User-agent: *\nDisallow: /x", "-/x -/xy -/x/y +/ +/y +/X"},
		{"empty disallow", "User-agent: *\nDisallow:", "+/ +/x"},
		{"all", "User-agent: *\nDisallow: /", "-/ -/x +/robots.txt"},
		{"own group wins", "User-agent: *\nDisallow: /\n\nUser-agent: gazehound\nDisallow: /x", "-/x +/y"},
		{"own empty group wins", "User-agent: *\nDisallow: /\nUser-agent: gazehound\nAllow:", "+/x"},
		{"own group first", "User-agent: gazehound\nDisallow: /x\nUser-agent: *\nDisallow: /", "-/x +/y"},
		{"own groups merge", "User-agent: gazehound\nDisallow: /a\nUser-agent: b\nDisallow: /\nUser-agent: gazehound\nDisallow: /c", "-/a -/c +/b"},
		{"others do not bind", "User-agent: googlebot\nDisallow: /", "+/x"},
		{"no group", "Disallow: /", "+/x"},
		{"case of agent", "User-Agent: GazeHound\nDisallow: /x", "-/x"},
		{"version after agent", "User-agent: gazehound/1.0 (x)\nDisallow: /x", "-/x"},
		{"prefix is another", "User-agent: gaze\nDisallow: /", "+/x"},
		{"longer is another", "User-agent: gazehounds\nDisallow: /", "+/x"},
		{"newline agent is another", "User-agent: gazehound-image\nDisallow: /", "+/x"},
		{"consecutive agents", "User-agent: a\nUser-agent: gazehound\nUser-agent: b\nDisallow: /x", "-/x"},
		{"sitemap ends no group", "User-agent: gazehound\nSitemap: http://a.example/s.xml\nUser-agent: b\nDisallow: /x", "-/x"},
		{"crawl-delay ends no group", "User-agent: gazehound\nCrawl-delay: 1\nUser-agent: b\nDisallow: /x", "-/x"},
		{"unknown lines", "User-agent: *\nNoindex: /a\nHost: x\nDisallow: /x", "-/x +/a"},
		{"longest match", "User-agent: *\nAllow: /x/y\nDisallow: /x", "-/x -/x/a +/x/y +/x/yz"},
		{"longest match, disallowed", "User-agent: *\nAllow: /x\nDisallow: /x/y", "+/x -/x/y/z"},
		{"order is nothing", "User-agent: *\nDisallow: /x\nAllow: /x/y", "-/x +/x/y"},
		{"tie allows", "User-agent: *\nDisallow: /x\nAllow: /x", "+/x"},
		{"star", "User-agent: *\nDisallow: /*.gif", "-/a.gif -/a/b.gifs +/gif"},
		{"dollar", "User-agent: *\nDisallow: /*.gif$", "-/a.gif +/a.gifs +/a.gif?x"},
		{"dollar inside", "User-agent: *\nDisallow: /a$b", "-/a$b -/a$bc +/a"},
		{"whole", "User-agent: *\nAllow: /$\nDisallow: /", "+/ -/x"},
		{"query", "User-agent: *\nDisallow: /*?session=", "-/a?session=1 +/a?x=1 +/a"},
		{"query of root", "User-agent: *\nDisallow: /?", "-/?a=1 +/ +/a?b"},
		{"index.html", "User-agent: *\nAllow: /d/index.html\nDisallow: /d", "+/d/index.html +/d/ -/d/x"},
		{"comment", "User-agent: * # all\nDisallow: /x # not this\n#Disallow: /y", "-/x +/y"},
		{"spaces", "  User-agent :  *  \n\tDisallow\t:\t/x\t", "-/x"},
		{"no colon", "User-agent *\nDisallow /x", "-/x"},
		{"misspelt", "Useragent: *\nDissallow: /x\nDisalow: /y", "-/x -/y"},
		{"one bad line", "what is this\nUser-agent: *\n<<<>>>\nDisallow: /x", "-/x"},
		{"no slash", "User-agent: *\nDisallow: x", "+/x"},

		// Percent-encoding, both ways (RFC 9309, section 2.2.2).
		{"encoded rule", "User-agent: *\nDisallow: /%C3%BC", "-/ü -/%C3%BC -/%c3%bc"},
		{"lower-case rule", "User-agent: *\nDisallow: /%c3%bc", "-/ü -/%C3%BC -/%c3%bc"},
		{"plain rule", "User-agent: *\nDisallow: /ü", "-/ü -/%C3%BC -/%c3%bc +/u"},
		{"unreserved encoded in rule", "User-agent: *\nDisallow: /%7Euser/%62", "-/~user/b -/%7euser/b"},
		{"unreserved encoded in URL", "User-agent: *\nDisallow: /~user/b", "-/%7Euser/%62"},
		{"reserved encoded differs", "User-agent: *\nDisallow: /a%2Fb", "-/a%2fb +/a/b"},
		{"space", "User-agent: *\nDisallow: /a b", "-/a%20b +/a"},
		{"encoded star is a star", "User-agent: *\nDisallow: /a%2Ab", "-/a*b +/axb"},
		{"encoded dollar is a dollar", "User-agent: *\nDisallow: /a%24", "-/a$ -/a$b +/a"},
		{"bar and braces", "User-agent: *\nDisallow: /{a|b}", "-/{a|b} -/%7Ba%7Cb%7D"},
		{"lone percent", "User-agent: *\nDisallow: /100%", "-/100% -/100%25"},

		// Hostile files.
		{"BOM", "\xef\xbb\xbfUser-agent: *\nDisallow: /x", "-/x"},
		{"UTF-16 LE", inUTF16("\ufeffUser-agent: *\r\nDisallow: /ü", false), "-/ü +/x"},
		{"UTF-16 BE", inUTF16("\ufeffUser-agent: *\r\nDisallow: /x", true), "-/x +/y"},
		{"UTF-16 without BOM", inUTF16("User-agent: *\nDisallow: /x", false), "-/x +/y"},
		{"CR only", "User-agent: *\rDisallow: /x\rDisallow: /y", "-/x -/y +/z"},
		{"CRLF", "User-agent: *\r\nDisallow: /x\r\n", "-/x +/z"},
		{"HTML", "<!DOCTYPE html><html><title>Not: found</title><a href=x>Disallow: /</a>", "+/x"},
		{"NULs", "User-agent: *\nDisallow: /x\x00y\n\x00\x00\nDisallow: /z", "-/z +/x"},
		{"long s is no s", "U\u017fer-agent: *\nDisallow: /x", "+/x"},
		{"dotted I", "User-agent: İ\nUser-agent: *\nDisallow: /x", "-/x"},
		{"460 KB before ours", strings.Repeat("User-agent: b\nDisallow: /filler/filler\n", 12_000) + "User-agent: *\nDisallow: /x", "-/x"},
		{"more than is read", strings.Repeat("# comment\n", 52_000) + "User-agent: *\nDisallow: /x", "+/x"},
	} {
		r := parse([]byte(c.body), agent, robotsURL, time.Minute)
		for _, p := range strings.Fields(c.paths) {
			if u := mustParse("http://a.example" + p[1:]); r.allows(u) != (p[0] == '+') {
				t.Errorf("%s: %s is allowed: %v", c.name, u, r.allows(u))
			}
		}
	}
}

func inUTF16(s string, big bool) string {
	var b strings.Builder
	for _, r := range s {
		if big {
			b.WriteByte(byte(r >> 8))
		}
		b.WriteByte(byte(r))
		if !big {
			b.WriteByte(byte(r >> 8))
		}
	}
	return b.String()
}

func TestCrawlDelay(t *testing.T) {
	for _, c := range []struct {
		body string
		want time.Duration
	}{
		{"User-agent: *\nCrawl-delay: 10", 10 * time.Second},
		{"User-agent: *\nCrawl-delay: 0.5", 500 * time.Millisecond},
		{"User-agent: *\nCrawl-delay: 2,5", 2500 * time.Millisecond},
		{"User-agent: *\nCrawl-delay: 12;", 12 * time.Second},
		{"User-agent: *\nCrawl-delay: 8sec", 8 * time.Second},
		{"User-agent: *\ncrawl-DELAY: 5s # seconds", 5 * time.Second},
		{"User-agent: *\nCrawl-delay: 5 seconds", 5 * time.Second},
		{"User-agent: *\nCrawl-delay: 0", 0},
		{"User-agent: *\nCrawl-delay: 61", time.Minute},
		{"User-agent: *\nCrawl-delay: 1e9", time.Minute},
		{"User-agent: *\nCrawl-delay: 9999999999999999999999", time.Minute},
		{"User-agent: *\nCrawl-delay: 1e999", time.Minute},
		{"User-agent: *\nCrawl-delay: Inf", time.Minute},
		{"User-agent: *\nCrawl-delay: -5", 0},
		{"User-agent: *\nCrawl-delay: -1e999", 0},
		{"User-agent: *\nCrawl-delay: NaN", 0},
		{"User-agent: *\nCrawl-delay: soon", 0},
		{"User-agent: *\nCrawl-delay: 10\nUser-agent: gazehound\nCrawl-delay: 3", 3 * time.Second},
		{"User-agent: gazehound\nCrawl-delay: 3\nUser-agent: b\nCrawl-delay: 10", 3 * time.Second},
		{"User-agent: b\nCrawl-delay: 10\nUser-agent: *\nDisallow: /x", 0},
		{"User-agent: b\nUser-agent: *\nDisallow: /x\nCrawl-delay: 7", 7 * time.Second},
		{"User-agent: *\nCrawl-delay: 10\nUser-agent: gazehound\nDisallow: /x", 0},
		{"User-agent: *\nCrawl-delay: 2\nCrawl-delay: 4\nCrawl-delay: 1", 4 * time.Second},
		{"Crawl-delay: 10\nUser-agent: *\nDisallow: /x", 0},
	} {
		r := parse([]byte(c.body), agent, robotsURL, time.Minute)
		if r.Delay != c.want {
			t.Errorf("%q: delay %v; want %v", c.body, r.Delay, c.want)
		}
	}
}

func TestSitemaps(t *testing.T) {
	body := "Sitemap: http://a.example/s.xml\nUser-agent: b\nDisallow: /\nsitemap: /t.xml\nSitemap: HTTP://A.example/s.xml\n" +
		"Sitemap: javascript:x\nSitemap: http://other.example/u.xml.gz\nSitemap: http://[\n"
	r := parse([]byte(body), agent, robotsURL, time.Minute)
	if got, want := fmt.Sprint(r.Sitemaps), "[http://a.example/s.xml http://a.example/t.xml http://other.example/u.xml.gz]"; got != want {
		t.Errorf("sitemaps %v; want %v", got, want)
	}
	var many strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&many, "Sitemap: /s%d.xml\n", i)
	}
	if r := parse([]byte(many.String()), agent, robotsURL, time.Minute); len(r.Sitemaps) != maxSitemaps {
		t.Errorf("%d sitemaps; want %d", len(r.Sitemaps), maxSitemaps)
	}
}

// TestBlowUp gives the matcher what makes regular expressions explode.
func TestBlowUp(t *testing.T) {
	u := mustParse("http://a.example/" + strings.Repeat("a", weburl.MaxLength-30))
	for name, line := range map[string]string{
		"stars":        "Disallow: /" + strings.Repeat("*a", 2000) + "b$\n",
		"many short":   "Disallow: /*a*a*a*a*a*a*b$\n",
		"half a match": "Disallow: /*" + strings.Repeat("a", 1000) + "b\n",
		"only stars":   "Disallow: /" + strings.Repeat("*", 4000) + "b$\n",
	} {
		body := "User-agent: *\n" + strings.Repeat(line, MaxSize/len(line))
		start := time.Now()
		r := parse([]byte(body), agent, robotsURL, time.Minute)
		parsed := time.Now()
		ok := r.allows(u)
		if took := time.Since(parsed); !ok || took > 500*time.Millisecond {
			t.Errorf("%s: allowed %v after %v (parsed in %v)", name, ok, took, parsed.Sub(start))
		}
	}
}

// oracle is grobotstxt itself on the whole file, told only to compare paths
// and patterns in normal form.
type oracle struct{ path string }

func (o oracle) MatchAllow(_, pattern string) int    { return o.match(pattern) }
func (o oracle) MatchDisallow(_, pattern string) int { return o.match(pattern) }

func (o oracle) match(pattern string) int {
	pattern = normal(pattern, true)
	if !grobotstxt.Matches(o.path, pattern) {
		return -1
	}
	return len(pattern)
}

// agrees checks the law of this package: the lines that were kept decide as
// the whole file does.
func agrees(t rapid.TB, body string, u weburl.URL) {
	t.Helper()
	if u.Path() == "/robots.txt" || len(body) > MaxSize {
		return
	}
	m := grobotstxt.NewRobotsMatcher()
	m.MatchStrategy = oracle{normalPath(u)}
	want := m.AgentAllowed(text([]byte(body)), agent, "http://a.example/")
	if got := parse([]byte(body), agent, robotsURL, time.Minute).allows(u); got != want {
		t.Fatalf("robots.txt %q: %s is allowed: %v; by grobotstxt: %v", body, u, got, want)
	}
}

func TestEquivalence(t *testing.T) {
	line := rapid.SampledFrom([]string{
		"User-agent: *", "User-agent: gazehound", "user-agent: GAZEHOUND/2", "User-agent: other", "User-agent: gaze",
		"Allow:", "Disallow:", "Crawl-delay: 3", "Sitemap: http://a.example/s", "", "# note", "nonsense", "User-agent:",
	})
	pattern := rapid.StringMatching(`(Allow|Disallow|disalow): /[ab*$/?]{0,6}(/index\.html)?\$?`)
	path := rapid.StringMatching(`/[ab/]{0,6}(\?[ab]{0,3})?`)
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.OneOf(line, pattern), 0, 20).Draw(t, "lines")
		end := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "end")
		u := mustParse("http://a.example" + path.Draw(t, "path"))
		agrees(t, strings.Join(lines, end), u)
	})
}

func FuzzParse(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /*a$\nAllow: /b/index.html", "/b/")
	f.Add("\xef\xbb\xbfUser-agent: gazehound\rCrawl-delay: -1\rDisallow: /%c3%bc?x", "/ü?x")
	f.Add("\xff\xfeU\x00", "/")
	f.Add("User-agent: a\nUser-agent: *\nDisallow /x\nDissallow: $\nAllow: *$", "/x$*")
	f.Fuzz(func(t *testing.T, body, path string) {
		u, err := weburl.Parse("http://a.example/" + path)
		if err != nil {
			return
		}
		agrees(t, body, u)
		r := parse([]byte(body), agent, robotsURL, time.Minute)
		if r.Delay < 0 || r.Delay > time.Minute || len(r.Sitemaps) > maxSitemaps || r.size() > int64(256+80*len(body)) {
			t.Errorf("robots.txt %q: %v", body, r)
		}
	})
}

func FuzzMatches(f *testing.F) {
	f.Add("/a*b$", "/axb")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		if got, want := Matches(pattern, path), grobotstxt.Matches(path, pattern); got != want {
			t.Errorf("Matches(%q, %q) = %v; grobotstxt says %v", pattern, path, got, want)
		}
		if n := normal(pattern, true); normal(n, true) != n {
			t.Errorf("normal form of %q is %q, and of that %q", pattern, n, normal(n, true))
		}
	})
}

// largeFile has n rules for us and as many for others.
func largeFile(n int) string {
	var b strings.Builder
	for _, name := range []string{"other", "*"} {
		fmt.Fprintf(&b, "User-agent: %s\n", name)
		random := rand.New(rand.NewPCG(1, 2))
		for i := range n {
			fmt.Fprintf(&b, "Disallow: /section-%d/page-%d.html\n", i, random.IntN(1000))
		}
	}
	return b.String()
}

func BenchmarkCheck(b *testing.B) {
	u := mustParse("http://a.example/section-2999/some/page.html?x=1")
	for _, n := range []int{10, 3000} {
		body := largeFile(n)
		b.Run(fmt.Sprintf("rules=%d/kept", n), func(b *testing.B) {
			r := parse([]byte(body), agent, robotsURL, time.Minute)
			for b.Loop() {
				r.allows(u)
			}
		})
		b.Run(fmt.Sprintf("rules=%d/grobotstxt", n), func(b *testing.B) {
			for b.Loop() {
				grobotstxt.AgentAllowed(body, agent, u.String())
			}
		})
		b.Run(fmt.Sprintf("rules=%d/parse", n), func(b *testing.B) {
			for b.Loop() {
				parse([]byte(body), agent, robotsURL, time.Minute)
			}
		})
	}
}

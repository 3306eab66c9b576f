package weburl

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{"HTTP://Oldenburg.Example:80/a/../b?q=1#x", "http://oldenburg.example/b?q=1"},
		{"https://a.example", "https://a.example/"},
		{"https://a.example:443/", "https://a.example/"},
		{"https://a.example:8443/", "https://a.example:8443/"},
		{"http://a.example./x", "http://a.example/x"},
		{"http://a.example/?", "http://a.example/"},
		{"http://a.example/%7euser/%c3%bc", "http://a.example/~user/%C3%BC"},
		{"http://a.example/ü?q=ä", "http://a.example/%C3%BC?q=%C3%A4"},
		{"http://müller.example/", "http://xn--mller-kva.example/"},
		{`http:\\a.example\b`, "http://a.example/b"},
		{"http://0x7f.1/", "http://127.0.0.1/"},
		{"http://a.example/x;jsessionid=ABC?y=1", "http://a.example/x?y=1"},
		{"http://a.example/x;jsessionid=ABC/z", "http://a.example/x/z"},
		{"http://a.example/?utm_source=n&id=7&fbclid=9", "http://a.example/?id=7"},
		{"http://a.example/a%2Fb", "http://a.example/a%2Fb"},
		{"http://a.example/100%", "http://a.example/100%25"},
	} {
		u, err := Parse(c.raw)
		if err != nil || u.String() != c.want {
			t.Errorf("Parse(%q) = %q, %v; want %q", c.raw, u, err, c.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		raw  string
		want error
	}{
		{"mailto:a@b.example", ErrScheme},
		{"javascript:alert(1)", ErrScheme},
		{"ftp://a.example/", ErrScheme},
		{"http://user:pw@a.example/", ErrUserinfo},
		{"http://a.example/" + strings.Repeat("x", MaxLength), ErrTooLong},
		{"http://a.example/" + strings.Repeat("ü", MaxLength/4), ErrTooLong},
		{"oldenburg.example/x", nil},
		{"", nil},
		{"http://a b.example/", nil},
		{"http://a..example/", ErrHost},
	} {
		u, err := Parse(c.raw)
		if err == nil {
			t.Errorf("Parse(%.40q) = %q; want an error", c.raw, u)
		}
		if c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("Parse(%.40q): error %v; want %v", c.raw, err, c.want)
		}
	}
}

func TestParts(t *testing.T) {
	u, err := Parse("https://www.amt.oldenburg.co.uk:8443/a/b?c=d")
	if err != nil {
		t.Fatal(err)
	}
	got := []string{u.Scheme(), u.Host(), u.Hostname(), u.Site(), u.Path(), u.Query(),
		u.RequestURI()}
	want := []string{"https", "www.amt.oldenburg.co.uk:8443", "www.amt.oldenburg.co.uk", "oldenburg.co.uk", "/a/b", "c=d",
		"/a/b?c=d"}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("part %d = %q; want %q", i, got[i], want[i])
		}
	}
	for raw, site := range map[string]string{"http://127.0.0.1:80/": "127.0.0.1", "http://[::1]:8080/": "[::1]", "http://localhost/": "localhost"} {
		if v, err := Parse(raw); err != nil || v.Site() != site {
			t.Errorf("site of %q = %q, %v; want %q", raw, v.Site(), err, site)
		}
	}
}

func TestResolve(t *testing.T) {
	base, _ := Parse("http://a.example/x/y?z=1")
	for ref, want := range map[string]string{
		"../k":           "http://a.example/k",
		"?q=2":           "http://a.example/x/y?q=2",
		"//b.example/":   "http://b.example/",
		"#top":           "http://a.example/x/y?z=1",
		"":               "http://a.example/x/y?z=1",
		"https://c.test": "https://c.test/",
	} {
		if got, err := base.Resolve(ref); err != nil || got.String() != want {
			t.Errorf("Resolve(%q) = %q, %v; want %q", ref, got, err, want)
		}
	}
}

// Canonical forms must not depend on how often one asks for them.
func TestParseTwice(t *testing.T) {
	for raw, want := range map[string]string{
		"http://a.example/?%%34%31":                        "http://a.example/?%2541",
		"http://a.example/?ut%6D_source=1&x=2":             "http://a.example/?x=2",
		"http://a.example/x;jsession%69d=1":                "http://a.example/x",
		"http://a.example/x/.;jsessionid=1./y":             "http://a.example/x/y",
		"http://a.example/x/%2E;jsessionid=1/y":            "http://a.example/x/y",
		"http://a.example/x;JSessionID=1;y;jsessionid=2/z": "http://a.example/x;y/z",
		"http://a.example/x;jsessionid/y;a=1;":             "http://a.example/x;jsessionid/y;a=1;",
		"http://a.example/%2e%2e/x":                        "http://a.example/x",
		"http://a.example/%00":                             "http://a.example/%00",
		"http://a.example//b//c/../d":                      "http://a.example//b//d",
		"http://a.example/??":                              "http://a.example/??",
		"http://a.example/a'b?c'd":                         "http://a.example/a'b?c%27d",
	} {
		u, err := Parse(raw)
		if err != nil || u.String() != want {
			t.Errorf("Parse(%q) = %q, %v; want %q", raw, u, err, want)
		}
		if again, err := Parse(u.String()); err != nil || again != u {
			t.Errorf("Parse(%q) = %q, but Parse of that = %q, %v", raw, u, again, err)
		}
	}
}

// An error never repeats long or raw foreign text: it goes into logs.
func TestErrorsAreShort(t *testing.T) {
	for _, raw := range []string{
		"http://a b\n.example/", "http://\x1b[31m.example/", "gopher://" + strings.Repeat("x", 1000), "http://[::1", "http://a:99999/",
		"http://" + strings.Repeat("ü", 900), strings.Repeat("\n", 3000), "http://" + strings.Repeat("%zz", 50),
	} {
		u, err := Parse(raw)
		if err == nil {
			t.Errorf("Parse(%q) = %q; want an error", raw, u)
			continue
		}
		if s := err.Error(); len(s) > 700 || strings.ContainsAny(s, "\n\x1b") {
			t.Errorf("Parse(%.40q): error %q", raw, s)
		}
	}
}

// No URL of the allowed length may cost much: a page has thousands of links.
// Memory is the measure, because it does not depend on what else the machine
// does; names and passwords used to take 24 ms and 20 MB.
func TestParseIsFast(t *testing.T) {
	base, err := Parse("http://a.example/x/y")
	if err != nil {
		t.Fatal(err)
	}
	for name, ref := range map[string]string{
		"segments":    "http://a.example/" + strings.Repeat("a/", 1000),
		"dots":        strings.Repeat("../", 660) + "%",
		"percents":    "/" + strings.Repeat("%", 600),
		"labels":      "http://" + strings.Repeat("a.", 1000) + "example/",
		"umlauts":     "http://" + strings.Repeat("ü", 900) + ".example/",
		"at signs":    "http://" + strings.Repeat("@", 1900) + "a.example/",
		"passwords":   "//" + strings.Repeat("a:@", 600) + "a.example/",
		"punycode":    "http://xn--" + strings.Repeat("a", 1900) + ".example/",
		"sessions":    "http://a.example/" + strings.Repeat(";jsessionid=1/", 140),
		"ampersands":  "?" + strings.Repeat("&", 2000),
		"slashes":     "http:" + strings.Repeat("/", 2000) + "a",
		"zeros":       "http://a:" + strings.Repeat("0", 2000) + "1/",
		"accents":     "http://a" + strings.Repeat("\u0300", 900) + ".example/",
		"white space": strings.Repeat("\t ", 1000),
		"scheme":      strings.Repeat("a", 2000),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		for range 10 {
			base.Resolve(ref)
		}
		took := time.Since(start) / 10
		runtime.ReadMemStats(&after)
		allocated := (after.TotalAlloc - before.TotalAlloc) / 10
		t.Logf("%s: %v, %d KB", name, took, allocated>>10)
		if allocated > 1<<20 || took > time.Second {
			t.Errorf("%s: %v, %d bytes allocated", name, took, allocated)
		}
	}
}

// "0 execs/s" for seconds is the engine shrinking an input, not Parse: see
// -fuzzminimizetime.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"HTTP://Oldenburg.example:80/a/../b?q=1#x", "http://a.example/%%2", "http://[::1]:99/%zz?%", "https://ä.example/;jsessionid=1;jsessionid=2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := Parse(raw)
		if err != nil {
			return
		}
		if again, err := Parse(u.String()); err != nil || again != u {
			t.Errorf("Parse(%q) = %q, but Parse of that = %q, %v", raw, u, again, err)
		}
		if u.Scheme()+"://"+u.Host()+u.Path() != strings.SplitN(u.String(), "?", 2)[0] {
			t.Errorf("parts of %q do not add up", u)
		}
	})
}

// Three ways to one result: the short cut, the whole parser, and the parser's
// own idea of what a reference means.
func FuzzResolve(f *testing.F) {
	for _, seed := range []string{"../k", "?q=2", "//b.example/", "#top", "", "https://c.test", "http:x", "http:/x", "http:\\\\x/y", "/a/./b/../c",
		" /x\ty", ".", "..", "./", "a/..", "x?a=../b", "\\x", "http://a.b.c-d.example/x;y?z=%41", "http://1.2/", "http://a.0x1/"} {
		f.Add("http://a.example/x/y/?z=1", seed)
	}
	f.Fuzz(func(t *testing.T, rawBase, ref string) {
		base, err := Parse(rawBase)
		if err != nil {
			return
		}
		text, err := absolute(base, ref)
		if err != nil {
			return
		}
		scheme, host, path, query, ok := plain(text)
		scheme2, host2, path2, query2, err := standard(text)
		if ok && (err != nil || scheme != scheme2 || host != host2 || path != path2 || query != query2) {
			t.Errorf("plain(%q) = %q, %q, %q, %q; standard: %q, %q, %q, %q, %v", text, scheme, host, path, query, scheme2, host2, path2, query2, err)
		}
		if strings.Contains(ref, "@") { // refused before the parser sees it
			return
		}
		theirs, err2 := parser.ParseRef(base.String(), ref)
		if err2 == nil && err == nil && (theirs.Pathname() != path2 || theirs.Query() != query2 || theirs.Scheme() != scheme2) {
			t.Errorf("%q on %q = %q, %q, %q; the standard says %q", ref, base, scheme2, path2, query2, theirs)
		}
		if (err2 == nil) != (err == nil) && !errors.Is(err, ErrHost) {
			t.Errorf("%q on %q: %v; the standard says %v", ref, base, err, err2)
		}
	})
}

func BenchmarkResolve(b *testing.B) {
	base, err := Parse("https://www.oldenburg.example/rathaus/amt/index.html")
	if err != nil {
		b.Fatal(err)
	}
	for name, ref := range map[string]string{
		"plain":   "../kontakt/impressum.html?id=1",
		"escaped": "../kontakt/b%C3%BCrger.html?id=1",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := base.Resolve(ref); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("whatwg", func(b *testing.B) {
		for b.Loop() {
			if _, err := parser.ParseRef(base.String(), "../kontakt/impressum.html?id=1"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestIdentity(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"http://a.example/x/index.html", "https://a.example/x/", true},
		{"http://a.example/INDEX.PHP", "http://a.example/", true},
		{"http://a.example/index.php?id=1", "http://a.example/?id=1", false},
		{"http://a.example/x", "http://a.example/x/", false},
		{"http://a.example/x", "http://b.example/x", false},
		{"http://a.example:8080/", "http://a.example/", false},
		{"http://a.example/myindex.html", "http://a.example/", false},
	} {
		a, errA := Parse(c.a)
		b, errB := Parse(c.b)
		if errA != nil || errB != nil || (a.Identity() == b.Identity()) != c.same {
			t.Errorf("identities %q and %q: same = %v; want %v", a.Identity(), b.Identity(), !c.same, c.same)
		}
	}
}

func TestPlain(t *testing.T) {
	for raw, want := range map[string]string{
		"https://a.example/x?y=1":  "http://a.example/x?y=1",
		"http://a.example/x":       "http://a.example/x",
		"https://a.example:8443/x": "https://a.example:8443/x",
		"https://[::1]/":           "http://[::1]/",
	} {
		u, err := Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := Parse(want)
		if err != nil || u.Plain() != parsed {
			t.Errorf("Plain of %q = %q; want %q", raw, u.Plain(), want)
		}
	}
}

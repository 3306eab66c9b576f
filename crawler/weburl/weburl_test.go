package weburl

import (
	"errors"
	"strings"
	"testing"
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
	got := []string{u.Scheme(), u.Host(), u.Hostname(), u.Site(), u.Path(), u.Query()}
	want := []string{"https", "www.amt.oldenburg.co.uk:8443", "www.amt.oldenburg.co.uk", "oldenburg.co.uk", "/a/b", "c=d"}
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

package partition

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gazehound/crawler/page"
)

const maxmindFiles = "../../../../shared/data/gazetteer/maxmind-test"

func TestMaxMind(t *testing.T) {
	if _, err := os.Stat(maxmindFiles); err != nil {
		t.Skipf("no MaxMind test files: %v", err)
	}
	m, err := OpenMaxMind(filepath.Join(maxmindFiles, "GeoLite2-City-Test.mmdb"))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for addr, want := range map[string]string{
		"2.125.160.217":        "Boxford, ENG",
		"81.2.69.142":          "London, ENG",
		"89.160.20.113":        "Linköping, E",
		"::ffff:81.2.69.142":   "London, ENG",
		"127.0.0.1":            "",
		"2001:db8::1":          "",
		"255.255.255.255":      "",
		"::ffff:255.255.255.0": "",
	} {
		city, state, ok := m.Locate(netip.MustParseAddr(addr))
		if got := strings.TrimPrefix(city+", "+state, ", "); got != want || ok != (want != "") {
			t.Errorf("%s lies in %q, want %q", addr, got, want)
		}
	}
	if _, _, ok := m.Locate(netip.Addr{}); ok {
		t.Error("no address lies somewhere")
	}

	// A link goes to the node of the city where its server stands.
	o := DefaultOptions()
	o.Method, o.Locate = IPAddress, m.Locate
	o.Resolve = func(host string) (netip.Addr, bool) {
		a, err := netip.ParseAddr(map[string]string{"london.example": "81.2.69.160", "boxford.example": "2.125.160.216", "lost.example": "127.0.0.1"}[host])
		return a, err == nil
	}
	p, err := New([]Node{{Name: "england", Cities: []City{{Name: "London", State: "ENG"}}}, {Name: "general"}}, o)
	if err != nil {
		t.Fatal(err)
	}
	for raw, want := range map[string]string{"http://london.example/": "england", "http://boxford.example/": "general", "http://lost.example/": "general", "http://none.example/": "general"} {
		if got := p.Nodes()[p.Owner(parse(t, raw))].Name; got != want {
			t.Errorf("%s goes to %s, want %s", raw, got, want)
		}
	}
}

func TestMaxMindBadFiles(t *testing.T) {
	if _, err := OpenMaxMind(filepath.Join(t.TempDir(), "none.mmdb")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	text := filepath.Join(t.TempDir(), "text.mmdb")
	for _, content := range []string{"", "no database", strings.Repeat("x", 1<<16), "\xab\xcd\xefMaxMind.com"} {
		if err := os.WriteFile(text, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenMaxMind(text); err == nil || !strings.Contains(err.Error(), "not a MaxMind DB file") {
			t.Errorf("%.20q: %v", content, err)
		}
	}
	if _, err := os.Stat(maxmindFiles); err != nil {
		t.Skipf("no MaxMind test files: %v", err)
	}
	_, err := OpenMaxMind(filepath.Join(maxmindFiles, "GeoLite2-Country-Test.mmdb"))
	if !errors.Is(err, ErrNoCities) || !strings.Contains(err.Error(), "GeoLite2-City") {
		t.Errorf("a file of countries: %v", err)
	}
	// Cut anywhere, it is refused or answers, and never panics.
	whole, err := os.ReadFile(filepath.Join(maxmindFiles, "GeoLite2-City-Test.mmdb"))
	if err != nil {
		t.Fatal(err)
	}
	for cut := len(whole) - 1; cut > 0; cut -= 997 {
		if err := os.WriteFile(text, whole[len(whole)-cut:], 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := OpenMaxMind(text)
		if err != nil {
			continue
		}
		m.Locate(netip.MustParseAddr("81.2.69.142"))
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestLowest(t *testing.T) {
	a, b, c := netip.MustParseAddr("192.0.2.9"), netip.MustParseAddr("192.0.2.10"), netip.MustParseAddr("2001:db8::1")
	for _, addrs := range [][]netip.Addr{{a, b, c}, {c, b, a}, {b, a}} {
		if got, ok := Lowest(addrs); !ok || got != a {
			t.Errorf("of %v: %v", addrs, got)
		}
	}
	if _, ok := Lowest(nil); ok {
		t.Error("of none")
	}
}

// A page's place follows from what its method reads.
func TestPlace(t *testing.T) {
	of := &page.Page{URL: parse(t, "http://www.losangeles.example/"), Text: "Glendale, AZ and Glendale, AZ"}
	if got := build(t, method(URLBased)).Place(of); got != "Los Angeles, CA" {
		t.Errorf("by its URL: %q", got)
	}
	if got := build(t, method(FullContent)).Place(of); got != "Glendale, AZ" {
		t.Errorf("by its text: %q", got)
	}
	if got := build(t, method(FullContent)).Place(&page.Page{}); got != "" {
		t.Errorf("of an empty page: %q", got)
	}
}

package forget

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"gazehound/crawler/warc"
	"gazehound/gazetteer"
	"gazehound/geoparse"
	"gazehound/index"
	"gazehound/index/api"
)

// The crawl tree loses what is forgotten under the key that it has there, in
// every unit, and in the spelling of trees that were written before.
func TestStated(t *testing.T) {
	house := gazetteer.Place{ID: "node/12", Kind: gazetteer.House, Street: "Nadorster Straße", HouseNumber: "12", Postcode: "26123", City: "Oldenburg", Country: "DE"}
	for _, c := range []struct {
		a   geoparse.Address
		old []string
	}{
		{geoparse.Address{Country: "DE", Street: "Nadorster Strase", HouseNumber: "12", Postcode: "26123", City: "Oldenburg-Nord", Place: house}, []string{"DE|26123|oldenburgnord|nadorsterstr|12"}},
		{geoparse.Address{Country: "DE", Street: "Nadorster Str.", HouseNumber: "12", City: "Oldenburg", Place: house}, []string{"DE||oldenburg|nadorsterstr|12"}},
		{geoparse.Address{Country: "US", State: "CA", Street: "Main Street", HouseNumber: "5", Unit: "Suite 200", Postcode: "92612-1234", City: "Irvine"}, []string{"US|92612-1234|irvine|mainst|5", "US|92612|irvine|mainst|5#300", "US-CA||irvine|mainst|5"}},
		{geoparse.Address{Country: "NL", Street: "Damrak", HouseNumber: "1", Postcode: "1012 LG", City: "Amsterdam"}, []string{"NL|1012 LG|amsterdam|damrak|1"}},
	} {
		var lines []string
		for _, place := range index.Places(c.a) {
			lines = append(lines, "address "+place)
		}
		list, err := NewBlocklist(lines...)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range append(c.old, c.a.Key()) {
			if !list.hasKey(key) {
				t.Errorf("%s stays when %+v is forgotten", key, c.a)
			}
		}
		for _, other := range []string{"", "DE|26123|oldenburg|nadorsterstr|12a", "DE|26123|oldenburg||", "US|92612|irvine|mainst|51", "NL|1012LG|amsterdam|damrak|2"} {
			if list.hasKey(other) {
				t.Errorf("%s goes when %+v is forgotten", other, c.a)
			}
		}
	}
}

func TestIsSuffix(t *testing.T) {
	for host, want := range map[string]bool{
		"http://de/": true, "http://co.uk/": true, "http://www.de/": true, "http://example/": true, "http://github.io/": true,
		"http://example.de/": false, "http://www.example.co.uk/": false, "http://me.github.io/": false, "http://192.0.2.1/": false,
		"http://localhost:8080/": false, "http://[2001:db8::1]/": false, "http://de/page": false,
	} {
		var r Removal
		if !r.Aim(host) {
			t.Errorf("%s is not understood", host)
		}
		if got := r.IsSuffix(); got != want {
			t.Errorf("%s → %s %s: above registrable domains %v, want %v", host, r.Kind, r.What, got, want)
		}
	}
}

// Removal requests are for their owner, and take no more room than they have.
func TestRequestsAreKept(t *testing.T) {
	d := Dir(t.TempDir())
	keep := d.Keeper()
	text := strings.Repeat("<&>", 1000)
	if n, err := keep(api.Removal{What: "http://a.example/", Reason: text}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	info, err := os.Stat(d.requests())
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() > 3300 {
		t.Errorf("%v, %d bytes, %v", info.Mode(), info.Size(), err)
	}
	if r, err := d.Request(1); err != nil || r.Reason != text {
		t.Errorf("%+v, %v", r, err)
	}
}

// What was forgotten stays blocked without blocked.txt; a line that is commented out does not.
func TestBlockedWithoutFile(t *testing.T) {
	d := Dir(t.TempDir())
	var gone, kept Removal
	if !gone.Aim("gone.example") || !kept.Aim("http://kept.example/page") {
		t.Fatal("not understood")
	}
	for _, r := range []*Removal{&gone, &kept} {
		if err := d.Remove(t.Context(), r, &Stores{Model: filepath.Join(string(d), "model.gob")}); err != nil {
			t.Fatal(err)
		}
	}
	blocked := func() (host, page bool) {
		list, err := d.Blocklist()
		if err != nil {
			t.Fatal(err)
		}
		return list.HasPage("http://www.gone.example/x"), list.HasPage("http://kept.example/page")
	}
	for _, c := range []struct {
		text       string
		host, page bool
		doubts     int
	}{
		{"host gone.example\nurl http://kept.example/page\n", true, true, 0},
		{"host gone.example\n", true, true, 1},
		{"", true, true, 1},
		{"# host gone.example\nurl http://kept.example/page\n", false, true, 0},
		{"#host gone.example\n#  url http://kept.example/page\n", false, false, 0},
	} {
		if err := os.WriteFile(d.blocked(), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if host, page := blocked(); host != c.host || page != c.page {
			t.Errorf("%q blocks host %v, page %v; want %v, %v", c.text, host, page, c.host, c.page)
		}
		doubts := 0
		for _, f := range d.Check() {
			if strings.Contains(f.What, "blocked all the same") {
				doubts++
			}
		}
		if doubts != c.doubts {
			t.Errorf("%q: %d doubts, want %d", c.text, doubts, c.doubts)
		}
	}
	if err := os.Remove(d.blocked()); err != nil {
		t.Fatal(err)
	}
	if host, page := blocked(); !host || !page {
		t.Error("without the file nothing is blocked")
	}
}

// A removal that could not search an archive stays pending, and ends when it can.
func TestIncompleteStaysPending(t *testing.T) {
	d, archive := Dir(t.TempDir()), filepath.Join(t.TempDir(), "warc")
	stores := func() *Stores {
		m, err := warc.ReadManifest(filepath.Join(string(d), "archives.txt"), archive)
		if err != nil {
			t.Fatal(err)
		}
		return &Stores{Archives: m, Model: filepath.Join(string(d), "model.gob")}
	}
	var r Removal
	if !r.Aim("gone.example") {
		t.Fatal("not understood")
	}
	var incomplete *IncompleteError
	err := d.Remove(t.Context(), &r, stores())
	if !errors.As(err, &incomplete) || !strings.Contains(err.Error(), archive) {
		t.Fatalf("error %v", err)
	}
	pending, err := d.Pending()
	if err != nil || pending == nil || pending.Number != r.Number {
		t.Fatalf("pending %+v, %v", pending, err)
	}
	if list, err := d.Blocklist(); err != nil || !list.HasPage("http://gone.example/") {
		t.Errorf("not blocked: %v", err)
	}
	if err := os.Mkdir(archive, 0o755); err != nil {
		t.Fatal(err)
	}
	pending.Resumed = true
	if err := d.Remove(t.Context(), pending, stores()); err != nil {
		t.Fatal(err)
	}
	if pending, err := d.Pending(); pending != nil || err != nil {
		t.Errorf("still pending: %+v, %v", pending, err)
	}
	if n, err := d.next(); n != r.Number+1 || err != nil {
		t.Errorf("next number %d, %v", n, err)
	}
}

// A finder knows what is forgotten in other spellings, and takes nothing else for it.
func TestFinderSpellings(t *testing.T) {
	var host, address Removal
	if !host.Aim("gone.example") {
		t.Fatal("not understood")
	}
	address.aimPlaces("0123456789abcdef", "", "Alte Landstraße 10")
	address.Trace.Texts = append(address.Trace.Texts, "0441 / 998 877 66")
	for _, c := range []struct {
		r     *Removal
		text  string
		names bool
	}{
		{&host, "http://share.example/?u=http%3A%2F%2Fgone.example%2F", true},
		{&host, "http://share.example/?u=http%253A%252F%252Fgone.example%252Fimpressum", true},
		{&host, "http://share.example/?u=http%3a%2f%2fwww.gone.example", true},
		{&host, "see gone%2Eexample", true},
		{&host, "http://share.example/?u=http%3A%2F%2Fwaygone.example%2F", false},
		{&host, "100% gone.example", true},
		{&host, "100% of ungone.example %", false},
		{&address, "Treff: Alte Landstraße Nr. 10 hinten", true},
		{&address, "ALTE LANDSTR. No 10", true},
		{&address, "Alte Landstraße, Hausnummer 10", true},
		{&address, "Alte Landstraße\n10", true},
		{&address, "Alte Landstraße Nr. 101", false},
		{&address, "Alte Landstraße 1 Nr. 10", false},
		{&address, "Alte Landstraße", false},
		{&address, "Tel. 0441–998–877–66", true},
	} {
		f := c.r.newFinder()
		if got := f.in(c.text); got != c.names {
			t.Errorf("%q names %s %s: %v, want %v", c.text, c.r.Kind, c.r.What, got, c.names)
		}
	}
}

// Decoding ends, and never hides what the text says as it stands.
func FuzzFinder(f *testing.F) {
	var host Removal
	if !host.Aim("gone.example") {
		f.Fatal("not understood")
	}
	find := host.newFinder()
	f.Add("%25%32%35gone.example", "%")
	f.Fuzz(func(t *testing.T, before, after string) {
		if text := before + " gone.example " + after; !find.in(text) {
			t.Errorf("%q does not name gone.example", text)
		}
	})
}

// A blocklist knows what it blocks in texts, in other spellings too, and blanks it there and nothing
// else.
func TestBlocklistInTexts(t *testing.T) {
	list, err := NewBlocklist("host gone.example", "host xn--mller-opfer-thb.example", "host port.example:8080",
		"url http://page.example/away?x=1", "text "+textID("0441 / 998 877 66"), "text "+textID("Anna.Braun@mail.example"),
		"text "+textID("Alte Landstraße 10"), "text "+textID("Ahorndamm 5a"))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"see GONE.example or www.gone.example.":             "see              or                 .",
		"write to bake@gone.example now":                    "write to bake@             now",
		"http://gone.example/impressum":                     "http://            /impressum",
		"our neighbour müller-opfer.example, too":           "our neighbour                     , too",
		"not waygone.example, nor gone.example.org":         "",
		"agone.example gone.examples gone-example.com":      "",
		"http://port.example:8080/ but not port.example":    "http://                 / but not port.example",
		"http://page.example/away?x=1 and /away?x=2":        "http://                      and /away?x=2",
		"page.example/away":                                 "",
		"Tel. 0441–998–877–66, or 99887765":                 "Tel.                , or 99887765",
		"+49 441 99887766":                                  "+               ",
		"fax 9988776 and 66":                                "",
		"anna.braun@mail.example, hanna.braun@mail.example": "                       , hanna.braun@mail.example",
		"?u=http%253A%252F%252Fgone.example%252F":           "                                       ",
		"?u=http%3A%2F%2Fwaygone.example":                   "",
	} {
		if got := list.Names(text); got != (want != "") {
			t.Errorf("%q names something: %v", text, got)
		}
		if want == "" {
			want = text
		}
		if got := list.Blank(text); got != want {
			t.Errorf("%q is blanked to\n%q, want\n%q", text, got, want)
		}
	}
	for raw, want := range map[string]bool{
		"http://share.example/?u=http%3A%2F%2Fgone.example%2F": true, "http://x.example/_gone.example/kontakt": true,
		"http://share.example/?u=http%3A%2F%2Fother.example%2F": false, "http://gone.example.org/": false, "http://a.gone.example/": true,
	} {
		if got := list.HasPage(raw); got != want {
			t.Errorf("%s is blocked: %v, want %v", raw, got, want)
		}
	}
	for text, want := range map[string]bool{
		"Meet at ALTE LANDSTR. Nr. 10, behind": true, "Alte Landstraße\n10\nlast": true, "Ahorndamm 5 a": true,
		"Alte Landstraße 101, Neue Alte Landstraße 1": false, "Ahorndamm 5": false, "10 Ahorndamm": false,
	} {
		if got := list.States(text); got != want {
			t.Errorf("%q states a blocked address: %v", text, got)
		}
	}
	none, _ := NewBlocklist()
	if none.Names("gone.example 0441 99887766 a@b.example") {
		t.Error("an empty list names something")
	}
}

// A blanked text has as many characters and names nothing any more.
func FuzzBlank(f *testing.F) {
	list, err := NewBlocklist("host gone.example", "url http://page.example/away", "text "+textID("0441998877"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("gone.example%2egone.example 0441 99 88 77 page.example/away?")
	f.Add("ünïcode.gone.EXAMPLE \xff 04419988770441998877")
	f.Fuzz(func(t *testing.T, text string) {
		blanked := list.Blank(text)
		if list.Names(blanked) || len([]rune(blanked)) != len([]rune(text)) {
			t.Errorf("%q is blanked to %q", text, blanked)
		}
		if !list.Names(text) && blanked != text {
			t.Errorf("%q names nothing and is blanked to %q", text, blanked)
		}
	})
}

// A list of many lines is read in bounded memory, and a line that is not one is named.
func TestLongBlocklist(t *testing.T) {
	lines := 20_000
	if text := os.Getenv("GAZEHOUND_BLOCKED"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		lines = n
	}
	d := Dir(t.TempDir())
	file, err := os.Create(d.blocked())
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(file)
	for i := range lines {
		fmt.Fprintf(w, "host h%d.example\n", i)
	}
	if err := errors.Join(w.Flush(), file.Close()); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	list, err := d.Blocklist()
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	runtime.GC()
	runtime.ReadMemStats(&after)
	t.Logf("%d lines read in %v, %d bytes a line", lines, took.Round(time.Millisecond), (after.HeapAlloc-before.HeapAlloc)/uint64(lines))
	for name, want := range map[string]bool{"http://h0.example/": true, fmt.Sprintf("http://a.h%d.example/", lines-1): true, fmt.Sprintf("http://h%d.example/", lines): false} {
		if list.HasPage(name) != want {
			t.Errorf("%s: blocked %v", name, !want)
		}
	}
	for text, want := range map[string]string{
		"host a.example\nhosts b.example": ":2:", "host http://a.example": ":1:", "\n\nhost " + strings.Repeat("a", maxLine): ":3:",
		"address 12": ":1:", "host /": ":1:", "host": ":1:",
	} {
		if err := os.WriteFile(d.blocked(), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Blocklist(); err == nil || !strings.Contains(err.Error(), "blocked.txt"+want) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// What cannot be a host, a page or an address is refused, and a host of which another one is the end
// or the beginning takes only itself and what is below it.
func TestAim(t *testing.T) {
	for _, text := range []string{"", "/", ".", "//", "http://", "http:///", "?", "#", "*", "..", "de", "a b.example", "x@y.example"} {
		var r Removal
		if r.Aim(text) {
			t.Errorf("%q is taken for %s %q", text, r.Kind, r.What)
		}
	}
	var r Removal
	if !r.Aim("haus.example") {
		t.Fatal("not understood")
	}
	list, err := NewBlocklist(r.lines()...)
	if err != nil {
		t.Fatal(err)
	}
	for raw, want := range map[string]bool{
		"http://haus.example/": true, "http://www.haus.example/": true, "http://blumenhaus.example/": false,
		"http://haus.examples/": false, "http://haus.example.org/": false, "http://blumen-haus.example/": false,
	} {
		if got := list.HasPage(raw); got != want {
			t.Errorf("%s is blocked: %v", raw, got)
		}
		u, _, _ := strings.Cut(strings.TrimPrefix(raw, "http://"), "/")
		if got := r.newFinder().in("see " + u + " there"); got != want {
			t.Errorf("%s is found: %v", u, got)
		}
	}
}

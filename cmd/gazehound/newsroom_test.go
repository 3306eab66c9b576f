package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"gazehound/index"

	"github.com/paulmach/orb"
	"github.com/rogpeppe/go-internal/testscript"
)

// Commands of story B beside those of TestScript:
//
//	serving DATA VAR FLAGS…  runs "gazehound serve"; $VAR is its URL
//	get URL FILE             writes the answer, which must be 200, into FILE
//	quarter DATA VAR         $VAR is a box with about half of the addresses
//	newsroom URL BOX         a widget, a map and a feed ask as they do
func startServing(ts *testscript.TestScript, neg bool, args []string) {
	cmd := exec.Command(os.Args[0], append([]string{"serve", "--json", "--listen", "127.0.0.1:0", "--data", ts.MkAbs(args[0])}, args[2:]...)...)
	cmd.Env = append(os.Environ(), "GAZEHOUND_TEST_MAIN=1", "HOME="+ts.Getenv("HOME"), "XDG_CONFIG_HOME="+ts.Getenv("XDG_CONFIG_HOME"))
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			ts.Logf("serve: %v", err)
		}
	})
	var line struct{ URL string }
	text, err := bufio.NewReader(out).ReadBytes('\n')
	ts.Check(err)
	ts.Check(json.Unmarshal(text, &line))
	ts.Setenv(args[1], line.URL)
}

// ask makes one request, as curl would.
func ask(ts *testscript.TestScript, url string, header ...string) (*http.Response, string) {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	ts.Check(err)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	for { // as a client of a server with a rate limit does
		response, err := client.Do(r)
		ts.Check(err)
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		ts.Check(err)
		if response.StatusCode != http.StatusTooManyRequests {
			return response, string(body)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

func getFile(ts *testscript.TestScript, neg bool, args []string) {
	response, body := ask(ts, args[0])
	if response.StatusCode != http.StatusOK {
		ts.Fatalf("%s: %s: %.300s", args[0], response.Status, body)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(body), 0o644))
}

func chooseQuarter(ts *testscript.TestScript, neg bool, args []string) {
	box := orb.Bound{Min: orb.Point{180, 90}, Max: orb.Point{-180, -90}}
	walkIndex(ts, args[0], func(h *index.Hit) {
		if h.HasPoint {
			box = box.Extend(h.Point)
		}
	})
	middle := box.Center().Lon()
	ts.Setenv(args[1], fmt.Sprintf("%.5f,%.5f,%.5f,%.5f", box.Min.Lon(), box.Min.Lat(), middle, box.Max.Lat()))
}

// badQueries must each be refused with a problem that says why.
var badQueries = []string{
	"limit=0", "limit=501", "limit=ten", "limit=-1", "lat=91&lon=8", "lat=53", "lon=8", "lat=x&lon=8", "bbox=1,2,3", "bbox=53.07,8.10,53.21,8.33,1", "bbox=8,54,9,53", "bbox=a,b,c,d",
	"radius=100", "radius=-1&lat=53&lon=8", "since=gestern", "format=shp", "sort=best", "precision=exact", "cursor=zzz", "near=53,8", "qq=x", "in_osm=maybe", "q=a&q=b", "facets=colour",
}

func askAsNewsroom(ts *testscript.TestScript, neg bool, args []string) {
	base, box := args[0], args[1]
	type answer struct {
		Type           string
		Licence        string
		NumberMatched  int
		NumberReturned int
		Features       []struct {
			Geometry   struct{ Coordinates []float64 }
			Properties map[string]any
		}
	}
	read := func(path string) (a answer, r *http.Response) {
		r, body := ask(ts, base+path)
		if err := json.Unmarshal([]byte(body), &a); err != nil || r.StatusCode != 200 || a.Type != "FeatureCollection" {
			ts.Fatalf("%s: %s, %v: %.300s", path, r.Status, err, body)
		}
		return a, r
	}
	// The widget, on a page of another origin.
	corner := strings.Split(box, ",")
	widget, _ := read("api/?q=" + url.QueryEscape("bäckerei") + "&lat=" + corner[1] + "&lon=" + corner[0] + "&zoom=13&limit=5")
	if len(widget.Features) == 0 || len(widget.Features[0].Geometry.Coordinates) != 2 {
		ts.Fatalf("the widget gets %+v", widget)
	}
	r, _ := ask(ts, base+"api/?q=x", "Origin", "https://zeitung.example")
	if got := r.Header.Get("Access-Control-Allow-Origin"); got != "*" {
		ts.Fatalf("another origin may read %q", got)
	}
	// The map's answer, once and again.
	path := "v1/search?bbox=" + box + "&limit=3"
	found, r := read(path)
	if found.NumberReturned != 3 || found.NumberMatched <= 3 || found.Licence != "ODbL-1.0" {
		ts.Fatalf("%s: %+v", path, found)
	}
	all, _ := read("v1/search?limit=3")
	if all.NumberMatched <= found.NumberMatched {
		ts.Fatalf("%d addresses in the box, %d at all", found.NumberMatched, all.NumberMatched)
	}
	if again, body := ask(ts, base+path, "If-None-Match", r.Header.Get("ETag")); again.StatusCode != http.StatusNotModified || body != "" {
		ts.Fatalf("unchanged, and %s", again.Status)
	}
	// The page: a list without scripts, nothing from elsewhere, a name for each pin.
	r, page := ask(ts, base+"?bbox="+box)
	if list := strings.Count(page, `class="hit"`) + strings.Count(page, "<li id="); r.StatusCode != 200 || list < 3 {
		ts.Fatalf("the page: %s with %d entries", r.Status, list)
	}
	for _, m := range regexp.MustCompile(`(?:src|<link[^>]* href|url\()\s*=?\s*["']?([^"' )>]+)`).FindAllStringSubmatch(page, -1) {
		if u, err := url.Parse(m[1]); err != nil || u.Host != "" || u.Scheme != "" && u.Scheme != "data" {
			ts.Fatalf("the page loads %s", m[1])
		}
	}
	pins := regexp.MustCompile(`<a href="#r\d+"[^>]*>`).FindAllString(page, -1)
	if len(pins) == 0 {
		ts.Fatalf("no pin on the map")
	}
	for _, pin := range pins {
		if !regexp.MustCompile(`aria-label="[^"]+"`).MatchString(pin) {
			ts.Fatalf("a pin without a name: %s", pin)
		}
	}
	// Impossible values are refused with a reason.
	for _, q := range badQueries {
		r, body := ask(ts, base+"v1/search?"+q)
		var problem struct{ Title, Hint, Expected string }
		if err := json.Unmarshal([]byte(body), &problem); r.StatusCode != 400 || err != nil || problem.Title == "" || problem.Hint+problem.Expected == "" ||
			!strings.HasPrefix(r.Header.Get("Content-Type"), "application/problem+json") {
			ts.Fatalf("%s: %s %.300s", q, r.Status, body)
		}
	}
	figure(ts.Logf, "story B: %d results for the widget, %d of %d addresses in the box, page of %d bytes with %d pins, %d bad queries refused",
		len(widget.Features), found.NumberMatched, all.NumberMatched, len(page), len(pins), len(badQueries))
}

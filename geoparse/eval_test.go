package geoparse

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"gazehound/gazetteer"
	"gazehound/gazetteer/geonames"
	"gazehound/geoparse/markup"

	"github.com/paulmach/orb"
	"golang.org/x/net/html/charset"
)

// sharedData returns the folder of the real data beside the checkout, or skips.
func sharedData(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Skip("no go.mod above the test")
		}
		dir = parent
	}
	data := filepath.Join(dir, "..", "shared", "data")
	if _, err := os.Stat(data); err != nil {
		t.Skipf("real data not found: %v", err)
	}
	return data
}

// postcodePlaces reads the GeoNames postal codes of all countries there are,
// with the aliases of the US ZIP codes.
func postcodePlaces(t testing.TB, data string) []gazetteer.Place {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(data, "gazetteer", "geonames-postal", "??.txt"))
	if len(files) == 0 {
		t.Skip("no postal codes")
	}
	aliases := make(map[string][]string)
	f, err := os.Open(filepath.Join(data, "gazetteer", "us-zips", "zips.json.bz2"))
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	var zips []struct {
		Code    string   `json:"zip_code"`
		City    string   `json:"city"`
		Aliases []string `json:"acceptable_cities"`
		State   string   `json:"state"`
		Lat     string   `json:"lat"`
		Long    string   `json:"long"`
	}
	if err := json.NewDecoder(bzip2.NewReader(bufio.NewReader(f))).Decode(&zips); err != nil {
		t.Fatal(err)
	}
	for _, z := range zips {
		aliases[z.Code] = append([]string{z.City}, z.Aliases...)
	}
	var places []gazetteer.Place
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		err = geonames.Postal(nil)(t.Context(), f, func(pl gazetteer.Place) error {
			if pl.Country == "US" {
				for _, name := range aliases[pl.Postcode] {
					if name != pl.Names[0] {
						pl.Names = append(pl.Names, name)
					}
				}
				delete(aliases, pl.Postcode)
			}
			pl.City = pl.Names[0]
			places = append(places, pl)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, z := range zips {
		if names, ok := aliases[z.Code]; ok {
			lat, _ := strconv.ParseFloat(z.Lat, 64)
			lon, _ := strconv.ParseFloat(z.Long, 64)
			places = append(places, gazetteer.Place{Kind: gazetteer.Postcode, Names: names, Postcode: z.Code, City: z.City, State: z.State, Country: "US", Point: orb.Point{lon, lat}, HasPoint: true})
		}
	}
	return places
}

var (
	evalOnce sync.Once
	evalGaz  *gazetteer.Gazetteer
)

// evalGazetteer returns the gazetteer of postal codes alone, built once.
func evalGazetteer(t testing.TB) *gazetteer.Gazetteer {
	t.Helper()
	data := sharedData(t)
	evalOnce.Do(func() { evalGaz = gazetteer.Of(postcodePlaces(t, data)...) })
	return evalGaz
}

// A labelled row of ../shared/data/labelled.
type labelled struct {
	ID, Country, Lang, URL, HTML, Text string
	Positive                           *bool
	Addresses                          []label
	Ignore                             []struct{ Start, End int }
	NFull                              int    `json:"n_full"`
	Quality                            string `json:"quality"`
}

type label struct {
	Text             string
	Start, End       int
	Street           string
	HouseNumber      string `json:"house_number"`
	Unit             string
	POBox            any `json:"po_box"`
	Postcode         string
	City             string
	State            string
	Country          string
	Level            string
	Name, StreetLine string
}

func readLabelled(t testing.TB, path string) []labelled {
	t.Helper()
	f, err := os.Open(filepath.Join(sharedData(t), "labelled", path))
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	var rows []labelled
	r := bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var row labelled
			if err := json.Unmarshal(line, &row); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			rows = append(rows, row)
		}
		if err == io.EOF {
			break
		}
	}
	if len(rows) == 0 {
		t.Fatalf("%s holds no rows", path)
	}
	return rows
}

// readPage reads one gzipped page of ../shared/data/labelled.
func readPage(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join(sharedData(t), "labelled", name))
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	r, err := charset.NewReader(bytes.NewReader(data), "text/html")
	if err != nil || utf8.Valid(data) {
		return data
	}
	data, err = io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// relocate finds the labels in another rendering of the page's text: each
// label takes the first place, not yet taken, where its letters and digits are.
func (row *labelled) relocate(text string) {
	var squeezed []rune
	var at []int
	for i, r := range []rune(text) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			squeezed = append(squeezed, r)
			at = append(at, i)
		}
	}
	whole := string(squeezed)
	taken := make(map[int]bool)
	kept := row.Addresses[:0]
	for _, l := range row.Addresses {
		want := strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return r
			}
			return -1
		}, l.Text)
		for from := 0; want != ""; {
			i := strings.Index(whole[from:], want)
			if i < 0 {
				break
			}
			k := utf8.RuneCountInString(whole[:from+i])
			if !taken[k] {
				taken[k] = true
				l.Start, l.End = at[k], at[k+utf8.RuneCountInString(want)-1]+1
				kept = append(kept, l)
				break
			}
			from += i + len(want)
		}
	}
	row.Addresses = kept
	row.Ignore = nil
	row.Text = text
}

// A tally counts hits.
type tally struct{ found, right, wanted, exact, negatives, negativeHits int }

func (c tally) String() string {
	return fmt.Sprintf("P %.3f (%d/%d)  R %.3f (%d/%d)  street+number exact %.3f  hits on pages without address %d/%d",
		ratio(c.right, c.found), c.right, c.found, ratio(c.right, c.wanted), c.right, c.wanted, ratio(c.exact, c.right), c.negativeHits, c.negatives)
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

func plain(s string) string { return gazetteer.StreetKey(fold(s)) }

// needEval skips the evaluations unless "go test ./geoparse -run Eval -v" asks
// for them. EVAL_ERRORS=1 lists what is wrong, EVAL_HTML=1 reads the pages
// themselves.
func needEval(t *testing.T) {
	t.Helper()
	if run := flag.Lookup("test.run"); run == nil || !strings.Contains(run.Value.String(), "Eval") {
		t.Skip("long: asked for by -run Eval")
	}
}

// pageFloors are precision and recall that the pages of a country must keep.
var pageFloors = map[string][2]float64{
	"de_pages AT": {1, 1}, "de_pages CH": {1, 1}, "de_pages DE": {.97, 1},
	"webstruct US": {.995, .97}, "webstruct GB": {.9, .9}, "webstruct CA": {.95, .95}, "webstruct AU": {.95, .95}, "webstruct FR": {1, 1},
	"pyap US": {.95, .97}, "pyap_embedded US": {.99, .97}, "pyap_embedded CA": {.99, .75}, "pyap_embedded GB": {.99, .5},
}

// TestEval prints precision and recall on the labelled pages. A hit has street
// and number, and postcode or city; it is right if it overlaps a full label and
// agrees with its number.
func TestEval(t *testing.T) {
	needEval(t)
	g := evalGazetteer(t)
	p, err := New(g, nil, Options{EveryMention: true})
	if err != nil {
		t.Fatal(err)
	}
	verbose := os.Getenv("EVAL_ERRORS") != ""
	fromHTML := os.Getenv("EVAL_HTML") != ""
	for _, file := range []string{"detect/de_pages.jsonl", "detect/webstruct.jsonl", "detect/pyap.jsonl", "detect/pyap_embedded.jsonl", "detect/de_impressum_rs.jsonl"} {
		byCountry := make(map[string]*tally)
		for _, row := range readLabelled(t, file) {
			in := Input{Text: row.Text, Lang: row.Lang, Country: row.Country}
			if fromHTML && row.HTML != "" {
				in.Doc = markup.Parse(readPage(t, row.HTML))
				in.Text = markup.Text(in.Doc)
				row.relocate(in.Text)
			}
			v, err := p.Parse(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			c := byCountry[row.Country]
			if c == nil {
				c = new(tally)
				byCountry[row.Country] = c
			}
			score(t, c, row, v.Addresses, verbose)
		}
		var names []string
		for name := range byCountry {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			c := byCountry[name]
			t.Logf("%-24s %s  %v", filepath.Base(file), name, *c)
			if floor, ok := pageFloors[strings.TrimSuffix(filepath.Base(file), ".jsonl")+" "+name]; ok && !fromHTML && (ratio(c.right, c.found) < floor[0] || ratio(c.right, c.wanted) < floor[1]) {
				t.Errorf("%s %s: precision and recall fell below %v", file, name, floor)
			}
		}
	}
}

func score(t *testing.T, c *tally, row labelled, found []Address, verbose bool) {
	runes := []rune(row.Text)
	type gold struct {
		label
		hit bool
	}
	var golds []*gold
	for _, l := range row.Addresses {
		if l.Level != "full" {
			continue
		}
		golds = append(golds, &gold{label: l})
	}
	noFields := false // pyap's rows have the text alone
	for _, l := range golds {
		noFields = noFields || l.Street == "" && l.Postcode == "" && l.City == ""
		if l.End == 0 && l.Text != "" {
			if i := strings.Index(row.Text, l.Text); i >= 0 {
				l.Start = utf8.RuneCountInString(row.Text[:i])
				l.End = l.Start + utf8.RuneCountInString(l.Text)
			}
		}
	}
	if len(row.Addresses) == 0 {
		c.negatives++
	}
	for _, a := range found {
		if a.Street == "" || a.HouseNumber == "" || a.Postcode == "" && a.City == "" {
			continue
		}
		ignored := false
		for _, ig := range row.Ignore {
			ignored = ignored || a.Start < ig.End && ig.Start < a.End
		}
		if ignored {
			continue
		}
		c.found++
		if len(row.Addresses) == 0 {
			c.negativeHits++
		}
		ok := false
		for _, l := range golds {
			if l.hit || a.Start >= 0 && l.End > 0 && (a.Start >= l.End || l.Start >= a.End) || a.Start < 0 && plain(l.Street) != plain(a.Street) || l.End == 0 && l.Text != "" && !strings.Contains(fold(l.Text), fold(a.Street)) {
				continue
			}
			if !strings.Contains(plain(l.Text+" "+l.HouseNumber+" "+l.Street), plain(a.HouseNumber)) {
				continue
			}
			l.hit, ok = true, true
			c.right++
			if strings.Contains(plain(l.Street), plain(a.Street)) && (l.HouseNumber == "" || gazetteer.NumberKey(l.HouseNumber) == gazetteer.NumberKey(a.HouseNumber)) {
				c.exact++
			} else if verbose {
				t.Logf("INEXACT %s: %q | %q ← street %q number %q", row.ID, a.Street, a.HouseNumber, l.Street, l.HouseNumber)
			}
			break
		}
		if !ok && verbose {
			t.Logf("WRONG %s %s: %q (street %q no %q conf %.2f) in %q", row.ID, row.Country, a.Text, a.Street, a.HouseNumber, a.Confidence, around(runes, a.Start, a.End))
		}
	}
	for _, l := range golds {
		if l.hit || l.HouseNumber != "" || noFields && !strings.Contains(strings.ToLower(l.Text), "box") {
			c.wanted++
		} else {
			continue
		}
		if !l.hit && verbose {
			t.Logf("MISSED %s %s: %q", row.ID, row.Country, around(runes, l.Start, l.End))
		}
	}
}

func around(runes []rune, start, end int) string {
	if start < 0 {
		return "markup"
	}
	return string(runes[max(0, start-40):start]) + "[[" + string(runes[start:min(end, len(runes))]) + "]]" + string(runes[min(end, len(runes)):min(len(runes), end+20)])
}

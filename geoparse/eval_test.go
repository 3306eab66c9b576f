package geoparse

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/bzip2"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
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

// A count counts hits.
type count struct{ found, right, wanted, exact, negatives, negativeHits int }

// numberless counts the addresses with a street or post box and no house number:
// right is one that lies in a label, a label is hit by one of its postcode or city.
type numberless struct{ found, right, wanted, hit int }

func ratio(a, b int) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

func plain(s string) string { return gazetteer.StreetKey(fold(s)) }

// needEval skips the evaluations unless "make eval", or "go test ./geoparse
// -run Eval -v", asks for them. EVAL_ERRORS=1 lists what is wrong.
func needEval(t *testing.T) {
	t.Helper()
	if run := flag.Lookup("test.run"); run == nil || !strings.Contains(run.Value.String(), "Eval") {
		t.Skip("long: asked for by make eval")
	}
}

// pageFloors are precision and recall that the pages of a country must keep.
var pageFloors = map[string][2]float64{
	"de_pages AT": {1, 1}, "de_pages CH": {1, 1}, "de_pages DE": {.97, 1},
	"webstruct US": {.995, .97}, "webstruct GB": {.9, .9}, "webstruct CA": {.95, .95}, "webstruct AU": {.95, .95}, "webstruct FR": {1, 1},
	"pyap US": {.95, .97}, "pyap_embedded US": {.99, .97}, "pyap_embedded CA": {.99, .75}, "pyap_embedded GB": {.99, .5},
}

// An evaluation gathers what is wrong and why.
type evaluation struct {
	t       *testing.T
	p       *Parser
	verbose bool
	causes  map[string]int
	example map[string]string
}

func newEvaluation(t *testing.T) *evaluation {
	p, err := New(evalGazetteer(t), nil, Options{EveryMention: true})
	if err != nil {
		t.Fatal(err)
	}
	return &evaluation{t: t, p: p, verbose: os.Getenv("EVAL_ERRORS") != "", causes: make(map[string]int), example: make(map[string]string)}
}

// wrong counts one error with its cause.
func (e *evaluation) wrong(where, cause, id, detail string) {
	key := where + "\t" + cause
	if e.causes[key]++; e.example[key] == "" {
		e.example[key] = id
	}
	if e.verbose {
		fmt.Printf("  %-24s %-44s %s %s\n", where, cause, id, detail)
	}
}

// worst prints the n causes with the most errors.
func (e *evaluation) worst(n int) {
	keys := slices.SortedFunc(maps.Keys(e.causes), func(a, b string) int {
		return cmp.Or(cmp.Compare(e.causes[b], e.causes[a]), strings.Compare(a, b))
	})
	fmt.Printf("\n%5s  %-26s %-44s %s\n", "count", "rows", "cause", "such as")
	for _, key := range keys[:min(n, len(keys))] {
		where, cause, _ := strings.Cut(key, "\t")
		fmt.Printf("%5d  %-26s %-44s %s\n", e.causes[key], where, cause, e.example[key])
	}
}

// TestEval prints precision and recall on the labelled pages, from their text
// and from their HTML, and the causes of the errors. A hit has street and
// number, and postcode or city; it is right if it overlaps a full label and
// agrees with its number. From HTML an address that only markup states counts
// neither way.
func TestEval(t *testing.T) {
	needEval(t)
	e := newEvaluation(t)
	fmt.Printf("\n%-16s %-7s %-5s %5s  %-16s %-16s %-13s %s\n", "pages", "country", "from", "rows", "precision", "recall", "street+number", "hits on pages without an address")
	type part struct{ country, from string }
	var unnumbered = make(map[part]*numberless)
	for _, file := range []string{"de_pages", "webstruct", "pyap", "pyap_embedded", "de_impressum_rs"} {
		counts := make(map[part]*count)
		rows := make(map[part]int)
		for _, row := range readLabelled(t, "detect/"+file+".jsonl") {
			for _, from := range []string{"text", "html"} {
				in := Input{Text: row.Text, Lang: row.Lang, Country: row.Country}
				if from == "html" {
					if row.HTML == "" {
						continue
					}
					in.Doc = markup.Parse(readPage(t, row.HTML))
					in.Text = markup.Text(in.Doc)
					row.relocate(in.Text)
				}
				v, rejected, err := e.p.Explain(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				k := part{row.Country, from}
				if counts[k] == nil {
					counts[k] = new(count)
				}
				if unnumbered[k] == nil {
					unnumbered[k] = new(numberless)
				}
				rows[k]++
				e.scoreNumberless(unnumbered[k], file+" "+row.Country+" "+from, row, v.Addresses)
				e.score(counts[k], file+" "+row.Country+" "+from, row, v.Addresses, rejected)
			}
		}
		for _, k := range slices.SortedFunc(maps.Keys(counts), func(a, b part) int {
			return cmp.Or(strings.Compare(a.country, b.country), -strings.Compare(a.from, b.from))
		}) {
			c := counts[k]
			fmt.Printf("%-16s %-7s %-5s %5d  %.3f %-10s %.3f %-10s %.3f %-7s %d/%d\n", file, k.country, k.from, rows[k],
				ratio(c.right, c.found), of(c.right, c.found), ratio(c.right, c.wanted), of(c.right, c.wanted), ratio(c.exact, c.right), "", c.negativeHits, c.negatives)
			if floor, ok := pageFloors[file+" "+k.country]; ok && k.from == "text" && (ratio(c.right, c.found) < floor[0] || ratio(c.right, c.wanted) < floor[1]) {
				t.Errorf("%s %s: precision and recall fell below %v", file, k.country, floor)
			}
		}
	}
	fmt.Printf("\n%-24s %-16s %s\n", "without a house number", "precision", "recall")
	for _, k := range slices.SortedFunc(maps.Keys(unnumbered), func(a, b part) int {
		return cmp.Or(strings.Compare(a.country, b.country), -strings.Compare(a.from, b.from))
	}) {
		c := unnumbered[k]
		fmt.Printf("%-18s %-5s %.3f %-10s %.3f %s\n", k.country, k.from, ratio(c.right, c.found), of(c.right, c.found), ratio(c.hit, c.wanted), of(c.hit, c.wanted))
	}
	e.worst(20)
}

// scoreNumberless compares the addresses without a house number with the labels.
func (e *evaluation) scoreNumberless(c *numberless, where string, row labelled, found []Address) {
	runes := []rune(row.Text)
	for _, a := range found {
		if a.HouseNumber != "" || a.Street == "" && a.POBox == "" && a.Unit == "" || a.Start < 0 {
			continue
		}
		if slices.ContainsFunc(row.Ignore, func(ig struct{ Start, End int }) bool { return a.Start < ig.End && ig.Start < a.End }) {
			continue
		}
		c.found++
		if slices.ContainsFunc(row.Addresses, func(l label) bool {
			return l.Level != "place" && (a.Start < l.End && l.Start < a.End || l.End == 0 && strings.Contains(fold(l.Text), cmp.Or(a.Street, a.POBox, a.Unit)))
		}) {
			c.right++
		} else {
			e.wrong(where, "no number: invented", row.ID, fmt.Sprintf("%q in %q", a.Text, around(runes, a.Start, a.End)))
		}
	}
	for _, l := range row.Addresses {
		if l.Level == "place" || l.HouseNumber != "" || l.City == "" && l.Postcode == "" || l.End == 0 {
			continue
		}
		c.wanted++
		i := slices.IndexFunc(found, func(a Address) bool {
			return a.Start < l.End && l.Start < a.End && (a.Street != "" || a.POBox != "" || a.Unit != "") && (a.Postcode == "" || l.Postcode == "" || plain(a.Postcode) == plain(l.Postcode))
		})
		if i < 0 {
			e.wrong(where, "no number: missed", row.ID, strconv.Quote(around(runes, l.Start, l.End)))
			continue
		}
		c.hit++
		if a := found[i]; os.Getenv("EVAL_ERRORS") == "2" {
			fmt.Printf("  read %q as street %q number %q unit %q box %q code %q city %q\n", l.Text, a.Street, a.HouseNumber, a.Unit, a.POBox, a.Postcode, a.City)
		}
	}
}

func of(a, b int) string { return fmt.Sprintf("%d/%d", a, b) }

// score compares the addresses found on a page with its labels.
func (e *evaluation) score(c *count, where string, row labelled, found []Address, rejected []Candidate) {
	runes := []rune(row.Text)
	type gold struct {
		label
		hit bool
	}
	var golds []*gold
	for _, l := range row.Addresses {
		if l.Level == "full" {
			golds = append(golds, &gold{label: l})
		}
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
		if a.Street == "" || a.HouseNumber == "" || a.Postcode == "" && a.City == "" || a.Start < 0 {
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
		ok, overlap := false, false
		for _, l := range golds {
			if l.End > 0 && (a.Start >= l.End || l.Start >= a.End) || l.End == 0 && l.Text != "" && !strings.Contains(fold(l.Text), fold(a.Street)) {
				continue
			}
			overlap = true
			if l.hit || !strings.Contains(plain(l.Text+" "+l.HouseNumber+" "+l.Street), plain(a.HouseNumber)) {
				continue
			}
			l.hit, ok = true, true
			c.right++
			switch {
			case noFields || strings.Contains(plain(l.Street), plain(a.Street)) && (l.HouseNumber == "" || gazetteer.NumberKey(l.HouseNumber) == gazetteer.NumberKey(a.HouseNumber)):
				c.exact++
			case gazetteer.NumberKey(l.HouseNumber) != gazetteer.NumberKey(a.HouseNumber):
				e.wrong(where, "house number inexact", row.ID, fmt.Sprintf("%q ← %q", a.HouseNumber, l.HouseNumber))
			default:
				e.wrong(where, "street name inexact", row.ID, fmt.Sprintf("%q ← %q", a.Street, l.Street))
			}
			break
		}
		if !ok {
			cause := "invented: no label there"
			switch {
			case len(row.Addresses) == 0:
				cause = "invented: page without an address"
			case overlap:
				cause = "invented: another number, or found twice"
			}
			e.wrong(where, cause, row.ID, fmt.Sprintf("%q in %q", a.Text, around(runes, a.Start, a.End)))
		}
	}
	for _, l := range golds {
		if l.hit || l.HouseNumber != "" || noFields && !strings.Contains(strings.ToLower(l.Text), "box") {
			c.wanted++
			if !l.hit {
				e.wrong(where, missedBecause(l.label, found, rejected), row.ID, strconv.Quote(around(runes, l.Start, l.End)))
			}
		}
	}
}

// missedBecause says why a label was not found.
func missedBecause(l label, found []Address, rejected []Candidate) string {
	for _, a := range found {
		if a.Start < l.End && l.Start < a.End {
			switch {
			case a.Street == "":
				return "missed: place found, its street not"
			case a.HouseNumber == "":
				return "missed: street found, its number not"
			}
			return "missed: another number was read"
		}
	}
	for _, r := range rejected {
		if r.Start < l.End && l.Start < r.End {
			reason, _, _ := strings.Cut(r.Reason, ":")
			return "missed: " + strings.Join(strings.FieldsFunc(reason, func(r rune) bool { return unicode.IsDigit(r) || r == ' ' }), " ")
		}
	}
	if l.Postcode == "" {
		return "missed: no postcode"
	}
	return "missed: the postcode was not looked at"
}

func around(runes []rune, start, end int) string {
	return string(runes[max(0, start-40):start]) + "[[" + string(runes[start:min(end, len(runes))]) + "]]" + string(runes[min(end, len(runes)):min(len(runes), end+20)])
}

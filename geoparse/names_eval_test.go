package geoparse

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"gazehound/geoparse/markup"
	"gazehound/geoparse/place"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/unicode/norm"
)

// A markedPage is a page on which people marked who and what is there.
type markedPage struct {
	ID, URL     string
	Org, Person []string
	Tel, Fax    []string
	Hours       []string
}

// An addressOf is one address of a marked page: the candidates for its name.
type addressOf struct {
	page     *markedPage
	group    string // the site
	set      string
	third    bool // an organisation that the site must name
	examples []place.Example
	right    []bool
}

// TestEvalNames learns the weights of names from pages on which people marked
// them, and says how right names are on sites that were kept apart.
func TestEvalNames(t *testing.T) {
	needEval(t)
	data := sharedData(t)
	all := markedAddresses(t, filepath.Join(data, "labelled"))
	kept := make([]func(*addressOf) []float64, nameSplits)
	for i := range kept {
		kept[i] = keptApart(all, i)
	}
	whole := fit(all, func(*addressOf) bool { return true })
	for _, set := range []string{"webstruct", "webstruct as text", "de", "de as text", "sites de", "sites en", "sites ro", "third parties"} {
		for _, least := range []float64{0.4, 0.45, 0.5} {
			apart, pages := rates(all, set, least, kept...)
			learned, learnedPages := rates(all, set, least, func(*addressOf) []float64 { return whole })
			t.Logf("%s, from %.2f: kept apart %.3f of the names, %.3f of the pages; learned from %.3f, %.3f",
				set, least, apart, pages, learned, learnedPages)
		}
	}
	for set, floor := range map[string][2]float64{
		"webstruct": {.975, .94}, "de": {.94, .92}, "webstruct as text": {.96, .8}, "de as text": {.84, .76},
	} {
		names, pages := rates(all, set, 0.45, kept...)
		if names < floor[0] || pages < floor[1] {
			t.Errorf("%s, kept apart: %.3f of the names are right, want %.2f; %.3f of the pages have one, want %.2f", set, names, floor[0], pages, floor[1])
		}
	}
	if os.Getenv("EVAL_ERRORS") != "" {
		shown := map[string]bool{}
		for i := range all {
			a := &all[i]
			for _, of := range kept {
				if line := a.wrong(of(a)); line != "" && !shown[a.page.ID+line[len(line)-20:]] {
					shown[a.page.ID+line[len(line)-20:]] = true
					t.Log(line)
				}
			}
		}
	}
	writeWeights(t, "place/weights.tsv", place.Features(), whole)
}

// wrong describes the best candidate where it is not right, or is not given.
func (a *addressOf) wrong(w []float64) string {
	best, score := a.best(w)
	if best < 0 || a.right[best] && score >= 0.45 {
		return ""
	}
	line := fmt.Sprintf("%s %s: %.2f %q", a.set, a.page.ID, score, a.examples[best].Text)
	for f, v := range a.examples[best].Features {
		if v != 0 {
			line += fmt.Sprintf(" %s=%.2f", place.Features()[f], v)
		}
	}
	for k, e := range a.examples {
		if a.right[k] {
			line += fmt.Sprintf("; right %.2f %q", logistic(w, e.Features), e.Text)
		}
	}
	return line
}

// best returns the candidate with the highest score, or -1.
func (a *addressOf) best(w []float64) (best int, score float64) {
	best = -1
	for k, e := range a.examples {
		if s := logistic(w, e.Features); s > score {
			best, score = k, s
		}
	}
	return best, score
}

// nameSplits is how often the sites are divided anew into what is learned from and
// what is kept apart: one page more or less decides nothing.
const nameSplits = 5

// keptApart returns the weights for each address that are learned from other sites.
// A page whose address nobody knows is a site of its own.
func keptApart(all []addressOf, split int) func(*addressOf) []float64 {
	const folds = 5
	fold := func(a *addressOf) int {
		return foldOf(fmt.Sprint(split, " ", cmp.Or(a.group, a.page.ID)), folds)
	}
	var learned [folds][]float64
	for i := range learned {
		learned[i] = fit(all, func(a *addressOf) bool { return fold(a) != i })
	}
	return func(a *addressOf) []float64 { return learned[fold(a)] }
}

// rates returns the share of the names with a score of least that are right,
// and the share of the pages that have such a name, over all of the weights.
func rates(all []addressOf, set string, least float64, weights ...func(*addressOf) []float64) (names, pages float64) {
	given, right, found, asked := 0, 0, 0, 0
	for _, of := range weights {
		good := map[string]bool{}
		for i := range all {
			a := &all[i]
			if a.set != set && (set != "third parties" || !a.third) {
				continue
			}
			best, score := a.best(of(a))
			isRight := best >= 0 && score >= least && a.right[best]
			if best >= 0 && score >= least {
				given++
			}
			if isRight {
				right++
			}
			good[a.page.ID] = good[a.page.ID] || isRight
		}
		for _, ok := range good {
			if asked++; ok {
				found++
			}
		}
	}
	return float64(right) / float64(max(given, 1)), float64(found) / float64(max(asked, 1))
}

func logistic(w, x []float64) float64 {
	sum := 0.0
	for i := range x {
		sum += w[i] * x[i]
	}
	return 1 / (1 + math.Exp(-sum))
}

// prior are the weights before anything is learned, where they are not 0: few
// of the marked pages are directories, or their entries, or résumés.
var prior = map[string]float64{
	"stated": 5, "job": -3, "user-name": -4, "branch-only": -1, "phrase": -1, "tenants-site": -4, "tenants-near": 1,
	"tenants-heading": 1, "heading": -0.5, "practises": 4, "trade": -2,
	"lead-in": 3, "rival": -3, "venue": -7, "section": -6, "privacy-site": -3, "abroad": -3, "foreign": -2,
}

// fit is logistic regression with a penalty on the squares of the weights; a page, and a whole site
// of the sites, counts little more for having many addresses.
func fit(all []addressOf, use func(*addressOf) bool) []float64 {
	type sparse struct {
		at            []int
		value         []float64
		right, weight float64
	}
	unit := func(a *addressOf) string {
		if strings.HasPrefix(a.set, "sites") {
			return a.group
		}
		return a.page.ID
	}
	per := map[string]float64{}
	for i := range all {
		per[unit(&all[i])]++
	}
	var examples []sparse
	for i := range all {
		a := &all[i]
		if !use(a) {
			continue
		}
		for k, e := range a.examples {
			x := sparse{weight: 1 / math.Sqrt(per[unit(a)])}
			if a.right[k] {
				x.right = 1
			}
			for f, v := range e.Features {
				if v != 0 {
					x.at, x.value = append(x.at, f), append(x.value, v)
				}
			}
			examples = append(examples, x)
		}
	}
	// the penalty alone brings each weight within e^-10 of its end
	l := learning{names: place.Features(), prior: prior, penalty: 0.5, rate: 0.02, rounds: 1000}
	return l.weights(func(w, gradient []float64) {
		for _, x := range examples {
			sum := 0.0
			for j, f := range x.at {
				sum += w[f] * x.value[j]
			}
			d := x.weight * (x.right - 1/(1+math.Exp(-sum)))
			for j, f := range x.at {
				gradient[f] += d * x.value[j]
			}
		}
	})
}

func markedAddresses(t *testing.T, dir string) (all []addressOf) {
	g := evalGazetteer(t)
	p, err := New(g, nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for set, pages := range map[string]string{"webstruct": "webstruct_html", "de": "de_pages_html"} {
		f, err := os.Open(filepath.Join(dir, "detect", set+"_places.jsonl"))
		if err != nil {
			t.Skip(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			m := &markedPage{}
			if err := json.Unmarshal(lines.Bytes(), m); err != nil {
				t.Fatal(err)
			}
			body := gunzip(filepath.Join(dir, pages, m.ID+".html.gz"))
			if body == nil || len(m.Org) == 0 {
				continue
			}
			doc := markup.Parse(body)
			host, path := "", ""
			if u, err := url.Parse(m.URL); err == nil {
				host, path = u.Host, u.EscapedPath()
			}
			p.onName = func(_ *Address, page *place.Page, around place.Around) {
				a := addressOf{page: m, group: host, set: set, examples: page.Examples(around)}
				for _, e := range a.examples {
					a.right = append(a.right, slices.ContainsFunc(m.Org, func(org string) bool { return sameOrg(e.Text, org) }))
				}
				all = append(all, a)
			}
			text := markup.Text(doc)
			for _, in := range []Input{{Text: text, Doc: doc, Host: host, Path: path}, {Text: text}} {
				if _, err := p.Parse(t.Context(), in); err != nil {
					t.Fatal(err)
				}
				set += " as text"
			}
			set = strings.TrimSuffix(set, " as text as text")
		}
	}
	all = append(all, siteNames(t, p)...)
	slices.SortStableFunc(all, func(a, b addressOf) int { return strings.Compare(a.page.ID, b.page.ID) })
	if len(all) == 0 {
		t.Fatal("no addresses")
	}
	return all
}

func gunzip(name string) []byte {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil
	}
	body := readAll(z)
	if utf8.Valid(body) {
		return body
	}
	r, err := charset.NewReader(strings.NewReader(string(body)), "")
	if err != nil {
		return body
	}
	return readAll(r)
}

func readAll(r io.Reader) []byte {
	text, _ := io.ReadAll(r)
	return text
}

// orgWords are the words of a name without what says its legal form.
func orgWords(name string) []string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(name)) {
		switch {
		case r == '\'' || r == '’' || r == '.', r >= 0x300 && r < 0x370:
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		default:
			b.WriteByte(' ')
		}
	}
	return slices.DeleteFunc(strings.Fields(b.String()), func(w string) bool {
		return slices.Contains(strings.Fields("inc llc ltd limited corp corporation co company gmbh the and plc llp pc pllc ag ug kg ohg gbr ev eg e v mbh und der die das inh"), w)
	})
}

func sameOrg(a, b string) bool {
	x, y := orgWords(a), orgWords(b)
	in := func(few, many []string) bool {
		return !slices.ContainsFunc(few, func(w string) bool { return !slices.Contains(many, w) })
	}
	return len(x) > 0 && len(y) > 0 && (strings.Join(x, "") == strings.Join(y, "") || in(x, y) || in(y, x))
}

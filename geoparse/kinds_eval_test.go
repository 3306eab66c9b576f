package geoparse

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"gazehound/geoparse/markup"
	"gazehound/geoparse/place"
	"gazehound/internal/kind"

	"github.com/PuerkitoBio/goquery"
)

// A kindChoice is one page of a site whose kind people read: the kinds that it says.
type kindChoice struct {
	host, set, page string
	start           bool
	named           bool // the name of the place says its kind
	want            []string
	examples        []place.Example
	right           []bool
}

// TestEvalKinds learns the weights of kinds from the start pages of the sites at hand, and says how right the
// kinds are that pages say, without the name of the place, on sites that were kept apart.
func TestEvalKinds(t *testing.T) {
	needEval(t)
	all := siteKinds(t)
	apart := make([][]float64, kindFolds)
	for i := range apart {
		apart[i] = fitKinds(all, func(c *kindChoice) bool { return foldOf(c.host, kindFolds) != i })
	}
	whole := fitKinds(all, func(*kindChoice) bool { return true })
	weightsOf := func(c *kindChoice) []float64 {
		if c.set == "further" {
			return whole
		}
		return apart[foldOf(c.host, kindFolds)]
	}
	for _, start := range []bool{true, false} {
		for _, further := range []bool{false, true} {
			for _, least := range []float64{.5, .6, .7, .8} {
				is := func(c *kindChoice) bool { return c.start == start && (c.set == "further") == further }
				sum := kindTally(all, least, weightsOf, is)
				quiet := kindTally(all, least, weightsOf, func(c *kindChoice) bool { return is(c) && !c.named })
				t.Logf("start pages %v, further sites %v, from %.1f: %v; of places whose names say none %v",
					start, further, least, sum, quiet)
				if start && !further && least == .7 && (sum.precision() < .95 || sum.recall() < .78) {
					t.Errorf("%v, want .95 right of given and .78 of all", sum)
				}
			}
		}
	}
	if os.Getenv("EVAL_ERRORS") != "" {
		for i := range all {
			c := &all[i]
			best, p := c.best(whole)
			if c.start && best >= 0 && !c.right[best] {
				t.Logf("%s: %.2f %q, not %s", c.page, p, c.examples[best].Text, strings.Join(c.want, "|"))
			}
		}
	}
	writeWeights(t, "place/kindweights.tsv", place.KindFeatures(), whole)
}

// A kindSum counts pages of sites with a kind, those on which one is given, and is right.
type kindSum struct{ right, given, pages int }

func (s kindSum) precision() float64 { return float64(s.right) / float64(max(s.given, 1)) }
func (s kindSum) recall() float64    { return float64(s.right) / float64(max(s.pages, 1)) }
func (s kindSum) String() string {
	return fmt.Sprintf("%d right of %d given of %d", s.right, s.given, s.pages)
}

// kindTally counts the pages that is accepts, of which a kind is given from the probability least.
func kindTally(
	all []kindChoice, least float64, weights func(*kindChoice) []float64, is func(*kindChoice) bool,
) (s kindSum) {
	for i := range all {
		c := &all[i]
		if len(c.want) == 0 || !is(c) {
			continue
		}
		s.pages++
		best, p := c.best(weights(c))
		if best < 0 || p < least {
			continue
		}
		s.given++
		if c.right[best] {
			s.right++
		}
	}
	return s
}

// siteKinds returns the start pages of the sites with one kind, and their pages with an address of their own.
func siteKinds(t *testing.T) (all []kindChoice) {
	p := evalParser(t)
	var rows []siteRow
	var set, page, host string
	own := false
	p.onName = func(a *Address, _ *place.Page, _ place.Around) {
		row := rowOf(rows, a)
		own = own || row != nil && row.role == "own"
	}
	begin := func(in, h, path string, of []siteRow) { set, host, page, rows, own = in, h, h+path, of, false }
	eachSitePage(t, p, begin, func(in Input, _ Verdict) {
		start := place.IsStart(in.Path)
		var want []string
		private, named := len(rows) > 0, false
		for _, r := range rows {
			if r.role == "own" && !r.ambiguous() {
				want = append(want, r.kinds...)
				named = named || kind.OfName(r.names[0], "", "") != ""
			}
			private = private && r.role == "home"
		}
		if len(want) == 0 && !private || !own && !start {
			return
		}
		in.Lang, _ = goquery.NewDocumentFromNode(in.Doc).Find("html").Attr("lang")
		in.Lang = strings.ToLower(in.Lang[:min(2, len(in.Lang))])
		country := countryHint(in)
		head := place.ReadHead(markup.Read(in.Doc), in.Text, in.Title, in.Host, in.Path)
		c := kindChoice{
			host: host, set: set, page: page, start: start, named: named, want: want,
			examples: head.KindExamples(languagesOf(in, country), country),
		}
		for _, e := range c.examples {
			c.right = append(c.right, isKind(e.Text, want))
		}
		all = append(all, c)
	})
	if len(all) == 0 {
		t.Fatal("no pages")
	}
	atHand := map[string]bool{}
	for _, c := range all {
		atHand[c.host] = atHand[c.host] || c.set != "further"
	}
	return slices.DeleteFunc(all, func(c kindChoice) bool { return c.set == "further" && atHand[c.host] })
}

// isKind reports whether a kind or one of its tags is one of some, of which "office=*" is any office.
func isKind(id string, want []string) bool {
	return slices.ContainsFunc(strings.Fields(id), func(tag string) bool {
		return slices.ContainsFunc(want, func(w string) bool {
			key, all := strings.CutSuffix(w, "*")
			return tag == w || all && strings.HasPrefix(tag, key)
		})
	})
}

// kindFolds is how many parts the sites are divided into, each of which is kept apart once.
const kindFolds = 10

// best returns the likeliest kind and the probability of all with its key, or -1.
func (c *kindChoice) best(w []float64) (best int, p float64) {
	odds, all := c.odds(w)
	keys := map[string]float64{}
	best = -1
	for k, o := range odds {
		keys[kind.Key(c.examples[k].Text)] += o / all
		if best < 0 || o > odds[best] {
			best = k
		}
	}
	if best >= 0 {
		p = keys[kind.Key(c.examples[best].Text)]
	}
	return best, p
}

// odds returns those of each kind against none, and the sum of all, 1 for none of them included.
func (c *kindChoice) odds(w []float64) (each []float64, all float64) {
	all = 1
	for _, e := range c.examples {
		sum := 0.0
		for f, v := range e.Features {
			sum += w[f] * v
		}
		each = append(each, math.Exp(sum))
		all += math.Exp(sum)
	}
	return each, all
}

// kindPrior are the weights before anything is learned, where they are not 0: few sites have what the features
// tell.
var kindPrior = map[string]float64{"statement": 3, "domain": 3, "type": 3, "entry": 3, "bias": -1}

// fitKinds is multinomial logistic regression with a penalty on the squares of the weights, on the start pages
// of the sites at hand: of a page the right one of its kinds, or none where none is. A site counts as one page.
func fitKinds(all []kindChoice, use func(*kindChoice) bool) []float64 {
	per := map[string]float64{}
	for _, c := range all {
		if c.start && c.set != "further" {
			per[c.host]++
		}
	}
	l := learning{names: place.KindFeatures(), prior: kindPrior, penalty: 0.3, rate: 0.05, rounds: 600}
	return l.weights(func(w, gradient []float64) {
		for i := range all {
			c := &all[i]
			if use(c) && c.start && c.set != "further" {
				c.addTo(gradient, w, 1/per[c.host])
			}
		}
	})
}

// addTo adds to the gradient at weights w what a page says, times weight.
func (c *kindChoice) addTo(gradient, w []float64, weight float64) {
	each, sum := c.odds(w)
	right := 0.0
	for k, o := range each {
		if c.right[k] {
			right += o
		}
	}
	for k, o := range each {
		d := -o / sum
		if c.right[k] {
			d += o / right
		}
		for f, v := range c.examples[k].Features {
			gradient[f] += weight * d * v
		}
	}
}

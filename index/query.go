package index

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gazehound/gazetteer"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search/query"
	"github.com/paulmach/orb"
)

// Bounds of a query.
const (
	MaxQueryLength = 200       // characters of Text; also of Street, Postcode and Host
	MaxQueryWords  = 16        // of Text; further ones are not looked at
	MaxLimit       = 500       // hits on one page
	MaxRadius      = 1_000_000 // metres
)

// Errors of Search that the asker can mend, wrapped with what was wrong.
var (
	ErrQuery  = errors.New("bad query")
	ErrCursor = errors.New("bad cursor")
)

// A Sort is the order of hits.
type Sort string

// The orders. With Relevance, a Center without Radius lifts what is near.
// Without words the addresses with the most mentions come first, or the
// nearest where there is a Center.
const (
	Relevance Sort = "relevance"
	Distance  Sort = "distance" // needs a Center; addresses without coordinate last
)

// A Query asks for addresses. All parts that are given must fit; the zero
// Query finds everything.
type Query struct {
	// Text is words of the name, the address, the title, the text near the
	// address or, on pages with few addresses, of the whole page. Each must
	// occur somewhere; where no address has them all, one typing error a word
	// is forgiven, and at last some of the words are enough. The last word may
	// be the start of one. There are no operators.
	Text string

	Box    *orb.Bound // lon, lat; Min lon > Max lon crosses the antimeridian
	Center *orb.Point // lon, lat
	Radius float64    // metres around Center, up to MaxRadius; 0: Center filters nothing

	// Scale is how far, in metres, the lift of a Center without Radius
	// reaches; 0 means 4,000. Bias in 0 … 1 is its strength; 0 lifts nothing.
	Scale, Bias float64

	Street   string // any usual spelling of the whole name
	Postcode string
	Host     string // host or site
	Located  bool   // only addresses with a coordinate

	Sort   Sort   // "" is Relevance
	Limit  int    // 1 to MaxLimit; 0 means 10
	Cursor string // Result.Next of the page before, asked with the same query but for Limit
	Points int    // up to this many coordinates of further matches, for a map (at most 5,000)
}

// check returns the query with its defaults, or an error that wraps ErrQuery.
func (q Query) check() (Query, error) {
	bad := func(format string, args ...any) (Query, error) {
		return Query{}, fmt.Errorf("index: %w: "+format, append([]any{ErrQuery}, args...)...)
	}
	for _, f := range []struct{ name, value string }{{"text", q.Text}, {"street", q.Street}, {"postcode", q.Postcode}, {"host", q.Host}} {
		if utf8.RuneCountInString(f.value) > MaxQueryLength {
			return bad("%s is longer than %d characters", f.name, MaxQueryLength)
		}
		if !utf8.ValidString(f.value) {
			return bad("%s is not UTF-8", f.name)
		}
	}
	q.Limit = cmp.Or(q.Limit, 10)
	q.Sort = cmp.Or(q.Sort, Relevance)
	q.Scale = cmp.Or(q.Scale, 4000)
	switch {
	case q.Limit < 1 || q.Limit > MaxLimit:
		return bad("limit %d is not 1 to %d", q.Limit, MaxLimit)
	case q.Points < 0 || q.Points > 5000:
		return bad("%d points; 0 to 5000 are possible", q.Points)
	case q.Sort != Relevance && q.Sort != Distance:
		return bad("sort %q is not relevance or distance", q.Sort)
	case q.Sort == Distance && q.Center == nil:
		return bad("sorting by distance needs a centre")
	case q.Center != nil && !onEarth(*q.Center):
		return bad("centre %v is not lon, lat in degrees", *q.Center)
	case q.Box != nil && (!onEarth(q.Box.Min) || !onEarth(q.Box.Max) || q.Box.Min[1] > q.Box.Max[1]):
		return bad("box %v is not min lon, min lat, max lon, max lat in degrees", *q.Box)
	case !(q.Radius >= 0 && q.Radius <= MaxRadius):
		return bad("radius %v is not 0 to %d metres", q.Radius, MaxRadius)
	case q.Radius > 0 && q.Center == nil:
		return bad("a radius needs a centre")
	case !(q.Scale > 0 && q.Scale <= 1e7):
		return bad("scale %v is not in 0 to 1e7 metres", q.Scale)
	case !(q.Bias >= 0 && q.Bias <= 1):
		return bad("bias %v is not 0 to 1", q.Bias)
	}
	return q, nil
}

func onEarth(p orb.Point) bool {
	return -180 <= p[0] && p[0] <= 180 && -90 <= p[1] && p[1] <= 90 // false for NaN
}

// A word of a query.
type word struct {
	raw   string
	terms []string // under which it may be found
	where []string // as words of an address
	minor bool     // carries no meaning of its own
}

// split returns the words of a text, "12 a" joined to one.
func (a *analysis) splitQuery(text string) []word {
	var raws []string
	for _, t := range a.plain.Analyze([]byte(text)) {
		raws = append(raws, text[t.Start:t.End])
	}
	var words []word
	for i := 0; i < len(raws) && len(words) < MaxQueryWords; i++ {
		raw := raws[i]
		if i+1 < len(raws) && isNumber(raw) && len(raws[i+1]) == 1 && 'A' <= raws[i+1][0]&^0x20 && raws[i+1][0]&^0x20 <= 'Z' {
			raw += raws[i+1]
			i++
		}
		folded := a.words(raw)
		if len(folded) != 1 || len(folded[0]) > 60 {
			continue
		}
		w := word{raw: raw, terms: a.forms(raw), minor: minor[folded[0]]}
		if n := strings.ToLower(raw); len(n) > 1 && isNumber(n[:len(n)-1]) {
			w.where = []string{n} // 12a, not 12 or 12a
		} else {
			w.where = streetWords(folded[0])
		}
		words = append(words, w)
	}
	return words
}

var minor = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq("a an and at by for from in near nearby next of on or the to with am an auf bei beim das dem den der die ein eine im in nahe nähe neben und vom von zu zum zur") {
		m[foldWord(w)] = true
	}
	return m
}()

// A stage is how much a search forgives.
type stage uint8

const (
	exact   stage = iota // all words, the last one may be the start of a word
	typos                // all words, one edit in those of 5 letters or more
	partial              // some of the words
	stages
)

// A rank is a field of words with its weight and its usual length. They were
// chosen by hand: a name and an address are short and written for what stands
// there, text only surrounds it.
type rank struct {
	field string
	boost float64
	words int
}

var ranks = []rank{{fieldName, 4, 4}, {fieldTitle, 2, 8}, {fieldNear, 1.5, 60}, {fieldText, 0.7, 400}}

const (
	whereBoost  = 3.0
	usualWhere  = 6
	prefixShare = 0.4 // of the weight of a whole word
	typoShare   = 0.3
	maxPrefixes = 40 // words that one start stands for, in each field
)

// compile returns the Bleve query for q at a stage. Nothing of what a user
// writes is query syntax.
func (x *Index) compile(q Query, words []word, at stage) (query.Query, error) {
	var must, should []query.Query
	meaning := slices.ContainsFunc(words, func(w word) bool { return !w.minor })
	for i, w := range words {
		clause, err := x.compileWord(w, at, i == len(words)-1)
		if err != nil {
			return nil, err
		}
		if at == partial || w.minor && meaning {
			should = append(should, clause)
		} else {
			must = append(must, clause)
		}
	}
	filters := filtersOf(q)
	if len(words) == 0 && len(filters) == 0 {
		return bleve.NewMatchAllQuery(), nil
	}
	b := query.NewBooleanQuery(must, should, nil)
	if len(must) == 0 && len(should) > 0 {
		b.SetMinShould(1)
	}
	if len(filters) > 0 {
		b.AddFilter(query.NewConjunctionQuery(filters))
	}
	return b, nil
}

func (x *Index) compileWord(w word, at stage, last bool) (query.Query, error) {
	var any []query.Query
	add := func(field, term string, boost float64) {
		t := query.NewTermQuery(term)
		t.SetField(field)
		t.SetBoost(boost)
		any = append(any, t)
	}
	if len(w.where) == 1 {
		add(fieldWhere, w.where[0], whereBoost)
	} else {
		var all []query.Query
		for _, s := range w.where {
			t := query.NewTermQuery(s)
			t.SetField(fieldWhere)
			t.SetBoost(whereBoost)
			all = append(all, t)
		}
		any = append(any, query.NewConjunctionQuery(all))
	}
	for _, f := range ranks {
		for _, term := range w.terms {
			add(f.field, term, f.boost)
		}
	}
	start := w.terms[0]
	if n := utf8.RuneCountInString(start); last && n >= 3 {
		for _, f := range append(slices.Clip(ranks), rank{fieldWhere, whereBoost, usualWhere}) {
			longer, err := x.completions(f.field, start)
			if err != nil {
				return nil, err
			}
			for _, term := range longer {
				if !slices.Contains(w.terms, term) {
					add(f.field, term, f.boost*prefixShare)
				}
			}
		}
	}
	if n := utf8.RuneCountInString(start); at >= typos && n >= 5 && !isNumber(start) {
		near := func(field, term string, boost float64) {
			f := query.NewFuzzyQuery(term)
			f.SetField(field)
			f.SetBoost(boost * typoShare)
			f.SetFuzziness(1)
			f.SetPrefix(1)
			any = append(any, f)
		}
		for _, f := range ranks {
			for _, term := range w.terms {
				near(f.field, term, f.boost)
			}
		}
		near(fieldWhere, w.where[0], whereBoost)
	}
	return query.NewDisjunctionQuery(any), nil
}

// completions returns the most frequent terms of a field that start so.
func (x *Index) completions(field, start string) ([]string, error) {
	dict, err := x.bleve.FieldDictPrefix(field, []byte(start))
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	defer dict.Close()
	type completion struct {
		term  string
		count uint64
	}
	var all []completion
	for len(all) < 10_000 {
		e, err := dict.Next()
		if err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
		if e == nil {
			break
		}
		all = append(all, completion{e.Term, e.Count})
	}
	slices.SortFunc(all, func(a, b completion) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.term, b.term))
	})
	terms := make([]string, 0, maxPrefixes)
	for _, c := range all[:min(len(all), maxPrefixes)] {
		terms = append(terms, c.term)
	}
	return terms, nil
}

// filtersOf returns what must fit and does not rank.
func filtersOf(q Query) []query.Query {
	var all []query.Query
	term := func(field, value string) query.Query {
		t := query.NewTermQuery(value)
		t.SetField(field)
		return t
	}
	if q.Box != nil {
		box := query.NewGeoBoundingBoxQuery(q.Box.Min[0], q.Box.Max[1], q.Box.Max[0], q.Box.Min[1])
		box.SetField(fieldPoint)
		all = append(all, box)
	}
	if q.Center != nil && q.Radius > 0 {
		circle := query.NewGeoDistanceQuery(q.Center[0], q.Center[1], strconv.FormatFloat(q.Radius, 'f', -1, 64)+"m")
		circle.SetField(fieldPoint)
		all = append(all, circle)
	}
	if q.Located {
		all = append(all, term(fieldAccuracy, located))
	}
	if q.Street != "" {
		all = append(all, term(fieldStreet, gazetteer.StreetKey(q.Street)))
	}
	if q.Postcode != "" {
		all = append(all, term(fieldPostcode, gazetteer.Key(q.Postcode)))
	}
	if q.Host != "" {
		host := strings.TrimSuffix(strings.ToLower(q.Host), ".")
		all = append(all, query.NewDisjunctionQuery([]query.Query{term(fieldHost, host), term(fieldSite, host)}))
	}
	return all
}

// A cursor is the place of the last hit of a page.
type cursor struct {
	stage stage
	value float64 // that hits are ordered by, descending
	id    uint64  // of the address
}

const cursorLength = 1 + 1 + 8 + 8 + 4 + 4

// encode returns the opaque form of c for the query q.
func (c cursor) encode(q Query) string {
	b := make([]byte, 0, cursorLength)
	b = append(b, format, byte(c.stage))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(c.value))
	b = binary.BigEndian.AppendUint64(b, c.id)
	b = binary.BigEndian.AppendUint32(b, q.digest())
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return base64.RawURLEncoding.EncodeToString(b)
}

func decodeCursor(text string, q Query) (cursor, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != cursorLength || b[0] != format || binary.BigEndian.Uint32(b[cursorLength-4:]) != crc32.ChecksumIEEE(b[:cursorLength-4]) {
		return cursor{}, fmt.Errorf("index: %w: it is not one of this index's; take it from the answer before", ErrCursor)
	}
	c := cursor{stage(b[1]), math.Float64frombits(binary.BigEndian.Uint64(b[2:])), binary.BigEndian.Uint64(b[10:])}
	if c.stage >= stages || math.IsNaN(c.value) {
		return cursor{}, fmt.Errorf("index: %w: it is not one of this index's; take it from the answer before", ErrCursor)
	}
	if binary.BigEndian.Uint32(b[18:]) != q.digest() {
		return cursor{}, fmt.Errorf("index: %w: it belongs to another query; only limit may differ", ErrCursor)
	}
	return c, nil
}

// digest identifies what a query asks, whatever page of it.
func (q Query) digest() uint32 {
	text := fmt.Sprintf("%q %q %q %q %q %v %v %v %v", q.Text, q.Street, q.Postcode, q.Host, q.Sort, q.Radius, q.Scale, q.Bias, q.Located)
	if q.Box != nil {
		text += fmt.Sprintf(" box %v", *q.Box)
	}
	if q.Center != nil {
		text += fmt.Sprintf(" centre %v", *q.Center)
	}
	return crc32.ChecksumIEEE([]byte(text))
}

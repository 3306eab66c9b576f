package index

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gazehound/index/texts"
	"gazehound/internal/kind"

	"github.com/blevesearch/bleve/v2/search/query"
	"github.com/paulmach/orb"
)

// A Filter declares one of the Filters: how its values are read, what it narrows, what documents
// have for it, and its texts.
type Filter struct {
	Name       string // of its parameter; that of its flag has "-" for "_"
	Kind       FilterKind
	Many       bool            // it takes several values
	Values     []string        // all that a Choice has
	Known      func() []string // values to suggest for a misspelt one; nil: Values
	Facets     []Facet         // that count its values, first the one that a page offers
	OfSearches bool            // it narrows searches, and no walk
	Area       bool            // API and command line read it by several parameters
	Example    any             // of a value

	Flag            string              // its line in the help of a command
	Want            texts.Phrase        // completes "NAME must be …"
	Chip, ChipFalse texts.Phrase        // the filter with a value, which is %s, on the page; ChipFalse: of "false"
	Key             func(string) string // values with the same key mean the same; nil: the same text

	valid func(value string) bool // of Special with many values
	truth func(q *Filters) **bool // the field of a Truth
	// read sets a value. wrong completes "VALUE …" where Want does not say what is wrong with it.
	read   func(q *Filters, value string, now time.Time) (wrong string, ok bool)
	clear  func(q *Filters) (given bool)     // takes all values away; nil: no facet counts them
	check  func(q *Filters) error            // of values that were not read
	narrow func(s *searcher, n *narrowing)   // what a search asks for
	fits   func(q *Filters, h *Hit) bool     // whether a hit is found; nil: the caller knows
	names  func(q *Filters, m *mention) bool // which mentions name a hit, where pages differ; nil: all
	add    func(r *record, d *builder)       // adds what documents have for it
}

// A FilterKind is what the values of a filter are.
type FilterKind uint8

// The kinds of filters.
const (
	Special FilterKind = iota // as Want says
	Text                      // any text of up to MaxQueryLength characters
	Choice                    // one of Values
	Truth                     // true or false
)

// A narrowing is what filters make of a query: what documents must have, what they must not have, and
// functions that look at each document that fits.
type narrowing struct {
	must, not []query.Query
	sift      []func(fits query.Query) query.Query
}

// haveOrNot narrows to documents with a keyword "yes", or to those without.
func (n *narrowing) haveOrNot(wanted *bool, field string) {
	switch {
	case wanted == nil:
	case *wanted:
		n.must = append(n.must, has(field, yes))
	default:
		n.not = append(n.not, has(field, yes))
	}
}

// keywords completes the declaration of a filter whose values are keywords of some fields.
func (f Filter) keywords(at func(q *Filters) *[]string, fields ...string) Filter {
	f.Many = true
	key, check := f.Key, f.check
	if f.Kind == Special || key == nil {
		key = func(value string) string { return value }
	}
	f.read = func(q *Filters, value string, _ time.Time) (wrong string, ok bool) {
		*at(q) = append(*at(q), value)
		return "", f.valid == nil || f.valid(value)
	}
	f.clear = func(q *Filters) (given bool) {
		given = len(*at(q)) > 0
		*at(q) = nil
		return given
	}
	f.check = func(q *Filters) error {
		if err := checkTexts(f.Name, *at(q)...); err != nil || check == nil {
			return err
		}
		return check(q)
	}
	f.narrow = func(s *searcher, n *narrowing) {
		var keys []string
		for _, value := range *at(&s.q.Filters) {
			keys = append(keys, key(value))
		}
		var in []query.Query
		for _, field := range fields {
			in = append(in, has(field, keys...))
		}
		switch {
		case len(keys) == 0:
		case len(in) == 1:
			n.must = append(n.must, in[0])
		default:
			n.must = append(n.must, query.NewDisjunctionQuery(in))
		}
	}
	return f
}

// checkTexts returns an error if there are too many texts, or one is too long or no UTF-8.
func checkTexts(name string, values ...string) error {
	if len(values) > MaxValues {
		return fmt.Errorf("%s has %d values; %d are possible", name, len(values), MaxValues)
	}
	for _, value := range values {
		if utf8.RuneCountInString(value) > MaxQueryLength {
			return fmt.Errorf("%s is longer than %d characters", name, MaxQueryLength)
		}
		if !utf8.ValidString(value) {
			return fmt.Errorf("%s is not UTF-8", name)
		}
	}
	return nil
}

// eachMention adds to a document what each mention of the record has.
func eachMention(add func(m *mention, d *builder)) func(r *record, d *builder) {
	return func(r *record, d *builder) {
		for _, m := range r.Mentions {
			add(m, d)
		}
	}
}

// FilterBy returns the filter whose values a facet counts.
func FilterBy(facet Facet) (Filter, bool) {
	i := slices.IndexFunc(allFilters, func(f Filter) bool { return slices.Contains(f.Facets, facet) })
	if i < 0 {
		return Filter{}, false
	}
	return allFilters[i], true
}

// FilterNamed returns the filter with this name, the zero Filter if there is none.
func FilterNamed(name string) Filter {
	i := slices.IndexFunc(allFilters, func(f Filter) bool { return f.Name == name })
	if i < 0 {
		return Filter{}
	}
	return allFilters[i]
}

// Read sets a value of the filter in q, or adds it where the filter takes several. Times that a value
// counts back are counted from now. Where ok is false, wrong completes "VALUE …", or is "" where
// "NAME must be" Want says it all.
func (f *Filter) Read(q *Filters, value string, now time.Time) (wrong string, ok bool) {
	if f.truth == nil {
		return f.read(q, value, now)
	}
	truth := value == "true" || value == "1" // 1 and 0, as other services have it
	*f.truth(q) = &truth
	return "", truth || value == "false" || value == "0"
}

// Same reports whether two values of the filter mean the same.
func (f *Filter) Same(a, b string) bool {
	if f.Key == nil {
		return a == b
	}
	return f.Key(a) == f.Key(b)
}

// Without returns q without the filter whose values a facet counts, and whether it has values.
func (q Query) Without(facet Facet) (wider Query, narrowed bool) {
	f, ok := FilterBy(facet)
	if ok && f.clear != nil {
		narrowed = f.clear(&q.Filters)
	}
	return q, narrowed
}

// check completes the filters and returns an error about the first that is not valid.
func (q *Filters) check() error {
	for _, f := range allFilters {
		if f.check == nil {
			continue
		}
		if err := f.check(q); err != nil {
			return fmt.Errorf("index: %w: %w", ErrQuery, err)
		}
	}
	return nil
}

// filter returns the query for the addresses that fit everything but the words, and whether it asks
// for anything.
func (s *searcher) filter() (fits query.Query, narrows bool) {
	var n narrowing
	for _, f := range allFilters {
		f.narrow(s, &n)
	}
	narrows = len(n.must)+len(n.not)+len(n.sift) > 0
	if len(n.must) == 0 { // pages have none of the other fields
		n.must = append(n.must, has(fieldType, typeAddress))
	}
	switch {
	case len(n.not) > 0:
		fits = query.NewBooleanQuery(n.must, nil, n.not)
	case len(n.must) == 1:
		fits = n.must[0]
	default:
		fits = query.NewConjunctionQuery(n.must)
	}
	for _, sift := range n.sift {
		fits = sift(fits)
	}
	return fits, narrows
}

// named returns a function that reports which mentions may give a hit its name, for filters that
// differ between the pages of one address; nil: any.
func (q *Query) named() func(*mention) bool {
	if len(q.Host) == 0 && len(q.Kind) == 0 {
		return nil
	}
	return func(m *mention) bool {
		return !slices.ContainsFunc(allFilters, func(f Filter) bool { return f.names != nil && !f.names(&q.Filters, m) })
	}
}

// Check returns an error that wraps ErrQuery if a filter is not valid.
func (q Filters) Check() error { return q.check() }

// Fits returns a function that reports whether a hit fits the filters, as Walk would find it but for
// Open; its hosts are those of its evidence. The error wraps ErrQuery.
func (q Filters) Fits() (func(*Hit) bool, error) {
	err := q.check()
	return func(h *Hit) bool {
		return !slices.ContainsFunc(allFilters, func(f Filter) bool { return f.fits != nil && !f.fits(&q, h) })
	}, err
}

// among reports whether a value is one of those wanted, or none is wanted.
func among(wanted []string, value string, key func(string) string) bool {
	return len(wanted) == 0 || slices.ContainsFunc(wanted, func(w string) bool { return key(w) == key(value) })
}

// oneOf reports whether one of some values is wanted, or none is wanted.
func oneOf(wanted []string, values ...string) bool {
	return len(wanted) == 0 || slices.ContainsFunc(values, func(v string) bool { return slices.Contains(wanted, v) })
}

// namesOfRange returns the names of a range of numbers that have some.
func namesOfRange[T interface {
	~uint8
	fmt.Stringer
}](from, to T) (all []string) {
	for n := from; n <= to; n++ {
		all = append(all, n.String())
	}
	return all
}

// monthForm is the form of months as package time has it.
const monthForm = "2006-01"

// isMonth reports whether a value is a month in which a page can have been seen.
func isMonth(value string) bool {
	t, err := time.Parse(monthForm, value)
	return err == nil && t.Year() >= 1970 && t.Year() < 2100
}

func hostKey(host string) string { return strings.TrimSuffix(strings.ToLower(host), ".") }

// hosts returns the hosts or sites of the filter.
func (q *Filters) hosts() []string {
	all := make([]string, len(q.Host))
	for i, h := range q.Host {
		all[i] = hostKey(h)
	}
	return all
}

// seen is the query for addresses that were seen first in a time, both ends
// included; a zero end is open.
func seen(since, until time.Time) query.Query {
	var from, to *float64
	if !since.IsZero() {
		v := float64(since.Unix())
		from = &v
	}
	if !until.IsZero() {
		v := float64(until.Unix())
		to = &v
	}
	included := true
	r := query.NewNumericRangeInclusiveQuery(from, to, &included, &included)
	r.SetField(fieldFirst)
	return r
}

// isOn reports whether one of some hosts or sites states h.
func (h *Hit) isOn(hosts []string) bool {
	return slices.ContainsFunc(h.Evidence, func(e Evidence) bool {
		return slices.Contains(hosts, e.Site) || slices.Contains(hosts, hostOf(e.URL))
	})
}

// isOf reports whether h is of one of some kinds, by Kind or by what the map has there.
func (h *Hit) isOf(kinds []string) bool {
	tags := strings.Split(h.Tags, ";")
	return slices.ContainsFunc(kinds, func(id string) bool {
		if id == h.Kind || id == kind.Main(h.Kind) {
			return true
		}
		for tag := range strings.FieldsSeq(id) {
			if !slices.Contains(tags, tag) {
				return false
			}
		}
		return true
	})
}

// boxHas reports whether a point lies in a box, which may cross the antimeridian.
func boxHas(b orb.Bound, p orb.Point) bool {
	inside := b.Min[0] <= p[0] && p[0] <= b.Max[0]
	if b.Min[0] > b.Max[0] {
		inside = p[0] >= b.Min[0] || p[0] <= b.Max[0]
	}
	return inside && b.Min[1] <= p[1] && p[1] <= b.Max[1]
}

package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gazehound/gazetteer"
	"gazehound/geoparse"

	segment "github.com/blevesearch/scorch_segment_api/v2"
	"github.com/paulmach/orb"
)

// Bounds of an answer.
const (
	maxEvidence   = 5
	snippetLength = 120 // characters
)

// A Result is a page of hits.
type Result struct {
	Hits    []Hit
	Total   int         // addresses that match
	Approx  bool        // Total is an estimate: of several indexes that have many matches
	Sample  []uint64    // the smallest IDs of all matches as numbers, in order, as many as Query.Sample says
	Relaxed bool        // no address has all the words: some have typing errors, or only some of the words
	Offset  int         // matches before the first hit
	Next    string      // cursor of the next page, "" at the end
	Points  []orb.Point // of matches beyond this page, as far as asked for
	Facets  []Count     // of each facet asked for, in its order
	Pages   int         // that state the matches, where Query.CountPages asked for it
	Near    string      // the address that a query such as "bakery near Main St" took for its centre, or ""
	Took    time.Duration
}

// A Count says how many of the addresses that match have a value.
type Count struct {
	Facet  Facet
	Values []Value
}

// A Value of a facet.
type Value struct {
	Value string
	Count int
}

// A Part of a score: a word of the query as it was found, how rare it is, and
// how much it weighs at the address.
type Part struct {
	Word   string  `json:"word"`
	Rarity float64 `json:"rarity"`
	Weight float64 `json:"weight"` // 0 to 1
}

// A Hit is one address, with the pages of all sites that state it.
type Hit struct {
	ID    string   // AddressID
	Site  string   // registrable domain that says most of it: its own rather than a directory
	Name  string   // best guess of what is there; of several, of what was asked for
	Names []string // of what else is there, the best known first; at most 20

	Street, HouseNumber, Unit, Postcode, City, State, Country string

	Kind string // of what bears Name, one of Kinds; "": not known

	HasPoint   bool
	Point      orb.Point // lon, lat
	Precision  string    // of Point: "house", "interpolated", "street", "postcode", "city"
	Level      string    // "verified", "street" or "city"
	Place      string    // ID of the gazetteer's entry, or ""
	Confidence float64   // 0 to 1, of the best evidence

	// Directory says that Site states many other addresses, so that it is not
	// the site of what is here.
	Directory bool

	Role     string // "own", "listed", "agency" or "authority": whose address it is, seen from the page that is nearest to it
	Person   bool   // stated as that of a person in business
	SiteWide bool   // stands on most pages of a site, such as in a footer; they are pages in the index

	// What pages that mean Name state beside it, each "" where they state nothing.
	Phone   string // E.164
	Email   string // of a role such as info@
	Website string
	Hours   string // as OpenStreetMap writes opening_hours

	Distance  float64 // metres from the query's Center, or -1
	Score     float64 // how well it fits the words, 0 without; only its order means something, within one answer
	Parts     []Part  // of Score, where they were asked for
	Mentions  int     // pages that state it
	FirstSeen time.Time
	LastSeen  time.Time
	Gone      time.Time  // since then no page states it any more; zero: one does, as far as is known
	Evidence  []Evidence // the page that fits the query best first, then one of each site; at most 5, of Address 20
	After     string     // cursor of what comes after it, see Query.Cursor; of Search only
}

// Evidence is a page that states the address. Its texts are a stranger's.
type Evidence struct {
	URL, Title string
	Site       string  // registrable domain
	Lang       string  // ISO 639-1 or ""
	Snippet    Snippet // of the text around the address; of Search only that of the first page
	Fetched    time.Time
	Gone       time.Time // since then the page is not there, or without the address; zero: is
	Confidence float64
	Origin     string // "text", "json-ld", …
}

// InOSM tells whether the gazetteer has the house, and has it from
// OpenStreetMap.
func (h *Hit) InOSM() bool {
	return h.Precision == gazetteer.HousePrecision.String() && isOSM(h.Place)
}

// Line returns the address in one line, as it is written where it lies.
func (h *Hit) Line() string {
	switch h.Country {
	case "US", "CA", "AU":
		return join(", ", join(" ", h.HouseNumber, h.Street), h.Unit, h.City, join(" ", h.State, h.Postcode))
	case "GB", "IE", "FR":
		return join(", ", join(" ", h.HouseNumber, h.Street), h.Unit, join(" ", h.City, h.Postcode))
	}
	return join(", ", join(" ", h.Street, h.HouseNumber), h.Unit, join(" ", h.Postcode, h.City))
}

// Own tells whether h is the address of what its pages are about, or of who
// runs their site.
func (h *Hit) Own() bool { return h.Role == geoparse.OwnRole.String() }

// Label returns name and address in one line.
func (h *Hit) Label() string { return join(", ", h.Name, h.Line()) }

func join(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), sep)
}

// Search answers q. Errors wrap ErrQuery or ErrCursor where q is at fault, or
// the error of ctx; the caller bounds the time by it. The order does not
// depend on q.Limit.
func (x *Index) Search(ctx context.Context, q Query) (*Result, error) {
	start := time.Now()
	q, err := q.check()
	if err != nil {
		return nil, err
	}
	words := x.words.splitQuery(q.Text)
	from, to, after := exact, partial, (*cursor)(nil)
	if q.Cursor != "" {
		c, err := decodeCursor(q.Cursor, q)
		if err != nil {
			return nil, err
		}
		from, to, after = c.stage, c.stage, &c
	}
	if len(words) == 0 && strings.TrimSpace(q.Text) != "" {
		return &Result{}, nil // "???" is no word, and asks for nothing
	}
	v, err := x.see()
	if err != nil {
		return nil, err
	}
	defer v.release()
	s, err := x.newSearch(ctx, v)
	if err != nil {
		return nil, err
	}
	defer s.done()

	asked := q
	near := ""
	if what, where, ok := nearness(words); ok && q.Center == nil {
		p, line, err := s.locate(q, where)
		if err != nil {
			return nil, err
		}
		if line != "" {
			near = line
			words, q.Center, q.Scale, q.Bias = what, &p, nearScale, 1
		}
	}
	for at := from; ; at++ {
		if err := s.run(q, words, at); err != nil {
			return nil, err
		}
		if len(s.found) > 0 || at >= to || len(words) == 0 {
			r, err := s.result(q, asked, words, at, after)
			if err != nil {
				return nil, err
			}
			r.Relaxed = at > exact && r.Total > 0
			r.Near, r.Took = near, time.Since(start)
			return r, nil
		}
	}
}

// nearScale is the distance in metres at which "near" an address says half as
// much as at it.
const nearScale = 150

// nearness parts "bakery near Main Street 5" into what is looked for and
// where.
func nearness(words []word) (what, where []word, ok bool) {
	for i, w := range words {
		if i == 0 || !nearWords[w.terms[0]] {
			continue
		}
		what, where = words[:i], words[i+1:]
		for len(what) > 0 && what[len(what)-1].minor { // "in der"
			what = what[:len(what)-1]
		}
		for len(where) > 0 && where[0].minor { // "der", "von"
			where = where[1:]
		}
		return what, where, len(what) > 0 && len(where) > 0
	}
	return nil, nil, false
}

var nearWords = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq("near nearby nahe nähe neben bei beim") {
		m[foldWord(w)] = true
	}
	return m
}()

// A search is the work on one query, with arrays that are used again.
type search struct {
	x      *Index
	ctx    context.Context
	v      *view
	dicts  [][2]segment.TermDictionary // of each part: words, where
	looked map[lookUp]*list
	*scratch

	filter    *filter
	inArea    []uint64          // a bit for each row of the view that fits; nil: see filter
	ranked    bool              // by words
	whereOnly bool              // words are looked up in addresses only
	explained map[uint32][]Part // of the groups whose score is to be explained
}

// A scratch has an entry for each group of a view; groups and counts are all
// zero between searches.
type scratch struct {
	groups []group
	found  []uint32 // groups that match
	word   []uint32 // groups that the word has, which is looked up now
	bits   []uint64 // room for inArea
	counts []uint32 // of each text, while a facet is counted
	there  []uint32 // texts that have a count
}

// A group is an address while a search looks at its mentions.
type group struct {
	sum      float32 // of the words that were looked up
	now      float32 // the best weight of the word that is looked up
	best     float32 // of the first word, by which the row was chosen
	words    uint16  // that it has, of those that it must have
	any      uint16  // that it has
	mentions uint32  // that match, where there are no words
	row      uint32  // number in the view of the one that fits best
}

// newSearch begins a search when it is its turn: no more than there are
// processors work at once, in the order in which they came. Otherwise all that
// run get slices of time in turn, and a search of a millisecond that loses its
// processor waits for a slice of each other one.
func (x *Index) newSearch(ctx context.Context, v *view) (*search, error) {
	select {
	case x.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("index: %w", ctx.Err())
	}
	s := &search{x: x, ctx: ctx, v: v}
	s.scratch, _ = x.scratches.Get().(*scratch)
	if s.scratch == nil {
		s.scratch = &scratch{}
	}
	if n := len(v.ids); len(s.groups) < n {
		s.groups = make([]group, n+n/8)
	}
	return s, nil
}

func (s *search) done() {
	s.clear()
	s.x.scratches.Put(s.scratch)
	<-s.x.turns
}

func (s *search) clear() {
	for _, g := range s.found {
		s.groups[g] = group{}
	}
	s.found = s.found[:0]
}

// run finds the groups that fit q at a stage.
func (s *search) run(q Query, words []word, at stage) error {
	s.clear()
	s.filter = s.x.table.filterOf(q)
	s.whereOnly = q.AddressOnly
	if s.ranked = len(words) > 0; s.filter.none || len(s.v.parts) == 0 {
		return nil
	}
	if !s.ranked {
		return s.browse()
	}
	if err := s.lookAround(); err != nil {
		return err
	}
	meaning := slices.ContainsFunc(words, func(w word) bool { return !w.minor })
	var lists []*list
	for i := range words {
		w := &words[i]
		l, err := s.look(lookUp{w, i == len(words)-1, at >= typos, s.whereOnly})
		if err != nil {
			return err
		}
		if l.must = at != partial && !(w.minor && meaning); l.must && l.count == 0 {
			return nil
		}
		lists = append(lists, l)
	}
	// The rarest word first: it leaves the fewest groups for the others.
	slices.SortStableFunc(lists, func(a, b *list) int {
		return cmp.Or(compareBool(b.must, a.must), cmp.Compare(a.count, b.count))
	})
	must, total := uint16(0), 0.0
	for _, l := range lists {
		if err := s.apply(l, must); err != nil {
			return err
		}
		total += l.rarity
		if l.must {
			must++
			s.keep(func(_ uint32, g *group) bool { return g.words == must })
		}
	}
	if at == partial {
		// What has many of the words comes before what has one of them often.
		for _, n := range s.found {
			s.groups[n].sum *= float32(s.groups[n].any) / float32(len(lists))
		}
	}
	s.keepWhole(q)
	return nil
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// keep drops the groups that do not fit.
func (s *search) keep(fits func(number uint32, g *group) bool) {
	kept := s.found[:0]
	for _, n := range s.found {
		if fits(n, &s.groups[n]) {
			kept = append(kept, n)
		} else {
			s.groups[n] = group{}
		}
	}
	s.found = kept
}

// keepWhole drops the groups that do not fit q as a whole, whatever page of
// theirs does.
func (s *search) keepWhole(q Query) {
	if fits := s.v.whole(q); fits != nil {
		s.keep(func(n uint32, _ *group) bool { return fits(n) })
	}
}

// whole returns the test of what q asks of a group with all its pages: which
// one it is, when it was first seen, whether its house is in OpenStreetMap, and
// whether it is site-wide; nil where q asks nothing of that kind.
func (v *view) whole(q Query) func(group uint32) bool {
	if q.Since.IsZero() && q.Until.IsZero() && len(q.Month) == 0 && q.InOSM == nil && q.SiteWide == nil && q.Only == nil {
		return nil
	}
	var only map[uint64]bool
	if q.Only != nil {
		only = make(map[uint64]bool, len(q.Only))
		for _, id := range q.Only {
			if n, err := strconv.ParseUint(id, 16, 64); err == nil {
				only[n] = true
			}
		}
	}
	var months [][2]uint32 // from, to
	for _, month := range q.Month {
		n, _ := monthNumber(month) // check has read it
		months = append(months, [2]uint32{monthStart(n), monthStart(n + 1)})
	}
	sums := v.summaries()
	var wide map[uint32]bool
	if q.SiteWide != nil {
		wide = v.siteWides().groups
	}
	return func(n uint32) bool {
		first := int64(sums[n].first)
		return (only == nil || only[v.ids[n]]) && (q.InOSM == nil || sums[n].osm == *q.InOSM) && (q.SiteWide == nil || wide[n] == *q.SiteWide) &&
			(q.Since.IsZero() || first >= q.Since.Unix()) && (q.Until.IsZero() || first <= q.Until.Unix()) &&
			(months == nil || slices.ContainsFunc(months, func(m [2]uint32) bool { return m[0] <= sums[n].first && sums[n].first < m[1] }))
	}
}

// browse finds all groups that fit the filter.
func (s *search) browse() error {
	if s.filter.all {
		for n, sum := range s.v.summaries() {
			if sum.mentions > 0 {
				s.groups[n].mentions = sum.mentions
				s.found = append(s.found, uint32(n))
			}
		}
		s.keepWhole(s.filter.q)
		return nil
	}
	window, ok := s.filter.window()
	for i := range s.v.parts {
		p := &s.v.parts[i]
		err := s.eachFit(p, window, ok, func(n uint32) {
			if !p.live(n) {
				return
			}
			g := &s.groups[p.groups[n]]
			if g.mentions++; g.mentions == 1 {
				s.found = append(s.found, p.groups[n])
			}
		})
		if err != nil {
			return err
		}
	}
	s.keepWhole(s.filter.q)
	return nil
}

// eachFit calls fn with the number of each row of a part that fits the filter,
// which has a window or not.
func (s *search) eachFit(p *part, window window, windowed bool, fn func(n uint32)) error {
	if s.ctx.Err() != nil {
		return fmt.Errorf("index: %w", s.ctx.Err())
	}
	switch {
	case windowed && p.narrow(window) && s.filter.boxOnly:
		p.within(window, fn)
	case windowed && p.narrow(window):
		p.within(window, func(n uint32) {
			if s.filter.fits(&p.all[n]) {
				fn(n)
			}
		})
	default:
		for n := range p.all {
			if n%65536 == 0 && s.ctx.Err() != nil {
				return fmt.Errorf("index: %w", s.ctx.Err())
			}
			if s.filter.fits(&p.all[n]) {
				fn(uint32(n))
			}
		}
	}
	return nil
}

// A list is where a word of a query stands.
type list struct {
	word    word
	must    bool
	count   uint64 // of all entries
	written uint64 // of those of the word as it is written
	rarity  float64
	found   []entries
}

// entries are the mentions in one part that have one term.
type entries struct {
	part  *part
	list  []posting // with those that were deleted
	worth *impacts  // of each weight
}

const (
	maxPrefixes = 40 // words that one start stands for
	maxTypos    = 40 // words that one misspelt word stands for
)

const (
	inWords = iota // numbers of the two fields in search.dicts
	inWhere
)

// dict returns the words of a field in a part.
func (s *search) dict(part, field int) (segment.TermDictionary, error) {
	if s.dicts == nil {
		s.dicts = make([][2]segment.TermDictionary, len(s.v.parts))
	}
	d := &s.dicts[part][field]
	if *d == nil {
		var err error
		if *d, err = s.v.parts[part].segment.Dictionary([]string{fieldWords, fieldWhere}[field]); err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
	}
	return *d, nil
}

// A lookUp says how a word is looked up.
type lookUp struct {
	word      *word
	last      bool // it may be the start of one
	forgives  bool // one edit
	whereOnly bool // in addresses
}

// look finds the lists of a word. A search that tries several stages looks it up
// once for each way.
func (s *search) look(up lookUp) (l *list, err error) {
	if l, known := s.looked[up]; known {
		return l, nil
	}
	if up.forgives {
		l, err = s.misspelt(up)
	} else {
		l, err = s.written(up)
	}
	if err != nil {
		return nil, err
	}
	df := min(float64(l.count), float64(s.v.mentions))
	l.rarity = math.Log(1 + (float64(s.v.mentions)-df+0.5)/(df+0.5))
	if s.looked == nil {
		s.looked = map[lookUp]*list{}
	}
	s.looked[up] = l
	return l, nil
}

// written finds a word as it is written, and as the start of longer ones.
func (s *search) written(up lookUp) (*list, error) {
	w := up.word
	l := &list{word: *w}
	if !up.whereOnly {
		for _, term := range w.terms {
			if err := s.add(l, inWords, term, &whole, allParts); err != nil {
				return nil, err
			}
		}
	}
	// Of "langestr." lange is enough: str is a word of most addresses.
	if err := s.add(l, inWhere, w.where[0], &whole, allParts); err != nil {
		return nil, err
	}
	l.written = l.count
	start := w.terms[0]
	if !up.last || utf8.RuneCountInString(start) < 2 || isNumber(start) {
		return l, nil
	}
	for _, field := range up.fields() {
		longer, err := s.completions(field, start)
		if err != nil {
			return nil, err
		}
		if err := s.addSimilar(l, field, longer, &started); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// misspelt is written, and finds words one edit away of one that is not frequent
// itself.
func (s *search) misspelt(up lookUp) (*list, error) {
	exactly := up
	exactly.forgives = false
	base, err := s.look(exactly)
	if err != nil {
		return nil, err
	}
	l := *base
	l.found = slices.Clip(l.found)
	start := l.word.terms[0]
	if utf8.RuneCountInString(start) < 4 || isNumber(start) || l.written > uint64(s.v.mentions)/100 {
		return &l, nil
	}
	for _, field := range up.fields() {
		near, err := s.corrections(field, start)
		if err != nil {
			return nil, err
		}
		if err := s.addSimilar(&l, field, near, &misspelt); err != nil {
			return nil, err
		}
	}
	return &l, nil
}

// fields are those that a word is looked up in.
func (up *lookUp) fields() []int {
	if up.whereOnly {
		return []int{inWhere}
	}
	return []int{inWords, inWhere}
}

// addSimilar adds the lists of terms that stand for the word of l.
func (s *search) addSimilar(l *list, field int, terms []similar, worth *impacts) error {
	for _, t := range terms {
		if slices.Contains(l.word.terms, t.term) {
			continue
		}
		if err := s.add(l, field, t.term, worth, t.in); err != nil {
			return err
		}
	}
	return nil
}

// add adds the lists of a term to l.
func (s *search) add(l *list, field int, term string, worth *impacts, in inParts) error {
	for i := range s.v.parts {
		if !in.has(i) {
			continue
		}
		p := &s.v.parts[i]
		d, err := s.dict(i, field)
		if err != nil {
			return err
		}
		postings, n, err := s.list(p, field, term, d)
		if err != nil {
			return err
		}
		if n > 0 {
			l.found = append(l.found, entries{p, postings, worth})
			l.count += n
		}
	}
	return nil
}

// list returns the decoded list of a term in a part, with those that were
// deleted, and how many were not.
func (s *search) list(p *part, field int, term string, d segment.TermDictionary) (list []posting, live uint64, err error) {
	key := listKey{p.id, field, term}
	if p.deleted == nil { // what is deleted differs from view to view
		if list, ok := s.x.lists.get(key); ok {
			return list, uint64(len(list)), nil
		}
	}
	postings, err := d.PostingsList([]byte(term), p.deleted, nil)
	if err != nil {
		return nil, 0, fmt.Errorf("index: %w", err)
	}
	if live = postings.Count(); live == 0 {
		return nil, 0, nil
	}
	if live < leastKept {
		list, err = decode(postings)
		return list, live, err
	}
	if p.deleted != nil {
		if list, ok := s.x.lists.get(key); ok {
			return list, live, nil
		}
		if postings, err = d.PostingsList([]byte(term), nil, nil); err != nil {
			return nil, 0, fmt.Errorf("index: %w", err)
		}
	}
	if list, err = decode(postings); err == nil {
		s.x.lists.keep(key, list)
	}
	return list, live, err
}

// A similar is a term of the index that may stand for a word.
type similar struct {
	term  string
	count uint64 // of the entries that have it
	in    inParts
}

// inParts says which parts of a view may have a term: a bit for each of the
// first ones; those after them may.
type inParts uint64

const (
	allParts   = ^inParts(0)
	knownParts = 64
)

func (in inParts) has(part int) bool { return part >= knownParts || in>>part&1 != 0 }

// completions returns the most frequent terms of a field that start so.
func (s *search) completions(field int, start string) ([]similar, error) {
	return s.similar(field, nil, start, 2000, maxPrefixes)
}

// similar returns the most frequent terms of a field that begin with start and
// that an automaton takes, nil for all. It looks at so many terms of each part
// of the index.
func (s *search) similar(field int, takes segment.Automaton, start string, look, most int) ([]similar, error) {
	at := map[string]int{}
	var all []similar
	var unsure inParts // where there are more terms than it looks at
	from, to := []byte(start), append([]byte(start), 0xff)
	for i := range s.v.parts {
		d, err := s.dict(i, field)
		if err != nil {
			return nil, err
		}
		terms := d.AutomatonIterator(takes, from, to)
		for looked := 0; ; looked++ {
			if looked == look {
				unsure |= 1 << i
				break
			}
			e, err := terms.Next()
			if err != nil {
				return nil, fmt.Errorf("index: %w", err)
			}
			if e == nil {
				break
			}
			n, known := at[e.Term]
			if !known {
				n = len(all)
				at[e.Term] = n
				all = append(all, similar{term: e.Term})
			}
			all[n].count += e.Count
			all[n].in |= 1 << i
		}
	}
	best := mostFrequent(all, most)
	for i := range best {
		best[i].in |= unsure
	}
	return best, nil
}

func mostFrequent(all []similar, most int) []similar {
	slices.SortFunc(all, func(a, b similar) int { return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.term, b.term)) })
	return all[:min(most, len(all))]
}

// corrections returns the most frequent terms of a field that are one edit away
// from a word and begin with the same letter.
func (s *search) corrections(field int, word string) ([]similar, error) {
	_, first := utf8.DecodeRuneInString(word)
	near := newEdits(word)
	if near == nil {
		return s.bleveCorrections(field, word, word[:first])
	}
	return s.similar(field, near, word[:first], math.MaxInt, maxTypos)
}

// bleveCorrections is corrections with Bleve's automaton, for any word; it does
// not know which terms are frequent, nor in which parts they are.
func (s *search) bleveCorrections(field int, word, first string) ([]similar, error) {
	dict, err := s.v.reader.FieldDictFuzzy([]string{fieldWords, fieldWhere}[field], word, 1, first)
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	defer dict.Close()
	var all []similar
	for {
		e, err := dict.Next()
		if err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
		if e == nil {
			return mostFrequent(all, maxTypos), nil
		}
		all = append(all, similar{e.Term, e.Count, allParts})
	}
}

// apply adds the weight of a word to the groups that have it. With must > 0
// only groups count that have so many words already.
func (s *search) apply(l *list, must uint16) error {
	s.word = s.word[:0]
	for _, e := range l.found {
		if err := s.read(e, must); err != nil {
			return err
		}
	}
	for _, n := range s.word {
		g := &s.groups[n]
		if parts, ok := s.explained[n]; ok {
			s.explained[n] = append(parts, Part{l.word.raw, round(l.rarity, 3), round(float64(g.now), 3)})
		}
		g.sum += float32(l.rarity) * g.now
		g.now = 0
		g.any++
		if l.must {
			g.words++
		}
	}
	return nil
}

// read counts the mentions that a term has.
func (s *search) read(e entries, must uint16) error {
	if must > 0 && len(s.found)*16 < len(e.list) {
		s.readFew(e, must)
		return nil
	}
	plain := must == 0 && s.filter.all && e.part.deleted == nil
	for list := range slices.Chunk(e.list, 1<<16) {
		if s.ctx.Err() != nil {
			return fmt.Errorf("index: %w", s.ctx.Err())
		}
		if plain {
			for _, p := range list {
				number := e.part.groups[p.row()]
				s.weigh(e.part, p.row(), number, &s.groups[number], e.worth[p.weight()])
			}
			continue
		}
		for _, p := range list {
			s.mention(e.part, p, e.worth, must)
		}
	}
	return nil
}

// readFew looks only at the mentions of groups that were found before, where a
// term has many more.
func (s *search) readFew(e entries, must uint16) {
	base, end := e.part.base, e.part.base+uint32(len(e.part.all))
	for _, g := range s.found {
		for _, number := range s.v.of(g) {
			if number < base || number >= end {
				continue
			}
			n := number - base
			at, _ := slices.BinarySearch(e.list, newPosting(n, 0))
			if at < len(e.list) && e.list[at].row() == n {
				s.mention(e.part, e.list[at], e.worth, must)
			}
		}
	}
}

// mention adds one mention that has a term, if it fits.
func (s *search) mention(part *part, p posting, worth *impacts, must uint16) {
	n := p.row()
	number := part.groups[n]
	g := &s.groups[number]
	if must > 0 && g.words < must || !s.filter.all && !s.fits(part, n) || part.deleted != nil && part.deleted.Contains(n) {
		return
	}
	s.weigh(part, n, number, g, worth[p.weight()])
}

// weigh adds the weight of a term in row n of a part to its group.
func (s *search) weigh(part *part, n, number uint32, g *group, weight float32) {
	fresh := g.any == 0
	if g.now == 0 {
		s.word = append(s.word, number)
		if fresh {
			s.found = append(s.found, number)
			g.best, g.row, g.now = weight, part.base+n, weight
			return
		}
	}
	if fresh && (weight > g.best || weight == g.best && part.all[n].page < s.v.row(g.row).page) {
		g.best, g.row = weight, part.base+n
	}
	g.now = max(g.now, weight)
}

// fits tells whether a row fits the filter.
func (s *search) fits(part *part, n uint32) bool {
	if s.inArea != nil {
		at := part.base + n
		return s.inArea[at/64]>>(at%64)&1 != 0
	}
	return s.filter.fits(&part.all[n])
}

// lookAround notes which rows fit a filter by an area: a word that is read then
// costs one bit a row that has it, and not a look at the row.
func (s *search) lookAround() error {
	s.inArea = nil
	window, ok := s.filter.window()
	if !ok {
		return nil
	}
	each := 0 // rows at which all have to be looked
	for i := range s.v.parts {
		if p := &s.v.parts[i]; !p.narrow(window) {
			each += len(p.all)
		}
	}
	if each > s.v.rows/8 {
		return nil
	}
	n := s.v.rows/64 + 1
	if len(s.bits) < n {
		s.bits = make([]uint64, n+n/8)
	}
	clear(s.bits[:n])
	for i := range s.v.parts {
		p := &s.v.parts[i]
		err := s.eachFit(p, window, true, func(n uint32) {
			at := p.base + n
			s.bits[at/64] |= 1 << (at % 64)
		})
		if err != nil {
			return err
		}
	}
	s.inArea = s.bits[:n]
	return nil
}

// locate finds the address that words describe, of those that fit the filter
// of q: with all words, or all but the numbers. The line is "" where there is
// none.
func (s *search) locate(q Query, words []word) (at orb.Point, line string, err error) {
	q.Located, q.AddressOnly, q.Only = true, true, nil
	streets := slices.DeleteFunc(slices.Clone(words), func(w word) bool { return isNumber(w.raw[:1]) })
	for _, words := range [][]word{words, streets} {
		if len(words) == 0 {
			continue
		}
		if err := s.run(q, words, exact); err != nil {
			return at, "", err
		}
		best := -1
		for i, n := range s.found {
			if best < 0 || s.groups[n].sum > s.groups[s.found[best]].sum || s.groups[n].sum == s.groups[s.found[best]].sum && s.v.ids[n] < s.v.ids[s.found[best]] {
				best = i
			}
		}
		if best >= 0 {
			p, n := s.v.at(s.v.summaries()[s.found[best]].number)
			m, err := p.mention(n)
			if err != nil {
				return at, "", err
			}
			return m.Point, join(" ", m.Street, m.Number), nil
		}
	}
	return at, "", nil
}

// A ranked is a group with the value that it is ordered by.
type ranked struct {
	group uint32
	value float64 // descending
	name  string  // ascending, where hits are ordered by it
	id    uint64  // ascending
}

func (a *ranked) compare(b *ranked) int {
	return cmp.Or(cmp.Compare(b.value, a.value), strings.Compare(a.name, b.name), cmp.Compare(a.id, b.id))
}

// value returns by what a group is ordered as q asks for, descending; 0 where
// names order.
func (s *search) value(q *Query, c *centre, n uint32, lift float64) float64 {
	switch {
	case q.Sort == Newest:
		return float64(s.v.summaries()[n].first)
	case q.Sort == ByName:
		return 0
	case c != nil && (q.Sort == Distance || !s.ranked):
		if at := &s.v.summaries()[n]; at.located {
			return -c.haversine(at.spot)
		}
		return math.Inf(-1)
	case !s.ranked:
		return float64(s.groups[n].mentions)
	}
	value := float64(s.groups[n].sum)
	if c != nil && q.Radius == 0 {
		if at := &s.v.summaries()[n]; at.located {
			value *= 1 + lift*q.Bias/(1+metres(c.haversine(at.spot))/q.Scale)
		}
	}
	return math.Round(value*1e5) / 1e5
}

func round(v float64, digits int) float64 {
	p := math.Pow10(digits)
	return math.Round(v*p) / p
}

// How much more an address at the centre counts than one far away: by the
// reader's position, and near the address that the query names.
const (
	usualLift = 2.0
	nearLift  = 12.0
)

// result orders what was found, takes the page asked for and reads its
// evidence. The cursor belongs to the query as it was asked.
func (s *search) result(q, asked Query, words []word, at stage, after *cursor) (*Result, error) {
	result := &Result{Total: len(s.found), Points: nil}
	var c *centre
	if q.Center != nil {
		c = newCentre(*q.Center)
	}
	lift := usualLift
	if asked.Center == nil {
		lift = nearLift
	}
	var last *ranked
	if after != nil {
		last = &ranked{value: after.value, id: after.id, name: after.name}
	}
	page, before, err := s.best(&q, c, lift, last)
	if err != nil {
		return nil, err
	}
	result.Offset = before
	shown := make(map[uint32]bool, len(page))
	marks, digest := s.x.words.newMarker(words), asked.digest()
	for i := range page {
		h, err := s.hit(&q, c, &page[i], marks)
		if err != nil {
			return nil, err
		}
		h.After = cursor{at, page[i].value, page[i].id, page[i].name}.encode(digest)
		result.Hits = append(result.Hits, h)
		shown[page[i].group] = true
	}
	if n := len(page); n > 0 && result.Offset+n < len(s.found) {
		result.Next = result.Hits[n-1].After
	}
	for _, n := range s.found {
		if len(result.Points) == q.Points {
			break
		}
		if at := &s.v.summaries()[n]; at.located && !shown[n] {
			result.Points = append(result.Points, at.point())
		}
	}
	result.Sample = s.sample(q.Sample)
	for _, f := range q.Facets {
		result.Facets = append(result.Facets, s.facet(f))
	}
	if q.CountPages {
		result.Pages = s.pages()
	}
	if q.Explain && s.ranked {
		if err := s.explain(q, words, at, page, result.Hits); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// best returns the first q.Limit groups after last, in their order, and how many
// there are up to last; nil: none.
func (s *search) best(q *Query, c *centre, lift float64, last *ranked) (page []ranked, before int, err error) {
	nearest := c != nil && (q.Sort == Distance || q.Sort == Relevance && !s.ranked) && last == nil
	south, north := int32(math.MinInt32), int32(math.MaxInt32) // what lies beyond is farther than all of a full page
	for i, n := range s.found {
		if i%4096 == 0 && s.ctx.Err() != nil {
			return nil, 0, fmt.Errorf("index: %w", s.ctx.Err())
		}
		full := len(page) == q.Limit
		if full && nearest {
			if at := &s.v.summaries()[n]; at.located && (at.lat < south || at.lat > north) {
				continue
			}
		}
		value := s.value(q, c, n, lift)
		if full && last == nil && value < page[q.Limit-1].value {
			continue
		}
		r := ranked{group: n, id: s.v.ids[n], value: value}
		if q.Sort == ByName {
			r.name = s.v.known(n).key
		}
		if last != nil && r.compare(last) <= 0 {
			before++
			continue
		}
		if full {
			if page[q.Limit-1].compare(&r) < 0 {
				continue
			}
			page = page[:q.Limit-1]
		}
		at, _ := slices.BinarySearchFunc(page, r, func(a, b ranked) int { return a.compare(&b) })
		page = slices.Insert(page, at, r)
		if worst := &page[len(page)-1]; nearest && len(page) == q.Limit && !math.IsInf(worst.value, -1) {
			south, north = c.latitudes(-worst.value)
		}
	}
	return page, before, nil
}

// sample returns the n smallest IDs of what was found, in order.
func (s *search) sample(n int) []uint64 {
	var ids []uint64
	for _, g := range s.found {
		id := s.v.ids[g]
		if n == 0 || len(ids) == n && id >= ids[n-1] {
			continue
		}
		if len(ids) == n {
			ids = ids[:n-1]
		}
		at, _ := slices.BinarySearch(ids, id)
		ids = slices.Insert(ids, at, id)
	}
	return ids
}

// pages counts the pages that state what was found and fit the filter.
func (s *search) pages() int {
	all := map[uint64]bool{}
	for _, group := range s.found {
		for _, number := range s.v.of(group) {
			if r := s.v.row(number); s.filter.fits(r) {
				all[r.page] = true
			}
		}
	}
	return len(all)
}

// maxMonths is more than the number of any month.
const maxMonths = 2048

// facet counts the values of what was found, and returns the most frequent.
// Those of everything are kept with the view, since each visit begins with them.
func (s *search) facet(f Facet) Count {
	if s.ranked || !s.filter.all || s.filter.q.Only != nil {
		return s.count(f)
	}
	s.v.facets.Lock()
	defer s.v.facets.Unlock()
	c, known := s.v.facets.ofAll[f]
	if !known {
		if s.v.facets.ofAll == nil {
			s.v.facets.ofAll = map[Facet]Count{}
		}
		c = s.count(f)
		s.v.facets.ofAll[f] = c
	}
	return Count{f, slices.Clone(c.Values)}
}

func (s *search) count(f Facet) Count {
	if n := max(maxMonths, len(s.v.texts)); len(s.counts) < n { // precisions, levels, kinds and months are no texts
		s.counts = make([]uint32, n+n/8)
	}
	sums := s.v.summaries()
	there, values := s.there[:0], []uint32(nil)
	add := func(value uint32) {
		if s.counts[value]++; s.counts[value] == 1 {
			there = append(there, value)
		}
	}
	var month, from, to uint32 // of the address before: most have been seen in the same month
	for _, n := range s.found {
		if f == ByMonth {
			if first := sums[n].first; first < from || first >= to {
				month = monthOf(first)
				from, to = monthStart(month), monthStart(month+1)
			}
			add(month)
			continue
		}
		if !sums[n].mixed || f != ByHost && f != BySite && f != ByKind {
			add(sums[n].row.value(f))
			continue
		}
		values = s.values(values[:0], n, f)
		for _, value := range values {
			add(value)
		}
	}
	c := Count{Facet: f, Values: []Value{}}
	order := func(a, b Value) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value)) }
	for _, n := range there {
		count := int(s.counts[n])
		s.counts[n] = 0
		full := len(c.Values) == maxFacetValues
		if full && count < c.Values[maxFacetValues-1].Count {
			continue
		}
		v := Value{s.v.shown(f, n), count}
		if v.Value == "" || full && order(c.Values[maxFacetValues-1], v) <= 0 {
			continue
		}
		if full {
			c.Values = c.Values[:maxFacetValues-1]
		}
		at, _ := slices.BinarySearchFunc(c.Values, v, order)
		c.Values = slices.Insert(c.Values, at, v)
	}
	s.there = there
	return c
}

// values adds to values all that the mentions of a group have which fit the
// filter.
func (s *search) values(values []uint32, group uint32, f Facet) []uint32 {
	for _, number := range s.v.of(group) {
		p, n := s.v.at(number)
		r := &p.all[n]
		if value := r.value(f); !slices.Contains(values, value) && s.filter.fits(r) {
			values = append(values, value)
		}
	}
	return values
}

// value returns a property of r as a number, which shown turns into words.
func (r *row) value(f Facet) uint32 {
	switch f {
	case ByStreet:
		return r.street
	case ByPostcode:
		return r.code
	case ByCity:
		return r.city
	case ByHost:
		return r.host
	case BySite:
		return r.site
	case ByKind:
		return uint32(r.kind)
	case ByPrecision:
		return uint32(r.precision)
	}
	return uint32(r.level)
}

func (v *view) shown(f Facet, n uint32) string {
	switch f {
	case ByPrecision:
		return gazetteer.Precision(n).String()
	case ByLevel:
		return geoparse.Level(n).String()
	case ByKind:
		return kindName(uint8(n))
	case ByMonth:
		return monthName(n)
	}
	return v.texts[n].shown
}

// explain looks the words up again and notes what each gave to the hits.
func (s *search) explain(q Query, words []word, at stage, page []ranked, hits []Hit) error {
	s.explained = make(map[uint32][]Part, len(page))
	defer func() { s.explained = nil }()
	for _, r := range page {
		s.explained[r.group] = []Part{}
	}
	if err := s.run(q, words, at); err != nil {
		return err
	}
	for i, r := range page {
		hits[i].Parts = s.explained[r.group]
	}
	return nil
}

// hit reads some mentions of an address: the one that fits best, and those of
// the others that prove it best.
func (s *search) hit(q *Query, c *centre, r *ranked, marks *marker) (Hit, error) {
	g := s.groups[r.group]
	var wish *row
	var best *mention
	if s.ranked {
		p, n := s.v.at(g.row)
		var err error
		if best, err = p.mention(n); err != nil {
			return Hit{}, err
		}
		if marks.beside(best) {
			wish = &p.all[n]
		}
	}
	var fits func(*row) bool
	if !s.filter.all {
		fits = s.filter.fits
	}
	a := s.v.account(r.group, fits, wish)
	var all []evident
	for _, o := range a.statements {
		if len(all) == maxEvidence {
			break
		}
		if best != nil && o.number() == g.row {
			all = slices.Insert(all, 0, evident{best, o})
			best = nil
			continue
		}
		if best != nil && len(all) == maxEvidence-1 {
			continue // room for the one that fits best
		}
		m, err := o.part.mention(o.n)
		if err != nil {
			return Hit{}, err
		}
		all = append(all, evident{m, o})
	}
	h := s.x.assemble(addressID(r.id), all, &a, s.v, marks)
	if at := s.v.place(r.group); at.located() {
		h.HasPoint, h.Point, h.Precision, h.Level = true, at.point(), at.precision.String(), at.level.String()
		if c != nil {
			h.Distance = metres(c.haversine(at.spot))
		}
	}
	if q.Sort == ByName {
		h.Name = s.v.known(r.group).shown
	}
	if s.ranked {
		h.Score = float64(g.sum)
	}
	return h, nil
}

// An evident is a statement with what is stored of it.
type evident struct {
	*mention
	statement
}

// assemble makes a hit of an account and of some of its statements, the best
// one first.
func (x *Index) assemble(id string, all []evident, a *account, v *view, marks *marker) Hit {
	first := all[0]
	h := Hit{
		ID: id, Site: v.texts[a.statements[0].row().site].shown, Name: a.name, Names: a.others, Distance: -1, Mentions: len(a.statements),
		Street: first.Street, HouseNumber: first.Number, Postcode: first.Code, City: first.City, State: first.State, Country: first.Land,
		FirstSeen: time.Unix(a.first, 0).UTC(), LastSeen: time.Unix(a.last, 0).UTC(),
		Directory: a.statements[0].own < leastOwn, Role: a.role.String(), SiteWide: a.siteWide, Kind: kindName(a.kind), Person: true,
	}
	gone, left := int64(0), len(a.statements)
	for i, e := range all {
		m := e.mention
		var snippet Snippet
		if i == 0 || marks.all {
			snippet = marks.snippet(m)
		}
		if m.Gone != 0 {
			gone, left = max(gone, m.Gone), left-1
		}
		h.merge(m)
		if e.fit != anothers {
			h.Person = h.Person && m.Person
		}
		h.Evidence = append(h.Evidence, Evidence{
			URL: m.URL, Site: v.texts[e.row().site].shown, Title: m.Title, Lang: m.Lang, Snippet: snippet,
			Fetched: time.Unix(m.Fetched, 0).UTC(), Gone: timeOf(m.Gone), Confidence: m.Confidence, Origin: m.Origin.String(),
		})
	}
	// What belongs to the name comes from those who use it first.
	for _, fit := range [...]uint8{namedSo, meant} {
		for _, e := range all {
			if e.fit == fit {
				h.belong(e.mention)
			}
		}
	}
	if left == 0 {
		h.Gone = timeOf(gone)
	}
	return h
}

// timeOf returns the zero time for 0.
func timeOf(unix int64) time.Time {
	if unix == 0 {
		return time.Time{}
	}
	return time.Unix(unix, 0).UTC()
}

// merge takes from m what h has not got yet.
func (h *Hit) merge(m *mention) {
	h.Unit, h.State, h.Country = cmp.Or(h.Unit, m.Unit), cmp.Or(h.State, m.State), cmp.Or(h.Country, m.Land)
	precision := m.Precision.String()
	if m.Precision > gazetteer.NoPrecision && (!h.HasPoint || m.Precision == gazetteer.HousePrecision && h.Precision != precision) {
		h.HasPoint, h.Point, h.Precision, h.Level, h.Place = true, m.Point, precision, m.Level.String(), m.Place
	}
	h.Level = cmp.Or(h.Level, m.Level.String())
	h.Precision = cmp.Or(h.Precision, precision)
	h.Confidence = max(h.Confidence, m.Confidence)
}

// belong takes from m what h has not got yet of what belongs to its name.
func (h *Hit) belong(m *mention) {
	h.Phone, h.Email, h.Website, h.Hours = cmp.Or(h.Phone, m.Phone), cmp.Or(h.Email, m.Email), cmp.Or(h.Website, m.Home), cmp.Or(h.Hours, m.Hours)
}

// beside tells whether words of the query stand in the page's words for what is
// at an address, and not only in the address.
func (k *marker) beside(m *mention) bool {
	return slices.ContainsFunc(k.marks(m), func(at [2]int) bool { return at[1] <= m.Start || at[0] >= m.End })
}

// A Snippet is a short text of a page in which the words of the query are
// marked. Both are bounded: 120 characters, "…" where it was cut.
type Snippet struct {
	Text  string
	Marks [][2]int // byte offsets in Text, in order, not overlapping
}

// A marker finds the words of a query in texts.
type marker struct {
	a     *analysis
	words []word
	all   bool            // each page gets a snippet, not only the first one
	first [256]bool       // bytes that a word which is to be marked may begin with
	known map[*token]bool // whether a word with such a beginning is to be marked

	last  *mention // whose marks are kept
	found [][2]int
}

func (a *analysis) newMarker(words []word) *marker {
	k := &marker{a: a, words: words, known: map[*token]bool{}}
	for _, w := range words {
		for _, term := range slices.Concat(w.terms, w.where[:1]) {
			k.first[term[0]] = true // neither an ending nor a street word's short form changes it
		}
	}
	return k
}

// marks returns where words of the query stand in a mention's text.
func (k *marker) marks(m *mention) [][2]int {
	if len(k.words) == 0 || m == k.last {
		return k.found
	}
	k.last, k.found = m, nil
	k.a.dictionaryOf(m.Lang).each(m.Near, func(t *token, start int) {
		if t.folded == "" || !k.first[t.folded[0]] {
			return
		}
		is, ok := k.known[t]
		if !ok {
			is = k.fits(t)
			k.known[t] = is
		}
		if is {
			k.found = append(k.found, [2]int{start, start + t.end - t.start})
		}
	})
	return k.found
}

// fits tells whether a word of a text is one of the query, with its ending or
// without, or begins with the last one.
func (k *marker) fits(t *token) bool {
	last := k.words[len(k.words)-1].terms[0]
	for _, w := range k.words {
		if slices.Contains(w.terms, t.folded) || slices.Contains(w.terms, t.term) || slices.Equal(w.where, streetWords(t.folded)) || len(w.where) > 1 && w.where[0] == t.folded {
			return true
		}
	}
	return len(last) >= 3 && strings.HasPrefix(t.folded, last)
}

// snippet cuts the part of a mention's text that shows the most words of the
// query, or the address where it shows none.
func (k *marker) snippet(m *mention) Snippet {
	marks := k.marks(m)
	near := []rune(m.Near)
	offset := make([]int, 0, len(near)+1) // of each character, in bytes
	for i := range m.Near {
		offset = append(offset, i)
	}
	offset = append(offset, len(m.Near))
	position := func(at int) int { i, _ := slices.BinarySearch(offset, at); return i }

	// The window begins a little before a mark, or before the address, such
	// that it shows the most marks.
	length := snippetLength - 2 // room for two "…"
	from := max(0, position(m.Start)-30)
	most := 0
	for i, mark := range marks {
		begin := max(0, min(position(mark[0])-20, len(near)-length))
		shown := 0
		for _, other := range marks[i:] {
			if position(other[1]) > begin+length {
				break
			}
			shown++
		}
		if shown > most {
			most, from = shown, begin
		}
	}
	if len(near) <= snippetLength {
		from, length = 0, len(near)
	}
	from = max(0, min(from, len(near)-length))
	to := min(len(near), from+length)
	for i := from; 0 < i && i < from+15 && i < to; i++ { // begin with a whole word
		if near[i-1] == ' ' || near[i-1] == '\n' {
			from = i
			break
		}
	}
	s := Snippet{}
	prefix := ""
	if from > 0 {
		prefix = "…"
	}
	s.Text = prefix + strings.ReplaceAll(string(near[from:to]), "\n", " ")
	shift := len(prefix) - offset[from]
	for _, mark := range marks {
		if mark[0] >= offset[from] && mark[1] <= offset[to] {
			s.Marks = append(s.Marks, [2]int{mark[0] + shift, mark[1] + shift})
		}
	}
	if to < len(near) {
		s.Text += "…"
	}
	return s
}

package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gazehound/gazetteer"
	"gazehound/internal/kind"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"
	bleveindex "github.com/blevesearch/bleve_index_api"
)

// Search answers q. Errors wrap ErrQuery or ErrCursor where q is at fault, or
// the error of ctx; the caller bounds the time by it. The order does not
// depend on q.Limit.
func (x *Index) Search(ctx context.Context, q Query) (*Result, error) {
	s, err := x.newSearch(ctx, q)
	if err != nil || s == nil {
		return &Result{}, err
	}
	defer s.view.Close()
	a, err := s.search()
	if err != nil {
		return nil, err
	}
	r := a.Result
	k := s.q.hitMaker(s.words, s.q.Center)
	k.view = s.view
	for i := range a.matches {
		h, err := k.hit(&a.matches[i])
		if err != nil {
			return nil, err
		}
		r.Hits = append(r.Hits, h)
	}
	if q.Group {
		r.group(s.asked.Limit)
	}
	return &r, nil
}

// An answer is a Result whose hits are not made yet.
type answer struct {
	Result
	matches []match
}

// A match is the record of an address that fits a query.
type match struct {
	at     cursor // its place in the answer, and its ID
	record []byte
	score  float64 // as in Hit
	parts  []Part
}

// search answers the query.
func (s *searcher) search() (a *answer, err error) {
	start := time.Now()
	from, to, after := direct, partial, (*cursor)(nil)
	if s.q.Cursor != "" {
		c, err := decodeCursor(s.q.Cursor, s.asked)
		if err != nil {
			return nil, err
		}
		from, to, after = c.Stage, c.Stage, &c
	}
	err = s.eachStage(from, to, func() (int, error) {
		a, err = s.find(after)
		if err != nil {
			return 0, err
		}
		return a.Total, nil
	})
	if err != nil {
		return nil, err
	}
	a.Relaxed = s.stage > exact && a.Total > 0
	a.Near, a.Me, a.Open, a.Took = s.near, s.me, s.open, time.Since(start)
	if s.stage == about || s.stage == exact && s.pure {
		a.Kinds = s.kinds()
	}
	if s.pure && len(s.kinds()) == 0 {
		a.Absent = s.words[s.firstMajor()].kinds
	}
	return a, nil
}

// fewPlaces is the number of places of a kind below which similar kinds follow.
const fewPlaces = 10

// eachStage calls ask, which returns how many addresses fit, at one stage after the
// other until there are enough.
func (s *searcher) eachStage(from, to stage, ask func() (int, error)) error {
	for s.stage = from; ; s.stage++ {
		switch {
		case len(s.words) == 0:
			s.stage = exact
		case s.stage == direct && s.direct == nil, s.stage == about && len(s.kinds()) == 0:
			continue
		}
		n, err := ask()
		enough := n > 0 && (s.stage != about || n >= fewPlaces)
		if err != nil || enough || len(s.words) == 0 || s.stage >= s.last(to) {
			return err
		}
	}
}

// last returns the last stage of a search, which is at most to: the words for a kind
// mean nothing each by itself.
func (s *searcher) last(to stage) stage {
	if s.pure {
		return min(to, typos)
	}
	return to
}

// A searcher is the state of one query.
type searcher struct {
	x      *Index
	ctx    context.Context
	view   *view
	q      Query
	asked  Query // as it was asked, before a place in its text became its centre
	words  []word
	direct query.Query // for the telephone number, host or URL that the text is; nil: it is none
	open   *OpenTime   // the opening time that is asked for, or nil
	me     bool        // what is near the reader is asked for
	pure   bool        // nothing but a kind of places is asked for
	near   string      // the address that the text names for its surroundings, or ""
	stage  stage
	lift   float64                   // how much more an address at the centre counts than one far away
	parts  map[string]map[*word]Part // of explained scores, by the number of the document
}

// How much more an address at the centre counts than one far away: by the
// reader's position, and near the address that the query names.
const (
	usualLift = 2.0
	nearLift  = 12.0
)

// newSearch begins a search; nil where nothing can be found.
func (x *Index) newSearch(ctx context.Context, q Query) (*searcher, error) {
	q, err := q.check()
	if err != nil {
		return nil, err
	}
	s := &searcher{
		x: x, ctx: ctx, q: q, asked: q, words: splitQuery(q.Text), lift: usualLift,
	}
	s.view, err = x.view()
	if s.view == nil {
		return nil, err
	}
	if len(s.words) == 0 && strings.TrimSpace(q.Text) != "" { // "???" asks for nothing
		return nil, s.view.Close()
	}
	s.respell()
	if !q.literal() {
		s.otherNames()
	}
	err = s.understand(cmp.Or(q.Now, time.Now()))
	if err != nil {
		s.view.Close()
		return nil, err
	}
	return s, nil
}

// run searches Bleve. All documents count as equally long, since being on many pages must not lower
// a score: Bleve's own average changes when segments are merged, and scores with it, while somebody
// turns pages.
func (s *searcher) run(ctx context.Context, r *bleve.SearchRequest) (*bleve.SearchResult, error) {
	lengths := make(map[string]int, len(scored))
	for _, field := range scored {
		lengths[field] = s.view.state.Documents
	}
	r.PreSearchData = map[string]any{
		search.BM25PreSearchDataKey: &search.BM25Stats{
			DocCount: float64(s.view.state.Documents), FieldCardinality: lengths,
		},
	}
	found, err := s.x.bleve.SearchInContext(ctx, r)
	if err != nil {
		if s.ctx.Err() != nil {
			err = s.ctx.Err()
		}
		return nil, fmt.Errorf("index: search: %w", err)
	}
	return found, nil
}

// count returns how many documents a query finds.
func (s *searcher) count(q query.Query) (int, error) {
	request := bleve.NewSearchRequestOptions(q, 0, 0, false)
	request.Score = "none"
	found, err := s.run(s.ctx, request)
	if err != nil {
		return 0, err
	}
	return int(found.Total), nil
}

// query returns the query of this stage.
func (s *searcher) query() (query.Query, error) {
	fits, narrows := s.filter()
	if len(s.words) == 0 {
		return fits, nil
	}
	words, err := s.direct, error(nil)
	if s.stage != direct {
		words, err = s.text()
	}
	if err != nil {
		return nil, err
	}
	if narrows {
		words = query.NewConjunctionQuery([]query.Query{words, unscored{fits}})
	}
	return words, nil
}

// firstMajor returns which of the words is the first that is no stop word.
func (s *searcher) firstMajor() int {
	return max(0, slices.IndexFunc(s.words, func(w word) bool { return !w.minor }))
}

// find searches Bleve for one page of hits.
func (s *searcher) find(after *cursor) (*answer, error) {
	q, err := s.query()
	if err != nil {
		return nil, err
	}
	by, most := s.order(), s.q.pageSize()+1
	request := bleve.NewSearchRequestOptions(s.ranked(q, by), most, 0, false)
	request.Fields = []string{fieldStored}
	request.SortByCustom(search.SortOrder{by.SearchSort})
	if !by.RequiresScoring() {
		request.Score = "none"
	}
	for _, f := range s.q.Facets {
		request.AddFacet(string(f), bleve.NewFacetRequest(facetField[f], counted))
	}
	ctx := context.WithValue(s.ctx, search.MakeDocumentMatchHandlerKey, by.first(most, after))
	found, err := s.run(ctx, request)
	if err != nil {
		return nil, err
	}
	a := &answer{Result: Result{Total: int(found.Total)}}
	if after != nil {
		a.Offset = after.Offset
	}
	digest := s.asked.digest()
	for i, d := range found.Hits[:min(s.q.pageSize(), len(found.Hits))] {
		stored, _ := d.Fields[fieldStored].(string)
		at := cursor{Stage: s.stage, Offset: a.Offset + i + 1, Key: by.key(d), ID: d.ID, Query: digest}
		one := match{at: at, record: []byte(stored)}
		if s.byScore() {
			one.score = d.Score
		}
		a.matches = append(a.matches, one)
	}
	if n := len(a.matches); n < len(found.Hits) {
		a.Next = a.matches[n-1].at.encode()
	}
	a.Facets = s.facets(found.Facets)
	if s.q.Explain && len(s.words) > 0 {
		err := s.explain(q, a.matches)
		if err != nil {
			return nil, err
		}
	}
	return a, s.more(q, a)
}

const (
	maxPrefixes = 40 // words that one start stands for
	maxTypos    = 40 // words that one misspelt word stands for
	maxLooked   = 2000
)

// text returns the query for the words: all but stop words, or at the last stage some.
func (s *searcher) text() (query.Query, error) {
	meaning := slices.ContainsFunc(s.words, func(w word) bool { return !w.minor })
	var must, should []query.Query
	for i := range s.words {
		w, err := s.word(i)
		if err != nil {
			return nil, err
		}
		if s.stage == partial && s.isCommon(&s.words[i]) {
			continue
		}
		if s.stage == partial || s.words[i].minor && meaning {
			should = append(should, w)
		} else {
			must = append(must, w)
		}
	}
	if street := s.street(); street != "" && s.stage != partial {
		var named alternatives
		named.add(fieldStreet, streetBoost, street)
		should = append(should, &named)
	}
	switch {
	case s.stage == partial:
		return query.NewDisjunctionQuery(should), nil
	case len(must) == 1 && len(should) == 0: // with the same scores as a conjunction of one, and faster
		return must[0], nil
	case len(should) == 0:
		return query.NewConjunctionQuery(must), nil
	}
	return query.NewBooleanQuery(must, should, nil), nil
}

// How much more than the word itself, in the text about an address, its other
// meanings give to the score: first places of the kind that it means, then those that
// probably are of it, then those named so. "make eval" says what it is good for.
const (
	kindBoost    = 100
	besideBoost  = 6 // where other words are asked for as well
	alikeBoost   = 40
	namedBoost   = 15
	nameBoost    = 3    // where it is no kind
	unknownBoost = 40   // where nobody knows of what kind it is
	startedBoost = 0.45 // of a longer word that begins with the word
	typoBoost    = 0.4  // of one that is one edit away
	streetBoost  = 10   // of the street that all words together name
)

// street returns the key of the street that the words name, without the number of a house; "" where
// the index has none of that name.
func (s *searcher) street() string {
	var raws []string
	for _, w := range s.words {
		if !isNumber(w.raw[:1]) {
			raws = append(raws, w.raw)
		}
	}
	key := gazetteer.StreetKey(strings.Join(raws, " "))
	if len(raws) < 2 || s.view.count(fieldStreet, key) == 0 {
		return ""
	}
	return key
}

// word returns the query for one word, the best meaning first: the kind of place, the word as it is
// written, longer ones where it is the last, and after the first stages those that are one edit
// away.
func (s *searcher) word(i int) (query.Query, error) {
	w := &s.words[i]
	var written []string // in texts about an address
	if !s.q.AddressOnly {
		written = w.terms
	}
	if w.where[0] != w.terms[0] || s.q.AddressOnly { // of "langestr." lange is enough: str is a word of most addresses
		written = append(slices.Clip(written), w.where[0])
	}
	similar, err := s.similar(i, written)
	if err != nil {
		return nil, err
	}
	all, exact := alternatives{note: s.noteOf(w)}, alternatives{note: s.noteOf(w)}
	if s.isBare() {
		if s.q.AddressOnly {
			return &similar, nil
		}
		all.add(fieldNamed, 1, w.terms...)
		return &all, nil
	}
	exact.add(s.dictionary(), 1, written...)
	ofKind := s.stage == about && len(w.kinds) > 0
	switch {
	case ofKind:
		all.add(fieldKind, kindBoost, w.kinds...)
	case s.pure:
		all.add(fieldKind, kindBoost, w.kinds...)
		all.add(fieldKind, alikeBoost, w.alike...)
		all.add(fieldNamed, alikeBoost, w.signs...)
		all.add(fieldNamed, namedBoost, w.terms...)
	case !s.q.AddressOnly:
		all.add(fieldKind, besideBoost, w.kinds...)
		all.add(fieldNamed, nameBoost, w.terms...)
	}
	if !ofKind {
		all.terms = slices.Concat(all.terms, exact.terms, similar.terms)
	}
	if len(w.kinds) == 0 || !s.pure {
		return &all, nil
	}
	// places of an unknown kind before those of another, and those that have the word
	unknown := &alternatives{}
	unknown.add(fieldKindless, 2*unknownBoost, yes)
	return query.NewBooleanQuery([]query.Query{&all}, []query.Query{&exact, unknown}, nil), nil
}

// similar returns the words that a word of the query may stand for, beside those in which it is
// written.
func (s *searcher) similar(i int, written []string) (all alternatives, err error) {
	w, last := &s.words[i], i == len(s.words)-1
	start := w.terms[0]
	add := func(boost float64, terms []string) {
		others := slices.DeleteFunc(slices.Clone(terms), func(t string) bool { return slices.Contains(written, t) })
		all.add(s.dictionary(), boost, others...)
	}
	if isNumber(start) {
		if last && len(start) >= leastOfCode && s.view.count(fieldWhere, start) == 0 {
			err = s.codesFrom(start, &all)
		}
		return all, err
	}
	if last && utf8.RuneCountInString(start) >= 2 {
		dict, err := s.view.FieldDictPrefix(s.dictionary(), []byte(start))
		if err != nil {
			return all, fmt.Errorf("index: %w", err)
		}
		longer, err := mostFrequent(dict, maxLooked, maxPrefixes)
		if err != nil {
			return all, err
		}
		add(startedBoost, longer)
	}
	for _, form := range w.terms { // the dictionary has words without their endings
		if s.stage < typos || utf8.RuneCountInString(form) < 4 {
			continue
		}
		fuzzy, ok := s.view.IndexReader.(bleveindex.IndexReaderFuzzy)
		if !ok {
			return all, fmt.Errorf("index: %T finds no similar words", s.view.IndexReader)
		}
		_, first := utf8.DecodeRuneInString(form)
		dict, err := fuzzy.FieldDictFuzzy(s.dictionary(), form, 1, form[:first])
		if err != nil {
			return all, fmt.Errorf("index: %w", err)
		}
		alike, err := mostFrequent(dict, math.MaxInt, maxTypos)
		if err != nil {
			return all, err
		}
		add(typoBoost, alike)
		for _, t := range alike {
			if k := kind.InQuery([]string{t})[0]; len(k) > 0 && len(w.kinds) == 0 { // of a misspelt kind
				w.kinds, s.pure = k, len(s.words) == 1
			}
		}
	}
	return all, nil
}

// leastOfCode is how many digits begin a postcode.
const leastOfCode = 3

// codesFrom adds the postcodes that begin with start.
func (s *searcher) codesFrom(start string, all *alternatives) error {
	name, term := termOf(fieldCode, start)
	dict, err := s.view.FieldDictPrefix(name, []byte(term))
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	codes, err := mostFrequent(dict, maxLooked, maxPrefixes)
	for _, code := range codes {
		all.add(fieldCode, startedBoost, strings.TrimPrefix(code, fieldCode+separator))
	}
	return err
}

// isCommon reports whether w says nothing where some of the words are enough: "str" beside others.
func (s *searcher) isCommon(w *word) bool {
	_, ok := streetWord[w.terms[0]]
	return ok && len(s.words) > 1
}

// isBare reports whether the words are nothing but a word for a street, "Str.", which says nothing:
// most addresses have it. It counts in names, "Streetfood", and as the beginning of one.
func (s *searcher) isBare() bool {
	return len(s.words) == 1 && slices.Contains([]string{"str", "st", "rd", "ave"}, streetWord[s.words[0].terms[0]])
}

// dictionary returns the field that has the words that are looked up.
func (s *searcher) dictionary() string {
	if s.q.AddressOnly {
		return fieldWhere
	}
	return fieldWords
}

// alternatives are terms of which a document has one or more.
type alternatives struct {
	terms []query.Query
	note  func(*search.DocumentMatch) // what an explained score is made of; nil: nobody asks
}

// add adds keywords or words of a field.
func (a *alternatives) add(field string, boost float64, values ...string) {
	for _, value := range values {
		name, term := termOf(field, value)
		t := query.NewTermQuery(term)
		t.SetField(name)
		t.SetBoost(boost)
		a.terms = append(a.terms, t)
	}
}

// Searcher returns what finds documents with any of the terms. The one with the highest score
// counts.
func (a *alternatives) Searcher(
	ctx context.Context, r bleveindex.IndexReader, m mapping.IndexMapping, o search.SearcherOptions,
) (search.Searcher, error) {
	if len(a.terms) == 1 && !o.Explain {
		return a.terms[0].Searcher(ctx, r, m, o)
	}
	union := query.NewDisjunctionQuery(a.terms)
	if o.Score == "none" {
		return union.Searcher(ctx, r, m, o)
	}
	union.RetrieveScoreBreakdown(true)
	found, err := union.Searcher(ctx, r, m, o)
	return rescored{found, a.highest}, err
}

// highest makes the highest score of its clauses that of a document.
func (a *alternatives) highest(d *search.DocumentMatch) error {
	clause := -1
	for i, score := range d.ScoreBreakdown {
		if clause < 0 || score > d.Score {
			clause, d.Score = i, score
		}
	}
	if d.Expl != nil {
		d.Expl = d.Expl.Children[clause]
		if a.note != nil {
			a.note(d)
		}
	}
	return nil
}

// mostFrequent returns the most frequent terms of the first ones of a dictionary,
// which it closes.
func mostFrequent(dict bleveindex.FieldDict, look, most int) (terms []string, err error) {
	defer dict.Close()
	counts := map[string]uint64{}
	for range look {
		e, err := dict.Next()
		if err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
		if e == nil {
			break
		}
		terms, counts[e.Term] = append(terms, e.Term), e.Count
	}
	slices.SortStableFunc(terms, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	return terms[:min(most, len(terms))], nil
}

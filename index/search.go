package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	segment "github.com/blevesearch/scorch_segment_api/v2"
)

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
	s, err := x.newSearch(ctx, v, q.shape(len(words)))
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

// A search is the work on one query, with arrays that are used again.
type search struct {
	x      *Index
	ctx    context.Context
	turn   *turn
	v      *view
	dicts  [][2]segment.TermDictionary // of each part: words, where
	looked map[lookUp]*occurrences

	postings segment.PostingsList // that is read now; it and its iterator are used again
	iterator segment.PostingsIterator
	*scratch

	filter    *filter
	inArea    []uint64          // a bit for each row of the view that fits; nil: see filter
	ranked    bool              // by words
	whereOnly bool              // words are looked up in addresses only
	sought    []*occurrences    // of the words, in the order in which they were applied
	explained map[uint32][]Part // of the groups whose score is to be explained
}

// A scratch has an entry for each group of a view; groups and counts are all
// zero between searches.
type scratch struct {
	groups []group
	found  []uint32     // groups that match
	near   []uint32     // some of them, see nearest
	word   []uint32     // groups that the word has, which is looked up now
	bits   []uint64     // room for inArea
	counts []uint32     // of each text, while a facet is counted
	there  []uint32     // texts that have a count
	cells  map[cell]int // numbers of heaps
	heaps  []heap
}

// A group is an address while a search looks at its mentions.
type group struct {
	sum   float32 // of the words that were looked up; without words the mentions that match
	now   float32 // the best weight of the word that is looked up
	row   uint32  // number in the view of the mention that fits best, see bestRow
	words uint8   // that it has, of those that it must have
	any   uint8   // that it has; 1 without words
	tied  bool    // another mention may fit as well as row
}

// newSearch begins a search when it is its turn.
func (x *Index) newSearch(ctx context.Context, v *view, of shape) (*search, error) {
	turn, err := x.turns.take(ctx, of)
	if err != nil {
		return nil, err
	}
	s := &search{x: x, ctx: ctx, turn: turn, v: v}
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
	s.x.turns.give(s.turn)
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
	s.sought = s.sought[:0]
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
	for i := range words {
		w := &words[i]
		l, err := s.look(lookUp{w, i == len(words)-1, at >= typos, s.whereOnly})
		if err != nil {
			return err
		}
		if l.must = at != partial && !(w.minor && meaning); l.must && l.count == 0 {
			return nil
		}
		s.sought = append(s.sought, l)
	}
	// The rarest word first: it leaves the fewest groups for the others.
	slices.SortStableFunc(s.sought, func(a, b *occurrences) int {
		return cmp.Or(compareBool(b.must, a.must), cmp.Compare(a.count, b.count))
	})
	must := uint8(0)
	for _, l := range s.sought {
		if err := s.apply(l, must); err != nil {
			return err
		}
		if l.must {
			must++
		}
		if l.must && must > 1 { // all that has been found has the first one
			s.keep(func(_ uint32, g *group) bool { return g.words == must })
		}
	}
	if at == partial {
		// What has many of the words comes before what has one of them often.
		for _, n := range s.found {
			s.groups[n].sum *= float32(s.groups[n].any) / float32(len(s.sought))
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

// apply adds the weight of a word to the groups that have it. With must > 0
// only groups count that have so many words already.
func (s *search) apply(l *occurrences, must uint8) error {
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
		if g.any == 0 {
			s.found = append(s.found, n)
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
func (s *search) read(e entries, must uint8) error {
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
				s.weigh(e.part, p.row(), e.worth[p.weight()])
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
func (s *search) readFew(e entries, must uint8) {
	for _, g := range s.found {
		s.eachOf(g, e, func(p posting) { s.mention(e.part, p, e.worth, must) })
	}
}

// eachOf calls fn with the mentions of a group that have a term and live.
func (s *search) eachOf(g uint32, e entries, fn func(posting)) {
	all := s.v.of(g)
	from, _ := slices.BinarySearch(all, e.part.base)
	to, _ := slices.BinarySearch(all, e.part.base+uint32(len(e.part.all)))
	if all = all[from:to]; len(all) > len(e.list) {
		for _, p := range e.list {
			if e.part.groups[p.row()] == g && e.part.live(p.row()) {
				fn(p)
			}
		}
		return
	}
	for _, number := range all {
		n := number - e.part.base
		if at, _ := slices.BinarySearch(e.list, newPosting(n, 0)); at < len(e.list) && e.list[at].row() == n {
			fn(e.list[at])
		}
	}
}

// bestRow returns the number in the view of the mention of a group that fits
// best: the one in which the first of its words weighs the most, of several that of
// the page with the smallest hash.
func (s *search) bestRow(number uint32) uint32 {
	g := &s.groups[number]
	if !g.tied {
		return g.row
	}
	for _, l := range s.sought {
		var best *row
		weight, at := float32(0), uint32(0)
		for _, e := range l.found {
			s.eachOf(number, e, func(p posting) {
				r, w := &e.part.all[p.row()], e.worth[p.weight()]
				if w < weight || w == weight && r.page >= best.page || !s.filter.all && !s.fits(e.part, p.row()) {
					return
				}
				best, weight, at = r, w, e.part.base+p.row()
			})
		}
		if best != nil {
			return at
		}
	}
	return g.row
}

// mention adds one mention that has a term, if it fits.
func (s *search) mention(part *part, p posting, worth *impacts, must uint8) {
	n := p.row()
	if must > 0 && s.groups[part.groups[n]].words < must || !s.filter.all && !s.fits(part, n) || !part.live(n) {
		return
	}
	s.weigh(part, n, worth[p.weight()])
}

// weigh adds the weight of a term in row n of a part to its group.
func (s *search) weigh(part *part, n uint32, weight float32) {
	number := part.groups[n]
	g := &s.groups[number]
	switch {
	case g.now == 0:
		s.word = append(s.word, number)
		if g.now = weight; g.any == 0 {
			g.row = part.base + n
		}
	case weight > g.now:
		if g.now = weight; g.any == 0 {
			g.row, g.tied = part.base+n, false
		}
	case weight == g.now && g.any == 0:
		g.tied = true
	}
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

func round(v float64, digits int) float64 {
	p := math.Pow10(digits)
	return math.Round(v*p) / p
}

package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/blevesearch/bleve/v2"
	blevegeo "github.com/blevesearch/bleve/v2/geo"
	"github.com/blevesearch/bleve/v2/numeric"
	"github.com/blevesearch/bleve/v2/search"
	bleveindex "github.com/blevesearch/bleve_index_api"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// Bounds of an answer.
const (
	maxVisited    = 300_000 // mentions looked at; more make the answer approximate
	maxRead       = 20      // mentions of an address read for its evidence
	maxEvidence   = 5
	maxClauses    = 20_000 // of a compiled query
	snippetLength = 120    // characters
)

// A Result is a page of hits.
type Result struct {
	Hits    []Hit
	Total   int         // addresses that match
	Approx  bool        // so many mentions match that not all were looked at
	Relaxed bool        // no address has all the words: some have typing errors, or only some of the words
	Offset  int         // matches before the first hit
	Next    string      // cursor of the next page, "" at the end
	Points  []orb.Point // of matches beyond this page, as far as asked for
}

// A Hit is one address of one site.
type Hit struct {
	ID   string // AddressID
	Site string // registrable domain
	Name string // best guess of what is there

	Street, HouseNumber, Unit, Postcode, City, State, Country string

	HasPoint   bool
	Point      orb.Point // lon, lat
	Precision  string    // of Point: "house", "interpolated", "street", "postcode", "city"
	Level      string    // "verified", "street" or "city"
	Place      string    // ID of the gazetteer's entry, or ""
	Confidence float64   // 0 to 1, of the best evidence

	Distance  float64 // metres from the query's Center, or -1
	Score     float64 // how well it fits the words, 0 without; only its order means something, within one answer
	Mentions  int     // pages of the site that state it
	FirstSeen time.Time
	LastSeen  time.Time
	Evidence  []Evidence // the page that fits the query best first, at most 5
}

// Evidence is a page that states the address. Its texts are a stranger's.
type Evidence struct {
	URL, Title string
	Lang       string  // ISO 639-1 or ""
	Snippet    Snippet // of the text around the address
	Fetched    time.Time
	Confidence float64
	Origin     string // "text", "json-ld", …
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

// Label returns name and address in one line.
func (h *Hit) Label() string { return join(", ", h.Name, h.Line()) }

func join(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), sep)
}

// A group is an address while its mentions are collected.
type group struct {
	id       uint64
	best     uint64 // number of the mention that fits best
	score    float64
	mentions int
	point    orb.Point
	located  bool
	value    float64 // that hits are ordered by, descending
}

// Search answers q. Errors wrap ErrQuery or ErrCursor where q is at fault, or
// the error of ctx; the caller bounds the time by it. The order does not
// depend on q.Limit.
func (x *Index) Search(ctx context.Context, q Query) (*Result, error) {
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
	if x.bleve == nil {
		return &Result{}, nil
	}
	if len(words) == 0 && strings.TrimSpace(q.Text) != "" {
		return &Result{}, nil // "???" is no word, and asks for nothing
	}
	for at := from; ; at++ {
		r, err := x.searchStage(ctx, q, words, at, after)
		if err != nil {
			return nil, err
		}
		if r.Total > 0 || at >= to || len(words) == 0 {
			r.Relaxed = at > exact && r.Total > 0
			return r, nil
		}
	}
}

func (x *Index) searchStage(ctx context.Context, q Query, words []word, at stage, after *cursor) (*Result, error) {
	compiled, err := x.compile(q, words, at)
	if err != nil {
		return nil, err
	}
	result := &Result{}
	// Bleve hands every match to the handler, and nil at the end, while its
	// view of the data is still open: a hit and its evidence are of one state.
	handler := search.MakeDocumentMatchHandler(func(sc *search.SearchContext) (search.DocumentMatchHandler, bool, error) {
		c, err := newCollection(sc, q, len(words) > 0)
		if err != nil {
			return nil, false, err
		}
		return func(m *search.DocumentMatch) error {
			if m == nil {
				return x.finish(ctx, c, words, at, after, result)
			}
			err := c.add(m)
			sc.DocumentMatchPool.Put(m)
			return err
		}, false, nil
	})
	request := bleve.NewSearchRequestOptions(compiled, 0, 0, false)
	if len(words) == 0 {
		request.Score = "none"
	}
	ctx = context.WithValue(ctx, search.MakeDocumentMatchHandlerKey, handler)
	ctx = context.WithValue(ctx, search.MaxTermSearchersKey, maxClauses)
	if ctx, err = x.withLengths(ctx); err != nil {
		return nil, err
	}
	if _, err := x.bleve.SearchInContext(ctx, request); err != nil {
		if errors.Is(err, bleve.ErrorIndexClosed) {
			return nil, ErrClosed
		}
		return nil, fmt.Errorf("index: search: %w", err)
	}
	return result, nil
}

// withLengths tells BM25 how long the fields usually are. Bleve would take the
// number of different terms per document for it, which is far too low, and
// changes the order when segments are merged.
func (x *Index) withLengths(ctx context.Context) (context.Context, error) {
	n, err := x.bleve.DocCount()
	if errors.Is(err, bleve.ErrorIndexClosed) {
		return nil, ErrClosed
	} else if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	stats := &search.BM25Stats{DocCount: float64(n), FieldCardinality: map[string]int{fieldWhere: usualWhere * int(n)}}
	for _, f := range ranks {
		stats.FieldCardinality[f.field] = f.words * int(n)
	}
	for _, field := range []string{"*" /* match all */, fieldSite, fieldHost, fieldStreet, fieldPostcode, fieldAccuracy, fieldPoint} {
		stats.FieldCardinality[field] = int(n)
	}
	return context.WithValue(ctx, search.BM25StatsKey, stats), nil
}

// A collection groups matching mentions by address.
type collection struct {
	q       Query
	ranked  bool // by words
	reader  bleveindex.IndexReader
	points  bleveindex.DocValueReader // nil: not needed
	visited int
	groups  []group
	byID    map[uint64]int
}

func newCollection(sc *search.SearchContext, q Query, ranked bool) (*collection, error) {
	c := &collection{q: q, ranked: ranked, reader: sc.IndexReader, byID: map[uint64]int{}}
	if q.Center != nil || q.Points > 0 {
		var err error
		if c.points, err = sc.IndexReader.DocValueReader([]string{fieldPoint}); err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
	}
	return c, nil
}

func (c *collection) add(m *search.DocumentMatch) error {
	if c.visited++; c.visited > maxVisited {
		return nil
	}
	doc, err := c.reader.ExternalID(m.IndexInternalID)
	if err != nil {
		return err
	}
	_, aid := splitID(doc)
	id, err := strconv.ParseUint(aid, 16, 64)
	if err != nil {
		return fmt.Errorf("index: entry %q: %w", doc, ErrDamaged)
	}
	i, ok := c.byID[id]
	if !ok {
		i = len(c.groups)
		c.byID[id] = i
		c.groups = append(c.groups, group{id: id, score: math.Inf(-1)})
	}
	g := &c.groups[i]
	g.mentions++
	if m.Score > g.score {
		g.score = m.Score
		g.best = m.IndexInternalID.Value()
	}
	if c.points != nil && !g.located {
		return c.points.VisitDocValues(m.IndexInternalID, func(_ string, term []byte) {
			if shift, err := numeric.PrefixCoded(term).Shift(); err != nil || shift != 0 {
				return // a wider cell
			}
			if v, err := numeric.PrefixCoded(term).Int64(); err == nil {
				g.point = orb.Point{blevegeo.MortonUnhashLon(uint64(v)), blevegeo.MortonUnhashLat(uint64(v))}
				g.located = true
			}
		})
	}
	return nil
}

// rank gives every group the value by which it is ordered.
func (c *collection) rank() {
	byDistance := c.q.Center != nil && (c.q.Sort == Distance || !c.ranked)
	for i := range c.groups {
		g := &c.groups[i]
		switch {
		case byDistance && !g.located:
			g.value = math.Inf(-1)
		case byDistance:
			g.value = -geo.DistanceHaversine(*c.q.Center, g.point)
		case !c.ranked:
			g.value = float64(g.mentions)
		default:
			// Pages repeat a footer: that proves the address, and says little
			// about the words.
			g.value = g.score * (1 + 0.05*math.Log(float64(g.mentions)))
			if c.q.Center != nil && c.q.Radius == 0 && g.located {
				d := geo.DistanceHaversine(*c.q.Center, g.point)
				g.value *= 1 + 2*c.q.Bias/(1+d/c.q.Scale)
			}
		}
	}
	for i := range c.groups {
		// Sums of scores differ in their last bits from one state of the
		// segments to the next; the order must not.
		c.groups[i].value = math.Round(c.groups[i].value*1e6) / 1e6
	}
}

// compare orders groups: the higher value first, then the lower ID.
func (g *group) compare(value float64, id uint64) int {
	return cmp.Or(cmp.Compare(value, g.value), cmp.Compare(g.id, id))
}

// page returns the first groups behind the cursor in their order, at most
// limit, and how many come before them.
func (c *collection) page(after *cursor, limit int) (page []*group, before int) {
	for i := range c.groups {
		g := &c.groups[i]
		if after != nil && g.compare(after.value, after.id) <= 0 {
			before++
			continue
		}
		at, _ := slices.BinarySearchFunc(page, g, func(a, b *group) int { return a.compare(b.value, b.id) })
		if at == limit {
			continue
		}
		if len(page) == limit {
			page = page[:limit-1]
		}
		page = slices.Insert(page, at, g)
	}
	return page, before
}

// finish orders the groups, takes the page asked for and reads its evidence.
func (x *Index) finish(ctx context.Context, c *collection, words []word, at stage, after *cursor, r *Result) error {
	c.rank()
	page, before := c.page(after, c.q.Limit)
	r.Total, r.Approx, r.Offset = len(c.groups), c.visited > maxVisited, before
	shown := make(map[uint64]bool, len(page))
	for _, g := range page {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := x.hit(c, g, words)
		if err != nil {
			return err
		}
		r.Hits = append(r.Hits, h)
		shown[g.id] = true
	}
	if before+len(page) < len(c.groups) && len(page) > 0 {
		last := page[len(page)-1]
		r.Next = cursor{at, last.value, last.id}.encode(c.q)
	}
	for i := 0; i < len(c.groups) && len(r.Points) < c.q.Points; i++ {
		if g := &c.groups[i]; g.located && !shown[g.id] {
			r.Points = append(r.Points, g.point)
		}
	}
	return nil
}

// hit reads the mentions of an address: the one that fits best, and some of
// the others.
func (x *Index) hit(c *collection, g *group, words []word) (Hit, error) {
	aid := fmt.Sprintf("%016x", g.id)
	bestDoc := bleveindex.NewIndexInternalID(nil, g.best)
	best, err := load(c.reader, bestDoc)
	if err != nil {
		return Hit{}, err
	}
	all := []*mention{best}
	postings, err := c.reader.TermFieldReader(context.Background(), []byte(aid), fieldAddress, false, false, false)
	if err != nil {
		return Hit{}, fmt.Errorf("index: %w", err)
	}
	defer postings.Close()
	for len(all) < maxRead {
		p, err := postings.Next(nil)
		if err != nil {
			return Hit{}, fmt.Errorf("index: %w", err)
		}
		if p == nil {
			break
		}
		if p.ID.Equals(bestDoc) {
			continue
		}
		m, err := load(c.reader, p.ID)
		if err != nil {
			return Hit{}, err
		}
		all = append(all, m)
	}
	slices.SortStableFunc(all[1:], compareMentions)
	h := x.assemble(aid, all, int(postings.Count()), words)
	if c.ranked && c.q.Sort != Distance {
		h.Score = g.value
	}
	if c.q.Center != nil && h.HasPoint {
		h.Distance = geo.DistanceHaversine(*c.q.Center, h.Point)
	}
	return h, nil
}

// assemble makes a hit of mentions of one address, the best one first; n is
// how many there are in all.
func (x *Index) assemble(id string, all []*mention, n int, words []word) Hit {
	best := all[0]
	h := Hit{
		ID: id, Site: siteOf(hostOf(best.URL)), Name: best.Name, Distance: -1, Mentions: n,
		Street: best.Street, HouseNumber: best.Number, Postcode: best.Code, City: best.City, State: best.State, Country: best.Land,
		FirstSeen: time.Unix(best.First, 0).UTC(), LastSeen: time.Unix(best.Fetched, 0).UTC(),
	}
	for _, m := range all {
		h.merge(m)
		if len(h.Evidence) < maxEvidence {
			h.Evidence = append(h.Evidence, Evidence{
				URL: m.URL, Title: m.Title, Lang: m.Lang, Snippet: x.words.snippet(m, words),
				Fetched: time.Unix(m.Fetched, 0).UTC(), Confidence: m.Confidence, Origin: m.Origin,
			})
		}
	}
	return h
}

// merge takes from m what h has not got yet.
func (h *Hit) merge(m *mention) {
	h.Unit, h.State, h.Country = cmp.Or(h.Unit, m.Unit), cmp.Or(h.State, m.State), cmp.Or(h.Country, m.Land)
	if m.HasPoint && (!h.HasPoint || m.Precision == "house" && h.Precision != "house") {
		h.HasPoint, h.Point, h.Precision, h.Level, h.Place = true, m.Point, m.Precision, m.Level, m.Place
	}
	h.Level = cmp.Or(h.Level, m.Level)
	h.Precision = cmp.Or(h.Precision, m.Precision)
	h.Confidence = max(h.Confidence, m.Confidence)
	if t := time.Unix(m.First, 0).UTC(); t.Before(h.FirstSeen) {
		h.FirstSeen = t
	}
	if t := time.Unix(m.Fetched, 0).UTC(); t.After(h.LastSeen) {
		h.LastSeen = t
	}
}

// A Snippet is a short text of a page in which the words of the query are
// marked. Both are bounded: 120 characters, "…" where it was cut.
type Snippet struct {
	Text  string
	Marks [][2]int // byte offsets in Text, in order, not overlapping
}

// snippet cuts the part of a mention's text that shows the most words of the
// query, or the address where it shows none.
func (a *analysis) snippet(m *mention, words []word) Snippet {
	var marks [][2]int
	if len(words) > 0 {
		last := words[len(words)-1].terms[0]
		for _, t := range a.plain.Analyze([]byte(m.Near)) {
			folded := string(t.Term)
			stem := ""
			if s := a.of(m.Lang).Analyze([]byte(m.Near[t.Start:t.End])); len(s) == 1 {
				stem = string(s[0].Term)
			}
			for _, w := range words {
				if slices.Contains(w.terms, folded) || slices.Contains(w.terms, stem) || slices.Equal(w.where, streetWords(folded)) || len(w.where) > 1 && w.where[0] == folded {
					marks = append(marks, [2]int{t.Start, t.End})
					break
				} else if len(last) >= 3 && w.terms[0] == last && strings.HasPrefix(folded, last) {
					marks = append(marks, [2]int{t.Start, t.End})
					break
				}
			}
		}
	}
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

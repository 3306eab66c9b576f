package index

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/paulmach/orb"
)

// ErrAway means that no part of a distributed index answers.
var ErrAway = errors.New("no part of the index answers")

// Shards are several indexes searched as one: those open here, and those of other machines. Parts
// answer with the records of addresses; records of one address in several parts are united, as if
// one index had all pages. Shards are safe for concurrent use.
type Shards struct {
	Local map[string]*Index // by name
	// Ask queries the parts on other machines and returns the names of those that did not answer in
	// time; nil if there are none.
	Ask   func(ctx context.Context, kind string, question []byte, limit time.Duration) ([]Reply, []string, error)
	Limit time.Duration // of one question

	mu      sync.Mutex
	missing []string // parts that did not answer the last question
}

// A Reply is what one part on another machine has answered.
type Reply struct {
	Part string
	Data json.RawMessage
	Err  string // "" where there is Data
}

// A Question is what one of the kinds needs.
type Question struct {
	Query Query
	Zoom  int    // of clusters
	Text  string // of a suggestion
	Limit int    // of suggestions
}

// A share is one index's record of an address.
type share struct {
	At     cursor // its place in the answer, and its ID
	Record json.RawMessage
	Sites  map[string][2]int `json:",omitempty"` // of its sites: how many addresses, and how many pages
	Score  float64           `json:",omitempty"` // as in Hit
	Parts  []Part            `json:",omitempty"`
}

// An answer is that of one index to a query: a Result with shares in place of hits.
type answer struct {
	Result
	Shares []share
	Cut    bool // some shares were left out, because they would make a long message
	Stage  stage
	Words  []string   // that are looked for
	Center *orb.Point // of the search
}

// clusters is the answer of the kind "clusters".
type clusters struct {
	Clusters []Cluster
	Zoom     int
}

// A summary is the answer of the kind "state".
type summary struct {
	Stats Stats
	State State
}

// questions are the questions that a part of an index answers.
var questions = map[string]func(ctx context.Context, x *Index, q Question) (any, error){
	"search":  func(ctx context.Context, x *Index, q Question) (any, error) { return x.answer(ctx, q.Query) },
	"suggest": func(_ context.Context, x *Index, q Question) (any, error) { return x.Suggest(q.Text, q.Limit) },
	"clusters": func(ctx context.Context, x *Index, q Question) (any, error) {
		found, zoom, err := x.Clusters(ctx, q.Query, q.Zoom)
		return clusters{found, zoom}, err
	},
	"state": func(ctx context.Context, x *Index, _ Question) (any, error) {
		stats, err := x.Stats(ctx)
		state, err2 := x.State()
		return summary{stats, state}, errors.Join(err, err2)
	},
}

// Questions are the names of the kinds of questions that Answer answers.
func Questions() []string { return slices.Sorted(maps.Keys(questions)) }

// Answer answers a question of Shards on another machine.
func (x *Index) Answer(ctx context.Context, kind string, question []byte) (any, error) {
	answer, known := questions[kind]
	if !known {
		return nil, fmt.Errorf("index: no request of the kind %.40q", kind)
	}
	var q Question
	if err := json.Unmarshal(question, &q); err != nil {
		return nil, fmt.Errorf("index: request: %w", err)
	}
	return answer(ctx, x, q)
}

// maxAnswer is about how many bytes of records one answer holds.
const maxAnswer = 400 << 10

func (x *Index) answer(ctx context.Context, q Query) (*answer, error) {
	s, err := x.newSearch(ctx, q)
	if err != nil || s == nil {
		return &answer{}, err
	}
	defer s.view.Close()
	a, err := s.search()
	if err != nil {
		return nil, err
	}
	k := &hitMaker{view: s.view}
	size := 0
	for i := range a.Shares {
		size += len(a.Shares[i].Record)
		if size > maxAnswer && i > 0 && q.Only == nil {
			a.Cut, a.Shares, a.Next = true, a.Shares[:i], a.Shares[i-1].At.encode()
			break
		}
		if err := k.addSites(&a.Shares[i]); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// addSites counts what the index has of the sites of an address.
func (k *hitMaker) addSites(s *share) error {
	r, err := decodeRecord(s.At.ID, s.Record)
	if err != nil {
		return err
	}
	s.Sites = map[string][2]int{}
	sites := slices.Collect(maps.Keys(r.sites()))
	for _, m := range r.Mentions {
		sites = append(sites, siteOf(hostOf(m.Home)))
	}
	for _, site := range sites {
		s.Sites[site] = [2]int{k.count(fieldSite, site), k.count(fieldPageSite, site)}
	}
	return nil
}

// unite returns the record of an address of which several indexes have some pages,
// and notes what they have of its sites.
func (k *hitMaker) unite(shares []share) (*record, error) {
	var all *record
	if k.view == nil {
		k.counts = nil
	}
	for _, s := range shares {
		r, err := decodeRecord(s.At.ID, s.Record)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = r
		} else {
			all.unite(r)
		}
		for site, n := range s.Sites {
			k.note(fieldSite, site, n[0])
			k.note(fieldPageSite, site, n[1])
		}
	}
	return all, nil
}

// unite adds the pages of o.
func (r *record) unite(o *record) {
	if len(o.More) > 0 && r.More == nil {
		r.More = map[string]int{}
	}
	for host, n := range o.More {
		r.More[host] += n
	}
	if o.First != 0 {
		r.First = min(cmp.Or(r.First, o.First), o.First)
	}
	r.Last = max(r.Last, o.Last)
	for _, m := range o.Mentions {
		r.put(m, false)
	}
}

// ask queries all parts and returns the answers, in the order of their names. An error in the
// question itself is returned.
func ask[T any](ctx context.Context, s *Shards, kind string, q Question) (parts []T, names []string, err error) {
	raw, err := json.Marshal(q)
	if err != nil {
		return nil, nil, err
	}
	answers := map[string]json.RawMessage{}
	for name, x := range s.Local {
		v, err := x.Answer(ctx, kind, raw)
		if err == nil {
			answers[name], err = json.Marshal(v)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if s.Ask != nil {
		if err := s.askOthers(ctx, kind, raw, answers); err != nil {
			return nil, nil, err
		}
	}
	if len(answers) == 0 {
		return nil, nil, ErrAway
	}
	names = slices.Sorted(maps.Keys(answers))
	for _, name := range names {
		var part T
		if err := json.Unmarshal(answers[name], &part); err != nil {
			return nil, nil, fmt.Errorf("answer of %s: %w", name, err)
		}
		parts = append(parts, part)
	}
	return parts, names, nil
}

// askOthers adds the answers of the parts on other machines. A part that is
// open here, too, is not taken twice.
func (s *Shards) askOthers(
	ctx context.Context, kind string, question []byte, answers map[string]json.RawMessage,
) error {
	replies, missing, err := s.Ask(ctx, kind, question, s.Limit)
	if err != nil && ctx.Err() == nil && len(answers) == 0 {
		return fmt.Errorf("%w: %w", ErrAway, err)
	} else if err != nil {
		missing = []string{"cluster"}
	}
	for _, r := range replies {
		if s.Local[r.Part] != nil {
			continue
		}
		for _, known := range []error{ErrCursor, ErrQuery} {
			if strings.Contains(r.Err, known.Error()) {
				return fmt.Errorf("%w: node %s: %s", known, r.Part, r.Err)
			}
		}
		if r.Err == "" {
			answers[r.Part] = r.Data
		} else {
			missing = append(missing, r.Part)
		}
	}
	missing = slices.DeleteFunc(missing, func(name string) bool { return s.Local[name] != nil })
	slices.Sort(missing)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.missing = missing
	return nil
}

// Missing names the parts that did not answer the last question.
func (s *Shards) Missing() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.missing)
}

// sampled is how many matches a part may have of which each is counted once.
const sampled = 1024

// Search queries all parts, and a second time for all their records of the addresses on the page.
// Scores of different parts are compared as they are, which favours words that are rare in one of
// them. Total is exact while no part has more than 1,024 matches, and an estimate else; counts of
// facets are lower bounds where a facet has more values than an answer holds.
func (s *Shards) Search(ctx context.Context, q Query) (*Result, error) {
	kinds := q.Kind
	q, err := q.check()
	if err != nil {
		return nil, err
	}
	q.Kind = kinds // each part looks them up
	q.Sample = cmp.Or(q.Sample, sampled)
	for {
		r, _, err := s.page(ctx, q, nil)
		if err != nil || len(r.Hits) > 0 || r.Next == "" {
			return r, err
		}
		q.Cursor = r.Next // all of this page stood on those before
	}
}

// page asks for one page of hits, which k makes (nil: as they fit q), and returns the
// names of the parts that have answered, too.
func (s *Shards) page(ctx context.Context, q Query, k *hitMaker) (*Result, []string, error) {
	parts, names, err := ask[*answer](ctx, s, "search", Question{Query: q})
	if err != nil {
		return nil, nil, err
	}
	a := merge(q, parts)
	if len(a.Shares) == 0 {
		return &a.Result, names, nil
	}
	if len(parts) > 1 {
		whole := q
		whole.Cursor, whole.Facets, whole.Sample = "", nil, 0
		whole.Group, whole.Limit = false, len(a.Shares)
		for _, one := range a.Shares {
			whole.Only = append(whole.Only, one.At.ID)
		}
		parts, _, err = ask[*answer](ctx, s, "search", Question{Query: whole})
		if err != nil {
			return nil, nil, err
		}
	}
	versions := versionsIn(parts)
	if k == nil {
		checked, err := q.check()
		if err != nil {
			return nil, nil, err
		}
		k = checked.hitMaker(splitQuery(strings.Join(a.Words, " ")), a.Center)
	}
	before := cursor{Stage: stages}
	if q.Cursor != "" { // the last hit of the page before
		before, err = decodeCursor(q.Cursor, q)
		if err != nil {
			return nil, nil, err
		}
	}
	for _, one := range a.Shares {
		all := versions[one.At.ID]
		if slices.ContainsFunc(all, func(v share) bool { return v.At.Stage == before.Stage && v.At.compare(&before) <= 0 }) {
			continue // it is on an earlier page, where another part had it
		}
		if len(all) == 0 { // it has gone meanwhile
			all = []share{one}
		}
		h, err := k.hit(all...)
		if err != nil {
			return nil, nil, err
		}
		h.After = one.At.encode()
		a.Hits = append(a.Hits, h)
	}
	if q.Group {
		a.group(q.Limit)
	}
	return &a.Result, names, nil
}

// versionsIn returns what parts know of each address.
func versionsIn(parts []*answer) map[string][]share {
	versions := map[string][]share{}
	for _, p := range parts {
		for _, one := range p.Shares {
			versions[one.At.ID] = append(versions[one.At.ID], one)
		}
	}
	return versions
}

// merge makes one answer of those of several parts. What one part knows of an address
// is in it, and a cursor of it is one for all parts.
func merge(q Query, parts []*answer) *answer {
	best := stages // that any part has a hit at
	for _, p := range parts {
		if len(p.Shares) > 0 {
			best = min(best, p.Stage)
		}
	}
	parts = slices.DeleteFunc(slices.Clone(parts), func(p *answer) bool { return best < stages && p.Stage != best })
	out := &answer{Result: parts[0].Result, Words: parts[0].Words, Center: parts[0].Center}
	out.Total, out.Pages, out.Facets, out.Next = 0, 0, nil, ""
	first := map[string]share{} // of each address
	for _, p := range parts {
		out.Total, out.Pages, out.Next = out.Total+p.Total, out.Pages+p.Pages, cmp.Or(out.Next, p.Next)
		out.Took = max(out.Took, p.Took)
		for _, one := range p.Shares {
			if known, twice := first[one.At.ID]; !twice || one.At.compare(&known.At) < 0 {
				first[one.At.ID] = one
			}
		}
	}
	for i, f := range q.Facets {
		var values []Value
		for _, p := range parts {
			if i < len(p.Facets) {
				values = append(values, p.Facets[i].Values...)
			}
		}
		out.Facets = append(out.Facets, Count{f, unite(f, values)})
	}
	out.Shares = slices.SortedFunc(maps.Values(first), func(a, b share) int { return a.At.compare(&b.At) })
	for _, p := range parts {
		if p.Cut { // nothing is known of what comes after it
			last := func(one share) bool { return one.At.ID == p.Shares[len(p.Shares)-1].At.ID }
			out.Shares = out.Shares[:slices.IndexFunc(out.Shares, last)+1]
		}
	}
	for i := range out.Shares {
		out.Shares[i].At.Offset = out.Offset + i + 1
	}
	share, exact := distinct(parts)
	out.Total = max(int(math.Round(float64(out.Total)*share)), len(out.Shares))
	n := min(q.pageSize(), len(out.Shares))
	out.Approx, out.Offset = !exact, min(out.Offset, out.Total-n)
	if n > 0 && (out.Next != "" || n < len(out.Shares)) {
		out.Next = out.Shares[n-1].At.encode()
	}
	out.Shares = out.Shares[:n]
	return out
}

// distinct returns how many different addresses there are to each match that
// parts count: 1 where none is in two of them. It looks at the IDs up to the
// last one that all samples reach to, and is exact where that is all of them.
func distinct(parts []*answer) (share float64, exact bool) {
	reach, exact := uint64(math.MaxUint64), true
	for _, r := range parts {
		if n := len(r.Sample); 0 < n && n < r.Total {
			reach, exact = min(reach, r.Sample[n-1]), false
		}
	}
	var ids []uint64
	for _, r := range parts {
		n, found := slices.BinarySearch(r.Sample, reach)
		if found {
			n++
		}
		ids = append(ids, r.Sample[:n]...)
	}
	all := max(1, len(ids))
	slices.Sort(ids)
	return float64(len(slices.Compact(ids))) / float64(all), exact
}

// Clusters asks all parts, once more where one had to make its grid coarser.
func (s *Shards) Clusters(ctx context.Context, q Query, zoom int) ([]Cluster, int, error) {
	for {
		parts, _, err := ask[clusters](ctx, s, "clusters", Question{Query: q, Zoom: zoom})
		if err != nil {
			return nil, 0, err
		}
		coarsest := zoom
		cells := map[cell]*Cluster{}
		for _, p := range parts {
			coarsest = min(coarsest, p.Zoom)
			for _, c := range p.Clusters {
				addCluster(cells, zoom, c)
			}
		}
		if coarsest == zoom {
			return sortedClusters(cells), zoom, nil
		}
		zoom = coarsest
	}
}

// Suggest queries all parts.
func (s *Shards) Suggest(typed string, limit int) ([]Suggestion, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.Limit)
	defer cancel()
	parts, _, err := ask[[]Suggestion](ctx, s, "suggest", Question{Text: typed, Limit: limit})
	if err != nil {
		return nil, err
	}
	all := []Suggestion{}
	for _, one := range slices.Concat(parts...) {
		same := func(o Suggestion) bool { return o.Kind == one.Kind && o.Text == one.Text }
		if i := slices.IndexFunc(all, same); i >= 0 {
			all[i].Count += one.Count
		} else {
			all = append(all, one)
		}
	}
	start := foldPhrase(typed)
	other := func(s Suggestion) bool { return !strings.HasPrefix(foldPhrase(s.Text), start) }
	slices.SortStableFunc(all, func(a, b Suggestion) int {
		return cmp.Or(compareBool(other(a), other(b)), cmp.Compare(b.Count, a.Count),
			cmp.Compare(len(a.Text), len(b.Text)), strings.Compare(a.Text, b.Text))
	})
	return all[:min(limit, len(all))], nil
}

// Address queries all parts.
func (s *Shards) Address(id string) (*Hit, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.Limit)
	defer cancel()
	parts, _, err := ask[*answer](ctx, s, "search", Question{Query: Query{Only: []string{id}}})
	if err != nil {
		return nil, err
	}
	known := versionsIn(parts)[id]
	if known == nil {
		return nil, nil
	}
	h, err := whole(nil, maxRead).hit(known...)
	h.After = ""
	return &h, err
}

// Walk asks all parts for page after page and passes the addresses on in the order of
// their IDs. A part that answers at first and then no more is an error.
func (s *Shards) Walk(ctx context.Context, f Filters, fn func(*Hit) error) error {
	return s.walk(ctx, f, false, fn)
}

// WalkNames is Walk over all addresses, whose Others have what else is at each.
func (s *Shards) WalkNames(ctx context.Context, fn func(*Hit) error) error {
	return s.walk(ctx, Filters{}, true, fn)
}

func (s *Shards) walk(ctx context.Context, f Filters, others bool, fn func(*Hit) error) error {
	asked := f.Kind
	q, err := Query{Filters: f, Sort: byID, Limit: MaxLimit}.check()
	if err != nil {
		return err
	}
	k := whole(nil, maxEvidence)
	checked := q
	k.fits, k.others = checked.named(), others
	q.Kind = asked // each part looks them up
	for first := []string(nil); ; {
		r, names, err := s.page(ctx, q, k)
		if err != nil {
			return err
		}
		if first == nil {
			first = names
		}
		for _, name := range first {
			if !slices.Contains(names, name) {
				return fmt.Errorf("node %s has stopped answering: %w", name, ErrAway)
			}
		}
		for i := range r.Hits {
			if err := fn(&r.Hits[i]); err != nil {
				return err
			}
		}
		q.Cursor = r.Next
		if r.Next == "" {
			return nil
		}
	}
}

// Stats adds up those of all parts. An address or page that two parts have
// counts twice.
func (s *Shards) Stats(ctx context.Context) (all Stats, err error) {
	parts, _, err := ask[summary](ctx, s, "state", Question{})
	for _, p := range parts {
		all.Pages += p.Stats.Pages
		all.Addresses += p.Stats.Addresses
		all.Mentions += p.Stats.Mentions
	}
	return all, err
}

// State changes when that of any part does, and when a part comes or goes.
func (s *Shards) State() (all State, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.Limit)
	defer cancel()
	parts, names, err := ask[summary](ctx, s, "state", Question{})
	if err != nil {
		return all, err
	}
	sum := fnv.New64a()
	for i, p := range parts {
		fmt.Fprintf(sum, "%s %s\n", names[i], p.State.Generation)
		if p.State.Updated.After(all.Updated) {
			all.Updated = p.State.Updated
		}
	}
	all.Generation = fmt.Sprintf("%x", sum.Sum64())
	return all, nil
}

package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// ErrAway says that no part of an index of several parts answers.
var ErrAway = errors.New("no part of the index answers")

// Shards are several indexes that answer as one: those that are open here, and
// those of other machines. Each is asked a Question of a kind and its answers
// are merged. Shards are safe for concurrent use.
type Shards struct {
	Local map[string]*Index // by name
	// Ask asks the parts on other machines and returns the names of those that
	// have not answered in time; nil where there are none.
	Ask   func(ctx context.Context, kind string, question []byte, limit time.Duration) (replies []Reply, missing []string, err error)
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
	Text  string // of a suggestion; ID of an address; ID after which a walk continues
	Limit int    // of suggestions
}

// A clustering is the answer of the kind "clusters".
type clustering struct {
	Clusters []Cluster
	Zoom     int
}

// A stretch is the answer of the kind "walk": a part of the whole walk.
type stretch struct {
	Hits []*Hit
	More bool
}

// questions are the questions that a part of an index answers.
var questions = map[string]func(ctx context.Context, x *Index, q Question) (any, error){
	"search":  func(ctx context.Context, x *Index, q Question) (any, error) { return x.Search(ctx, q.Query) },
	"suggest": func(_ context.Context, x *Index, q Question) (any, error) { return x.Suggest(q.Text, q.Limit) },
	"address": func(_ context.Context, x *Index, q Question) (any, error) { return x.Address(q.Text) },
	"stats":   func(ctx context.Context, x *Index, _ Question) (any, error) { return x.Stats(ctx) },
	"state":   func(_ context.Context, x *Index, _ Question) (any, error) { return x.State() },
	"clusters": func(ctx context.Context, x *Index, q Question) (any, error) {
		clusters, zoom, err := x.Clusters(ctx, q.Query, q.Zoom)
		return clustering{clusters, zoom}, err
	},
	"walk": walkStretch,
}

// Questions are the names of the kinds of questions that Answer answers.
func Questions() []string { return slices.Sorted(maps.Keys(questions)) }

// stretchBytes is about how much one answer of a walk holds.
const stretchBytes = 400 << 10

func walkStretch(ctx context.Context, x *Index, q Question) (any, error) {
	var s stretch
	size, full := 0, errors.New("enough")
	err := x.WalkOn(ctx, q.Query, q.Text, func(h *Hit) error {
		if size > stretchBytes {
			s.More = true
			return full
		}
		raw, err := json.Marshal(h)
		size += len(raw)
		s.Hits = append(s.Hits, h)
		return err
	})
	if errors.Is(err, full) {
		err = nil
	}
	return s, err
}

// Answer answers a question of a kind, as Shards ask it.
func (x *Index) Answer(ctx context.Context, kind string, question []byte) (any, error) {
	answer, known := questions[kind]
	if !known {
		return nil, fmt.Errorf("index: no question of the kind %.40q", kind)
	}
	var q Question
	if err := json.Unmarshal(question, &q); err != nil {
		return nil, fmt.Errorf("index: question: %w", err)
	}
	return answer(ctx, x, q)
}

// ask asks all parts and returns the answers, in the order of their names. An
// error of the question itself is that of the whole.
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
func (s *Shards) askOthers(ctx context.Context, kind string, question []byte, answers map[string]json.RawMessage) error {
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

// Search asks all parts, and once more for all that they know of the addresses
// on the page; see Merge and Complete.
func (s *Shards) Search(ctx context.Context, q Query) (*Result, error) {
	q.Sample = sampled
	for {
		r, err := s.page(ctx, q)
		if err != nil || len(r.Hits) > 0 || r.Next == "" {
			return r, err
		}
		q.Cursor = r.Next // all of this page stood on those before
	}
}

func (s *Shards) page(ctx context.Context, q Query) (*Result, error) {
	parts, _, err := ask[*Result](ctx, s, "search", Question{Query: q})
	if err != nil {
		return nil, err
	}
	r := Merge(q, parts...)
	if len(parts) < 2 || len(r.Hits) == 0 {
		return r, nil
	}
	whole := q
	whole.Cursor, whole.Facets, whole.Points, whole.Sample, whole.Limit = "", nil, 0, 0, len(r.Hits)
	for _, h := range r.Hits {
		whole.Only = append(whole.Only, h.ID)
	}
	if parts, _, err = ask[*Result](ctx, s, "search", Question{Query: whole}); err != nil {
		return nil, err
	}
	Complete(q, r, parts...)
	return r, nil
}

// Clusters asks all parts, once more where one had to make its grid coarser.
func (s *Shards) Clusters(ctx context.Context, q Query, zoom int) ([]Cluster, int, error) {
	for {
		parts, _, err := ask[clustering](ctx, s, "clusters", Question{Query: q, Zoom: zoom})
		if err != nil {
			return nil, 0, err
		}
		coarsest := zoom
		var all [][]Cluster
		for _, p := range parts {
			coarsest = min(coarsest, p.Zoom)
			all = append(all, p.Clusters)
		}
		if coarsest == zoom {
			return MergeClusters(zoom, all...), zoom, nil
		}
		zoom = coarsest
	}
}

// Suggest asks all parts.
func (s *Shards) Suggest(typed string, limit int) ([]Suggestion, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.Limit)
	defer cancel()
	parts, _, err := ask[[]Suggestion](ctx, s, "suggest", Question{Text: typed, Limit: limit})
	if err != nil {
		return nil, err
	}
	return MergeSuggestions(typed, limit, parts...), nil
}

// Address asks all parts.
func (s *Shards) Address(id string) (*Hit, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.Limit)
	defer cancel()
	parts, _, err := ask[*Hit](ctx, s, "address", Question{Text: id})
	if err != nil {
		return nil, err
	}
	return MergeAddress(parts...), nil
}

// Walk asks all parts for stretch after stretch and passes the addresses on in
// the order of their IDs. A part that answers at first and then no more is an
// error.
func (s *Shards) Walk(ctx context.Context, q Query, fn func(*Hit) error) error {
	var first []string // parts that have answered the first question
	for after := ""; ; {
		stretches, names, err := ask[stretch](ctx, s, "walk", Question{Query: q, Text: after})
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
		end, more := "", false // nobody has told all beyond end
		for _, p := range stretches {
			if p.More && (!more || p.Hits[len(p.Hits)-1].ID < end) {
				end, more = p.Hits[len(p.Hits)-1].ID, true
			}
		}
		versions := map[string][]*Hit{}
		for _, p := range stretches {
			for _, h := range p.Hits {
				if !more || h.ID <= end {
					versions[h.ID] = append(versions[h.ID], h)
				}
			}
		}
		for _, id := range slices.Sorted(maps.Keys(versions)) {
			if err := fn(MergeAddress(versions[id]...)); err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
		after = end
	}
}

// Stats adds up those of all parts. An address or page that two parts have
// counts twice.
func (s *Shards) Stats(ctx context.Context) (all Stats, err error) {
	parts, _, err := ask[Stats](ctx, s, "stats", Question{})
	for _, p := range parts {
		all.Pages += p.Pages
		all.Addresses += p.Addresses
		all.Mentions += p.Mentions
	}
	return all, err
}

// State changes when that of any part does, and when a part comes or goes.
func (s *Shards) State() (all State, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.Limit)
	defer cancel()
	parts, names, err := ask[State](ctx, s, "state", Question{})
	if err != nil {
		return all, err
	}
	sum := fnv.New64a()
	for i, p := range parts {
		fmt.Fprintf(sum, "%s %s\n", names[i], p.Generation)
		if p.Updated.After(all.Updated) {
			all.Updated = p.Updated
		}
	}
	all.Generation = fmt.Sprintf("%x", sum.Sum64())
	return all, nil
}

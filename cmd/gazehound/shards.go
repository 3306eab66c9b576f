package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gazehound/crawler/cluster"
	"gazehound/index"
	"gazehound/index/api"
)

// shards are the indexes of several nodes, which answer as one: those of data
// directories on this machine, and those of the nodes of a cluster, asked over
// it. It is an api.Source.
//
// Every part is asked the same way: a question by its kind and as JSON, and so
// the answer.
type shards struct {
	local  map[string]*index.Index // by name
	viewer *cluster.Viewer         // nil: only local ones
	limit  time.Duration           // of one question

	mu   sync.Mutex
	away []string // parts that did not answer the last question
}

// The kinds of questions to a part of an index. A search is also what
// "gazehound search --cluster" asks.
const (
	askSearch   = "search"
	askClusters = "clusters"
	askSuggest  = "suggest"
	askAddress  = "address"
	askWalk     = "walk"
	askStats    = "stats"
	askState    = "state"
)

var shardQuestions = []string{askSearch, askClusters, askSuggest, askAddress, askWalk, askStats, askState}

// A shardQuestion is what one of the kinds needs to know.
type shardQuestion struct {
	Query index.Query
	Zoom  int    // of clusters
	Text  string // of a suggestion; ID of an address; the ID that a walk goes on after
	Limit int    // of suggestions
}

// A shardWalk is a piece of a walk.
type shardWalk struct {
	Hits []*index.Hit
	More bool
}

type shardClusters struct {
	Clusters []index.Cluster
	Zoom     int
}

// walkBytes is about how much one answer of a walk holds.
const walkBytes = 400 << 10

// answerShard answers a question to one part of an index.
func answerShard(ctx context.Context, x *index.Index, what string, question []byte) (any, error) {
	var q shardQuestion
	if err := json.Unmarshal(question, &q); err != nil {
		return nil, fmt.Errorf("question: %w", err)
	}
	switch what {
	case askSearch:
		return x.Search(ctx, q.Query)
	case askClusters:
		clusters, zoom, err := x.Clusters(ctx, q.Query, q.Zoom)
		return shardClusters{clusters, zoom}, err
	case askSuggest:
		return x.Suggest(q.Text, q.Limit)
	case askAddress:
		return x.Address(q.Text)
	case askStats:
		return x.Stats(ctx)
	case askState:
		return x.State()
	case askWalk:
		var w shardWalk
		size := 0
		full := errors.New("enough")
		err := x.WalkOn(ctx, q.Query, q.Text, func(h *index.Hit) error {
			if size > walkBytes {
				w.More = true
				return full
			}
			raw, err := json.Marshal(h)
			size += len(raw)
			w.Hits = append(w.Hits, h)
			return err
		})
		if errors.Is(err, full) {
			err = nil
		}
		return w, err
	}
	return nil, fmt.Errorf("question: %.40q is none of %v", what, shardQuestions)
}

// answerShards lets a node answer questions about its index.
func answerShards(n *cluster.Node, x *index.Index, limit time.Duration) error {
	for _, what := range shardQuestions {
		err := n.Serve(what, 8, limit, func(ctx context.Context, question []byte) (any, error) { return answerShard(ctx, x, what, question) })
		if err != nil {
			return err
		}
	}
	return nil
}

// ask asks all parts, and returns the answers of those that gave one, by name.
// An error of the question itself is that of the whole.
func (s *shards) ask(ctx context.Context, what string, q shardQuestion) (map[string]json.RawMessage, error) {
	raw, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	answers := map[string]json.RawMessage{}
	var away []string
	for name, x := range s.local {
		v, err := answerShard(ctx, x, what, raw)
		if err == nil {
			answers[name], err = json.Marshal(v)
		}
		if err != nil {
			return nil, err
		}
	}
	if s.viewer != nil {
		all, missing, err := s.viewer.Ask(ctx, what, raw, s.limit)
		if err != nil && ctx.Err() == nil && len(answers) == 0 {
			return nil, fmt.Errorf("%w: %w", api.ErrAway, err)
		} else if err != nil {
			missing = []string{"cluster"}
		}
		for _, a := range all {
			switch {
			case s.local[a.Node] != nil: // we have it open ourselves
			case a.Err == "":
				answers[a.Node] = a.Data
			case strings.Contains(a.Err, index.ErrCursor.Error()):
				return nil, fmt.Errorf("%w: node %s: %s", index.ErrCursor, a.Node, a.Err)
			case strings.Contains(a.Err, index.ErrQuery.Error()):
				return nil, fmt.Errorf("%w: node %s: %s", index.ErrQuery, a.Node, a.Err)
			default:
				missing = append(missing, a.Node)
			}
		}
		for _, name := range missing {
			if s.local[name] == nil {
				away = append(away, name)
			}
		}
	}
	slices.Sort(away)
	s.mu.Lock()
	s.away = away
	s.mu.Unlock()
	if len(answers) == 0 {
		return nil, api.ErrAway
	}
	return answers, nil
}

// missing names the parts that did not answer the last question.
func (s *shards) missing() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.away)
}

// each asks all parts and decodes their answers, in the order of their names.
func each[T any](ctx context.Context, s *shards, what string, q shardQuestion) (parts []T, names []string, err error) {
	answers, err := s.ask(ctx, what, q)
	if err != nil {
		return nil, nil, err
	}
	for name := range answers {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		var part T
		if err := json.Unmarshal(answers[name], &part); err != nil {
			return nil, nil, fmt.Errorf("answer of %s: %w", name, err)
		}
		parts = append(parts, part)
	}
	return parts, names, nil
}

// Search asks all parts, and once more for all that they know of the addresses
// on the page; see index.Merge and index.Complete.
func (s *shards) Search(ctx context.Context, q index.Query) (*index.Result, error) {
	q.Sample = sampled
	for {
		r, err := s.page(ctx, q)
		if err != nil || len(r.Hits) > 0 || r.Next == "" {
			return r, err
		}
		q.Cursor = r.Next // all of this page stood on those before
	}
}

func (s *shards) page(ctx context.Context, q index.Query) (*index.Result, error) {
	parts, _, err := each[*index.Result](ctx, s, askSearch, shardQuestion{Query: q})
	if err != nil {
		return nil, err
	}
	r := index.Merge(q, parts...)
	if len(parts) < 2 || len(r.Hits) == 0 {
		return r, nil
	}
	whole := q
	whole.Cursor, whole.Facets, whole.Points, whole.Sample, whole.Limit = "", nil, 0, 0, len(r.Hits)
	for _, h := range r.Hits {
		whole.Only = append(whole.Only, h.ID)
	}
	if parts, _, err = each[*index.Result](ctx, s, askSearch, shardQuestion{Query: whole}); err != nil {
		return nil, err
	}
	index.Complete(q, r, parts...)
	return r, nil
}

// sampled is how many matches a part may have of which each is counted once.
const sampled = 1024

// Clusters asks all parts, once more where one had to make its grid coarser.
func (s *shards) Clusters(ctx context.Context, q index.Query, zoom int) ([]index.Cluster, int, error) {
	for {
		parts, _, err := each[shardClusters](ctx, s, askClusters, shardQuestion{Query: q, Zoom: zoom})
		if err != nil {
			return nil, 0, err
		}
		coarsest := zoom
		var all [][]index.Cluster
		for _, p := range parts {
			coarsest = min(coarsest, p.Zoom)
			all = append(all, p.Clusters)
		}
		if coarsest == zoom {
			return index.MergeClusters(zoom, all...), zoom, nil
		}
		zoom = coarsest
	}
}

// Suggest asks all parts.
func (s *shards) Suggest(typed string, limit int) ([]index.Suggestion, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.limit)
	defer cancel()
	parts, _, err := each[[]index.Suggestion](ctx, s, askSuggest, shardQuestion{Text: typed, Limit: limit})
	if err != nil {
		return nil, err
	}
	return index.MergeSuggestions(typed, limit, parts...), nil
}

// Address asks all parts.
func (s *shards) Address(id string) (*index.Hit, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.limit)
	defer cancel()
	parts, _, err := each[*index.Hit](ctx, s, askAddress, shardQuestion{Text: id})
	if err != nil {
		return nil, err
	}
	return index.MergeAddress(parts...), nil
}

// Walk asks all parts for piece after piece and hands the addresses on in the
// order of their IDs. A part that answers at first and then no more is an error.
func (s *shards) Walk(ctx context.Context, q index.Query, fn func(*index.Hit) error) error {
	var there []string // that have answered the first question
	for after, first := "", true; ; first = false {
		pieces, names, err := each[shardWalk](ctx, s, askWalk, shardQuestion{Query: q, Text: after})
		if err != nil {
			return err
		}
		if first {
			there = names
		}
		for _, name := range there {
			if !slices.Contains(names, name) {
				return fmt.Errorf("node %s does not answer any more: %w", name, api.ErrAway)
			}
		}
		end, more := "", false // nobody has told all beyond end
		for _, p := range pieces {
			if p.More && (!more || p.Hits[len(p.Hits)-1].ID < end) {
				end, more = p.Hits[len(p.Hits)-1].ID, true
			}
		}
		of := map[string][]*index.Hit{}
		var ids []string
		for _, p := range pieces {
			for _, h := range p.Hits {
				if more && h.ID > end {
					break
				}
				if of[h.ID] == nil {
					ids = append(ids, h.ID)
				}
				of[h.ID] = append(of[h.ID], h)
			}
		}
		slices.Sort(ids)
		for _, id := range ids {
			if err := fn(index.MergeAddress(of[id]...)); err != nil {
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
func (s *shards) Stats(ctx context.Context) (all index.Stats, err error) {
	parts, _, err := each[index.Stats](ctx, s, askStats, shardQuestion{})
	for _, p := range parts {
		all.Pages, all.Addresses, all.Mentions = all.Pages+p.Pages, all.Addresses+p.Addresses, all.Mentions+p.Mentions
		all.SiteWide, all.SiteWidePages = all.SiteWide+p.SiteWide, all.SiteWidePages+p.SiteWidePages
	}
	return all, err
}

// State is another one when that of any part is, or when a part comes or goes.
func (s *shards) State() (all index.State, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.limit)
	defer cancel()
	parts, names, err := each[index.State](ctx, s, askState, shardQuestion{})
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

// openShards opens the indexes of data directories, DIR or NAME=DIR, and
// connects to the cluster if one is named.
func (a *app) openShards(ctx context.Context, cfg *Config, dirs []string) (s *shards, err error) {
	s = &shards{local: map[string]*index.Index{}, limit: cfg.Serve.QueryTimeout / 2}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
			s = nil
		}
	}()
	for _, dir := range dirs {
		name, path, named := strings.Cut(dir, "=")
		if !named {
			name, path = filepath.Base(filepath.Clean(dir)), dir
		}
		if s.local[name] != nil {
			return s, fail(exitUsage, "two parts are called %s; write NAME=DIR", name)
		}
		x, err := openIndexToShow(project{path})
		if err != nil {
			return s, err
		}
		s.local[name] = x
		if !x.Exists() {
			return s, fail(exitNoData, "%s holds no index. \"gazehound crawl\" or \"gazehound node\" makes one", path)
		}
	}
	if cfg.Cluster.URL != "" {
		if s.viewer, _, err = a.viewCluster(ctx); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (s *shards) close() error {
	var err error
	for _, x := range s.local {
		err = errors.Join(err, x.Close())
	}
	if s.viewer != nil {
		s.viewer.Close()
	}
	return err
}

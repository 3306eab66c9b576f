package index

import (
	"context"
	"fmt"
	"sync"

	bleveindex "github.com/blevesearch/bleve_index_api"
)

// Stats count what the index holds.
type Stats struct {
	Pages     int // pages that state an address of the region
	Addresses int // distinct ones: what Search counts
	Mentions  int // an address on a page

	SiteWide      int // addresses that stand on most pages of a site
	SiteWidePages int // pages that hold no other address
}

// Stats counts anew after each change, in time proportional to the pages.
func (x *Index) Stats(ctx context.Context) (Stats, error) {
	state, wide, err := x.widely(ctx)
	if err != nil || x.bleve == nil {
		return Stats{}, err
	}
	if s, ok := x.cached.stats.get(state); ok {
		return s, nil
	}
	s := Stats{SiteWide: len(wide.ids)}
	addresses := map[string]bool{}
	err = x.eachPage(ctx, func(p *pageRecord) {
		s.Pages++
		s.Mentions += len(p.States)
		others := false
		for _, id := range p.States {
			addresses[id] = true
			others = others || !wide.on[[2]string{id, siteOf(hostOf(p.URL))}]
		}
		if !others {
			s.SiteWidePages++
		}
	})
	if err != nil {
		return Stats{}, err
	}
	s.Addresses = len(addresses)
	x.cached.stats.put(state, s)
	return s, nil
}

// siteWides are the addresses that stand on most pages of a site.
type siteWides struct {
	ids []string
	on  map[[2]string]bool // address and site
}

// widely returns the site-wide addresses, and the generation of which they are.
func (x *Index) widely(ctx context.Context) (generation int, wide siteWides, err error) {
	done, err := x.use()
	if err != nil {
		return 0, wide, err
	}
	defer done()
	if x.bleve == nil {
		return 0, wide, nil
	}
	r, err := x.reader()
	if err != nil {
		return 0, wide, err
	}
	defer r.Close()
	s, err := stateOf(r)
	if err != nil {
		return 0, wide, err
	}
	wide, err = x.siteWides(ctx, r)
	return s.Generation, wide, err
}

// siteWides looks at the addresses that several pages of one site state, when it
// is asked first after a change.
func (x *Index) siteWides(ctx context.Context, r bleveindex.IndexReader) (siteWides, error) {
	state, err := stateOf(r)
	if err != nil {
		return siteWides{}, err
	}
	if wide, ok := x.cached.wide.get(state.Generation); ok {
		return wide, nil
	}
	wide := siteWides{on: map[[2]string]bool{}}
	dict, err := r.FieldDict(fieldOften)
	if err != nil {
		return wide, fmt.Errorf("index: %w", err)
	}
	defer dict.Close()
	k := &hitMaker{reader: r}
	known := map[string]bool{}
	for {
		e, err := dict.Next()
		if err != nil {
			return wide, fmt.Errorf("index: %w", err)
		}
		if e == nil {
			break
		}
		pages := k.count(fieldPageSite, e.Term)
		if pages < leastPages {
			continue
		}
		ids, err := idsOf(ctx, r, has(fieldOften, e.Term))
		if err != nil {
			return wide, err
		}
		for _, id := range ids {
			stored, err := storedOf(r, id)
			if err != nil {
				return wide, err
			}
			record, err := decodeRecord(id, stored)
			if err != nil {
				return wide, err
			}
			if !siteWide(record.sites()[e.Term], pages) {
				continue
			}
			wide.on[[2]string{id, e.Term}] = true
			if !known[id] {
				known[id] = true
				wide.ids = append(wide.ids, id)
			}
		}
	}
	x.cached.wide.put(state.Generation, wide)
	return wide, nil
}

// A cache keeps what is costly to count.
type cache struct {
	wide  latest[int, siteWides]
	stats latest[int, Stats]
	first latest[string, *Result]
}

// latest is the value of one key, such as the generation of the data.
type latest[K comparable, T any] struct {
	mu    sync.Mutex
	known bool
	key   K
	value T
}

func (l *latest[K, T]) get(key K) (value T, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.value, l.known && l.key == key
}

func (l *latest[K, T]) put(key K, value T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known, l.key, l.value = true, key, value
}

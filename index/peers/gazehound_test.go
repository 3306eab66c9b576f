package peers

import (
	"context"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"gazehound/gazetteer"
	"gazehound/geoparse"
	"gazehound/index"

	"github.com/paulmach/orb"
)

// gazehound is the address index, in this process.
type gazehound struct {
	dir string
	x   *index.Index
}

func openGazehound(dir string) (store, error) {
	x, err := index.Open(dir)
	return &gazehound{dir, x}, err
}

func (g *gazehound) Settings() string {
	version := "?"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "github.com/blevesearch/bleve/v2" {
				version = m.Version
			}
		}
	}
	return "package index with Bleve " + version + ", in process; every document synced before it is acknowledged, 256 writers"
}

func (g *gazehound) Load(ctx context.Context, docs []document) error {
	work := make(chan *document)
	errs := make(chan error, 256)
	var wg sync.WaitGroup
	for range 256 {
		wg.Go(func() {
			for d := range work {
				if err := g.x.Put(ctx, pageOf(d)); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	go func() { wg.Wait(); close(errs) }()
	for i := range docs {
		select {
		case work <- &docs[i]:
		case err := <-errs:
			return err
		}
	}
	close(work)
	for err := range errs {
		return err
	}
	_, err := g.x.Stats(ctx) // all of it can be searched
	return err
}

func pageOf(d *document) index.Document {
	text := d.before + "\n" + d.name + "\n"
	from := utf8.RuneCountInString(text)
	a := geoparse.Address{
		Text: d.address(), Start: from, End: from + utf8.RuneCountInString(d.address()), Street: d.street, HouseNumber: d.number, Postcode: d.code, City: d.city,
		Country: "DE", InRegion: true, Confidence: 0.9, Level: geoparse.VerifiedLevel, Precision: gazetteer.HousePrecision, Point: orb.Point{d.lon, d.lat},
	}
	a.Name = d.name
	return index.Document{URL: d.url, Title: d.title, Lang: "de", Text: text + d.address() + "\n" + d.after, Fetched: time.Unix(1_790_000_000, 0), Addresses: []geoparse.Address{a}}
}

func (g *gazehound) Ask(ctx context.Context, q *question) (answer, error) {
	ask := index.Query{Filters: index.Filters{Box: q.box, Center: q.centre, Radius: q.radius}, Text: q.words, Limit: q.limit}
	if q.near {
		ask.Sort = index.Distance
	}
	if q.facets {
		ask.Facets = []index.Facet{index.ByStreet, index.ByPostcode, index.ByHost}
	}
	r, err := g.x.Search(ctx, ask)
	if err != nil {
		return answer{}, err
	}
	a := answer{total: r.Total}
	for _, h := range r.Hits {
		id, err := strconv.Atoi(h.Evidence[0].URL[strings.LastIndex(h.Evidence[0].URL, "/p")+2:])
		if err != nil {
			return answer{}, err
		}
		a.ids = append(a.ids, id)
	}
	return a, nil
}

func (g *gazehound) Size() (int64, error) { return sizeOf(g.dir) }
func (g *gazehound) Close() error         { return g.x.Close() }

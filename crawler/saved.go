package crawler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/order/sitewide"
	"gazehound/crawler/order/trap"
	"gazehound/predictor"
)

// Names of the frontier's meta values that hold what a crawl has learned.
const (
	trapsKey    = "traps"
	sitewideKey = "sitewide"
	okapiKey    = "okapi"   // the collection of crawled pages
	learnedKey  = "learned" // the last visit that the saved model has learned
	newsKey     = "news"    // News of lookahead at that visit
)

// Learned is what a crawl learns in addition to its tree and saves at intervals. After a kill, what
// was learned since the last Save is learned again from the tree.
type Learned struct {
	Tree     *frontier.Frontier
	Model    *predictor.Model  // nil: only restored, not saved
	File     string            // of the model
	Strategy order.Strategy    // nil: the model alone is saved
	Traps    *trap.Detector    // or nil
	SiteWide *sitewide.Counter // or nil

	saving sync.Mutex
}

// Save makes everything durable. After a crash during Save a few pages are learned twice, which is
// harmless.
func (l *Learned) Save() error {
	l.saving.Lock()
	defer l.saving.Unlock()
	return errors.Join(l.saveModel(), save(l.Tree, trapsKey, l.Traps), save(l.Tree, sitewideKey, l.SiteWide),
		save(l.Tree, okapiKey, order.CollectionOf(l.Strategy)))
}

// A keptNews is the value of newsKey.
type keptNews struct {
	Visits uint64          `json:"visits"` // the position of the model
	News   json.RawMessage `json:"news"`
}

func (l *Learned) saveModel() error {
	visits := uint64(l.Tree.Totals().Visited)
	if news := order.NewsOf(l.Strategy); news != nil {
		known, err := news.Snapshot()
		if err != nil {
			return err
		}
		data, err := json.Marshal(keptNews{visits, known})
		if err != nil {
			return fmt.Errorf("save news: %w", err)
		}
		err = l.Tree.PutMeta(newsKey, data)
		if err != nil {
			return err
		}
	}
	if err := l.Model.Save(l.File); err != nil {
		return fmt.Errorf("save model: %w", err)
	}
	return l.Tree.PutMeta(learnedKey, strconv.AppendUint(nil, visits, 10))
}

// A memory can be saved as a meta value of the frontier.
type memory interface {
	comparable
	Snapshot() ([]byte, error)
	Restore(data []byte) error
}

// save writes m to the tree unless m is zero.
func save[M memory](tree *frontier.Frontier, key string, m M) error {
	if m == *new(M) {
		return nil
	}
	data, err := m.Snapshot()
	if err != nil {
		return err
	}
	return tree.PutMeta(key, data)
}

// restore reads what earlier runs saved of m.
func restore[M memory](tree *frontier.Frontier, key string, m M) error {
	if m == *new(M) {
		return nil
	}
	data, err := tree.Meta(key)
	if err != nil || data == nil {
		return err
	}
	if err := m.Restore(data); err != nil {
		return fmt.Errorf("crawl: %w", err)
	}
	return nil
}

// Restore reads what earlier runs learned and teaches the strategy the visits committed after the
// model was last saved, as after a kill. News that were not saved with that model, and the state of
// an order.TreeLearner, are rebuilt from the whole crawl tree.
func (l *Learned) Restore(ctx context.Context) error {
	collection := order.CollectionOf(l.Strategy)
	err := errors.Join(restore(l.Tree, trapsKey, l.Traps), restore(l.Tree, sitewideKey, l.SiteWide),
		restore(l.Tree, okapiKey, collection))
	if err != nil {
		return err
	}
	err = l.proveParked()
	if err != nil {
		return err
	}
	data, err := l.Tree.Meta(learnedKey)
	if err != nil {
		return err
	}
	var learned uint64
	if data != nil {
		learned, err = strconv.ParseUint(string(data), 10, 64)
		if err != nil {
			return fmt.Errorf("crawl: learned position %q: %w", data, err)
		}
	}
	after := learned
	news := order.NewsOf(l.Strategy)
	if news != nil {
		known, err := restoreNews(l.Tree, news, learned)
		if err != nil {
			return err
		}
		if !known {
			after = 0
		}
	}
	learner, learns := l.Strategy.(order.Learner)
	whole := false
	if s, ok := l.Strategy.(order.TreeLearner); ok && s.LearnsTree() {
		whole, after = true, 0
	}
	return l.Tree.Walk(ctx, after, func(n frontier.Node) error {
		if n.Seq <= learned && !whole {
			news.Observe(n.URL, n.Outcome.Addresses)
			return nil
		}
		if n.Outcome.Kind != frontier.KindPage {
			return nil
		}
		if collection != nil && n.Seq > learned {
			collect(collection, &n.Outcome)
		}
		trail, err := l.Tree.Trail(frontier.KeyOf(n.URL), predictor.MaxDepth)
		if err != nil {
			return err
		}
		if l.Traps != nil && n.Seq > learned && n.Outcome.Relevant && !n.Outcome.SiteWide {
			for _, page := range trail[:min(len(trail), 2)] { // its links that were released stay so
				l.Traps.Credit(page.URL)
			}
		}
		if learns {
			learner.Learn(trail, n.Outcome.Relevant)
		}
		return nil
	})
}

// proveParked makes the patterns proven under which links are parked and that the Traps do not know,
// some of them since the last Save.
func (l *Learned) proveParked() error {
	if l.Traps == nil {
		return nil
	}
	parked, err := l.Tree.Parked()
	for _, p := range parked {
		l.Traps.Prove(p.Host, p.Pattern)
	}
	return err
}

// restoreNews reads the News saved after that many visits, if there are any.
func restoreNews(tree *frontier.Frontier, news *order.News, visits uint64) (known bool, err error) {
	data, err := tree.Meta(newsKey)
	if err != nil || data == nil {
		return false, err
	}
	var kept keptNews
	if err := json.Unmarshal(data, &kept); err != nil {
		return false, fmt.Errorf("crawl: known addresses: %w", err)
	}
	if kept.Visits != visits {
		return false, nil
	}
	err = news.Restore(kept.News)
	if err != nil {
		return false, fmt.Errorf("crawl: %w", err)
	}
	return true, nil
}

// Package frontier is the durable queue of a crawl and its memory of every URL
// that it has seen: one Badger store, so that "seen", "queued" and "visited"
// change in one transaction. KEYS.md has the bytes.
package frontier

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"sync"
	"time"

	"gazehound/crawler/weburl"

	"github.com/dgraph-io/badger/v4"
)

// A Key names a page in the crawl tree. URLs of one identity (see
// weburl.URL.Identity) have one key.
type Key [16]byte

// KeyOf returns the key of u: the beginning of the SHA-256 of its identity.
func KeyOf(u weburl.URL) Key {
	h := sha256.Sum256([]byte(u.Identity()))
	return Key(h[:16])
}

// String returns k in hexadecimal.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// An Entry is one URL waiting to be fetched, with the link it was found by.
type Entry struct {
	URL      weburl.URL
	Priority float64 // 0 to 1; the highest is served first
	Depth    int     // links from a seed
	Distance int     // links since the last relevant page; 0 for a seed
	Parent   Key     // page that held the link; zero for a seed

	// Words of the link, cut to MaxWords bytes each.
	Anchor, Title, Around string
	Switch                bool // source and target lie on different sites

	Redirects int // in a row, to get here
	Retries   int // of this run; not stored
	Found     time.Time
}

// MaxWords bounds each text of a link, in bytes.
const MaxWords = 200

// An Outcome says what became of an entry.
type Outcome struct {
	Kind      string           // "page", "redirect", "error" or "skipped"
	Reason    string           // error class or skip reason, or ""
	Status    int              // HTTP, or 0
	Relevant  bool             // of a page
	Score     float64          // of the verdict, 0 to 1
	Addresses []string         // distinct addresses of the region on the page, at most MaxAddresses
	Dropped   map[string]int64 // links of the page that were not queued, by reason
	Bytes     int64            // of the decoded body
	At        time.Time
}

// MaxAddresses bounds the addresses of one page that are kept.
const MaxAddresses = 1000

// A State says where a node of the crawl tree stands.
type State uint8

// The states.
const (
	Queued State = iota + 1
	Visited
)

// A Node is one URL of the crawl tree.
type Node struct {
	Entry
	State   State
	Outcome Outcome // of a visited node
	Seq     uint64  // order of visits, from 1; 0 while queued
}

// Totals count a crawl over all its runs. All but Leased and the hosts by
// state are stored in the transactions that change them.
type Totals struct {
	Queued, Leased, Visited int64 // Leased ones are also Queued
	Pages, Relevant         int64
	Redirects               int64
	Addresses               int64 // distinct
	Bytes                   int64
	Errors, Skipped         map[string]int64 // visits by reason
	Dropped                 map[string]int64 // links by reason
	Hosts                   int64            // seen
	ReadyHosts, ParkedHosts int64            // with waiting entries
}

func (t Totals) clone() Totals {
	t.Errors, t.Skipped, t.Dropped = maps.Clone(t.Errors), maps.Clone(t.Skipped), maps.Clone(t.Dropped)
	return t
}

// Options tune a Frontier.
type Options struct {
	Dir      string
	InMemory bool  // no files; for tests
	Memory   int64 // bytes of Badger's tables and caches; ≥ 32 MB
	Seed     uint64
	// Score is asked for the priority of an entry that has reached the front;
	// nil: the stored priority stands.
	Score func(*Entry) float64
	// MaxPerHost bounds the URLs accepted of one host; 0: no limit.
	MaxPerHost int64
}

// Errors of Open and of a closed Frontier.
var (
	ErrLocked      = errors.New("in use by another process")
	ErrNewerFormat = errors.New("written by a newer gazehound")
	ErrClosed      = errors.New("frontier: closed")
)

// A Frontier is safe for concurrent use.
type Frontier struct {
	db      *badger.DB
	options Options

	requests chan *request
	writer   sync.WaitGroup
	closing  sync.Once
	closed   chan struct{}
	closeErr error

	mu     sync.Mutex
	wake   chan struct{} // closed and replaced when work may have come
	queue  queue
	totals Totals
}

// Push queues entries that were never seen, and raises those that wait with a
// lower priority: the better link takes the place of the worse. It returns the
// number of new entries, durably stored.
func (f *Frontier) Push(ctx context.Context, es ...Entry) (added int, err error) {
	for len(es) > 0 { // in transactions of bounded size
		n := min(len(es), 2000)
		a, err := f.write(ctx, &request{found: es[:n]})
		if added += a; err != nil {
			return added, err
		}
		es = es[n:]
	}
	return added, nil
}

// Done gives a leased entry up and queues what its page held, in one
// transaction.
func (f *Frontier) Done(ctx context.Context, e Entry, o Outcome, found ...Entry) (added int, err error) {
	if len(o.Addresses) > MaxAddresses {
		o.Addresses = o.Addresses[:MaxAddresses]
	}
	return f.write(ctx, &request{done: &e, outcome: o, found: found})
}

// Next leases the best entry among the hosts that may be asked now. claim
// takes the turn of a host and returns 0, or says how long to wait. Next waits
// until there is one; io.EOF says that nothing is queued and nothing leased.
// claim must not call the Frontier.
func (f *Frontier) Next(ctx context.Context, claim func(host string) time.Duration) (Entry, error) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		if err := ctx.Err(); err != nil {
			return Entry{}, err
		}
		f.mu.Lock()
		e, wait, err := f.next(claim)
		wake := f.wake
		f.mu.Unlock()
		if err != nil || !e.URL.IsZero() {
			return e, err
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
		case <-f.closed:
			return Entry{}, ErrClosed
		case <-wake:
		case <-timer.C:
		}
	}
}

// next makes one attempt; with neither an entry nor an error it says when to
// try again at the latest.
func (f *Frontier) next(claim func(string) time.Duration) (Entry, time.Duration, error) {
	select {
	case <-f.closed:
		return Entry{}, 0, ErrClosed
	default:
	}
	now := time.Now()
	f.queue.unpark(now)
	for tries := 0; ; {
		h, err := f.queue.best(f.db)
		if err != nil {
			return Entry{}, 0, err
		}
		if h == nil {
			if len(f.queue.parked) == 0 && len(f.queue.leased) == 0 && len(f.queue.delayed) == 0 {
				return Entry{}, 0, io.EOF
			}
			return Entry{}, f.queue.nextWake(now), nil
		}
		head := h.head()
		n, ok, err := get(f.db, head.key)
		if err != nil {
			return Entry{}, 0, err
		}
		if !ok || n.State != Queued { // a damaged record is left out, never fatal
			f.queue.drop(h, head)
			continue
		}
		if f.options.Score != nil && tries < maxRescores {
			tries++
			head.priority = toPriority(f.options.Score(&n.Entry))
			if f.queue.reorder(h, head) {
				continue // something else leads now
			}
		}
		if wait := claim(h.name); wait > 0 {
			f.queue.park(h, now.Add(wait))
			continue
		}
		n.Priority = float64(head.priority)
		if head.again != nil {
			n.URL, n.Redirects, n.Retries = head.again.URL, head.again.Redirects, head.again.Retries
		}
		f.queue.lease(h, head)
		return n.Entry, 0, nil
	}
}

// maxRescores bounds the entries that one Next scores again.
const maxRescores = 64

// Return gives a leased entry back un-visited; it is not handed out again
// before wait has passed. Its Retries, its Redirects and its URL, which may be
// another of the same key, are kept until the program ends.
func (f *Frontier) Return(e Entry, wait time.Duration) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queue.giveBack(e, time.Now().Add(wait), wait <= 0)
	f.wakeAll()
	return nil
}

// wakeAll lets every waiting Next look again.
func (f *Frontier) wakeAll() {
	close(f.wake)
	f.wake = make(chan struct{})
}

// Totals returns the counts of the crawl.
func (f *Frontier) Totals() Totals {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.totals.clone()
	t.Leased = int64(len(f.queue.leased))
	t.Hosts = int64(len(f.queue.hosts))
	t.ReadyHosts, t.ParkedHosts = int64(len(f.queue.ready)), int64(len(f.queue.parked))
	return t
}

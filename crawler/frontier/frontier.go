// Package frontier is the durable queue of a crawl, its set of known URLs and its crawl tree, in
// one Badger store: "mark seen and enqueue" and "end a visit and enqueue what it found" are one
// transaction each. An entry is a URL with what is known of the link to it; its life:
//
//  1. Push queues it, or Done of the page that links to it. A URL that was seen before stays as it is, or
//     takes the better link.
//  2. Its host is ready when its delay is over and no entry of it is leased; others wait.
//  3. Next leases the entry with the highest priority among the ready hosts to one caller.
//  4. On disk a leased entry stays queued: a lease costs no write, and a killed crawl finds all of them queued.
//  5. Return puts it back (to be tried again), Park puts it aside (one of too many that repeat pages).
//  6. Done makes it a node of the crawl tree: visited, with its outcome and the page that it was found on.
//
// An entry with an Owner is another node's: it waits beside the queue until it is Sent.
//
// The order of the queue is kept on disk for each host; memory holds a few numbers for every host, and
// blocks of the best entries of the hosts at the front. KEYS.md describes the bytes.
package frontier

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gazehound/crawler/weburl"
)

// Errors of Open, and of everything after Close.
var (
	ErrLocked      = errors.New("in use by another process")
	ErrNewerFormat = errors.New("written by a newer version of gazehound")
	ErrOlderFormat = errors.New("written by an older version of gazehound")
	ErrDamaged     = errors.New("damaged")
	ErrForeign     = errors.New("not a frontier")
	ErrClosed      = errors.New("frontier is closed")
	ErrReadOnly    = errors.New("frontier is open to be read only")
)

// ErrNotLeased is the error of Return for an entry that is not leased: it was released already, or
// has left the queue.
var ErrNotLeased = errors.New("it is not leased")

// An Entry is one URL and the link by which it was found. Seeds have the zero Parent. Priority is
// kept as a float32, Found to the second, texts as UTF-8.
type Entry struct {
	URL       weburl.URL `json:",omitzero"`
	Priority  float64    `json:"-"`         // higher is sooner; NaN counts as 0
	Depth     int        `json:",omitzero"` // links from a seed
	Distance  int        `json:",omitzero"` // links since the last relevant page; of a seed 0
	Parent    Key        `json:",omitzero"` // the page that holds the link
	Anchor    string     `json:",omitzero"` // words of the link, at most MaxAnchor bytes are kept
	Title     string     `json:",omitzero"` // its title attribute, at most MaxAnchor bytes
	Around    string     `json:",omitzero"` // words around it, at most MaxAround bytes
	Place     string     `json:",omitzero"` // where it stands, see page.Link; at most MaxPlace bytes are kept
	Switch    bool       `json:",omitzero"` // the link leads to another site
	Sitemap   bool       `json:",omitzero"` // a sitemap, not a page
	Redirects int        `json:",omitzero"` // redirects in a row that led here
	Retries   int        `json:",omitzero"` // failed visits
	Found     time.Time  `json:",omitzero"`
	// Parked is the pattern under which the link is kept without being served, until Unpark; "": it
	// is served.
	Parked string `json:",omitzero"`
	// Owner is the node of a cluster for which the link is kept until Sent, instead of being queued; "": it
	// is ours.
	Owner string `json:"-"`
}

// Words returns all words that came with the link from its page.
func (e *Entry) Words() string {
	return strings.Join([]string{e.Anchor, e.Title, e.Around, e.Place}, "\n")
}

// Bounds of what is stored.
const (
	MaxAnchor       = 100  // bytes, cut between characters
	MaxAround       = 200  // bytes, cut between characters
	MaxPlace        = 200  // bytes
	MaxAddresses    = 1000 // of one page
	MaxAddress      = 256  // bytes of an address id
	MaxTitle        = 300  // bytes of the title of a relevant page, cut between characters
	MaxEvidence     = 200  // bytes of what made it relevant, cut between characters
	MaxReasons      = 64   // distinct reasons in Totals; further ones are counted as "other"
	maxReasonLength = 64
)

// A Kind is how a visit ended.
type Kind string

// The kinds of outcomes.
const (
	KindPage     Kind = "page"     // read and judged
	KindRedirect Kind = "redirect" // it leads to another URL, which was queued or followed
	KindError    Kind = "error"    // no page came, see Reason
	KindSkipped  Kind = "skipped"  // not requested, or not read, see Reason
	KindSitemap  Kind = "sitemap"  // its URLs were queued
)

// An Outcome is the result of a visit. At is kept to the millisecond.
type Outcome struct {
	Kind     Kind
	Reason   string `json:",omitzero"` // error class or reason of the skip
	Status   int    `json:",omitzero"` // of HTTP, or 0
	Relevant bool   `json:",omitzero"`
	// relevant only by addresses that most pages of the host state
	SiteWide  bool     `json:",omitzero"`
	Score     float64  `json:",omitzero"`
	Title     string   `json:",omitzero"` // of a relevant page, at most MaxTitle bytes
	Evidence  string   `json:",omitzero"` // what made it relevant, if no address; at most MaxEvidence bytes
	LinkValue float64  `json:",omitzero"` // of an irrelevant page: expected value of its links, in [0, 1]
	Addresses []string `json:",omitzero"` // ids of the distinct addresses in the region, at most MaxAddresses
	// of a page, if the strategy rates pages by a topic: the topic's words in the text with their counts,
	// and the length of the text in bytes
	TopicWords map[string]int `json:",omitzero"`
	TextBytes  int            `json:",omitzero"`
	// of a page of several nodes: the place that it is most probably about, by their partition
	Place string `json:",omitzero"`
	// links of the page that were dropped before Done, by reason
	Dropped map[string]int64 `json:",omitzero"`
	// links of the page to known URLs that are not given to Done, because Known outdoes them; not stored
	// with the visit
	Repeats int64 `json:"-"`
	// its scripts were run
	Rendered bool      `json:",omitzero"`
	Bytes    int64     `json:",omitzero"` // downloaded
	At       time.Time `json:",omitzero"`
	Check    *Check    `json:"-"` // for revisiting, or nil; kept beside the outcome, see Frontier.Check
}

// Kept returns the addresses that count as found: those of a relevant page without a Reason such as
// noindex.
func (o *Outcome) Kept() []string {
	if !o.Relevant || o.Reason != "" {
		return nil
	}
	return o.Addresses
}

// State is the state of a URL in the crawl.
type State uint8

// The states. A leased entry is still queued.
const (
	Queued State = iota + 1
	Visited
	Parked
)

// String returns "queued", "visited" or "parked".
func (s State) String() string {
	switch s {
	case Queued:
		return "queued"
	case Visited:
		return "visited"
	case Parked:
		return "parked"
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// A Node is one URL in the crawl tree. Outcome and Seq are set for visited ones.
type Node struct {
	Entry
	State   State
	Outcome Outcome
	Seq     uint64 // number of the visit, from 1
}

// Totals count a crawl over all its sessions. Stored counts are written in the same transaction as
// what they count.
//
// Links = Queued + Parked + Visited + Repeats + the sum of Dropped.
type Totals struct {
	Queued    int64 // waiting and leased
	Parked    int64 `json:",omitzero"` // kept and not served, see Entry.Parked
	Leased    int64 `json:"-"`         // leased; not stored
	Outgoing  int64 `json:"-"`         // bytes of links that wait for other nodes; they are in no other count
	Visited   int64
	Pages     int64 // visits with Kind "page"
	Redirects int64
	Relevant  int64
	Addresses int64            // distinct, see Outcome.Kept
	Rendered  int64            `json:",omitzero"` // visits whose scripts were run
	Bytes     int64            // downloaded
	Errors    map[string]int64 // visits with Kind "error", by Reason
	Skipped   map[string]int64 // visits with Kind "skipped", by Reason
	Dropped   map[string]int64 // links that were not queued, by reason, such as "host_limit" or "path_limit"
	Links     int64            // links seen, with the seeds and those dropped
	Repeats   int64            // of those, led to URLs that were known
	Damaged   int64            // visits that Rebuild could not read

	Hosts        int64 `json:"-"` // with a known URL
	ReadyHosts   int64 `json:"-"` // with queued URLs, ready; not stored
	WaitingHosts int64 `json:"-"` // with queued URLs, waiting for a delay; not stored

	// callers of Next that are holding back for better entries; not stored
	Selecting int64 `json:"-"`

	NextHost time.Duration `json:"-"` // until the first delay of a host or entry ends; not stored
}

func (t *Totals) clone() Totals {
	c := *t
	c.Errors, c.Skipped, c.Dropped = maps.Clone(t.Errors), maps.Clone(t.Skipped), maps.Clone(t.Dropped)
	return c
}

// Options are the place and the limits of a frontier. The zero values of all fields but Dir are
// usable.
type Options struct {
	Dir    string // of the store; made where it is missing
	Memory int64  // bytes to aim at for everything here, at least 32 MB; 0: 256 MiB
	Seed   uint64 // decides between equal priorities; an existing store keeps its own
	// FirstIn serves equal priorities in the order in which their URLs were found. It is of a Memory
	// only: a store names a URL by what decides between equals.
	FirstIn    bool
	MaxPerHost int64 // URLs of one host, queued and visited; 0: no limit
	// PerHost returns another MaxPerHost for the host of a URL, or 0; nil: none.
	// It must not call the frontier.
	PerHost func(weburl.URL) int64
	// PerPart returns the part of its host in which a URL lies, such as "/forum/", and the limit of
	// URLs of that part; 0: no limit; nil: no part has one. URLs queued while a part had no limit
	// are not counted. It must not call the frontier.
	PerPart func(weburl.URL) (part string, most int64)
	// Selectivity in [0, 1): an entry is held back while the host of a better one waits for no
	// longer than Await, if its priority is lower than this share of the better one's. 0: nothing
	// is held back, nor where priorities are not positive.
	Selectivity float64
	// Patience in [0, 1] is the largest share of the workers' time that may be lost by holding
	// entries back; the nearer it is, the lower is the selectivity. 1: no bound.
	Patience float64
	Workers  int // callers of Next; only a Memory needs it
	Await    time.Duration
	MinFree  int64 // bytes that have to be free on the disk for a write to be tried; 0: 128 MiB
	InMemory bool  // nothing is kept on disk
	// ReadOnly leaves every file as it is: several processes may read a store at once, on a disk
	// that cannot be written to, too. A store that a killed process left is read from a copy of
	// its logs in os.TempDir. Nothing can be pushed, done or repaired.
	ReadOnly bool
	// Verify reads all of a store when it is opened, as a writer does and a reader after a kill. Other
	// readers find damage when they come to it.
	Verify bool

	// Score returns the present priority of an entry at the front of the queue; nil keeps the
	// priority with which it was pushed. Like the claim function of Next it is called with the
	// frontier locked: it must not call the frontier.
	Score func(*Entry) float64
}

// VisitTime is the time of a visit in addition to delay and latency, by which Await exceeds them.
const VisitTime = 250 * time.Millisecond

// What Options that are 0 stand for, in bytes.
const (
	usualMemory  = 256 << 20
	usualMinFree = 128 << 20
)

// A Frontier is an open queue. It is safe for concurrent use. On disk it owns a goroutine that
// syncs once a second; Close ends it.
type Frontier struct {
	options Options
	seed    uint64
	found   *arrivals // with FirstIn; else nil
	store   store
	now     func() time.Duration // since the frontier was opened; the simulator's time in a Memory
	block   int                  // items read at a time
	budget  int                  // items in memory

	putting  sync.Mutex // one PutMeta at a time; before writing
	writing  sync.Mutex // one transaction at a time; before mu
	syncing  sync.Mutex // one Sync at a time; before mu
	unsynced atomic.Bool

	stop    chan struct{}  // closed by Close
	readers sync.WaitGroup // calls that read the store, and the goroutine that syncs it

	mu        sync.Mutex
	view      view   // the store as memory below knows it
	totals    Totals // as stored; changed by writers only
	hosts     map[uint64]*host
	ready     hostHeap       // ready hosts, best entry first
	waiting   hostHeap       // waiting hosts, the first to become ready first
	delayed   []delayed      // delayed entries, the first to become ready first
	loaded    map[*host]bool // hosts with a buffer
	items     int            // in the buffers
	leased    int64
	spent     int           // rescored entries above the long-term budget
	outbox    outbox        // changed by writers only
	changed   chan struct{} // closed and replaced when something has changed
	waiters   int           // of changed
	selecting int           // of them, those holding back for better entries
	work      workTime
	closed    bool
	failed    error // error of a failed commit, after which nothing is written
}

// Push puts entries into the queue and returns how many of them were new; they are durable when it
// returns. A queued URL with a lower priority (or the same and a larger distance) gets priority,
// parent and words of the better link. Leased and visited URLs are not changed. Entries with an Owner are
// kept for that node, if they were not lately.
//
// maxLinks entries at a time are one transaction, before each of which ctx is checked.
func (f *Frontier) Push(ctx context.Context, es ...Entry) (added int, err error) {
	links, err := prepare(es)
	if err != nil {
		return 0, err
	}
	return f.push(ctx, links)
}

func (f *Frontier) push(ctx context.Context, links []link) (added int, err error) {
	for len(links) > 0 {
		part := links[:min(len(links), maxLinks)]
		var fresh int
		err := f.write(ctx, func(b *batch) { fresh = b.push(part) })
		if err != nil {
			return added, err
		}
		added, links = added+fresh, links[len(part):]
	}
	return added, nil
}

// Done ends the visit of e, stores its outcome and queues what was found, in one transaction, and
// returns how many of the found entries were new. (Links above maxLinks are queued before.) The URL
// need not have been queued. A second Done for the same URL only queues the links found.
func (f *Frontier) Done(ctx context.Context, e Entry, o Outcome, found ...Entry) (added int, err error) {
	self, err := prepare([]Entry{e})
	if err != nil {
		return 0, err
	}
	links, err := prepare(found)
	if err != nil {
		return 0, err
	}
	n := min(len(links), maxLinks)
	added, err = f.push(ctx, links[n:])
	if err != nil {
		return added, err
	}
	o = o.trimmed()
	var fresh int
	err = f.write(ctx, func(b *batch) {
		b.finish(&self[0], o)
		fresh = b.push(links[:n])
	})
	if err != nil {
		return added, err
	}
	return added + fresh, nil
}

// Totals returns the counts of the crawl as of now.
func (f *Frontier) Totals() Totals {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.totals.clone()
	t.Leased, t.Selecting, t.Outgoing = f.leased, int64(f.selecting), f.outbox.bytes
	t.Hosts, t.ReadyHosts, t.WaitingHosts = int64(len(f.hosts)), int64(f.ready.Len()), int64(f.waiting.Len())
	if next, some := f.nextToWake(); some {
		t.NextHost = max(0, next-f.now())
	}
	return t
}

// Close ends all waiting calls, waits for those that write and closes the store. Leased entries
// will be queued after the next Open. A second Close does nothing.
func (f *Frontier) Close() error {
	if !f.halt() {
		return nil
	}
	err := f.store.close()
	if err != nil {
		return fmt.Errorf("frontier: close %s: %w", f.options.Dir, err)
	}
	return nil
}

// halt ends everything but the store; false if it was halted before.
func (f *Frontier) halt() bool {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return false
	}
	f.closed = true
	f.broadcast()
	f.mu.Unlock()
	close(f.stop)
	f.readers.Wait() // a later writer gets an error
	f.writing.Lock()
	defer f.writing.Unlock()
	f.view.close()
	return true
}

// broadcast wakes all waiting calls of Next. f.mu is held.
func (f *Frontier) broadcast() {
	if f.waiters > 0 {
		close(f.changed)
		f.changed = make(chan struct{})
	}
}

// A Key identifies a page in the crawl tree: 8 bytes of the hash of its host, 8 of the hash of its
// identity. It is the same in every store.
type Key [16]byte

// IsZero reports whether k names no URL.
func (k Key) IsZero() bool { return k == Key{} }

// String returns k in hexadecimal.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

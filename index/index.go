// Package index keeps the relevant pages of a crawl and their addresses in a
// Bleve index, and answers queries about them: words, area, distance.
//
// The index holds one entry for each mention, that is for each address that a
// page states. A query finds mentions and answers with addresses: those
// of the same address are one hit, with its pages on all sites as evidence.
package index

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/mapping"
	bleveindex "github.com/blevesearch/bleve_index_api"
	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// Errors of Open and of a closed Index, wrapped with the folder.
var (
	ErrLocked      = errors.New("in use by another process")
	ErrNewerFormat = errors.New("written by a newer gazehound")
	ErrOlderFormat = errors.New("written by an older gazehound")
	ErrDamaged     = errors.New("damaged")
	ErrClosed      = errors.New("index: closed")
	ErrReadOnly    = errors.New("index: open for reading only")
)

// format is the version of what lies in the folder: the fields of a mention
// and how their words are folded. A change of either raises it.
const format = 4

// Options tune an Index.
type Options struct {
	// ReadOnly leaves the data as it is, so that several processes may read it
	// at once; Put and Delete fail. A folder that does not exist is an empty
	// index then, because a crawl that found nothing yet has none.
	ReadOnly bool
	// LockWait is how long Open waits for another process to let go of the
	// index, at least 1 ms.
	LockWait time.Duration
	// MaxBatch is how many writes share one commit of Bleve at most; those of
	// long pages are fewer. The larger a batch, the fewer segments are merged.
	MaxBatch int
	// Lag is by how much what a search sees may be older than the last write,
	// about; 0 to 5 s. With 0 every search sees every write that was
	// acknowledged before, and waits for Bleve to take it; a crawl that is
	// searched meanwhile wants a second, so that many writes are taken at once
	// and no search waits. Stats and Walk see every write in any case.
	Lag time.Duration
	// OnDemand keeps rows out of memory until somebody asks for anything: 100
	// bytes a mention and 200 an address that a long crawl can do without.
	OnDemand bool
}

// DefaultOptions returns the options of a crawl.
func DefaultOptions() Options {
	return Options{LockWait: time.Second, MaxBatch: 5000}
}

// Validate returns an error that names the first bad option.
func (o Options) Validate() error {
	switch {
	case o.LockWait < time.Millisecond:
		return fmt.Errorf("index: lock wait %v is less than 1ms", o.LockWait)
	case o.MaxBatch < 1 || o.MaxBatch > 10_000:
		return fmt.Errorf("index: batch of %d writes; 1 to 10000 are possible", o.MaxBatch)
	case o.Lag < 0 || o.Lag > commitAfter:
		return fmt.Errorf("index: lag %v is not 0 to %v", o.Lag, commitAfter)
	}
	return nil
}

// An Index holds the relevant pages of one crawl. It is safe for concurrent
// use; searches go on while others write.
type Index struct {
	dir   string
	id    string      // of the data, random: two indexes never share an ETag
	bleve bleve.Index // nil: the empty index of a folder that does not exist
	write chan write  // nil: read only
	queue queue       // what the journal has and Bleve has not
	lag   time.Duration

	closing sync.RWMutex // held for reading while a write is handed over or a state is read
	closed  bool

	words *analysis
	table *table

	reading sync.Mutex  // held while a state of the data is read
	resting atomic.Bool // nobody has asked yet: there are no rows
	viewing sync.RWMutex
	current *view // nil: closed
	stats   statsCache

	turns     turns
	scratches sync.Pool // of *scratch
	lists     lists
}

// Open opens the index in dir, and makes it where there is none. It starts two
// goroutines that write; Close ends them. It takes about a second for each 500,000
// mentions, which are kept in memory in part. Errors are ErrLocked,
// ErrNewerFormat, ErrOlderFormat, ErrDamaged, or of the file system.
func Open(dir string, o Options) (x *Index, err error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.ReadOnly && journalHolds(dir) { // of a killed program
		writable := o
		writable.ReadOnly = false
		whole, err := Open(dir, writable)
		if err == nil {
			err = whole.Close()
		}
		if err != nil && !cannotWrite(err) { // or else the pages of its last seconds are not seen
			return nil, err
		}
	}
	x = &Index{dir: dir, lag: o.Lag, words: newAnalysis(), table: newTable(), turns: turns{free: runtime.GOMAXPROCS(0)}}
	if x.id, err = identify(dir, o.ReadOnly); err != nil {
		if o.ReadOnly && errors.Is(err, fs.ErrNotExist) {
			return x, x.refresh()
		}
		return nil, err
	}
	if x.bleve, err = openBleve(dir, o); err != nil {
		return nil, err
	}
	if err := x.firstView(); err != nil {
		if x.bleve != nil {
			x.bleve.Close()
		}
		return nil, err
	}
	if o.OnDemand {
		x.rest()
	}
	if x.bleve != nil && !o.ReadOnly {
		if err := x.start(o.MaxBatch); err != nil {
			x.setView(nil)
			x.bleve.Close()
			return nil, err
		}
	}
	return x, nil
}

// Exists tells whether there is any data; a reader that came before the first
// write has none.
func (x *Index) Exists() bool { return x.bleve != nil }

// firstView reads all rows.
func (x *Index) firstView() (err error) {
	defer func() {
		if p := recover(); p != nil { // the segment reader, on some damaged files
			err = fmt.Errorf("index: %s: %w (%.200v)", x.dir, ErrDamaged, p)
		}
	}()
	if err := x.refresh(); err != nil {
		return openError(x.dir, err)
	}
	return nil
}

// An identity is the file that says what the folder is.
type identity struct {
	Format int    `json:"format"`
	ID     string `json:"id"`
}

// identify reads the identity of the index in dir, and writes it first where
// there is none and the index may be changed.
func identify(dir string, readOnly bool) (string, error) {
	name := filepath.Join(dir, "index.json")
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		if _, stat := os.Stat(filepath.Join(dir, "bleve")); stat == nil {
			return "", fmt.Errorf("index: %s: %w: index.json is missing; restore it", dir, ErrDamaged)
		}
		if readOnly {
			return "", fmt.Errorf("index: %w", err)
		}
		return newIdentity(dir, name)
	}
	if err != nil {
		return "", fmt.Errorf("index: %w", err)
	}
	var i identity
	if err := json.Unmarshal(text, &i); err != nil || i.Format < 1 || i.ID == "" {
		return "", fmt.Errorf("index: %s: %w: index.json cannot be read", dir, ErrDamaged)
	}
	if i.Format > format {
		return "", fmt.Errorf("index: %s: %w (format %d; this one knows %d): use that one or a newer one; the data was not touched", dir, ErrNewerFormat, i.Format, format)
	}
	if i.Format < format {
		return "", fmt.Errorf("index: %s: %w (format %d; this one knows %d); the data was not touched", dir, ErrOlderFormat, i.Format, format)
	}
	return i.ID, nil
}

func newIdentity(dir, name string) (string, error) {
	var random [8]byte
	rand.Read(random[:]) // never fails
	i := identity{Format: format, ID: hex.EncodeToString(random[:])}
	text, err := json.Marshal(i)
	if err != nil {
		return "", fmt.Errorf("index: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("index: %w", err)
	}
	if err := replaceFile(name, append(text, '\n')); err != nil {
		return "", fmt.Errorf("index: %w", err)
	}
	return i.ID, nil
}

// replaceFile writes name so that it is either the old or the new one.
func replaceFile(name string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*.part")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already when all went well
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// mergePlan keeps the segments few: a search looks each word up in each of them,
// and in many of them for each word that begins or is spelt like it. Smaller ones than
// FloorSegmentSize are merged most often; Bleve's own is 2,000 entries.
var mergePlan = map[string]any{"MaxSegmentsPerTier": 4, "SegmentsPerMergeTask": 6, "FloorSegmentSize": 10_000}

// openBleve opens or makes the Bleve index. It is nil without an error where
// a reader came before the first write.
func openBleve(dir string, o Options) (b bleve.Index, err error) {
	path := filepath.Join(dir, "bleve")
	defer func() {
		// Bolt and the segment reader panic on some damaged files.
		if p := recover(); p != nil {
			b, err = nil, fmt.Errorf("index: %s: %w (%.200v)", dir, ErrDamaged, p)
		}
	}()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if o.ReadOnly {
			return nil, nil
		}
		m := bleve.NewIndexMapping()
		m.DefaultMapping = mapping.NewDocumentDisabledMapping() // entries are built field by field
		m.ScoringModel = bleveindex.BM25Scoring
		b, err := bleve.NewUsing(path, m, "scorch", "scorch", map[string]any{"bolt_timeout": o.LockWait.String(), "scorchMergePlanOptions": mergePlan})
		if err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
		return b, nil
	}
	// Where its newest state cannot be read, Bleve opens an older one without a
	// word, and a writer then removes the newer. So look first.
	newest, err := newestGeneration(filepath.Join(path, "store", "root.bolt"), o.LockWait)
	if err != nil {
		return nil, openError(dir, err)
	}
	config := map[string]any{"read_only": true, "bolt_timeout": o.LockWait.String(), "scorchMergePlanOptions": mergePlan}
	if b, err = bleve.OpenUsing(path, config); err != nil {
		return nil, openError(dir, err)
	}
	if opened, _, err := generationOf(b); err != nil || opened < newest {
		b.Close()
		return nil, openError(dir, fmt.Errorf("state %d cannot be read, only %d (%v)", newest, opened, err))
	}
	if o.ReadOnly {
		return b, nil
	}
	if err := b.Close(); err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	config["read_only"] = false
	if b, err = bleve.OpenUsing(path, config); err != nil {
		return nil, openError(dir, err)
	}
	return b, nil
}

func openError(dir string, err error) error {
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return fmt.Errorf("index: %s: %w", dir, ErrLocked)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("index: %w", err)
	}
	return fmt.Errorf("index: %s: %w (%w)", dir, ErrDamaged, err)
}

// Each commit counts the generation of the data up by one.
var generationKey = []byte("generation")

// newestGeneration reads the generation of the newest state out of Bleve's
// root file: bucket "s" holds the states in their order, each with a bucket
// "i" of internal values.
func newestGeneration(file string, wait time.Duration) (uint64, error) {
	if _, err := os.Stat(file); err != nil {
		return 0, err
	}
	db, err := bolt.Open(file, 0o600, &bolt.Options{ReadOnly: true, Timeout: wait})
	if err != nil {
		return 0, err
	}
	defer db.Close()
	var newest uint64
	err = db.View(func(tx *bolt.Tx) error {
		states := tx.Bucket([]byte("s"))
		if states == nil {
			return nil
		}
		key, _ := states.Cursor().Last()
		if key == nil {
			return nil
		}
		if state := states.Bucket(key); state != nil {
			if internal := state.Bucket([]byte("i")); internal != nil {
				newest, _ = decodeGeneration(internal.Get(generationKey))
			}
		}
		return nil
	})
	return newest, err
}

// A generation is kept as two big-endian numbers: the count, and the Unix time
// of the write in seconds.
func encodeGeneration(n uint64, at time.Time) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, n), uint64(at.Unix()))
}

func decodeGeneration(b []byte) (n uint64, at time.Time) {
	if len(b) != 16 {
		return 0, time.Time{}
	}
	return binary.BigEndian.Uint64(b), time.Unix(int64(binary.BigEndian.Uint64(b[8:])), 0).UTC()
}

// generationOf returns the generation that b shows.
func generationOf(b bleve.Index) (n uint64, at time.Time, err error) {
	r, err := readerOf(b)
	if err != nil {
		return 0, time.Time{}, err
	}
	defer r.Close()
	value, err := r.GetInternal(generationKey)
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("index: %w", err)
	}
	n, at = decodeGeneration(value)
	return n, at, nil
}

// readerOf returns a view of the data as it is now. The caller closes it.
func readerOf(b bleve.Index) (bleveindex.IndexReader, error) {
	advanced, err := b.Advanced()
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	r, err := advanced.Reader()
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	return r, nil
}

// Close ends the writer after the writes that were handed over, and lets go of
// the data. Searches that run go on.
func (x *Index) Close() error {
	x.closing.Lock()
	if x.closed {
		x.closing.Unlock()
		return nil
	}
	x.closed = true
	if x.write != nil {
		close(x.write)
	}
	x.closing.Unlock()
	err := x.queue.close()
	x.setView(nil)
	if x.bleve == nil {
		return err
	}
	if err := errors.Join(err, x.bleve.Close()); err != nil {
		return fmt.Errorf("index: close: %w", err)
	}
	return nil
}

// A write is one change of the data, handed to the keeper.
type write struct {
	page     string       // its hash: all old mentions of it go
	mentions []*mention   // the new ones
	without  string       // place whose old mentions go while the others stay, in place of mentions; "": none
	gone     int64        // Unix seconds: old mentions that are not among the new ones stay, as gone since; 0: they go
	record   []byte       // for the journal
	done     chan<- error // room for one
}

// Put replaces what the index knows of the page d.URL by the addresses of d in
// the region; without any the page is forgotten. It is on disk when Put
// returns without an error, and every search that begins later sees it, or
// one that begins after Options.Lag.
// Several Puts at once share a sync, so callers in parallel are much faster
// than one alone. After the end of ctx the page may or may not have been written.
func (x *Index) Put(ctx context.Context, d Document) error {
	page, mentions, err := x.mentionsOf(d)
	if err != nil {
		return err
	}
	return x.change(ctx, write{page: page, mentions: mentions}, entry{URL: d.URL, Document: &d})
}

// Renew is Put for a page that was read again: addresses that it does not
// state any more stay and are marked as gone since d.Fetched. Without any
// address, as of a page that is not there any more, all of them are.
func (x *Index) Renew(ctx context.Context, d Document) error {
	page, mentions, err := x.mentionsOf(d)
	if err != nil {
		return err
	}
	return x.change(ctx, write{page: page, mentions: mentions, gone: d.Fetched.Unix()}, entry{URL: d.URL, Document: &d, Renewed: true})
}

// Delete forgets the page. It is durable like Put; an unknown page is no error.
func (x *Index) Delete(ctx context.Context, url string) error {
	return x.change(ctx, write{page: hashOf(url)}, entry{URL: url})
}

func (x *Index) change(ctx context.Context, w write, e entry) error {
	if x.write == nil {
		return ErrReadOnly
	}
	var err error
	if w.record, err = record(e); err != nil {
		return err
	}
	done := make(chan error, 1)
	w.done = done
	if err := x.hand(ctx, w); err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("index: %w", ctx.Err())
	}
}

// hand gives w to the keeper, and waits where it has too much to do.
func (x *Index) hand(ctx context.Context, w write) error {
	x.closing.RLock()
	defer x.closing.RUnlock()
	if x.closed {
		return ErrClosed
	}
	select {
	case x.write <- w:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("index: %w", ctx.Err())
	}
}

// commit writes one batch. Bleve returns from a (safe) batch when it is on
// disk, so there is no callback to wait for.
func (x *Index) commit(writes []write) error {
	reader, err := readerOf(x.bleve)
	if err != nil {
		return err
	}
	defer reader.Close()
	batch := x.bleve.NewBatch()
	inBatch := map[string][]*mention{} // of a page, where one batch holds it twice
	for _, w := range writes {
		old, again := inBatch[w.page]
		if !again && x.table.knows(w.page) {
			if old, err = storedMentions(reader, w.page); err != nil {
				return err
			}
		}
		first := map[string]int64{}
		for _, m := range old {
			first[m.id] = m.First
			batch.Delete(m.id)
		}
		if w.without != "" {
			w.mentions = others(old, w.without)
		}
		if w.gone != 0 {
			w.mentions = append(w.mentions, lost(old, w.mentions, w.gone)...)
		}
		for _, m := range w.mentions {
			if t, ok := first[m.id]; ok && t < m.First {
				m.First = t
			}
			if err := batch.IndexAdvanced(m.entry(x.words)); err != nil {
				return fmt.Errorf("index: %w", err)
			}
		}
		inBatch[w.page] = w.mentions
	}
	if batch.Size() == 0 {
		return nil
	}
	generation, err := reader.GetInternal(generationKey)
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	n, _ := decodeGeneration(generation)
	batch.SetInternal(generationKey, encodeGeneration(n+1, time.Now()))
	err = x.bleve.Batch(batch)
	switch {
	case err == nil:
		x.table.note(writes)
		return x.refresh()
	case strings.Contains(err.Error(), syscall.ENOSPC.Error()):
		return fmt.Errorf("index: write: %w (%w)", syscall.ENOSPC, err) // Bleve keeps only its text
	}
	return fmt.Errorf("index: write: %w", err)
}

// lost returns the old mentions that are not among the new ones, as gone; as
// many as there is room for.
func lost(old, new []*mention, gone int64) []*mention {
	there := map[string]bool{}
	for _, m := range new {
		there[m.id] = true
	}
	var all []*mention
	for _, m := range old {
		if there[m.id] || len(new)+len(all) >= maxMentions {
			continue
		}
		if m.Gone == 0 {
			m.Gone = gone
		}
		m.host = hostOf(m.URL)
		m.site = siteOf(m.host)
		all = append(all, m)
	}
	return all
}

// storedMentions returns the mentions of a page, at most maxMentions.
func storedMentions(r bleveindex.IndexReader, page string) ([]*mention, error) {
	ids, err := r.FieldDictPrefix("_id", []byte(page))
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	defer ids.Close()
	var found []*mention
	for len(found) < maxMentions {
		id, err := ids.Next()
		if err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
		if id == nil {
			break
		}
		doc, err := r.InternalID(id.Term)
		if err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
		if doc == nil {
			continue // deleted, and not merged away yet
		}
		stored, err := r.Document(id.Term)
		if err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
		m := &mention{id: id.Term}
		stored.VisitFields(func(f bleveindex.Field) {
			err = errors.Join(err, m.decode(f.Name(), f.Value()))
		})
		if err != nil {
			return nil, err
		}
		found = append(found, m)
	}
	return found, nil
}

// decode reads one stored field.
func (m *mention) decode(field string, value []byte) (err error) {
	switch field {
	case fieldRow:
		err = m.decodeRow(value)
	case fieldData:
		err = m.decodeData(value)
	}
	if err != nil {
		return fmt.Errorf("index: entry %q: %w: %w", m.id, ErrDamaged, err)
	}
	return nil
}

// mention reads what is stored of a row.
func (p *part) mention(n uint32) (*mention, error) {
	m := &mention{}
	var failed error
	err := p.snap.VisitDocument(uint64(n), func(field string, _ byte, value []byte, _ []uint64) bool {
		if field == "_id" {
			m.id = string(value)
			return true
		}
		failed = m.decode(field, value)
		return failed == nil
	})
	if err = errors.Join(err, failed); err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	return m, nil
}

// Stats count what the index holds.
type Stats struct {
	Pages     int // pages that state an address of the region
	Addresses int // distinct ones: what Search counts
	Mentions  int // an address on a page

	SiteWide      int // addresses that stand on most pages of a site
	SiteWidePages int // pages that hold no other address
}

type statsCache struct {
	sync.Mutex
	generation string
	Stats
}

// Stats counts anew after each change, in time proportional to the mentions.
func (x *Index) Stats(ctx context.Context) (Stats, error) {
	v, err := x.seeAll()
	if err != nil {
		return Stats{}, err
	}
	defer v.release()
	x.stats.Lock()
	defer x.stats.Unlock()
	if x.stats.generation == v.generation || v.reader == nil {
		return x.stats.Stats, nil
	}
	s := Stats{Mentions: v.mentions}
	counts, pages, others := make([]int, len(v.ids)), make([]uint64, 0, v.mentions), []uint64(nil)
	v.each(func(p *part, n uint32, r *row) {
		counts[p.groups[n]]++
		pages = append(pages, r.page)
	})
	wide := v.siteWides()
	s.SiteWide = len(wide.groups)
	for _, count := range counts {
		if count > 0 {
			s.Addresses++
		}
	}
	if s.SiteWide > 0 {
		v.each(func(p *part, n uint32, r *row) {
			if !wide.on[onSite(p.groups[n], r.site)] {
				others = append(others, r.page)
			}
		})
	}
	if err := ctx.Err(); err != nil {
		return Stats{}, fmt.Errorf("index: %w", err)
	}
	slices.Sort(pages)
	s.Pages = len(slices.Compact(pages))
	if s.SiteWide > 0 {
		slices.Sort(others)
		s.SiteWidePages = s.Pages - len(slices.Compact(others))
	}
	x.stats.generation, x.stats.Stats = v.generation, s
	return s, nil
}

// A State names the state of the data.
type State struct {
	// Generation changes with every write, and differs between indexes. It is
	// short and holds only ASCII letters, digits and "-".
	Generation string
	Updated    time.Time // of the last write; zero before the first
}

// State returns the state that a search would see now.
func (x *Index) State() (State, error) {
	v, err := x.see()
	if err != nil {
		return State{}, err
	}
	defer v.release()
	s := State{Generation: v.generation}
	if v.reader != nil {
		_, s.Updated = decodeGeneration(v.reader.Internal()[string(generationKey)])
	}
	return s, nil
}

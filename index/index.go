// Package index keeps the relevant pages of a crawl and their addresses in a Bleve index, and
// searches them by words, area and distance. What happens to a page until a reader sees it:
//
//  1. mentionsOf (document.go) makes mentions of a [Document]: one for each address on the page, with
//     the text that belongs to it.
//  2. The writer (write.go) takes the changes that wait as one batch, and puts each mention into the
//     record of its address, beside what other pages say of it.
//  3. record.document (address.go) makes the document of Bleve: the terms of its words by weight, the
//     keywords of each [Filter], and the record itself as JSON.
//  4. Bleve has the batch on the disk when [Index.Put] returns.
//  5. newSearch (search.go) understands a [Query]; find asks Bleve at one stage after the other, each
//     more tolerant, until there are hits.
//  6. A hitMaker (hits.go) makes a [Hit] of each record: sites vote for its name and contacts, and a
//     snippet shows the words.
//
// The words: a mention is one address on one page; a record is all that pages say of one address; a
// hit is what a reader sees of a record. A site is a registrable domain. A keyword is a term that
// filters or counts, and stands for no text. A walk visits all addresses that fit [Filters], in the order of their IDs.
package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"gazehound/internal/corrections"
	"gazehound/internal/disk"
	"gazehound/internal/oserr"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/mapping"
	bleveindex "github.com/blevesearch/bleve_index_api"
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

// Format is the version of what lies in the folder: the fields of a document
// and how words are folded. A change of either raises it.
const Format = 14

// An Index holds the relevant pages of one crawl. It is safe for concurrent
// use; searches go on while others write.
type Index struct {
	// BeforeWrite, unless it is nil, runs before a batch of pages is written, which waits for it and is
	// not written after an error. It is set before the first Put.
	BeforeWrite func() error

	// Blocked is what Apply leaves out. It is set before the first Apply; nil: nothing.
	Blocked *Blocked

	// SnapshotEvery is the time between two snapshots for readers. It is set before the first change.
	SnapshotEvery time.Duration

	// Facts returns what a person says of an address. It is set before the first Put; nil: what is
	// stored stays.
	Facts func(id string) []corrections.Entry

	dir    string
	id     string // of the data, random: two indexes never share an ETag
	unlock func() error
	bleve  bleve.Index // nil: the empty index of a folder that does not exist
	writes chan change // nil: read only
	writer sync.WaitGroup

	using  sync.RWMutex // held for reading while the data is used
	closed bool
}

// Open opens the index in dir for itself, and makes it where there is none. It starts a
// goroutine that writes; Close ends it. Errors are ErrLocked, ErrNewerFormat,
// ErrOlderFormat, ErrDamaged, or of the file system.
func Open(dir string) (*Index, error) {
	err := os.MkdirAll(dir, 0o755)
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	x, err := openAs(dir, false)
	if err == nil {
		x.writes, x.SnapshotEvery = make(chan change, maxBatch), snapshotEvery
		x.writer.Go(x.write)
	}
	return x, err
}

// OpenReadOnly opens the index in dir without changing it, so that several processes may read it at
// once; Put and Delete fail. A folder that does not exist is an empty index, because a crawl that
// found nothing yet has none. Errors are those of Open.
func OpenReadOnly(dir string) (*Index, error) {
	x, err := openAs(dir, true)
	if errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrDamaged) {
		return &Index{dir: dir}, nil
	}
	return x, err
}

func openAs(dir string, readOnly bool) (*Index, error) {
	unlock, err := disk.LockDir(dir, readOnly)
	if errors.Is(err, disk.ErrLocked) {
		return nil, fmt.Errorf("index: %s: %w", dir, ErrLocked)
	}
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	x := &Index{dir: dir, unlock: unlock}
	x.id, err = identify(dir, readOnly)
	if err == nil {
		x.bleve, err = openBleve(dir, readOnly)
	}
	if err != nil {
		return nil, errors.Join(err, unlock())
	}
	return x, nil
}

// ID is random and identifies the data: two indexes never share one.
func (x *Index) ID() string { return x.id }

// Exists reports whether there is any data; a reader that came before the first
// write has none.
func (x *Index) Exists() bool { return x.bleve != nil }

// merging makes Bleve merge segments of ten documents as it does those of a
// thousand: the batches of a crawl are small, and a merge costs as much for every field
// however few documents it has. With Bleve's own 2,000 a crawl writes a city's addresses
// again with every tenth batch.
var merging = map[string]any{"FloorSegmentSize": 10, "MaxSegmentsPerTier": 3}

// openBleve opens the Bleve index, or makes it.
func openBleve(dir string, readOnly bool) (bleve.Index, error) {
	path := filepath.Join(dir, "bleve")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && !readOnly {
		err := newBleve(path)
		if err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	b, err := openChecked(path)
	if err == nil && !readOnly {
		err = b.Close()
		if err == nil {
			b, err = bleve.OpenUsing(path, config(false))
		}
	}
	if err != nil {
		return nil, openError(dir, err)
	}
	return b, nil
}

func config(readOnly bool) map[string]any {
	return map[string]any{"read_only": readOnly, "bolt_timeout": "1s", "scorchMergePlanOptions": merging}
}

// newBleve makes an empty Bleve index at path, beside it at first: a process
// that is killed meanwhile leaves nothing that looks damaged.
func newBleve(path string) error {
	m := bleve.NewIndexMapping()
	m.DefaultMapping = mapping.NewDocumentDisabledMapping() // documents are built field by field
	m.DefaultMapping.AddFieldMappingsAt(fieldPoint, mapping.NewGeoPointFieldMapping())
	m.ScoringModel = bleveindex.BM25Scoring
	part := path + ".new"
	err := os.RemoveAll(part)
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	b, err := bleve.NewUsing(part, m, "scorch", "scorch", nil)
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	batch := b.NewBatch()
	batch.SetInternal(stateKey, state{}.encode())
	// Bleve does not sync its description of the index.
	err = errors.Join(b.Batch(batch), b.Close(), disk.SyncTree(part))
	if err != nil {
		return fmt.Errorf("index: write: %w", err)
	}
	err = os.Rename(part, path)
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	return disk.SyncDir(filepath.Dir(path))
}

func openError(dir string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("index: %w", err)
	case strings.Contains(err.Error(), oserr.Files.Error()): // Bleve passes on the text alone
		return fmt.Errorf("index: %s: %w", dir, err)
	}
	return fmt.Errorf("index: %s: %w (%w)", dir, ErrDamaged, err)
}

// A state is kept beside the documents of each batch.
type state struct {
	Generation int   `json:"generation"`
	Updated    int64 `json:"updated"` // Unix seconds; 0 before the first write
	Documents  int   `json:"documents"`
	Pages      int   `json:"pages"`
	Bare       int   `json:"bare,omitempty"` // pages that only have homes or notes, and what is left of unsent ones
	Mentions   int   `json:"mentions"`

	Stream    string `json:"stream,omitempty"`    // that changed pages are to be sent to; "": they are not sent
	Forgotten bool   `json:"forgotten,omitempty"` // Apply has removed what may be left in files
}

var stateKey = []byte("state")

func (s state) encode() []byte {
	text, _ := json.Marshal(s) // three numbers
	return text
}

func stateOf(r bleveindex.IndexReader) (s state, err error) {
	text, err := r.GetInternal(stateKey)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return s, fmt.Errorf("index: state of the data: %w: %w", ErrDamaged, err)
	}
	return s, nil
}

// A view is one state of the data.
type view struct {
	bleveindex.IndexReader
	state state
	done  func()
}

// view returns the data as they are now, nil where there are none, and keeps the index
// open until it is closed.
func (x *Index) view() (v *view, err error) {
	x.using.RLock()
	if x.closed {
		err = ErrClosed
	} else if x.bleve != nil {
		v, err = x.latest()
	}
	if v == nil {
		x.using.RUnlock()
		return nil, err
	}
	v.done = x.using.RUnlock
	return v, nil
}

// latest is view for the writer, which works until the index is closed.
func (x *Index) latest() (*view, error) {
	advanced, err := x.bleve.Advanced()
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	r, err := advanced.Reader()
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	s, err := stateOf(r)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return &view{IndexReader: r, state: s}, nil
}

// Close lets go of the state.
func (v *view) Close() error {
	err := v.IndexReader.Close()
	if v.done != nil {
		v.done()
	}
	return err
}

// count returns how many documents have a keyword, 0 after an error.
func (v *view) count(field, value string) int {
	name, term := termOf(field, value)
	r, err := v.TermFieldReader(context.Background(), []byte(term), name, false, false, false)
	if err != nil {
		return 0
	}
	defer r.Close()
	return int(r.Count())
}

// Close ends the writer after the writes that were handed over, waits for the
// searches that run, and lets go of the data.
func (x *Index) Close() error {
	x.using.Lock()
	if x.closed {
		x.using.Unlock()
		return nil
	}
	x.closed = true
	x.using.Unlock()
	if x.writes != nil {
		close(x.writes)
		x.writer.Wait()
	}
	if x.bleve == nil {
		return nil
	}
	if err := errors.Join(x.bleve.Close(), x.unlock()); err != nil {
		return fmt.Errorf("index: close: %w", err)
	}
	return nil
}

// A State identifies the state of the data.
type State struct {
	// Generation changes with every write, and differs between indexes. It is
	// short and holds only ASCII letters, digits and "-".
	Generation string
	Updated    time.Time // of the last write; zero before the first
}

// State returns the state that a search would see now.
func (x *Index) State() (State, error) {
	v, err := x.view()
	if v == nil {
		return State{Generation: "empty"}, err
	}
	defer v.Close()
	return State{fmt.Sprintf("%s-%x", x.id, v.state.Generation), timeOf(v.state.Updated)}, nil
}

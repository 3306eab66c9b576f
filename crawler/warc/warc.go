// Package warc records and replays webs: a [Writer] writes exchanges to WARC/1.1 files, and an
// [Archive] serves the recorded responses. It never uses the network.
package warc

import (
	"archive/zip"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"gazehound/crawler/weburl"
)

// DefaultMaxBody is the longest decoded body, in bytes, that Fetch returns
// unless [Archive.MaxBody] says otherwise.
const DefaultMaxBody = 10 << 20

// ErrNotWARC is wrapped by the errors of Open for files that are no WARC files.
var ErrNotWARC = errors.New("not a WARC file")

// An Archive is a set of WARC files with an index of their responses. It is
// safe for concurrent use.
type Archive struct {
	// MaxBody is the longest decoded body, in bytes, that Fetch returns. It
	// may be changed before the first Fetch.
	MaxBody int64
	// ContentTypes are the media types that Fetch admits, in lower case; none: all.
	ContentTypes []string

	files    []*source
	close    []io.Closer
	index    map[key]place
	payloads map[key]place // by payload digest: what revisit records refer to
	rendered map[key]place // by record ID of the response: its conversion
	stats    Stats
	readers  sync.Pool // *reader
}

// A source is one WARC file.
type source struct {
	io.ReaderAt
	name   string
	size   int64
	zipped bool  // record by record
	end    int64 // of the last whole record

	damage []span // what lies between whole records or behind them
	cause  error  // of the first damage
	tried  int64  // bytes read in search of whole records
}

// Stats count what Open found.
type Stats struct {
	Files     int
	Records   int      // of any type
	Responses int      // recorded HTTP responses, revisits included
	Revisits  int      // of those, refer to the body of another
	URLs      int      // distinct canonical URLs, the scheme left out
	Skipped   int      // responses without a usable URL or HTTP status line
	Bytes     int64    // of all files
	Damaged   int      // files that lack records; what a kill tears off an open file is none
	Warnings  []string // one a file that ends early or is damaged
}

// A key is a hash of a canonical URL without its scheme. It is long enough
// that nobody finds two URLs with the same one.
type key [16]byte

func keyOf(address string) key {
	sum := sha256.Sum256([]byte(address))
	return key(sum[:16])
}

// address returns the key of u in an archive: host, path and query.
func address(u weburl.URL) string {
	return u.String()[len(u.Scheme())+len("://"):]
}

// A place is the start of a record.
type place struct {
	file   *source
	offset int64
	ok     bool // the response is a success
}

// Open indexes WARC files, plain or compressed record by record. A folder
// means the *.warc and *.warc.gz files in it, also those still .open. Of several responses for one
// URL the first success is kept, or else the first. Damage costs the records that it touches,
// and [Archive.Stats] warns of it; a file without a whole record is an error.
func Open(paths ...string) (*Archive, error) {
	names, err := expand(paths)
	if err != nil {
		return nil, err
	}
	return openAll(names, (*Archive).add)
}

// OpenWACZ is Open for WACZ files: zip files with WARC files in their archive
// folder, which have to be stored as they are and not compressed once more.
func OpenWACZ(names ...string) (*Archive, error) { return openAll(names, (*Archive).addWACZ) }

// newArchive returns an Archive without files.
func newArchive() *Archive {
	a := &Archive{MaxBody: DefaultMaxBody, index: map[key]place{}, payloads: map[key]place{}, rendered: map[key]place{}}
	a.readers.New = func() any { return newReader() }
	return a
}

func openAll(names []string, add func(a *Archive, name string) error) (*Archive, error) {
	if len(names) == 0 {
		return nil, errors.New("warc: no file given")
	}
	a := newArchive()
	for _, name := range names {
		if err := add(a, name); err != nil {
			a.Close()
			return nil, fmt.Errorf("warc: %s: %w", name, err)
		}
	}
	a.stats.Files = len(a.files)
	a.stats.URLs = len(a.index)
	if a.stats.URLs == 0 {
		a.Close()
		return nil, fmt.Errorf("warc: no HTTP response with a usable URL in %s", strings.Join(names, ", "))
	}
	return a, nil
}

// Close closes the files. No Fetch may run or follow.
func (a *Archive) Close() error {
	var errs []error
	for _, c := range a.close {
		errs = append(errs, c.Close())
	}
	a.files, a.close = nil, nil
	return errors.Join(errs...)
}

// Stats returns what Open found.
func (a *Archive) Stats() Stats { return a.stats }

// Has reports whether Fetch would find u, be it by a redirect.
func (a *Archive) Has(u weburl.URL) bool {
	_, _, ok := a.find(u)
	return ok
}

// expand replaces folders by their WARC files, in the order of their names.
func expand(paths []string) ([]string, error) {
	var names []string
	for _, p := range paths {
		info, err := os.Stat(p)
		if errors.Is(err, fs.ErrNotExist) {
			err = &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist} // the same words on every system
		}
		if err != nil {
			return nil, fmt.Errorf("warc: %w", err)
		}
		if !info.IsDir() {
			names = append(names, p)
			continue
		}
		entries, err := os.ReadDir(p)
		if err != nil {
			return nil, fmt.Errorf("warc: %w", err)
		}
		before, arc := len(names), ""
		for _, e := range entries {
			if !e.IsDir() && isWARC(e.Name()) {
				names = append(names, filepath.Join(p, e.Name()))
			} else if isARC(e.Name()) {
				arc = e.Name()
			}
		}
		switch {
		case len(names) == before && arc != "":
			return nil, fmt.Errorf("warc: %s: %w", filepath.Join(p, arc), errARC)
		case len(names) == before:
			return nil, fmt.Errorf("warc: no *.warc or *.warc.gz file in folder %s", p)
		}
	}
	return names, nil
}

// open opens a file, which Close closes.
func (a *Archive) open(name string) (f *os.File, size int64, err error) {
	f, err = os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	a.close = append(a.close, f)
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// add opens and indexes one file.
func (a *Archive) add(name string) error { return a.addAs(name, name) }

// addAs is add of a file that will be called name.
func (a *Archive) addAs(name, file string) error {
	f, size, err := a.open(file)
	if err != nil {
		return err
	}
	return a.addSource(&source{ReaderAt: f, name: name, size: size})
}

// addWACZ indexes the WARC files in a WACZ file.
func (a *Archive) addWACZ(name string) error {
	f, size, err := a.open(name)
	if err != nil {
		return err
	}
	z, err := zip.NewReader(f, size)
	if err != nil {
		return fmt.Errorf("no WACZ: %w", err)
	}
	before := len(a.files)
	for _, entry := range z.File {
		if !strings.HasPrefix(entry.Name, "archive/") || !isWARC(entry.Name) {
			continue
		}
		if entry.Method != zip.Store {
			return fmt.Errorf("%s is compressed once more; unpack it and give the files", entry.Name)
		}
		start, err := entry.DataOffset()
		if err == nil {
			size := int64(entry.UncompressedSize64)
			err = a.addSource(&source{ReaderAt: io.NewSectionReader(f, start, size), name: entry.Name, size: size})
		}
		if err != nil {
			return fmt.Errorf("%s: %w", entry.Name, err)
		}
	}
	if len(a.files) == before {
		return errors.New("no WARC file in a folder archive, as a WACZ should have")
	}
	return nil
}

func (a *Archive) addSource(f *source) (err error) {
	zipped, unknown := sniff(f)
	if unknown != nil && !(errors.Is(unknown, errUnknown) && isWARC(f.name)) {
		return unknown
	}
	// a file that is damaged at its start may hold whole records further on
	f.zipped = zipped || unknown != nil && strings.HasSuffix(fileName(f.name), fileExt)
	a.stats.Bytes += f.size
	err = a.scan(f)
	if err != nil {
		return cmp.Or(unknown, err)
	}
	a.files = append(a.files, f)
	return nil
}

// isWARC reports by its name whether a file is a WARC file. One that a crawl is writing or left
// open when it was killed is read up to its end.
func isWARC(name string) bool {
	name = strings.TrimSuffix(strings.ToLower(name), openExt)
	return strings.HasSuffix(name, ".warc") || strings.HasSuffix(name, fileExt)
}

// isARC reports by its name whether a file is an ARC file, plain or compressed.
func isARC(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(strings.ToLower(name), ".gz"), ".arc")
}

// errUnknown means that the first bytes of a file are those of no known format.
var errUnknown = fmt.Errorf("%w", ErrNotWARC)

// sniff distinguishes compressed WARC files, plain ones and other files.
func sniff(f io.ReaderAt) (zipped bool, err error) {
	var b [512]byte
	n, err := f.ReadAt(b[:], 0)
	if err != nil && err != io.EOF {
		return false, err
	}
	head := string(b[:n])
	switch {
	case strings.HasPrefix(head, "WARC/"):
		return false, nil
	case strings.HasPrefix(head, "\x1f\x8b"):
		return true, nil
	case head == "":
		return false, fmt.Errorf("%w (it is empty)", ErrNotWARC)
	case strings.HasPrefix(head, "PK"):
		return false, fmt.Errorf("%w (starts with PK: a zip; for WACZ use --wacz)", ErrNotWARC)
	case strings.HasPrefix(head, "BZh"), strings.HasPrefix(head, "\xfd7zXZ"),
		strings.HasPrefix(head, "\x28\xb5\x2f\xfd"):
		return false, fmt.Errorf("%w (compressed by bzip2, xz or zstd; unpack it first)", ErrNotWARC)
	case strings.HasPrefix(head, arcMagic):
		return false, errARC
	default:
		return false, fmt.Errorf("%w (starts with %q)", errUnknown, head[:min(len(head), 12)])
	}
}

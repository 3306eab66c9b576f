package warc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gazehound/crawler/weburl"

	"github.com/nlnwa/gowarc"
	"golang.org/x/sys/unix"
)

// Forgotten counts what Forget took out of WARC files.
type Forgotten struct {
	Searched int      // files
	Files    int      // of those, were written anew
	Records  int      // taken out: requests, responses, revisits and metadata
	Notes    int      // metadata of other pages that lost URL and words of the page they were found on
	Damaged  []string // what could not be searched, a sentence each
}

// forgettingExt is behind the name of a file that is being written anew.
const forgettingExt = ".forgetting"

// Forget takes the records of all URLs that match out of the WARC files in a
// folder, with the revisit records that refer to their bodies. A file with such
// records is written anew beside the old one, read back, and put in its place;
// the records that stay are the same bytes at other offsets, so that a CDXJ
// index has to be made again. What a killed program left open is ended first;
// a file that another program writes to is an error.
//
// A killed Forget leaves every file whole and is completed by calling it again.
func Forget(ctx context.Context, dir string, match func(weburl.URL) bool) (n Forgotten, err error) {
	if _, err := repair(dir); err != nil {
		return n, err
	}
	left, err := fs.Glob(os.DirFS(dir), "*"+forgettingExt)
	if err != nil {
		return n, fmt.Errorf("warc: %s: %w", dir, err)
	}
	for _, name := range left { // of a killed Forget
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return n, fmt.Errorf("warc: %w", err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return n, fmt.Errorf("warc: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() || !isWARC(e.Name()) {
			continue
		}
		if err := forgetIn(ctx, filepath.Join(dir, e.Name()), match, &n); err != nil {
			return n, fmt.Errorf("warc: forget in %s: %w", e.Name(), err)
		}
	}
	return n, nil
}

// A piece is a run of bytes of a file that stays, or what stands in its place.
type piece struct {
	start, end int64
	instead    []byte // nil: the bytes themselves
}

func forgetIn(ctx context.Context, name string, match func(weburl.URL) bool, n *Forgotten) error {
	a := &Archive{index: map[key]place{}, payloads: map[key]place{}}
	a.readers.New = func() any { return newReader() }
	defer a.Close()
	if err := a.add(name); err != nil {
		n.Damaged = append(n.Damaged, fmt.Sprintf("%s: %v; it was not searched", name, err))
		return nil
	}
	n.Searched++
	for _, w := range a.stats.Warnings {
		n.Damaged = append(n.Damaged, strings.Replace(w, "the file is used up to there", "what follows was not searched", 1))
	}
	pieces, dropped, notes, err := a.without(ctx, match)
	if err != nil || dropped+notes == 0 {
		return err
	}
	if strings.HasSuffix(name, openExt) {
		return errors.New("a running program writes to it; stop that first")
	}
	if err := a.rewrite(name, pieces, a.stats.Records-dropped); err != nil {
		return err
	}
	n.Files, n.Records, n.Notes = n.Files+1, n.Records+dropped, n.Notes+notes
	return nil
}

// without divides the only file of a into what stays and what does not.
func (a *Archive) without(ctx context.Context, match func(weburl.URL) bool) (pieces []piece, dropped, notes int, err error) {
	matches := func(target string) bool {
		u, err := weburl.Parse(target)
		return err == nil && match(u)
	}
	e := newEncoder()
	gone := map[string]bool{} // record IDs
	var ends []int64          // of the records in pieces and of those that go
	err = a.records(0, func(_ *reader, rec record, offset int64) error {
		if len(ends) > 0 {
			ends[len(ends)-1] = offset
		}
		ends = append(ends, 0)
		p := piece{start: offset}
		switch {
		case matches(rec.target), rec.refersTo != "" && matches(rec.refersTo), rec.concurrent != "" && gone[rec.concurrent]:
			dropped++
			gone[rec.id] = true
			p.start = -1
		case rec.kind == kindMetadata && rec.media == noteType && a.gzipped[0]:
			text, err := io.ReadAll(io.LimitReader(rec.block, maxNote))
			var note Note
			if err != nil || json.Unmarshal(text, &note) != nil || note.Via == "" || !matches(note.Via) {
				break
			}
			notes++
			note.Via, note.Anchor, note.Title, note.Around = "", "", "", "" // words of that page
			if text, err = json.Marshal(note); err != nil {
				return err
			}
			h := header(kindMetadata, rec.id, rec.date)
			h.Add(gowarc.WarcTargetURI, rec.target)
			h.Add(gowarc.WarcConcurrentTo, rec.concurrent)
			e.out.Reset()
			if err := e.record(h, noteType, text); err != nil {
				return err
			}
			p.instead = slices.Clone(e.out.Bytes())
		}
		pieces = append(pieces, p)
		return ctx.Err()
	})
	if err != nil || len(pieces) == 0 {
		return nil, 0, 0, err
	}
	ends[len(ends)-1] = a.ends[0]
	for i := range pieces {
		pieces[i].end = ends[i]
	}
	pieces = slices.DeleteFunc(pieces, func(p piece) bool { return p.start < 0 })
	return pieces, dropped, notes, nil
}

// rewrite puts a file of these pieces, with that many records, in the place of
// the only file of a. A damaged end stays as it is.
func (a *Archive) rewrite(name string, pieces []piece, records int) error {
	var stat unix.Stat_t
	if err := unix.Stat(name, &stat); err != nil {
		return err
	}
	out, err := os.OpenFile(name+forgettingExt, os.O_WRONLY|os.O_CREATE|os.O_EXCL, os.FileMode(stat.Mode&0o777))
	if err != nil {
		return err
	}
	defer os.Remove(out.Name()) // gone already when all went well
	if a.ends[0] < stat.Size {
		pieces = append(pieces, piece{start: a.ends[0], end: stat.Size})
	}
	for _, p := range pieces {
		if p.instead != nil {
			_, err = out.Write(p.instead)
		} else {
			_, err = io.Copy(out, io.NewSectionReader(a.files[0], p.start, p.end-p.start))
		}
		if err != nil {
			break
		}
	}
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return err
	}
	if records == 0 && a.ends[0] >= stat.Size {
		return os.Remove(name)
	}
	again := &Archive{index: map[key]place{}, payloads: map[key]place{}}
	again.readers.New = a.readers.New
	defer again.Close()
	if err := again.add(out.Name()); err != nil {
		return fmt.Errorf("the new file cannot be read back, the old one stays: %w", err)
	}
	if again.stats.Records != records {
		return fmt.Errorf("the new file has %d records instead of %d, the old one stays", again.stats.Records, records)
	}
	if err := os.Rename(out.Name(), name); err != nil {
		return err
	}
	return syncDir(filepath.Dir(name))
}

package warc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gazehound/crawler/weburl"
	"gazehound/internal/disk"

	"github.com/nlnwa/gowarc"
)

// Forgotten counts what Forget took out of WARC files.
type Forgotten struct {
	Searched int      // files
	Files    int      // of those, were written anew
	Records  int      // taken out: requests, responses, revisits and metadata
	Notes    int      // metadata of other pages that lost URL and words of the page they were found on
	Damaged  []string // what could not be searched, a sentence each
}

// Forget takes the records of all URLs that match out of the WARC files in a
// folder, with the revisit records that refer to their bodies, and words in the
// metadata of other pages that match as texts. A file with such
// records is written anew beside the old one, read back, and put in its place;
// the records that stay are the same bytes at other offsets, so that a CDXJ
// index has to be made again. What a killed program left open is ended first;
// a file that another program writes to is an error.
//
// A killed Forget leaves every file whole and is completed by calling it again.
func Forget(ctx context.Context, dir string, match func(weburl.URL) bool, text func(string) bool) (n Forgotten, err error) {
	if _, err := repair(dir); err != nil {
		return n, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return n, fmt.Errorf("warc: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() || !isWARC(e.Name()) {
			continue
		}
		if err := forgetIn(ctx, filepath.Join(dir, e.Name()), match, text, &n); err != nil {
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

func forgetIn(ctx context.Context, name string, match func(weburl.URL) bool, text func(string) bool, n *Forgotten) error {
	a := newArchive()
	defer a.Close()
	if err := a.add(name); err != nil {
		n.Damaged = append(n.Damaged, fmt.Sprintf("%s: %v; it was not searched", name, err))
		return nil
	}
	n.Searched++
	for _, w := range a.stats.Warnings {
		n.Damaged = append(n.Damaged, strings.Replace(w, "the file is used up to there", "what follows was not searched", 1))
	}
	pieces, dropped, notes, err := a.without(ctx, match, text)
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
func (a *Archive) without(
	ctx context.Context, match func(weburl.URL) bool, says func(string) bool,
) (pieces []piece, dropped, notes int, err error) {
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
			if err != nil || json.Unmarshal(text, &note) != nil {
				break
			}
			words := strings.Join([]string{note.Via, note.Anchor, note.Title, note.Around}, "\n")
			if !says(words) && (note.Via == "" || !matches(note.Via)) {
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
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if records == 0 && a.ends[0] >= info.Size() {
		return errors.Join(os.Remove(name), disk.SyncDir(filepath.Dir(name)))
	}
	if a.ends[0] < info.Size() {
		pieces = append(pieces, piece{start: a.ends[0], end: info.Size()})
	}
	write := func(w io.Writer) error {
		for _, p := range pieces {
			var from io.Reader = bytes.NewReader(p.instead)
			if p.instead == nil {
				from = io.NewSectionReader(a.files[0], p.start, p.end-p.start)
			}
			if _, err := io.Copy(w, from); err != nil {
				return err
			}
		}
		return nil
	}
	check := func(part string) error {
		again := newArchive()
		defer again.Close()
		if err := again.add(part); err != nil {
			return fmt.Errorf("the new file cannot be read back, the old one stays: %w", err)
		}
		if again.stats.Records != records {
			return fmt.Errorf("the new file has %d records instead of %d, the old one stays", again.stats.Records, records)
		}
		return nil
	}
	return disk.Replace(name, info.Mode().Perm(), write, check)
}

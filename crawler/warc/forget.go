package warc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/internal/disk"
)

// Forgotten counts what Forget removed from WARC files.
type Forgotten struct {
	Searched int      // files
	Files    int      // of those, were written anew
	Records  int      // taken out: requests, responses, revisits and metadata
	Notes    int      // metadata of other pages that lost URL and words of the page they were found on
	Damaged  []string // files that could not be searched, a sentence each
}

// A Removal selects what Forget removes from WARC files.
type Removal struct {
	URL  func(weburl.URL) bool // records of pages
	Text func(string) bool     // matches recorded headers or bodies
}

// Forget removes the records of all matching pages from the WARC files in a folder, with the
// revisit records that refer to their bodies, and words in the metadata of other pages that match
// as texts. A file with such records is written anew beside the old one, read back, and put in its
// place; the records that stay are the same bytes at other offsets, so that a CDXJ index has to be
// made again. What a killed program left open is ended first; a file that another program writes to
// is an error.
//
// A killed Forget leaves every file whole and is completed by calling it again.
func Forget(ctx context.Context, dir string, r Removal) (n Forgotten, err error) {
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
		if err := n.forgetIn(ctx, filepath.Join(dir, e.Name()), r); err != nil {
			return n, fmt.Errorf("warc: forget in %s: %w", e.Name(), err)
		}
	}
	return n, nil
}

func (n *Forgotten) forgetIn(ctx context.Context, name string, r Removal) error {
	a := newArchive()
	defer a.Close()
	if err := a.add(name); err != nil {
		n.Damaged = append(n.Damaged, fmt.Sprintf("%s: %v; it was not searched", name, err))
		return nil
	}
	n.Searched++
	for _, w := range a.stats.Warnings {
		w = strings.Replace(w, "the file is used up to there", "what follows was not searched", 1)
		n.Damaged = append(n.Damaged, w)
	}
	saying := map[key]bool{} // pages
	err := a.Walk(ctx, func(x Recorded) error {
		if p := x.Response; p != nil && (r.Text(fmt.Sprint(p.Header)) || r.inBody(p)) {
			saying[keyOf(address(x.URL))] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	matches := func(target string) bool {
		u, err := weburl.Parse(target)
		return err == nil && (saying[keyOf(address(u))] || r.URL(u))
	}
	pieces, dropped, notes, err := a.without(ctx, matches, r.Text)
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

// inBody reports whether a body matches as it is, or what a reader sees of it: in its code page,
// without entities and elements, with the targets of its links.
func (r *Removal) inBody(p *page.Response) bool {
	if r.Text(string(p.Body)) {
		return true
	}
	parsed, err := page.Parse(p)
	if err != nil {
		return false // no page
	}
	return r.Text(parsed.Title) || r.Text(parsed.Text) ||
		slices.ContainsFunc(parsed.Links, func(l page.Link) bool { return r.Text(l.To.String()) })
}

// without returns the records of the only file of a that stay, or their replacements.
func (a *Archive) without(
	ctx context.Context, matches, says func(string) bool,
) (pieces []io.Reader, dropped, notes int, err error) {
	e := newEncoder()
	gone := map[string]bool{} // record IDs
	err = a.each(ctx, func(s *scanner) error {
		rec := &s.record
		if matches(rec.target) || rec.refersTo != "" && matches(rec.refersTo) ||
			rec.concurrent != "" && gone[rec.concurrent] {
			dropped++
			gone[rec.id] = true
			return nil
		}
		if rec.kind == kindMetadata && rec.media == noteType && s.file.zipped {
			note := readNote(rec.block)
			if note != nil && (matches(note.Via) || says(note.words())) {
				notes++
				note.Via, note.Anchor, note.Title, note.Around, note.Place = "", "", "", "", "" // words of that page
				e.out.Reset()
				if err := e.note(*note, rec.target, rec.id, rec.concurrent, rec.date); err != nil {
					return err
				}
				pieces = append(pieces, bytes.NewReader(slices.Clone(e.out.Bytes())))
				return nil
			}
		}
		if err := s.finish(); err != nil {
			return err
		}
		pieces = append(pieces, io.NewSectionReader(s.file, s.start, s.end-s.start))
		return nil
	})
	return pieces, dropped, notes, err
}

// words returns the texts in n about the page on which the link was found.
func (n *Note) words() string {
	return strings.Join([]string{n.Via, n.Anchor, n.Title, n.Around, n.Place}, "\n")
}

// rewrite puts a file of these pieces, with that many records, in the place of
// the only file of a. A damaged end stays as it is.
func (a *Archive) rewrite(name string, pieces []io.Reader, records int) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	f := a.files[0]
	if records == 0 && f.end >= f.size {
		return errors.Join(os.Remove(name), disk.SyncDir(filepath.Dir(name)))
	}
	pieces = append(pieces, io.NewSectionReader(f, f.end, f.size-f.end))
	write := func(w io.Writer) error {
		_, err := io.Copy(w, io.MultiReader(pieces...))
		return err
	}
	check := func(part string) error {
		again := newArchive()
		defer again.Close()
		if err := again.add(part); err != nil {
			return fmt.Errorf("the new file cannot be read back, the old one stays: %w", err)
		}
		if again.stats.Records != records {
			return fmt.Errorf("the new file has %d records instead of %d, the old one stays",
				again.stats.Records, records)
		}
		return nil
	}
	return disk.Replace(name, info.Mode().Perm(), write, check)
}

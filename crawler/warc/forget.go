package warc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
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
	Damaged  []string // what could not be searched: files, or parts of them; a sentence each
	Lost     int64    // bytes taken out because they could not be read
	Foreign  []string // files outside of the data directory that are not of the project
}

// A Removal selects what Forget removes from WARC files.
type Removal struct {
	URL  func(weburl.URL) bool // records of pages
	Text func(string) bool     // matches recorded headers or bodies
	Lost bool                  // take out what cannot be read, too
}

// Forget removes the records of all matching pages from the WARC files of a project, with the
// revisit records that refer to their bodies, and words in the metadata of other pages that match
// as texts. A file with such records is written anew beside the old one, read back, and put in its
// place; the records that stay are the same bytes at other offsets, so that a CDXJ index has to be
// made again. What a killed program left open is ended first; a file that another program writes to
// is an error.
//
// A killed Forget leaves every file whole and is completed by calling it again.
func Forget(ctx context.Context, m *Manifest, r Removal) (n Forgotten, err error) {
	for _, name := range m.gone() {
		n.Damaged = append(n.Damaged, fmt.Sprintf("%s no longer exists", name))
	}
	names := map[string]bool{}
	for _, l := range m.files() {
		if fileExists(l.path) {
			names[l.path] = true
		}
	}
	for _, dir := range m.Folders() {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			n.Damaged = append(n.Damaged, fmt.Sprintf("the folder %s no longer exists", dir))
			continue
		} else if err != nil {
			return n, fmt.Errorf("warc: %w", err)
		}
		for _, e := range entries {
			if !e.IsDir() && isWARC(e.Name()) {
				names[filepath.Join(dir, e.Name())] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		err := n.forgetIn(ctx, m, name, r)
		if err != nil {
			return n, fmt.Errorf("warc: forget in %s: %w", filepath.Base(name), err)
		}
	}
	return n, nil
}

// maxSearched bounds the decoded bodies that Forget searches, in bytes.
const maxSearched = 256 << 20

func (n *Forgotten) forgetIn(ctx context.Context, m *Manifest, name string, r Removal) error {
	switch {
	case m.owns(name):
	case m.lists(filepath.Dir(name)):
		n.Foreign = append(n.Foreign, name)
		return nil
	default:
		n.Damaged = append(n.Damaged, m.unlisted(name))
		return nil
	}
	name, err := m.endOpen(name)
	if err != nil || name == "" {
		return err
	}
	a := newArchive()
	a.MaxBody = maxSearched
	defer a.Close()
	err = a.add(name)
	if err != nil {
		n.Damaged = append(n.Damaged, fmt.Sprintf("%s: %v; it was not searched", name, err))
		return nil
	}
	f, lost := a.files[0], int64(0)
	is := m.standing(f)
	switch {
	case !is.touch:
		n.Damaged = append(n.Damaged, is.reason+"; it was not searched")
		return nil
	case is.reason != "" && r.Lost:
		err := m.list(f.name, f.size, is.print)
		if err != nil {
			return err
		}
	case is.reason != "":
		n.Damaged = append(n.Damaged, is.reason)
	}
	n.Searched++
	switch {
	case !f.isDamaged():
	case r.Lost:
		lost = f.lost()
	default:
		n.Damaged = append(n.Damaged, f.describeDamage("not searched"))
	}
	saying, err := a.naming(ctx, r)
	if err != nil {
		return err
	}
	for _, x := range saying.unread {
		n.Damaged = append(n.Damaged, fmt.Sprintf("%s: the record of %s was not searched: %v", name, x.URL, x.Err))
	}
	matches := func(target string) bool {
		u, err := weburl.Parse(target)
		return err == nil && (saying.pages[keyOf(address(u))] || r.URL(u))
	}
	pieces, dropped, notes, err := a.without(ctx, matches, r)
	if err != nil || dropped+notes == 0 && lost == 0 {
		return err
	}
	if strings.HasSuffix(name, openExt) {
		return errors.New("a running program writes to it; stop that first")
	}
	err = a.rewrite(m, is, pieces, a.stats.Records-dropped)
	if err != nil {
		return err
	}
	n.Files, n.Records, n.Notes, n.Lost = n.Files+1, n.Records+dropped, n.Notes+notes, n.Lost+lost
	return nil
}

// A naming are the pages whose recorded headers or bodies match a removal, and the records of which
// that cannot be said.
type naming struct {
	pages  map[key]bool
	unread []Recorded
}

// naming searches the bodies of the only file of a.
func (a *Archive) naming(ctx context.Context, r Removal) (found naming, err error) {
	found.pages = map[key]bool{}
	err = a.Walk(ctx, func(x Recorded) error {
		k := keyOf(address(x.URL))
		switch p := x.Response; {
		case p != nil && (r.Text(fmt.Sprint(p.Header)) || r.inBody(p)):
			found.pages[k] = true
		case x.Err != nil && r.Lost:
			found.pages[k] = true
		case x.Err != nil && !errors.Is(x.Err, ErrLost) && !r.URL(x.URL):
			found.unread = append(found.unread, Recorded{URL: x.URL, Err: x.Err})
		}
		return nil
	})
	return found, err
}

// inBody reports whether a body matches as it is, or what a reader sees of it: in its code page,
// without entities and elements, with the targets of its links.
func (r *Removal) inBody(p *page.Response) bool {
	if r.Text(string(p.Body)) || r.Text(string(p.Rendered)) {
		return true
	}
	parsed, err := page.Parse(p)
	if err != nil {
		return false // no page
	}
	return r.Text(parsed.Title) || r.Text(parsed.Text) ||
		slices.ContainsFunc(parsed.Links, func(l page.Link) bool { return r.Text(l.To.String()) })
}

// without returns the records of the only file of a that stay, or their replacements, and unless
// r.Lost is set its damage.
func (a *Archive) without(
	ctx context.Context, matches func(string) bool, r Removal,
) (pieces []io.Reader, dropped, notes int, err error) {
	e := newEncoder()
	gone := map[string]bool{} // record IDs
	f := a.files[0]
	damage := f.damage
	if r.Lost {
		damage = nil
	}
	keepDamage := func(before int64) {
		for len(damage) > 0 && damage[0].from < before {
			pieces = append(pieces, io.NewSectionReader(f, damage[0].from, damage[0].to-damage[0].from))
			damage = damage[1:]
		}
	}
	err = a.each(ctx, func(s *scanner) error {
		keepDamage(s.start)
		rec := &s.record
		if matches(rec.target) || rec.refersTo != "" && matches(rec.refersTo) ||
			rec.concurrent != "" && gone[rec.concurrent] {
			dropped++
			gone[rec.id] = true
			return nil
		}
		if rec.kind == kindMetadata && rec.media == noteType && s.file.zipped {
			note := readNote(rec.block)
			if note != nil && (matches(note.Via) || r.Text(note.words())) {
				notes++
				note.Via, note.Anchor, note.Title, note.Around, note.Place = "", "", "", "", "" // words of that page
				e.out.Reset()
				err := e.note(*note, rec.target, rec.id, rec.concurrent, rec.date)
				if err != nil {
					return err
				}
				pieces = append(pieces, bytes.NewReader(slices.Clone(e.out.Bytes())))
				return nil
			}
		}
		err := s.finish()
		if err != nil {
			return err
		}
		pieces = append(pieces, io.NewSectionReader(s.file, s.start, s.end-s.start))
		return nil
	})
	keepDamage(f.size)
	return pieces, dropped, notes, err
}

// words returns the texts in n about the page on which the link was found.
func (n *Note) words() string {
	return strings.Join([]string{n.Via, n.Anchor, n.Title, n.Around, n.Place}, "\n")
}

// rewrite puts a file of these pieces, with that many records, in the place of
// the only file of a; without a piece it removes the file.
func (a *Archive) rewrite(m *Manifest, is standing, pieces []io.Reader, records int) error {
	name := a.files[0].name
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	// The manifest learns the new size before the file has it, so that a kill leaves no file that is
	// shorter than its line says.
	list := func(size int64) error {
		if !is.known {
			return nil
		}
		return m.list(name, size, is.print)
	}
	if len(pieces) == 0 {
		if err := list(0); err != nil {
			return err
		}
		return errors.Join(os.Remove(name), disk.SyncDir(filepath.Dir(name)))
	}
	write := func(w io.Writer) error {
		_, err := io.Copy(w, io.MultiReader(pieces...))
		return err
	}
	check := func(part string) error {
		again := newArchive()
		defer again.Close()
		err := again.addAs(name, part)
		if err != nil {
			return fmt.Errorf("the new file cannot be read back, the old one stays: %w", err)
		}
		if again.stats.Records != records {
			return fmt.Errorf("the new file has %d records instead of %d, the old one stays",
				again.stats.Records, records)
		}
		return list(again.stats.Bytes)
	}
	return disk.Replace(name, info.Mode().Perm(), write, check)
}

// Package forget takes pages, hosts and addresses out of all that a project has
// stored, for good, and keeps the list of what must not come back.
package forget

import (
	"bytes"
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
	"time"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/warc"
	"gazehound/crawler/weburl"
	"gazehound/geoparse"
	"gazehound/index"
	"gazehound/internal/disk"
)

// A Dir is the data directory with the files of removals.
type Dir string

func (d Dir) blocked() string  { return filepath.Join(string(d), "blocked.txt") }
func (d Dir) log() string      { return filepath.Join(string(d), "forgotten.log") }
func (d Dir) pending() string  { return filepath.Join(string(d), "forget.pending") }
func (d Dir) requests() string { return filepath.Join(string(d), "requests.ndjson") }

// Blocklist reads blocked.txt; a file that is not there is an empty list.
func (d Dir) Blocklist() (Blocklist, error) {
	text, err := os.ReadFile(d.blocked())
	if errors.Is(err, fs.ErrNotExist) {
		return Blocklist{}, nil
	} else if err != nil {
		return Blocklist{}, fmt.Errorf("blocklist: %w", err)
	}
	b, err := NewBlocklist(strings.Split(string(text), "\n")...)
	if err != nil {
		return b, fmt.Errorf("%s:%w", d.blocked(), err)
	}
	return b, nil
}

// A Removal is one thing to forget: a line of forgotten.log, and while it goes
// on the file forget.pending.
type Removal struct {
	Number  int       `json:"number"`
	Time    time.Time `json:"time"`
	Kind    string    `json:"kind"`             // host, url or address
	What    string    `json:"what"`             // of an address its ID only
	Also    string    `json:"also,omitempty"`   // second ID of an address: with the city in place of the postcode
	Reason  string    `json:"reason,omitempty"` // the operator's words
	Request int       `json:"request,omitempty"`

	Pages       int      `json:"pages"`        // of the index that lost addresses
	Addresses   int      `json:"addresses"`    // mentions in the index
	URLs        int      `json:"urls"`         // of the crawl tree
	Records     int      `json:"warc_records"` // taken out
	Files       int      `json:"warc_files"`   // written anew
	NotSearched []string `json:"not_searched,omitempty"`
	Resumed     bool     `json:"resumed,omitempty"` // after a kill; the counts are those of the rest
}

// Aim makes r the removal of the host or page that text names, and tells whether
// it names one: a URL, or a host name.
func (r *Removal) Aim(text string) bool {
	if u, err := weburl.Parse(text); err == nil && strings.Contains(text, "://") {
		r.Kind, r.What = "url", u.String()
		if u.Path() == "/" && u.Query() == "" {
			r.Kind, r.What = "host", strings.TrimPrefix(u.Host(), "www.")
		}
		return true
	}
	u, err := weburl.Parse("http://" + text + "/")
	if err != nil || u.Path() != "/" || strings.ContainsAny(text, " \t/?#@,") || !strings.ContainsAny(text, ".:") {
		return false
	}
	r.Kind, r.What = "host", strings.TrimPrefix(u.Host(), "www.")
	return true
}

// AimAddress makes r the removal of an address.
func (r *Removal) AimAddress(a geoparse.Address) {
	places := index.Places(a)
	r.aimPlaces(places[0], places[len(places)-1])
}

// AimHit makes r the removal of an address of the index; one without a street
// cannot be forgotten.
func (r *Removal) AimHit(h *index.Hit) error {
	if h.Street == "" {
		return fmt.Errorf("the address %s names no street; forget its pages instead", h.ID)
	}
	r.aimPlaces(index.PlaceOf(h.Street, h.HouseNumber, h.Postcode, ""), index.PlaceOf(h.Street, h.HouseNumber, "", h.City))
	return nil
}

func (r *Removal) aimPlaces(what, also string) {
	if r.Kind, r.What, r.Also = "address", what, also; also == what {
		r.Also = ""
	}
}

// lines are what r adds to blocked.txt.
func (r *Removal) lines() []string {
	lines := []string{r.Kind + " " + r.What}
	if r.Also != "" {
		lines = append(lines, r.Kind+" "+r.Also)
	}
	return lines
}

// Affected returns what r would take out of the index.
func (r *Removal) Affected(ctx context.Context, x *index.Index) (index.Forgotten, error) {
	list, err := NewBlocklist(r.lines()...)
	if err != nil {
		return index.Forgotten{}, err
	}
	return x.Affected(ctx, list.hasPage, list.hasPlace)
}

// Stores are what a removal takes pages and addresses out of. Nobody else may
// have them open.
type Stores struct {
	Frontier *frontier.Frontier // nil: there is none
	Index    *index.Index       // nil: there is none
	Archives []string           // folders with WARC files
	Labels   string             // file
}

// Close closes what is open of the stores; a second call does nothing.
func (s *Stores) Close() (err error) {
	if s.Index != nil {
		err = s.Index.Close()
	}
	if s.Frontier != nil {
		err = errors.Join(err, s.Frontier.Close())
	}
	s.Index, s.Frontier = nil, nil
	return err
}

// Pending returns the removal that did not end, or nil.
func (d Dir) Pending() (*Removal, error) {
	text, err := os.ReadFile(d.pending())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var r Removal
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.pending(), err)
	}
	return &r, nil
}

// Remove forgets r, which gets its number unless it has one, counts in r what
// that took out, and closes the stores. First it is on the disk what is to be
// done; then come the blocklist, the WARC files, the index, the crawl tree and
// the labels, each of which may be done twice; and the log last. The WARC files
// come before the index, which says for an address what its pages are. A call
// that did not end is repeated with Pending.
func (d Dir) Remove(ctx context.Context, r *Removal, s *Stores) (err error) {
	defer func() { err = errors.Join(err, s.Close()) }()
	list, err := NewBlocklist(r.lines()...)
	if err != nil {
		return err
	}
	if r.Number == 0 {
		if r.Number, err = d.next(); err != nil {
			return err
		}
	}
	if err := disk.Replace(d.pending(), 0o644, func(w io.Writer) error { return json.NewEncoder(w).Encode(r) }); err != nil {
		return err
	}
	if err := d.block(r.lines()); err != nil {
		return err
	}
	if err := r.removeRecords(ctx, list, s); err != nil {
		return err
	}
	if err := r.removeStored(ctx, list, s); err != nil {
		return err
	}
	if err := crawler.ForgetLabels(s.Labels, list.Has); err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	return d.end(r)
}

// removeRecords takes pages out of the WARC files.
func (r *Removal) removeRecords(ctx context.Context, list Blocklist, s *Stores) error {
	pages, err := pagesOf(ctx, list, s)
	if err != nil {
		return err
	}
	for _, dir := range s.Archives {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			r.NotSearched = append(r.NotSearched, dir+" is not there any more")
			continue
		}
		n, err := warc.Forget(ctx, dir, pages)
		if err != nil {
			return err
		}
		r.Records, r.Files = r.Records+n.Records, r.Files+n.Files
		r.NotSearched = append(r.NotSearched, n.Damaged...)
	}
	return nil
}

// removeStored takes the list out of index and crawl tree.
func (r *Removal) removeStored(ctx context.Context, list Blocklist, s *Stores) error {
	if s.Index != nil {
		n, err := s.Index.Forget(ctx, list.hasPage, list.hasPlace)
		if err != nil {
			return err
		}
		r.Pages, r.Addresses = len(n.Pages), n.Addresses
	}
	if s.Frontier != nil {
		match := list.Has
		var address func(frontier.Key, string) bool
		if r.Kind == "address" {
			match, address = nil, func(_ frontier.Key, key string) bool { return list.hasKey(key) }
		}
		n, err := s.Frontier.Forget(ctx, match, address)
		if err != nil {
			return err
		}
		r.URLs = n.URLs
	}
	return nil
}

// pagesOf returns the test of URLs whose records leave the archive: those of
// the list, and the pages that state an address of it.
func pagesOf(ctx context.Context, list Blocklist, s *Stores) (func(weburl.URL) bool, error) {
	if len(list.addresses) == 0 {
		return list.Has, nil
	}
	identities := map[string]bool{}
	if s.Index != nil {
		n, err := s.Index.Affected(ctx, nil, list.hasPlace)
		if err != nil {
			return nil, err
		}
		for _, page := range n.Pages {
			if u, err := weburl.Parse(page); err == nil {
				identities[u.Identity()] = true
			}
		}
	}
	if s.Frontier != nil {
		err := s.Frontier.Walk(ctx, 0, func(n frontier.Node) error {
			if slices.ContainsFunc(n.Outcome.Addresses, list.hasKey) {
				identities[n.URL.Identity()] = true
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return func(u weburl.URL) bool { return identities[u.Identity()] }, nil
}

// end logs r, once, and takes the pending file away.
func (d Dir) end(r *Removal) error {
	next, err := d.next()
	if err != nil {
		return err
	}
	if next <= r.Number { // else it was killed between the two
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if err := disk.AppendLines(d.log(), 0o600, string(line)); err != nil {
			return err
		}
	}
	return errors.Join(os.Remove(d.pending()), disk.SyncDir(string(d)))
}

// next returns the number behind the last one of the log.
func (d Dir) next() (int, error) {
	next := 1
	done, err := readLines[Removal](d.log())
	for _, r := range done {
		next = max(next, r.Number+1)
	}
	return next, err
}

// block adds lines to the blocklist that are not there yet.
func (d Dir) block(lines []string) error {
	text, err := os.ReadFile(d.blocked())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	known := strings.Split(string(text), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return slices.Contains(known, line) })
	if len(lines) == 0 {
		return nil
	}
	return disk.AppendLines(d.blocked(), 0o644, lines...)
}

// readLines reads a file of JSON values, one per line. A line that a crash has
// torn is left out; a file that is not there has none.
func readLines[T any](name string) (all []T, err error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	for n, line := range bytes.Split(text, []byte("\n")) {
		var v T
		if !json.Valid(line) {
			continue
		}
		if err := json.Unmarshal(line, &v); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n+1, err)
		}
		all = append(all, v)
	}
	return all, nil
}

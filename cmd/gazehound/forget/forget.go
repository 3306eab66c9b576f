// Package forget removes pages, hosts and addresses from everything that a project has stored, and
// keeps the blocklist of what must not come back. Start with [Dir.Remove].
package forget

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net"
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
	"gazehound/internal/corrections"
	"gazehound/internal/disk"
	"gazehound/internal/textutil"
	"gazehound/predictor"
	"gazehound/predictor/clicklog"

	"golang.org/x/net/publicsuffix"
)

// A Dir is the data directory with the files of removals.
type Dir string

func (d Dir) blocked() string  { return filepath.Join(string(d), "blocked.txt") }
func (d Dir) log() string      { return filepath.Join(string(d), "forgotten.log") }
func (d Dir) pending() string  { return filepath.Join(string(d), "forget.pending") }
func (d Dir) requests() string { return filepath.Join(string(d), "requests.ndjson") }

// A Removal is one thing to forget: a line of forgotten.log, and during the removal the file
// forget.pending.
type Removal struct {
	Number  int       `json:"number"`
	Time    time.Time `json:"time"`
	Kind    string    `json:"kind"`             // host, url or address
	What    string    `json:"what"`             // of an address its ID only
	Also    string    `json:"also,omitempty"`   // second ID of an address: with the city in place of the postcode
	Beside  []string  `json:"beside,omitempty"` // IDs of telephone numbers and e-mail addresses beside an address
	Reason  string    `json:"reason,omitempty"` // the operator's words
	Request int       `json:"request,omitempty"`

	Pages       int      `json:"pages"`                     // of the index that lost addresses
	Addresses   int      `json:"addresses"`                 // mentions in the index
	URLs        int      `json:"urls"`                      // of the crawl tree
	Unsent      int      `json:"unsent_links,omitempty"`    // of a node, on their way to others
	Records     int      `json:"warc_records"`              // taken out
	Files       int      `json:"warc_files"`                // written anew
	LostBytes   int64    `json:"warc_bytes_lost,omitempty"` // taken out because they could not be read
	NotSearched []string `json:"not_searched,omitempty"`    // what could not be, a sentence each
	StillNamed  []string `json:"still_named,omitempty"`     // files of other programs, a sentence each
	Resumed     bool     `json:"resumed,omitempty"`         // after a kill; the counts are those of the rest

	Rewritten []string `json:"rewritten,omitempty"` // files and folders, see Remove
	Seconds   float64  `json:"seconds,omitempty"`   // that it took

	Trace *trace `json:"trace,omitempty"` // in forget.pending only
}

// Aim sets the host or page that r removes from text, a URL or a host name, and reports whether
// text is one.
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

// AimAddress sets the address that r removes.
func (r *Removal) AimAddress(a geoparse.Address) {
	places, p := index.Places(a), a.Parts()
	r.aimPlaces(places[0], places[len(places)-1], p.Street+" "+p.Number)
}

// AimHit sets the address that r removes from a hit; it must have a street.
func (r *Removal) AimHit(h *index.Hit) error {
	if h.Street == "" {
		return fmt.Errorf("the address %s names no street; forget its pages instead", h.ID)
	}
	byPostcode := index.PlaceOf(h.Street, h.HouseNumber, h.Postcode, "")
	byCity := index.PlaceOf(h.Street, h.HouseNumber, "", h.City)
	r.aimPlaces(byPostcode, byCity, h.Street+" "+h.HouseNumber)
	return nil
}

func (r *Removal) aimPlaces(what, also, line string) {
	r.Kind, r.What, r.Also = "address", what, also
	if also == what {
		r.Also = ""
	}
	// without a street it would match half the town
	if strings.Contains(line, " ") && strings.ContainsAny(line, "0123456789") {
		r.Trace = &trace{Texts: []string{line}}
	}
}

// IsSuffix reports whether r is the removal of a host above registrable domains, such as
// de or co.uk, which are those of many owners.
func (r *Removal) IsSuffix() bool {
	u, err := weburl.Parse("http://" + r.What + "/")
	isIP := net.ParseIP(strings.Trim(u.Hostname(), "[]")) != nil
	if r.Kind != "host" || err != nil || isIP || weburl.IsLoopback(u.Hostname()) {
		return false
	}
	_, err = publicsuffix.EffectiveTLDPlusOne(u.Hostname())
	return err != nil
}

// Covers reports whether r blocks u.
func (r *Removal) Covers(u weburl.URL) bool {
	list, err := NewBlocklist(r.lines()...)
	return err == nil && list.Has(u)
}

// lines are what r adds to blocked.txt.
func (r *Removal) lines() []string {
	lines := []string{r.Kind + " " + r.What}
	if r.Also != "" {
		lines = append(lines, r.Kind+" "+r.Also)
	}
	for _, id := range r.Beside {
		lines = append(lines, "text "+id)
	}
	return lines
}

// Affected returns what r would take out of the index.
func (r *Removal) Affected(ctx context.Context, x *index.Index) (index.Forgotten, error) {
	list, err := NewBlocklist(r.lines()...)
	if err != nil {
		return index.Forgotten{}, err
	}
	return x.Affected(ctx, list.HasPage, list.HasPlace)
}

// Stores are the stores that a removal changes. They must be open exclusively.
type Stores struct {
	Frontier *frontier.Frontier // nil: there is none
	Index    *index.Index       // nil: there is none
	Archives *warc.Manifest     // nil: there are no WARC files
	// Note keeps in the crawl tree what the lists of the project are, of which some have become
	// shorter; nil: nothing does.
	Note                     func(*frontier.Frontier) error
	Lost                     bool             // take out what cannot be read in them, too
	Corrections, Suggestions *corrections.Log // nil: there are none
	// Files, of which any may be missing.
	Model, Clickstream, Seeds string
	ModelOptions              predictor.Options
	// Status removes what matches from the status of the crawl; nil: there is none.
	Status func(matches func(text string) bool) error
	// Say reports each step as it begins; nil disables it.
	Say func(format string, args ...any)
}

func (s *Stores) say(format string, args ...any) {
	if s.Say != nil {
		s.Say(format, args...)
	}
}

// Open opens the crawl tree and the index, if they exist. After an error nothing is open.
func (s *Stores) Open(tree frontier.Options, dir string) (err error) {
	if _, err := os.Stat(tree.Dir); err == nil {
		s.Frontier, err = frontier.Open(tree)
		if err != nil {
			s.Frontier = nil
			return err
		}
	}
	if _, err := os.Stat(dir); err == nil {
		s.Index, err = index.Open(dir)
		if err != nil {
			s.Index = nil
			return errors.Join(err, s.Close())
		}
	}
	return nil
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

// Pending returns the unfinished removal, or nil.
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

// Remove forgets r, which gets its number unless it has one, counts in r what that took out, and
// closes the stores. The removal is first written to forget.pending; then come the blocklist, the
// WARC files, the model, the index, the smaller files and the crawl tree, each of which may be done
// twice; and the log last, unless something could not be searched: then the error is an
// *IncompleteError and the removal stays pending. The WARC files come before the index, which says
// for an address what its pages are, and the model before the crawl tree, which says what it has
// learned of them. An unfinished call is repeated with Pending.
func (d Dir) Remove(ctx context.Context, r *Removal, s *Stores) (err error) {
	defer func() { err = errors.Join(err, s.Close()) }()
	began := time.Now()
	list, err := NewBlocklist(r.lines()...)
	if err != nil {
		return err
	}
	if r.Number == 0 {
		r.Number, err = d.next()
		if err != nil {
			return err
		}
	}
	err = r.findTrace(ctx, list, s)
	if err != nil {
		return err
	}
	for _, beside := range r.Trace.Texts {
		if id := textID(beside); id != "" && !slices.Contains(r.Beside, id) {
			r.Beside = append(r.Beside, id)
		}
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	err = disk.ReplaceBytes(d.pending(), 0o600, text)
	if err != nil {
		return err
	}
	_, err = d.block(r.lines(), strings.TrimSpace)
	if err != nil {
		return err
	}
	x := &removing{Removal: r, list: list, finder: r.newFinder(), pages: r.tracedPages(), stores: s}
	for _, step := range []func(context.Context) error{x.archives, x.model, x.index, x.files, x.tree} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	err = d.forgetRequests(r, x.finder)
	if err != nil {
		return err
	}
	err = d.findLeft(r, x.finder)
	if err != nil {
		return err
	}
	r.Seconds = math.Round(1000*time.Since(began).Seconds()) / 1000
	if len(r.NotSearched) > 0 {
		return &IncompleteError{r.NotSearched}
	}
	return d.end(r)
}

// An IncompleteError is the error of a removal that took out what could be searched, and has to be
// repeated when the rest can be.
type IncompleteError struct {
	NotSearched []string // a sentence each
}

// Error lists what was not searched.
func (e *IncompleteError) Error() string {
	return "not searched: " + strings.Join(e.NotSearched, "; ")
}

// findTrace collects the texts that identify an address, which are gone after its removal, and the
// recorded pages that name what r removes.
func (r *Removal) findTrace(ctx context.Context, list Blocklist, s *Stores) error {
	if r.Trace != nil && r.Resumed {
		return nil
	}
	if r.Trace == nil {
		r.Trace = &trace{}
	}
	if len(list.addresses) > 0 && s.Index != nil {
		n, err := s.Index.Affected(ctx, nil, list.HasPlace)
		if err != nil {
			return err
		}
		r.Trace.Pages, r.Trace.Texts = n.Pages, append(r.Trace.Texts, n.Texts...)
	}
	if len(list.addresses) > 0 && s.Frontier != nil {
		err := s.Frontier.Walk(ctx, 0, func(n frontier.Node) error {
			if slices.ContainsFunc(n.Outcome.Addresses, list.hasKey) {
				r.Trace.Pages = append(r.Trace.Pages, n.URL.String())
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// tracedPages returns the keys of the pages that state the address of r.
func (r *Removal) tracedPages() map[frontier.Key]bool {
	keys := map[frontier.Key]bool{}
	for _, page := range r.Trace.Pages {
		if u, err := weburl.Parse(page); err == nil {
			keys[frontier.KeyOf(u)] = true
		}
	}
	return keys
}

// A removing is the state of one removal.
type removing struct {
	*Removal
	list   Blocklist
	finder finder
	pages  map[frontier.Key]bool // that state the address
	stores *Stores
}

// wrote counts a rewritten file.
func (x *removing) wrote(what string) {
	x.Rewritten = append(x.Rewritten, what)
	x.stores.say("%s: rewritten", what)
}

// has reports whether a page is removed.
func (x *removing) has(u weburl.URL) bool { return x.list.Has(u) || x.finder.inURL(u) }

// archives removes pages from the WARC files: those that are removed, those that state the address,
// and those that name what is forgotten.
func (x *removing) archives(ctx context.Context) error {
	if x.stores.Archives == nil {
		return nil
	}
	x.stores.say("searching the WARC files")
	n, err := warc.Forget(ctx, x.stores.Archives, warc.Removal{
		URL:  func(u weburl.URL) bool { return x.has(u) || x.pages[frontier.KeyOf(u)] },
		Text: x.finder.in,
		Lost: x.stores.Lost,
	})
	if err != nil {
		return err
	}
	x.Records, x.Files, x.LostBytes = x.Records+n.Records, x.Files+n.Files, x.LostBytes+n.Lost
	x.NotSearched = append(x.NotSearched, n.Damaged...)
	if n.Files > 0 {
		x.wrote("WARC files")
	}
	if len(n.Foreign) > 0 {
		x.stores.say("%s beside those of this project are left alone, such as %s",
			textutil.Several(len(n.Foreign), "WARC file"), n.Foreign[0])
	}
	return nil
}

// removal returns the removal from the crawl tree.
func (x *removing) removal() frontier.Removal {
	return frontier.Removal{
		URL: x.has, Address: x.list.hasKey, Text: x.finder.in,
		Page: func(k frontier.Key) bool { return x.pages[k] },
	}
}

// model removes the terms learned from what is forgotten from the model.
func (x *removing) model(ctx context.Context) error {
	m, err := predictor.Load(x.stores.Model, x.stores.ModelOptions)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		x.NotSearched = append(x.NotSearched, err.Error())
		return nil
	}
	gone, err := crawler.ForgottenTerms(ctx, x.stores.Frontier, x.removal())
	if err != nil {
		return err
	}
	err = m.Without(gone).Save(x.stores.Model)
	if err != nil {
		return err
	}
	x.wrote(filepath.Base(x.stores.Model))
	return nil
}

func (x *removing) index(ctx context.Context) error {
	if x.stores.Index == nil {
		return nil
	}
	x.stores.say("index: removing and merging")
	page := func(url string) bool { u, err := weburl.Parse(url); return err == nil && x.has(u) }
	n, err := x.stores.Index.Forget(ctx, page, x.list.HasPlace, x.finder.in)
	if err != nil {
		return err
	}
	x.Removal.Pages, x.Addresses = len(n.Pages), n.Addresses
	err = x.stores.Index.Close()
	x.stores.Index = nil
	x.wrote("index")
	return err
}

func (x *removing) tree(ctx context.Context) error {
	if x.stores.Frontier == nil {
		return nil
	}
	if x.stores.Note != nil {
		if err := x.stores.Note(x.stores.Frontier); err != nil {
			return err
		}
	}
	x.stores.say("frontier: removing")
	said := time.Now()
	n, err := x.stores.Frontier.Forget(ctx, x.removal(), func(done, all int64) {
		if time.Since(said) > 2*time.Second {
			said = time.Now()
			x.stores.say("frontier: %d of %d records written anew", done, all)
		}
	})
	x.URLs, x.Unsent = n.URLs, n.Unsent
	if err == nil {
		x.stores.Frontier = nil
		x.wrote("frontier")
	}
	return err
}

// files removes lines from the smaller files.
func (x *removing) files(context.Context) error {
	s := x.stores
	for _, log := range []*corrections.Log{s.Corrections, s.Suggestions} {
		if log == nil {
			continue
		}
		err := log.Edit(x.leaves)
		if err != nil {
			return err
		}
	}
	err := crawler.ForgetLines(s.Seeds, x.has)
	if err != nil {
		return err
	}
	if s.Status != nil {
		if err := s.Status(x.finder.in); err != nil {
			return err
		}
	}
	view := func(url string) bool {
		u, err := weburl.Parse(url)
		return err == nil && x.has(u) || x.finder.in(url)
	}
	some, err := clicklog.Forget(s.Clickstream, view)
	if some && err == nil {
		x.wrote("clickstream")
	}
	return err
}

// leaves takes the pages that are removed out of a correction and reports whether it stays.
func (x *removing) leaves(e *corrections.Entry) bool {
	had := len(e.Pages)
	e.Pages = slices.DeleteFunc(slices.Clone(e.Pages), func(page string) bool {
		u, err := weburl.Parse(page)
		return err == nil && x.has(u)
	})
	if had > 0 && len(e.Pages) == 0 && e.Address == "" {
		return false
	}
	return !slices.ContainsFunc(e.Places, x.list.HasPlace) && !x.finder.in(e.Value) && !x.finder.in(e.Was)
}

// end logs r, once, and removes the pending file.
func (d Dir) end(r *Removal) error {
	next, err := d.next()
	if err != nil {
		return err
	}
	if next <= r.Number { // logged before: killed between the two steps
		logged := *r
		logged.Trace = nil
		line, err := json.Marshal(logged)
		if err != nil {
			return err
		}
		err = disk.AppendLines(d.log(), 0o600, string(line))
		if err != nil {
			return err
		}
	}
	r.Trace = nil
	return errors.Join(os.Remove(d.pending()), disk.SyncDir(string(d)))
}

// findLeft lists the files of other programs that still name what is forgotten.
func (d Dir) findLeft(r *Removal, f finder) error {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return err
	}
	own := []string{d.blocked(), d.log(), d.pending()}
	for _, e := range entries {
		name := filepath.Join(string(d), e.Name())
		info, err := e.Info()
		if err != nil || !e.Type().IsRegular() || info.Size() > maxLeft || slices.Contains(own, name) {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if f.in(string(text)) {
			r.StillNamed = append(r.StillNamed, fmt.Sprintf("%s still names it; edit it if that is not meant", name))
		}
	}
	return nil
}

// maxLeft bounds the files that findLeft reads, in bytes.
const maxLeft = 16 << 20

// next returns the number behind the last one of the log.
func (d Dir) next() (int, error) {
	next := 1
	done, err := readLines[Removal](d.log())
	for _, r := range done {
		next = max(next, r.Number+1)
	}
	return next, err
}

// block adds lines to the blocklist that are not there yet, and returns them; as says what a line
// that is there stands for.
func (d Dir) block(lines []string, as func(line string) string) (fresh []string, err error) {
	wanted := map[string]bool{}
	for _, line := range lines {
		wanted[line] = true
	}
	err = d.eachBlocked(func(_ int, line string) error {
		delete(wanted, as(line))
		return nil
	})
	if err != nil {
		return nil, err
	}
	fresh = slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !wanted[line] })
	if len(fresh) == 0 {
		return nil, nil
	}
	return fresh, disk.AppendLines(d.blocked(), 0o644, fresh...)
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

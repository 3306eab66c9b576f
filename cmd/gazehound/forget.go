package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/warc"
	"gazehound/crawler/weburl"
	"gazehound/geoparse"
	"gazehound/index"
	"gazehound/internal/disk"

	"github.com/spf13/cobra"
)

// forgetFlags are the flags of forget.
type forgetFlags struct {
	address  string
	reason   string
	request  int
	requests bool
	dryRun   bool
}

func newForgetCommand(a *app) *cobra.Command {
	var o forgetFlags
	cmd := &cobra.Command{
		Use:   "forget [URL|HOST|ADDRESS]",
		Short: "Take a page, a site or an address out of everything, for good",
		Long: `Takes a page, a host with all below it, or an address out of the index, the crawl
tree and the WARC files of the crawl, and writes it into blocked.txt, so that no
later crawl of this project fetches or keeps it. A URL without a path, such as
http://www.example.org/, means the host.

An address goes wherever it is stated. Its pages keep their other addresses in
the index, and leave the WARC files. Pages of others that link to what was
forgotten, or quote it, stay as they are; so do the counts of the model.

Each removal is a line of forgotten.log. Undo is not possible; a line taken out
of blocked.txt only lets later crawls find it again. A removal that was killed
is completed by the next "gazehound forget", also without arguments. Nothing
else may use the data directory meanwhile. Exports that were made before, CDXJ
files among them, have to be made again.

Removal requests of visitors (/bot of the search server) are only listed, until
the operator acts on them with --request.`,
		Example: `  gazehound forget http://www.example.org/ --reason "request of the owner, 2026-11-21"
  gazehound forget --address 0123456789abcdef --reason "request of a resident"
  gazehound forget --requests`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fail(exitUsage, "forget takes one URL, host or address, got %d arguments; an address goes in quotes", len(args))
			}
			ctx, stop := signals(cmd.Context())
			defer stop()
			target := ""
			if len(args) == 1 {
				target = args[0]
			}
			return a.forget(ctx, target, o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.address, "address", "", "`ID` of an address in the search, or the address itself")
	f.StringVar(&o.reason, "reason", "", "`TEXT` for the log: who asked, and when")
	f.IntVar(&o.request, "request", 0, "do what the removal request with this `NUMBER` asks for")
	f.BoolVar(&o.requests, "requests", false, "list the removal requests of visitors that wait")
	f.BoolVar(&o.dryRun, "dry-run", false, "say what would go and change nothing")
	return cmd
}

// A removal is one thing to forget: a line of forgotten.log, and while it goes
// on the file forget.pending.
type removal struct {
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

// forget does what its flags say, after what a killed one left.
func (a *app) forget(ctx context.Context, target string, o forgetFlags) error {
	p, cfg, err := a.project(nil)
	if err != nil {
		return err
	}
	if o.requests {
		return a.listRequests(p)
	}
	given := 0
	for _, is := range []bool{target != "", o.address != "", o.request != 0} {
		if is {
			given++
		}
	}
	pending, err := p.pendingRemoval()
	if err != nil {
		return err
	}
	switch {
	case given > 1:
		return fail(exitUsage, "forget takes one of URL|HOST|ADDRESS, --address and --request")
	case given == 0 && pending == nil:
		return fail(exitUsage, "forget needs a URL, a host, or an address: \"gazehound forget --help\"")
	case len(o.reason) > maxReason:
		return fail(exitUsage, "--reason has %d bytes; %d are the most", len(o.reason), maxReason)
	}
	if pending != nil && !o.dryRun {
		a.say("completing removal %d, which did not end", pending.Number)
		pending.Resumed = true
		if err := a.remove(ctx, p, cfg, pending); err != nil {
			return err
		}
	}
	if given == 0 {
		return nil
	}
	r := &removal{Time: time.Now().UTC().Truncate(time.Second), Reason: oneLine(o.reason), Request: o.request}
	if o.request != 0 {
		q, err := p.request(o.request)
		if err != nil {
			return err
		}
		target = q.What
	}
	if err := a.aim(ctx, p, cfg, r, target, o.address); err != nil {
		return err
	}
	if o.dryRun {
		return a.wouldRemove(ctx, p, r)
	}
	if in, ok := a.stdin.(*os.File); ok && isTerminal(in) && !a.yes && !a.confirm(fmt.Sprintf("Forget %s %s for good?", r.Kind, r.What)) {
		return fail(exitUsage, "nothing was forgotten")
	}
	if r.Number, err = p.nextRemoval(); err != nil {
		return err
	}
	return a.remove(ctx, p, cfg, r)
}

// maxReason bounds the reason of a removal, in bytes.
const maxReason = 1000

// aim finds out what is to be forgotten.
func (a *app) aim(ctx context.Context, p project, cfg *Config, r *removal, target, address string) error {
	if target != "" {
		if u, err := weburl.Parse(target); err == nil && strings.Contains(target, "://") {
			r.Kind, r.What = "url", u.String()
			if u.Path() == "/" && u.Query() == "" {
				r.Kind, r.What = "host", strings.TrimPrefix(u.Host(), "www.")
			}
			return nil
		}
		if u, err := weburl.Parse("http://" + target + "/"); err == nil && u.Path() == "/" && !strings.ContainsAny(target, " \t/?#@,") && strings.ContainsAny(target, ".:") {
			r.Kind, r.What = "host", strings.TrimPrefix(u.Host(), "www.")
			return nil
		}
		address = target
	}
	r.Kind = "address"
	if placeID.MatchString(address) {
		x, err := openIndexToRead(p)
		if err != nil {
			return err
		}
		h, err := x.Address(address)
		if err := errors.Join(err, x.Close()); err != nil {
			return err
		}
		if h == nil {
			return fail(exitInvalidInput, "the index has no address with the ID %s; \"gazehound search --json\" shows the IDs", address)
		}
		r.What, r.Also = index.PlaceOf(h.Street, h.HouseNumber, h.Postcode, ""), index.PlaceOf(h.Street, h.HouseNumber, "", h.City)
		if h.Street == "" {
			return fail(exitInvalidInput, "the address %s names no street; forget its pages instead", address)
		}
	} else {
		found, err := a.readAddress(ctx, p, cfg, address)
		if err != nil {
			return err
		}
		places := index.Places(found)
		r.What, r.Also = places[0], places[len(places)-1]
	}
	if r.Also == r.What {
		r.Also = ""
	}
	return nil
}

// readAddress reads an address as a page would be read.
func (a *app) readAddress(ctx context.Context, p project, cfg *Config, text string) (geoparse.Address, error) {
	g, err := p.openGazetteer()
	if err != nil {
		return geoparse.Address{}, err
	}
	defer g.Close()
	region, err := p.openRegion(g, cfg.Region.Boundary)
	if err != nil {
		return geoparse.Address{}, err
	}
	parser, err := geoparse.New(g, region, geoparse.Options{MinPrecision: cfg.Gazetteer.MinPrecision})
	if err != nil {
		return geoparse.Address{}, fail(exitInvalidInput, "%w", err)
	}
	v, err := parser.Parse(ctx, geoparse.Input{Text: text, Country: region.Country})
	if err != nil {
		return geoparse.Address{}, err
	}
	if len(v.Addresses) != 1 || index.Place(v.Addresses[0]) == "" {
		return geoparse.Address{}, fail(exitUsage, "%.100q is no URL, no host and no address such as \"Lange Straße 5, 26122 Oldenburg\"; --address takes the ID of one in the search, too", text)
	}
	return v.Addresses[0], nil
}

// block returns what r adds to the blocklist.
func (r *removal) block() []string {
	lines := []string{r.Kind + " " + r.What}
	if r.Also != "" {
		lines = append(lines, r.Kind+" "+r.Also)
	}
	return lines
}

// matches are the tests of what r takes out; those that do not apply are nil.
func (r *removal) matches() (list blocklist, err error) {
	list = newBlocklist()
	for _, line := range r.block() {
		if err := list.add(line); err != nil {
			return list, err
		}
	}
	return list, nil
}

// wouldRemove says what r would take out of the index.
func (a *app) wouldRemove(ctx context.Context, p project, r *removal) error {
	list, err := r.matches()
	if err != nil {
		return err
	}
	x, err := openIndexToRead(p)
	if err != nil {
		return err
	}
	n, err := x.Affected(ctx, onPages(list), list.hasPlace)
	if err := errors.Join(err, x.Close()); err != nil {
		return err
	}
	r.Pages, r.Addresses = len(n.Pages), n.Addresses
	if a.json {
		return a.printJSON(map[string]any{"type": "forget", "dry_run": true, "kind": r.Kind, "what": r.What, "pages": r.Pages, "addresses": r.Addresses})
	}
	for _, url := range n.Pages {
		fmt.Fprintln(a.stdout, oneLine(url))
	}
	a.say("%s would lose an address in the index, %s in all; nothing was changed", several(r.Pages, "page"), several(r.Addresses, "mention"))
	return nil
}

// onPages is the list's test of pages for the index.
func onPages(list blocklist) func(string) bool {
	return func(raw string) bool {
		u, err := weburl.Parse(raw)
		return err == nil && list.has(u)
	}
}

// remove forgets. First it is on the disk what is to be done; then come the
// blocklist, the WARC files, the index and the crawl tree, each of which may be
// done twice; and the log last. The WARC files come before the index, which
// says for an address what its pages are.
func (a *app) remove(ctx context.Context, p project, cfg *Config, r *removal) (err error) {
	list, err := r.matches()
	if err != nil {
		return err
	}
	f, x, err := openToForget(p, cfg)
	if err != nil {
		return err
	}
	closing := func() error {
		var errs []error
		if x != nil {
			errs = append(errs, x.Close())
		}
		if f != nil {
			errs = append(errs, f.Close())
		}
		f, x = nil, nil
		return errors.Join(errs...)
	}
	defer func() { err = errors.Join(err, closing()) }()
	if err := p.beginRemoval(r); err != nil {
		return err
	}
	if err := p.block(r.block()); err != nil {
		return err
	}
	pages, err := pagesOf(ctx, list, f, x)
	if err != nil {
		return a.stoppedRemoval(r, err)
	}
	if err := a.removeRecords(ctx, p, r, pages); err != nil {
		return a.stoppedRemoval(r, err)
	}
	if x != nil {
		n, err := x.Forget(ctx, onPages(list), list.hasPlace)
		if err != nil {
			return a.stoppedRemoval(r, err)
		}
		r.Pages, r.Addresses = len(n.Pages), n.Addresses
	}
	if f != nil {
		var match func(weburl.URL) bool
		var address func(frontier.Key, string) bool
		if r.Kind == "address" {
			address = func(_ frontier.Key, id string) bool { return stated(list, id) }
		} else {
			match = list.has
		}
		n, err := f.Forget(ctx, match, address)
		if err != nil {
			return a.stoppedRemoval(r, err)
		}
		r.URLs = n.URLs
	}
	if err := p.forgetLabels(list); err != nil {
		return a.stoppedRemoval(r, err)
	}
	if err := closing(); err != nil {
		return err
	}
	if err := p.endRemoval(r); err != nil {
		return err
	}
	return a.removed(r)
}

// openToForget opens what a crawl has stored, so that nobody else has; nil for
// what is not there.
func openToForget(p project, cfg *Config) (f *frontier.Frontier, x *index.Index, err error) {
	if fileExists(p.frontier()) {
		if f, err = frontier.Open(frontier.Options{Dir: p.frontier(), Memory: int64(cfg.Storage.Memory / 2), Seed: cfg.Crawl.RandomSeed}); err != nil {
			return nil, nil, storeError(p, err)
		}
	}
	if fileExists(p.index()) {
		if x, err = index.Open(p.index(), index.DefaultOptions()); err != nil {
			if f != nil {
				err = errors.Join(err, f.Close())
			}
			if errors.Is(err, index.ErrLocked) {
				return nil, nil, fail(exitLocked, "%s is in use: %w. End \"gazehound serve\" and crawls, forget, and start them again", p.dir, err)
			}
			return nil, nil, storeError(p, err)
		}
	}
	return f, x, nil
}

// pagesOf returns the test of URLs whose records leave the archive: those of
// the list, and the pages that state an address of it.
func pagesOf(ctx context.Context, list blocklist, f *frontier.Frontier, x *index.Index) (func(weburl.URL) bool, error) {
	if len(list.addresses) == 0 {
		return list.has, nil
	}
	identities := map[string]bool{}
	if x != nil {
		n, err := x.Affected(ctx, nil, list.hasPlace)
		if err != nil {
			return nil, err
		}
		for _, page := range n.Pages {
			if u, err := weburl.Parse(page); err == nil {
				identities[u.Identity()] = true
			}
		}
	}
	if f != nil {
		err := f.Walk(ctx, 0, func(n frontier.Node) error {
			if slices.ContainsFunc(n.Outcome.Addresses, func(id string) bool { return stated(list, id) }) {
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

// stated tells whether an address in the crawl tree, a geoparse.Parts.Key, is
// on the list.
func stated(list blocklist, key string) bool {
	p, ok := geoparse.ReadKey(key)
	return ok && (list.hasPlace(index.PlaceOf(p.Street, p.Number, p.Postcode, "")) || list.hasPlace(index.PlaceOf(p.Street, p.Number, "", p.City)))
}

// forgetLabels takes the labels of pages of the list out of the label file.
func (p project) forgetLabels(list blocklist) error {
	text, err := os.ReadFile(p.labels())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	var left strings.Builder
	for line := range strings.Lines(string(text)) {
		raw, _, _ := strings.Cut(line, "\t")
		if u, err := weburl.Parse(strings.TrimSpace(raw)); err != nil || !list.has(u) {
			left.WriteString(line)
		}
	}
	if left.Len() == len(text) {
		return nil
	}
	return disk.ReplaceBytes(p.labels(), 0o644, []byte(left.String()))
}

// removeRecords takes pages out of the WARC files of the crawl.
func (a *app) removeRecords(ctx context.Context, p project, r *removal, pages func(weburl.URL) bool) error {
	folders, err := p.archiveFolders()
	if err != nil {
		return err
	}
	for _, dir := range folders {
		if !fileExists(dir) {
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

// stoppedRemoval says how a removal goes on that did not come to its end.
func (a *app) stoppedRemoval(r *removal, err error) error {
	code := codeOf(err)
	if errors.Is(err, context.Canceled) {
		code = exitStopped
	}
	return fail(code, "removal %d is not complete (%w). \"gazehound forget\" completes it", r.Number, err)
}

// removed says what was taken out.
func (a *app) removed(r *removal) error {
	if a.json {
		return a.printJSON(struct {
			Type string `json:"type"`
			*removal
		}{"forget", r})
	}
	fmt.Fprintf(a.stdout, "%s on %s of the index, %s of the crawl tree, %s in %s. Blocked for future crawls.\n",
		several(r.Addresses, "address"), several(r.Pages, "page"), several(r.URLs, "URL"), several(r.Records, "WARC record"), several(r.Files, "file"))
	if r.Addresses+r.URLs+r.Records == 0 {
		fmt.Fprintln(a.stdout, "Nothing of it was known here. If something else was meant, its line can be taken out of blocked.txt.")
	}
	fmt.Fprintf(a.stdout, "Logged as number %d. Undo is not possible.\n", r.Number)
	for _, what := range r.NotSearched {
		a.warn("%s", oneLine(what))
	}
	if r.Files > 0 {
		a.say("Records lie at other places now: make CDXJ and WACZ files again.")
	}
	return nil
}

// pendingRemoval returns the removal that did not end, or nil.
func (p project) pendingRemoval() (*removal, error) {
	text, err := os.ReadFile(p.pending())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var r removal
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return nil, fail(exitInvalidInput, "%s: %w", p.pending(), err)
	}
	return &r, nil
}

// beginRemoval puts on the disk what is to be forgotten.
func (p project) beginRemoval(r *removal) error {
	return disk.Replace(p.pending(), 0o644, func(w io.Writer) error { return json.NewEncoder(w).Encode(r) })
}

// endRemoval logs r, once, and takes the pending file away.
func (p project) endRemoval(r *removal) error {
	last, err := p.nextRemoval()
	if err != nil {
		return err
	}
	if last <= r.Number { // else it was killed between the two
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if err := disk.AppendLines(p.forgotten(), string(line)); err != nil {
			return err
		}
	}
	return errors.Join(os.Remove(p.pending()), disk.SyncDir(p.dir))
}

// nextRemoval returns the number behind the last one of the log.
func (p project) nextRemoval() (int, error) {
	n := 0
	err := eachLine(p.forgotten(), func(line []byte) error {
		var r removal
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		n = max(n, r.Number)
		return nil
	})
	return n + 1, err
}

// block adds lines to the blocklist that are not there yet.
func (p project) block(lines []string) error {
	known := map[string]bool{}
	if err := eachLine(p.blocked(), func(line []byte) error { known[string(line)] = true; return nil }); err != nil {
		return err
	}
	lines = slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return known[line] })
	if len(lines) == 0 {
		return nil
	}
	return disk.AppendLines(p.blocked(), lines...)
}

// eachLine calls fn with the lines of a file that are not empty; a torn last
// one is left out, and a file that is not there has none.
func eachLine(name string, fn func(line []byte) error) error {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	for n, line := range bytes.Split(text, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := fn(line); err != nil && json.Valid(line) {
			return fmt.Errorf("%s:%d: %w", name, n+1, err)
		}
	}
	return nil
}

package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gazehound/cmd/gazehound/forget"
	"gazehound/crawler/cluster"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor"
	"gazehound/crawler/weburl"
	"gazehound/geoparse"
	"gazehound/index"
	"gazehound/internal/corrections"
	"gazehound/internal/textutil"

	"github.com/spf13/cobra"
)

// forgetOptions are the flags of forget.
type forgetOptions struct {
	address  string
	reason   string
	request  int
	requests bool
	dryRun   bool
	force    bool
	damaged  bool
}

const forgetHelp = `Removes a page, a host with everything below it, or an address from the data directory and
from the WARC files of the crawl, and adds it to blocked.txt, so that no later crawl of
this project fetches or keeps it. A URL without a path, such as
http://www.example.org/, means the host.

An address is removed wherever it is stated, with the telephone numbers and e-mail
addresses beside it, which later crawls do not keep either. Its pages keep their other
addresses in the index, without the words around them, and are removed from the WARC
files. Other pages that name what is forgotten stay in index and crawl tree without these
words, and leave the WARC files. The model loses the terms that it learned from nothing
else.

Afterwards only blocked.txt, forgotten.log and public data (gazetteer, map) contain it.
The crawl tree (frontier) is rewritten, which needs as much free space again; the files
of the index are merged; WARC files, model.gob, clickstream, seeds.txt, corrections and
requests.ndjson are rewritten without it. This takes about as long as copying these
files; what was rewritten, and how long it took, is printed and logged. A file that still
names it, such as config.yaml, is listed.

Each removal is a line of forgotten.log. It cannot be undone; # before a line of
blocked.txt only lets later crawls find it again. A killed removal is completed by the
next "gazehound forget", even without arguments. So is one for which a WARC file, a part
of one or the model could not be searched (exit 6): bring back what is missing or damaged,
or delete the damaged parts of WARC files with --drop-damaged. A running crawl waits
meanwhile and goes on afterwards; "gazehound serve" takes it over within a second. Earlier exports, CDXJ
files included, must be made again; backups are up to you.

On one of several nodes stop the node first. As soon as it takes part again, the servers
that follow it lose what was forgotten, and the other nodes block it; what these have
stored goes with "gazehound forget" there.

Removal requests of visitors (/bot of the search server) are only listed until you act
on them with --request.

Examples:
  gazehound forget http://www.example.org/ --reason "request of the owner, 2026-11-21"
  gazehound forget --address 0123456789abcdef --reason "request of a resident"
  gazehound forget --requests
`

func newForgetCommand(a *app) *cobra.Command {
	var o forgetOptions
	cmd := command("forget [URL|HOST|ADDRESS]", "Remove a page, a site or an address from all data, for good",
		forgetHelp, nil, stoppable(func(ctx context.Context, args []string) error {
			if len(args) > 1 {
				return fail(badUsage, "forget takes one URL, host or address, got %d arguments; an address goes in "+
					"quotes", len(args))
			}
			if len(args) == 1 && strings.TrimSpace(args[0]) == "" {
				return fail(badUsage, "forget takes one URL, host or address, got an empty text")
			}
			return a.forget(ctx, strings.Join(args, ""), o)
		}))
	f := cmd.Flags()
	f.StringVar(&o.address, "address", "", "`ID` of an address in the search, or the address itself")
	f.StringVar(&o.reason, "reason", "", "`TEXT` for the log: who asked, and when")
	f.IntVar(&o.request, "request", 0, "carry out the removal request with this `NUMBER`")
	f.BoolVar(&o.requests, "requests", false, "list the pending removal requests of visitors")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would be removed; change nothing")
	f.BoolVar(&o.force, "force", false, "also if sites of different owners lie below the host, such as de or "+
		"co.uk")
	f.BoolVar(&o.damaged, "drop-damaged", false, "also delete what cannot be read in WARC files")
	return cmd
}

// maxReason bounds the reason of a removal, in bytes.
const maxReason = 1000

// forget completes a removal that was killed, then carries out its own.
func (a *app) forget(ctx context.Context, target string, o forgetOptions) error {
	p, cfg, err := a.project()
	if err != nil {
		return err
	}
	dir := forget.Dir(p.dir)
	if o.requests {
		return a.listRequests(dir)
	}
	given := 0
	for _, is := range []bool{target != "", o.address != "", o.request != 0} {
		if is {
			given++
		}
	}
	pending, err := dir.Pending()
	switch {
	case err != nil:
		return invalid(err)
	case given > 1:
		return fail(badUsage, "forget takes one of URL|HOST|ADDRESS, --address and --request")
	case given == 0 && pending == nil:
		return fail(badUsage, "forget needs a URL, a host, or an address: \"gazehound forget --help\"")
	case len(o.reason) > maxReason:
		return fail(badUsage, "--reason has %d bytes; at most %d are allowed", len(o.reason), maxReason)
	}
	back, err := a.borrow(ctx)
	if err != nil {
		return err
	}
	defer back()
	if pending != nil && !o.dryRun {
		a.say("completing removal %d, which was interrupted", pending.Number)
		pending.Resumed = true
		err := a.remove(ctx, p, cfg, pending, o.damaged)
		if err != nil {
			return err
		}
	}
	if given == 0 {
		return nil
	}
	r := &forget.Removal{Time: time.Now().UTC().Truncate(time.Second), Reason: oneLine(o.reason), Request: o.request}
	if o.request != 0 {
		q, err := dir.Request(o.request)
		if errors.Is(err, forget.ErrNoRequest) {
			return fail(badUsage, "there is no removal request %d; \"gazehound forget --requests\" lists them",
				o.request)
		} else if err != nil {
			return err
		}
		target = q.What
	}
	if target == "" || !r.Aim(target) {
		err := a.aimAddress(ctx, p, cfg, r, cmp.Or(target, o.address))
		if err != nil {
			return err
		}
	}
	if !o.force && r.IsSuffix() {
		return fail(badUsage, "%s is above the sites of many owners, and all of them would be blocked. Name one "+
			"site, or add --force", r.What)
	}
	if o.dryRun {
		return a.wouldRemove(ctx, p, r)
	}
	if !a.yes {
		err := a.confirmRemoval(ctx, p, r)
		if err != nil {
			return err
		}
	}
	return a.remove(ctx, p, cfg, r, o.damaged)
}

// confirmRemoval prints how much r would remove and asks for confirmation.
func (a *app) confirmRemoval(ctx context.Context, p project, r *forget.Removal) error {
	pages := 0
	if fileExists(p.index()) {
		n, err := affected(ctx, p, r)
		if err != nil {
			return err
		}
		pages = len(n.Pages)
	}
	seeds := 0
	text, err := os.ReadFile(p.seeds())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if u, err := weburl.Parse(strings.TrimSpace(line)); err == nil && r.Covers(u) {
			seeds++
		}
	}
	a.say("%s %s: %s of the index, %s", r.Kind, oneLine(r.What), several(pages, "page"), several(seeds, "seed"))
	if !a.confirm("Forget this for good?") {
		return fail(badUsage, "nothing was forgotten; --yes forgets without a question")
	}
	return nil
}

// aimAddress sets the address that r removes, given as its ID in the index or as text.
func (a *app) aimAddress(ctx context.Context, p project, cfg *Config, r *forget.Removal, address string) error {
	if !forget.IsAddressID(address) {
		found, err := a.readAddress(ctx, p, cfg, address)
		if err == nil {
			r.AimAddress(found)
		}
		return err
	}
	return withIndex(p, openIndexToRead, func(x *index.Index) error {
		h, err := x.Address(address)
		if err != nil {
			return err
		} else if h == nil {
			return fail(badInput, "the index has no address with the ID %s; \"gazehound search --json\" "+
				"shows the IDs", address)
		}
		return invalid(r.AimHit(h))
	})
}

// affected returns what r would take out of the index.
func affected(ctx context.Context, p project, r *forget.Removal) (n index.Forgotten, err error) {
	err = withIndex(p, openIndexToRead, func(x *index.Index) (err error) {
		n, err = r.Affected(ctx, x)
		return err
	})
	return n, err
}

// readAddress parses an address as the geoparser would on a page.
func (a *app) readAddress(ctx context.Context, p project, cfg *Config, text string) (none geoparse.Address, err error) {
	g, err := p.openGazetteer()
	if err != nil {
		return none, err
	}
	defer g.Close()
	region, err := p.openRegion(g, cfg.Region.Boundary)
	if err != nil {
		return none, err
	}
	parser, err := geoparse.New(g, region, geoparse.Options{MinPrecision: cfg.Gazetteer.MinPrecision})
	if err != nil {
		return none, invalid(err)
	}
	v, err := parser.Parse(ctx, geoparse.Input{Text: text, Country: region.Country})
	if err != nil {
		return none, err
	}
	if len(v.Addresses) != 1 || index.Place(v.Addresses[0]) == "" {
		return none, fail(badUsage, "%.100q is not a URL, a host or an address such as \"Lange Straße 5, 26122 "+
			"Oldenburg\"; --address takes the ID of one in the search, too", text)
	}
	return v.Addresses[0], nil
}

var affectedText = textTemplate(`{{range .Pages}}{{line .}}
{{end}}`)

// wouldRemove prints what r would take out of the index.
func (a *app) wouldRemove(ctx context.Context, p project, r *forget.Removal) error {
	n, err := affected(ctx, p, r)
	if err != nil {
		return err
	}
	err = a.show(fields{"type": "forget", "dry_run": true, "kind": r.Kind, "what": r.What, "pages": len(n.Pages),
		"addresses": n.Addresses}, affectedText, n)
	if !a.json {
		a.say("The index would lose %s on %s; nothing was changed", several(n.Addresses, "address"),
			several(len(n.Pages), "page"))
	}
	return err
}

var forgetText = textTemplate(`{{several .Addresses "address"}} on {{several .Pages "page"}} of the index, {{several .URLs "URL"}} of the crawl tree, {{/**/ -}}
{{several .Records "WARC record"}} in {{several .Files "file"}}. Blocked for future crawls.
{{if not (or .Addresses .URLs .Records .Unsent)}}Nothing of it was known here. If you meant something else, {{/**/ -}}
put # before its line in blocked.txt.
{{end}}Written anew in {{printf "%.1f" .Seconds}} s: {{join .Rewritten ", "}}.
{{if not .NotSearched}}Logged as number {{.Number}}. Undo is not possible.
{{end}}`)

// remove carries out r and prints what was taken out; damaged says that of WARC files what cannot
// be read is, too.
func (a *app) remove(ctx context.Context, p project, cfg *Config, r *forget.Removal, damaged bool) error {
	stores, err := a.openToForget(ctx, p, cfg)
	if err != nil {
		return err
	}
	stores.Lost = damaged
	err = forget.Dir(p.dir).Remove(ctx, r, stores)
	var incomplete *forget.IncompleteError
	if err != nil && !errors.As(err, &incomplete) {
		kind := kindOf(err)
		if errors.Is(err, context.Canceled) {
			kind = interrupted
		}
		return fail(kind, "removal %d is not complete (%w). \"gazehound forget\" completes it", r.Number, err)
	}
	line := struct {
		Type string `json:"type"`
		*forget.Removal
	}{"forget", r}
	err = a.show(line, forgetText, r)
	if err != nil {
		return err
	}
	if incomplete != nil {
		return fail(answerNo, "removal %d is not complete (%s). Bring back what is missing or damaged; then "+
			"\"gazehound forget\" completes it. \"gazehound forget --drop-damaged\" deletes what cannot be read",
			r.Number, oneLine(incomplete.Error()))
	}
	if a.json {
		return nil
	}
	if fileExists(p.cluster()) {
		a.say("This is one of several nodes: when it takes part again, the others block it, too, and its links leave " +
			"the messages between them. What the others have stored goes with \"gazehound forget\" there.")
	}
	kept, err := filepath.Glob(filepath.Join(p.dir, keptBefore+"*"))
	if err != nil {
		return err
	}
	for _, folder := range kept {
		a.warn("%s holds the data from before an upgrade, which was not searched: delete it", folder)
	}
	for _, what := range r.StillNamed {
		a.warn("%s", oneLine(what))
	}
	if r.Files > 0 {
		a.say("Records have moved within their files: write CDXJ and WACZ files again.")
	}
	return nil
}

// openToForget opens the stores of a crawl exclusively.
func (a *app) openToForget(ctx context.Context, p project, cfg *Config) (*forget.Stores, error) {
	s := &forget.Stores{
		Model: p.model(), ModelOptions: cfg.ModelOptions(), Clickstream: p.clickstream(), Seeds: p.seeds(), Say: a.say,
	}
	var err error
	s.Corrections, err = a.corrections(p)
	if err != nil {
		return nil, err
	}
	s.Suggestions, err = corrections.OpenSuggestions(p.dir)
	if err != nil {
		return nil, err
	}
	o := frontier.Options{Dir: p.frontier(), Memory: int64(cfg.Storage.Memory / 2), Seed: cfg.Crawl.RandomSeed}
	switch err := s.Open(o, p.index()); {
	case errors.Is(err, index.ErrLocked):
		return nil, fail(inUse, "%s is in use: %w. End \"gazehound serve\" and crawls, forget, and start them "+
			"again", p.dir, err)
	case err != nil:
		return nil, storeError(p, err)
	}
	s.Archives, err = p.manifest(s.Frontier)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.Note = p.noteLists
	s.Status = func(matches func(string) bool) error { return monitor.Forget(p.status(), matches) }
	if s.Frontier != nil {
		err := cluster.TakeOver(ctx, s.Frontier, p.cluster())
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// listRequests prints the pending removal requests.
func (a *app) listRequests(dir forget.Dir) error {
	waiting, err := dir.Waiting()
	if err != nil {
		return err
	}
	for _, q := range waiting {
		line := struct {
			Type string `json:"type"`
			forget.Request
		}{"request", q}
		err := a.tell(line, "%d  %s  %s\n    reason: %s\n    contact: %s\n", q.Number, textutil.Moment(q.Time),
			oneLine(q.What), oneLine(q.Reason), oneLine(q.Contact))
		if err != nil {
			return err
		}
	}
	if len(waiting) == 0 {
		a.say("no pending removal requests")
		return nil
	}
	a.say("Look at each before you act: \"gazehound forget --request NUMBER\"")
	return nil
}

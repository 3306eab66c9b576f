package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/fetch"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor"
	"gazehound/crawler/polite/robots"
	"gazehound/crawler/warc"
	"gazehound/crawler/weburl"
	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/internal/forget"
	"gazehound/predictor"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

func newDoctorCommand(a *app) *cobra.Command {
	var deep, network bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check machine, configuration and data; say what to mend",
		Long: `Checks what a crawl and a server need: configuration, contact, gazetteer, region,
seeds, crawl tree, index, model, WARC files, removals, disk, memory, file limit,
clock and ports. Each is a line: ✓ is well, ! deserves a look, ✗ has to be mended.

Nothing is changed and nothing is sent. --network asks for the page of the contact
and for the robots.txt of one seed. --deep opens the crawl tree as "report" does,
reads all of it and of the index, and compares the two.

Exit status: 0, or 6 where there is a problem.`,
		Example: `  gazehound doctor
  gazehound doctor --deep --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fail(exitUsage, "doctor takes no arguments, got %.60q; --data names the data directory", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signals(cmd.Context())
			defer stop()
			d := &doctor{app: a, p: project{a.data}}
			d.examine(ctx, deep, network)
			if ctx.Err() != nil {
				return fail(exitStopped, "stopped")
			}
			return d.tell()
		},
	}
	cmd.Flags().BoolVar(&deep, "deep", false, "read crawl tree and index and compare them")
	cmd.Flags().BoolVar(&network, "network", false, "ask for the contact's page and one seed's robots.txt")
	return cmd
}

// The states of a finding.
const (
	isWell    = "ok"
	isDoubted = "warn"
	isBroken  = "fail"
)

// A finding is what one check has to say.
type finding struct {
	Type  string `json:"type"` // "check"
	Name  string `json:"name"`
	State string `json:"state"`
	What  string `json:"what"`
	Do    string `json:"do,omitempty"` // what mends it
}

// A doctor looks at one project. It changes nothing.
type doctor struct {
	*app
	p        project
	cfg      *Config // nil where it cannot be used
	findings []finding
	holder   int // process that works on the crawl, or 0
}

func (d *doctor) note(state, name, do, format string, args ...any) {
	d.findings = append(d.findings, finding{"check", name, state, oneLine(fmt.Sprintf(format, args...)), oneLine(do)})
}

func (d *doctor) well(name, format string, args ...any) { d.note(isWell, name, "", format, args...) }

// examine makes all checks, those on which others stand first.
func (d *doctor) examine(ctx context.Context, deep, network bool) {
	d.config()
	if d.needData() != nil {
		d.note(isBroken, "data", "gazehound init --osm FILE --region NAME", "there is no data directory %s", d.data)
	} else {
		d.gazetteer()
		d.frontier()
		d.index(ctx)
		d.model()
		d.archive()
		d.removals()
		d.clock()
	}
	d.disk()
	d.machine()
	d.ports()
	if deep {
		d.compare(ctx)
	}
	if network && d.cfg != nil {
		d.network(ctx)
	}
}

// tell prints the findings; the error is the exit code.
func (d *doctor) tell() error {
	states := map[string]int{}
	for _, f := range d.findings {
		states[f.State]++
		if d.json {
			if err := d.printJSON(f); err != nil {
				return err
			}
			continue
		}
		line := fmt.Sprintf("%s %-10s %s", map[string]string{isWell: "✓", isDoubted: "!", isBroken: "✗"}[f.State], f.Name, f.What)
		if f.Do != "" {
			line += "   → " + f.Do
		}
		fmt.Fprintln(d.stdout, line)
	}
	code := exitOK
	if states[isBroken] > 0 {
		code = exitGate
	}
	if d.json {
		if err := d.printJSON(map[string]any{"type": "summary", "ok": states[isWell], "warnings": states[isDoubted], "problems": states[isBroken], "exit_code": code}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(d.stdout, "%s, %s\n", several(states[isBroken], "problem"), several(states[isDoubted], "warning"))
	}
	if code != exitOK {
		return silentExit(code)
	}
	return nil
}

// config looks at the configuration and the contact.
func (d *doctor) config() {
	cfg, err := d.app.config()
	if err != nil {
		d.note(isBroken, "config", "", "%v", err)
		return
	}
	d.cfg = cfg
	set, files := 0, map[string]bool{}
	for _, from := range cfg.origin {
		if from != "default" {
			set++
		}
		if file, _, ok := strings.Cut(from, ":"); ok {
			files[file] = true
		}
	}
	d.well("config", "%s set, 0 unknown%s", several(set, "key"), prefixed(" in ", sortedKeys(files)))
	switch {
	case onlyHere(cfg.Fetch.Contact):
		d.note(isDoubted, "contact", "fine for a made-up town; the open net needs an address that it can reach", "%s: only this machine can read it", cfg.Fetch.Contact)
	case cfg.Fetch.Contact != "":
		d.well("contact", "%s", cfg.Fetch.Contact)
	case needContact(cfg, crawlOptions{}, nil):
		d.note(isBroken, "contact", "fetch.contact in config.yaml: a page that says who crawls and why; \"gazehound serve\" offers /bot", "none, and without one the open net is not crawled")
	default:
		d.well("contact", "none is needed: this crawl stays on loopback")
	}
	if cfg.Admin.Listen != noAdmin && cfg.Admin.TokenFile == "" {
		if host, _, err := net.SplitHostPort(cfg.Admin.Listen); err == nil && !weburl.IsLoopback(host) {
			d.note(isBroken, "admin", "set admin.token_file, or keep 127.0.0.1", "admin.listen %s would let anyone stop the crawl", cfg.Admin.Listen)
		}
	}
}

// onlyHere tells whether a contact is a page on loopback.
func onlyHere(contact string) bool {
	u, err := url.Parse(contact)
	return err == nil && u.Host != "" && weburl.IsLoopback(u.Hostname())
}

func sortedKeys(set map[string]bool) []string {
	var names []string
	for name := range set {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// prefixed joins names behind a prefix; without names it is empty.
func prefixed(prefix string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return prefix + strings.Join(names, ", ")
}

// oldGazetteer is the age at which its data deserve a look.
const oldGazetteer = 365 * 24 * time.Hour

// gazetteer looks at the gazetteer, the region, the base map and the seeds.
func (d *doctor) gazetteer() {
	g, err := d.p.openGazetteer()
	if err != nil {
		d.note(isBroken, "gazetteer", "", "%v", err)
	} else {
		defer g.Close()
		s := g.Stats()
		what := fmt.Sprintf("%s, %s, %s, %s", several(s.Houses, "house number"), several(s.Streets, "street"), several(s.Postcodes, "postcode"), strings.Join(s.Countries, " "))
		_, _, date := creditsOf(g.Sources())
		taken, err := time.Parse(time.DateOnly, date[:min(len(date), len(time.DateOnly))])
		switch {
		case s.Streets == 0 && s.Postcodes == 0:
			d.note(isBroken, "gazetteer", "gazehound gazetteer import FILE", "it holds no street and no postcode")
		case err == nil && time.Since(taken) > oldGazetteer:
			d.note(isDoubted, "gazetteer", "import newer data", "%s; the data are of %s, %d days old", what, date, int(time.Since(taken).Hours()/24))
		case err == nil:
			d.well("gazetteer", "%s, data of %s (%s old)", what, taken.Format(time.DateOnly), several(int(time.Since(taken).Hours()/24), "day"))
		default:
			d.well("gazetteer", "%s", what)
		}
		boundary := ""
		if d.cfg != nil {
			boundary = d.cfg.Region.Boundary
		}
		r, err := d.p.openRegion(g, boundary)
		if err == nil {
			err = g.CheckNotEmpty(r)
		}
		if err != nil {
			d.note(isBroken, "region", "", "%v", err)
		} else {
			d.well("region", "%q, %.0f km²", r.Name, r.Km2())
		}
	}
	switch m, err := gazetteer.OpenBasemap(d.p.basemap()); {
	case errors.Is(err, fs.ErrNotExist):
		d.note(isDoubted, "base map", "gazehound gazetteer import FILE.osm.pbf draws it", "none: the map of the search page shows the outline only")
	case err != nil:
		d.note(isDoubted, "base map", "gazehound gazetteer import FILE.osm.pbf draws it anew", "%v", err)
	default:
		d.well("base map", "%s", several(m.Tiles(), "tile"))
		m.Close()
	}
	if d.cfg == nil {
		return
	}
	seeds, err := d.seeds()
	switch {
	case err != nil:
		d.note(isBroken, "seeds", "", "%v", err)
	case len(seeds) > 0:
		d.well("seeds", "%s", count(len(seeds)))
	case fileExists(d.p.frontier()):
		d.well("seeds", "none in files; the crawl goes on with its links")
	default:
		d.note(isDoubted, "seeds", "gazehound seeds import FILE, or gazehound crawl --seed URL", "none")
	}
}

// seeds reads those of the next crawl, without its warnings of single lines.
func (d *doctor) seeds() ([]weburl.URL, error) {
	quiet := &app{stdin: d.stdin, stderr: io.Discard, data: d.data}
	return quiet.seeds(d.p, d.cfg, crawlOptions{})
}

// frontier looks at the crawl tree from outside: format, lock and last words.
func (d *doctor) frontier() {
	if fileExists(d.p.discarded()) {
		d.note(isDoubted, "crawl", "the next crawl completes it", "--fresh was interrupted while it threw a crawl away")
	}
	err := frontier.CheckFormat(d.p.frontier())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.well("crawl", "none yet")
		return
	case errors.Is(err, frontier.ErrOlderFormat):
		d.note(isBroken, "crawl", d.p.remakesIndex(), "%v", err)
		return
	case err != nil:
		d.note(isBroken, "crawl", "", "%v", err)
		return
	}
	s, err := readStatus(d.p)
	if err != nil {
		d.note(isBroken, "crawl", "", "%v", err)
		return
	}
	switch {
	case s.State == crawlRuns || s.State == crawlPaused:
		d.holder = s.PID
		d.well("crawl", "process %d works on it: %s, %s", s.PID, s.State, several(s.Pages, "page"))
	case s.State == crawlBusy:
		d.holder, _, _ = frontier.Holder(d.p.frontier())
		d.well("crawl", "%s", s.Because)
	case s.State == crawlUnsaid:
		d.note(isDoubted, "crawl", "", "%s", s.Because)
	case s.Damaged > 0:
		d.note(isDoubted, "crawl", "look at the disk's health", "%s; %d records could not be read and were set aside", several(s.Pages, "page"), s.Damaged)
	default:
		d.well("crawl", "%s fetched, %s waiting; %s: %s", several(s.Pages, "page"), several(s.Queued, "link"), s.State, s.Because)
	}
	const full = 0o6
	if info, err := os.Stat(d.p.admin()); err == nil && info.Mode().Perm()&(full<<3|full) != 0 {
		d.note(isBroken, "token", "chmod 600 "+d.p.admin(), "others than its owner can read the token in %s", d.p.admin())
	}
}

// index looks at the index, unless a crawl has it.
func (d *doctor) index(ctx context.Context) {
	if err := d.p.lostIndex(); err != nil {
		d.note(isBroken, "index", d.p.remakesIndex(), "%v", err)
		return
	}
	if !fileExists(d.p.index()) {
		d.well("index", "none yet")
		return
	}
	o := index.DefaultOptions()
	o.ReadOnly, o.LockWait = true, time.Second
	x, err := index.Open(d.p.index(), o)
	switch {
	case errors.Is(err, index.ErrLocked) && d.holder != 0:
		d.well("index", "process %d has it", d.holder)
		return
	case errors.Is(err, index.ErrOlderFormat), errors.Is(err, index.ErrDamaged):
		d.note(isBroken, "index", d.p.remakesIndex(), "%v", err)
		return
	case err != nil:
		d.note(isBroken, "index", "", "%v", err)
		return
	}
	defer x.Close()
	s, err := x.Stats(ctx)
	if err != nil {
		d.note(isBroken, "index", "", "%v", err)
		return
	}
	d.well("index", "%s on %s", several(s.Addresses, "address"), several(s.Pages, "page"))
}

func (d *doctor) model() {
	if d.cfg == nil || !fileExists(d.p.model()) {
		return
	}
	if _, err := predictor.Load(d.p.model(), modelOptions(d.cfg)); err != nil {
		d.note(isBroken, "model", "gazehound retrain", "%v", err)
		return
	}
	d.well("model", "can be read")
}

// archive looks at the ends of the WARC files, where a torn write would be.
func (d *doctor) archive() {
	folders, err := d.p.archiveFolders()
	if err != nil {
		d.note(isBroken, "archive", "", "%v", err)
		return
	}
	for _, dir := range folders {
		ends, err := warc.CheckEnds(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			d.note(isDoubted, "archive", "take its line out of "+d.p.archives()+" if it was moved on purpose", "the folder %s is not there any more", dir)
		case err != nil:
			d.note(isBroken, "archive", "", "%v", err)
		case len(ends.Torn) > 0:
			d.note(isBroken, "archive", "everything before the tear can be read; copy the file from where it is whole", "%s: %s, of which %d torn: %s", dir, several(ends.Files, "WARC file"), len(ends.Torn), ends.Torn[0])
		case len(ends.Open) > 0 && d.holder == 0:
			d.note(isDoubted, "archive", "the next crawl --warc cuts a torn record off and gives it its name", "%s: %s left open: %s", dir, several(len(ends.Open), "WARC file"), ends.Open[0])
		default:
			d.well("archive", "%s: %s, no torn end", dir, several(ends.Files, "WARC file"))
		}
	}
}

// removals looks for what people asked to have taken out.
func (d *doctor) removals() {
	dir := forget.Dir(d.p.dir)
	if pending, err := dir.Pending(); pending != nil || err != nil {
		d.note(isBroken, "removals", "gazehound forget", "a removal was interrupted and is not complete")
	}
	waiting, err := dir.Waiting()
	switch {
	case err != nil:
		d.note(isBroken, "removals", "", "%v", err)
	case len(waiting) > 0:
		d.note(isDoubted, "removals", "gazehound forget --requests", "%s of visitors since %s", several(len(waiting), "request"), waiting[0].Time.Format(time.DateOnly))
	default:
		d.well("removals", "no pending removal requests")
	}
}

// clock compares the clock with what the data directory remembers.
func (d *doctor) clock() {
	now := time.Now()
	last, err := monitor.Read(d.p.status())
	switch {
	case err == nil && now.Before(last.At.Add(-time.Minute)):
		d.note(isBroken, "clock", "set it; delays, revisits and first-seen dates count on it", "it says %s, which is before the last run of the crawl (%s)", now.Format(time.RFC3339), last.At.Format(time.RFC3339))
	case now.Year() < 2026:
		d.note(isBroken, "clock", "set it", "it says %s", now.Format(time.RFC3339))
	default:
		d.well("clock", "%s", now.Format(time.RFC3339))
	}
}

func gigabytes(n int64) string { return fmt.Sprintf("%.1f GB", float64(n)/1e9) }

// fewPages are too few to say what a page takes on the disk.
const fewPages = 1000

// disk says how far the free space reaches, as the crawl so far goes.
func (d *doctor) disk() {
	dir := d.data
	for !fileExists(dir) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	free, err := monitor.DiskFree(dir)
	if err != nil {
		d.note(isDoubted, "disk", "", "free space is not known: %v", err)
		return
	}
	if err := unix.Access(dir, unix.W_OK); err != nil {
		d.note(isBroken, "disk", "", "%s cannot be written to: %v", dir, err)
		return
	}
	reserve, target := int64(DefaultConfig().Storage.DiskReserve), int64(0)
	if d.cfg != nil {
		reserve, target = int64(d.cfg.Storage.DiskReserve), d.cfg.Crawl.MaxPages
	}
	room := int64(min(free, math.MaxInt64)) - reserve
	what := fmt.Sprintf("%s free, %s of it kept (storage.disk_reserve)", gigabytes(int64(min(free, math.MaxInt64))), gigabytes(reserve))
	if room <= 0 {
		d.note(isBroken, "disk", "make room: a crawl would stop at once", "%s", what)
		return
	}
	var reaches int64
	if s, err := monitor.Read(d.p.status()); err == nil && s.Pages >= fewPages {
		used := folderSize(d.p.frontier()) + folderSize(d.p.index())
		if each := used / s.Pages; each > 0 {
			reaches = s.Pages + room/each
			what += fmt.Sprintf("; at %s a page it has room for %s, without WARC files", several(int(each), "byte"), several(int(reaches), "page"))
		}
	}
	if reaches > 0 && reaches < target {
		d.note(isDoubted, "disk", "make room, or lower crawl.max_pages", "%s of %s", what, count(int(target)))
		return
	}
	d.well("disk", "%s", what)
}

// folderSize returns the bytes of the files in a folder, as far as they can be
// read.
func folderSize(dir string) (n int64) {
	filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		if info, err := e.Info(); err == nil {
			if s, ok := info.Sys().(*syscall.Stat_t); ok {
				n += s.Blocks * 512 // files of the store have holes
			} else {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

// machine looks at memory and the file limit.
func (d *doctor) machine() {
	cfg := DefaultConfig()
	if d.cfg != nil {
		cfg = *d.cfg
	}
	if have := machineMemory(); have > 0 && int64(cfg.Storage.Memory) > have {
		d.note(isBroken, "memory", "lower storage.memory", "storage.memory is %s and the machine has %s", cfg.Storage.Memory, gigabytes(have))
	} else if have > 0 && int64(cfg.Storage.Memory) > have*3/4 {
		d.note(isDoubted, "memory", "lower storage.memory", "storage.memory is %s of the %s that the machine has", cfg.Storage.Memory, gigabytes(have))
	} else {
		d.well("memory", "%s of %s", cfg.Storage.Memory, gigabytes(have))
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		d.note(isDoubted, "files", "", "the limit is not known: %v", err)
		return
	}
	// Connections of the server, tables of the stores, two for each worker.
	need := uint64(maxConnections + 1000 + 2*cfg.Fetch.Workers)
	if limit.Max < need { // Go raises the soft limit by itself
		d.note(isDoubted, "files", fmt.Sprintf("ulimit -Hn %d, or LimitNOFILE of the service", need), "at most %d may be open at once; a busy server and a large crawl want %d", limit.Max, need)
		return
	}
	d.well("files", "%s may be open at once", count(int(min(limit.Max, math.MaxInt32))))
}

// machineMemory returns the memory of the machine or of its control group, in
// bytes; 0 where it is not known.
func machineMemory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	have := int64(info.Totalram) * int64(info.Unit)
	if text, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		var limit int64
		if n, _ := fmt.Sscan(string(text), &limit); n == 1 {
			have = min(have, limit)
		}
	}
	return have
}

// ports looks whether a server and a crawl could listen where they are told to.
func (d *doctor) ports() {
	cfg := DefaultConfig()
	if d.cfg != nil {
		cfg = *d.cfg
	}
	var free []string
	for _, port := range []struct{ key, address string }{{"serve.listen", cfg.Serve.Listen}, {"admin.listen", cfg.Admin.Listen}} {
		if port.address == "" || port.address == noAdmin {
			continue
		}
		l, err := net.Listen("tcp", port.address)
		switch {
		case err == nil:
			l.Close()
			free = append(free, port.address)
		case errors.Is(err, unix.EADDRINUSE) && d.holder != 0:
			d.well("ports", "%s %s is in use, as by the running crawl", port.key, port.address)
		case errors.Is(err, unix.EADDRINUSE):
			d.note(isDoubted, "ports", "another port, or port 0 for a free one", "%s %s is in use by another program", port.key, port.address)
		default:
			d.note(isBroken, "ports", "host:port such as 127.0.0.1:8090", "%s %s: %v", port.key, port.address, err)
		}
	}
	if len(free) > 0 {
		d.well("ports", "%s free", strings.Join(free, ", "))
	}
}

// compare holds the crawl tree against the index: what either has and the
// other should have.
func (d *doctor) compare(ctx context.Context) {
	const name = "agreement"
	if !fileExists(d.p.frontier()) || !fileExists(d.p.index()) {
		d.well(name, "nothing to compare yet")
		return
	}
	memory := int64(DefaultConfig().Storage.Memory)
	if d.cfg != nil {
		memory = int64(d.cfg.Storage.Memory)
	}
	f, err := frontier.Open(frontier.Options{Dir: d.p.frontier(), Memory: memory})
	if errors.Is(err, frontier.ErrLocked) {
		d.note(isDoubted, name, "end the crawl first: gazehound ctl stop", "not compared while process %d works on it", d.holder)
		return
	} else if err != nil {
		d.note(isBroken, name, "", "%v", err)
		return
	}
	defer f.Close()
	x, err := openIndexToRead(d.p)
	if err != nil {
		d.note(isBroken, name, "", "%v", err)
		return
	}
	defer x.Close()
	indexed := map[frontier.Key]bool{}
	unknown, example := 0, ""
	var damaged error // the first page that the crawl tree cannot read
	err = x.Pages(ctx, func(url string) {
		u, err := weburl.Parse(url)
		if err != nil {
			unknown, example = unknown+1, url
			return
		}
		k := frontier.KeyOf(u)
		if indexed[k] {
			return
		}
		indexed[k] = true
		_, known, err := f.Get(k)
		damaged = cmp.Or(damaged, err)
		if err == nil && !known {
			unknown, example = unknown+1, url
		}
	})
	err = cmp.Or(err, damaged)
	var visited, relevant, absent int64
	if err == nil {
		err = f.Walk(ctx, 0, func(n frontier.Node) error {
			visited++
			if n.Outcome.Kind == "page" && n.Outcome.Relevant && len(n.Outcome.Addresses) > 0 && n.Outcome.Reason != crawler.ReasonNoIndex && n.Outcome.Reason != crawler.ReasonNoCopy {
				relevant++
				if !indexed[frontier.KeyOf(n.URL)] {
					absent, example = absent+1, n.URL.String()
				}
			}
			return nil
		})
	}
	totals := f.Totals()
	const again = "\"gazehound replay\" of the WARC files, or crawl --fresh, makes the index anew"
	switch {
	case err != nil && ctx.Err() == nil:
		d.note(isBroken, name, "", "%v", err)
	case unknown > 0:
		d.note(isBroken, name, again, "the index has %s that the crawl tree does not know, such as %.200s", several(unknown, "page"), example)
	case absent > 0:
		d.note(isBroken, name, again, "%d of %d relevant pages of the crawl tree are not in the index, such as %.200s", absent, relevant, example)
	case totals.Damaged > 0:
		d.note(isBroken, name, "look at the disk's health; the crawl goes on without them", "%d records of the crawl tree could not be read and were set aside", totals.Damaged)
	case visited != totals.Visited || totals.Links != totals.Queued+totals.Visited+totals.Repeats+sum(totals.Dropped):
		d.note(isBroken, name, "", "the totals of the crawl tree do not add up: %d of %d visits, %d links", visited, totals.Visited, totals.Links)
	default:
		d.well(name, "%s in the crawl tree, %d of them relevant and all in the index", several(visited, "visit"), relevant)
	}
}

// network asks for the contact's page and for one seed's robots.txt.
func (d *doctor) network(ctx context.Context) {
	o, err := fetchOptions(d.cfg, d.cfg.Region.Name)
	if err != nil {
		d.note(isBroken, "network", "", "%v", err)
		return
	}
	o.ContentTypes = nil
	client, err := fetch.New(o)
	if err != nil {
		d.note(isBroken, "network", "", "%v", err)
		return
	}
	defer client.Close()
	ask := func(what, text, do string) {
		u, err := weburl.Parse(text)
		if err != nil {
			d.note(isBroken, "network", do, "%s: %v", what, err)
			return
		}
		r, err := client.FetchPrefix(ctx, u, robots.MaxSize)
		switch {
		case err != nil:
			d.note(isBroken, "network", do, "%s: %v", what, err)
		case r.Status >= 400 && what == "contact", r.Status >= 500:
			d.note(isBroken, "network", do, "%s: %s answers %d", what, text, r.Status)
		default:
			d.well("network", "%s: %s answers %d in %v", what, text, r.Status, r.Took.Round(time.Millisecond))
		}
	}
	if c := d.cfg.Fetch.Contact; strings.HasPrefix(c, "http") {
		ask("contact", c, "\"gazehound serve\" shows /bot; put it behind that address")
	}
	if seeds, err := d.seeds(); err == nil && len(seeds) > 0 {
		ask("seed", seeds[0].Scheme()+"://"+seeds[0].Host()+"/robots.txt", "is this machine online, and does it resolve names?")
	}
}

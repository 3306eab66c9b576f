package main

import (
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
	"time"

	"gazehound/crawler"
	"gazehound/crawler/fetch"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor"
	"gazehound/crawler/warc"
	"gazehound/crawler/weburl"
	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/internal/check"
	"gazehound/internal/check/machine"
	"gazehound/internal/forget"
	"gazehound/predictor"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

func newDoctorCommand(a *app) *cobra.Command {
	var deep, network bool
	var into string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check machine, configuration and data; report problems and how to fix them",
		Long: `Checks what a crawl and a server need: configuration, contact, gazetteer, region,
seeds, crawl tree, index, model, WARC files, removals, disk, memory, file limit,
clock and ports. Each is a line: ✓ is well, ! deserves a look, ✗ has to be fixed.

Nothing is changed and nothing is sent. --network asks for the page of the contact
and for the robots.txt of one seed. --deep reads all records of the crawl tree and of
the index, and compares the two.

--rebuild DIR makes a new data directory of what can be read of one that is damaged:
all of its crawl tree but the blocks and ends of files that cannot be read, its index
where that is whole, and its other files. The damaged one stays byte for byte. With WARC
files, "gazehound replay" makes tree and index anew.

Exit status: 0, or 6 where there is a problem.`,
		Example: `  gazehound doctor
  gazehound doctor --deep --json
  gazehound doctor --data damaged --rebuild saved`,
		Args: exactly(0, "doctor takes no arguments, got %.60q; --data names the data directory"),
		RunE: stoppable(func(ctx context.Context, args []string) error {
			if into != "" {
				return a.rebuild(into)
			}
			d := &doctor{app: a, p: project{a.data}}
			d.examine(ctx, deep, network)
			if ctx.Err() != nil {
				return fail(exitStopped, "stopped")
			}
			return d.tell()
		}),
	}
	cmd.Flags().BoolVar(&deep, "deep", false, "read crawl tree and index and compare them")
	cmd.Flags().StringVar(&into, "rebuild", "", "make a new data `DIR` of what can be read of a damaged one")
	cmd.Flags().BoolVar(&network, "network", false, "ask for the contact's page and one seed's robots.txt")
	return cmd
}

// A doctor looks at one project. It changes nothing.
type doctor struct {
	*app
	p        project
	cfg      *Config // nil where it cannot be used
	findings []check.Finding
	holder   int // process that works on the crawl, or 0
}

func (d *doctor) add(found ...check.Finding) { d.findings = append(d.findings, found...) }

// examine makes all checks, those on which others stand first.
func (d *doctor) examine(ctx context.Context, deep, network bool) {
	d.config()
	if d.needData() != nil {
		d.add(check.Broken("data", "gazehound init --osm FILE --region NAME", "there is no data directory %s", d.data))
	} else {
		d.gazetteer()
		d.frontier()
		d.index(ctx)
		d.model()
		d.archive()
		d.add(forget.Dir(d.p.dir).Check()...)
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
		line := fmt.Sprintf("%s %-10s %s", map[string]string{check.OK: "✓", check.Warn: "!", check.Fail: "✗"}[f.State], f.Name, f.What)
		if f.Do != "" {
			line += "   → " + f.Do
		}
		fmt.Fprintln(d.stdout, line)
	}
	code := exitOK
	if states[check.Fail] > 0 {
		code = exitGate
	}
	if d.json {
		if err := d.printJSON(map[string]any{"type": "summary", "ok": states[check.OK], "warnings": states[check.Warn], "problems": states[check.Fail], "exit_code": code}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(d.stdout, "%s, %s\n", several(states[check.Fail], "problem"), several(states[check.Warn], "warning"))
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
		d.add(check.Broken("config", "", "%v", err))
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
	d.add(check.Well("config", "%s set, 0 unknown%s", several(set, "key"), prefixed(" in ", sortedKeys(files))))
	switch {
	case onlyHere(cfg.Fetch.Contact):
		d.add(check.Doubt("contact", "fine for a made-up town; the public internet needs an address that it can reach", "%s: only this machine can read it", cfg.Fetch.Contact))
	case cfg.Fetch.Contact != "":
		d.add(check.Well("contact", "%s", cfg.Fetch.Contact))
	case needContact(cfg, crawlOptions{}, nil):
		d.add(check.Broken("contact", "fetch.contact in config.yaml: a page that says who crawls and why; \"gazehound serve\" offers /bot", "none, and without one the public internet is not crawled"))
	default:
		d.add(check.Well("contact", "none is needed: this crawl stays on loopback"))
	}
	if cfg.Admin.Listen != noAdmin && cfg.Admin.TokenFile == "" {
		if host, _, err := net.SplitHostPort(cfg.Admin.Listen); err == nil && !weburl.IsLoopback(host) {
			d.add(check.Broken("admin", "set admin.token_file, or keep 127.0.0.1", "admin.listen %s would let anyone stop the crawl", cfg.Admin.Listen))
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

// gazetteer looks at the gazetteer, the region, the base map and the seeds.
func (d *doctor) gazetteer() {
	g, err := d.p.openGazetteer()
	if err != nil {
		d.add(check.Broken("gazetteer", "", "%v", err))
	} else {
		defer g.Close()
		d.add(g.Check())
		boundary := ""
		if d.cfg != nil {
			boundary = d.cfg.Region.Boundary
		}
		r, err := d.p.openRegion(g, boundary)
		if err == nil {
			err = g.CheckNotEmpty(r)
		}
		if err != nil {
			d.add(check.Broken("region", "", "%v", err))
		} else {
			d.add(check.Well("region", "%q, %.0f km²", r.Name, r.Km2()))
		}
	}
	d.add(gazetteer.CheckBasemap(d.p.basemap()))
	if d.cfg == nil {
		return
	}
	seeds, err := d.seeds()
	switch {
	case err != nil:
		d.add(check.Broken("seeds", "", "%v", err))
	case len(seeds) > 0:
		d.add(check.Well("seeds", "%s", count(len(seeds))))
	case fileExists(d.p.frontier()):
		d.add(check.Well("seeds", "none in files; the crawl goes on with its links"))
	default:
		d.add(check.Doubt("seeds", "gazehound seeds import FILE, or gazehound crawl --seed URL", "none"))
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
		d.add(check.Doubt("crawl", "the next crawl completes it", "--fresh was interrupted while it threw a crawl away"))
	}
	err := frontier.CheckFormat(d.p.frontier())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.add(check.Well("crawl", "none yet"))
		return
	case errors.Is(err, frontier.ErrOlderFormat):
		d.add(check.Broken("crawl", d.p.remakesIndex(), "%v", err))
		return
	case err != nil:
		d.add(check.Broken("crawl", "", "%v", err))
		return
	}
	s, err := readStatus(d.p)
	if err != nil {
		d.add(check.Broken("crawl", "", "%v", err))
		return
	}
	f, err := frontier.Open(frontier.Options{Dir: d.p.frontier(), ReadOnly: true})
	if errors.Is(err, frontier.ErrDamaged) {
		d.add(check.Broken("crawl", d.p.remakesTree(), "%v", err))
		return
	} else if err == nil {
		f.Close() // nothing was written
	}
	switch {
	case s.Runs():
		d.holder = s.PID
		d.add(check.Well("crawl", "process %d works on it: %s, %s", s.PID, s.State, several(s.Pages, "page")))
	case s.State == monitor.InUse:
		d.holder, _, _ = frontier.Holder(d.p.frontier())
		d.add(check.Well("crawl", "%s", s.Because))
	case s.State == monitor.NoStatus:
		d.add(check.Doubt("crawl", "", "%s", s.Because))
	case s.Damaged > 0:
		d.add(check.Doubt("crawl", "look at the disk's health", "%s; %d records could not be read and were set aside", several(s.Pages, "page"), s.Damaged))
	default:
		d.add(check.Well("crawl", "%s fetched, %s waiting; %s: %s", several(s.Pages, "page"), several(s.Queued, "link"), s.State, s.Because))
	}
	const full = 0o6
	if info, err := os.Stat(d.p.admin()); err == nil && info.Mode().Perm()&(full<<3|full) != 0 {
		d.add(check.Broken("token", "chmod 600 "+d.p.admin(), "others than its owner can read the token in %s", d.p.admin()))
	}
}

// index looks at the index, unless a crawl has it.
func (d *doctor) index(ctx context.Context) {
	if err := d.p.lostIndex(); err != nil {
		d.add(check.Broken("index", d.p.remakesIndex(), "%v", err))
		return
	}
	if !fileExists(d.p.index()) {
		d.add(check.Well("index", "none yet"))
		return
	}
	o := index.DefaultOptions()
	o.ReadOnly, o.LockWait = true, time.Second
	x, err := index.Open(d.p.index(), o)
	switch {
	case errors.Is(err, index.ErrLocked) && d.holder != 0:
		d.add(check.Well("index", "process %d has it", d.holder))
		return
	case errors.Is(err, index.ErrOlderFormat), errors.Is(err, index.ErrDamaged):
		d.add(check.Broken("index", d.p.remakesIndex(), "%v", err))
		return
	case err != nil:
		d.add(check.Broken("index", "", "%v", err))
		return
	}
	defer x.Close()
	s, err := x.Stats(ctx)
	if err != nil {
		d.add(check.Broken("index", "", "%v", err))
		return
	}
	d.add(check.Well("index", "%s on %s", several(s.Addresses, "address"), several(s.Pages, "page")))
}

func (d *doctor) model() {
	if d.cfg == nil || !fileExists(d.p.model()) {
		return
	}
	if _, err := predictor.Load(d.p.model(), modelOptions(d.cfg)); err != nil {
		d.add(check.Broken("model", "gazehound retrain", "%v", err))
		return
	}
	d.add(check.Well("model", "can be read"))
}

// archive looks at the ends of the WARC files, where a torn write would be.
func (d *doctor) archive() {
	folders, err := d.p.archiveFolders()
	if err != nil {
		d.add(check.Broken("archive", "", "%v", err))
		return
	}
	for _, dir := range folders {
		d.add(warc.Check(dir, d.p.archives(), d.holder != 0))
	}
}

// clock compares the clock with what the data directory remembers.
func (d *doctor) clock() {
	now := time.Now()
	last, err := monitor.Read(d.p.status())
	switch {
	case err == nil && now.Before(last.At.Add(-time.Minute)):
		d.add(check.Broken("clock", "set it; delays, revisits and first-seen dates count on it", "it says %s, which is before the last run of the crawl (%s)", now.Format(time.RFC3339), last.At.Format(time.RFC3339)))
	case now.Year() < 2026:
		d.add(check.Broken("clock", "set it", "it says %s", now.Format(time.RFC3339)))
	default:
		d.add(check.Well("clock", "%s", now.Format(time.RFC3339)))
	}
}

// disk says how far the free space reaches, as the crawl so far goes.
func (d *doctor) disk() {
	dir := d.data
	for !fileExists(dir) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	free, err := monitor.DiskFree(dir)
	if err != nil {
		d.add(check.Doubt("disk", "", "free space is not known: %v", err))
		return
	}
	if err := unix.Access(dir, unix.W_OK); err != nil {
		d.add(check.Broken("disk", "", "%s cannot be written to: %v", dir, err))
		return
	}
	reserve, target := int64(DefaultConfig().Storage.DiskReserve), int64(0)
	if d.cfg != nil {
		reserve, target = int64(d.cfg.Storage.DiskReserve), d.cfg.Crawl.MaxPages
	}
	room := machine.Room{Free: int64(min(free, math.MaxInt64)), Reserve: reserve, Target: target}
	if s, err := monitor.Read(d.p.status()); err == nil {
		room.Pages, room.Used = s.Pages, machine.FolderSize(d.p.frontier())+machine.FolderSize(d.p.index())
	}
	d.add(room.Check())
}

// machine looks at memory and the file limit.
func (d *doctor) machine() {
	cfg := DefaultConfig()
	if d.cfg != nil {
		cfg = *d.cfg
	}
	// Connections of the server, tables of the stores, two for each worker.
	files := uint64(maxConnections + 1000 + 2*cfg.Fetch.Workers)
	d.add(machine.CheckMemory("storage.memory", cfg.Storage.Memory.String(), int64(cfg.Storage.Memory)), machine.CheckFiles(files))
}

// ports looks whether a server and a crawl could listen where they are told to.
func (d *doctor) ports() {
	cfg := DefaultConfig()
	if d.cfg != nil {
		cfg = *d.cfg
	}
	var ports []machine.Port
	for _, p := range []machine.Port{{Key: "serve.listen", Address: cfg.Serve.Listen}, {Key: "admin.listen", Address: cfg.Admin.Listen}} {
		if p.Address != "" && p.Address != noAdmin {
			ports = append(ports, p)
		}
	}
	d.add(machine.CheckPorts(d.holder != 0, ports...)...)
}

// compare holds the crawl tree against the index: what either has and the
// other should have.
func (d *doctor) compare(ctx context.Context) {
	const name = "agreement"
	if !fileExists(d.p.frontier()) || !fileExists(d.p.index()) {
		d.add(check.Well(name, "nothing to compare yet"))
		return
	}
	memory := int64(DefaultConfig().Storage.Memory)
	if d.cfg != nil {
		memory = int64(d.cfg.Storage.Memory)
	}
	f, err := d.p.crawlToRead(memory)
	if errors.Is(err, frontier.ErrLocked) {
		d.add(check.Doubt(name, "end the crawl first: gazehound ctl stop", "not compared while process %d works on it", d.holder))
		return
	} else if err != nil {
		d.add(check.Broken(name, "", "%v", err))
		return
	}
	defer f.Close()
	x, err := openIndexToRead(d.p)
	if err != nil {
		d.add(check.Broken(name, "", "%v", err))
		return
	}
	defer x.Close()
	d.add(crawler.CheckIndexed(ctx, name, f, x.Pages))
}

// network asks for the contact's page and for one seed's robots.txt.
func (d *doctor) network(ctx context.Context) {
	o, err := fetchOptions(d.cfg, d.cfg.Region.Name)
	if err != nil {
		d.add(check.Broken("network", "", "%v", err))
		return
	}
	o.ContentTypes = nil
	client, err := fetch.New(o)
	if err != nil {
		d.add(check.Broken("network", "", "%v", err))
		return
	}
	defer client.Close()
	if c := d.cfg.Fetch.Contact; strings.HasPrefix(c, "http") {
		d.add(client.Check(ctx, "contact", c, true, "\"gazehound serve\" shows /bot; put it behind that address"))
	}
	if seeds, err := d.seeds(); err == nil && len(seeds) > 0 {
		d.add(client.Check(ctx, "seed", seeds[0].Scheme()+"://"+seeds[0].Host()+"/robots.txt", false, "is this machine online, and does it resolve names?"))
	}
}

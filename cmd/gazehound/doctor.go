package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"

	"gazehound/cmd/gazehound/forget"
	"gazehound/crawler"
	"gazehound/crawler/fetch"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor"
	"gazehound/crawler/warc"
	"gazehound/crawler/weburl"
	"gazehound/gazetteer"
	"gazehound/geoparse"
	"gazehound/index"
	"gazehound/index/api"
	"gazehound/internal/check"
	"gazehound/internal/check/machine"
	"gazehound/internal/console"
	"gazehound/internal/corrections"
	"gazehound/predictor"

	"github.com/spf13/cobra"
)

const doctorHelp = `Checks what a crawl and a server need: configuration, contact, gazetteer, region,
seeds, crawl tree, index, model, WARC files, removals, disk, memory, file limit,
clock and ports. Each has a line: ✓ is fine, ! is a warning, ✗ must be fixed.

Nothing is changed and nothing is sent. --network requests the contact's page and the
robots.txt of one seed. --deep reads all records of the crawl tree and of the index,
compares the two, and reads all records of the WARC files.

--rebuild DIR makes a new data directory from what can be read of a damaged one: its
crawl tree without unreadable blocks and ends of files, its index if that is undamaged,
and its other files. The damaged one is not changed. If there are WARC files,
"gazehound replay" rebuilds tree and index.

Exit status: 0, or 6 if there is a problem.

Examples:
  gazehound doctor
  gazehound doctor --deep --json
  gazehound doctor --data damaged --rebuild saved
`

// doctorOptions are the flags of doctor.
type doctorOptions struct {
	deep, network bool
	rebuild       string
}

func newDoctorCommand(a *app) *cobra.Command {
	var o doctorOptions
	cmd := command("doctor", "Check machine, configuration and data; report problems and how to fix them", doctorHelp,
		noArgs, stoppable(func(ctx context.Context, args []string) error {
			if o.rebuild != "" {
				return a.rebuild(o.rebuild)
			}
			d := &doctor{app: a, p: project{a.data}, cfg: DefaultConfig()}
			d.examine(ctx, o)
			return cmp.Or(ctx.Err(), d.tell())
		}))
	f := cmd.Flags()
	f.BoolVar(&o.deep, "deep", false, "read crawl tree and index and compare them; read all records of the WARC files")
	f.StringVar(&o.rebuild, "rebuild", "", "make a new data `DIR` of what can be read of a damaged one")
	f.BoolVar(&o.network, "network", false, "request the contact's page and one seed's robots.txt")
	return cmd
}

// A doctor checks one project and changes nothing.
type doctor struct {
	*app
	p        project
	cfg      Config // the defaults if the configuration is invalid
	usable   bool   // cfg is the project's own
	findings []check.Finding
	holder   int // process ID of the running crawl, or 0
}

// broken adds a finding for err, unless it is nil.
func (d *doctor) broken(name string, err error) bool {
	if err != nil {
		d.add(check.Broken(name, "", "%v", err))
	}
	return err != nil
}

func (d *doctor) add(found ...check.Finding) { d.findings = append(d.findings, found...) }

// examine runs all checks, those that others depend on first.
func (d *doctor) examine(ctx context.Context, o doctorOptions) {
	d.config()
	if d.needData() != nil {
		d.add(check.Broken("data", "gazehound init --osm FILE --region NAME", "there is no data directory %s", d.data))
	} else {
		d.gazetteer()
		d.frontier()
		if err := d.p.lostIndex(); err != nil {
			d.add(check.Broken("index", d.p.remakesIndex(), "%v", err))
		} else {
			d.add(index.Check(ctx, d.p.index(), d.p.upgrades(), d.p.remakesIndex(), d.holder))
		}
		d.model()
		d.archive()
		d.lists()
		d.add(forget.Dir(d.p.dir).Check()...)
		last, _ := monitor.Read(d.p.status()) // a missing status only means no time to compare with
		d.add(machine.CheckClock(last.At))
	}
	d.machine()
	if o.deep {
		d.compare(ctx)
		d.records(ctx)
	}
	if o.network && d.usable {
		d.network(ctx)
	}
}

// tell prints the findings and returns the exit code as an error.
func (d *doctor) tell() error {
	states := map[string]int{}
	for _, f := range d.findings {
		states[f.State]++
		err := d.app.tell(f, "%s\n", f)
		if err != nil {
			return err
		}
	}
	answer := success
	if states[check.Fail] > 0 {
		answer = answerNo
	}
	line := fields{"type": "summary", "ok": states[check.OK], "warnings": states[check.Warn],
		"problems": states[check.Fail], "exit_code": answer.code()}
	if err := d.app.tell(line, "%s, %s\n", several(states[check.Fail], "problem"),
		several(states[check.Warn], "warning")); err != nil {
		return err
	}
	if answer != success {
		return silentExit(answer)
	}
	return nil
}

// config checks the configuration and the contact.
func (d *doctor) config() {
	cfg, err := d.app.config()
	if d.broken("config", err) {
		return
	}
	d.cfg, d.usable = *cfg, true
	set, files := cfg.origin.Set()
	in := ""
	if len(files) > 0 {
		in = " in " + strings.Join(files, ", ")
	}
	d.add(check.Well("config", "%s set, 0 unknown%s", several(set, "key"), in))
	switch {
	case cfg.ContactIsHere():
		d.add(check.Doubt("contact", "fine for a made-up town; the public internet needs an address that it can "+
			"reach", "%s: only this machine can read it", cfg.Fetch.Contact))
	case cfg.ContactIsExample() && !cfg.StaysHere(nil):
		d.add(check.Broken("contact", "fetch.contact in config.yaml: your own page that says who crawls and why",
			"%s is an example, and without your own the public internet is not crawled", oneLine(cfg.Fetch.Contact)))
	case cfg.Fetch.Contact != "":
		d.add(check.Well("contact", "%s", cfg.Fetch.Contact))
	case !cfg.StaysHere(nil):
		d.add(check.Broken("contact", "fetch.contact in config.yaml: a page that says who crawls and why; "+
			"\"gazehound serve\" offers /bot", "none, and without one the public internet is not crawled"))
	default:
		d.add(check.Well("contact", "none is needed: this crawl stays on loopback"))
	}
	if cfg.Admin.Listen != noAdmin && cfg.Admin.TokenFile == "" {
		if host, _, err := net.SplitHostPort(cfg.Admin.Listen); err == nil && !weburl.IsLoopback(host) {
			d.add(check.Broken("admin", "set admin.token_file, or keep 127.0.0.1",
				"admin.listen %s would let anyone stop the crawl", cfg.Admin.Listen))
		}
	}
}

// gazetteer checks the gazetteer, the region, the base map and the seeds.
func (d *doctor) gazetteer() {
	if g, err := d.p.openGazetteer(); !d.broken("gazetteer", err) {
		defer g.Close()
		d.add(g.Check())
		r, err := d.p.openRegion(g, d.cfg.Region.Boundary)
		if err == nil {
			err = g.CheckNotEmpty(r)
		}
		if !d.broken("region", err) {
			d.add(check.Well("region", "%q, %.0f km²", r.Name, r.Km2()))
			switch reach, text := geoparse.ReachIn(g, r.Country); {
			case text == "":
			case reach < geoparse.StreetReach:
				d.add(check.Doubt("country", "", "%s", text))
			default:
				d.add(check.Well("country", "%s", text))
			}
		}
	}
	d.add(gazetteer.CheckBasemap(d.p.basemap()))
	if !d.usable {
		return
	}
	seeds, err := d.seeds()
	switch {
	case d.broken("seeds", err):
	case len(seeds) > 0:
		d.add(check.Well("seeds", "%s", count(len(seeds))))
	case fileExists(d.p.frontier()):
		d.add(check.Well("seeds", "none in files; the crawl continues with its queued links"))
	default:
		d.add(check.Doubt("seeds", "gazehound seeds import FILE, or gazehound crawl --seed URL", "none"))
	}
}

// seeds reads the seeds of the next crawl without warnings about single lines.
func (d *doctor) seeds() ([]weburl.URL, error) {
	quiet := &app{Console: console.Console{Err: io.Discard}, stdin: d.stdin, data: d.data}
	return quiet.seeds(d.p, &d.cfg, crawlOptions{})
}

// frontier checks the crawl tree without opening it: format, lock and last status.
func (d *doctor) frontier() {
	if fileExists(d.p.discarded()) {
		d.add(check.Doubt("crawl", "the next crawl completes it",
			"--fresh was interrupted while it deleted a crawl"))
	}
	err := frontier.CheckFormat(d.p.frontier())
	if errors.Is(err, fs.ErrNotExist) {
		d.add(check.Well("crawl", "none yet"))
		return
	}
	var s crawlStatus
	if err == nil {
		s, err = readStatus(d.p)
	}
	if err == nil {
		f, broken := frontier.Open(frontier.Options{Dir: d.p.frontier(), ReadOnly: true, Verify: true})
		if errors.Is(broken, frontier.ErrDamaged) {
			d.add(check.Broken("crawl", d.p.remakesTree(), "%v", broken))
			return
		} else if broken == nil {
			f.Close() // nothing was written
		}
	}
	switch {
	case errors.Is(err, frontier.ErrOlderFormat):
		d.add(check.Broken("crawl", d.p.upgrades(), "%v", err))
	case !d.broken("crawl", err):
		d.holder = s.Holder
		d.add(s.Check())
	}
	const others = 0o66
	if info, err := os.Stat(d.p.admin()); err == nil && info.Mode().Perm()&others != 0 {
		d.add(check.Broken("token", "chmod 600 "+d.p.admin(), "users other than its owner can read the token in %s",
			d.p.admin()))
	}
}

func (d *doctor) model() {
	if !d.usable || !fileExists(d.p.model()) {
		return
	}
	if _, err := predictor.Load(d.p.model(), d.cfg.ModelOptions()); err != nil {
		fix := "gazehound retrain"
		if errors.Is(err, predictor.ErrOlderFormat) || errors.Is(err, predictor.ErrFeatures) {
			fix = d.p.upgrades()
		}
		d.add(check.Broken("model", fix, "%v", err))
		return
	}
	d.add(check.Well("model", "can be read"))
}

// archive checks that the WARC files are there, and their ends, where a torn write would be.
func (d *doctor) archive() {
	m, err := d.ownManifest()
	if !d.broken("archive", err) {
		d.add(warc.Check(m, d.holder != 0)...)
	}
}

// lists checks that no list has lost lines since the last crawl.
func (d *doctor) lists() {
	f, done, err := d.treeToRead(d.p, 0)
	if err != nil {
		return // frontier says why
	}
	short, err := d.p.shortLists(f)
	d.broken("lists", errors.Join(err, done()))
	for _, what := range short {
		d.add(check.Doubt("lists", "bring back what is missing; the next crawl takes the list as it is", "%s", what))
	}
}

// records reads every record of the WARC files.
func (d *doctor) records(ctx context.Context) {
	m, err := d.ownManifest()
	if err != nil {
		return // archive reports it
	}
	for _, dir := range m.Folders() {
		if fileExists(dir) { // archive reports it
			d.add(warc.CheckRecords(ctx, dir))
		}
	}
}

// machine checks disk, memory, the file limit and the ports.
func (d *doctor) machine() {
	room := machine.Room{Reserve: int64(d.cfg.Storage.DiskReserve)}
	if d.usable {
		room.Target = d.cfg.Crawl.MaxPages
	}
	if s, err := monitor.Read(d.p.status()); err == nil {
		room.Pages, room.Used = s.Pages, machine.FolderSize(d.p.frontier())+machine.FolderSize(d.p.index())
	}
	// Connections of the server, 1,000 for tables of the stores, two for each worker.
	files := uint64(api.MaxConnections + 1000 + 2*d.cfg.Fetch.Workers)
	d.add(room.Check(d.data), machine.CheckMemory("storage.memory", int64(d.cfg.Storage.Memory)),
		machine.CheckFiles(files))
	var ports []machine.Port
	for _, p := range []machine.Port{{Key: "serve.listen", Address: d.cfg.Serve.Listen},
		{Key: "admin.listen", Address: d.cfg.Admin.Listen}} {
		if p.Address != "" && p.Address != noAdmin {
			ports = append(ports, p)
		}
	}
	d.add(machine.CheckPorts(d.holder != 0, ports...)...)
}

// compare reports pages of the crawl tree that the index lacks, and the other way round.
func (d *doctor) compare(ctx context.Context) {
	const name = "agreement"
	if !fileExists(d.p.frontier()) || !fileExists(d.p.index()) {
		d.add(check.Well(name, "nothing to compare yet"))
		return
	}
	f, err := d.p.crawlToRead(int64(d.cfg.Storage.Memory))
	if errors.Is(err, frontier.ErrLocked) {
		d.add(check.Doubt(name, "end the crawl first: gazehound ctl stop",
			"not compared while process %d works on it", d.holder))
		return
	} else if d.broken(name, err) {
		return
	}
	defer f.Close()
	x, err := openIndexToRead(d.p)
	if d.broken(name, err) {
		return
	}
	defer x.Close()
	log, err := corrections.Open(d.p.dir)
	if d.broken(name, err) {
		return
	}
	d.add(crawler.CheckIndexed(ctx, name, f, x.Pages, log))
}

// network requests the contact's page and the robots.txt of one seed.
func (d *doctor) network(ctx context.Context) {
	o, err := d.cfg.FetchOptions(version)
	if d.broken("network", err) {
		return
	}
	o.ContentTypes = nil
	client, err := fetch.New(o)
	if d.broken("network", err) {
		return
	}
	defer client.Close()
	if c := d.cfg.Fetch.Contact; strings.HasPrefix(c, "http") {
		d.add(client.Check(ctx, "contact", c, true, "\"gazehound serve\" shows /bot; put it behind that address"))
	}
	if seeds, err := d.seeds(); err == nil && len(seeds) > 0 {
		d.add(client.Check(ctx, "seed", seeds[0].Scheme()+"://"+seeds[0].Host()+"/robots.txt", false,
			"is this machine online, and does it resolve names?"))
	}
}

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor"
	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/internal/corrections"
	"gazehound/internal/textutil"
	"gazehound/predictor"
)

// A project is a data directory: everything about one region and its crawl.
type project struct{ dir string }

func (p project) gazetteer() string   { return filepath.Join(p.dir, "gazetteer") }
func (p project) basemap() string     { return filepath.Join(p.dir, "basemap") }
func (p project) region() string      { return filepath.Join(p.dir, "region.geojson") }
func (p project) config() string      { return filepath.Join(p.dir, "config.yaml") }
func (p project) seeds() string       { return filepath.Join(p.dir, "seeds.txt") }
func (p project) frontier() string    { return filepath.Join(p.dir, "frontier") }
func (p project) index() string       { return filepath.Join(p.dir, "index") }
func (p project) clickstream() string { return filepath.Join(p.dir, "clickstream") }
func (p project) topic() string       { return filepath.Join(p.dir, "topic.txt") }
func (p project) model() string       { return filepath.Join(p.dir, "model.gob") }
func (p project) archives() string    { return filepath.Join(p.dir, "archives.txt") }
func (p project) status() string      { return filepath.Join(p.dir, "status.json") }
func (p project) admin() string       { return filepath.Join(p.dir, "admin.json") }
func (p project) browser() string     { return filepath.Join(p.dir, "browser") }
func (p project) cluster() string     { return filepath.Join(p.dir, "cluster") }
func (p project) discarded() string   { return filepath.Join(p.dir, "frontier.discarded") }

// finishDiscard removes what --fresh discarded. The crawl is gone once its folder is renamed; after
// a kill the next start removes the rest.
func (p project) finishDiscard() error {
	if !fileExists(p.discarded()) {
		return nil
	}
	// The renamed folder comes last: it marks unfinished work.
	for _, gone := range []string{p.index(), p.status(), p.discarded()} {
		err := os.RemoveAll(gone)
		if err != nil {
			return err
		}
	}
	return nil
}

// coverage returns in how many of the region's streets the crawl has found addresses, by its last
// status; 0, 0 without one.
func (p project) coverage() (found, streets int) {
	s, err := monitor.Read(p.status())
	if err != nil || s.Insight == nil {
		return 0, 0
	}
	return s.Streets.Found, s.Streets.All
}

// lostIndex returns an error if a crawl has read pages but the folder of its index is missing.
func (p project) lostIndex() error {
	if fileExists(p.index()) || !fileExists(p.frontier()) {
		return nil
	}
	s, err := monitor.Read(p.status())
	pages := s.Pages
	if err != nil { // status.json is gone, too
		f, err := p.crawlToRead(0)
		if err != nil {
			return nil // whoever opens it says why
		}
		pages = f.Totals().Pages
		err = f.Close()
		if err != nil {
			return err
		}
	}
	if pages == 0 {
		return nil
	}
	return fmt.Errorf("the index %s is gone, and with it what the crawl found on %s", p.index(),
		several(pages, "page"))
}

// needData fails with exit code 10 where the data directory does not exist, and with 4 where an upgrade was
// interrupted as it replaced the stores.
func (a *app) needData() error {
	err := a.needFolder()
	if err == nil && fileExists(project{a.data}.upgradeDone()) {
		err = fail(badInput, "an upgrade of %s was interrupted. \"gazehound upgrade --data %s\" completes it",
			a.data, textutil.ShellQuote(a.data))
	}
	return err
}

// needFolder fails with exit code 10 where the data directory does not exist.
func (a *app) needFolder() error {
	if _, err := os.Stat(a.data); errors.Is(err, fs.ErrNotExist) {
		return fail(noData, "no data directory %s. \"gazehound init --osm FILE --region NAME\" makes one; --data "+
			"names another", a.data)
	} else if err != nil {
		return fail(noData, "data directory: %w", err)
	}
	return nil
}

// project returns the data directory and its configuration.
func (a *app) project() (project, *Config, error) {
	cfg, err := a.config()
	if err == nil {
		err = a.needData()
	}
	return project{a.data}, cfg, err
}

// A crawlFunc works on a project with its crawl tree and queue open.
type crawlFunc func(p project, cfg *Config, f *frontier.Frontier) error

// readCrawl calls read with the crawl tree and queue of the data directory, read-only, and with the
// configuration by which the crawl orders its links.
func (a *app) readCrawl(read crawlFunc) (err error) {
	p, cfg, err := a.project()
	if err != nil {
		return err
	}
	f, done, err := a.treeToRead(p, int64(cfg.Storage.Memory))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	cfg, err = a.orderOf(f)
	if err != nil {
		return err
	}
	return read(p, cfg, f)
}

// treeToRead opens the crawl tree of a project. A command inside a running crawl gets that crawl's.
// The caller must call done.
func (a *app) treeToRead(p project, memory int64) (f *frontier.Frontier, done func() error, err error) {
	if a.beside != nil && p.dir == a.data {
		return a.beside.session.f, func() error { return nil }, nil
	}
	f, err = p.crawlToRead(memory)
	if err != nil {
		return nil, nil, err
	}
	return f, f.Close, nil
}

// readIndex calls read with the index of the data directory.
func (a *app) readIndex(read func(p project, x *index.Index) error) error {
	if err := a.needData(); err != nil {
		return err
	}
	p := project{a.data}
	if a.beside != nil {
		return read(p, a.beside.session.x)
	}
	return withIndex(p, openIndexToShow, func(x *index.Index) error { return read(p, x) })
}

// withIndex calls do with the index of p, which it closes.
func withIndex(p project, open func(project) (*index.Index, error), do func(x *index.Index) error) error {
	x, err := open(p)
	if err != nil {
		return err
	}
	return errors.Join(do(x), x.Close())
}

// openCrawl opens the crawl tree and the queue of the project exclusively.
func (p project) openCrawl(memory int64) (*frontier.Frontier, error) {
	return p.openFrontier(frontier.Options{Memory: memory})
}

// crawlToRead opens them read-only; several processes may read at once, from a read-only disk, too.
func (p project) crawlToRead(memory int64) (*frontier.Frontier, error) {
	return p.openFrontier(frontier.Options{Memory: memory, ReadOnly: true})
}

func (p project) openFrontier(o frontier.Options) (*frontier.Frontier, error) {
	if !fileExists(p.frontier()) {
		return nil, fail(noData, "%s holds no crawl. \"gazehound crawl\" makes one", p.dir)
	}
	o.Dir = p.frontier()
	f, err := frontier.Open(o)
	return f, storeError(p, err)
}

// openGazetteer opens the gazetteer of the project.
func (p project) openGazetteer() (*gazetteer.Gazetteer, error) {
	g, err := gazetteer.Open(p.gazetteer())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fail(noData, "no gazetteer in %s. \"gazehound init --osm FILE --region NAME\" makes one, "+
			"\"gazehound gazetteer import FILE\" adds to it", p.dir)
	case err != nil:
		return nil, invalid(err)
	}
	return g, nil
}

// openBasemap opens the map of the project; it is nil if there is none, or if it cannot be read.
func (a *app) openBasemap(p project) *gazetteer.Basemap {
	m, err := gazetteer.OpenBasemap(p.basemap())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.warn("the map has no streets: %s", oneLine(err.Error()))
	}
	return m
}

// regionName returns the name of the region, or "".
func (p project) regionName(cfg *Config) string {
	if r, err := gazetteer.ReadRegion(p.region()); err == nil {
		return cmp.Or(cfg.Region.Name, r.Name)
	}
	return cfg.Region.Name
}

// openRegion returns the region that spec names: a GeoJSON file, or whatever
// the gazetteer understands. An empty spec is the project's own region.
func (p project) openRegion(g *gazetteer.Gazetteer, spec string) (*gazetteer.Region, error) {
	if spec == "" && !fileExists(p.region()) {
		return nil, fail(badInput, "no region. --region NAME says what the crawl is about, such as --region "+
			"Oldenburg or --region \"Irvine, CA\"")
	}
	r, err := regionFile(cmp.Or(spec, p.region()))
	if r != nil || err != nil {
		return r, err
	}
	r, err = g.Region(spec)
	return r, invalid(err)
}

// regionFile reads the GeoJSON file that a region names; it returns nil for a region that names none.
func regionFile(spec string) (*gazetteer.Region, error) {
	info, err := os.Stat(spec)
	switch {
	case err == nil && info.IsDir(): // a project's, called like its region
		return nil, nil
	case err == nil:
		r, err := gazetteer.ReadRegion(spec)
		return r, invalid(err)
	case strings.HasSuffix(spec, ".geojson") || strings.HasSuffix(spec, ".json"):
		return nil, fail(badInput, "region: %w", err)
	}
	return nil, nil
}

// regionIfAny is openRegion, but a project without a region has none.
func (p project) regionIfAny(g *gazetteer.Gazetteer, spec string) (*gazetteer.Region, error) {
	if spec == "" {
		if _, err := os.Stat(p.region()); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
	return p.openRegion(g, spec)
}

// patience bounds the wait for readers of the index: a server that takes over what was written, or a
// command that shows it.
const patience = 10 * time.Second

// openIndex opens the index for writing; it follows the corrections of log.
func openIndex(p project, log *corrections.Log) (*index.Index, error) {
	for deadline := time.Now().Add(patience); ; time.Sleep(patience / 100) {
		x, err := index.Open(p.index())
		if err == nil {
			x.Facts = log.Facts
		}
		if !errors.Is(err, index.ErrLocked) || time.Now().After(deadline) {
			return x, storeError(p, err)
		}
	}
}

// openIndexToRead opens the index for serve and search, which never change it.
func openIndexToRead(p project) (*index.Index, error) {
	x, err := index.OpenReadOnly(p.index())
	for deadline := time.Now().Add(patience); errors.Is(err, index.ErrLocked) && time.Now().Before(deadline); {
		if _, crawls, err := frontier.Holder(p.frontier()); crawls || err != nil || p.leader() != "" {
			break
		}
		time.Sleep(patience / 100) // a server that brings a correction to it
		x, err = index.OpenReadOnly(p.index())
	}
	if errors.Is(err, index.ErrLocked) && p.leader() != "" { // "gazehound serve --follow" writes it
		x, err = index.OpenSnapshot(p.index())
	}
	switch {
	case errors.Is(err, index.ErrLocked):
		return nil, fail(inUse, "%s is in use by a running crawl. The crawl prints the address of its search "+
			"page", p.dir)
	case err != nil:
		return nil, storeError(p, err)
	}
	return x, nil
}

// openIndexToShow opens the index for commands that show what was found; they fail if the index was
// lost.
func openIndexToShow(p project) (*index.Index, error) {
	if err := p.lostIndex(); err != nil {
		return nil, fail(badInput, "%w. %s", err, p.remakesIndex())
	}
	return openIndexToRead(p)
}

// storeError gives the errors of opening a store their exit code.
func storeError(p project, err error) error {
	switch {
	case errors.Is(err, frontier.ErrLocked):
		return fail(inUse, "%s is in use: %w. \"gazehound ctl stop\" ends a crawl; the command that started "+
			"it resumes it", p.dir, err)
	case errors.Is(err, index.ErrLocked):
		return fail(inUse, "%w: a command that reads it, perhaps, or \"gazehound serve\" on a disk without "+
			"hard links. Try again when it has ended", err)
	case errors.Is(err, frontier.ErrOlderFormat), errors.Is(err, index.ErrOlderFormat):
		return fail(badInput, "%w. %s", err, p.upgrades())
	case errors.Is(err, frontier.ErrDamaged):
		return fail(badInput, "%w. %s", err, p.remakesTree())
	case errors.Is(err, frontier.ErrNewerFormat):
		return fail(badInput, "%w; the data was not touched", err)
	case errors.Is(err, index.ErrNewerFormat):
		return invalid(err)
	case errors.Is(err, index.ErrDamaged):
		return fail(badInput, "%w. %s", err, p.remakesIndex())
	}
	return err
}

// upgrades returns the advice for data of an older format.
func (p project) upgrades() string {
	return fmt.Sprintf("\"gazehound upgrade --data %s\" remakes it from what the crawl knows and recorded",
		textutil.ShellQuote(p.dir))
}

// remakesTree returns the advice for a damaged crawl tree.
func (p project) remakesTree() string {
	return fmt.Sprintf("Nothing was changed. Restore a copy, or \"gazehound doctor --data %s --rebuild DIR\" saves "+
		"what can be read; or %s", textutil.ShellQuote(p.dir), p.remakesIndex())
}

// remakesIndex returns the command that rebuilds an unusable index or queue: from the crawl's
// archive if there is one, else another crawl.
func (p project) remakesIndex() string {
	m, err := p.manifest(nil)
	if err == nil && len(m.Folders()) > 0 {
		folders := m.Folders()
		return fmt.Sprintf("\"gazehound replay %s --data %s --into DIR\" makes it anew in DIR from what the crawl "+
			"recorded", textutil.ShellQuoteAll(folders), textutil.ShellQuote(p.dir))
	}
	return fmt.Sprintf("\"gazehound crawl --fresh --data %s\" crawls again; the model stays",
		textutil.ShellQuote(p.dir))
}

// openModel loads the project's model, or returns an untrained one that expects links which name the
// region. Its vocabulary is limited by storage.memory.
func openModel(p project, cfg *Config, region *gazetteer.Region, untrained bool,
	trained string) (*predictor.Model, error) {
	o := cfg.LearningOptions()
	if !untrained {
		m, err := predictor.Load(p.model(), o)
		switch {
		case err == nil:
			return m, nil
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fail(badInput, "%w (--new-model starts with an untrained one)", err)
		}
	}
	m, err := startModel(trained, o)
	if err == nil {
		m.Expect(region.Names())
	}
	return m, err
}

// startModel returns an empty model, or one with the words of the one in file, a model file or a data
// directory.
func startModel(file string, o predictor.Options) (*predictor.Model, error) {
	if file == "" {
		return predictor.NewModel(o), nil
	}
	m, err := predictor.Load(modelFile(file), o)
	if err != nil {
		return nil, fail(badInput, "--model: %w", err)
	}
	return m.Abroad(), nil
}

// projectModel loads the model of the data directory.
func (a *app) projectModel() (*predictor.Model, error) {
	if err := a.needData(); err != nil {
		return nil, err
	}
	return a.loadModel(project{a.data}.model())
}

// modelFile returns the path of the model in a data directory; any other path is returned
// unchanged.
func modelFile(name string) string {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return project{name}.model()
	}
	return name
}

// loadModel loads a model file, which must exist.
func (a *app) loadModel(file string) (*predictor.Model, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	m, err := predictor.Load(file, cfg.ModelOptions())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fail(noData, "no model %s. \"gazehound crawl\" makes one", file)
	case err != nil:
		return nil, invalid(err)
	}
	return m, nil
}

// namedDirs parses data directories, DIR or NAME=DIR. Errors begin with what.
func namedDirs(what string, dirs []string) (names []string, projects []project, err error) {
	for _, dir := range dirs {
		name, path, named := strings.Cut(dir, "=")
		if !named {
			name, path = filepath.Base(filepath.Clean(dir)), dir
		}
		if slices.Contains(names, name) {
			return nil, nil, fail(badUsage, "two %s are called %s; write NAME=DIR", what, name)
		}
		names, projects = append(names, name), append(projects, project{path})
	}
	return names, projects, nil
}

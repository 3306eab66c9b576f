package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor"
	"gazehound/crawler/weburl"
	"gazehound/gazetteer"
)

// A project is a data directory: everything about one region and its crawl.
type project struct{ dir string }

func (p project) gazetteer() string   { return filepath.Join(p.dir, "gazetteer") }
func (p project) basemap() string     { return filepath.Join(p.dir, "basemap") }
func (p project) region() string      { return filepath.Join(p.dir, "region.geojson") }
func (p project) seeds() string       { return filepath.Join(p.dir, "seeds.txt") }
func (p project) frontier() string    { return filepath.Join(p.dir, "frontier") }
func (p project) index() string       { return filepath.Join(p.dir, "index") }
func (p project) clickstream() string { return filepath.Join(p.dir, "clickstream") }
func (p project) topic() string       { return filepath.Join(p.dir, "topic.txt") }
func (p project) model() string       { return filepath.Join(p.dir, "model.gob") }
func (p project) labels() string      { return filepath.Join(p.dir, "labels.tsv") }
func (p project) archives() string    { return filepath.Join(p.dir, "archives.txt") }
func (p project) status() string      { return filepath.Join(p.dir, "status.json") }
func (p project) admin() string       { return filepath.Join(p.dir, "admin.json") }
func (p project) politeness() string  { return filepath.Join(p.dir, "politeness.log") }
func (p project) cluster() string     { return filepath.Join(p.dir, "cluster") }
func (p project) discarded() string   { return filepath.Join(p.dir, "frontier.discarded") }

// finishDiscard removes what --fresh has thrown away. The crawl is gone as
// soon as its folder has the other name; a kill after that only leaves work
// for the next start.
func (p project) finishDiscard() error {
	if !fileExists(p.discarded()) {
		return nil
	}
	for _, gone := range []string{p.index(), p.status(), p.discarded()} { // the mark of the work last
		if err := os.RemoveAll(gone); err != nil {
			return err
		}
	}
	return nil
}

// coverage returns in how many of the region's streets the crawl has found
// addresses, as it said last; 0 of 0 where it has not.
func (p project) coverage() (found, streets int) {
	s, err := monitor.Read(p.status())
	if err != nil || s.Insight == nil {
		return 0, 0
	}
	return s.Streets.Found, s.Streets.All
}

// lostIndex returns an error where a crawl has read pages and the folder of its
// index is not there.
func (p project) lostIndex() error {
	s, err := monitor.Read(p.status())
	if err != nil || s.Pages == 0 || fileExists(p.index()) || !fileExists(p.frontier()) {
		return nil
	}
	return fmt.Errorf("the index %s is gone, and with it what the crawl found on %s", p.index(), several(s.Pages, "page"))
}

// openCrawl opens the crawl tree and the queue of the project, which nobody else
// may have open.
func (p project) openCrawl(memory int64) (*frontier.Frontier, error) {
	if !fileExists(p.frontier()) {
		return nil, fail(exitNoData, "%s holds no crawl. \"gazehound crawl\" makes one", p.dir)
	}
	f, err := frontier.Open(frontier.Options{Dir: p.frontier(), Memory: memory})
	if err != nil {
		return nil, storeError(p, err)
	}
	return f, nil
}

// openGazetteer opens the gazetteer of the project.
func (p project) openGazetteer() (*gazetteer.Gazetteer, error) {
	g, err := gazetteer.Open(p.gazetteer())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fail(exitNoData, "no gazetteer in %s. \"gazehound init --osm FILE --region NAME\" makes one, \"gazehound gazetteer import FILE\" adds to it", p.dir)
	case err != nil:
		return nil, fail(exitInvalidInput, "%w", err)
	}
	return g, nil
}

// openRegion returns the region that spec names: a GeoJSON file, or whatever
// the gazetteer understands. An empty spec is the project's own region.
func (p project) openRegion(g *gazetteer.Gazetteer, spec string) (*gazetteer.Region, error) {
	file := spec
	if spec == "" {
		file = p.region()
	}
	_, err := os.Stat(file)
	switch {
	case err == nil:
		r, err := gazetteer.ReadRegion(file)
		if err != nil {
			return nil, fail(exitInvalidInput, "%w", err)
		}
		return r, nil
	case spec == "":
		return nil, fail(exitInvalidInput, "no region. --region NAME says what the crawl is about, such as --region Oldenburg or --region \"Irvine, CA\"")
	case strings.HasSuffix(spec, ".geojson") || strings.HasSuffix(spec, ".json"):
		return nil, fail(exitInvalidInput, "region: %w", err)
	}
	r, err := g.Region(spec)
	if err != nil {
		return nil, fail(exitInvalidInput, "%w", err)
	}
	return r, nil
}

// maxSeedLine bounds a line of a seed file, in bytes.
const maxSeedLine = 64 << 10

// readSeeds reads start URLs, one a line; "#" starts a comment. Lines that
// cannot be used are warned of and counted.
func (a *app) readSeeds(name string, r io.Reader) (urls []weburl.URL, skipped int, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxSeedLine)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		u, problem := a.parseSeed(fmt.Sprintf("%s:%d", name, n), text)
		if problem != "" {
			a.warn("%s:%d: %s; line skipped", name, n, problem)
			skipped++
			continue
		}
		urls = append(urls, u)
	}
	if err := lines.Err(); err != nil {
		return nil, 0, fail(exitInvalidInput, "seeds: %s: %w", name, err)
	}
	return urls, skipped, nil
}

// parseSeed returns the URL of one seed, or what is wrong with it.
func (a *app) parseSeed(where, text string) (u weburl.URL, problem string) {
	scheme, _, hasScheme := strings.Cut(text, "://")
	lower := strings.ToLower(text)
	switch {
	case strings.HasPrefix(lower, "mailto:"), strings.HasPrefix(lower, "tel:"), strings.HasPrefix(lower, "javascript:"):
		return u, fmt.Sprintf("%s is not crawled", strings.SplitN(lower, ":", 2)[0])
	case hasScheme && !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https"):
		return u, fmt.Sprintf("%.40q is not crawled", scheme)
	case !hasScheme && strings.ContainsAny(text, " \t"), !hasScheme && !strings.Contains(text, "."):
		return u, fmt.Sprintf("%.80q is no URL", text)
	case !hasScheme:
		a.warn("%s: %.80q has no scheme; using https://%.80s", where, text, oneLine(text))
		text = "https://" + text
	}
	u, err := weburl.Parse(text)
	if err != nil {
		return u, oneLine(err.Error())
	}
	return u, ""
}

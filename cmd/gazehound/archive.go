package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/warc"
	"gazehound/crawler/weburl"
	"gazehound/internal/disk"
)

// openArchive returns a writer of WARC files in the folder of the
// configuration, and notes in the data directory where they are.
func (a *app) openArchive(p project, cfg *Config, region string) (*warc.Writer, error) {
	info := [][2]string{{"software", "gazehound/" + version}, {"robots", "obey"}, {"http-header-user-agent", userAgent(cfg.Fetch.UserAgentName, cfg.Fetch.Contact, region)},
		{"description", "crawl of " + region}}
	if cfg.Fetch.Contact != "" {
		info = append(info, [2]string{"operator", cfg.Fetch.Contact})
	}
	w, err := warc.NewWriter(warc.WriterOptions{Dir: cfg.WARC.Dir, MaxFile: int64(cfg.WARC.MaxFile), Info: info})
	if err != nil {
		return nil, fail(exitInvalidInput, "%w", err)
	}
	for _, what := range w.Repaired() {
		a.warn("%s", what)
	}
	if err := p.addArchive(cfg.WARC.Dir); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// archiveFolders returns the folders in which crawls of the project have
// written WARC files.
func (p project) archiveFolders() ([]string, error) {
	text, err := os.ReadFile(p.archives())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' || r == '\r' }), err
}

// addArchive remembers a folder, once.
func (p project) addArchive(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	known, err := p.archiveFolders()
	if err != nil || slices.Contains(known, dir) {
		return err
	}
	return disk.AppendLines(p.archives(), dir)
}

// warcSink keeps every exchange, but for pages that want no copy of themselves
// kept or reserve their rights: of those it keeps what became of them.
type warcSink struct {
	writer   *warc.Writer
	frontier *frontier.Frontier
}

// Visit writes the exchange with what the crawl made of it.
func (s warcSink) Visit(ctx context.Context, v *crawler.Visit) error {
	if v.Response == nil {
		return nil
	}
	c := warc.Capture{Response: v.Response, Note: noteOf(v)}
	if v.Outcome.Kind == "skipped" || v.Page != nil && v.Page.NoArchive ||
		v.Page == nil && strings.Contains(strings.ToLower(strings.Join(v.Response.Header.Values("X-Robots-Tag"), ",")), "noarchive") {
		c.NoteOnly, c.Note.Status = true, v.Response.Status
	}
	switch {
	case len(v.Trail) > 1:
		c.Note.Via = v.Trail[1].URL.String()
	case v.Trail == nil && !v.Entry.Parent.IsZero():
		if n, ok, err := s.frontier.Get(v.Entry.Parent); err != nil {
			return err
		} else if ok {
			c.Note.Via = n.URL.String()
		}
	}
	if v.Response.Status == 304 {
		n, ok, err := s.frontier.Get(frontier.KeyOf(v.Entry.URL))
		if err != nil {
			return err
		}
		if ok && n.State == frontier.Visited {
			c.Before = n.Outcome.At
		}
	}
	return s.writer.Write(ctx, c)
}

// noteOf says what is kept of a visit beside the exchange itself.
func noteOf(v *crawler.Visit) warc.Note {
	e, o := &v.Entry, &v.Outcome
	return warc.Note{
		Outcome: o.Kind, Reason: o.Reason, Depth: e.Depth, Distance: e.Distance, Priority: e.Priority,
		Anchor: e.Anchor, Title: e.Title, Around: e.Around, Switch: e.Switch, Redirects: e.Redirects,
		Relevant: o.Relevant, Score: o.Score, Addresses: o.Addresses,
	}
}

// entryOf is the queue entry that a note describes.
func entryOf(x *warc.Recorded) frontier.Entry {
	e := frontier.Entry{URL: x.URL, Found: x.At}
	if n := x.Note; n != nil {
		e.Priority, e.Depth, e.Distance, e.Redirects = n.Priority, n.Depth, n.Distance, n.Redirects
		e.Anchor, e.Title, e.Around, e.Switch = n.Anchor, n.Title, n.Around, n.Switch
		if via, err := weburl.Parse(n.Via); err == nil {
			e.Parent = frontier.KeyOf(via)
		}
	}
	return e
}

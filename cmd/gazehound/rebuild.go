package main

import (
	"errors"
	"os"
	"path/filepath"

	"gazehound/crawler/frontier"
	"gazehound/index"
	"gazehound/internal/disk"
)

// rebuild makes a new data directory from what can be read of the project's, which is not changed:
// its files, the index if it is readable, and a new crawl tree.
func (a *app) rebuild(into string) error {
	if err := a.needData(); err != nil {
		return err
	}
	p, q := project{a.data}, project{into}
	if entries, err := os.ReadDir(into); err == nil && len(entries) > 0 {
		return fail(badUsage, "%s is not empty; --rebuild must be a new directory", into)
	}
	err := os.MkdirAll(into, 0o755)
	if err != nil {
		return err
	}
	if err := copyFiles(p, q); err != nil {
		return err
	}
	if fileExists(p.index()) {
		x, err := openIndexToRead(p)
		if err == nil {
			err = errors.Join(x.Close(), os.CopyFS(q.index(), os.DirFS(p.index())))
		}
		switch {
		case errors.Is(err, index.ErrDamaged), errors.Is(err, index.ErrOlderFormat):
			a.warn("%s has no index: %s", into, oneLine(err.Error()))
		case err != nil:
			return err
		}
	}
	if !fileExists(p.frontier()) {
		return nil
	}
	lost, err := frontier.Rebuild(p.frontier(), q.frontier())
	if err != nil {
		return storeError(p, err)
	}
	for _, what := range lost {
		a.warn("%s", oneLine(what))
	}
	f, err := q.crawlToRead(0)
	if err != nil {
		return err
	}
	t := f.Totals()
	err = f.Close()
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"type": "rebuild", "into": into, "pages": t.Pages, "queued": t.Queued,
			"lost": lost})
	}
	a.print("%s holds %s and %s that wait. %s is as it was.\n", into, several(t.Pages, "page"),
		several(t.Queued, "link"), p.dir)
	return nil
}

// copyFiles copies everything but stores: the files and the folders gazetteer and clickstream.
func copyFiles(p, q project) error {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch {
		case e.Type().IsRegular():
			err = disk.CopyMissing(q.dir, p.dir, e.Name())
		case e.Name() == filepath.Base(p.gazetteer()), e.Name() == filepath.Base(p.clickstream()):
			err = os.CopyFS(filepath.Join(q.dir, e.Name()), os.DirFS(filepath.Join(p.dir, e.Name())))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

package main

import (
	"errors"
	"path/filepath"
	"slices"

	"gazehound/crawler/fetch"
	"gazehound/crawler/warc"
	"gazehound/internal/disk"
)

// openArchive returns a writer of WARC files in the folder of the
// configuration, and notes in the data directory where they are.
func (a *app) openArchive(p project, cfg *Config, region string) (*warc.Writer, error) {
	info := [][2]string{{"software", "gazehound/" + version}, {"robots", "obey"}, {"http-header-user-agent", fetch.UserAgent(cfg.Fetch.UserAgentName+"/"+version, cfg.Fetch.Contact, region)},
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
	return disk.AppendLines(p.archives(), 0o644, dir)
}

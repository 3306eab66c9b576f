package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"gazehound/crawler/frontier"
	"gazehound/crawler/warc"
	"gazehound/internal/corrections"
)

// People edit the lists of a project, and copies of it may lack some. The crawl tree keeps a copy of
// archives.txt, and of the others how many lines they had, so that nothing vanishes unnoticed.
const (
	archivesMeta = "archives"
	listsMeta    = "lists" // JSON: name → number of lines that are not empty, comments included
)

// countedLists are the lists whose length the crawl tree keeps.
var countedLists = []string{"seeds.txt", "blocked.txt", "forgotten.log", corrections.FileName}

// listLengths counts the lines of the lists.
func (p project) listLengths() (map[string]int, error) {
	lines := map[string]int{}
	for _, name := range countedLists {
		text, err := os.ReadFile(filepath.Join(p.dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for line := range bytes.Lines(text) {
			if len(bytes.TrimSpace(line)) > 0 {
				lines[name]++
			}
		}
	}
	return lines, nil
}

// noteLists stores in the crawl tree what the lists are now.
func (p project) noteLists(f *frontier.Frontier) error {
	lines, err := p.listLengths()
	if err != nil {
		return err
	}
	text, err := json.Marshal(lines)
	if err != nil {
		return err
	}
	m, err := p.manifest(f)
	if err != nil {
		return err
	}
	return errors.Join(f.PutMeta(listsMeta, text), f.PutMeta(archivesMeta, []byte(m.String())))
}

// shortLists names the lists that have fewer lines than at the last crawl, a sentence each.
func (p project) shortLists(f *frontier.Frontier) (short []string, err error) {
	text, err := f.Meta(listsMeta)
	if err != nil || len(text) == 0 {
		return nil, err
	}
	var were map[string]int
	if err := json.Unmarshal(text, &were); err != nil {
		return nil, fmt.Errorf("crawl tree: %s: %w", listsMeta, err)
	}
	are, err := p.listLengths()
	for _, name := range slices.Sorted(maps.Keys(were)) {
		if name == oldLabels { // they are in the log of corrections now
			continue
		}
		if are[name] < were[name] {
			short = append(short, fmt.Sprintf("%s has %s, and had %d at the last crawl",
				filepath.Join(p.dir, name), several(are[name], "line"), were[name]))
		}
	}
	return short, err
}

// manifest returns the list of the project's WARC files: archives.txt, and what the copy in the
// crawl tree has more. A nil crawl tree has none.
func (p project) manifest(f *frontier.Frontier) (*warc.Manifest, error) {
	var known []byte
	if f != nil {
		var err error
		known, err = f.Meta(archivesMeta)
		if err != nil {
			return nil, err
		}
	}
	return warc.ReadManifest(p.archives(), string(known))
}

// ownManifest is manifest with the crawl tree of the data directory, if that can be opened.
func (a *app) ownManifest() (*warc.Manifest, error) {
	p := project{a.data}
	f, done, err := a.treeToRead(p, 0)
	if err != nil {
		return p.manifest(nil)
	}
	m, err := p.manifest(f)
	return m, errors.Join(err, done())
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gazehound/crawler"
	"gazehound/internal/corrections"
	"gazehound/internal/disk"
)

// oldLabels is the list of judged pages that earlier versions kept beside the crawl.
const oldLabels = "labels.tsv"

// corrections opens the log of corrections, which takes over the labels of an earlier version.
func (a *app) corrections(p project) (*corrections.Log, error) {
	log, err := corrections.Open(p.dir)
	if err != nil {
		return nil, err
	}
	old := filepath.Join(p.dir, oldLabels)
	text, err := os.ReadFile(old)
	if errors.Is(err, fs.ErrNotExist) {
		return log, nil
	}
	if err != nil {
		return nil, fmt.Errorf("labels: %w", err)
	}
	labels := crawler.ParseLabels(text, func(n int, line string) { a.warn("%s:%d: no label: %.80q", old, n, line) })
	if len(labels) > 0 {
		if _, err := log.Add(nil, crawler.Corrections(labels)...); err != nil {
			return nil, err
		}
	}
	if err := os.Remove(old); err != nil { // after a kill in between they are taken over twice, which changes nothing
		return nil, err
	}
	return log, disk.SyncDir(p.dir)
}

// takeCorrections makes model, crawl tree and index follow corrections since the last call, and
// returns how many changed the verdict of a page.
func (s *session) takeCorrections(ctx context.Context) (learned int, err error) {
	ctx = context.WithoutCancel(ctx)
	learned, err = s.labels.Load(ctx)
	if learned > 0 && err == nil {
		err = s.save(false)
	}
	if err != nil {
		return learned, err
	}
	return learned, s.correctIndex(ctx)
}

// correctIndex makes the index follow the corrections of addresses.
func (s *session) correctIndex(ctx context.Context) error {
	ids, at := s.corrections.AddressesSince(s.corrected)
	if err := s.x.Correct(ctx, ids); err != nil {
		return err
	}
	s.corrected = at
	return nil
}

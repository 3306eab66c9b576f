package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/monitor"
	"gazehound/index"
	"gazehound/index/api"
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
		_, err := log.Add(nil, crawler.Corrections(labels)...)
		if err != nil {
			return nil, err
		}
	}
	err = os.Remove(old)
	if err != nil { // after a kill in between they are taken over twice, which changes nothing
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

// takeCorrections lets the server take corrections, if there is a token of an operator, and returns a
// function that makes the index follow them while no crawl does, until its context ends; nil: none are
// taken.
func (a *app) takeCorrections(o *api.Options, x api.Source, cfg *Config, op *operator) (func(context.Context), error) {
	token, err := monitor.ReadToken(cfg.Admin.TokenFile)
	if err != nil {
		return nil, fail(badInput, "admin.token_file: %w", err)
	}
	if op != nil {
		token = op.Token
	}
	stands, ok := x.(interface {
		Standing(id string) (*index.Standing, error)
	})
	if token == "" || !ok {
		return nil, nil
	}
	p := project{a.data}
	log, err := a.corrections(p)
	if err != nil {
		return nil, err
	}
	suggestions, err := corrections.OpenSuggestions(p.dir)
	if err != nil {
		return nil, err
	}
	changed := make(chan struct{}, 1)
	o.Corrections = &api.Corrections{Log: log, Suggestions: suggestions, Token: token, Standing: stands.Standing,
		Changed: func() {
			select {
			case changed <- struct{}{}:
			default:
			}
		}}
	if _, shared := x.(*index.Index); shared {
		return func(context.Context) {}, nil // that of a crawl, which follows the log
	}
	return func(ctx context.Context) { a.followCorrections(ctx, p, log, changed) }, nil
}

// followCorrections makes the index follow the log after each change of which changed tells. While a
// crawl has the index, the crawl does, and this looks once a second whether something is left.
func (a *app) followCorrections(ctx context.Context, p project, log *corrections.Log, changed <-chan struct{}) {
	var at corrections.Position
	told := ""
	again := time.NewTimer(0) // first what a server that was killed has left
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-again.C:
		}
		done, err := correctIndex(ctx, p, log, &at)
		switch {
		case err != nil:
			if err.Error() != told {
				told = err.Error()
				a.warn("the index does not follow corrections, which are stored: %s", oneLine(told))
			}
			again.Reset(time.Minute)
		case !done:
			again.Reset(time.Second)
		}
	}
}

// correctIndex makes the index follow the log from a position on, unless another process writes it.
func correctIndex(ctx context.Context, p project, log *corrections.Log, at *corrections.Position) (done bool, err error) {
	if !fileExists(p.index()) {
		return true, nil // whoever makes it asks the log
	}
	_, err = log.Refresh()
	if err != nil {
		return false, err
	}
	ids, next := log.AddressesSince(*at)
	if len(ids) == 0 {
		*at = next
		return true, nil
	}
	x, err := index.Open(p.index())
	if errors.Is(err, index.ErrLocked) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	x.Facts = log.Facts
	err = errors.Join(x.Correct(ctx, ids), x.Close())
	if err == nil {
		*at = next
	}
	return err == nil, err
}

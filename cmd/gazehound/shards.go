package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"gazehound/crawler/cluster"
	"gazehound/index"
)

// answerShards lets a node answer questions about its index.
func answerShards(n *cluster.Node, x *index.Index, limit time.Duration) error {
	for _, kind := range index.Questions() {
		err := n.Serve(kind, 8, limit, func(ctx context.Context, question []byte) (any, error) {
			return x.Answer(ctx, kind, question)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// askNodes lets an index of several parts ask those of the nodes of a cluster.
func askNodes(s *index.Shards, v *cluster.Viewer) {
	s.Ask = func(ctx context.Context, kind string, question []byte, limit time.Duration) ([]index.Reply, []string, error) {
		answers, missing, err := v.Ask(ctx, kind, question, limit)
		var replies []index.Reply
		for _, a := range answers {
			replies = append(replies, index.Reply{Part: a.Node, Data: a.Data, Err: a.Err})
		}
		return replies, missing, err
	}
}

// openShards opens the indexes of data directories, DIR or NAME=DIR, and
// connects to the cluster if one is named. close is never nil.
func (a *app) openShards(ctx context.Context, cfg *Config, dirs []string) (s *index.Shards, close func() error, err error) {
	s = &index.Shards{Local: map[string]*index.Index{}, Limit: cfg.Serve.QueryTimeout / 2}
	var viewer *cluster.Viewer
	close = func() (err error) {
		for _, x := range s.Local {
			err = errors.Join(err, x.Close())
		}
		if viewer != nil {
			viewer.Close()
		}
		return err
	}
	for _, dir := range dirs {
		name, path, named := strings.Cut(dir, "=")
		if !named {
			name, path = filepath.Base(filepath.Clean(dir)), dir
		}
		if s.Local[name] != nil {
			return s, close, fail(exitUsage, "two parts are called %s; write NAME=DIR", name)
		}
		x, err := openIndexToShow(project{path})
		if err != nil {
			return s, close, err
		}
		s.Local[name] = x
		if !x.Exists() {
			return s, close, fail(exitNoData, "%s holds no index. \"gazehound crawl\" or \"gazehound node\" makes one", path)
		}
	}
	if cfg.Cluster.URL != "" {
		if viewer, _, err = a.viewCluster(ctx); err != nil {
			return s, close, err
		}
		askNodes(s, viewer)
	}
	return s, close, nil
}

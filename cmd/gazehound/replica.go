package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gazehound/cmd/gazehound/forget"
	"gazehound/crawler/cluster"
	"gazehound/index"
	"gazehound/internal/corrections"
	"gazehound/internal/disk"
)

// A replica keeps the index of a data directory from the pages that the nodes of a crawl publish. Its
// files, in the data directory:
//
//	follows    the name of the crawl
//	index      what is served
//	index.new  what becomes the index once it is complete, where the old one could not go on
//	index.old  the old one on its way out
//
// Readers follow the snapshots of the index, as beside a crawl.
type replica struct {
	a      *app
	p      project
	cfg    *Config
	crawl  string
	viewer *cluster.Viewer // nil: not connected yet
	log    *corrections.Log

	mu        sync.Mutex // held while the indexes are written or exchanged
	x         *index.Index
	fresh     *index.Index // index.new; nil: there is none
	corrected corrections.Position

	learned uint64 // revision of the nodes' blocklist that this index obeys

	nodesCrawl atomic.Bool // a node was heard of recently

	stream string // that is followed
	told   string // error that was said last
	behind bool   // some pages are still to come, and that was said
	said   time.Time
}

func (p project) follows() string  { return filepath.Join(p.dir, "follows") }
func (p project) newIndex() string { return p.index() + ".new" }
func (p project) oldIndex() string { return p.index() + ".old" }

// leader returns the name of the crawl whose pages the index of p follows, "" for an index of its own.
func (p project) leader() string {
	text, _ := os.ReadFile(p.follows())
	return strings.TrimSpace(string(text))
}

// checkAlone returns an error if the index of p follows a crawl: nobody else may write pages to it.
func (p project) checkAlone() error {
	crawl := p.leader()
	if crawl == "" {
		return nil
	}
	return fail(badInput, "the index in %s follows the crawl %s on other machines: give this crawl a directory of its "+
		"own with --data, or remove %s and %s", p.dir, crawl, p.index(), p.follows())
}

// openReplica opens the index that follows the crawl of the configuration.
func (a *app) openReplica(ctx context.Context) (r *replica, err error) {
	p, cfg, err := a.project()
	if err != nil {
		return nil, err
	}
	r = &replica{a: a, p: p, cfg: cfg, crawl: cfg.Cluster.Crawl}
	switch known := p.leader(); {
	case fileExists(p.frontier()), known == "" && fileExists(p.index()):
		return nil, fail(badInput, "%s holds a crawl of its own. Give what follows other nodes a directory of its own "+
			"with --data, such as a copy of the project after \"gazehound init\"", p.dir)
	case known != "" && known != r.crawl:
		return nil, fail(badInput, "%s follows the crawl %s, not %s. --crawl-name %s goes on with it; another --data begins "+
			"a new index", p.dir, known, r.crawl, known)
	}
	r.log, err = a.corrections(p)
	if err != nil {
		return nil, err
	}
	err = r.finishExchange()
	if err != nil {
		return nil, err
	}
	connected := r.connect(ctx)
	if connected != nil && (kindOf(connected) != noPeer || !fileExists(p.index())) {
		return nil, connected
	}
	err = disk.ReplaceBytes(p.follows(), 0o644, []byte(r.crawl+"\n"))
	if err != nil {
		return nil, err
	}
	err = r.openIndex()
	if err != nil {
		r.disconnect()
		return nil, err
	}
	if connected != nil {
		r.tell(notFollowed, connected)
	}
	return r, nil
}

// openIndex opens the index. One that cannot be read is made anew: the stream has all of it.
func (r *replica) openIndex() (err error) {
	r.x, err = openIndex(r.p, r.log)
	if errors.Is(err, index.ErrOlderFormat) || errors.Is(err, index.ErrDamaged) {
		r.a.warn("%s. It is removed, and made anew from the pages that the nodes have published", oneLine(err.Error()))
		err = os.RemoveAll(r.p.index())
		if err != nil {
			return err
		}
		r.x, err = openIndex(r.p, r.log)
	}
	if err == nil {
		r.x.Blocked, r.x.SnapshotEvery = r.blocked(), snapshotEvery
	}
	return err
}

// snapshotEvery is how soon what was taken in is served.
const snapshotEvery = time.Second

// blocked is what must not come in: the blocklist of the data directory.
func (r *replica) blocked() *index.Blocked {
	return &index.Blocked{Page: r.cfg.blocked.HasPage, Place: r.cfg.blocked.HasPlace}
}

func (r *replica) connect(ctx context.Context) error {
	v, _, err := r.a.viewCluster(ctx)
	if err != nil {
		return err
	}
	r.viewer = v
	return nil
}

func (r *replica) disconnect() {
	if r.viewer != nil {
		r.viewer.Close()
	}
}

// close closes the indexes.
func (r *replica) close() error {
	r.disconnect()
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	if r.fresh != nil {
		err = r.fresh.Close()
	}
	return errors.Join(err, r.x.Close())
}

// followAgain is the time between two attempts to follow the stream.
const followAgain = time.Second

// run follows the crawl until ctx ends.
func (r *replica) run(ctx context.Context) {
	var beside sync.WaitGroup
	beside.Go(func() {
		every(ctx, time.Second, func() error { r.tell(notCorrected, r.correct(ctx)); return nil })
	})
	defer beside.Wait()
	for ctx.Err() == nil {
		err := r.follow(ctx)
		if errors.Is(err, cluster.ErrNewStream) {
			err = r.startAnew()
		}
		if ctx.Err() != nil {
			return
		}
		r.tell(notFollowed, err)
		select {
		case <-ctx.Done():
		case <-time.After(followAgain):
		}
	}
}

// What cannot be done for a while; meanwhile what was taken in is served.
const (
	notFollowed  = "the pages of the nodes cannot be followed"
	notCorrected = "corrections cannot be taken in"
	notForgotten = "what the nodes have forgotten cannot be learned"
)

// tell warns that something cannot be done, unless it was said last.
func (r *replica) tell(what string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		return
	}
	text := fmt.Sprintf("%s; what was taken in is served, and the next attempt is made in a second: %s",
		what, oneLine(err.Error()))
	if text != r.told {
		r.told = text
		r.a.warn("%s", text)
	}
}

// follow takes pages in until there is an error.
func (r *replica) follow(ctx context.Context) error {
	if r.viewer == nil {
		err := r.connect(ctx)
		if err != nil {
			return err
		}
	}
	defer context.AfterFunc(ctx, r.viewer.Close)() // else a request to a server that is gone is waited for
	learning, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() {
		every(learning, time.Second, func() error { r.tell(notForgotten, r.learnBlocked(learning)); return nil })
	})
	beside.Go(func() { r.watchNodes(learning) })
	defer beside.Wait()
	defer stop()
	at, err := r.target().Position()
	if err != nil {
		return err
	}
	return r.viewer.FollowPages(ctx, cluster.PagesFollower{Stream: at.Stream, Seq: at.Seq, Begin: r.begin, Take: r.take})
}

// watchNodes learns every few seconds whether a node crawls, until ctx ends.
func (r *replica) watchNodes(ctx context.Context) {
	defer r.nodesCrawl.Store(false)
	look := func() error {
		running, err := r.viewer.Running(ctx)
		r.nodesCrawl.Store(running && err == nil)
		return nil
	}
	look()
	every(ctx, 5*time.Second, look)
}

// learnBlocked forgets what any node has forgotten, of whatever node it is, and takes it in no more.
func (r *replica) learnBlocked(ctx context.Context) error {
	lines, revision, err := r.viewer.Blocklist(ctx)
	if err != nil || revision == r.learned {
		return err
	}
	var fresh []string
	node := forget.Node{Dir: forget.Dir(r.p.dir), Current: r.cfg.blocked, Learned: func(lines []string) { fresh = lines }}
	err = node.Add(lines)
	if err != nil {
		return err
	}
	if len(fresh) > 0 {
		list, err := forget.NewBlocklist(fresh...)
		if err != nil {
			return err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		_, err = r.x.Forget(context.WithoutCancel(ctx), list.HasPage, list.HasPlace, list.Names)
		if err != nil {
			return err
		}
		r.a.say("the nodes have forgotten %s: nothing of it is served or comes in any more", several(len(fresh), "thing"))
	}
	r.learned = revision
	return nil
}

// target is the index that pages are written to.
func (r *replica) target() *index.Index {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fresh != nil {
		return r.fresh
	}
	return r.x
}

func (r *replica) begin(stream string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stream = stream
	if strings.HasPrefix(r.told, notFollowed) {
		r.a.say("the pages of the nodes are followed again")
	}
	r.told = ""
}

// sayEvery is the time between two lines of progress.
const sayEvery = 5 * time.Second

// take writes some pages; behind is how many are still to come.
func (r *replica) take(ctx context.Context, messages []cluster.PageState, behind uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.x
	if r.fresh != nil {
		x = r.fresh
	}
	states := make([]index.PageState, len(messages))
	for i, m := range messages {
		states[i] = index.PageState(m)
	}
	err := x.Apply(ctx, r.stream, states)
	if err != nil {
		return err
	}
	if behind > 0 {
		if behind > publishPages && time.Since(r.said) > sayEvery {
			r.said, r.behind = time.Now(), true
			r.a.say("following %s: %s still to come", r.crawl, several(int(behind), "page"))
		}
		return nil
	}
	if r.fresh != nil {
		err := r.exchange()
		if err != nil {
			return err
		}
	}
	if r.behind || r.said.IsZero() {
		r.said, r.behind = time.Now(), false
		s, err := r.x.Stats(ctx)
		if err != nil {
			return err
		}
		r.a.say("following %s: all is taken in, %s on %s", r.crawl, several(s.Addresses, "address"),
			several(s.Pages, "page"))
	}
	return nil
}

// startAnew makes a new index beside the one that is served, for a stream that the old one has not
// followed. One that an earlier process has begun goes on, if it is of that stream.
func (r *replica) startAnew() (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fresh != nil {
		err := r.fresh.Close()
		if err != nil {
			return err
		}
		r.fresh = nil
		err = os.RemoveAll(r.p.newIndex())
		if err != nil {
			return err
		}
	}
	r.a.warn("the stream of pages was cut or begun anew since this index followed it last: a new index is made beside " +
		"it, and the old one is served until that is complete")
	r.behind = true
	r.fresh, err = index.Open(r.p.newIndex())
	if err == nil {
		r.fresh.Facts, r.fresh.Blocked = r.log.Facts, r.blocked()
	}
	return err
}

// exchange puts the new index in place of the old one. The caller holds r.mu.
func (r *replica) exchange() error {
	err := errors.Join(r.fresh.Close(), r.x.Close())
	if err != nil {
		return err
	}
	r.fresh = nil
	err = os.Rename(r.p.index(), r.p.oldIndex())
	if err == nil {
		err = os.Rename(r.p.newIndex(), r.p.index())
	}
	if err == nil {
		err = disk.SyncDir(r.p.dir)
	}
	if err == nil {
		err = os.RemoveAll(r.p.oldIndex())
	}
	if err != nil {
		return fmt.Errorf("the new index is complete and is used when this starts again: %w", err)
	}
	r.a.say("the new index is complete and is served")
	return r.openIndex()
}

// finishExchange completes what a killed process has begun. Only a complete index takes the place of the
// old one, so that where that is gone the new one is complete.
func (r *replica) finishExchange() error {
	if !fileExists(r.p.index()) && fileExists(r.p.newIndex()) && r.p.leader() != "" {
		err := os.Rename(r.p.newIndex(), r.p.index())
		if err != nil {
			return err
		}
	}
	return os.RemoveAll(r.p.oldIndex())
}

// correct makes the index follow the corrections of its own data directory.
func (r *replica) correct(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := r.log.Refresh()
	if err != nil {
		return err
	}
	ids, at := r.log.AddressesSince(r.corrected)
	if err := r.x.Correct(ctx, ids); err != nil {
		return err
	}
	r.corrected = at
	return nil
}

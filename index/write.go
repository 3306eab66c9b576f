package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"gazehound/geoparse"
	"gazehound/internal/corrections"
	"gazehound/internal/disk"
	"gazehound/internal/oserr"

	"github.com/blevesearch/bleve/v2/document"
	"golang.org/x/sync/errgroup"
)

// A change is one change of the data, for the writer.
type change struct {
	url      string
	mentions []*mention // what the page states now
	homes    []string   // IDs of addresses that it shows to be homes
	notes    geoparse.Notes
	gone     int64 // Unix seconds: what it does not state any more stays, as gone since then; 0: it goes
	// edit changes what the page states, in place of mentions; false takes a mention out.
	// Of one that is only counted, the mention has nothing but URL and ID.
	edit func(*mention) bool
	text func(string) bool // with edit: texts to be removed from corrections; may be nil
	// corrected are IDs of addresses that a person has corrected; the other fields are empty then.
	corrected []string

	forgotten bool // the page loses what no file may hold any more

	// Of the state of a page that another index has sent:
	page    string   // ID of its document, where the URL is not known
	lost    bool     // see pageRecord
	counted []string // IDs of addresses of whose pages this one is only counted

	// do makes another change than that of a page; the other fields are empty then.
	do func(*commit) error

	done chan error // room for one
}

// maxBatch bounds the changes that share a batch of Bleve, and gathering is how
// long the first of them waits for others: a batch costs a segment and its merges,
// however small it is. Behind a batch of one change nobody waits: its caller may be
// alone, as in a replay.
const (
	maxBatch  = 500
	gathering = 25 * time.Millisecond
)

// Put replaces the addresses of the page d.URL by those of d in the region; without any, and without
// homes and notes, the page is removed. It is on disk when Put returns without an error, and every
// search that begins later sees it. Several Puts at once share a batch, so callers in
// parallel are much faster than one alone.
// After the end of ctx the page may or may not have been written.
func (x *Index) Put(ctx context.Context, d Document) error { return x.put(ctx, d, 0) }

// Renew is Put for a page that was read again: addresses that it does not
// state any more stay and are marked as gone since d.Fetched. Without any
// address, as of a page that is not there any more, all of them are.
func (x *Index) Renew(ctx context.Context, d Document) error { return x.put(ctx, d, d.Fetched.Unix()) }

func (x *Index) put(ctx context.Context, d Document, gone int64) error {
	c, err := changeOf(d)
	if err != nil {
		return err
	}
	c.gone = gone
	if len(c.mentions)+len(c.homes) == 0 && x.writes != nil {
		counts, err := x.counts(&c)
		if _, bad := errors.AsType[*panicked](err); bad {
			counts, err = x.counts(&c) // Bleve may tear a snapshot that is read while it fails to write a file
		}
		if err != nil || !counts {
			return raised(x.explained(err)) // no batch for nothing
		}
	}
	return x.change(ctx, c)
}

func changeOf(d Document) (change, error) {
	d.Addresses = slices.Clone(d.Addresses)
	for i := range d.Addresses {
		a := &d.Addresses[i]
		if a.Street != "" && a.HouseNumber != "" {
			a.POBox = "" // where its mail goes is no other place
		}
	}
	mentions, err := mentionsOf(d)
	return change{url: d.URL, mentions: mentions, homes: homesOf(d), notes: d.Notes.Clipped(maxShown)}, err
}

// Delete forgets the page. It is durable like Put; an unknown page is no error.
func (x *Index) Delete(ctx context.Context, url string) error {
	return x.change(ctx, change{url: url})
}

func (x *Index) change(ctx context.Context, c change) error {
	if x.writes == nil {
		return ErrReadOnly
	}
	if ctx.Err() != nil {
		return fmt.Errorf("index: %w", ctx.Err())
	}
	c.done = make(chan error, 1)
	if err := x.hand(ctx, c); err != nil {
		return err
	}
	select {
	case err := <-c.done:
		return raised(err)
	case <-ctx.Done():
		return fmt.Errorf("index: %w", ctx.Err())
	}
}

// isEmpty reports whether the page states nothing.
func (c *change) isEmpty() bool {
	return len(c.mentions)+len(c.counted)+len(c.homes) == 0 && !c.lost && c.notes == geoparse.Notes{}
}

// counts reports whether a page that states no address makes a difference: it is known, or its notes are
// among those of its host that are read.
func (x *Index) counts(c *change) (does bool, err error) {
	defer intoError(&err)
	v, err := x.view()
	if v == nil {
		return false, err
	}
	defer v.Close()
	id := pageID(c.url)
	p, err := pageOf(v, id)
	if err != nil || p != nil || c.isEmpty() {
		return p != nil, err
	}
	w, host := newCommit(v), hostOf(c.url)
	ids, err := w.idsUnder(fieldNoted, host, maxNotes)
	if err != nil || len(ids) < maxNotes { // then fewer are noted
		return true, err
	}
	noted, err := w.noted(host)
	return len(noted) < maxNotes || id < noted[maxNotes-1].id, err
}

// hand sends c to the writer and blocks while its queue is full.
func (x *Index) hand(ctx context.Context, c change) error {
	x.using.RLock()
	defer x.using.RUnlock()
	if x.closed {
		return ErrClosed
	}
	select {
	case x.writes <- c:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("index: %w", ctx.Err())
	}
}

// write brings changes to Bleve until no more can come. Those that come while a
// batch is gathered or written share one. Snapshots follow at intervals.
func (x *Index) write() {
	due := time.NewTimer(0) // of the next snapshot
	defer due.Stop()
	changed := true
	size := 0 // of the last batch
	for {
		select {
		case c, open := <-x.writes:
			if !open {
				os.RemoveAll(snapshotsOf(x.dir)) // readers now read the index itself
				return
			}
			wait := gathering
			if size == 1 {
				wait = 0
			}
			size = x.writeBatch(c, wait)
			if !changed {
				changed = true
				due.Reset(x.SnapshotEvery)
			}
		case <-due.C:
			x.snapshot() // where none can be made, readers wait for the end
			changed = false
		}
	}
}

// writeBatch writes c and the changes that come within wait, and returns how many they are.
func (x *Index) writeBatch(c change, wait time.Duration) (size int) {
	batch := []change{c}
	timer := time.NewTimer(wait)
	for open := true; open && len(batch) < maxBatch; {
		select {
		case c, ok := <-x.writes:
			open = ok
			if ok {
				batch = append(batch, c)
			}
		case <-timer.C:
			open = false
		}
	}
	timer.Stop()
	err := x.explained(x.commit(batch))
	_, bad := errors.AsType[*panicked](err)
	for _, c := range batch {
		if bad { // each alone, for only one of them need have caused it
			err = x.explained(x.commit([]change{c}))
		}
		c.done <- err
	}
	return len(batch)
}

// explained adds to an error of commit why the disk cannot be written to. A panic of which no change is
// the cause becomes an error: Bleve panics over all of them after it failed to open or write a file.
func (x *Index) explained(err error) error {
	p, bad := errors.AsType[*panicked](err)
	if !bad {
		return disk.WithCause(x.dir, err)
	}
	failed := fmt.Errorf("index: it failed (%v), as it does after an error of the disk or at the limit of open "+
		"files; what is on the disk is whole", p.value)
	caused := disk.WithCause(x.dir, failed)
	if caused != failed || !x.isReadable() {
		return caused
	}
	return err
}

// isReadable reports whether Bleve can be read without a panic.
func (x *Index) isReadable() bool {
	look := func() (err error) {
		defer intoError(&err)
		reader, err := x.latest()
		if err != nil {
			return err
		}
		defer reader.Close()
		_, err = newCommit(reader).page("")
		return err
	}
	_, bad := errors.AsType[*panicked](look())
	return !bad
}

// A panicked is a panic over a change on its way to the caller of Put or Delete,
// where it is raised again: only that caller knows what to do without the page.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("index: panic: %v\n%s", p.value, p.stack) }

// raised panics where err is a panic over a change, and returns it otherwise.
func raised(err error) error {
	if p, ok := errors.AsType[*panicked](err); ok {
		panic(p)
	}
	return err
}

// intoError, deferred, makes an error of a panic.
func intoError(err *error) {
	if p := recover(); p != nil {
		*err = &panicked{p, debug.Stack()}
	}
}

// A commit is the state of one batch.
type commit struct {
	reader    *view
	state     state              // that will be stored, but for the counts of documents
	position  *Position          // that will be; nil: the one that is
	addresses map[string]*record // that were read, by ID
	pages     map[string]*pageRecord
	stored    map[string]bool // IDs of both that Bleve has
	changed   map[string]bool // IDs of both
	hosts     map[string]*hostChange
	homes     map[string]bool // keys of homes that were found, see homeKey
	homeless  map[string]int  // keys of homes → pages that do not show them any more
	facts     func(id string) []corrections.Entry
}

func newCommit(r *view) *commit {
	return &commit{
		reader: r, state: r.state, addresses: map[string]*record{}, pages: map[string]*pageRecord{},
		stored: map[string]bool{}, changed: map[string]bool{}, hosts: map[string]*hostChange{},
		homes: map[string]bool{}, homeless: map[string]int{},
	}
}

// commit writes one batch. Bleve returns from a (safe) batch when it is on
// disk.
func (x *Index) commit(changes []change) (err error) {
	defer intoError(&err)
	reader, err := x.latest()
	if err != nil {
		return err
	}
	defer reader.Close()
	c := newCommit(reader)
	c.facts = x.Facts
	for _, one := range changes {
		err := c.apply(one)
		if err != nil {
			return err
		}
	}
	if len(c.changed) == 0 && c.position == nil && c.state == reader.state {
		return nil
	}
	err = c.spreadNotes()
	if err != nil {
		return err
	}
	if x.BeforeWrite != nil {
		if err := x.BeforeWrite(); err != nil {
			return err
		}
	}
	return x.store(c)
}

// store writes what has changed, all or nothing.
func (x *Index) store(c *commit) error {
	batch := x.bleve.NewBatch()
	docs, err := c.documentsOf()
	if err != nil {
		return err
	}
	s := c.state
	for id, d := range docs {
		change := 0 // of how many documents there are
		if d == nil && c.stored[id] {
			batch.Delete(id)
			change = -1
		} else if d != nil && !c.stored[id] {
			change = 1
		}
		if p := c.pages[id]; p != nil {
			stated := compareBool(len(p.States) > 0, p.before > 0)
			s.Pages, s.Bare = s.Pages+stated, s.Bare+change-stated
			s.Mentions += len(p.States) - p.before
		}
		s.Documents += change
		if d == nil {
			continue
		}
		err := batch.IndexAdvanced(d)
		if err != nil {
			return fmt.Errorf("index: %w", err)
		}
	}
	s.Generation, s.Updated = s.Generation+1, time.Now().Unix()
	batch.SetInternal(stateKey, s.encode())
	if c.position != nil {
		text, _ := json.Marshal(c.position) // a text and a number
		batch.SetInternal(positionKey, text)
	}
	err = x.bleve.Batch(batch)
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), oserr.Full.Error()):
		return fmt.Errorf("index: write: %w (%w)", oserr.Full, err) // Bleve keeps only its text
	}
	return fmt.Errorf("index: write: %w", err)
}

// documentsOf returns what has changed as documents, nil for those that go. Words
// are analysed here, by two at a time.
func (c *commit) documentsOf() (map[string]*document.Document, error) {
	docs := make(map[string]*document.Document, len(c.changed))
	var mu sync.Mutex
	var work errgroup.Group
	work.SetLimit(2)
	for id := range c.changed {
		work.Go(func() error {
			d, err := c.document(id)
			mu.Lock()
			defer mu.Unlock()
			docs[id] = d
			return err
		})
	}
	return docs, work.Wait()
}

func (c *commit) document(id string) (d *document.Document, err error) {
	defer intoError(&err)
	if p := c.pages[id]; p != nil && (!p.isEmpty() || p.Unsent > 0) {
		return p.document()
	}
	if r := c.addresses[id]; r != nil && len(r.Mentions) > 0 {
		return r.document()
	}
	return nil, nil
}

// page returns what a page states, nil where it is not known.
func (c *commit) page(url string) (*pageRecord, error) {
	p, err := c.pageByID(pageID(url))
	if p != nil {
		p.URL = url
	}
	return p, err
}

// pageByID is page of the ID of its document. The URL is missing where the page states nothing.
func (c *commit) pageByID(id string) (*pageRecord, error) {
	if p, read := c.pages[id]; read {
		return p, nil
	}
	p, err := pageOf(c.reader, id)
	if err != nil {
		return nil, err
	}
	c.stored[id] = p != nil
	c.pages[id] = p
	return p, nil
}

// address returns the record of an address, an empty one where there is none.
func (c *commit) address(id string) (*record, error) {
	if r := c.addresses[id]; r != nil {
		return r, nil
	}
	r, err := recordOf(c.reader, id)
	if err != nil {
		return nil, err
	}
	c.stored[id] = r != nil
	if r == nil {
		r = &record{id: id}
	}
	if c.facts != nil {
		r.follow(c.facts(id))
	}
	c.addresses[id] = r
	return r, nil
}

// apply makes one change.
func (c *commit) apply(one change) error {
	switch {
	case len(one.corrected) > 0:
		return c.correct(one.corrected)
	case one.do != nil:
		return one.do(c)
	}
	return c.applyPage(one)
}

// applyPage makes one change of a page.
func (c *commit) applyPage(one change) error {
	if one.url == "" { // that of a state which says nothing of its page
		known, err := c.pageByID(one.page)
		if err != nil || known == nil {
			return err
		}
		one.url = known.URL
	}
	page, err := c.page(one.url)
	if err != nil || page == nil && one.isEmpty() {
		return err
	}
	if page == nil {
		page = &pageRecord{URL: one.url, id: pageID(one.url)}
		c.pages[page.id] = page
	}
	if one.forgotten {
		page.Forgotten = c.state.Stream != ""
		c.state.Forgotten = c.state.Forgotten || one.edit == nil
	}
	host := hostOf(one.url)
	changed := c.host(host)
	changed.pages = append(changed.pages, page.id)
	before := page.States
	if one.edit != nil {
		return c.edit(page, one)
	}
	err = c.setHomes(page, host, one.homes)
	if err != nil {
		return err
	}
	page.States, page.Lost, page.Notes = nil, one.lost, one.notes
	for _, m := range one.mentions {
		if c.isHome(host, m.id) {
			page.Lost = true
			continue
		}
		changed.addresses = append(changed.addresses, m.id)
		r, err := c.address(m.id)
		if err != nil {
			return err
		}
		r.put(m, slices.Contains(before, m.id))
		c.changed[m.id] = true
		page.States = append(page.States, m.id)
	}
	for _, id := range one.counted {
		if c.isHome(host, id) {
			page.Lost = true
			continue
		}
		r, err := c.address(id)
		if err != nil {
			return err
		}
		r.countOnly(one.url, slices.Contains(before, id))
		c.changed[id] = true
		page.States = append(page.States, id)
	}
	for _, id := range before {
		if slices.Contains(page.States, id) {
			continue
		}
		r, err := c.address(id)
		if err != nil {
			return err
		}
		c.changed[id] = true
		if one.gone == 0 || len(page.States) >= maxMentions || c.isHome(host, id) {
			r.remove(one.url)
			continue
		}
		page.States = append(page.States, id)
		if i := r.of(one.url); i >= 0 && r.Mentions[i].Gone == 0 {
			r.Mentions[i].Gone = one.gone
		}
	}
	c.pageChanged(page)
	return nil
}

// edit changes the mentions of a page.
func (c *commit) edit(page *pageRecord, one change) error {
	var left []string
	for _, id := range page.States {
		r, err := c.address(id)
		if err != nil {
			return err
		}
		c.changed[id] = true
		m := &mention{id: id, URL: page.URL}
		if i := r.of(page.URL); i >= 0 {
			m = r.Mentions[i]
		}
		if one.text != nil {
			r.loseFacts(one.text)
		}
		if one.edit(m) {
			left = append(left, id)
		} else {
			r.remove(page.URL)
		}
	}
	page.States, page.Notes = left, geoparse.Notes{} // which may say what is to be forgotten
	if len(left) == 0 {
		page.Homes, page.Lost = nil, false
	}
	c.pageChanged(page)
	return nil
}

// blank removes texts, except the address itself.
func (m *mention) blank(says func(string) bool) {
	for _, text := range m.texts() {
		if says(*text) {
			*text = ""
		}
	}
	if says(m.Near) {
		m.Near = m.Near[m.Start:m.End]
		m.Start, m.End = 0, len(m.Near)
	}
}

// texts are what a page says of an address beside the address.
func (m *mention) texts() []*string {
	return []*string{&m.Title, &m.Name, &m.Phone, &m.Fax, &m.Email, &m.Home, &m.Words}
}

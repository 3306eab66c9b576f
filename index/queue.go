package index

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// A queue holds the writes that the journal has and Bleve has not yet. Two
// goroutines serve it: the keeper brings writes to the journal and acknowledges
// them, the committer brings them to Bleve, many at a time.
type queue struct {
	mu      sync.Mutex
	changed *sync.Cond // nil: read only
	journal *journal   // files are added to and turned with mu held

	waiting   []write
	size      int         // bytes of the texts of waiting, about
	kept      int64       // writes that were acknowledged
	committed int64       // of those, Bleve has
	wanted    int64       // somebody waits until so many are committed
	ended     bool        // the keeper is done
	failed    error       // Bleve did not take a batch: the journal keeps it for the next Open
	searched  atomic.Bool // somebody looked at a state of the data, and may want a newer one

	goroutines sync.WaitGroup
}

const (
	commitAfter  = 5 * time.Second // a write waits so long for company
	maxBatchSize = 8 << 20         // bytes of the texts of a batch, about
)

// size returns what a write holds in memory, in bytes, about.
func (w *write) size() int {
	n := 0
	var page *pageText // those of a page share its text
	for _, m := range w.mentions {
		n += 500 + len(m.Near) + len(m.Title)
		if m.words != nil && m.words != page {
			page = m.words
			n += len(page.text)
		}
	}
	return n
}

// start commits what a killed program left in the journal, and begins to take
// writes.
func (x *Index) start(maxBatch int) error {
	j, left, err := openJournal(x.dir)
	if err != nil {
		return err
	}
	for len(left) > 0 {
		n := min(len(left), maxBatch)
		var writes []write
		for _, e := range left[:n] {
			w := write{page: hashOf(e.URL), without: e.Without}
			if e.Document != nil {
				if w.page, w.mentions, err = x.mentionsOf(*e.Document); err != nil {
					return errors.Join(err, j.close())
				}
				if e.Renewed {
					w.gone = e.Document.Fetched.Unix()
				}
			}
			writes = append(writes, w)
		}
		if err := x.commit(writes); err != nil {
			return errors.Join(err, j.close())
		}
		left = left[n:]
	}
	if err := j.clear(); err != nil {
		return errors.Join(err, j.close())
	}
	q := &x.queue
	q.journal, q.changed = j, sync.NewCond(&q.mu)
	x.write = make(chan write, maxBatch)
	q.goroutines.Go(func() { x.keep(maxBatch) })
	q.goroutines.Go(func() { x.commitAll(maxBatch) })
	return nil
}

// close ends both goroutines once the channel of writes is closed. All that
// was acknowledged is in Bleve then, or an error says why not.
func (q *queue) close() error {
	if q.changed == nil {
		return nil
	}
	q.goroutines.Wait()
	if q.failed != nil {
		return errors.Join(q.failed, q.journal.close())
	}
	return errors.Join(q.journal.clear(), q.journal.close())
}

// settle returns when every write that was acknowledged before is in Bleve.
func (q *queue) settle() error {
	if q.changed == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for want := q.kept; q.committed < want && q.failed == nil; q.changed.Wait() {
		if q.wanted < want {
			q.wanted = want
			q.changed.Broadcast()
		}
	}
	if q.failed != nil {
		return fmt.Errorf("index: what was written last cannot be searched: %w", q.failed)
	}
	return nil
}

// keep is the keeper: it brings what is handed over to the journal, as much at
// once as is waiting.
func (x *Index) keep(maxBatch int) {
	q := &x.queue
	batch := make([]write, 0, maxBatch)
	for w := range x.write {
		batch = append(batch[:0], w)
		for more := true; more && len(batch) < maxBatch; {
			select {
			case w, ok := <-x.write:
				if more = ok; ok {
					batch = append(batch, w)
				}
			default:
				more = false
			}
		}
		err := q.add(batch, maxBatch)
		for _, w := range batch {
			w.done <- err
		}
	}
	q.mu.Lock()
	q.ended = true
	q.changed.Broadcast()
	q.mu.Unlock()
}

// add brings writes to the journal. It waits while the committer is far behind.
func (q *queue) add(batch []write, maxBatch int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.failed == nil && (len(q.waiting) >= 2*maxBatch || q.size >= 2*maxBatchSize) {
		q.changed.Wait()
	}
	if q.failed != nil {
		return q.failed
	}
	records := make([][]byte, len(batch))
	for i := range batch {
		records[i] = batch[i].record
	}
	if err := q.journal.add(records); err != nil {
		q.failed = err // nobody knows what the file holds
		q.changed.Broadcast()
		return err
	}
	for _, w := range batch {
		w.record = nil
		q.waiting = append(q.waiting, w)
		q.size += w.size()
	}
	q.kept += int64(len(batch))
	q.changed.Broadcast()
	return nil
}

// commitAll is the committer: it brings writes to Bleve once there are many, or
// some have waited long, or for the time of the lag while somebody searches,
// or somebody waits for them, or the index is closed.
func (x *Index) commitAll(maxBatch int) {
	q := &x.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for len(q.waiting) == 0 && !q.ended {
			q.changed.Wait()
		}
		late := false
		since := time.Now()
		q.searched.Store(false)
		var timer *time.Timer
		timer = time.AfterFunc(cmp.Or(x.lag, commitAfter), func() {
			q.mu.Lock()
			defer q.mu.Unlock()
			if waited := time.Since(since); waited < commitAfter && !q.searched.Load() {
				timer.Reset(min(x.lag, commitAfter-waited))
				return
			}
			late = true
			q.changed.Broadcast()
		})
		for len(q.waiting) < maxBatch && q.size < maxBatchSize && q.wanted <= q.committed && !late && !q.ended && q.failed == nil {
			q.changed.Wait()
		}
		timer.Stop()
		if len(q.waiting) == 0 || q.failed != nil {
			return
		}
		writes, file := q.waiting, q.journal.turn()
		q.waiting, q.size = nil, 0
		q.mu.Unlock()
		err := x.commitInParts(writes, maxBatch)
		q.mu.Lock()
		if err == nil {
			err = q.journal.empty(file)
		}
		if err != nil {
			q.failed = err
		}
		q.committed += int64(len(writes))
		q.changed.Broadcast()
	}
}

// commitInParts keeps each batch of Bleve small.
func (x *Index) commitInParts(writes []write, maxBatch int) error {
	for len(writes) > 0 {
		n, size := 0, 0
		for n < len(writes) && n < maxBatch && size < maxBatchSize {
			size += writes[n].size()
			n++
		}
		if err := x.commit(writes[:n]); err != nil {
			return err
		}
		writes = writes[n:]
	}
	return nil
}

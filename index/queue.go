package index

import (
	"errors"
	"fmt"
	"sync"
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
	mentions  int   // of waiting
	kept      int64 // writes that were acknowledged
	committed int64 // of those, Bleve has
	wanted    int64 // somebody waits until so many are committed
	ended     bool  // the keeper is done
	failed    error // Bleve did not take a batch: the journal keeps it for the next Open

	goroutines sync.WaitGroup
}

const (
	commitAfter     = 5 * time.Second // a write waits so long for company
	maxMentionBatch = 4000            // mentions of a batch, about
)

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
	if err := errors.Join(j.empty(0), j.empty(1)); err != nil {
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
	return errors.Join(q.failed, q.journal.close())
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
	for q.failed == nil && (len(q.waiting) >= 2*maxBatch || q.mentions >= 2*maxMentionBatch) {
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
		q.mentions += len(w.mentions)
	}
	q.kept += int64(len(batch))
	q.changed.Broadcast()
	return nil
}

// commitAll is the committer: it brings writes to Bleve once there are many, or
// some have waited long, or somebody wants to see them, or the index is closed.
func (x *Index) commitAll(maxBatch int) {
	q := &x.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for len(q.waiting) == 0 && !q.ended {
			q.changed.Wait()
		}
		late := false
		timer := time.AfterFunc(commitAfter, func() {
			q.mu.Lock()
			defer q.mu.Unlock()
			late = true
			q.changed.Broadcast()
		})
		for len(q.waiting) < maxBatch && q.mentions < maxMentionBatch && q.wanted <= q.committed && !late && !q.ended && q.failed == nil {
			q.changed.Wait()
		}
		timer.Stop()
		if len(q.waiting) == 0 || q.failed != nil {
			return
		}
		writes, file := q.waiting, q.journal.turn()
		q.waiting, q.mentions = nil, 0
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
		n, mentions := 0, 0
		for n < len(writes) && n < maxBatch && (n == 0 || mentions+len(writes[n].mentions) <= maxMentionBatch) {
			mentions += len(writes[n].mentions)
			n++
		}
		if err := x.commit(writes[:n]); err != nil {
			return err
		}
		writes = writes[n:]
	}
	return nil
}

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/internal/disk"
)

// An outbox holds links on their way out, in files of its own, so that those
// of many visits can travel together: a visit is done when its links are here,
// and a killed node sends them when it comes back. A file is begun when the one
// before is due, and removed when JetStream has all its links. The outbox is
// safe for concurrent use; one goroutine sends.
//
// A file is a sequence of records of disk.AppendRecord: the node's name as
// disk.AppendString writes it, and its links as encodeLinks does. A killed
// process may leave the last one torn; its visit was not done then.
type outbox struct {
	dir string

	mu      sync.Mutex
	changed *sync.Cond // of everything below
	file    *os.File   // takes new records, or nil
	number  uint64     // of file, or of the last one
	size    int64      // of file
	began   time.Time  // when its first record came
	full    []outFile  // files that wait to be sent, the oldest first
	closed  bool
}

// An outFile is one file of an outbox that takes no more.
type outFile struct {
	number uint64
	size   int64
}

// maxOutbox bounds the files of an outbox, in bytes; maxFile one of them.
const (
	maxOutbox = 256 << 20
	maxFile   = 2 << 20
)

// openOutbox finds what an earlier process has left.
func openOutbox(dir string) (*outbox, error) {
	o := &outbox{dir: dir}
	o.changed = sync.NewCond(&o.mu)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cluster: outbox: %w", err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cluster: outbox: %w", err)
	}
	for _, f := range files {
		name, isLinks := strings.CutSuffix(f.Name(), ".links")
		number, err := strconv.ParseUint(name, 10, 64)
		if !isLinks || err != nil {
			continue
		}
		info, err := f.Info()
		if err != nil {
			return nil, fmt.Errorf("cluster: outbox: %w", err)
		}
		o.full = append(o.full, outFile{number, info.Size()})
		o.number = max(o.number, number)
	}
	slices.SortFunc(o.full, func(a, b outFile) int { return int(a.number) - int(b.number) })
	if len(o.full) > 0 {
		if _, err := o.read(o.full[0]); err != nil {
			return nil, fmt.Errorf("%w; it is damaged or of another version of gazehound: send it with that one, or remove it, which loses its links", err)
		}
	}
	return o, nil
}

func (o *outbox) path(number uint64) string {
	return filepath.Join(o.dir, strconv.FormatUint(number, 10)+".links")
}

// put stores links for a node. It waits while the outbox is full.
func (o *outbox) put(ctx context.Context, node string, es []frontier.Entry) error {
	record := disk.AppendRecord(nil, append(disk.AppendString(nil, node), encodeLinks(es)...))

	stop := context.AfterFunc(ctx, o.wake)
	defer stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.waiting() > maxOutbox && ctx.Err() == nil && !o.closed {
		o.changed.Wait()
	}
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("send links: %w", context.Cause(ctx))
	case o.closed:
		return errors.New("send links: node is closed")
	}
	if err := o.write(record); err != nil {
		return fmt.Errorf("cluster: outbox: %w", err)
	}
	o.changed.Broadcast()
	return nil
}

// write appends a record whole, or not at all. o.mu is held.
func (o *outbox) write(record []byte) error {
	if o.file == nil {
		file, err := os.OpenFile(o.path(o.number+1), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		o.file, o.size, o.began = file, 0, time.Now()
		o.number++
	}
	if _, err := o.file.WriteAt(record, o.size); err != nil {
		return errors.Join(err, o.file.Truncate(o.size))
	}
	o.size += int64(len(record))
	if o.size >= maxFile {
		return o.turn()
	}
	return nil
}

// turn ends the file that takes records. o.mu is held.
func (o *outbox) turn() error {
	if o.file == nil {
		return nil
	}
	o.full = append(o.full, outFile{o.number, o.size})
	err := o.file.Close()
	o.file, o.size = nil, 0
	return err
}

// waiting is how many bytes wait to be sent. o.mu is held.
func (o *outbox) waiting() int64 {
	n := o.size
	for _, l := range o.full {
		n += l.size
	}
	return n
}

// Waiting is how many bytes of links wait to be sent, before they are packed.
func (o *outbox) Waiting() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.waiting()
}

func (o *outbox) wake() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.changed.Broadcast()
}

// due ends the current file if it holds at least so many bytes or its first
// record is as old as linger, and returns the oldest file to be sent; false:
// there is none.
func (o *outbox) due(bytes int64, linger time.Duration) (outFile, bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file != nil && (o.size >= bytes || time.Since(o.began) >= linger) {
		if err := o.turn(); err != nil {
			return outFile{}, false, fmt.Errorf("cluster: outbox: %w", err)
		}
	}
	if len(o.full) == 0 {
		return outFile{}, false, nil
	}
	return o.full[0], true, nil
}

// read returns the links of a file, by the node they are for. What is torn was
// never promised.
func (o *outbox) read(l outFile) (map[string][]frontier.Entry, error) {
	raw, err := os.ReadFile(o.path(l.number))
	if err != nil {
		return nil, fmt.Errorf("cluster: outbox: %w", err)
	}
	links := map[string][]frontier.Entry{}
	for {
		record, rest, ok := disk.CutRecord(raw)
		if !ok || len(record) == 0 {
			return links, nil
		}
		raw = rest
		fields := disk.Decode(record)
		node := fields.String()
		es, err := decodeLinks(fields.Rest())
		if err != nil {
			return nil, fmt.Errorf("cluster: outbox %s: %w", o.path(l.number), err)
		}
		links[node] = append(links[node], es...)
	}
}

// sent removes a file, whose links are safe elsewhere.
func (o *outbox) sent(l outFile) error {
	err := os.Remove(o.path(l.number))
	o.mu.Lock()
	defer o.mu.Unlock()
	o.full = slices.DeleteFunc(o.full, func(other outFile) bool { return other.number == l.number })
	o.changed.Broadcast()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cluster: outbox: %w", err)
	}
	return nil
}

// flushed waits until everything that was put so far has been sent; the
// sending goroutine looks for it.
func (o *outbox) flushed(ctx context.Context) error {
	stop := context.AfterFunc(ctx, o.wake)
	defer stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.turn(); err != nil {
		return fmt.Errorf("cluster: outbox: %w", err)
	}
	last := o.number
	for len(o.full) > 0 && o.full[0].number <= last {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		o.changed.Wait()
	}
	return nil
}

// close ends put; what waits stays on disk.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.turn() // it will be found by the next process, closed or not
	o.changed.Broadcast()
}

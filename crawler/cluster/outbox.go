package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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

// An outbox keeps links for other nodes in numbered files until JetStream has
// them, so that the links of many visits can travel together: a visit is done
// when its links are here, and a killed node sends them when it comes back. It
// is safe for concurrent use; one goroutine sends.
//
// A file has a line for each put: the node's name, a space, and its links as encodeLinks writes
// them. A killed process may leave the last one torn; its visit was not done then.
type outbox struct {
	dir string

	mu      sync.Mutex
	changed *sync.Cond // of everything below
	oldest  uint64     // file that is sent next
	newest  uint64     // newest < oldest: there is no file
	file    *os.File   // newest, while it takes lines; nil: all files are complete
	size    int64      // of file, in bytes
	began   time.Time  // when file got its first line
	waiting int64      // bytes of all files
	closed  bool
}

const (
	outboxExt = ".out"
	maxOutbox = 256 << 20 // bytes of all files; then visits wait
	maxFile   = 2 << 20   // bytes of a file after which the next one begins
)

var errOutbox = errors.New("is damaged or of another version of gazehound: " +
	"send it with that version, or remove it, which loses its links")

// openOutbox opens the outbox that an earlier process has left, or a new one.
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
		if filepath.Ext(f.Name()) == ".links" { // as earlier versions named them
			return nil, fmt.Errorf("cluster: outbox: %s %w", filepath.Join(dir, f.Name()), errOutbox)
		}
		name, isLinks := strings.CutSuffix(f.Name(), outboxExt)
		number, err := strconv.ParseUint(name, 10, 64)
		if !isLinks || err != nil {
			continue
		}
		info, err := f.Info()
		if err != nil {
			return nil, fmt.Errorf("cluster: outbox: %w", err)
		}
		o.waiting += info.Size()
		o.newest = max(o.newest, number)
		if o.oldest == 0 || number < o.oldest {
			o.oldest = number
		}
	}
	if o.oldest == 0 {
		o.oldest = 1
	} else if _, err := o.read(o.oldest); err != nil {
		return nil, fmt.Errorf("%w; it %w", err, errOutbox)
	}
	return o, nil
}

func outboxDir(dir string) string { return filepath.Join(dir, "outbox") }

func (o *outbox) path(number uint64) string {
	return filepath.Join(o.dir, strconv.FormatUint(number, 10)+outboxExt)
}

// awaitRoom waits while the outbox is full.
func (o *outbox) awaitRoom(ctx context.Context) error {
	defer context.AfterFunc(ctx, o.wake)()
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.waiting > maxOutbox && ctx.Err() == nil && !o.closed {
		o.changed.Wait()
	}
	if ctx.Err() != nil {
		return fmt.Errorf("send links: %w", context.Cause(ctx))
	}
	return nil
}

// put stores links for a node.
func (o *outbox) put(node string, es []frontier.Entry) error {
	line := fmt.Appendf(nil, "%s %s\n", node, encodeLinks(es))
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return errors.New("send links: node is closed")
	}
	if err := o.write(line); err != nil {
		return fmt.Errorf("cluster: outbox: %w", err)
	}
	return nil
}

// write appends a line whole, or not at all. The caller holds o.mu.
func (o *outbox) write(line []byte) error {
	if o.file == nil {
		file, err := os.OpenFile(o.path(o.newest+1), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		o.file, o.size, o.began = file, 0, time.Now()
		o.newest++
	}
	if _, err := o.file.WriteAt(line, o.size); err != nil {
		return errors.Join(err, o.file.Truncate(o.size))
	}
	o.size += int64(len(line))
	o.waiting += int64(len(line))
	if o.size >= maxFile {
		return o.complete()
	}
	return nil
}

// complete ends the file that takes lines. The caller holds o.mu.
func (o *outbox) complete() error {
	if o.file == nil {
		return nil
	}
	err := o.file.Close()
	o.file = nil
	return err
}

// Waiting is how many bytes wait to be sent, before compression.
func (o *outbox) Waiting() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.waiting
}

func (o *outbox) wake() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.changed.Broadcast()
}

// due returns the oldest file that is complete; some is false where there is
// none. The current file is complete once it holds so many bytes or its first
// line is as old as linger.
func (o *outbox) due(bytes int64, linger time.Duration) (number uint64, some bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file != nil && (o.size >= bytes || time.Since(o.began) >= linger) {
		if err := o.complete(); err != nil {
			return 0, false, fmt.Errorf("cluster: outbox: %w", err)
		}
	}
	isCurrent := o.file != nil && o.oldest == o.newest
	return o.oldest, o.oldest <= o.newest && !isCurrent, nil
}

// read returns the links of a file by the node they are for, without a torn line; none for a missing
// file.
func (o *outbox) read(number uint64) (map[string][]frontier.Entry, error) {
	raw, err := os.ReadFile(o.path(number))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cluster: outbox: %w", err)
	}
	links := map[string][]frontier.Entry{}
	for line := range bytes.Lines(raw) {
		node, text, _ := bytes.Cut(line, []byte(" "))
		if !bytes.HasSuffix(text, []byte("\n")) {
			break
		}
		es, err := decodeLinks(text)
		if err != nil {
			return nil, fmt.Errorf("cluster: outbox %s: %w", o.path(number), err)
		}
		links[string(node)] = append(links[string(node)], es...)
	}
	return links, nil
}

// sent removes the oldest file, whose links JetStream has.
func (o *outbox) sent() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	path := o.path(o.oldest)
	if info, err := os.Stat(path); err == nil {
		o.waiting -= info.Size()
	}
	o.oldest++
	o.changed.Broadcast()
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cluster: outbox: %w", err)
	}
	return nil
}

// flush waits until the sending goroutine has sent everything that was put so far.
func (o *outbox) flush(ctx context.Context) error {
	defer context.AfterFunc(ctx, o.wake)()
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.complete(); err != nil {
		return fmt.Errorf("cluster: outbox: %w", err)
	}
	for last := o.newest; o.oldest <= last; o.changed.Wait() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// close ends put and awaitRoom; what waits stays on disk.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.complete() // an error of Close is no loss: the next process reads the file
	o.changed.Broadcast()
}

// forget removes matching links from a file.
func (o *outbox) forget(number uint64, matches func(*frontier.Entry) bool) (removed int, err error) {
	links, err := o.read(number)
	if err != nil {
		return 0, err
	}
	var left bytes.Buffer
	for _, node := range slices.Sorted(maps.Keys(links)) {
		before := len(links[node])
		es := slices.DeleteFunc(links[node], func(e frontier.Entry) bool { return matches(&e) })
		removed += before - len(es)
		if len(es) > 0 {
			fmt.Fprintf(&left, "%s %s\n", node, encodeLinks(es))
		}
	}
	if removed == 0 {
		return 0, nil
	}
	return removed, disk.ReplaceBytes(o.path(number), 0o600, left.Bytes())
}

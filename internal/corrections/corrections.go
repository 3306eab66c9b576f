// Package corrections keeps what people say of pages and addresses: an append-only log in the data
// directory, one JSON object per line. It outlives crawls, replays, retraining and upgrades, and what
// it says stands above what pages say. Start with [Open] and [Log.Add].
package corrections

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"gazehound/internal/disk"
)

// A What is what an entry says.
type What string

// What can be said. Those of an address alone are marked (a).
const (
	Confirm What = "confirm" // the pages are relevant, and what they say of the address is true
	Reject  What = "reject"  // the pages are not relevant, and the address is none
	Name    What = "name"    // (a) the name of what is there
	Kind    What = "kind"    // (a) its kind, see package kind
	Phone   What = "phone"   // (a) E.164
	Hours   What = "hours"   // (a) as OpenStreetMap writes opening_hours
	Gone    What = "gone"    // (a) it is not here any more: "closed" or "moved"
	Private What = "private" // (a) a home, which nobody may find
	Undo    What = "undo"    // takes the entry Undoes back

	forgotten What = "forgotten" // the last entry was removed, and its number is not used again
)

// Whats are all that people say but Undo.
var Whats = []What{Confirm, Reject, Name, Kind, Phone, Hours, Gone, Private}

// field returns what is at most once true of an address: a confirmation takes the place of a rejection.
func (w What) field() What {
	if w == Reject {
		return Confirm
	}
	return w
}

// HasValue reports whether an entry of w has a Value.
func (w What) HasValue() bool { return slices.Contains([]What{Name, Kind, Phone, Hours, Gone}, w) }

// Who says something.
const (
	Operator = "operator"
	Visitor  = "visitor" // a suggestion, which changes nothing until the operator says the same
)

// An Entry is one line of the log. Who and the texts of a visitor are untrusted.
type Entry struct {
	N       int       `json:"n"` // from 1, never used again
	Time    time.Time `json:"time"`
	Who     string    `json:"who"`
	What    What      `json:"what"`
	Address string    `json:"address,omitempty"` // its ID in the index; "": only pages are meant
	Places  []string  `json:"places,omitempty"`  // of the address, see index.PlaceOf: what is forgotten is known by them
	Pages   []string  `json:"pages,omitempty"`   // URLs whose verdict is given with it
	Value   string    `json:"value,omitempty"`
	Was     string    `json:"was,omitempty"`    // what pages said at that time; of pages: "relevant" or "not", if known
	Undoes  int       `json:"undoes,omitempty"` // N of another entry
}

// Bounds of an entry, in bytes, and of the file.
const (
	MaxValue = 1000 // 255 characters of four bytes at most, as OpenStreetMap has
	MaxPages = 20
	maxURL   = 8 << 10
	MaxFile  = 64 << 20
)

// Errors of Add and of its checks.
var (
	ErrFull    = errors.New("the log of corrections is full")
	ErrInvalid = errors.New("invalid correction")
)

// check returns an error that wraps ErrInvalid.
func (e *Entry) check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
	}
	control := func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }
	switch {
	case e.What == Undo && e.Undoes < 1:
		return bad("an undo needs the number of an entry")
	case e.What == Undo, e.What == forgotten:
	case !slices.Contains(Whats, e.What):
		return bad("%.40q is none of %v", e.What, Whats)
	case e.Address == "" && (len(e.Pages) == 0 || e.What.field() != Confirm):
		return bad("%s needs an address", e.What)
	case e.What.HasValue() && strings.TrimSpace(e.Value) == "":
		return bad("%s needs a value", e.What)
	case !e.What.HasValue() && e.Value != "":
		return bad("%s takes no value", e.What)
	}
	switch {
	case len(e.Value) > MaxValue, len(e.Was) > MaxValue:
		return bad("the value has %d bytes; at most %d are allowed", max(len(e.Value), len(e.Was)), MaxValue)
	case strings.ContainsFunc(e.Value, control):
		return bad("the value has a control character, or is not UTF-8")
	case len(e.Pages) > MaxPages:
		return bad("%d pages; at most %d are allowed", len(e.Pages), MaxPages)
	case slices.ContainsFunc(e.Pages, func(p string) bool { return len(p) > maxURL }):
		return bad("a URL has more than %d bytes", maxURL)
	}
	return nil
}

// A Log is the file of corrections, or that of suggestions. It is safe for concurrent use, and several
// processes may add to one file.
type Log struct {
	name string
	most int64 // bytes of the file

	mu      sync.RWMutex
	entries []Entry
	read    int64       // bytes of the file
	line    []byte      // the last one before that
	file    fs.FileInfo // of when it was read last, nil before; larger than read where the last line is not whole
	rewrote int         // how often it was read from the start

	last      int              // the highest N
	undone    map[int]bool     // N of entries that do not count
	byAddress map[string][]int // indexes of entries that count, in order
	byPage    map[string]int   // of the last one that counts
}

// Names of the files in the data directory.
const (
	FileName        = "corrections.ndjson"
	SuggestionsName = "suggestions.ndjson"
)

// maxSuggestions bounds the file of suggestions, in bytes: a few thousand.
const maxSuggestions = 1 << 20

// Open opens the log in a data directory. A file that does not exist is an empty log.
func Open(dir string) (*Log, error) { return open(filepath.Join(dir, FileName), MaxFile) }

// OpenSuggestions opens the log of what visitors suggest.
func OpenSuggestions(dir string) (*Log, error) {
	return open(filepath.Join(dir, SuggestionsName), maxSuggestions)
}

func open(name string, most int64) (*Log, error) {
	l := &Log{name: name, most: most}
	l.reset()
	_, err := l.Refresh()
	return l, err
}

// reset empties what was read.
func (l *Log) reset() {
	l.entries, l.read, l.line, l.file, l.last = nil, 0, nil, nil, 0
	l.undone, l.byAddress, l.byPage = map[int]bool{}, map[string][]int{}, map[string]int{}
}

// Refresh reads what was added to the file by others, and returns whether that was anything.
func (l *Log) Refresh() (changed bool, err error) {
	info, err := os.Stat(l.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("corrections: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		changed = len(l.entries) > 0
		l.reset()
		l.rewrote++
		return changed, nil
	}
	return l.catchUp(info)
}

// catchUp reads what follows the last line that was read. Where that line is not at its place any more,
// somebody has rewritten the file, as Edit does, and it is read from the start.
func (l *Log) catchUp(info fs.FileInfo) (changed bool, err error) {
	if l.file != nil && info.Size() == l.file.Size() && info.ModTime().Equal(l.file.ModTime()) {
		return false, nil
	}
	f, err := os.Open(l.name)
	if err != nil {
		return false, fmt.Errorf("corrections: %w", err)
	}
	defer f.Close()
	data, err := l.readFrom(f, l.read-int64(len(l.line)))
	if rest, same := bytes.CutPrefix(data, l.line); err == nil && same {
		data = rest
	} else if err == nil {
		l.reset()
		l.rewrote++
		changed = true
		data, err = l.readFrom(f, 0)
	}
	if err != nil {
		return changed, fmt.Errorf("corrections: %w", err)
	}
	l.file = info
	data = data[:bytes.LastIndexByte(data, '\n')+1] // the last line may still be written
	l.read += int64(len(data))
	if len(data) > 0 {
		l.line = bytes.Clone(data[bytes.LastIndexByte(data[:len(data)-1], '\n')+1:])
	}
	fresh := parse(data)
	l.take(fresh)
	return changed || len(fresh) > 0, nil
}

// readFrom returns what is in the file from a place on, as far as a log may be long.
func (l *Log) readFrom(f *os.File, at int64) ([]byte, error) {
	return io.ReadAll(io.NewSectionReader(f, at, l.most+MaxFile-at))
}

// parse returns the entries in lines of the file. A line that a crash cut off, and what is not an
// entry, is left out.
func parse(data []byte) (all []Entry) {
	for line := range bytes.Lines(data) {
		var e Entry
		if json.Unmarshal(line, &e) == nil && e.N > 0 && e.check() == nil {
			all = append(all, e)
		}
	}
	return all
}

// take adds entries to what is known.
func (l *Log) take(fresh []Entry) {
	again := false
	for _, e := range fresh {
		l.entries = append(l.entries, e)
		l.last = max(l.last, e.N)
		again = again || e.What == Undo
		l.index(len(l.entries) - 1)
	}
	if again {
		l.settle()
	}
}

// index notes what the entry i is about.
func (l *Log) index(i int) {
	e := &l.entries[i]
	if e.Address != "" {
		l.byAddress[e.Address] = append(l.byAddress[e.Address], i)
	}
	for _, p := range e.Pages {
		l.byPage[p] = i
	}
}

// settle finds out which entries count: an undo may itself be undone.
func (l *Log) settle() {
	clear(l.undone)
	for _, e := range slices.Backward(l.entries) {
		if e.What == Undo && !l.undone[e.N] {
			l.undone[e.Undoes] = true
		}
	}
	clear(l.byAddress)
	clear(l.byPage)
	for i := range l.entries {
		if !l.undone[l.entries[i].N] {
			l.index(i)
		}
	}
}

// locking is how long Add waits for others who add to the file.
const locking = 10 * time.Second

// lock locks the file for writing, beside other processes, and reads what they have added.
func (l *Log) lock() (unlock func() error, err error) {
	for deadline := time.Now().Add(locking); ; time.Sleep(5 * time.Millisecond) {
		unlock, err = disk.Lock(l.name + ".lock")
		if err == nil {
			break
		}
		if !errors.Is(err, disk.ErrLocked) || time.Now().After(deadline) {
			return nil, fmt.Errorf("corrections: %w", err)
		}
	}
	_, err = l.Refresh()
	if err != nil {
		return nil, errors.Join(err, unlock())
	}
	return unlock, nil
}

// Add numbers entries, sets their times where they have none, and appends them. They are durable when
// it returns without an error, which is ErrInvalid, ErrFull, that of allowed, or of the file system;
// then none of them counts. allowed, unless it is nil, runs when the log is up to date and nobody else
// can add to it.
func (l *Log) Add(allowed func() error, entries ...Entry) (added []Entry, err error) {
	unlock, err := l.lock()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if allowed != nil {
		if err := allowed(); err != nil {
			return nil, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	size, now := l.read, time.Now().UTC().Truncate(time.Second)
	var lines []string
	for i, e := range entries {
		if err := e.check(); err != nil {
			return nil, err
		}
		e.N = l.last + 1 + i
		if e.Time.IsZero() {
			e.Time = now
		}
		line, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		lines, added = append(lines, string(line)), append(added, e)
		size += int64(len(line)) + 1
	}
	if size > l.most {
		return nil, fmt.Errorf("%w: %s would grow beyond %d MB", ErrFull, l.name, l.most>>20)
	}
	err = disk.AppendLines(l.name, 0o600, lines...)
	if err != nil {
		return nil, fmt.Errorf("corrections: %w", err)
	}
	info, err := os.Stat(l.name)
	if err != nil {
		return nil, fmt.Errorf("corrections: %w", err)
	}
	_, err = l.catchUp(info)
	return added, err
}

// Edit rewrites the log: change may take pages out of an entry, and returns whether the entry stays.
func (l *Log) Edit(change func(e *Entry) bool) (err error) {
	if _, err := os.Stat(l.name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	unlock, err := l.lock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	l.mu.Lock()
	defer l.mu.Unlock()
	var left bytes.Buffer
	lost := false
	for _, e := range l.entries {
		pages := len(e.Pages)
		keep := e.What == forgotten || change(&e)
		lost = lost || !keep || len(e.Pages) != pages
		if !keep && e.N < l.last {
			continue
		}
		if !keep {
			e = Entry{N: e.N, Time: e.Time, Who: e.Who, What: forgotten}
		}
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		left.Write(append(line, '\n'))
	}
	if !lost {
		return nil
	}
	err = disk.ReplaceBytes(l.name, 0o600, left.Bytes())
	if err != nil {
		return fmt.Errorf("corrections: %w", err)
	}
	info, err := os.Stat(l.name)
	if err != nil {
		return fmt.Errorf("corrections: %w", err)
	}
	_, err = l.catchUp(info)
	return err
}

// A Position is how far a reader has read a Log; the zero Position is its start.
type Position struct{ entries, rewrote int }

// Since returns the entries after a position, those of undone ones included, and the position after
// them. A log that was rewritten is returned whole.
func (l *Log) Since(p Position) ([]Entry, Position) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if p.rewrote != l.rewrote {
		p.entries = 0
	}
	return slices.Clone(l.entries[p.entries:]), Position{len(l.entries), l.rewrote}
}

// Entry returns the entry with a number, whether it counts or not.
func (l *Log) Entry(n int) (e Entry, ok bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	i, ok := slices.BinarySearchFunc(l.entries, n, func(e Entry, n int) int { return e.N - n })
	if ok {
		e = l.entries[i]
	}
	return e, ok
}

// Undone reports whether an entry was taken back.
func (l *Log) Undone(n int) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.undone[n]
}

// Facts returns what counts of an address: of each kind of fact the last entry, oldest first.
func (l *Log) Facts(address string) []Entry {
	l.mu.RLock()
	defer l.mu.RUnlock()
	var facts []Entry
	for _, i := range slices.Backward(l.byAddress[address]) {
		e := l.entries[i]
		if !slices.ContainsFunc(facts, func(o Entry) bool { return o.What.field() == e.What.field() }) {
			facts = append(facts, e)
		}
	}
	slices.Reverse(facts)
	return facts
}

// History returns all entries about an address that count or were taken back, and the undos, oldest
// first.
func (l *Log) History(address string) (all []Entry) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	about := map[int]bool{}
	for _, e := range l.entries {
		if e.Address == address && address != "" || about[e.Undoes] {
			about[e.N] = true
			all = append(all, e)
		}
	}
	return all
}

// Addresses returns the IDs of the addresses of which something counts, in no order.
func (l *Log) Addresses() (ids []string) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for id := range l.byAddress {
		ids = append(ids, id)
	}
	return ids
}

// Verdict returns the entry that counts of a page, a Confirm or a Reject.
func (l *Log) Verdict(page string) (e Entry, ok bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	i, ok := l.byPage[page]
	if ok {
		e = l.entries[i]
	}
	return e, ok
}

// AddressesSince is Since for readers of addresses: it returns their IDs, each once.
func (l *Log) AddressesSince(p Position) (ids []string, at Position) {
	fresh, at := l.Since(p)
	seen := map[string]bool{"": true}
	for _, e := range fresh {
		if e.What == Undo {
			e, _ = l.Entry(e.Undoes)
		}
		if !seen[e.Address] {
			seen[e.Address] = true
			ids = append(ids, e.Address)
		}
	}
	return ids, at
}

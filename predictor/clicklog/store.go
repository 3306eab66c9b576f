package clicklog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gazehound/internal/disk"
)

// A Store is a folder of imported logs. One process uses it at a time.
type Store struct {
	dir    string
	unlock func() error
	o      Options
	m      manifest
	view   []view // of the segment being filled
	hashed []byte // buffer of client
}

// manifest.json names the segments that count and how far each log was read.
// It is replaced whole, after the segments it names are on disk.
type manifest struct {
	Version  int
	Key      string // hex; of the hash that stands for a client
	Next     int    // number of the next segment
	Segments []string
	Logs     []logFile
}

// A logFile is one log, known by its first bytes: a rotated and renamed log
// is still the same, and one that grew is read on from where it ended.
type logFile struct {
	Name string // when it was last seen, for people
	Head int    // length of the prefix, in bytes of the unpacked log
	Hash string // hex SHA-256 of the prefix
	Read int64  // bytes of the unpacked log that are in the segments
}

const (
	manifestName = "manifest.json"
	lockName     = "LOCK"
	version      = 2
	maxHead      = 4096
	fanIn        = 128 // segments that are merged at once
)

// Open opens the store in dir, or makes one. The error wraps ErrVersion for a
// store of another version of the program, ErrLocked for one in use.
func Open(dir string, o Options) (*Store, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open click store: %w", err)
	}
	unlock, err := disk.Lock(filepath.Join(dir, lockName))
	if errors.Is(err, disk.ErrLocked) {
		return nil, fmt.Errorf("%s: %w", dir, ErrLocked)
	} else if err != nil {
		return nil, fmt.Errorf("open click store: %w", err)
	}
	s := &Store{dir: dir, unlock: unlock, o: o}
	if err := s.load(); err != nil {
		unlock()
		return nil, err
	}
	return s, nil
}

// Close gives the folder up.
func (s *Store) Close() error { return s.unlock() }

// load reads the manifest, or makes one, and clears away what it does not name.
func (s *Store) load() error {
	raw, err := os.ReadFile(filepath.Join(s.dir, manifestName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		key := make([]byte, 32)
		if _, err := rand.Read(key); err != nil {
			return fmt.Errorf("open click store: %w", err)
		}
		s.m = manifest{Version: version, Key: hex.EncodeToString(key)}
		if err := s.commit(); err != nil {
			return err
		}
	case err != nil:
		return fmt.Errorf("open click store: %w", err)
	default:
		if err := json.Unmarshal(raw, &s.m); err != nil {
			return fmt.Errorf("%s: %w; remove the folder and import the logs again", filepath.Join(s.dir, manifestName), err)
		}
		if s.m.Version != version {
			return fmt.Errorf("%s: version %d, this program reads %d: %w", filepath.Join(s.dir, manifestName), s.m.Version, version, ErrVersion)
		}
	}
	return s.sweep()
}

var (
	// ErrVersion says that a store was written by another version of the program.
	ErrVersion = errors.New("click store of another version")
	// ErrLocked says that another process uses a store.
	ErrLocked = errors.New("click store is in use by another process")
)

// sweep removes what a killed import left behind.
func (s *Store) sweep() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("open click store: %w", err)
	}
	for _, e := range entries {
		name := e.Name()
		unfinished := strings.HasSuffix(name, ".tmp") || strings.HasSuffix(name, ".part")
		if unfinished || strings.HasSuffix(name, ".views") && !slices.Contains(s.m.Segments, name) {
			if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
				return fmt.Errorf("open click store: %w", err)
			}
		}
	}
	return nil
}

// Logs is the number of logs that were imported.
func (s *Store) Logs() int { return len(s.m.Logs) }

// Import reads one log, packed with gzip or not, from where an earlier import
// of it ended. Every full segment is committed with the place it reaches, so
// an import that was stopped goes on from there. An unfinished last line of a
// log that is still written is left for the next import. The error wraps
// ErrFormat when the file's first thousand lines hold no line of a known format,
// and ErrNoSite when it names no hosts and Options.Site is empty.
func (s *Store) Import(ctx context.Context, name string, src io.Reader) (Counts, error) {
	var n Counts
	in, packed, err := unpack(src)
	if err != nil {
		return n, fmt.Errorf("%s: %w", name, err)
	}
	head, err := in.Peek(maxHead)
	if err != nil && err != io.EOF {
		return n, fmt.Errorf("%s: %w", name, err)
	}
	if len(head) == 0 {
		return n, nil
	}
	at := s.log(name, head)
	if n.Before, err = io.CopyN(io.Discard, in, s.m.Logs[at].Read); err == io.EOF {
		return n, nil // shorter than what was read: an older copy of the same log
	} else if err != nil {
		return n, fmt.Errorf("%s: %w", name, err)
	}

	pos := s.m.Logs[at].Read
	s.view = s.view[:0]
	for {
		if n.Lines%1024 == 0 && ctx.Err() != nil {
			return n, ctx.Err()
		}
		line, size, err := readLine(in)
		if err != nil && err != io.EOF {
			return n, fmt.Errorf("%s: at byte %d: %w", name, pos, err)
		}
		if size == 0 || err == io.EOF && !packed {
			break // the end, or a line that is still being written
		}
		pos += size
		n.Lines++
		if err := s.take(line, &n); err != nil {
			return n, fmt.Errorf("%s: line %d: %w", name, n.Lines, err)
		}
		if n.Lines == 1000 && n.Bad == n.Lines {
			return n, fmt.Errorf("%s: %w", name, ErrFormat)
		}
		if len(s.view) >= s.o.Views {
			s.m.Logs[at].Read = pos
			if err := s.flush(&n); err != nil {
				return n, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if n.Lines > 0 && n.Bad == n.Lines {
		return n, fmt.Errorf("%s: %w", name, ErrFormat)
	}
	s.m.Logs[at].Read = pos
	return n, s.flush(&n)
}

// log finds the log that begins with head among those already read, or adds
// one. Two logs with the same first 4,096 bytes are one log.
func (s *Store) log(name string, head []byte) int {
	for i, l := range s.m.Logs {
		if len(head) >= l.Head && hashOf(head[:l.Head]) == l.Hash {
			s.m.Logs[i].Name = name
			if len(head) > l.Head { // it grew: know it better
				s.m.Logs[i].Head, s.m.Logs[i].Hash = len(head), hashOf(head)
			}
			return i
		}
	}
	s.m.Logs = append(s.m.Logs, logFile{Name: name, Head: len(head), Hash: hashOf(head)})
	return len(s.m.Logs) - 1
}

func hashOf(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// unpack sees through gzip.
func unpack(src io.Reader) (in *bufio.Reader, packed bool, err error) {
	in = bufio.NewReaderSize(src, 256<<10)
	magic, err := in.Peek(2)
	if err != nil && err != io.EOF {
		return nil, false, err
	}
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return in, false, nil
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, false, err
	}
	return bufio.NewReaderSize(z, 256<<10), true, nil
}

// readLine returns the next line without its line feed and how many bytes it
// took. Of a line longer than MaxLine it returns MaxLine+1 bytes.
func readLine(in *bufio.Reader) (line []byte, size int64, err error) {
	for {
		part, err := in.ReadSlice('\n')
		size += int64(len(part))
		if room := MaxLine + 1 - len(line); room > 0 {
			line = append(line, part[:min(room, len(part))]...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		return bytes.TrimSuffix(line, []byte("\n")), size, err
	}
}

// take counts one line and keeps it if it is a page view.
func (s *Store) take(raw []byte, n *Counts) error {
	l, err := ParseLine(raw)
	if err != nil {
		n.Bad++
		return nil
	}
	if isRobot(l.Agent, raw[len(raw)-1] == '"') {
		n.Robots++
		return nil
	}
	if l.Method != "GET" || l.Status != 200 && l.Status != 304 {
		n.Others++
		return nil
	}
	robots := l.Target == "/robots.txt" || strings.HasSuffix(l.Target, "://"+l.Vhost+"/robots.txt")
	if isAsset(l.Target) && !robots {
		n.Assets++
		return nil
	}
	v := view{client: s.client(l), at: l.Time.Unix()}
	if robots {
		n.Robots++ // kept as a mark: Rank leaves this client out
	} else {
		var ok bool
		if v.url, ok, err = s.url(l); err != nil {
			return err
		} else if !ok {
			n.Foreign++
			return nil
		}
		n.Views++
	}
	s.view = append(s.view, v)
	return nil
}

// client is the keyed hash of who asked: address and agent, since many people
// share an address. Without the key nobody can try addresses, and of the hash a
// quarter is kept, so that nothing can be appended to it.
func (s *Store) client(l Line) uint64 {
	s.hashed = append(append(append(append(s.hashed[:0], s.m.Key...), l.Client...), 0), l.Agent...)
	sum := sha256.Sum256(s.hashed)
	return binary.BigEndian.Uint64(sum[:])
}

// url is the absolute URL of a request; false: not one of a web page.
func (s *Store) url(l Line) (string, bool, error) {
	u := l.Target
	if strings.HasPrefix(u, "/") {
		site := s.o.Site
		if l.Vhost != "" {
			host, port, _ := strings.Cut(l.Vhost, ":")
			switch port {
			case "443":
				site = "https://" + host
			case "", "80":
				site = "http://" + host
			default:
				site = "http://" + l.Vhost
			}
		}
		if site == "" {
			return "", false, ErrNoSite
		}
		u = strings.TrimSuffix(site, "/") + u
	}
	if s.o.Canonical != nil {
		u, ok := s.o.Canonical(u)
		return u, ok, nil
	}
	return u, strings.HasPrefix(u, "http://") || strings.HasPrefix(u, "https://"), nil
}

// flush writes the views in memory as a segment and commits it together with
// how far the logs were read.
func (s *Store) flush(n *Counts) error {
	if len(s.view) > 0 {
		slices.SortFunc(s.view, view.compare)
		name, err := s.write(func(add func(view) error) error {
			for _, v := range s.view {
				if err := add(v); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		s.m.Segments = append(s.m.Segments, name)
		s.view = s.view[:0]
		n.Segments++
	}
	if err := s.commit(); err != nil {
		return err
	}
	return s.compact()
}

// compact merges the segments into one when there are more than can be merged
// at once.
func (s *Store) compact() error {
	if len(s.m.Segments) < fanIn {
		return nil
	}
	old := s.m.Segments
	name, err := s.write(s.eachView)
	if err != nil {
		return err
	}
	s.m.Segments = []string{name}
	if err := s.commit(); err != nil {
		return err
	}
	for _, f := range old {
		if err := os.Remove(filepath.Join(s.dir, f)); err != nil {
			return err
		}
	}
	return nil
}

// commit replaces the manifest.
func (s *Store) commit() error {
	text, err := json.MarshalIndent(s.m, "", "\t")
	if err == nil {
		err = disk.ReplaceBytes(filepath.Join(s.dir, manifestName), 0o600, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write click store: %w", err)
	}
	return nil
}

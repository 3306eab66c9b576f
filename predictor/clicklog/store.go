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
	"strings"

	"gazehound/internal/disk"
)

// A Store is a folder of imported logs. One process uses it at a time.
type Store struct {
	dir    string
	unlock func() error
	o      Options
	m      manifest
	views  []view // that are not on disk yet
	hashed []byte // buffer of client
}

// A view is one page view, or with an empty url the mark of a program.
type view struct {
	client uint64
	at     int64 // Unix seconds
	url    string
}

// manifest.json has the name and valid length of the file of views, and how far each log was read.
// It is replaced whole, after the views are on disk.
type manifest struct {
	Version int
	Key     string // hex; of the hash by which a client is stored
	Views   string // file of records, see append
	Size    int64  // bytes of it; what is beyond a killed import has left
	Logs    []logFile
}

// A logFile is one log, known by its first bytes: a rotated and renamed log
// is still the same, and one that grew is read on from where it ended.
type logFile struct {
	Name string // when it was last seen, for people
	Head int    // length of the prefix, in bytes of the unpacked log
	Hash string // hex SHA-256 of the prefix
	Read int64  // bytes of the unpacked log whose views count
}

const (
	manifestName = "manifest.json"
	lockName     = "LOCK"
	version      = 4
	maxHead      = 4096
)

var (
	// ErrVersion means that a store was written by another version of the program.
	ErrVersion = errors.New("click store of another version; remove the folder and import the logs again")
	// ErrLocked means that another process uses a store.
	ErrLocked = errors.New("click store is in use by another process")
)

// Open opens the store in dir, or makes one. The error wraps ErrVersion for a
// store of another version of the program, ErrLocked for one in use.
func Open(dir string, o Options) (*Store, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	err := os.MkdirAll(dir, 0o700)
	if err != nil {
		return nil, fmt.Errorf("open click store: %w", err)
	}
	unlock, err := disk.Lock(filepath.Join(dir, lockName))
	if errors.Is(err, disk.ErrLocked) {
		return nil, fmt.Errorf("%s: %w", dir, ErrLocked)
	} else if err != nil {
		return nil, fmt.Errorf("open click store: %w", err)
	}
	s := &Store{dir: dir, unlock: unlock, o: o}
	err = s.load()
	if err != nil {
		unlock()
		return nil, err
	}
	return s, nil
}

// Close unlocks the folder.
func (s *Store) Close() error { return s.unlock() }

// load reads the manifest, or makes one.
func (s *Store) load() error {
	name := filepath.Join(s.dir, manifestName)
	raw, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		key := make([]byte, 32)
		rand.Read(key) // never fails
		s.m = manifest{Version: version, Key: hex.EncodeToString(key), Views: "views"}
		return s.commit()
	}
	if err != nil {
		return fmt.Errorf("open click store: %w", err)
	}
	if err := json.Unmarshal(raw, &s.m); err != nil {
		return fmt.Errorf("%s: %w; remove the folder and import the logs again", name, err)
	}
	if s.m.Version != version {
		return fmt.Errorf("%s: version %d, this program reads %d: %w", name, s.m.Version, version, ErrVersion)
	}
	return nil
}

// Logs is the number of logs that were imported.
func (s *Store) Logs() int { return len(s.m.Logs) }

// Import reads one log, plain or compressed with gzip, from where an earlier import of it ended.
// Views are committed together with the position in the log, so a stopped import resumes there. An
// unfinished last line of a log that is still written is left for the next import. The error wraps
// ErrFormat if none of the first thousand lines has a known format, and ErrNoSite if the log names
// no hosts and Options.Site is empty.
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
	n.Before, err = io.CopyN(io.Discard, in, s.m.Logs[at].Read)
	if err == io.EOF {
		return n, nil // shorter than what was read: an older copy of the same log
	} else if err != nil {
		return n, fmt.Errorf("%s: %w", name, err)
	}

	pos := s.m.Logs[at].Read
	s.views = s.views[:0]
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
		err = s.take(line, &n)
		if err != nil {
			return n, fmt.Errorf("%s: line %d: %w", name, n.Lines, err)
		}
		if n.Lines == 1000 && n.Bad == n.Lines {
			return n, fmt.Errorf("%s: %w", name, ErrFormat)
		}
		if len(s.views) >= s.o.Views {
			s.m.Logs[at].Read = pos
			err := s.flush()
			if err != nil {
				return n, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if n.Lines > 0 && n.Bad == n.Lines {
		return n, fmt.Errorf("%s: %w", name, ErrFormat)
	}
	s.m.Logs[at].Read = pos
	return n, s.flush()
}

// log finds the log that begins with head among those already read, or adds
// one. Two logs with the same first 4,096 bytes are one log.
func (s *Store) log(name string, head []byte) int {
	for i, l := range s.m.Logs {
		if len(head) >= l.Head && hashOf(head[:l.Head]) == l.Hash {
			s.m.Logs[i].Name = name
			if len(head) > l.Head { // it grew: store a longer prefix
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

// unpack decompresses gzip.
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
// took. A longer line than MaxLine is cut to MaxLine+1 bytes.
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
		v.url, ok, err = s.url(l)
		if err != nil {
			return err
		} else if !ok {
			n.Foreign++
			return nil
		}
		n.Views++
	}
	s.views = append(s.views, v)
	return nil
}

// client returns the keyed hash of a client's address and agent, since many people share an
// address. Without the key addresses cannot be tried out. A quarter of the hash is kept, against
// length extension.
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

// flush appends the views in memory to the file and commits them together with how far
// the logs were read.
func (s *Store) flush() error {
	f, err := os.OpenFile(filepath.Join(s.dir, s.m.Views), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("write click store: %w", err)
	}
	defer f.Close()
	size := s.m.Size
	if len(s.views) > 0 {
		size, err = s.append(f)
		if err != nil {
			return fmt.Errorf("write click store: %w", err)
		}
	}
	s.views, s.m.Size = s.views[:0], size
	return s.commit()
}

// append writes the views in memory after the valid ones: a record for each, of client (8 bytes,
// big-endian), time (varint) and URL. It returns the size of the file.
func (s *Store) append(f *os.File) (size int64, err error) {
	err = f.Truncate(s.m.Size)
	if err != nil {
		return 0, err
	}
	_, err = f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	w := disk.NewWriter(f)
	for _, v := range s.views {
		if err := w.Write(v.record()); err != nil {
			return 0, err
		}
	}
	err = errors.Join(w.Close(), f.Sync())
	if err != nil {
		return 0, err
	}
	return f.Seek(0, io.SeekCurrent)
}

func (v view) record() []byte {
	b := binary.BigEndian.AppendUint64(nil, v.client)
	return append(binary.AppendVarint(b, v.at), v.url...)
}

// eachView calls fn with all views in the order of their import.
func (s *Store) eachView(fn func(view) error) error {
	if s.m.Size == 0 {
		return nil
	}
	name := filepath.Join(s.dir, s.m.Views)
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("read click store: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() < s.m.Size {
		return fmt.Errorf("%s is cut off; remove the folder and import the logs again", name)
	}
	r := disk.NewReader(io.LimitReader(f, s.m.Size))
	for {
		b, err := r.Next()
		if err == io.EOF {
			return nil
		}
		d := disk.Decode(b)
		v := view{client: d.Uint64(), at: d.Varint(), url: string(d.Rest())}
		if err != nil || d.Failed() {
			return fmt.Errorf("%s is damaged (%v); remove the folder and import the logs again", name, err)
		}
		if err := fn(v); err != nil {
			return err
		}
	}
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

// Forget removes the views and the importance of matching pages, and matching names of logs, from
// the store in dir, and reports whether there is a store. A killed Forget is completed by calling
// it again.
func Forget(dir string, match func(text string) bool) (bool, error) {
	if _, err := os.Stat(filepath.Join(dir, manifestName)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	s, err := Open(dir, DefaultOptions())
	if err != nil {
		return false, err
	}
	return true, errors.Join(s.forget(match), s.Close())
}

func (s *Store) forget(match func(text string) bool) error {
	old := s.m.Views
	kept := map[string]string{"views": "views-2", "views-2": "views"}[old] // the other name
	err := disk.Replace(filepath.Join(s.dir, kept), 0o600, func(out io.Writer) error {
		w := disk.NewWriter(out)
		err := s.eachView(func(v view) error {
			if match(v.url) {
				return nil
			}
			return w.Write(v.record())
		})
		return errors.Join(err, w.Close())
	})
	if err != nil {
		return fmt.Errorf("write click store: %w", err)
	}
	info, err := os.Stat(filepath.Join(s.dir, kept))
	if err != nil {
		return fmt.Errorf("write click store: %w", err)
	}
	s.m.Views, s.m.Size = kept, info.Size()
	for i := range s.m.Logs {
		if l := &s.m.Logs[i]; match(l.Name) {
			l.Name = ""
		}
	}
	err = s.commit()
	if err != nil {
		return err
	}
	err = os.Remove(filepath.Join(s.dir, old))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write click store: %w", err)
	}
	return forgetRows(s.dir, match)
}

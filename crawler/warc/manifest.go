package warc

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gazehound/internal/disk"
	"gazehound/internal/textutil"
)

// A Manifest says which WARC files belong to a project: archives.txt in its data directory. Each
// line is a folder, or a file with its size in bytes and the fingerprint of its first record,
// separated by tabs. Paths in the data directory are relative to it. A line that begins with # is
// a comment; before a folder or a file it says that this one is gone on purpose.
//
// Files in the data directory belong to the project whether they are listed or not; of others only
// those that are.
type Manifest struct {
	name  string // of the file
	known string // copy that is kept elsewhere
	lines []string
}

// A listed file is one of a Manifest.
type listed struct {
	path  string // as it is opened
	size  int64  // that it has at least; 0: all its records were forgotten
	print string // fingerprint
}

// ReadManifest reads a manifest; one that is not there is empty. Lines that it lacks, and that do
// not even stand there as comments, are taken from known: a copy that is kept elsewhere.
func ReadManifest(name, known string) (*Manifest, error) {
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	lines := append(linesOf(string(text)), missingLines(string(text), known)...)
	return &Manifest{name, known, lines}, nil
}

func linesOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
}

// missingLines returns the lines of known whose paths text does not name, not even in a comment.
func missingLines(text, known string) (missing []string) {
	there := map[string]bool{}
	for _, line := range linesOf(text) {
		there[pathOf(strings.TrimLeft(line, "# "))] = true
	}
	for _, line := range linesOf(known) {
		if !strings.HasPrefix(line, "#") && !there[pathOf(line)] {
			missing = append(missing, line)
		}
	}
	return missing
}

// pathOf returns the path of a line.
func pathOf(line string) string {
	path, _, _ := strings.Cut(line, "\t")
	return path
}

// lacks returns the paths in the copy that the file of the manifest does not name.
func (m *Manifest) lacks() (paths []string, err error) {
	text, err := os.ReadFile(m.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, line := range missingLines(string(text), m.known) {
		paths = append(paths, pathOf(line))
	}
	return paths, nil
}

// Missing returns what the manifest says that is not there, a sentence each.
func (m *Manifest) Missing() (missing []string) {
	if lacks, err := m.lacks(); err == nil && len(lacks) > 0 {
		missing = append(missing, fmt.Sprintf("%s lacks %s, such as %s", m.name,
			textutil.Several(len(lacks), "line"), lacks[0]))
	}
	for _, path := range m.gone() {
		missing = append(missing, path+" no longer exists")
	}
	return missing
}

// String returns the text of the manifest.
func (m *Manifest) String() string {
	if len(m.lines) == 0 {
		return ""
	}
	return strings.Join(m.lines, "\n") + "\n"
}

// open returns the path by which a path of a line is opened.
func (m *Manifest) open(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(m.name), path)
}

// Folders returns the folders, as they are opened.
func (m *Manifest) Folders() (folders []string) {
	for _, line := range m.lines {
		if !strings.HasPrefix(line, "#") && !strings.Contains(line, "\t") {
			folders = append(folders, m.open(line))
		}
	}
	return folders
}

// files returns the listed files.
func (m *Manifest) files() (all []listed) {
	for _, line := range m.lines {
		fields := strings.Split(line, "\t")
		if strings.HasPrefix(line, "#") || len(fields) != 3 {
			continue
		}
		if size, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
			all = append(all, listed{m.open(fields[0]), size, fields[2]})
		}
	}
	return all
}

// find returns the line of a file that is opened by this path.
func (m *Manifest) find(path string) (listed, bool) {
	path = filepath.Join(filepath.Dir(path), fileName(path))
	all := m.files()
	i := slices.IndexFunc(all, func(l listed) bool { return samePath(l.path, path) })
	if i < 0 {
		return listed{}, false
	}
	return all[i], true
}

func samePath(a, b string) bool {
	a, errA := filepath.Abs(a)
	b, errB := filepath.Abs(b)
	return errA == nil && errB == nil && a == b
}

// store returns the path under which a path is stored: relative to the data directory if it lies
// there, or else absolute; and whether it lies there.
func (m *Manifest) store(path string) (stored string, inside bool, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return "", false, err
	}
	root, err := filepath.Abs(filepath.Dir(m.name))
	if err != nil {
		return "", false, err
	}
	if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
		return rel, true, nil
	}
	return path, false, nil
}

// AddFolder adds a folder, once.
func (m *Manifest) AddFolder(dir string) error {
	stored, _, err := m.store(dir)
	if err != nil {
		return err
	}
	return m.set(stored, stored)
}

// list adds or changes the line of a file.
func (m *Manifest) list(path string, size int64, fingerprint string) error {
	stored, _, err := m.store(filepath.Join(filepath.Dir(path), fileName(path)))
	if err != nil {
		return err
	}
	return m.set(stored, fmt.Sprintf("%s\t%d\t%s", stored, size, fingerprint))
}

// set replaces the line of a path, or adds it, in the file, which somebody may have edited.
func (m *Manifest) set(path, line string) error {
	now, err := ReadManifest(m.name, m.known)
	if err != nil {
		return err
	}
	m.lines = now.lines
	i := slices.IndexFunc(m.lines, func(l string) bool { return pathOf(l) == path })
	switch {
	case i < 0:
		m.lines = append(m.lines, line)
	case m.lines[i] == line && fileExists(m.name):
		return nil
	default:
		m.lines[i] = line
	}
	return disk.ReplaceBytes(m.name, 0o644, []byte(m.String()))
}

func fileExists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// fingerprint returns that of the bytes of a first record, which names the file and has an ID of its
// own, and which Forget never changes.
func fingerprint(first []byte) string {
	sum := sha256.Sum256(first)
	return hex.EncodeToString(sum[:8])
}

// fingerprintOf returns the fingerprint of a file.
func fingerprintOf(f *source) (string, error) {
	s := newReader().scan(f, f.size)
	s.next()
	if s.finish() != nil {
		return "", s.err
	}
	first, err := io.ReadAll(io.NewSectionReader(f, 0, s.end))
	return fingerprint(first), err
}

// owns reports whether a file belongs to the project, or may.
func (m *Manifest) owns(name string) bool {
	_, inside, err := m.store(name)
	_, known := m.find(name)
	return err == nil && (inside || known)
}

// A standing is what a Manifest says about a file that the project owns.
type standing struct {
	listed
	known  bool   // the manifest lists the file
	touch  bool   // it may be changed
	reason string // why something may be missing; "": no reason
}

// standing compares a file that was opened with the manifest.
func (m *Manifest) standing(f *source) (s standing) {
	s.listed, s.known = m.find(f.name)
	_, inside, err := m.store(f.name)
	s.touch = true
	if !s.known || err != nil {
		return s
	}
	now, err := fingerprintOf(f)
	switch {
	case err != nil && inside: // damage is found when it is read
	case err != nil:
		s.touch, s.reason = false, fmt.Sprintf("%s: its first record cannot be read (%v), so that it may be "+
			"another file", f.name, err)
	case now != s.print:
		s.touch, s.reason = inside, fmt.Sprintf("%s is another file than that in %s", f.name, m.name)
	case f.size < s.size:
		s.reason = fmt.Sprintf("%s lacks %d of %d bytes", f.name, s.size-f.size, s.size)
	}
	return s
}

// gone returns the listed files that do not exist.
func (m *Manifest) gone() (paths []string) {
	for _, l := range m.files() {
		if l.size > 0 && !fileExists(l.path) && !fileExists(l.path+openExt) {
			paths = append(paths, l.path)
		}
	}
	return paths
}

// grow lists the sizes of files that have grown since: a killed program could not.
func (m *Manifest) grow() error {
	for _, l := range m.files() {
		if info, err := os.Stat(l.path); err == nil && info.Size() > l.size && l.size > 0 {
			err := m.list(l.path, info.Size(), l.print)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// lists reports whether a file of a folder is listed.
func (m *Manifest) lists(dir string) bool {
	return slices.ContainsFunc(m.files(), func(l listed) bool { return samePath(filepath.Dir(l.path), dir) })
}

// unlisted returns how to list a file that lies outside of the data directory.
func (m *Manifest) unlisted(name string) string {
	size, found, err := printOf(name)
	if err != nil {
		return fmt.Sprintf("%s is not listed in %s and was not searched: %v", name, m.name, err)
	}
	return fmt.Sprintf("%s lies outside of the data directory and was not searched; if this project wrote it, add "+
		"this line to %s, with tabs between its fields: %s %d %s", name, m.name, name, size, found)
}

// printOf returns size and fingerprint of a file.
func printOf(name string) (size int64, found string, err error) {
	a := newArchive()
	defer a.Close()
	f, size, err := a.open(name)
	if err != nil {
		return 0, "", err
	}
	zipped, err := sniff(f)
	if err == nil {
		found, err = fingerprintOf(&source{ReaderAt: f, name: name, size: size, zipped: zipped})
	}
	return size, found, err
}

// endOpen ends a file that a killed program left open, and returns its name then: the same if it is
// being written, "" if it held no record.
func (m *Manifest) endOpen(name string) (string, error) {
	final := strings.TrimSuffix(name, openExt)
	if name == final {
		return name, nil
	}
	_, err := repairFile(name)
	if err != nil {
		return "", fmt.Errorf("a killed crawl left it and it cannot be ended: %w", err)
	}
	for _, name := range []string{final, name} {
		if fileExists(name) {
			return name, nil
		}
	}
	return "", nil
}

package gazetteer

import (
	"context"
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

// The files of a gazetteer directory.
const (
	compiledFile = "places.gaz"   // what Open maps
	sourcesFile  = "sources.json" // the sources, oldest first
	sourcesDir   = "sources"      // one file of normalised places per source
)

// buildMemory is what each of the two sorts of a build keeps in memory.
const buildMemory = 16 << 20

// A Builder compiles the places of sources into a gazetteer. The places of
// each source are kept beside the compiled file, so that one more source can
// be added later; a source of the same name and format is replaced.
//
// Where sources disagree, the one added last wins: its coordinate, its
// spelling and its id stand, and the other names become aliases. A coordinate
// always wins over none, and what only one source knows stays. Within a source
// the first mention wins. A Builder must not be used from two goroutines.
type Builder struct {
	dir     string
	sources []sourceEntry
	refused int
	shapes  *recordFile // of the source that is being added; nil: none so far
}

// A sourceEntry is one line of sources.json.
type sourceEntry struct {
	Source
	File   string `json:"file"`             // in sourcesDir
	Shapes string `json:"shapes,omitempty"` // in sourcesDir
}

// NewBuilder returns a Builder for the gazetteer in dir, which it makes if
// there is none. Sources that dir already holds stay part of it.
func NewBuilder(dir string) (*Builder, error) {
	err := os.MkdirAll(filepath.Join(dir, sourcesDir), 0o755)
	if err != nil {
		return nil, fmt.Errorf("gazetteer: %w", err)
	}
	b := &Builder{dir: dir}
	data, err := os.ReadFile(filepath.Join(dir, sourcesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &b.sources)
	}
	if err != nil {
		return nil, fmt.Errorf("gazetteer: %s: %w", sourcesFile, err)
	}
	return b, nil
}

// Refused returns how many places were bad and left out by Add.
func (b *Builder) Refused() int { return b.refused }

// Add adds the places that read emits. The emit function returns an error that
// wraps ErrBadPlace for a place that cannot be kept; a reader may count it and
// go on. If read fails, nothing of the source is added. Add sets src.Places;
// read may set src.Data.
func (b *Builder) Add(src *Source, read func(emit func(Place) error) error) error {
	if src.Name == "" {
		return errors.New("gazetteer: a source needs a name")
	}
	places, err := b.newRecordFile("*.places")
	if err != nil {
		return err
	}
	add := func(p Place) error {
		if err := p.check(); err != nil {
			b.refused++
			return err
		}
		src.Places++
		return places.write(func(c *codec) { c.sourcePlace(&p) })
	}
	err = read(func(p Place) error {
		codes := splitCodes(p.Postcode)
		for _, code := range codes[1:] {
			other := p
			other.Names = slices.Clone(p.Names)
			other.Postcode = code
			if err := add(other); err != nil {
				return err
			}
		}
		p.Postcode = codes[0]
		return add(p)
	})
	err = errors.Join(err, places.close())
	shapes := b.shapes
	b.shapes = nil
	if shapes != nil {
		err = errors.Join(err, shapes.close())
	}
	if err != nil {
		os.Remove(places.f.Name())
		if shapes != nil {
			os.Remove(shapes.f.Name())
		}
		return fmt.Errorf("%s: %w", src.Name, err)
	}
	entry := sourceEntry{Source: *src, File: filepath.Base(places.f.Name())}
	if shapes != nil {
		entry.Shapes = filepath.Base(shapes.f.Name())
	}
	b.sources = slices.DeleteFunc(b.sources, func(e sourceEntry) bool {
		return e.Name == src.Name && e.Format == src.Format
	})
	b.sources = append(b.sources, entry)
	return nil
}

// maxCodes bounds the postcodes of one place.
const maxCodes = 16

// splitCodes returns the postcodes of a place that has several, "26931;26932"; one, which may be "",
// for others.
func splitCodes(code string) []string {
	if !strings.ContainsAny(code, ";,|") {
		return []string{code}
	}
	var codes []string
	for part := range strings.FieldsFuncSeq(code, func(r rune) bool { return r == ';' || r == ',' || r == '|' }) {
		part = strings.TrimSpace(part)
		if PostcodeKey(part) != "" && !slices.Contains(codes, part) && len(codes) < maxCodes {
			codes = append(codes, part)
		}
	}
	if len(codes) == 0 {
		return []string{""}
	}
	return codes
}

// Places calls fn for the places of all sources of a format.
func (b *Builder) Places(format string, fn func(*Place) error) error {
	for _, e := range b.sources {
		if e.Format == format {
			err := b.places(e, fn)
			if err != nil {
				return fmt.Errorf("gazetteer: %w", err)
			}
		}
	}
	return nil
}

// Finish compiles all sources and replaces the compiled gazetteer in one step:
// until then, and if it fails, readers see the old one.
func (b *Builder) Finish(ctx context.Context) error {
	inputs := make([]input, len(b.sources))
	for i, e := range b.sources {
		inputs[i] = input{e.Source, func(emit func(*Place) error) error {
			return b.places(e, emit)
		}}
	}
	err := disk.Replace(filepath.Join(b.dir, compiledFile), 0o644, func(w io.Writer) error {
		return compile(ctx, w, inputs, b.dir, buildMemory)
	})
	var list []byte
	if err == nil {
		list, err = json.MarshalIndent(b.sources, "", " ")
	}
	if err == nil {
		err = disk.ReplaceBytes(filepath.Join(b.dir, sourcesFile), 0o644, append(list, '\n'))
	}
	if err != nil {
		return fmt.Errorf("gazetteer: %w", err)
	}
	b.removeUnused()
	return nil
}

// Discard deletes what Add has written since the last Finish.
func (b *Builder) Discard() {
	b.sources = nil
	if data, err := os.ReadFile(filepath.Join(b.dir, sourcesFile)); err == nil &&
		json.Unmarshal(data, &b.sources) != nil {
		return // an unreadable list must not cost the sources
	}
	b.removeUnused()
}

// removeUnused deletes files that belong to no source. A file that cannot be deleted only takes
// space.
func (b *Builder) removeUnused() {
	entries, _ := os.ReadDir(filepath.Join(b.dir, sourcesDir))
	for _, e := range entries {
		isSource := func(s sourceEntry) bool { return s.File == e.Name() || s.Shapes == e.Name() }
		if !slices.ContainsFunc(b.sources, isSource) {
			os.Remove(filepath.Join(b.dir, sourcesDir, e.Name()))
		}
	}
}

// An input is one source as compile reads it.
type input struct {
	Source
	each func(emit func(*Place) error) error // checked places
}

// A recordFile takes the places or the shapes of a source.
type recordFile struct {
	f   *os.File
	w   *disk.Writer
	buf []byte
}

func (b *Builder) newRecordFile(pattern string) (*recordFile, error) {
	f, err := os.CreateTemp(filepath.Join(b.dir, sourcesDir), pattern)
	if err != nil {
		return nil, fmt.Errorf("gazetteer: %w", err)
	}
	return &recordFile{f: f, w: disk.NewWriter(f)}, nil
}

// write adds the record that code appends.
func (s *recordFile) write(code func(*codec)) error {
	record := appendTo(s.buf[:0])
	code(record)
	s.buf = record.Bytes()
	err := s.w.Write(s.buf)
	if err != nil {
		return fmt.Errorf("gazetteer: %w", err)
	}
	return nil
}

// close brings the file to the disk.
func (s *recordFile) close() error {
	return errors.Join(s.w.Close(), s.f.Chmod(0o644), s.f.Sync(), s.f.Close())
}

// places calls fn for the places of the source.
func (b *Builder) places(e sourceEntry, fn func(*Place) error) error {
	return readRecords(filepath.Join(b.dir, sourcesDir, e.File), (*codec).sourcePlace, fn)
}

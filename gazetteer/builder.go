package gazetteer

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/s2"
	"github.com/paulmach/orb"
)

// The files of a gazetteer directory.
const (
	compiledFile = "places.gaz"   // what Open maps
	sourcesFile  = "sources.json" // the sources, oldest first
	sourcesDir   = "sources"      // one file of normalised places per source
)

// buildMemory is what each of the three sorts of a build keeps in memory.
const buildMemory = 64 << 20

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
	shapes  *shapeWriter // of the source that is being added; nil: none so far
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
	if err := os.MkdirAll(filepath.Join(dir, sourcesDir), 0o755); err != nil {
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
	f, err := os.CreateTemp(filepath.Join(b.dir, sourcesDir), "*.places")
	if err != nil {
		return fmt.Errorf("gazetteer: %w", err)
	}
	w := &placeWriter{w: s2.NewWriter(f, s2.WriterConcurrency(1))}
	err = read(func(p Place) error {
		if err := p.check(); err != nil {
			b.refused++
			return err
		}
		src.Places++
		return w.write(&p)
	})
	if e := w.w.Close(); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	shapes, e := b.endShapes(err != nil)
	if err == nil {
		err = e
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("%s: %w", src.Name, err)
	}
	b.sources = slices.DeleteFunc(b.sources, func(e sourceEntry) bool {
		return e.Name == src.Name && e.Format == src.Format
	})
	b.sources = append(b.sources, sourceEntry{*src, filepath.Base(f.Name()), shapes})
	return nil
}

// Places calls fn for the places of all sources of a format.
func (b *Builder) Places(format string, fn func(*Place) error) error {
	for _, e := range b.sources {
		if e.Format == format {
			if err := readPlaces(filepath.Join(b.dir, sourcesDir, e.File), fn); err != nil {
				return fmt.Errorf("gazetteer: %w", err)
			}
		}
	}
	return nil
}

// Finish compiles all sources and replaces the compiled gazetteer in one step:
// until then, and if it fails, readers see the old one.
func (b *Builder) Finish(ctx context.Context) error {
	tmp, err := os.MkdirTemp(b.dir, "build-*")
	if err != nil {
		return fmt.Errorf("gazetteer: %w", err)
	}
	defer os.RemoveAll(tmp)
	out, err := os.Create(filepath.Join(tmp, compiledFile))
	if err != nil {
		return fmt.Errorf("gazetteer: %w", err)
	}
	inputs := make([]input, len(b.sources))
	for i, e := range b.sources {
		inputs[i] = input{e.Source, func(emit func(*Place) error) error {
			return readPlaces(filepath.Join(b.dir, sourcesDir, e.File), emit)
		}}
	}
	err = compile(ctx, out, inputs, tmp, buildMemory)
	if err == nil {
		err = out.Sync()
	}
	if e := out.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(out.Name(), filepath.Join(b.dir, compiledFile))
	}
	var list []byte
	if err == nil {
		list, err = json.MarshalIndent(b.sources, "", " ")
	}
	if err == nil {
		err = writeFile(filepath.Join(b.dir, sourcesFile), append(list, '\n'))
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
	if data, err := os.ReadFile(filepath.Join(b.dir, sourcesFile)); err == nil && json.Unmarshal(data, &b.sources) != nil {
		return // an unreadable list must not cost the sources
	}
	b.removeUnused()
}

// removeUnused deletes source files that no source names. What cannot be
// deleted costs space and nothing else.
func (b *Builder) removeUnused() {
	entries, _ := os.ReadDir(filepath.Join(b.dir, sourcesDir))
	for _, e := range entries {
		if !slices.ContainsFunc(b.sources, func(s sourceEntry) bool { return s.File == e.Name() || s.Shapes == e.Name() }) {
			os.Remove(filepath.Join(b.dir, sourcesDir, e.Name()))
		}
	}
}

// An input is one source as compile reads it.
type input struct {
	Source
	each func(emit func(*Place) error) error // checked places
}

// A placeWriter writes places, each with its length before it.
type placeWriter struct {
	w   *s2.Writer
	buf []byte
}

func (w *placeWriter) write(p *Place) error {
	w.buf = putArea(putPlace(w.buf[:0], p), p.Area)
	if p.Range != nil {
		w.buf = putRange(w.buf, p.Range, orb.Point{})
	}
	var head [binary.MaxVarintLen64]byte
	if _, err := w.w.Write(binary.AppendUvarint(head[:0], uint64(len(w.buf)))); err != nil {
		return err
	}
	_, err := w.w.Write(w.buf)
	return err
}

// maxRecord bounds a record of a damaged source file.
const maxRecord = 64 << 20

// readRecords calls fn for the records of a source file. It says which file is
// damaged where fn has read beyond a record.
func readRecords(path string, fn func(*decoder) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReader(s2.NewReader(f))
	var buf []byte
	for {
		n, err := binary.ReadUvarint(r)
		if err == io.EOF {
			return nil
		}
		if err == nil && n > maxRecord {
			err = ErrDamaged
		}
		if err == nil {
			buf = slices.Grow(buf[:0], int(n))[:n]
			_, err = io.ReadFull(r, buf)
		}
		if err != nil {
			return fmt.Errorf("%s: %w; import the source again", path, err)
		}
		if err := fn(&decoder{b: buf}); errors.Is(err, errRecord) {
			return fmt.Errorf("%s: %w; import the source again", path, ErrDamaged)
		} else if err != nil {
			return err
		}
	}
}

// errRecord says that a record ended too soon.
var errRecord = errors.New("damaged record")

func readPlaces(path string, emit func(*Place) error) error {
	return readRecords(path, func(d *decoder) error {
		p := d.place()
		p.Area = d.area()
		if len(d.b) > 0 {
			r := d.streetRange(orb.Point{})
			p.Range = &r
		}
		if d.bad {
			return errRecord
		}
		return emit(&p)
	})
}

// writeFile writes data to path, whole or not at all.
func writeFile(path string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails after the rename, as it should
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Chmod(0o644)
	}
	if err == nil {
		err = tmp.Sync()
	}
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	return err
}

package gazetteer

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"gazehound/internal/disk"

	"github.com/blevesearch/vellum"
)

// Errors of Open.
var (
	ErrNewerFormat = errors.New("gazetteer of a newer format")
	ErrOlderFormat = errors.New("gazetteer of an older format")
	ErrDamaged     = errors.New("gazetteer is damaged")
)

// A Gazetteer is a compiled gazetteer: one mapped file that any number of
// goroutines and processes may read at once. Look-ups never fail; a gazetteer
// that was damaged after Open, or closed, finds nothing.
type Gazetteer struct {
	data   []byte
	unmap  func() error
	states map[string]string // country and key of a name → code of the state
	lands  map[string]string // key of a name → code of the country
	index  *vellum.FST       // key → offset of its record
	meta   meta
	closed atomic.Bool

	reachOnce sync.Once
	reaches   []streetReach // for Nearest
}

// Stats counts what a gazetteer holds.
type Stats struct {
	Houses    int      `json:"houses"`    // distinct house numbers with their streets
	Streets   int      `json:"streets"`   // distinct names per city
	Postcodes int      `json:"postcodes"` // distinct codes per country
	Cities    int      `json:"cities"`
	Outlines  int      `json:"outlines"`
	Countries []string `json:"countries"`
}

// Open maps the compiled gazetteer in dir and checks it; the check reads the
// file once. Errors wrap fs.ErrNotExist, ErrNewerFormat, ErrOlderFormat or ErrDamaged.
func Open(dir string) (*Gazetteer, error) {
	path := filepath.Join(dir, compiledFile)
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("gazetteer: %w", err)
	}
	defer f.Close()
	data, unmap, err := disk.Map(f, false)
	if err != nil {
		return nil, fmt.Errorf("gazetteer: %w", err)
	}
	g, err := load(data)
	if err != nil {
		unmap()
		return nil, fmt.Errorf("gazetteer: %s: %w", path, err)
	}
	g.unmap = unmap
	return g, nil
}

// load checks data and returns the gazetteer in it.
func load(data []byte) (*Gazetteer, error) {
	const remedy = `"gazehound gazetteer import FILE" of one of its sources makes it again`
	if len(data) < headerSize+footerSize || string(data[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: %d bytes that do not start with %q; %s", ErrDamaged, len(data), magic, remedy)
	}
	if v := binary.LittleEndian.Uint32(data[len(magic):]); v > formatVersion {
		return nil, fmt.Errorf("%w: format %d, this program reads %d; use the newer program", ErrNewerFormat, v,
			formatVersion)
	} else if v < formatVersion {
		return nil, fmt.Errorf("%w: format %d, this program reads %d; %s", ErrOlderFormat, v, formatVersion, remedy)
	}
	foot := data[len(data)-footerSize:]
	sum := len(data) - len(magic) - 4
	if string(data[sum+4:]) != magic || crc32.Checksum(data[:sum], crcTable) != binary.LittleEndian.Uint32(data[sum:]) {
		return nil, fmt.Errorf("%w: its checksum is wrong; %s", ErrDamaged, remedy)
	}
	index, meta := binary.LittleEndian.Uint64(foot), binary.LittleEndian.Uint64(foot[8:])
	end := uint64(len(data) - footerSize)
	if index > meta || meta > end {
		return nil, fmt.Errorf("%w: the index lies outside the file; %s", ErrDamaged, remedy)
	}
	g := &Gazetteer{data: data}
	err := gob.NewDecoder(bytes.NewReader(data[meta:end])).Decode(&g.meta)
	if err == nil {
		g.index, err = vellum.Load(data[index:meta:meta])
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w; %s", ErrDamaged, err, remedy)
	}
	g.nameStates()
	return g, nil
}

// at returns a codec that reads the record at off.
func (g *Gazetteer) at(off uint64) *codec {
	if off >= uint64(len(g.data)) || g.closed.Load() {
		c := readFrom(nil)
		c.Fail()
		return c
	}
	return readFrom(g.data[off:])
}

// find returns the record of a key, or nil.
func (g *Gazetteer) find(key []byte) *codec {
	if g.closed.Load() {
		return nil
	}
	off, ok, err := g.index.Get(key)
	if !ok || err != nil {
		return nil
	}
	return g.at(off)
}

// each yields the keys of the index that begin with prefix, in their order, and the
// offsets of their records.
func (g *Gazetteer) each(prefix string) iter.Seq2[string, uint64] {
	return g.between(prefix, prefix+"\xff")
}

// between yields the keys from one up to another.
func (g *Gazetteer) between(from, to string) iter.Seq2[string, uint64] {
	return func(yield func(string, uint64) bool) {
		if g.closed.Load() {
			return
		}
		it, err := g.index.Iterator([]byte(from), []byte(to))
		for ; err == nil; err = it.Next() { // it ends with vellum.ErrIteratorDone
			if key, off := it.Current(); !yield(string(key), off) {
				return
			}
		}
	}
}

// Of returns a gazetteer of the given places, held in memory. It is for tests
// and made-up worlds and panics on a place that cannot be kept.
func Of(places ...Place) *Gazetteer {
	in := input{Source{Name: "memory", Format: "memory", Places: len(places)}, func(emit func(*Place) error) error {
		for _, p := range places {
			p.Names = slices.Clone(p.Names)
			if err := p.check(); err != nil {
				return err
			}
			if err := emit(&p); err != nil {
				return err
			}
		}
		return nil
	}}
	var out bytes.Buffer
	err := compile(context.Background(), &out, []input{in}, os.TempDir(), buildMemory)
	if err != nil {
		panic(fmt.Sprintf("gazetteer.Of: %v", err))
	}
	g, err := load(out.Bytes())
	if err != nil {
		panic(fmt.Sprintf("gazetteer.Of: %v", err))
	}
	g.unmap = func() error { return nil }
	return g
}

// Close unmaps the file. No method may run at the same time or afterwards,
// other than Close.
func (g *Gazetteer) Close() error {
	if g.closed.Swap(true) {
		return nil
	}
	return g.unmap()
}

// Stats counts what g holds.
func (g *Gazetteer) Stats() Stats {
	s := g.meta.Stats
	s.Countries = slices.Clone(s.Countries)
	return s
}

// Sources returns the sources of g with their licences, oldest first.
func (g *Gazetteer) Sources() []Source { return slices.Clone(g.meta.Sources) }

// Countries returns the country codes of g, sorted.
func (g *Gazetteer) Countries() []string { return slices.Clone(g.meta.Stats.Countries) }

// sourceName returns the name of the source with index i.
func (g *Gazetteer) sourceName(i int) string {
	if i < 0 || i >= len(g.meta.Sources) {
		return ""
	}
	return g.meta.Sources[i].Name
}

package gazetteer

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"gazehound/internal/disk"

	"github.com/blevesearch/vellum"
)

// Errors of Open.
var (
	ErrNewerFormat = errors.New("gazetteer of a newer format")
	ErrDamaged     = errors.New("gazetteer is damaged")
)

// A Gazetteer is a compiled gazetteer: one mapped file that any number of
// goroutines and processes may read at once. Look-ups never fail; a gazetteer
// that was damaged after Open, or closed, finds nothing.
type Gazetteer struct {
	data                       []byte
	unmap                      func() error
	format                     uint32            // of the file
	states                     map[string]string // country and key of a name → code of the state
	lands                      map[string]string // key of a name → code of the country
	streets, postcodes, cities *vellum.FST
	objects                    *vellum.FST // nil: none
	table                      [sections][2]uint64
	meta                       meta
	closed                     atomic.Bool
	reachOnce                  sync.Once
	reaches                    []streetReach // for Nearest
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
// file once. Errors wrap fs.ErrNotExist, ErrNewerFormat or ErrDamaged.
func Open(dir string) (*Gazetteer, error) {
	path := filepath.Join(dir, compiledFile)
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("gazetteer: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("gazetteer: %w", err)
	}
	if info.Size() < int64(headerSize+footerSize) || info.Size() > math.MaxInt {
		return nil, fmt.Errorf("gazetteer: %s: %w: it has %d bytes; import its sources again", path, ErrDamaged, info.Size())
	}
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
	if len(data) < headerSize+footerSize || string(data[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: it does not start with %q; import its sources again", ErrDamaged, magic)
	}
	if v := binary.LittleEndian.Uint32(data[len(magic):]); v > formatVersion {
		return nil, fmt.Errorf("%w: format %d, this program reads up to %d; use the newer program", ErrNewerFormat, v, formatVersion)
	}
	foot := data[len(data)-footerSize:]
	sum := len(data) - len(magic) - 4
	if string(foot[footerSize-len(magic):]) != magic || crc32.Checksum(data[:sum], crcTable) != binary.LittleEndian.Uint32(data[sum:]) {
		return nil, fmt.Errorf("%w: its checksum is wrong; import its sources again", ErrDamaged)
	}
	g := &Gazetteer{data: data, format: binary.LittleEndian.Uint32(data[len(magic):])}
	for i := range g.table {
		off, n := binary.LittleEndian.Uint64(foot[i*16:]), binary.LittleEndian.Uint64(foot[i*16+8:])
		if off > uint64(len(data)) || n > uint64(len(data))-off {
			return nil, fmt.Errorf("%w: section %d lies outside the file", ErrDamaged, i)
		}
		g.table[i] = [2]uint64{off, n}
	}
	if err := json.Unmarshal(g.section(sectionMeta), &g.meta); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if err := g.loadObjects(); err != nil {
		return nil, err
	}
	g.nameStates()
	for i, fst := range []**vellum.FST{&g.streets, &g.postcodes, &g.cities} {
		var err error
		if *fst, err = vellum.Load(g.section(i)); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	return g, nil
}

func (g *Gazetteer) section(i int) []byte {
	off, n := g.table[i][0], g.table[i][1]
	return g.data[off : off+n : off+n]
}

// at returns a decoder of the record at off.
func (g *Gazetteer) at(off uint64) decoder {
	if off >= uint64(len(g.data)) || g.closed.Load() {
		d := decoder{}
		d.Fail()
		return d
	}
	return decode(g.data[off:])
}

// find looks key up in one of the FSTs.
func (g *Gazetteer) find(fst *vellum.FST, key string) (off uint64, ok bool) {
	if key == "" || g.closed.Load() {
		return 0, false
	}
	off, ok, err := fst.Get([]byte(key))
	return off, ok && err == nil
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
	if err := compile(context.Background(), &out, []input{in}, os.TempDir(), buildMemory); err != nil {
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
func (g *Gazetteer) sourceName(i uint64) string {
	if i >= uint64(len(g.meta.Sources)) {
		return ""
	}
	return g.meta.Sources[i].Name
}

// scopes returns the countries that a place of the wanted one may be filed
// under: itself and "", or all.
func (g *Gazetteer) scopes(country string) []string {
	if country != "" {
		return []string{strings.ToUpper(country), ""}
	}
	return append(slices.Clone(g.meta.Stats.Countries), "")
}

// Package importer adds files of places to a gazetteer, in whichever of the
// known formats they are.
package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"gazehound/gazetteer"
	"gazehound/gazetteer/geonames"
	"gazehound/gazetteer/openaddresses"
	"gazehound/gazetteer/osm"
	"gazehound/gazetteer/table"
	"gazehound/gazetteer/tiger"
	"gazehound/internal/disk"
	"gazehound/internal/textutil"
)

// A Format is one that files can have.
type Format struct {
	Name, About          string
	Licence, Attribution string // of all data in this format; "" where sources differ

	reader readerOf // nil: the format needs the file by name
}

// A readerOf returns what reads a file.
type readerOf func(b *gazetteer.Builder, o Options, refuse gazetteer.Refuse) (gazetteer.Reader, error)

// plain is the reader of a format that has no options.
func plain(read func(gazetteer.Refuse) gazetteer.Reader) readerOf {
	return func(_ *gazetteer.Builder, _ Options, refuse gazetteer.Refuse) (gazetteer.Reader, error) {
		return read(refuse), nil
	}
}

const osmFormat, tigerFormat, tableFormat = "osm", "tiger", "table"

var formats = []Format{
	{osmFormat, "OpenStreetMap extract: .osm.pbf, .osm, .osm.gz", osm.Licence, osm.Attribution, nil},
	{"openaddresses", "OpenAddresses: CSV or GeoJSON, one feature a line", "", "", readOpenAddresses},
	{tigerFormat, "TIGER/Line address features: .shp, .zip, or Nominatim's CSV", tiger.Licence,
		tiger.Attribution, plain(tiger.CSV)},
	{geonames.FormatPostal, "GeoNames postal codes, 12 columns", geonames.Licence, geonames.Attribution,
		plain(geonames.Postal)},
	{geonames.FormatDump, "GeoNames dump of places, 19 columns", geonames.Licence, geonames.Attribution,
		plain(geonames.Dump)},
	{geonames.FormatNames, "GeoNames alternate names, after the dump", geonames.Licence, geonames.Attribution,
		readNames},
	{geonames.FormatAdmin, "GeoNames names of states (admin1CodesASCII.txt)", geonames.Licence,
		geonames.Attribution, plain(geonames.Admin)},
	{geonames.FormatCountries, "GeoNames names of countries (countryInfo.txt)", geonames.Licence,
		geonames.Attribution, plain(geonames.Countries)},
	{tableFormat, "CSV, TSV, GeoJSON, JSON with the usual column names or --map", "", "", readTable},
}

// Formats returns all formats.
func Formats() []Format { return slices.Clone(formats) }

// Names returns the names of all formats.
func Names() (names []string) {
	for _, f := range formats {
		names = append(names, f.Name)
	}
	return names
}

func readOpenAddresses(_ *gazetteer.Builder, o Options, refuse gazetteer.Refuse) (gazetteer.Reader, error) {
	return openaddresses.Reader(openaddresses.Options{Country: o.Country, Refuse: refuse}), nil
}

func readTable(_ *gazetteer.Builder, o Options, refuse gazetteer.Refuse) (gazetteer.Reader, error) {
	return table.Reader(table.Options{Map: o.Columns, Country: o.Country, Refuse: refuse}), nil
}

// readNames reads names of the places that the dump of GeoNames has brought.
func readNames(b *gazetteer.Builder, _ Options, refuse gazetteer.Refuse) (gazetteer.Reader, error) {
	cities := map[string]gazetteer.Place{}
	err := b.Places(geonames.FormatDump, func(p *gazetteer.Place) error {
		cities[p.ID] = gazetteer.Place{Kind: p.Kind, ID: p.ID, Names: p.Names[:1:1], Country: p.Country,
			State: p.State, Point: p.Point, HasPoint: p.HasPoint}
		return nil
	})
	if err == nil && len(cities) == 0 {
		err = errors.New("alternate names belong to places of the GeoNames dump; import that first")
	}
	return geonames.Names(cities, refuse), err
}

// ErrMemory means that a file does not fit in Options.Memory.
var ErrMemory = errors.New("it takes more memory than storage.memory allows")

// Options say what is not in the files themselves.
type Options struct {
	Format               string    // "": told by the content
	Columns              table.Map // of tables
	Licence, Attribution string    // "": those of the format
	Country              string    // of places that do not say theirs: ISO 3166-1, in upper case
	Refused              string    // file for rows that cannot be used; "": one for each source, in the gazetteer
	TempDir              string
	Memory               int64 // bytes of heap beyond which an import ends; 0: no bound
	Growth               int64 // bytes that a packed file may unpack to; see gazetteer.OpenSource
}

// An Imported is what became of one file.
type Imported struct {
	gazetteer.Source
	Refused     int          `json:"refused"`                // rows that could not be used
	RefusedFile string       `json:"refused_file,omitempty"` // which has them, with the reasons
	Extract     *osm.Extract `json:"-"`                      // of an OpenStreetMap extract
}

// Import adds files to the gazetteer in dir and builds it anew; after an error it is as it was before.
// begins is called with each file before it is read, and with nil before the gazetteer is built.
func (o Options) Import(ctx context.Context, dir string, files []string,
	begins func(one *Imported)) (done []Imported, err error) {
	b, err := gazetteer.NewBuilder(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			b.Discard()
		}
	}()
	for _, file := range files {
		one, err := o.Begin(file)
		if err == nil {
			begins(&one)
			err = o.Add(ctx, b, dir, file, &one)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("%s does not exist", file)
		case err != nil:
			return nil, err
		}
		done = append(done, one)
	}
	begins(nil)
	return done, b.Finish(ctx)
}

// Begin returns what is to be known of a file before it is read: its name, its
// format, and whose data it is.
func (o Options) Begin(file string) (one Imported, err error) {
	one.Source = gazetteer.Source{Name: filepath.Base(file), Format: o.Format, Licence: o.Licence,
		Attribution: o.Attribution}
	if one.Format == "" {
		if one.Format, err = guessFormat(file, o.Growth); err != nil {
			return one, err
		}
	}
	if len(o.Columns) > 0 && one.Format != tableFormat {
		return one, fmt.Errorf("%s: --map is for tables, this is %s; --format table says otherwise", one.Name,
			one.Format)
	}
	for _, f := range formats {
		if f.Name == one.Format {
			one.Licence, one.Attribution = cmp.Or(one.Licence, f.Licence), cmp.Or(one.Attribution, f.Attribution)
		}
	}
	return one, nil
}

// Add adds a file, of which Begin returned one, to the gazetteer in dir that b
// builds.
func (o Options) Add(ctx context.Context, b *gazetteer.Builder, dir, file string, one *Imported) error {
	refused := &refusedFile{path: o.Refused, name: one.Name, more: o.Refused != ""}
	if !refused.more {
		refused.path = filepath.Join(dir, "refused", one.Name+".tsv")
	}
	err := b.Add(&one.Source, func(emit func(gazetteer.Place) error) error {
		return o.read(ctx, b, one, file, refused.add, emit)
	})
	err = errors.Join(err, refused.close())
	one.Refused, one.RefusedFile = refused.rows, refused.written()
	return err
}

// read emits the places of one file.
func (o Options) read(ctx context.Context, b *gazetteer.Builder, one *Imported, file string, refuse gazetteer.Refuse,
	emit func(gazetteer.Place) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: the program panicked over this file; please report it: %v\n%s", one.Name, p,
				debug.Stack())
		}
	}()
	switch {
	case one.Format == osmFormat:
		how := osm.Options{Country: o.Country, Refuse: refuse, Shape: b.Shape, TempDir: o.TempDir,
			Room: o.room(), Growth: o.Growth}
		if one.Extract, err = osm.Read(ctx, file, how, emit); err != nil {
			return err
		}
		if !one.Extract.Date.IsZero() {
			one.Source.Data = one.Extract.Date.UTC().Format(time.DateOnly)
		}
		return nil
	case one.Format == tigerFormat && tiger.IsShapefileAt(file):
		return tiger.Read(ctx, file, refuse, emit)
	}
	i := slices.IndexFunc(formats, func(f Format) bool { return f.Name == one.Format })
	read, err := formats[i].reader(b, o, refuse)
	if err != nil {
		return err
	}
	src, _, err := gazetteer.OpenSource(file, o.Growth)
	if err != nil {
		return err
	}
	defer src.Close()
	return read(ctx, src, emit)
}

// room returns what reports whether more of a file may be kept in memory.
func (o Options) room() func() error {
	if o.Memory == 0 {
		return nil
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}} // as of the last collection
	return func() error {
		metrics.Read(live)
		if now := live[0].Value.Uint64(); now > uint64(o.Memory)/10*6 {
			return fmt.Errorf("%w of %d MB. Set storage.memory or cut the extract to the region (osmium "+
				"extract)", ErrMemory, o.Memory/1e6)
		}
		return nil
	}
}

// guessFormat determines the format of a file by its content.
func guessFormat(file string, growth int64) (string, error) {
	if tiger.IsShapefileAt(file) {
		return tigerFormat, nil
	}
	src, head, err := gazetteer.OpenSource(file, growth)
	if err != nil {
		return "", err
	}
	defer src.Close()
	switch {
	case osm.Sniff(head):
		return osmFormat, nil
	case geonames.Sniff(head) != "":
		return geonames.Sniff(head), nil
	case tiger.SniffCSV(head):
		return tigerFormat, nil
	case openaddresses.Sniff(head):
		return "openaddresses", nil
	case len(head) == 0:
		return "", fmt.Errorf("%s is empty", file)
	}
	return tableFormat, nil
}

// WriteLicences writes the text that travels with the data: whose it is and
// under which licence.
func WriteLicences(file string, sources []gazetteer.Source) error {
	var b strings.Builder
	b.WriteString("The data in this directory is made from these sources and stands under their licences.\n\n")
	for _, s := range sources {
		fmt.Fprintf(&b, "%s (%s", s.Name, s.Format)
		if s.Data != "" {
			fmt.Fprintf(&b, ", data of %s", s.Data)
		}
		b.WriteString(")\n")
		if s.Attribution != "" {
			fmt.Fprintf(&b, "  %s\n", s.Attribution)
		}
		licence := cmp.Or(s.Licence, "unknown; --licence of \"gazehound gazetteer import\" names it")
		fmt.Fprintf(&b, "  licence: %s\n\n", licence)
	}
	if err := disk.ReplaceBytes(file, 0o644, []byte(b.String())); err != nil {
		return fmt.Errorf("licences: %w", err)
	}
	return nil
}

// String describes in one line what became of the file.
func (one Imported) String() string {
	text := fmt.Sprintf("%s  %s, %s places", one.Name, one.Format, textutil.Count(one.Places))
	if one.Refused > 0 {
		text += fmt.Sprintf(", %s refused", textutil.Count(one.Refused))
	}
	if one.Refused > 0 && one.RefusedFile != "" {
		text += " → " + one.RefusedFile
	}
	return text
}

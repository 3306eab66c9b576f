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
	"runtime"
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

	read func(*job) error
}

// A job is the reading of one file.
type job struct {
	Options
	ctx    context.Context
	b      *gazetteer.Builder
	file   string
	one    *Imported
	refuse gazetteer.Refuse
	emit   func(gazetteer.Place) error
}

const osmFormat, tigerFormat, tableFormat = "osm", "tiger", "table"

var formats = []Format{
	{osmFormat, "OpenStreetMap extract: .osm.pbf, .osm, .osm.gz", osm.Licence, osm.Attribution, readOSM},
	{"openaddresses", "OpenAddresses: CSV or GeoJSON, one feature a line", "", "", func(j *job) error {
		return j.text(openaddresses.Reader(openaddresses.Options{Country: j.Country, Refuse: j.refuse}))
	}},
	{tigerFormat, "TIGER/Line address features: .shp, .zip, or Nominatim's CSV", tiger.Licence,
		tiger.Attribution, readTiger},
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
	{tableFormat, "CSV, TSV, GeoJSON, JSON with the usual column names or --map", "", "", func(j *job) error {
		return j.text(table.Reader(table.Options{Map: j.Columns, Country: j.Country, Refuse: j.refuse, Columns: j.Say}))
	}},
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

// text emits the places of a file of text.
func (j *job) text(read gazetteer.Reader) error {
	src, _, err := gazetteer.OpenSource(j.file, j.Growth)
	if err != nil {
		return err
	}
	defer src.Close()
	return read(j.ctx, src, j.emit)
}

// plain reads a format that has no options.
func plain(reader func(gazetteer.Refuse) gazetteer.Reader) func(*job) error {
	return func(j *job) error { return j.text(reader(j.refuse)) }
}

func readOSM(j *job) (err error) {
	j.one.Extract, err = osm.Read(j.ctx, j.file, osm.Options{Country: j.Country, Refuse: j.refuse, Shape: j.b.Shape,
		TempDir: j.TempDir, Room: j.room(), Growth: j.Growth}, j.emit)
	if err == nil && !j.one.Extract.Date.IsZero() {
		j.one.Data = j.one.Extract.Date.UTC().Format(time.DateOnly)
	}
	return err
}

func readTiger(j *job) error {
	if tiger.IsShapefileAt(j.file) {
		return tiger.Read(j.ctx, j.file, j.refuse, j.emit)
	}
	return j.text(tiger.CSV(j.refuse))
}

// readNames reads names of the places that the dump of GeoNames has brought.
func readNames(j *job) error {
	cities := map[string]gazetteer.Place{}
	err := j.b.Places(geonames.FormatDump, func(p *gazetteer.Place) error {
		cities[p.ID] = gazetteer.Place{Kind: p.Kind, ID: p.ID, Names: p.Names[:1:1], Country: p.Country,
			State: p.State, Point: p.Point, HasPoint: p.HasPoint}
		return nil
	})
	if err == nil && len(cities) == 0 {
		err = errors.New("alternate names belong to places of the GeoNames dump; import that first")
	}
	if err != nil {
		return err
	}
	return j.text(geonames.Names(cities, j.refuse))
}

// ErrMemory means that a file does not fit in Options.Memory.
var ErrMemory = errors.New("it takes more memory than storage.memory allows")

// Options are facts that are not in the files themselves.
type Options struct {
	Format               string    // "": detected from the content
	Columns              table.Map // of tables
	Licence, Attribution string    // "": those of the format
	Country              string    // of places that do not state one: ISO 3166-1, in upper case
	Refused              string    // file for rows that cannot be used; "": one for each source, in the gazetteer
	TempDir              string
	Memory               int64 // bytes of heap beyond which an import ends; 0: no bound
	Growth               int64 // bytes that a packed file may unpack to; see gazetteer.OpenSource

	// Say gets which columns of a table are read as what, before its first place. It may be nil.
	Say func(text string)
}

// An Imported is what became of one file.
type Imported struct {
	gazetteer.Source
	Refused     int          `json:"refused"`                // rows that could not be used
	RefusedFile string       `json:"refused_file,omitempty"` // which has them, with the reasons
	Extract     *osm.Extract `json:"-"`                      // of an OpenStreetMap extract
}

// Import adds files to the gazetteer in dir and rebuilds it; after an error it is unchanged.
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
		one, f, err := o.open(file)
		if err == nil {
			begins(&one)
			err = o.add(ctx, b, dir, file, f, &one)
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

// open returns what is to be known of a file before it is read, and its format.
func (o Options) open(file string) (one Imported, f Format, err error) {
	name := o.Format
	if name == "" {
		name, err = guessFormat(file, o.Growth)
		if err != nil {
			return one, f, err
		}
	}
	f = formats[slices.IndexFunc(formats, func(f Format) bool { return f.Name == name })]
	one.Source = gazetteer.Source{Name: filepath.Base(file), Format: name,
		Licence: cmp.Or(o.Licence, f.Licence), Attribution: cmp.Or(o.Attribution, f.Attribution)}
	if len(o.Columns) > 0 && name != tableFormat {
		err = fmt.Errorf("%s: --map is for tables, this is %s; --format table says otherwise", one.Name, name)
	}
	return one, f, err
}

// add adds a file to the gazetteer in dir that b builds.
func (o Options) add(ctx context.Context, b *gazetteer.Builder, dir, file string, f Format, one *Imported) error {
	refused := &refusedFile{path: o.Refused, name: one.Name, more: o.Refused != ""}
	if !refused.more {
		refused.path = filepath.Join(dir, "refused", one.Name+".tsv")
	}
	err := b.Add(&one.Source, func(emit func(gazetteer.Place) error) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("%s: the program panicked over this file; please report it: %v\n%s", one.Name, p,
					debug.Stack())
			}
		}()
		return f.read(&job{Options: o, ctx: ctx, b: b, file: file, one: one, refuse: refused.add, emit: emit})
	})
	err = errors.Join(err, refused.close())
	one.Refused, one.RefusedFile = refused.rows, refused.written()
	return err
}

// room returns what reports whether more of a file may be kept in memory. What the process held before
// is not the import's.
func (o Options) room() func() error {
	if o.Memory == 0 {
		return nil
	}
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}} // as of the last collection
	live := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	limit := live() + uint64(o.Memory)/10*6
	return func() error {
		if live() <= limit {
			return nil
		}
		runtime.GC() // the last one counted what was allocated while it ran
		if live() > limit {
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
	case osm.Unread(head) != "":
		return "", fmt.Errorf("%s: %s", filepath.Base(file), strings.ReplaceAll(osm.Unread(head), "FILE", filepath.Base(file)))
	}
	return tableFormat, nil
}

// WriteLicences writes the text that travels with the data: whose it is and
// under which licence.
func WriteLicences(file string, sources []gazetteer.Source) error {
	var b strings.Builder
	b.WriteString("The data in this directory comes from these sources and is under their licences.\n\n")
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
	err := disk.ReplaceBytes(file, 0o644, []byte(b.String()))
	if err != nil {
		return fmt.Errorf("licences: %w", err)
	}
	return nil
}

// String describes in one line what became of the file.
func (one Imported) String() string {
	text := fmt.Sprintf("%s  %s, %s", one.Name, one.Format, textutil.Several(one.Places, "place"))
	if one.Refused > 0 {
		text += fmt.Sprintf(", %s refused", textutil.Count(one.Refused))
	}
	if one.Refused > 0 && one.RefusedFile != "" {
		text += " → " + one.RefusedFile
	}
	return text
}

package differences

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"gazehound/index/export"
	"gazehound/internal/textutil"

	"github.com/paulmach/orb"
)

// Properties are what programs read of a difference, in the words of package export.
type Properties struct {
	Ref        string            `json:"ref"`
	Difference Kind              `json:"difference"`
	Name       string            `json:"name"`
	Kind       string            `json:"@kind,omitempty"`     // of place, see package kind
	Full       string            `json:"addr:full,omitempty"` // the address
	Web        string            `json:"web,omitempty"`       // what pages state
	Map        string            `json:"map,omitempty"`       // what the map has
	Confidence float64           `json:"@confidence"`         // 0 to 1
	Object     string            `json:"@osm_object,omitempty"`
	ObjectURL  string            `json:"@osm_url,omitempty"`
	Address    string            `json:"@address,omitempty"` // ID of the address that pages state
	Source     string            `json:"@source_uri,omitempty"`
	Title      string            `json:"@title,omitempty"`
	Evidence   string            `json:"@evidence,omitempty"`
	Fetched    time.Time         `json:"@fetched,omitzero"`
	Set        map[string]string `json:"set_tags,omitempty"`
	Unset      []string          `json:"unset_tags,omitempty"`
}

// Properties returns what programs read of d.
func (d *Difference) Properties() Properties {
	at := d.At()
	p := Properties{Ref: d.ID, Difference: d.Kind, Name: d.Label(), Kind: at.Kind, Full: d.Address(),
		Web: d.Web, Map: d.Map, Confidence: d.Confidence, Unset: d.Unset}
	if d.Place != nil {
		p.Object, p.ObjectURL = d.Place.ID, export.ObjectURL(d.Place.ID, d.Place.Point)
	}
	if d.Hit != nil {
		p.Address = d.Hit.ID
	}
	if e := d.Evidence; e != nil {
		p.Source, p.Title, p.Evidence, p.Fetched = e.URL, e.Title, strings.TrimSpace(e.Snippet.Text), e.Fetched
	}
	for _, tag := range d.Set {
		if p.Set == nil {
			p.Set = map[string]string{}
		}
		p.Set[tag[0]] = tag[1]
	}
	return p
}

// Point returns where a mapper finds what differs: where pages state it if the map lacks it there.
func (d *Difference) Point() orb.Point { return d.At().Point }

// Feature returns d as GeoJSON.
func (d *Difference) Feature() export.Feature {
	return export.Feature{Type: "Feature", ID: d.ID, Geometry: export.PointAt(d.Point()), Properties: d.Properties()}
}

// Formats are those of Write.
var Formats = []string{"geojson", "csv", "maproulette"}

// Terms are those of the data.
type Terms struct{ Licence, Attribution string }

// A Summary counts what was written.
type Summary struct {
	Written int // features, rows or tasks
	LeftOut int // differences that the format has no place for
}

// Write writes differences in a format. maproulette has one cooperative task for each object of the
// map whose tags differ, with the tags to set, and leaves the others out; where there is no such
// object, each difference is a plain task.
func Write(w io.Writer, format string, all []*Difference, terms Terms) (sum Summary, err error) {
	b := bufio.NewWriterSize(w, 64<<10)
	switch format {
	case "geojson":
		err = writeGeoJSON(b, all, terms)
	case "csv":
		err = writeCSV(b, all)
	case "maproulette":
		sum, err = writeTasks(b, all)
	default:
		return sum, fmt.Errorf("differences: format %.40q is not offered; one of %s", format, strings.Join(Formats, ", "))
	}
	if format != "maproulette" {
		sum.Written = len(all)
	}
	if err == nil {
		err = b.Flush()
	}
	if err != nil {
		return Summary{}, fmt.Errorf("differences: %w", err)
	}
	return sum, nil
}

// encode writes v as JSON in one line.
func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func writeGeoJSON(w *bufio.Writer, all []*Difference, terms Terms) error {
	head, err := json.Marshal(struct {
		Type        string `json:"type"`
		Licence     string `json:"licence"`
		Attribution string `json:"attribution"`
	}{"FeatureCollection", terms.Licence, terms.Attribution})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s,\"features\":[\n", head[:len(head)-1])
	for i, d := range all {
		if i > 0 {
			w.WriteByte(',')
		}
		err := encode(w, d.Feature())
		if err != nil {
			return err
		}
	}
	_, err = w.WriteString("]}\n")
	return err
}

// writeCSV writes a table (RFC 4180) in which no cell is a formula.
func writeCSV(w io.Writer, all []*Difference) error {
	t := csv.NewWriter(w)
	t.UseCRLF = true
	t.Write(strings.Fields("ref difference name kind address web map confidence osm_object osm_url source_uri " +
		"evidence fetched set_tags lat lon"))
	for _, d := range all {
		p, at, fetched := d.Properties(), d.Point(), ""
		if !p.Fetched.IsZero() {
			fetched = p.Fetched.Format(time.RFC3339)
		}
		var set []string
		for _, tag := range d.Set {
			set = append(set, tag[0]+"="+tag[1])
		}
		row := []string{p.Ref, string(p.Difference), p.Name, p.Kind, p.Full, p.Web, p.Map, number(p.Confidence),
			p.Object, p.ObjectURL, p.Source, p.Evidence, fetched, strings.Join(set, "|"), number(export.Round(at[1], 6)),
			number(export.Round(at[0], 6))}
		for i := range row[:len(row)-2] {
			row[i] = textutil.Guard(row[i])
		}
		t.Write(row)
	}
	t.Flush()
	return t.Error()
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// A task is one of MapRoulette's: a FeatureCollection in one line, with the work that a mapper is
// asked to check. https://learn.maproulette.org/en-us/documentation/creating-cooperative-challenges/
type task struct {
	Type     string           `json:"type"` // "FeatureCollection"
	Features []export.Feature `json:"features"`
	Work     *work            `json:"cooperativeWork,omitempty"`
}

type work struct {
	Meta struct {
		Version int `json:"version"` // 2
		Type    int `json:"type"`    // 1: tags
	} `json:"meta"`
	Operations []operation `json:"operations"`
}

type operation struct {
	Type string `json:"operationType"` // "modifyElement"
	Data struct {
		ID         string      `json:"id"` // "node/240036"
		Operations []tagChange `json:"operations"`
	} `json:"data"`
}

// A tagChange sets or takes away tags.
type tagChange struct {
	Operation string `json:"operation"` // "setTags" or "unsetTags"
	Data      any    `json:"data"`      // map[string]string, or the keys
}

// recordSeparator begins a task (RFC 7464).
const recordSeparator = '\x1e'

func writeTasks(w *bufio.Writer, all []*Difference) (sum Summary, err error) {
	var objects []string
	of := map[string][]*Difference{} // by object
	for _, d := range all {
		if d.Kind.IsTags() && export.OSMObject.MatchString(d.Place.ID) {
			if of[d.Place.ID] == nil {
				objects = append(objects, d.Place.ID)
			}
			of[d.Place.ID] = append(of[d.Place.ID], d)
		} else {
			sum.LeftOut++
		}
	}
	slices.Sort(objects)
	write := func(t task) error {
		sum.Written++
		w.WriteByte(recordSeparator)
		return encode(w, t)
	}
	for _, object := range objects {
		err := write(cooperative(of[object]))
		if err != nil {
			return sum, err
		}
	}
	if len(objects) > 0 {
		return sum, nil
	}
	sum.LeftOut = 0
	for _, d := range all {
		err := write(task{Type: "FeatureCollection", Features: []export.Feature{d.taskFeature()}})
		if err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// taskFeature returns d without the words of pages, which are not the mapper's to publish.
func (d *Difference) taskFeature() export.Feature {
	f := d.Feature()
	p := f.Properties.(Properties)
	p.Title, p.Evidence = "", ""
	f.Properties = p
	return f
}

// cooperative returns the task for the tags of one object.
func cooperative(all []*Difference) task {
	t := task{Type: "FeatureCollection", Work: &work{}}
	t.Work.Meta.Version, t.Work.Meta.Type = 2, 1
	set, unset := map[string]string{}, []string(nil)
	for _, d := range all {
		t.Features = append(t.Features, d.taskFeature())
		for _, tag := range d.Set {
			set[tag[0]] = tag[1]
		}
		unset = append(unset, d.Unset...)
	}
	one := operation{Type: "modifyElement"}
	one.Data.ID = all[0].Place.ID
	one.Data.Operations = []tagChange{{"setTags", set}}
	if len(unset) > 0 {
		one.Data.Operations = append(one.Data.Operations, tagChange{"unsetTags", unset})
	}
	t.Work.Operations = []operation{one}
	return t
}

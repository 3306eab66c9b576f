package api

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gazehound/gazetteer"
	"gazehound/geoparse"
	"gazehound/index"
	"gazehound/index/export"
	"gazehound/index/web"
	"gazehound/internal/kind"

	"github.com/paulmach/orb"
)

// A route is a set of requests that a parameter belongs to.
type route uint32

const (
	onSearch route = 1 << iota
	onClusters
	onFacets
	onSuggest
	onAddress
	onExport
	onFeed
	onPhoton
	onReverse
	onStructured
	onItems
	onPage
	onPlain // documents without parameters but for f
	onBot
	onStatus
	onOne // the page of one address

	filtered = onSearch | onClusters | onFacets | onFeed | onPage | onItems // routes with all filters
	worded   = filtered | onPhoton                                          // routes with words
	photons  = onPhoton | onReverse | onStructured
)

// asked is what a request asks for.
type asked struct {
	index.Query
	lat, lon *float64
	zoom     *int
	scale    *float64 // location_bias_scale
	format   export.Format
	fields   []string // of the properties; nil: all
	warning  string
	t        words             // in which it is said what is wrong
	layers   []string          // of Photon; nil: all
	parts    [4]string         // street, housenumber, postcode, city of onStructured
	relative bool              // since counts back from now
	given    map[string]string // the parameters as they came
}

// filtering tells whether anything narrows the answer.
func (a asked) filtering() bool {
	return a.Text != "" || a.Box != nil || a.Radius > 0 || len(a.Street) > 0 || len(a.Postcode) > 0 || len(a.City) > 0 || len(a.Host) > 0 || len(a.Kind) > 0 || len(a.Month) > 0 ||
		a.Precision > 0 || a.Level > 0 || !a.Since.IsZero() || a.InOSM != nil || a.SiteWide != nil
}

// A parameter is one row of the table that all requests are read by, and that
// /openapi.json is made from.
type parameter struct {
	name     string
	on       route
	expected string // key of what it wants among texts; "": one of enum
	example  string
	// set reads the value into a, or says what is wrong with it: a sentence,
	// or "" for `NAME wants EXPECTED, got "…"`.
	set func(s *server, a *asked, on route, value string) (ok bool, wrong string)

	// Of the schema: a type but for "string", and the values where there are
	// few.
	kind string
	enum []string

	// many tells that it may be given several times, with values of which one
	// must fit; set adds one to the others.
	many bool
}

var (
	precisions = []string{"city", "postcode", "street", "interpolated", "house"} // in the order of gazetteer.Precision
	levels     = []string{"city", "street", "verified"}                          // in the order of geoparse.Level
	sorts      = []string{"relevance", "distance", "newest", "name"}
	formats    = []string{"geojson", "csv", "ndjson", "geojsonseq", "kml", "gpx", "atom"}
	yesNo      = []string{"true", "false"}
	layers     = []string{"house", "street", "locality", "city", "other"}
)

// parameters is the only place that knows what may be asked.
var parameters = []parameter{
	{name: "q", on: worded, expected: "want_words", example: "bäckerei", set: text(func(a *asked) *string { return &a.Text })},
	{name: "q", on: onSuggest, expected: "want_beginning", example: "lan", set: text(func(a *asked) *string { return &a.Text })},
	{name: "bbox", on: filtered | onExport | onPhoton | onStructured, expected: "want_box", example: "8.1,53.1,8.3,53.2", set: setBox},
	{name: "lat", on: filtered | onExport | photons, expected: "want_latitude", example: "53.14", kind: "number", set: degrees("lat", 90, func(a *asked) **float64 { return &a.lat })},
	{name: "lon", on: filtered | onExport | photons, expected: "want_longitude", example: "8.21", kind: "number", set: degrees("lon", 180, func(a *asked) **float64 { return &a.lon })},
	{name: "radius", on: filtered | onExport, expected: "want_metres", example: "500", kind: "number", set: setRadius(1)},
	{name: "radius", on: onReverse, expected: "want_kilometres", example: "1", kind: "number", set: setRadius(1000)},
	{name: "radius_km", on: onReverse, expected: "want_kilometres", example: "1", kind: "number", set: setRadius(1000)},
	{name: "street", on: filtered | onExport, expected: "want_street", example: "Lange Straße", many: true, set: several(func(a *asked) *[]string { return &a.Street })},
	{name: "postcode", on: filtered | onExport, expected: "want_whole_postcode", example: "26122", many: true, set: several(func(a *asked) *[]string { return &a.Postcode })},
	{name: "city", on: filtered | onExport, expected: "want_city", example: "Oldenburg", many: true, set: several(func(a *asked) *[]string { return &a.City })},
	{name: "street", on: onStructured, expected: "want_street", example: "Lange Straße", set: text(func(a *asked) *string { return &a.parts[0] })},
	{name: "housenumber", on: onStructured, expected: "want_number", example: "5", set: text(func(a *asked) *string { return &a.parts[1] })},
	{name: "postcode", on: onStructured, expected: "want_postcode", example: "26122", set: text(func(a *asked) *string { return &a.parts[2] })},
	{name: "city", on: onStructured, expected: "want_city", example: "Oldenburg", set: text(func(a *asked) *string { return &a.parts[3] })},
	{name: "host", on: filtered | onExport, expected: "want_host", example: "example.org", many: true, set: several(func(a *asked) *[]string { return &a.Host })},
	{name: "kind", on: filtered | onExport, expected: "want_kind", example: "amenity=dentist", many: true, set: setKind},
	{name: "month", on: filtered | onExport, expected: "want_month", example: "2026-11", many: true, set: setMonth},
	{name: "precision", on: filtered | onExport, expected: "want_precision", example: "street", enum: precisions, set: setPrecision},
	{name: "level", on: filtered | onExport, expected: "want_level", example: "street", enum: levels, set: setLevel},
	{name: "since", on: filtered | onExport, expected: "want_since", example: "7d", set: setSince},
	{name: "datetime", on: onItems, expected: "want_interval", example: "2020-01-01T00:00:00Z/..", set: setDatetime},
	{name: "in_osm", on: filtered | onExport, expected: "want_truth", example: "false", kind: "boolean", enum: yesNo, set: truth(func(a *asked) **bool { return &a.InOSM })},
	{name: "site_wide", on: filtered | onExport, expected: "want_site_wide", example: "false", kind: "boolean", enum: yesNo, set: truth(func(a *asked) **bool { return &a.SiteWide })},
	{name: "sort", on: onSearch | onPage | onItems, expected: "", example: "newest", enum: sorts, set: setSort},
	{name: "limit", on: onSearch | onFeed | photons | onItems | onPage | onSuggest, expected: "want_limit", example: "5", kind: "integer", set: setLimit},
	{name: "cursor", on: onSearch | onPage | onItems, expected: "want_cursor", set: text(func(a *asked) *string { return &a.Cursor })},
	{name: "facets", on: onSearch | onFacets, expected: "want_facets", example: "street,postcode", set: setFacets},
	{name: "fields", on: onSearch | onItems, expected: "want_fields", example: "name,addr:street", set: setFields},
	{name: "explain", on: onSearch, expected: "want_truth", example: "true", kind: "boolean", enum: yesNo, set: setExplain},
	{name: "format", on: onSearch | onItems, expected: "", example: "csv", enum: formats, set: setFormat},
	{name: "f", on: onItems | onPlain, expected: "want_json", example: "json", enum: []string{"json"}, set: setJSON},
	{name: "layer", on: photons, expected: "", example: "street", enum: layers, many: true, set: setLayer},
	{name: "zoom", on: onPhoton | onStructured, expected: "want_zoom", example: "13", kind: "integer", set: setZoom(24)},
	{name: "zoom", on: onClusters, expected: "want_grid", example: "12", kind: "integer", set: setZoom(index.MaxZoom)},
	{name: "location_bias_scale", on: onPhoton | onStructured, expected: "want_scale", example: "0.2", kind: "number", set: setScale},
	{name: "what", on: onBot, expected: "want_removal", example: "www.example.org", set: setWhat},
	{name: "lang", on: photons | onPage | onBot | onOne, expected: "want_language", example: "de", set: setLang},
}

func facetNames() []string {
	var names []string
	for _, f := range index.Facets() {
		names = append(names, string(f))
	}
	return names
}

// wants says what is expected of the parameter on this server.
func (p *parameter) wants(s *server, t words) string {
	switch {
	case p.name == "limit":
		return t.say(p.expected, s.MaxLimit)
	case p.name == "facets":
		return t.say(p.expected, strings.Join(facetNames(), ", "))
	case p.expected == "":
		return t.say("one_of", strings.Join(p.enum, ", "))
	case len(p.enum) > 2:
		return t.say("one_of_these", t[p.expected], strings.Join(p.enum, ", "))
	}
	return t[p.expected]
}

// names returns the parameters of a route.
func (on route) names() []string {
	var names []string
	for _, p := range parameters {
		if p.on&on != 0 {
			names = append(names, p.name)
		}
	}
	return names
}

// parse reads the parameters of a request by the table. What is wrong is said in
// English, and on the page in the reader's language.
func (s *server) parse(r *http.Request, on route) (asked, *Problem) {
	a := asked{given: map[string]string{}, t: texts["en"]}
	if on == onPage {
		a.t = texts[languageOf(r)]
	}
	a.Bias = 0.8
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return a, &Problem{Title: "the query string cannot be read", Detail: a.t.say("unread"), Given: clip(r.URL.RawQuery), Hint: a.t.say("escape")}
	}
	for name := range values {
		if !slices.Contains(on.names(), name) {
			return a, a.unknown(name, values.Get(name), on)
		}
	}
	for _, p := range parameters {
		if p.on&on == 0 || !values.Has(p.name) {
			continue
		}
		if n := len(values[p.name]); n > 1 && !p.many {
			return a, &Problem{Title: p.name + " is given twice", Parameter: p.name, Given: clip(strings.Join(values[p.name], " | ")), Expected: "one " + p.name,
				Detail: a.t.say("twice", p.name, n)}
		} else if n > index.MaxValues {
			return a, &Problem{Title: p.name + " is given too often", Parameter: p.name, Given: clip(strings.Join(values[p.name], " | ")), Expected: fmt.Sprintf("at most %d times %s", index.MaxValues, p.name),
				Detail: a.t.say("often", p.name, n, index.MaxValues)}
		}
		for _, value := range values[p.name] {
			if on == onPage && value == "" {
				continue // a form sends its empty fields
			}
			a.given[p.name] = value
			if ok, wrong := p.set(s, &a, on, value); !ok {
				expected := p.wants(s, a.t)
				if wrong == "" {
					wrong = a.t.say("wants", p.name, expected, clip(value))
				}
				return a, &Problem{Title: p.name + " cannot be used", Detail: wrong, Parameter: p.name, Given: clip(value), Expected: expected, Hint: cmp.Or(a.t.hint(p.name, value), a.t.didYouMean(value, p.enum))}
			}
		}
	}
	return a, a.complete(s, on)
}

// complete checks what concerns several parameters, and sets what was not
// given.
func (a *asked) complete(s *server, on route) *Problem {
	missing := func(name, detail string) *Problem {
		problem := &Problem{Title: name + " is missing", Detail: detail, Parameter: name}
		for _, p := range parameters {
			if p.name == name && p.on&on != 0 {
				problem.Expected = p.wants(s, a.t)
			}
		}
		return problem
	}
	switch {
	case a.lat != nil && a.lon == nil:
		return missing("lon", a.t.say("no_lon"))
	case a.lon != nil && a.lat == nil:
		return missing("lat", a.t.say("no_lat"))
	case on == onReverse && a.lat == nil:
		return missing("lat", "lat and lon are missing; /reverse asks what is near them.")
	case (on == onPhoton || on == onSuggest) && strings.TrimSpace(a.Text) == "":
		return missing("q", "q is missing; it holds the words to search for.")
	case on == onStructured && a.parts == [4]string{}:
		return missing("street", "street, housenumber, postcode and city are missing; one of them is the least.")
	case on == onStructured && a.parts[1] != "" && a.parts[0] == "":
		return missing("street", "street is missing; a housenumber needs one.")
	case on == onClusters && a.Box == nil:
		return missing("bbox", "bbox is missing; clusters are counted in it.")
	case on == onClusters && a.zoom == nil:
		return missing("zoom", "zoom is missing; it says how fine the grid is.")
	case len(a.fields) > 0 && a.format.Name != "" && a.format.Name != "geojson":
		return &Problem{Title: "fields goes with geojson", Parameter: "fields", Given: a.given["fields"], Expected: "no fields",
			Detail: fmt.Sprintf("fields goes with format=geojson; %s always has all.", a.format.Name)}
	case a.Radius > 0 && on == onReverse && a.given["radius"] != "" && a.given["radius_km"] != "":
		return &Problem{Title: "radius is given twice", Parameter: "radius_km", Given: a.given["radius_km"], Expected: "radius or radius_km",
			Detail: "radius and radius_km are the same here; one is possible."}
	case a.Radius > 0 && a.lat == nil:
		return missing("lat", a.t.say("no_centre"))
	case a.Sort == index.Distance && a.lat == nil:
		return missing("lat", a.t.say("no_start"))
	}
	if a.lat != nil {
		a.Center = &orb.Point{*a.lon, *a.lat}
	}
	switch on {
	case onReverse:
		a.Sort, a.Located = index.Distance, true
		if a.Radius == 0 {
			a.Radius = 1000
		}
		if a.Limit == 0 {
			a.Limit = 1
		}
	case onFeed:
		a.Sort = index.Newest
		if a.Limit == 0 {
			a.Limit = min(50, s.MaxLimit)
		}
	case onFacets:
		if len(a.Facets) == 0 {
			a.Facets = index.Facets()
		}
		a.Limit = 1
	case onPhoton, onStructured:
		a.Located = true
		if on == onStructured {
			a.Text, a.AddressOnly = strings.Join(slices.DeleteFunc(a.parts[:], func(part string) bool { return part == "" }), " "), true
			if utf8.RuneCountInString(a.Text) > index.MaxQueryLength {
				return &Problem{Title: "the address is too long", Parameter: "street", Given: clip(a.Text), Expected: fmt.Sprintf("at most %d characters in all", index.MaxQueryLength),
					Detail: "street, housenumber, postcode and city are too long together."}
			}
		}
		if a.zoom != nil {
			a.Scale = 250 * math.Exp2(float64(18-min(*a.zoom, 18))) // metres, as Photon does
		}
		if a.scale != nil {
			a.Bias = 1 - *a.scale
		}
	case onPage:
		if a.Limit == 0 {
			a.Limit = 20
		}
	}
	if a.Limit == 0 {
		a.Limit = min(10, s.MaxLimit)
	}
	return nil
}

// unknown answers a parameter that the route does not have.
func (a *asked) unknown(name, value string, on route) *Problem {
	p := &Problem{Title: "unknown parameter", Parameter: clip(name), Given: clip(value), Expected: strings.Join(on.names(), ", "),
		Detail: a.t.say("unknown", clip(name)), Hint: a.t.didYouMean(name, on.names())}
	switch {
	case len(on.names()) == 0:
		p.Expected = "no parameters"
	case on == onStructured && name == "q":
		p.Hint = a.t.say("no_q")
	case name == "lang" || name == "language":
		p.Hint = a.t.say("no_lang")
	case name == "size" || name == "count" || name == "rows" || name == "per_page":
		p.Hint = a.t.say("mean", "limit")
	case name == "near" || name == "location" || name == "focus":
		p.Hint = a.t.say("by_degrees")
	case name == "offset" || name == "page" || name == "start":
		p.Hint = a.t.say("follow")
	case name == "radius_km":
		p.Hint = a.t.say("in_metres")
	case name == "housenumber" || name == "text" || name == "query":
		p.Hint = a.t.say("into_q")
	}
	return p
}

// hint helps with usual mistakes.
func (t words) hint(name, value string) string {
	switch {
	case (name == "lat" || name == "lon" || name == "radius") && strings.Count(value, ",") == 1 && !strings.Contains(value, "."):
		return t.say("point", strings.ReplaceAll(clip(value), ",", "."))
	case name == "limit" && value == "0":
		return t.say("count")
	}
	return ""
}

func text(field func(*asked) *string) func(*server, *asked, route, string) (bool, string) {
	return func(_ *server, a *asked, _ route, value string) (bool, string) {
		switch {
		case !utf8.ValidString(value):
			return false, a.t.say("not_utf8")
		case utf8.RuneCountInString(value) > index.MaxQueryLength:
			return false, a.t.say("long", utf8.RuneCountInString(value), index.MaxQueryLength)
		case strings.ContainsRune(value, 0):
			return false, a.t.say("nul")
		}
		*field(a) = strings.TrimSpace(value)
		return true, ""
	}
}

// several adds a value to those of a field. An empty one asks for nothing.
func several(field func(*asked) *[]string) func(*server, *asked, route, string) (bool, string) {
	return func(s *server, a *asked, on route, value string) (bool, string) {
		one := ""
		ok, wrong := text(func(*asked) *string { return &one })(s, a, on, value)
		if ok && one != "" {
			*field(a) = append(*field(a), one)
		}
		return ok, wrong
	}
}

// decimal reads a finite decimal number; hexadecimal, "inf" and "nan" are none.
func decimal(value string) (float64, bool) {
	if value == "" || len(value) > 30 || strings.Trim(value, "0123456789+-.eE") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(value, 64)
	return f, err == nil && !math.IsInf(f, 0)
}

func degrees(name string, most float64, field func(*asked) **float64) func(*server, *asked, route, string) (bool, string) {
	return func(_ *server, a *asked, _ route, value string) (bool, string) {
		f, ok := decimal(value)
		if !ok {
			return false, ""
		}
		if math.Abs(f) > most {
			return false, a.t.say("between", name, most, most, f)
		}
		*field(a) = &f
		return true, ""
	}
}

func setBox(_ *server, a *asked, on route, value string) (bool, string) {
	parts := strings.Split(value, ",")
	if on == onItems && len(parts) == 6 { // with heights, which we do not have
		for _, height := range []string{parts[2], parts[5]} {
			if _, ok := decimal(strings.TrimSpace(height)); !ok {
				return false, a.t.say("no_number", clip(height))
			}
		}
		parts = []string{parts[0], parts[1], parts[3], parts[4]}
	}
	if len(parts) != 4 {
		return false, a.t.say("four", len(parts))
	}
	var n [4]float64
	for i, part := range parts {
		f, ok := decimal(strings.TrimSpace(part))
		if !ok {
			return false, a.t.say("no_number", clip(part))
		}
		n[i] = f
	}
	b := orb.Bound{Min: orb.Point{n[0], n[1]}, Max: orb.Point{n[2], n[3]}}
	if wrong := a.t.wrongBox(b); wrong != "" {
		if other := (orb.Bound{Min: orb.Point{n[1], n[0]}, Max: orb.Point{n[3], n[2]}}); a.t.wrongBox(other) == "" && other.Min[0] <= other.Max[0] {
			return false, a.t.say("box_exchanged", wrong, a.t.latitudeFirst(value, other).Hint)
		}
		return false, wrong
	}
	a.Box = &b
	return true, ""
}

// wrongBox says what is wrong with a box, or "". A box whose minLon is greater
// than its maxLon crosses the antimeridian.
func (t words) wrongBox(b orb.Bound) string {
	switch {
	case math.Abs(b.Min[0]) > 180 || math.Abs(b.Max[0]) > 180:
		return t.say("box_lon")
	case math.Abs(b.Min[1]) > 90 || math.Abs(b.Max[1]) > 90:
		return t.say("box_lat")
	case b.Min[1] > b.Max[1]:
		return t.say("box_order", b.Min[1], b.Max[1])
	}
	return ""
}

func (t words) latitudeFirst(given string, other orb.Bound) *Problem {
	return &Problem{Title: "bbox has latitude and longitude in the wrong order", Parameter: "bbox", Given: clip(given), Expected: "minLon,minLat,maxLon,maxLat",
		Detail: t.say("lat_first", clip(given)),
		Hint:   t.say("mean", "bbox="+strings.Join([]string{number(other.Min[0]), number(other.Min[1]), number(other.Max[0]), number(other.Max[1])}, ","))}
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// setRadius reads a length in units of so many metres.
func setRadius(metres float64) func(*server, *asked, route, string) (bool, string) {
	return func(_ *server, a *asked, _ route, value string) (bool, string) {
		f, ok := decimal(value)
		if !ok || !(f > 0 && f*metres <= index.MaxRadius) {
			return false, ""
		}
		a.Radius = f * metres
		return true, ""
	}
}

func setSort(_ *server, a *asked, _ route, value string) (bool, string) {
	a.Sort = index.Sort(value)
	return slices.Contains(sorts, value), ""
}

func setPrecision(_ *server, a *asked, _ route, value string) (bool, string) {
	a.Precision = gazetteer.Precision(slices.Index(precisions, value) + 1)
	return a.Precision > 0, ""
}

func setLevel(_ *server, a *asked, _ route, value string) (bool, string) {
	a.Level = geoparse.Level(slices.Index(levels, value) + 1)
	return a.Level > 0, ""
}

func setKind(_ *server, a *asked, _ route, value string) (bool, string) {
	a.Kind = append(a.Kind, value)
	return kind.Find(value) != nil, ""
}

func setMonth(_ *server, a *asked, _ route, value string) (bool, string) {
	t, err := time.Parse("2006-01", value)
	a.Month = append(a.Month, value)
	return err == nil && onCalendar(t), ""
}

// truth sets a filter that is on, off or not asked for.
func truth(of func(a *asked) **bool) func(*server, *asked, route, string) (bool, string) {
	return func(_ *server, a *asked, _ route, value string) (bool, string) {
		yes, ok := truthOf(value)
		*of(a) = &yes
		return ok, ""
	}
}

func setExplain(_ *server, a *asked, _ route, value string) (bool, string) {
	yes, ok := truthOf(value)
	a.Explain = yes
	return ok, ""
}

// truthOf reads "true" and "false", and 1 and 0, as other services have it.
func truthOf(value string) (yes, ok bool) {
	yes = value == "true" || value == "1"
	return yes, yes || value == "false" || value == "0"
}

func setFormat(_ *server, a *asked, _ route, value string) (bool, string) {
	a.format, _ = export.Lookup(value)
	if !slices.Contains(formats, value) {
		return false, fmt.Sprintf("format %s is not offered; one of %s.", clip(value), strings.Join(formats, ", "))
	}
	return true, ""
}

func setLayer(_ *server, a *asked, _ route, value string) (bool, string) {
	a.layers = append(a.layers, value)
	return slices.Contains(layers, value), ""
}

func setJSON(_ *server, _ *asked, _ route, value string) (bool, string) { return value == "json", "" }

// setSince reads a date, a time, or a number of days or hours before now. The
// latter are counted from the last full hour, so that answers can be kept.
func setSince(_ *server, a *asked, _ route, value string) (bool, string) {
	t, relative, ok := index.ReadSince(value, time.Now().UTC().Truncate(time.Hour))
	a.Since, a.relative = t, relative
	return ok && (relative || onCalendar(t)), ""
}

// onCalendar tells whether a time can be one of a sighting.
func onCalendar(t time.Time) bool { return t.Year() >= 1970 && t.Year() < 2100 }

// setDatetime reads an instant or interval as OGC API Features has it.
func setDatetime(_ *server, a *asked, _ route, value string) (bool, string) {
	from, to, interval := strings.Cut(value, "/")
	end := func(text string, t *time.Time) bool {
		if interval && (text == "" || text == "..") {
			return true
		}
		var err error
		*t, err = time.Parse(time.RFC3339, text)
		return err == nil && onCalendar(*t)
	}
	if !interval {
		to = from
	}
	if !end(from, &a.Since) || !end(to, &a.Until) {
		return false, ""
	}
	if !a.Since.IsZero() && !a.Until.IsZero() && a.Until.Before(a.Since) {
		return false, "datetime ends before it begins."
	}
	return true, ""
}

func setFacets(_ *server, a *asked, _ route, value string) (bool, string) {
	for name := range strings.SplitSeq(value, ",") {
		f := index.Facet(strings.TrimSpace(name))
		if !slices.Contains(index.Facets(), f) {
			return false, fmt.Sprintf("%q is no facet; there are %s.", clip(name), strings.Join(facetNames(), ", "))
		}
		if slices.Contains(a.Facets, f) {
			return false, fmt.Sprintf("facet %s is there twice.", f)
		}
		a.Facets = append(a.Facets, f)
	}
	return true, ""
}

func setFields(_ *server, a *asked, _ route, value string) (bool, string) {
	for name := range strings.SplitSeq(value, ",") {
		if name = strings.TrimSpace(name); !slices.Contains(propertyNames(), name) {
			return false, fmt.Sprintf("%q is no property; there are %s.", clip(name), strings.Join(propertyNames(), ", "))
		}
		a.fields = append(a.fields, name)
	}
	return true, ""
}

func setLimit(s *server, a *asked, on route, value string) (bool, string) {
	n, err := strconv.Atoi(value)
	if on&(photons|onItems) != 0 {
		// Photon trims what is too much; its clients rely on it, and OGC API
		// Features demands it. We say so.
		if err == nil && n > s.MaxLimit {
			a.warning = fmt.Sprintf("limit %d is more than %d, which was used", n, s.MaxLimit)
			n = s.MaxLimit
		}
	}
	if err != nil {
		return false, ""
	}
	if n < 1 || n > s.MaxLimit {
		return false, a.t.say("limit", s.MaxLimit, n)
	}
	a.Limit = n
	return true, ""
}

func setZoom(most int) func(*server, *asked, route, string) (bool, string) {
	return func(_ *server, a *asked, _ route, value string) (bool, string) {
		n, err := strconv.Atoi(value)
		a.zoom = &n
		return err == nil && 0 <= n && n <= most, ""
	}
}

func setScale(_ *server, a *asked, _ route, value string) (bool, string) {
	f, ok := decimal(value)
	a.scale = &f
	return ok && 0 <= f && f <= 1, ""
}

func setWhat(_ *server, _ *asked, _ route, value string) (bool, string) {
	return len(value) <= maxWhat && utf8.ValidString(value), ""
}

func setLang(_ *server, _ *asked, _ route, value string) (bool, string) {
	return len(value) <= 35 && strings.Trim(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == "" && value != "", ""
}

// formOf returns the page's form as it was filled in.
func formOf(r *http.Request) web.Form {
	v := r.URL.Query()
	f := web.Form{Cursor: clip(v.Get("cursor"))}
	for name, values := range v {
		for i := range values {
			values[i] = clip(values[i])
		}
		f.Set(name, values[:min(len(values), index.MaxValues)]...)
	}
	return f
}

// withCursor returns the query string of the next page.
func withCursor(v url.Values, cursor string) string {
	next := url.Values{}
	for name, values := range v {
		for _, value := range values {
			if value != "" {
				next.Add(name, value)
			}
		}
	}
	next.Set("cursor", cursor)
	return next.Encode()
}

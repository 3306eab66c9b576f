package api

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gazehound/index"
	"gazehound/index/export"
	"gazehound/index/texts"
	"gazehound/internal/textutil"

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
	onItem
	onPage
	onPlain // documents without parameters but for f
	onBot
	onNote // what people read as a page and programs as data
	onOne  // the page of one address
	onDifferences
	onDifferencesFile // all of them as a file
	onWebAndMap       // the same as a page
	onPlaces

	forPeople = onPage | onOne | onBot | onNote | onWebAndMap // routes that answer browsers with a page

	paged    = onDifferences | onWebAndMap // routes with differences, page by page
	compared = paged | onDifferencesFile
	filtered = onSearch | onClusters | onFacets | onFeed | onPage | onItems // routes with all filters
	worded   = filtered | onPhoton                                          // routes with words
	photons  = onPhoton | onReverse | onStructured
)

// A valueType is what the values of a parameter must be.
type valueType struct {
	name     string  // of JSON Schema
	min, max float64 // of numbers; of strings max is in characters
	above    bool    // min itself is too small
	enum     []string
	many     bool // may be given several times; one of the values must fit
	check    func(value string) bool
	filter   *index.Filter // that reads the values; nil: none
}

func number(from, to float64) valueType  { return valueType{name: "number", min: from, max: to} }
func positive(to float64) valueType      { return valueType{name: "number", max: to, above: true} }
func integer(from, to float64) valueType { return valueType{name: "integer", min: from, max: to} }
func oneOf(values ...string) valueType   { return valueType{name: "string", enum: values} }

// checked returns t with a check of each value.
func (t valueType) checked(check func(string) bool) valueType {
	t.check = check
	return t
}

// several returns t for parameters that may be given several times.
func (t valueType) several() valueType {
	t.many = true
	return t
}

var (
	text    = valueType{name: "string", max: index.MaxQueryLength}
	boolean = valueType{name: "boolean"}
	// Values of these are read by one of the readers.
	special = valueType{name: "string"}
)

var formats = []string{"geojson", "csv", "ndjson", "geojsonseq", "kml", "gpx", "atom"}

// A parameter is one row of the table that all requests are read by, and that
// /openapi.json is made from.
type parameter struct {
	name     string
	on       route
	required route  // routes of on that require it
	help     string // key of its description among the texts; "": that of is.filter, or one of is.enum
	is       valueType
	example  any // of the type that is says
}

// parameters lists everything that requests may contain. Most filters are declared in the index.
var parameters = slices.Concat(asked, filters(), shaped)

// asked are the words and the area.
var asked = []parameter{
	{"q", worded | onPlaces, onPhoton, "words", text, "bäckerei"},
	{"q", onSuggest, onSuggest, "beginning", text, "lan"},
	{"bbox", filtered | onExport | compared | onPlaces | onPhoton | onStructured, onClusters, "box", special,
		"8.1,53.1,8.3,53.2"},
	{"lat", filtered | onExport | compared | onPlaces | photons, onReverse, "latitude", number(-90, 90), 53.14},
	{"lon", filtered | onExport | compared | onPlaces | photons, onReverse, "longitude", number(-180, 180), 8.21},
	{"radius", filtered | onExport | compared | onPlaces, 0, "metres", positive(index.MaxRadius), 500},
	{"radius", onReverse, 0, "kilometres", positive(index.MaxRadius / 1000), 1},
	{"radius_km", onReverse, 0, "kilometres", positive(index.MaxRadius / 1000), 1},
}

// ofPlaces are the filters that places of the map have without a page.
var ofPlaces = []string{"street", "postcode", "city", "kind", "open"}

// filters returns the parameters of the filters that have one each.
func filters() (all []parameter) {
	for _, f := range index.AllFilters() {
		p := parameter{name: f.Name, on: filtered | onExport | compared, is: special, example: f.Example}
		if f.OfSearches {
			p.on = filtered
		}
		if slices.Contains(ofPlaces, f.Name) {
			p.on |= onPlaces
		}
		switch f.Kind {
		case index.Text:
			p.is = text
		case index.Choice:
			p.is = oneOf(f.Values...)
		case index.Truth:
			p.is = boolean
		}
		p.is.many, p.is.filter = f.Many, &f
		if !f.Area {
			all = append(all, p)
		}
	}
	return all
}

// shaped are the parts of an address, and what an answer has and looks like.
var shaped = []parameter{
	{"street", onStructured, 0, "street", text, "Lange Straße"},
	{"housenumber", onStructured, 0, "number", text, "5"},
	{"postcode", onStructured, 0, "postcode", text, "26122"},
	{"city", onStructured, 0, "city", text, "Oldenburg"},
	{"datetime", onItems, 0, "interval", special, "2020-01-01T00:00:00Z/.."},
	{"sort", onSearch | onPage | onItems, 0, "", oneOf("relevance", "distance", "newest", "name", "importance"), "newest"},
	{"difference", compared, 0, "", oneOf(differenceNames()...).several(), "missing"},
	{"min_confidence", compared, 0, "share", number(0, 1), 0.8},
	{"limit", onSearch | onFeed | photons | onItems | onPage | onSuggest | paged, 0, "limit",
		integer(1, index.MaxLimit), 5},
	{"cursor", onSearch | onPage | onItems | paged, 0, "cursor", text, nil},
	{"facets", onSearch | onFacets | onPlaces, 0, "facets", special, "street,postcode"},
	{"fields", onSearch | onItems, 0, "fields", special, "name,addr:street"},
	{"explain", onSearch, 0, "truth", boolean, true},
	{"format", onSearch | onItems | onPlaces, 0, "", oneOf(formats...), "csv"},
	{"f", onItems | onItem | onPlain, 0, "json", oneOf("json"), "json"},
	{"layer", photons, 0, "", oneOf("house", "street", "locality", "city", "other").several(), "street"},
	{"osm_tag", photons, 0, "tag", special.several().checked(tagFilter.MatchString), "amenity:dentist"},
	{"include", photons, 0, "category", special.several().checked(areCategories), "osm.shop.bakery,osm.amenity"},
	{"exclude", photons, 0, "category", special.several().checked(areCategories), "osm.shop"},
	{"countrycode", photons, 0, "country", special.several().checked(countryCode.MatchString), "DE"},
	{"dedupe", photons, 0, "dedupe", boolean, false},
	{"street_number", photons, 0, "street_number", boolean, true},
	{"zoom", onPhoton | onStructured, 0, "zoom", integer(0, 24), 13},
	{"zoom", onClusters, onClusters, "grid", integer(0, index.MaxZoom), 12},
	{"location_bias_scale", onPhoton | onStructured, 0, "scale", number(0, 1), 0.2},
	{"what", onBot, 0, "removal", valueType{name: "string", max: maxWhat}, "www.example.org"},
	{"lang", photons | onPage | onBot | onOne | onNote | onWebAndMap, 0, "language",
		special.checked(languageTag.MatchString), "de"},
}

var (
	languageTag = regexp.MustCompile(`^[A-Za-z0-9-]{1,35}$`)
	// tagFilter matches the forms of Photon's osm_tag: key, key:value and :value, each
	// also with a "!" before it, and key:!value.
	tagFilter = regexp.MustCompile(`^(!?([A-Za-z_]\w*|([A-Za-z_]\w*)?:[^\s:!<>]{1,100})|` +
		`[A-Za-z_]\w*:![^\s:!<>]{1,100})$`)
)

var (
	countryCode = regexp.MustCompile(`^[A-Za-z]{2}$`)
	// category matches those of Photon that there are here: of the group osm, with key and value.
	category = regexp.MustCompile(`^osm\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)?$`)
)

// areCategories reports whether a value is a list of categories with commas between them.
func areCategories(value string) bool {
	return len(value) <= index.MaxQueryLength &&
		!slices.ContainsFunc(strings.Split(value, ","), func(one string) bool { return !category.MatchString(one) })
}

// onCalendar reports whether a page can have been seen at a time.
func onCalendar(t time.Time) bool { return t.Year() >= 1970 && t.Year() < 2100 }

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

// wants returns the description of valid values on this server.
func (p *parameter) wants(s *server, lang string) string {
	t := texts.Of("api", lang)
	help := t["want_"+p.help]
	if p.is.filter != nil {
		help = p.is.filter.Want.In(lang)
	}
	switch {
	case p.name == "limit":
		return t.Say("want_limit", s.MaxLimit)
	case p.name == "facets":
		return t.Say("want_facets", strings.Join(facetNames(), ", "))
	case help == "":
		return t.Say("one_of", strings.Join(p.is.enum, ", "))
	case len(p.is.enum) > 1:
		return t.Say("one_of_these", help, strings.Join(p.is.enum, ", "))
	case strings.Contains(help, "%"):
		return fmt.Sprintf(help, p.is.max)
	}
	return help
}

func facetNames() []string {
	var names []string
	for _, f := range index.Facets() {
		names = append(names, string(f))
	}
	return names
}

// params are the parameters of one request.
type params struct {
	index.Query
	on       route
	lang     string      // in which mistakes are reported
	t        texts.Words // of lang
	given    url.Values  // as they came
	values   map[string]any
	format   export.Format
	fields   []string  // of the properties; nil: all
	parts    [4]string // street, housenumber, postcode, city of onStructured
	relative bool      // since counts back from now
	warning  string
}

// valueOf returns the value of a parameter, or nil where it was not given.
func valueOf[T any](a *params, name string) *T {
	if v, ok := a.values[name].(T); ok {
		return &v
	}
	return nil
}

// valueOr returns the value of a parameter, or the zero value.
func valueOr[T any](a *params, name string) (v T) {
	v, _ = a.values[name].(T)
	return v
}

// parse reads the parameters of a request by the table. Mistakes are reported in
// English, on pages in the reader's language.
func (s *server) parse(r *http.Request, on route) (params, *Problem) {
	a := params{on: on, lang: "en", values: map[string]any{}}
	if on&forPeople != 0 {
		a.lang = languageOf(r)
	}
	a.t = texts.Of("api", a.lang)
	given, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return a, &Problem{Title: "the query string cannot be read", Detail: a.t.Say("unread"),
			Given: clip(r.URL.RawQuery), Hint: a.t.Say("escape")}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(on.names(), name) {
			return a, a.unknown(name, given.Get(name))
		}
		if on&forPeople != 0 { // a form sends its empty fields
			given[name] = slices.DeleteFunc(given[name], func(v string) bool { return v == "" })
		}
	}
	a.given = given
	clock := s.clock()
	a.Now = clock.Now()
	a.Holidays = clock.Holidays(a.Now)
	for i := range parameters {
		if p := &parameters[i]; p.on&on != 0 && len(given[p.name]) > 0 {
			problem := s.readParameter(&a, p, given[p.name])
			if problem != nil {
				return a, problem
			}
		}
	}
	a.fill()
	if s.Gazetteer != nil {
		a.Locate = s.finder().Locate
	}
	if s.Gazetteer != nil {
		a.OtherNames = func(name string) []string { return s.Gazetteer.OtherNames(name, s.finder().Serves) }
	}
	if problem := s.checkTogether(&a); problem != nil {
		return a, problem
	}
	return a, s.setDefaults(&a)
}

// readParameter reads the values of one parameter into a.
func (s *server) readParameter(a *params, p *parameter, given []string) *Problem {
	problem := &Problem{Title: p.name + " is given twice", Parameter: p.name, Given: clip(strings.Join(given, " | ")),
		Expected: "one " + p.name, Detail: a.t.Say("twice", p.name, len(given))}
	switch {
	case len(given) > 1 && !p.is.many:
		return problem
	case len(given) > index.MaxValues:
		problem.Title = p.name + " is given too often"
		problem.Expected = fmt.Sprintf("at most %d times %s", index.MaxValues, p.name)
		problem.Detail = a.t.Say("often", p.name, len(given), index.MaxValues)
		return problem
	}
	var many []string
	for _, value := range given {
		v, wrong, ok := p.read(s, a, value)
		if !ok {
			problem.Title, problem.Given, problem.Expected = p.name+" cannot be used", clip(value), p.wants(s, a.lang)
			problem.Detail = cmp.Or(wrong, a.t.Say("wants", p.name, problem.Expected, clip(value)))
			problem.Hint = cmp.Or(mistakeHint(a.t, p.name, value), didYouMean(a.t, value, p.is.enum))
			return problem
		}
		if one, _ := v.(string); p.is.many && one != "" {
			many = append(many, one)
		}
		a.values[p.name] = v
	}
	if p.is.many {
		a.values[p.name] = many
	}
	return nil
}

// readers read the values of parameters that are more than one number or text.
var readers = map[string]func(s *server, a *params, value string) (wrong string, ok bool){
	"bbox": readBox, "since": readSince, "datetime": readInterval,
	"facets": readFacets, "fields": readFields, "limit": readLimit,
}

// read checks a value and returns it in its type. wrong is a sentence about the mistake, or "" for
// `NAME must be EXPECTED, got "…"`.
func (p *parameter) read(s *server, a *params, value string) (v any, wrong string, ok bool) {
	if read := readers[p.name]; read != nil {
		wrong, ok = read(s, a, value)
		return value, wrong, ok
	}
	v, wrong, ok = p.convert(a, value)
	if f := p.is.filter; ok && f != nil {
		text, isText := v.(string)
		if !isText {
			text = value
		}
		_, ok = f.Read(&a.Filters, text, a.Now)
	}
	return v, wrong, ok
}

// convert checks a value by its type and returns it in that type.
func (p *parameter) convert(a *params, value string) (v any, wrong string, ok bool) {
	switch p.is.name {
	case "number":
		f, ok := decimal(value)
		inside := p.is.min <= f && f <= p.is.max && !(p.is.above && f == p.is.min)
		if ok && !inside && p.is.min == -p.is.max {
			wrong = a.t.Say("between", p.name, p.is.max, p.is.max, f)
		}
		return f, wrong, ok && inside
	case "integer":
		n, err := strconv.Atoi(value)
		return n, "", err == nil && p.is.min <= float64(n) && float64(n) <= p.is.max
	case "boolean": // 1 and 0, as other services have it
		return value == "true" || value == "1", "", slices.Contains([]string{"true", "1", "false", "0"}, value)
	}
	switch {
	case p.is.enum != nil:
		return value, "", slices.Contains(p.is.enum, value)
	case p.is.check != nil:
		return value, "", p.is.check(value)
	case p.is.filter != nil && p.is.max == 0: // which reads it
		return value, "", true
	case !utf8.ValidString(value):
		return nil, a.t.Say("not_utf8"), false
	case utf8.RuneCountInString(value) > int(p.is.max):
		return nil, a.t.Say("long", utf8.RuneCountInString(value), int(p.is.max)), false
	case strings.ContainsRune(value, 0):
		return nil, a.t.Say("nul"), false
	}
	return strings.TrimSpace(value), "", true
}

// decimal reads a finite decimal number; hexadecimal, "inf" and "nan" are none.
func decimal(value string) (float64, bool) {
	if value == "" || len(value) > 30 || strings.Trim(value, "0123456789+-.eE") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(value, 64)
	return f, err == nil && !math.IsInf(f, 0)
}

func readBox(_ *server, a *params, value string) (wrong string, ok bool) {
	parts := strings.Split(value, ",")
	if a.on == onItems && len(parts) == 6 { // with heights, which must be numbers and mean nothing here
		parts = []string{parts[0], parts[1], parts[3], parts[4], parts[2], parts[5]}
	} else if len(parts) != 4 {
		return a.t.Say("four", len(parts)), false
	}
	var n [6]float64
	for i, part := range parts {
		n[i], ok = decimal(strings.TrimSpace(part))
		if !ok {
			return a.t.Say("no_number", clip(part)), false
		}
	}
	b := orb.Bound{Min: orb.Point{n[0], n[1]}, Max: orb.Point{n[2], n[3]}}
	wrong = wrongBox(a.t, b)
	other := exchanged(b)
	if wrong != "" && wrongBox(a.t, other) == "" && other.Min[0] <= other.Max[0] {
		wrong = a.t.Say("box_exchanged", wrong, latitudeFirst(a.t, value, other).Hint)
	}
	a.Box = &b
	return wrong, wrong == ""
}

// exchanged returns a box with latitudes and longitudes exchanged.
func exchanged(b orb.Bound) orb.Bound {
	return orb.Bound{Min: orb.Point{b.Min[1], b.Min[0]}, Max: orb.Point{b.Max[1], b.Max[0]}}
}

// wrongBox returns what is wrong with a box, or "". A box whose minLon is greater
// than its maxLon crosses the antimeridian.
func wrongBox(t texts.Words, b orb.Bound) string {
	switch {
	case math.Abs(b.Min[0]) > 180 || math.Abs(b.Max[0]) > 180:
		return t.Say("box_lon")
	case math.Abs(b.Min[1]) > 90 || math.Abs(b.Max[1]) > 90:
		return t.Say("box_lat")
	case b.Min[1] > b.Max[1]:
		return t.Say("box_order", b.Min[1], b.Max[1])
	}
	return ""
}

func latitudeFirst(t texts.Words, given string, other orb.Bound) *Problem {
	box := fmt.Sprintf("bbox=%v,%v,%v,%v", other.Min[0], other.Min[1], other.Max[0], other.Max[1])
	return &Problem{Title: "bbox has latitude and longitude in the wrong order", Parameter: "bbox", Given: clip(given),
		Expected: "minLon,minLat,maxLon,maxLat", Detail: t.Say("lat_first", clip(given)), Hint: t.Say("mean", box)}
}

// readSince reads a date, a time, or a number of days or hours before now. The
// latter are counted from the last full hour, so that answers can be cached.
func readSince(_ *server, a *params, value string) (wrong string, ok bool) {
	a.Since, a.relative, ok = index.ReadSince(value, time.Now().UTC().Truncate(time.Hour))
	return "", ok && (a.relative || onCalendar(a.Since))
}

// readInterval reads an instant or interval as OGC API Features has it.
func readInterval(_ *server, a *params, value string) (wrong string, ok bool) {
	from, to, interval := strings.Cut(value, "/")
	if !interval {
		to = from
	}
	end := func(text string, t *time.Time) (err error) {
		if !interval || text != "" && text != ".." {
			*t, err = time.Parse(time.RFC3339, text)
		}
		return err
	}
	if end(from, &a.Since) != nil || end(to, &a.Until) != nil {
		return "", false
	}
	for _, t := range []time.Time{a.Since, a.Until} {
		if !t.IsZero() && !onCalendar(t) {
			return "", false
		}
	}
	if !a.Since.IsZero() && !a.Until.IsZero() && a.Until.Before(a.Since) {
		return "datetime ends before it begins.", false
	}
	return "", true
}

func readFacets(_ *server, a *params, value string) (wrong string, ok bool) {
	names, wrong, ok := readList(value, "facet", facetNames())
	for _, name := range names {
		a.Facets = append(a.Facets, index.Facet(name))
	}
	return wrong, ok
}

func readFields(_ *server, a *params, value string) (wrong string, ok bool) {
	a.fields, wrong, ok = readList(value, "property", propertyNames())
	return wrong, ok
}

// readList reads names with commas between them, each once.
func readList(value, what string, names []string) (list []string, wrong string, ok bool) {
	for name := range strings.SplitSeq(value, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(names, name) {
			return nil, fmt.Sprintf("%q is not a %s; choose from %s.", clip(name), what, strings.Join(names, ", ")), false
		}
		if slices.Contains(list, name) {
			return nil, fmt.Sprintf("%s %s is given twice.", what, name), false
		}
		list = append(list, name)
	}
	return list, "", true
}

func readLimit(s *server, a *params, value string) (wrong string, ok bool) {
	n, err := strconv.Atoi(value)
	if err != nil {
		return "", false
	}
	if a.on&(photons|onItems) != 0 && n > s.MaxLimit {
		// Photon cuts values above the limit, and its clients rely on it; OGC API Features requires
		// it.
		a.warning = fmt.Sprintf("limit %d is more than %d, which was used", n, s.MaxLimit)
		n = s.MaxLimit
	}
	if n < 1 || n > s.MaxLimit {
		return a.t.Say("limit", s.MaxLimit, n), false
	}
	a.Limit = n
	return "", true
}

// fill sets what of the query is no filter, and the circle.
func (a *params) fill() {
	a.Text, a.Cursor = valueOr[string](a, "q"), valueOr[string](a, "cursor")
	for i, name := range []string{"street", "housenumber", "postcode", "city"} {
		a.parts[i] = valueOr[string](a, name)
	}
	a.Radius = max(valueOr[float64](a, "radius"), valueOr[float64](a, "radius_km"))
	if a.on == onReverse {
		a.Radius *= 1000
	}
	a.Explain, a.Sort = valueOr[bool](a, "explain"), index.Sort(valueOr[string](a, "sort"))
	a.format, _ = export.Lookup(valueOr[string](a, "format"))
	if lat, lon := valueOf[float64](a, "lat"), valueOf[float64](a, "lon"); lat != nil && lon != nil {
		a.Center = &orb.Point{*lon, *lat}
	}
}

// checkTogether checks what concerns several parameters.
func (s *server) checkTogether(a *params) *Problem {
	missing := func(name, why string) *Problem {
		problem := &Problem{Title: name + " is missing", Detail: a.t.Say(why), Parameter: name}
		for _, p := range parameters {
			if p.name == name && p.on&a.on != 0 {
				problem.Expected = p.wants(s, a.lang)
			}
		}
		return problem
	}
	switch has := a.given.Has; {
	case a.Center == nil && valueOf[float64](a, "lat") != nil:
		return missing("lon", "no_lon")
	case a.Center == nil && valueOf[float64](a, "lon") != nil:
		return missing("lat", "no_lat")
	case a.on == onStructured && a.parts == [4]string{}:
		return missing("street", "no_part")
	case a.on == onStructured && a.parts[1] != "" && a.parts[0] == "":
		return missing("street", "no_street")
	case a.Radius > 0 && a.on == onReverse && has("radius") && has("radius_km"):
		return &Problem{Title: "radius is given twice", Parameter: "radius_km", Given: clip(a.given.Get("radius_km")),
			Expected: "radius or radius_km", Detail: "radius and radius_km are the same here; give one of them."}
	case a.Radius > 0 && a.Center == nil:
		return missing("lat", "no_centre")
	case a.on&compared != 0 && a.Center != nil && a.Radius == 0:
		return missing("radius", "no_radius")
	case a.Sort == index.Distance && a.Center == nil:
		return missing("lat", "no_start")
	}
	for _, p := range parameters {
		if p.name == "q" && a.values["include"] != nil {
			continue // as Photon has it
		}
		if v := a.values[p.name]; p.required&a.on != 0 && (v == nil || v == "") {
			return missing(p.name, "need_"+p.name)
		}
	}
	return nil
}

// setDefaults sets what was not given.
func (s *server) setDefaults(a *params) *Problem {
	a.Bias = 0.8
	limits := map[route]int{onReverse: 1, onFeed: 50, onFacets: 1, onPage: 20, onDifferences: 100, onWebAndMap: 20}
	a.Limit = cmp.Or(a.Limit, min(cmp.Or(limits[a.on], 10), s.MaxLimit))
	switch a.on {
	case onReverse:
		a.Sort, a.Located, a.Radius = index.Distance, true, cmp.Or(a.Radius, 1000)
	case onFeed:
		a.Sort = index.Newest
	case onFacets:
		if len(a.Facets) == 0 {
			a.Facets = index.Facets()
		}
	case onStructured:
		parts := slices.DeleteFunc(slices.Clone(a.parts[:]), func(part string) bool { return part == "" })
		a.Text, a.AddressOnly = strings.Join(parts, " "), true
		if utf8.RuneCountInString(a.Text) > index.MaxQueryLength {
			return &Problem{Title: "the address is too long", Parameter: "street", Given: clip(a.Text),
				Expected: fmt.Sprintf("at most %d characters in all", index.MaxQueryLength),
				Detail:   "street, housenumber, postcode and city are too long together."}
		}
	}
	if a.on&(onPhoton|onStructured) != 0 {
		a.Located = true
		if zoom := valueOf[int](a, "zoom"); zoom != nil {
			a.Scale = 250 * math.Exp2(float64(18-min(*zoom, 18))) // metres, as Photon does
		}
		if scale := valueOf[float64](a, "location_bias_scale"); scale != nil {
			a.Bias = 1 - *scale
		}
	}
	return nil
}

// narrows reports whether anything narrows the answer.
func (a *params) narrows() bool {
	for name := range a.values {
		if !slices.Contains([]string{"q", "lat", "lon", "sort", "limit", "cursor", "lang"}, name) {
			return true
		}
	}
	return a.Text != ""
}

// unknown reports a parameter that the route does not have.
func (a *params) unknown(name, value string) *Problem {
	p := &Problem{Title: "unknown parameter", Parameter: clip(name), Given: clip(value),
		Expected: cmp.Or(strings.Join(a.on.names(), ", "), "no parameters"),
		Detail:   a.t.Say("unknown", clip(name)), Hint: didYouMean(a.t, name, a.on.names())}
	switch {
	case slices.Contains([]string{"size", "count", "rows", "per_page"}, name):
		p.Hint = a.t.Say("mean", "limit")
	case a.t["hint_"+name] != "":
		p.Hint = a.t["hint_"+name]
	}
	return p
}

var decimalComma = regexp.MustCompile(`^[^.,]*,[^.,]*$`)

// mistakeHint helps with usual mistakes.
func mistakeHint(t texts.Words, name, value string) string {
	switch {
	case slices.Contains([]string{"lat", "lon", "radius"}, name) && decimalComma.MatchString(value):
		return t.Say("point", strings.ReplaceAll(clip(value), ",", "."))
	case name == "limit" && value == "0":
		return t.Say("count")
	}
	return ""
}

// didYouMean returns `Did you mean x?` for the nearest of names, or "".
func didYouMean(t texts.Words, given string, names []string) string {
	if best := textutil.Nearest(given, names); best != "" {
		return t.Say("mean", best)
	}
	return ""
}

package api

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gazehound/index"
	"gazehound/index/web"

	"github.com/paulmach/orb"
)

// A route is a set of requests that a parameter belongs to.
type route uint8

const (
	onSearch route = 1 << iota
	onPhoton
	onReverse
	onPage
	onStatus
)

// asked is what a request asks for.
type asked struct {
	index.Query
	lat, lon *float64
	zoom     *int
	scale    *float64 // location_bias_scale
	warning  string
	given    map[string]string // the parameters as they came
}

// filtering tells whether anything narrows the answer.
func (a *asked) filtering() bool {
	return a.Text != "" || a.Box != nil || a.Radius > 0 || a.Street != "" || a.Postcode != "" || a.Host != ""
}

// A parameter is one row of the table that all requests are read by.
type parameter struct {
	name     string
	on       route
	expected string
	// set reads the value into a, or says what is wrong with it: a sentence,
	// or "" for `NAME wants EXPECTED, got "…"`.
	set func(s *server, a *asked, on route, value string) (ok bool, wrong string)
}

// parameters is the only place that knows what may be asked.
var parameters = []parameter{
	{"q", onSearch | onPhoton | onPage, fmt.Sprintf("words, at most %d characters", index.MaxQueryLength), text(func(a *asked) *string { return &a.Text })},
	{"bbox", onSearch | onPhoton | onPage, "minLon,minLat,maxLon,maxLat", setBox},
	{"lat", onSearch | onPhoton | onReverse | onPage, "a number of degrees between -90 and 90", degrees(90, func(a *asked) **float64 { return &a.lat })},
	{"lon", onSearch | onPhoton | onReverse | onPage, "a number of degrees between -180 and 180", degrees(180, func(a *asked) **float64 { return &a.lon })},
	{"radius", onSearch | onPage, fmt.Sprintf("metres around lat and lon, more than 0 and at most %d", index.MaxRadius), setRadius(1)},
	{"radius", onReverse, fmt.Sprintf("kilometres around lat and lon, more than 0 and at most %d", index.MaxRadius/1000), setRadius(1000)},
	{"street", onSearch | onPage, "the name of a street", text(func(a *asked) *string { return &a.Street })},
	{"postcode", onSearch | onPage, "a whole postcode", text(func(a *asked) *string { return &a.Postcode })},
	{"host", onSearch | onPage, "a host or site such as www.example.org", text(func(a *asked) *string { return &a.Host })},
	{"sort", onSearch | onPage, "relevance or distance", setSort},
	{"limit", onSearch | onPhoton | onReverse | onPage, "", setLimit},
	{"cursor", onSearch | onPage, "the cursor of a next link", text(func(a *asked) *string { return &a.Cursor })},
	{"zoom", onPhoton, "a whole number from 0 to 24", setZoom},
	{"location_bias_scale", onPhoton, "a number from 0 (near is most) to 1 (near means nothing)", setScale},
	{"lang", onPhoton | onReverse | onPage, "a language such as de or en", setLang},
}

// of returns the parameters of a route.
func (on route) names() []string {
	var names []string
	for _, p := range parameters {
		if p.on&on != 0 {
			names = append(names, p.name)
		}
	}
	return names
}

// parse reads the parameters of a request by the table.
func (s *server) parse(r *http.Request, on route) (asked, *Problem) {
	a := asked{given: map[string]string{}}
	a.Bias = 0.8
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return a, &Problem{Title: "the query string cannot be read", Detail: "The part after ? is not of the form name=value&name=value with valid % escapes.",
			Given: clip(r.URL.RawQuery), Hint: "Escape % as %25, & as %26 and ; as %3B in values."}
	}
	for name := range values {
		if !slices.Contains(on.names(), name) {
			return a, unknown(name, values.Get(name), on)
		}
	}
	for _, p := range parameters {
		if p.on&on == 0 || !values.Has(p.name) {
			continue
		}
		value := values.Get(p.name)
		if len(values[p.name]) > 1 {
			return a, &Problem{Title: p.name + " is given twice", Parameter: p.name, Given: clip(strings.Join(values[p.name], " | ")), Expected: "one " + p.name,
				Detail: fmt.Sprintf("%s is given %d times; once is possible.", p.name, len(values[p.name]))}
		}
		if on == onPage && value == "" {
			continue // a form sends its empty fields
		}
		a.given[p.name] = value
		if ok, wrong := p.set(s, &a, on, value); !ok {
			expected := p.expected
			if p.name == "limit" {
				expected = fmt.Sprintf("a whole number from 1 to %d", s.MaxLimit)
			}
			if wrong == "" {
				wrong = fmt.Sprintf("%s wants %s, got %q.", p.name, expected, clip(value))
			}
			problem := &Problem{Title: p.name + " cannot be used", Detail: wrong, Parameter: p.name, Given: clip(value), Expected: expected, Hint: hint(p.name, value)}
			return a, problem
		}
	}
	return a, a.complete(s, on)
}

// complete checks what concerns several parameters, and sets what was not
// given.
func (a *asked) complete(s *server, on route) *Problem {
	missing := func(name, detail string) *Problem {
		return &Problem{Title: name + " is missing", Detail: detail, Parameter: name}
	}
	switch {
	case a.lat != nil && a.lon == nil:
		return missing("lon", "lon is missing; lat and lon go together.")
	case a.lon != nil && a.lat == nil:
		return missing("lat", "lat is missing; lat and lon go together.")
	case on == onReverse && a.lat == nil:
		return missing("lat", "lat and lon are missing; /reverse asks what is near them.")
	case on == onPhoton && strings.TrimSpace(a.Text) == "":
		return missing("q", "q is missing; it holds the words to search for.")
	case a.Radius > 0 && a.lat == nil:
		return missing("lat", "lat and lon are missing; radius is a distance around them.")
	case a.Sort == index.Distance && a.lat == nil:
		return missing("lat", "lat and lon are missing; sort=distance orders by the distance from them.")
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
	case onPhoton:
		a.Located = true
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
func unknown(name, value string, on route) *Problem {
	p := &Problem{Title: "unknown parameter", Parameter: clip(name), Given: clip(value), Expected: strings.Join(on.names(), ", "),
		Detail: fmt.Sprintf("%q is not a parameter here.", clip(name)), Hint: didYouMean(name, on.names())}
	switch {
	case len(on.names()) == 0:
		p.Expected = "no parameters"
	case name == "near" || name == "location" || name == "focus":
		p.Hint = "Use lat=…&lon=…, so that their order cannot be mistaken."
	case name == "offset" || name == "page" || name == "start":
		p.Hint = "Follow the link with rel=next; its cursor leads to the next page."
	case name == "radius_km":
		p.Hint = "Did you mean radius? It is in metres on /v1/search and in kilometres on /reverse."
	case name == "city" || name == "housenumber" || name == "text" || name == "query":
		p.Hint = "Put the words into q, such as q=Lange Straße 5."
	}
	return p
}

// hint helps with usual mistakes.
func hint(name, value string) string {
	switch {
	case (name == "lat" || name == "lon" || name == "radius") && strings.Count(value, ",") == 1 && !strings.Contains(value, "."):
		return "Write a decimal point, not a comma: " + strings.ReplaceAll(clip(value), ",", ".")
	case name == "limit" && value == "0":
		return "numberMatched is in every answer; limit=1 is the least."
	}
	return ""
}

func text(field func(*asked) *string) func(*server, *asked, route, string) (bool, string) {
	return func(_ *server, a *asked, _ route, value string) (bool, string) {
		switch {
		case !utf8.ValidString(value):
			return false, "the value is not UTF-8."
		case utf8.RuneCountInString(value) > index.MaxQueryLength:
			return false, fmt.Sprintf("the value has %d characters; %d are possible.", utf8.RuneCountInString(value), index.MaxQueryLength)
		case strings.ContainsRune(value, 0):
			return false, "the value holds a NUL character."
		}
		*field(a) = strings.TrimSpace(value)
		return true, ""
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

func degrees(most float64, field func(*asked) **float64) func(*server, *asked, route, string) (bool, string) {
	return func(_ *server, a *asked, _ route, value string) (bool, string) {
		f, ok := decimal(value)
		if !ok {
			return false, ""
		}
		if math.Abs(f) > most {
			return false, fmt.Sprintf("%g is not between -%g and %g.", f, most, most)
		}
		*field(a) = &f
		return true, ""
	}
}

func setBox(_ *server, a *asked, _ route, value string) (bool, string) {
	parts := strings.Split(value, ",")
	if len(parts) != 4 {
		return false, fmt.Sprintf("bbox wants 4 numbers with commas between them, got %d.", len(parts))
	}
	var n [4]float64
	for i, part := range parts {
		f, ok := decimal(strings.TrimSpace(part))
		if !ok {
			return false, fmt.Sprintf("%q is not a number.", clip(part))
		}
		n[i] = f
	}
	b := orb.Bound{Min: orb.Point{n[0], n[1]}, Max: orb.Point{n[2], n[3]}}
	if wrong := wrongBox(b); wrong != "" {
		if other := (orb.Bound{Min: orb.Point{n[1], n[0]}, Max: orb.Point{n[3], n[2]}}); wrongBox(other) == "" && other.Min[0] <= other.Max[0] {
			return false, wrong + " It looks like minLat,minLon,maxLat,maxLon. " + latitudeFirst(value, other).Hint
		}
		return false, wrong
	}
	a.Box = &b
	return true, ""
}

// wrongBox says what is wrong with a box, or "". A box whose minLon is greater
// than its maxLon crosses the antimeridian.
func wrongBox(b orb.Bound) string {
	switch {
	case math.Abs(b.Min[0]) > 180 || math.Abs(b.Max[0]) > 180:
		return "a longitude of the bbox is not between -180 and 180."
	case math.Abs(b.Min[1]) > 90 || math.Abs(b.Max[1]) > 90:
		return "a latitude of the bbox is not between -90 and 90."
	case b.Min[1] > b.Max[1]:
		return fmt.Sprintf("minLat %g is greater than maxLat %g.", b.Min[1], b.Max[1])
	}
	return ""
}

func latitudeFirst(given string, other orb.Bound) *Problem {
	return &Problem{Title: "bbox has latitude and longitude in the wrong order", Parameter: "bbox", Given: clip(given), Expected: "minLon,minLat,maxLon,maxLat",
		Detail: fmt.Sprintf("bbox=%s is minLat,minLon,…; expected minLon,minLat,maxLon,maxLat.", clip(given)),
		Hint:   fmt.Sprintf("Did you mean bbox=%s,%s,%s,%s?", number(other.Min[0]), number(other.Min[1]), number(other.Max[0]), number(other.Max[1]))}
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
	return a.Sort == index.Relevance || a.Sort == index.Distance, ""
}

func setLimit(s *server, a *asked, on route, value string) (bool, string) {
	n, err := strconv.Atoi(value)
	if on == onPhoton || on == onReverse {
		// Photon trims what is too much; its clients rely on it. We say so.
		if err == nil && n > s.MaxLimit {
			a.warning = fmt.Sprintf("limit %d is more than %d, which was used", n, s.MaxLimit)
			n = s.MaxLimit
		}
	}
	if err != nil {
		return false, ""
	}
	if n < 1 || n > s.MaxLimit {
		return false, fmt.Sprintf("limit must be 1 to %d, got %d.", s.MaxLimit, n)
	}
	a.Limit = n
	return true, ""
}

func setZoom(_ *server, a *asked, _ route, value string) (bool, string) {
	n, err := strconv.Atoi(value)
	a.zoom = &n
	return err == nil && 0 <= n && n <= 24, ""
}

func setScale(_ *server, a *asked, _ route, value string) (bool, string) {
	f, ok := decimal(value)
	a.scale = &f
	return ok && 0 <= f && f <= 1, ""
}

func setLang(_ *server, _ *asked, _ route, value string) (bool, string) {
	return len(value) <= 35 && strings.Trim(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == "" && value != "", ""
}

// formOf returns the page's form as it was filled in.
func formOf(r *http.Request) web.Form {
	v := r.URL.Query()
	get := func(name string) string { return clip(v.Get(name)) }
	return web.Form{Text: get("q"), Box: get("bbox"), Lat: get("lat"), Lon: get("lon"), Radius: get("radius"),
		Street: get("street"), Postcode: get("postcode"), Host: get("host"), Sort: get("sort"), Lang: get("lang"), Cursor: get("cursor")}
}

// withCursor returns the query string of the next page.
func withCursor(v url.Values, cursor string) string {
	next := url.Values{}
	for name, values := range v {
		if len(values) > 0 && values[0] != "" {
			next.Set(name, values[0])
		}
	}
	next.Set("cursor", cursor)
	return next.Encode()
}

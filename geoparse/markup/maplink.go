package markup

import (
	"cmp"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// minZoom is the zoom from which the centre of a map stands for a place, about
// two kilometres across a screen.
const minZoom = 15

// A mapService is how the links of a map service say which place they show.
type mapService struct {
	address *regexp.Regexp // host without www., and path
	places  []string       // parameters with a place or a point, the last of several in one
	view    []string       // parameters with the centre of the map, which counts only if it is close
	zoom    []string
}

var mapServices = []mapService{
	{regexp.MustCompile(`^(?:maps\.google\.[a-z]{1,3}(?:\.[a-z]{1,2})?/|google\.[a-z]{1,3}(?:\.[a-z]{1,2})?/maps)`),
		[]string{"daddr", "destination", "query", "q", "near"}, []string{"center", "ll"}, []string{"z", "zoom"}},
	{regexp.MustCompile(`^maps\.googleapis\.com/`), []string{"markers", "center"}, nil, nil},
	{regexp.MustCompile(`^(?:[^/]+\.)?openstreetmap\.(?:org|de)/`), []string{"marker", "to", "query"}, nil, nil},
	{regexp.MustCompile(`^bing\.com/maps`), []string{"sp", "rtp", "where1", "q"}, []string{"cp"}, []string{"lvl"}},
	{regexp.MustCompile(`^(?:maps\.apple\.com|(?:[^/]+\.)?waze\.com)/`),
		[]string{"address", "daddr", "ll", "coordinate", "q"}, nil, nil},
}

// parseMapLink reads a link to a map service, or a geo URI (RFC 5870): a point,
// or what is searched for (Raw), or both.
func parseMapLink(href string) (Statement, bool) {
	s := Statement{Origin: MapLink}
	if len(href) < 8 || len(href) > 4096 {
		return s, false
	}
	if rest, ok := cutPrefixFold(href, "geo:"); ok {
		rest, query, _ := strings.Cut(rest, "?")
		rest, _, _ = strings.Cut(rest, ";")
		s.Lat, s.Lon, s.HasPoint = pointIn(rest)
		if values, err := url.ParseQuery(query); err == nil {
			s.place(values.Get("q"))
		}
		return s, s.says()
	}
	if !strings.Contains(href, "map") && !strings.Contains(href, "waze.com") { // spares most links the parsing
		return s, false
	}
	u, err := url.Parse(strings.TrimSpace(href))
	if err != nil || u.Host == "" {
		return s, false
	}
	address := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.") + cmp.Or(u.Path, "/")
	for _, service := range mapServices {
		if service.address.MatchString(address) {
			s.read(&service, u)
			return s, s.says()
		}
	}
	return s, false
}

// Points within the path or fragment of a link, and within Google's coded data.
var (
	pin      = regexp.MustCompile(`!3d([-\d.]+)!4d([-\d.]+)`)
	embedded = regexp.MustCompile(`!2d([-\d.]+)!3d([-\d.]+)`) // longitude first
	atPoint  = regexp.MustCompile(`/@([-\d.]+),([-\d.]+),([\d.]+[zm])`)
	fragment = regexp.MustCompile(`^map=([\d.]+)/([-\d.]+)/([-\d.]+)`)
	bingPin  = regexp.MustCompile(`^\w+\.([-\d.]+)_([-\d.]+)`) // point.53.14_8.21_Name
)

// read reads a link to a map service.
func (s *Statement) read(service *mapService, u *url.URL) {
	query := u.Query()
	data := u.Path + query.Get("pb")
	if m := pin.FindStringSubmatch(data); m != nil {
		s.pair(m[1], m[2])
	} else if m := embedded.FindStringSubmatch(data); m != nil {
		s.pair(m[2], m[1])
	}
	if m := atPoint.FindStringSubmatch(u.Path); m != nil && zoomedIn(m[3]) {
		s.pair(m[1], m[2])
	}
	segments := strings.Split(u.Path, "/") // /maps/place/NAME/@lat,lon,17z/data=…
	for i, segment := range segments[:min(len(segments), 12)] {
		if i < 3 || segment == "" || segment[0] == '@' || strings.HasPrefix(segment, "data=") {
			continue
		}
		switch kind := segments[2]; {
		case kind == "dir":
			s.Raw = "" // the last stop is the destination
			fallthrough
		case i == 3 && (kind == "place" || kind == "search"):
			s.place(strings.ReplaceAll(segment, "+", " "))
		}
	}
	s.pair(query.Get("mlat"), query.Get("mlon"))
	for _, key := range service.places {
		parts := strings.FieldsFunc(query.Get(key), func(r rune) bool { return r == '|' || r == '~' })
		if len(parts) == 0 {
			continue
		}
		last := parts[len(parts)-1] // of "color:red|label:A|53.1,8.2" and of "pos.53.1_8.2_Start~adr.Markt 1"
		if m := bingPin.FindStringSubmatch(last); m != nil {
			s.pair(m[1], m[2])
		} else {
			s.place(strings.TrimPrefix(last, "adr."))
		}
	}
	for _, key := range service.view {
		zoom := ""
		for _, name := range service.zoom {
			zoom += query.Get(name)
		}
		if zoomedIn(zoom) || zoom == "" && key != "cp" {
			s.place(query.Get(key))
		}
	}
	if m := fragment.FindStringSubmatch(u.Fragment); m != nil && zoomedIn(m[1]) {
		s.pair(m[2], m[3])
	} else if zoomedIn(query.Get("zoom")) {
		s.pair(query.Get("lat"), query.Get("lon"))
	}
}

func zoomedIn(zoom string) bool {
	zoom, metres := strings.CutSuffix(zoom, "m") // "@53.1,8.2,350m": a satellite picture
	v, err := strconv.ParseFloat(strings.TrimSuffix(zoom, "z"), 64)
	return err == nil && (metres && v <= 3000 || !metres && v >= minZoom)
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// place notes text as the point or, if it is none, as the search that it is.
func (s *Statement) place(text string) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "loc:")
	if text == "" || strings.HasPrefix(text, "place_id:") {
		return
	}
	if lat, lon, ok := pointIn(text); ok {
		if !s.HasPoint {
			s.Lat, s.Lon, s.HasPoint = lat, lon, true
		}
		return
	}
	if strings.ContainsFunc(text, unicode.IsLetter) {
		setOnce(&s.Raw, text)
	}
}

// pair notes a point, unless there is one already.
func (s *Statement) pair(latitude, longitude string) {
	lat, ok1 := number(latitude)
	lon, ok2 := number(longitude)
	if ok1 && ok2 && onEarth(lat, lon) && !s.HasPoint {
		s.Lat, s.Lon, s.HasPoint = lat, lon, true
	}
}

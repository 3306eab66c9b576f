package markup

import (
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// minZoom is the zoom from which the centre of a map stands for a place, about
// two kilometres across a screen.
const minZoom = 15

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
	host := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
	switch query := u.Query(); {
	case isGoogle(host) && strings.HasPrefix(u.Path, "/maps"), strings.HasPrefix(host, "maps.") &&
		isGoogle(host[len("maps."):]):
		s.google(u, query)
	case host == "maps.googleapis.com":
		for _, key := range []string{"markers", "center"} {
			parts := strings.Split(query.Get(key), "|") // "color:red|label:A|53.1,8.2"
			s.place(parts[len(parts)-1])
		}
	case host == "openstreetmap.org" || strings.HasSuffix(host, ".openstreetmap.org") || host == "openstreetmap.de":
		s.openStreetMap(u, query)
	case host == "bing.com" && strings.HasPrefix(u.Path, "/maps"):
		s.bing(query)
	case host == "maps.apple.com", host == "waze.com", strings.HasSuffix(host, ".waze.com"):
		for _, key := range []string{"address", "daddr", "ll", "coordinate", "q"} {
			s.place(query.Get(key))
		}
	}
	return s, s.says()
}

// isGoogle reports whether host is "google." and a country's ending.
func isGoogle(host string) bool {
	ending, ok := strings.CutPrefix(host, "google.")
	first, second, _ := strings.Cut(ending, ".")
	return ok && len(first) <= 3 && len(second) <= 2
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

func (s *Statement) google(u *url.URL, query url.Values) {
	data := u.Path
	if pb := query.Get("pb"); pb != "" {
		data = pb
	}
	s.marker(data)
	segments := strings.Split(strings.Trim(u.Path, "/"), "/") // maps/place/NAME/@lat,lon,17z/data=…
	for i, segment := range segments[:min(len(segments), 12)] {
		switch {
		case segment == "" || i == 0 || strings.HasPrefix(segment, "data="):
		case segment[0] == '@':
			if parts := strings.Split(segment[1:], ","); len(parts) >= 3 && zoomedIn(parts[2]) {
				s.pair(parts[0], parts[1])
			}
		case i == 1:
		case segments[1] == "dir":
			s.Raw = "" // the last stop is the destination
			s.place(strings.ReplaceAll(segment, "+", " "))
		case i == 2 && (segments[1] == "place" || segments[1] == "search"):
			s.place(strings.ReplaceAll(segment, "+", " "))
		}
	}
	for _, key := range []string{"daddr", "destination", "query", "q", "near", "center", "ll"} {
		if key == "center" || key == "ll" {
			if z := query.Get("z") + query.Get("zoom"); z != "" && !zoomedIn(z) {
				continue
			}
		}
		s.place(query.Get(key))
	}
}

// marker reads the place within Google's coded data: "!3d53.1!4d8.2" is the pin
// of a place, "!2d8.2!3d53.1" the centre of an embedded map.
func (s *Statement) marker(data string) {
	if !strings.Contains(data, "!3d") || s.HasPoint {
		return
	}
	var lat, lon string
	for _, part := range strings.Split(data, "!") {
		switch {
		case strings.HasPrefix(part, "3d") && lat == "":
			lat = part[2:]
		case strings.HasPrefix(part, "4d"):
			lon = part[2:]
		case strings.HasPrefix(part, "2d") && lon == "":
			lon = part[2:]
		}
	}
	s.pair(lat, lon)
}

func zoomedIn(zoom string) bool {
	zoom, metres := strings.CutSuffix(zoom, "m") // "@53.1,8.2,350m": a satellite picture
	v, err := strconv.ParseFloat(strings.TrimSuffix(zoom, "z"), 64)
	return err == nil && (metres && v <= 3000 || !metres && v >= minZoom)
}

func (s *Statement) openStreetMap(u *url.URL, query url.Values) {
	if lat, lon := query.Get("mlat"), query.Get("mlon"); lat != "" && lon != "" {
		s.pair(lat, lon)
	}
	s.place(query.Get("marker"))
	s.place(query.Get("to"))
	s.place(query.Get("query"))
	if s.HasPoint {
		return
	}
	if fragment, ok := strings.CutPrefix(u.Fragment, "map="); ok {
		parts := strings.Split(fragment, "/") // zoom/lat/lon
		if len(parts) >= 3 && zoomedIn(parts[0]) {
			lon, _, _ := strings.Cut(parts[2], "&")
			s.pair(parts[1], lon)
		}
	} else if lat, lon := query.Get("lat"), query.Get("lon"); lat != "" && zoomedIn(query.Get("zoom")) {
		s.pair(lat, lon)
	}
}

func (s *Statement) bing(query url.Values) {
	for _, key := range []string{"sp", "rtp"} {
		items := strings.Split(query.Get(key), "~") // point.lat_lon_Name, pos.lat_lon_Name, adr.TEXT
		item := items[len(items)-1]
		if text, ok := strings.CutPrefix(item, "adr."); ok {
			s.place(text)
		} else if _, text, ok := strings.Cut(item, "."); ok {
			if parts := strings.Split(text, "_"); len(parts) >= 2 {
				s.pair(parts[0], parts[1])
			}
		}
	}
	s.place(query.Get("where1"))
	s.place(query.Get("q"))
	if zoomedIn(query.Get("lvl")) {
		s.place(query.Get("cp"))
	}
}

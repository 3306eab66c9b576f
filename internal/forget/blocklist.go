package forget

import (
	"fmt"
	"regexp"
	"strings"

	"gazehound/crawler/weburl"
	"gazehound/geoparse"
	"gazehound/index"
)

// A Blocklist is what was forgotten and must not come back: blocked.txt in the
// data directory. Each line is one of
//
//	host NAME       the host and all below it; with a port that one only
//	url URL         one page
//	address ID      an address wherever it is stated, by its index.Place
//
// The ID of an address does not say which one it is. The zero value is empty.
type Blocklist struct {
	hosts     map[string]bool
	urls      map[string]bool // by identity
	addresses map[string]bool
}

var placeID = regexp.MustCompile(`^[0-9a-f]{16}$`)

// IsAddressID reports whether text has the form of the ID of an address.
func IsAddressID(text string) bool { return placeID.MatchString(text) }

// NewBlocklist returns the list of these lines. Empty lines and lines that begin
// with # are comments. An error names the line.
func NewBlocklist(lines ...string) (Blocklist, error) {
	b := Blocklist{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for n, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if err := b.add(line); err != nil {
			return b, fmt.Errorf("%d: %w", n+1, err)
		}
	}
	return b, nil
}

func (b Blocklist) add(line string) error {
	kind, what, _ := strings.Cut(line, " ")
	what = strings.TrimSpace(what)
	switch kind {
	case "host":
		u, err := weburl.Parse("http://" + what + "/")
		if err != nil || u.Path() != "/" || u.Query() != "" {
			return fmt.Errorf("%.100q is not a host name", what)
		}
		b.hosts[u.Host()] = true
	case "url":
		u, err := weburl.Parse(what)
		if err != nil {
			return err
		}
		b.urls[u.Identity()] = true
	case "address":
		if !IsAddressID(what) {
			return fmt.Errorf("%.60q is not the ID of an address, 16 hexadecimal digits", what)
		}
		b.addresses[what] = true
	default:
		return fmt.Errorf("%.60q is not one of: host NAME, url URL, address ID", line)
	}
	return nil
}

// Has reports whether u must not be fetched or kept.
func (b Blocklist) Has(u weburl.URL) bool {
	if len(b.urls) > 0 && b.urls[u.Identity()] {
		return true
	}
	if len(b.hosts) == 0 {
		return false
	}
	if b.hosts[u.Host()] {
		return true
	}
	for name := u.Hostname(); name != ""; {
		if b.hosts[name] {
			return true
		}
		_, name, _ = strings.Cut(name, ".")
	}
	return false
}

// hasPage is Has of a URL that is a text.
func (b Blocklist) hasPage(raw string) bool {
	u, err := weburl.Parse(raw)
	return err == nil && b.Has(u)
}

// hasPlace reports whether an address of this index.Place must not be kept.
func (b Blocklist) hasPlace(place string) bool { return b.addresses[place] }

// hasKey is hasPlace of an address in the crawl tree, a geoparse.Parts.Key.
func (b Blocklist) hasKey(key string) bool {
	p, ok := geoparse.ReadKey(key)
	return ok && (b.hasPlace(index.PlaceOf(p.Street, p.Number, p.Postcode, "")) ||
		b.hasPlace(index.PlaceOf(p.Street, p.Number, "", p.City)))
}

// HasAddress returns a function that reports whether an address must not be kept; nil if none is
// blocked.
func (b Blocklist) HasAddress() func(geoparse.Address) bool {
	if len(b.addresses) == 0 {
		return nil
	}
	return func(a geoparse.Address) bool {
		for _, place := range index.Places(a) {
			if b.hasPlace(place) {
				return true
			}
		}
		return false
	}
}

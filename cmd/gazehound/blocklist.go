package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"gazehound/crawler/weburl"
	"gazehound/geoparse"
	"gazehound/index"
)

// A blocklist is what was forgotten and must not come back: blocked.txt in the
// data directory. Each line is one of
//
//	host NAME       the host and all below it; with a port that one only
//	url URL         one page
//	address ID      an address wherever it is stated, by its index.Place
//
// The ID of an address does not say which one it is.
type blocklist struct {
	hosts     map[string]bool
	urls      map[string]bool // by identity
	addresses map[string]bool
}

var placeID = regexp.MustCompile(`^[0-9a-f]{16}$`)

func newBlocklist() blocklist {
	return blocklist{map[string]bool{}, map[string]bool{}, map[string]bool{}}
}

// readBlocklist reads the list of p; one that is not there is empty.
func (p project) readBlocklist() (b blocklist, err error) {
	f, err := os.Open(p.blocked())
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	} else if err != nil {
		return b, fail(exitInvalidInput, "blocklist: %w", err)
	}
	defer f.Close()
	b = newBlocklist()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxSeedLine)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if err := b.add(text); err != nil {
			return b, fail(exitInvalidInput, "%s:%d: %w", p.blocked(), n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return b, fail(exitInvalidInput, "%s: %w", p.blocked(), err)
	}
	return b, nil
}

// add takes up a line of the list.
func (b blocklist) add(line string) error {
	kind, what, _ := strings.Cut(line, " ")
	what = strings.TrimSpace(what)
	switch kind {
	case "host":
		u, err := weburl.Parse("http://" + what + "/")
		if err != nil || u.Path() != "/" || u.Query() != "" {
			return fmt.Errorf("%.100q is no host", what)
		}
		b.hosts[u.Host()] = true
	case "url":
		u, err := weburl.Parse(what)
		if err != nil {
			return err
		}
		b.urls[u.Identity()] = true
	case "address":
		if !placeID.MatchString(what) {
			return fmt.Errorf("%.60q is no ID of an address, which has 16 hexadecimal digits", what)
		}
		b.addresses[what] = true
	default:
		return fmt.Errorf("%.60q is not one of: host NAME, url URL, address ID", line)
	}
	return nil
}

// has tells whether nothing of u may be fetched or kept.
func (b blocklist) has(u weburl.URL) bool {
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

// hasPlace tells whether an address of this index.Place must not be kept.
func (b blocklist) hasPlace(place string) bool { return b.addresses[place] }

// hasAddress tells whether a must not be kept; nil where every one may be.
func (b blocklist) hasAddress() func(geoparse.Address) bool {
	if len(b.addresses) == 0 {
		return nil
	}
	return func(a geoparse.Address) bool {
		for _, place := range index.Places(a) {
			if b.addresses[place] {
				return true
			}
		}
		return false
	}
}

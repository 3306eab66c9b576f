package trap

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"strings"

	"gazehound/crawler/weburl"
)

const (
	maxRepeats  = 3  // of one segment in a path
	maxSegments = 15 // of a path
	maxNamesOK  = 8  // parameters of a query
)

// A level is the extent of a pattern.
type level uint8

const (
	narrow    level = iota // URLs that differ in numbers and values only, or in some of their query
	directory              // a directory, or all URLs with a query
	wholeHost
)

// A named is a pattern by its name.
type named struct {
	name  string
	level level
}

// levels returns the patterns that u belongs to, the narrowest first: URLs that differ in numbers
// and values only; for one with a query those of its path with any query, those of any path with its
// parameters, and those with any query; the URLs of its directory; and those of the host.
func levels(u weburl.URL) []named {
	host := u.Host()
	var b strings.Builder
	b.WriteString(host)
	dir := b.Len()
	for segment := range strings.SplitSeq(u.Path()[1:], "/") {
		dir = b.Len() + 1
		b.WriteByte('/')
		shape(&b, segment)
	}
	path := b.String()
	list := []named{{path, narrow}}
	if q := strings.Join(names(u.Query()), "&"); q != "" {
		list = []named{{path + "?" + q, narrow}, {path + "?*", narrow}, {host + "/*?" + q, narrow},
			{host + "/*?*", directory}}
	}
	if dir > len(host)+1 {
		list = append(list, named{path[:dir] + "*", directory})
	}
	return append(list, named{host + "/*", wholeHost})
}

// idOf returns the key of a pattern: a cryptographic hash, so that no page can choose a URL that
// collides with a pattern of another host.
func idOf(name string) uint64 {
	sum := sha256.Sum256([]byte(name))
	return binary.BigEndian.Uint64(sum[:])
}

// shape writes a segment with "#" for each number, and "*" for ids of digits and letters.
func shape(b *strings.Builder, s string) {
	if isID(s) {
		b.WriteByte('*')
		return
	}
	number := false
	for i := 0; i < len(s); i++ {
		digit := '0' <= s[i] && s[i] <= '9'
		if digit && !number {
			b.WriteByte('#')
		} else if !digit {
			b.WriteByte(s[i])
		}
		number = digit
	}
}

// isID reports whether digits and letters change often in a long word, as in a
// hash and never in a name with a year.
func isID(s string) bool {
	if len(s) < 8 {
		return false
	}
	changes, was := 0, false
	for i := 0; i < len(s); i++ {
		c := s[i] | 0x20
		digit := '0' <= s[i] && s[i] <= '9'
		if !digit && !('a' <= c && c <= 'z') && c != '-' {
			return false
		}
		if i > 0 && digit != was && s[i] != '-' {
			changes++
		}
		was = digit
	}
	return changes >= 3
}

func parts(query string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for part := range strings.SplitSeq(query, "&") {
			if part != "" && !yield(part) {
				return
			}
		}
	}
}

func nameOf(part string) string {
	name, _, _ := strings.Cut(part, "=")
	return name
}

// names returns the distinct names of a query's first parameters, in order.
func names(query string) []string {
	if query == "" {
		return nil
	}
	var list []string
	for part := range parts(query) {
		if n := nameOf(part); len(list) < maxNames && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}

// structure finds paths that no site intends: those that repeat segments, name their own host, or
// are too long.
func structure(u weburl.URL) Finding {
	path := u.Path()
	if n := strings.Count(path, "/"); n > maxSegments {
		return Finding{Factor: structural, Reason: fmt.Sprintf("its path has %d segments", n)}
	}
	if strings.Count(u.Query(), "&") >= maxNamesOK {
		return Finding{Factor: structural, Reason: fmt.Sprintf("its query has %d parameters",
			strings.Count(u.Query(), "&")+1)}
	}
	if len(path) < 2*maxRepeats {
		return Finding{Factor: 1}
	}
	segments := strings.Split(strings.Trim(path, "/"), "/")
	for i, s := range segments {
		if s == "" || len(s) < 2 && isDigits(s) {
			continue
		}
		if i > 0 && s == u.Hostname() {
			return Finding{Factor: structural, Reason: fmt.Sprintf("its path names the host %s", s)}
		}
		repeats := 1
		for _, other := range segments[i+1:] {
			if other == s {
				repeats++
			}
		}
		if repeats >= maxRepeats {
			return Finding{Factor: structural, Reason: fmt.Sprintf("its path has %.40q %d times", s, repeats)}
		}
	}
	return Finding{Factor: 1}
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

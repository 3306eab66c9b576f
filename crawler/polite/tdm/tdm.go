// Package tdm reads the file in which a site reserves its rights to text and
// data mining (TDM Reservation Protocol, W3C community group, section 6).
package tdm

import (
	"encoding/json"
	"strings"

	"gazehound/crawler/weburl"
)

// Path is where a host keeps the file.
const Path = "/.well-known/tdmrep.json"

// Bounds of what is believed of one file.
const (
	MaxSize    = 256 << 10 // bytes
	maxRules   = 1000
	maxPattern = 1000 // bytes
)

// Rules say which paths of a host are reserved. The zero Rules reserve nothing.
type Rules struct{ rules []rule }

type rule struct {
	pattern  string
	reserved bool
}

// Parse reads a file. What is no list of rules reserves nothing; a rule that
// cannot be read is left out.
func Parse(body []byte) Rules {
	var list []struct {
		Location    *string `json:"location"`
		Reservation any     `json:"tdm-reservation"`
	}
	var rules Rules
	if json.Unmarshal(body, &list) != nil {
		return rules
	}
	for _, r := range list {
		if r.Location == nil || len(*r.Location) > maxPattern || len(rules.rules) == maxRules {
			continue
		}
		reserved := r.Reservation == 1.0 || r.Reservation == "1"
		if reserved || r.Reservation == 0.0 || r.Reservation == "0" {
			rules.rules = append(rules.rules, rule{*r.Location, reserved})
		}
	}
	return rules
}

// Reserved tells whether the page at u is reserved: the first rule whose
// location fits decides.
func (r Rules) Reserved(u weburl.URL) bool {
	path := u.Path()
	if q := u.Query(); q != "" {
		path += "?" + q
	}
	for _, rule := range r.rules {
		if fits(rule.pattern, path) {
			return rule.reserved
		}
	}
	return false
}

// fits matches as robots.txt does: the pattern is a beginning, "*" is any
// text, and "$" at its end is the path's. It takes linear time for each "*".
func fits(pattern, path string) bool {
	pattern, whole := strings.CutSuffix(pattern, "$")
	parts := strings.Split(pattern, "*")
	rest, ok := strings.CutPrefix(path, parts[0])
	if !ok {
		return false
	}
	for i, part := range parts[1:] {
		if whole && i == len(parts)-2 {
			return strings.HasSuffix(rest, part)
		}
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return !whole || rest == ""
}

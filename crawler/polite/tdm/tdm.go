// Package tdm parses the file in which a site reserves its rights to text and data mining (TDM
// Reservation Protocol, W3C community group, section 6).
package tdm

import (
	"encoding/json"

	"gazehound/crawler/polite/robots"
	"gazehound/crawler/weburl"
)

// Path is the path of the file on a host.
const Path = "/.well-known/tdmrep.json"

// Bounds of one file.
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

// Parse parses a file. A file that is no list of rules reserves nothing; invalid rules are skipped.
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

// Reserved reports whether the page at u is reserved: the first rule whose location matches
// decides, with the patterns of robots.txt.
func (r Rules) Reserved(u weburl.URL) bool {
	path := u.Path()
	if q := u.Query(); q != "" {
		path += "?" + q
	}
	for _, rule := range r.rules {
		if robots.Matches(rule.pattern, path) {
			return rule.reserved
		}
	}
	return false
}

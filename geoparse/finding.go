package geoparse

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// A Finding is an address of a text, or a candidate that was rejected.
type Finding struct {
	Address  *Address   // nil: rejected
	Rejected *Candidate // nil: an address
	Reason   string     // why it was rejected, or does not count for the region
}

// Findings is Parse with its addresses as Findings in the order of the text; with all also what was
// rejected, and why.
func (p *Parser) Findings(ctx context.Context, in Input, all bool) (v Verdict, list []Finding, err error) {
	var rejected []Candidate
	if all {
		v, rejected, err = p.Explain(ctx, in)
	} else {
		v, err = p.Parse(ctx, in)
	}
	for i := range v.Addresses {
		f := Finding{Address: &v.Addresses[i]}
		if all {
			f.Reason = p.Doubt(v.Addresses[i])
		}
		list = append(list, f)
	}
	for i := range rejected {
		list = append(list, Finding{Rejected: &rejected[i], Reason: rejected[i].Reason})
	}
	slices.SortStableFunc(list, func(a, b Finding) int { return cmp.Compare(a.start(), b.start()) })
	return v, list, err
}

// Text is that of the address or candidate.
func (f Finding) Text() string {
	if f.Address == nil {
		return f.Rejected.Text
	}
	return f.Address.Text
}

// start is where it begins; what only markup states comes last.
func (f Finding) start() int {
	switch {
	case f.Address == nil:
		return f.Rejected.Start
	case f.Address.Start < 0:
		return math.MaxInt
	}
	return f.Address.Start
}

// Record returns what is written of it in JSON.
func (f Finding) Record() any {
	if f.Address == nil {
		c := f.Rejected
		return map[string]any{"type": "rejected", "text": c.Text, "start": c.Start, "end": c.End, "reason": f.Reason}
	}
	r := NewRecord(*f.Address)
	r.Type, r.Reason = "address", f.Reason
	return r
}

// WriteGeoJSON writes a feature collection; the geometry of what has no coordinate is null.
func WriteGeoJSON(w io.Writer, list []Finding) error {
	type geometry struct {
		Type        string     `json:"type"`
		Coordinates [2]float64 `json:"coordinates"`
	}
	type feature struct {
		Type       string    `json:"type"`
		Geometry   *geometry `json:"geometry"`
		Properties any       `json:"properties"`
	}
	features := []feature{}
	for _, f := range list {
		one := feature{Type: "Feature", Properties: f.Record()}
		if r, ok := one.Properties.(Record); ok && r.Lat != nil {
			one.Geometry = &geometry{"Point", [2]float64{*r.Lon, *r.Lat}}
			r.Lat, r.Lon = nil, nil
			one.Properties = r
		}
		features = append(features, one)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(map[string]any{"type": "FeatureCollection", "features": features})
}

// Beside returns what belongs to the address, and what is special about it, in
// one line.
func (x *Address) Beside() string {
	var parts []string
	for _, s := range []string{x.Name, x.Branch, x.Phone, x.Email, x.Website, x.Hours} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if x.Status != CurrentStatus {
		parts = append(parts, fmt.Sprintf("%s: %q", x.Status, x.StatusWords))
	}
	if x.Role != OwnRole {
		parts = append(parts, "role "+x.Role.String())
	}
	if x.Footer {
		parts = append(parts, "in the page's footer")
	}
	switch {
	case x.Private:
		parts = append(parts, "of a private person: not kept")
	case x.Person:
		parts = append(parts, "of a person in business")
	}
	return strings.Join(parts, " · ")
}

package geoparse

import "gazehound/gazetteer"

// A Record is an Address as it is written in JSON. Start and End count Unicode
// characters of the text; they are -1 where only markup states the address.
type Record struct {
	Type        string   `json:"type,omitempty"`
	Text        string   `json:"text"`
	Street      string   `json:"street,omitempty"`
	HouseNumber string   `json:"housenumber,omitempty"`
	Unit        string   `json:"unit,omitempty"`
	POBox       string   `json:"po_box,omitempty"`
	Postcode    string   `json:"postcode,omitempty"`
	City        string   `json:"city,omitempty"`
	State       string   `json:"state,omitempty"`
	Country     string   `json:"country,omitempty"`
	Start       int      `json:"start"`
	End         int      `json:"end"`
	Level       string   `json:"level"`
	Confidence  float64  `json:"confidence"`
	Precision   string   `json:"precision"`
	Lat         *float64 `json:"lat,omitempty"`
	Lon         *float64 `json:"lon,omitempty"`
	Origin      string   `json:"origin"`
	Place       string   `json:"place,omitempty"`
	InRegion    bool     `json:"in_region"`
	Role        string   `json:"role"`
	Footer      bool     `json:"footer,omitempty"`
	SiteWide    bool     `json:"site_wide,omitempty"` // of a crawl only: one page cannot tell
	Person      bool     `json:"person,omitempty"`
	Private     bool     `json:"private,omitempty"`
	Name        string   `json:"name,omitempty"`
	Branch      string   `json:"branch,omitempty"`
	Kind        string   `json:"kind,omitempty"`
	Phone       string   `json:"phone,omitempty"`
	Fax         string   `json:"fax,omitempty"`
	Email       string   `json:"email,omitempty"`
	Website     string   `json:"website,omitempty"`
	Hours       string   `json:"opening_hours,omitempty"`
	Status      string   `json:"status,omitempty"`       // "moved", "former" or "closed"
	StatusWords string   `json:"status_words,omitempty"` // of the page, that say so
	Object      string   `json:"osm_object,omitempty"`
	Tags        string   `json:"osm_tags,omitempty"`
	Reason      string   `json:"reason,omitempty"`
}

// NewRecord returns the Record of x.
func NewRecord(x Address) Record {
	j := Record{
		Text: x.Text, Street: x.Street, HouseNumber: x.HouseNumber, Unit: x.Unit, POBox: x.POBox,
		Postcode: x.Postcode, City: x.City, State: x.State, Country: x.Country, Start: x.Start, End: x.End,
		Level: x.Level.String(), Confidence: x.Confidence,
		Precision: x.Precision.String(), Origin: x.Origin.String(), Place: x.Place.ID, InRegion: x.InRegion,
		Role: x.Role.String(), Footer: x.Footer, SiteWide: x.SiteWide, Person: x.Person, Private: x.Private,
		Name: x.Name, Branch: x.Branch, Kind: x.Kind, Phone: x.Phone, Fax: x.Fax, Email: x.Email, Website: x.Website,
		Hours: x.Hours, Status: x.Status.String(), StatusWords: x.StatusWords, Object: x.Object, Tags: x.Tags,
	}
	if x.Precision > gazetteer.NoPrecision {
		lon, lat := x.Point[0], x.Point[1]
		j.Lat, j.Lon = &lat, &lon
	}
	return j
}

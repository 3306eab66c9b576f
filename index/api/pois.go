package api

import (
	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/index/differences"
	"gazehound/index/export"
	"gazehound/index/web"
)

// finder returns what finds points of interest of the map; nil without a map.
func (s *server) finder() *differences.Finder {
	if s.Gazetteer == nil {
		return nil
	}
	return &differences.Finder{Map: s.Gazetteer, Serves: s.serves, Locate: s.locate}
}

// beside returns the points of interest of the map that fit a request.
func (s *server) beside(a *params, hits []index.Hit) differences.Beside {
	if s.Gazetteer == nil || a.parts != [4]string{} {
		return differences.Beside{}
	}
	return s.finder().Beside(a.Query, hits)
}

// onMapOf returns a point of interest for the page.
func onMapOf(p *gazetteer.Place) web.OnMap {
	h := differences.HitOf(p)
	return web.OnMap{Title: h.Name, Place: p.ID, Point: p.Point, Hit: h}
}

// photonPOI returns a point of interest as a feature for Photon's clients.
func photonPOI(place *gazetteer.Place, a *params) export.Feature {
	h := differences.HitOf(place)
	f := photonHit(h, a.Center)
	p := f.Properties.(*photonProperties)
	p.Known = "map"
	p.OSMType, p.OSMID = osmObject(place.ID)
	return f
}

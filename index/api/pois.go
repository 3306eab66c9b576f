package api

import (
	"context"

	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/index/differences"
	"gazehound/index/export"
	"gazehound/index/web"
)

// finder returns what finds places of the map, which must be there.
func (s *server) finder() *differences.Finder {
	return &differences.Finder{Map: s.Gazetteer, Within: s.Within, Search: s.index.Search}
}

// beside returns the points of interest of the map that fit a request.
func (s *server) beside(ctx context.Context, a *params, hits []index.Hit) differences.Beside {
	if s.Gazetteer == nil || a.parts != [4]string{} {
		return differences.Beside{}
	}
	return s.finder().Beside(ctx, a.Query, hits, maxOnMap)
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

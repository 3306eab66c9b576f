package report

import (
	"fmt"
	"slices"

	"gazehound/crawler/cluster/partition"
	"gazehound/gazetteer"
	"gazehound/geoparse"
)

// Cities is the Owner of a NodesReader whose nodes own no places: every address
// counts for its city.
func Cities(address string) (place string, node int) { return cityOf(address), -1 }

// An UnknownNodeError names a node that the list of all nodes does not have.
type UnknownNodeError string

func (e UnknownNodeError) Error() string { return fmt.Sprintf("no node is called %q", string(e)) }

// PlaceOwner returns the Owner of a NodesReader for the nodes called names, with
// the cities that all has for them, and which of them are general. The state of an
// address that names none comes from its postcode in g, which may be nil: then a
// city is the most populous one of its name.
func PlaceOwner(names []string, all []partition.Node, known []partition.City, g *gazetteer.Gazetteer) (
	owner func(address string) (place string, node int), general []bool, err error) {
	var ordered []partition.Node
	for _, name := range names {
		at := slices.IndexFunc(all, func(n partition.Node) bool { return n.Name == name })
		if at < 0 {
			return nil, nil, UnknownNodeError(name)
		}
		ordered = append(ordered, all[at])
		general = append(general, len(all[at].Cities) == 0)
	}
	for _, n := range all { // those that were not crawled keep their cities
		if !slices.Contains(names, n.Name) {
			ordered = append(ordered, n)
		}
	}
	share, err := partition.New(ordered, partition.Options{Method: partition.SiteHash,
		Policy: partition.PolicyA, Known: known})
	if err != nil {
		return nil, nil, err
	}
	return func(address string) (string, int) {
		city, state := cityOf(address), stateOf(g, address)
		node, ok := share.Node(city, state)
		if !ok {
			return "", -1
		}
		return city + "|" + state, node
	}, general, nil
}

// cityOf returns the city of an address of a crawl tree.
func cityOf(address string) string {
	p, _ := geoparse.ReadKey(address)
	return p.City
}

// stateOf returns the code of the state of an address, or "" where it is not
// known.
func stateOf(g *gazetteer.Gazetteer, address string) string {
	a, _ := geoparse.ReadKey(address)
	if g == nil || a.Postcode == "" {
		return a.State
	}
	state := ""
	for _, p := range g.Postcodes(a.Country, a.Postcode) {
		if state == "" || gazetteer.Key(p.City) == a.City {
			state = p.State
		}
	}
	return state
}

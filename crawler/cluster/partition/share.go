package partition

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // time zones are known where the system has no table of them
)

// A ZonedCity is a city with its time zone, such as "America/New_York".
type ZonedCity struct {
	City
	TimeZone string
}

// ShareNames lists the ways in which Share shares cities out.
var ShareNames = []string{"time-zone", "state", "size"}

// A zone is the cities of one node to be.
type zone struct {
	name   string
	offset float64 // of the time zone from UTC, in hours
	cities []City
}

// Share gives cities, the most populous first, to a general node and at most so
// many geographic ones. By time zone or state, each of these has its node, and
// the two neighbours with the fewest cities become one until there are no more
// than groups; by size, each city goes to the node with the smallest population.
func Share(cities []ZonedCity, by string, groups int) ([]Node, error) {
	zones := make([]zone, 0, groups)
	for _, c := range cities {
		z := zone{cities: []City{c.City}}
		switch by {
		case "size":
			zones = addBySize(zones, c.City, groups)
			continue
		case "state":
			z.name = strings.ToLower(cmp.Or(c.State, "none"))
		default:
			var err error
			z.offset, err = standardOffset(c)
			if err != nil {
				return nil, err
			}
			z.name = fmt.Sprintf("utc%+g", z.offset)
		}
		i, found := slices.BinarySearchFunc(zones, z, func(a, b zone) int {
			return cmp.Or(cmp.Compare(a.offset, b.offset), strings.Compare(a.name, b.name))
		})
		if found {
			zones[i].cities = append(zones[i].cities, c.City)
		} else {
			zones = slices.Insert(zones, i, z)
		}
	}
	for len(zones) > groups {
		zones = joinSmallest(zones)
	}
	nodes := []Node{{Name: "general"}}
	for _, z := range zones {
		nodes = append(nodes, Node{Name: z.name, Cities: z.cities})
	}
	return nodes, nil
}

// standardOffset returns the hours between UTC and a city's standard time, which
// is in force in January or in July.
func standardOffset(c ZonedCity) (float64, error) {
	if c.TimeZone == "" {
		return 0, fmt.Errorf("%s has no time zone", c.City)
	}
	where, err := time.LoadLocation(c.TimeZone)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", c.City, err)
	}
	_, january := time.Date(2025, 1, 1, 0, 0, 0, 0, where).Zone()
	_, july := time.Date(2025, 7, 1, 0, 0, 0, 0, where).Zone()
	return float64(min(january, july)) / 3600, nil
}

// addBySize gives a city to a new group, or to the smallest one if there are
// enough.
func addBySize(zones []zone, c City, groups int) []zone {
	if len(zones) < groups {
		return append(zones, zone{name: fmt.Sprintf("group-%d", len(zones)+1), cities: []City{c}})
	}
	people := func(z zone) (n int) {
		for _, c := range z.cities {
			n += c.Population
		}
		return n
	}
	least := 0
	for i := range zones {
		if people(zones[i]) < people(zones[least]) {
			least = i
		}
	}
	zones[least].cities = append(zones[least].cities, c)
	return zones
}

// joinSmallest makes one zone of the two neighbours with the fewest cities.
func joinSmallest(zones []zone) []zone {
	best := 0
	for i := range len(zones) - 1 {
		if len(zones[i].cities)+len(zones[i+1].cities) < len(zones[best].cities)+len(zones[best+1].cities) {
			best = i
		}
	}
	a, b := &zones[best], zones[best+1]
	a.name += "_" + b.name
	a.cities = append(a.cities, b.cities...)
	return slices.Delete(zones, best+1, best+2)
}

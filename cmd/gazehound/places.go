package main

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"gazehound/crawler/cluster/partition"
	"gazehound/gazetteer"
	"gazehound/gazetteer/geonames"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// placesOptions are the flags that assign cities to nodes.
type placesOptions struct {
	by     string
	groups int
	cities string
	states string
}

func (o *placesOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.by, "by", "time-zone", "how the cities are distributed: time-zone | state | size")
	f.IntVar(&o.groups, "groups", 5, "geographic nodes; neighbours are merged until no more than these are left")
	oneOf(f, "by", partition.ShareNames)
	between(f, "groups", 1, 10_000)
	f.StringVar(&o.cities, "cities", "", "GeoNames `FILE` with populations and time zones of cities, such as "+
		"cities15000.txt")
	f.StringVar(&o.states, "states", "", "GeoNames `FILE` with the names of states, such as admin1CodesASCII.txt")
}

const placesHelp = `Writes the file that "gazehound node --nodes" and "gazehound simulate nodes --places"
read: the N most populous cities of a country, such as us-top-100, on geographic
nodes, and one general node. Populations and time zones come from a GeoNames dump
(--cities); other names of the cities come from the data directory's
gazetteer, if there is one.

--by time-zone gives each time zone a node and merges the smallest neighbours until
there are --groups; --by state does the same with states in the
order of their names; --by size gives all nodes about the same population.

The file is YAML (or JSON, which is YAML, too): a list of nodes

  - name: general                  # no cities: takes what belongs to no city
  - name: utc-8
    cities:
      - {name: Los Angeles, state: CA, state_name: California, population: 3800000, aliases: [LA]}
  - known:                         # no node: cities that share a name with one of these
      - {name: Portland, state: ME, population: 68000}

A city without its state in a text or URL is the most populous one of its name,
known ones included.

Exit status: 0 done, 2 unusable argument or flag, 4 unusable file.

Examples:
  gazehound places us-top-100 --by time-zone --cities cities15000.txt --states admin1CodesASCII.txt > nodes.yaml
  gazehound places de-top-50 --by size --groups 3 --cities cities15000.txt -d oldenburg
`

func newPlacesCommand(a *app) *cobra.Command {
	o := placesOptions{}
	cmd := command("places COUNTRY-top-N", "Distribute the cities of a country over nodes", placesHelp,
		cobra.ExactArgs(1), stoppable(func(ctx context.Context, args []string) error {
			if !placesForm.MatchString(args[0]) {
				return fail(badUsage, "want a country's code and a number of cities, such as us-top-100, got %q",
					oneLine(args[0]))
			}
			nodes, known, err := a.places(ctx, args[0], o)
			if err != nil {
				return err
			}
			return partition.WriteNodes(a.stdout, nodes, known)
		}))
	o.flags(cmd.Flags())
	return cmd
}

var placesForm = regexp.MustCompile(`^([A-Za-z]{2})-top-([0-9]{1,4})$`)

// places returns the nodes of a file, or those of a specification such as
// "us-top-100", and cities that share a name with theirs.
func (a *app) places(ctx context.Context, spec string, o placesOptions) (nodes []partition.Node,
	known []partition.City, err error) {
	m := placesForm.FindStringSubmatch(spec)
	if m == nil {
		nodes, known, err = partition.ReadNodes(spec)
		if err != nil {
			return nil, nil, invalid(err)
		}
		return nodes, known, nil
	}
	country := strings.ToUpper(m[1])
	n, _ := strconv.Atoi(m[2])
	switch {
	case n < 1:
		return nil, nil, fail(badUsage, "%s: want one city or more", spec)
	case o.cities == "":
		return nil, nil, fail(badUsage, "%s needs --cities FILE, a GeoNames dump such as cities15000.txt", spec)
	}
	top := geonames.TopCities{Country: country, N: n}
	if o.states != "" {
		top.States, err = geonames.StateNames(ctx, o.states, country)
		if err != nil {
			return nil, nil, fail(badInput, "--states: %w", err)
		}
	}
	chosen, same, err := top.Read(ctx, o.cities)
	if err != nil {
		return nil, nil, fail(badInput, "--cities: %w", err)
	}
	aliases, err := a.cityAliases()
	if err != nil {
		return nil, nil, err
	}
	city := func(p gazetteer.Place) partition.City {
		return partition.City{Name: p.Names[0], State: p.State, StateName: top.States[p.State],
			Population: p.Population}
	}
	var cities []partition.ZonedCity
	for _, p := range chosen {
		c := city(p)
		c.Aliases = aliases(p)
		cities = append(cities, partition.ZonedCity{City: c, TimeZone: p.TimeZone})
	}
	for _, p := range same {
		known = append(known, city(p))
	}
	nodes, err = partition.Share(cities, o.by, o.groups)
	if err != nil {
		return nil, nil, fail(badInput, "--cities: %w", err)
	}
	return nodes, known, nil
}

// maxAliases bounds the other names of one city in a nodes file.
const maxAliases = 20

// cityAliases returns a function that looks up the other names of a city in the data directory's
// gazetteer, if there is one.
func (a *app) cityAliases() (func(p gazetteer.Place) []string, error) {
	p := project{a.data}
	if a.data == "" || !fileExists(p.gazetteer()) {
		return func(gazetteer.Place) []string { return nil }, nil
	}
	g, err := p.openGazetteer()
	if err != nil {
		return nil, err
	}
	return func(p gazetteer.Place) []string { return g.LatinNames(p, maxAliases) }, nil
}

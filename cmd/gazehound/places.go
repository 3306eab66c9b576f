package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // --by time-zone works where the system has no table of them

	"gazehound/crawler/cluster/partition"
	"gazehound/gazetteer"
	"gazehound/gazetteer/geonames"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"
)

// placesOptions are the flags that say which node gets which city.
type placesOptions struct {
	by     string
	groups int
	cities string
	states string
}

func (o *placesOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.by, "by", "time-zone", "how --places shares cities out: time-zone | state | size")
	f.IntVar(&o.groups, "groups", 5, "geographic nodes of --places; neighbours are put together until there are no more")
	f.StringVar(&o.cities, "cities", "", "GeoNames `FILE` for --places, such as cities15000.txt: populations and time zones")
	f.StringVar(&o.states, "states", "", "GeoNames `FILE` with the names of states, admin1CodesASCII.txt")
}

func newPlacesCommand(a *app) *cobra.Command {
	o := placesOptions{}
	cmd := &cobra.Command{
		Use:   "places COUNTRY-top-N",
		Short: "Share the cities of a country out among nodes",
		Long: `Writes the file that "gazehound node --nodes" and "gazehound simulate --places"
read: the N most populous cities of a country, such as us-top-100, on geographic
nodes, and one general node. Populations and time zones come from a GeoNames dump
(--cities); other names of the cities from the gazetteer of the data directory,
where there is one.

--by time-zone gives each time zone a node and puts the smallest neighbours
together until there are --groups; --by state does the same with states in the
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

Exit status: 0 done, 2 unusable argument or flag, 4 unusable file.`,
		Example: `  gazehound places us-top-100 --by time-zone --cities cities15000.txt --states admin1CodesASCII.txt > nodes.yaml
  gazehound places de-top-50 --by size --groups 3 --cities cities15000.txt -d oldenburg`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !placesForm.MatchString(args[0]) {
				return fail(exitUsage, "want a country's code and a number of cities, such as us-top-100, got %q", oneLine(args[0]))
			}
			ctx, stop := signals(cmd.Context())
			defer stop()
			nodes, known, err := a.places(ctx, args[0], o)
			if err != nil {
				return err
			}
			return writeNodes(a.stdout, nodes, known)
		},
	}
	cmd.Flags().SortFlags = false
	o.flags(cmd.Flags())
	return cmd
}

var placesForm = regexp.MustCompile(`^([A-Za-z]{2})-top-([0-9]{1,4})$`)

// places returns the nodes of a file, or those of a specification such as
// "us-top-100", and cities that share a name with theirs.
func (a *app) places(ctx context.Context, spec string, o placesOptions) (nodes []partition.Node, known []partition.City, err error) {
	m := placesForm.FindStringSubmatch(spec)
	if m == nil {
		if nodes, known, err = readNodes(spec); err != nil {
			return nil, nil, fail(exitInvalidInput, "%w", err)
		}
		return nodes, known, nil
	}
	country := strings.ToUpper(m[1])
	n, _ := strconv.Atoi(m[2])
	switch {
	case n < 1:
		return nil, nil, fail(exitUsage, "%s: want one city or more", spec)
	case o.groups < 1:
		return nil, nil, fail(exitUsage, "--groups wants 1 or more")
	case !slices.Contains([]string{"time-zone", "state", "size"}, o.by):
		return nil, nil, fail(exitUsage, "--by: %q is not time-zone, state or size", o.by)
	case o.cities == "":
		return nil, nil, fail(exitUsage, "%s needs --cities FILE, a GeoNames dump such as cities15000.txt", spec)
	}
	names, err := stateNames(ctx, o.states, country)
	if err != nil {
		return nil, nil, fail(exitInvalidInput, "--states: %w", err)
	}
	all, err := placesOf(ctx, o.cities, country)
	if err != nil {
		return nil, nil, fail(exitInvalidInput, "--cities: %w", err)
	}
	if len(all) < n {
		return nil, nil, fail(exitInvalidInput, "--cities: %s has %d cities of %s, %s wants %d", o.cities, len(all), country, spec, n)
	}
	aliases, err := a.cityAliases(country)
	if err != nil {
		return nil, nil, err
	}
	var zones []zone
	targets := map[string]bool{}
	for i, p := range all {
		c := partition.City{Name: p.Names[0], State: p.State, StateName: names[p.State], Population: p.Population}
		key := gazetteer.Key(c.Name)
		switch {
		case i < n:
			c.Aliases = aliases(p)
			targets[key] = true
			z, err := zoneOf(p, c, o.by)
			if err != nil {
				return nil, nil, fail(exitInvalidInput, "--cities: %w", err)
			}
			zones = gather(zones, z)
		case targets[key]:
			known = append(known, c)
		}
	}
	if o.by == "size" {
		zones = bySize(zones, o.groups)
	}
	for len(zones) > o.groups {
		zones = joinSmallest(zones)
	}
	nodes = []partition.Node{{Name: "general"}}
	for _, z := range zones {
		nodes = append(nodes, partition.Node{Name: z.name, Cities: z.cities})
	}
	return nodes, known, nil
}

// placesOf returns the cities of a country, the most populous first.
func placesOf(ctx context.Context, file, country string) ([]gazetteer.Place, error) {
	f, _, err := gazetteer.OpenSource(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []gazetteer.Place
	err = geonames.Dump(nil)(ctx, f, func(p gazetteer.Place) error {
		if p.Country == country && p.Population > 0 && p.AdminLevel == 0 { // no suburb
			all = append(all, p)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	slices.SortStableFunc(all, func(a, b gazetteer.Place) int { return cmp.Compare(b.Population, a.Population) })
	// A dump may have a city and a part of it that is as large.
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(p gazetteer.Place) bool {
		key := gazetteer.Key(p.Names[0]) + "|" + p.State
		again := seen[key]
		seen[key] = true
		return again
	}), nil
}

// stateNames returns the names of a country's states by their codes.
func stateNames(ctx context.Context, file, country string) (map[string]string, error) {
	names := map[string]string{}
	if file == "" {
		return names, nil
	}
	f, _, err := gazetteer.OpenSource(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	err = geonames.Admin(nil)(ctx, f, func(p gazetteer.Place) error {
		if p.Country == country {
			names[p.State] = p.Names[0]
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return names, nil
}

// maxAliases bounds the other names of one city in a nodes file.
const maxAliases = 20

// cityAliases returns what looks up the other names of a city: in the
// gazetteer of the data directory, or nowhere.
func (a *app) cityAliases(country string) (func(p gazetteer.Place) []string, error) {
	p := project{a.data}
	if a.data == "" || !fileExists(p.gazetteer()) {
		return func(gazetteer.Place) []string { return nil }, nil
	}
	g, err := p.openGazetteer()
	if err != nil {
		return nil, err
	}
	return func(p gazetteer.Place) []string {
		var names []string
		for _, c := range g.Cities(country, p.Names[0]) {
			if c.State != p.State {
				continue
			}
			for _, name := range c.Names {
				if name != p.Names[0] && isLatin(name) && !slices.Contains(names, name) && len(names) < maxAliases {
					names = append(names, name)
				}
			}
		}
		return names
	}, nil
}

// isLatin tells names that can stand in a URL or a text in Latin letters.
func isLatin(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > 0x24F })
}

// A zone is the cities of one node to be.
type zone struct {
	name   string
	order  float64 // neighbours stand beside one another
	cities []partition.City
}

func zoneOf(p gazetteer.Place, c partition.City, by string) (zone, error) {
	switch by {
	case "state":
		return zone{name: strings.ToLower(cmp.Or(c.State, "none")), cities: []partition.City{c}}, nil
	case "size":
		return zone{name: c.String(), order: -float64(c.Population), cities: []partition.City{c}}, nil
	}
	if p.TimeZone == "" {
		return zone{}, fmt.Errorf("%s has no time zone", c)
	}
	where, err := time.LoadLocation(p.TimeZone)
	if err != nil {
		return zone{}, fmt.Errorf("%s: %w", c, err)
	}
	// Standard time is in force in January or in July.
	_, january := time.Date(2025, 1, 1, 0, 0, 0, 0, where).Zone()
	_, july := time.Date(2025, 7, 1, 0, 0, 0, 0, where).Zone()
	offset := float64(min(january, july)) / 3600
	return zone{name: fmt.Sprintf("utc%+g", offset), order: offset, cities: []partition.City{c}}, nil
}

// gather puts a city into its zone.
func gather(zones []zone, z zone) []zone {
	i, found := slices.BinarySearchFunc(zones, z, func(a, b zone) int {
		return cmp.Or(cmp.Compare(a.order, b.order), strings.Compare(a.name, b.name))
	})
	if !found {
		return slices.Insert(zones, i, z)
	}
	zones[i].cities = append(zones[i].cities, z.cities...)
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

// bySize gives each city, the largest first, to the smallest of n groups.
func bySize(cities []zone, n int) []zone {
	groups := make([]zone, min(n, len(cities)))
	people := make([]int, len(groups))
	for _, z := range cities {
		least := 0
		for i := range groups {
			if people[i] < people[least] {
				least = i
			}
		}
		groups[least].name = fmt.Sprintf("group-%d", least+1)
		groups[least].cities = append(groups[least].cities, z.cities...)
		people[least] += z.cities[0].Population
	}
	return groups
}

// A nodesEntry is one node of a nodes file, or the known cities of it.
type nodesEntry struct {
	Name   string      `yaml:",omitempty"`
	Cities []nodesCity `yaml:",omitempty"`
	Known  []nodesCity `yaml:",omitempty"`
}

type nodesCity struct {
	Name       string
	State      string   `yaml:",omitempty"`
	StateName  string   `yaml:"state_name,omitempty"`
	Population int      `yaml:",omitempty"`
	Aliases    []string `yaml:",omitempty,flow"`
}

// maxNodesFile bounds the bytes of a nodes file.
const maxNodesFile = 16 << 20

// readNodes reads the nodes of a crawl with their cities, sorted by name, and
// other cities that share a name with one of them.
func readNodes(file string) (nodes []partition.Node, known []partition.City, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, fmt.Errorf("nodes: %w", err)
	}
	defer f.Close()
	if nodes, known, err = parseNodes(f); err != nil {
		return nil, nil, fmt.Errorf("nodes: %s: %w", file, err)
	}
	return nodes, known, nil
}

func parseNodes(r io.Reader) (nodes []partition.Node, known []partition.City, err error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxNodesFile+1))
	if err != nil {
		return nil, nil, err
	}
	if len(raw) > maxNodesFile {
		return nil, nil, fmt.Errorf("it has more than %d bytes", maxNodesFile)
	}
	var entries []nodesEntry
	d := yaml.NewDecoder(strings.NewReader(string(raw)))
	d.KnownFields(true)
	if err := d.Decode(&entries); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("not a list of nodes: %w", err)
	}
	cities := func(from []nodesCity) (to []partition.City) {
		for _, c := range from {
			to = append(to, partition.City{Name: c.Name, Aliases: c.Aliases, State: c.State, StateName: c.StateName, Population: c.Population})
		}
		return to
	}
	for i, e := range entries {
		switch {
		case len(e.Known) > 0 && (e.Name != "" || len(e.Cities) > 0):
			return nil, nil, fmt.Errorf("entry %d: known cities belong to no node", i+1)
		case len(e.Known) > 0:
			known = append(known, cities(e.Known)...)
		case e.Name == "":
			return nil, nil, fmt.Errorf("entry %d: a node needs a name", i+1)
		default:
			nodes = append(nodes, partition.Node{Name: e.Name, Cities: cities(e.Cities)})
		}
	}
	if len(nodes) == 0 {
		return nil, nil, errors.New("it names no node")
	}
	slices.SortFunc(nodes, func(a, b partition.Node) int { return strings.Compare(a.Name, b.Name) })
	return nodes, known, nil
}

// writeNodes writes a nodes file.
func writeNodes(w io.Writer, nodes []partition.Node, known []partition.City) error {
	cities := func(from []partition.City) (to []nodesCity) {
		for _, c := range from {
			to = append(to, nodesCity{c.Name, c.State, c.StateName, c.Population, c.Aliases})
		}
		return to
	}
	var entries []nodesEntry
	for _, n := range nodes {
		entries = append(entries, nodesEntry{Name: n.Name, Cities: cities(n.Cities)})
	}
	if len(known) > 0 {
		entries = append(entries, nodesEntry{Known: cities(known)})
	}
	e := yaml.NewEncoder(w)
	e.SetIndent(2)
	if err := e.Encode(entries); err != nil {
		return fmt.Errorf("write nodes: %w", err)
	}
	return e.Close()
}

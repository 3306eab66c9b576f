package cluster

import (
	"maps"
	"slices"

	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/page"
)

// shares assign links to the nodes that take part.
type shares struct {
	epoch int
	nodes []string // that take part, sorted
	left  []string // that have lost their share
	plan  *partition.Partition
	// present turns a node of the plan into the one that has its share now:
	// itself, or another while it is away.
	present []string
	// stable: the owner of a URL follows from the URL alone.
	stable bool
	// instances are the data directories whose visits count: those of the nodes that have or had a
	// share. A node that starts over has a new one.
	instances map[string]bool
	replaced  chan struct{} // closed when the nodes use another map
}

func newShares(d Definition, o partition.Options, m mapping) (*shares, error) {
	s := &shares{replaced: make(chan struct{}), epoch: m.Epoch, nodes: slices.Sorted(slices.Values(m.Nodes)),
		left: slices.Sorted(maps.Keys(m.Left)), instances: map[string]bool{}}
	for _, instance := range m.Instances {
		s.instances[instance] = true
	}
	planned := d.Nodes
	if len(planned) == 0 {
		for _, name := range s.nodes {
			planned = append(planned, partition.Node{Name: name})
		}
	}
	var err error
	s.plan, err = partition.New(planned, o)
	if err != nil {
		return s, err
	}
	switch d.Partition {
	case partition.URLHash, partition.SiteHash, partition.URLBased, partition.IPAddress:
		s.stable = true
	}
	for _, p := range planned {
		name := p.Name
		if !slices.Contains(s.nodes, name) { // away: rendezvous among those that are there
			name = partition.Rendezvous(p.Name, s.nodes)
		}
		s.present = append(s.present, name)
	}
	return s, nil
}

// owners returns for each link of a page the nodes that fetch it, each once.
func (s *shares) owners(p *page.Page) [][]string {
	owners := make([][]string, len(p.Links))
	for i, nodes := range s.plan.Owners(p) {
		for _, k := range nodes {
			if name := s.present[k]; !slices.Contains(owners[i], name) {
				owners[i] = append(owners[i], name)
			}
		}
	}
	return owners
}

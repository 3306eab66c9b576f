package cluster

import (
	"slices"

	"gazehound/crawler/page"
	"gazehound/crawler/partition"
)

// shares say who owns what while certain nodes take part.
type shares struct {
	epoch int
	nodes []string // that take part, sorted
	plan  *partition.Partition
	// present turns a node of the plan into the one that has its share now:
	// itself, or another while it is away.
	present []string
	// stable: the owner of a URL follows from the URL alone.
	stable bool
}

func newShares(d Definition, o partition.Options, epoch int, nodes []string) (shares, error) {
	s := shares{epoch: epoch, nodes: slices.Sorted(slices.Values(nodes))}
	planned := d.Nodes
	if len(planned) == 0 {
		for _, name := range s.nodes {
			planned = append(planned, partition.Node{Name: name})
		}
	}
	var err error
	if s.plan, err = partition.New(planned, o); err != nil {
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

package partition

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// nodesEntry is one entry of a nodes file: a node, or known cities.
type nodesEntry struct {
	Node  `yaml:",inline"`
	Known []City `yaml:",omitempty"`
}

// maxNodesFile bounds the bytes of a nodes file.
const maxNodesFile = 16 << 20

// ReadNodes reads a nodes file: the nodes of a crawl with their cities, sorted
// by name, and known cities, which belong to no node but share a name with one
// that does.
func ReadNodes(file string) (nodes []Node, known []City, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, fmt.Errorf("nodes: %w", err)
	}
	defer f.Close()
	nodes, known, err = ParseNodes(f)
	if err != nil {
		return nil, nil, fmt.Errorf("nodes: %s: %w", file, err)
	}
	return nodes, known, nil
}

// ParseNodes reads the YAML or JSON of a nodes file.
func ParseNodes(r io.Reader) (nodes []Node, known []City, err error) {
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
	err = d.Decode(&entries)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("not a list of nodes: %w", err)
	}
	for i, e := range entries {
		switch {
		case len(e.Known) > 0 && (e.Name != "" || len(e.Cities) > 0):
			return nil, nil, fmt.Errorf("entry %d: known cities belong to no node", i+1)
		case len(e.Known) > 0:
			known = append(known, e.Known...)
		case e.Name == "":
			return nil, nil, fmt.Errorf("entry %d: a node needs a name", i+1)
		default:
			nodes = append(nodes, e.Node)
		}
	}
	if len(nodes) == 0 {
		return nil, nil, errors.New("it names no node")
	}
	slices.SortFunc(nodes, func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
	return nodes, known, nil
}

// WriteNodes writes a nodes file.
func WriteNodes(w io.Writer, nodes []Node, known []City) error {
	var entries []nodesEntry
	for _, n := range nodes {
		entries = append(entries, nodesEntry{Node: n})
	}
	if len(known) > 0 {
		entries = append(entries, nodesEntry{Known: known})
	}
	e := yaml.NewEncoder(w)
	e.SetIndent(2)
	err := e.Encode(entries)
	if err != nil {
		return fmt.Errorf("write nodes: %w", err)
	}
	return e.Close()
}

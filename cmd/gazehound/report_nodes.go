package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"gazehound/crawler/cluster"
	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/monitor/report"
	"gazehound/gazetteer"
	"gazehound/geoparse"
)

// reportNodes reports on the data directories of the nodes of one crawl with
// the metrics of Gao, Lee & Miao.
func (a *app) reportNodes(ctx context.Context, dirs []string, places, format, output string) error {
	if !slices.Contains(report.NodesFormats, format) {
		return fail(exitUsage, "--format: %.40q is not one of %s with --nodes.%s", format, strings.Join(report.NodesFormats, ", "), didYouMean(format, report.NodesFormats))
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	if len(dirs) == 0 {
		dirs = []string{a.data}
	}
	var names []string
	var projects []project
	for _, dir := range dirs {
		name, path, named := strings.Cut(dir, "=")
		if !named {
			name, path = filepath.Base(filepath.Clean(dir)), dir
		}
		if slices.Contains(names, name) {
			return fail(exitUsage, "two nodes are called %s; write NAME=DIR", name)
		}
		names, projects = append(names, name), append(projects, project{path})
	}
	// Without --places no node is geographic, and every address counts.
	general := make([]bool, len(names))
	for i := range general {
		general[i] = true
	}
	reader := report.NodesReader{Owner: func(address string) (string, int) { return addressCity(address), -1 }}
	if places != "" {
		nodes, known, err := partition.ReadNodes(places)
		if err != nil {
			return fail(exitInvalidInput, "%w", err)
		}
		var ordered []partition.Node
		for i, name := range names {
			at := slices.IndexFunc(nodes, func(n partition.Node) bool { return n.Name == name })
			if at < 0 {
				return fail(exitUsage, "%s has no node %q; write NAME=DIR", places, name)
			}
			ordered = append(ordered, nodes[at])
			general[i] = len(nodes[at].Cities) == 0
		}
		for _, n := range nodes { // those without a directory keep their cities
			if !slices.Contains(names, n.Name) {
				ordered = append(ordered, n)
			}
		}
		share, err := partition.New(ordered, partition.Options{Method: partition.SiteHash, Policy: partition.PolicyA, Known: known})
		if err != nil {
			return fail(exitInvalidInput, "%s: %w", places, err)
		}
		states := statesOf(projects)
		defer states.close()
		reader.Owner = func(address string) (string, int) {
			city := addressCity(address)
			node, ok := share.Node(city, states.of(address))
			if !ok {
				return "", -1
			}
			return city + "|" + states.of(address), node
		}
	}
	for i, p := range projects {
		if err := readNode(ctx, &reader, i, p, int64(cfg.Storage.Memory)); err != nil {
			if ctx.Err() != nil {
				return fail(exitStopped, "stopped")
			}
			return err
		}
	}
	r := &report.NodesResult{Partition: "crawl", Nodes: names}
	if r.Metrics, err = reader.Nodes(general).Metrics(report.CentralityLinks, report.CentralityBase); err != nil {
		return err
	}
	var traffic cluster.Traffic
	for _, p := range projects {
		t, err := cluster.ReadTraffic(p.cluster())
		if err != nil {
			return err
		}
		traffic.Sent, traffic.URLBytes, traffic.SentBytes = traffic.Sent+t.Sent, traffic.URLBytes+t.URLBytes, traffic.SentBytes+t.SentBytes
	}
	web := "crawl of " + strings.Join(names, ", ") + "; links are those by which pages were found"
	if traffic.Sent > 0 {
		web += fmt.Sprintf("; %d links travelled at %.2f bytes for each byte of their URLs", traffic.Sent, traffic.PerURL())
	}
	c := &report.NodesComparison{Web: web, Results: []*report.NodesResult{r}}
	if c.Orders, err = nodeOrders(names, projects); err != nil {
		return fail(exitInvalidInput, "%w", err)
	}
	write := func(w io.Writer) error { return c.Write(w, format) }
	if output == "" {
		return write(a.stdout)
	}
	return writeFile(output, write)
}

// nodeOrders returns what it took the nodes to keep one order; nil: they did not.
func nodeOrders(names []string, projects []project) (orders []report.NodeOrder, err error) {
	for i, p := range projects {
		c, err := cluster.ReadOrder(p.cluster())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.dir, err)
		}
		if c != (cluster.OrderCount{}) {
			orders = append(orders, report.NodeOrder{Node: names[i], Rounds: c.Rounds, Nuggets: c.Nuggets, Bits: c.Bits, Formula: c.Formula, Bytes: c.Bytes, Turns: c.Turns, Impatient: c.Impatient})
		}
	}
	return orders, nil
}

func readNode(ctx context.Context, r *report.NodesReader, node int, p project, memory int64) (err error) {
	f, err := p.openCrawl(memory)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return r.Read(ctx, node, f)
}

// addressCity returns the city of an address of a crawl tree.
func addressCity(address string) string {
	p, _ := geoparse.ReadKey(address)
	return p.City
}

// A stateFinder finds the state of an address, by its postcode in the gazetteer
// of the first node that has one.
type stateFinder struct{ g *gazetteer.Gazetteer }

func statesOf(projects []project) stateFinder {
	for _, p := range projects {
		if g, err := gazetteer.Open(p.gazetteer()); err == nil {
			return stateFinder{g}
		}
	}
	return stateFinder{}
}

// of returns the code of the state, or "" where it is not known: then a city
// is the most populous one of its name.
func (s stateFinder) of(address string) string {
	a, _ := geoparse.ReadKey(address)
	if s.g == nil || a.Postcode == "" {
		return a.State
	}
	state := ""
	for _, p := range s.g.Postcodes(a.Country, a.Postcode) {
		if state == "" || gazetteer.Key(p.City) == a.City {
			state = p.State
		}
	}
	return state
}

func (s stateFinder) close() {
	if s.g != nil {
		s.g.Close() // read only
	}
}

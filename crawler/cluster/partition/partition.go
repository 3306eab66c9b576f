// Package partition decides which node of a collaborative crawl owns a link (Gao, Lee & Miao 2006,
// sections 3.2 to 3.5).
//
// A crawl has geographic nodes, each with some of the target cities, and general nodes for what
// belongs to no city. The geographic methods go by the city that a link is about: by its URL, by
// the words on and around it, by the text of its page, or by the location of its server; the two
// hash methods distribute links evenly and are the baselines.
package partition

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"

	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/predictor"
)

// A Method is how the owner of a link is found.
type Method string

// The methods. Hash methods use rendezvous hashing, so that a node that joins
// or leaves moves only its own share.
const (
	URLHash        Method = "url-hash"        // hash of the URL
	SiteHash       Method = "site-hash"       // hash of the site: a host stays with one node
	URLBased       Method = "url"             // a target city in the URL (3.4.1)
	ExtendedAnchor Method = "extended-anchor" // … in the link text or the words around it, the nearest first (3.4.2)
	FullContent    Method = "full-content"    // the most probable city of the page's text (3.4.3, equations 1 to 3)
	Classification Method = "classification"  // naive Bayes over the page's text (3.4.4)
	// where the server of the link's host stands: ours, each URL has one node
	IPAddress Method = "ip"
	PageIP    Method = "page-ip" // where the server of the page stands, for all its links (3.4.5)
)

// Methods lists all methods.
func Methods() []Method {
	return []Method{URLHash, SiteHash, URLBased, ExtendedAnchor, FullContent, Classification, IPAddress, PageIP}
}

// A Policy decides to how many nodes a link goes.
type Policy string

// The policies of section 3.2.
const (
	PolicyA Policy = "A" // to the node of the most probable city
	PolicyB Policy = "B" // to the node of every city with a probability above 0
)

// A City is one target place of a crawl: a city–state pair.
type City struct {
	Name       string   `json:"name"`
	State      string   `json:"state" yaml:",omitempty"` // code, such as "CA"
	StateName  string   `json:"state_name,omitempty" yaml:"state_name,omitempty"`
	Population int      `json:"population,omitempty" yaml:",omitempty"`
	Aliases    []string `json:"aliases,omitempty" yaml:",omitempty,flow"` // "LA", "L.A."
}

// String returns "Los Angeles, CA".
func (c City) String() string { return c.Name + ", " + c.State }

// A Node is one crawler of a collaborative crawl. One without cities is a
// general node.
type Node struct {
	Name   string `json:"name" yaml:",omitempty"`
	Cities []City `json:"cities,omitempty" yaml:",omitempty"`
}

// Options tune a Partition.
type Options struct {
	Method Method
	Policy Policy
	// Alpha weighs mentions of a city with its state against those of the city
	// alone, Beta the population against the mentions of the state: both 0 to 1.
	Alpha, Beta float64
	// MostPopulous takes a city in a URL or beside a link for the most populous one of its name, as
	// printed in section 3.5, whatever state is named; else a state decides.
	MostPopulous bool
	// Known are cities that are no targets and share a name with one: a bare
	// "Portland" is the most populous Portland, target or not.
	Known []City
	// Classes are trained from example pages: a class for each node or for each
	// city ("Los Angeles, CA"), and None for pages about no target. Only
	// Classification uses them.
	Classes *predictor.Classes
	// Locate returns the city where a server stands; false: not known.
	// IPAddress and PageIP need it.
	Locate func(netip.Addr) (city, state string, ok bool)
	// Resolve returns an address of a host; false: it has none. For IPAddress and PageIP.
	Resolve func(host string) (netip.Addr, bool)
}

// None is the class of pages about no target.
const None = "none"

// DefaultOptions are those of the paper: α = 0.7, β = 0.5, policy A. The method
// is site-hash, which needs no places and keeps a host on one node.
func DefaultOptions() Options {
	return Options{Method: SiteHash, Policy: PolicyA, Alpha: 0.7, Beta: 0.5}
}

// Validate returns an error that names the option out of range or missing.
func (o Options) Validate() error {
	switch {
	case o.Method == Classification && o.Classes == nil:
		return errors.New("partition: classification needs classes trained from example pages")
	case (o.Method == IPAddress || o.Method == PageIP) && (o.Locate == nil || o.Resolve == nil):
		return fmt.Errorf("partition: %s needs a file that says where addresses lie", o.Method)
	}
	return nil
}

// A Partition shares links out among nodes. It is safe for concurrent use.
type Partition struct {
	o       Options
	nodes   []Node
	general []int
	all     []int
	targets []target
	names   *names
	classes []class // of o.Classes
}

// A target is one city with the node that owns it.
type target struct {
	City
	node  int
	share float64 // S(s|c): its part of the population of all known cities of its name
}

// A class of Options.Classes: a city, a node, or none.
type class struct {
	name string
	node int // or -1
}

// New makes a partition over nodes, in an order that all nodes of a crawl share.
func New(nodes []Node, o Options) (*Partition, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if len(nodes) == 0 {
		return nil, errors.New("partition: no nodes")
	}
	p := &Partition{o: o, nodes: nodes}
	seen := map[string]string{}
	for i, n := range nodes {
		if slices.ContainsFunc(nodes[:i], func(m Node) bool { return m.Name == n.Name }) {
			return nil, fmt.Errorf("partition: two nodes are called %q", n.Name)
		}
		p.all = append(p.all, i)
		if len(n.Cities) == 0 {
			p.general = append(p.general, i)
		}
		for _, c := range n.Cities {
			if c.Name == "" {
				return nil, fmt.Errorf("partition: node %q has a city without a name", n.Name)
			}
			if owner, ok := seen[fold(c.String())]; ok {
				return nil, fmt.Errorf("partition: %s belongs to the nodes %q and %q; a city has one node",
					c, owner, n.Name)
			}
			seen[fold(c.String())] = n.Name
			p.targets = append(p.targets, target{City: c, node: i})
		}
	}
	geographic := o.Method != URLHash && o.Method != SiteHash
	if geographic && len(p.general) == 0 {
		return nil, fmt.Errorf("partition: %s needs a general node, one without cities, "+
			"for links that belong to no city", o.Method)
	}
	if geographic && len(p.targets) == 0 {
		return nil, fmt.Errorf("partition: %s needs nodes with cities", o.Method)
	}
	p.names = newNames(p.targets, o.Known)
	p.shares()
	if o.Classes != nil {
		for _, name := range o.Classes.Names() {
			i := slices.IndexFunc(nodes, func(n Node) bool { return n.Name == name })
			if t := slices.IndexFunc(p.targets, func(t target) bool { return t.String() == name }); i < 0 && t >= 0 {
				i = p.targets[t].node
			}
			if i < 0 && name != None {
				return nil, fmt.Errorf("partition: the class %q is neither a node, nor a target city, nor %q",
					name, None)
			}
			p.classes = append(p.classes, class{name, i})
		}
	}
	return p, nil
}

// shares computes S(s|c) of every target: its population among the known
// cities of its name, all equal where none is known.
func (p *Partition) shares() {
	for i := range p.targets {
		t := &p.targets[i]
		sum, own := 0, max(t.Population, 1)
		count := func(c City) {
			if fold(c.Name) == fold(t.Name) {
				sum += max(c.Population, 1)
			}
		}
		for _, other := range p.targets {
			count(other.City)
		}
		for _, other := range p.o.Known {
			count(other)
		}
		t.share = float64(own) / float64(sum)
	}
}

// Nodes returns the nodes.
func (p *Partition) Nodes() []Node { return p.nodes }

// Node returns the number of the node of a city, such as the one an address of
// a page names; false for a city that is no target.
func (p *Partition) Node(city, state string) (int, bool) {
	i, ok := p.names.find(city, state)
	if !ok {
		return 0, false
	}
	return p.targets[i].node, true
}

// Owners returns for every link of a page the nodes that fetch it: exactly one
// under policy A, at least one under policy B, in ascending order.
func (p *Partition) Owners(from *page.Page) [][]int {
	owners := make([][]int, len(from.Links))
	var ofPage []int // the same for all links of the page
	switch p.o.Method {
	case FullContent:
		ofPage = p.choose(p.Content(from.Text))
	case Classification:
		if p.o.Policy == PolicyB {
			ofPage = p.choose(p.inClasses(from.Text))
		} else if c := p.class(from.Text); c.node >= 0 {
			ofPage = []int{c.node}
		}
	case PageIP:
		ofPage = p.choose(p.inNet(from.URL))
	}
	for i, l := range from.Links {
		switch p.o.Method {
		case URLHash:
			owners[i] = []int{p.hash(l.To.String(), p.all)}
		case SiteHash:
			owners[i] = []int{p.hash(l.To.Site(), p.all)}
		case URLBased:
			owners[i] = p.choose(p.inURL(l.To))
		case ExtendedAnchor:
			owners[i] = p.choose(p.inAnchor(l))
		case IPAddress:
			owners[i] = p.choose(p.inNet(l.To))
		case PageIP:
			owners[i] = ofPage
			if from.URL.IsZero() { // of a redirect or a sitemap
				owners[i] = p.choose(p.inNet(l.To))
			}
		default:
			owners[i] = ofPage
		}
		if owners[i] == nil {
			owners[i] = []int{p.hash(l.To.Site(), p.general)}
		}
	}
	return owners
}

// Owner returns the node that fetches a URL if only the URL is known: a seed, or the target of a
// redirect.
func (p *Partition) Owner(u weburl.URL) int {
	q := &page.Page{URL: u, Links: []page.Link{{From: u, To: u}}}
	return p.Owners(q)[0][0]
}

// A Score is the probability, not normalised, that a text is about a target.
type Score struct {
	City  City
	Value float64
	node  int
}

// choose applies the policy to scores, best first: nil where there is none.
func (p *Partition) choose(scores []Score) []int {
	if len(scores) == 0 {
		return nil
	}
	if p.o.Policy == PolicyA {
		return []int{scores[0].node}
	}
	var nodes []int
	for _, s := range scores {
		nodes = append(nodes, s.node)
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// inURL finds targets in a URL: as words of host, path and query, or run
// together in the host's name. With its state anywhere in the URL a city is
// that pair, unless with MostPopulous; alone it is the most populous one of its name.
func (p *Partition) inURL(u weburl.URL) []Score {
	words := tokens(unescape(u.Hostname()+" "+u.Path()+" "+u.Query()), true)
	found := p.names.mentions(words)
	states := p.names.states(words, found)
	var scores []Score
	for _, m := range found {
		t, ok := p.resolve(m)
		for i := 0; m.state == "" && !p.o.MostPopulous && i < len(states); i++ {
			if pair, is := p.names.pair(mention{name: m.name, state: states[i]}); is {
				t, ok = pair, true
			}
		}
		if ok {
			scores = p.add(scores, t, 1)
		}
	}
	if len(scores) == 0 {
		for _, label := range strings.Split(u.Hostname(), ".") {
			if t, ok := p.names.inside(label); ok {
				scores = p.add(scores, t, 1)
			}
		}
	}
	return scores
}

// inAnchor finds targets in the extended anchor text, the nearest to the link
// text first.
func (p *Partition) inAnchor(l page.Link) []Score {
	before, after := l.Around[:l.Split], l.Around[l.Split:]
	var scores []Score
	text := tokens(l.Anchor, false)
	prefix, suffix := tokens(before, false), tokens(after, false)
	type near struct {
		distance int
		mention  mention
	}
	var found []near
	for _, m := range p.names.mentions(text) {
		found = append(found, near{0, m})
	}
	for _, m := range p.names.mentions(prefix) {
		found = append(found, near{len(prefix) - m.end + 1, m})
	}
	for _, m := range p.names.mentions(suffix) {
		found = append(found, near{m.start + 1, m})
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
	for _, f := range found {
		if t, ok := p.resolve(f.mention); ok {
			scores = p.add(scores, t, 1/float64(1+f.distance))
		}
	}
	return scores
}

// resolve returns the target that a mention in a URL or beside a link is about.
func (p *Partition) resolve(m mention) (target int, ok bool) {
	if p.o.MostPopulous {
		m.state = ""
	}
	return p.names.resolve(m)
}

// add appends a target unless it is there.
func (p *Partition) add(scores []Score, t int, value float64) []Score {
	for _, s := range scores {
		if s.City.String() == p.targets[t].City.String() {
			return scores
		}
	}
	return append(scores, Score{p.targets[t].City, value, p.targets[t].node})
}

// Content returns the targets that a text mentions with
//
//	pr((c,s)|p) = α·#((c,s),p) + (1−α)·(β·S(s|c) + (1−β)·S~(s|p))·#(c,p)
//
// (equation 3), the most probable first; not normalised. Only cities that are
// mentioned count, so all others have 0.
func (p *Partition) Content(text string) []Score {
	words := tokens(text, false)
	pairs := map[int]int{}     // #((c,s),p) by target
	alone := map[string]int{}  // #(c,p) by folded name
	states := map[string]int{} // mentions of states apart from pairs
	of := map[string][]int{}   // targets by the name that was mentioned
	found := p.names.mentions(words)
	for _, m := range found {
		switch {
		case m.state != "":
			if t, ok := p.names.pair(m); ok {
				pairs[t]++
			}
		default:
			alone[m.name]++
			of[m.name] = p.names.targets[m.name]
		}
	}
	total := 0
	for _, s := range p.names.states(words, found) {
		states[s]++
		total++
	}
	value := map[int]float64{}
	for t, n := range pairs {
		value[t] += p.o.Alpha * float64(n)
	}
	for name, n := range alone {
		for _, t := range of[name] {
			mentioned := 0.0
			if total > 0 {
				mentioned = float64(states[p.targets[t].State]) / float64(total)
			}
			value[t] += (1 - p.o.Alpha) * (p.o.Beta*p.targets[t].share + (1-p.o.Beta)*mentioned) * float64(n)
		}
	}
	var scores []Score
	for t, v := range value {
		if v > 0 {
			scores = append(scores, Score{p.targets[t].City, v, p.targets[t].node})
		}
	}
	slices.SortFunc(scores, func(a, b Score) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(b.City.Population, a.City.Population),
			strings.Compare(a.City.String(), b.City.String()))
	})
	return scores
}

// class returns the most probable class of a text; its node is -1 for None.
func (p *Partition) class(text string) class {
	if words := Words(text); len(words) > 0 {
		return p.classes[p.o.Classes.Best(words)]
	}
	return class{None, -1}
}

// inClasses returns the classes of a text that belong to a node and whose probability
// pr(c|p) is not 0, for policy B. Smoothing gives every class some probability: one that
// is too small for a float64, by the most probable class, counts as 0. None is no target.
func (p *Partition) inClasses(text string) (scores []Score) {
	words := Words(text)
	if len(words) == 0 {
		return nil
	}
	logs := p.o.Classes.Scores(words)
	most := slices.Max(logs)
	for i, c := range p.classes {
		if pr := math.Exp(logs[i] - most); c.node >= 0 && pr != 0 {
			scores = append(scores, Score{City{Name: c.name}, pr, c.node})
		}
	}
	return scores
}

// Words cuts a text into the words that Options.Classes learn from.
func Words(text string) []string {
	var words []string
	for _, t := range tokens(text, false) {
		words = append(words, t.text)
	}
	return words
}

// Place returns the most probable place of a page by the method: the city that its URL names
// (URLBased), the class of its text (Classification), else the first city of Content; "" where
// there is none.
func (p *Partition) Place(of *page.Page) string {
	var scores []Score
	switch p.o.Method {
	case Classification:
		if c := p.class(of.Text); c.node >= 0 {
			return c.name
		}
		return ""
	case URLBased:
		scores = p.inURL(of.URL)
	default:
		scores = p.Content(of.Text)
	}
	if len(scores) == 0 {
		return ""
	}
	return scores[0].City.String()
}

// inNet finds the target city of the server of a URL.
func (p *Partition) inNet(u weburl.URL) []Score {
	addr, ok := p.o.Resolve(u.Host())
	if !ok {
		return nil
	}
	city, state, ok := p.o.Locate(addr)
	if !ok {
		return nil
	}
	t, ok := p.names.find(city, state)
	if !ok {
		return nil
	}
	return []Score{{p.targets[t].City, 1, p.targets[t].node}}
}

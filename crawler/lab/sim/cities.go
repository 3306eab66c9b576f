package sim

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/lab/demo"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/geoparse"
	"gazehound/predictor"
)

// CitiesOptions say what a made-up web about many cities is like.
type CitiesOptions struct {
	Seed  uint64 `spec:"seed"`
	Sites int    `spec:"sites" range:"1000..10000000"` // hosts
	// World draws the Shares at random, each between half and twice what it is; 0 leaves
	// them as they are.
	World uint64 `spec:"world"`
	// Free draws them from 1 to 95 % instead, evenly on a logarithmic scale, whatever they are.
	Free int `spec:"free" range:"0..1"`
	// Examples is from how many pages of no city, and at most of each city, the classes are learned.
	Examples int `spec:"examples" range:"4..100000"`
	Shares
	// Nodes have the cities that the web is about; nil: made-up ones, as in the
	// table 1 of Gao, Lee & Miao: five time zones and a general node.
	Nodes []partition.Node
	// Known are cities that share a name with one of these; nil with made-up nodes.
	Known []partition.City
}

// Shares are what a web about cities consists of, each from 0 to 1. Those of
// DefaultCitiesOptions were chosen with the tables of Gao, Lee & Miao in view.
type Shares struct {
	Guides, Businesses, Portals float64 // of the sites
	NamedGuides, NamedPortals   float64 // have the city in their URLs
	LocalTopic                  float64 // of a city's sites have one of its topics
	LocalServer, OtherServer    float64 // of them, whose server stands there, or anywhere
	KnownServer                 float64 // of the other sites, whose server is known to stand in a city
	PortalBlocks                float64 // of a portal's parts that are about a city
	SiteTopic                   float64 // of the pages that have the topic of their site
	Headlines                   float64 // of the pages of general sites whose URL names a city
	Mentions                    float64 // of the pages about a city that name it
	OtherMentions               float64 // of them, those that name another one
	StateMentions               float64 // … or the state
	GeneralMentions             float64 // of all other pages that name a city
	WithState                   float64 // of the names that come with their state
	OtherAddresses              float64 // of the addresses that lie in another city
	GeneralAddresses            float64 // of a section's addresses on pages about no city
	NamedOutside, NamedInside   float64 // links that name the city, to other sites and within one
	NamedHome                   float64 // … to home and contact pages
	Misleading                  float64 // links with the name of another city beside them
	GeneralNamed                float64 // links to pages about no city that name one
	GeneralToCity               float64 // links of pages about no city to a city's site
	PortalToCity                float64 // … of portals
	GeneralToPortal             float64 // … to portals
	SameCity, ToPortal, ToOther float64 // links between sites of pages about a city, by where they lead
}

// DefaultCitiesOptions are 120,000 sites with some 13 million pages about
// 100 made-up cities.
func DefaultCitiesOptions() CitiesOptions {
	return CitiesOptions{Seed: 1, Sites: 120_000, Examples: 2000, Shares: parts().Shares}
}

// maxShare bounds a share that is drawn, and the sum of those that exclude one another.
const maxShare = 0.95

// drawShares changes all shares at random.
func (o *CitiesOptions) drawShares() {
	r := rand.New(rand.NewPCG(o.World, 13))
	shares := reflect.ValueOf(&o.Shares).Elem()
	for i := range shares.NumField() {
		x := shares.Field(i)
		if o.Free == 1 {
			x.SetFloat(0.01 * math.Pow(100*maxShare, r.Float64()))
		} else {
			x.SetFloat(min(x.Float()*math.Exp2(2*r.Float64()-1), maxShare))
		}
	}
	if o.Free == 0 {
		return // those chosen leave room beside them
	}
	for _, parts := range [][]*float64{
		{&o.Guides, &o.Businesses, &o.Portals}, {&o.LocalServer, &o.OtherServer}, {&o.GeneralToCity, &o.GeneralToPortal},
		{&o.SameCity, &o.ToPortal, &o.ToOther},
	} {
		sum := 0.0
		for _, part := range parts {
			sum += *part
		}
		for _, part := range parts {
			*part *= min(1, maxShare/sum)
		}
	}
}

// Cities is a made-up web about many cities, for collaborative crawls. It has
// what the methods of a partition live on, and what misleads them:
//
//   - guides of one city, most with the city in their host;
//   - portals with a section for each of many cities, some with it in the path;
//   - businesses of a city that have its name nowhere in their URLs;
//   - general sites, by far the most, that mention cities now and then;
//   - links that lead to the same city more often than not, with its name in
//     their words or not; names that two states share; servers elsewhere.
//
// A page is made at the request, from its number alone, so that the web
// takes memory for its sites only. It is safe for concurrent use.
type Cities struct {
	Options CitiesOptions
	Seeds   []weburl.URL

	cities  []partition.City
	slugs   []string
	sites   []citySite
	hosts   map[string]int32
	of      [][]int32 // city → its guides and businesses
	portals []int32
	general []int32
	weight  []float64 // of cities, summed up
	state   map[string][]int
	topics  [][]string
	common  []string
	local   [][]string // city → words that only its pages have
}

type siteKind uint8

const (
	generalSite siteKind = iota
	guideSite
	businessSite
	portalSite
)

// A citySite is one host.
type citySite struct {
	kind   siteKind
	named  bool  // the city stands in its URLs
	topic  uint8 // what most of its pages are about
	city   int16 // of a guide or business, else -1
	server int16 // the city where its server stands, or -1: not known
	pages  int32
	host   string
}

//go:embed cities.json
var citiesJSON []byte

// citiesWords are what webs about cities are made of.
type citiesWords struct {
	Shares
	Starts, Vowels, Ends           []string // of words
	CityFirst, CityStems, CityEnds []string
	Zones                          []struct {
		Name   string
		Cities int
		States []string // code and name
	}
	// Sections are parts of every site. Addresses stand where one looks for them.
	Sections []struct {
		Name, Anchor string
		Share        float64 // of a site's pages
		Addresses    float64 // pages about a city that have one
	}
}

var parts = sync.OnceValue(func() (w citiesWords) {
	if err := json.Unmarshal(citiesJSON, &w); err != nil {
		panic("sim: cities.json: " + err.Error()) // it is part of the program
	}
	return w
})

const (
	topicCount   = 40
	topicWords   = 60
	blockPages   = 25 // pages of a portal's section for one city
	addressesMax = 3
)

// NewCities makes a web.
func NewCities(o CitiesOptions) (*Cities, error) {
	if err := demo.InRange(o); err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	switch {
	case o.World > 0:
		o.drawShares()
	case o.Free == 1:
		return nil, errors.New("sim: free=1 draws the shares of a world: world=N says of which")
	}
	if o.Nodes == nil {
		o.Nodes, o.Known = madeUpNodes(o.Seed)
	}
	w := &Cities{Options: o, hosts: map[string]int32{}, state: map[string][]int{}}
	for _, n := range o.Nodes {
		for _, c := range n.Cities {
			w.state[c.State] = append(w.state[c.State], len(w.cities))
			w.cities, w.slugs = append(w.cities, c), append(w.slugs, slug(c.Name))
		}
	}
	if n := len(w.cities); n < 2 || n > math.MaxInt16 {
		return nil, fmt.Errorf("sim: a web about cities must have 2 to 32,767 cities, got %d", n)
	}
	sum := 0.0
	for _, c := range w.cities {
		sum += math.Pow(float64(max(c.Population, 1)), 0.7)
		w.weight = append(w.weight, sum)
	}
	r := rand.New(rand.NewPCG(o.Seed, 1))
	for range topicCount {
		w.topics = append(w.topics, madeUpWords(r, topicWords))
	}
	w.common = madeUpWords(r, 300)
	for range w.cities {
		w.local = append(w.local, madeUpWords(r, 12))
	}
	w.makeSites(r)
	w.makeSeeds(r)
	return w, nil
}

func (w *Cities) makeSites(r *rand.Rand) {
	w.of = make([][]int32, len(w.cities))
	w.sites = make([]citySite, w.Options.Sites)
	long := func(least, most float64) int32 { // few are large
		return int32(least * math.Pow(most/least, math.Pow(r.Float64(), 1.6)))
	}
	o := w.Options
	for i := range w.sites {
		s := citySite{city: -1, server: -1, topic: uint8(r.IntN(topicCount)),
			host: w.word(r) + w.word(r) + strconv.Itoa(i) + ".example"}
		switch x := r.Float64(); {
		case x < o.Guides:
			s.kind, s.city, s.named, s.pages = guideSite, int16(w.anyCity(r)), r.Float64() < o.NamedGuides,
				long(30, 1500)
		case x < o.Guides+o.Businesses:
			s.kind, s.city, s.pages = businessSite, int16(w.anyCity(r)), long(4, 30)
		case x < o.Guides+o.Businesses+o.Portals:
			s.kind, s.named, s.pages = portalSite, r.Float64() < o.NamedPortals, long(200, 20_000)
			w.portals = append(w.portals, int32(i))
		default:
			s.pages = long(10, 3000)
			w.general = append(w.general, int32(i))
		}
		if s.city >= 0 {
			w.of[s.city] = append(w.of[s.city], int32(i))
			// A city's own sites are about what the city is known for.
			if r.Float64() < o.LocalTopic {
				s.topic = uint8((int(s.city)*7 + r.IntN(4)) % topicCount)
			}
		}
		if s.named && s.city >= 0 {
			s.host = w.namedHost(r, int(s.city)) + "-" + strconv.Itoa(i) + ".example"
		}
		switch x := r.Float64(); {
		case s.city >= 0 && x < o.LocalServer:
			s.server = s.city
		case s.city >= 0 && x < o.LocalServer+o.OtherServer, s.city < 0 && x < o.KnownServer:
			s.server = int16(w.anyCity(r))
		}
		w.hosts[s.host] = int32(i)
		w.sites[i] = s
	}
}

// namedHost returns the first part of a host with the name of a city.
func (w *Cities) namedHost(r *rand.Rand, city int) string {
	slug, word := w.slugs[city], w.word(r)
	joined := strings.ReplaceAll(slug, "-", "")
	state := strings.ToLower(w.cities[city].State)
	return [...]string{"www." + joined + word, slug + "-" + word, joined + "." + word, slug + "-" + state}[r.IntN(4)]
}

// makeSeeds takes what a directory of the country would list: portals, guides
// and general sites.
func (w *Cities) makeSeeds(r *rand.Rand) {
	var sites []int32
	for range 1000 {
		sites = append(sites, w.general[r.IntN(len(w.general))])
	}
	for i := 0; i < 10 && len(w.portals) > 0; i++ {
		sites = append(sites, w.portals[r.IntN(len(w.portals))])
	}
	for range 20 {
		if of := w.of[w.anyCity(r)]; len(of) > 0 {
			sites = append(sites, of[r.IntN(len(of))])
		}
	}
	for _, s := range sites {
		w.Seeds = append(w.Seeds, w.urlOf(s, 0))
	}
}

// anyCity returns a city, large ones more often.
func (w *Cities) anyCity(r *rand.Rand) int {
	return w.cityAt(r.Float64())
}

// cityAt returns the city at x in [0, 1) of all cities by their weight.
func (w *Cities) cityAt(x float64) int {
	c, _ := slices.BinarySearch(w.weight, x*w.weight[len(w.weight)-1])
	return min(c, len(w.cities)-1)
}

// near returns another city, of the same state more often than not.
func (w *Cities) near(r *rand.Rand, c int) int {
	if same := w.state[w.cities[c].State]; r.Float64() < 0.6 && len(same) > 1 {
		return same[r.IntN(len(same))]
	}
	return w.anyCity(r)
}

func (w *Cities) word(r *rand.Rand) string { return w.topics[r.IntN(topicCount)][r.IntN(topicWords)] }

// A cityPage is what can be said of page n of a site without making it.
type cityPage struct {
	site    int32
	n       int32
	city    int // what it is about, or -1
	section int // of sections, or -1: the first page of its site
	topic   int
}

// rng returns the random numbers of one page for one use, which is a number of its own.
func (w *Cities) rng(site, n int32, what uint64) *rand.Rand {
	return rand.New(rand.NewPCG(mix(w.Options.Seed<<8^what), mix(uint64(site)<<32|uint64(uint32(n)))))
}

// drawn returns a number in [0, 1) of a page.
func (w *Cities) drawn(site, n int32, what uint64) float64 {
	return float64(mix(mix(w.Options.Seed<<8^what)^mix(uint64(site)<<32|uint64(uint32(n))))>>11) / (1 << 53)
}

func (w *Cities) pageOf(site, n int32) cityPage {
	s := &w.sites[site]
	p := cityPage{site: site, n: n, city: int(s.city), section: -1, topic: int(s.topic)}
	if n > 0 {
		x := w.drawn(site, n, 2)
		for p.section = 0; p.section < len(parts().Sections)-1 && x >= parts().Sections[p.section].Share; p.section++ {
			x -= parts().Sections[p.section].Share
		}
		if n == 1 {
			p.section = 0
		}
	}
	if s.kind == portalSite && n > 0 {
		if block := n / blockPages; w.drawn(site, block, 3) < w.Options.PortalBlocks {
			p.city = w.cityAt(w.drawn(site, block, 4))
		}
	}
	if w.drawn(site, n, 5) >= w.Options.SiteTopic {
		p.topic = int(w.drawn(site, n, 6) * topicCount)
	}
	return p
}

// urlOf returns the URL of a page.
func (w *Cities) urlOf(site, n int32) weburl.URL {
	u, err := weburl.Parse("http://" + w.sites[site].host + w.pathOf(site, n))
	if err != nil {
		panic("sim: page without a URL: " + err.Error()) // hosts and paths are our own
	}
	return u
}

func (w *Cities) pathOf(site, n int32) string {
	if n == 0 {
		return "/"
	}
	s, p := &w.sites[site], w.pageOf(site, n)
	path := "/" + parts().Sections[p.section].Name + "/"
	switch {
	case s.kind == portalSite && s.named && p.city >= 0:
		path = "/" + strings.ToLower(w.cities[p.city].State) + "/" + w.slugs[p.city] + path
	case s.kind == guideSite && !s.named && w.drawn(site, n, 14) < 0.5:
		path = "/" + w.slugs[s.city] + path
	case s.kind == generalSite && w.drawn(site, n, 7) < w.Options.Headlines: // a headline
		path += w.slugs[int(w.drawn(site, n, 8)*float64(len(w.cities)))] + "-" + w.topics[p.topic][n%topicWords] + "/"
	}
	return path + strconv.Itoa(int(n))
}

// find returns the page at a URL.
func (w *Cities) find(u weburl.URL) (p cityPage, ok bool) {
	site, ok := w.hosts[u.Host()]
	if !ok {
		return p, false
	}
	path := u.Path()
	n := 0
	if path != "/" {
		var err error
		n, err = strconv.Atoi(path[strings.LastIndexByte(path, '/')+1:])
		if err != nil || n < 1 || n >= int(w.sites[site].pages) {
			return p, false
		}
	}
	return w.pageOf(site, int32(n)), true
}

// Fetch makes the page at u; what the web does not have is 404.
func (w *Cities) Fetch(ctx context.Context, u weburl.URL) (*page.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, ok := w.find(u)
	if !ok {
		return &page.Response{URL: u, Status: 404}, nil
	}
	parsed := &page.Page{URL: u, Lang: "en", Charset: "utf-8", Text: w.text(w.rng(p.site, p.n, 15), p)}
	for _, a := range w.addresses(p) {
		parsed.Text += fmt.Sprintf("\n%s %s, %s, %s", a.HouseNumber, a.Street, a.City, a.State)
	}
	parsed.Links = w.links(w.rng(p.site, p.n, 9), u, p)
	return &page.Response{URL: u, Status: 200, Parsed: parsed}, nil
}

// text writes what a page says.
func (w *Cities) text(r *rand.Rand, p cityPage) string {
	var b strings.Builder
	words := func(n int) {
		for range n {
			if r.IntN(3) > 0 {
				b.WriteString(w.common[r.IntN(len(w.common))])
			} else {
				b.WriteString(w.topics[p.topic][r.IntN(topicWords)])
			}
			b.WriteByte(' ')
		}
	}
	words(10)
	mention := func(c int) {
		b.WriteString(w.say(r, c, w.Options.WithState))
		b.WriteString(". ")
		words(6)
	}
	if p.city >= 0 {
		if r.Float64() < w.Options.Mentions {
			for range 1 + r.IntN(3) {
				mention(p.city)
			}
		}
		for range 3 {
			b.WriteString(w.local[p.city][r.IntN(len(w.local[p.city]))] + " ")
		}
		if r.Float64() < w.Options.OtherMentions {
			mention(w.near(r, p.city))
		}
		if r.Float64() < w.Options.StateMentions {
			b.WriteString(w.cities[p.city].StateName + ". ")
		}
	} else if r.Float64() < w.Options.GeneralMentions {
		mention(w.anyCity(r))
	}
	words(20)
	return b.String()
}

// say writes the name of a city, with its state as often as given.
func (w *Cities) say(r *rand.Rand, c int, withState float64) string {
	city := &w.cities[c]
	name := city.Name
	if len(city.Aliases) > 0 && r.IntN(5) == 0 {
		name = city.Aliases[r.IntN(len(city.Aliases))]
	}
	if r.Float64() < withState {
		name += ", " + city.State
		if r.IntN(4) == 0 && city.StateName != "" {
			name = city.Name + ", " + city.StateName
		}
	}
	return name
}

// addresses returns the addresses that stand on a page.
func (w *Cities) addresses(p cityPage) []geoparse.Address {
	rate, city := 0.08, p.city
	if p.section >= 0 {
		rate = parts().Sections[p.section].Addresses
	}
	kind := w.sites[p.site].kind
	r := w.rng(p.site, p.n, 10)
	if city < 0 { // some general sites have their seat in one of the cities
		rate *= w.Options.GeneralAddresses
		city = w.cityAt(w.drawn(p.site, 0, 13))
	} else if r.Float64() < w.Options.OtherAddresses {
		city = w.near(r, city)
	}
	if kind == businessSite {
		rate *= 1.4
	}
	if r.Float64() >= rate {
		return nil
	}
	pool := 10 + int(math.Sqrt(float64(w.cities[city].Population))/8)
	count := 1
	if kind == portalSite || kind == guideSite {
		count += r.IntN(addressesMax)
	}
	var found []geoparse.Address
	for i := range count {
		number := int(math.Pow(r.Float64(), 3) * float64(pool)) // some are everywhere
		if kind == businessSite && i == 0 {
			number = pool + int(p.site) // its own
		}
		c := &w.cities[city]
		found = append(found, geoparse.Address{
			Street:      w.topics[number%topicCount][number/topicCount%topicWords] + " Street",
			HouseNumber: strconv.Itoa(1 + number), City: c.Name, State: c.State, Country: "US", InRegion: true,
		})
	}
	return found
}

// links makes the links of a page.
func (w *Cities) links(r *rand.Rand, from weburl.URL, p cityPage) (links []page.Link) {
	s := &w.sites[p.site]
	seen := map[weburl.URL]bool{from: true}
	add := func(site, n int32) {
		if to := w.urlOf(site, n); !seen[to] {
			seen[to] = true
			links = append(links, w.link(r, from, to, w.pageOf(site, n), site == p.site))
		}
	}
	add(p.site, 0) // home and contact, on every page
	add(p.site, min(1, s.pages-1))
	for range 11 {
		n := int32(r.IntN(int(s.pages)))
		if s.kind == portalSite && p.n > 0 && r.Float64() < 0.6 { // of the same section
			n = min(p.n/blockPages*blockPages+int32(r.IntN(blockPages)), s.pages-1)
		}
		add(p.site, n)
	}
	for range 3 + r.IntN(3) {
		site := w.target(r, p)
		n := int32(0)
		if r.Float64() < 0.4 {
			n = int32(math.Pow(r.Float64(), 3) * float64(w.sites[site].pages))
		}
		if w.sites[site].kind == portalSite && p.city >= 0 && r.Float64() < 0.7 {
			n = w.portalPage(r, site, p.city)
		}
		add(site, n)
	}
	return links
}

// target chooses the other site of a link: one of the same city, of another
// city, or a general one.
func (w *Cities) target(r *rand.Rand, p cityPage) int32 {
	popular := func(sites []int32) int32 {
		if len(sites) == 0 {
			return int32(r.IntN(len(w.sites)))
		}
		return sites[int(math.Pow(r.Float64(), 3)*float64(len(sites)))]
	}
	o, x := w.Options, r.Float64()
	if p.city < 0 {
		if w.sites[p.site].kind == portalSite && x < o.PortalToCity || x < o.GeneralToCity {
			return popular(w.of[w.anyCity(r)])
		}
		if x < o.GeneralToCity+o.GeneralToPortal {
			return popular(w.portals)
		}
		return popular(w.general)
	}
	switch {
	case x < o.SameCity:
		return popular(w.of[p.city])
	case x < o.SameCity+o.ToPortal:
		return popular(w.portals)
	case x < o.SameCity+o.ToPortal+o.ToOther:
		return popular(w.of[w.near(r, p.city)])
	}
	return popular(w.general)
}

// portalPage returns a page of a portal that is about a city, if a few tries
// find one.
func (w *Cities) portalPage(r *rand.Rand, site int32, city int) int32 {
	n := int32(0)
	for range 40 {
		n = int32(r.IntN(int(w.sites[site].pages)))
		if w.pageOf(site, n).city == city {
			break
		}
	}
	return n
}

// link writes the words on and around a link.
func (w *Cities) link(r *rand.Rand, from, to weburl.URL, p cityPage, inside bool) page.Link {
	words := func(n int) string {
		var some []string
		for range n {
			some = append(some, w.topics[p.topic][r.IntN(topicWords)])
		}
		return strings.Join(some, " ")
	}
	anchor := words(2)
	if p.section >= 0 && r.Float64() < 0.6 {
		anchor = parts().Sections[p.section].Anchor
	}
	before, after := words(3), words(3)
	named, withState := w.Options.NamedOutside, w.Options.WithState
	switch {
	case inside && p.n < 2: // home and contact
		named = w.Options.NamedHome
	case inside:
		named = w.Options.NamedInside
	}
	switch x := r.Float64(); {
	case p.city >= 0 && x < named*0.6:
		anchor = w.say(r, p.city, withState) + " " + anchor
	case p.city >= 0 && x < named:
		after = w.say(r, p.city, withState) + " " + after
	case p.city >= 0 && x > 1-w.Options.Misleading: // named beside a link to something else
		before += " " + w.say(r, w.near(r, p.city), withState)
	case p.city < 0 && x < w.Options.GeneralNamed:
		anchor += " " + w.say(r, w.anyCity(r), withState)
	}
	return page.Link{From: from, To: to, Anchor: anchor, Around: before + " " + after, Split: len(before)}
}

// Judge returns the addresses that were put on the page.
func (w *Cities) Judge(_ context.Context, p *page.Page) (geoparse.Verdict, error) {
	var v geoparse.Verdict
	if known, ok := w.find(p.URL); ok {
		v.Addresses = w.addresses(known)
	}
	v.Relevant = len(v.Addresses) > 0
	if v.Relevant {
		v.Score = 1
	}
	return v, nil
}

// Resolve returns the address of a host's server.
func (w *Cities) Resolve(host string) (netip.Addr, bool) {
	site, ok := w.hosts[host]
	if !ok {
		return netip.Addr{}, false
	}
	return netip.AddrFrom4([4]byte{127, byte(site >> 16), byte(site >> 8), byte(site)}), true
}

// Locate returns the city of a server.
func (w *Cities) Locate(a netip.Addr) (city, state string, ok bool) {
	b := a.As4()
	site := int(b[1])<<16 | int(b[2])<<8 | int(b[3])
	if b[0] != 127 || site >= len(w.sites) || w.sites[site].server < 0 {
		return "", "", false
	}
	c := &w.cities[w.sites[site].server]
	return c.Name, c.State, true
}

// Classes returns a classifier of texts by city, trained as in section 3.4.4: from 500 to 2,000 pages
// that a directory lists under each city, and 2,000 pages of no city.
func (w *Cities) Classes() (*predictor.Classes, error) {
	names := []string{partition.None}
	for _, c := range w.cities {
		names = append(names, c.String())
	}
	classes, err := predictor.NewClasses(names...)
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(w.Options.Seed, 11))
	learn := func(class int, sites []int32, pages int) {
		for range pages {
			if len(sites) == 0 {
				return
			}
			site := sites[r.IntN(len(sites))]
			p := w.pageOf(site, int32(math.Pow(r.Float64(), 2)*float64(w.sites[site].pages)))
			classes.Learn(class, partition.Words(w.text(r, p)))
		}
	}
	most, least := w.Options.Examples, w.Options.Examples/4
	learn(0, w.general, most)
	for c := range w.cities {
		learn(c+1, w.of[c], least+r.IntN(most-least+1))
	}
	return classes, nil
}

// slug is a name as it stands in URLs.
func slug(name string) string {
	other := func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') }
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), other), "-")
}

func anyOf[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// distinct returns n different texts that fn makes.
func distinct(n int, fn func() string) []string {
	seen := map[string]bool{}
	var list []string
	for len(list) < n {
		text := fn()
		if !seen[text] {
			seen[text] = true
			list = append(list, text)
		}
	}
	return list
}

// madeUpWords returns n different words.
func madeUpWords(r *rand.Rand, n int) []string {
	return distinct(n, func() (word string) {
		for range 2 + r.IntN(2) {
			word += anyOf(r, parts().Starts) + anyOf(r, parts().Vowels) + anyOf(r, parts().Ends)
		}
		return word
	})
}

// madeUpNodes returns a general node and five of 33, 22, 10, 33 and 2 cities,
// as in table 1, and other cities of the same names.
func madeUpNodes(seed uint64) (nodes []partition.Node, known []partition.City) {
	r := rand.New(rand.NewPCG(seed, 12))
	ranks := r.Perm(100)
	names := distinct(100, func() string {
		name := anyOf(r, parts().CityStems) + anyOf(r, parts().CityEnds)
		if r.IntN(4) == 0 {
			name = anyOf(r, parts().CityFirst) + " " + name
		}
		return name
	})
	nodes = []partition.Node{{Name: "general"}}
	var all []partition.City
	for _, z := range parts().Zones {
		for range z.Cities {
			n := len(all)
			c := partition.City{Name: names[n], Population: int(8e6 / math.Pow(float64(ranks[n]+1), 0.8))}
			c.State, c.StateName, _ = strings.Cut(anyOf(r, z.States), " ")
			if n >= 40 && n%12 == 0 && all[n-35].State != c.State {
				c.Name = all[n-35].Name // the name of a target in another state
			}
			if a, b, two := strings.Cut(c.Name, " "); two && r.IntN(2) == 0 {
				c.Aliases = []string{a[:1] + b[:1]}
			}
			all = append(all, c)
		}
		nodes = append(nodes, partition.Node{Name: z.Name, Cities: all[len(all)-z.Cities:]})
	}
	// Others bear the names of some, smaller ones mostly.
	for i := 5; i < len(all); i += 6 {
		c := all[i]
		c.State, c.StateName, _ = strings.Cut(parts().Zones[r.IntN(4)].States[0], " ")
		c.Aliases = nil
		c.Population /= 4
		if i%18 == 5 {
			c.Population *= 8
		}
		if !slices.ContainsFunc(all, func(o partition.City) bool { return o.Name == c.Name && o.State == c.State }) {
			known = append(known, c)
		}
	}
	slices.SortFunc(known, func(a, b partition.City) int { return cmp.Compare(b.Population, a.Population) })
	return nodes, known
}

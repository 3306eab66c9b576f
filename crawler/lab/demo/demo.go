// Package demo is a made-up town and the web around it, for demonstrations and for tests and
// benchmarks that need a fully known web.
//
// A [Town] has streets, houses and postcodes, villages around it, and a web of shops, clubs,
// schools and authorities with sites of their own, a city portal, directories, a newspaper, and far
// more sites that have nothing to do with it. Everything follows from the seed of its [Options].
// Pages are made on request; a site takes a few hundred bytes. A Town is immutable and safe for
// concurrent use.
//
// The town lies in the North Sea and uses unassigned postcodes, so that it cannot be taken for a
// real place.
package demo

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"gazehound/crawler/weburl"
)

// Options describe a town and its web. The tags are those of Parse and InRange.
type Options struct {
	Seed uint64 `spec:"seed"`

	Name    string // of the town
	Domain  string // what all host names end in, with a port if need be: "example", "localhost:9900"
	Streets int    `spec:"streets" range:"20..300"` // of the town

	Sites        int `spec:"sites" range:"40..50000"` // hosts of the web
	PagesPerSite int `spec:"pages" range:"20..2000"`  // mean over all sites

	// HintReliability is the share of sites whose links to a page with an
	// address say so ("Kontakt", /impressum.html); the other sites say
	// "mehr" and /index.php?id=12.
	HintReliability float64 `spec:"hints" range:"0..1"`
	// Locality is the share of links from local sites to other sites that
	// stay in the town.
	Locality float64 `spec:"locality" range:"0..1"`
	// Bridges is the share of sites whose address page is not linked from the
	// home page, but one or two pages further behind.
	Bridges float64 `spec:"bridges" range:"0..1"`
	// BridgeLength is how many further pages lie on that way, one behind the
	// other.
	BridgeLength int `spec:"bridge-length" range:"0..6"`
	// Misprints is the share of addresses with a wrong postcode. Truth counts
	// them as if they were right: a reader would go to the right house.
	Misprints float64 `range:"0..1"`

	PageSize int `range:"0..1000000"` // bytes that a page has at least, filled up with filler text
	// Mentions is the share of filled pages whose filler names the town with a postcode, but no address.
	Mentions float64 `range:"0..1"`
	Calm     bool    // no host is slow, broken or in a hurry to close connections
	Finite   bool    `spec:"finite"` // no traps: the web has an end

	FarSeeds  int `spec:"far-seeds" range:"0..20"`   // seeds that lie far from the town
	NearSeeds int `spec:"near-seeds" range:"0..200"` // seeds in the town

	// Language is another language that sites of the web are written in, beside
	// German: "th", "ja" or "" for none. With one all seeds are in it.
	Language string `spec:"language"`
	// Foreign is the share of sites in Language.
	Foreign float64 `spec:"foreign" range:"0..1"`
	// LanguageLocality is the share of links between sites that do not leave
	// the language of their site although they would without this.
	LanguageLocality float64 `spec:"language-locality" range:"0..1"`

	// Contents of the OpenStreetMap extract.
	ListedHouses float64 `range:"0..1"` // share of house numbers
	ListedSites  float64 `range:"0..1"` // share of the local sites
}

// DefaultOptions returns a town of 800 sites with about 60,000 pages, some
// three per cent of them with an address in the town.
func DefaultOptions() Options {
	return Options{
		Seed:            7,
		Name:            "Demostadt",
		Domain:          "example",
		Streets:         150,
		Sites:           800,
		PagesPerSite:    70,
		HintReliability: 0.6,
		Locality:        0.7,
		Bridges:         0.3,
		FarSeeds:        3,
		NearSeeds:       20,

		Foreign:          0.4,
		LanguageLocality: 0.8,

		ListedHouses: 1,
		ListedSites:  0.15,
	}
}

var (
	// a bound of 30 there would take a megabyte in every run of the program
	townName   = regexp.MustCompile(`^\p{Lu}\p{Ll}{2,}$`)
	domainName = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)*(:\d{1,5})?$`)
)

// Validate returns an error that names the first option out of range.
func (o Options) Validate() error {
	switch {
	case !townName.MatchString(o.Name) || utf8.RuneCountInString(o.Name) > 31:
		return fmt.Errorf("demo: name of the town must be one capitalised word of 3 to 31 letters, got %q", o.Name)
	case !domainName.MatchString(o.Domain):
		return fmt.Errorf(`demo: domain must be a host name such as "example" or "localhost:9900", got %q`, o.Domain)
	case o.Language != "" && words().CodePages[o.Language] == nil:
		return fmt.Errorf("demo: language must be th, ja or none, got %q", o.Language)
	case o.FarSeeds+o.NearSeeds == 0:
		return errors.New("demo: far seeds and near seeds are both 0, so nothing can be crawled")
	}
	return InRange(o)
}

// A Town is a made-up town and its web.
type Town struct {
	o      Options
	places []place // the town, its villages, then the far towns
	houses []house
	sites  []site
	hosts  map[string]int // host without Domain and "www." → site
	orgs   [][]int32      // place → the sites of its organisations
	local  []int32        // local catalogues that carry addresses: portal, newspaper, directories, blogs
	far    []int32        // catalogues of the wide web
	farms  []int32        // link farms

	german, abroad []int32 // with another language: the sites that those in either link to
}

// New makes the town of o.
func New(o Options) (*Town, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	t := &Town{o: o}
	t.makePlaces()
	t.makeSites()
	t.chooseLanguages()
	return t, nil
}

// Name returns the town's name, also of the region in its extract.
func (t *Town) Name() string { return t.places[0].name }

// Seeds returns home pages to start a crawl from: first the far ones, then
// those in the town.
func (t *Town) Seeds() []weburl.URL {
	var seeds []weburl.URL
	for _, s := range t.seedSites() {
		seeds = append(seeds, t.url(ref{s, homePage}))
	}
	return seeds
}

func (t *Town) seedSites() []int32 {
	d := t.dice(topicSeeds)
	some := func(of []int32, most int, kinds ...kind) (seeds []int32) {
		for _, s := range shuffled(&d, of) {
			if len(seeds) < most && t.sites[s].behaviour == works && slices.Contains(kinds, t.sites[s].kind) &&
				(t.o.Language == "" || t.isForeign(ref{s, homePage})) {
				seeds = append(seeds, s)
			}
		}
		return seeds
	}
	far := some(t.far, t.o.FarSeeds, magazine, shop, forum, wiki)
	return append(far, some(t.orgs[0], t.o.NearSeeds, organisation)...)
}

// url returns the address of a page of the town's web.
func (t *Town) url(r ref) weburl.URL {
	u, err := weburl.Parse("http://" + t.host(r.site) + t.path(r))
	if err != nil {
		panic("demo: page without a URL: " + err.Error()) // hosts and paths are our own
	}
	return u
}

// host returns the full host name of a site.
func (t *Town) host(s int32) string { return t.hostUnder(s, t.o.Domain) }

// hostUnder returns it under another domain.
func (t *Town) hostUnder(s int32, domain string) string {
	h := t.sites[s].host + "." + domain
	if t.sites[s].www {
		return "www." + h
	}
	return h
}

// siteOf returns the site with a host name, full or with ".localhost".
func (t *Town) siteOf(host string) (s int32, bare, ok bool) {
	host = strings.ToLower(host)
	name, found := strings.CutSuffix(host, "."+t.o.Domain)
	if !found {
		if i := strings.LastIndexByte(host, ':'); i >= 0 {
			host = host[:i]
		}
		name, found = strings.CutSuffix(host, ".localhost")
		if !found {
			return 0, false, false
		}
	}
	name, www := strings.CutPrefix(name, "www.")
	n, ok := t.hosts[name]
	s = int32(n)
	return s, ok && !www && t.sites[s].www, ok && (!www || t.sites[s].www)
}

package place

import (
	"cmp"
	_ "embed"
	"maps"
	"math"
	"slices"
	"strings"

	"gazehound/internal/kind"
)

// Bounds of what is read of a page for the kind of its place.
const (
	mostSaying  = 7    // words of a title, heading, link or clause that says it
	mostClauses = 12   // of a description, and keywords
	mostShown   = 1000 // bytes of the visible text
)

// Probabilities from which the kind is given that the start page of a site says, and another page.
const (
	leastOnStart   = 0.7
	leastElsewhere = 0.8
)

// A kindFeature is one piece of evidence for a kind: how often a page says it, and where.
type kindFeature uint8

const (
	inTitle      kindFeature = iota // in parts of the title of a start page
	inOwnTitle                      // in those that agree with the domain, of any page
	inHeading                       // in headings, and in the title of another page: what that page is about
	inLink                          // in texts of links and buttons
	inAbout                         // in the first clause of the description that says one
	inTerms                         // in keywords
	inText                          // in clauses of the visible text of a start page, but for the first that says it
	inStatement                     // "we are a bakery", or a label of what somebody does
	inDomain                        // in the registrable domain
	inTypes                         // in types of schema.org
	inEntries                       // by an entry of the menu
	kindBias                        // of every kind that is said
	kindFeatures                    // their number
)

// A kindCandidate is a kind, without narrower tags, that a page may say its place to be of.
type kindCandidate struct {
	said     map[string]int // how often each of its narrower kinds is said
	features [kindFeatures]float64
}

// kindEvidence is what a page says about kinds, by their wider kinds.
type kindEvidence struct {
	langs []string
	found map[string]*kindCandidate
}

// kindOfSite returns the kind that a page says that its place is, or "": a choice among those that
// it says and none of them (multinomial logit, McFadden 1974).
func (h *Head) kindOfSite(name string, langs []string, country string) string {
	best, most, all := "", 0.0, 1.0
	keys := map[string]float64{} // odds of all kinds with a key: of a shop for clothes and gifts each kind may be right
	for _, c := range h.kindCandidates(name, langs, country) {
		sum := 0.0
		for f, v := range c.features {
			sum += kindWeights[f] * v
		}
		odds := math.Exp(sum)
		all += odds
		keys[kind.Key(c.id())] += odds
		if odds > most {
			best, most = c.id(), odds
		}
	}
	least := leastElsewhere
	if h.start {
		least = leastOnStart
	}
	if keys[kind.Key(best)]/all < least {
		return ""
	}
	return best
}

// id returns which of the narrower kinds of c the page says most often, of several the narrowest.
func (c *kindCandidate) id() string {
	return slices.MaxFunc(slices.Sorted(maps.Keys(c.said)), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.said[a], c.said[b]), cmp.Compare(len(a), len(b)))
	})
}

// kindCandidates returns the kinds that the page says, in the order of their names.
func (h *Head) kindCandidates(name string, langs []string, country string) (all []kindCandidate) {
	e := kindEvidence{langs: langs, found: map[string]*kindCandidate{}}
	e.readPage(h)
	e.add(inStatement, h.kindStated(name, langs))
	e.add(inDomain, h.KindOfDomain(langs, country))
	for _, name := range h.site.Types {
		e.add(inTypes, kind.OfType(name))
	}
	e.add(inEntries, h.kindOfEntries())
	e.joinClubs()
	for _, main := range slices.Sorted(maps.Keys(e.found)) {
		c := e.found[main]
		c.features[inText] = max(0, c.features[inText]-1) // one may be about anything
		for f, v := range c.features {
			c.features[f] = math.Log1p(v)
		}
		c.features[kindBias] = 1
		all = append(all, *c)
	}
	return all
}

// readPage reads the title, headings, links, description and text of a page.
func (e *kindEvidence) readPage(h *Head) {
	for _, part := range h.own[:h.titles] {
		switch {
		case h.agreement(nameWords(part)) >= 0.9:
			e.read(inOwnTitle, part)
		case h.start:
			e.read(inTitle, part)
		default:
			e.read(inHeading, part)
		}
	}
	for _, heading := range h.own[h.titles:] {
		isHeading := func(part string) bool { return strings.EqualFold(part, heading) }
		if !slices.ContainsFunc(h.own[:h.titles], isHeading) {
			e.read(inHeading, heading)
		}
	}
	for text := range h.site.Links {
		e.read(inLink, text)
	}
	for _, clause := range clausesIn(h.site.About, mostClauses) {
		if e.read(inAbout, clause) { // "Garage à Provins : diagnostic, réparations"
			break
		}
	}
	for _, term := range clausesIn(h.site.Terms, mostClauses) {
		e.read(inTerms, term)
	}
	if h.start {
		e.readText(h)
	}
}

// read adds the kind that a text says, and reports whether it says one.
func (e *kindEvidence) read(from kindFeature, text string) bool {
	if len(strings.Fields(text)) > mostSaying {
		return false
	}
	id := kindOfText(text, e.langs)
	anywhere := from == inHeading || from == inLink || from == inText
	switch {
	case id == "", anywhere && commonKinds[kind.Main(id)],
		from == inText && definition(strings.Fields(text)).said != "": // see kindStated
		return false
	}
	e.add(from, id)
	return true
}

// commonKinds are kinds of which there are words on pages of any kind of place: "E-mail", "Parking",
// "Insurance", "Web design by". Headings, links and clauses do not show them.
var commonKinds = wordLists.Words("common-kinds")

// add adds a kind that the page says, if any.
func (e *kindEvidence) add(from kindFeature, id string) {
	if id == "" {
		return
	}
	main := kind.Main(id)
	if e.found[main] == nil {
		e.found[main] = &kindCandidate{said: map[string]int{}}
	}
	e.found[main].said[id]++
	e.found[main].features[from]++
}

// joinClubs makes what shows an association show a club of sports, where anything says a sport.
func (e *kindEvidence) joinClubs() {
	club, sport := e.found[association], e.found["club=sport"]
	if club == nil || sport == nil {
		return
	}
	for f, v := range club.features {
		sport.features[f] += v
	}
	delete(e.found, association)
}

// readText reads the distinct clauses of the visible text that are no headings, links or buttons.
func (e *kindEvidence) readText(h *Head) {
	seen := map[string]bool{}
	for _, clause := range clausesIn(h.shown, mostShown) {
		key := strings.ToLower(strings.TrimSpace(clause))
		if !seen[key] && !h.site.Links[key] && !h.site.Headings[key] {
			seen[key] = true
			e.read(inText, clause)
		}
	}
}

// clausesIn returns the clauses of a text, at most most of them.
func clausesIn(text string, most int) []string {
	isEnd := func(r rune) bool { return isClauseMark(r) || strings.ContainsRune(".•·\n", r) }
	clauses := strings.FieldsFunc(strings.ReplaceAll(text, " - ", "–"), isEnd)
	return clauses[:min(len(clauses), most)]
}

// entries are texts of links that only sites of one kind have in their menus, the likeliest kind
// first: churches have members, too. "Join us" and "Become a member" are also those of firms.
var entries = []struct {
	kind  string
	texts []string
}{
	{"office=lawyer", Phrases("entries-lawyer")},
	{"amenity=place_of_worship", Phrases("entries-church")},
	{association, Phrases("entries-association")},
}

// kindOfEntries returns the kind whose sites have an entry of the page's menu, or "".
func (h *Head) kindOfEntries() string {
	for _, e := range entries {
		for _, text := range e.texts {
			if h.site.Links[text] {
				return e.kind
			}
		}
	}
	return ""
}

// KindFeatures are the names of the features of a kind, in their order.
func KindFeatures() []string { return kindFeatureNames }

// KindExamples returns the kinds that the page says, with their features: what the weights are learned from.
func (h *Head) KindExamples(langs []string, country string) (all []Example) {
	for _, c := range h.kindCandidates("", langs, country) {
		all = append(all, Example{c.id(), slices.Clone(c.features[:])})
	}
	return all
}

// kindWeights are what each feature adds to the log-odds of a kind. "go test ./geoparse -run EvalKinds -learn"
// writes them, from sites of which people read what is there.
var kindFeatureNames, kindWeights = readWeights(kindWeightsFile)

//go:embed kindweights.tsv
var kindWeightsFile string

package place

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"gazehound/internal/kind"
)

// mostTitle is how many words a title or heading has that says what the place is.
const mostTitle = 7

// What a statement of the kind of a page's place weighs, and what is enough.
const (
	titleWeight   = 1.5 // not enough alone: "School opens doors" is what an article is about
	startWeight   = 2.0 // of title and description of the start page, which are about the site
	typeWeight    = 2.0 // schema.org's
	headingWeight = 0.5
	domainWeight  = 2.0
	sharedWeight  = 1.5 // more where it agrees with the domain
	leastKind     = 2.0
	kindMargin    = 2.0 // times the weight of every other kind
)

// Kind returns the kind of place by its name, in the form of package kind. If the page is the
// place's own site, what its title, headings and domain say is weighed where the name says nothing:
// "Bäckerei Meyer in Oldenburg" for "Meyer GmbH"; then what its text says. It is read in the first of
// the languages in which it says anything. Last, a department of an academic host is of a university,
// and "e.V." shows an association. It is "" if nothing shows it.
func (h *Head) Kind(name string, langs []string, country string, own bool) string {
	for _, lang := range langs {
		if id := kind.OfName(name, lang, country); id != "" && !IsPerson(name) {
			return id
		}
		if !own {
			continue
		}
		id := cmp.Or(h.kindOfSite(lang, country), h.kindOfText(name, lang, country))
		if id != "" {
			return id
		}
	}
	switch {
	case academic.MatchString(h.host) && department.MatchString(name):
		return "amenity=university"
	case own && h.kindOfEntries() != "":
		return h.kindOfEntries()
	case registered.MatchString(name):
		return association
	}
	return ""
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
				return h.kindOfClub(e.kind)
			}
		}
	}
	return ""
}

// kindOfClub returns the kind of a site, for an association whose headings name a sport that of clubs of
// sports.
func (h *Head) kindOfClub(id string) string {
	isSport := func(text string) bool { return kind.OfName(text, "", "") == "club=sport" }
	if id == association && slices.ContainsFunc(h.own, isSport) {
		return "club=sport"
	}
	return id
}

const association = "office=association"

var (
	academic   = regexp.MustCompile(`\.(?:edu|ac)(?:\.[a-z]{2})?$`)
	department = regexp.MustCompile(`(?i)^(?:the )?(?:college|school|dep(?:artmen)?t\.?|faculty|institute) of\b`)
	registered = regexp.MustCompile(`(?i)\be\. ?v\.?$`)
)

// kindOfSite weighs what the titles, headings, domain, description and markup of a place's own site say.
func (h *Head) kindOfSite(lang, country string) string {
	weights := map[string]float64{}
	for i, text := range h.own {
		said := nameWords(text)
		isText := func(earlier string) bool { return strings.EqualFold(earlier, text) } // a title as heading
		if len(said) > mostTitle || slices.ContainsFunc(h.own[:i], isText) {
			continue
		}
		id := kind.OfName(text, lang, country)
		weight := headingWeight
		switch {
		case i < h.titles && h.start:
			weight = startWeight
		case i < h.titles:
			weight = titleWeight
		}
		if h.agreement(said) >= 0.9 {
			weight += sharedWeight
		}
		weights[id] += weight
	}
	if h.start {
		weights[kind.OfName(clauseEnd.Split(h.site.About, 2)[0], lang, country)] += startWeight
	}
	typed := map[string]bool{}
	for _, name := range h.site.Types {
		typed[kind.OfType(name)] = true
	}
	for id := range typed {
		weights[id] += typeWeight
	}
	domain, weight := h.kindOfDomain(lang, country)
	weights[domain] += weight
	delete(weights, "")
	if len(weights) == 0 && h.start {
		return h.kindOfTerms(lang, country)
	}
	ids := slices.SortedFunc(maps.Keys(weights), func(a, b string) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), strings.Compare(a, b))
	})
	if len(ids) == 0 || weights[ids[0]] < leastKind {
		return ""
	}
	for _, id := range ids[1:] {
		if kind.Main(id) != kind.Main(ids[0]) && weights[id]*kindMargin > weights[ids[0]] {
			return ""
		}
	}
	return ids[0]
}

// kindOfTerms returns the one kind that the rest of the description of a start page and its keywords
// say, or "".
func (h *Head) kindOfTerms(lang, country string) (only string) {
	said := clauseEnd.Split(h.site.About, mostClauses)
	for _, text := range append(said, clauseEnd.Split(h.site.Terms, mostClauses)...) {
		id := kind.OfName(text, lang, country)
		switch {
		case id == "" || kind.Main(id) == kind.Main(only):
		case only != "":
			return ""
		default:
			only = id
		}
	}
	return only
}

// mostClauses is how many clauses of a description and how many keywords are read.
const mostClauses = 12

// kindOfDomain returns the kind of place that the domain says, or "", and what that weighs.
func (h *Head) kindOfDomain(lang, country string) (id string, weight float64) {
	weight = domainWeight
	domain := strings.Join(h.domain, " ")
	if kind.IsSurname(domain) { // "uwezimmermann.example"
		weight = titleWeight
	}
	return kind.OfName(domain, lang, country), weight
}

// KindOfDomain returns the kind of place that the domain alone is enough for, or "".
func (h *Head) KindOfDomain(langs []string, country string) string {
	for _, lang := range langs {
		id, weight := h.kindOfDomain(lang, country)
		if id != "" && weight >= leastKind {
			return id
		}
	}
	return ""
}

// clauseEnd is where a clause of a description ends, of which the first says what it is of: "Garage à Provins :
// diagnostic, réparations".
var clauseEnd = regexp.MustCompile(` - |[.:;!?|,(–—]`)

// IsStart reports whether a path, with its query, is that of the start page of a site.
func IsStart(path string) bool { return len(path) < 40 && startPath.MatchString(path) }

var startPath = regexp.MustCompile(`(?i)^/(?:(?:de|en|fr|it|es|nl)/)?` +
	`(?:(?:index|home|start|startseite|default|main)\.[a-z]{3,5})?(?:\?lang=[a-z]{2})?$`)

package index

import (
	"cmp"
	"slices"
	"strings"

	"gazehound/geoparse"
	"gazehound/internal/kind"
)

// One address is one hit, whichever pages state it. The place there has a name, which its own pages
// and directories spell differently, and a shopping centre has several. So spellings of a name are
// united, the sites vote for one name, and a page's contacts count only if they are of that name.

// maxOthers bounds the names that are shown beside the first.
const maxOthers = 20

// leastOwn is the least share of an address among the statements of the place's own site.
const leastOwn = 0.05

// A statement is one mention of an address, weighed against the others.
type statement struct {
	*mention
	fit     uint8   // of what it says to the name of the hit: named so, probably meant, another's
	further bool    // its site has a better one
	bears   int     // words of the name of the hit in its host: "fahrschule-wemken.example" before a blog
	own     float64 // how much of what its site states is this address, 0 to 1
}

// The fits of a statement.
const (
	anothers uint8 = iota
	meant
	namedSo
)

// An account combines the statements of all pages about an address.
type account struct {
	statements []statement // best first, and of each site one before the others
	name       string      // "": none has one
	others     []string    // names of what else is there
	kind       string
	stated     string // kind, by pages that do not agree with the map
	role       geoparse.Role
}

// accountOf puts together what is stated of an address. Where fits is not nil, the
// name is one of a mention that it takes, if there is any; preferred is a mention whose
// name is meant if its site does not call it otherwise as well, or nil.
func accountOf(r *record, own func(site string) float64, fits func(*mention) bool, preferred *mention) account {
	a := account{role: geoparse.AuthorityRole}
	names := namesOf(r.Mentions, fits)
	var chosen *naming
	if len(names) > 0 {
		chosen = choose(names, preferred)
		a.name = chosen.text
		for _, n := range names {
			if n != chosen && n.stated && len(a.others) < maxOthers {
				a.others = append(a.others, n.text)
			}
		}
	}
	words := nameWordsOf(foldPhrase(a.name), nil)
	dialled := phonesOf(r.Mentions, chosen)
	for _, m := range r.Mentions {
		s := statement{mention: m, own: own(m.site)}
		if s.own >= leastOwn {
			s.bears = wordsIn(m.host, words)
		}
		loose := m.Guess || m.Name == ""
		switch {
		case chosen == nil, chosen.spellings[m.nameKey()]:
			s.fit = namedSo
		case chosen.votesOf[m.site] > 0 && (loose || m.role() == geoparse.OwnRole), loose && len(a.others) == 0,
			dialled[siteNumber{m.site, m.Phone}]:
			s.fit = meant
		}
		if s.fit != anothers {
			a.role = min(a.role, m.role())
		}
		a.statements = append(a.statements, s)
	}
	slices.SortStableFunc(a.statements, func(x, y statement) int {
		return cmp.Or(cmp.Compare(y.fit, x.fit), cmp.Compare(x.Role, y.Role), cmp.Compare(y.bears, x.bears),
			cmp.Compare(y.own, x.own), cmp.Compare(y.Confidence, x.Confidence),
			cmp.Compare(len(x.URL), len(y.URL)), strings.Compare(x.URL, y.URL))
	})
	for _, s := range a.statements {
		if s.fit != anothers {
			a.stated = cmp.Or(a.stated, s.Stated)
			isIts := s.fit == namedSo || s.Guess || s.Name == ""
			if a.kind == "" || a.kind == association && isIts { // the legal form says no more
				a.kind = cmp.Or(s.kind(), a.kind)
			}
		}
	}
	spread(a.statements)
	return a
}

// A siteNumber is a telephone number as one site states it.
type siteNumber struct{ site, number string }

// phonesOf returns the numbers of those that are called so.
func phonesOf(mentions []*mention, called *naming) map[siteNumber]bool {
	numbers := map[siteNumber]bool{}
	for _, m := range mentions {
		if called != nil && called.spellings[m.nameKey()] && m.Phone != "" {
			numbers[siteNumber{m.site, m.Phone}] = true
		}
	}
	return numbers
}

// wordsIn returns how many of the words of a name stand in a host.
func wordsIn(host string, words []string) (n int) {
	host = foldWord(host)
	for _, word := range words {
		if len(word) > 3 && strings.Contains(host, word) {
			n++
		}
	}
	return n
}

// choose returns the name of a hit: the first, or the one of preferred.
func choose(names []*naming, preferred *mention) *naming {
	if preferred != nil && !preferred.role().ThirdParty() && names[0].votesOf[preferred.site] == 0 {
		for _, n := range names {
			if n.spellings[preferred.nameKey()] {
				return n
			}
		}
	}
	return names[0]
}

// spread puts the first statement of each site before the others, of those
// that are of the hit's name and of those that are not, which come after them.
func spread(all []statement) {
	type group struct {
		other bool
		site  string
	}
	seen := map[group]bool{}
	for i := range all {
		g := group{all[i].fit == anothers, all[i].site}
		all[i].further, seen[g] = seen[g], true
	}
	slices.SortStableFunc(all, func(a, b statement) int {
		return cmp.Or(compareBool(a.fit == anothers, b.fit == anothers), compareBool(a.further, b.further))
	})
}

// A naming is a name with all its spellings.
type naming struct {
	text      string          // the spelling of most sites, and of most pages with its key
	key       string          // of text
	spellings map[string]bool // keys
	words     []string        // of text, see nameWordsOf
	votesOf   map[string]int  // of each site
	stated    bool            // it stands beside the address somewhere
	fits      bool            // on a page that fits what is asked for
	pages     int
}

func (n *naming) votes() (sum int) {
	for _, v := range n.votesOf {
		sum += v
	}
	return sum
}

// hear adds a statement's vote for a name; of each site the strongest counts.
func (n *naming) hear(o *naming) {
	for site, votes := range o.votesOf {
		n.votesOf[site] = max(n.votesOf[site], votes)
	}
	for key := range o.spellings {
		n.spellings[key] = true
	}
	n.pages, n.stated, n.fits = n.pages+o.pages, n.stated || o.stated, n.fits || o.fits
}

// namesOf returns the names that mentions have, the best first: those on pages
// that fit, then that of most sites, where a site's own address counts more
// than one of a list.
func namesOf(all []*mention, fits func(*mention) bool) []*naming {
	var single []*naming
	byKey, texts := map[string]*naming{}, textsOf(all)
	var places []string // words of towns, which tell no name from another
	for _, m := range all {
		if city := strings.Fields(foldPhrase(m.City)); !slices.Contains(places, strings.Join(city, " ")) {
			places = append(places, city...)
		}
		if m.name() == "" {
			continue
		}
		one := &naming{
			text: texts[m.nameKey()], key: m.nameKey(),
			spellings: map[string]bool{m.nameKey(): true}, votesOf: map[string]int{m.site: m.voice()},
			stated: !m.Guess, fits: fits == nil || fits(m), pages: 1,
		}
		if n := byKey[one.key]; n != nil {
			n.hear(one)
			continue
		}
		byKey[one.key] = one
		single = append(single, one)
	}
	if len(single) < 2 {
		return single
	}
	order := func(a, b *naming) int {
		return cmp.Or(compareBool(b.fits, a.fits), cmp.Compare(b.votes(), a.votes()),
			cmp.Compare(b.pages, a.pages), strings.Compare(a.key, b.key))
	}
	slices.SortFunc(single, order)
	var names []*naming
	for _, n := range single {
		n.words = nameWordsOf(foldPhrase(n.text), places)
		i := slices.IndexFunc(names, func(o *naming) bool { return sameWords(o.words, n.words) })
		if i < 0 {
			names = append(names, n)
			continue
		}
		bare := kind.Only(strings.Fields(foldPhrase(names[i].text))) && !kind.Only(n.words)
		if n.stated && !names[i].stated || bare { // a guess is no spelling to show, nor "The Community Centre"
			names[i].text = n.text
		}
		names[i].hear(n)
	}
	slices.SortStableFunc(names, order)
	return names
}

// textsOf returns for each key of a name the text that most pages have, in whatever order they were read: those
// beside the address first, and of as many pages the text with small letters, "Lück" and not "LÜCK".
func textsOf(all []*mention) map[string]string {
	pages, best := map[string]int{}, map[string]string{}
	for _, m := range all {
		if m.Guess {
			pages[m.name()]++
		} else {
			pages[m.name()] += len(all)
		}
	}
	delete(pages, "") // mentions without a name
	for text, n := range pages {
		key := (&mention{Name: text}).nameKey()
		if n > pages[best[key]] || n == pages[best[key]] && text > best[key] {
			best[key] = text
		}
	}
	return best
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// legalForms are words that do not distinguish names.
var legalForms = foldedSet("gmbh mbh co kg ohg ag ug gbr ek eg ev se kgaa partg mbb e k v g haftungsbeschränkt " +
	"inh inhaber inhaberin inc llc llp ltd corp corporation company plc pc the der die das und and in am")

// nameWordsOf returns the distinguishing words of a folded name, each once: without legal form and
// words of the town, unless it has no others.
func nameWordsOf(phrase string, places []string) (words []string) {
	all := strings.Fields(phrase)
	for _, word := range all {
		if !legalForms[word] && !slices.Contains(places, word) && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	if len(words) == 0 {
		slices.Sort(all)
		return slices.Compact(all)
	}
	return words
}

// sameWords reports whether two names are probably of one: one has all words of the
// other and no more than as many others, or they have the same letters, as where one
// is written in one word and the other in two.
func sameWords(a, b []string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 {
		return false
	}
	other := slices.ContainsFunc(a, func(w string) bool { return !slices.Contains(b, w) })
	return !other && 2*len(a) >= len(b) || letters(a) == letters(b)
}

// letters returns the letters of words in their order.
func letters(words []string) string {
	all := []byte(strings.Join(words, ""))
	slices.Sort(all)
	return string(all)
}

// SameName reports whether two names are probably of one place, whatever its legal form and its
// town, in any spelling.
func SameName(a, b, town string) bool {
	places := strings.Fields(foldPhrase(town))
	return sameWords(nameWordsOf(foldPhrase(a), places), nameWordsOf(foldPhrase(b), places))
}

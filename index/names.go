package index

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gazehound/geoparse"
)

// One address is one hit, whoever states it. What is there has a name, which
// its own pages and directories write in different ways, and a shopping centre
// or a doctors' house has several. So the names at an address are put together
// where they say the same, the sites vote for one of them, and what a page
// states beside the address counts only where it is of that name.

// maxNames bounds the names of one address that are compared, and maxOthers
// those that are shown beside the first.
const (
	maxNames  = 200
	maxOthers = 20
)

// leastOwn is the share of its mentions that an address has at least on the
// site of what is there.
const leastOwn = 0.05

// A statement is one mention of an address.
type statement struct {
	part *part
	n    uint32
	fit  uint8   // of what it says to the name of the hit: named so, probably meant, another's
	own  float64 // how much of what its site states is this address, 0 to 1
}

// The fits of a statement.
const (
	anothers uint8 = iota
	meant
	namedSo
)

func (s *statement) row() *row { return &s.part.all[s.n] }

// number returns that of the row in the view.
func (s *statement) number() uint32 { return s.part.base + s.n }

// An account is what all pages together say of an address.
type account struct {
	statements  []statement // best first, and of each site one before the others
	name        string      // "": none has one
	others      []string    // names of what else is there
	kind        uint8
	role        geoparse.Role
	first, last int64 // Unix seconds
	hosts       int   // of the statements
	siteWide    bool
}

// account puts together what is stated of a group. Where fits is not nil, the
// name is one of a row that it takes, if there is any; wish is a row whose name
// is meant if its site does not call it otherwise as well, or nil.
func (v *view) account(group uint32, fits func(*row) bool, wish *row) account {
	a := account{first: math.MaxInt64, role: geoparse.AuthorityRole}
	members := v.of(group)
	sites, hosts := make(map[uint32]int, len(members)), make(map[uint32]bool, len(members))
	a.statements = make([]statement, len(members))
	for i, number := range members {
		p, n := v.at(number)
		r := &p.all[n]
		a.first, a.last = min(a.first, int64(r.first)), max(a.last, int64(r.last))
		sites[r.site]++
		hosts[r.host] = true
		a.statements[i] = statement{part: p, n: n}
	}
	a.hosts = len(hosts)
	if len(a.statements) == 0 {
		return a
	}
	for site, mentions := range sites {
		a.siteWide = a.siteWide || v.siteWide(site, mentions)
	}
	names := v.names(a.statements, fits)
	var chosen *naming
	if len(names) > 0 {
		chosen = names[0]
		if wish != nil && !wish.role.ThirdParty() && !chosen.usedBy(wish.site) {
			if i := slices.IndexFunc(names, func(n *naming) bool { return slices.Contains(n.texts, wish.name) }); i >= 0 {
				chosen = names[i]
			}
		}
		a.name = v.texts[chosen.text].shownAs()
		for _, n := range names {
			if n != chosen && n.stated && len(a.others) < maxOthers {
				a.others = append(a.others, v.texts[n.text].shownAs())
			}
		}
	}
	usage := v.usage()
	for i := range a.statements {
		s := &a.statements[i]
		r := s.row()
		s.own = float64(sites[r.site]) / float64(max(1, usage[r.site]))
		switch loose := r.guess || r.name == 0; {
		case chosen == nil, slices.Contains(chosen.texts, r.name):
			s.fit = namedSo
		case chosen.usedBy(r.site) && (loose || r.role == geoparse.OwnRole), loose && len(a.others) == 0:
			s.fit = meant
		}
		if s.fit == anothers {
			continue
		}
		a.role = min(a.role, r.role)
		if r.kind != 0 && (a.kind == 0 || r.kind < a.kind) {
			a.kind = r.kind
		}
	}
	slices.SortStableFunc(a.statements, func(x, y statement) int {
		r, o := x.row(), y.row()
		return cmp.Or(x.compare(&y), cmp.Compare(o.confidence, r.confidence), cmp.Compare(r.first, o.first), cmp.Compare(r.page, o.page))
	})
	a.statements = spread(a.statements)
	return a
}

// compare orders statements: of the name first, then by whose address it is,
// then those of sites that state little else.
func (s *statement) compare(o *statement) int {
	return cmp.Or(cmp.Compare(o.fit, s.fit), cmp.Compare(s.row().role, o.row().role), cmp.Compare(o.own, s.own))
}

// spread puts the first statement of each site before the others, of those
// that are of the hit's name and of those that are not, which come after them.
func spread(all []statement) []statement {
	if len(all) == 1 {
		return all
	}
	out := make([]statement, 0, len(all))
	seen := make(map[uint32]bool, len(all))
	for len(all) > 0 {
		n := 1
		for n < len(all) && (all[n].fit == anothers) == (all[0].fit == anothers) {
			n++
		}
		clear(seen)
		var again []statement
		for _, s := range all[:n] {
			if site := s.row().site; seen[site] {
				again = append(again, s)
			} else {
				seen[site] = true
				out = append(out, s)
			}
		}
		out, all = append(out, again...), all[n:]
	}
	return out
}

// A naming is one name in all its spellings.
type naming struct {
	text   uint32    // the spelling of most sites
	texts  []uint32  // all spellings
	words  nameWords // of text
	voices []voice   // in the order of their sites, each once
	stated bool      // it stands beside the address somewhere
	fits   bool      // on a page that fits what is asked for
	rows   int
	votes  int // of all voices
}

// A voice is what the word of a site for a name weighs.
type voice struct {
	site   uint32
	weight int
}

// hear counts the voice of a site, of which the heaviest counts.
func (n *naming) hear(v voice) {
	at, known := slices.BinarySearchFunc(n.voices, v.site, func(o voice, site uint32) int { return cmp.Compare(o.site, site) })
	if !known {
		n.voices = slices.Insert(n.voices, at, voice{site: v.site})
	}
	if more := v.weight - n.voices[at].weight; more > 0 {
		n.voices[at].weight, n.votes = v.weight, n.votes+more
	}
}

// usedBy tells whether a site uses the name.
func (n *naming) usedBy(site uint32) bool {
	_, known := slices.BinarySearchFunc(n.voices, site, func(o voice, site uint32) int { return cmp.Compare(o.site, site) })
	return known
}

// voice is what a site's word for a name weighs.
func (r *row) voice() int {
	switch {
	case r.guess || r.role.ThirdParty():
		return 1
	case r.role == geoparse.ListedRole:
		return 2
	}
	return 3
}

// betterNamed tells whether r's name rather than o's is what an address is
// known by.
func (r *row) betterNamed(o *row, texts []text) bool {
	return cmp.Or(cmp.Compare(r.voice(), o.voice()), strings.Compare(texts[o.name].keyOf(), texts[r.name].keyOf()), cmp.Compare(o.page, r.page)) > 0
}

// names returns the names that statements have, the best first: those on pages
// that fit, then that of most sites, where a site's own address counts more
// than one of a list.
func (v *view) names(all []statement, fits func(*row) bool) []*naming {
	rows := make([]*row, 0, len(all)) // that have a name, in the order of names and sites
	for i := range all {
		if r := all[i].row(); r.name != 0 {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b *row) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.site, b.site)) })
	single := make([]*naming, 0, len(rows))
	room, texts, voices := make([]naming, len(rows)), make([]uint32, len(rows)), make([]voice, len(rows)) // most have one text and voice
	for _, r := range rows {
		if k := len(single); k == 0 || single[k-1].text != r.name {
			room[k] = naming{text: r.name, texts: append(texts[k:k:k+1], r.name), voices: voices[k : k : k+1]}
			single = append(single, &room[k])
		}
		n := single[len(single)-1]
		n.rows++
		n.hear(voice{r.site, r.voice()})
		n.stated = n.stated || !r.guess
		n.fits = n.fits || fits == nil || fits(r)
	}
	if len(single) < 2 {
		return single
	}
	order := func(a, b *naming) int {
		if c := cmp.Or(compareBool(b.fits, a.fits), cmp.Compare(b.votes, a.votes), cmp.Compare(b.rows, a.rows)); c != 0 {
			return c
		}
		return strings.Compare(v.texts[a.text].keyOf(), v.texts[b.text].keyOf())
	}
	slices.SortFunc(single, order)
	places := v.placeWords(all)
	names := single[:0]
	var words []string
	for _, n := range single[:min(maxNames, len(single))] {
		n.words, words = wordsOf(v.texts[n.text].phrase(), places, words)
		i := slices.IndexFunc(names, func(o *naming) bool { return o.words.same(&n.words) })
		if i < 0 {
			names = append(names, n)
			continue
		}
		o := names[i]
		o.rows, o.texts = o.rows+n.rows, append(o.texts, n.text)
		if n.stated && !o.stated { // a guess is no spelling to show
			o.text = n.text
		}
		o.stated, o.fits = o.stated || n.stated, o.fits || n.fits
		for _, voice := range n.voices {
			o.hear(voice)
		}
	}
	slices.SortStableFunc(names, order)
	return names
}

// placeWords returns the words of the towns of statements, which tell no name
// from another.
func (v *view) placeWords(all []statement) []string {
	var cities []uint32
	var words []string
	for i := range all {
		if city := all[i].row().city; !slices.Contains(cities, city) {
			cities = append(cities, city)
			words = append(words, strings.Fields(v.texts[city].phrase())...)
		}
	}
	return words
}

// forms are words of a name that say nothing of what bears it.
var forms = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`gmbh mbh co kg ohg ag ug gbr ek eg ev se kgaa partg mbb e k v g haftungsbeschränkt inh inhaber inhaberin
		inc llc llp ltd corp corporation company plc pc the der die das und and in am`) {
		m[foldPhrase(w)] = true
	}
	return m
}()

// nameWords are the words that tell a name from others, each once.
type nameWords struct {
	all     []string
	letters int // how many they have together, in bytes
}

// wordsOf returns the words of a folded name without its legal form and the
// words of the town. They lie at the end of room, which is returned with them.
func wordsOf(phrase string, places, room []string) (w nameWords, grown []string) {
	from := len(room)
	for _, meaning := range [...]bool{true, false} {
		for word := range strings.FieldsSeq(phrase) {
			if meaning && (forms[word] || slices.Contains(places, word)) || slices.Contains(room[from:], word) {
				continue
			}
			room = append(room, word)
			w.letters += len(word)
		}
		if len(room) > from {
			break
		}
	}
	w.all = room[from:len(room):len(room)]
	return w, room
}

// same tells whether two names are probably of one: one has all words of
// the other and no more than as many others, or they have the same letters, as
// where one is written in one word and the other in two.
func (w *nameWords) same(o *nameWords) bool {
	a, b := w.all, o.all
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 {
		return false
	}
	all := 2*len(a) >= len(b)
	for i := 0; all && i < len(a); i++ {
		all = slices.Contains(b, a[i])
	}
	return all || w.letters == o.letters && w.counts() == o.counts()
}

// counts says how often each letter stands in the words.
func (w *nameWords) counts() (n [256]uint8) {
	for _, word := range w.all {
		for i := range len(word) {
			n[word[i]]++
		}
	}
	return n
}

// sameName tells whether two names are probably of one thing.
func sameName(a, b, city string) bool {
	places := strings.Fields(foldPhrase(city))
	one, room := wordsOf(foldPhrase(a), places, nil)
	other, _ := wordsOf(foldPhrase(b), places, room)
	return one.same(&other)
}

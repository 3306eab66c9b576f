package kind

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"gazehound/internal/textutil"
)

// shortestPart is the length in bytes from which a word of the table counts as a
// part of a longer word, as in "Löwenapotheke" and "Fahrradhaus".
const shortestPart = 5

// OfName returns the kind of a place by its name, or "": by its brand, or by its noun as OfText does.
// country is ISO 3166-1, or "".
func OfName(name, lang, country string) string {
	t, words := load(), Words(name)
	if b, ok := t.brands[strings.Join(words, " ")]; ok && b.in(country) {
		return t.ids[b.kind]
	}
	return t.ofWords(name, words, lang)
}

// OfText returns the kind of place by the noun of a phrase that says what it is, or "". That is the
// first word that means a kind, in English the last: "Hotel Restaurant Krone" is a hotel, "Museum
// Café" a café. Of English words in another language the last counts, if none of its own does. Words
// after a preposition are ignored: "Apotheke am Museum". lang is ISO 639-1, or "".
func OfText(text, lang string) string { return load().ofWords(text, Words(text), lang) }

// ofWords is OfText of a text with its words.
func (t *table) ofWords(text string, words []string, lang string) string {
	if len(words) == 0 || len(words) > 16 {
		return ""
	}
	parts := t.segments(t.joined(text), lang)
	for _, part := range parts {
		if lang == "de" && len(parts) > 1 && len(part) == 1 && IsSurname(part[0]) {
			continue // "Schuster & Sohn"
		}
		if id, found := t.noun(part, lang); found {
			return id
		}
	}
	return cmp.Or(t.first(text, parts, lang), t.behindOf(text, lang))
}

// behindOf returns the kind of an English name whose noun stands at its very end, "Our Lady of Tides Parish
// Church", or "". One word behind "of" is no name of its own, and some words before it say whose the rest is:
// "Friends of Oldenburg Library".
func (t *table) behindOf(name, lang string) string {
	words := Words(name)
	at := slices.Index(words, "of")
	if lang != "en" && lang != "" || at < 1 || at+2 >= len(words) || strings.ContainsAny(name, ",;:|") {
		return ""
	}
	if _, known := t.phrases[words[at-1]+" of"]; known {
		return ""
	}
	id, _ := t.noun(words[at+1:], lang)
	return id
}

// first returns the kind of names that begin with the first word of a name, "Stadt Oldenburg", or "";
// "Städt." is no town.
func (t *table) first(name string, parts [][]string, lang string) string {
	if len(parts) == 0 || len(parts[0]) < 2 || strings.HasSuffix(strings.Fields(name)[0], ".") {
		return ""
	}
	_, p := t.longest(parts[0][:1], lang)
	if len(p.kinds) == 0 || p.use != First && p.use != Head {
		return ""
	}
	return t.ids[p.kinds[0]]
}

// joined returns a name without the & in phrases of the table, such as "Fire & Rescue" and "B&B".
func (t *table) joined(name string) string {
	if !strings.Contains(name, "&") {
		return name // most names, for less than the expression costs
	}
	return ampersand.ReplaceAllStringFunc(name, func(pair string) string {
		before, after, _ := strings.Cut(pair, "&")
		if p := t.phrases[fold(before+" "+after)]; p.use != Name {
			return pair
		}
		return before + " " + after
	})
}

var ampersand = regexp.MustCompile(`[\pL]+ ?& ?[\pL]+`)

// IsSurname reports whether the German name of a profession is also a surname, where no other word
// of a name says the kind.
func IsSurname(word string) bool {
	return strings.HasSuffix(word, "er") || strings.HasSuffix(word, "mann")
}

func (b brand) in(country string) bool {
	return country == "" || b.countries == "*" || strings.Contains(b.countries, strings.ToLower(country))
}

// prepositions end what a name says of the kind of place.
var prepositions = textutil.Words(`am an auf aus bei beim der des gegenuber im in inh ins mit nach neben vom von
	zu zum zur at by for from near of on to with a al au aux avec chez d da dal de dei del dell della
	delle di du en par per por sur aan bij naar op te ten ter van voor`)

// joins stand between two nouns.
var joins = textutil.Words("und and et y e en the der die das fur")

// Kinds whose names are also those of places with meals in them: "Stadion Gaststätte", "Museum Café".
var (
	hosts = textutil.Words("leisure club tourism=museum tourism=zoo amenity=theatre amenity=cinema amenity=community_centre")
	meals = textutil.Words("amenity=restaurant amenity=cafe amenity=pub amenity=bar amenity=biergarten amenity=fast_food")
)

// isOfClinic reports whether clinics of the kind are of that kind: a "Vet Clinic" is a vet.
func isOfClinic(id string) bool { return Key(id) == "healthcare" || treats[Main(id)] }

var treats = textutil.Words("amenity=veterinary amenity=dentist amenity=doctors shop=massage shop=beauty shop=optician")

// Words that make the noun before them the name of a street, and of a family.
var (
	streets  = textutil.Words("road rd street st avenue ave lane drive boulevard blvd way")
	families = textutil.Words("gmbh kg ohg ag ug co sohn sohne tochter partner inh")
)

// Words before a public building after which a place in it is called: "Alte Feuerwache", "The Old School House".
var (
	formerWords = textutil.Words(`alt alte alter altes alten ehemalige ehemaliger ehemaliges ehemaligen old former ex
		ancien ancienne vecchio vecchia antiguo antigua oude voormalige`)
	publicBuildings = textutil.Words(`amenity=fire_station amenity=school amenity=townhall amenity=post_office
		amenity=police amenity=courthouse amenity=prison office=government railway=station public_transport=station`)
)

// segments returns the parts of a name between commas and the like, each up to its first
// preposition that is in no phrase of the table; such a phrase is one word of its part. Of German
// and Dutch words with hyphens the last goes first, "Park-Hotel".
func (t *table) segments(name, lang string) (parts [][]string) {
	isMark := func(r rune) bool { return strings.ContainsRune(",;:|/()[]–—·•&+\n", r) }
	for phrase := range strings.FieldsFuncSeq(strings.ReplaceAll(name, " - ", ","), isMark) {
		var words, part []string
		for token := range strings.FieldsSeq(phrase) {
			of := Words(token)
			last := len(of) - 1
			if last > 0 && (lang == "de" || lang == "nl") {
				if n, _ := t.longest(of, lang); n <= last {
					of = append(of[last:], of[:last]...)
				}
			}
			words = append(words, of...)
		}
		for i := 0; i < len(words); i++ {
			switch w := words[i]; {
			case prepositions[w]:
				from := max(0, i-len(part[max(0, len(part)-1):])) // with the word before
				n, _ := t.longest(words[from:], lang)
				if n > i-from && n > 1 { // "Club de Badminton", "School of", "D.D.S."
					part = append(part[:max(0, len(part)-(i-from))], strings.Join(words[from:from+n], " "))
					i = from + n - 1
				}
				if len(part) > 0 && prepositions[words[i]] {
					i = len(words)
				}
			case !joins[w]:
				part = append(part, w)
			}
		}
		if len(part) > 0 {
			parts = append(parts, part)
		}
	}
	return parts
}

// noun returns the kind of the noun in a part of a name; found reports whether the part has a word
// of the table that decides, even one of no kind.
func (t *table) noun(words []string, lang string) (id string, found bool) {
	borrowed := false // id is what an English word says in a name of another language: "Candy Tattoo"
	for i := 0; i < len(words); {
		n, p := t.longest(words[i:], lang)
		whole := n > 0
		if !whole {
			n, p = 1, t.inside(cmp.Or(agent(words[i], lang), words[i]), lang)
		}
		next := ""
		if i+n < len(words) {
			next = words[i+n]
		}
		foreign := lang != "" && p.langs != "" && !strings.Contains(p.langs, lang)
		english := lang == "en" || foreign
		surname := lang == "de" && whole && n == 1 && (i > 0 || families[next]) && IsSurname(words[i])
		switch {
		case surname, lang == "en" && streets[next]:
		case whole && len(p.kinds) > 0 && i > 0 && formerWords[words[i-1]] && publicBuildings[Main(t.ids[p.kinds[0]])]:
		case p.use == Name || p.use == Term:
			named := t.ids[p.kinds[0]]
			ofClinic := isOfClinic(id) && Main(named) == "amenity=clinic"
			if !found || borrowed || english && !ofClinic || meals[Main(named)] {
				id = named
			}
			found, borrowed = true, foreign
			if !english && !hosts[Key(id)] && !hosts[Main(id)] {
				return id, true
			}
		case (p.use == Other || p.use == Unsure) && lang == "en":
			id = ""
		}
		i += n
	}
	return id, found
}

// longest returns the longest phrase of the table that words begin with.
func (t *table) longest(words []string, lang string) (n int, p phrase) {
	for n := min(len(words), MaxPhrase); n > 0; n-- {
		text := strings.Join(words[:n], " ")
		if p, ok := t.phrases[In(lang, text)]; ok {
			return n, p
		}
		if p, ok := t.phrases[text]; ok && p.said(lang) {
			return n, p
		}
		for _, other := range [...]string{agent(text, lang), otherHead(text, lang)} {
			if p, ok := t.phrases[other]; ok && p.said(lang) {
				return n, p
			}
		}
	}
	return 0, phrase{}
}

// agent returns the masculine singular of what those are called who do something, which the table has:
// "Reents Solicitors", "Frauenärztinnen"; it is "" where a text is no such form.
func agent(text, lang string) string {
	switch one := strings.TrimSuffix(text, "s"); {
	case lang == "en" && one != text && agents.MatchString(one):
		return one
	case lang == "de" && strings.HasSuffix(strings.TrimSuffix(text, "nen"), "in") && feminine.MatchString(text):
		return feminine.ReplaceAllString(text, "$1")
	}
	return ""
}

// otherHead returns an English phrase with another word for the same at its end, "bicycle shop" for "bicycle
// store", or "".
func otherHead(text, lang string) string {
	i := strings.LastIndexByte(text, ' ')
	if lang != "en" || i < 0 || otherHeads[text[i+1:]] == "" {
		return ""
	}
	return text[:i+1] + otherHeads[text[i+1:]]
}

// otherHeads are words of which names have one or the other.
var otherHeads = map[string]string{
	"store": "shop", "shop": "store", "service": "services", "services": "service", "center": "centre", "centre": "center",
	"supplier": "shop", "suppliers": "shop", "dealer": "shop", "dealers": "shop",
}

// agents are nouns of those who do something, whose plural is in names: "Reents Solicitors".
var agents = regexp.MustCompile(`(?:er|or|ist|ian|ant|ney|ct)$`)

// feminine ends German nouns of women who do something, the first group without it. Those in -e lose it,
// "Logopädin"; the table has them.
var feminine = regexp.MustCompile(`^(.*(?:er|or|ist|ent|ant|eut|eur|at|af|aph|ekt|arzt|walt|wirt))in(?:nen)?$`)

// inside returns the kind of a compound word: of its last part or, if that is a noun of many kinds,
// such as "laden", of its first part.
func (t *table) inside(word, lang string) phrase {
	if lang != "" && lang != "de" && lang != "nl" {
		return phrase{}
	}
	for i := 2; i <= len(word)-4; i++ {
		p, ok := t.phrases[word[i:]]
		switch {
		case !ok, !p.said(lang):
		case p.use == Head:
			for _, link := range links {
				if first, ok := strings.CutSuffix(word[:i], link); ok {
					p, ok := t.phrases[first]
					if ok && p.use == Start {
						p.use = Name
					}
					if ok && p.use != Other && p.use != Query {
						return p
					}
				}
			}
			return phrase{}
		case len(word)-i >= shortestPart:
			return p
		}
	}
	return phrase{}
}

// said reports whether a name with the phrase means its kind in a language; English
// words do in all.
func (p phrase) said(lang string) bool {
	return p.use != Query && (lang == "" || p.langs == "" || strings.Contains(p.langs, lang) ||
		strings.Contains(p.langs, "en"))
}

// OfTags returns the kind of an object of OpenStreetMap, or "".
func OfTags(tags map[string]string) string {
	return MostSpecific(func(id string) bool { return load().number(id) >= 0 }, tags)
}

func (t *table) number(id string) int {
	if i, ok := slices.BinarySearch(t.ids, id); ok {
		return i
	}
	return -1
}

package partition

import (
	"net/url"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// A token is one word of a text.
type token struct {
	text  string // lower case, without accents
	upper bool   // all letters upper case in the text: may be the code of a state
}

// tokens cuts a text into words of letters and digits. In URLs case means nothing: with inURL every
// token may be a code.
func tokens(s string, inURL bool) []token {
	var words []token
	start := -1

	end := func(i int) {
		if start < 0 {
			return
		}
		raw := s[start:i]
		words = append(words, token{fold(raw), inURL || raw == strings.ToUpper(raw)})
		start = -1
	}
	for i, r := range s {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r):
			if start < 0 {
				start = i
			}
		case (r == '\'' || r == '’' || r == '.') && start >= 0 && !inURL: // "O'Fallon", "L.A."
			if r == '.' && i-start > 1 && !strings.Contains(s[start:i], ".") {
				end(i)
			}
		default:
			end(i)
		}
	}
	end(len(s))
	return words
}

// fold makes spellings equal: lower case, no accents, no dots and apostrophes.
func fold(s string) string {
	plain := true
	for i := 0; i < len(s) && plain; i++ {
		c := s[i]
		plain = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
	}
	if plain { // most words
		return strings.ToLower(s)
	}
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r), r == '.', r == '\'', r == '’':
			return -1
		case r == 'ß':
			return 's'
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(s))
}

// unescape decodes the percent escapes of a URL where it can.
func unescape(s string) string {
	if u, err := url.QueryUnescape(s); err == nil {
		return u
	}
	return s
}

// names finds cities and states in texts.
type names struct {
	all     []City           // of the targets
	targets map[string][]int // folded name or alias, words joined by a space → targets
	best    map[string]int   // … → the most populous city of the name: a target, or -1
	state   map[string]string
	first   map[string]bool   // first words of all these
	longest int               // words of the longest name
	joined  map[string]string // name without spaces → name, for hosts
	within  map[string][]part // first letters → names that are searched inside labels
}

// A part is a name without spaces that may be part of a host's label.
type part struct {
	joined string
	target int
}

// A mention is a city's name in a text.
type mention struct {
	name       string // folded, as in names.targets
	state      string // code of the state beside it, or ""
	start, end int    // tokens of the name and the state
}

func newNames(targets []target, known []City) *names {
	n := &names{targets: map[string][]int{}, best: map[string]int{}, state: map[string]string{},
		first: map[string]bool{}, joined: map[string]string{}, within: map[string][]part{}}
	population := map[string]int{}
	spellings := func(c City) []string {
		var all []string
		for _, s := range append([]string{c.Name}, c.Aliases...) {
			if k := key(s); k != "" && !slices.Contains(all, k) {
				all = append(all, k)
			}
		}
		return all
	}
	learn := func(k string) {
		word, _, _ := strings.Cut(k, " ")
		n.first[word] = true
		n.longest = max(n.longest, strings.Count(k, " ")+1)
	}
	meet := func(c City, t int) {
		for _, k := range spellings(c) {
			learn(k)
			if p, ok := population[k]; !ok || c.Population > p {
				population[k], n.best[k] = c.Population, t
			}
			if t >= 0 {
				n.targets[k] = append(n.targets[k], t)
				n.joined[strings.ReplaceAll(k, " ", "")] = k
			}
		}
		if c.State != "" {
			n.state[fold(c.State)] = c.State
			learn(fold(c.State))
		}
		if c.StateName != "" {
			n.state[key(c.StateName)] = c.State
			learn(key(c.StateName))
		}
	}
	for i, t := range targets {
		n.all = append(n.all, t.City)
		meet(t.City, i)
	}
	for _, c := range known {
		meet(c, -1)
	}
	for joined, name := range n.joined {
		if t := n.best[name]; len(joined) >= shortest && t >= 0 {
			n.within[joined[:shortest]] = append(n.within[joined[:shortest]], part{joined, t})
		}
	}
	return n
}

// key is a name as its folded words.
func key(name string) string {
	var words []string
	for _, t := range tokens(name, false) {
		words = append(words, t.text)
	}
	return strings.Join(words, " ")
}

// at returns the longest of the names in a table that begins at token i, and
// its end.
func at[V any](n *names, words []token, i int, table map[string]V) (name string, end int) {
	text := words[i].text
	if !n.first[text] {
		return "", i
	}
	for j := i; ; {
		if _, ok := table[text]; ok {
			name, end = text, j+1
		}
		j++
		if j == len(words) || j == i+n.longest {
			return name, end
		}
		text += " " + words[j].text
	}
}

// stateAt returns the state whose code or name begins at token i. A code of
// two letters must be written in capitals: "in" and "or" are words.
func (n *names) stateAt(words []token, i int) (code string, end int) {
	name, end := at(n, words, i, n.state)
	if name == "" || len(name) <= 2 && !words[i].upper {
		return "", i
	}
	return n.state[name], end
}

// mentions returns the cities that a text names, in order, none overlapping.
// A state right behind a city belongs to it.
func (n *names) mentions(words []token) []mention {
	var found []mention
	for i := 0; i < len(words); {
		name, end := at(n, words, i, n.best)
		if name == "" || len(name) <= 2 && !words[i].upper { // "LA" but not "la"
			i++
			continue
		}
		m := mention{name: name, start: i, end: end}
		if end < len(words) {
			if code, after := n.stateAt(words, end); code != "" {
				m.state, m.end = code, after
			}
		}
		found = append(found, m)
		i = m.end
	}
	return found
}

// states returns the codes of the states that a text names apart from the
// cities that it mentions.
func (n *names) states(words []token, cities []mention) []string {
	var found []string
	for i := 0; i < len(words); {
		if len(cities) > 0 && i >= cities[0].start {
			i, cities = cities[0].end, cities[1:]
			continue
		}
		code, end := n.stateAt(words, i)
		if code == "" {
			i++
			continue
		}
		found = append(found, code)
		i = end
	}
	return found
}

// resolve returns the target that a mention is about: the pair where it names
// a state, else the most populous city of the name, if that is a target.
func (n *names) resolve(m mention) (target int, ok bool) {
	if m.state != "" {
		return n.pair(m)
	}
	t := n.best[m.name]
	return t, t >= 0
}

// pair returns the target of a mention with its state.
func (n *names) pair(m mention) (target int, ok bool) {
	for _, t := range n.targets[m.name] {
		if n.all[t].State == m.state {
			return t, true
		}
	}
	return 0, false
}

// find returns the target of a city and the code or name of its state; an
// empty state is the most populous city's.
func (n *names) find(city, state string) (target int, ok bool) {
	m := mention{name: key(city)}
	if _, ok := n.best[m.name]; !ok {
		return 0, false
	}
	if state != "" {
		m.state, ok = n.state[key(state)]
		if !ok {
			return 0, false
		}
	}
	return n.resolve(m)
}

// shortest is the length of the shortest name that is looked for inside a
// host's label, where any letters may stand around it.
const shortest = 6

// inside finds the longest target name that is part of a host's label, as in
// "houston-guide" and "visitlosangeles".
func (n *names) inside(label string) (target int, ok bool) {
	label = strings.ReplaceAll(fold(label), "-", "")
	best := part{target: -1}
	for i := 0; i+shortest <= len(label); i++ {
		for _, p := range n.within[label[i:i+shortest]] {
			if strings.HasPrefix(label[i:], p.joined) && (len(p.joined) > len(best.joined) ||
				len(p.joined) == len(best.joined) && p.joined < best.joined) {
				best = p
			}
		}
	}
	return max(best.target, 0), best.target >= 0
}

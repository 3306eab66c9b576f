package index

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gazehound/internal/kind"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search/query"
	"golang.org/x/net/publicsuffix"
)

// A query typed into one box may contain more than words of pages, which is extracted here: kinds
// of places ("dentist"), opening times ("open now"), the reader's surroundings ("near me"), a
// telephone number, a host or a URL. A text with a quotation mark is searched for its words only.

// understand extracts these parts from the words.
func (s *searcher) understand(now time.Time) (err error) {
	literal := s.q.literal()
	if !literal {
		s.readOpening(now)
		s.words, s.me = nearMe(s.words)
		if s.me && s.q.Center != nil && s.q.Sort == Relevance {
			s.q.Sort = Distance
		}
		err := s.lookUp()
		if err != nil {
			return err
		}
	}
	s.near, err = s.resolveNear()
	if err != nil || literal {
		return err
	}
	return s.noteKinds()
}

// respell lets words be found that pages part otherwise: "dell angelo" and "fahrrad laden" also where
// they are one word, and "dell'angelo", where no page joins it, as two.
func (s *searcher) respell() {
	isKnown := func(term string) bool { return s.view.count(fieldWords, term) > 0 }
	var words []word
	for _, w := range s.words {
		parts := strings.FieldsFunc(w.raw, func(r rune) bool { return strings.ContainsRune(joining, r) })
		if len(parts) > 1 && !slices.ContainsFunc(w.terms, isKnown) {
			words = append(words, splitQuery(strings.Join(parts, " "))...)
		} else {
			words = append(words, w)
		}
	}
	s.words = words[:min(len(words), MaxQueryWords)]
	for i := 1; i < len(s.words); i++ {
		a, b := &s.words[i-1], &s.words[i]
		if isNumber(a.raw[:1]) || isNumber(b.raw[:1]) {
			continue
		}
		for _, term := range forms(a.raw + b.raw) {
			if len(term) <= maxWord && isKnown(term) {
				a.terms, b.terms = append(a.terms, term), append(b.terms, term)
			}
		}
	}
}

// maxNameWords is how many words of a query may be the name of a place that has others.
const maxNameWords = 3

// otherNames lets the words of a place's name find its other names: "bozen" also bolzano. The rarest
// word of a name stands for it, museo for via Museo.
func (s *searcher) otherNames() {
	if s.q.OtherNames == nil {
		return
	}
	for from := range s.words {
		for to := min(from+maxNameWords, len(s.words)); to > from; to-- {
			named := s.words[from:to]
			if isNumber(named[0].terms[0]) || named[0].minor && len(named) == 1 {
				continue
			}
			for _, name := range s.q.OtherNames(strings.Join(raws(named), " ")) {
				rarest := s.rarest(name)
				if rarest == "" || slices.ContainsFunc(named, func(w word) bool { return slices.Contains(w.terms, rarest) }) {
					continue
				}
				for i := range named {
					named[i].terms = append(named[i].terms, rarest)
				}
			}
		}
	}
}

// leastName is how many letters a word has that stands for a name.
const leastName = 4

// rarest returns the word of a name that the fewest addresses have; "" where none has one of them.
func (s *searcher) rarest(name string) (term string) {
	least := 0
	for _, w := range wordsOf(name) {
		n := s.view.count(s.dictionary(), w)
		if n > 0 && utf8.RuneCountInString(w) >= leastName && (term == "" || n < least) {
			term, least = w, n
		}
	}
	return term
}

// literal reports whether the text is searched for its words only.
func (q *Query) literal() bool { return q.AddressOnly || strings.ContainsRune(q.Text, '"') }

// surroundings are the phrases for "near me". Those that do not name the reader are
// such only at the end: "in der Nähe vom Bahnhof" is elsewhere.
var surroundings = []struct {
	words string
	mine  bool
}{
	{"near me", true}, {"close to me", true}, {"around me", true}, {"in meiner nahe", true}, {"nahe mir", true},
	{"um mich herum", true}, {"in meiner umgebung", true},
	{"in der nahe", false}, {"nearby", false}, {"in der umgebung", false},
}

// nearMe extracts a phrase for the reader's surroundings from words.
func nearMe(words []word) (rest []word, me bool) {
	var text []string
	for _, w := range words {
		text = append(text, w.terms[0])
	}
	for _, s := range surroundings {
		phrase := strings.Fields(s.words)
		for i := 0; i+len(phrase) <= len(words); i++ {
			if end := i + len(phrase); slices.Equal(text[i:end], phrase) && (s.mine || end == len(words)) {
				return slices.Concat(words[:i], words[end:]), true
			}
		}
	}
	return words, false
}

var (
	phoneLabel  = regexp.MustCompile(`(?i)^(tel|telefon|telephone|phone|fon|call|fax|mobil|handy)\b[.:\s]*`)
	phoneText   = regexp.MustCompile(`^\+?[(0-9][0-9\s()/.\-–]*$`)
	hostText    = regexp.MustCompile(`^([\p{L}0-9-]{1,63}\.)+[\p{L}][\p{L}0-9-]{1,62}$`)
	leastDigits = 6 // of a telephone number: a postcode has less
)

// phoneDigits returns the digits of a text that is a telephone number, without the
// zeros or the code that stand for a trunk or a call abroad; "" where it is none.
func phoneDigits(text string) string {
	text = strings.ReplaceAll(phoneLabel.ReplaceAllString(strings.TrimSpace(text), ""), "(0)", "")
	if !phoneText.MatchString(text) {
		return ""
	}
	digits := strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, text)
	digits = strings.TrimLeft(digits, "0")
	if len(digits) < leastDigits || len(digits) > 15 {
		return ""
	}
	return digits
}

// reversed is how telephone numbers are indexed: what somebody types of one is its
// end, with or without the codes of country and area.
func reversed(digits string) string {
	b := []byte(digits)
	slices.Reverse(b)
	return string(b)
}

// hostAndURL returns the host that a text names as such, as a URL or behind the
// @ of a mail address, and the URL; "" where it names none.
func hostAndURL(text string) (host, page string) {
	text = strings.TrimSpace(text)
	if strings.ContainsAny(text, " \t\n") {
		return "", ""
	}
	if _, domain, ok := strings.Cut(text, "@"); ok {
		text = domain
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || !hostText.MatchString(u.Hostname()) {
		return "", ""
	}
	return strings.ToLower(u.Hostname()), u.String()
}

// lookUp sets s.direct for a text that is a telephone number, a host or a URL.
func (s *searcher) lookUp() error {
	if digits := phoneDigits(s.q.Text); digits != "" {
		s.direct = atLeast(fieldPhone, reversed(digits))
		return nil
	}
	host, page := hostAndURL(s.q.Text)
	if host == "" {
		return nil
	}
	bare := strings.TrimPrefix(host, "www.")
	hosts := []string{bare, "www." + bare}
	if suffix, icann := publicsuffix.PublicSuffix(bare); icann && suffix == bare {
		return nil
	}
	var of alternatives
	of.add(fieldOwn, 1, hosts...)
	of.add(fieldHost, 0, hosts...)
	of.add(fieldSite, 0, bare)
	s.direct = &of
	states, err := s.statedBy(page)
	if err == nil && len(states) > 0 {
		s.direct = these(states)
	}
	return err
}

// statedBy returns the IDs of the addresses that a page states, whichever way its
// scheme and host are written.
func (s *searcher) statedBy(page string) (ids []string, err error) {
	_, rest, _ := strings.Cut(page, "://")
	bare := strings.TrimPrefix(rest, "www.")
	if strings.Trim(bare, "/") == hostOf("http://"+bare) {
		return nil, nil // a host and no page
	}
	for _, start := range []string{"http://", "https://", "http://www.", "https://www."} {
		p, err := pageOf(s.view, pageID(start+bare))
		if err != nil {
			return nil, err
		}
		if p == nil {
			continue
		}
		ids = append(ids, p.States[:min(len(p.States), MaxLimit)]...)
	}
	return ids, nil
}

// atLeast is the query for keywords that begin so.
func atLeast(field, start string) query.Query {
	name, term := termOf(field, start)
	q := query.NewPrefixQuery(term)
	q.SetField(name)
	return unscored{q}
}

// noteKinds marks the words that mean kinds of places.
func (s *searcher) noteKinds() (err error) {
	var raws []string
	var words []*word
	for i := range s.words {
		if w := &s.words[i]; !w.minor {
			raws, words = append(raws, w.raw), append(words, w)
		}
	}
	if len(raws) == 0 {
		return nil // without the table of kinds, which takes 15 ms to read
	}
	found := kind.InQuery(raws)
	other := slices.ContainsFunc(found, func(kinds []string) bool { return !slices.Equal(kinds, found[0]) })
	s.pure = !other && len(found[0]) > 0
	for i, w := range words {
		w.kinds = found[i]
		if !s.pure {
			continue
		}
		for _, k := range w.kinds {
			w.alike = append(w.alike, kind.Alike(k)...)
		}
		w.signs, err = s.signs(w.kinds)
		if err != nil {
			return err
		}
	}
	return nil
}

// A word of names is a sign of a kind where so many of the places of that kind have
// it, and hardly one of another kind: "Gasthaus", of restaurants.
const (
	leastSigns   = 2
	leastOfKind  = 0.2
	leastOfNamed = 0.8
	maxSigns     = 10
)

// signs returns the words in names that are signs of kinds.
func (s *searcher) signs(kinds []string) (signs []string, err error) {
	if len(kinds) == 0 {
		return nil, nil
	}
	request := bleve.NewSearchRequestOptions(has(fieldKind, kinds...), 0, 0, false)
	request.Score = "none"
	request.AddFacet(fieldNamed, bleve.NewFacetRequest(fieldNamed, maxSigns))
	found, err := s.run(s.ctx, request)
	if err != nil {
		return nil, err
	}
	for _, t := range found.Facets[fieldNamed].Terms.Terms() {
		if t.Count < leastSigns || float64(t.Count) < leastOfKind*float64(found.Total) {
			continue
		}
		named, unknown := has(fieldNamed, t.Term), has(fieldKindless, yes)
		known := query.NewBooleanQuery([]query.Query{named}, nil, []query.Query{unknown})
		all, err := s.count(known)
		if err != nil {
			return nil, err
		}
		if float64(t.Count) >= leastOfNamed*float64(all) {
			signs = append(signs, t.Term)
		}
	}
	return signs, nil
}

// kinds returns the kinds of which the index has places that the words ask for.
func (s *searcher) kinds() (all []string) {
	for _, w := range s.words {
		for _, k := range w.kinds {
			if !slices.Contains(all, k) && s.view.count(fieldKind, k) > 0 {
				all = append(all, k)
			}
		}
	}
	return all
}

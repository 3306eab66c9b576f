package predictor

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gazehound/internal/recent"
)

// Bounds of a valueModel.
const (
	rateSlots = 1 << 17 // rates of hosts, and of shapes; an LRU
	maxLogit  = 12      // largest absolute log-odds of a value
)

// How fast the weights follow what is learned; see AdaGrad, Duchi, Hazan & Singer 2011.
const (
	step       = 0.05
	calm       = 0.01 // added to the sum of squared gradients of a weight
	rateWeight = 4    // pages that the global rate counts in the rate of a host
)

// How the log-odds of a term are estimated from counts.
const (
	quanta     = 16  // counts of one link by value, shared by the two classes
	termWeight = 1.5 // links that the share of all links counts in that of a term
	maxTerm    = 3   // largest absolute log-odds of a term
	priorLinks = 5   // links of no value that are learned before the first
	trustLinks = 1   // links of value 1 from which evidence against a link counts in full
)

// The inputs of the regression: what every link has, then the evidence of its terms by family, first
// that of the classifier of values, then those of the depths.
const (
	inputPrior = iota
	inputNear
	inputHost
	inputShape
	inputVisits
	inputTerms // of the first family; those of the others follow
	inputs     = inputTerms + (1+MaxDepth)*len(families)
)

// inputName returns the name of an input that is no evidence of terms.
func inputName(i int) string {
	return [...]string{"prior", "near", "host rate", "shape rate", "visits"}[i]
}

// warm returns the initial weights: without terms a link of a relevant page has the value 0.38, one
// behind a bridge page 0.18, far ones 0.08. The evidence of terms counts nearly in full for values;
// what the depths and the places of links add to it is learned.
func warm() (w [inputs]float64) {
	w = [inputs]float64{inputPrior: -2.5, inputNear: 2, inputHost: 0.5, inputShape: 0.5}
	for i, family := range families {
		if family.name != "place" { // what a place means differs between sites
			w[inputTerms+i] = 0.8
		}
	}
	return w
}

// contactWords name the pages on which sites state their address, in the languages of the countries
// whose addresses the geoparser reads. They are known from contactLinks links of value 1 each, in
// anchor, title and path; learning soon outweighs it.
const (
	contactWords = "contact contacts contactus imprint address directions location locations " + // English
		"kontakt impressum adresse adressen anfahrt standort standorte " + // German, Danish
		"coordonnées coordonnees adresses accès acces " + // French
		"contatti contatto indirizzo sede " + // Italian
		"contacto dirección direccion ubicación ubicacion " + // Spanish
		"adres colofon" // Dutch
	contactLinks = 10
)

var contactFamilies = [...]string{"path:", "anchor:", "title:"}

// Expect makes a model that has not seen links to a place prefer those that name it, as if it had learned
// contactLinks links of value 1 with the longest word of each name in path, anchor, title and the words
// around. Names of digits, such as postcodes, are left out: terms have no digits.
func (m *Model) Expect(names []string) {
	m.value.mu.Lock()
	defer m.value.mu.Unlock()
	seen := map[string]bool{}
	for _, name := range names {
		word := longestWord(name)
		if word == "" || seen[word] {
			continue
		}
		seen[word] = true
		for _, family := range [...]string{"path:", "anchor:", "title:", "around:"} {
			m.value.terms.observe(family+word, contactLinks*quanta, 0)
		}
	}
}

// longestWord returns that of a name as Terms writes it, "" if it has digits.
func longestWord(name string) string {
	longest := ""
	for _, term := range Terms(Link{Anchor: name}) {
		word, ok := strings.CutPrefix(term, "anchor:")
		if ok && len(word) > len(longest) && !strings.Contains(word, "0") {
			longest = word
		}
	}
	return longest
}

// A valueModel predicts the value of a link: 1 when it leads to a relevant page,
// and a discounted part of what is behind it when it leads to a bridge page.
//
// Words are learned by naive Bayes classifiers alone: those of the depths, and one that counts each
// link in both classes, as its value says. How far the evidence of each of them and of each family of
// terms, the distance from the last relevant page and the rates of host and shape can be trusted is
// learned by a logistic regression with a weight for each (as Raina, Shen, Ng & McCallum 2003 join
// naive Bayes models of the parts of a text), from every judged page at once (AdaGrad). It is safe
// for concurrent use.
type valueModel struct {
	mu      sync.RWMutex
	parts   Parts           // that are left out
	learned int             // links
	weights [inputs]float64 // of the inputs
	slopes  [inputs]float64 // sums of squared gradients
	terms   *classifier     // counts in quanta
	all     rate
	hosts   rates
	shapes  rates
}

func newValueModel(o Options) *valueModel {
	w := &valueModel{
		parts: o.Without, weights: warm(), terms: newClassifier(o), hosts: newRates(), shapes: newRates(),
	}
	for word := range strings.FieldsSeq(contactWords) {
		for _, family := range contactFamilies {
			if !o.WithoutContacts {
				w.terms.observe(family+word, contactLinks*quanta, 0)
			}
		}
	}
	return w
}

// A features value is the feature vector of a link at one moment.
type features struct {
	input [inputs]float64
	terms []termEvidence // nil: not asked for
	host  uint64
	shape uint64
}

// A termEvidence is what a term says of a link, by one classifier.
type termEvidence struct {
	depth           int     // of the classifier, from 1; 0: that of values
	term            string  // as the classifier knows it
	input           int     // to which it belongs
	logOdds         float64 // its share in the input
	relevant, other float64 // links with the term, of values as far as they had one
}

// features returns the feature vector of a link with these terms, and what each term says where explained.
// m.mu and m.value.mu are held.
func (m *Model) features(l Link, terms []string, explained bool) features {
	w := m.value
	s := features{host: hash(l.Host), shape: hash(shapeOf(l))}
	if explained {
		s.terms = []termEvidence{}
	}
	s.input[inputPrior] = 1
	if !w.parts.Bridge {
		s.input[inputNear] = math.Pow(0.5, float64(max(l.Distance-1, 0)))
	}
	if !w.parts.Rates {
		s.input[inputHost] = w.lift(w.hosts.get(s.host))
		s.input[inputShape] = w.lift(w.shapes.get(s.shape))
		s.input[inputVisits] = math.Log1p(float64(w.hosts.get(s.host).Pages)) / 4
	}
	if !w.parts.Bayes {
		groups := groupsOf(terms)
		w.terms.evidence(&s, terms, groups, 0, quanta)
		for d, c := range m.depths {
			c.evidence(&s, terms, groups, d+1, 1)
		}
	}
	return s
}

// A group is what a term shares with those of its family.
type group struct {
	family int
	root   float64 // of the number of terms
}

// groupsOf returns the group of each term.
func groupsOf(terms []string) []group {
	groups := make([]group, len(terms))
	var n [len(families) + 1]float64
	for i, term := range terms {
		groups[i].family = familyOf(term)
		n[groups[i].family]++
	}
	for i := range groups {
		groups[i].root = math.Sqrt(n[groups[i].family])
	}
	return groups
}

// evidence adds to the inputs of s what each term says: log p(t|relevant)/p(t|other), where p(t|c) is the
// share of the links of class c that have the term, smoothed towards the share of all links, so that a term
// that nobody has met says nothing. The n terms of a family together are divided by √n, because they say
// much the same. Evidence against a link counts only once a link of value is known: until then every term
// has led nowhere, the more often the further. unit is the number of counts of a link.
func (c *classifier) evidence(s *features, terms []string, groups []group, depth int, unit float64) {
	known, relevant, other := c.resolve(terms)
	all := (float64(c.relevant) + unit) / (float64(c.relevant+c.other) + priorLinks*unit)
	usual := logit(all)
	weight := termWeight * unit
	trust := min(1, float64(c.relevant)/(trustLinks*unit))
	for i, term := range known {
		logOdds := 0.0
		if relevant[i]+other[i] > 0 {
			z := math.Log((relevant[i]+weight*all)/(other[i]+weight*(1-all))) - usual
			logOdds = bounded(z, maxTerm)
			if z < 0 {
				logOdds *= trust
			}
			logOdds /= groups[i].root
		}
		input := inputTerms + depth*len(families) + min(groups[i].family, len(families)-1)
		s.input[input] += logOdds
		if s.terms != nil {
			s.terms = append(s.terms, termEvidence{depth, term, input, logOdds, relevant[i] / unit, other[i] / unit})
		}
	}
}

// lift returns the log-odds of a rate, smoothed towards the global one, above those of the global
// one: 0 without data.
func (w *valueModel) lift(r rate) float64 {
	global := float64(w.all.Value+1) / float64(w.all.Pages+20)
	p := (float64(r.Value) + rateWeight*global) / (float64(r.Pages) + rateWeight)
	return bounded(logit(p)-logit(global), 5)
}

func logit(p float64) float64 {
	p = min(max(p, 1e-4), 1-1e-4)
	return math.Log(p / (1 - p))
}

func bounded(x, most float64) float64 { return max(-most, min(x, most)) }

// logOdds returns those of the value of s. w.mu is held.
func (w *valueModel) logOdds(s *features) float64 {
	z := 0.0
	for i, x := range s.input {
		z += w.weights[i] * x
	}
	return bounded(z, maxLogit)
}

// learn moves the weights towards target, and counts the page and the terms of the link to it. w.mu
// is held for writing.
func (w *valueModel) learn(s *features, terms []string, target float64) {
	gradient := sigmoid(w.logOdds(s)) - target
	for i, x := range s.input {
		if g := gradient * x; g != 0 {
			w.slopes[i] += g * g
			w.weights[i] -= step * g / math.Sqrt(w.slopes[i]+calm)
		}
	}
	n := int(math.Round(target * quanta))
	w.terms.relevant += n
	w.terms.other += quanta - n
	for _, term := range terms {
		w.terms.observe(term, n, quanta-n)
	}
	w.learned++
	w.all.count(target)
	w.hosts.count(s.host, target)
	w.shapes.count(s.shape, target)
}

// A rate counts judged pages, and adds up their values.
type rate struct{ Pages, Value float32 }

func (r *rate) count(value float64) {
	r.Pages++
	r.Value += float32(value)
}

// rates are those of many hosts or shapes, by hash.
type rates struct{ recent.Map[uint64, rate] }

func newRates() rates { return rates{recent.Map[uint64, rate]{Most: rateSlots}} }

func (r *rates) get(key uint64) rate {
	x, _ := r.Get(key)
	return x
}

func (r *rates) count(key uint64, value float64) {
	x := r.get(key)
	x.count(value)
	r.Put(key, x)
}

var digits = regexp.MustCompile(`[0-9]+`)

// shapeOf returns the host, path and query of a link with everything folded that differs between
// pages of one kind: digits, the last part of the path up to its extension, and the values of the
// query.
func shapeOf(l Link) string {
	path, query, _ := strings.Cut(l.Path, "?")
	last := strings.LastIndexByte(path, '/') + 1
	shape := l.Host + digits.ReplaceAllString(path[:last], "0")
	if name := path[last:]; name != "" {
		shape += "*"
		if dot := strings.IndexByte(name, '.'); dot >= 0 {
			shape += name[dot:]
		}
	}
	for part := range strings.SplitSeq(query, "&") {
		if key, _, _ := strings.Cut(part, "="); key != "" {
			shape += "&" + key
		}
	}
	return shape
}

// hash is FNV-1a with its bits mixed once more (64 bits).
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h ^ h>>32
}

// Value returns the expected value of a link: in (0, 1), never NaN. A relevant
// page has 1, another one a discounted part of the value of its own links.
func (m *Model) Value(l Link) float64 { return m.valueOf(l, Terms(l)) }

// valueOf is Value of a link that is known to have these terms.
func (m *Model) valueOf(l Link, terms []string) float64 {
	w := m.value
	m.mu.RLock()
	defer m.mu.RUnlock()
	w.mu.RLock()
	defer w.mu.RUnlock()
	s := m.features(l, terms, false)
	return sigmoid(w.logOdds(&s))
}

// LearnValue learns the value of the link with these terms when its page
// was judged: target, in [0, 1], is 1 for a relevant page. Call it before
// Learn for the same page, so that the features do not contain the answer.
func (m *Model) LearnValue(l Link, terms []string, target float64) {
	if !(target >= 0) { // NaN, too
		target = 0
	}
	w := m.value
	m.mu.RLock()
	defer m.mu.RUnlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	s := m.features(l, terms, false)
	w.learn(&s, terms, min(target, 1))
}

// CorrectValue is LearnValue for a link that was learned with another value, which it undoes in the
// counts of terms. What the weights and rates learned from it stays.
func (m *Model) CorrectValue(l Link, terms []string, was, target float64) {
	w := m.value
	w.mu.Lock()
	w.forget(terms, was)
	w.mu.Unlock()
	m.LearnValue(l, terms, target)
}

// forget undoes the counts of learn, unless they are too small to hold the link.
func (w *valueModel) forget(terms []string, value float64) {
	n := int(math.Round(max(0, min(value, 1)) * quanta))
	known, relevant, other := w.terms.resolve(terms)
	held := w.terms.relevant >= n && w.terms.other >= quanta-n
	for i := range known {
		held = held && relevant[i] >= float64(n) && other[i] >= float64(quanta-n)
	}
	if !held {
		return
	}
	w.terms.relevant -= n
	w.terms.other -= quanta - n
	for i, term := range known {
		if !slices.Contains(known[:i], term) {
			w.terms.observe(term, -n, n-quanta)
		}
	}
}

// A ValueExplanation shows how the value of a link is computed: LogOdds = the sum of Terms'
// LogOdds, and Value = 1/(1+exp(-LogOdds)).
type ValueExplanation struct {
	Value   float64 `json:"-"`
	LogOdds float64 `json:"log_odds"`
	// Terms are the inputs ("prior", "near", "host rate", …) and the terms of the link, the
	// strongest first. Relevant and Other count the judged pages behind a rate or a term; a bridge
	// page counts as a part of a relevant one, so they are rounded.
	Terms []TermWeight `json:"terms"`
}

// ExplainValue returns how Value computes its result.
func (m *Model) ExplainValue(l Link) ValueExplanation {
	terms := Terms(l)
	w := m.value
	m.mu.RLock()
	defer m.mu.RUnlock()
	w.mu.RLock()
	defer w.mu.RUnlock()
	s := m.features(l, terms, true)
	var e ValueExplanation
	sum := 0.0
	add := func(t TermWeight) {
		e.Terms = append(e.Terms, t)
		sum += t.LogOdds
	}
	for i := range inputTerms {
		t := TermWeight{Term: inputName(i), LogOdds: w.weights[i] * s.input[i]}
		var r rate
		switch i {
		case inputHost, inputVisits:
			r = w.hosts.get(s.host)
		case inputShape:
			r = w.shapes.get(s.shape)
		}
		t.Relevant = int(math.Round(float64(r.Value)))
		t.Other = int(r.Pages) - t.Relevant
		if t.LogOdds != 0 {
			add(t)
		}
	}
	for _, t := range s.terms {
		if t.depth == 0 || t.logOdds != 0 {
			add(TermWeight{Depth: t.depth, Term: t.term, LogOdds: w.weights[t.input] * t.logOdds,
				Relevant: int(math.Round(t.relevant)), Other: int(math.Round(t.other))})
		}
	}
	e.LogOdds = w.logOdds(&s)
	if rest := e.LogOdds - sum; math.Abs(rest) > 1e-9 {
		e.Terms = append(e.Terms, TermWeight{Term: "bound", LogOdds: rest})
	}
	e.Value = sigmoid(e.LogOdds)
	slices.SortStableFunc(e.Terms, byWeight)
	return e
}

package predictor

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gazehound/internal/recent"
)

// Bounds of a valueModel.
const (
	weightSlots = 1 << 20 // hashed weights of terms; terms that share a slot share its weight
	rateSlots   = 1 << 17 // rates of hosts, and of shapes; an LRU
	maxLogit    = 12      // largest absolute log-odds of a value
)

// How fast the weights follow what is learned; see AdaGrad, Duchi, Hazan &
// Singer 2011. Chosen on the webs of BenchmarkLookahead that are not reported.
const (
	wordStep   = 0.5
	inputStep  = 0.05
	wordCalm   = 0.01 // added to the sum of squared gradients of a term
	inputCalm  = 0.1  // the same of an input
	rateWeight = 4    // pages that the global rate counts in the rate of a host
)

// The inputs that every link has beside its terms.
const (
	inputPrior = iota
	inputNear
	inputHost
	inputShape
	inputVisits
	inputBayes // of depth 1; the other depths follow
	inputs     = inputBayes + MaxDepth
)

// inputName returns the name of an input for people.
func inputName(i int) string {
	if i >= inputBayes {
		return fmt.Sprintf("bayes depth %d", i-inputBayes+1)
	}
	return [...]string{"prior", "near", "host rate", "shape rate", "visits"}[i]
}

// warm are the initial weights: a link of a relevant page has the value 0.38, one behind a bridge
// page 0.18, far ones 0.08.
var warm = [inputs]float64{inputPrior: -2.5, inputNear: 2, inputHost: 0.5, inputShape: 0.5}

// contactWords name the pages on which sites state their address, in the languages of the countries
// whose addresses the geoparser reads. Their initial weight is contactWeight, in anchor, title and
// path of a link; learning soon outweighs it.
const (
	contactWords = "contact contacts contactus imprint address directions location locations " + // English
		"kontakt impressum adresse adressen anfahrt standort standorte " + // German, Danish
		"coordonnées coordonnees adresses accès acces " + // French
		"contatti contatto indirizzo sede " + // Italian
		"contacto dirección direccion ubicación ubicacion " + // Spanish
		"adres colofon" // Dutch
	contactWeight = 5
)

var contactFamilies = [...]string{"path:", "anchor:", "title:"}

// A valueModel predicts the value of a link: 1 when it leads to a relevant page,
// and a discounted part of what is behind it when it leads to a bridge page.
// It is a logistic regression that learns from every judged page at once
// (AdaGrad) over the terms of a link, hashed, and a few inputs that change
// while the crawl goes on. It is safe for concurrent use.
type valueModel struct {
	mu      sync.RWMutex
	learned int             // links
	weights [inputs]float64 // of the inputs
	slopes  [inputs]float64 // sums of squared gradients
	words   map[uint32]slot // the slots in use, which are few in most crawls
	all     rate
	hosts   rates
	shapes  rates
}

// A slot is the weight of the terms that share it, and the sum of its squared gradients.
type slot struct{ Weight, Slope float32 }

func newValueModel(withoutContacts bool) *valueModel {
	w := &valueModel{weights: warm, words: map[uint32]slot{}, hosts: newRates(), shapes: newRates()}
	for word := range strings.FieldsSeq(contactWords) {
		for _, family := range contactFamilies {
			if !withoutContacts {
				w.words[slotOf(family+word)] = slot{Weight: contactWeight}
			}
		}
	}
	return w
}

// slotOf returns the number of the slot of a term.
func slotOf(term string) uint32 { return uint32(hash(term) % weightSlots) }

// A features value is the feature vector of a link at one moment.
type features struct {
	input [inputs]float64
	slots []uint32 // of the terms
	scale float64  // of the terms: 1/√n
	host  uint64
	shape uint64
}

// features returns the feature vector of a link with these terms; bayes are the
// log-odds of the naive Bayes classifiers. w.mu is held.
func (w *valueModel) features(l Link, terms []string, bayes []float64) features {
	s := features{host: hash(l.Host), shape: hash(shapeOf(l)), scale: 1 / math.Sqrt(float64(max(len(terms), 1)))}
	s.input[inputPrior] = 1
	s.input[inputNear] = math.Pow(0.5, float64(max(l.Distance-1, 0)))
	s.input[inputHost] = w.lift(w.hosts.get(s.host))
	s.input[inputShape] = w.lift(w.shapes.get(s.shape))
	s.input[inputVisits] = math.Log1p(float64(w.hosts.get(s.host).Pages)) / 4
	for d, x := range bayes {
		s.input[inputBayes+d] = bounded(x, 8) / 2
	}
	for _, term := range terms {
		s.slots = append(s.slots, slotOf(term))
	}
	return s
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
	return bounded(z+w.evidence(s), maxLogit)
}

// evidence returns what the terms of s add to its log-odds. w.mu is held.
func (w *valueModel) evidence(s *features) float64 {
	sum := 0.0
	for _, at := range s.slots {
		sum += float64(w.words[at].Weight)
	}
	return sum * s.scale
}

// learn moves the weights towards target, and counts the page. w.mu is held for
// writing.
func (w *valueModel) learn(s *features, target float64) {
	gradient := sigmoid(w.logOdds(s)) - target
	for i, x := range s.input {
		if g := gradient * x; g != 0 {
			w.slopes[i] += g * g
			w.weights[i] -= inputStep * g / math.Sqrt(w.slopes[i]+inputCalm)
		}
	}
	for _, at := range s.slots {
		word, g := w.words[at], gradient*s.scale
		word.Slope += float32(g * g)
		word.Weight -= float32(wordStep * g / math.Sqrt(float64(word.Slope)+wordCalm))
		w.words[at] = word
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
	bayes := m.logOdds(terms)
	m.value.mu.RLock()
	defer m.value.mu.RUnlock()
	s := m.value.features(l, terms, bayes)
	return sigmoid(m.value.logOdds(&s))
}

// LearnValue learns the value of the link with these terms when its page
// was judged: target, in [0, 1], is 1 for a relevant page. Call it before
// Learn for the same page, so that the features do not contain the answer.
func (m *Model) LearnValue(l Link, terms []string, target float64) {
	if !(target >= 0) { // NaN, too
		target = 0
	}
	bayes := m.logOdds(terms)
	m.value.mu.Lock()
	defer m.value.mu.Unlock()
	s := m.value.features(l, terms, bayes)
	m.value.learn(&s, min(target, 1))
}

// logOdds returns the evidence of each depth for a link with these terms,
// divided by √n: 0 at a depth that has learned nothing.
func (m *Model) logOdds(terms []string) []float64 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	z := make([]float64, len(m.depths))
	for d, c := range m.depths {
		if len(terms) > 0 && (c.relevant > 0 || d == 0 && c.other > 0) {
			z[d] = c.evidence(terms) / math.Sqrt(float64(len(terms)))
		}
	}
	return z
}

// A ValueExplanation shows how the value of a link is computed: LogOdds = the sum of Terms'
// LogOdds, and Value = 1/(1+exp(-LogOdds)).
type ValueExplanation struct {
	Value   float64 `json:"-"`
	LogOdds float64 `json:"log_odds"`
	// Terms are the inputs ("prior", "near", "host rate", …) and the terms of the link, the
	// strongest first. Relevant and Other count the judged pages behind a rate; a bridge page
	// counts as a part of a relevant one, so they are rounded.
	Terms []TermWeight `json:"terms"`
}

// ExplainValue returns how Value computes its result.
func (m *Model) ExplainValue(l Link) ValueExplanation {
	terms := Terms(l)
	bayes := m.logOdds(terms)
	w := m.value
	w.mu.RLock()
	defer w.mu.RUnlock()
	s := w.features(l, terms, bayes)
	var e ValueExplanation
	sum := 0.0
	for i, x := range s.input {
		t := TermWeight{Term: inputName(i), LogOdds: w.weights[i] * x}
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
			e.Terms = append(e.Terms, t)
			sum += t.LogOdds
		}
	}
	for i, at := range s.slots {
		z := float64(w.words[at].Weight) * s.scale
		e.Terms = append(e.Terms, TermWeight{Term: terms[i], LogOdds: z})
		sum += z
	}
	e.LogOdds = w.logOdds(&s)
	if rest := e.LogOdds - sum; math.Abs(rest) > 1e-9 {
		e.Terms = append(e.Terms, TermWeight{Term: "bound", LogOdds: rest})
	}
	e.Value = sigmoid(e.LogOdds)
	slices.SortStableFunc(e.Terms, byWeight)
	return e
}

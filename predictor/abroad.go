package predictor

import "strings"

// abroadShare is the part, 1/abroadShare, of the links behind a word that still counts in another
// region, so that what is learned there soon outweighs it.
const abroadShare = 4

// Abroad returns a new model for the crawl of another region, with what m has learned of words. The
// terms and rates of hosts belong to the old region, and so do the weights, which followed its crawl:
// they start afresh.
func (m *Model) Abroad() *Model {
	words := m.Without(ofHost)
	o := words.options
	abroad := emptyModel(o, newValueModel(o))
	abroad.value.terms = words.value.terms.scaled(abroadShare)
	for d, c := range words.depths {
		abroad.depths[d] = c.scaled(abroadShare)
	}
	return abroad
}

// Abroad returns the example for the model of another region: its terms without those of hosts, and
// its link on a host that no link of that region has.
func (e Example) Abroad() Example {
	e.Link.Host += " abroad"
	trail := make([][]string, len(e.Trail))
	for i, terms := range e.Trail {
		for _, term := range terms {
			if !ofHost(term) {
				trail[i] = append(trail[i], term)
			}
		}
	}
	e.Trail = trail
	return e
}

// ofHost reports whether a term names a host, or a folder under its host.
func ofHost(term string) bool {
	family, word, _ := strings.Cut(term, ":")
	return family == "host" || family == "path" && strings.Contains(word, "/")
}

// scaled returns a copy of c in which all counts are divided, and terms without a count left out.
func (c *classifier) scaled(divisor int) *classifier {
	k := newClassifier(c.options)
	k.relevant, k.other = c.relevant/divisor, c.other/divisor
	relevant, other := c.counts(c.terms)
	for i, term := range c.terms {
		r, o := int(relevant[i])/divisor, int(other[i])/divisor
		if r+o > 0 {
			k.observe(term, r, o)
		}
	}
	return k
}

package place

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A feature is one piece of evidence for or against a name, 0 to 1. Those
// before bias say where a candidate comes from.
type feature uint8

const (
	stated     feature = iota // by markup, for this very address
	prefix                    // before the address in its line
	leadIn                    // behind a preposition in the sentence that states the address: "bei X,"
	above1                    // the first line above it
	above2                    // the second
	aboveMore                 // one further up
	siteName                  // og:site_name and the like
	title1                    // first part of the title
	titleOther                // another part of it
	logo                      // text of the logo
	rights                    // holder of the copyright
	legalLine                 // a line of the page with a legal form
	firstLine                 // one of the first lines of a plain text
	domainLine                // a line of a plain text that agrees with its domain
	bias
	domain
	mailDomain // agrees with the domain of a mail or web address near by, or of most in a text without host
	noDomain   // the host is not known
	legal
	orgWord
	person
	job
	userName // looks like a person's name, on a page in the folder of a person
	branchWords
	branchOnly // nothing but words that say which one it is
	phrase
	part
	labels
	oneWord
	digits
	link
	heading
	repeats
	supported
	listSite
	listNear
	tenantsSite
	tenantsNear
	tenantsHeading
	practises   // a person whose trade is named right below
	trade       // such a trade
	rival       // of the site, where the block of the address names another organisation
	venue       // of the site, where the sentence that states the address names a place: "at Grote Hall,"
	section     // of the site, where the section is about somebody that the page must name
	privacySite // of the site, on a page of privacy where nothing says that the address is its own
	abroad      // of the site, where the address is in another country
	foreign     // of the site, where a mail or web address beside the address is somebody else's
	features    // their number
)

// leastScore is the probability from which a name is given. Below .5 lie few names, most of them right.
const leastScore = 0.45

// leastEntry is that for an entry of a directory: the others show that each has a name of its own.
const leastEntry = 0.33

// weights are what each feature adds to the log-odds that a candidate is right, in the order of the features
// above. "go test ./geoparse -run EvalNames -learn" writes them, from pages on which people marked the names.
var featureNames, weights = readWeights(weightsFile)

//go:embed weights.tsv
var weightsFile string

// readWeights reads lines of a name and its weight.
func readWeights(text string) (names []string, weights []float64) {
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
		w, err := strconv.ParseFloat(value, 64)
		if err != nil {
			panic(fmt.Sprintf("place: %q is not a weight", line))
		}
		names, weights = append(names, name), append(weights, w)
	}
	return names, weights
}

func (c *candidate) score() float64 {
	sum := 0.0
	for f, v := range c.features {
		sum += weights[f] * v
	}
	return 1 / (1 + math.Exp(-sum))
}

func (c *candidate) reasons() []Reason {
	var all []Reason
	for f, v := range c.features {
		if v != 0 {
			all = append(all, Reason{featureNames[f], weights[f] * v})
		}
	}
	return all
}

// An Example is one candidate for the name of what is at an address, with its
// features in the order of Features: what the weights are learned from.
type Example struct {
	Text     string
	Features []float64
}

// Features are the names of the features.
func Features() []string { return featureNames }

// Examples returns the candidates for one address.
func (p *Page) Examples(a Around) []Example {
	var all []Example
	found, _ := p.candidates(a)
	for _, c := range found {
		all = append(all, Example{c.text, append([]float64(nil), c.features[:]...)})
	}
	return all
}

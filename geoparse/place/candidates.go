package place

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

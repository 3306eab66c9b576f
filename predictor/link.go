// Package predictor learns, page by page, which links lead to relevant pages. It holds one naive
// Bayes classifier for each prediction depth (Ahlers & Boll 2009, sections 4.4 and 4.5). Start with
// [Model]; value.go predicts the value of a link for lookahead.
package predictor

// How many links a prediction looks ahead.
const (
	DefaultDepths = 3 // as published: more did not help there
	MaxDepth      = 6
)

// A Link has the features of a link that are known before its target is fetched.
type Link struct {
	Host   string // of the target, with port where it has one
	Path   string // of the target, escaped, with "?query" where it has one
	Anchor string // words of the link
	Title  string // title attribute
	Around string // words around the link
	// Place is the zone of the page and the tag path of the link, from the root, each element with
	// id and classes: "menu html body nav.top ul li a". "": not known
	Place  string
	Switch bool // source and target lie on different sites

	Distance int // links since the last relevant page, ≥ 1; not used by Terms
}

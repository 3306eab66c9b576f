// Package predictor learns, page by page, which links lead to relevant pages.
// It holds one naive Bayes classifier for each prediction depth (Ahlers & Boll
// 2009, sections 4.4 and 4.5).
package predictor

// How many links a prediction looks ahead.
const (
	DefaultDepths = 3 // as published: more did not help there
	MaxDepth      = 6
)

// A Link is what is known of a link before its target is fetched.
type Link struct {
	Host   string // of the target, with port where it has one
	Path   string // of the target, escaped, with "?query" where it has one
	Anchor string // words of the link
	Title  string // title attribute
	Around string // words around the link
	Switch bool   // source and target lie on different sites

	Distance int // links since the last relevant page, ≥ 1; of no account to Terms
}

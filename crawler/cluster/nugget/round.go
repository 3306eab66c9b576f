package nugget

// A Round is an agent's part in one order: which of its pages the turns let it fetch, and when it
// publishes.
type Round struct {
	*Agent
	// InTurn is the paper's turn-taking: the parts of all agents are fetched one after the other, and an
	// agent publishes its next nugget once it has fetched the part before; after its last part it says
	// that it has no more. Otherwise the better half of all parts is fetched at once, as soon as all turns
	// are known; this is our own.
	InTurn bool
	Turns  []Nugget // taken so far
	Due    bool     // in turn: publishes again once the pages of its last turn were begun

	granted bool // the better half
}

// Settle takes the turns that are known, and returns how many of the agent's parts may be fetched from
// now on, and the pages in them. With publish, the agent has to publish its next nugget and to settle
// again.
func (r *Round) Settle() (parts, pages int, publish bool) {
	for n, ok := r.Turn(); ok; n, ok = r.Turn() {
		r.Turns = append(r.Turns, n)
		if r.InTurn {
			r.done[n.Agent] = false // not before it says so
		}
		switch {
		case n.Agent != r.id:
		case r.InTurn:
			parts, pages, r.Due = parts+1, pages+r.sizes[n.Part], true
		case !n.Last:
			return 0, 0, true
		}
	}
	if r.InTurn || r.granted || !r.Over() {
		return parts, pages, false
	}
	r.granted = true
	for _, n := range r.Turns[:(len(r.Turns)+1)/2] {
		if n.Agent == r.id {
			parts, pages = parts+1, pages+r.sizes[n.Part]
		}
	}
	return parts, pages, false
}

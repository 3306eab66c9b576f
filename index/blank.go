package index

// BlankText blanks all of d.Text but its addresses, for pages marked noarchive: addresses are
// facts, the words around them would be a copy.
func (d *Document) BlankText() {
	all := []rune(d.Text)
	kept := make([]rune, len(all))
	for i := range kept {
		kept[i] = ' '
	}
	for _, a := range d.Addresses {
		if from, to := max(0, a.Start), min(a.End, len(all)); from < to {
			copy(kept[from:to], all[from:to])
		}
	}
	d.Text = string(kept)
}

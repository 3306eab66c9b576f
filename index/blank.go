package index

// BlankText blanks all of d.Text but the addresses in it: of a page that wants no
// copy kept, they are what is known, and the words around them a copy.
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

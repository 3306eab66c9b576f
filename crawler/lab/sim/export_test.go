package sim

// Each calls fn with every page that is known, with its number.
func (w *Web) Each(fn func(n int32, p Page)) {
	for i := range w.pages {
		fn(int32(i), w.pages[i])
	}
}

package frontier

// SetMinFree changes Options.MinFree of an open frontier.
func (f *Frontier) SetMinFree(bytes int64) { f.options.MinFree = bytes }

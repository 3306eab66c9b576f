package index

type suggestions struct{}

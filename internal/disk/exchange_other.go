//go:build !linux

package disk

// Exchange gives two directories beside each other each other's name. A process that is killed
// meanwhile may leave the second as NAME.old.
func Exchange(a, b string) error { return exchangeInSteps(a, b) }

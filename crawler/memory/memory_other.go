//go:build !linux

package memory

func giveBack([]string) {}

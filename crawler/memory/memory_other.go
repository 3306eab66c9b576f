//go:build !linux

package memory

func (k *keeper) giveBack(int64) {}

func (k *keeper) end() {}

func program() [][2]uint64 { return nil }

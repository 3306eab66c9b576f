//go:build !linux

package monitor

import "runtime"

// memoryUse returns the bytes of heap and stacks that the Go runtime holds. Mapped files are unknown
// on this system: 0.
func memoryUse() (anonymous, mapped int64) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased), 0
}

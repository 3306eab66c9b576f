//go:build !linux

package monitor

import "runtime"

// memoryUse returns what the Go runtime has from the system, in bytes: heap and stacks. What is
// mapped from files is not known here and 0.
func memoryUse() (anonymous, mapped int64) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased), 0
}

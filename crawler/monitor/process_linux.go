package monitor

import (
	"fmt"
	"os"
)

// memoryUse returns the resident memory of this process in bytes: anonymous (heap,
// stacks, buffers), and mapped from files, which the system takes back when it
// needs room. Both are 0 where the system does not say.
func memoryUse() (anonymous, mapped int64) {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, 0
	}
	var size, resident, shared int64 // pages
	if _, err := fmt.Sscan(string(statm), &size, &resident, &shared); err != nil {
		return 0, 0
	}
	page := int64(os.Getpagesize())
	return (resident - shared) * page, shared * page
}

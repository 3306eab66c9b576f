package monitor

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
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

// processorTime returns what the process has computed, on all cores together.
func processorTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// DiskFree returns the bytes that may still be written below dir.
func DiskFree(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return s.Bavail * uint64(s.Bsize), nil
}

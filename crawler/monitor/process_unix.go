//go:build unix

package monitor

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime returns what the process has computed, on all cores together.
func processorTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

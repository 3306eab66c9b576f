package machine

import "math"

// memory returns the memory of the machine in bytes; 0, not known, on Windows.
func memory() int64 { return 0 }

// openFiles returns how many files the process may have open at once: Windows has no limit.
func openFiles() (uint64, error) { return math.MaxUint64, nil }

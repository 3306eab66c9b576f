//go:build unix

package machine

import "golang.org/x/sys/unix"

// openFiles returns how many files the process may have open at once.
func openFiles() (uint64, error) {
	var limit unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit)
	return uint64(limit.Max), err
}

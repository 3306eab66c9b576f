//go:build unix

package disk

import (
	"fmt"
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// Free returns the bytes that this user may still write below dir.
func Free(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return uint64(max(s.Bavail, 0)) * uint64(s.Bsize), nil
}

// Writable returns why no file can be made in dir, or nil.
func Writable(dir string) error { return unix.Access(dir, unix.W_OK) }

// Allocated returns the bytes that a file takes on the disk: less than its size where it has holes.
func Allocated(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * 512
	}
	return info.Size()
}

// lockName returns the file to lock for a directory: the directory itself.
func lockName(dir string) string { return dir }

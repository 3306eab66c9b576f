package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// Free returns the bytes that this user may still write below dir.
func Free(dir string) (uint64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return free, nil
}

// Writable returns why no file can be made in dir, or nil. Only making one shows that.
func Writable(dir string) error {
	f, err := os.CreateTemp(dir, "gazehound-*.tmp")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Allocated returns the bytes that a file takes on the disk: here its size, holes included.
func Allocated(info fs.FileInfo) int64 { return info.Size() }

// lockName returns the file to lock for a directory, which itself cannot be locked.
func lockName(dir string) string { return filepath.Join(dir, DirLock) }

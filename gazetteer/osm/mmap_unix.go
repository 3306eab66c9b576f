//go:build unix

package osm

import (
	"os"
	"syscall"
)

// mapFile maps the first n bytes of f for reading and writing.
func mapFile(f *os.File, n int) (data []byte, unmap func(), err error) {
	data, err = syscall.Mmap(int(f.Fd()), 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return data, func() { syscall.Munmap(data) }, nil
}

//go:build !unix

package osm

import (
	"io"
	"os"
	"unsafe"
)

// mapFile reads the first n bytes of f into memory; n is a multiple of 8.
func mapFile(f *os.File, n int) (data []byte, unmap func(), err error) {
	words := make([]uint64, n/8+1) // aligned for numbers
	data = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), n)
	if _, err := f.ReadAt(data, 0); err != nil && err != io.EOF {
		return nil, nil, err
	}
	return data, func() {}, nil
}

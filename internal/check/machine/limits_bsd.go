//go:build darwin || freebsd

package machine

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// memory returns the memory of the machine in bytes; 0 where it is not known.
func memory() int64 {
	name := "hw.physmem"
	if runtime.GOOS == "darwin" {
		name = "hw.memsize"
	}
	have, err := unix.SysctlUint64(name)
	if err != nil {
		return 0
	}
	return int64(have)
}

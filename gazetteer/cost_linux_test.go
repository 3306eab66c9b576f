package gazetteer

import (
	"os"
	"syscall"
	"time"
)

// cpuTime returns the processor time that this process has used.
func cpuTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// dropFromCache has the system forget what it holds of the mapped file in
// memory, so that a look-up reads from the disk. It reports whether it could.
func dropFromCache(g *Gazetteer, path string) bool {
	const dontNeed = 4 // POSIX_FADV_DONTNEED
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	if f.Sync() != nil || syscall.Madvise(g.data, syscall.MADV_DONTNEED) != nil {
		return false
	}
	_, _, failed := syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, dontNeed, 0, 0)
	return failed == 0
}

package machine

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// memory returns the memory of the machine or of its control group, in bytes; 0
// where it is not known.
func memory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	have := int64(info.Totalram) * int64(info.Unit)
	if text, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		var limit int64
		if n, _ := fmt.Sscan(string(text), &limit); n == 1 {
			have = min(have, limit)
		}
	}
	return have
}

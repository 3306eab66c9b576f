package memory

import (
	"bufio"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// giveBack asks the system to take back the pages of mapped files. That never
// changes what memory holds, so it does no harm to something else that came
// to be mapped there meanwhile.
func giveBack(prefixes []string) {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return
	}
	defer maps.Close()
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		// 7f00-7f80 rw-s 00000000 fe:00 1234   /data/frontier/000001.vlog
		span, rest, _ := strings.Cut(lines.Text(), " ")
		at := strings.IndexByte(rest, '/')
		if at < 0 || !hasPrefix(rest[at:], prefixes) {
			continue
		}
		from, to, _ := strings.Cut(span, "-")
		start, err1 := strconv.ParseUint(from, 16, 64)
		end, err2 := strconv.ParseUint(to, 16, 64)
		if err1 == nil && err2 == nil && start < end {
			unix.Syscall(unix.SYS_MADVISE, uintptr(start), uintptr(end-start), unix.MADV_PAGEOUT) // advice: what it cannot do it leaves
		}
	}
}

func hasPrefix(name string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

package memory

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const step = 4 << 20 // bytes of a file that are looked at together

// giveBack asks the system to take back about need bytes of mapped files: as
// much and no more, because what is taken has to be read again, and each time
// from where it ended the last time on, so that pages in use come back before
// it is their turn again. Logs that are being written (.mem) are left alone.
//
// The advice never changes what memory holds, so it does no harm to something
// else that came to be mapped there meanwhile.
func (k *keeper) giveBack(need int64) {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return
	}
	defer maps.Close()
	var spans [][2]uint64
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		// 7f00-7f80 rw-s 00000000 fe:00 1234   /data/frontier/000001.vlog
		span, rest, _ := strings.Cut(lines.Text(), " ")
		at := strings.IndexByte(rest, '/')
		if at < 0 || !hasPrefix(rest[at:], k.prefixes) || filepath.Ext(rest) == ".mem" {
			continue
		}
		from, to, _ := strings.Cut(span, "-")
		start, err1 := strconv.ParseUint(from, 16, 64)
		end, err2 := strconv.ParseUint(to, 16, 64)
		for ; err1 == nil && err2 == nil && start < end; start += step {
			spans = append(spans, [2]uint64{start, min(end, start+step)})
		}
	}
	first := 0
	for first < len(spans) && spans[first][0] < k.next {
		first++
	}
	before, err := Used()
	for i := range spans {
		s := spans[(first+i)%len(spans)]
		unix.Syscall(unix.SYS_MADVISE, uintptr(s[0]), uintptr(s[1]-s[0]), unix.MADV_PAGEOUT) // what it cannot do it leaves
		k.next = s[1]
		if now, err2 := Used(); err != nil || err2 != nil || before.Mapped-now.Mapped >= need {
			return
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

package memory

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const step = 4 << 20 // bytes of a file that are looked at together

// giveBack asks the system to take back about need bytes of mapped files.
//
// The program itself comes first: its pages stay in the system's cache, so that
// it costs little to have those in use again. Half of them are left room for
// that. Most are in use again at once, which costs more than it gives when it is
// done at each look. Before the first time they are split, see split.
//
// Of the other files it takes as much as need be and no more, because what is
// taken has to be had again, and each time from where it ended the last time on,
// so that pages in use come back before it is their turn again. Logs that are
// being written (.mem) are left alone.
//
// Pages of files that are fixed stay in the system's cache, too. The advice that
// does so would clear other memory that came to be where a file was, so that
// other files get one that takes their pages out of the cache: it never changes
// what memory holds.
func (k *keeper) giveBack(need int64) {
	before, err := k.meter.used()
	if err != nil {
		return
	}
	if !k.isSplit {
		k.isSplit = true
		k.split()
	}
	if now := time.Now(); now.Sub(k.last) >= seldom {
		k.last = now
		for _, s := range k.program {
			tell(s, unix.MADV_DONTNEED)
			need += int64(s[1]-s[0]) / 2
		}
	}
	left := func() int64 {
		now, err := k.meter.used()
		if err != nil {
			return 0
		}
		return need - (before.Mapped - now.Mapped)
	}
	fixed := map[string]bool{} // hundreds of names, asked for each file that is mapped
	isFixed := func(name string) bool { return fixed[name] }
	if k.fixed != nil {
		k.fixed(func(names []string) { // on an error the store has ended
			for _, name := range names {
				fixed[name] = true
			}
			k.advise(unix.MADV_DONTNEED, left, isFixed)
		})
	}
	k.advise(unix.MADV_PAGEOUT, left, func(name string) bool { return !isFixed(name) }) // nothing is left of those that are
}

// advise says what to do with the mapped files that are meant, until nothing is
// left to be given back.
func (k *keeper) advise(advice uintptr, left func() int64, meant func(name string) bool) {
	most := left() // bytes that may be given back before it is worth a look
	if most <= 0 {
		return
	}
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
		if at < 0 || !hasPrefix(rest[at:], k.prefixes) || filepath.Ext(rest) == ".mem" || !meant(rest[at:]) {
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
	for i := range spans {
		s := spans[(first+i)%len(spans)]
		k.single(s)
		tell(s, advice)
		k.next = s[1]
		if most -= int64(s[1] - s[0]); most <= 0 {
			if most = left(); most <= 0 {
				return
			}
		}
	}
}

// tell gives the system an advice; what it cannot do it leaves. It waits for
// nothing then, and Go's scheduler is not told that it is called: after some
// microseconds it would give the processor to another goroutine, and this one
// would be the last of all to go on, a tenth of a second later.
func tell(s [2]uint64, advice uintptr) {
	unix.RawSyscall(unix.SYS_MADVISE, uintptr(s[0]), uintptr(s[1]-s[0]), advice)
}

// Of linux/userfaultfd.h.
const (
	uffdUserModeOnly   = 1
	uffdAPI            = 0xaa
	uffdioAPI          = 0xc018aa3f
	uffdioRegister     = 0xc020aa00
	uffdFeatureWPAsync = 1 << 15
	uffdioRegisterWP   = 1 << 1
)

// openFaults returns the descriptor of a userfaultfd that bears with files and
// tells nobody of faults, or -1 where the system has none: Linux has since 6.7,
// and some containers forbid it.
func openFaults() int {
	fd, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|unix.O_NONBLOCK|uffdUserModeOnly, 0, 0)
	if errno != 0 {
		return -1
	}
	api := struct{ version, features, calls uint64 }{version: uffdAPI, features: uffdFeatureWPAsync}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, fd, uffdioAPI, uintptr(unsafe.Pointer(&api))); errno != 0 {
		unix.Close(int(fd))
		return -1
	}
	return int(fd)
}

func closeFaults(fd int) { unix.Close(fd) }

// single has the pages of a span come one by one from now on, where the system
// can do that. Without, it maps for one byte that is touched what its cache has
// of the 64 kB around, so that most of what was given back is there again at
// once, asked for or not. It leaves that out where writes are followed, which
// they may be here (none is: that takes a call more).
func (k *keeper) single(s [2]uint64) bool {
	span := struct{ start, length, mode, calls uint64 }{start: s[0], length: s[1] - s[0], mode: uffdioRegisterWP}
	_, _, errno := unix.RawSyscall(unix.SYS_IOCTL, uintptr(k.faults), uffdioRegister, uintptr(unsafe.Pointer(&span)))
	return errno == 0
}

// split has the pages of the program come one by one. Systems keep files in
// blocks of up to 2 MB and map a whole block, or the cached pages around, for
// one byte that is touched: of 49 MB of code and constants all are mapped so,
// although a crawl uses 19 MB of them. Where single is not to be had, the blocks
// are taken out of the system's cache, which is done only to those that nobody
// uses, and what is asked for from then on is read page by page.
func (k *keeper) split() {
	single := true
	for _, s := range k.program {
		single = k.single(s) && single
	}
	if single {
		return
	}
	exe, err := os.Open("/proc/self/exe")
	if err != nil {
		return
	}
	defer exe.Close()
	unix.Fdatasync(int(exe.Fd())) // what was installed a moment ago cannot be taken out
	for range 5 {                 // the program is running: it takes some back meanwhile
		for _, s := range k.program {
			for _, advice := range []uintptr{unix.MADV_NOHUGEPAGE, unix.MADV_RANDOM, unix.MADV_DONTNEED} {
				tell(s, advice)
			}
		}
		unix.Fadvise(int(exe.Fd()), 0, 0, unix.FADV_DONTNEED)
	}
}

// program returns the parts of the program's file that are in memory as they
// are in the file, which nobody unmaps or changes.
func program() (spans [][2]uint64) {
	name, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return nil
	}
	defer maps.Close()
	var span *[2]uint64 // of the last heading
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		// 00402000-01aa6000 r-xp 00002000 fe:00 1031   /usr/bin/gazehound
		// Rss:               21136 kB
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) < 2:
		case !strings.HasSuffix(fields[0], ":"):
			span = nil
			from, to, _ := strings.Cut(fields[0], "-")
			start, err1 := strconv.ParseUint(from, 16, 64)
			end, err2 := strconv.ParseUint(to, 16, 64)
			if err1 == nil && err2 == nil && start < end && strings.HasSuffix(lines.Text(), " "+name) && !strings.Contains(fields[1], "w") {
				spans = append(spans, [2]uint64{start, end})
				span = &spans[len(spans)-1]
			}
		case span != nil && fields[0] == "Anonymous:" && fields[1] != "0": // a loader has changed it
			spans, span = spans[:len(spans)-1], nil
		}
	}
	return spans
}

func hasPrefix(name string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// Package machine checks whether a machine has what a crawl and a server need.
package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"gazehound/internal/check"
	"gazehound/internal/disk"
	"gazehound/internal/oserr"
	"gazehound/internal/textutil"
)

func gigabytes(n int64) string { return fmt.Sprintf("%.1f GB", float64(n)/1e9) }

// A Room is the space on the disk of a crawl, in bytes.
type Room struct {
	Free, Reserve int64 // kept free
	Used          int64 // by the pages so far
	Pages, Target int64 // fetched so far, and in the end; 0: no end
}

// fewPages are too few for an estimate of the bytes per page.
const fewPages = 1000

// Check reports whether dir, which need not exist, is writable, and for how many pages the free
// space lasts, by the crawl so far.
func (r Room) Check(dir string) check.Finding {
	const name = "disk"
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	free, err := disk.Free(dir)
	if err != nil {
		return check.Doubt(name, "", "free space is not known: %v", err)
	}
	if err := disk.Writable(dir); err != nil {
		return check.Broken(name, "", "%s cannot be written to: %v", dir, err)
	}
	r.Free = int64(min(free, math.MaxInt64))
	return r.check()
}

func (r Room) check() check.Finding {
	const name = "disk"
	left := r.Free - r.Reserve
	what := fmt.Sprintf("%s free, %s of it kept (storage.disk_reserve)", gigabytes(r.Free), gigabytes(r.Reserve))
	if left <= 0 {
		return check.Broken(name, "make room: a crawl would stop at once", "%s", what)
	}
	if r.Pages < fewPages || r.Used < r.Pages {
		return check.Well(name, "%s", what)
	}
	each := r.Used / r.Pages
	reaches := r.Pages + left/each
	what += fmt.Sprintf("; at %s a page it has room for %s, without WARC files", textutil.Several(each, "byte"),
		textutil.Several(reaches, "page"))
	if reaches < r.Target {
		return check.Doubt(name, "make room, or lower crawl.max_pages", "%s of %s", what, textutil.Count(r.Target))
	}
	return check.Well(name, "%s", what)
}

// FolderSize returns the bytes that the files in a folder take on the disk, as
// far as they can be read.
func FolderSize(dir string) (n int64) {
	filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		if info, err := e.Info(); err == nil {
			n += disk.Allocated(info) // files of the store have holes
		}
		return nil
	})
	return n
}

// CheckMemory compares the setting called key, whose value is written as shown,
// in bytes, with the memory of the machine.
func CheckMemory(key string, want int64) check.Finding {
	const name = "memory"
	have, shown := memory(), textutil.Megabytes(want)
	switch {
	case have == 0:
		return check.Well(name, "%s; how much this machine has is not known on %s", shown, runtime.GOOS)
	case want > have:
		return check.Broken(name, "lower "+key, "%s is %s and the machine has %s", key, shown, gigabytes(have))
	case want > have*3/4:
		return check.Doubt(name, "lower "+key, "%s is %s of the %s that the machine has", key, shown, gigabytes(have))
	}
	return check.Well(name, "%s of %s", shown, gigabytes(have))
}

// CheckFiles checks the limit of open files.
func CheckFiles(need uint64) check.Finding {
	const name = "files"
	limit, err := openFiles()
	if err != nil {
		return check.Doubt(name, "", "the limit is not known: %v", err)
	}
	if limit < need { // Go raises the soft limit by itself
		return check.Doubt(name, fmt.Sprintf("ulimit -Hn %d, or LimitNOFILE of the service", need),
			"at most %d may be open at once; a busy server and a large crawl need %d", limit, need)
	}
	return check.Well(name, "%s may be open at once", textutil.Count(int64(min(limit, math.MaxInt32))))
}

// A Port is an address to listen at, and the setting that names it.
type Port struct{ Key, Address string }

// CheckPorts checks whether addresses are free to listen at; a running crawl may use them.
func CheckPorts(running bool, ports ...Port) (found []check.Finding) {
	const name = "ports"
	var free []string
	for _, p := range ports {
		l, err := net.Listen("tcp", p.Address)
		switch {
		case err == nil:
			l.Close()
			free = append(free, p.Address)
		case errors.Is(err, oserr.InUse) && running:
			found = append(found, check.Well(name, "%s %s is in use, as by the running crawl", p.Key, p.Address))
		case errors.Is(err, oserr.InUse):
			found = append(found, check.Doubt(name, "another port, or port 0 for a free one",
				"%s %s is in use by another program", p.Key, p.Address))
		default:
			found = append(found, check.Broken(name, "host:port such as 127.0.0.1:8090", "%s %s: %v", p.Key,
				p.Address, err))
		}
	}
	if len(free) > 0 {
		found = append(found, check.Well(name, "%s free", strings.Join(free, ", ")))
	}
	return found
}

// CheckClock compares the clock with the time of the last run of a crawl; none is the zero time.
func CheckClock(last time.Time) check.Finding {
	const name = "clock"
	now := time.Now()
	switch {
	case now.Before(last.Add(-time.Minute)):
		return check.Broken(name, "set it; delays, revisits and first-seen dates depend on it",
			"it says %s, which is before the last run of the crawl (%s)", textutil.Moment(now),
			textutil.Moment(last))
	case now.Year() < 2026:
		return check.Broken(name, "set it", "it says %s", textutil.Moment(now))
	}
	return check.Well(name, "%s", textutil.Moment(now))
}

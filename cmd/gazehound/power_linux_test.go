package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gazehound/crawler/frontier"

	"golang.org/x/sys/unix"
)

// A volume is an ext4 file system in a file, which can be cut off.
type volume struct{ image, dir string }

// newVolume makes a file system with a copy of a project, or skips the test.
func newVolume(t *testing.T, data string) volume {
	t.Helper()
	p := volume{filepath.Join(t.TempDir(), "image"), filepath.Join(t.TempDir(), "disk")}
	if err := os.Mkdir(p.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(p.image, 600<<20); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mkfs.ext4", "-q", p.image).CombinedOutput(); err != nil {
		t.Skipf("needs mkfs.ext4: %v %s", err, out)
	}
	p.mount(t)
	t.Cleanup(func() { unix.Unmount(p.dir, unix.MNT_DETACH) })
	if err := os.CopyFS(filepath.Join(p.dir, "data"), os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	unix.Sync()
	return p
}

func (p volume) mount(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("mount", "--rw", "-o", "loop", p.image, p.dir).CombinedOutput(); err != nil {
		t.Skipf("needs root and loop devices: %v %s", err, out)
	}
}

// cut ends all writing at once: what was not synced is gone, as after a power cut.
func (p volume) cut(t *testing.T) {
	t.Helper()
	const (
		shutdown = 0x8004587d // EXT4_IOC_SHUTDOWN
		noFlush  = 2          // EXT4_GOING_FLAGS_NOLOGFLUSH
	)
	dir, err := os.Open(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if err := unix.IoctlSetPointerInt(int(dir.Fd()), shutdown, noFlush); err != nil {
		t.Skipf("the file system cannot be cut off: %v", err)
	}
}

// readOnly makes the file system read-only while files are open for writing, as the kernel does
// after an error of the disk.
func (p volume) readOnly(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("mount", "-o", "remount,abort", p.dir).CombinedOutput(); err != nil {
		t.Skipf("the file system cannot be made read-only: %v %s", err, out)
	}
}

// again mounts the file system anew, with what had reached the disk.
func (p volume) again(t *testing.T) {
	t.Helper()
	for range 50 {
		if err := unix.Unmount(p.dir, 0); err == nil {
			p.mount(t)
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the file system stays in use")
}

// While a crawl runs, its power fails, or its disk becomes read-only. The crawl tree may lack what
// was acknowledged in the last second before a power cut, and nothing else; all stores open and
// agree each time, and the same command goes on. "make soak" tries 60 times.
func TestPowerCut(t *testing.T) {
	if testing.Short() {
		t.Skip("runs processes for some seconds")
	}
	t.Parallel()
	rounds := inSoak(2, 60)
	town := smallTown()
	town.Sites = inSoak(town.Sites, 2000) // pages for all rounds
	data, flags, _, _ := projectOf(t, town)
	disk := newVolume(t, data)
	on := filepath.Join(disk.dir, "data")
	args := append([]string{"crawl", "--quiet", "--emit", "page", "--warc", filepath.Join(on, "warc")}, flags...)
	args = append(args, "--data", on)
	acknowledged := map[string]time.Time{} // when
	lost := 0
	for round := range rounds {
		power := round%2 == 0
		crawl := program(append(args, "--max-pages", "0")...)
		crawl.Env = append(crawl.Env, "GAZEHOUND_STORAGE__DISK_RESERVE=1MB")
		var complaints bytes.Buffer
		crawl.Stderr = &complaints
		out, err := crawl.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := crawl.Start(); err != nil {
			t.Fatal(err)
		}
		after, at := 5+rand.IntN(25), time.Time{}
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); {
			var page struct{ Type, URL string }
			if json.Unmarshal(lines.Bytes(), &page) != nil || page.Type != "page" {
				continue
			}
			if at.IsZero() {
				acknowledged[page.URL] = time.Now()
			}
			n++
			if n != after {
				continue
			}
			if power {
				time.Sleep(rand.N(1500 * time.Millisecond))
				disk.cut(t)
				time.AfterFunc(time.Second, func() { crawl.Process.Kill() })
			} else {
				disk.readOnly(t)
				// one that hangs says where
				defer time.AfterFunc(time.Minute, func() { crawl.Process.Signal(unix.SIGQUIT) }).Stop()
			}
			at = time.Now()
		}
		err = crawl.Wait()
		if at.IsZero() {
			t.Fatalf("the crawl ended by itself: %v\n%s", err, complaints.String())
		}
		if !power {
			says, code := complaints.String(), crawl.ProcessState.ExitCode()
			if code != exitOutOfSpace || !strings.Contains(says, "read-only file system") {
				t.Errorf("on a disk that became read-only: exit %d: %s", code, says)
			}
		}
		disk.again(t)
		left := visitedURLs(t, on)
		for url, when := range acknowledged {
			if left[url] {
				continue
			}
			lost++
			if ago := at.Sub(when); ago > 2500*time.Millisecond {
				t.Errorf("%s was acknowledged %v before and is lost", url, ago)
			}
			delete(acknowledged, url)
		}
		if says := problems(t, on); says != "" {
			t.Errorf("after round %d, power cut: %v:\n%s", round, power, says)
		}
	}
	limit := fmt.Sprint(len(acknowledged) + 40)
	if out, err := program(append(args, "--max-pages", limit)...).CombinedOutput(); err != nil {
		t.Fatalf("the last crawl: %v\n%s", err, out)
	}
	if says := problems(t, on); says != "" {
		t.Errorf("after %d rounds:\n%s", rounds, says)
	}
	t.Logf("%d rounds, %d pages acknowledged, %d of the last second lost", rounds, len(acknowledged), lost)
}

// visitedURLs returns the URLs in a crawl tree that were visited.
func visitedURLs(t *testing.T, data string) map[string]bool {
	t.Helper()
	f, err := frontier.Open(frontier.Options{Dir: project{data}.frontier(), ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	visited := map[string]bool{}
	err = f.Walk(t.Context(), 0, func(n frontier.Node) error {
		visited[n.URL.String()] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return visited
}

// A running crawl that may open no more files, or gets no more than 256 MB, ends with a clear word or
// not at all, and loses nothing.
func TestCrawlStarved(t *testing.T) {
	if testing.Short() {
		t.Skip("runs processes for some seconds")
	}
	t.Parallel()
	for _, c := range []struct {
		name  string
		shell string // before the program
		files bool   // no more may be opened after ten pages
	}{
		{"files", "exec ", true},
		{"memory", "ulimit -d 262144; exec ", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			data, flags, _, _ := servedTown(t)
			args := append([]string{"crawl", "--quiet", "--emit", "page", "--memory", "100MB"}, flags...)
			crawl := exec.Command("sh", append([]string{"-c", c.shell + os.Args[0] + ` "$@"`, "sh"}, append(args, "--max-pages", "120")...)...)
			crawl.Env = append(os.Environ(), "GAZEHOUND_TEST_MAIN=1")
			var complaints bytes.Buffer
			crawl.Stderr = &complaints
			out, err := crawl.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := crawl.Start(); err != nil {
				t.Fatal(err)
			}
			var acknowledged []string
			lines := bufio.NewScanner(out)
			for lines.Scan() {
				var page struct{ Type, URL string }
				if json.Unmarshal(lines.Bytes(), &page) != nil || page.Type != "page" {
					continue
				}
				acknowledged = append(acknowledged, page.URL)
				if open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", crawl.Process.Pid)); c.files && len(acknowledged) == 10 && err == nil {
					few := unix.Rlimit{Cur: uint64(len(open)), Max: uint64(len(open))}
					if err := unix.Prlimit(crawl.Process.Pid, unix.RLIMIT_NOFILE, &few, nil); err != nil {
						t.Fatal(err)
					}
				}
			}
			err = crawl.Wait()
			says := complaints.String()
			switch code := crawl.ProcessState.ExitCode(); {
			case code == exitOK:
			case c.files && code == exitError && (strings.Contains(says, "ulimit -n") || strings.Contains(says, "limit of open files")):
			default:
				t.Errorf("exit %d, %v: %.1500s", code, err, says)
			}
			if strings.Contains(says, "panic") || strings.Contains(says, "goroutine ") {
				t.Errorf("%.1500s", says)
			}
			left := visitedURLs(t, data)
			for _, url := range acknowledged {
				if !left[url] {
					t.Errorf("%s was acknowledged and is lost", url)
				}
			}
			if out, err := program(append(args, "--max-pages", "140")...).CombinedOutput(); err != nil {
				t.Errorf("once there is enough: %v\n%s", err, out)
			}
			t.Logf("%d pages acknowledged, exit %d: %s", len(acknowledged), crawl.ProcessState.ExitCode(), says)
		})
	}
}

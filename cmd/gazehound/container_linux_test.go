package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The image is built from a base that is named by its digest, and runs as a user without rights.
func TestContainerfile(t *testing.T) {
	text, err := os.ReadFile("../../docs/ops/Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(string(text), -1) {
		if pinned := regexp.MustCompile(`@sha256:[0-9a-f]{64}$`).MatchString(from[1]); !pinned && from[1] != "scratch" {
			t.Errorf("the base %s has no digest", from[1])
		}
	}
	if !regexp.MustCompile(`(?m)^USER [1-9]\d*:[1-9]\d*$`).Match(text) {
		t.Error("USER is no number above 0")
	}
}

// The program does all its work where a container leaves it nothing but itself and a folder for data:
// the root is read-only, without other files, devices, processes and users, and it is nobody there.
func TestReadOnlyRoot(t *testing.T) {
	info, _ := debug.ReadBuildInfo()
	if info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "CGO_ENABLED", Value: "1"}) {
		t.Skip("needs a program without libraries, which a root of its own lacks: CGO_ENABLED=0")
	}
	if os.Geteuid() != 0 || testing.Short() {
		t.Skip("needs root")
	}
	t.Parallel()
	const user = 65532
	data, flags := townProject(t)
	root := filepath.Join(t.TempDir(), "root")
	if err := os.MkdirAll(filepath.Join(root, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	syscall.ForkLock.RLock() // a process that another test starts meanwhile would keep it open: "text file busy"
	err = os.WriteFile(filepath.Join(root, "gazehound"), self, 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	seeds, err := os.ReadFile(flags[3])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "seeds.txt"), seeds, 0o644); err != nil {
		t.Fatal(err)
	}
	chown(t, data, user)
	mount := func(from, to string, how uintptr) {
		t.Helper()
		if err := unix.Mount(from, to, "", how, ""); err != nil {
			t.Skipf("needs mounts: %v", err)
		}
	}
	mount(root, root, unix.MS_BIND)
	t.Cleanup(func() { unix.Unmount(root, unix.MNT_DETACH) })
	mount("", root, unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY)
	mount(data, filepath.Join(root, "data"), unix.MS_BIND)
	t.Cleanup(func() { unix.Unmount(filepath.Join(root, "data"), unix.MNT_DETACH) })
	gazehound := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("/gazehound", append(args, "--data", "/data")...)
		cmd.Dir, cmd.Env = "/data", []string{"GAZEHOUND_TEST_MAIN=1", "TMPDIR=/data"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: user, Gid: user}}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	gazehound("crawl", "--quiet", "--max-pages", "60", "--warc", "/data/warc", "--proxy", flags[5], "--delay", "0s", "--serve", "off")
	if out := gazehound("search", "--json"); !strings.Contains(out, `"id"`) {
		t.Errorf("nothing was found: %s", out)
	}
	gazehound("retrain")
	gazehound("replay", "/data/warc", "--into", "/data/again")
	gazehound("export", "csv", "-o", "/data/addresses.csv")
	gazehound("forget", "--yes", "nowhere.example")
	if says := problems(t, data); says != "" {
		t.Errorf("%s", says)
	}
}

// chown gives a folder to a user.
func chown(t *testing.T, dir string, user int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(name, user, user))
	})
	if err != nil {
		t.Fatal(err)
	}
}

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A disk that fills up beside the crawl ends it with a clear word, and it goes
// on once there is room.
func TestCrawlFullDisk(t *testing.T) {
	t.Parallel()
	data, flags := townProject(t)
	disk := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(disk, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=300m"); err != nil {
		t.Skipf("a small disk needs root: %v", err)
	}
	defer unix.Unmount(disk, unix.MNT_DETACH)
	if err := os.CopyFS(filepath.Join(disk, "data"), os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(disk, "filler")
	flags = append(flags, "--data", filepath.Join(disk, "data"), "--quiet", "--json")
	crawl := func(pages int) (int, string) {
		cmd := program(append([]string{"crawl", "--max-pages", fmt.Sprint(pages)}, flags...)...)
		cmd.Env = append(cmd.Env, "GAZEHOUND_STORAGE__DISK_RESERVE=1MB")
		out, _ := cmd.CombinedOutput()
		return cmd.ProcessState.ExitCode(), string(out)
	}
	if code, says := crawl(20); code != 0 {
		t.Fatalf("exit %d with room: %s", code, says)
	}
	if err := os.WriteFile(filler, make([]byte, 180<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	code, says := crawl(60)
	if code != exitOutOfSpace || !regexp.MustCompile(`only \d+ MB are left on the disk`).MatchString(says) {
		t.Errorf("exit %d on a full disk, want %d: %s", code, exitOutOfSpace, says)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if code, says := crawl(60); code != 0 || !strings.Contains(says, `"pages":60,`) {
		t.Errorf("exit %d once there is room: %s", code, says)
	}
}

// A data directory that may not be written to is refused in words.
func TestCrawlReadOnly(t *testing.T) {
	t.Parallel()
	data, flags := townProject(t)
	args := append([]string{"crawl", "--quiet"}, flags...)
	cmd := exec.Command(os.Args[0], args...)
	if os.Geteuid() == 0 { // root may write anywhere: somebody else tries
		dir, err := os.MkdirTemp("", "gazehound-readonly-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		program := filepath.Join(dir, "gazehound")
		if err := copyFile(program, os.Args[0]); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(filepath.Join(dir, "data"), os.DirFS(data)); err != nil {
			t.Fatal(err)
		}
		if err := copyFile(filepath.Join(dir, "seeds.txt"), flags[3]); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		data = filepath.Join(dir, "data")
		cmd = exec.Command(program, append(args, "--data", data, "--seeds", filepath.Join(dir, "seeds.txt"))...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		cmd.Dir = dir
	} else if err := os.Chmod(data, 0o555); err != nil {
		t.Fatal(err)
	} else {
		defer os.Chmod(data, 0o755)
	}
	cmd.Env = append(os.Environ(), "GAZEHOUND_TEST_MAIN=1", "HOME=/nonexistent", "XDG_CONFIG_HOME=/nonexistent")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Skipf("the program cannot be started as somebody else: %v", err)
	}
	if code := cmd.ProcessState.ExitCode(); code <= 0 || !strings.HasPrefix(string(out), "error: ") || !strings.Contains(string(out), "permission denied") || strings.Count(string(out), "\n") != 1 {
		t.Errorf("exit %d: %s", code, out)
	}
}

// A reader of only the first lines, such as head, ends the program, without an error message.
func TestClosedPipe(t *testing.T) {
	t.Parallel()
	for _, command := range [][]string{{"crawl", "--help"}, {"licences"}, {"search", "--data", shopIndex(t), "tischlerei", "--json"}} {
		cmd := program(command...)
		var complaints bytes.Buffer
		cmd.Stderr = &complaints
		reader, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdout = writer
		reader.Close()
		err = cmd.Run()
		writer.Close()
		if cmd.ProcessState == nil || cmd.ProcessState.Success() {
			t.Errorf("%s: %v; want to end by the pipe", command, err)
		}
		if complaints.Len() > 0 {
			t.Errorf("%s: %s", command, complaints.String())
		}
	}
}

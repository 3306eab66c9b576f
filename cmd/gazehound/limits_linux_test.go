package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A limited command is one that is run where nothing can be written, where nothing more can be, and
// where 16 files may be open. NEW is a directory beside the project on the same disk, IN one with files
// to read on another disk, PAGE, TOWN and CRAWL are those of limitedProject.
type limitedCommand struct {
	line  string
	disk  int // exit code on a read-only disk, and on a full one unless that ends it sooner (16)
	files int // exit code with 16 files
}

var limitedCommands = []limitedCommand{
	{"search", exitOK, exitOK},
	{"pages", exitOK, exitOK},
	{"report", exitOK, exitOK},
	{"status", exitOK, exitOK},
	{"explain PAGE", exitOK, exitOK},
	{"export csv -o -", exitOK, exitOK},
	{"export csv -o NEW.csv", exitOutOfSpace, exitOK},
	{"export geojson -o NEW.json", exitOutOfSpace, exitOK},
	{"export html -o NEW.html", exitOutOfSpace, exitOK},
	{"export wacz -o NEW.wacz", exitOutOfSpace, exitOK},
	{"export cdxj -o -", exitOK, exitOK},
	{"doctor", exitGate, exitGate},
	{"doctor --rebuild NEW.rebuilt", exitOutOfSpace, exitError},
	{"seeds list", exitOK, exitOK},
	{"seeds check", exitOK, exitOK},
	{"seeds query overpass", exitOK, exitOK},
	{"seeds import IN/urls.txt", exitOutOfSpace, exitOK},
	{"gazetteer lookup Hauptstraße", exitOK, exitOK},
	{"gazetteer stats", exitOK, exitOK},
	{"gazetteer regions", exitOK, exitOK},
	{"gazetteer import IN/town.osm", exitOutOfSpace, exitOK},
	{"geoparse IN/urls.txt", exitOK, exitOK},
	{"model show", exitOK, exitOK},
	{"model export", exitOK, exitOK},
	{"config show", exitOK, exitOK},
	{"config check", exitOK, exitOK},
	{"label PAGE relevant", exitOutOfSpace, exitError},
	{"retrain", exitOutOfSpace, exitError},
	{"clickstream import IN/access.log --site http://a.example", exitOutOfSpace, exitOK},
	{"clickstream top", exitNoData, exitOK},
	{"forget http://gone.example/ --yes", exitOutOfSpace, exitError},
	{"forget --requests", exitOK, exitOK},
	{"replay IN/archive --into NEW.replayed", exitOutOfSpace, exitError},
	{"init --force --osm IN/town.osm --region TOWN --contact https://bot.example/", exitOutOfSpace, exitError},
	{"crawl --quiet --max-pages 70 CRAWL", exitOutOfSpace, exitError},
	{"node --seed http://a.example/ CRAWL", exitOutOfSpace, exitError},
	{"ctl pause", exitNoData, exitNoData},
	{"demo --sites 40 --pages 20 --data NEW.demo", exitOutOfSpace, exitError},
}

// On a full or read-only disk, and with few files, every command ends with its documented exit code:
// reading commands answer, and none reports damage or causes it.
func TestLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every command")
	}
	t.Parallel()
	p := newLimitedProject(t)
	t.Run("read-only", p.readOnly)
	t.Run("full", p.full)
	t.Run("16 files", p.fewFiles)
}

// A limitedProject is what limited commands work on.
type limitedProject struct {
	data  string   // copied to each disk
	in    string   // with files to read
	crawl []string // flags of a crawl of the town
	town  string   // name
	page  string   // of the crawl tree
}

// newLimitedProject crawls a town and writes the files that the commands read.
func newLimitedProject(t *testing.T) limitedProject {
	t.Helper()
	data, flags, town, _ := servedTown(t)
	p := limitedProject{data: data, in: filepath.Join(t.TempDir(), "in"), crawl: flags[2:], town: town.Name()}
	if err := os.Mkdir(p.in, 0o777); err != nil {
		t.Fatal(err)
	}
	crawl := append([]string{"crawl", "--quiet", "--max-pages", "60", "--warc", filepath.Join(p.in, "archive")}, flags...)
	if out, err := program(crawl...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var urls strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&urls, "http://site%d.example/\n", i)
	}
	for name, text := range map[string]string{
		"urls.txt":   urls.String(),
		"access.log": "192.0.2.1 - - [21/Nov/2026:10:00:00 +0000] \"GET / HTTP/1.1\" 200 9 \"-\" \"Mozilla\"\n",
		"small.yaml": "fetch:\n  contact: https://bot.example/\nstorage:\n  disk_reserve: 1MB\n",
	} {
		if err := os.WriteFile(filepath.Join(p.in, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeFile(filepath.Join(p.in, "town.osm"), town.WriteOSM); err != nil {
		t.Fatal(err)
	}
	p.page = strings.Fields(runText(t, "seeds", "list", "--data", data))[0]
	oneSegment(t, data)
	return p
}

// readOnly holds that on a read-only disk reading commands answer, and writing ones name the reason.
func (p limitedProject) readOnly(t *testing.T) {
	disk := p.smallDisk(t)
	if err := unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	for _, c := range someLimited(0) {
		code, says := p.run(t, disk, c, "")
		if code != c.disk || code == exitOutOfSpace && !strings.Contains(says, "read-only file system") {
			t.Errorf("%s: exit %d, want %d: %s", c.line, code, c.disk, says)
		}
	}
}

// full holds the same of a full disk, and that the commands succeed once there is room.
func (p limitedProject) full(t *testing.T) {
	disk := p.smallDisk(t)
	for _, c := range someLimited(1) {
		fill(t, disk)
		want := c.disk
		if strings.HasSuffix(c.line, "CRAWL") {
			want = exitDiskReserve
		}
		code, says := p.run(t, disk, c, "")
		if code != want || code == exitOutOfSpace && !strings.Contains(says, "no space left on device") {
			t.Errorf("%s: exit %d, want %d: %s", c.line, code, want, says)
		}
	}
	if err := os.Remove(filepath.Join(disk, "filler")); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"retrain", "forget http://gone.example/ --yes", "crawl --quiet --max-pages 70 CRAWL", "search"} {
		if code, says := p.run(t, disk, limitedCommand{line: line}, ""); code != exitOK {
			t.Errorf("%s: exit %d once there is room: %s", line, code, says)
		}
	}
}

// fewFiles holds that with 16 open files a command succeeds, or names the limit.
func (p limitedProject) fewFiles(t *testing.T) {
	disk := t.TempDir()
	p.copyTo(t, disk)
	for _, c := range someLimited(2) {
		code, says := p.run(t, disk, c, "ulimit -n 16; exec ")
		// How many files are open at once depends on how fast the machine is.
		if code != exitOK && code != c.files || code == exitError && !strings.Contains(says, "ulimit -n") {
			t.Errorf("%s: exit %d, want %d or 0: %s", c.line, code, c.files, says)
		}
	}
}

// someLimited returns a third of the commands, so that each meets one of the limits; make soak has
// each meet all.
func someLimited(third int) (list []limitedCommand) {
	for i, c := range limitedCommands {
		if 3*i/len(limitedCommands) == third || os.Getenv("GAZEHOUND_SOAK") != "" {
			list = append(list, c)
		}
	}
	return list
}

// smallDisk mounts a disk of 300 MB with a copy of the project.
func (p limitedProject) smallDisk(t *testing.T) (disk string) {
	t.Helper()
	disk = t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=300m"); err != nil {
		t.Skipf("a small disk needs root: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(disk, unix.MNT_DETACH) })
	p.copyTo(t, disk)
	return disk
}

func (p limitedProject) copyTo(t *testing.T, disk string) {
	t.Helper()
	if err := os.CopyFS(filepath.Join(disk, "data"), os.DirFS(p.data)); err != nil {
		t.Fatal(err)
	}
}

// run runs a command on the copy of the project on a disk, begun by the shell with limit. It holds
// that the command ends within a minute and reports no damage.
func (p limitedProject) run(t *testing.T, disk string, c limitedCommand, limit string) (code int, says string) {
	t.Helper()
	args := strings.Fields(strings.NewReplacer("NEW", filepath.Join(disk, "new"), "IN/", p.in+"/", "PAGE", p.page,
		"TOWN", p.town, "CRAWL", strings.Join(p.crawl, " ")).Replace(c.line))
	if !slices.Contains(args, "--data") {
		args = append(args, "--data", filepath.Join(disk, "data"))
	}
	args = append([]string{"-c", cmp.Or(limit, "exec ") + os.Args[0] + ` "$@"`, "sh"}, args...)
	args = append(args, "--config", filepath.Join(p.in, "small.yaml"))
	// A command that hangs says where.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(unix.SIGQUIT) }
	cmd.Env = append(os.Environ(), "GAZEHOUND_TEST_MAIN=1")
	var complaints bytes.Buffer
	cmd.Stderr, cmd.Stdout = &complaints, io.Discard
	if c.line == "doctor" {
		cmd.Stdout = &complaints
	}
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	says = complaints.String()
	if c.line == "doctor" && limit == "" && !strings.Contains(says, "✗ disk") {
		t.Errorf("doctor finds nothing wrong with the disk: %s", says)
	}
	if bad := regexp.MustCompile(`panic|goroutine \d|SIG|damaged|runtime error`).FindString(says); bad != "" {
		t.Errorf("%s: %s: %.600s", c.line, bad, says)
	}
	return cmd.ProcessState.ExitCode(), says
}

// oneSegment merges the index of a project, which has one file open for each of its segments.
func oneSegment(t *testing.T, data string) {
	t.Helper()
	var first struct{ URL string }
	line, _, _ := strings.Cut(runText(t, "pages", "--data", data, "--json"), "\n")
	if err := json.Unmarshal([]byte(line), &first); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	runText(t, "forget", first.URL, "--yes", "--data", data) // rewrites the index
	segments := 0
	err := filepath.WalkDir(project{data}.index(), func(path string, _ os.DirEntry, err error) error {
		if filepath.Ext(path) == ".zap" {
			segments++
		}
		return err
	})
	if err != nil || segments != 1 {
		t.Fatalf("the index has %d segments after a removal, want 1 (%v)", segments, err)
	}
}

// fill leaves no room on a disk.
func fill(t *testing.T, disk string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(disk, "filler"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size >= 1; size /= 4 {
		for err = error(nil); err == nil; _, err = f.Write(make([]byte, size)) {
		}
	}
}

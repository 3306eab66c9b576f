package main

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gazehound/index"
)

// A writing command that is killed at any moment loses nothing: the project opens in its old or its
// new state, and the command, run again, ends as if it had not been killed. "make soak" kills each 20
// times.
func TestCommandsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for some seconds")
	}
	t.Parallel()
	data, flags, town, _ := servedTown(t)
	first := append([]string{"crawl", "--quiet", "--max-pages", "100", "--warc", filepath.Join(data, "archive")}, flags...)
	if out, err := program(first...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.RemoveAll(project{data}.model()); err != nil { // retrain makes another
		t.Fatal(err)
	}
	extract := filepath.Join(t.TempDir(), "again.osm")
	if err := writeFile(extract, town.WriteOSM); err != nil {
		t.Fatal(err)
	}
	host := someHost(t, data)
	pages := filepath.Join(t.TempDir(), "more.txt")
	if err := os.WriteFile(pages, []byte("http://one.example/\nhttp://two.example/\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	crawl := append([]string{"crawl", "--quiet", "--max-pages", "140"}, flags[2:]...)
	for name, c := range map[string]killedCommand{
		"retrain": {args: []string{"retrain", "--force"}, asks: [][]string{{"pages"}, {"model", "show"}}},
		"import": {args: []string{"gazetteer", "import", extract, "--quiet"},
			asks: [][]string{{"gazetteer", "lookup", "Hauptstraße"}, {"gazetteer", "stats"}}},
		"forget": {args: []string{"forget", host, "--yes"}, asks: [][]string{{"search", "--json"}, {"pages"}},
			between: true, forgotten: host},
		// Only how many pages were visited is the same in each run. It ends with compactions.
		"crawl": {args: crawl, asks: [][]string{{"report", "--json"}}, between: true, figure: regexp.MustCompile(`"pages":\d+`)},
		"label": {args: []string{"label", relevantPage(t, data, host), "not"},
			asks: [][]string{{"search", "--json", "--limit", "500"}, {"pages"}}, between: true},
		"seeds": {args: []string{"seeds", "import", pages}, asks: [][]string{{"seeds", "check"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.test(t, data)
		})
	}
}

// A killedCommand is a command that is killed while it works on copies of a project.
type killedCommand struct {
	args      []string
	asks      [][]string     // commands whose answers are those of before, or of afterwards
	figure    *regexp.Regexp // what of the answers counts; nil: all of it
	between   bool           // a kill may leave answers of neither: a page is gone from one store after the other
	forgotten string         // host of which nothing is left
}

// test runs the command once to learn what it does, and kills it on further copies.
func (c killedCommand) test(t *testing.T, data string) {
	whole := copiedProject(t, data)
	before := c.answers(t, whole)
	began := time.Now()
	if out, err := c.command(whole).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	took := time.Since(began)
	after := c.answers(t, whole)
	if before == after {
		t.Fatalf("the command changes nothing: %s", before)
	}
	hit, kills := 0, inSoak(1, 20)
	for range kills {
		dir := copiedProject(t, data)
		if c.kill(t, dir, took) {
			hit++
		}
		if got := c.answers(t, dir); !c.between && got != before && got != after {
			t.Errorf("after a kill:\n%.1500s\nbefore:\n%.1500s", got, before)
		}
		c.again(t, dir, after)
	}
	t.Logf("%d of %d were killed within %v", hit, kills, took)
}

// copiedProject copies a project, which then names its own archive.
func copiedProject(t *testing.T, data string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(dir, os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(project{dir}.archives(), []byte(filepath.Join(dir, "archive")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

func (c killedCommand) command(dir string) *exec.Cmd {
	return program(append(c.args, "--data", dir)...)
}

// answers returns what a project says to c.asks. It holds that its files are valid.
func (c killedCommand) answers(t *testing.T, dir string) (all string) {
	t.Helper()
	for _, args := range c.asks {
		var out, complaints bytes.Buffer
		code := run(t.Context(), append(slices.Clone(args), "--data", dir), nil, &out, &complaints)
		answer := out.String()
		if code != exitOK {
			answer = "none" // such as of a model that is not there
		}
		if code == exitInvalidInput {
			t.Errorf("%v: %s", args, complaints.String())
		}
		if c.figure != nil {
			answer = c.figure.FindString(answer)
		}
		all += strings.ReplaceAll(answer, dir, "DIR") + "\n"
	}
	return all
}

// kill kills the command at a moment within the time that it takes, and reports whether it still ran.
func (c killedCommand) kill(t *testing.T, dir string, took time.Duration) bool {
	t.Helper()
	cmd := c.command(dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Duration(rand.Float64() * float64(took)))
	cmd.Process.Kill()
	return cmd.Wait() != nil
}

// again holds that the command, given again after a kill, ends as if it had not been killed.
func (c killedCommand) again(t *testing.T, dir, want string) {
	t.Helper()
	if out, err := c.command(dir).CombinedOutput(); err != nil {
		t.Errorf("given again: %v\n%s", err, out)
	}
	if got := c.answers(t, dir); got != want {
		t.Errorf("given again:\n%.1500s\nwant\n%.1500s", got, want)
	}
	if c.forgotten == "" {
		return
	}
	for _, place := range searchAll(t, dir, []string{"//" + c.forgotten}) {
		t.Error(place)
	}
}

// someHost returns the host of an address of the index.
func someHost(t *testing.T, data string) (host string) {
	t.Helper()
	x, err := index.OpenReadOnly(project{data}.index())
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	err = x.Walk(t.Context(), index.Filters{}, func(h *index.Hit) error {
		if !strings.Contains(h.Site, "demostadt.example") {
			host = h.Site
		}
		return nil
	})
	if err != nil || host == "" {
		t.Fatalf("no host has an address: %v", err)
	}
	return host
}

// relevantPage returns a page of a host that states an address.
func relevantPage(t *testing.T, data, host string) (page string) {
	t.Helper()
	x, err := index.OpenReadOnly(project{data}.index())
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	err = x.Walk(t.Context(), index.Filters{}, func(h *index.Hit) error {
		if h.Site == host && len(h.Evidence) > 0 {
			page = h.Evidence[0].URL
		}
		return nil
	})
	if err != nil || page == "" {
		t.Fatalf("no page of %s: %v", host, err)
	}
	return page
}

// A replay that is killed leaves project and archive as they were. It is refused to go on in a folder
// that holds its crawl, and ends as if it had not been killed in a new one, or in one in which it had
// not begun it.
func TestReplayKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for some seconds")
	}
	t.Parallel()
	kills := inSoak(1, 20)
	data, flags := townProject(t)
	archive := filepath.Join(data, "archive")
	if out, err := program(append([]string{"crawl", "--quiet", "--max-pages", "100", "--warc", archive}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	replay := func(into string) *exec.Cmd {
		return program("replay", archive, "--quiet", "--data", data, "--into", into)
	}
	found := func(dir string) string {
		t.Helper()
		out, err := program("export", "csv", "--data", dir).Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	whole := filepath.Join(t.TempDir(), "whole")
	began := time.Now()
	if out, err := replay(whole).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	took, want, before := time.Since(began), found(whole), filesOf(t, data)
	hit, refused := 0, 0
	for try := 0; hit < kills && try < 5*kills; try++ {
		into := filepath.Join(t.TempDir(), "into")
		cmd := replay(into)
		began := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.Float64() * float64(took)))
		cmd.Process.Kill()
		if cmd.Wait() == nil {
			took = min(took, time.Since(began)) / 2
			continue
		}
		hit++
		if _, err := os.Stat(project{into}.frontier()); err == nil {
			out, err := replay(into).CombinedOutput()
			refused++
			if err == nil || !strings.Contains(string(out), "what an interrupted replay left") {
				t.Errorf("given again: %v\n%s", err, out)
			}
			if err := os.RemoveAll(into); err != nil {
				t.Fatal(err)
			}
		}
		if out, err := replay(into).CombinedOutput(); err != nil {
			t.Errorf("given again: %v\n%s", err, out)
		} else if got := found(into); got != want {
			t.Errorf("given again: another result of %d bytes, want %d", len(got), len(want))
		}
	}
	if after := filesOf(t, data); !maps.Equal(after, before) {
		t.Errorf("the project that was replayed has changed: %v, before %v", after, before)
	}
	t.Logf("%d of %d were killed within %v, %d of them in their crawl", hit, kills, took, refused)
}

// filesOf returns the sums of the files of a folder, by name.
func filesOf(t *testing.T, dir string) map[string]uint32 {
	t.Helper()
	sums := map[string]uint32{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(name)
		sums[name] = crc32.ChecksumIEEE(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

// A search server that is killed while it answers has changed nothing but its snapshot and the list of
// removal requests. The list has each one that it acknowledged, and a server can be started again.
func TestServeKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for some seconds")
	}
	t.Parallel()
	kills := inSoak(2, 20)
	data, flags := townProject(t)
	if out, err := program(append([]string{"crawl", "--quiet", "--max-pages", "60"}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	before := filesOf(t, data)
	var acknowledged []string
	for range kills {
		serve := program("serve", "--data", data, "--listen", "127.0.0.1:0", "--quiet=false")
		complaints, err := serve.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := serve.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := serve.Start(); err != nil {
			t.Fatal(err)
		}
		address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
		base := ""
		for lines := bufio.NewScanner(io.MultiReader(complaints, out)); base == "" && lines.Scan(); {
			base = address.FindString(lines.Text())
		}
		if base == "" {
			t.Fatal("serve does not say where it listens")
		}
		for n := 0; ; n++ {
			if r, err := http.Get(base + "/v1/search?q=stra%C3%9Fe"); err == nil {
				r.Body.Close()
			}
			reason := fmt.Sprintf("reason %d of process %d", n, serve.Process.Pid)
			r, err := http.PostForm(base+"/bot/removal", url.Values{"what": {"http://a.example/"}, "reason": {reason}, "contact": {"anna@private.example"}})
			if err != nil {
				break
			}
			if r.Body.Close(); r.StatusCode == http.StatusAccepted {
				acknowledged = append(acknowledged, reason)
			}
			if n == 0 {
				time.AfterFunc(rand.N(400*time.Millisecond), func() { serve.Process.Kill() })
			}
		}
		if err := serve.Wait(); err == nil {
			t.Error("serve ended by itself")
		}
	}
	requests := filepath.Join(data, "requests.ndjson")
	text, err := os.ReadFile(requests)
	if err != nil || len(acknowledged) == 0 {
		t.Fatalf("%d requests were acknowledged: %v", len(acknowledged), err)
	}
	for _, reason := range acknowledged {
		if !strings.Contains(string(text), `"`+reason+`"`) {
			t.Errorf("%q was acknowledged and is lost", reason)
		}
	}
	if out, err := program("forget", "--requests", "--data", data).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	after := filesOf(t, data)
	delete(after, requests)
	maps.DeleteFunc(after, func(name string, _ uint32) bool { // which the crawl afterwards removes
		return strings.HasPrefix(name, filepath.Join(project{data}.index(), "snapshots"))
	})
	if !maps.Equal(after, before) {
		t.Errorf("other files have changed: %v, before %v", after, before)
	}
	if out, err := program(append([]string{"crawl", "--quiet", "--max-pages", "70"}, flags...)...).CombinedOutput(); err != nil {
		t.Errorf("a crawl afterwards: %v\n%s", err, out)
	} else if left, err := filepath.Glob(filepath.Join(project{data}.index(), "snapshots", "*")); err != nil || len(left) > 0 {
		t.Errorf("snapshots are left: %v, %v", left, err)
	}
	t.Logf("%d kills, %d removal requests acknowledged", kills, len(acknowledged))
}

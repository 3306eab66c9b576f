package index

import (
	"bufio"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A segment is checked once, however many states name it.
func TestSegmentsIn(t *testing.T) {
	root := []byte("\x00b 0000000000e9.zap a 0000000000e8.zap\x01 0000000000e9.zap 00e9.zap")
	if got, want := segmentsIn(root), []string{"0000000000e8.zap", "0000000000e9.zap"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A file of the index that was changed or cut short anywhere is an error that
// names it, or makes no difference; the process goes on in any case.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	whole := t.TempDir()
	x := openDir(t, whole)
	put(t, x, town()...)
	x.Close()
	want := answers(t, whole)
	var files []string
	filepath.WalkDir(whole, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, strings.TrimPrefix(name, whole))
		}
		return err
	})
	r := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for i := range 200 {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		file := files[r.IntN(len(files))]
		text, err := os.ReadFile(dir + file)
		if err != nil {
			t.Fatal(err)
		}
		at := r.IntN(len(text))
		what := fmt.Sprintf("%s: bit flipped at %d of %d", file, at, len(text))
		if i%4 == 0 {
			what = fmt.Sprintf("%s: %d of %d bytes", file, at, len(text))
			text = text[:at]
		} else {
			text[at] ^= 1 << r.IntN(8)
		}
		if err := os.WriteFile(dir+file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		y, err := Open(dir)
		if err != nil {
			refused++
			continue
		}
		y.Close()
		if got := answers(t, dir); got != want {
			t.Errorf("%s: other answers:\n%s\nwant\n%s", what, got, want)
		}
	}
	if refused < 50 {
		t.Errorf("only %d of 200 were refused", refused)
	}
}

// answers asks an index a few things.
func answers(t *testing.T, dir string) string {
	x, err := OpenReadOnly(dir)
	if err != nil {
		return err.Error()
	}
	defer x.Close()
	var b strings.Builder
	for _, q := range []Query{{}, {Text: "tischlerei"}, {Filters: Filters{Postcode: []string{"26122"}}, Facets: []Facet{ByStreet}}} {
		r := find(t, x, q)
		fmt.Fprintln(&b, r.Total, names(r), r.Facets)
	}
	return b.String()
}

// A process that is killed while it writes loses no address that was
// acknowledged.
func TestKilled(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv("GAZEHOUND_KILLED_DIR"); dir != "" {
		writeUntilKilled(t, dir)
		return
	}
	r := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	acknowledged := map[string]bool{}
	for round := range 20 {
		child := exec.Command(os.Args[0], "-test.run", "^TestKilled$")
		child.Env = append(os.Environ(), "GAZEHOUND_KILLED_DIR="+dir, fmt.Sprintf("GAZEHOUND_KILLED_ROUND=%d", round))
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		read := bufio.NewReader(out)
		for writing := false; ; {
			line, err := read.ReadString('\n')
			if err != nil { // it was killed; the rest of a line counts for nothing
				break
			}
			if url, ok := strings.CutPrefix(strings.TrimSpace(line), "put "); ok {
				acknowledged[url] = true
			}
			if !writing {
				writing = true
				time.AfterFunc(time.Duration(r.IntN(150))*time.Millisecond, func() { child.Process.Kill() })
			}
		}
		child.Wait() // its error is the kill
		x, err := Open(dir)
		if err != nil {
			t.Fatalf("after kill %d: %v", round, err)
		}
		there := map[string]bool{}
		if err := x.Pages(t.Context(), func(url string) { there[url] = true }); err != nil {
			t.Fatal(err)
		}
		for url := range acknowledged {
			if !there[url] {
				t.Errorf("after kill %d: %s was lost", round, url)
			}
		}
		if s, err := x.Stats(t.Context()); err != nil || s.Addresses < len(acknowledged) || find(t, x, Query{}).Total != s.Addresses {
			t.Errorf("%d acknowledged, %+v, %v", len(acknowledged), s, err)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(acknowledged) < 20 {
		t.Errorf("only %d were acknowledged", len(acknowledged))
	}
	t.Logf("%d addresses acknowledged", len(acknowledged))
}

// A process that is killed while it makes the index leaves one that opens.
func TestKilledAtStart(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for range 15 {
		dir := filepath.Join(t.TempDir(), "index")
		child := exec.Command(os.Args[0], "-test.run", "^TestKilled$")
		child.Env = append(os.Environ(), "GAZEHOUND_KILLED_DIR="+dir)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			if _, err := os.Stat(filepath.Join(dir, "index.json")); err == nil {
				break
			}
		}
		time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
		child.Process.Kill()
		child.Wait() // its error is the kill
		x, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func writeUntilKilled(t *testing.T, dir string) {
	x := openDir(t, dir)
	round := os.Getenv("GAZEHOUND_KILLED_ROUND")
	var workers sync.WaitGroup
	for w := range 4 {
		workers.Go(func() {
			for i := 0; ; i++ {
				url := fmt.Sprintf("https://h%d.example/%s-%d", w, round, i)
				put(t, x, page(url, "A", "de", fmt.Sprintf("Eins\n{Straße %s %d, 26122 Oldenburg}", round, 10*i+w)))
				fmt.Println("put " + url)
			}
		})
	}
	workers.Wait()
}

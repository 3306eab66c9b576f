package frontier

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gazehound/crawler/weburl"
)

// holds names the files of a store that hold a text anywhere: as they are, or in the records of
// tables, deleted ones too.
func holds(t *testing.T, dir, text string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Dir(dir), func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(name)
		if strings.Contains(string(raw), text) {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = salvage(dir, func(key []byte, _ uint64, value []byte, _ bool) error {
		if strings.Contains(string(key)+string(value), text) {
			files = append(files, fmt.Sprintf("record %q", key))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func forgetHost(ctx context.Context, f *Frontier) error {
	_, err := f.Forget(ctx, Removal{
		URL:  func(u weburl.URL) bool { return u.Host() == "h1.example" },
		Text: func(s string) bool { return strings.Contains(s, "h1.example") || strings.Contains(s, "Anna") },
	}, func(done, all int64) {})
	return err
}

// After Forget no file holds what was forgotten, and the rest is there.
func TestForgetBytes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "frontier")
	f, _ := fill(t, Options{Dir: dir})
	if err := errors.Join(f.PutMeta("robots http://h1.example", []byte("x")), f.PutMeta("news", []byte("of h1.example")), f.PutMeta("other", []byte("kept"))); err != nil {
		t.Fatal(err)
	}
	beside := Entry{URL: parse(t, "http://h2.example/x"), Around: "Anna Muster, Postgasse 20"}
	theirs := []Entry{ // which wait for another node
		{URL: parse(t, "http://h1.example/theirs"), Owner: "b"},
		{URL: parse(t, "http://h2.example/theirs"), Owner: "b", Title: "Anna Muster"},
	}
	if _, err := f.Push(t.Context(), append(theirs, beside)...); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil { // into a table
		t.Fatal(err)
	}
	if len(holds(t, dir, "h1.example")) == 0 || len(holds(t, dir, "Anna")) == 0 {
		t.Fatal("the test finds nothing that is there")
	}
	f = open(t, Options{Dir: dir})
	if err := forgetHost(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"h1.example", "Anna", "Postgasse"} {
		if files := holds(t, dir, text); len(files) > 0 {
			t.Errorf("%s is still in %q", text, files)
		}
	}
	f = open(t, Options{Dir: dir})
	if got := f.Totals(); got.Queued != 23 || got.Visited != 18 || got.Skipped[ReasonForgotten] != 10 {
		t.Errorf("totals %+v", got)
	}
	if e, known, err := f.Get(KeyOf(beside.URL)); err != nil || !known || e.Around != "" {
		t.Errorf("what is beside it: %+v, %v, %v", e, known, err)
	}
	out, err := f.Outgoing(t.Context())
	if err != nil || len(out.Links) != 1 || out.Links[0].URL != theirs[1].URL || out.Links[0].Title != "" {
		t.Errorf("what waits for another node: %+v, %v", out.Links, err)
	}
	if v, err := f.Meta("other"); err != nil || string(v) != "kept" {
		t.Errorf("other value: %q, %v", v, err)
	}
	checkStore(t, f)

	// A store that is rebuilt of it knows what was forgotten, too.
	before := f.Totals()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(t.TempDir(), "again")
	if lost, err := Rebuild(dir, again); err != nil || len(lost) > 0 {
		t.Fatalf("Rebuild = %v, %v", lost, err)
	}
	f = open(t, Options{Dir: again})
	if after := f.Totals(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("totals %+v, before %+v", after, before)
	}
	if n, err := f.Push(t.Context(), Entry{URL: parse(t, "http://h1.example/1")}); n != 0 || err != nil {
		t.Errorf("a forgotten URL was queued again: %v", err)
	}
}

// A process that is killed while it forgets leaves a store that opens, and the next one
// completes the work.
func TestForgetKilled(t *testing.T) {
	if dir := os.Getenv("GAZEHOUND_REWRITE_DIR"); dir != "" {
		f := open(t, Options{Dir: dir})
		if err := forgetHost(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Parallel()
	whole := filepath.Join(t.TempDir(), "frontier")
	f, _ := fill(t, Options{Dir: whole})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	kills := 20
	if testing.Short() {
		kills = 6
	}
	for i := range kills {
		dir := filepath.Join(t.TempDir(), "frontier")
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		child := exec.Command(os.Args[0], "-test.run", "^TestForgetKilled$")
		child.Env = append(os.Environ(), "GAZEHOUND_REWRITE_DIR="+dir)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(20+12*i) * time.Millisecond)
		child.Process.Kill()
		child.Wait() // its error is the kill
		f := open(t, Options{Dir: dir})
		if got := f.Totals(); got.Visited+got.Queued != 40 {
			t.Errorf("kill %d: %+v", i, got)
		}
		checkStore(t, f)
		if err := forgetHost(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		if files := holds(t, dir, "h1.example"); len(files) > 0 {
			t.Errorf("kill %d: it is still in %q", i, files)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A process that is killed while it closes a store leaves one that opens: its logs are gone then, and
// its sums are not written yet.
func TestCloseKilled(t *testing.T) {
	if dir := os.Getenv("GAZEHOUND_CLOSE_DIR"); dir != "" {
		f := open(t, Options{Dir: dir})
		if _, err := f.Push(t.Context(), Entry{URL: parse(t, "http://h9.example/")}); err != nil {
			t.Fatal(err)
		}
		f.Close()
		return
	}
	kills := 0
	var took time.Duration // from the first log of a child, which no kill meets, to its end
	// Beside other tests a child may end first.
	for try := 0; try < 9 || kills == 0 && try < 90; try++ {
		dir := filepath.Join(t.TempDir(), "frontier")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		child := exec.CommandContext(ctx, os.Args[0], "-test.run", "^TestCloseKilled$")
		child.Env = append(os.Environ(), "GAZEHOUND_CLOSE_DIR="+dir)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1) // the kill
		go func() { ended <- child.Wait() }()
		logs := func() int { names, _ := filepath.Glob(filepath.Join(dir, "*.mem")); return len(names) }
		for logs() == 0 && len(ended) == 0 {
			time.Sleep(200 * time.Microsecond) // the child starts
		}
		began := time.Now()
		until := func() bool { return logs() == 0 } // the moment in question, too short to be met on a quick disk
		switch {
		case try == 0:
			until = func() bool { return false }
		case try%2 == 0:
			after := rand.N(took)
			until = func() bool { return time.Since(began) > after }
		}
		for !until() && len(ended) == 0 {
		}
		took = max(took, time.Since(began))
		child.Process.Kill()
		if err := <-ended; err != nil {
			kills++
		}
		if cancel(); ctx.Err() == context.DeadlineExceeded {
			t.Fatal("the child neither wrote its logs nor ended within a minute")
		}
		checkStore(t, open(t, Options{Dir: dir}))
	}
	if kills == 0 {
		t.Error("every child ended before its kill")
	}
	t.Logf("%d kills", kills)
}

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/index"
	"gazehound/internal/corrections"

	"github.com/rogpeppe/go-internal/testscript"
)

// age makes the stores of a project look as an older version left them: of the formats before, whose
// records this version reads as they are. tree is the format of the crawl tree; 0: only the model is older.
func age(p project, tree int) error {
	change := func(name string, change func(text []byte) []byte) error {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(name, change(text), 0o644)
	}
	err := change(p.model(), func(text []byte) []byte {
		_, rest, _ := bytes.Cut(text, []byte("\n"))
		return append([]byte("gazehound predictor 4 1\n"), rest...)
	})
	if tree == 0 || err != nil {
		return err
	}
	return errors.Join(
		change(filepath.Join(p.frontier(), "FORMAT"), func([]byte) []byte {
			return fmt.Appendf(nil, "gazehound frontier %d\n", tree)
		}),
		change(filepath.Join(p.index(), "index.json"), func(text []byte) []byte {
			return regexp.MustCompile(`"format":\d+`).ReplaceAll(text, fmt.Appendf(nil, `"format":%d`, index.Format-1))
		}))
}

// makeOlder is age in a script.
func makeOlder(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: age DIR FORMAT|model")
	}
	tree, _ := strconv.Atoi(args[1])
	ts.Check(age(project{ts.MkAbs(args[0])}, tree))
}

// contents returns a hash of each file below names, by its path below dir.
func contents(t *testing.T, dir string, names ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range names {
		err := filepath.WalkDir(filepath.Join(dir, name), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			sum := sha256.Sum256(data)
			rel, _ := filepath.Rel(dir, path)
			all[rel] = hex.EncodeToString(sum[:])
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// agedTown crawls a town in two rounds, between which a shop closes, another page changes and a person
// labels a page, and makes of it the data of an older version. It returns what commands answered before.
func agedTown(t *testing.T) (data string, flags []string, answers func(dir string) string, want string) {
	t.Helper()
	data, flags, _, ledger := servedTown(t)
	config := filepath.Join(data, "config.yaml")
	f, err := os.OpenFile(config, os.O_APPEND|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.WriteString("\nrevisit: {first: 1ms, min: 1ms, max: 1ms}\n")
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	inside := func(want int, args ...string) string {
		t.Helper()
		var out, complaints bytes.Buffer
		if code := run(t.Context(), args, strings.NewReader(""), &out, &complaints); code != want {
			t.Fatalf("%v: exit %d, %s", args, code, complaints.String())
		}
		return out.String()
	}
	crawl := append([]string{"crawl", "--config", config, "--quiet", "--max-pages", "150", "--warc", filepath.Join(data, "archive")}, flags...)
	inside(exitOK, crawl...)
	var pages []string // of different addresses
	renamed := ""
	x, err := index.OpenReadOnly(project{data}.index())
	if err == nil {
		err = x.Walk(t.Context(), index.Filters{}, func(h *index.Hit) error {
			if h.Mentions == 1 {
				pages = append(pages, h.Evidence[0].URL)
			} else {
				renamed = h.ID
			}
			return nil
		})
		err = errors.Join(err, x.Close())
	}
	if err != nil || len(pages) < 3 || renamed == "" {
		t.Fatalf("%d pages, renamed %q: %v", len(pages), renamed, err)
	}
	closed, labelled := pages[0], pages[len(pages)-1]
	town := ledger.Handler
	ledger.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.String() == closed {
			http.Error(w, "closed", http.StatusGone)
			return
		}
		town.ServeHTTP(w, r)
	})
	inside(exitOK, append(crawl, "--revisit")...)
	inside(exitOK, "label", labelled, "not", "--data", data)
	log, err := corrections.Open(data)
	if err == nil {
		_, err = log.Add(nil, corrections.Entry{Who: corrections.Operator, What: corrections.Name, Address: renamed, Value: "Zum Anker"})
	}
	if err == nil {
		_, err = correctIndex(t.Context(), project{data}, log, &corrections.Position{})
	}
	if err != nil {
		t.Fatal(err)
	}
	answers = func(dir string) string {
		t.Helper()
		all := ""
		for _, args := range [][]string{{"search", "--json", "--limit", "500"}, {"pages"}, {"export", "geojson"}, {"report", "--json"}} {
			all += inside(exitOK, append(args, "--data", dir)...) + "\n"
		}
		all = regexp.MustCompile(`"(cursor|name)":"[^"]*"`).ReplaceAllString(all, "") // the names of folders differ
		return strings.ReplaceAll(all, dir, "DIR")
	}
	want = answers(data)
	if !strings.Contains(want, `"@gone":"2`) || strings.Count(want, closed) == 0 {
		t.Fatalf("no shop has closed:\n%.2000s", want)
	}
	if !strings.Contains(want, "Zum Anker") {
		t.Fatalf("no card was renamed:\n%.2000s", want)
	}
	if err := age(project{data}, frontier.OldestFormat); err != nil {
		t.Fatal(err)
	}
	return data, flags, answers, want
}

// The data of an older version are, once remade from crawl tree and archive, those of before: a closed shop
// is closed, and what a person said counts. An upgrade that is killed at any moment leaves the old files as
// they were, and the same command completes it. "make soak" kills it 20 times.
func TestUpgrade(t *testing.T) {
	if testing.Short() {
		t.Skip("a crawl, and kills for some seconds")
	}
	t.Parallel()
	kills := inSoak(1, 20)
	data, flags, answers, want := agedTown(t)
	old := contents(t, data, "frontier", "index", "model.gob")
	copied := func() string {
		dir := filepath.Join(t.TempDir(), "data")
		if err := os.CopyFS(dir, os.DirFS(data)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	// kept checks that the old files are as they were, each at its place or in the folder for them.
	kept := func(dir string) {
		t.Helper()
		places, _ := filepath.Glob(filepath.Join(dir, keptBefore+"*"))
		for name, sum := range old {
			found := false
			for _, place := range append(places, dir) {
				if text, err := os.ReadFile(filepath.Join(place, name)); err == nil {
					is := sha256.Sum256(text)
					found = found || hex.EncodeToString(is[:]) == sum
				}
			}
			if !found {
				t.Errorf("%s is gone or has changed", name)
			}
		}
	}
	whole := copied()
	began := time.Now()
	out, err := program("upgrade", "--data", whole).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	took := time.Since(began)
	t.Logf("%v\n%s", took, out)
	kept(whole)
	if got := answers(whole); got != want {
		t.Errorf("after the upgrade:\n%s\nbefore:\n%s", differing(got, want), differing(want, got))
	}
	for i := range kills {
		dir := copied()
		cmd := program("upgrade", "--data", dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.Float64() * float64(took)))
		cmd.Process.Kill()
		hit := cmd.Wait() != nil
		kept(dir)
		if out, err := program("upgrade", "--data", dir).CombinedOutput(); err != nil {
			t.Errorf("kill %d: given again: %v\n%s", i, err, out)
		}
		kept(dir)
		if got := answers(dir); got != want {
			t.Errorf("kill %d (hit %v):\n%s\nwant\n%s", i, hit, differing(got, want), differing(want, got))
		}
	}

	// A new project of the same recorded pages says the same.
	var said bytes.Buffer
	again := filepath.Join(t.TempDir(), "again")
	args := []string{"replay", filepath.Join(whole, "archive"), "--data", whole, "--into", again, "--quiet"}
	if code := run(t.Context(), args, strings.NewReader(""), &said, &said); code != exitOK {
		t.Fatalf("replay: exit %d: %s", code, said.String())
	}
	is, was := found(answers(again)), found(want)
	if is != was {
		t.Errorf("replayed:\n%s\ncrawled:\n%s", differing(is, was), differing(was, is))
	}

	// The crawl goes on from there.
	said.Reset()
	args = append([]string{"crawl", "--quiet", "--max-pages", "160", "--data", whole}, flags[2:]...)
	if code := run(t.Context(), args, strings.NewReader(""), &said, &said); code != exitOK {
		t.Errorf("exit %d: %s", code, said.String())
	}
}

// An upgrade that is killed while it replaces the stores has moved some of them: other commands are refused,
// and the same command moves the rest.
func TestUpgradeKilledAtItsEnd(t *testing.T) {
	t.Parallel()
	for moved := range 6 {
		p := project{t.TempDir()}
		write := func(name, text string) {
			t.Helper()
			err := os.MkdirAll(filepath.Dir(name), 0o755)
			if err == nil {
				err = os.WriteFile(name, []byte(text), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		in := func(p project) []string {
			return []string{filepath.Join(p.frontier(), "FORMAT"), filepath.Join(p.index(), "index.json"), p.model()}
		}
		keep := project{filepath.Join(p.dir, keptBefore+"x")}
		for _, name := range in(p) {
			write(name, "old")
		}
		for _, name := range in(p.upgrading()) {
			write(name, "new")
		}
		write(p.upgradeDone(), `{"keep":"`+filepath.Base(keep.dir)+`"}`)
		if err := os.MkdirAll(keep.dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for i := range moved { // two moves for each store
			from, to := p.stores()[i/2], keep.stores()[i/2]
			if i%2 == 1 {
				from, to = p.upgrading().stores()[i/2], p.stores()[i/2]
			}
			if err := os.Rename(from, to); err != nil {
				t.Fatal(err)
			}
		}
		var said bytes.Buffer
		code := run(t.Context(), []string{"pages", "--data", p.dir}, strings.NewReader(""), &said, &said)
		if code != exitInvalidInput || !strings.Contains(said.String(), "was interrupted. \"gazehound upgrade") {
			t.Errorf("after %d moves: exit %d, %s", moved, code, said.String())
		}
		said.Reset()
		code = run(t.Context(), []string{"upgrade", "--data", p.dir}, strings.NewReader(""), &said, &said)
		if code != exitOK {
			t.Errorf("after %d moves: exit %d, %s", moved, code, said.String())
		}
		for text, names := range map[string][]string{"new": in(p), "old": in(keep)} {
			for _, name := range names {
				if is, err := os.ReadFile(name); string(is) != text {
					t.Errorf("after %d moves: %s is %q, want %q (%v)", moved, name, is, text, err)
				}
			}
		}
		if fileExists(p.upgrading().dir) {
			t.Errorf("after %d moves: %s is still there", moved, p.upgrading().dir)
		}
	}
}

// found returns the lines of answers that are an address.
func found(answers string) string {
	var lines []string
	for line := range strings.Lines(answers) {
		if strings.Contains(line, `"@source_uri"`) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// differing returns the lines of a that b has not, at most 20 of them.
func differing(a, b string) string {
	there := map[string]bool{}
	for line := range strings.Lines(b) {
		there[line] = true
	}
	var lines []string
	for line := range strings.Lines(a) {
		if !there[line] && len(lines) < 20 {
			lines = append(lines, line[:min(len(line), 600)])
		}
	}
	return strings.Join(lines, "\n")
}

// The stores before two upgrades of one second lie in two folders.
func TestUpgradesOfOneSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := project{t.TempDir()}
		for _, end := range []string{"", "-2", "-3"} {
			want := "before-upgrade-20000101-000000" + end
			name := p.nameKept()
			if name != want {
				t.Errorf("%s, want %s", name, want)
			}
			if err := os.Mkdir(filepath.Join(p.dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	})
}

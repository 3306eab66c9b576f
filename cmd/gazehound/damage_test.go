package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A file of a data directory that was changed or cut short anywhere is an error of the commands that
// need it, or does not change their answers; reading changes no file. This holds after a crawl has
// ended and after one was killed. Files that people may edit, such as config.yaml and seeds.txt, are
// left out. "make damage" makes 2,000 damages; "make test" has damage.txt.
func TestDamage(t *testing.T) {
	times, _ := strconv.Atoi(os.Getenv("GAZEHOUND_DAMAGE"))
	if times == 0 {
		t.Skip("\"make damage\" damages the files of a data directory 2000 times")
	}
	data, flags := townProject(t)
	crawl := append([]string{"crawl", "--quiet", "--max-pages", "60", "--warc", filepath.Join(data, "archive")}, flags...)
	if out, err := program(crawl...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	log := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(log, []byte("192.0.2.1 - - [21/Nov/2026:10:00:00 +0000] \"GET / HTTP/1.1\" 200 9 \"-\" \"Mozilla\"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	runText(t, "clickstream", "import", log, "--site", "http://a.example", "--data", data)
	t.Run("ended", func(t *testing.T) { damage(t, data, times/2, 5) })
	crawl[slices.Index(crawl, "60")] = "0"
	// The delay, so that it does not end before it is seen to run.
	p := startProgram(t, append(crawl, "--admin", "127.0.0.1:0", "--delay", "200ms")...)
	ready(t, data, 90)
	p.Process.Kill()
	p.end(t)
	t.Run("killed", func(t *testing.T) { damage(t, data, times-times/2, 7) })
}

// damagedQuestions are commands that read, each with the files that its answer needs.
var damagedQuestions = [][]string{
	{"pages", "--json"}, {"search", "--json"}, {"export", "csv", "-o", "-"}, {"report", "--json"}, {"export", "cdxj", "-o", "-"}, {"model", "show", "--json"},
	{"clickstream", "top", "--json"}, {"gazetteer", "stats", "--json"}, {"status", "--json"}, {"explain", "--json", "PAGE"},
}

// damage changes a file of a data directory that many times, and runs all commands each time.
func damage(t *testing.T, data string, times int, seed uint64) {
	edited := []string{"config.yaml", "seeds.txt", "region.geojson", "LICENCES", "archives.txt", "admin.json"}
	var files []string
	err := filepath.WalkDir(data, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !slices.Contains(edited, d.Name()) {
			files = append(files, name)
		}
		return err
	})
	if err != nil || len(files) < 12 {
		t.Fatalf("%q, %v", files, err)
	}
	page := strings.Fields(runText(t, "seeds", "list", "--data", data))[0]
	ask := func(args []string) (code int, answer, says string) {
		var out, complaints bytes.Buffer
		args = append(slices.Clone(args), "--data", data)
		if i := slices.Index(args, "PAGE"); i > 0 {
			args[i] = page
		}
		code = run(context.Background(), args, strings.NewReader(""), &out, &complaints)
		return code, out.String(), complaints.String()
	}
	var want []string
	for _, args := range damagedQuestions {
		code, answer, says := ask(args)
		if code != exitOK {
			t.Fatalf("%v: exit %d: %s", args, code, says)
		}
		want = append(want, answer)
	}
	r := rand.New(rand.NewPCG(seed, 6))
	refused := 0
	hit := map[string]int{} // by folder
	for i := range times {
		name := files[r.IntN(len(files))]
		inside, _ := filepath.Rel(data, name)
		folder, _, _ := strings.Cut(inside, string(filepath.Separator))
		hit[folder]++
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		at := r.IntN(max(1, len(text)))
		what := fmt.Sprintf("%s: bit flipped at %d of %d", inside, at, len(text))
		bad := bytes.Clone(text)
		if i%4 == 0 || len(text) == 0 {
			what = fmt.Sprintf("%s: %d of %d bytes", inside, at, len(text))
			bad = bad[:min(at, len(text))]
		} else {
			bad[at] ^= 1 << r.IntN(8)
		}
		if err := os.WriteFile(name, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		told := false
		for i, args := range damagedQuestions {
			code, answer, says := ask(args)
			switch {
			case code != exitOK || strings.Contains(says, "warning: "):
				told = true
				if strings.TrimSpace(says) == "" && !strings.Contains(answer, "exit_error") {
					t.Errorf("%s: %v: exit %d without a word", what, args, code)
				}
			case answer != want[i]:
				from := alike(answer, want[i])
				t.Errorf("%s: %v: another answer:\n%.500s\nwant\n%.500s", what, args, answer[from:], want[i][from:])
			}
		}
		if told {
			refused++
		}
		if now, err := os.ReadFile(name); err != nil || !bytes.Equal(now, bad) {
			t.Errorf("%s: asking has changed the file, %v", what, err)
		}
		if err := os.WriteFile(name, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if refused < times/4 {
		t.Errorf("only %d of %d were refused", refused, times)
	}
	t.Logf("%d damages of %d files %v, %d told of, the others made no difference", times, len(files), hit, refused)
}

// alike returns where two texts begin to differ, less some bytes to find the place by.
func alike(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return max(0, n-100)
}

// runText returns what a command that succeeds prints.
func runText(t *testing.T, args ...string) string {
	t.Helper()
	var out, complaints bytes.Buffer
	if code := run(t.Context(), args, strings.NewReader(""), &out, &complaints); code != exitOK {
		t.Fatal(fmt.Sprint(args), code, complaints.String())
	}
	return out.String()
}

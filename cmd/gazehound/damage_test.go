package main

import (
	"bytes"
	"cmp"
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
// need it, or makes no difference to what they answer; nothing is changed by asking. Files that people
// may edit, such as config.yaml and seeds.txt, are left out. "make damage" makes 2,000 damages.
func TestDamage(t *testing.T) {
	times, _ := strconv.Atoi(os.Getenv("GAZEHOUND_DAMAGE"))
	times = cmp.Or(times, 30)
	data, flags := townProject(t)
	archive := filepath.Join(data, "archive")
	if out, err := program(append([]string{"crawl", "--quiet", "--max-pages", "60", "--warc", archive}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var files []string
	err := filepath.WalkDir(data, func(name string, d fs.DirEntry, err error) error {
		inside, _ := filepath.Rel(data, name)
		top, _, below := strings.Cut(inside, string(filepath.Separator))
		if err == nil && !d.IsDir() && (below && top != "clickstream" || top == "model.gob" || top == "basemap") {
			files = append(files, name)
		}
		return err
	})
	if err != nil || len(files) < 8 {
		t.Fatalf("%q, %v", files, err)
	}
	questions := [][]string{
		{"pages", "--json"}, {"search", "--json"}, {"export", "csv", "-o", "-"}, {"report", "--json"}, {"export", "cdxj", "-o", "-"},
	}
	ask := func(args []string) (code int, answer, says string) {
		var out, complaints bytes.Buffer
		code = run(context.Background(), append(slices.Clone(args), "--data", data), strings.NewReader(""), &out, &complaints)
		return code, out.String(), complaints.String()
	}
	var want []string
	for _, args := range questions {
		code, answer, says := ask(args)
		if code != exitOK {
			t.Fatalf("%v: exit %d: %s", args, code, says)
		}
		want = append(want, answer)
	}
	r := rand.New(rand.NewPCG(5, 6))
	refused := 0
	for i := range times {
		name := files[r.IntN(len(files))]
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		at := r.IntN(max(1, len(text)))
		what := fmt.Sprintf("%s: bit flipped at %d of %d", name, at, len(text))
		bad := bytes.Clone(text)
		if i%4 == 0 || len(text) == 0 {
			what = fmt.Sprintf("%s: %d of %d bytes", name, at, len(text))
			bad = bad[:min(at, len(text))]
		} else {
			bad[at] ^= 1 << r.IntN(8)
		}
		if err := os.WriteFile(name, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		told := false
		for i, args := range questions {
			code, answer, says := ask(args)
			switch {
			case code != exitOK || strings.Contains(says, "warning: "):
				told = true
				if strings.TrimSpace(says) == "" && !strings.Contains(answer, "exit_error") {
					t.Errorf("%s: %v: exit %d without a word", what, args, code)
				}
			case answer != want[i]:
				t.Errorf("%s: %v: another answer:\n%.500s\nwant\n%.500s", what, args, answer, want[i])
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
	t.Logf("%d damages, %d told of", times, refused)
}

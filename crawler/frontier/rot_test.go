package frontier_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gazehound/crawler/frontier"
)

// TestRot flips one bit of a table file. The store is refused and stays as it is. In one that is
// rebuilt of it, what was in that block may be lost, but for the rest nothing is lost and nothing is
// visited again.
func TestRot(t *testing.T) {
	const pages, before = 5_000, 200
	const block = 300 // URLs at most whose records are in one block, or whose words are
	whole := t.TempDir()
	f := open(t, frontier.Options{Dir: whole})
	for i := 0; i < pages; i += 250 {
		var es []frontier.Entry
		for j := i; j < i+250; j++ {
			es = append(es, entry(j%300, j, float64(j%1000)/1000))
		}
		push(t, f, es...)
	}
	for range before {
		done(t, f, next(t, f), page)
	}
	closed(t, f)
	tables, err := filepath.Glob(filepath.Join(whole, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatal("no tables", err)
	}
	places := 6
	if testing.Short() {
		places = 2
	}
	for i := range places {
		t.Run(fmt.Sprintf("%d of %d", i, places), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "copy")
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			name := filepath.Join(dir, filepath.Base(tables[0]))
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			data[len(data)*i/places+500] ^= 0x10
			if err := os.WriteFile(name, data, 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := frontier.Open(frontier.Options{Dir: dir}); !errors.Is(err, frontier.ErrDamaged) ||
				!strings.Contains(err.Error(), filepath.Base(name)) {
				t.Fatalf("Open = %v, want damage of %s", err, name)
			}
			damaged := dir
			dir = filepath.Join(t.TempDir(), "rebuilt")
			if lost, err := frontier.Rebuild(damaged, dir); err != nil || len(lost) != 1 {
				t.Fatalf("Rebuild = %v, %v", lost, err)
			}
			f := open(t, frontier.Options{Dir: dir})
			// Pages are linked again: those that are known stay known.
			added := 0
			for j := 0; j < pages; j += 250 {
				var es []frontier.Entry
				for k := j; k < j+250; k++ {
					es = append(es, entry(k%300, k, 0))
				}
				added += push(t, f, es...)
			}
			if added > block {
				t.Errorf("%d known URLs were taken for new", added)
			}
			times := map[string]int{}
			twice := 0
			for _, u := range drain(t, f) {
				if times[u]++; times[u] > 1 {
					twice++
				}
			}
			got := f.Totals()
			if len(times) < pages-before-block || twice > block {
				t.Errorf("served %d of %d, %d of them twice; %+v", len(times), pages-before, twice, got)
			}
			if got.Queued != 0 || got.Leased != 0 {
				t.Errorf("totals %+v", got)
			}
			closed(t, f)
			f = open(t, frontier.Options{Dir: dir})
			if urls := drain(t, f); len(urls) > 0 {
				t.Errorf("%d served after the end", len(urls))
			}
		})
	}
}

package clicklog

import (
	"bufio"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	tableName   = "table.tsv"
	tableHeader = "# url\tseconds\tvisits\tsessions"
)

// spill writes the pages in memory to a file when they are too many.
func (t *tally) spill() error {
	if len(t.pages) < t.limit {
		return nil
	}
	path := filepath.Join(t.dir, fmt.Sprintf("%08d.pages.tmp", len(t.files)))
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	t.files = append(t.files, path)
	w := bufio.NewWriter(f)
	for _, p := range t.sorted() {
		writePage(w, p)
	}
	clear(t.pages)
	return errors.Join(w.Flush(), f.Close())
}

// close removes the temporary files.
func (t *tally) close() {
	for _, f := range t.files {
		os.Remove(f) // a leftover is swept away by Open
	}
}

// write merges files and memory into the table, by URL.
func (t *tally) write(path string) (pages int64, err error) {
	type run struct {
		in   *bufio.Scanner
		page *Page
	}
	var runs []*run
	advance := func(r *run) error {
		r.page = nil
		if r.in.Scan() {
			p, err := readPage(r.in.Text())
			r.page = &p
			return err
		}
		return r.in.Err()
	}
	for _, name := range t.files {
		f, err := os.Open(name)
		if err != nil {
			return 0, fmt.Errorf("rank pages: %w", err)
		}
		defer f.Close()
		r := &run{in: bufio.NewScanner(f)}
		r.in.Buffer(nil, 2*MaxLine)
		if err := advance(r); err != nil {
			return 0, fmt.Errorf("rank pages: %w", err)
		}
		runs = append(runs, r)
	}
	last := t.sorted()
	return pages, writeFile(path, func(out io.Writer) error {
		w := bufio.NewWriter(out)
		fmt.Fprintln(w, tableHeader)
		for {
			sum := Page{}
			for _, r := range runs {
				if r.page != nil && (sum.URL == "" || r.page.URL < sum.URL) {
					sum.URL = r.page.URL
				}
			}
			if len(last) > 0 && (sum.URL == "" || last[0].URL < sum.URL) {
				sum.URL = last[0].URL
			}
			if sum.URL == "" {
				return w.Flush()
			}
			for _, r := range runs {
				if r.page != nil && r.page.URL == sum.URL {
					sum.add(r.page)
					if err := advance(r); err != nil {
						return err
					}
				}
			}
			if len(last) > 0 && last[0].URL == sum.URL {
				sum.add(last[0])
				last = last[1:]
			}
			writePage(w, &sum)
			pages++
		}
	})
}

func (p *Page) add(q *Page) {
	p.Stay += q.Stay
	p.Visits += q.Visits
	p.Sessions += q.Sessions
}

func writePage(w *bufio.Writer, p *Page) {
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\n", p.URL, int64(p.Stay/time.Second), p.Visits, p.Sessions) // errors stay with w until Flush
}

func readPage(line string) (p Page, err error) {
	f := strings.Split(line, "\t")
	if len(f) != 4 || f[0] == "" {
		return p, errors.New("not a line of a table of page importance")
	}
	p.URL = f[0]
	var n [3]int64
	for i := range n {
		if n[i], err = strconv.ParseInt(f[i+1], 10, 64); err != nil || n[i] < 0 {
			return p, fmt.Errorf("%q is not a count", f[i+1])
		}
	}
	if n[0] > math.MaxInt64/int64(time.Second) {
		return p, fmt.Errorf("%d seconds are too many", n[0])
	}
	p.Stay, p.Visits, p.Sessions = time.Duration(n[0])*time.Second, n[1], n[2]
	return p, nil
}

// A Table holds LR(d) of many pages, at 12 bytes a page. It is safe for
// concurrent use.
type Table struct {
	hash []uint64 // of URLs, sorted
	stay []uint32 // seconds, capped
	max  uint32
}

// Load reads the table of the store in dir that Rank wrote. The error wraps
// fs.ErrNotExist where there is none.
func Load(dir string) (*Table, error) {
	t := &Table{}
	type entry struct {
		hash uint64
		stay uint32
	}
	var all []entry
	err := Pages(dir, func(p Page) error {
		e := entry{hashURL(p.URL), uint32(min(p.Stay/time.Second, math.MaxUint32))}
		all = append(all, e)
		t.max = max(t.max, e.stay)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b entry) int {
		if a.hash < b.hash {
			return -1
		}
		return 1
	})
	t.hash, t.stay = make([]uint64, len(all)), make([]uint32, len(all))
	for i, e := range all {
		t.hash[i], t.stay[i] = e.hash, e.stay
	}
	return t, nil
}

// Pages calls fn for every page of the table of the store in dir, by URL.
func Pages(dir string, fn func(Page) error) error {
	path := filepath.Join(dir, tableName)
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read click table: %w", err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 2*MaxLine)
	for n := 1; in.Scan(); n++ {
		if n == 1 {
			if in.Text() != tableHeader {
				return fmt.Errorf("%s:1: not a table of page importance; run \"gazehound clickstream import\" again", path)
			}
			continue
		}
		p, err := readPage(in.Text())
		if err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
		if err := fn(p); err != nil {
			return err
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Len is the number of pages.
func (t *Table) Len() int { return len(t.hash) }

// Stay is LR(d), the time that sessions spent on a page; 0 for one that no log knows.
func (t *Table) Stay(url string) time.Duration {
	i, ok := slices.BinarySearch(t.hash, hashURL(url))
	if !ok {
		return 0
	}
	return time.Duration(t.stay[i]) * time.Second
}

// Importance is LR(d) on the scale 0 to 1: ln(1 + LR) ÷ ln(1 + greatest LR).
// Times on pages are spread over many orders of magnitude, so that a linear
// scale would call all but a few pages 0.
func (t *Table) Importance(url string) float64 {
	if t.max == 0 {
		return 0
	}
	return math.Log1p(t.Stay(url).Seconds()) / math.Log1p(float64(t.max))
}

func hashURL(url string) uint64 {
	h := fnv.New64a()
	io.WriteString(h, url)
	return h.Sum64()
}

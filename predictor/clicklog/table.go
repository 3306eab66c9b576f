package clicklog

import (
	"bufio"
	"cmp"
	"encoding/binary"
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

	"gazehound/internal/disk"
)

const (
	tableName   = "table.tsv"
	tableHeader = "# url\tseconds\tvisits\tsessions"
)

// A tally adds up pages: in memory as long as they fit, then in a sort.
type tally struct {
	limit  int // pages in memory
	pages  map[string]Page
	sorter disk.Sorter
}

func newTally(dir string, limit int) *tally {
	return &tally{limit: limit, pages: map[string]Page{}, sorter: disk.Sorter{Dir: dir}}
}

func (t *tally) add(p Page) error {
	t.pages[p.URL] = t.pages[p.URL].plus(p)
	if len(t.pages) < t.limit {
		return nil
	}
	return t.spill()
}

func (p Page) plus(q Page) Page {
	return Page{q.URL, p.Stay + q.Stay, p.Visits + q.Visits, p.Sessions + q.Sessions}
}

// spill moves the pages in memory to the sort.
func (t *tally) spill() error {
	var b []byte
	for url, p := range t.pages {
		b = binary.AppendUvarint(b[:0], uint64(p.Stay))
		b = binary.AppendUvarint(b, uint64(p.Visits))
		b = binary.AppendUvarint(b, uint64(p.Sessions))
		if err := t.sorter.Add([]byte(url), b); err != nil {
			return err
		}
	}
	clear(t.pages)
	return nil
}

func (t *tally) close() { t.sorter.Close() }

// write makes the table, by URL.
func (t *tally) write(path string) (pages int64, err error) {
	if err := t.spill(); err != nil {
		return 0, err
	}
	err = disk.Replace(path, 0o600, func(w io.Writer) error {
		fmt.Fprintln(w, tableHeader)
		var sum Page
		end := func() error {
			if sum.URL == "" {
				return nil
			}
			pages++
			_, err := fmt.Fprintf(w, "%s\t%d\t%d\t%d\n", sum.URL, int64(sum.Stay/time.Second), sum.Visits, sum.Sessions)
			return err
		}
		err := t.sorter.Each(func(key, value []byte) error {
			d := disk.Decode(value)
			p := Page{string(key), time.Duration(d.Uvarint()), int64(d.Uvarint()), int64(d.Uvarint())}
			if p.URL == sum.URL {
				sum = sum.plus(p)
				return nil
			}
			err := end()
			sum = p
			return err
		})
		if err == nil {
			err = end()
		}
		return err
	})
	return pages, err
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

// A Table holds LR(d) of many pages, at 16 bytes a page. It is safe for
// concurrent use.
type Table struct {
	pages []stay // by hash
	max   uint32
}

type stay struct {
	hash    uint64 // of the URL
	seconds uint32 // capped
}

// Load reads the table of the store in dir that Rank wrote. The error wraps
// fs.ErrNotExist where there is none.
func Load(dir string) (*Table, error) {
	t := &Table{}
	err := Pages(dir, func(p Page) error {
		s := stay{hashURL(p.URL), uint32(min(p.Stay/time.Second, math.MaxUint32))}
		t.pages = append(t.pages, s)
		t.max = max(t.max, s.seconds)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(t.pages, func(a, b stay) int { return cmp.Compare(a.hash, b.hash) })
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
func (t *Table) Len() int { return len(t.pages) }

// Stay is LR(d), the time that sessions spent on a page; 0 for one that no log knows.
func (t *Table) Stay(url string) time.Duration {
	byHash := func(s stay, hash uint64) int { return cmp.Compare(s.hash, hash) }
	i, ok := slices.BinarySearchFunc(t.pages, hashURL(url), byHash)
	if !ok {
		return 0
	}
	return time.Duration(t.pages[i].seconds) * time.Second
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

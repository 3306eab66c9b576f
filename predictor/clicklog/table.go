package clicklog

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"io"
	"io/fs"
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
	tableEnd    = "# CRC-32\t" // and that of all lines before, in hexadecimal digits
)

var errTable = errors.New("damaged, or not a table of page importance; run \"gazehound clickstream import\" again")

func (p Page) plus(q Page) Page {
	return Page{q.URL, p.Stay + q.Stay, p.Visits + q.Visits, p.Sessions + q.Sessions}
}

// addPage adds a session's time on a page to the input of writeTable.
func addPage(pages *disk.Sorter, p Page) error {
	b := binary.AppendUvarint(nil, uint64(p.Stay))
	b = binary.AppendUvarint(b, uint64(p.Visits))
	return pages.Add([]byte(p.URL), binary.AppendUvarint(b, uint64(p.Sessions)))
}

// writeTable makes the table, by URL.
func writeTable(path string, pages *disk.Sorter) (n int64, err error) {
	err = disk.Replace(path, 0o600, func(file io.Writer) error {
		check := crc32.NewIEEE()
		w := io.MultiWriter(file, check)
		fmt.Fprintln(w, tableHeader)
		var sum Page
		end := func() (err error) {
			if sum.URL != "" {
				n++
				_, err = fmt.Fprintf(w, "%s\t%d\t%d\t%d\n", sum.URL, int64(sum.Stay/time.Second), sum.Visits,
					sum.Sessions)
			}
			return err
		}
		err := pages.Each(func(key, value []byte) (err error) {
			d := disk.Decode(value)
			p := Page{string(key), time.Duration(d.Uvarint()), int64(d.Uvarint()), int64(d.Uvarint())}
			if p.URL == sum.URL {
				sum = sum.plus(p)
				return nil
			}
			err, sum = end(), p
			return err
		})
		if err = cmp.Or(err, end()); err == nil {
			_, err = fmt.Fprintf(file, "%s%08x\n", tableEnd, check.Sum32())
		}
		return err
	})
	return n, err
}

// forgetRows removes the matching pages from the table.
func forgetRows(dir string, match func(text string) bool) error {
	table := filepath.Join(dir, tableName)
	text, err := os.ReadFile(table)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	var kept []byte
	for line := range bytes.Lines(text) {
		url, _, _ := bytes.Cut(line, []byte("\t"))
		if !bytes.HasPrefix(line, []byte(tableEnd)) && !match(string(url)) {
			kept = append(kept, line...)
		}
	}
	kept = fmt.Appendf(kept, "%s%08x\n", tableEnd, crc32.ChecksumIEEE(kept))
	return disk.ReplaceBytes(table, 0o600, kept)
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

// A Table holds LR(d) of many pages, at about 30 bytes a page. It is safe for concurrent use.
type Table struct {
	seconds map[uint64]uint32 // by the hash of the URL; capped
	max     uint32
}

// Load reads the table of the store in dir that Rank wrote. The error wraps
// fs.ErrNotExist where there is none.
func Load(dir string) (*Table, error) {
	t := &Table{seconds: map[uint64]uint32{}}
	err := Pages(dir, func(p Page) error {
		seconds := uint32(min(p.Stay/time.Second, math.MaxUint32))
		t.seconds[hashURL(p.URL)] = seconds
		t.max = max(t.max, seconds)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Pages calls fn for every page of the table of the store in dir, by URL. Only where it returns nil was
// the table as Rank wrote it.
func Pages(dir string, fn func(Page) error) error {
	path := filepath.Join(dir, tableName)
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read click table: %w", err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 2*MaxLine)
	check, whole := crc32.NewIEEE(), false
	for n := 1; in.Scan(); n++ {
		if n == 1 && in.Text() != tableHeader || whole {
			return fmt.Errorf("%s:%d: %w", path, n, errTable)
		}
		if sum, end := strings.CutPrefix(in.Text(), tableEnd); end {
			whole = sum == fmt.Sprintf("%08x", check.Sum32())
			continue
		}
		fmt.Fprintln(check, in.Text())
		if n == 1 {
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
	if !whole {
		return fmt.Errorf("%s: %w", path, errTable)
	}
	return nil
}

// Len is the number of pages.
func (t *Table) Len() int { return len(t.seconds) }

// Stay is LR(d), the time that sessions spent on a page; 0 for an unknown page.
func (t *Table) Stay(url string) time.Duration {
	return time.Duration(t.seconds[hashURL(url)]) * time.Second
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

// Longest returns the pages on which people stay longest, at most n ≥ 1 of those for which keep is
// true (nil: all), by falling stay, then by URL. It reads the table of the store in dir, and the
// error wraps fs.ErrNotExist where there is none.
func Longest(dir string, n int, keep func(Page) bool) ([]Page, error) {
	var best []Page
	shorten := func() {
		slices.SortFunc(best, func(a, b Page) int {
			return cmp.Or(cmp.Compare(b.Stay, a.Stay), strings.Compare(a.URL, b.URL))
		})
		best = best[:min(n, len(best))]
	}
	err := Pages(dir, func(p Page) error {
		if keep != nil && !keep(p) {
			return nil
		}
		if best = append(best, p); len(best) == 2*n {
			shorten()
		}
		return nil
	})
	shorten()
	return best, err
}

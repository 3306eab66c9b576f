package clicklog

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gazehound/internal/disk"
)

// The table is a file of disk.Writer with a record for each page, by URL. The last one has no URL, and
// the number of pages in the place of visits.
const tableName = "table"

var errTable = errors.New("damaged, or not a table of page importance; run \"gazehound clickstream import\" again")

func (p Page) plus(q Page) Page {
	return Page{q.URL, p.Stay + q.Stay, p.Visits + q.Visits, p.Sessions + q.Sessions}
}

// counts returns the numbers of p as stored.
func (p Page) counts() []byte {
	b := binary.AppendUvarint(nil, uint64(p.Stay/time.Second))
	b = binary.AppendUvarint(b, uint64(p.Visits))
	return binary.AppendUvarint(b, uint64(p.Sessions))
}

// readPage reads what counts wrote, and the URL behind it.
func readPage(b []byte) (p Page, ok bool) {
	d := disk.Decode(b)
	p.Stay = time.Duration(d.Int(maxSeconds)) * time.Second
	p.Visits, p.Sessions = int64(d.Int(math.MaxInt64)), int64(d.Int(math.MaxInt64))
	p.URL = string(d.Rest())
	return p, !d.Failed()
}

const maxSeconds = math.MaxInt64 / int(time.Second)

// addPage adds a session's time on a page to the input of writeTable.
func addPage(pages *disk.Sorter, p Page) error { return pages.Add([]byte(p.URL), p.counts()) }

// writeTable makes the table.
func writeTable(path string, pages *disk.Sorter) (n int64, err error) {
	return replaceTable(path, func(write func(Page) error) error {
		var sum Page
		err := pages.Each(func(key, value []byte) (err error) {
			p, _ := readPage(append(value[:len(value):len(value)], key...)) // as addPage wrote it
			if p.URL == sum.URL {
				sum = sum.plus(p)
				return nil
			}
			err, sum = write(sum), p
			return err
		})
		return cmp.Or(err, write(sum))
	})
}

// replaceTable makes a table of the pages that each writes; one without URL is left out.
func replaceTable(path string, each func(write func(Page) error) error) (n int64, err error) {
	err = disk.Replace(path, 0o600, func(file io.Writer) error {
		w := disk.NewWriter(file)
		write := func(p Page) error {
			if p.URL == "" {
				return nil
			}
			n++
			return w.Write(append(p.counts(), p.URL...))
		}
		return errors.Join(each(write), w.Write(Page{Visits: n}.counts()), w.Close())
	})
	return n, err
}

// forgetRows removes the matching pages from the table.
func forgetRows(dir string, match func(text string) bool) error {
	_, err := replaceTable(filepath.Join(dir, tableName), func(write func(Page) error) error {
		return Pages(dir, func(p Page) error {
			if match(p.URL) {
				return nil
			}
			return write(p)
		})
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
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
	in, whole := disk.NewReader(f), false
	for n := int64(0); ; n++ {
		b, err := in.Next()
		if err == io.EOF && whole {
			return nil
		}
		p, ok := readPage(b)
		if err != nil || !ok || whole {
			return fmt.Errorf("%s: record %d: %w", path, n+1, errTable)
		}
		if p.URL == "" {
			whole = p.Visits == n
			if whole {
				continue
			}
			return fmt.Errorf("%s: %d pages are missing: %w", path, p.Visits-n, errTable)
		}
		if err := fn(p); err != nil {
			return err
		}
	}
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
		best = append(best, p)
		if len(best) == 2*n {
			shorten()
		}
		return nil
	})
	shorten()
	return best, err
}

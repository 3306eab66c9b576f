package sim

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"gazehound/crawler"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/internal/textutil"
)

// Labels say which pages are relevant.
type Labels map[string]bool

// ReadLabels reads a table of URL, tab, 1 or 0. FILE:COLUMN names one of several
// columns, whose titles are the first line.
func ReadLabels(spec string) (Labels, error) {
	name, title := spec, ""
	if _, err := os.Stat(spec); errors.Is(err, fs.ErrNotExist) {
		if i := strings.LastIndexByte(spec, ':'); i > 0 {
			name, title = spec[:i], spec[i+1:]
		}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	labels, column := Labels{}, 1
	rows := csv.NewReader(f)
	rows.Comma, rows.LazyQuotes, rows.FieldsPerRecord = '\t', true, -1
	for {
		cells, err := rows.Read()
		if err == io.EOF {
			return labels, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		n, _ := rows.FieldPos(0)
		if n == 1 && title != "" {
			column = slices.Index(cells, title)
			if column < 1 {
				return nil, fmt.Errorf("%s has no column %q, but %s", name, title, strings.Join(cells[1:], ", "))
			}
			continue
		}
		u, err := weburl.Parse(cells[0])
		if err != nil || len(cells) <= column || cells[column] != "0" && cells[column] != "1" {
			return nil, fmt.Errorf("%s:%d: want URL, tab, 1 or 0, got %q", name, n,
				textutil.Clip(strings.Join(cells, "\t"), 80))
		}
		if cells[column] == "1" {
			labels[u.Identity()] = true
		}
	}
}

// Label returns a Labeller by labels.
func (l Labels) Label(p *page.Page) (Page, error) { return Page{Relevant: l[p.URL.Identity()]}, nil }

// LabelBy returns a Labeller by a judge.
func LabelBy(ctx context.Context, judge crawler.Judge) Labeller {
	return func(p *page.Page) (Page, error) {
		v, err := judge.Judge(ctx, p)
		return Page{Relevant: v.Relevant, Addresses: AddressIDs(v)}, err
	}
}

package seedlist

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
)

// separator returns the column separator of a table with this header line, or 0 if no column has
// web addresses.
func separator(line string) rune {
	if strings.HasPrefix(line, "#") || absolute.MatchString(line) || address(line) != "" {
		return 0
	}
	best, most := rune(0), 0
	for _, comma := range "\t;," {
		if columns := strings.Split(line, string(comma)); len(columns) > most && slices.ContainsFunc(columns, names) {
			best, most = comma, len(columns)
		}
	}
	return best
}

// readTable reads the columns of web addresses. Rows may have any length.
func readTable(r io.Reader, comma rune, found func(Found) error) error {
	limit := &bounded{r: r, left: maxPiece}
	rows := csv.NewReader(limit)
	rows.Comma, rows.LazyQuotes, rows.FieldsPerRecord, rows.ReuseRecord = comma, true, -1, true
	var columns []int
	for first := true; ; first = false {
		limit.left = maxPiece
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if first {
			for i, name := range row {
				if names(name) {
					columns = append(columns, i)
				}
			}
			continue
		}
		for _, i := range columns {
			if i < len(row) {
				if err := values(row[i], nil, found); err != nil {
					return err
				}
			}
		}
	}
}

// A bounded reader fails when more than left bytes are read before its user resets left.
type bounded struct {
	r    io.Reader
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errPiece
	}
	n, err := b.r.Read(p)
	b.left -= n
	return n, err
}

package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"gazehound/gazetteer"
)

// maxRow is the most bytes that a row or a JSON object may have.
const maxRow = 1 << 20

// readCSV reads lines whose values a comma, semicolon, tab or bar divides; the
// first line has the names of the columns.
func readCSV(b *bufio.Reader, take func(row) error, header func([]string) error) error {
	first, err := gazetteer.ReadLine(b, maxRow)
	if err == io.EOF {
		return fmt.Errorf("%w: the file is empty", gazetteer.ErrFormat)
	}
	if err != nil {
		return fmt.Errorf("%w: line 1: %w", gazetteer.ErrFormat, err)
	}
	first = toUTF8(bytes.TrimPrefix(first, []byte("\xef\xbb\xbf")))
	number := 1
	sep := byte(0)
	if s, ok := bytes.CutPrefix(bytes.ToLower(first), []byte("sep=")); ok && len(s) <= 1 { // for Excel
		if len(s) == 1 {
			sep = s[0]
		}
		if first, err = gazetteer.ReadLine(b, maxRow); err != nil {
			return fmt.Errorf("%w: line 2: %w", gazetteer.ErrFormat, err)
		}
		first, number = toUTF8(first), 2
	}
	if bytes.IndexByte(first, 0) >= 0 {
		return fmt.Errorf("%w: this is not text", gazetteer.ErrFormat)
	}
	if sep == 0 || bytes.IndexByte(first, sep) < 0 {
		sep = divider(first)
	}
	columns, _, err := split(first, sep)
	if err != nil {
		return fmt.Errorf("%w: line %d: %w", gazetteer.ErrFormat, number, err)
	}
	for i := range columns {
		columns[i] = strings.TrimSpace(columns[i])
	}
	if err := header(columns); err != nil {
		return err
	}
	for n := number + 1; ; n++ {
		r := row{number: n}
		line, err := gazetteer.ReadLine(b, maxRow)
		if err == io.EOF {
			return nil
		}
		if err != nil && !errors.Is(err, gazetteer.ErrTooLong) {
			return fmt.Errorf("line %d: %w", n, err)
		}
		var values []string
		if err == nil {
			line = bytes.Clone(toUTF8(line))
			var open bool
			values, open, err = split(line, sep)
			// A line break within quotes is part of the value; a quote that is
			// never closed must not swallow the table.
			for lines := 0; open && err == nil && lines < 20; lines++ {
				more, e := gazetteer.ReadLine(b, maxRow)
				if e != nil {
					break
				}
				n++
				line = append(append(line, '\n'), toUTF8(more)...)
				if len(line) > maxRow {
					err = gazetteer.ErrTooLong
					break
				}
				values, open, err = split(line, sep)
			}
			if open && err == nil {
				err = errors.New("a quote is not closed")
			}
		}
		r.text = string(line[:min(len(line), 1024)])
		switch {
		case err != nil:
			r.refused = err
		case len(bytes.TrimSpace(line)) == 0:
			continue
		case len(values) != len(columns) && len(values) != len(columns)+1:
			r.refused = fmt.Errorf("it has %d values for %d columns", len(values), len(columns))
		default:
			r.values = make(map[string]any, len(columns))
			for i, c := range columns {
				r.values[c] = values[i]
			}
		}
		if err := take(r); err != nil {
			return err
		}
	}
}

// toUTF8 decodes a line that is not UTF-8 as Windows-1252, of which Latin-1 is
// a part: what old tables are written in.
func toUTF8(line []byte) []byte {
	if !utf8.Valid(line) {
		line, _ = charmap.Windows1252.NewDecoder().Bytes(line)
	}
	return line
}

// divider returns the character that divides the names of columns most often.
func divider(line []byte) byte {
	best, most := byte(','), 0
	for _, sep := range []byte{'\t', ';', ',', '|'} {
		if n := bytes.Count(line, []byte{sep}); n > most {
			best, most = sep, n
		}
	}
	return best
}

// split cuts a line into its values (RFC 4180; without quotes where tabs
// divide). open is true if the last quote is not closed.
func split(line []byte, sep byte) (values []string, open bool, err error) {
	if sep == '\t' || bytes.IndexByte(line, '"') < 0 {
		return strings.Split(string(line), string(sep)), false, nil
	}
	for _, lazy := range []bool{false, true} { // 5" pipe
		r := csv.NewReader(bytes.NewReader(line))
		r.Comma, r.LazyQuotes = rune(sep), lazy
		if values, err = r.Read(); !errors.Is(err, csv.ErrBareQuote) {
			break
		}
	}
	if errors.Is(err, csv.ErrQuote) {
		if bytes.Count(line, []byte{'"'})%2 == 1 {
			return values, true, nil
		}
		err = errors.New("text after a closing quote")
	}
	return values, false, err
}

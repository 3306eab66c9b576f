package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"gazehound/gazetteer"
)

// maxRow is the most bytes that a row or a JSON object may have.
const maxRow = 1 << 20

// readCSV reads lines whose values a comma, semicolon, tab or bar divides; the
// first line has the names of the columns, or else they are called 1, 2, 3.
func readCSV(b *bufio.Reader, take func(row) error, header func([]string)) error {
	c := csvReader{b: b}
	columns, err := c.head()
	if err != nil {
		return err
	}
	if isRow(columns) {
		first := row{number: c.line, values: map[string]any{}, text: strings.Join(columns, string(c.sep))}
		for i, value := range columns {
			columns[i] = strconv.Itoa(i + 1)
			first.values[columns[i]] = value
		}
		header(columns)
		if err := take(first); err != nil {
			return err
		}
	} else {
		header(columns)
	}
	for {
		r := row{number: c.line + 1}
		line, values, err := c.next()
		if err == io.EOF {
			return nil
		}
		var refused rowError
		if err != nil && !errors.As(err, &refused) {
			return fmt.Errorf("line %d: %w", r.number, err)
		}
		r.text = string(line[:min(len(line), 1024)])
		switch {
		case err != nil:
			r.refused = refused.error
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

// isRow reports whether the first line has values instead of names: one is a number.
func isRow(columns []string) bool {
	return slices.ContainsFunc(columns, func(c string) bool {
		_, err := strconv.ParseFloat(c, 64)
		return err == nil && strings.ContainsAny(c, "0123456789")
	})
}

// A csvReader reads the lines of a table.
type csvReader struct {
	b    *bufio.Reader
	line int  // the last one read, from 1
	sep  byte // between values
}

// read returns the next line in UTF-8. It may be changed by the next call.
func (c *csvReader) read() ([]byte, error) {
	line, err := gazetteer.ReadLine(c.b, maxRow)
	if err == nil || errors.Is(err, gazetteer.ErrTooLong) {
		c.line++
	}
	if c.line == 1 {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	if err == nil {
		line = toUTF8(line)
	}
	return line, err
}

// head reads the names of the columns, and finds what divides values.
func (c *csvReader) head() (columns []string, err error) {
	bad := func(err error) ([]string, error) {
		return nil, fmt.Errorf("%w: line %d: %w", gazetteer.ErrFormat, max(c.line, 1), err)
	}
	first, err := c.read()
	if err == io.EOF {
		return nil, fmt.Errorf("%w: the file is empty", gazetteer.ErrFormat)
	}
	if err != nil {
		return bad(err)
	}
	s, forExcel := bytes.CutPrefix(bytes.ToLower(first), []byte("sep="))
	if forExcel && len(s) <= 1 {
		first, err = c.read()
		if err != nil {
			c.line = 2
			return bad(err)
		}
		if len(s) == 1 {
			c.sep = s[0]
		}
	}
	if bytes.IndexByte(first, 0) >= 0 {
		return nil, fmt.Errorf("%w: this is not text", gazetteer.ErrFormat)
	}
	if c.sep == 0 || bytes.IndexByte(first, c.sep) < 0 {
		c.sep = divider(first)
	}
	columns, _, err = split(first, c.sep)
	if err != nil {
		return bad(err)
	}
	for i := range columns {
		columns[i] = strings.TrimSpace(columns[i])
	}
	return columns, nil
}

// A rowError is an error of one row, behind which the table goes on.
type rowError struct{ error }

// next reads a row. A line break within quotes is part of the value; a quote that is never closed must
// not swallow the table.
func (c *csvReader) next() (line []byte, values []string, err error) {
	line, err = c.read()
	if errors.Is(err, gazetteer.ErrTooLong) {
		return line, nil, rowError{err}
	}
	if err != nil {
		return line, nil, err
	}
	line = bytes.Clone(line)
	values, open, err := split(line, c.sep)
	for lines := 0; open && err == nil && lines < 20; lines++ {
		more, ended := c.read()
		if ended != nil {
			break
		}
		line = append(append(line, '\n'), more...)
		if len(line) > maxRow {
			return line, nil, rowError{gazetteer.ErrTooLong}
		}
		values, open, err = split(line, c.sep)
	}
	if open && err == nil {
		err = errors.New("a quote is not closed")
	}
	if err != nil {
		return line, nil, rowError{err}
	}
	return line, values, nil
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
		values, err = r.Read()
		if !errors.Is(err, csv.ErrBareQuote) {
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

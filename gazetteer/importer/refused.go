package importer

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gazehound/internal/textutil"
)

// maxRefused bounds the file of refused rows.
const maxRefused = 100_000

// A refusedFile keeps the rows that a reader refused: file, number, reason,
// text. It is made when there is one.
type refusedFile struct {
	path string
	name string // of the source
	more bool   // add to the file: it is for several sources
	rows int
	f    *os.File
	err  error
}

func (r *refusedFile) add(row int, text string, why error) {
	r.rows++
	if r.rows > maxRefused || r.err != nil {
		return
	}
	if r.f == nil {
		r.err = r.open()
		if r.err != nil {
			return
		}
	}
	_, r.err = fmt.Fprintf(r.f, "%s\t%d\t%s\t%s\n", column(r.name), row, column(why.Error()), column(text))
}

func (r *refusedFile) open() error {
	err := os.MkdirAll(filepath.Dir(r.path), 0o755)
	if err != nil {
		return err
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if r.more {
		flags = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	r.f, err = os.OpenFile(r.path, flags, 0o644)
	if err != nil {
		return err
	}
	if info, statErr := r.f.Stat(); statErr == nil && info.Size() == 0 {
		_, err = io.WriteString(r.f, "file\trow\treason\ttext\n")
	}
	return err
}

// column makes foreign text one column of one line.
func column(s string) string { return strings.ReplaceAll(textutil.OneLine(s), "\t", " ") }

// written returns the name of the file, or "" where no row was refused.
func (r *refusedFile) written() string {
	if r.f == nil {
		return ""
	}
	return r.path
}

func (r *refusedFile) close() error {
	if r.f == nil {
		return r.err
	}
	if r.rows > maxRefused && r.err == nil {
		_, r.err = fmt.Fprintf(r.f, "%s\t\tand %d more\t\n", r.name, r.rows-maxRefused)
	}
	return errors.Join(r.err, r.f.Close())
}

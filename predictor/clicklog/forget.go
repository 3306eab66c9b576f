package clicklog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gazehound/internal/disk"
)

// Forget takes the views and the importance of pages out of the store in dir, and
// the names of logs that match, and tells whether there is a store. A killed Forget
// is completed by calling it again.
func Forget(dir string, match func(text string) bool) (bool, error) {
	if _, err := os.Stat(filepath.Join(dir, manifestName)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	s, err := Open(dir, DefaultOptions())
	if err != nil {
		return false, err
	}
	return true, errors.Join(s.forget(match), s.Close())
}

func (s *Store) forget(match func(text string) bool) error {
	old := s.m.Segments
	name, err := s.write(func(add func(view) error) error {
		return s.eachView(func(v view) error {
			if match(v.url) {
				return nil
			}
			return add(v)
		})
	})
	if err != nil {
		return err
	}
	s.m.Segments = []string{name}
	for i := range s.m.Logs {
		if l := &s.m.Logs[i]; match(l.Name) {
			l.Name = ""
		}
	}
	if err := s.commit(); err != nil {
		return err
	}
	for _, f := range old {
		if err := os.Remove(filepath.Join(s.dir, f)); err != nil {
			return fmt.Errorf("write click store: %w", err)
		}
	}
	table := filepath.Join(s.dir, tableName)
	text, err := os.ReadFile(table)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	return disk.Replace(table, 0o600, func(w io.Writer) error {
		for line := range strings.Lines(string(text)) {
			if url, _, _ := strings.Cut(line, "\t"); !match(url) {
				if _, err := io.WriteString(w, line); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

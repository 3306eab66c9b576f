package index

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gazehound/internal/disk"
)

// An identity is the content of the file that identifies the folder of an index.
type identity struct {
	Format int    `json:"format"`
	ID     string `json:"id"`
}

// FormatOf returns the format of the index in dir, which may be older or newer than Format. Errors wrap
// fs.ErrNotExist or ErrDamaged.
func FormatOf(dir string) (int, error) {
	var i identity
	text, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		return 0, fmt.Errorf("index: %w", err)
	}
	if json.Unmarshal(text, &i) != nil || i.Format < 1 {
		return 0, fmt.Errorf("index: %s: %w: index.json cannot be read", dir, ErrDamaged)
	}
	return i.Format, nil
}

// identify returns the ID of the index in dir. It makes one where there is none and the
// index may be changed.
func identify(dir string, readOnly bool) (string, error) {
	var i identity
	name := filepath.Join(dir, "index.json")
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		if _, stat := os.Stat(filepath.Join(dir, "bleve")); stat == nil {
			return "", fmt.Errorf("index: %s: %w: index.json is missing; restore it", dir, ErrDamaged)
		}
		if !readOnly {
			text, _ = json.Marshal(identity{Format, rand.Text()[:16]}) // a number and a text
			err = disk.ReplaceBytes(name, 0o644, append(text, '\n'))
		}
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("index: %w", err)
	case json.Unmarshal(text, &i) != nil || i.Format < 1 || i.ID == "":
		return "", fmt.Errorf("index: %s: %w: index.json cannot be read", dir, ErrDamaged)
	case i.Format > Format:
		return "", fmt.Errorf("index: %s: %w (format %d; this one knows %d): "+
			"use that one or a newer one; the data was not touched", dir, ErrNewerFormat, i.Format, Format)
	case i.Format < Format:
		return "", fmt.Errorf("index: %s: %w (format %d; this one knows %d); the data was not touched",
			dir, ErrOlderFormat, i.Format, Format)
	}
	return i.ID, nil
}

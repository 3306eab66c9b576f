package index

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"gazehound/internal/disk"
)

// An identity is the content of the file that identifies the folder of an index.
type identity struct {
	Format int    `json:"format"`
	ID     string `json:"id"` // random: two indexes never share an ETag
	// Files are the CRC-32 of Bleve's files, by their path below the folder. Bleve trusts
	// its files: a damaged one would end the process or give other answers. Nil while the
	// index is open for writing, and after a kill.
	Files map[string]uint32 `json:"files,omitempty"`
}

// identify reads the identity of the index in dir and compares its files with it. Where
// the index may be changed, it makes an identity where there is none, and takes the sums
// of the files away. Those of an index whose writer was killed are missing.
func identify(dir string, readOnly bool) (i identity, killed bool, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if errors.Is(err, fs.ErrNotExist) {
		if _, stat := os.Stat(filepath.Join(dir, "bleve")); stat == nil {
			return i, false, fmt.Errorf("index: %s: %w: index.json is missing; restore it", dir, ErrDamaged)
		}
		if !readOnly {
			i = identity{Format: format, ID: rand.Text()[:16]}
			err = i.write(dir)
		}
	}
	switch {
	case err != nil:
		return i, false, fmt.Errorf("index: %w", err)
	case text == nil:
		return i, false, nil
	case json.Unmarshal(text, &i) != nil || i.Format < 1 || i.ID == "":
		return i, false, fmt.Errorf("index: %s: %w: index.json cannot be read", dir, ErrDamaged)
	case i.Format > format:
		return i, false, fmt.Errorf("index: %s: %w (format %d; this one knows %d): "+
			"use that one or a newer one; the data was not touched", dir, ErrNewerFormat, i.Format, format)
	case i.Format < format:
		return i, false, fmt.Errorf("index: %s: %w (format %d; this one knows %d); the data was not touched",
			dir, ErrOlderFormat, i.Format, format)
	}
	for name, want := range i.Files {
		sum, err := sumOf(filepath.Join(dir, name))
		if err == nil && sum != want {
			err = errors.New("the checksum is wrong")
		}
		if err != nil {
			return i, false, openError(dir, fmt.Errorf("%s: %w", name, err))
		}
	}
	killed = i.Files == nil
	if !readOnly && i.Files != nil {
		i.Files = nil
		err = i.write(dir)
	}
	return i, killed, err
}

func (i *identity) write(dir string) error {
	text, err := json.Marshal(i)
	if err == nil {
		err = disk.ReplaceBytes(filepath.Join(dir, "index.json"), 0o644, append(text, '\n'))
	}
	return err
}

// seal notes the sums of the files, which nobody writes any more.
func (i *identity) seal(dir string) error {
	i.Files = map[string]uint32{}
	err := fs.WalkDir(os.DirFS(dir), "bleve", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			i.Files[name], err = sumOf(filepath.Join(dir, name))
		}
		return err
	})
	if err != nil {
		return err
	}
	return i.write(dir)
}

func sumOf(name string) (uint32, error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	sum := crc32.NewIEEE()
	_, err = io.Copy(sum, f)
	return sum.Sum32(), err
}

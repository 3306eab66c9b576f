package frontier

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"gazehound/internal/disk"

	badger "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
)

// checkedFile names the tables that are known to be whole, so that a store is not read in whole
// each time it is opened: a file that was written to since has another time or size. What a disk
// does to a file by itself is found when all tables are read again, after checkedFor.
const (
	checkedFile = "CHECKED"
	checkedFor  = 24 * time.Hour
)

// A checked is the content of checkedFile.
type checked struct {
	Since  time.Time // when all tables were read
	Tables map[string]stamp
}

// A stamp tells a table from what another program may make of it.
type stamp struct {
	Size    int64
	Time    time.Time // of its last change
	Version uint64    // the newest in it
}

// readChecked returns what is known of the tables in dir; nothing if that cannot be read or is old.
func readChecked(dir string) checked {
	var c checked
	text, err := os.ReadFile(filepath.Join(dir, checkedFile))
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if age := time.Since(c.Since); err != nil || age < 0 || age > checkedFor {
		return checked{Since: time.Now()}
	}
	return c
}

// isWhole reports whether a table is as it was when it was read or written, with its newest version.
func (c *checked) isWhole(dir, name string) (version uint64, ok bool) {
	was, known := c.Tables[name]
	info, err := os.Stat(filepath.Join(dir, name))
	return was.Version, known && err == nil && info.Size() == was.Size && info.ModTime().Equal(was.Time)
}

// write notes the tables of a store that was closed.
func (c *checked) write(dir string, tables []badger.TableInfo) error {
	c.Tables = map[string]stamp{}
	for _, t := range tables {
		name := table.IDToFilename(t.ID)
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
			c.Tables[name] = stamp{info.Size(), info.ModTime(), t.MaxVersion}
		}
	}
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return disk.ReplaceBytes(filepath.Join(dir, checkedFile), 0o666, text)
}

package frontier

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	badger "github.com/dgraph-io/badger/v4"
)

// openStore opens the store of o. Badger ends its logs where they stop making
// sense, as a crash may leave them, with two exceptions. It refuses a log of no
// bytes, which is left when the process dies between making the file and giving
// it its size; but it gives it that size and a header before it says so, and
// takes it the next time. And it refuses a log that goes on with a number of
// more than ten bytes; such a log is ended there, as it would be at any other
// damage.
//
// The store is a managed one: the writer numbers the commits itself. Badger's own
// transactions wait, before they read, until what is being committed is written.
func openStore(o Options) (*badger.DB, error) {
	const most = 4 // an empty log of each kind, then a long number, then all is well
	for attempt := 1; ; attempt++ {
		db, err := badger.OpenManaged(storeOptions(o))
		if err == nil || o.InMemory || attempt == most {
			return db, err
		}
		switch message := err.Error(); {
		case strings.Contains(message, "Create a new file"):
		case strings.Contains(message, "varint overflows"):
			if ended, err2 := endLogs(o.Dir); err2 != nil || ended == 0 {
				return nil, errors.Join(err, err2)
			}
		default:
			return nil, err
		}
	}
}

// endLogs ends the logs in dir at the first number that is too long, and
// returns how many it has ended.
func endLogs(dir string) (ended int, err error) {
	for _, pattern := range []string{"*.mem", "*.vlog"} {
		names, err := fs.Glob(os.DirFS(dir), pattern)
		if err != nil {
			return ended, err
		}
		for _, name := range names {
			name = filepath.Join(dir, name)
			data, err := os.ReadFile(name)
			if err != nil {
				return ended, err
			}
			at, broken := endOfLog(data)
			if !broken {
				continue
			}
			if err := overwrite(name, at, make([]byte, min(64, len(data)-at))); err != nil {
				return ended, fmt.Errorf("end %s at %d: %w", name, at, err)
			}
			ended++
		}
	}
	return ended, nil
}

const logHeader = 20 // bytes: key id and initialisation vector

// endOfLog returns where the entries of a log end: at an empty one, at one
// whose checksum is wrong, or (broken) at a number of more than 64 bits.
func endOfLog(data []byte) (at int, broken bool) {
	table := crc32.MakeTable(crc32.Castagnoli)
	for at = logHeader; at+2 < len(data); {
		rest := data[at+2:] // two bytes of flags
		var sizes [3]uint64 // of key and value; when it expires
		for i := range sizes {
			n, length := binary.Uvarint(rest)
			if length < 0 {
				return at, true
			}
			if length == 0 {
				return at, false
			}
			sizes[i], rest = n, rest[length:]
		}
		if sizes[0] == 0 || sizes[0] > 1<<16 || sizes[1] > uint64(len(rest)) || sizes[0]+sizes[1]+crc32.Size > uint64(len(rest)) {
			return at, false
		}
		end := len(data) - len(rest) + int(sizes[0]+sizes[1])
		if crc32.Checksum(data[at:end], table) != binary.BigEndian.Uint32(data[end:]) {
			return at, false
		}
		at = end + crc32.Size
	}
	return at, false
}

func overwrite(name string, at int, with []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(with, int64(at))
	return errors.Join(err, f.Sync(), f.Close())
}

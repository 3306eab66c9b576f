package frontier

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
)

// MaxMeta bounds a value of PutMeta, in bytes.
const MaxMeta = 32 << 20

// pieceSize is small enough for a record and a transaction.
const pieceSize = 256 << 10

// A metaRecord locates the pieces of a value. There are two sets of pieces: a value is written into
// the set that is not in use.
type metaRecord struct {
	Set    uint8
	Pieces uint64
}

func metaKey(name string) []byte { return append([]byte{'m'}, name...) }

// pieceName is how many bytes of the keys of pieces say whose they are.
const pieceName = 17

// pieceKey starts with the digest of the name, so that no name is the
// beginning of another.
func pieceKey(name string, set byte, i uint64) []byte {
	k := append([]byte{'p'}, digest(name)[:pieceName-1]...)
	return binary.BigEndian.AppendUint32(append(k, set), uint32(i))
}

// PutMeta stores a value of at most MaxMeta bytes under a name, for things that
// belong to the crawl as a whole. It is durable when PutMeta returns; after a
// crash before, the old value is there.
func (f *Frontier) PutMeta(name string, value []byte) error {
	if len(value) > MaxMeta {
		return fmt.Errorf("frontier: meta %q: %d bytes, at most %d are stored", name, len(value), MaxMeta)
	}
	f.putting.Lock()
	defer f.putting.Unlock()
	var was metaRecord
	err := f.read(func(v view) (err error) {
		was, _, err = get(v, metaKey(name), decodeFixed[metaRecord])
		return err
	})
	if err != nil {
		return fmt.Errorf("frontier: meta %q: %w", name, err)
	}
	is := metaRecord{was.Set ^ 1, uint64(max(1, (len(value)+pieceSize-1)/pieceSize))}
	for i := range is.Pieces {
		piece := bytes.Clone(value[i*pieceSize : min((i+1)*pieceSize, uint64(len(value)))])
		err := f.write(context.Background(), func(b *batch) {
			b.set(pieceKey(name, is.Set, i), piece)
			if i < is.Pieces-1 {
				return
			}
			for j := range was.Pieces {
				b.delete(pieceKey(name, was.Set, j))
			}
			b.set(metaKey(name), fixed(is))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Meta returns the value stored under name, or nil.
func (f *Frontier) Meta(name string) (value []byte, err error) {
	err = f.read(func(v view) error {
		value, err = metaOf(v, name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("frontier: meta %q: %w", name, err)
	}
	return value, nil
}

func metaOf(v view, name string) ([]byte, error) {
	r, known, err := get(v, metaKey(name), decodeFixed[metaRecord])
	if err != nil || !known {
		return nil, err
	}
	whole := []byte{}
	for i := range r.Pieces {
		known, err := v.get(pieceKey(name, r.Set, i), func(piece []byte) error {
			whole = append(whole, piece...)
			return nil
		})
		if err != nil || !known { // lost in a Rebuild: treated as never stored
			return nil, err
		}
	}
	return whole, nil
}

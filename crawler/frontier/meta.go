package frontier

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	badger "github.com/dgraph-io/badger/v4"
)

// MaxMeta bounds a value of PutMeta, in bytes.
const MaxMeta = 32 << 20

// pieceSize is what one transaction and one record easily hold.
const pieceSize = 256 << 10

// A metaRecord says where the pieces of a value are. There are two sets of
// pieces, even and odd: a value is written into the set that is not in use.
type metaRecord struct {
	set    byte
	pieces uint64
}

func (r metaRecord) encode() []byte {
	return binary.AppendUvarint([]byte{version, r.set}, r.pieces)
}

func decodeMeta(value []byte) (r metaRecord, err error) {
	d := decoder{rest: value}
	d.version()
	r.set, r.pieces = d.byte(), d.uvarint()
	d.bad = d.bad || r.set > 1 || r.pieces > MaxMeta/pieceSize
	return r, d.end()
}

func metaKey(name string) []byte { return append([]byte{'m'}, name...) }

// pieceKey starts with the digest of the name, so that no name is the
// beginning of another.
func pieceKey(name string, set byte, i uint64) []byte {
	k := append([]byte{'p'}, digest(name)[:16]...)
	return binary.BigEndian.AppendUint32(append(k, set), uint32(i))
}

// PutMeta stores a value of at most MaxMeta bytes under a name, for things that
// belong to the crawl as a whole. It is durable when PutMeta returns; after a
// crash before, the old value is there.
func (f *Frontier) PutMeta(name string, value []byte) error {
	if len(value) > MaxMeta {
		return fmt.Errorf("frontier: meta %q: %d bytes are too many, at most %d are stored", name, len(value), MaxMeta)
	}
	turn := &f.meta[digest(name)[0]%byte(len(f.meta))]
	turn.Lock()
	defer turn.Unlock()
	ctx := context.Background()
	var was metaRecord
	known := false
	err := f.read(func(txn *badger.Txn) (err error) {
		known, err = get(txn, metaKey(name), func(v []byte) (err error) {
			was, err = decodeMeta(v)
			return err
		})
		return readable(err)
	})
	if err != nil {
		return fmt.Errorf("frontier: meta %q: %w", name, err)
	}
	is := metaRecord{set: was.set ^ 1}
	for len(value) > pieceSize {
		piece, key := bytes.Clone(value[:pieceSize]), pieceKey(name, is.set, is.pieces)
		value = value[pieceSize:]
		is.pieces++
		if err := f.submit(ctx, perLink+len(piece), func(b *batch) error { return b.set(key, piece) }); err != nil {
			return err
		}
	}
	last, key := bytes.Clone(value), pieceKey(name, is.set, is.pieces)
	is.pieces++
	return f.submit(ctx, perLink*int(was.pieces+2)+len(last), func(b *batch) error {
		if err := b.set(key, last); err != nil {
			return err
		}
		for i := range was.pieces {
			if err := b.txn.Delete(pieceKey(name, was.set, i)); known && err != nil {
				return err
			}
		}
		return b.set(metaKey(name), is.encode())
	})
}

// Meta returns the value stored under name, or nil.
func (f *Frontier) Meta(name string) (value []byte, err error) {
	err = f.read(func(txn *badger.Txn) error {
		var r metaRecord
		known, err := get(txn, metaKey(name), func(v []byte) (err error) {
			r, err = decodeMeta(v)
			return err
		})
		if err != nil || !known {
			return readable(err)
		}
		whole := []byte{}
		for i := range r.pieces {
			item, err := txn.Get(pieceKey(name, r.set, i))
			if errors.Is(err, badger.ErrKeyNotFound) {
				return nil // damaged: as good as never stored
			}
			if err != nil {
				return err
			}
			err = item.Value(func(v []byte) error {
				whole = append(whole, v...)
				return nil
			})
			if err != nil {
				return err
			}
		}
		value = whole
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("frontier: meta %q: %w", name, err)
	}
	return value, nil
}

package disk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func packed(t testing.TB, records ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b)
	for _, r := range records {
		if err := w.Write([]byte(r)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// unpacked returns the records of a file up to the error.
func unpacked(file []byte) (records []string, err error) {
	r := NewReader(bytes.NewReader(file))
	for {
		b, err := r.Next()
		if err == io.EOF {
			return records, nil
		} else if err != nil {
			return records, err
		}
		records = append(records, string(b))
	}
}

func TestRecords(t *testing.T) {
	want := []string{"one", "", strings.Repeat("long", 100_000), "last"}
	file := packed(t, want...)
	got, err := unpacked(file)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%d records, %v", len(got), err)
	}
	if got, err := unpacked(nil); err != nil || len(got) > 0 {
		t.Errorf("an empty file: %q, %v", got, err)
	}
	for n := 1; n < len(file)-4; n += 97 { // the last bytes may be padding
		if got, err := unpacked(file[:n]); err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("torn at %d: %v, want ErrDamaged", n, err)
		} else if len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
			t.Errorf("torn at %d: other records", n)
		}
	}
	for n := range file {
		flipped := bytes.Clone(file)
		flipped[n] ^= 0x10
		got, err := unpacked(flipped)
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("flipped at %d: %v, want ErrDamaged", n, err)
		}
		if len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
			t.Fatalf("flipped at %d: other records", n)
		}
	}
}

func TestRecordsOnAFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	w := NewWriter(full)
	err = w.Write([]byte("record"))
	if err = errors.Join(err, w.Close()); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v, want ENOSPC", err)
	}
}

func TestDecoder(t *testing.T) {
	b := binary.AppendUvarint(nil, 300)
	b = binary.AppendVarint(b, -300)
	b = AppendString(append(b, 7), "text")
	b = binary.BigEndian.AppendUint64(b, 1<<63)
	b = append(b, "end"...)
	read := func(b []byte) *Decoder {
		d := Decode(b)
		ok := d.Int(300) == 300
		ok = d.Varint() == -300 && ok
		ok = d.Byte() == 7 && ok
		ok = d.String() == "text" && ok
		ok = d.Uint64() == 1<<63 && ok
		ok = string(d.Next(3)) == "end" && ok
		if !ok && !d.Failed() {
			t.Errorf("wrong values of %q", b)
		}
		return &d
	}
	if d := read(b); d.Failed() || d.Err() != nil {
		t.Errorf("failed: %v, %v", d.Failed(), d.Err())
	}
	for n := range b {
		if d := read(b[:n]); !d.Failed() || !errors.Is(d.Err(), ErrDamaged) {
			t.Errorf("%d of %d bytes: no failure", n, len(b))
		}
	}
	if d := read(append(b, 0)); d.Failed() || !errors.Is(d.Err(), ErrDamaged) || d.Len() != 1 {
		t.Errorf("one byte more: failed %v, %v, %d left", d.Failed(), d.Err(), d.Len())
	}
	d := Decode(binary.AppendUvarint(nil, 301))
	if d.Int(300); !d.Failed() {
		t.Error("301 is at most 300")
	}
	d = Decode([]byte("abc"))
	if d.Next(-1); !d.Failed() {
		t.Error("-1 bytes")
	}
}

// Whatever bytes are read as records, what comes out of them can be written and
// read again.
func FuzzRecords(f *testing.F) {
	f.Add(texts("a", "b"))
	f.Add(packed(f, "one", "two"))
	f.Add([]byte{0x84, 0x00, 1, 2, 3, 4})
	f.Fuzz(func(t *testing.T, file []byte) {
		records, _ := unpacked(file)
		if again, err := unpacked(packed(t, records...)); err != nil || !slices.Equal(again, records) {
			t.Errorf("%q became %q, %v", records, again, err)
		}
		c := Read(file)
		var list, again []string
		c.Texts(&list)
		if c.Failed() {
			return
		}
		c = Read(texts(list...))
		if c.Texts(&again); c.Failed() || !slices.Equal(again, list) {
			t.Errorf("%q became %q, %v", list, again, c.Failed())
		}
	})
}

func texts(list ...string) []byte {
	c := Append(nil)
	c.Texts(&list)
	return c.Bytes()
}

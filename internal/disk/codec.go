package disk

import (
	"encoding/binary"
	"slices"
)

// A Codec appends the fields of a record to bytes, or reads them back. One function
// that names the fields in their order does both. Reading fails as a Decoder does.
type Codec struct {
	out     []byte
	in      Decoder
	reading bool
}

// Append returns a Codec that appends to b; Bytes has the result.
func Append(b []byte) Codec { return Codec{out: b} }

// Read returns a Codec that reads b, which it does not copy.
func Read(b []byte) Codec { return Codec{in: Decode(b), reading: true} }

// Reading reports whether fields are read, not appended.
func (c *Codec) Reading() bool { return c.reading }

// Bytes returns what was appended.
func (c *Codec) Bytes() []byte { return c.out }

// Len is the number of bytes that are left to read.
func (c *Codec) Len() int { return c.in.Len() }

// Failed reports whether a field could not be read, or Fail was called.
func (c *Codec) Failed() bool { return c.in.Failed() }

// Fail makes the reading fail.
func (c *Codec) Fail() { c.in.Fail() }

// Unsigned codes a number that is not negative as a uvarint.
func Unsigned[T ~int | ~uint8 | ~uint32 | ~uint64](c *Codec, v *T) {
	if c.reading {
		*v = T(c.in.Uvarint())
	} else {
		c.out = binary.AppendUvarint(c.out, uint64(*v))
	}
}

// Signed codes a number as a zig-zag varint.
func Signed[T ~int32 | ~int64](c *Codec, v *T) {
	if c.reading {
		*v = T(c.in.Varint())
	} else {
		c.out = binary.AppendVarint(c.out, int64(*v))
	}
}

// Difference codes a number by its difference to the one before, which it replaces.
func (c *Codec) Difference(v, before *int64) {
	d := *v - *before
	Signed(c, &d)
	*v = *before + d
	*before = *v
}

// Flag codes a bool in one byte.
func (c *Codec) Flag(v *bool) {
	if c.reading {
		*v = c.in.Byte() != 0
	} else if *v {
		c.out = append(c.out, 1)
	} else {
		c.out = append(c.out, 0)
	}
}

// Text codes a string with its length before it.
func (c *Codec) Text(s *string) {
	if c.reading {
		*s = c.in.String()
	} else {
		c.out = AppendString(c.out, *s)
	}
}

// Texts codes strings with their number before them.
func (c *Codec) Texts(list *[]string) { List(c, list, c.Text) }

// Count codes the number of items that follow, each of at least one byte, and returns it.
func (c *Codec) Count(n int) int {
	if c.reading {
		return c.in.Count()
	}
	c.out = binary.AppendUvarint(c.out, uint64(n))
	return n
}

// List codes the number of items, and each of them with item.
func List[T any](c *Codec, list *[]T, item func(*T)) {
	n := c.Count(len(*list))
	if c.reading {
		*list = slices.Grow[[]T](nil, min(n, 64))
	}
	for i := range n {
		if c.reading {
			var v T
			*list = append(*list, v)
		}
		item(&(*list)[i])
		if c.Failed() {
			*list = nil
			return
		}
	}
}

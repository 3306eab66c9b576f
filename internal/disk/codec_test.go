package disk

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

type codecRecord struct {
	Count  uint64
	Offset int64
	Has    bool
	Name   string
	Names  []string
	Points []int64
}

func (r *codecRecord) code(c *Codec) {
	Unsigned(c, &r.Count)
	Signed(c, &r.Offset)
	c.Flag(&r.Has)
	c.Text(&r.Name)
	c.Texts(&r.Names)
	var before int64
	List(c, &r.Points, func(p *int64) { c.Difference(p, &before) })
}

// A record is read as it was appended, and each shorter one fails.
func TestCodec(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := codecRecord{
			Count: rapid.Uint64().Draw(t, "count"), Offset: rapid.Int64().Draw(t, "offset"), Has: rapid.Bool().Draw(t, "has"),
			Name: rapid.String().Draw(t, "name"), Names: rapid.SliceOfN(rapid.String(), 1, 4).Draw(t, "names"),
			Points: rapid.SliceOfN(rapid.Int64Range(-1<<61, 1<<61), 1, 4).Draw(t, "points"),
		}
		out := Append([]byte("head"))
		points := slices.Clone(want.Points)
		want.code(&out)
		if !slices.Equal(points, want.Points) {
			t.Fatalf("appending changed %v to %v", points, want.Points)
		}
		b := out.Bytes()[len("head"):]
		for n := range len(b) + 1 {
			in := Read(b[:n])
			var got codecRecord
			got.code(&in)
			if whole := n == len(b); in.Failed() == whole || whole && (in.Len() > 0 || !reflect.DeepEqual(got, want)) {
				t.Fatalf("%d of %d bytes: failed %v, %+v of %+v", n, len(b), in.Failed(), got, want)
			}
		}
	})
}

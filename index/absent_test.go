package index

import "testing"

// Where a kind is asked for and no place of it is known, the answer says so; a word that is no kind
// says nothing.
func TestAbsentKinds(t *testing.T) {
	x := asked(t)
	for text, want := range map[string]string{"apotheke": "amenity=pharmacy", "zahnarzt": "", "schule": "", "bahnhofstraße": "", "apotheke zahnarzt": "", `"apotheke"`: ""} {
		got := ""
		if r := find(t, x, Query{Text: text}); len(r.Absent) > 0 {
			got = r.Absent[0]
		}
		if got != want {
			t.Errorf("%s: %q is absent, want %q", text, got, want)
		}
	}
}

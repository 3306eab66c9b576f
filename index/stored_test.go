package index

import (
	"encoding/json"
	"reflect"
	"testing"
)

// What is written of a mention is what is read, and what a damaged file holds is
// read or refused.
func FuzzStored(f *testing.F) {
	for _, m := range []mention{
		{},
		{URL: "https://x.example/a?b=1&c=<2>", Title: `Ein "Titel" \ mit /`, Near: "Bäckerei\nLange Straße 5\tund \u2028 mehr", Start: 10, End: 24, Lang: "de"},
		{URL: "u", Number: "12a", Unit: "Suite 2", State: "CA", Land: "US", Phone: "+49 1", Email: "info@example.org", Home: "https://x.example/", Hours: "Mo-Fr 08:00-18:00", Gone: 1_700_000_000, Person: true},
	} {
		var read mention
		if err := read.decodeData(m.encodeData()); err != nil || !reflect.DeepEqual(read, m) {
			f.Errorf("%+v: %+v, %v", m, read, err)
		}
		f.Add(m.encodeData())
	}
	f.Add([]byte{0x0a, 0x05, 'a'})             // a text that is too short
	f.Add([]byte{0x6a, 0x01, 'a', 0x0a, 0x00}) // a field that is not known
	f.Fuzz(func(t *testing.T, data []byte) {
		var m, again mention
		if m.decodeData(data) != nil {
			return
		}
		text := m.encodeData()
		if err := again.decodeData(text); err != nil {
			t.Fatalf("%q, of %q, is not read: %v", text, data, err)
		}
		if string(again.encodeData()) != string(text) {
			t.Errorf("%q becomes %q", text, again.encodeData())
		}
	})
}

// Reading what is stored of a mention, and encoding/json with the same beside it.
func BenchmarkStored(b *testing.B) {
	_, found, err := (&Index{words: newAnalysis()}).mentionsOf(made(1)[0])
	if err != nil || len(found) != 1 {
		b.Fatal(found, err)
	}
	data := found[0].encodeData()
	b.Run("message", func(b *testing.B) {
		for b.Loop() {
			if err := new(mention).decodeData(data); err != nil {
				b.Fatal(err)
			}
		}
	})
	type stored struct {
		URL, Title, Near, Lang, Number, Land string
		Start, End                           int
	}
	m := found[0]
	text, err := json.Marshal(stored{m.URL, m.Title, m.Near, m.Lang, m.Number, m.Land, m.Start, m.End})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("json", func(b *testing.B) {
		for b.Loop() {
			if err := json.Unmarshal(text, new(stored)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

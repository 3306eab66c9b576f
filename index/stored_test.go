package index

import (
	"encoding/json"
	"reflect"
	"testing"
)

// Where decodePlain reads what is stored of a mention, it is what encoding/json
// reads; and it reads the usual.
func FuzzDecodePlain(f *testing.F) {
	usual := []mention{
		{URL: "https://example.org/", Near: "Bäckerei\nLange Straße 5\n\"<b>&", Start: 10, End: 24, Title: "Tür & Tor \\ Co", Number: "5"},
		{URL: "https://example.org/a?b=1&c=2", Lang: "de", Near: "", Person: true, Unit: "Suite 2", State: "CA", Land: "US", Phone: "+49 1", Email: "info@example.org", Home: "https://x.example/", Hours: "Mo-Fr 08:00-18:00", Gone: 1_700_000_000},
	}
	for i := range usual {
		text, err := json.Marshal(&usual[i])
		if err != nil {
			f.Fatal(err)
		}
		if m := (mention{}); !m.decodePlain(text) || !reflect.DeepEqual(m, usual[i]) {
			f.Errorf("%s is not read: %+v", text, m)
		}
		f.Add(text)
	}
	for _, text := range []string{`{}`, `{"u":"a\ud800"}`, `{"u":"\u0000\u00e4"}`, `{"s":01}`, `{"s":-1}`, `{"p":false}`, `{"u":"a","u":"b"}`, `{"s":99999999999999999999}`, `{"u":null}`, `{"U":"a"}`, "{\"u\":\"\xff\"}", `{"u":"a"} `, `{"u":"a",}`, `{"p":trueish}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var plain, want mention
		if !plain.decodePlain(text) {
			return
		}
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("%q is read, which is no JSON: %v", text, err)
		}
		if !reflect.DeepEqual(plain, want) {
			t.Errorf("%q: %+v, want %+v", text, plain, want)
		}
	})
}

package osm

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gazehound/gazetteer"
)

// TestDeletedObjects imports houses of which some are deleted, each in one of the ways that files say
// it.
func TestDeletedObjects(t *testing.T) {
	house := func(id int, attributes, street string) string {
		return fmt.Sprintf(`<node id="%d" lat="53.1" lon="8.2" %s><tag k="addr:street" v="%s"/>`+
			`<tag k="addr:housenumber" v="1"/><tag k="addr:postcode" v="26121"/><tag k="addr:city" v="Oldenburg"/></node>`,
			id, attributes, street)
	}
	stays := house(1, `version="1"`, "Stayweg")
	for _, c := range []struct{ name, text, want string }{
		{"history", `<osm>` + stays + house(2, `version="1" visible="true"`, "Oldweg") +
			house(2, `version="2" visible="false"`, "Oldweg") + `</osm>`, "Stayweg"},
		{"older version", `<osm>` + house(2, `version="1" visible="true"`, "Oldweg") +
			house(2, `version="2" visible="true"`, "Newweg") + stays + `</osm>`, "Newweg Stayweg"},
		{"back again", `<osm>` + house(2, `version="1" visible="false"`, "Oldweg") +
			house(2, `version="2" visible="true"`, "Newweg") + stays + `</osm>`, "Newweg Stayweg"},
		{"JOSM", `<osm>` + house(2, `action="delete" visible="true"`, "Oldweg") +
			house(3, `action="modify" visible="true"`, "Newweg") + stays + `</osm>`, "Newweg Stayweg"},
		{"change file", `<osmChange><create>` + stays + `</create><delete>` + house(2, `version="3"`, "Oldweg") +
			house(4, `version="3"`, "Oldweg") + `</delete><modify>` + house(3, `version="2"`, "Newweg") +
			`</modify></osmChange>`, "Newweg Stayweg"},
	} {
		path := filepath.Join(t.TempDir(), "a.osm")
		if err := os.WriteFile(path, []byte(`<?xml version="1.0"?>`+c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		var got []string
		_, err := Read(t.Context(), path, Options{}, func(p gazetteer.Place) error {
			if p.Kind == gazetteer.House {
				got = append(got, p.Street)
			}
			return nil
		})
		slices.Sort(got)
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: houses in %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

func TestUnreadFormats(t *testing.T) {
	for _, c := range []struct{ head, want string }{
		{"\xff\xe0\x04o5m2\xff\x10", "osmium cat"},
		{"n17 v2 dV c9 t2014-01-01T00:00:00Z i1 uname Thighway=bus_stop x8.1 y53.1\n", "osmium cat"},
		{"w17 v1 dV c9 t2014-01-01T00:00:00Z i1 uname T Nn1,n2\n", "osmium cat"},
		{"\xfd7zXZ\x00\x00\x04", "xz -d"},
		{"\x28\xb5\x2f\xfd\x04", "zstd -d"},
		{"7z\xbc\xaf\x27\x1c\x00", "7z x"},
		{"n1;v1;street\n", ""},
		{"<osm>", ""},
	} {
		if got := Unread([]byte(c.head)); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%q: %q; want %q", c.head, got, c.want)
		}
	}
}

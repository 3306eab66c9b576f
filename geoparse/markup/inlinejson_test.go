package markup

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInlineJSON(t *testing.T) {
	for name, c := range map[string]struct {
		page string
		want []Statement
	}{
		"Next": {`<script id="__NEXT_DATA__" type="application/json">{"props":{"pageProps":{"store":{"name":"Kruse","phone":"0441 1",
			"address":{"street":"Deichweg","houseNumber":5,"zip":26122,"city":"Oldenburg","country":{"name":"DE"}},"geo":{"lat":53.14,"lng":"8.21"}}}}}</script>`,
			[]Statement{{Name: "Kruse", Phone: "0441 1", Street: "Deichweg 5", Postcode: "26122", City: "Oldenburg", Country: "DE", Lat: 53.14, Lon: 8.21, HasPoint: true}}},
		"Nuxt": {`<script type="application/json" id="__NUXT_DATA__">[["Reactive",1],{"data":2,"again":1},[3,4],{"title":5,"strasse":6,"plz":7,"ort":8},{"firma":9,"strasse":10,"plz":7,"ort":8,"lat":11,"lon":12},"Filiale","Markt 1","26122","Oldenburg","Kruse","Hof 2",53.14,8.21]</script>`,
			[]Statement{{Street: "Markt 1", Postcode: "26122", City: "Oldenburg"}, {Name: "Kruse", Street: "Hof 2", Postcode: "26122", City: "Oldenburg", Lat: 53.14, Lon: 8.21, HasPoint: true}}},
		"state": {`<script>window.__INITIAL_STATE__={"a":[{"address1":"Markt 1","address2":"Hof","postal_code":"26122","town":"Oldenburg"}]};(function(){var x={y:1}}())</script>`,
			[]Statement{{Street: "Markt 1", Unit: "Hof", Postcode: "26122", City: "Oldenburg"}}},
		"parsed": {`<script>var n=0, o={a:1};window["__DATA__"] = JSON.parse("{\"addressLine1\":\"Markt 1\",\"postcode\":\"26122\",\"locality\":\"Oldenburg\"}");</script>`,
			[]Statement{{Street: "Markt 1", Postcode: "26122", City: "Oldenburg"}}},
		"list of branches": {`<script>const stores = [{"store":"x","address":"Markt 1","city":"Oldenburg","zip":"26122"},{"address":"Hof 2, 26122 Oldenburg","city":"Oldenburg","zip":"26122"},]; let more = [{"street":"Weg 3","zip":"26122","city":"Oldenburg"}]</script>`,
			[]Statement{{Street: "Markt 1", Postcode: "26122", City: "Oldenburg"}, {Raw: "Hof 2, 26122 Oldenburg", Postcode: "26122", City: "Oldenburg"},
				{Street: "Weg 3", Postcode: "26122", City: "Oldenburg"}}},
		"person": {`<script type="application/json">{"firstName":"Ada","lastName":"Kruse","street":"Markt 1","zip":"26122","city":"Oldenburg"}</script>`,
			[]Statement{{Name: "Ada Kruse", Person: true, Street: "Markt 1", Postcode: "26122", City: "Oldenburg"}}},
		"event": {`<script type="application/json">{"name":"Konzert","company":{"name":"Verein","street":"Hof 2","zip":"26122","city":"Oldenburg"},"location":{"street":"Markt 1","zip":"26122","city":"Oldenburg"}}</script>`,
			[]Statement{{Name: "Verein", Street: "Hof 2", Postcode: "26122", City: "Oldenburg"}, {Street: "Markt 1", Postcode: "26122", City: "Oldenburg"}}},
		"parts of addresses": {`<script type="application/json">{"city":"Oldenburg","name":"x","items":[{"zip":"26122","city":"Oldenburg"},{"street":"Markt 1","zip":"26122"},{"lat":53.1,"lng":8.2}]}</script>`, nil},
		"no JSON":            {`<script>window.__NUXT__=(function(a){return {street:a,zip:"26122",city:"Oldenburg"}}("Markt 1")); var s={street:"Markt 1",zip:1,city:"O"}</script>`, nil},
		"other types":        {`<script type="text/template">var s={"street":"Markt 1","zip":"26122","city":"O"}</script>`, nil},
	} {
		for i := range c.want {
			c.want[i].Origin = InlineJSON
		}
		if diff := cmp.Diff(c.want, Read(Parse([]byte(c.page))).Statements); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Objects without an address take no room from those with one.
func TestInlineJSONIsBounded(t *testing.T) {
	shop := `{"street":"Markt 1","zip":"26122","city":"Oldenburg"}`
	for name, page := range map[string]string{
		"empty objects": `<script>var a=[` + strings.Repeat(`{"zip":"1"},`, 3*maxFound) + shop + `]</script>`,
		"no JSON":       `<script>` + strings.Repeat("var a=[{zip:1}];", maxAssignments-1) + "var a=[" + shop + `]</script>`,
		"deep":          `<script type=application/json>` + strings.Repeat("[", 2e4) + strings.Repeat("]", 2e4) + `</script><script type=application/json>` + shop + `</script>`,
	} {
		found := Read(Parse([]byte(page))).Statements
		checkStatements(t, found)
		if len(found) != 1 {
			t.Errorf("%s: %d statements; want 1", name, len(found))
		}
	}
	var wide strings.Builder // every list of Nuxt's leads to all others
	for range 500 {
		wide.WriteString("[" + strings.Repeat("0,1,2,3,4,", 100) + `"zip"],`)
	}
	for _, page := range []string{
		`<script type=application/json id=__NUXT_DATA__>[` + wide.String() + `0]</script>`,
		`<script>"zip";` + strings.Repeat("var a=["+strings.Repeat(`"a",`, 2000), maxAssignments+10) + `</script>`,
	} {
		checkStatements(t, Read(Parse([]byte(page))).Statements)
	}
}

// Whatever names and values a list of branches has, each with street, postcode and town is found, once,
// whether JSON stands in an element of its own, is assigned, or is written as Nuxt does.
func FuzzInlineJSON(f *testing.F) {
	f.Add("Markt", "26122", "Oldenburg", "name", "Kruse", []byte(`{"street":"x","zip":1,"city":["y"],"geo":{"lat":1,"lng":2}}`))
	f.Add("Hof 2", "1", "a", "address", "Hof", []byte(`[0,{"a":1},["Reactive",1]]`))
	f.Fuzz(func(t *testing.T, street, postcode, town, key, value string, hostile []byte) {
		for _, page := range []string{`<script type=application/json>`, `<script type=application/json id=__NUXT_DATA__>`, `<script>zip;var a=`} {
			checkStatements(t, Read(Parse(slices.Concat([]byte(page), hostile))).Statements)
		}
		const letters = "abcdefghijklmnopqrstuvwxyz"
		short := func(s, prefix string) string { // letters only: what text keeps as it is
			s = strings.Map(func(r rune) rune {
				if strings.ContainsRune(letters, r) {
					return r
				}
				return -1
			}, s)
			return prefix + s[:min(len(s), 50)]
		}
		var branches []map[string]string
		for i := range 3 {
			branches = append(branches, map[string]string{"x" + short(key, ""): value,
				"street": short(street, "s") + fmt.Sprint(i), "zip": short(postcode, "p"), "city": short(town, "t")})
		}
		whole, err := json.Marshal(map[string]any{"props": branches})
		if err != nil {
			t.Fatal(err)
		}
		flat := []any{[]int{1, 5, 9}}
		for i, b := range branches {
			flat = append(flat, map[string]int{"street": 4*i + 2, "zip": 4*i + 3, "city": 4*i + 4}, b["street"], b["zip"], b["city"])
		}
		nuxt, err := json.Marshal(flat)
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range []string{
			`<script type="application/json">` + string(whole) + `</script>`,
			`<script>window.__STATE__ = ` + string(whole) + `;run()</script>`,
			`<script type="application/json" id="__NUXT_DATA__">` + string(nuxt) + `</script>`,
		} {
			found := Read(Parse([]byte(page))).Statements
			if len(found) != len(branches) {
				t.Fatalf("%s: %+v", page, found)
			}
			for i, s := range found {
				if b := branches[i]; s.Street != b["street"] || s.Postcode != b["zip"] || s.City != b["city"] {
					t.Errorf("%s: %+v", page, s)
				}
			}
		}
	})
}

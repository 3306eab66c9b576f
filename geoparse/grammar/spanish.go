package grammar

var spanish = readLists("spanish")

func init() {
	add(Country{
		Code: "ES", Form: CodeCity, Codes: "99999", NumberFirst: true, StateOf: spanishProvince,
		Prefixes: "E ES", Domains: "es", Languages: "es ca", Phone: "34",
		Names: "spain,espana,españa,spanien,espagne,es",
	})
	addWords(spanish)
}

// spanishProvinces are the provinces of Spain by the first two digits of their
// postcodes, from 01 on.
var spanishProvinces = spanish.Phrases("provinces")

// spanishProvince returns the province of a postcode of Spain, or "".
func spanishProvince(code string) string {
	if len(code) != 5 {
		return ""
	}
	n := leadingInt(code[:2])
	if n < 1 || n > len(spanishProvinces) {
		return ""
	}
	return spanishProvinces[n-1]
}

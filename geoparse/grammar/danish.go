package grammar

import "strings"

var danish = readLists("danish")

func init() {
	add(Country{
		Code: "DK", Form: CodeCity, Codes: "9999", Respell: strings.NewReplacer("Aa", "Å", "aa", "å"),
		Prefixes: "DK", Domains: "dk", Languages: "da", Phone: "45",
		Names: "denmark,danmark,daenemark,dk",
	})
	addWords(danish)
}

package grammar

import "strings"

func init() {
	add(Country{
		Code: "DK", Form: CodeCity, Codes: "9999", Respell: strings.NewReplacer("Aa", "Å", "aa", "å"),
		Prefixes: "DK", Domains: "dk", Languages: "da", Phone: "45",
		Names: "denmark,danmark,daenemark,dk",
	})
	addWords(Words{
		Types:  "gade vej alle vaenge straede torv",
		Ends:   "vej gade alle vaenget parken straede torv",
		Units:  "opg opgang lejl",
		Floors: "sal tv th mf kld",
		Labels: "postnr postnummer by",
		Boxes:  "postboks",
	})
}

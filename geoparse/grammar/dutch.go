package grammar

func init() {
	add(Country{
		Code: "NL", Form: CodeCity, Codes: "9999", Letters: true,
		Prefixes: "NL", Domains: "nl", Languages: "nl", Phone: "31",
		Names: "netherlands,the netherlands,nederland,niederlande,nl",
	})
	add(Country{
		Code: "BE", Form: CodeCity, Codes: "9999", NumberFirst: true,
		Prefixes: "B BE", Domains: "be", Languages: "de fr nl", Phone: "32",
		Names: "belgium,belgien,belgique,belgie,be",
	})
	addWords(Words{
		Types:      "straat laan plein weg",
		Ends:       "straat laan plein singel gracht kade dijk dreef hof",
		Adjectives: "nieuwe oude grote lange korte eerste tweede derde prins prinses koning koningin sint",
		Particles:  "de van op het ten ter 't t s",
		Nobility:   "van de der den",
		Units:      "bus hs",
		Floors:     "verdieping",
		Labels:     "postcode plaats woonplaats",
		Boxes:      "postbus",
	})
}

package grammar

func init() {
	add(Country{
		Code: "IT", Form: CodeCity, Codes: "99999", Province: true,
		Prefixes: "I IT", Domains: "it", Languages: "it", Phone: "39",
		Names: "italy,italia,italien,it",
	})
	addWords(Words{
		Leads: `via viale piazza piazzale corso vicolo largo strada contrada piazzetta lungomare
			lungarno salita borgo lungotevere circonvallazione`,
		Particles: "di del della da dei degli delle l'",
		Nobility:  "di del della dei degli delle la",
		Units:     "piano scala int interno",
		Labels:    "cap citta comune",
	})
}

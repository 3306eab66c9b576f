package grammar

var italian = readLists("italian")

func init() {
	add(Country{
		Code: "IT", Form: CodeCity, Codes: "99999", Province: true,
		Prefixes: "I IT", Domains: "it", Languages: "it", Phone: "39",
		Names: "italy,italia,italien,it",
	})
	addWords(italian)
}

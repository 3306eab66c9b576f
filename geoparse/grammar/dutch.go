package grammar

var dutch = readLists("dutch")

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
	addWords(dutch)
}

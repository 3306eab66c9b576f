package grammar

import "gazehound/internal/textutil"

var german = readLists("german")

func init() {
	add(Country{
		Code: "DE", Form: CodeCity, Codes: "99999", LostZero: true, Glued: true,
		Prefixes: "D DE", Languages: "de", Phone: "49",
		Names:       "germany,deutschland,de,allemagne,germania,brd,bundesrepublik deutschland",
		Domains:     "de berlin hamburg koeln bayern nrw saarland ruhr",
		States:      statesOf(german["states"]),
		CityStates:  textutil.Words("berlin bremen hamburg"),
		CityStreets: map[string]func(Tokens) (Street, bool){"mannheim": squareBefore},
	})
	add(Country{
		Code: "AT", Form: CodeCity, Codes: "9999",
		Prefixes: "A AT", Domains: "at wien tirol", Languages: "de", Phone: "43",
		Names:      "austria,oesterreich,at",
		States:     statesOf(german["austrian-states"]),
		CityStates: textutil.Words("salzburg wien vienna"),
	})
	add(Country{
		Code: "CH", Form: CodeCity, Codes: "9999", NumberFirst: true,
		Prefixes: "CH", Domains: "ch swiss zuerich", Languages: "de fr it", Phone: "41",
		Names: "switzerland,schweiz,suisse,svizzera,ch",
	})
	add(Country{
		Code: "LI", Form: CodeCity, Codes: "9999",
		Prefixes: "FL LI", Domains: "li", Languages: "de", Phone: "423",
		Names: "liechtenstein,fuerstentum liechtenstein,li",
	})
	addWords(german)
}

// The words of German addresses that other languages have no part in, folded by
// Fold unless the comment says otherwise.
var (
	// germanBoxes are post boxes also without a number.
	germanBoxes = german.Words("lone-boxes")

	// remarkWords begin a remark behind a house number: "Ecke Poststraße".
	remarkWords  = german.Words("remarks")
	prepositions = german.Words("prepositions")
	highRoads    = german.Words("high-roads")

	// townEndings end adjectives made of the names of towns.
	townEndings      = suffixes(german.Words("town-endings"))
	adjectiveEndings = suffixes(german.Words("adjective-endings"))
	articles         = german.Words("articles") // as written

	// rooms are the units that no street is called like.
	rooms = german.Words("rooms")

	// titles stand before a surname: titles and given names.
	titles = textutil.Words(german["titles"] + " " + german["given-names"])

	// germanStops end a street name to the left: firms, labels.
	germanStops = german.Words("stops")

	// germanNoStreet never end a street name by their place alone.
	germanNoStreet = german.Words("no-street")
)

// squareBefore reads a house in the squares of Mannheim, whose streets have no
// names: "Q 7, 24", "C5 Nr. 3".
func squareBefore(t Tokens) (Street, bool) {
	s, k := skipTail(t, len(t))
	j, ok := numberBefore(t, k)
	for n := k - 1; ok && n >= 1 && n >= k-8; n-- {
		letter, square := t[n-1], t[n]
		if square.Kind != Number || !isLetterWord(letter) || letter.Text() < "A" ||
			letter.Text() > "U" || leadingInt(square.Text()) > 13 || square.size() > 2 {
			continue
		}
		number := n + 1
		for number < k && (t[number].isMark(",-–/") || t[number].isWord("nr")) {
			number++
		}
		if number < k && t[number].Kind == Number && number >= j {
			s.Name, s.Number, s.Strength = Span{letter.Start, square.End}, Span{t[number].Start, t[k-1].End}, 3
			return s, true
		}
	}
	return s, false
}

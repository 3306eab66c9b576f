package grammar

var english = readLists("english")

func init() {
	addWords(english)
}

// The words of the grammar of US addresses, in lower case without dots.
var (
	directions = english.set("directions")

	usTypes = english.set("us-types")

	// highwayTypes come before their number.
	highwayTypes = english.set("highway-types")

	// numberedTypes are those of them that may have a name before: "State Route 9".
	numberedTypes = english.set("numbered-types")

	// usPlaces are street words that, without a house number, rather name a
	// place.
	usPlaces = english.set("us-places")

	// roads are those that name no place.
	roads = english.set("roads")

	// usLead are words that begin a name of Spanish or French form.
	usLead = english.set("us-lead")

	usAlone = english.set("us-alone")

	usUnits      = english.set("us-units")
	usAloneUnits = english.set("us-alone-units")
	institutions = english.set("institutions")
	levelWords   = english.set("level-words")

	spelledNumbers  = english.set("spelled-numbers")
	spelledOrdinals = english.set("spelled-ordinals")

	// notBeforeNumber never stand right before a house number.
	notBeforeNumber = english.set("not-before-number")

	// usStops never stand inside an address.
	usStops = english.set("us-stops")

	// usNoStreet never stand inside a street name without a street word.
	usNoStreet = english.set("us-no-street")

	// proseWords lead on in a sentence from a number to a place.
	proseWords = english.set("prose-words")

	months = english.set("months")

	usSmall = english.set("us-small")
)

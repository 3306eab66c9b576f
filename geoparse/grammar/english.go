package grammar

var english = readLists("english")

func init() {
	addWords(english)
}

// The words of the grammar of US addresses, in lower case without dots.
var (
	directions = english.Words("directions")

	usTypes = english.Words("us-types")

	// highwayTypes come before their number.
	highwayTypes = english.Words("highway-types")

	// numberedTypes are those of them that may have a name before: "State Route 9".
	numberedTypes = english.Words("numbered-types")

	// usPlaces are street words that, without a house number, rather name a
	// place.
	usPlaces = english.Words("us-places")

	// roads are those that name no place.
	roads = english.Words("roads")

	// usLead are words that begin a name of Spanish or French form.
	usLead = english.Words("us-lead")

	usAlone = english.Words("us-alone")

	usUnits      = english.Words("us-units")
	usAloneUnits = english.Words("us-alone-units")
	institutions = english.Words("institutions")
	levelWords   = english.Words("level-words")

	spelledNumbers  = english.Words("spelled-numbers")
	spelledOrdinals = english.Words("spelled-ordinals")

	// notBeforeNumber never stand right before a house number.
	notBeforeNumber = english.Words("not-before-number")

	// usStops never stand inside an address.
	usStops = english.Words("us-stops")

	// usNoStreet never stand inside a street name without a street word.
	usNoStreet = english.Words("us-no-street")

	// proseWords lead on in a sentence from a number to a place.
	proseWords = english.Words("prose-words")

	months = english.Words("months")

	usSmall = english.Words("us-small")
)

package kind

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"

	"gazehound/internal/textutil"
)

// All returns the kinds, in order.
func All() []string { return slices.Clone(load().ids) }

// Names returns what a language calls the kinds.
func Names(lang string) (names []string) {
	for _, id := range load().ids {
		names = append(names, strings.ToLower(Title(id, lang)))
	}
	return names
}

// Title returns what a language calls a kind, in English where it is none of
// Languages; the id itself where there is no such kind.
func Title(id, lang string) string {
	if label := labels()[id][lang]; label != "" {
		return label
	}
	t := load()
	i := t.number(id)
	if i < 0 {
		return id
	}
	l := slices.Index(Languages[:], lang)
	if l < 0 {
		l = slices.Index(Languages[:], "en")
	}
	return t.names[i][l]
}

//go:embed labels.tsv
var labelFile string

// labels has the labels that go before those of the packages, by kind and language.
var labels = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for line := range strings.Lines(labelFile) {
		if cells := strings.Split(strings.TrimSpace(line), "\t"); len(cells) == 3 {
			all[cells[0]] = map[string]string{"en": cells[1], "de": cells[2]}
		}
	}
	return all
})

// Find returns the kinds that a reader means by a tag ("amenity=dentist"), a key
// ("shop": all of its kinds) or a name in one of Languages ("Zahnarzt"); nil: none.
func Find(text string) []string {
	t := load()
	text = strings.TrimSpace(text)
	if t.number(text) >= 0 {
		return []string{text}
	}
	if p, ok := t.plural(fold(text)); ok && p.names() {
		return t.of(p)
	}
	var all []string
	for _, id := range t.ids {
		if Key(id) == text && !strings.Contains(id, " ") {
			all = append(all, id)
		}
	}
	return all
}

// names reports whether readers call kinds by the phrase.
func (p phrase) names() bool {
	return p.use == Name || p.use == Term || p.use == Unsure || p.use == Query
}

func (t *table) of(p phrase) []string {
	var ids []string
	for _, i := range p.kinds {
		ids = append(ids, t.ids[i])
	}
	return ids
}

// Only reports whether words say what a place is, and not which one: "the community centre".
func Only(words []string) bool {
	if len(words) > 1 && articles[words[0]] {
		words = words[1:]
	}
	isOther := func(kinds []string) bool { return len(kinds) == 0 }
	return len(words) > 0 && !slices.ContainsFunc(InQuery(words), isOther)
}

var articles = map[string]bool{
	"the": true, "der": true, "die": true, "das": true, "le": true, "la": true, "il": true, "de": true, "het": true,
	"el": true, "our": true, "your": true, "best": true, "unser": true, "unsere": true, "ihr": true, "ihre": true,
}

// InQuery returns for each word of a query the kinds that it means, by itself or
// with its neighbours: "law office" means office=lawyer.
func InQuery(words []string) [][]string {
	t := load()
	all := make([][]string, len(words))
	folded := make([]string, len(words))
	for i, w := range words {
		folded[i] = fold(w)
	}
	for i := 0; i < len(words); {
		n := 1
		for length := min(len(words)-i, MaxPhrase); length > 0; length-- {
			p, ok := t.plural(strings.Join(folded[i:i+length], " "))
			if !ok && len(words) == 1 {
				p = t.likely(folded[i])
			}
			if p.names() {
				n = length
				kinds := withRelated(t.of(p))
				for k := i; k < i+n; k++ {
					all[k] = kinds
				}
				break
			}
		}
		i += n
	}
	return all
}

// related lists kinds that mappers choose between for what readers call by one word.
var related = [][]string{
	{"amenity=restaurant cuisine=pizza", "amenity=fast_food cuisine=pizza"},
	{"amenity=fast_food cuisine=kebab", "amenity=restaurant cuisine=kebab", "amenity=restaurant cuisine=turkish"},
	{"amenity=restaurant cuisine=sushi", "amenity=restaurant cuisine=japanese"},
	{"amenity=fast_food cuisine=burger", "amenity=restaurant cuisine=burger"},
	{"craft=shoemaker", "shop=shoe_repair"},
	{"club=sport", "leisure=sports_centre"},
	{"office=association", "club=sport", "club=social"},
	{"shop=kiosk", "shop=newsagent", "shop=tobacco"},
	{"shop=health_food", "shop=organic"},
	{"amenity=ice_cream", "amenity=cafe cuisine=ice_cream"},
	{"leisure=water_park", "leisure=swimming_area", "leisure=sports_centre sport=swimming"},
}

// withRelated adds those related to the first of some kinds, if that leads its list.
func withRelated(kinds []string) []string {
	for _, group := range related {
		if len(kinds) > 0 && group[0] == kinds[0] || len(kinds) > 0 && len(group) == 2 && group[1] == kinds[0] {
			for _, k := range group {
				if !slices.Contains(kinds, k) {
					kinds = append(kinds, k)
				}
			}
		}
	}
	return kinds
}

// shortestStem is the length in bytes from which what a word begins with tells what it
// means.
const shortestStem = 5

// likely returns what a word means that is no phrase of the table: what a compound
// ends with, or what all German phrases mean that begin as it does, "Bestattungsinstitut"
// for "Bestatter".
func (t *table) likely(word string) phrase {
	if p := t.inside(word, "de"); p.use != 0 {
		return p
	}
	for _, end := range append(slices.Clone(endings), "") {
		stem, ok := strings.CutSuffix(word, end)
		if !ok || len(stem) < shortestStem {
			continue
		}
		var only phrase
		first, _ := slices.BinarySearch(t.german, stem)
		for _, text := range t.german[first:] {
			p := t.phrases[text]
			if !strings.HasPrefix(text, stem) {
				break
			}
			if only.kinds != nil && !slices.Equal(only.kinds, p.kinds) {
				return phrase{}
			}
			only = p
		}
		if only.kinds != nil {
			return only
		}
	}
	return phrase{}
}

// Alike returns the other kinds that a language calls as it calls this one: French
// has menuisier for carpenters and joiners.
func Alike(id string) []string { return load().alike[Main(id)] }

// endings of plurals and of German feminines, the longest first.
var endings = []string{"ies y", "innen", "nen", "en", "es", "er", "in", "s", "n", "e"}

// plural looks a phrase up, and where there is none its singular; what names a kind
// goes before search terms. Those have no plural in -er: "Bäcker" is no English back.
func (t *table) plural(text string) (best phrase, found bool) {
	best, found = t.phrases[text]
	if found && best.use != Query {
		return best, true
	}
	for _, end := range endings {
		plural, singular, _ := strings.Cut(end, " ")
		stem, ok := strings.CutSuffix(text, plural)
		if !ok || len(stem) < 4 {
			continue
		}
		p, ok := t.phrases[stem+singular]
		switch {
		case ok && p.names() && p.use != Query && !(found && plural == "er"):
			return p, true
		case ok && p.use == Query && plural != "er" && !found:
			best, found = p, true
		}
	}
	return best, found
}

// ofTypes are the types of schema.org that are called otherwise than the presets.
var ofTypes = pairs(`
	AccountingService office=accountant; Attorney office=lawyer; AutoBodyShop shop=car_repair; AutoDealer shop=car
	AutoPartsStore shop=car_parts; AutoRental amenity=car_rental; AutoRepair shop=car_repair; AutoWash amenity=car_wash
	BeautySalon shop=beauty; BedAndBreakfast tourism=guest_house; BikeStore shop=bicycle; Brewery craft=brewery
	ChildCare amenity=childcare
	CollegeOrUniversity amenity=university; DaySpa shop=beauty; EventVenue amenity=events_venue
	ExerciseGym leisure=fitness_centre; FastFoodRestaurant amenity=fast_food; GardenStore shop=garden_centre
	GovernmentBuilding office=government; GroceryStore shop=supermarket; HealthClub leisure=fitness_centre
	HousePainter craft=painter; HVACBusiness craft=hvac; IndividualPhysician amenity=doctors
	InsuranceAgency office=insurance
	LegalService office=lawyer; MedicalClinic amenity=clinic; MotorcycleDealer shop=motorcycle
	MotorcycleRepair shop=motorcycle_repair; MovieTheater amenity=cinema; MovingCompany office=moving_company
	NGO office=ngo; NightClub amenity=nightclub; PerformingArtsTheater amenity=theatre; Physician amenity=doctors
	PhysiciansOffice amenity=doctors; Physiotherapy healthcare=physiotherapist; PoliceStation amenity=police
	RealEstateAgent office=estate_agent; RoofingContractor craft=roofer; SportsClub club=sport; SportsOrganization club=sport; TireShop shop=tyres
	TouristInformationCenter tourism=information information=office
	VacationRental tourism=apartment; VeterinaryCare amenity=veterinary`)

func pairs(text string) map[string]string {
	all := map[string]string{}
	for pair := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ';' || r == '\n' }) {
		if name, id, ok := strings.Cut(strings.TrimSpace(pair), " "); ok {
			all[name] = id
		}
	}
	return all
}

// noPlaces are types of schema.org whose names are those of places by chance.
var noPlaces = textutil.Words("Service Product Offer Event Article Course Person Brand Menu Organization Place")

// OfType returns the kind that a type of schema.org names, such as "Dentist" or
// "BookStore", or "" where it says too little.
func OfType(name string) string {
	if id := ofTypes[name]; id != "" {
		return id
	}
	if name == "" || noPlaces[name] {
		return ""
	}
	var words []string
	for i, r := range name {
		if unicode.IsUpper(r) || i == 0 {
			words = append(words, "")
		}
		words[len(words)-1] += string(r)
	}
	for end := len(words); end > 0; end-- { // "CafeOrCoffeeShop" is a cafe
		if end < len(words) && words[end] != "Or" {
			continue
		}
		if id := ofTypeWords(words[:end]); id != "" {
			return id
		}
	}
	if last := words[len(words)-1]; last == "School" || last == "Church" { // MiddleSchool, CatholicChurch
		return ofTypeWords([]string{last})
	}
	return ""
}

// ofTypeWords returns the kind that the words of a type name together, or "".
func ofTypeWords(words []string) string {
	t := load()
	p, ok := t.phrases[fold(strings.Join(words, " "))]
	if ok && (p.use == Name || p.use == Term || p.use == Unsure && len(p.kinds) == 1) {
		return t.ids[p.kinds[0]]
	}
	return ""
}

package index

import (
	"cmp"
	"slices"
	"strings"

	"gazehound/geoparse"
)

// A kind is a sort of place that people look for: what schema.org's types and
// the German and English words of names and titles say it is. Types are as in
// the markup, words folded; one that begins with "-"
// ends them too ("-apotheke" is also Löwenapotheke). Of two kinds that fit the
// first one counts.
var kinds = []struct{ name, types, words string }{
	{"pharmacy", "Pharmacy", "pharmacy -apotheke"},
	{"dentist", "Dentist", "dentist dental zahnarzt zahnarzte zahnarztin zahnarztpraxis kieferorthopadie"},
	{"veterinary", "VeterinaryCare", "veterinary tierarzt tierarztin tierarztpraxis tierklinik"},
	{"hospital", "Hospital", "hospital krankenhaus klinikum -klinik"},
	{"doctor", "Physician MedicalClinic MedicalBusiness IndividualPhysician PhysiciansOffice Optician", "doctor physician arztpraxis hausarzt hausarztin arztehaus hautarzt kinderarzt frauenarzt gemeinschaftspraxis facharzt physiotherapie"},
	{"bakery", "Bakery", "bakery -backerei -konditorei"},
	{"cafe", "CafeOrCoffeeShop IceCreamShop", "cafe coffee kaffeehaus eiscafe eisdiele"},
	{"bar", "BarOrPub NightClub Brewery Winery", "pub bar kneipe cocktailbar brauhaus diskothek nightclub"},
	{"restaurant", "Restaurant FoodEstablishment FastFoodRestaurant", "-restaurant ristorante trattoria pizzeria gasthaus gasthof gaststatte bistro imbiss steakhouse grill diner wirtshaus"},
	{"hotel", "Hotel LodgingBusiness Motel Hostel BedAndBreakfast Resort Campground VacationRental", "-hotel hostel motel pension ferienwohnung ferienhaus jugendherberge campingplatz inn guesthouse"},
	{"kindergarten", "Preschool ChildCare", "kindergarten kita kindertagesstatte krippe preschool"},
	{"university", "CollegeOrUniversity", "university universitat hochschule college fachhochschule"},
	{"school", "School ElementarySchool MiddleSchool HighSchool EducationalOrganization", "school -schule gymnasium realschule oberschule berufskolleg"},
	{"library", "Library", "library -bibliothek stadtbucherei"},
	{"museum", "Museum ArtGallery", "museum galerie gallery kunsthalle"},
	{"theatre", "PerformingArtsTheater MovieTheater MusicVenue EventVenue", "theatre theater staatstheater kino cinema"},
	{"worship", "PlaceOfWorship Church CatholicChurch Mosque Synagogue HinduTemple BuddhistTemple", "church kirche kirchengemeinde pfarramt pfarrei moschee synagoge mosque parish"},
	{"hairdresser", "HairSalon BeautySalon DaySpa NailSalon BarberShop HealthAndBeautyBusiness", "hairdresser friseur frisor friseursalon barbershop haarstudio kosmetikstudio nagelstudio"},
	{"car", "AutoDealer AutoRepair AutomotiveBusiness GasStation AutoPartsStore AutoRental AutoBodyShop", "autohaus autowerkstatt kfz autoservice tankstelle autovermietung"},
	{"bank", "BankOrCreditUnion FinancialService InsuranceAgency", "bank -sparkasse volksbank"},
	{"lawyer", "Attorney LegalService Notary AccountingService", "lawyer attorney rechtsanwalt rechtsanwalte rechtsanwaltin anwaltskanzlei notar steuerberater steuerberatung"},
	{"estate", "RealEstateAgent", "immobilien immobilienmakler realtor realty"},
	{"authority", "GovernmentOffice GovernmentOrganization GovernmentBuilding PoliceStation FireStation PostOffice CityHall Courthouse", "rathaus finanzamt burgerburo amtsgericht polizei stadtverwaltung"},
	{"sport", "SportsActivityLocation HealthClub ExerciseGym SportsClub BowlingAlley GolfCourse StadiumOrArena SportsOrganization", "fitness fitnessstudio sportverein turnverein gym schwimmbad hallenbad yoga"},
	{"craft", "HomeAndConstructionBusiness Electrician Plumber HousePainter RoofingContractor GeneralContractor HVACBusiness Locksmith", "-tischlerei -schreinerei -malerbetrieb malermeister dachdecker dachdeckerei elektrotechnik elektroinstallation sanitar zimmerei handwerk klempner plumber electrician"},
	{"supermarket", "GroceryStore ConvenienceStore Supermarket", "supermarkt supermarket lebensmittel edeka rewe aldi lidl"},
	{"shop", "Store ClothingStore BookStore Florist FurnitureStore JewelryStore ShoeStore ToyStore HardwareStore ElectronicsStore BikeStore PetStore SportingGoodsStore LiquorStore HomeGoodsStore GardenStore OutletStore DepartmentStore ShoppingCenter TravelAgency", "shop store laden geschaft buchhandlung boutique -blumen optiker juwelier modehaus mobelhaus fahrrader reiseburo"},
	{"club", "NGO", "verein ev stiftung"},
}

// Kinds returns the sorts of places that an address may be.
func Kinds() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// kindOf returns the sort of place at an address: what its markup calls it,
// else what its name says, else, of the address that its page is about, the
// title. "": none of them does.
func kindOf(address *geoparse.Address, name, title string, own bool) string {
	if k, ok := kindTypes[address.Type]; ok {
		return kindName(k)
	}
	if address.Role.ThirdParty() || address.Person {
		return ""
	}
	if !own {
		title = ""
	}
	return kindName(cmp.Or(kindIn(wordsOf(name)), kindIn(wordsOf(title))))
}

func kindIn(words []string) (kind uint8) {
	for _, w := range words {
		if k := kindWords[w]; k != 0 && (kind == 0 || k < kind) {
			kind = k
		}
		for _, e := range kindEnds {
			if (kind == 0 || e.kind < kind) && strings.HasSuffix(w, e.end) {
				kind = e.kind
			}
		}
	}
	return kind
}

// kindNumber returns the number of a kind, 0 where there is none.
func kindNumber(name string) uint8 {
	return uint8(slices.IndexFunc(kinds, func(k struct{ name, types, words string }) bool { return k.name == name }) + 1)
}

func kindName(n uint8) string {
	if n == 0 || int(n) > len(kinds) {
		return ""
	}
	return kinds[n-1].name
}

type kindEnd struct {
	end  string
	kind uint8
}

var kindTypes, kindWords, kindEnds = func() (types, words map[string]uint8, ends []kindEnd) {
	types, words = map[string]uint8{}, map[string]uint8{}
	for i, k := range kinds {
		for t := range strings.FieldsSeq(k.types) {
			types[t] = uint8(i + 1)
		}
		for w := range strings.FieldsSeq(k.words) {
			end, isEnd := strings.CutPrefix(w, "-")
			if isEnd {
				ends = append(ends, kindEnd{foldWord(end), uint8(i + 1)})
			}
			words[foldWord(end)] = uint8(i + 1)
		}
	}
	return types, words, ends
}()

// kindsAsked returns the kinds that the first n of some words mean; 0: none.
func kindsAsked(words []word) (n int, kinds []string) {
	switch name := kindName(kindWords[words[0].terms[0]]); name {
	case "", "shop", "craft", "car", "club", "sport", "authority": // too many things
		return 0, nil
	default:
		return 1, []string{name}
	}
}

package grammar

func init() {
	addWords(Words{Labels: "zip zipcode city town code by", CityLinks: "by"})
}

// The words of the grammar of US addresses, in lower case without dots.
var (
	directions = set("n s e w ne nw se sw north south east west northeast northwest southeast southwest no so")

	usTypes = set(`alley aly ally annex arcade avenue av ave aven avenu bayou beach bend blf bluff bluffs
		bottom boulevard blvd boul branch bridge brg brook brooks burg bypass byp camp canyon cyn
		cape causeway cswy center centre ctr centers chase cir circle circles circuit cliff cliffs
		close club clb common commons concourse corner corners cor corridor course court ct crt
		courts cts courtyard cove cv coves creek crescent cres crest crossing xing crossroad
		crossroads curve cut cutoff dale dam divide drive dr drv drives end esplanade estate
		estates expressway expy expwy extension ext fairway fall falls ferry field fields flat
		flats ford forest forge fork forks fort freeway frwy fwy front garden gardens gate gateway
		gatewy glen glens grade green greens grove groves harbor harbour haven heights hts
		highlands highpoint highway hwy hiway hill hl hills hls hollow inlet island isle junction
		jct key keys knoll knolls lake lakes landing lndg lane ln la lanes light lights loaf lock
		lodge loop mall manor manors meadow meadows mews mill mills mission motorway motor mount
		mountain neck oaks orchard oval overlook overpass park pk parks parkway pkwy pky parkways
		pass passage path pike pine pines pl place plain plains plaza plz point pt points port
		ports prairie promenade quay radial ramp ranch rapids rest ridge rdg ridges river road rd
		roads roadway route rte row run shoal shoals shore shores skyway slip spring springs spur
		square sq squares station sta stravenue stream street str st streets summit terrace ter
		terr throughway trace track trafficway trail trl trails tunnel turnpike tpke tpk underpass
		union valley vly valleys via viaduct view views village vlg ville vista vis walk walks
		wall way ways well wells woods wynd hall tower towers building campus quad quadrangle yard
		yards alameda paseo broadway stravenue thruway trwy bowl boardwalk quarters close parade
		rise bldg wharf croft mead crt line sideroad concession shores drove gdns cottages`)

	// highwayTypes come before their number.
	highwayTypes = set(`rt highway hwy route rte road rd freeway interstate loop fm rr cr sr us tr ih state county
		avenue ave street calle farm ranch business box exit parkway nc sh`)

	// numberedTypes are those of them that may have a name before: "State Route 9".
	numberedTypes = set("highway hwy route rte rt freeway road rd loop exit box")

	// usPlaces are street words that, without a house number, rather name a
	// place.
	usPlaces = set(`mall center centre ctr centers plaza plz square place pl station village vlg harbor
		harbour hall building tower towers campus park estates commons common landing mills mill
		point manor beach club lodge quad quadrangle market island lake lakes springs ranch resort
		heights gardens arcade square shops yard yards villas terrace court`)

	// roads are those that name no place.
	roads = set(`street st road rd lane ln avenue ave close drive dr crescent cres terrace grove mews row
		walk parade way hill broadway drove`)

	// usLead are words that begin a name of Spanish or French form.
	usLead = set("via camino calle avenida ave rue paseo vista rancho corte plaza los las el la san santa")

	usAlone = set("main broadway embarcadero bowery alameda boardwalk")

	usUnits = set(`bin file drawer msc lt suite suites ste apt apartment ap unit units room rm rms floor fl
		flr building bldg bld lot spc space dept department ms mail stop level lvl penthouse ph
		slip trailer trlr tower twr wing stall office ofc hangar hngr door site gate mailstop attn
		cubicle booth bay studio pier section flat`)
	usAloneUnits = set("penthouse basement bsmt lobby upstairs downstairs rear")
	institutions = set("university department dept school college institute faculty division laboratory")
	levelWords   = set("lower upper main ground basement mezzanine")

	spelledNumbers  = set("one two three four five six seven eight nine ten eleven twelve fifteen twenty")
	spelledOrdinals = set("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth")

	// notBeforeNumber never stand right before a house number.
	notBeforeNumber = set(`suite suites ste apt apartment unit units room rm floor fl building bldg lot spc dept box
		drawer highway hwy route rte interstate i fm sr cr pmb rt phone tel fax no ext extension
		level vol issue page figure version exit copyright since mile milepost rr hc hcr rfd psc
		cmr stop chapter item model part form section rule zip code licence license lic`)

	// usStops never stand inside an address.
	usStops = set(`phone tel telephone fax ph email mail mailto copyright www http https hours open monday
		tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun call toll
		tollfree website web contact click price sales rights reserved directions map and/or`)

	// usNoStreet never stand inside a street name without a street word.
	usNoStreet = set(`the years year days day hours hour minutes people members reviews review locations
		location miles mile percent million billion thousand items item photos results comments
		comment posts views am pm january february march april may june july august september
		october november december jan feb mar apr jun jul aug sep sept oct nov dec states offices
		stores schools homes sq ft acres beds baths bed bath bedroom is are was were has have that
		this our your with for from all rights inc llc about more business businesses best top
		plumbers jobs llp corp`)

	// proseWords lead on in a sentence from a number to a place.
	proseWords = set("at in on of to from for by with near through during and or")

	months = set(`january february march april may june july august september october november december jan
		feb mar apr jun jul aug sep sept oct nov dec`)

	usSmall = set("of the and de la las los del el a at le du des & y al")
)

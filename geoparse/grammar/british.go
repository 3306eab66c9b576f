package grammar

import "strings"

func init() {
	towns := make(map[string]bool)
	for _, names := range postTowns {
		for name := range strings.FieldsSeq(names) {
			towns[name] = true
		}
	}
	counties := make(map[string]bool)
	for name := range strings.SplitSeq(countyNames, ",") {
		counties[name] = true
	}
	add(Country{
		Code: "GB", Form: CityPostcode,
		Domains: "uk", Languages: "en", Phone: "44", Cities: towns, Counties: counties,
		Codes: "A9 9AA,A99 9AA,AA9 9AA,AA99 9AA,A9A 9AA,AA9A 9AA",
		Names: "united kingdom,uk,gb,great britain,england,scotland,wales,northern ireland",
		Parts: []string{"England", "Scotland", "Wales", "Northern Ireland"},
	})
}

const countyNames = "avon,bedfordshire,beds,berkshire,berks,borders,buckinghamshire,bucks,cambridgeshire,cambs," +
	"central,cheshire,cleveland,clwyd,cornwall,county antrim,co antrim,county armagh,co armagh," +
	"county down,co down,county durham,co durham,county fermanagh,co fermanagh,county londonderry," +
	"co londonderry,county tyrone,co tyrone,cumbria,derbyshire,devon,dorset,dumfries and galloway," +
	"dyfed,east sussex,east yorkshire,essex,fife,gloucestershire,glos,grampian,greater london," +
	"greater manchester,gwent,gwynedd,hampshire,hants,herefordshire,hertfordshire,herts,highland," +
	"humberside,isle of wight,kent,lancashire,lancs,leicestershire,leics,lincolnshire,lincs,lothian," +
	"merseyside,mid glamorgan,middlesex,middx,norfolk,north yorkshire,northamptonshire,northants," +
	"northumberland,nottinghamshire,notts,oxfordshire,oxon,powys,rutland,shropshire,salop,somerset," +
	"south glamorgan,south yorkshire,staffordshire,staffs,strathclyde,suffolk,surrey,sussex,tayside," +
	"tyne and wear,tyne & wear,warwickshire,warks,west glamorgan,west midlands,west sussex," +
	"west yorkshire,wiltshire,wilts,worcestershire,worcs,yorkshire,yorks,vale of glamorgan," +
	"west lothian,east lothian,midlothian,ayrshire,lanarkshire,renfrewshire,aberdeenshire,angus," +
	"argyll,banffshire,caithness,clackmannanshire,dunbartonshire,falkirk,inverness-shire," +
	"kinross-shire,moray,perthshire,stirlingshire,carmarthenshire,ceredigion,pembrokeshire," +
	"monmouthshire,denbighshire,flintshire,conwy,anglesey,isle of anglesey"

// postTowns are the towns after which the postcode areas of Great Britain are
// named, with others that stand for many of their codes.
var postTowns = map[string]string{
	"AB": "aberdeen", "AL": "stalbans", "B": "birmingham", "BA": "bath", "BB": "blackburn",
	"BD": "bradford", "BH": "bournemouth poole", "BL": "bolton", "BN": "brighton", "BR": "bromley",
	"BS": "bristol", "BT": "belfast londonderry derry", "CA": "carlisle", "CB": "cambridge",
	"CF": "cardiff", "CH": "chester", "CM": "chelmsford", "CO": "colchester", "CR": "croydon",
	"CT": "canterbury", "CV": "coventry", "CW": "crewe", "DA": "dartford", "DD": "dundee",
	"DE": "derby", "DG": "dumfries", "DH": "durham", "DL": "darlington", "DN": "doncaster",
	"DT": "dorchester", "DY": "dudley", "E": "london", "EC": "london", "EH": "edinburgh",
	"EN": "enfield", "EX": "exeter", "FK": "falkirk stirling", "FY": "blackpool", "G": "glasgow",
	"GL": "gloucester cheltenham", "GU": "guildford", "GY": "guernsey", "HA": "harrow",
	"HD": "huddersfield", "HG": "harrogate", "HP": "hemelhempstead", "HR": "hereford",
	"HU": "hull", "HX": "halifax", "IG": "ilford", "IM": "isleofman", "IP": "ipswich",
	"IV": "inverness", "JE": "jersey", "KA": "kilmarnock", "KT": "kingstonuponthames kingston",
	"KW": "kirkwall", "KY": "kirkcaldy", "L": "liverpool", "LA": "lancaster",
	"LD": "llandrindodwells", "LE": "leicester", "LL": "llandudno", "LN": "lincoln", "LS": "leeds",
	"LU": "luton", "M": "manchester salford", "ME": "rochester maidstone", "MK": "miltonkeynes",
	"ML": "motherwell", "N": "london", "NE": "newcastleupontyne newcastle", "NG": "nottingham",
	"NN": "northampton", "NP": "newport", "NR": "norwich", "NW": "london", "OL": "oldham",
	"OX": "oxford", "PA": "paisley", "PE": "peterborough", "PH": "perth", "PL": "plymouth",
	"PO": "portsmouth", "PR": "preston", "RG": "reading", "RH": "redhill", "RM": "romford",
	"S": "sheffield", "SA": "swansea", "SE": "london", "SG": "stevenage", "SK": "stockport",
	"SL": "slough", "SM": "sutton", "SN": "swindon", "SO": "southampton", "SP": "salisbury",
	"SR": "sunderland", "SS": "southendonsea", "ST": "stokeontrent", "SW": "london",
	"SY": "shrewsbury", "TA": "taunton", "TD": "galashiels", "TF": "telford", "TN": "tonbridge",
	"TQ": "torquay", "TR": "truro", "TS": "middlesbrough", "TW": "twickenham", "UB": "southall",
	"W": "london", "WA": "warrington", "WC": "london", "WD": "watford", "WF": "wakefield",
	"WN": "wigan", "WR": "worcester", "WS": "walsall", "WV": "wolverhampton", "YO": "york",
	"ZE": "lerwick",
}

// PostTowns returns the folded names of the towns that the area of a British
// outward code is named after.
func PostTowns(outward string) []string {
	i := strings.IndexAny(outward, "0123456789")
	return strings.Fields(postTowns[outward[:max(i, 0)]])
}

var (
	// britishRoads end the name of a street, and premises that of a building, an
	// estate or a park, which stands in British addresses where others have a
	// street and number.
	britishRoads = set(`street st road rd lane ln avenue ave close drive dr crescent cres terrace grove mews row
		walk parade way hill broadway drove gardens square place gate circus embankment approach
		rise vale green boulevard strand`)
	premises = set(`house cottage cottages lodge farm barn barns hall court mill mills works wharf yard park
		estate centre building buildings tower towers chambers quay quays dock docks campus depot`)
)

// PremisesBefore reads a British address without a house number from the last
// parts, between lines or commas, before the city: a street, else the name of a
// building, estate or park, with unit and post box: "Unit 5 Princes Park". The
// name of a quarter may stand between them and the city.
func PremisesBefore(text string, t []Token) (Street, bool) {
	var s Street
	k, passed, found := len(t), 0, false
	for passed < 3 {
		k = backOver(text, t, k, ",;|·•-–()")
		start := k
		for start > 0 && t[start-1].Kind != Break && !isMark(text, t[start-1], ",;|·•:()") {
			start--
		}
		if start == k || k-start > 10 {
			break
		}
		unit := usUnit(text, t[:k], start)
		name := roadName(text, t[start+unit:k])
		switch {
		case postBox(text, t[:k], start) > 0:
			s.POBox = Span{t[start].Start, t[start+unit-1].End}
			return s, true
		case unit > 0 && (found || len(name) > 0 || t[start+unit-1].Kind == Number):
			s.Unit = Span{t[start].Start, t[start+unit-1].End}
		case unit > 0, len(name) == 0 && !quarter(text, t[start:k]):
			return s, found
		}
		road := len(name) > 0 && britishRoads[LowerASCII(name[len(name)-1].text(text))]
		if len(name) > 0 && (road || unit > 0 || s.Name.Empty()) {
			s.Name, s.Strength = Span{name[0].Start, trimWord(text, name[len(name)-1])}, 3
		}
		if road {
			if s.Unit.Empty() {
				s.Unit = unitAhead(text, t, start)
			}
			return s, true
		}
		if found = found || s != (Street{}); found {
			passed++ // the street may stand before the estate
		}
		passed++
		k = start
	}
	return s, found
}

// roadName returns the tokens of t that name a street, building or park: all of
// them, or a street before the name of an estate ("Malmesbury Road Kingsditch
// Trading Estate"); none where they are something else.
func roadName(text string, t []Token) []Token {
	if len(t) < 2 {
		return nil
	}
	last := LowerASCII(t[len(t)-1].text(text))
	if britishRoads[last] {
		first := len(t) - 1 // "The clinic is on Mill Lane"
		for first > 0 && len(t)-first < 5 && (capitals(text, t[first-1:first]) || isMark(text, t[first-1], "'’.")) {
			first--
		}
		if len(t)-first >= 2 && capitals(text, t[first:]) {
			return t[first:]
		}
		return nil
	}
	if !premises[last] || !capitals(text, t) {
		return nil
	}
	for i := 1; i+3 < len(t) && i < 5; i++ {
		if britishRoads[LowerASCII(t[i].text(text))] {
			return t[:i+1]
		}
	}
	if len(t) <= 5 {
		return t
	}
	return nil
}

// quarter tells whether t may name a part of a city, or leads on to its name:
// "East Finchley", "Nr" before Ormskirk.
func quarter(text string, t []Token) bool {
	return len(t) <= 4 && capitals(text, t) || len(t) == 1 && isWord(text, t[0], "nr", "near")
}

// capitals tells whether t are words with capitals, or small ones between them.
func capitals(text string, t []Token) bool {
	for _, tok := range t {
		s := tok.text(text)
		if tok.Kind == Word && (!Capital(s) && !usSmall[s] || usStops[LowerASCII(s)]) ||
			tok.Kind == Number && !Ordinal(s) ||
			tok.Kind == Mark && !isMark(text, tok, "&'’/.-") {
			return false
		}
	}
	return t[0].Kind == Word && Capital(t[0].text(text))
}

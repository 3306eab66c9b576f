package grammar

func init() {
	add(Country{
		Code: "DE", Form: CodeCity, Codes: "99999", LostZero: true, Glued: true,
		Prefixes: "D DE", Languages: "de", Phone: "49",
		Names:   "germany,deutschland,de,allemagne,germania,brd,bundesrepublik deutschland",
		Domains: "de berlin hamburg koeln bayern nrw saarland ruhr",
		States: statesOf(":badenwuerttemberg,baden-wuerttemberg,bayern,bavaria,berlin,brandenburg,bremen,hamburg," +
			"hessen,hesse,mecklenburg-vorpommern,niedersachsen,lower saxony,nordrhein-westfalen," +
			"north rhine-westphalia,rheinland-pfalz,rhineland-palatinate,saarland,sachsen,saxony,sachsen-anhalt," +
			"saxony-anhalt,schleswig-holstein,thueringen,thuringia"),
		CityStates:  set("berlin bremen hamburg"),
		CityStreets: map[string]func(string, []Token) (Street, bool){"mannheim": squareBefore},
	})
	add(Country{
		Code: "AT", Form: CodeCity, Codes: "9999",
		Prefixes: "A AT", Domains: "at wien tirol", Languages: "de", Phone: "43",
		Names: "austria,oesterreich,at",
		States: statesOf(":burgenland,kaernten,carinthia,niederoesterreich,lower austria,oberoesterreich," +
			"upper austria,salzburg,steiermark,styria,tirol,tyrol,vorarlberg,wien,vienna"),
		CityStates: set("salzburg wien vienna"),
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
	addWords(Words{
		Types: `strasse str weg gasse platz pl allee ring damm ufer chaussee promenade pfad steig stieg steg
			bruecke hof hoefe markt tor graben wall berg hang halde feld garten gaerten park kamp winkel
			zeile reihe twiete stiege rain anger bogen siedlung kai quai kaje hafen deich heide wald grund
			tal bach passage terrasse esplanade kreuz landstrasse hauptstrasse dorfstrasse kirchplatz
			marktplatz bahnhofplatz gang kehre guertel laende zentrum`,
		Ends: `strasse str straße weg gasse gass platz pl allee ring damm ufer chaussee promenade pfad steig
			stieg steg bruecke hof hoefe markt tor graben wall berg berge bergen hang halde halden feld
			felder wiese wiesen garten gaerten park kamp kaempe kehre winkel zeile reihe twiete stiege rain
			anger bogen siedlung kai kaje hafen deich heide horst busch wald grund tal thal see bach born
			brunnen muehle gang passage terrasse terrassen treppe esplanade kreuz dorf burg eck ecke leite
			leiten gaessle gaessli gaesschen matt matte matten rank acker aecker aue loh lohe buehl buck
			trift plan plaza guertel laende zeil landstrasse schanze freiheit fleet brink diek redder koppel
			brook wisch warf stede moor kuhle schlag bahn stein stueck steige siepen hagen kirche schule
			turm haus heim mark kanal hoehe hoefchen wende worth warft gut spitz boden egg rued ried halten
			weiher holz furt wehr tunnel zentrum center`,
		Links: `der des dem den die am an auf nach zum zur zu von vom im in bei beim d. v. d an's unter
			vor hinter`,
		Adjectives: `alte alter altes alten neue neuer neues neuen grosse grosser grosses grossen kleine kleiner
			kleines kleinen obere oberer oberes oberen untere unterer unteres unteren innere innerer inneren
			aeussere aeusserer aeusseren vordere vorderer vorderen hintere hinterer hinteren mittlere
			mittlerer mittleren lange langer langen kurze kurzer hohe hoher hohen breite breiter erste
			zweite dritte vierte rechte linke sankt st ehemalige rote roter weisse weisser schwarze
			schwarzer gruene gruener krumme krummer schoene schoener stille tiefe heilige westliche
			oestliche noerdliche suedliche gross klein unt ob`,
		Particles: `der die das den dem des und u. am an auf bei beim im in ob unter über ueber vom von vor
			zum zur zu d. a. i. v.`,
		Nobility: "von vom zu zum der den und u. v. d.",
		Units: `haus gebaeude geb top stiege tuer eingang halle wohnung whg raum zimmer aufgang block stg buero
			zi app apartment objekt einheit bau trakt hinterhaus bueroeinheit treppe`,
		Floors: `og eg ug dg stock etage hinterhaus vorderhaus hinterhof hh vh gh sfl sf seitenfluegel
			quergebaeude gartenhaus rueckgebaeude rgb geschoss obergeschoss erdgeschoss dachgeschoss links
			rechts`,
		Labels: "plz postleitzahl ort wohnort stadt gemeinde plzort",
		Boxes:  "pf pob",
		CityLinks: `am an a ad bei b im i in ob od oder auf unter unterm vor vorm vd d der die zu zum zur
			ueber ub bad via kreis krs`,
	})
}

// The words of German addresses that other languages have no part in, folded by
// Fold unless the comment says otherwise.
var (
	// germanBoxes are post boxes also without a number.
	germanBoxes = set("postfach postschliessfach")

	prepositions = set(`am an auf aufm auf'm auf’m bei beim hinter hinterm im in ins ob oberm ueber unter unterm
		unterer vor vorm zu zum zur zwischen nach neben gegenueber oben unten alter altes neuer
		neues grosser kleiner langer hoher oberer mittlerer vorderer hinterer kurzer breiter`)
	highRoads = set("heerstrasse heerstr landstrasse landstr")

	// townEndings end adjectives made of the names of towns.
	townEndings = suffixes("burger berger stadter staedter dorfer hausener heimer furter further felder walder " +
		"bacher hagener steiner auer bruecker borner munder muender garter itzer ower liner riner tiner " +
		"hafener kirchner kirchener roeder becker beker foerder tener sener dener mener chener dter " +
		"ziger weiger sunder thaler taler icker inger laender sterer")
	adjectiveEndings = suffixes("ische ischen ischer versche verschen")
	articles         = set("der den dem die das des d. d") // as written
	titles           = set(`st sankt dr prof prinz prinzessin koenig koenigin kaiser kaiserin graf graefin herzog
		bischof pater pfarrer buergermeister oberbuergermeister bgm lehrer general admiral
		professor doktor pastor direktor hofrat minister erzherzog freiherr heinrich karl wilhelm
		friedrich johann`)

	// germanStops end a street name to the left: firms, labels.
	germanStops = set(`gmbh mbh kg kgaa ag ohg ev gbr ug inc ltd llc eg ek co c/o se sa sarl srl tel telefon fon
		fax telefax mobil mail email e-mail internet web www http https anschrift adresse
		postanschrift hausanschrift besucheranschrift besucheradresse postadresse lieferanschrift
		lieferadresse firmensitz sitz standort kontakt inhaber geschaeftsfuehrer inh ust ustid
		stiftung verein iban bic uhr impressum herausgeber verlag veranstaltungsort treffpunkt
		address`)

	// germanNoStreet never end a street name by their place alone.
	germanNoStreet = set(`telefon tel fax fon seite tag tage zimmer raum halle postfach nr nummer januar februar
		maerz april mai juni juli august september oktober november dezember jan feb jun jul aug
		sep okt nov dez uhr euro eur kapitel teil band ausgabe heft stand platz rang los gruppe
		klasse saal block reihe abs absatz artikel art paragraph version montag dienstag mittwoch
		donnerstag freitag samstag sonntag und oder von bis ab ca konto blz hrb hra km kg plz
		postleitzahl ort stadt jahre jahr personen kinder punkte spiel spiele ergebnis copyright
		windows iphone`)
)

// suffixes sorts words by their last byte, so that few are compared.
func suffixes(words string) map[byte][]string {
	m := make(map[byte][]string)
	for w := range set(words) {
		m[lastByte(w)] = append(m[lastByte(w)], w)
	}
	return m
}

// squareBefore reads a house in the squares of Mannheim, whose streets have no
// names: "Q 7, 24", "C5 Nr. 3".
func squareBefore(text string, t []Token) (Street, bool) {
	s, k := skipTail(text, t, len(t))
	j, ok := numberBefore(text, t, k)
	for n := k - 1; ok && n >= 1 && n >= k-8; n-- {
		letter, square := t[n-1], t[n]
		if square.Kind != Number || !isLetterWord(letter) || text[letter.Start] < 'A' ||
			text[letter.Start] > 'U' || leadingInt(square.text(text)) > 13 || square.End-square.Start > 2 {
			continue
		}
		number := n + 1
		for number < k && (isMark(text, t[number], ",-–/") || isWord(text, t[number], "nr")) {
			number++
		}
		if number < k && t[number].Kind == Number && number >= j {
			s.Name, s.Number, s.Strength = Span{letter.Start, square.End}, Span{t[number].Start, t[k-1].End}, 3
			return s, true
		}
	}
	return s, false
}

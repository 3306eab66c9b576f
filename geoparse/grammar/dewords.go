package grammar

// The words of the grammar of German (and, as far as they share its order,
// Dutch, Danish and Italian) addresses, folded by Fold unless the comment says
// otherwise.
var (
	// streetTypes are street words that can stand alone.
	streetTypes = set("strasse str weg gasse platz pl allee ring damm ufer chaussee promenade pfad steig stieg steg bruecke hof hoefe markt tor graben wall berg hang halde feld garten gaerten park kamp winkel zeile reihe twiete stiege rain anger bogen siedlung kai quai kaje hafen deich heide wald grund tal bach passage terrasse esplanade kreuz landstrasse hauptstrasse dorfstrasse kirchplatz marktplatz bahnhofplatz gang kehre guertel laende zentrum straat laan plein weg gade vej alle vaenge straede torv")

	// leadTypes are street words that begin a name: "Via Roma", "Rue de Berne".
	leadTypes = set("via viale piazza piazzale corso vicolo largo strada rue avenue boulevard chemin route place quai impasse ruelle sentier contrada av ave bd boul blvd allee allees cours square esplanade parvis rond-point cite villa venelle passage montee faubourg promenade calle c/ cl c avda avenida paseo plaza pza ronda carrer carrera avinguda placa travesia camino glorieta piazzetta lungomare lungarno salita strada passeig passatge rambla travessera costanilla cuesta urbanizacion poligono residence lotissement hameau voie chaussee borgo lungotevere circonvallazione grand-rue grand'rue grandrue")

	// linkWords (as written) join a street word to the rest of its name.
	linkWords = set("der des dem den die am an auf nach zum zur zu von vom im in bei beim d. v. d an's unter au aux vor hinter")

	prepositions   = set("am an auf aufm auf'm auf’m bei beim hinter hinterm im in ins ob oberm ueber unter unterm unterer vor vorm zu zum zur zwischen nach neben gegenueber oben unten alter altes neuer neues grosser kleiner langer hoher oberer mittlerer vorderer hinterer kurzer breiter")
	adjectiveWords = set("alte alter altes alten neue neuer neues neuen grosse grosser grosses grossen kleine kleiner kleines kleinen obere oberer oberes oberen untere unterer unteres unteren innere innerer inneren aeussere aeusserer aeusseren vordere vorderer vorderen hintere hinterer hinteren mittlere mittlerer mittleren lange langer langen kurze kurzer hohe hoher hohen breite breiter erste zweite dritte vierte rechte linke sankt st ehemalige rote roter weisse weisser schwarze schwarzer gruene gruener krumme krummer schoene schoener stille tiefe heilige nieuwe oude grote lange korte eerste tweede derde prins prinses koning koningin sint gran westliche oestliche noerdliche suedliche gross klein unt ob")
	highRoads      = set("heerstrasse heerstr landstrasse landstr")

	// townEndings end adjectives made of the names of towns.
	townEndings = suffixes("burger berger stadter staedter dorfer hausener heimer furter further felder walder bacher hagener steiner auer bruecker borner munder muender garter itzer ower liner riner tiner " +
		"hafener kirchner kirchener roeder becker beker foerder tener sener dener mener chener dter ziger weiger sunder thaler taler icker inger laender sterer")
	adjectiveEndings = suffixes("ische ischen ischer versche verschen")
	articles         = set("der den dem die das des d. d") // as written
	titles           = set("st sankt dr prof prinz prinzessin koenig koenigin kaiser kaiserin graf graefin herzog bischof pater pfarrer buergermeister oberbuergermeister bgm lehrer general admiral professor doktor pastor direktor hofrat minister erzherzog freiherr heinrich karl wilhelm friedrich johann")
	nobility         = set("von vom zu zum van de der den und u. v. d. la le du des di del della dei degli delle") // as written
	smallWords       = set("der die das den dem des und u. am an auf bei beim im in ob unter über ueber vom von vor zum zur zu de la le du des di del della da van d. a. i. v. dei degli delle l' op het ten ter 't t s au aux et sur sous en")

	// germanStops end a street name to the left: firms, labels.
	germanStops = set("gmbh mbh kg kgaa ag ohg ev gbr ug inc ltd llc eg ek co c/o se sa sarl srl tel telefon fon fax telefax mobil mail email e-mail internet web www http https anschrift adresse postanschrift hausanschrift besucheranschrift besucheradresse postadresse lieferanschrift lieferadresse firmensitz sitz standort kontakt inhaber geschaeftsfuehrer inh ust ustid stiftung verein iban bic uhr impressum herausgeber verlag veranstaltungsort treffpunkt address")

	// germanNoStreet never end a street name by their place alone.
	germanNoStreet = set("telefon tel fax fon seite tag tage zimmer raum halle postfach nr nummer januar februar maerz april mai juni juli august september oktober november dezember jan feb jun jul aug sep okt nov dez uhr euro eur kapitel teil band ausgabe heft stand platz rang los gruppe klasse saal block reihe abs absatz artikel art paragraph version montag dienstag mittwoch donnerstag freitag samstag sonntag und oder von bis ab ca konto blz hrb hra km kg plz postleitzahl ort stadt jahre jahr personen kinder punkte spiel spiele ergebnis copyright windows iphone")

	streetSuffixes = suffixes("strasse str straße weg gasse gass platz pl allee ring damm ufer chaussee promenade pfad steig stieg steg bruecke hof hoefe markt tor graben wall berg berge bergen hang halde halden feld felder wiese wiesen garten gaerten park kamp kaempe kehre winkel zeile reihe twiete stiege rain anger bogen siedlung kai kaje hafen deich heide horst busch wald grund tal thal see bach born brunnen muehle gang passage terrasse terrassen treppe esplanade kreuz dorf burg eck ecke leite leiten gaessle gaessli gaesschen gaesschen matt matte matten rank acker aecker aue loh lohe buehl buck trift plan plaza guertel laende zeil landstrasse schanze freiheit fleet brink diek redder koppel brook wisch warf stede moor kuhle schlag bahn stein stueck steige siepen hagen kirche schule turm haus heim mark kanal hoehe hoefchen wende worth warft gut spitz boden egg rued ried halten weiher holz furt wehr tunnel zentrum center straat laan plein singel gracht kade dijk dreef hof vej gade alle vaenget parken straede torv")
)

// suffixes sorts words by their last byte, so that few are compared.
func suffixes(words string) map[byte][]string {
	m := make(map[byte][]string)
	for w := range set(words) {
		m[lastByte(w)] = append(m[lastByte(w)], w)
	}
	return m
}

package demo

// The words that the town is made of. Personal names are common ones; they
// mean nobody.

var villageNames = []string{"Kranbeck", "Olsfehn", "Dornhusen", "Immerlage", "Süderkroog", "Windmoor", "Hollwarf", "Brünsiel"}

var villageStreets = []string{"Dorfstraße", "Am Anger", "Zur Tränke", "Kirchweg", "Deichreihe", "Im Moor", "Oberdorf", "Unterdorf", "Feuerwehrweg", "An der Wurt"}

var farTownNames = []string{"Quellfurt", "Tannwerder", "Morgenrode", "Lerchow", "Brandelstedt", "Königsahl", "Steinaurich", "Fehrbach",
	"Grünwinkel an der Leda", "Hohenreuth", "Nordhafen", "Salzwedde", "Ellerbrück", "Rosenthalheim", "Mühlbergen", "Ahrendsee",
	"Kaltensund", "Wippershain", "Lüttjenburg", "Großkamen", "Dreilinden", "Eichfurt", "Falkenmünde", "Gallwitz", "Haferloh",
	"Ilmenrode", "Jettingau", "Kressbach", "Lohnfeld", "Mardorp", "Niederwerth", "Osterlippe", "Pappelau", "Querenstein",
	"Rabenfurt", "Stelleberg", "Trossingau", "Uhlenbrock", "Vierhöfen", "Wolkenstedt"}

var streetStems = []string{"Mühlen", "Garten", "Birken", "Eichen", "Rosen", "Tannen", "Wiesen", "Wald", "Berg", "Hafen", "Deich", "Markt",
	"Kirch", "Schul", "Bahnhof", "Post", "Ziegelei", "Schützen", "Turm", "Burg", "Schloss", "Fischer", "Gerber", "Weber", "Schmiede",
	"Töpfer", "Amsel", "Drossel", "Finken", "Lerchen", "Meisen", "Kastanien", "Ulmen", "Ahorn", "Buchen", "Erlen", "Kiefern",
	"Flieder", "Holunder", "Ginster", "Heide", "Moor", "Sonnen", "Wasser", "Brunnen", "Kloster", "Stifts", "Friedhofs", "Feld",
	"Acker", "Roggen", "Hafer", "Klee", "Nelken", "Tulpen", "Veilchen", "Jäger", "Förster", "Hirsch", "Reh", "Fuchs", "Dachs",
	"Storchen", "Schwanen", "Möwen", "Kranich", "Reiher", "Werft", "Kai", "Schleusen", "Fähr", "Segel", "Anker", "Lotsen", "Industrie",
	"Gewerbe", "Siedlungs", "Neubau", "Kreuz", "Linden", "Apfel", "Birnen", "Kirsch", "Pflaumen", "Hasel", "Walnuss"}

var streetEndings = []string{"straße", "straße", "straße", "straße", "weg", "weg", "allee", "ring", "gasse", "platz", "stieg", "damm", "ufer", "twiete"}

var streetPersons = []string{"Anna Wolters", "Carl Bruns", "Clara Harms", "Otto Meiners", "Friedrich Ebeling", "Sophie Tiemann", "Johann Kruse",
	"Helene Voss", "Wilhelm Asmus", "Elisabeth Jordan", "Theodor Lammers", "Marie Uhlhorn", "Georg von Dincklage", "Luise Behrens",
	"Heinrich Wübben", "Dr. Eilers", "Pastor Schröder", "Bürgermeister Koch", "St. Annen", "Max Reents", "Paul Gerdes", "Ernst August",
	"Hermann Löschen", "Gesine Eden"}

var streetAdjectives = []string{"Alte", "Quellfurter", "Tannwerder", "Morgenroder", "Kranbecker", "Olsfehner", "Dornhuser", "Hohe", "Breite",
	"Kurze", "Grüne", "Kleine", "Große", "Obere", "Untere", "Hintere", "Lerchower", "Nordhafener", "Schiefe"}

var streetPrepositions = []string{"Am Alten Hafen", "Am Bahndamm", "Am Stadtpark", "Am Wall", "Am Kanal", "An der Kirche", "An der Schleuse",
	"An den Eichen", "Auf dem Sande", "Auf der Höhe", "Bei der Windmühle", "Beim Spritzenhaus", "Hinter der Mauer", "Im Winkel", "Im Brook",
	"Im Wiesengrund", "In der Trift", "In den Kämpen", "Unter den Linden", "Vor dem Tore", "Zum Schöpfwerk", "Zum Bootshafen", "Zur Eiche",
	"Zur Alten Ziegelei", "Achtern Diek", "Op de Warf"}

var streetPlain = []string{"Hasenwinkel", "Neue Welt", "Sieben Berge", "Krähennest", "Ochsenzoll", "Poggenpohl", "Rosengarten", "Schafdrift",
	"Steinhöfe", "Tegelkamp", "Vogelsang", "Wendehals", "Lange Reihe", "Lütje Hörn", "Klinkerort", "Dreieck", "Ekern", "Bullenwiese",
	"Burgfriede", "Fasanerie", "Kuhlenbusch", "Langer Rehm", "Marienthal", "Nachtigallental", "Papenburgs Hof", "Radeland"}

var families = []string{"Harms", "Meiners", "Oltmanns", "Brandt", "Wübben", "Eilers", "Gerdes", "Lüken", "Tiemann", "Behrens", "Kruse", "Voss",
	"Asmus", "Jordan", "Lammers", "Uhlhorn", "Reents", "Schröder", "Koch", "Ebeling", "Ahlers", "Böning", "Cordes", "Dirks", "Engelke",
	"Fröhlich", "Grote", "Hinrichs", "Ihnen", "Janßen", "Kuhlmann", "Lübben", "Müller", "Neumann", "Ottjes", "Peters", "Quathamer",
	"Renken", "Siemer", "Thole", "Ubben", "Vahlenkamp", "Wemken", "Zimmermann", "Schönfeld", "Krüger", "Bäcker", "Großmann", "Heyen",
	"Kayser", "Lampe", "Moritz", "Nannen", "Osterloh", "Pohl", "Rabe", "Sander", "Tapken", "Wolters", "Zander"}

var firstNames = []string{"Anke", "Bernd", "Claudia", "Dieter", "Elke", "Frank", "Gesa", "Heiko", "Imke", "Jens", "Karin", "Lars", "Maike",
	"Nils", "Okka", "Petra", "Ralf", "Silke", "Thorsten", "Ute", "Volker", "Wiebke", "Yasemin", "Mehmet", "Agnieszka", "Jürgen", "Sören"}

// A trade is a sort of organisation.
type trade struct {
	plural string // heading in directories
	name   string // %s is a family name or the place
	host   string
	local  bool   // %s is the place
	tag    string // OpenStreetMap key=value
	wares  []string
}

var trades = []trade{
	{"Bäckereien", "Bäckerei %s", "baeckerei-%s", false, "shop=bakery", []string{"Brote", "Brötchen", "Torten", "Kuchen", "Snacks", "Partyservice"}},
	{"Fleischereien", "Fleischerei %s", "fleischerei-%s", false, "shop=butcher", []string{"Wurst", "Schinken", "Grillpakete", "Mittagstisch", "Wild"}},
	{"Zahnärzte", "Zahnarztpraxis Dr. %s", "zahnarzt-%s", false, "amenity=dentist", []string{"Prophylaxe", "Implantate", "Zahnersatz", "Kinderzahnheilkunde"}},
	{"Ärzte", "Hausarztpraxis %s", "praxis-%s", false, "amenity=doctors", []string{"Sprechstunde", "Impfungen", "Vorsorge", "Hausbesuche", "Labor"}},
	{"Apotheken", "%s Apotheke", "%s-apotheke", false, "amenity=pharmacy", []string{"Notdienst", "Arzneimittel", "Kosmetik", "Reiseimpfung"}},
	{"Friseure", "Friseursalon %s", "friseur-%s", false, "shop=hairdresser", []string{"Damen", "Herren", "Kinder", "Hochsteckfrisuren", "Farbe"}},
	{"Autohäuser", "Autohaus %s", "autohaus-%s", false, "shop=car", []string{"Neuwagen", "Gebrauchtwagen", "Werkstatt", "Reifenlager", "Mietwagen"}},
	{"Werkstätten", "Kfz-Werkstatt %s", "kfz-%s", false, "shop=car_repair", []string{"Inspektion", "Bremsen", "Klimaservice", "Hauptuntersuchung"}},
	{"Rechtsanwälte", "Kanzlei %s und Partner", "kanzlei-%s", false, "office=lawyer", []string{"Arbeitsrecht", "Familienrecht", "Mietrecht", "Verkehrsrecht"}},
	{"Steuerberater", "Steuerberatung %s", "steuerberatung-%s", false, "office=tax_advisor", []string{"Buchhaltung", "Jahresabschluss", "Lohnabrechnung"}},
	{"Blumenläden", "Blumenhaus %s", "blumen-%s", false, "shop=florist", []string{"Sträuße", "Hochzeitsfloristik", "Trauerfloristik", "Topfpflanzen"}},
	{"Hotels", "Hotel %s", "hotel-%s", false, "tourism=hotel", []string{"Zimmer", "Restaurant", "Tagungen", "Arrangements", "Wellness"}},
	{"Restaurants", "Gasthaus %s", "gasthaus-%s", false, "amenity=restaurant", []string{"Speisekarte", "Mittagstisch", "Biergarten", "Kegelbahn", "Feiern"}},
	{"Optiker", "Optik %s", "optik-%s", false, "shop=optician", []string{"Brillen", "Kontaktlinsen", "Sehtest", "Sonnenbrillen"}},
	{"Buchhandlungen", "Buchhandlung %s", "buchhandlung-%s", false, "shop=books", []string{"Romane", "Kinderbücher", "Lesungen", "Schulbücher"}},
	{"Tischlereien", "Tischlerei %s", "tischlerei-%s", false, "craft=carpenter", []string{"Treppen", "Fenster", "Möbel", "Innenausbau"}},
	{"Elektriker", "Elektro %s", "elektro-%s", false, "craft=electrician", []string{"Installation", "Photovoltaik", "Smart Home", "Kundendienst"}},
	{"Sanitär", "%s Haustechnik", "haustechnik-%s", false, "craft=plumber", []string{"Heizung", "Bäder", "Wartung", "Wärmepumpen"}},
	{"Maler", "Malerbetrieb %s", "maler-%s", false, "craft=painter", []string{"Fassaden", "Tapeten", "Böden", "Lackierungen"}},
	{"Architekten", "Architekturbüro %s", "architekt-%s", false, "office=architect", []string{"Wohnhäuser", "Gewerbebau", "Umbau", "Energieberatung"}},
	{"Fahrschulen", "Fahrschule %s", "fahrschule-%s", false, "amenity=driving_school", []string{"Klasse B", "Motorrad", "Theorie", "Auffrischung"}},
	{"Physiotherapie", "Physiotherapie %s", "physio-%s", false, "healthcare=physiotherapist", []string{"Krankengymnastik", "Massage", "Lymphdrainage"}},
	{"Tierärzte", "Tierarztpraxis %s", "tierarzt-%s", false, "amenity=veterinary", []string{"Kleintiere", "Pferde", "Impfung", "Chirurgie"}},
	{"Versicherungen", "Versicherungsbüro %s", "versicherung-%s", false, "office=insurance", []string{"Haftpflicht", "Hausrat", "Vorsorge", "Schaden melden"}},
	{"Reisebüros", "Reisebüro %s", "reisebuero-%s", false, "shop=travel_agency", []string{"Kreuzfahrten", "Städtereisen", "Busreisen", "Flüge"}},
	{"Fahrräder", "Fahrradhaus %s", "rad-%s", false, "shop=bicycle", []string{"Trekkingräder", "E-Bikes", "Kinderräder", "Reparatur"}},
	{"Hofläden", "Hofladen %s", "hofladen-%s", false, "shop=farm", []string{"Kartoffeln", "Eier", "Käse", "Saisonkalender"}},
	{"Immobilien", "%s Immobilien", "%s-immobilien", false, "office=estate_agent", []string{"Häuser", "Wohnungen", "Bewertung", "Verkauf"}},
	{"Bestatter", "Bestattungen %s", "bestattungen-%s", false, "shop=funeral_directors", []string{"Vorsorge", "Trauerfall", "Begleitung"}},
	{"Sportvereine", "TSV %s", "tsv-%s", true, "club=sport", []string{"Fußball", "Turnen", "Handball", "Tischtennis", "Leichtathletik"}},
	{"Vereine", "Heimatverein %s e.V.", "heimatverein-%s", true, "club=history", []string{"Vorträge", "Ausflüge", "Chronik", "Plattdeutsch"}},
	{"Chöre", "Chorgemeinschaft %s", "chor-%s", true, "club=music", []string{"Konzerte", "Proben", "Repertoire"}},
	{"Schulen", "Grundschule %s", "grundschule-%s", true, "amenity=school", []string{"Ganztag", "Klassen", "Förderverein", "Termine"}},
	{"Kindergärten", "Kindergarten %s", "kita-%s", true, "amenity=kindergarten", []string{"Gruppen", "Konzept", "Anmeldung", "Elternbeirat"}},
	{"Kirchen", "Kirchengemeinde %s", "kirche-%s", true, "amenity=place_of_worship", []string{"Gottesdienste", "Konfirmanden", "Seniorenkreis", "Kirchenmusik"}},
	{"Feuerwehr", "Freiwillige Feuerwehr %s", "feuerwehr-%s", true, "amenity=fire_station", []string{"Einsätze", "Fahrzeuge", "Jugendfeuerwehr"}},
	{"Museen", "Stadtmuseum %s", "museum-%s", true, "tourism=museum", []string{"Sammlung", "Ausstellungen", "Führungen", "Museumspädagogik"}},
	{"Musikschulen", "Musikschule %s", "musikschule-%s", true, "amenity=music_school", []string{"Klavier", "Gitarre", "Früherziehung", "Ensembles"}},
}

var outside = []string{"gesichtsbuch.invalid", "zwitscher.invalid", "videos.invalid", "kartendienst.invalid", "suchmaschine.invalid"}

var offices = []string{"Bürgerbüro", "Standesamt", "Bauamt", "Ordnungsamt", "Stadtkasse", "Jugendamt", "Sozialamt", "Stadtarchiv", "Stadtbücherei",
	"Hallenbad", "Bauhof", "Gleichstellungsstelle", "Volkshochschule", "Wirtschaftsförderung", "Tourist-Information", "Schulamt", "Umweltamt", "Rechnungsprüfung"}

var goods = []string{"Wanderschuh", "Regenjacke", "Akkuschrauber", "Kaffeemaschine", "Bücherregal", "Gartenschlauch", "Kopfhörer", "Fahrradlampe",
	"Matratze", "Wasserkocher", "Rucksack", "Schreibtisch", "Staubsauger", "Bettwäsche", "Grillzange", "Zelt", "Laufschuh", "Pfannenset",
	"Handtuch", "Lampenschirm", "Teekanne", "Teppich", "Werkzeugkoffer", "Blumenkübel", "Hängematte", "Sonnenschirm", "Küchenwaage"}

var goodsKinds = []string{"Garten", "Küche", "Sport", "Wohnen", "Büro", "Werkzeug", "Mode", "Kinder", "Technik", "Reise", "Bad", "Tiere"}

var newsKinds = []string{"Politik", "Wirtschaft", "Sport", "Kultur", "Wissen", "Reise", "Panorama", "Meinung"}

var localNewsKinds = []string{"Lokales", "Sport", "Polizei", "Vereine", "Kultur", "Leserbriefe", "Region", "Archiv"}

var forumKinds = []string{"Allgemeines", "Technik", "Kochen", "Garten", "Reisen", "Filme", "Musik", "Autos", "Haustiere", "Spiele"}

var nouns = []string{"Haushalt", "Verkehr", "Sommer", "Ausbau", "Streit", "Ergebnis", "Wetter", "Markt", "Spiel", "Konzert", "Versuch", "Bericht",
	"Plan", "Rekord", "Umzug", "Einsatz", "Abend", "Preis", "Vortrag", "Abschied", "Start", "Radweg", "Brücke", "Turnier", "Ausstellung", "Debatte",
	"Ernte", "Hochwasser", "Jubiläum", "Wahl", "Studie", "Messe", "Baustelle", "Zukunft", "Saison", "Energie", "Ferien", "Schule", "Theater"}

var verbs = []string{"beginnt", "endet", "wächst", "überzeugt", "verzögert sich", "kostet mehr", "lockt viele an", "fällt aus", "überrascht", "bleibt",
	"kommt gut an", "wird teurer", "steht fest", "geht weiter", "sorgt für Ärger", "findet Freunde"}

var sentences = []string{
	"Das sorgt seit einigen Wochen für Gespräche.",
	"Viele Besucher kamen schon am frühen Morgen.",
	"Die Vorbereitungen dauern noch bis zum Herbst an.",
	"Wer mitmachen möchte, meldet sich bitte rechtzeitig an.",
	"Wir freuen uns über jede Rückmeldung und nehmen uns gern Zeit.",
	"Seit drei Generationen arbeiten wir mit Sorgfalt und Freude.",
	"Qualität und Verlässlichkeit stehen bei uns an erster Stelle.",
	"Der Eintritt ist frei, um eine Spende wird gebeten.",
	"Nach langer Debatte stimmte der Rat mit 21 zu 14 Stimmen zu.",
	"Am Ende stand es 3:2 nach einem spannenden Spiel.",
	"Das Angebot gilt, solange der Vorrat reicht.",
	"Die Lieferung dauert zwei bis vier Werktage.",
	"Bei Fragen hilft unser Kundendienst gern weiter.",
	"Alle Preise verstehen sich inklusive Mehrwertsteuer.",
	"Einzelheiten gibt der Verein in Kürze bekannt.",
	"Fachleute rechnen mit einem weiteren Anstieg.",
	"Die Ergebnisse wurden gestern in kleiner Runde vorgestellt.",
	"So etwas hat es hier lange nicht gegeben.",
	"Unser Team bildet sich regelmäßig fort.",
	"Der Weg dahin war nicht immer leicht.",
	"Auch die Nachbarn zeigten sich zufrieden.",
	"In der Pause gab es Kaffee, Tee und selbst gebackenen Kuchen.",
	"Die nächste Sitzung findet im neuen Jahr statt.",
	"Eine Anmeldung ist nicht erforderlich.",
	"Das Material ist langlebig und leicht zu pflegen.",
	"Im Test erreichte das Gerät die Note 1,8.",
	"Die Zahl der Übernachtungen stieg um 4,5 Prozent.",
	"Mehr dazu lesen Sie in der Ausgabe vom Samstag.",
	"Wie es weitergeht, entscheidet sich im Frühjahr.",
	"Beachten Sie bitte die geänderten Zeiten an den Feiertagen.",
	"Ein Schwerpunkt liegt auf der Jugendarbeit.",
	"Kinder und Erwachsene sind gleichermaßen willkommen.",
	"Vor Ort beraten wir Sie ausführlich und ohne Zeitdruck.",
	"Damit endet eine kleine Geschichte, die vor zwölf Jahren begann.",
	"Der Vorstand dankte allen Helferinnen und Helfern.",
	"Regen und Wind konnten der guten Laune nichts anhaben.",
}

// Numbers that are no postcodes, and addresses that are no addresses.
var distractions = []string{
	"Unter allen Teilnehmern wurden 10000 Gewinner gezogen.",
	"Der Umbau kostete rund 35000 Euro.",
	"Im Sortiment sind mehr als 70000 Artikel.",
	"ISBN 978-3-00-043101-7, 14,80 Euro.",
	"Gezählt wurden 43101 Besucher in einem Jahr.",
	"Telefon 04299 / 43 10 20, Fax 04299 / 43 10 21.",
	"Die Strecke ist 12 km lang und steigt um 43 m an.",
	"Artikelnummer 43102-17, Größe 1280 x 1024.",
	"IBAN DE00 4310 1000 0043 1020 00.",
	"Am 12. 11. 2026 ab 19.30 Uhr, Saal 3.",
	"In der Hauptstraße ist am Samstag gesperrt.",
	"Die Bahnhofstraße ist von 12 bis 20 Uhr für Autos gesperrt.",
}

package place

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A private person's address is no business of a crawl: see
// docs/decisions/031-private-persons.md for the rules and why.

// IsPerson tells whether a name is that of a person: a given name of the list
// and one to three more names, "Harms, Hanna", or names behind "Herr", "Mrs"
// or "Familie"; and no word of a business or institution.
func IsPerson(name string) bool {
	if len(name) > 60 || IsFirm(name) {
		return false
	}
	if last, first, ok := strings.Cut(name, ", "); ok {
		return properNames(last, 1, 2) && properNames(first, 1, 3) && givenName(first)
	}
	titled := false
	for {
		word, rest, ok := strings.Cut(name, " ")
		switch key := strings.ToLower(strings.TrimSuffix(word, ".")); {
		case ok && courtesies[key]:
			titled = true
		case ok && degrees[key]:
		default:
			if titled {
				return properNames(name, 1, 4)
			}
			return properNames(name, 2, 4) && givenName(name)
		}
		name = rest
	}
}

// isJob tells whether a text says what somebody does, "Director of Research": its
// noun is the last word before a comma or preposition.
func isJob(text string) bool {
	noun := ""
	for word := range strings.FieldsSeq(text) {
		key := strings.Join(nameWords(word), "")
		if noun != "" && (key == "of" || key == "for" || key == "at" || key == "in" || key == "für" || key == "der") {
			break
		}
		noun = key
		if strings.HasSuffix(word, ",") {
			break
		}
	}
	return noun != "" && jobs[noun]
}

// givenName tells whether the first word is a usual given name; of "Anne-Marie"
// the first part decides.
func givenName(name string) bool {
	word, _, _ := strings.Cut(name, " ")
	word, _, _ = strings.Cut(word, "-")
	return word != "" && givenNames[strings.ToLower(word)]
}

// properNames tells whether text is so many names: words with a capital, of
// letters only, an initial, or a particle such as "von".
func properNames(text string, least, most int) bool {
	n := 0
	for word := range strings.FieldsSeq(text) {
		if particles[word] {
			continue
		}
		if n++; n > most {
			return false
		}
		first, _ := utf8.DecodeRuneInString(word)
		if !unicode.IsUpper(first) {
			return false
		}
		for i, r := range word {
			if !unicode.IsLetter(r) && r != '-' && r != '\'' && r != '’' && !(r == '.' && i == len(word)-1 && utf8.RuneCountInString(word) <= 4) {
				return false
			}
		}
	}
	return n >= least
}

// IsFirm tells whether a text has a word that only businesses, institutions and
// professions have beside an address.
func IsFirm(text string) bool {
	text = strings.ToLower(text)
	for _, phrase := range firmPhrases {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if firmWords[word] {
			return true
		}
		for _, end := range firmEnds {
			if len(word) > len(end) && strings.HasSuffix(word, end) {
				return true
			}
		}
	}
	return false
}

// IsCommerce tells whether the text around an address says that somebody does
// business there. It is narrower than IsFirm: "Team" in a menu says nothing.
func IsCommerce(text string) bool {
	text = strings.ToLower(text)
	for _, phrase := range firmPhrases {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if commerceWords[word] {
			return true
		}
	}
	return false
}

// imprintCues head what the law wants a site to say of who runs it.
var imprintCues = []string{"impressum", "imprint", "§ 5", "§5", "§ 18", "anbieterkennung", "diensteanbieter", "legal notice", "angaben gemäß"}

func HasImprintCue(text string) bool {
	text = strings.ToLower(text)
	for _, cue := range imprintCues {
		if strings.Contains(text, cue) {
			return true
		}
	}
	return false
}

var (
	courtesies = Words("herr herrn frau familie fam mr mrs ms miss eheleute")
	jobs       = Words(`
		researcher scientist professor lecturer instructor postdoc fellow student candidate director manager
		president chair chairman dean coordinator secretary editor webmaster administrator officer ceo cto cfo
		treasurer supervisor specialist technician assistant associate owner founder
		geschäftsführer geschäftsführerin inhaber inhaberin direktor direktorin leiter leiterin vorsitzender
		vorsitzende referent referentin mitarbeiter mitarbeiterin dozent dozentin doktorand doktorandin
		sekretär sekretärin wissenschaftler wissenschaftlerin ansprechpartner ansprechpartnerin`)
	degrees   = Words("dr prof dipl-ing dipl ing mag")
	particles = Words("von van de der den zu zur vom di da du la le ten ter and und &")

	// firmPhrases are looked for anywhere.
	firmPhrases = []string{
		"e.v.", "e. v.", "e.k.", "e.kfm", "& co", "b.v.", "ust-id", "ust.-id", "ust-idnr", "umsatzsteuer", "steuernummer", "steuer-nr", "handelsregister", "handwerkskammer", "berufsbezeichnung", "berufshaftpflicht",
		"öffnungszeit", "sprechzeit", "bürozeit", "opening hours", "office hours", "business hours", "dr. med", "heilpraktiker", "rechtsanw", "steuerberat", "geschäftsführ", "vereinsregister",
	}
	// firmWords are whole words.
	firmWords = Words(`
		gmbh ggmbh ag kg kgaa ohg ug gbr eg ev se inc llc llp ltd limited corp corporation company plc pllc pc
		inh inhaber inhaberin firma fa betrieb meister meisterbetrieb gewerbe handel vertrieb verkauf versand service services dienst
		praxis gemeinschaftspraxis arzt ärztin ärzte zahnarzt zahnärztin tierarzt tierärztin md dds dmd dpm cpa esq attorney attorneys lawyer law firm realtor realty
		kanzlei notar notarin anwalt anwältin architekt architektin architekten architekturbüro ingenieur ingenieurbüro sachverständiger makler immobilien versicherung versicherungen agentur agency
		apotheke pharmacy klinik clinic hospital krankenhaus medical dental health care pflege therapie physiotherapie
		hotel pension gasthof gasthaus gaststätte restaurant café cafe bar bistro kneipe imbiss pizzeria grill diner bakery bäcker bäckerei fleischerei ferienwohnung ferienhaus
		shop store laden markt market boutique salon friseur friseursalon studio atelier galerie gallery werkstatt garage autohaus auto tankstelle
		schule school gymnasium universität university college hochschule institut institute akademie academy bibliothek library kita kindergarten
		kirche church gemeinde pfarramt pfarrei parish moschee verein club klub verband association stiftung foundation society partei fraktion
		stadt city landkreis amt rathaus behörde ministerium department polizei feuerwehr gericht amtsgericht finanzamt museum theater theatre kino
		haus house heim zentrum center centre halle hall hof park platz turm schloss
		bank sparkasse volksbank group gruppe holding systems solutions consulting beratung management media medien design verlag press druck technik bau handwerk büro office team partner`)
	// commerceWords are whole words of those that stand around an address.
	commerceWords = Words(`
		gmbh ggmbh kg kgaa ohg ug gbr inc llc llp ltd inh inhaber inhaberin firma meisterbetrieb fachbetrieb handwerksbetrieb gewerbe gewerblich hrb hra
		praxis gemeinschaftspraxis arzt ärztin ärzte zahnarzt zahnärztin zahnärzte tierarzt tierärztin tierärzte dds dmd esq attorney attorneys lawyer lawyers realtor
		kanzlei notar notarin notare anwalt anwältin anwälte architekt architektin architekten sachverständiger sachverständige makler maklerin
		apotheke restaurant hotel gasthof gaststätte café cafe salon werkstatt geschäft ladengeschäft filiale store shop`)
	// firmEnds end German compounds.
	firmEnds = []string{
		"gmbh", "praxis", "apotheke", "kanzlei", "erei", "verein", "schule", "werkstatt", "restaurant", "hotel", "gaststätte", "gasthof", "betrieb", "handel", "technik", "service", "dienst", "beratung", "büro", "laden", "markt", "studio",
		"zentrum", "center", "institut", "akademie", "verband", "stiftung", "kirche", "gemeinde", "museum", "theater", "verlag", "agentur", "versicherung", "immobilien", "meister", "gesellschaft", "genossenschaft", "klinik", "garten", "bank", "kasse",
	}
)

// givenNames are the usual ones of the countries that gazehound knows best, as
// registries of births and of telephones have had them for a hundred years.
var givenNames = Words(`
	aaron achim adam adele adelheid adolf adrian agathe agnes agnieszka ahmet alan albert albrecht alessandro alex alexander alexandra alfons alfred ali alice alicia alina alison allison alois alwin amalie amanda amber amelie amy
	ana anastasia andrea andreas andrew andré anett anette angela angelika anita anja anke anna anne annegret anneliese annemarie annette annika anthony antje anton antonia antonio arne arno arnold artur arthur ashley astrid august auguste axel ayse ayşe
	barbara bastian beate beatrice beatrix ben benedikt benjamin benno bernd bernhard bert berta bertha berthold bettina betty beverly bianca birgit birgitta birte björn bodo bonnie boris brandon brenda brian brigitta brigitte britta bruce bruno bryan burkhard
	carina carl carla carlos carmen carol carola carolin caroline carolyn carsten catharina catherine cathrin celina charles charlotte cheryl chris christa christel christian christiane christin christina christine christoph christopher cindy claas clara claudia claus clemens conrad constanze cord cornelia craig cynthia
	dagmar daniel daniela danielle danny daria david debbie deborah debra denis denise dennis detlef detlev diana diane diego dieter dietlinde dietmar dietrich dirk dominic dominik donald donna doreen doris dorothea dorothee dorothy douglas dustin
	eberhard eckart eckhard edeltraud edgar edith eduard edward edwin egon eike eileen elena elfriede eli elisa elisabeth elise elizabeth elke ella ellen elmar elsa elsbeth else elvira emil emilia emily emine emma emmanuel enno eric erich erik erika erna ernst erwin esther eugen eva evelyn ewald
	fabian fabienne fatih fatma felicitas felix ferdinand finn florian frances francesco francis frank franz franziska frauke fred frederik freya frieda friedel friederike friedhelm friedrich fritz
	gabi gabriel gabriela gabriele gary georg george gerald gerd gerda gerhard gerlinde gernot gert gertrud gesa gesine gilbert gina gisela giovanni giuseppe gloria gottfried greg gregor gregory greta grete gudrun guido gunnar gunter günter günther gustav
	hagen haiko hanna hannah hannelore hannes hanno hans harald harold harry hartmut hartwig hasan hauke heather hedwig heide heidemarie heidi heidrun heike heiko heiner heinrich heinz helen helena helene helga helge hella hellmut helmut helmuth hendrik henning henriette henrik henry herbert heribert hermann hertha hilda hilde hildegard hilmar hinrich holger horst hubert hubertus hugo hülya
	ian ibrahim ida ignaz ilka ilona ilse imke ines inga inge ingeborg ingo ingrid inka insa irene irina iris irma irmgard isabel isabell isabella isolde ivan ivonne
	jack jacob jacqueline jakob jale james jamie jan jana jane janet janice janina janine jannik janine jason jasmin jean jeff jeffrey jenna jennifer jens jeremy jerry jessica jill jim joachim joan joanna jochen joe joel johann johanna johannes john jonas jonathan jordan jorge jose josef josefine joseph joshua josua josé joyce juan judith judy julia julian juliane julie julius jutta jörg jörn jürgen
	kai karen karin karina karl karla karola karoline karsten katarina katharina kathleen kathrin kathryn kathy katja katrin kay keith kelly ken kenneth kerstin kevin kilian kim kimberly kirsten klaas klara klaudia klaus klemens knut konrad konstantin korbinian kristen kristin kristina kunigunde kurt kyle
	lara larissa larry lars laura lauren laurenz lea leah lena leni lennart leo leon leonard leonhard leonie leopold leslie liane lieselotte lilli lily lina linda lisa lisbeth lotte lothar louis louisa louise luca lucas lucia lucy ludger ludwig luis luisa luise lukas lutz lydia lynn
	madeleine magda magdalena maik maike malte mandy manfred manuel manuela marc marcel marco marcus mareike maren margaret margareta margarete margarethe margit margot margret margrit maria marianna marianne marie marieke marilyn marina mario marion marius mark marko markus marlene marlies marlis martha martin martina marvin mary marta mathias mathilde matthew matthias max maximilian maya mechthild mehmet meike meinhard melanie melissa mercedes merle metin mia michael michaela michelle miguel mike mila milan mirja miriam mirjam mirko mohamed mohammed monica monika moritz murat mustafa
	nadine nadja nancy natalia natalie natascha nathalie nathan nele nicholas nick nico nicola nicole niels niklas niko nikolai nikolaus nils nina nora norbert norma
	ola okka olaf oleg olga oliver olivia oskar osman oswald otmar otto ottilie ove
	paige pamela pascal patricia patrick patrik paul paula pauline pedro peggy peter petra phil philip philipp phillip phyllis pia piet pietro
	rachel rafael ragna rainer ralf ralph ramona randy raphael raymond rebecca regina regine reiner reinhard reinhold renate rene renée rené rhonda ria ricarda richard rita robert roberto robin rodney roger roland rolf roman romy ron ronald ronny rosa rose rosemarie roswitha roy ruben rudi rudolf rupert russell ruth ryan rüdiger
	sabine sabrina sally salvatore sam samantha samira samuel sandra sandy sara sarah sascha saskia scott sean sebastian selin selma serkan severin shannon sharon shawn sheila shirley sibylle siegbert siegfried sieglinde siegmar siegrid sigrid sigrun silja silke silvia simon simone sina sofia sofie sonja sophia sophie stacy stefan stefanie steffen steffi stella stephan stephanie stephen steve steven stuart sue susan susann susanna susanne suse sven svenja svetlana sybille sylke sylvia sönke sören
	tamara tammy tanja tanya tara tatjana ted teresa terry thea theo theodor theresa therese thilo thomas thorben thorsten tiffany till tilman tim timm timo timothy tina tjark tobias todd tom tony torben torsten tracy traute traudel tristan trudi tyler
	udo ulf uli ulla ulli ulrich ulrike ulrika ursel ursula uschi uta ute uwe
	valentin valentina valerie vanessa vera verena veronica veronika victor victoria viktor viktoria vincent vincenzo viola virginia vivian volker volkmar
	walburga waldemar waltraud walter walther wanda wayne wendelin wendy werner wesley wibke wiebke wilfried wilhelm wilhelmine willi william willy wilma winfried wolf wolfgang wolfram
	xaver yannick yasemin yasmin ylva yusuf yves yvonne zachary zoe`)

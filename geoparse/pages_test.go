package geoparse

import (
	"strings"
	"testing"

	"gazehound/geoparse/markup"
)

// Pages as people write them, in every country's layout, and what only looks
// like an address. The gazetteer is that of postal codes alone.
func TestEvalPagesOfCountries(t *testing.T) {
	if testing.Short() {
		t.Skip("what is found does not depend on the race detector")
	}
	p, err := New(evalGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ host, in, want string }{
		// German footers, tables, lists
		{"a.de", `<footer><p>© 2026 Müller GmbH · Lange Straße 12a · 26122 Oldenburg · Tel. 0441 12345</p></footer>`, "Lange Straße|12a|26122|Oldenburg"},
		{"a.de", `<table><tr><th>Anschrift</th><td>Heiligengeiststr. 12–14</td></tr><tr><th>PLZ/Ort</th><td>26121 Oldenburg</td></tr></table>`, "Heiligengeiststr.|12–14|26121|Oldenburg"},
		{"a.de", `<dl><dt>Straße</dt><dd>Am Stau 3</dd><dt>PLZ</dt><dd>26122</dd><dt>Ort</dt><dd>Oldenburg</dd></dl>`, "Am Stau|3|26122|Oldenburg"},
		{"a.de", `<ul><li>Filiale Nord: Nadorster Straße 60, 26123 Oldenburg</li><li>Filiale Süd: Cloppenburger Str. 300, 26133 Oldenburg</li><li>Zentrale: Kaiserstr. 5, 67655 Kaiserslautern</li></ul>`, "Nadorster Straße|60|26123|Oldenburg;Cloppenburger Str.|300|26133|Oldenburg;Kaiserstr.|5|67655|Kaiserslautern"},
		{"a.de", `<p>Sie finden uns in der Ammerländer Heerstraße 114-118 in 26129 Oldenburg, direkt neben der Uni.</p>`, "Ammerländer Heerstraße|114-118|26129|Oldenburg"},
		{"a.de", `<address>Praxis Dr. Weber<br>Q7, 24<br>68161 Mannheim</address>`, "Q7|24|68161|Mannheim"},
		{"a.de", `<address>C 5, 1-3<br>68159 Mannheim</address>`, "C 5|1-3|68159|Mannheim"},
		{"a.de", `<p>Industriestraße 5, Haus 3<br>D-67655 Kaiserslautern</p>`, "Industriestraße|5|67655|Kaiserslautern"},
		{"a.de", `<p>Bürgermeister-Smidt-Str. 12 b<br/>D - 27568 Bremerhaven</p>`, "Bürgermeister-Smidt-Str.|12 b|27568|Bremerhaven"},
		{"a.de", `<p>Straße des 17. Juni 135<br>10623 Berlin</p>`, "Straße des 17. Juni|135|10623|Berlin"},
		{"a.de", `<p>An den Treptowers 1, 12435 Berlin</p>`, "An den Treptowers|1|12435|Berlin"},
		{"a.de", `<p>Postfach 10 01 52, 60001 Frankfurt am Main</p>`, "||60001|Frankfurt am Main"},
		{"a.de", `<p>Hausanschrift: Unter den Linden 6, 10117 Berlin<br>Postanschrift: Postfach 12 34 56, 10117 Berlin</p>`, "Unter den Linden|6|10117|Berlin;||10117|Berlin"},
		{"a.de", `<p>Markt 1, 04109 Leipzig</p>`, "Markt|1|04109|Leipzig"},
		{"a.de", `<p>c/o Betahaus, Rudi-Dutschke-Str. 23, 10969 Berlin-Kreuzberg</p>`, "Rudi-Dutschke-Str.|23|10969|Berlin-Kreuzberg"},
		{"a.de", `<p>Hohe Bleichen 8, 5. OG, 20354 Hamburg</p>`, "Hohe Bleichen|8|20354|Hamburg"},
		{"a.de", `<p>Schloßstr. 23 1/2, 86150 Augsburg</p>`, "Schloßstr.|23 1/2|86150|Augsburg"},
		{"a.de", `<p>Frankfurter Allee 31 A, Hinterhaus, 2. Stock links, 10247 Berlin</p>`, "Frankfurter Allee|31 A|10247|Berlin"},
		{"a.de", `<p>Zum Alten Forsthaus 2, 66606 St. Wendel</p>`, "Zum Alten Forsthaus|2|66606|St. Wendel"},
		{"a.de", `<p>Friedrich-Ebert-Anlage 49 (MesseTurm), 60308 Frankfurt</p>`, "Friedrich-Ebert-Anlage|49|60308|Frankfurt"},
		{"a.de", `<p>26122 Oldenburg, Lange Str. 5</p>`, "Lange Str.|5|26122|Oldenburg"},
		{"a.de", `<p>Lange Straße 5 | 26122 Oldenburg | Germany</p>`, "Lange Straße|5|26122|Oldenburg"},
		{"a.de", `<p>LANGE STRASSE 5, 26122 OLDENBURG</p>`, "LANGE STRASSE|5|26122|OLDENBURG"},
		{"a.de", `<p>Musterfirma GmbH & Co. KG<br>Am Wall 5+7<br>28195 Bremen</p>`, "Am Wall|5+7|28195|Bremen"},
		{"a.de", `<p>Gewerbegebiet Nord<br>Siemensstr. 4<br>Gebäude 12<br>49074 Osnabrück</p>`, "Siemensstr.|4|49074|Osnabrück"},
		{"a.de", `<p>Bahnhofstr. 3/5, 26122 Oldenburg (Oldb)</p>`, "Bahnhofstr.|3/5|26122|Oldenburg"},
		{"a.de", `<p>Wehrstr. 3 &ndash; 5 &middot; 49074 Osnabr&uuml;ck</p>`, "Wehrstr.|3 – 5|49074|Osnabrück"},
		{"a.de", `<p>Dorfstraße 7, OT Neuendorf, 14797 Kloster Lehnin</p>`, "Dorfstraße|7|14797|Kloster Lehnin"},
		{"a.de", `<div itemscope itemtype="http://schema.org/PostalAddress"><span itemprop="streetAddress">Kurfürstendamm 22</span><span itemprop="postalCode">10719</span><span itemprop="addressLocality">Berlin</span></div>`, "Kurfürstendamm|22|10719|Berlin"},
		{"a.de", `<script type="application/ld+json">{"@graph":[{"@type":"WebSite"},{"@type":"Organization","address":{"@type":"PostalAddress","streetAddress":"Ostra-Allee 9","postalCode":"01067","addressLocality":"Dresden","addressCountry":"DE"}}]}</script>`, "Ostra-Allee|9|01067|Dresden"},
		{"a.de", `<div class="vcard"><div class="adr"><span class="street-address">Domkloster 4</span> <span class="postal-code">50667</span> <span class="locality">Köln</span></div></div>`, "Domkloster|4|50667|Köln"},
		{"a.de", `<p>Landgericht Köln, Luxemburger Straße 101, 50939 Köln, Tel.: 0221 477-0</p>`, "Luxemburger Straße|101|50939|Köln"},
		{"a.de", `<p>Kaiser-Wilhelm-Ring 27 – 29<br>50672 Köln</p>`, "Kaiser-Wilhelm-Ring|27 – 29|50672|Köln"},
		{"a.de", `<p>Alte Landstr. 12 in<br>26122 Oldenburg</p>`, "Alte Landstr.|12|26122|Oldenburg"},
		{"a.de", `<p>Ort: Peterstr. 22, 26121 Oldenburg; Beginn: 19 Uhr, Eintritt 12 Euro</p>`, "Peterstr.|22|26121|Oldenburg"},
		{"a.de", `<p>Lange Straße 5<br>Oldenburg</p><p>Tel. 0441 26122 Oldenburg</p>`, ""},
		// AT
		{"a.at", `<p>Mariahilfer Straße 103/2/5<br>A-1060 Wien</p>`, "Mariahilfer Straße|103/2/5|1060|Wien"},
		{"a.at", `<p>Neubaugasse 12, Stiege 2/Top 5, 1070 Wien</p>`, "Neubaugasse|12|1070|Wien"},
		{"a.at", `<p>Schottenring 18 / Stiege 3 / 2. Stock, 1010 Wien</p>`, "Schottenring|18|1010|Wien"},
		{"a.at", `<p>Graben 21, A-1010 Wien</p>`, "Graben|21|1010|Wien"},
		{"a.at", `<p>1010 Wien, Stephansplatz 3</p>`, "Stephansplatz|3|1010|Wien"},
		{"a.at", `<p>Hauptplatz 1, 8010 Graz, Österreich</p>`, "Hauptplatz|1|8010|Graz"},
		{"a.at", `<p>Innrain 52d, 6020 Innsbruck</p>`, "Innrain|52d|6020|Innsbruck"},
		{"a.at", `<p>Wiener Straße 37/2. Stock, 3500 Krems</p>`, "Wiener Straße|37|3500|Krems"},
		{"a.at", `<p>Dorf 14, 6352 Ellmau</p>`, "Dorf|14|6352|Ellmau"},
		// CH
		{"a.ch", `<p>Muster AG<br>Bahnhofstrasse 21<br>Postfach<br>CH-8001 Zürich</p>`, "Bahnhofstrasse|21|8001|Zürich"},
		{"a.ch", `<p>Rue du Rhône 42, 1204 Genève</p>`, "Rue du Rhône|42|1204|Genève"},
		{"a.ch", `<p>Via Nassa 5, 6900 Lugano</p>`, "Via Nassa|5|6900|Lugano"},
		{"a.ch", `<p>Place de la Gare 12<br>1003 Lausanne</p>`, "Place de la Gare|12|1003|Lausanne"},
		{"a.ch", `<p>Bundesplatz 3, 3003 Bern</p>`, "Bundesplatz|3|3003|Bern"},
		{"a.ch", `<p>Im Bösch 67, 6331 Hünenberg</p>`, "Im Bösch|67|6331|Hünenberg"},
		{"a.li", `<p>Städtle 49<br>FL-9490 Vaduz</p>`, "Städtle|49|9490|Vaduz"},
		// US
		{"a.com", `<p>1600 Pennsylvania Avenue NW<br>Washington, DC 20500</p>`, "Pennsylvania Avenue NW|1600|20500|Washington"},
		{"a.com", `<p>350 5th Ave, Suite 3304, New York, NY 10118-0110</p>`, "5th Ave|350|10118-0110|New York"},
		{"a.com", `<p>123 N 6th St<br>Apt 4B<br>Brooklyn, NY 11249</p>`, "N 6th St|123|11249|Brooklyn"},
		{"a.com", `<p>41-50 Main Street, Flushing, NY 11355</p>`, "Main Street|41-50|11355|Flushing"},
		{"a.com", `<p>W240 N3103 Pewaukee Rd, Pewaukee, WI 53072</p>`, "Pewaukee Rd|W240 N3103|53072|Pewaukee"},
		{"a.com", `<p>12850 Highway 9 N, Suite 600, Alpharetta, GA 30004</p>`, "Highway 9 N|12850|30004|Alpharetta"},
		{"a.com", `<p>4500 US-1, Vero Beach, FL 32967</p>`, "US-1|4500|32967|Vero Beach"},
		{"a.com", `<p>1234 County Road 12, Autaugaville, AL 36003</p>`, "County Road 12|1234|36003|Autaugaville"},
		{"a.com", `<p>PO Box 1234<br>Prattville, AL 36067</p>`, "||36067|Prattville"},
		{"a.com", `<p>PSC 1234 Box 5678<br>APO, AE 09499</p>`, "||09499|APO"},
		{"a.com", `<p>Visit us at 100 Main St., Prattville, Alabama 36067!</p>`, "Main St.|100|36067|Prattville"},
		{"a.com", `<table><tr><td>Address:</td><td>200 E. Las Olas Blvd.</td></tr><tr><td>City:</td><td>Fort Lauderdale</td></tr><tr><td>State:</td><td>FL</td></tr><tr><td>Zip:</td><td>33301</td></tr></table>`, "E. Las Olas Blvd.|200|33301|Fort Lauderdale"},
		{"a.com", `<p>One Microsoft Way<br>Redmond, WA 98052</p>`, "Microsoft Way|One|98052|Redmond"},
		{"a.com", `<p>10 S Broadway, St. Louis, MO 63102</p>`, "S Broadway|10|63102|St. Louis"},
		{"a.com", `<p>226 1/2 W 3rd St, Los Angeles, CA 90013</p>`, "W 3rd St|226 1/2|90013|Los Angeles"},
		{"a.com", `<p>1500 Avenue of the Americas, New York, NY 10019</p>`, "Avenue of the Americas|1500|10019|New York"},
		{"a.com", `<p>150 South 5600 West, Salt Lake City, UT 84104</p>`, "South 5600 West|150|84104|Salt Lake City"},
		{"a.com", `<p>Room 4228<br>Donald Bren Hall<br>Irvine, CA 92617</p>`, "||92617|Irvine"},
		{"a.com", `<p>444 Computer Science Bldg.</p><p>University of California</p><p>Irvine, CA 92697-3425</p>`, "Computer Science Bldg.|444|92697-3425|Irvine"},
		{"a.com", `<p>2091 Donald Bren Hall<br>Department of Computer Science<br>University of California, Irvine<br>Irvine, CA 92697-3435</p>`, "Donald Bren Hall|2091|92697-3435|Irvine"},
		{"a.com", `<p>Suite 200, 15 Broad Street<br>Boston MA 02109</p>`, "Broad Street|15|02109|Boston"},
		{"a.com", `<p>77 Massachusetts Ave, Bldg 10, Cambridge, MA 02139 USA</p>`, "Massachusetts Ave|77|02139|Cambridge"},
		{"a.com", `<p>Rt. 2 Box 45, Deatsville, AL 36022</p>`, "||36022|Deatsville"},
		{"a.com", `<p>2001 K Street, N.W., Washington, D.C. 20006</p>`, "K Street, N.W.|2001|20006|Washington"},
		{"a.com", `<p>5 Penn Plaza, 23rd Floor, New York, NY 10001</p>`, "Penn Plaza|5|10001|New York"},
		// GB
		{"a.co.uk", `<p>221B Baker Street<br>London<br>NW1 6XE</p>`, "Baker Street|221B|NW1 6XE|London"},
		{"a.co.uk", `<p>Unit 4, Oakwood Industrial Estate, 12 Mill Lane, Harrogate, North Yorkshire, HG1 4QE</p>`, "Mill Lane|12|HG1 4QE|Harrogate"},
		{"a.co.uk", `<p>The Old Rectory, Church Lane, Cheltenham, Glos. GL50 1AA</p>`, "Church Lane||GL50 1AA|Cheltenham"},
		{"a.co.uk", `<p>10-12 High St, Oxford OX1 4AF, UK</p>`, "High St|10-12|OX1 4AF|Oxford"},
		{"a.co.uk", `<p>Flat 3, 45 Queen's Road, Edinburgh EH8 7PJ</p>`, "Queen's Road|45|EH8 7PJ|Edinburgh"},
		{"a.co.uk", `<p>1st Floor, 7 Deansgate, Manchester M3 1AZ</p>`, "Deansgate|7|M3 1AZ|Manchester"},
		{"a.co.uk", `<p>PO Box 123, Leeds LS1 1AA</p>`, "||LS1 1AA|Leeds"},
		// NL BE LU DK FR IT ES
		{"a.nl", `<p>Keizersgracht 241<br>1016 EA Amsterdam</p>`, "Keizersgracht|241|1016 EA|Amsterdam"},
		{"a.nl", `<p>Prins Hendrikkade 33-HS, 1012TM Amsterdam</p>`, "Prins Hendrikkade|33-HS|1012TM|Amsterdam"},
		{"a.nl", `<p>Lucas van Leydenstraat 29<br>1016 EA Amsterdam</p>`, "Lucas van Leydenstraat|29|1016 EA|Amsterdam"},
		{"a.nl", `<p>Karel de Grotelaan 1, 1012TM Amsterdam</p>`, "Karel de Grotelaan|1|1012TM|Amsterdam"},
		{"a.nl", `<p>Café aan de Dorpskade 7, 1012TM Amsterdam</p>`, "Dorpskade|7|1012TM|Amsterdam"},
		{"a.nl", `<p>Bij de Dorpskade 7, 1012TM Amsterdam</p>`, "Dorpskade|7|1012TM|Amsterdam"},
		{"a.nl", `<p>Keizersgracht 2<br>5213 BB 's-Hertogenbosch</p>`, "Keizersgracht|2|5213 BB|'s-Hertogenbosch"},
		{"a.nl", `<p>Postbus 1234, 3500 BA Utrecht</p>`, "||3500 BA|Utrecht"},
		{"a.be", `<p>Rue de la Loi 16<br>1000 Bruxelles</p>`, "Rue de la Loi|16|1000|Bruxelles"},
		{"a.be", `<p>Wetstraat 16, B-1000 Brussel</p>`, "Wetstraat|16|1000|Brussel"},
		{"a.be", `<p>Meir 78 bus 3, 2000 Antwerpen</p>`, "Meir|78|2000|Antwerpen"},
		{"a.lu", `<p>12, rue de la Gare<br>L-1611 Luxembourg</p>`, "rue de la Gare|12|1611|Luxembourg"},
		{"a.dk", `<p>Vesterbrogade 12, 2. th., 1620 København V</p>`, "Vesterbrogade|12|1620|København V"},
		{"a.fr", `<p>12 bis, rue de Rivoli<br>75004 Paris</p>`, "rue de Rivoli|12 bis|75004|Paris"},
		{"a.fr", `<p>5 place Kléber, F-67000 Strasbourg</p>`, "place Kléber|5|67000|Strasbourg"},
		{"a.fr", `<p>ZA des Peupliers - 3 avenue du Général de Gaulle - 92000 Nanterre</p>`, "avenue du Général de Gaulle|3|92000|Nanterre"},
		{"a.fr", `<p>29, rue du 11 Novembre 1918 - 69008 Lyon</p>`, "rue du 11 Novembre 1918|29|69008|Lyon"},
		{"a.fr", `<p>Mairie, 3 Grande Rue, 25000 Besançon Cedex</p>`, "Grande Rue|3|25000|Besançon Cedex"},
		{"a.it", `<p>Via Roma, 15 - 20121 Milano (MI)</p>`, "Via Roma|15|20121|Milano"},
		{"a.it", `<p>Piazza del Duomo 1/A<br>50122 Firenze FI</p>`, "Piazza del Duomo|1/A|50122|Firenze"},
		{"a.es", `<p>C/ Mayor, 25, 3º B<br>28013 Madrid</p>`, "C/ Mayor|25|28013|Madrid"},
		{"a.es", `<p>Passeig de Gràcia 92, 08008 Barcelona</p>`, "Passeig de Gràcia|92|08008|Barcelona"},
		// CA AU
		{"a.ca", `<p>111 Wellington St, Ottawa, ON K1A 0A9</p>`, "Wellington St|111|K1A 0A9|Ottawa"},
		{"a.ca", `<p>1000, rue De La Gauchetière Ouest, bureau 900, Montréal (Québec) H3B 4W5</p>`, "rue De La Gauchetière Ouest|1000|H3B 4W5|Montréal"},
		{"a.ca", `<p>#200 - 1055 West Hastings Street, Vancouver, BC V6E 2E9</p>`, "West Hastings Street|1055|V6E 2E9|Vancouver"},
		{"a.com.au", `<p>Level 5, 123 Pitt Street, Sydney NSW 2000</p>`, "Pitt Street|123|2000|Sydney"},
		{"a.com.au", `<p>Unit 2/14 Smith St, Fitzroy VIC 3065</p>`, "Smith St|14|3065|Fitzroy"},
		// negatives
		{"a.de", `<p>Tel. 0441 26122, Fax 0441 26123 Oldenburg</p>`, ""},
		{"a.de", `<p>Nur 26122 Euro! Oldenburg jubelt über 10115 Besucher.</p>`, ""},
		{"a.de", `<p>Nach § 12 Abs. 3 BGB und Art. 5 Abs. 1 DSGVO gilt: 12345 Fälle in Berlin.</p>`, ""},
		{"a.de", `<p>Linie 12 Richtung Hauptbahnhof, Haltestelle Lange Straße, alle 10 Minuten</p>`, ""},
		{"a.de", `<p>VfB Oldenburg - Werder Bremen 3:2, 10115 Zuschauer, 12. Spieltag</p>`, ""},
		{"a.de", `<p>ISBN 978-3-16-148410-0, 26122 Seiten Oldenburg Verlag</p>`, ""},
		{"a.de", `<p>Am 12. Mai 2026 Berlin, am 3. Juni 2026 Hamburg</p>`, ""},
		{"a.de", `<p>Die Lange Straße wird gesperrt, sagte der Sprecher in Oldenburg.</p>`, ""},
		{"a.de", `<p>Mo-Fr 8-18 Uhr, Sa 9-13 Uhr<br>Oldenburg</p>`, ""},
		{"a.ch", `<p>Konzerte 2024 Zürich, 2025 Basel, Bern 3000 Besucher</p>`, ""},
		{"a.com", `<p>Call (512) 555-0199 or 12345 TX 78701 points</p>`, ""},
		{"a.com", `<p>5 Ways to Save in Austin, TX</p>`, ""},
		{"a.com", `<p>Posted 12 March 2019 by John, 45 comments, Washington</p>`, ""},
		{"a.com", `<p>Order 90210 OR call; 20 Main reasons in ME</p>`, ""},
		{"a.co.uk", `<p>M25 J12 to A40, B12 9AB road works 5 miles</p>`, ""},
		{"a.at", `<p>Flug OS 461, Gate 12, 8010 km bis Wien</p>`, ""},
	} {
		doc := markup.Parse([]byte(c.in))
		v, err := p.Parse(t.Context(), Input{Text: markup.Text(doc), Doc: doc, Host: "www." + c.host})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range v.Addresses {
			got = append(got, a.Street+"|"+a.HouseNumber+"|"+a.Postcode+"|"+a.City)
		}
		if g := strings.Join(got, ";"); g != c.want {
			t.Errorf("%s\n got  %s\n want %s", c.in, g, c.want)
		}
	}
}

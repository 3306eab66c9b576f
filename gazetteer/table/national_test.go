package table

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gazehound/gazetteer"
)

// TestNationalTables reads rows as nations publish them, and as spreadsheets leave them behind.
func TestNationalTables(t *testing.T) {
	for _, c := range []struct{ name, table, country, want string }{
		{"BAN", "id;id_fantoir;numero;rep;nom_voie;code_postal;code_insee;nom_commune;x;y;lon;lat\n" +
			"a;;11;;Rue Haute;25330;25015;Amancey;;;5.9;47\nb;;11;bis;Rue Haute;25330;25015;Amancey;;;5.9;47\n" +
			"c;;11;ter;Rue Haute;25330;25015;Amancey;;;5.9;47\n",
			"", "Rue Haute|11|25330|Amancey, Rue Haute|11 bis|25330|Amancey, Rue Haute|11 ter|25330|Amancey"},
		{"BAG", "openbareruimte;huisnummer;huisletter;huisnummertoevoeging;postcode;woonplaats;lat;lon\n" +
			"Kerkpad;3;;;3811AB;Amersfoort;52.1;5.3\nKerkpad;3;A;;3811AB;Amersfoort;52.1;5.3\n" +
			"Kerkpad;3;B;2;3811AB;Amersfoort;52.1;5.3\nKerkpad;3;;2;3811AB;Amersfoort;52.1;5.3\n",
			"", "Kerkpad|3|3811AB|Amersfoort, Kerkpad|3 A|3811AB|Amersfoort, Kerkpad|3 B-2|3811AB|Amersfoort, Kerkpad|3-2|3811AB|Amersfoort"},
		{"GWR", "EGID\tSTRNAME\tDEINR\tDPLZ4\tDPLZNAME\n1\tLindenweg\t4a\t3012\tBern\n", "CH", "Lindenweg|4a|3012|Bern"},
		{"BEV", "PLZ;GEMEINDENAME;STRASSENNAME;HAUSNRZAHL1;HAUSNRBUCHSTABE1\n3500;Krems;Wachtbergstraße;5;b\n", "AT",
			"Wachtbergstraße|5 b|3500|Krems"},
		{"All the Places", `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[-122.6,45.5]},` +
			`"properties":{"addr:street_address":"3705 N Otter Blvd, Suite 4","addr:postcode":"97227","addr:city":"Portland","addr:country":"US","addr:state":"OR"}}]}`,
			"", "N Otter Blvd|3705|97227|Portland"},
		{"one column of street and number", "address,postcode,city,country\nAn der B 27 4,26121,Oldenburg,DE\n" +
			"Dammweg 12 a,26121,Oldenburg,DE\n\"11 bis, rue Haute\",25330,Amancey,FR\n5th Avenue,10001,New York,US\n500 5th Avenue,10001,New York,US\n",
			"", "An der B 27|4|26121|Oldenburg, Dammweg|12 a|26121|Oldenburg, rue Haute|11 bis|25330|Amancey, 5th Avenue||10001|New York, 5th Avenue|500|10001|New York"},
		{"Excel's sep", "\ufeffsep=;\nstreet;housenumber;postcode;city\nDammweg;5;26121;Oldenburg\n", "DE", "Dammweg|5|26121|Oldenburg"},
		{"sep and quotes", "SEP=,\nstreet,housenumber,postcode,city\n\"Dammweg\",5,26121,Oldenburg\n", "DE", "Dammweg|5|26121|Oldenburg"},
		{"decimals", "street,housenumber,postcode,city,country\nDammweg,12.0,26931.0,Elsfleth,DE\nDammweg,13.00,26931.0,Elsfleth,DE\n",
			"", "Dammweg|12|26931|Elsfleth, Dammweg|13|26931|Elsfleth"},
		{"lost zero", "street,housenumber,postcode,city,country\nDammweg,12,1067,Dresden,DE\nMain St,12,2134,Boston,US\nWien Weg,12,1010,Wien,AT\n",
			"", "Dammweg|12|01067|Dresden, Main St|12|02134|Boston, Wien Weg|12|1010|Wien"},
		{"lost zero, country guessed", "street,housenumber,postcode,city,lat,lon\nDammstraße,12,1067,Dresden,51.05,13.7\nDammstraße,13,1067.0,Dresden,51.05,13.7\n",
			"", "Dammstraße|12|01067|Dresden, Dammstraße|13|01067|Dresden"},
		{"nothing in many words", "street,housenumber,postcode,city,state\nDammweg,nan,26121,Oldenburg,NULL\nDammweg,NULL,26121,Oldenburg,\\N\nDammweg,None,<NA>,Oldenburg,#N/A\n",
			"DE", "Dammweg||26121|Oldenburg, Dammweg||26121|Oldenburg, Dammweg|||Oldenburg"},
		{"encodings mixed", "street,housenumber,postcode,city\nM\xfchlweg,5,26121,Oldenburg\nMühlweg,6,26121,Oldenburg\n", "DE",
			"Mühlweg|5|26121|Oldenburg, Mühlweg|6|26121|Oldenburg"},
	} {
		var got []string
		err := Reader(Options{Country: c.country})(t.Context(), strings.NewReader(c.table), func(p gazetteer.Place) error {
			got = append(got, fmt.Sprintf("%s|%s|%s|%s", p.Street, p.HouseNumber, p.Postcode, p.City))
			return nil
		})
		if s := strings.Join(got, ", "); err != nil || s != c.want {
			t.Errorf("%s: %v\n got %s\nwant %s", c.name, err, s, c.want)
		}
	}
}

// TestGrids refuses coordinates of national grids with the name of the grid.
func TestGrids(t *testing.T) {
	for _, c := range []struct{ table, want string }{
		{"STRNAME;DEINR;DPLZ4;DPLZNAME;GKODE;GKODN\nLindenweg;4;3012;Bern;2600123;1199500\n", "EPSG:2056"},
		{"STRASSENNAME;HAUSNRZAHL1;PLZ;GEMEINDENAME;RW;HW;country\nWachtbergstraße;5;3500;Krems;512345.1;412345.2;AT\n", "Austrian"},
		{"street;number;postcode;city;easting;northing\nTanner Street;5;LS9 7ZB;Leeds;431000;433000\n", "27700"},
		{"openbareruimte;huisnummer;postcode;woonplaats;x;y\nKerkstraat;3;3811AB;Amersfoort;155000;463000\n", "28992"},
		{"numero;nom_voie;code_postal;nom_commune;x;y\n11;Rue Haute;25330;Amancey;934000;6659000\n", "2154"},
	} {
		err := Reader(Options{})(t.Context(), strings.NewReader(c.table), func(gazetteer.Place) error { return nil })
		if !errors.Is(err, ErrCoordinates) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "ogr2ogr") {
			t.Errorf("%q: %v; want %s", c.table, err, c.want)
		}
	}
}

// TestColumnsSaid tells before the import what is read and what is not.
func TestColumnsSaid(t *testing.T) {
	said := ""
	o := Options{Columns: func(text string) { said = text }}
	err := Reader(o)(t.Context(), strings.NewReader("numero;rep;nom_voie;code_postal;certification\n1;;Rue Haute;25330;1\n"),
		func(gazetteer.Place) error {
			if said == "" {
				t.Error("a place before the columns")
			}
			return nil
		})
	const want = "read as street=nom_voie, housenumber=numero+rep, postcode=code_postal; " +
		"no column for city; not used: certification"
	if err != nil || said != want {
		t.Errorf("%q, %v; want %q", said, err, want)
	}
	for _, table := range []string{"hausnr;postcode;city\n1;26121;Oldenburg\n", "huisnummer;postcode;woonplaats\n1;3811AB;Amersfoort\n"} {
		err := Reader(Options{})(t.Context(), strings.NewReader(table), func(gazetteer.Place) error { return nil })
		if !errors.Is(err, ErrColumns) {
			t.Errorf("%q: %v; want missing columns", table, err)
		}
	}
}

// TestColumnsByContent reads tables whose names of columns say nothing.
func TestColumnsByContent(t *testing.T) {
	for _, c := range []struct{ name, table, country, want, said string }{
		{"letters", "a;b;c;d;e;f;g\nx1;Lange Straße;5;26121;Oldenburg;53.1402;8.2107\nx2;Lange Straße;7 a;26121;Oldenburg;53.1403;8.2108\nx3;Dammweg;9;26122;Oldenburg;53.1404;8.2109\n",
			"", "Lange Straße|5|26121|Oldenburg|8.2107, Lange Straße|7 a|26121|Oldenburg|8.2108, Dammweg|9|26122|Oldenburg|8.2109",
			"read as street=b (by its values), housenumber=c (by its values), postcode=d (by its values), city=e (by its values), lat=f (by its values), lon=g (by its values); not used: a"},
		{"no names", "Lange Straße,5,26121,Oldenburg,8.2107,53.1402\nMühlweg,7,26121,Oldenburg,8.2108,53.1403\nDammweg,9,26122,Oldenburg,8.2109,53.1404\n",
			"DE", "Lange Straße|5|26121|Oldenburg|8.2107, Mühlweg|7|26121|Oldenburg|8.2108, Dammweg|9|26122|Oldenburg|8.2109", "street=1 (by its values)"},
		{"one column of addresses", "id;wo;code;was\n1;12 rue Haute;25330;Amancey\n2;14, rue Basse;25330;Amancey\n3;3 chemin du Bois;25330;Amancey\n",
			"FR", "rue Haute|12|25330|Amancey|0, rue Basse|14|25330|Amancey|0, chemin du Bois|3|25330|Amancey|0", "street_address=wo"},
		{"Dutch", "w\tk\tm\tz\nKerkstraat\t3\t3811 AB\tAmersfoort\nMolenweg\t5\t3811 CD\tAmersfoort\nLindelaan\t7\t3812AB\tAmersfoort\n",
			"", "Kerkstraat|3|3811 AB|Amersfoort|0, Molenweg|5|3811 CD|Amersfoort|0, Lindelaan|7|3812AB|Amersfoort|0", "city=z"},
		{"some names tell", "street;nr1;postcode;wo\nLange Straße;5;26121;Oldenburg\nDammweg;7;26121;Oldenburg\nDammweg;5;26121;Oldenburg\n",
			"DE", "Lange Straße|5|26121|Oldenburg|0, Dammweg|7|26121|Oldenburg|0, Dammweg|5|26121|Oldenburg|0", "read as street=street, housenumber=nr1 (by its values)"},
		{"JSON", `[{"s":"Lange Straße","n":"5","p":"26121"},{"s":"Dammweg","n":"9","p":"26121"},{"s":"Dammweg","n":"7","p":"26121"}]`,
			"DE", "Lange Straße|5|26121||0, Dammweg|9|26121||0, Dammweg|7|26121||0", "street=s (by its values)"},
		{"two columns of streets", "a;b;postcode;city\nLange Straße;Dammweg;26121;Oldenburg\nMühlweg;Dammweg;26121;Oldenburg\nRingstraße;Dammweg;26121;Oldenburg\n",
			"DE", "||26121|Oldenburg|0, ||26121|Oldenburg|0, ||26121|Oldenburg|0", "not used: a, b"},
		{"numbers of rows", "street;c;postcode;city\nLange Straße;1;26121;Oldenburg\nMühlweg;2;26121;Oldenburg\nRingstraße;3;26121;Oldenburg\n",
			"DE", "Lange Straße||26121|Oldenburg|0, Mühlweg||26121|Oldenburg|0, Ringstraße||26121|Oldenburg|0", "no column for housenumber; not used: c"},
		{"one column", "was\nLange Straße 5\nMühlweg 7\nRingstraße 3\n", "DE", "Lange Straße|5|||0, Mühlweg|7|||0, Ringstraße|3|||0",
			"read as street_address=was (by its values); no column for postcode, city"},
	} {
		var got []string
		said := ""
		o := Options{Country: c.country, Columns: func(text string) { said = text }}
		err := Reader(o)(t.Context(), strings.NewReader(c.table), func(p gazetteer.Place) error {
			got = append(got, fmt.Sprintf("%s|%s|%s|%s|%g", p.Street, p.HouseNumber, p.Postcode, p.City, p.Point[0]))
			return nil
		})
		if s := strings.Join(got, ", "); err != nil || s != c.want || !strings.Contains(said, c.said) {
			t.Errorf("%s: %v\n got %s\nwant %s\nsaid %s", c.name, err, s, c.want, said)
		}
	}
	const words = "wer;was\nAhrens;Brot\nBehrens;Eis\nCordes;Fisch\n"
	err := Reader(Options{})(t.Context(), strings.NewReader(words), func(gazetteer.Place) error { return nil })
	if !errors.Is(err, ErrColumns) || !strings.Contains(err.Error(), "Columns: wer, was") {
		t.Errorf("a table of nothing: %v", err)
	}
}

package geonames

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gazehound/gazetteer"
)

func read(r gazetteer.Reader, text string) ([]gazetteer.Place, error) {
	var places []gazetteer.Place
	err := r(context.Background(), strings.NewReader(text), func(p gazetteer.Place) error {
		if p.Kind == gazetteer.Outline {
			return nil // the name of a state; TestStates looks at them
		}
		places = append(places, p)
		return nil
	})
	return places, err
}

const (
	postalRow = "US\t92602\tIrvine\tCalifornia\tCA\tOrange\t059\t\t\t33.7419\t-117.7467\t1\n"
	dumpRow   = "5359777\tIrvine\tIrvine\tIRV,Irvajn,Irvine City\t33.66946\t-117.82311\tP\tPPL\tUS\t\tCA\t059\t\t\t256927\t17\t20\tAmerica/Los_Angeles\t2019-02-27\n"
)

func TestPostal(t *testing.T) {
	for row, want := range map[string]gazetteer.Place{
		postalRow: {Postcode: "92602", Names: []string{"Irvine"}, State: "CA", Country: "US"},
		"AT\t1010\tWien, Innere Stadt\tWien\t09\ta\t900\tb\t90101\t48.2\t16.3\t5\n":                                    {Postcode: "1010", Names: []string{"Wien", "Wien, Innere Stadt", "Innere Stadt"}, State: "Wien", Country: "AT"},
		"AT\t8045\tGraz,10.Bez.:Andritz\tSteiermark\t06\tGraz Stadt\t601\tGraz\t60101\t47.1\t15.4\t5\n":                {Postcode: "8045", Names: []string{"Graz", "Graz,10.Bez.:Andritz", "Andritz"}, State: "Steiermark", Country: "AT"},
		"AT\t9073\tKlagenfurt,13.Bez.:Viktring\tKärnten\t02\ta\t201\tKlagenfurt am Wörthersee\t20101\t46.6\t14.3\t5\n": {Postcode: "9073", Names: []string{"Klagenfurt", "Klagenfurt,13.Bez.:Viktring", "Viktring", "Klagenfurt am Wörthersee"}, State: "Kärnten", Country: "AT"},
		"GB\tCT3\tAsh,Canterbury\tEngland\tENG\t\t\t\t\t51.2\t1.2\t4\n":                                                {Postcode: "CT3", Names: []string{"Ash", "Ash,Canterbury"}, State: "ENG", Country: "GB"},
		"FR\t59009\tLille Cedex 9\tHauts-de-France\t32\tNord\t59\tLille\t595\t50.6\t3.0\t5\n":                          {Postcode: "59009", Names: []string{"Lille", "Lille Cedex 9"}, State: "Hauts-de-France", Country: "FR"},
		"FR\t75008\tPARIS CEDEX 08\tIle-de-France\t11\tParis\t75\tParis\t751\t48.8\t2.3\t5\n":                          {Postcode: "75008", Names: []string{"PARIS", "PARIS CEDEX 08"}, State: "Ile-de-France", Country: "FR"},
		"CH\t2502\tBiel/Bienne\tKanton Bern\tBE\ta\t246\tBiel\t371\t47.1\t7.2\t4\n":                                    {Postcode: "2502", Names: []string{"Biel/Bienne", "Biel", "Bienne"}, State: "BE", Country: "CH"},
		"GB\tBS99\tBristol (PO Boxes)\tEngland\tENG\t\t\t\t\t51.4\t-2.5\t4\n":                                          {Postcode: "BS99", Names: []string{"Bristol", "Bristol (PO Boxes)"}, State: "ENG", Country: "GB"},
		"CH\t5001\tAarau 1\tKanton Aargau\tAG\ta\t1901\tAarau\t4001\t47.3\t8.0\t\n":                                    {Postcode: "5001", Names: []string{"Aarau", "Aarau 1"}, State: "AG", Country: "CH"},
	} {
		places, err := read(Postal(nil), row)
		if err != nil || len(places) != 1 {
			t.Fatalf("%q: %v, %v", row, places, err)
		}
		p := places[0]
		if p.Kind != gazetteer.Postcode || p.Postcode != want.Postcode || !slices.Equal(p.Names, want.Names) || p.State != want.State || p.Country != want.Country || !p.HasPoint {
			t.Errorf("%q:\n got %+v\nwant %+v", row, p, want)
		}
	}
}

func TestDump(t *testing.T) {
	places, err := read(Dump(nil), dumpRow+strings.Replace(dumpRow, "\tP\t", "\tH\t", 1))
	if err != nil || len(places) != 1 {
		t.Fatalf("%v, %v", places, err)
	}
	p := places[0]
	if p.Kind != gazetteer.City || p.Population != 256927 || p.State != "CA" || slices.Contains(p.Names, "IRV") || !slices.Contains(p.Names, "Irvine City") {
		t.Errorf("%+v", p)
	}
}

func TestSniff(t *testing.T) {
	for text, want := range map[string]string{postalRow: "geonames-postal", dumpRow: "geonames", "a,b\n": "", "": "", "US\t1\n": "", "#": "", "#\n": "", "\n\n": "",
		"US.CA\tCalifornia\tCalifornia\t5332921\n": "geonames-admin", "US.CA.059\tOrange County\tOrange County\t5379524\n": "geonames-admin",
		"1\t5359777\tde\tIrvine\t1\t\t\t\n": "geonames-names", "1\t5359777\tde\tIrvine\t1\t\t\t\t\t\n": "geonames-names",
		"# info\n#\nDE\tDEU\t276\tGM\tGermany\tBerlin\t357021\t82927922\tEU\t.de\tEUR\tEuro\t49\t#####\t^(\\d{5})$\tde\t2921044\tCH,PL\t\n": "geonames-countries"} {
		if got := Sniff([]byte(text)); got != want {
			t.Errorf("Sniff(%.20q) = %q, want %q", text, got, want)
		}
	}
}

func TestBadRows(t *testing.T) {
	if _, err := read(Postal(nil), dumpRow); !errors.Is(err, gazetteer.ErrFormat) {
		t.Errorf("another format: %v", err)
	}
	if _, err := read(Postal(nil), strings.Repeat("x\n", 1000)); !errors.Is(err, gazetteer.ErrFormat) {
		t.Errorf("no rows: %v", err)
	}
	var rows []int
	text := postalRow + "x\n" + strings.Replace(postalRow, "33.7419", "NaN?", 1) + strings.Repeat("y", 1<<20) + "\n" + postalRow
	places, err := read(Postal(func(row int, _ string, _ error) { rows = append(rows, row) }), text)
	if err != nil || len(places) != 2 || !slices.Equal(rows, []int{2, 3, 4}) {
		t.Errorf("%d places, refused %v, %v", len(places), rows, err)
	}
}

// FuzzPostal holds the law that a reader never invents a postcode or a name.
func FuzzPostal(f *testing.F) {
	f.Add(postalRow)
	f.Add(dumpRow)
	f.Add("DE\t1\tA 1\t\t\t\t\t\t\t1\t2\t\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range []gazetteer.Reader{Postal(nil), Dump(nil)} {
			places, _ := read(r, text)
			for _, p := range places {
				for _, v := range append(p.Names, p.Postcode, p.Country) {
					if !strings.Contains(text, v) {
						t.Errorf("%q is not in %q", v, text)
					}
				}
			}
		}
	})
}

func TestRealFiles(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("..", "..", "..", "shared", "data", "gazetteer", "geonames-postal", "*.txt"))
	if len(files) == 0 {
		t.Skip("real data is missing")
	}
	rows, villages := 0, 0
	for _, file := range files {
		if filepath.Base(file) == "SOURCE.txt" {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		places, err := read(Postal(func(row int, text string, why error) { t.Errorf("%s:%d: %v", file, row, why) }), string(data))
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for _, p := range places {
			if p.Country == "DE" && len(p.Names) > 1 && strings.HasSuffix(p.Names[1], " "+p.Names[0]) {
				villages++
				continue
			}
			rows++
		}
	}
	if villages < 1000 || villages > 2000 {
		t.Errorf("%d villages behind the names of their municipalities", villages)
	}
	if rows != 158_637 {
		t.Errorf("%d rows", rows)
	}
}

// A German village is known by its own name, too.
func TestVillages(t *testing.T) {
	row := func(country, code, name string) string {
		return country + "\t" + code + "\t" + name + "\tNiedersachsen\tNI\t\t00\t\t\t52.36\t9.38\t4\n"
	}
	places, err := read(Postal(nil), row("DE", "31999", "Ohrfeld Kleinriehe")+row("DE", "31999", "Ohrfeld")+
		row("DE", "31999", "Ohrfeld am Moor")+row("DE", "31998", "Ohrfeld Hoyershausen")+
		row("GB", "GU99", "Ash")+row("GB", "GU99", "Ash Vale"))
	var names []string
	for _, p := range places {
		if p.Kind == gazetteer.Postcode {
			names = append(names, p.Postcode+" "+p.Names[0])
		}
	}
	want := []string{"31999 Ohrfeld Kleinriehe", "31999 Ohrfeld", "31999 Ohrfeld am Moor", "31999 Kleinriehe",
		"31998 Ohrfeld Hoyershausen", "GU99 Ash", "GU99 Ash Vale"}
	if err != nil || !slices.Equal(names, want) {
		t.Errorf("%q, %v; want %q", names, err, want)
	}
}

func TestStates(t *testing.T) {
	names := func(r gazetteer.Reader, text string) (list []string) {
		err := r(context.Background(), strings.NewReader(text), func(p gazetteer.Place) error {
			if p.Kind == gazetteer.Outline {
				list = append(list, strings.Join(append([]string{p.Country, p.State}, p.Names...), " "))
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		return list
	}
	if got := names(Postal(nil), postalRow+postalRow); !slices.Equal(got, []string{"US CA California"}) {
		t.Errorf("of postal codes: %q", got)
	}
	if got := names(Admin(nil), "AT.07\tTyrol\tTyrol\t2763586\nUS.CA.059\tOrange County\tOrange County\t5379524\n"); !slices.Equal(got, []string{"AT 07 Tyrol Tyrol"}) {
		t.Errorf("of states: %q", got)
	}
	if _, err := read(Admin(nil), "US.CA.059\tOrange County\tOrange County\t5379524\n"); !errors.Is(err, gazetteer.ErrFormat) {
		t.Errorf("counties alone: %v", err)
	}
	if got := names(Countries(nil), "#\nDE\tDEU\t276\tGM\tGermany\tBerlin\t357021\t82927922\tEU\t.de\tEUR\tEuro\t49\t#####\t^(\\d{5})$\tde\t2921044\tCH,PL\t\n"); !slices.Equal(got, []string{"DE  Germany DEU"}) {
		t.Errorf("of countries: %q", got)
	}
}

func TestNames(t *testing.T) {
	cities := map[string]gazetteer.Place{"geonames/2761369": {Kind: gazetteer.City, ID: "geonames/2761369", Names: []string{"Vienna", "Wien"}, Country: "AT"}}
	places, err := read(Names(cities, nil), "1\t2761369\tcs\tVídeň\t1\t\t\t\n2\t2761369\tlink\thttps://example.org/\t\t\t\t\n3\t1\tde\tanderswo\t\t\t\t\n")
	if err != nil || len(places) != 1 || !slices.Equal(places[0].Names, []string{"Vienna", "Vídeň"}) {
		t.Errorf("%+v, %v", places, err)
	}
}

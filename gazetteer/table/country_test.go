package table

import (
	"strings"
	"testing"

	"gazehound/gazetteer"
)

func TestGuessedCountry(t *testing.T) {
	for _, c := range []struct{ name, table, want string }{
		{"by coordinate", "city;plz;street;lat;lon\nOldenburg;26122;Am Markt;53.14;8.21\n", "DE"},
		{"by street words on a border", "city;plz;street;lat;lon\nNeustadt;67655;Lange Straße;49.44;7.77\n", "DE"},
		{"the same codes across the border", "city;plz;street;lat;lon\nVille;67655;Rue Haute;48.6;7.77\n", "FR"},
		{"without coordinates", "city;plz;street\nNeustadt;26122;Lange Straße\n", "DE"},
		{"America", "city,zip,street,lat,lon\nSpringfield,62701,Main Street,39.8,-89.6\n", "US"},
		{"the column decides", "city,zip,street,country,lat,lon\nNeustadt,26122,Lange Straße,AT,53.1,8.2\n", "AT"},
		{"four digits and German words", "city;plz;street\nNeustadt;1010;Lange Gasse\n", ""},
		{"nothing to tell", "city\nNeustadt\n", ""},
	} {
		var got []string
		err := Reader(Options{})(t.Context(), strings.NewReader(c.table), func(p gazetteer.Place) error {
			got = append(got, p.Country)
			return nil
		})
		if err != nil || len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: countries %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

package place

import (
	"regexp"
	"testing"
)

func TestParseHours(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Mo–Fr 8–18 Uhr", "Mo-Fr 08:00-18:00"},
		{"Mo. - Fr.: 8.00 - 18.00 Uhr\nSa.: 9.00 - 13.00 Uhr", "Mo-Fr 08:00-18:00; Sa 09:00-13:00"},
		{"Montag bis Freitag von 8:30 bis 12:30 Uhr und 14 bis 18 Uhr", "Mo-Fr 08:30-12:30,14:00-18:00"},
		{"Montag\n8:00 – 18:00\nDienstag\n8:00 – 18:00\nMittwoch\ngeschlossen\nTelefon", "Mo-Tu 08:00-18:00; We off"},
		{"Di, Do und Sa 10-12 Uhr", "Tu,Th,Sa 10:00-12:00"},
		{"Mo-Fr 9-12\nMo, Di, Do 14-18", "Mo-Tu,Th 09:00-12:00,14:00-18:00; We,Fr 09:00-12:00"},
		{"täglich 17–2 Uhr", "Mo-Su 17:00-02:00"},
		{"täglich 8 bis 24 Uhr", "Mo-Su 08:00-24:00"},
		{"Montags Ruhetag, Di-So 11:30–22 Uhr", "Mo off; Tu-Su 11:30-22:00"},
		{"Sonn- und Feiertage 11-17 Uhr", "Su,PH 11:00-17:00"},
		{"Sa-Mo 10-18 Uhr", "Mo,Sa-Su 10:00-18:00"},
		{"Mon-Fri 9-5", "Mo-Fr 09:00-17:00"},
		{"Mon - Fri: 9am - 5:30pm, Sat: 10 a.m. to 2 p.m., Sunday closed", "Mo-Fr 09:00-17:30; Sa 10:00-14:00; Su off"},
		{"Monday through Thursday 11am-12am", "Mo-Th 11:00-24:00"},
		{"Tuesday 1-5pm", "Tu 13:00-17:00"},
		{"Weekdays 12pm–8pm", "Mo-Fr 12:00-20:00"},
		{"Monday,Tuesday 09:00:00-17:00:00; Saturday closed", "Mo-Tu 09:00-17:00; Sa off"},
		{"Mo-Fr 09:00-17:00; Mo-Fr 09:00-12:00", "Mo-Fr 09:00-17:00"}, // of something else
		{"24/7", "Mo-Su 00:00-24:00"},
		{"Mo-Su 00:00-23:59", "Mo-Su 00:00-24:00"},
		{"Mo-Fr nach Vereinbarung", ""},
		{"so 8-9 Leute", ""},
		{"Do 12. Mai", ""},
		{"Montag", ""},
		{"Mo geschlossen", ""},
		{"Mo-Fr 25-30 Uhr", ""},
		{"", ""},
	} {
		got, ok := ParseHours(c.text)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%q: %q, %v; want %q", c.text, got, ok, c.want)
		}
	}
}

// legalHours is what OpenStreetMap's evaluation tool accepts of what is written
// here.
var legalHours = regexp.MustCompile(`^(((Mo|Tu|We|Th|Fr|Sa|Su|PH)(-(Tu|We|Th|Fr|Sa|Su))?,?)+ (off|([0-2]\d:[0-5]\d-[0-2]\d:[0-5]\d,?)+)(; |$))+$`)

// Opening hours that were printed are read as the same again.
func FuzzHours(f *testing.F) {
	for _, text := range []string{"Mo–Fr 8–18 Uhr", "Sonn- und Feiertage 11-17 Uhr", "täglich 17–2 Uhr", "Mon-Fri 9am-5:30pm; Sa closed", "Mo-Fr 9-12\nMo, Di, Do 14-18", "24/7", "Su-Mo 10:00-05:00", "PH 1-2", "Mo 0-24", "Ⱥ 1", "Moİ 8-9"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		osm, ok := ParseHours(text)
		if !ok {
			return
		}
		if !legalHours.MatchString(osm) {
			t.Errorf("%q: %q is not legal", text, osm)
		}
		if again, ok := ParseHours(osm); !ok || again != osm {
			t.Errorf("%q: %q is read as %q, %v", text, osm, again, ok)
		}
	})
}

package hours

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Mo–Fr 8–18 Uhr", "Mo-Fr 08:00-18:00"},
		{"Mo. - Fr.: 8.00 - 18.00 Uhr\nSa.: 9.00 - 13.00 Uhr", "Mo-Fr 08:00-18:00; Sa 09:00-13:00"},
		{"Montag bis Freitag von 8:30 bis 12:30 Uhr und 14 bis 18 Uhr", "Mo-Fr 08:30-12:30,14:00-18:00"},
		{"Montag\n8:00 – 18:00\nDienstag\n8:00 – 18:00\nMittwoch\ngeschlossen\nTelefon", "Mo-Tu 08:00-18:00; We off"},
		{"Monday and Wednesday\nMorning: 8 AM – 1 PM\nAfternoon/Evening: 2 PM – 6 PM\nFriday\nClosed", "Mo,We 08:00-13:00,14:00-18:00; Fr off"},
		{"Monday to Friday between 9am and 5pm", "Mo-Fr 09:00-17:00"},
		{"Mo-Fr zwischen 9 und 17 Uhr", "Mo-Fr 09:00-17:00"},
		{"Di, Do und Sa 10-12 Uhr", "Tu,Th,Sa 10:00-12:00"},
		{"Mo-Fr 9-12\nMo, Di, Do 14-18", "Mo-Tu,Th 09:00-12:00,14:00-18:00; We,Fr 09:00-12:00"},
		{"täglich 17–2 Uhr", "Mo-Su 17:00-02:00"},
		{"täglich 8 bis 24 Uhr", "Mo-Su 08:00-24:00"},
		{"Montags Ruhetag, Di-So 11:30–22 Uhr", "Mo off; Tu-Su 11:30-22:00"},
		{"Sonn- und Feiertage 11-17 Uhr", "Su,PH 11:00-17:00"},
		{"Sa-Mo 10-18 Uhr", "Mo,Sa-Su 10:00-18:00"},
		{"Mo/Di: 9:00-12:30 u. 14:30-18:00\nMi u. Sa: 9:00-12:30", "Mo-Tu 09:00-12:30,14:30-18:00; We,Sa 09:00-12:30"},
		{"Mo 8.00 - 12.00 + 15.00 - 18.00\nDi 8.00 - 12.00", "Mo 08:00-12:00,15:00-18:00; Tu 08:00-12:00"},
		{"Mo - Fr 9:00 - 18:00 Uhr (durchgehend)\nSa 9:00 - 13:00 Uhr", "Mo-Fr 09:00-18:00; Sa 09:00-13:00"},
		{"Mo - Fr durchgehend 9:00 - 18:00 Uhr\nSa 9:00 - 13:00 Uhr", "Mo-Fr 09:00-18:00; Sa 09:00-13:00"},
		{"Mon-Fri 9-5", "Mo-Fr 09:00-17:00"},
		{"Mon - Fri: 9am - 5:30pm, Sat: 10 a.m. to 2 p.m., Sunday closed", "Mo-Fr 09:00-17:30; Sa 10:00-14:00; Su off"},
		{"Monday through Thursday 11am-12am", "Mo-Th 11:00-24:00"},
		{"Tuesday 1-5pm", "Tu 13:00-17:00"},
		{"Weekdays 12pm–8pm", "Mo-Fr 12:00-20:00"},
		{"Monday,Tuesday 09:00:00-17:00:00; Saturday closed", "Mo-Tu 09:00-17:00; Sa off"},
		{"Mo-Fr 09:00-17:00; Mo-Fr 09:00-12:00", "Mo-Fr 09:00-17:00"}, // of something else
		{"24/7", "24/7"},
		{"Mo-Su 00:00-23:59", "24/7"},
		{"Mon.Fri., 8:30 a.m.5:30 p.m.", "Mo-Fr 08:30-17:30"}, // unreadable dashes
		{"Mon.\ufffdFri. 8 a.m.\ufffd10 p.m. ET\nSat. 8 a.m.\ufffd6:30 p.m. ET", "Mo-Fr 08:00-22:00; Sa 08:00-18:30"},
		{"M-F 8am-9pm EST", "Mo-Fr 08:00-21:00"},
		{"M–Th 8:30-4:30, F 9-1", "Mo-Th 08:30-16:30; Fr 09:00-13:00"},
		{"Lunes a viernes de 9:00 a 14:00 y de 16:00 a 20:00. Sábados de 10:00 a 13:00", "Mo-Fr 09:00-14:00,16:00-20:00; Sa 10:00-13:00"},
		{"dal martedì alla domenica 12:00-14:30 e 19:00-23:00. Chiuso il lunedì", "Mo off; Tu-Su 12:00-14:30,19:00-23:00"},
		{"Maandag 13:00 - 18:00\nDinsdag t/m vrijdag 9:00 - 18:00\nZaterdag 9.00 tot 17.00 uur\nZondag gesloten",
			"Mo 13:00-18:00; Tu-Fr 09:00-18:00; Sa 09:00-17:00; Su off"},
		{"Elke maandag en elke woensdag van 9.30 uur tot 12.00 uur", "Mo,We 09:30-12:00"},
		{"ma. gesloten\ndi. t/m vr. 09.00 - 18.00 uur\nza. 09.00 - 17.00 uur",
			"Mo off; Tu-Fr 09:00-18:00; Sa 09:00-17:00"},
		{"ma t/m do 8.15-17.00 uur\nvr 8.15-14.45 uur", "Mo-Th 08:15-17:00; Fr 08:15-14:45"},
		{"Ma – vr: 09:00 – 17:30", "Mo-Fr 09:00-17:30"},
		{"Dagelijks geopend van 16:00 tot 21:00", "Mo-Su 16:00-21:00"},
		{"Elke dag van 10:00 tot 22:00", "Mo-Su 10:00-22:00"},
		{"alle dagen van de week open van 16.00 tot 21.00 uur", "Mo-Su 16:00-21:00"},
		{"Maandag: 8u30 - 19u00\nVrijdag: van 9u tot 17u", "Mo 08:30-19:00; Fr 09:00-17:00"},
		{"Di–Sa 17:00–24:00 Uhr\nKüche bis 22:00 Uhr\nSonn- & Feiertag 11:30–14:30",
			"Tu-Sa 17:00-24:00; Su,PH 11:30-14:30"},
		{"Di - So: 8:00 bis 22:30 Uhr\nWarme Küche\n9:00 bis 21:00 Uhr\nMontag Ruhetag", "Tu-Su 08:00-22:30"},
		{"zeven dagen per week open van 16:00 tot 21:00", "Mo-Su 16:00-21:00"},
		{"Every Tuesday and every Thursday 10am-4pm", "Tu,Th 10:00-16:00"},
		{"Tutti i giorni 19:00 - 24:00", "Mo-Su 19:00-24:00"},
		{"Mon-Thu 11-9, Fri-Sat 11-10", "Mo-Th 11:00-21:00; Fr-Sa 11:00-22:00"},
		{"7j/7 de 9h à 20h", "Mo-Su 09:00-20:00"},
		{"Elke werkdag van 9 tot 17 uur", "Mo-Fr 09:00-17:00"},
		{"Mo 16-18 Uhr (nur mit Termin)\nDi 9-12 Uhr", "Mo 16:00-18:00; Tu 09:00-12:00"},
		{"Montag\n9-11:30 Uhr\nMittwoch\nHausbesuche\nDonnerstag\n9-11:30 Uhr", "Mo,Th 09:00-11:30"},
		{"Mo 9-12 Uhr, Mi: Operationen, Fr 9-12 Uhr", "Mo,Fr 09:00-12:00"},
		{"Mon 9-12\nTue surgery\nin the clinic\nWed 9-12", "Mo,We 09:00-12:00"},
		{"Mo 9-12\nDi\nMarkt\nMusik\nTanz\nMi 9-12", "Mo 09:00-12:00"}, // another list
		{"Monday:\n8:30 am - 5:00 pm\nTuesday*:\n8:30 am - 8:00 pm", "Mo 08:30-17:00; Tu 08:30-20:00"},
		{"Mandag - fredag 10-17, lørdag 10-14", "Mo-Fr 10:00-17:00; Sa 10:00-14:00"},
		{"Monday - Thursday (8:00AM - 5:00PM)\nFridays (8:00AM - 3:00PM)", "Mo-Th 08:00-17:00; Fr 08:00-15:00"},
		{"8am to 8pm, seven days a week", "Mo-Su 08:00-20:00"},
		{"Monday-to-Friday 9-5, Sat 10-noon", "Mo-Fr 09:00-17:00; Sa 10:00-12:00"},
		{"Fri & Sat 5pm - midnight", "Fr-Sa 17:00-24:00"},
		{"Tuesday, 1 to 9\nWednesday to Friday, 1 to 7\nSaturday, 11 to 5\nclosed Sunday and Monday", "Mo,Su off; Tu 13:00-21:00; We-Fr 13:00-19:00; Sa 11:00-17:00"},
		{"Mon-Sat 9-12, 1-5:30", "Mo-Sa 09:00-12:00,13:00-17:30"},
		{"Mon-Sat 10-12 and 6-9", "Mo-Sa 10:00-12:00,18:00-21:00"},
		{"Sun 11-9", "Su 11:00-21:00"},
		{"Wed 1pm-5", "We 13:00-17:00"},
		{"Lunch: Mon-Fri 11:30-2:30; Dinner: Mon-Sat 5-10", "Mo-Fr 11:30-14:30,17:00-22:00; Sa 17:00-22:00"},
		{"Mo. bis Fr. 11:00 – 18:00 Uhr\nMittwochs geschlossen", "Mo-Tu,Th-Fr 11:00-18:00; We off"},
		{"Mo-Fr 9-18 Uhr, Mi 9-13 Uhr", "Mo-Tu,Th-Fr 09:00-18:00; We 09:00-13:00"},
		{"Montag\n8:00 - 12:00\n14:00 - 18:00\nDienstag\n8:00 - 12:00\n–\nMittwoch\n8:00 - 12:00\nDonnerstag\n–", "Mo 08:00-12:00,14:00-18:00; Tu-We 08:00-12:00; Th off"},
		{"täglich außer Montag 11–22 Uhr", "Tu-Su 11:00-22:00"},
		{"Open daily except Sundays 8-6", ""}, // does not begin with hours
		{"daily except Sundays 8-6", "Mo-Sa 08:00-18:00"},
		{"Di-So ab 17 Uhr, Montag Ruhetag", "Mo off; Tu-Su 17:00+"},
		{"Tue-Thu 4pm - 11pm\nFri 4pm - late\nSat 12 - late", "Tu-Th 16:00-23:00; Fr 16:00+; Sa 12:00+"},
		{"Fr 18 Uhr - open end", "Fr 18:00+"}, {"Fri 6 'til late", "Fr 18:00+"}, {"Sa 17:00 bis Ende", "Sa 17:00+"},
		{"Mo-Fr from 9 to 5", "Mo-Fr 09:00-17:00"},
		{"Mo-Fr 8-12 Uhr, Sa nach Vereinbarung", "Mo-Fr 08:00-12:00; Sa \"by appointment\""},
		{"Lundi au vendredi de 8h30 à 12h et de 14h à 18h, samedi fermé", "Mo-Fr 08:30-12:00,14:00-18:00; Sa off"},
		{"Mo-Fr 7-16 Uhr\nMo-Fr 9-12 Uhr", "Mo-Fr 07:00-16:00"},
		{"12 Uhr - 3 Uhr Mo", "Mo 12:00-03:00"},
		{"Mo geschl., Di 14:00-18:00, Mi-Fr 9:00-18:00", "Mo off; Tu 14:00-18:00; We-Fr 09:00-18:00"},
		{"Mo–Fr 8–17 Uhr (12–12.30 Uhr geschlossen)", "Mo-Fr 08:00-12:00,12:30-17:00"},
		{"Mo-Fr 9-12 Uhr; 12-13 Uhr geschlossen", "Mo-Fr 09:00-12:00"},
		{"Di-Fr 10-19 Uhr, Mittagspause 13-14 Uhr", "Tu-Fr 10:00-13:00,14:00-19:00"},
		{"Mon-Fri 9-5 (closed for lunch 1-2)", "Mo-Fr 09:00-13:00,14:00-17:00"},
		{"Mo-Sa 10-18 Uhr außer Do", "Mo-We,Fr-Sa 10:00-18:00"},
		{"Mon-Fri 9am-5pm except Wednesday; Sat 9-12", "Mo-Tu,Th-Fr 09:00-17:00; Sa 09:00-12:00"},
		{"Monday......9:30 am to 6:30 pm\nTuesday.....9:30 am to 1:00 pm", "Mo 09:30-18:30; Tu 09:30-13:00"},
		{"Samstag … 9–13 Uhr", "Sa 09:00-13:00"},
		{"Mo-Fr 0730-1615", "Mo-Fr 07:30-16:15"},
		{"Mardi et jeudi de 9 h à 12 h et de 14 h à 17 h 30", "Tu,Th 09:00-12:00,14:00-17:30"},
		{"Lundi - Vendredi : 08:30 à 12:00 - 13:30 à 17:30", "Mo-Fr 08:30-12:00,13:30-17:30"},
		{"lunedì e venerdì dalle ore 9:00 alle ore 12:00", "Mo,Fr 09:00-12:00"}, {"Martedì e giovedì ore 16.00-18.00", "Tu,Th 16:00-18:00"},
		{"L-V 9:00-14:00", "Mo-Fr 09:00-14:00"}, {"L a S 10-20h", "Mo-Sa 10:00-20:00"},
		{"Ma-Di-Do-Vr: 9u-12u en 13u30-18u", "Mo-Tu,Th-Fr 09:00-12:00,13:30-18:00"},
		{"Mo-Di-Do 8-12 Uhr", "Mo-Tu,Th 08:00-12:00"},
		{"Monday – Friday 08:30 hrs – 17:00 hrs", "Mo-Fr 08:30-17:00"},
		{"Lun-Sam : 9h30-12h / 14h-18h30", "Mo-Sa 09:30-12:00,14:00-18:30"},
		{"mar - sab 8:30 - 12:30 / 15:30 - 19:30, dom 9:00 - 13:00", "Tu-Sa 08:30-12:30,15:30-19:30; Su 09:00-13:00"},
		{"Lun - Ven: 09:00 - 12:30 | 14:30 - 18:30", "Mo-Fr 09:00-12:30,14:30-18:30"},
		{"Monday:\nNo office hours\nTuesday:\n9:00am - 5:00pm", "Mo off; Tu 09:00-17:00"},
		{"Mo-Fr offen 9-18 Uhr", "Mo-Fr 09:00-18:00"},
		{"Mo-Fr 9-18 Uhr (Mi nur bis 13 Uhr), Sa geschlossen", "Mo-Tu,Th-Fr 09:00-18:00; We 09:00-13:00; Sa off"},
		{"Di-So ab 17 Uhr, So bis 22 Uhr", "Tu-Sa 17:00+; Su 17:00-22:00"},
		{"Mo-Mi 9-12, Do nach Vereinbarung, Do bis 13 Uhr", "Mo-We 09:00-12:00; Th \"by appointment\""},
		{"Mon-Thu 9am-6pm, Thu until 1 pm", "Mo-We 09:00-18:00; Th 09:00-13:00"},
		{"Mo-Fr 9-12 und 14-18 Uhr, Fr bis 12 Uhr", "Mo-Th 09:00-12:00,14:00-18:00; Fr 09:00-12:00"},
		{"Mo-Sa 10-20 Uhr, donnerstags bis 22 Uhr", "Mo-We,Fr-Sa 10:00-20:00; Th 10:00-22:00"},
		{"Mo-Fr 9-12 Uhr, Mi nach tel. Vereinbarung", "Mo-Tu,Th-Fr 09:00-12:00; We \"by appointment\""},
		{"Mo-Do 9-12 Uhr, Fr nach telefonischer Vereinbarung", "Mo-Th 09:00-12:00; Fr \"by appointment\""},
		{"M, W, F 9-5; Tu, Th 9-7", "Mo,We,Fr 09:00-17:00; Tu,Th 09:00-19:00"},
		{"Tu-Th,Sa-Su 10:00-17:00; Fr 10:00-13:00", "Tu-Th,Sa-Su 10:00-17:00; Fr 10:00-13:00"},
		{"Tu-Th,PH 10:00-17:00", "Tu-Th,PH 10:00-17:00"},
		{"Tu,Sa-Su 10:00-24:00", "Tu,Sa-Su 10:00-24:00"},
		{"M, W-Fri 9-5", "Mo,We-Fr 09:00-17:00"},
		{"M-Th and Sat 9-5; F 9-3", "Mo-Th,Sa 09:00-17:00; Fr 09:00-15:00"},
		{"T-Sa except Th 10-6", "Tu-We,Fr-Sa 10:00-18:00"},
		{"Tu & Th 10am-4pm", "Tu,Th 10:00-16:00"},
		{"Tues-Fri 10am-6pm / Sat 10am-4pm / Sun-Mon closed", "Mo,Su off; Tu-Fr 10:00-18:00; Sa 10:00-16:00"},
		{"dinsdag en donderdag van 09.00 tot 17.00 uur en op vrijdag van 09.00 tot 12.00 uur",
			"Tu,Th 09:00-17:00; Fr 09:00-12:00"},
		{"9 bis 17 Uhr von Montag bis Freitag", "Mo-Fr 09:00-17:00"},
		{"10-18 Uhr, montags geschlossen", ""}, // it does not say on which days
		{"Mo-Fr 9-18 Uhr (Sa 9-13 Uhr)", "Mo-Fr 09:00-18:00; Sa 09:00-13:00"},
		{"Mo-Fr 9 bis 12 Uhr, Mo, Di und Do zusätzlich 14 bis 17 Uhr", "Mo-Tu,Th 09:00-12:00,14:00-17:00; We,Fr 09:00-12:00"},
		{"Mo-Fr vormittags 9-12 und nachmittags 14-18 Uhr", "Mo-Fr 09:00-12:00,14:00-18:00"},
		{"dal lunedì al venerdì 9-13; sabato mattina 9-12", "Mo-Fr 09:00-13:00; Sa 09:00-12:00"},
		{"Mar 9-12", ""}, // a date
		{"Mo-Fr nach Vereinbarung", ""},
		{"so 8-9 Leute", ""},
		{"Do 12. Mai", ""},
		{"Montag", ""},
		{"Mo geschlossen", ""},
		{"Mo-Fr 25-30 Uhr", ""},
		{"", ""},
	} {
		got, ok := Parse(c.text)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%q: %q, %v; want %q", c.text, got, ok, c.want)
		}
	}
}

// A word for closed is read before and after its day, alone and within a text.
func TestClosedWords(t *testing.T) {
	for _, word := range closedWords {
		for _, text := range []string{word + " Mo; Tu-Fr 9-17", "Tu-Fr 9-17\n" + word + " Mo", "Mo " + word + "\nTu-Fr 9-17"} {
			const want = "Mo off; Tu-Fr 09:00-17:00"
			if got, _ := Parse(text); got != want {
				t.Errorf("%q: %q; want %q", text, got, want)
			}
			if got, _, _ := within(text, 0, len(text)); got != want {
				t.Errorf("within %q: %q; want %q", text, got, want)
			}
		}
	}
}

// legalHours is what OpenStreetMap's evaluation tool accepts of what is written
// here.
var legalHours = regexp.MustCompile(`^(((Mo|Tu|We|Th|Fr|Sa|Su|PH)(-(Tu|We|Th|Fr|Sa|Su)|\[(-1|[1-5])(,(-1|[1-5]))*\])?,?)+ (off|"by appointment"|([0-2]\d:[0-5]\d(\+|-[0-2]\d:[0-5]\d),?)+)(; |$))+$|^24/7$`)

// Opening hours that were printed are read as the same again.
func FuzzHours(f *testing.F) {
	for _, text := range []string{"Mo–Fr 8–18 Uhr", "Sonn- und Feiertage 11-17 Uhr", "Tu 15:00-18:00; Mo,Sa[1,-1] 10:00-12:00", "täglich 17–2 Uhr", "Mon-Fri 9am-5:30pm; Sa closed", "Mo-Fr 9-12\nMo, Di, Do 14-18", "24/7", "Su-Mo 10:00-05:00", "PH 1-2", "Mo 0-24", "Mo 12 - 11 Uhr", "Di ab 17 Uhr", "Mo 9-5, Sa by appointment", "M-F 1-5", "Ⱥ 1", "Moİ 8-9"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		osm, ok := Parse(text)
		if !ok {
			return
		}
		if !legalHours.MatchString(osm) {
			t.Errorf("%q: %q is not legal", text, osm)
		}
		if again, ok := Parse(osm); !ok || again != osm {
			t.Errorf("%q: %q is read as %q, %v", text, osm, again, ok)
		}
	})
}

// Hours of the map that a week does not hold are left out, never cut down to what can be read.
func TestParseMap(t *testing.T) {
	for osm, want := range map[string]string{
		"Mo-Fr 08:00-18:00; PH off":               "Mo-Fr 08:00-18:00; PH off",
		"Mo-Fr 08:00-18:00; Nov-Mar off":          "",
		"Apr-Oct: Mo-Fr 08:00-18:00":              "",
		"Mo-Fr 08:00-18:00; Dec 24-26 off":        "",
		"Mo-Fr 08:00-18:00; Sa[1] 10:00-12:00":    "",
		"Mo-Fr 08:00-18:00; SH off":               "",
		"week 1-53/2 Mo-Fr 08:00-18:00":           "",
		"Mo-Fr 08:00-sunset":                      "",
		"Mo-Fr 08:00-12:00, Mo,Tu,Th 14:00-18:00": "Mo-Tu,Th 08:00-12:00,14:00-18:00; We,Fr 08:00-12:00",
	} {
		if got, ok := ParseMap(osm); got != want || ok != (want != "") {
			t.Errorf("%q is read as %q, %v; want %q", osm, got, ok, want)
		}
	}
}

func TestInclude(t *testing.T) {
	const all = "Mo-Fr 09:00-19:00; Sa 09:00-12:00"
	for others, want := range map[string]bool{
		"Sa,PH 09:00-12:00": true, "Mo-Th 09:00-19:00": true, all: false, "Mo-Fr 09:00-18:00": false, "Su off": false, "": false,
	} {
		if Include(all, others) != want {
			t.Errorf("%q: %v", others, !want)
		}
	}
}

// The hours say what is at a time: over midnight, on holidays, without an end.
func TestAt(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) time.Time {
		day, err := time.ParseInLocation("2006-01-02 15:04", text, berlin)
		if err != nil {
			t.Fatal(err)
		}
		return day
	}
	christmas := func(day time.Time) bool { return day.Month() == time.December && day.Day() == 25 }
	for _, c := range []struct{ hours, at, open, until, opens, unsure string }{
		{"Mo-Fr 08:00-18:00", "2026-11-23 10:00", "open", "2026-11-23 18:00", "", ""},
		{"Mo-Fr 08:00-18:00", "2026-11-23 18:00", "", "", "2026-11-24 08:00", ""},
		{"Mo-Fr 08:00-18:00", "2026-11-28 10:00", "", "", "2026-11-30 08:00", ""}, // Saturday
		{"Mo-Fr 08:00-12:00,13:00-18:00", "2026-11-23 12:30", "", "", "2026-11-23 13:00", ""},
		{"Fr-Sa 22:00-02:00", "2026-11-28 01:00", "open", "2026-11-28 02:00", "", ""},
		{"Sa 22:00-02:00", "2026-11-29 01:00", "open", "2026-11-29 02:00", "", ""},
		{"Mo 17:00+", "2026-11-23 20:00", "open", "", "", ""},
		{"24/7", "2026-11-23 03:00", "open", "", "", ""},
		{"Mo-Fr 08:00-18:00", "2026-12-25 10:00", "", "", "2026-12-28 08:00", "unsure"},
		{"Mo-Fr 08:00-18:00; PH off", "2026-12-25 10:00", "", "", "2026-12-28 08:00", ""},
		{"Mo-Fr 08:00-18:00; PH 10:00-12:00", "2026-12-25 10:00", "open", "2026-12-25 12:00", "", ""},
		{"Su 02:00-04:00", "2026-10-25 02:30", "open", "2026-10-25 04:00", "", ""}, // the night with 25 hours
		{"Mo 08:00-12:00; Mo[1,3] 08:00-18:00", "2026-11-16 13:00", "open", "2026-11-16 18:00", "", ""},
		{"Mo 08:00-12:00; Mo[1,3] 08:00-18:00", "2026-11-23 13:00", "", "", "2026-11-30 08:00", ""},
		{"Mo[-1] 08:00-12:00", "2026-11-30 09:00", "open", "2026-11-30 12:00", "", ""},
		{"Su[1] 14:00-17:00", "2026-11-22 15:00", "", "", "", ""},
		{"gibberish", "2026-11-23 10:00", "unread", "", "", ""},
		{"", "2026-11-23 10:00", "unread", "", "", ""},
	} {
		s, ok := At(c.hours, at(c.at), christmas)
		text := func(t time.Time) string {
			if t.IsZero() {
				return ""
			}
			return t.Format("2006-01-02 15:04")
		}
		open := map[bool]string{true: "open"}[s.Open]
		if !ok {
			open = "unread"
		}
		unsure := map[bool]string{true: "unsure"}[s.Unsure]
		if open != c.open || text(s.Until) != c.until || text(s.Opens) != c.opens || unsure != c.unsure {
			t.Errorf("%s at %s: %q until %q, opens %q, %q", c.hours, c.at, open, text(s.Until), text(s.Opens), unsure)
		}
	}
}

// Hostile texts take bounded time, and what is read of them is legal or nothing.
func TestHostile(t *testing.T) {
	for _, unit := range []string{
		"Mo ", "Mo-Fr ", "Mo-Fr 9-18, ", "Mo-Fr 9-18 Uhr\n", "Mo 9-12; ", "Mo 9-12 (", "9:00 ", "9:00-12:00 ",
		"9-", "1", "1:", "Mo, Di, ", "Mo/Di ", "Mo und ", "Mo & ", "Mo\n", "Mo|", "Mo 9 bis ", "Mo geschlossen\n",
		"Montag bis ", "Mo 9-12 und 14-18 Uhr, ", "Mo-Fr\n9-12\n", "Öffnungszeiten:\n", "nach Vereinbarung ",
		"jeden 1. Montag im Monat ", "April bis Oktober: Mo-Fr 9-18\n", "Jan 1 Mo 9-12 ", "24/7\n",
		"24/7 support\n", "open 24 ", "9am-5pm ", "- ", "(", "\n", "\xff", "\x00", "\u202e9", "Mo\u00a0", "a",
	} {
		text := strings.Repeat(unit, 60_000/len(unit)) // as much as is read of a page
		began := time.Now()
		parsed, _ := Parse(text)
		read := []string{In(text, 0, len(text)), In(text, len(text)/2, len(text)/2+10), parsed}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%q took %v", unit, took)
		}
		for _, osm := range read {
			if osm != "" && !legalHours.MatchString(osm) {
				t.Errorf("%q: %q is not legal", unit, osm)
			}
			Week(osm)
		}
	}
}

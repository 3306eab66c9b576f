package hours

import (
	"testing"
)

func TestIn(t *testing.T) {
	for text, want := range map[string]string{
		"Call us Monday to Friday 8am to 5pm PST":                                                                      "Mo-Fr 08:00-17:00",
		"We answer 7:30 am to 5:30 pm (EST) Monday - Friday.":                                                          "Mo-Fr 07:30-17:30",
		"8 a.m. - 5 p.m. Central Time, Monday-Friday":                                                                  "Mo-Fr 08:00-17:00",
		"Monday - 9.00am to 5.30pm\nTuesday - 9.00am to 5.30pm\nSunday - Closed":                                       "Mo-Tu 09:00-17:30; Su off",
		"Unsere Hotline: Mo.-Fr. 07-19 Uhr, Sa. 08-16 Uhr":                                                             "Mo-Fr 07:00-19:00; Sa 08:00-16:00",
		"open 24 hours 7 days a week":                                                                                  "24/7",
		"open from 7:00 AM to 12:00 AM Eastern Standard Time (EST) Monday - Friday and 9:00AM to 8:00PM EST Sat - Sun": "Mo-Fr 07:00-24:00; Sa-Su 09:00-20:00",
		"Sie erreichen uns Mo - Fr zu den Servicezeiten 9.00 – 15.00 Uhr":                                              "Mo-Fr 09:00-15:00",
		"Monday - Friday 7a-6p, Saturday & Sunday 8a-6p":                                                               "Mo-Fr 07:00-18:00; Sa-Su 08:00-18:00",
		"Öffnungszeiten des Museums:\nSonntag 14-17 Uhr":                                                               "Su 14:00-17:00",
		"24/7 plumbing service\nOpen Mon-Fri 8-5":                                                                      "Mo-Fr 08:00-17:00",
		"Daily Lunch Specials: Mon - Fri 11 a.m. to 3 p.m.":                                                            "",
		"Wann? Montag - Freitag von 9-16 Uhr\nWo? Tennisplatz":                                                         "",
		"Öffnungszeiten:\nMo - Fr 08:30 - 12:30 Uhr\nOffene Sprechstunde 11 - 12 Uhr\nMo - Fr 12:30 - 13 Uhr Telefonsprechstunde\n" +
			"Mo und Do 14:00 - 17:30 Uhr": "Mo,Th 08:30-12:30,14:00-17:30; Tu-We,Fr 08:30-12:30",
		"Mon to Thu 11a to 10p, Fri and Sat til 10:30p, Sun 11a to 10p":                                            "Mo-Th,Su 11:00-22:00; Fr-Sa 11:00-22:30",
		"Hours: Mon-Thu 8-5, Fri until 3":                                                                          "Mo-Th 08:00-17:00; Fr 08:00-15:00",
		"Das Museum ist jeden ersten Sonntag im Monat von 14 bis 17 Uhr geöffnet":                                  "Su[1] 14:00-17:00",
		"Öffnungszeiten: Di 15-18 Uhr, jeden 1. und 3. Samstag im Monat 10-12 Uhr":                                 "Tu 15:00-18:00; Sa[1,3] 10:00-12:00",
		"Öffnungszeiten: jeden zweiten Sonntag im Monat 14-17 Uhr":                                                 "Su[2] 14:00-17:00",
		"Öffnungszeiten: jeden zweiten Sonntag 14-17 Uhr":                                                          "", // every other one?
		"Öffnungszeiten: am letzten Samstag des Monats 10-12 Uhr":                                                  "Sa[-1] 10:00-12:00",
		"Öffnungszeiten: Samstag 10-12 Uhr (nur gerade Wochen)":                                                    "",
		"Open Thursday 9-2, Saturday 9-2, closed Friday and the first Saturday":                                    "Th,Sa 09:00-14:00; Fr off; Sa[1] off",
		"Für Hotelgäste: Frühstück Montag bis Freitag von 6.30 bis 9.00 Uhr, am Wochenende von 7.30 bis 10.00 Uhr": "",
		"Öffnungszeiten\nDo, ab 16:00 Uhr\nFr, ab 14:00 Uhr\nAußerhalb unserer Zeiten":                             "Th 16:00+; Fr 14:00+", // no French "au"
		"June 17-21, Monday-Friday\n1:00-3:30 PM\nBible school":                                                    "", "Open Mon - Fri, May 17-21": "",
		"17. bis 21. Juni, Montag - Freitag 13-15:30 Uhr geöffnet": "", "Geöffnet 17-21 Uhr, Montag bis Freitag": "Mo-Fr 17:00-21:00",
		"Open every other Saturday 10am - 2pm":                                             "",
		"Open 1st & 3rd Saturday 10am - 2pm":                                               "Sa[1,3] 10:00-14:00",
		"Open every second and fourth Sunday from 1-4 pm":                                  "Su[2,4] 13:00-16:00",
		"Our club meets every first Tuesday from 7pm to 9pm":                               "",
		"Ouvert : 1er et 3e samedi 10h-12h":                                                "Sa[1,3] 10:00-12:00",
		"Aperto la prima domenica del mese 10-12":                                          "Su[1] 10:00-12:00",
		"Orario di apertura: ogni secondo sabato 10-12":                                    "",
		"Het Repair Café is elke eerste zaterdag van de maand geopend van 10:00 tot 13:00": "Sa[1] 10:00-13:00",
		"24 hours a day, 7 days a week":                                                    "24/7",
		"Access 24/7, 365 days a year":                                                     "",
		"24/7 emergency service, just call":                                                "",
		"Zugang für Mieter rund um die Uhr, 24 Stunden an 7 Tagen":                         "",
		"Öffnungszeiten: Mo-Fr 9-18 Uhr (April bis Oktober)":                               "",
		"Open Tue-Sun 10-5 (May to September)":                                             "",
		"Geöffnet Di-So 10-18 Uhr, Mai bis September":                                      "",
		"Winteröffnungszeiten:\nMi, Fr 18-21 Uhr\nSo 14-17 Uhr":                            "",
		"Öffnungszeiten\nMontag\nDienstag bis Freitag\nSamstag\n14:00 - 18:30 Uhr\n8:30 - 12:00 Uhr\n8:30 - 16:00 Uhr": "",
		"Öffnungszeiten\nMo | Di–Fr | Sa\n14-18 | 9-18 | 9-16":                                                         "",
		"Christmas week: Wed-Fri 5pm-8pm, Sat 11am-8pm":                                                                "",
		"Monday\n8AM-4:30PM\nTuesday\n8AM-4:30PM\nSunday\nClosed":                                                      "Mo-Tu 08:00-16:30; Su off",
		"24/7 emergency hotline":                                                             "",
		"April bis Juni: Montag – Sonntag: 08–18 Uhr":                                        "",
		"We are open M-F 9-5":                                                                "Mo-Fr 09:00-17:00",
		"Sendung: Dienstag und Donnerstag ab 16 Uhr":                                         "",
		"Jeden Donnerstag von 16:00 bis 18:00 Uhr geöffnet":                                  "Th 16:00-18:00",
		"Jeden Donnerstag von 16:00 bis 18:00 Uhr Chorprobe":                                 "",
		"Der Hofladen hat freitags von 14 bis 18 Uhr und samstags von 9 bis 13 Uhr geöffnet": "Fr 14:00-18:00; Sa 09:00-13:00",
		"Öffnungzeiten: Mi 15-18 Uhr & Sa 9-12 Uhr":                                          "We 15:00-18:00; Sa 09:00-12:00",
		"Di-So ab 17 Uhr":                                             "Tu-Su 17:00+",
		"E-Learning 24/7 Blog":                                        "",
		"Lecture: Tu, Th 11:00-12:20":                                 "",
		"Office hours: Mon, Wed 10-11":                                "",
		"IT Help Desk: 303-555-4357 (Mon-Fri 7am-9pm)":                "",
		"Drop-in advising hours: Mon-Thu 12:30 - 4:00 pm":             "",
		"Walk-in counseling is available from 1pm to 4 pm daily.":     "",
		"Monday to Thursday: 9am-6pm @ £5.00 per hour":                "",
		"Mo-Fr 9-18 Uhr: 12,50 € pro Stunde":                          "",
		"Beschikbaarheid:\nVrijdag: 9u tot 13u\nZaterdag: 9u tot 13u": "",
		"Lesson Hours\nMon–Thu: 3–9pm\nFri: 3–7pm\nSat: 9:30am–4pm\nSun: 12–6pm\nOffice Hours\nMon–Fri: 9am–9pm\nSat: 9am–4pm": "Mo-Fr 09:00-21:00; Sa 09:00-16:00",
		"Hours of Operation\nMonday 8:30 to 12:00 AM and 3 to 7:00 PM\nTuesday 3 to 6 PM":                                      "Mo 08:30-12:00,15:00-19:00; Tu 15:00-18:00",
		"Hours\nMon-Sat 11 AM - 12:00 AM":                                                   "Mo-Sa 11:00-24:00",
		"Tue: 12pm – 6pm\nWed – Fri: 12pm – 9pm-ish\nSat: 12pm – 6pm":                       "Tu,Sa 12:00-18:00; We-Fr 12:00-21:00",
		"Graduate Counselor\nMon-Fri 1:00-3:30pm":                                           "",
		"Okken Counseling\nMon-Fri 9:00am-3:30pm":                                           "Mo-Fr 09:00-15:30",
		"Office hours\nTuesday, Wednesday & Friday: 9 AM – 12 PM":                           "Tu-We,Fr 09:00-12:00",
		"Warenannahme:\nMo-Do 7-15 Uhr":                                                     "",
		"(Telefon)\nMo-Fr 9-18 Uhr":                                                         "",
		"Gottesdienst\nSonntag 10-11 Uhr":                                                   "",
		"Summer course\nMo-Fr 9-16":                                                         "",
		"regular business hours Monday-Friday":                                              "",
		"In 1999 we had 9 to 5 jobs":                                                        "",
		"Orari\nLun-Ven: 9-13 / 15-18\nSabato: 9-12\nMon-Fri: 9-13 / 15-18\nSaturday: 9-12": "Mo-Fr 09:00-13:00,15:00-18:00; Sa 09:00-12:00",
		"Orari\nLun-Ven 9-13\nDomenica chiuso\nSu appuntamento anche di sera":               "Mo-Fr 09:00-13:00; Su off",
		"Öffnungszeiten: 10-18 Uhr, montags geschlossen":                                    "",
		"Öffnungszeiten: Mo-Fr 9-12, 13-17 Uhr; Freitag nachmittags geschlossen":            "Mo-Th 09:00-12:00,13:00-17:00; Fr 09:00-12:00",
		"Open Mon-Fri 9-12, 1-5, closed Wednesday afternoons":                               "Mo-Tu,Th-Fr 09:00-12:00,13:00-17:00; We 09:00-12:00",
		"Öffnungszeiten: Mo-Fr 9-18 Uhr, Mittwochnachmittag geschlossen":                    "Mo-Tu,Th-Fr 09:00-18:00",
		"Open: woensdagmiddag 13.00-17.00 uur":                                              "We 13:00-17:00",
		"Hours: M 8-5 T 8-5 W 8-5 Th 8-5 F 8-12":                                            "Mo-Th 08:00-17:00; Fr 08:00-12:00",
		"Hours: M: 8-5, T: 8-5, W: closed, T: 8-5":                                          "Mo-Tu,Th 08:00-17:00; We off",
		"Öffnungszeiten im Dezember: Mo-Fr 9-18 Uhr":                                        "",
		"Hours (May 1 - Oct 31): Daily 9 AM - 6 PM":                                         "",
		"Öffnungszeiten 1. April bis 31. Oktober: Mo-Fr 9-18 Uhr":                           "",
		"Öffnungszeiten (1.4. - 31.10.): Mo-Fr 9-18 Uhr":                                    "",
		"Fall Hours: Mon-Fri 10-4":                                                          "",
		"Anrufzeiten: Mo-Do 8-16 Uhr":                                                       "",
		"Wir sind für Sie da: Mo-Fr vormittags 9-12 und nachmittags 14-18 Uhr":              "Mo-Fr 09:00-12:00,14:00-18:00",
		"Summer hours (Memorial Day to Labor Day): Mon-Fri 9-4":                             "",
		"Öffnungszeiten: Mo-Fr 9-18 Uhr, Mi nur vormittags":                                 "",
		"Öffnungszeiten: Mo-Fr 9-18 Uhr, Sa nur vormittags":                                 "Mo-Fr 09:00-18:00",
		"So 3 Autos kamen":                                                                  "",
	} {
		if got := In(text, 0, len(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A list of days is read from its beginning and to its end.
func TestInList(t *testing.T) {
	for line, want := range map[string]bool{"9-12 Uhr": true, "–": true, "Closed.": true, "Office 9-12": false, "": false} {
		if got := isTimesLine(line); got != want {
			t.Errorf("isTimesLine(%q) = %v", line, got)
		}
	}
	text := "Hours\nMonday 9:00am - 6:00pm\nTuesday 8:00am - 5:00pm\nFriday Closed\n5 Main Street"
	for from, to := range map[int]int{0: len(text), 20: len(text), 40: len(text), 6: 12} {
		if got, want := In(text, from, to), "Mo 09:00-18:00; Tu 08:00-17:00; Fr off"; got != want {
			t.Errorf("text[%d:%d]: %q, want %q", from, to, got, want)
		}
	}
	text = "Montag\n8-12 Uhr\n14-18 Uhr\nMittwoch\n8-12 Uhr\n-\nDonnerstag\ngeschlossen\nFreitag\n8-12 Uhr"
	for _, from := range []int{0, len(text) / 2, len(text) - 10} {
		if got, want := In(text, from, len(text)), "Mo 08:00-12:00,14:00-18:00; We,Fr 08:00-12:00; Th off"; got != want {
			t.Errorf("text[%d:]: %q, want %q", from, got, want)
		}
	}
	text = "2026\nMonday\n9:00am - 6:00pm\nTuesday\n8:00am - 5:00pm\nFriday\nClosed\n5 Main Street"
	for from, to := range map[int]int{0: len(text), 32: len(text), 60: len(text), 12: 20} {
		if got, want := In(text, from, to), "Mo 09:00-18:00; Tu 08:00-17:00; Fr off"; got != want {
			t.Errorf("text[%d:%d]: %q, want %q", from, to, got, want)
		}
	}
}

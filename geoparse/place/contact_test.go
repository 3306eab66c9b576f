package place

import "testing"

func TestHoursWithin(t *testing.T) {
	for text, want := range map[string]string{
		"Call us Monday to Friday 8am to 5pm PST":                                "Mo-Fr 08:00-17:00",
		"We answer 7:30 am to 5:30 pm (EST) Monday - Friday.":                    "Mo-Fr 07:30-17:30",
		"8 a.m. - 5 p.m. Central Time, Monday-Friday":                            "Mo-Fr 08:00-17:00",
		"Monday - 9.00am to 5.30pm\nTuesday - 9.00am to 5.30pm\nSunday - Closed": "Mo-Tu 09:00-17:30; Su off",
		"Unsere Hotline: Mo.-Fr. 07-19 Uhr, Sa. 08-16 Uhr":                       "Mo-Fr 07:00-19:00; Sa 08:00-16:00",
		"open 24 hours 7 days a week":                                            "Mo-Su 00:00-24:00",
		"regular business hours Monday-Friday":                                   "",
		"In 1999 we had 9 to 5 jobs":                                             "",
		"So 3 Autos kamen":                                                       "",
	} {
		if got := HoursIn(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestPhoneIn(t *testing.T) {
	for _, c := range []struct{ text, country, want string }{
		{"(413) 732-8702", "US", "+14137328702"},
		{"413.732.8702 | 413.732.8703 fax", "US", "+14137328702"},
		{"413.732.8703 fax\n413.732.8702", "US", "+14137328702"},
		{"1-877-258-3364", "US", "+18772583364"},
		{"Order 413 732 87021", "US", ""},
		{"020 7515 7774", "GB", "+442075157774"},
		{"Invoice 020 7515 7774 paid", "GB", ""},
		{"Tel. 0441 / 123 45-0", "DE", "+49441123450"},
		{"Fax\n0441 123456", "DE", ""},
	} {
		if got := PhoneIn(c.text, c.country); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

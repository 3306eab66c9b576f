package place

import (
	"strings"
	"testing"
)

func TestPhoneIn(t *testing.T) {
	for _, c := range []struct{ text, country, want string }{
		{"(413) 732-8702", "US", "+14137328702"},
		{"0441 123456 · info@okken.example · www.okken.example", "DE", "+49441123456"},
		{"413.732.8702 | 413.732.8703 fax", "US", "+14137328702"},
		{"413.732.8703 fax\n413.732.8702", "US", "+14137328702"},
		{"Phone 413.732.8702 Fax: 413.732.8703", "US", "+14137328702"},
		{"Tel. 0441 123456 - Fax 0441 123457", "DE", "+49441123456"},
		{"01872 225 025 Fax: 01872 242 448", "GB", "+441872225025"},
		{"413.732.8703 (Fax), 413.732.8702 (Phone)", "US", "+14137328702"},
		{"Tel: 413-732-8702 / 413-732-8704", "US", "+14137328702"},
		{"Tel: +39 02 48710036 - 0323 560027", "IT", "+390248710036"},
		{"Zoom meeting id is 413 732 8702.", "US", ""},
		{"U kunt de opvang opbellen via het nummer: 06-55512345", "NL", "+31655512345"},
		{"1-877-258-3364", "US", "+18772583364"},
		{"Order 413 732 87021", "US", ""},
		{"020 7515 7774", "GB", "+442075157774"},
		{"Reservations 020 7515 7774", "GB", "+442075157774"}, {"Taxi: 020 7515 7774", "GB", "+442075157774"},
		{"Doktor Harms: 0441 / 123 45-0", "DE", "+49441123450"}, {"Kto. 0441 123 450", "DE", ""},
		{"91 521 23 45", "ES", "+34915212345"}, {"Llámanos: 915212345", "ES", "+34915212345"}, {"Nº 91 521 23 45", "ES", ""},
		{"Invoice 020 7515 7774 paid", "GB", ""},
		{"07400123456", "GB", "+447400123456"}, {"No 07400123456", "GB", ""}, {"0612345678", "FR", "+33612345678"},
		{"02020960247", "IT", ""}, {"0417497106", "BE", ""}, {"Kontonummer\n0441123456", "DE", ""},
		{"Tel. 0441 / 123 45-0", "DE", "+49441123450"},
		{"0441 / 73277 0160 / 3770802", "DE", "+4944173277"}, // two numbers
		{"Fax\n0441 123456", "DE", ""},
		{"F +49 441 123456\nT +49 441 123457", "DE", "+49441123457"},
		{"p. 303-377-0758 | f. 303-597-1547", "US", "+13033770758"},
		{"Tel: 0931 – 4 52 89 11", "DE", "+499314528911"},
		{"Telefon 0441 — 12 34 56", "DE", ""}, // no dash of numbers
		{"05372/66099 (Fax -18)", "AT", "+43537266099"},
		{"Tél. : 01.40.20.50.50", "FR", "+33140205050"},
		{"Cell. 392 335 6807", "IT", "+393923356807"},
		{"WhatsApp 392 335 6807", "IT", "+393923356807"},
		{"Tlf. 911 234 567", "ES", "+34911234567"},
		{"fon (04 41) 9 12 34 - 00", "DE", "+494419123400"},
		{"Tel. 0441 123456 - 24 Stunden", "DE", "+49441123456"},
		{"Tel. 0441 123456, Fax -57", "DE", "+49441123456"},
		{"Fon: WIN 3.3.9.1 / 2.2.9.1", "DE", ""},
		{"Telefonanlage 4.1.2.10 und 4.1.3.11", "DE", ""},
		{"Journal 36: 762-782 (2011)", "US", ""},
		{"Office 36: 762-782 (1998)", "US", ""},
		{"Büro: 2011-05-12", "DE", ""},
		{"Hotelkonto: 0123 456789", "DE", ""},
		{"Büro, Kto.-Nr. 0441 123456", "DE", ""},
		{"Steuernummer Berufsverband 0441 123456", "DE", ""},
		{"Steuerberater Tel. 0441 123456", "DE", "+49441123456"},
		{"Accounting office: 413 732 8702", "US", "+14137328702"},
		{"F: 303-597-1547", "US", ""},
		{"214-904-1716 (F)\n214-351-5681(P)", "US", "+12143515681"},
		{"Tel:\nFax:\n949-824-8860\n949-824-4056", "US", "+19498248860"},
		{"Tel./Fax: 0441 / 123456", "DE", "+49441123456"},
		{"949‑824‑6881", "US", "+19498246881"}, // hyphens that do not break
		{"Call 303.333.PAUL.", "US", "+13033337285"},
		{"Toll Free Reservations: (866) PRINCE-6", "US", "+18667746236"},
		{"Order at 1-800-FLOWERS", "US", "+18003569377"},
		{"MOVIE LINE: (520) 494 STAR (7827)", "US", "+15204947827"},
		{"Suite 300 CHICAGO", "US", ""},
		{"Contact Number:\n5163748100", "US", "+15163748100"},
		{"020 7515 7774 or 020 7515 7779", "GB", "+442075157774"},
		{"Bürgerinfo 030/227-55550", "DE", "+493022755550"},
		{"(08) 9443 6444", "AU", "+61894436444"},
		{"03.05.2019 10 Personen", "DE", ""},
		{"Am Ring 8, 8006: 044 555 73 10 (24h)", "CH", "+41445557310"}, // the hours are no part of it
		{"Chiamate:\n0461.555471", "IT", "+390461555471"},
		{"Valore 0461.555471", "IT", ""},
		{"03 05 2019 100", "DE", ""},
		{"Artikel 030 227 55550", "DE", ""},
		{"0800 433 88 77 66", "DE", "+49800433887766"},
	} {
		if got := PhoneIn(c.text, c.country); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// A page's microdata and its tel: links state a number with its label.
func TestPhoneNumber(t *testing.T) {
	for _, c := range []struct{ text, country, want string }{
		{"0441 123456", "DE", "+49441123456"},
		{"Tel. 0441 123456", "DE", "+49441123456"},
		{"FAX 0441 123456", "DE", ""},
		{"Telefax: +49 441 123456", "DE", ""},
		{"F: 303-597-1547", "US", ""},
		{"Tel./Fax 0441 123456", "DE", "+49441123456"},
		{"(413) 732-8702", "US", "+14137328702"},
		{"Fax", "US", ""},
	} {
		if got := PhoneNumber(c.text, c.country); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// A fax is labelled by a word, or by a letter beside a telephone's.
func TestFaxIn(t *testing.T) {
	for _, c := range []struct{ text, country, want string }{
		{"Tel. 0441 123456\nTelefax: 0441 123457", "DE", "+49441123457"},
		{"T +49 (0)441 123456\nF +49 (0)441 123457", "DE", "+49441123457"},
		{"T. 0441 123456, F. 0441 123457", "DE", "+49441123457"},
		{"Ph: 413 732 8702 | Fx: 413 732 8703", "US", "+14137328703"},
		{"M - F 8 am, call 413 732 8702", "US", ""},
		{"Tel. 0441 123456", "DE", ""},
	} {
		if got := FaxIn(c.text, c.country); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// Of 200 numbers the first is taken, and the first fax of as many.
func TestManyPhones(t *testing.T) {
	text := strings.Repeat("Tel. 0441 123456\nFax 0441 123457\nTel. 0441 654321\n", 100)
	if phone, fax := PhoneIn(text, "DE"), FaxIn(text, "DE"); phone != "+49441123456" || fax != "+49441123457" {
		t.Errorf("%q, %q", phone, fax)
	}
}

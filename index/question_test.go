package index

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gazehound/geoparse"

	"github.com/paulmach/orb"
)

// asked is an index of places that questions in one box ask for.
func asked(t *testing.T) *Index {
	x := open(t)
	add := func(url, name, line, phone, hours string) {
		d := page(url, name, "de", name+"\n{"+line+"}\nWillkommen")
		a := &d.Addresses[0]
		a.Name, a.Phone, a.Hours, a.Role = name, phone, hours, geoparse.OwnRole
		put(t, x, d)
	}
	add("https://zahn.example/kontakt", "Zahnarzt Weber", "Bahnhofstraße 12, 26122 Oldenburg|8.2200 53.1430", "+4944112345", "Mo-Fr 08:00-18:00")
	add("https://gebiss.example/", "Zahnarzt Kluge", "Parkallee 3, 26122 Oldenburg|8.1900 53.1300", "+4944154321", "Mo-Fr 08:00-12:00; Su 10:00-12:00")
	add("https://www.brot.example/laden", "Bäckerei Harms", "Lange Straße 5, 26122 Oldenburg|8.2140 53.1400", "+494419988770", "Fr-Sa 22:00-02:00; Su 08:00-11:00")
	add("https://schule.example/", "Grundschule", "Apothekenweg 1, 26122 Oldenburg|8.2000 53.1500", "+4944155555", "")
	return x
}

func TestQuestions(t *testing.T) {
	x := asked(t)
	monday := time.Date(2026, 11, 23, 14, 0, 0, 0, time.UTC)
	sunday := time.Date(2026, 11, 22, 1, 30, 0, 0, time.UTC) // behind midnight of a Saturday
	here := &orb.Point{8.1905, 53.1301}
	const weber, kluge, harms, schule = "Zahnarzt Weber", "Zahnarzt Kluge", "Bäckerei Harms", "Grundschule"
	for _, c := range []struct {
		text   string
		now    time.Time
		center *orb.Point
		want   string
	}{
		{"+49 441 12345", monday, nil, weber},
		{"0441/12345", monday, nil, weber},
		{"Tel. 0441 - 12 345", monday, nil, weber},
		{"+49 (0)441 12345", monday, nil, weber},
		{"0049-441-12345", monday, nil, weber},
		{"9988770", monday, nil, harms},
		{"zahn.example", monday, nil, weber},
		{"www.zahn.example", monday, nil, weber},
		{"brot.example", monday, nil, harms},
		{"https://brot.example/laden", monday, nil, harms},
		{"http://www.brot.example/laden", monday, nil, harms},
		{"info@gebiss.example", monday, nil, kluge},
		{"zahnarzt open now", monday, nil, weber},
		{"jetzt geöffnet", monday, nil, weber},
		{"zahnarzt geöffnet jetzt", monday, nil, weber},
		{"jetzt geöffnet", sunday, nil, harms},
		{"zahnarzt sonntags geöffnet", monday, nil, kluge},
		{"open on Sunday bäckerei", monday, nil, harms},
		{"zahnarzt am sonntag offen", monday, nil, kluge},
		{"zahnarzt heute geöffnet", monday, nil, kluge + "; " + weber},
		{"jetzt geöffneter zahnarzt", monday, nil, weber},
		{"zahnarzt open monday 10:00", sunday, nil, kluge + "; " + weber},
		{"zahnarzt montag 10 Uhr", sunday, nil, kluge + "; " + weber},
		{"Montag 16 Uhr", sunday, nil, weber},
		{"zahnarzt geöffnet um 16.30 Uhr", monday, nil, weber},
		{"dentist open at 4pm", monday, nil, weber},
		{"zahnarzt am Sonntag um 11 Uhr geöffnet", monday, nil, kluge},
		{"bäckerei samstag 23:30", monday, nil, harms},
		{"bäckerei 3 Uhr", monday, nil, ""},
		{"zahnarzt near me", monday, here, kluge + "; " + weber},
		{"zahnarzt in meiner Nähe", monday, here, kluge + "; " + weber},
		{"in der Nähe", monday, here, kluge + "; " + harms + "; " + schule + "; " + weber},
		{"zahnarzt nahe Bahnhofstraße", monday, nil, weber + "; " + kluge},
		{"dentist near Parkallee", monday, nil, kluge + "; " + weber},
		{"zahnarzt open now near Bahnhofstraße", monday, nil, weber},
		{"apotheke", monday, nil, schule},
		{"geöffnet", monday, nil, ""},
	} {
		r := find(t, x, Query{Filters: Filters{Center: c.center}, Text: c.text, Now: c.now, Bias: 0.8})
		var names []string
		for _, h := range r.Hits {
			names = append(names, h.Name)
		}
		got := strings.Join(names, "; ")
		if !strings.Contains(c.text, "near ") && c.center == nil && !strings.Contains(c.text, "nahe") { // of no order
			slices.Sort(names)
			got = strings.Join(names, "; ")
		}
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
	if r := find(t, x, Query{Text: "zahnarzt near me"}); !r.Me || r.Total != 2 {
		t.Errorf("without a place: %+v", r)
	}
	if r := find(t, x, Query{Text: "zahnarzt sonntags geöffnet"}); r.Open == nil || *r.Open != (OpenTime{Day: 6, Minute: -1}) || len(r.Kinds) != 1 {
		t.Errorf("understood: open %v, kinds %q", r.Open, r.Kinds)
	}
	if r := find(t, x, Query{Text: `"zahnarzt" open now`}); len(r.Kinds) > 0 || r.Open != nil {
		t.Errorf("words in quotation marks were understood: %+v", r)
	}
}

// A page through the answers of a question about kinds repeats and loses nothing.
func TestQuestionPages(t *testing.T) {
	x := asked(t)
	q := Query{Text: "zahnarzt", Limit: 1}
	var names []string
	for {
		r := find(t, x, q)
		for _, h := range r.Hits {
			names = append(names, h.Name)
		}
		if q.Cursor = r.Next; q.Cursor == "" {
			break
		}
	}
	slices.Sort(names)
	if strings.Join(names, "; ") != "Zahnarzt Kluge; Zahnarzt Weber" {
		t.Errorf("pages: %q", names)
	}
}

func TestPhoneDigits(t *testing.T) {
	for text, want := range map[string]string{
		"26122": "", "5 Lange Straße": "", "0441": "", "12345678901234567": "", "+49 441 12345": "4944112345",
		"(949) 824-5156": "9498245156", "Phone: 949.824.5156": "9498245156", "00 43 1 234567": "431234567",
		strings.Repeat("1", 200): "", "": "", "Telefon": "",
	} {
		if got := phoneDigits(text); got != want {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
}

// Words of a menu do not make a page about them; those of its text do.
func TestWithoutMenus(t *testing.T) {
	x := open(t)
	menu := []string{"Zahnärzte", "Bäckereien", "Über uns", "Kontakt"}
	d := page("https://buch.example/", "Buchhandlung Adler", "de",
		"Zahnärzte\nBäckereien\nÜber uns | Kontakt\nRomane und Kinderbücher\n{Lange Straße 9, 26122 Oldenburg}\nKontakt")
	d.Links = menu
	put(t, x, d)
	for text, want := range map[string]int{"Bäckereien": 0, "Romane": 1, "Kontakt": 1, "Buchhandlung": 1} {
		if r := find(t, x, Query{Text: text}); r.Total != want {
			t.Errorf("%s: %d, want %d", text, r.Total, want)
		}
	}
}

func TestMenuLines(t *testing.T) {
	menus := menusOf([]string{"Start", "Über uns", "» Kontakt", "Impressum", ""})
	for text, want := range map[string]string{
		"Start\nÜber uns\nImpressum\nText":                "     \n        \n         \nText",
		"Start | Über uns » Impressum":                    "                            ",
		"Start\n\n» Kontakt\nÜber uns":                    "     \n\n         \n        ",
		"Start\nImpressum\nText\nÜber uns":                "Start\nImpressum\nText\nÜber uns",
		"Start\nImpressum\nÜber uns und andere":           "Start\nImpressum\nÜber uns und andere",
		"Start\nImpressum\nMarkt 1\nÜber uns\n\xff Start": "Start\nImpressum\nMarkt 1\nÜber uns\n\xff Start",
	} {
		got := menus.without(text, spans{})
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	text, address := "Start\nÜber uns\nImpressum", spans{list: [][2]int{{6, 14}}} // a link that is an address
	got := menus.without(text, address)
	if got != text {
		t.Errorf("with an address: %q", got)
	}
}

func FuzzWithoutMenus(f *testing.F) {
	f.Add("Start\nKontakt\n\nImpressum | Start\nText", "Start,Kontakt,Impressum")
	f.Fuzz(func(t *testing.T, text, links string) {
		in := []rune(text)
		out := []rune(menusOf(strings.Split(links, ",")).without(text, spans{}))
		if len(out) != len(in) {
			t.Fatalf("%d characters became %d", len(in), len(out))
		}
		for i, r := range out {
			if r != in[i] && r != ' ' {
				t.Fatalf("%q became %q", in[i], r)
			}
		}
	})
}

// Whichever apostrophe a page and a reader write, or none, they mean the same name.
func TestApostrophes(t *testing.T) {
	x := open(t)
	marks := strings.Split("' ’ ‘ ´ ` ′", " ")
	for i, mark := range marks {
		put(t, x, page(fmt.Sprintf("https://s%d.example/", i), "Pizza", "it", fmt.Sprintf("Sant%sElmo\n{Ringstraße %d, 26122 Oldenburg}", mark, i+1)))
	}
	for _, text := range append(slices.Clone(marks), " ", "") {
		if r := find(t, x, Query{Text: "sant" + text + "elmo"}); r.Total != len(marks) || r.Relaxed {
			t.Errorf("%q finds %d of %d, relaxed %v", text, r.Total, len(marks), r.Relaxed)
		}
	}
}

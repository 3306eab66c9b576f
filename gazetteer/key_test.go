package gazetteer

import "testing"

func TestKeysOfEqualNames(t *testing.T) {
	for _, same := range [][]string{
		{"Schauenburger Straße", "Schauenburgerstr.", "Schauenburger-Str.", "schauenburger strasse", "SCHAUENBURGER STRASSE", "Schauenburgerstrasse", "Schauenburger Str", "Schauenburger Stra\u00dfe", "Schauenburger\u00a0Straße"},
		{"Vorarlbergerstrasse", "Vorarlberger-Strasse"},
		{"Hochstr", "Hochstraße", "Hochstr."},
		{"Müllerweg", "Muellerweg", "Mu\u0308llerweg", "MÜLLERWEG"},
		{"Rathausplatz", "Rathauspl.", "Rathaus Platz", "Rathaus-Pl."},
		{"St.-Martins-Platz", "Sankt-Martins-Platz", "Sankt Martins Platz", "St. Martins Pl."},
		{"Straße des 17. Juni", "Strasse des 17 Juni", "Str. des 17. Juni"},
		{"Main Street", "Main St", "Main St.", "MAIN STREET"},
		{"North Main Street", "N Main St", "N. Main St."},
		{"Fifth Avenue", "5th Ave", "5th Avenue", "5th Ave."},
		{"O'Farrell Street", "O’Farrell St", "OFarrell St"},
		{"Martin Luther King Jr Boulevard", "Martin Luther King Jr. Blvd."},
		{"Dr.-Rudolf-Breitscheid-Straße", "Doktor-Rudolf-Breitscheid-Str."},
		{"Rue de l'Église", "rue de l Eglise"},
	} {
		for _, name := range same[1:] {
			if a, b := StreetKey(same[0]), StreetKey(name); a != b || a == "" {
				t.Errorf("StreetKey(%q) = %q, but StreetKey(%q) = %q", same[0], a, name, b)
			}
		}
	}
	for _, pair := range [][2]string{{"Hauptstraße", "Hauptweg"}, {"Am Markt", "Markt"}, {"Bauerstraße", "Baurstraße"}, {"Main Street", "Main Avenue"}, {"N Main St", "S Main St"}} {
		if a, b := StreetKey(pair[0]), StreetKey(pair[1]); a == b {
			t.Errorf("%q and %q share the key %q", pair[0], pair[1], a)
		}
	}
}

func TestKey(t *testing.T) {
	for name, want := range map[string]string{
		"Oldenburg": "oldenburg", "Frankfurt (Main)": "frankfurtmain", "Zürich": "zuerich", "Zuerich": "zuerich",
		"São Paulo": "saopaulo", "Łódź": "lodz", "Ærø": "aeroe", "Москва": "москва", "St. John's": "stjohns",
		"": "", " - ": "", "\xff": "", "Straße": "strasse", "ẞ": "ss",
	} {
		if got := Key(name); got != want {
			t.Errorf("Key(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestNumberKey(t *testing.T) {
	for number, want := range map[string]string{
		"12": "12", "12 a": "12a", "12A": "12a", "12-a": "12a", "723-B": "723b", "7–15": "7-15", "7 - 15": "7-15", "35 - 37": "35-37",
		"178/179": "178/179", "14/6": "14/6", "1+3": "1+3", "39A/B": "39a/b", "68a;68b": "68a;68b", "1, 3": "1;3",
		"226 1/2": "226 1/2", "226 ½": "226 1/2", "Nr. 5": "5", "No. 5": "5", "012": "12", "12.": "12", "12 bis 14": "12-14",
		"": "", "-": "", "12a-c": "12a-c", "11B": "11b",
	} {
		if got := NumberKey(number); got != want {
			t.Errorf("NumberKey(%q) = %q, want %q", number, got, want)
		}
	}
}

func FuzzKeys(f *testing.F) {
	for _, s := range []string{"Schauenburger Straße 12", "N. St. St", "strstrasse", "x st rasse", "ǅ ſt", "½", "226 1/2", "12 a–c", "İI", "\u0345\u03b1", "№ 5", "ﬀ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 200 {
			return
		}
		for name, key := range map[string]func(string) string{"Key": Key, "StreetKey": StreetKey, "NumberKey": NumberKey, "PostcodeKey": PostcodeKey} {
			once := key(s)
			if again := key(once); again != once {
				t.Errorf("%s(%q) = %q, but %s of that = %q", name, s, once, name, again)
			}
		}
	})
}

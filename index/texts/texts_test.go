package texts

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// users names the source files of each section.
var users = map[string][]string{
	"page":   {"../web/*.go", "../web/page.html", "../web/note.html", "../web/corrections.html", "../api/answers.go"},
	"api":    {"../api/*.go"},
	"export": {"../export/html.go", "../export/page.html"},
}

var (
	literal   = regexp.MustCompile(`"([a-z0-9_.-]+)"`)
	inPage    = regexp.MustCompile(`\.T\.([a-z][a-zA-Z0-9_]*)`)
	scriptKey = regexp.MustCompile("(?s)scriptTexts = strings.Fields\\(`(.*?)`")
	verb      = regexp.MustCompile(`%(\[\d\])?[.0-9]*[a-z]`)
)

// Every text that is used exists in every language with the same values in it, and none
// is there for nothing.
func TestTexts(t *testing.T) {
	for section, patterns := range users {
		used, prefixes := map[string]bool{}, []string{}
		for _, pattern := range patterns {
			files, err := filepath.Glob(pattern)
			if err != nil || len(files) == 0 {
				t.Fatalf("%s: %v", pattern, err)
			}
			for _, file := range files {
				if strings.HasSuffix(file, "_test.go") {
					continue
				}
				source, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range inPage.FindAllStringSubmatch(string(source), -1) {
					used[m[1]] = true
					if Of(section, "en")[m[1]] == "" {
						t.Errorf("%s shows %q, which is no text", file, m[1])
					}
				}
				for _, m := range literal.FindAllStringSubmatch(string(source), -1) {
					used[m[1]] = true
					if strings.HasSuffix(m[1], "_") { // the other half is a value
						prefixes = append(prefixes, m[1])
					}
				}
				for _, m := range scriptKey.FindAllStringSubmatch(string(source), -1) {
					for key := range strings.FieldsSeq(m[1]) {
						used[key] = true
						if Of(section, "en")[key] == "" {
							t.Errorf("the script shows %q, which is no text", key)
						}
					}
				}
			}
		}
		english := Of(section, "en")
		if len(english) < 10 || len(used) < 10 {
			t.Fatalf("%s: %d texts, %d used", section, len(english), len(used))
		}
		for key := range english {
			isUsed := used[strings.TrimSuffix(key, ".1")]
			for _, p := range prefixes {
				isUsed = isUsed || strings.HasPrefix(key, p)
			}
			if !isUsed {
				t.Errorf("%s: nothing uses %q", section, key)
			}
		}
		for _, lang := range Languages {
			words := Of(section, lang)
			if len(words) != len(english) {
				t.Errorf("%s: %d texts in %s, %d in English", section, len(words), lang, len(english))
			}
			for key, text := range english {
				a, b := verb.FindAllString(text, -1), verb.FindAllString(words[key], -1)
				slices.Sort(a) // values with numbers may stand in another order
				slices.Sort(b)
				if words[key] == "" || strings.Join(a, " ") != strings.Join(b, " ") {
					t.Errorf("%s: %q is %q in English and %q in %s", section, key, text, words[key], lang)
				}
			}
		}
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Of("export", "de").Count(1, "n_addresses", 1), "1 Adresse"}, {Of("export", "de").Count(0, "n_addresses", 0), "0 Adressen"},
		{Of("export", "fr").Count(2, "n_addresses", 2), "2 addresses"}, {Of("api", "en").Say("mean", "x"), "Did you mean x?"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

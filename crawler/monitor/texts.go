package monitor

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// words are the texts of the dashboard in one language. A text may have a singular and a plural,
// separated by "|"; %s is replaced by values.
type words map[string]string

// say fills a text in.
func (t words) say(key string, args ...any) string { return fmt.Sprintf(t[key], args...) }

// sayOf fills in the singular or plural of a text, by n.
func (t words) sayOf(n int64, key string, args ...any) string {
	one, many, _ := strings.Cut(t[key], "|")
	if n == 1 {
		return fmt.Sprintf(one, args...)
	}
	return fmt.Sprintf(many, args...)
}

// print formats as people who read this language write numbers.
func (t words) print(format string, args ...any) string {
	return message.NewPrinter(language.Make(t["language"])).Sprintf(format, args...)
}

// number writes n with a mark at the thousands.
func (t words) number(n int64) string { return t.print("%d", n) }

// decimal writes x with so many digits behind the point.
func (t words) decimal(x float64, digits int) string { return t.print("%.*f", digits, x) }

// percent writes a share.
func (t words) percent(share float64) string { return t.decimal(100*share, 1) + "\u00a0%" }

// of describes a number of all hosts.
func (t words) of(n, all int64) string {
	switch {
	case n != all:
		return t.sayOf(all, "some_hosts", t.number(n), t.number(all))
	case n == 1:
		return t.say("only_host")
	}
	return t.say("all_hosts", t.number(n))
}

// ofScript returns what the script of the page says, by the rest of its keys.
func (t words) ofScript() words {
	script := words{}
	for key, text := range t {
		if name, ok := strings.CutPrefix(key, "js_"); ok {
			script[name] = text
		} else if strings.HasPrefix(key, "feature_") {
			script[key] = text
		}
	}
	return script
}

// texts are the words by language. Keys with the prefix "page_" are for the page, "js_" for its
// script, "feature_" for both. The others are used by Snapshot and Board; their English is also
// that of the terminal and the API.
var texts = readTexts()

//go:embed texts.json
var textsSource []byte

// readTexts reads texts.json, which has both languages of a text together.
func readTexts() map[string]words {
	var all map[string]text
	if err := json.Unmarshal(textsSource, &all); err != nil {
		panic("texts.json: " + err.Error())
	}
	in := map[string]words{"en": {}, "de": {}}
	for key, t := range all {
		in["en"][key], in["de"][key] = t["en"], t["de"]
	}
	return in
}

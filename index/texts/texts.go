// Package texts holds the words of the search page, of the API's messages and of
// exported pages, in each language. They lie in one JSON file for each language,
// such as de.json; a test compares them with their uses.
package texts

import (
	"embed"
	"encoding/json"
	"fmt"
	"sync"
)

//go:embed *.json
var files embed.FS

// Languages lists the languages; the first is used where another is not known.
var Languages = []string{"en", "de"}

// Words are texts by their keys. Some of them have the verbs of package fmt.
type Words map[string]string

// read returns all texts by language and section.
var read = sync.OnceValue(func() map[string]map[string]Words {
	all := map[string]map[string]Words{}
	for _, lang := range Languages {
		text, err := files.ReadFile(lang + ".json")
		sections := map[string]Words{}
		if err == nil {
			err = json.Unmarshal(text, &sections)
		}
		if err != nil {
			panic(err) // the files are part of the program
		}
		all[lang] = sections
	}
	return all
})

// Of returns a section of the texts, "page", "api" or "export", in a language, or
// in English where that is none of Languages.
func Of(section, lang string) Words {
	if sections, known := read()[lang]; known {
		return sections[section]
	}
	return read()[Languages[0]][section]
}

// Say fills in the values of a text.
func (w Words) Say(key string, values ...any) string { return fmt.Sprintf(w[key], values...) }

// Count fills in a text about n things, whose form for one thing has the key with ".1".
// How n is written is the first of the values.
func (w Words) Count(n int, key string, values ...any) string {
	if n == 1 {
		key += ".1"
	}
	return w.Say(key, values...)
}

// A Phrase is one text in each of Languages, by their codes.
type Phrase map[string]string

// In returns the text in a language, or in English where that is none of Languages.
func (p Phrase) In(lang string) string {
	if text, ok := p[lang]; ok {
		return text
	}
	return p[Languages[0]]
}

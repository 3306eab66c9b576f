package web

import (
	_ "embed"
	"html/template"
	"io"
	"strings"
	"sync"

	"gazehound/index/texts"
)

//go:embed corrections.html
var correctionsSource string

// correctScript makes cards correctable; see correct.js.
//
//go:embed correct.js
var correctScript []byte

// CorrectionsPath is where the operator's page with the queue of doubts is.
const CorrectionsPath = "/corrections"

// A CorrectionsPage is the page on which the operator looks at what is doubtful. It holds no data:
// its script asks for them with the operator's token.
type CorrectionsPage struct {
	Lang, Region, Version string // Lang is a language of Language
}

// RenderCorrections writes the page.
func RenderCorrections(w io.Writer, p CorrectionsPage) error {
	return correctionsPage().Execute(w, struct {
		CorrectionsPage
		T texts.Words
	}{p, texts.Of("page", p.Lang)})
}

var correctionsPage = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("corrections").Parse(correctionsSource))
})

// StyleSheet and Script return the paths of the page's files.
func (CorrectionsPage) StyleSheet() string { return Assets()[0].Path }
func (CorrectionsPage) Script() string     { return correctAsset().Path }

// Other returns the other language of the page.
func (p CorrectionsPage) Other() string { return Note{Lang: p.Lang}.Other() }

// Texts returns the texts of the script.
func (p CorrectionsPage) Texts() map[string]string { return correctTexts(p.Lang) }

// correctPrefix begins the keys of the texts that the script shows.
const correctPrefix = "correct_"

func correctTexts(lang string) map[string]string {
	all := map[string]string{}
	for key, text := range texts.Of("page", lang) {
		if name, ok := strings.CutPrefix(key, correctPrefix); ok {
			all[name] = text
		}
	}
	return all
}

// correctAsset returns the script, the last of Assets.
func correctAsset() Asset { return Assets()[len(Assets())-1] }

// CorrectScript and CorrectTexts return the path of the script of the cards, and its texts.
func (v *view) CorrectScript() string           { return correctAsset().Path }
func (v *view) CorrectTexts() map[string]string { return correctTexts(v.Lang) }

package web

import (
	_ "embed"
	"html/template"
	"io"
	"sync"
	"time"

	"gazehound/index/texts"
)

//go:embed note.html
var noteSource string

// A Note is a page of facts, one in a row: the state of the data, its licences.
type Note struct {
	Lang   string // a language of Language
	Region string
	Path   string // of the page
	Title  string // key of a text
	rows   []noteRow
}

type noteRow struct {
	name  string // key of a text
	value any    // string, int, time.Time, or Key
}

// A Key is the key of a text, as the value of a row.
type Key string

// Add adds a row; one whose value is empty is left out. name is the key of its text.
func (n *Note) Add(name string, value any) {
	if value != "" && value != (time.Time{}) {
		n.rows = append(n.rows, noteRow{name, value})
	}
}

// RenderNote writes the page.
func RenderNote(w io.Writer, n Note) error {
	v := view{Page: Page{Lang: n.Lang}, T: texts.Of("page", n.Lang)}
	shown := struct {
		Note
		T    texts.Words
		Rows [][2]string
	}{Note: n, T: v.T}
	for _, row := range n.rows {
		text, _ := row.value.(string)
		switch value := row.value.(type) {
		case int:
			text = v.number(value)
		case time.Time:
			text = v.date(value)
		case Key:
			text = v.T[string(value)]
		}
		shown.Rows = append(shown.Rows, [2]string{v.T[row.name], text})
	}
	return notePage().Execute(w, shown)
}

var notePage = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("note").Parse(noteSource))
})

// StyleSheet returns the path of the style sheet.
func (Note) StyleSheet() string { return Assets()[0].Path }

// Heading is the name of the page.
func (n Note) Heading() string { return texts.Of("page", n.Lang)[n.Title] }

// Other returns the other language of the page.
func (n Note) Other() string {
	if n.Lang == "de" {
		return "en"
	}
	return "de"
}

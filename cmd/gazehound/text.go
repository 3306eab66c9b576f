package main

import (
	_ "embed"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"text/template"
	"time"

	"gazehound/index"
	"gazehound/internal/textutil"
)

// textSource has what commands print for people: a template for each.
//
//go:embed text.tmpl
var textSource string

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"shell": textutil.ShellQuote, "join": strings.Join, "metres": metres, "bracketed": bracketed,
		"line":    func(s string) string { return strings.TrimSpace(oneLine(s)) },
		"count":   func(n any) string { return count(reflect.ValueOf(n).Int()) },
		"several": func(n any, what string) string { return several(reflect.ValueOf(n).Int(), what) },
		"percent": func(part, whole int64) string { return fmt.Sprintf("%.1f", 100*ratio(part, whole)) },
		"plus":    func(a, b, c int) int { return a + b + c },
		"date":    func(t time.Time) string { return t.Local().Format(time.DateOnly) },
	}).Parse(textSource))
})

// A text is a template of text.tmpl with its data.
type text struct {
	name string
	data any
}

// String fills in the template.
func (t text) String() string {
	var b strings.Builder
	if err := templates().ExecuteTemplate(&b, t.name, t.data); err != nil {
		panic(err) // the data have no such field
	}
	return b.String()
}

// show prints v as a line of JSON with --json, else the text.
func (a *app) show(v any, name string, data any) error { return a.tell(v, "%s", text{name, data}) }

// sayText writes a text to standard error unless --quiet is given.
func (a *app) sayText(name string, data any) {
	a.say("%s", strings.TrimSuffix(text{name, data}.String(), "\n"))
}

// metres writes a distance.
func metres(d float64) string {
	if d >= 1000 {
		return fmt.Sprintf("%.1f km", d/1000)
	}
	return fmt.Sprintf("%.0f m", d)
}

// bracketed returns the text of a snippet with the address in brackets.
func bracketed(s index.Snippet) string {
	if from, to := s.Address[0], s.Address[1]; from < to {
		return s.Text[:from] + "[" + s.Text[from:to] + "]" + s.Text[to:]
	}
	return s.Text
}

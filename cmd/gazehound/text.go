package main

import (
	"fmt"
	"reflect"
	"strings"
	"text/template"
	"time"

	"gazehound/index"
	"gazehound/internal/textutil"
)

// textFuncs are what texts call.
var textFuncs = template.FuncMap{
	"shell": textutil.ShellQuote, "join": strings.Join, "metres": metres, "bracketed": bracketed,
	"line":    func(s string) string { return strings.TrimSpace(oneLine(s)) },
	"count":   func(n any) string { return count(reflect.ValueOf(n).Int()) },
	"several": func(n any, what string) string { return several(reflect.ValueOf(n).Int(), what) },
	"percent": func(part, whole int64) string { return fmt.Sprintf("%.1f", 100*ratio(part, whole)) },
	"plus":    func(a, b, c int) int { return a + b + c },
	"date":    func(t time.Time) string { return t.Local().Format(time.DateOnly) },
}

// textTemplate parses what a command prints for people. A line that ends in an empty comment goes on in
// the next one.
func textTemplate(source string) *template.Template {
	return template.Must(template.New("").Funcs(textFuncs).Parse(source))
}

// A text is a template with its data.
type text struct {
	template *template.Template
	data     any
}

// String fills in the template. It panics if that names a field that the data lack.
func (t text) String() string {
	var b strings.Builder
	err := t.template.Execute(&b, t.data)
	if err != nil {
		panic(err)
	}
	return b.String()
}

// show prints v as a line of JSON with --json, else the text.
func (a *app) show(v any, t *template.Template, data any) error {
	return a.tell(v, "%s", text{t, data})
}

// sayText writes a text to standard error unless --quiet is given.
func (a *app) sayText(t *template.Template, data any) {
	a.say("%s", strings.TrimSuffix(text{t, data}.String(), "\n"))
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

package web

import (
	_ "embed"
	"html/template"
	"io"
	"sync"
)

//go:embed bot.html
var botSource string

// A Bot is the page for owners of visited sites: who crawls and why, how to exclude a site, and how
// to have something removed.
type Bot struct {
	Lang    string // a language of Language
	Region  string
	Agent   string // the token that robots.txt files name
	Contact string // URL or mail address of the operator; may be empty
	Form    bool   // removal requests are taken

	What, Reason, From string // as filled in
	Problem            string // why the request was not taken
	Number             int    // of the request that was taken, or 0
}

// RenderBot writes the page.
func RenderBot(w io.Writer, b Bot) error {
	return botPage().Execute(w, b)
}

var botPage = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("bot").Parse(botSource))
})

// StyleSheet returns the path of the style sheet.
func (Bot) StyleSheet() string { return Assets()[0].Path }

// Link returns the address of the contact for a link, or "".
func (b Bot) Link() string { return safeLink(b.Contact) }

// German reports whether the page is in German.
func (b Bot) German() bool { return b.Lang == "de" }

package geoparse

import (
	"slices"
	"strings"

	"gazehound/geoparse/grammar"
	"gazehound/geoparse/hours"
	"gazehound/geoparse/markup"
	"gazehound/geoparse/place"
	"gazehound/internal/textutil"
)

// notes returns what a page without an address of its host's place says of that place: the opening
// hours on a start page, one of contacts or one that its title or URL calls so, the telephone number on any of
// them, the kind of place on a start page or one about the place, and the name of who runs the site on a start page.
func (p *Parser) notes(text string, in Input, marked *markup.Page, found []Address) (n Notes) {
	if marked == nil || slices.ContainsFunc(found, func(a Address) bool { return a.Street != "" && a.Counts() }) {
		return n
	}
	title, start := in.Title+" "+marked.Site.Title, place.IsStart(in.Path)
	contact := isContact(title + " " + in.Path)
	if start || contact || place.IsHoursPage(title, in.Path) {
		n.Hours = hours.In(text, 0, min(len(text), imprintText))
	}
	elsewhere := slices.ContainsFunc(found, func(a Address) bool { return a.Street != "" }) // whose number it may be
	if !elsewhere && (start || contact || n.Hours != "") {
		n.Phone = p.phoneOf(marked.Site.Phones, text[:min(len(text), imprintText)], in)
	}
	if !start && !aboutPages.In(title+" "+in.Path) {
		return n
	}
	var head place.Head
	if start {
		site := place.ReadPage(marked, text, in.Title, in.Host, in.Path, p.isPlace)
		head, n.Name = site.Head, site.Name(place.Around{}).Text
		if place.IsPerson(n.Name) {
			n.Name = ""
		}
	} else {
		head = place.ReadHead(marked, text, in.Title, in.Host, in.Path)
	}
	country := p.countryOf(in)
	langs := languagesOf(in, country)
	n.Kind = head.Kind(n.Name, langs, country, true)
	if n.Kind == head.KindOfDomain(langs, country) {
		n.Kind = "" // each page of the host says it
	}
	return n
}

// countryOf returns the country of a page's host, else the only one that addresses are looked for in, or "".
func (p *Parser) countryOf(in Input) string {
	all := p.g.Countries()
	hint := countryHint(in)
	if hint == "" && len(all) == 1 {
		return all[0]
	}
	return hint
}

// phoneOf returns the first telephone number of a page without an address, as Notes has it.
func (p *Parser) phoneOf(links []string, text string, in Input) string {
	var numbers []string
	for _, country := range p.countriesOf(in) {
		n := firstPhone(links, text, country)
		if n != "" && !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	return strings.Join(numbers, " ")
}

// mostDialled is in how many countries a number of a page may be dialled whose country is not known.
const mostDialled = 4

// countriesOf returns the countries in which a page may be at home: that of its host, else those of the
// gazetteer that speak its language.
func (p *Parser) countriesOf(in Input) []string {
	hint := countryHint(in)
	if hint != "" {
		return []string{hint}
	}
	countries := slices.DeleteFunc(p.g.Countries(), func(c string) bool {
		return in.Lang != "" && !grammar.Speaks(c, in.Lang)
	})
	return countries[:min(len(countries), mostDialled)]
}

// firstPhone returns the telephone number of the first of a page's tel: links, else the first of its text.
func firstPhone(links []string, text, country string) string {
	for _, number := range links {
		n := place.PhoneNumber(number, country)
		if n != "" {
			return n
		}
	}
	return place.PhoneIn(text, country)
}

// aboutPages are in the titles and paths of pages that say who runs a site.
var aboutPages = textutil.NewLexicon(place.Phrases("about-pages")...)

// contactPages are in the titles and paths of pages that say how to reach a site, and in headings.
var contactPages = textutil.NewLexicon(place.Phrases("contact-pages")...)

func isContact(text string) bool { return contactPages.In(text) }

// wayPages are in the paths of pages that say where a place is.
var wayPages = textutil.NewLexicon(place.Phrases("way-pages")...)

// IsOfPlace reports whether a path is that of a page about the place of its host, of contacts, the imprint, the way
// there or who is there, and not of others, as a page of sponsors.
func IsOfPlace(path string) bool { return isContact(path) || aboutPages.In(path) || wayPages.In(path) }

// PhoneOf returns which of the telephone numbers of n a place in the country has; "": none.
func (n Notes) PhoneOf(country string) string {
	numbers := strings.Fields(n.Phone)
	if len(numbers) == 1 {
		return numbers[0]
	}
	code := "+" + grammar.Find(country).Phone
	i := slices.IndexFunc(numbers, func(number string) bool { return strings.HasPrefix(number, code) })
	if i < 0 {
		return ""
	}
	return numbers[i]
}

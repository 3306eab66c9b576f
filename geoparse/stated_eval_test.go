package geoparse

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gazehound/gazetteer"
	"gazehound/geoparse/hours"
	"gazehound/geoparse/markup"
	"gazehound/geoparse/place"
	"gazehound/internal/kind"
)

// A statedCount counts what the markup of pages states of places, and what the text
// alone gives of it.
type statedCount struct {
	pages, statements    int
	names, phones, hours statedTally
	kinds                statedTally
}

type statedTally struct{ stated, given, right int }

func (t *statedTally) add(stated, given string, same bool) {
	if stated == "" {
		return
	}
	t.stated++
	if given != "" {
		t.given++
	}
	if given != "" && same {
		t.right++
	}
}

// TestEvalStated takes what markup states of a place, its name, telephone, hours and
// type, for the truth, and says how much of it the text of the page gives without the
// markup, by the country of the address. Names on the labels and menus of a page may be
// right and not what the markup states, so the figures are lower bounds.
func TestEvalStated(t *testing.T) {
	needEval(t)
	data := sharedData(t)
	p := evalParser(t)
	counts := map[string]*statedCount{}
	all := 0
	see := func(target string, body []byte) {
		all++
		doc := markup.Parse(body)
		host := ""
		if u, err := url.Parse(target); err == nil {
			host = u.Hostname()
		}
		var addresses []Address
		seen := map[string]bool{} // countries that the page counts for
		for _, s := range markup.Read(doc).Statements {
			if s.Name == "" || strings.Contains(s.Name, "://") || s.Person || s.Street == "" && s.Raw == "" {
				continue
			}
			if addresses == nil {
				v, err := p.Parse(t.Context(), Input{Text: markup.Text(doc), Host: host})
				if err != nil {
					t.Fatal(err)
				}
				addresses = append(v.Addresses, Address{})
			}
			for i := range addresses {
				a := &addresses[i]
				if !a.isStated(&s) {
					continue
				}
				c := counts[a.Country]
				if c == nil {
					c = &statedCount{}
					counts[a.Country] = c
				}
				if !seen[a.Country] {
					seen[a.Country] = true
					c.pages++
				}
				c.compare(a, &s)
				if os.Getenv("EVAL_ERRORS") != "" && !sameOrg(a.Name, s.Name) {
					t.Logf("%s: %q, stated %q", target, a.Name, s.Name)
				}
				break
			}
		}
	}
	for _, folder := range []string{"webstruct_html", "de_pages_html"} {
		files, _ := filepath.Glob(filepath.Join(data, "labelled", folder, "*.html.gz"))
		for _, file := range files {
			see("", gunzip(file))
		}
	}
	archives, _ := filepath.Glob(filepath.Join(data, "web", "irvine", "*.warc.gz"))
	for _, file := range archives {
		eachResponse(t, file, see)
	}
	names, phones := statedTally{}, statedTally{}
	for country, c := range counts {
		t.Logf("%s: %d of %d pages, %d places stated; stated, given by the text, right: names %v, phones %v, hours %v, kinds %v",
			country, c.pages, all, c.statements, c.names, c.phones, c.hours, c.kinds)
		names.given, names.right = names.given+c.names.given, names.right+c.names.right
		phones.given, phones.right = phones.given+c.phones.given, phones.right+c.phones.right
	}
	if names.given < 20 || float64(names.right) < 0.9*float64(names.given) || float64(phones.right) < 0.9*float64(phones.given) {
		t.Errorf("names %+v, phones %+v: .9 of those given are wanted", names, phones)
	}
}

// isStated reports whether a statement is about the address.
func (a *Address) isStated(s *markup.Statement) bool {
	said := " " + gazetteer.Key(s.Street+" "+s.Raw+" "+s.Postcode) + " "
	return a.Street != "" && a.HouseNumber != "" && !a.Private &&
		strings.Contains(said, gazetteer.Key(a.Street)) && strings.Contains(said, gazetteer.Key(a.HouseNumber)) &&
		(s.Postcode == "" || a.Postcode == "" || strings.HasPrefix(s.Postcode, a.Postcode))
}

func (c *statedCount) compare(a *Address, s *markup.Statement) {
	c.statements++
	c.names.add(s.Name, a.Name, sameOrg(a.Name, s.Name))
	phone := place.PhoneNumber(s.Phone, a.Country)
	c.phones.add(phone, a.Phone, a.Phone == phone)
	hours, _ := hours.Parse(s.Hours)
	c.hours.add(hours, a.Hours, a.Hours == hours)
	id := kind.OfType(s.Type)
	c.kinds.add(id, a.Kind, kind.Main(a.Kind) == kind.Main(id))
}

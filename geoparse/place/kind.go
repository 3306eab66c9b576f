package place

import (
	"regexp"
	"strings"

	"gazehound/internal/kind"
)

// Kind returns the kind of place by its name, in the form of package kind. If the page is the place's own site, what
// its title, headings, links, text, domain and markup say is weighed where the name says nothing: "Bäckerei Meyer in
// Oldenburg" for "Meyer GmbH"; but a department of an academic host is of a university. Each text is read in the
// first of the languages in which it says anything. Last, "e.V." shows an association. It is "" if nothing shows it.
func (h *Head) Kind(name string, langs []string, country string, own bool) string {
	if id := kindOfName(name, langs, country); id != "" && !IsPerson(name) {
		if id == clinic && own { // "Back and Neck Clinic", of chiropractors
			site := h.kindOfSite(name, langs, country)
			if kind.Key(site) == "healthcare" {
				return site
			}
		}
		return id
	}
	if academic.MatchString(h.host) && department.MatchString(name) {
		return "amenity=university"
	}
	if own {
		if id := h.kindOfSite(name, langs, country); id != "" {
			return id
		}
	}
	if registered.MatchString(name) {
		return association
	}
	return ""
}

// WithoutTown returns what a firm is called, in lower case, without the town that the name of its branch there ends
// with: "Lidl Oldenburg", "Lidl - Nadorst".
func WithoutTown(name, town string) string {
	name, _, _ = strings.Cut(strings.ToLower(name), " - ")
	return strings.TrimSuffix(name, " "+strings.ToLower(town))
}

// kindOfName returns the kind that a name says in the first of the languages in which it says any, or "".
func kindOfName(name string, langs []string, country string) string {
	for _, lang := range langs {
		if id := kind.OfName(name, lang, country); id != "" {
			return id
		}
	}
	return ""
}

// kindOfText returns the kind that a text says in the first of the languages in which it says any, or "".
func kindOfText(text string, langs []string) string {
	for _, lang := range langs {
		if id := kind.OfText(text, lang); id != "" {
			return id
		}
	}
	return ""
}

// KindOfDomain returns the kind of place that the domain alone is enough for, or "".
func (h *Head) KindOfDomain(langs []string, country string) string {
	domain := strings.Join(h.domain, " ")
	if kind.IsSurname(domain) { // "uwezimmermann.example"
		return ""
	}
	return kindOfName(domain, langs, country)
}

const (
	association = "office=association"
	clinic      = "amenity=clinic"
)

var (
	academic   = regexp.MustCompile(`\.(?:edu|ac)(?:\.[a-z]{2})?$|(?:^|\.)(?:uni|tu|fh|hs|th)-[a-z-]+\.(?:de|at|ch)$`)
	department = regexp.MustCompile(`(?i)\b(?:college|school|dep(?:artmen)?t\.?|faculty|institute) (?:of|for)\b|` +
		`\bdepartment$|\bseminar für\b|\b(?:fachbereich|fakultät)\b`)
	registered = regexp.MustCompile(`(?i)\be\. ?v\.?(?: \(?i\. ?g\.?\)?)?$`) // "i. G." is being founded
)

// IsStart reports whether a path, with its query, is that of the start page of a site.
func IsStart(path string) bool { return len(path) < 40 && startPath.MatchString(path) }

var startPath = regexp.MustCompile(`(?i)^/(?:(?:de|en|fr|it|es|nl)/)?` +
	`(?:(?:index|home|start|startseite|default|main)\.[a-z]{3,5})?(?:\?lang=[a-z]{2})?$`)

// Package software knows what the links of well-known software lead to: sort links of listings, edit
// and history pages of wikis, archives of blogs, facets of shops. Its table is rules.txt.
package software

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gazehound/crawler/weburl"
)

//go:embed rules.txt
var table string

// A Set is a set of software. The zero Set is what is known of every host: the rules of "any".
type Set uint64

const anySoftware = 0 // the number of "any", which every host has

// A Rule is about some links of one software.
type Rule struct {
	Name string // software and kind of links, "mediawiki actions"
	Park bool   // its links are kept and not fetched; false: they come last

	of    int // number of the software
	links *regexp.Regexp
}

// A mark is how pages show which software made them.
type mark struct {
	of   int
	says *regexp.Regexp
}

// A catalogue is the content of rules.txt.
type catalogue struct {
	names []string // of software, by number
	marks []mark
	rules []Rule
}

// known is read once: compiling the patterns takes some milliseconds.
var known = sync.OnceValue(func() *catalogue {
	c := &catalogue{names: []string{"any"}}
	for n, line := range strings.Split(table, "\n") {
		err := c.read(line)
		if err != nil {
			panic(fmt.Sprintf("rules.txt: line %d: %v", n+1, err))
		}
	}
	return c
})

// read adds a line of the table.
func (c *catalogue) read(line string) error {
	rule, source, _ := strings.Cut(line, " # ")
	fields := strings.Fields(rule)
	switch {
	case len(fields) == 0 || strings.HasPrefix(line, "#"):
		return nil
	case len(fields) < 3 || strings.TrimSpace(source) == "":
		return fmt.Errorf("%q has no pattern or no source", line)
	case fields[0] == "mark":
		says, err := regexp.Compile("(?i)" + strings.Join(fields[2:], " "))
		c.marks = append(c.marks, mark{c.number(fields[1]), says})
		return err
	case (fields[0] == "park" || fields[0] == "last") && len(fields) == 4:
		links, err := regexp.Compile("(?i)" + fields[3])
		c.rules = append(c.rules, Rule{fields[1] + " " + fields[2], fields[0] == "park", c.number(fields[1]), links})
		return err
	}
	return fmt.Errorf("%q is neither mark, park nor last", line)
}

// number returns the number of a software, which it adds if it is new.
func (c *catalogue) number(name string) int {
	i := slices.Index(c.names, name)
	if i < 0 {
		i = len(c.names)
		c.names = append(c.names, name)
	}
	return i
}

// Of returns the software that made a page, by its page.Page.Marks.
func Of(pageMarks []string) (s Set) {
	for _, m := range known().marks {
		if s&(1<<m.of) == 0 && slices.ContainsFunc(pageMarks, m.says.MatchString) {
			s |= 1 << m.of
		}
	}
	return s
}

// Find returns the rule about a link of a host with this software.
func (s Set) Find(u weburl.URL) (r Rule, ok bool) {
	s |= 1 << anySoftware
	text := ""
	for _, r := range known().rules {
		if s&(1<<r.of) == 0 {
			continue
		}
		if text == "" {
			text = u.Path()
			if q := u.Query(); q != "" {
				text += "?" + q
			}
		}
		if r.links.MatchString(text) {
			return r, true
		}
	}
	return Rule{}, false
}

// Parks reports whether links of a host with this software are parked by the rule of that name.
func (s Set) Parks(rule string) bool {
	rules := known().rules
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.Name == rule })
	return i >= 0 && rules[i].Park && (s|1<<anySoftware)&(1<<rules[i].of) != 0
}

// With returns the set with the software that a rule of this name is about.
func (s Set) With(rule string) Set {
	name, _, _ := strings.Cut(rule, " ")
	if i := slices.Index(known().names, name); i > anySoftware {
		s |= 1 << i
	}
	return s
}

// Names returns the names of the software, for Named.
func (s Set) Names() (list []string) {
	for i, name := range known().names[1:] {
		if s&(2<<i) != 0 {
			list = append(list, name)
		}
	}
	return list
}

// Named returns the set of the software with these names; others are left out.
func Named(list []string) (s Set) {
	for _, name := range list {
		s = s.With(name)
	}
	return s
}

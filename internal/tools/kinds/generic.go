package main

import (
	"regexp/syntax"
	"slices"
	"strings"

	"gazehound/internal/kind"
)

// mostSpellings bounds what is made of one pattern.
const mostSpellings = 40

// claimGeneric claims the names that the name-suggestion-index lists as those of a
// kind and of no brand, such as "^(dental|family) clinic$".
func (t *table) claimGeneric(patterns []string, tags string) {
	for _, pattern := range patterns {
		re, err := syntax.Parse(pattern, syntax.Perl&^syntax.OneLine)
		if err != nil {
			continue // it is of another dialect
		}
		for _, name := range spellings(re) {
			words := kind.Words(name)
			ware := len(words) == 1 && slices.Contains(goodsKeys, kind.Key(tags))
			if 0 < len(words) && len(words) <= kind.MaxPhrase && !ware {
				of(t.generic, strings.Join(words, " "))[tags] = isGeneric
				for language := range kind.Languages {
					t.speak(strings.Join(words, " "), tags, language)
				}
			}
		}
	}
}

// spellings returns the texts that a pattern matches; nil where there are many.
func spellings(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{string(re.Rune)}
	case syntax.OpCapture:
		return spellings(re.Sub[0])
	case syntax.OpQuest:
		return append(spellings(re.Sub[0]), "")
	case syntax.OpStar: // white space
		return []string{" "}
	case syntax.OpCharClass:
		var all []string
		for i := 0; i+1 < len(re.Rune) && len(all) < 4; i += 2 {
			all = append(all, string(re.Rune[i]))
		}
		return all
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			all = append(all, spellings(sub)...)
		}
		return all[:min(len(all), mostSpellings)]
	case syntax.OpConcat:
		all := []string{""}
		for _, sub := range re.Sub {
			var longer []string
			for _, end := range spellings(sub) {
				for _, start := range all {
					longer = append(longer, start+end)
				}
			}
			all = longer
			if len(all) > mostSpellings {
				return nil
			}
		}
		return slices.DeleteFunc(all, func(s string) bool { return strings.TrimSpace(s) == "" })
	case syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpEmptyMatch:
		return []string{""}
	}
	return nil
}

package gazetteer

import "strings"

// isStateCode reports whether s is the code of a state ("CA", "NI", "09"), not its name.
func isStateCode(s string) bool { return s != "" && len(s) <= 3 }

// nameStates prepares State and country.
func (g *Gazetteer) nameStates() {
	g.states, g.lands = map[string]string{}, map[string]string{}
	for _, s := range g.meta.States {
		country, code, isState := strings.Cut(s.Code, " ")
		for _, name := range s.Names {
			if isState {
				g.states[country+" "+Key(name)] = code
			} else {
				g.lands[Key(name)] = country
			}
		}
	}
}

// State returns the code of the state that a code or a name means in a country: "CA" for
// "California", "Calif" where a source has it. Unknown names are returned unchanged.
func (g *Gazetteer) State(country, name string) string {
	if code, ok := g.states[strings.ToUpper(country)+" "+Key(name)]; ok {
		return code
	}
	return name
}

// country returns the code of the country that a code or a name means, or "".
func (g *Gazetteer) country(name string) string {
	if code, ok := g.lands[Key(name)]; ok {
		return code
	}
	if len(name) == 2 {
		return strings.ToUpper(name)
	}
	return ""
}

// agreeState reports whether two states of a country can be the same. A code
// and a name that the gazetteer cannot compare do not contradict.
func (g *Gazetteer) agreeState(country, a, b string) bool {
	if a == "" || b == "" {
		return true
	}
	a, b = g.State(country, a), g.State(country, b)
	return agree(a, b) || isStateCode(a) != isStateCode(b)
}

package markup

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
)

// Bounds of one JSON-LD script.
const (
	maxJSON      = 1 << 20 // bytes; of a longer list the entries before it are read
	maxJSONDepth = 32
	maxJSONNodes = 50000
)

// jsonLD reads one script of JSON-LD: schema.org addresses wherever they stand,
// with what their owners say, and the names of organisations and web sites. What is
// not JSON adds nothing.
func (f *finder) jsonLD(script string) {
	script = unwrap(script[:min(len(script), maxJSON)])
	values, whole := decodeJSON(script)
	if !whole {
		if repaired, _ := decodeJSON(withoutExtraCommas(script)); len(repaired) > len(values) {
			values = repaired
		}
	}
	r := &jsonReader{finder: f, byID: make(map[string]map[string]any)}
	for _, v := range values {
		r.learnIDs(v, 0)
	}
	r.nodes = 0
	for _, v := range values {
		r.read(v, Statement{}, 0)
	}
}

// decodeJSON returns the values that text begins with, those of a list one by
// one, and whether there is nothing else in it.
func decodeJSON(text string) (values []any, whole bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber() // 1e309 is no float64, and a postcode keeps its digits
	list := strings.HasPrefix(text, "[")
	if list {
		d.Token() // the bracket
	}
	for len(values) < maxJSONNodes && (!list || d.More()) {
		var v any
		if err := d.Decode(&v); err != nil {
			return values, err == io.EOF
		}
		values = append(values, v)
	}
	_, err := d.Token()
	return values, err == nil
}

// unwrap takes off the comments that old browsers needed, and blanks the
// control characters that JSON forbids within strings.
func unwrap(script string) string {
	script = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, script)
	script = strings.TrimSpace(script)
	for _, p := range []string{"//", "/*", "<!--", "<![CDATA[", "*/"} {
		script = strings.TrimSpace(strings.TrimPrefix(script, p))
	}
	for _, p := range []string{"*/", "-->", "]]>", "//", "/*", ";"} {
		script = strings.TrimSpace(strings.TrimSuffix(script, p))
	}
	return script
}

// withoutExtraCommas drops commas before a closing bracket, the commonest mistake.
func withoutExtraCommas(script string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(script); i++ {
		c := script[i]
		switch {
		case quoted && c == '\\' && i+1 < len(script):
			b.WriteByte(c)
			i++
			c = script[i]
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			j := i + 1
			for j < len(script) && script[j] == ' ' {
				j++
			}
			if j < len(script) && (script[j] == '}' || script[j] == ']') {
				i = j - 1
				continue
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}

type jsonReader struct {
	finder *finder
	byID   map[string]map[string]any
	nodes  int
}

func (r *jsonReader) enough(depth int) bool {
	r.nodes++
	return depth > maxJSONDepth || r.nodes > maxJSONNodes || len(r.finder.found) >= maxFound
}

// learnIDs notes the objects that others refer to.
func (r *jsonReader) learnIDs(v any, depth int) {
	if r.enough(depth) {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			r.learnIDs(e, depth+1)
		}
	case map[string]any:
		if id := text(v["@id"]); id != "" && len(v) > 1 && r.byID[id] == nil {
			r.byID[id] = v
		}
		for _, e := range v {
			r.learnIDs(e, depth+1)
		}
	}
}

// object returns v as an object, following one reference, or nil.
func (r *jsonReader) object(v any) map[string]any {
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	o, _ := v.(map[string]any)
	if len(o) == 1 {
		if known := r.byID[text(o["@id"])]; known != nil {
			return known
		}
	}
	return o
}

// read finds the addresses in v. owner says what is known of the thing that v
// describes: its name, telephone number and point.
func (r *jsonReader) read(v any, owner Statement, depth int) {
	if r.enough(depth) {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			r.read(e, owner, depth+1)
		}
	case map[string]any:
		if isAddress(v) {
			r.address(v, owner)
			return
		}
		owner = Statement{
			Name: cmp.Or(text(v["name"]), text(v["legalName"])), Phone: text(v["telephone"]), Email: text(v["email"]),
			URL: text(v["url"]), Hours: openingHours(v),
			Person: isPersonType(text(v["@type"])), Type: typeName(v["@type"]),
		}
		if slices.ContainsFunc(list(v["@type"]), isSiteType) {
			addName(&r.finder.page.Stated, owner.Name)
		}
		owner.setPoint(v)
		owner.setPoint(r.object(v["geo"]))
		before := len(r.finder.found)
		r.addresses(v["address"], owner, depth)
		if owner.HasPoint && len(r.finder.found) == before {
			owner.Origin = JSONLD
			r.finder.add(owner)
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if key != "address" && key != "geo" {
				r.read(v[key], Statement{}, depth+1)
			}
		}
	}
}

// isSiteType reports whether a type is that of who runs a site.
func isSiteType(v any) bool {
	name, _ := v.(string)
	return strings.HasSuffix(name, "Organization") || strings.HasSuffix(name, "Business") ||
		slices.Contains([]string{"WebSite", "Corporation", "Restaurant", "Store"}, name)
}

// addresses reads the value of an address property: an object, a reference, a
// text, or a list of them.
func (r *jsonReader) addresses(v any, owner Statement, depth int) {
	switch v := v.(type) {
	case string:
		s := owner
		s.Origin, s.Raw = JSONLD, v
		r.finder.add(s)
	case []any:
		for _, e := range v {
			if !r.enough(depth) {
				r.addresses(e, owner, depth+1)
			}
		}
	case map[string]any:
		if o := r.object(v); isAddress(o) {
			r.address(o, owner)
		} else {
			r.read(v, owner, depth+1)
		}
	}
}

func (r *jsonReader) address(v map[string]any, owner Statement) {
	s := owner
	s.Origin = JSONLD
	for key, to := range map[string]*string{
		"streetAddress": &s.Street, "extendedAddress": &s.Unit, "postOfficeBoxNumber": &s.POBox,
		"postalCode": &s.Postcode, "addressLocality": &s.City, "addressRegion": &s.State,
		"addressCountry": &s.Country, "name": &s.Name, "telephone": &s.Phone, "email": &s.Email,
	} {
		setOnce(to, text(v[key]))
	}
	s.setPoint(v)
	s.setPoint(r.object(v["geo"]))
	r.finder.add(s)
}

// maxHours bounds the opening hours of one owner that are read.
const maxHours = 30

// openingHours writes openingHours and openingHoursSpecification as a text, a
// part for each, separated by "; ". What is valid for some time only, such as
// a holiday, is left out.
func openingHours(v map[string]any) string {
	var parts []string
	add := func(part string) {
		if len(parts) < maxHours && part != "" {
			parts = append(parts, part)
		}
	}
	for _, e := range list(v["openingHours"]) {
		if s, ok := e.(string); ok {
			add(s)
		}
	}
	for _, e := range list(v["openingHoursSpecification"]) {
		spec, _ := e.(map[string]any)
		if spec == nil || spec["validFrom"] != nil || spec["validThrough"] != nil {
			continue
		}
		var days []string
		for _, d := range list(spec["dayOfWeek"]) {
			day := text(d)
			if len(days) < 8 {
				days = append(days, day[strings.LastIndexAny(day, "/:#")+1:])
			}
		}
		opens, closes := text(spec["opens"]), text(spec["closes"])
		switch {
		case len(days) == 0 || opens == "" || closes == "":
		case opens == closes:
			add(strings.Join(days, ",") + " closed")
		default:
			add(strings.Join(days, ",") + " " + opens + "-" + closes)
		}
	}
	return strings.Join(parts, "; ")
}

// list returns the entries of v, or v itself where it is none.
func list(v any) []any {
	if l, ok := v.([]any); ok {
		return l
	}
	return []any{v}
}

func isAddress(v map[string]any) bool {
	switch t := v["@type"].(type) {
	case string:
		if strings.HasSuffix(t, "PostalAddress") {
			return true
		}
	case []any:
		for _, e := range t {
			if s, _ := e.(string); strings.HasSuffix(s, "PostalAddress") {
				return true
			}
		}
	}
	return v["streetAddress"] != nil || v["postalCode"] != nil || v["addressLocality"] != nil
}

// setPoint takes latitude and longitude of an object, unless s has a point.
func (s *Statement) setPoint(v map[string]any) {
	s.pair(text(v["latitude"]), text(v["longitude"]))
}

// text returns v as a text: a string, a number, the name or value of an object,
// or the first of them in a list, joined.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case []any:
		var parts []string
		for _, e := range v[:min(len(v), 5)] {
			if _, nested := e.([]any); !nested && text(e) != "" {
				parts = append(parts, text(e))
			}
		}
		return strings.Join(parts, ", ")
	case map[string]any:
		for _, key := range []string{"name", "@value"} {
			if s, ok := v[key].(string); ok {
				return s
			}
		}
	}
	return ""
}

package markup

import (
	"encoding/json"
	"html"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Bounds of one script.
const (
	maxJSON      = 2 << 20 // bytes; of a longer list the entries before it are read
	maxJSONDepth = 32
	maxJSONNodes = 50000
)

// jsonLD reads one script of JSON-LD: schema.org addresses wherever they stand,
// with what their owners say, and the names of organisations and web sites. What is
// not JSON adds nothing.
func (f *finder) jsonLD(script string) {
	values := jsonIn(script)
	r := &jsonReader{finder: f, origin: JSONLD, byID: make(map[string]map[string]any)}
	for _, v := range values {
		r.learnIDs(v, 0)
	}
	r.nodes = 0
	for _, v := range values {
		r.read(v, "", nil, 0)
	}
}

// jsonIn returns the values that a script begins with, after the repairs that many need.
func jsonIn(script string) []any {
	script = unwrap(script[:min(len(script), maxJSON)])
	values, _, whole := decodeJSON(strings.NewReader(script))
	if !whole {
		if repaired, _, _ := decodeJSON(strings.NewReader(withoutExtraCommas(script))); len(repaired) > len(values) {
			values = repaired
		}
	}
	return values
}

// decodeJSON returns the values that a text begins with, those of a list one by
// one, the byte behind them, and whether there is nothing else in it.
func decodeJSON(text *strings.Reader) (values []any, end int64, whole bool) {
	first, _ := text.ReadByte()
	text.Seek(0, io.SeekStart)
	d := json.NewDecoder(text)
	d.UseNumber() // 1e309 is no float64, and a postcode keeps its digits
	list := first == '['
	if list {
		d.Token() // the bracket
	}
	for len(values) < maxJSONNodes && (!list || d.More()) {
		var v any
		err := d.Decode(&v)
		if err != nil {
			return values, d.InputOffset(), err == io.EOF
		}
		values = append(values, v)
	}
	_, err := d.Token()
	return values, d.InputOffset(), err == nil
}

// unwrap takes off the comments that old browsers needed, those of whole lines, and entities where
// they stand for the quotation marks; and it blanks the control characters that JSON forbids within
// strings, and byte order marks.
func unwrap(script string) string {
	if strings.Contains(script, "&quot;") && !strings.Contains(script, `"`) {
		script = html.UnescapeString(script)
	}
	if strings.Contains(script, "//") {
		script = lineComment.ReplaceAllString(script, "")
	}
	script = strings.Map(func(r rune) rune {
		if r < ' ' || r == '\ufeff' {
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

// lineComment is a line of nothing else.
var lineComment = regexp.MustCompile(`(?m)^\s*//[^{\n]*$`)

// withoutExtraCommas drops commas before a closing bracket, the commonest mistake, and backslashes
// before apostrophes.
func withoutExtraCommas(script string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(script); i++ {
		c := script[i]
		switch {
		case quoted && c == '\\' && i+1 < len(script):
			if script[i+1] != '\'' {
				b.WriteByte(c)
			}
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
	origin Origin // JSONLD or InlineJSON
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

// read reads the value of a property of the thing that owner describes; nil: of none.
func (r *jsonReader) read(v any, property string, owner *scopeOf, depth int) {
	if r.enough(depth) {
		return
	}
	switch v := v.(type) {
	case string:
		if owner != nil {
			owner.set(property, v)
		}
	case []any:
		for _, e := range v {
			r.read(e, property, owner, depth+1)
		}
	case map[string]any:
		known := r.byID[text(v["@id"])]
		if len(v) == 1 && known != nil && (property == "address" || property == "geo") {
			v = known
		}
		if r.origin == InlineJSON {
			r.object(v, property, owner, depth)
		} else {
			r.thing(v, property, owner, depth)
		}
	}
}

// thing reads an object that is the value of a property of its owner.
func (r *jsonReader) thing(v map[string]any, property string, owner *scopeOf, depth int) {
	var types []string
	for _, e := range list(v["@type"]) {
		name, _ := e.(string)
		types = append(types, name)
	}
	k := kindOfItem(strings.Join(types, " "), property)
	if v["streetAddress"] != nil || v["postalCode"] != nil || v["addressLocality"] != nil {
		k = address
	}
	s := r.finder.open(r.origin, k, strings.Join(types, " "), property, owner)
	s.own.Hours = openingHours(v)
	for _, key := range slices.Sorted(maps.Keys(v)) {
		value := v[key]
		name := localName(key)
		switch said := text(value); {
		case strings.HasPrefix(name, "openinghours"), name == "label":
		case said != "" && name != "address" && isProperty(name):
			s.set(name, said)
		default:
			r.read(value, name, s, depth+1)
		}
	}
	if slices.ContainsFunc(types, isSiteType) {
		addName(&r.finder.page.Stated, s.own.Name)
	}
	switch property {
	case "", "@graph", "mainEntity", "about", "publisher", "itemReviewed":
		for _, name := range types {
			addName(&r.finder.page.Types, name[strings.LastIndexAny(name, "/:#")+1:])
		}
	}
	if property != "address" && property != "geo" {
		owner = nil // the name of an event is not that of where it takes place
	}
	r.finder.close(s, owner)
}

// isSiteType reports whether a type is that of who runs a site.
func isSiteType(name string) bool {
	return strings.HasSuffix(name, "Organization") || strings.HasSuffix(name, "Business") ||
		slices.Contains([]string{"WebSite", "Corporation", "Restaurant", "Store"}, name)
}

// maxHours bounds the opening hours of one owner that are read.
const maxHours = 30

// timeZone is what schema.org allows behind the time of a clock on the wall.
var timeZone = regexp.MustCompile(`^(\d{1,2}:\d{2}(?::\d{2})?)(?:Z|[+-]\d{2}:?\d{2})$`)

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
		opens := timeZone.ReplaceAllString(text(spec["opens"]), "$1")
		closes := timeZone.ReplaceAllString(text(spec["closes"]), "$1")
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

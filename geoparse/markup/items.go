package markup

import (
	"cmp"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"gazehound/internal/textutil"
)

// A scopeOf is an open element that holds the properties of one thing: an
// itemscope, an element with typeof, or a microformat's root class.
type scopeOf struct {
	node   *html.Node
	origin Origin // Microdata, RDFa or HCard
	kind   kind
	place  int       // of its statement in finder.found
	own    Statement // what its properties say
	held   []int     // statements inside it that may lack its name
}

type kind uint8

const (
	thing   kind = iota // an organisation, a person, a place
	address             // a postal address
	point               // geographic coordinates
)

// items opens the scopes that start at n and notes the properties that n is the
// value of.
func (f *finder) items(n *html.Node) {
	microdata, itemscope := attr(n, "itemprop"), has(n, "itemscope")
	rdfa, typed := attr(n, "property"), has(n, "typeof")
	if microdata != "" && !itemscope {
		f.property(n, Microdata, strings.Fields(microdata))
	}
	if rdfa != "" && !typed {
		f.property(n, RDFa, strings.Fields(rdfa))
	}
	if itemscope {
		f.openScope(n, Microdata, kindOfItem(attr(n, "itemtype"), microdata), attr(n, "itemtype"), microdata)
	}
	if typed {
		f.openScope(n, RDFa, kindOfItem(attr(n, "typeof"), rdfa), attr(n, "typeof"), rdfa)
	}
	f.microformat(n, attr(n, "class"))
}

func kindOfItem(types, property string) kind {
	types = strings.ToLower(types)
	switch {
	case strings.Contains(types, "postaladdress"), strings.HasSuffix(types, ":address"),
		strings.HasSuffix(types, "/address"):
		return address
	case strings.Contains(types, "geocoordinates"):
		return point
	case types == "" && localName(property) == "address":
		return address
	case types == "" && localName(property) == "geo":
		return point
	}
	return thing
}

// isPersonType reports whether a type is schema.org's, or another vocabulary's,
// for persons.
func isPersonType(types string) bool {
	types = strings.ToLower(types)
	return types == "person" || strings.HasSuffix(types, "/person") || strings.HasSuffix(types, ":person")
}

var lettersOnly = regexp.MustCompile(`^[A-Za-z]+$`)

// typeName returns the name of a type of schema.org without its address, of
// several the first; "" of one that says nothing.
func typeName(v any) string {
	for _, e := range list(v) {
		types, _ := e.(string)
		for t := range strings.FieldsSeq(clipBytes(types, 500)) {
			t = t[strings.LastIndexAny(t, "/:#")+1:]
			if len(t) > 60 || !lettersOnly.MatchString(t) {
				continue
			}
			switch t {
			case "Thing", "Place", "Organization", "LocalBusiness", "Corporation", "Person", "WebSite", "WebPage",
				"ProfessionalService":
			default:
				return t
			}
		}
	}
	return ""
}

// microformat reads the classes of hCard and h-card.
func (f *finder) microformat(n *html.Node, class string) {
	var properties []string
	for token := range strings.FieldsSeq(clipBytes(class, 500)) {
		switch token {
		case "vcard", "h-card":
			f.openScope(n, HCard, thing, "", "")
		case "adr", "h-adr", "p-adr":
			f.openScope(n, HCard, address, "", "")
		case "geo", "h-geo", "p-geo":
			f.openScope(n, HCard, point, "", "")
		default:
			token = strings.TrimPrefix(strings.TrimPrefix(token, "p-"), "u-")
			if cardProperties[token] {
				properties = append(properties, token)
			}
		}
	}
	if properties != nil {
		f.property(n, HCard, properties)
	}
}

// cardProperties are the classes of hCard and, behind "p-" or "u-", of h-card.
var cardProperties = textutil.Words("name fn org tel street-address extended-address locality region postal-code " +
	"country-name post-office-box email url latitude longitude label")

func clipBytes(s string, n int) string { return s[:min(len(s), n)] }

// open begins a thing, an address or a point, which is a property of its owner; nil: of none.
func (f *finder) open(origin Origin, k kind, types, property string, owner *scopeOf) *scopeOf {
	s := &scopeOf{origin: origin, kind: k, place: f.add(Statement{}),
		own: Statement{Origin: origin, Person: isPersonType(types)}}
	if k == thing {
		s.own.Type = typeName(types)
		s.own.Scene = localName(property) == "location" && owner != nil && strings.HasSuffix(owner.own.Type, "Event")
	}
	return s
}

// openScope opens the scope of an element, which is a property of what is around it.
func (f *finder) openScope(n *html.Node, origin Origin, k kind, types, property string) {
	s := f.open(origin, k, types, property, f.scope(origin))
	s.node = n
	f.scopes = append(f.scopes, s)
}

// set notes the value of the property of this local name. Lines of a street address, and hours,
// are joined; of other properties the first value counts.
func (s *scopeOf) set(name, value string) {
	switch {
	case latitudes[name]:
		s.own.setLat(value)
	case longitudes[name]:
		s.own.setLon(value)
	case fields[name] == nil:
	default:
		field, separator := fields[name](&s.own), ""
		switch name {
		case "streetaddress":
			separator = ", "
		case "openinghours":
			separator = "; "
		}
		if separator != "" && *field != "" && value != "" && len(*field) < MaxRaw {
			*field += separator + value
		} else {
			setOnce(field, value)
		}
	}
}

// scope returns the innermost open scope of a syntax, or nil.
func (f *finder) scope(origin Origin) *scopeOf {
	for i := len(f.scopes) - 1; i >= 0; i-- {
		if f.scopes[i].origin == origin {
			return f.scopes[i]
		}
	}
	return nil
}

func (f *finder) property(n *html.Node, origin Origin, names []string) {
	s := f.scope(origin)
	if s == nil {
		return
	}
	for _, name := range names[:min(len(names), 10)] {
		name = localName(name)
		if !isProperty(name) {
			continue
		}
		f.values++
		value := valueOf(n, origin)
		switch name {
		case "openinghours":
			value = cmp.Or(attr(n, "datetime"), value)
		case "url", "email":
			value = cmp.Or(attr(n, "href"), value)
		}
		s.set(name, value)
	}
}

// localName returns the name of a property without its vocabulary, in lower
// case and without hyphens: "streetaddress" of "schema:streetAddress" and of
// "street-address".
func localName(name string) string {
	name = name[strings.LastIndexAny(name, ":/#")+1:]
	return strings.ReplaceAll(strings.ToLower(clipBytes(name, 60)), "-", "")
}

// fields are those of a statement that properties of schema.org, vCard and data-vocabulary.org
// belong to, by their local names.
var fields = func() map[string]func(*Statement) *string {
	m := map[string]func(*Statement) *string{}
	for names, field := range map[string]func(*Statement) *string{
		"streetaddress":   func(s *Statement) *string { return &s.Street },
		"extendedaddress": func(s *Statement) *string { return &s.Unit },
		"postalcode":      func(s *Statement) *string { return &s.Postcode },
		"postofficeboxnumber postofficebox pobox": func(s *Statement) *string { return &s.POBox },
		"addresslocality locality":                func(s *Statement) *string { return &s.City },
		"addressregion region":                    func(s *Statement) *string { return &s.State },
		"addresscountry countryname country":      func(s *Statement) *string { return &s.Country },
		"address adr label":                       func(s *Statement) *string { return &s.Raw },
		"name fn org legalname":                   func(s *Statement) *string { return &s.Name },
		"telephone tel phone":                     func(s *Statement) *string { return &s.Phone },
		"email":                                   func(s *Statement) *string { return &s.Email },
		"url":                                     func(s *Statement) *string { return &s.URL },
		"openinghours":                            func(s *Statement) *string { return &s.Hours },
	} {
		for name := range strings.FieldsSeq(names) {
			m[name] = field
		}
	}
	return m
}()

var latitudes, longitudes = textutil.Words("latitude lat"), textutil.Words("longitude long lon lng")

// isProperty reports whether a statement keeps the property of this local name.
func isProperty(name string) bool { return fields[name] != nil || latitudes[name] || longitudes[name] }

// valueOf returns the text that n gives as the value of a property.
func valueOf(n *html.Node, origin Origin) string {
	if has(n, "content") {
		return attr(n, "content")
	}
	switch n.DataAtom {
	case atom.Abbr:
		if title := attr(n, "title"); title != "" && origin == HCard {
			return title
		}
	case atom.Img, atom.Area:
		return attr(n, "alt")
	case atom.Data:
		return attr(n, "value")
	case atom.Link:
		return attr(n, "href")
	}
	if c := n.FirstChild; c != nil && origin == HCard && attr(c, "class") == "value-title" {
		return attr(c, "title")
	}
	if text := textUpTo(n, 4*MaxField); text != "" {
		return text
	}
	return strings.TrimPrefix(attr(n, "href"), "tel:")
}

// closeItems closes the scopes that n is not in; nil is in none.
func (f *finder) closeItems(n *html.Node) {
	for len(f.scopes) > 0 {
		s := f.scopes[len(f.scopes)-1]
		if n != nil && isWithin(n, s.node) {
			return
		}
		f.scopes = f.scopes[:len(f.scopes)-1]
		f.close(s, f.scope(s.origin))
	}
}

// isWithin reports whether n is in the element up.
func isWithin(n, up *html.Node) bool {
	for n != nil && n != up {
		n = n.Parent
	}
	return n != nil
}

// close completes s with the properties of the scope around it.
func (f *finder) close(s, parent *scopeOf) {
	if s.kind == point && !s.own.HasPoint && s.origin == HCard {
		if lat, lon, ok := pointIn(textUpTo(s.node, 100)); ok {
			s.own.Lat, s.own.Lon, s.own.HasPoint = lat, lon, true
		}
	}
	if s.kind == address && s.node != nil && !s.own.says() {
		s.own.Raw = textUpTo(s.node, 4*MaxRaw)
	}
	if s.kind == point && parent != nil {
		if !parent.own.HasPoint {
			parent.own.Lat, parent.own.Lon, parent.own.HasPoint = s.own.Lat, s.own.Lon, s.own.HasPoint
		}
		return
	}
	var unnamed []int
	for _, i := range s.held {
		inner := &f.found[i]
		inner.takeOwner(&s.own)
		if s.own.HasPoint && !inner.HasPoint && len(s.held) == 1 {
			inner.Lat, inner.Lon, inner.HasPoint = s.own.Lat, s.own.Lon, true
		}
		if inner.Name == "" {
			unnamed = append(unnamed, i)
		}
	}
	own := s.own
	if len(s.held) > 0 { // what the addresses inside have taken over
		own.Lat, own.Lon, own.HasPoint = 0, 0, false
	}
	if own.says() {
		f.found[s.place] = s.own
		if s.own.Name == "" {
			unnamed = append(unnamed, s.place)
		}
	}
	if parent != nil {
		parent.held = append(parent.held, unnamed...)
	}
}

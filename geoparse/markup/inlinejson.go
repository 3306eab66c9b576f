package markup

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Bounds of the values that the scripts of a page assign.
const (
	maxInline      = 4 << 20 // bytes; of what turns out to be no JSON those before the error
	maxAssignments = 50      // of a script
)

// jsonElement reads a script element that holds JSON, such as __NEXT_DATA__ of Next.js and
// __NUXT_DATA__ of Nuxt.
func (f *finder) jsonElement(script, id string) {
	if !mayHoldAddress(script) {
		return
	}
	values := jsonIn(script)
	if id == "__NUXT_DATA__" {
		values = []any{unflatten(values)}
	}
	f.inlineJSON(values)
}

// assignedJSON reads the values that a script assigns, such as window.__INITIAL_STATE__ = {…} and
// var stores = JSON.parse("…"), as far as they are JSON.
func (f *finder) assignedJSON(script string) {
	script = script[:min(len(script), maxJSON)]
	if !mayHoldAddress(script) {
		return
	}
	for read := 0; read < maxAssignments && f.inline < maxInline; {
		_, behind, found := strings.Cut(script, "=")
		if !found {
			return
		}
		script = strings.TrimLeft(behind, " \t\n")
		parsed, isParsed := strings.CutPrefix(script, "JSON.parse(")
		if isParsed {
			script = parsed
		}
		if !isParsed && !beginsJSON(script) {
			continue
		}
		read++
		text := strings.NewReader(script[:min(len(script), maxInline-f.inline)])
		values, end, _ := decodeJSON(text)
		f.inline += int(text.Size()) - text.Len()
		script = script[end:]
		if len(values) == 0 {
			continue
		}
		if quoted, ok := values[0].(string); ok && isParsed {
			values, _, _ = decodeJSON(strings.NewReader(quoted))
		}
		f.inlineJSON(values)
	}
}

// beginsJSON reports whether a script begins like an object of JSON that is not empty, or a list of some.
func beginsJSON(script string) bool {
	if script == "" || script[0] != '{' && script[0] != '[' {
		return false
	}
	inside := strings.TrimLeft(script[1:], " \t\n")
	return inside != "" && (inside[0] == '"' || script[0] == '[' && (inside[0] == '{' || inside[0] == '['))
}

// mayHoldAddress reports whether a script has a property of JSON that is named like a postcode.
func mayHoldAddress(script string) bool {
	for _, name := range postcodeNames {
		for rest := script; ; {
			i := strings.Index(rest, name)
			if i < 0 {
				break
			}
			rest = strings.TrimLeft(rest[i+len(name):], "_-codeC")
			if strings.HasPrefix(rest, `"`) || strings.HasPrefix(rest, `\"`) {
				return true
			}
		}
	}
	return false
}

// postcodeNames are names of postcodes, without letters whose case differs and "code" behind them.
var postcodeNames = [...]string{"ostcode", "ostCode", "ostal", "ostleitzahl", "zip", "Zip", "plz", "PLZ"}

// inlineJSON reads the addresses of values that are made for scripts.
func (f *finder) inlineJSON(values []any) {
	r := &jsonReader{finder: f, origin: InlineJSON}
	for _, v := range values {
		r.read(v, "", nil, 0)
	}
}

// schemaNames are the names of schema.org for usual names of properties; both as inlineName
// returns them.
var schemaNames = func() map[string]string {
	m := map[string]string{}
	for name, usual := range map[string]string{
		"streetaddress":   "street street1 address1 addressline1 addressline streetname streetline1 strasse straße",
		"extendedaddress": "street2 address2 addressline2 streetline2 adresszusatz",
		"postalcode":      "zip zipcode postcode postal plz postleitzahl",
		"addresslocality": "city cityname town ort stadt",
		"addressregion":   "state stateprovince province bundesland",
		"addresscountry":  "countrycode land",
		"address":         "adresse anschrift postaladdress contact kontakt",
		"name":            "company companyname firma storename branchname",
		"telephone":       "phonenumber telefon telefonnummer",
		"geo":             "location coordinates coords position latlng geolocation geoposition koordinaten",
		"housenumber":     "hausnummer hausnr streetnumber",
		"givenname":       "firstname vorname",
		"familyname":      "lastname surname nachname",
	} {
		for other := range strings.FieldsSeq(usual) {
			m[other] = name
		}
	}
	return m
}()

// inlineName returns the local name of schema.org for the name of a property.
func inlineName(key string) string {
	name := strings.ReplaceAll(localName(key), "_", "")
	if schema, ok := schemaNames[name]; ok {
		return schema
	}
	return name
}

// object reads an object that is the value of a property of its owner. It states an address if it
// has a street, a postcode and a town.
func (r *jsonReader) object(v map[string]any, property string, owner *scopeOf, depth int) {
	s := r.finder.open(InlineJSON, thing, "", "", nil)
	var number, given, family string
	for _, key := range slices.Sorted(maps.Keys(v)) {
		value := v[key]
		name, said := inlineName(key), text(value)
		switch name {
		case "label", "openinghours": // often words and objects of other kinds
		case "housenumber":
			number = said
		case "givenname":
			given = said
		case "familyname":
			family = said
		case "streetaddress":
			setOnce(&s.own.Street, said)
		case "address":
			r.read(value, name, s, depth+1)
		default:
			if said != "" && isProperty(name) {
				s.set(name, said)
				name = "" // the objects in it are things of their own
			}
			if _, plain := value.(string); !plain {
				r.read(value, name, s, depth+1)
			}
		}
	}
	own := &s.own
	if own.Postcode == "" || !strings.Contains(own.Raw, own.Postcode) { // "address": "Markt 1"
		setOnce(&own.Street, own.Raw)
		own.Raw = ""
	}
	if number != "" && own.Street != "" && !strings.HasSuffix(own.Street, number) {
		own.Street += " " + number
	}
	if own.Name == "" && given != "" && family != "" {
		own.Name, own.Person = given+" "+family, true
	}
	complete := own.Street+own.Raw != "" && own.Postcode != "" && own.City != ""
	switch {
	case complete && property != "address":
		owner = nil // the name of an event is not that of where it takes place
	case !complete && property == "geo" && own.HasPoint:
		s.kind = point
	case !complete:
		own.Street, own.Raw, own.POBox, own.Postcode, own.City, owner = "", "", "", "", "", nil
	}
	r.finder.close(s, owner)
	if complete {
		return
	}
	r.finder.found[s.place] = Statement{}
	if len(r.finder.found) == s.place+1 {
		r.finder.found = r.finder.found[:s.place]
	}
}

// unflatten returns the value that a list stands for in which Nuxt writes its data: every member of
// an object and every entry of a list is the place of its value in the whole (the format of devalue).
// A list that begins with a name, such as "Reactive", stands for its entry.
func unflatten(flat []any) any {
	nodes := 0
	var at func(place any, depth int) any
	at = func(place any, depth int) any {
		number, _ := place.(json.Number)
		i, err := number.Int64()
		nodes++
		if err != nil || i < 0 || i >= int64(len(flat)) || depth > maxJSONDepth || nodes > maxJSONNodes {
			return nil
		}
		switch v := flat[i].(type) {
		case map[string]any:
			whole := make(map[string]any)
			for _, key := range slices.Sorted(maps.Keys(v)) {
				if value := at(v[key], depth+1); value != nil {
					whole[key] = value
				}
			}
			return whole
		case []any:
			if len(v) == 2 {
				if _, named := v[0].(string); named {
					return at(v[1], depth+1)
				}
			}
			var whole []any
			for _, e := range v {
				if value := at(e, depth+1); value != nil {
					whole = append(whole, value)
				}
			}
			return whole
		default:
			return v
		}
	}
	return at(json.Number("0"), 0)
}

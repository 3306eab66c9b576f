package config

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"gazehound/internal/textutil"

	"gopkg.in/yaml.v3"
)

// check reads a file of YAML and compares its keys with those of T. It notes in origin where each
// value stands and returns the sections, nil for an empty file.
func (s *Schema[T]) check(name string, text []byte, origin Origin) (*yaml.Node, error) {
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(strings.TrimLeft(line, " "), "\t") {
			return nil, fmt.Errorf("%s:%d: a tab cannot indent YAML; use spaces", name, i+1)
		}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("%s: %s", name, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s:%d: must have sections such as \"crawl:\"", name, doc.Content[0].Line)
	}
	c := keyChecker{file: name, all: s.keys, origin: origin}
	return doc.Content[0], c.section(doc.Content[0], reflect.TypeFor[T](), "")
}

// A keyChecker compares the keys of a file with those of a struct.
type keyChecker struct {
	file   string
	all    []string
	origin Origin
}

func (c *keyChecker) fail(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", c.file, n.Line, fmt.Sprintf(format, args...))
}

// section checks the keys of a mapping, which stand for the fields of t.
func (c *keyChecker) section(m *yaml.Node, t reflect.Type, prefix string) error {
	fields, names := fieldsOf(t)
	return c.pairs(m, prefix, func(name, value *yaml.Node, key string) error {
		f, ok := fields[strings.ToLower(name.Value)]
		if !ok {
			known := slices.Clone(c.all)
			for _, n := range names {
				known = append(known, prefix+n)
			}
			return c.fail(name, "unknown key %s.%s", key, textutil.DidYouMean(key, known))
		}
		switch {
		case f.Kind() == reflect.Struct && value.Kind == yaml.MappingNode:
			return c.section(value, f, key+".")
		case f.Kind() == reflect.Struct && value.Tag == "!!null":
			return nil
		case f.Kind() == reflect.Struct:
			return c.fail(name, "%s is a section; its keys go below it, indented", key)
		}
		if slices.Contains(c.all, key) { // and not below a map
			c.origin[key] = fmt.Sprintf("%s:%d", c.file, name.Line)
		}
		return c.elements(value, f, key)
	})
}

// elements checks the keys of structs in a map or list.
func (c *keyChecker) elements(value *yaml.Node, t reflect.Type, key string) error {
	switch {
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct:
		return c.pairs(value, key+".", func(_, value *yaml.Node, key string) error {
			return c.section(value, t.Elem(), key+".")
		})
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		for i, item := range value.Content {
			err := c.section(item, t.Elem(), fmt.Sprintf("%s.%d.", key, i+1))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// pairs calls fn for each key of a mapping and its value.
func (c *keyChecker) pairs(m *yaml.Node, prefix string, fn func(name, value *yaml.Node, key string) error) error {
	seen := map[string]bool{}
	for i := 0; i+1 < len(m.Content); i += 2 {
		key := prefix + strings.ToLower(m.Content[i].Value)
		if seen[key] {
			return c.fail(m.Content[i], "key %s is set twice", key)
		}
		seen[key] = true
		if err := fn(m.Content[i], m.Content[i+1], key); err != nil {
			return err
		}
	}
	return nil
}

// fieldsOf returns the types of the fields of a struct by their keys, and these.
func fieldsOf(t reflect.Type) (types map[string]reflect.Type, keys []string) {
	types = map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		if f.IsExported() && !f.Anonymous {
			types[keyOf(f)] = f.Type
			keys = append(keys, keyOf(f))
		}
	}
	return types, keys
}

// checkValues returns the first value that its field's tags do not allow.
func checkValues(v reflect.Value, prefix string, origin Origin) error {
	var problem error
	note := func(err error) {
		if problem == nil {
			problem = err
		}
	}
	walk(v, prefix, func(key string, f reflect.StructField, v reflect.Value) {
		if list := f.Tag.Get("oneof"); list != "" {
			note(OneOf(origin.Where(key), v.String(), strings.Split(list, "|")...))
		}
		if limits := f.Tag.Get("range"); limits != "" {
			note(inRange(origin.Where(key), v, limits))
		}
		if v.Kind() == reflect.Map && v.Type().Elem().Kind() == reflect.Struct {
			for _, name := range v.MapKeys() {
				note(checkValues(v.MapIndex(name), key+"."+name.String()+".", origin))
			}
		}
	})
	return problem
}

// OneOf returns an error, which begins with where, if a value is not allowed.
func OneOf(where, got string, allowed ...string) error {
	if slices.Contains(allowed, got) {
		return nil
	}
	return fmt.Errorf("%s: %s", where, textutil.NotOneOf(got, allowed))
}

// inRange returns an error if v is outside of limits such as "1..1000", "1s.." or "..1GB".
func inRange(where string, v reflect.Value, limits string) error {
	low, high, _ := strings.Cut(limits, "..")
	got := numberOf(v)
	switch {
	case low != "" && high != "" && !(got >= parseLike(v, low) && got <= parseLike(v, high)):
		return fmt.Errorf("%s must be between %s and %s, got %v", where, low, high, v)
	case low != "" && !(got >= parseLike(v, low)):
		return fmt.Errorf("%s must be at least %s, got %v", where, low, v)
	case high != "" && !(got <= parseLike(v, high)):
		return fmt.Errorf("%s must be at most %s, got %v", where, high, v)
	}
	return nil
}

func numberOf(v reflect.Value) float64 {
	if v.CanFloat() {
		return v.Float()
	}
	if v.CanUint() {
		return float64(v.Uint())
	}
	return float64(v.Int())
}

// parseLike parses a limit in the form that values like v have.
func parseLike(v reflect.Value, limit string) (n float64) {
	parsed := reflect.New(v.Type())
	var err error
	switch p := parsed.Interface().(type) {
	case *time.Duration:
		*p, err = parseDuration(limit)
		n = float64(*p)
	case encoding.TextUnmarshaler:
		err = p.UnmarshalText([]byte(limit))
		n = numberOf(parsed.Elem())
	default:
		n, err = strconv.ParseFloat(limit, 64)
	}
	if err != nil {
		panic(fmt.Sprintf("config: the limit %q: %v", limit, err)) // of a tag
	}
	return n
}

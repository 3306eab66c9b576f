package demo

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"gazehound/internal/textutil"
)

// Parse sets fields of the struct that options points to by a text such as
// "sites=2000,hints=0.4", which names them by their spec tags, and holds them to their
// range tags; "default" leaves all as they are.
func Parse(spec string, options any) error {
	v := reflect.ValueOf(options).Elem()
	if spec == "default" {
		return InRange(v.Interface())
	}
	fields := map[string]reflect.Value{}
	for _, f := range reflect.VisibleFields(v.Type()) {
		if name := f.Tag.Get("spec"); name != "" {
			fields[name] = v.FieldByIndex(f.Index)
		}
	}
	for part := range strings.SplitSeq(spec, ",") {
		name, text, _ := strings.Cut(strings.TrimSpace(part), "=")
		field, ok := fields[name]
		if !ok {
			return errors.New(textutil.NotOneOf(name, slices.Sorted(maps.Keys(fields))))
		}
		if field.Kind() == reflect.Bool && text == "1" {
			text = "true"
		}
		if field.Kind() == reflect.String {
			field.SetString(text)
		} else if n, err := fmt.Sscanf(text+"$", "%v$", field.Addr().Interface()); n != 1 || err != nil {
			return fmt.Errorf("%s must be a number, got %q", name, text)
		}
	}
	return InRange(v.Interface())
}

// InRange returns an error that names the first field of a struct that is out of the
// range of its tag, such as 0..1, both included.
func InRange(options any) error {
	v := reflect.ValueOf(options)
	for _, f := range reflect.VisibleFields(v.Type()) {
		var low, high float64
		if n, _ := fmt.Sscanf(strings.ReplaceAll(f.Tag.Get("range"), "..", " "), "%g %g", &low, &high); n != 2 {
			continue
		}
		field := v.FieldByIndex(f.Index)
		if x := field.Convert(reflect.TypeFor[float64]()).Float(); !(x >= low && x <= high) {
			name := strings.ToLower(cmp.Or(f.Tag.Get("spec"), f.Name))
			return fmt.Errorf("%s must be %v to %v, got %v", name, low, high, field)
		}
	}
	return nil
}

// ParseOptions reads a made-up town such as "sites=2000,hints=0.4".
func ParseOptions(spec string) (Options, error) {
	o := DefaultOptions()
	if err := Parse(spec, &o); err != nil {
		return o, err
	}
	return o, o.Validate()
}

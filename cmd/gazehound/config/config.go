// Package config reads a configuration into a struct.
//
// The shipped file has every key with its default and a comment that explains it. The tags of the
// struct's fields have the keys and allowed values:
//
//	key:"max_pages"    name of the key, where it is not the field's name in lower case
//	range:"0..1000"    smallest and largest value, one of which may be missing, in the field's unit
//	oneof:"auto|none"  allowed values
//	flag:"place"       name of the flag, where it is not the key with dashes
//
// Values come from the shipped file, then from the user's files, the environment and flags; the
// last one counts.
package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"gazehound/internal/textutil"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"
	"gopkg.in/yaml.v3"
)

// Default is the origin of a default value.
const Default = "default"

// separator stands between the levels of a key of viper. It is neither a dot nor a colon, because
// keys below a map may have these themselves: www.a.example, [2001:db8::1]:8080.
const separator = "\x1f"

// A Schema is a configuration of type T.
type Schema[T any] struct {
	keys     []string        // section.key, in the order of T
	defaults map[string]any  // by key
	leafs    map[string]leaf // by key
}

// A leaf is a field of T that is no section.
type leaf struct {
	reflect.StructField
	value any    // the default, as YAML has it
	help  string // its comment
}

// New returns the schema of T, of which file is the shipped file. It fails if the two have
// different keys.
func New[T any](file []byte) (*Schema[T], error) {
	s := &Schema[T]{leafs: map[string]leaf{}}
	var none T
	walk(reflect.ValueOf(none), "", func(key string, f reflect.StructField, _ reflect.Value) {
		s.keys = append(s.keys, key)
		s.leafs[key] = leaf{StructField: f}
	})
	origin := Origin{}
	doc, err := s.check("config.yaml", file, origin)
	if err != nil {
		return nil, err
	}
	for _, key := range s.keys {
		if origin[key] == "" {
			return nil, fmt.Errorf("config.yaml does not show %s", key)
		}
		name, value := find(doc, strings.Split(key, "."))
		l := s.leafs[key]
		err := value.Decode(&l.value)
		if err != nil {
			return nil, fmt.Errorf("config.yaml: %s: %w", key, err)
		}
		l.help = strings.TrimPrefix(cmp.Or(value.LineComment, name.LineComment, name.HeadComment), "# ")
		s.leafs[key] = l
	}
	var d T
	if err := s.decode(s.viper(), &d); err != nil {
		return nil, fmt.Errorf("config.yaml: %w", err)
	}
	s.defaults = s.Values(&d)
	return s, nil
}

// find returns the nodes of a key and of its value.
func find(m *yaml.Node, path []string) (name, value *yaml.Node) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if strings.EqualFold(m.Content[i].Value, path[0]) {
			name, value = m.Content[i], m.Content[i+1]
		}
	}
	if len(path) > 1 {
		return find(value, path[1:])
	}
	return name, value
}

// walk calls fn for each field of v that is no section.
func walk(v reflect.Value, prefix string, fn func(key string, f reflect.StructField, v reflect.Value)) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		switch {
		case !f.IsExported():
		case f.Anonymous:
			walk(v.Field(i), prefix, fn)
		case f.Type.Kind() == reflect.Struct:
			walk(v.Field(i), prefix+keyOf(f)+".", fn)
		default:
			fn(prefix+keyOf(f), f, v.Field(i))
		}
	}
}

func keyOf(f reflect.StructField) string {
	return cmp.Or(f.Tag.Get("key"), strings.ToLower(f.Name))
}

// Values returns the values of a configuration by their keys.
func (s *Schema[T]) Values(c *T) map[string]any {
	values := map[string]any{}
	walk(reflect.ValueOf(*c), "", func(key string, _ reflect.StructField, v reflect.Value) {
		values[key] = v.Interface()
	})
	return values
}

// Given returns a configuration file with those of keys that flags give, all of one section, with their
// values in c; nil: there are none.
func (s *Schema[T]) Given(flags *pflag.FlagSet, c *T, section string, keys ...string) ([]byte, error) {
	values, given := s.Values(c), map[string]any{}
	flags.Visit(func(f *pflag.Flag) {
		name, ok := strings.CutPrefix(KeyOf(f), section+".")
		if ok && slices.Contains(keys, name) {
			given[name] = values[KeyOf(f)]
		}
	})
	if len(given) == 0 {
		return nil, nil
	}
	return yaml.Marshal(map[string]any{section: given})
}

// keyAnnotation is the annotation of a flag that holds its key.
const keyAnnotation = "key"

// AddFlags adds flags for keys, with the default and the comment of the shipped file. A comment may
// have the name of the flag's value between backquotes.
func (s *Schema[T]) AddFlags(f *pflag.FlagSet, keys ...string) {
	for _, key := range keys {
		l, ok := s.leafs[key]
		if !ok {
			panic("config: no key " + key)
		}
		name := flagOf(l.StructField, key)
		switch v := s.defaults[key].(type) {
		case bool:
			f.Bool(name, v, l.help)
		case int:
			f.Int(name, v, l.help)
		case int64:
			f.Int64(name, v, l.help)
		case uint64:
			f.Uint64(name, v, l.help)
		case float64:
			f.Float64(name, v, l.help)
		case time.Duration:
			f.Duration(name, v, l.help)
		case []string:
			f.StringArray(name, nil, l.help+" (repeatable)")
		default:
			f.String(name, fmt.Sprint(v), l.help)
		}
		Bind(f, name, key)
	}
}

// Bind binds a flag to a key.
func Bind(f *pflag.FlagSet, name, key string) {
	err := f.SetAnnotation(name, keyAnnotation, []string{key})
	if err != nil {
		panic(err)
	}
}

// Keys returns the keys of a section, given by the struct that holds it.
func Keys(section any) []string {
	var keys []string
	walk(reflect.ValueOf(section), "", func(key string, _ reflect.StructField, _ reflect.Value) {
		keys = append(keys, key)
	})
	return keys
}

// flagOf returns the name of the flag of a key.
func flagOf(f reflect.StructField, key string) string {
	last := key[strings.LastIndexByte(key, '.')+1:]
	return cmp.Or(f.Tag.Get("flag"), strings.ReplaceAll(last, "_", "-"))
}

// KeyOf returns the key of a flag, or "".
func KeyOf(f *pflag.Flag) string {
	if keys := f.Annotations[keyAnnotation]; len(keys) > 0 {
		return keys[0]
	}
	return ""
}

// An Origin is the source of each key's value: "config.yaml:14", the name of a variable, "--flag"
// or Default.
type Origin map[string]string

// Where returns a key with its origin, unless that is the default.
func (o Origin) Where(key string) string {
	if from := o[key]; from != "" && from != Default {
		return key + " (" + from + ")"
	}
	return key
}

// Set counts the keys that have another origin than Default, and names the files among these.
func (o Origin) Set() (keys int, files []string) {
	for _, from := range o {
		if from != Default {
			keys++
		}
		// before the line's number; a drive on Windows has a colon, too
		if i := strings.LastIndexByte(from, ':'); i >= 0 && !slices.Contains(files, from[:i]) {
			files = append(files, from[:i])
		}
	}
	slices.Sort(files)
	return keys, files
}

// A File is one of the user's files, or what was read from standard input.
type File struct {
	Name string // for messages
	Text []byte
}

// maxFile bounds a configuration file, in bytes.
const maxFile = 1 << 20

// ReadFiles reads configuration files; "-" is stdin. Missing or unreadable ones are skipped, except
// the one that the user named.
func ReadFiles(stdin io.Reader, given string, names ...string) (files []File, err error) {
	for _, name := range names {
		in := stdin
		if name != "-" {
			_, err := os.Stat(name)
			if name != given && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)) {
				continue
			}
			f, err := os.Open(name)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			in = f
		}
		text, err := io.ReadAll(io.LimitReader(in, maxFile+1))
		if err != nil {
			return nil, err
		}
		if len(text) > maxFile {
			return nil, fmt.Errorf("%s: larger than %d bytes, which is no configuration", name, maxFile)
		}
		files = append(files, File{Name: name, Text: text})
	}
	return files, nil
}

// Defaults returns the configuration of the shipped file.
func (s *Schema[T]) Defaults() T {
	var c T
	if err := s.decode(s.viper(), &c); err != nil {
		panic(err) // New has decoded them
	}
	return c
}

func (s *Schema[T]) viper() *viper.Viper {
	v := viper.NewWithOptions(viper.KeyDelimiter(separator))
	v.SetConfigType("yaml")
	for key, l := range s.leafs {
		v.SetDefault(deep(key), l.value)
	}
	return v
}

// deep returns a key as viper has it.
func deep(key string) string { return strings.ReplaceAll(key, ".", separator) }

// Load returns the configuration of the files, the weakest first, then the environment
// (GAZEHOUND_SECTION__KEY), then the flags of AddFlags that the user gave. Errors name the key, its
// origin and what is allowed.
func (s *Schema[T]) Load(files []File, flags *pflag.FlagSet) (*T, Origin, error) {
	v, origin := s.viper(), Origin{}
	for _, key := range s.keys {
		origin[key] = Default
	}
	for _, file := range files {
		doc, err := s.check(file.Name, file.Text, origin)
		if err != nil {
			return nil, nil, err
		}
		if doc == nil {
			continue
		}
		err = v.MergeConfig(bytes.NewReader(file.Text))
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", file.Name, err)
		}
	}
	err := s.checkEnvironment()
	if err != nil {
		return nil, nil, err
	}
	for _, key := range s.keys {
		name := variable(key)
		if value, ok := os.LookupEnv(name); ok {
			v.Set(deep(key), value)
			origin[key] = name
		}
	}
	if flags != nil {
		flags.Visit(func(f *pflag.Flag) {
			key := KeyOf(f)
			if key == "" {
				return
			}
			v.Set(deep(key), f.Value.String())
			if list, ok := f.Value.(pflag.SliceValue); ok {
				v.Set(deep(key), list.GetSlice())
			}
			origin[key] = "--" + f.Name
		})
	}
	c := new(T)
	err = s.decode(v, c)
	if err != nil {
		return nil, nil, fmt.Errorf("configuration: %s", decodeProblem(err, origin))
	}
	return c, origin, checkValues(reflect.ValueOf(*c), "", origin)
}

// variable returns the name of the environment variable for a key.
func variable(key string) string {
	return "GAZEHOUND_" + strings.ToUpper(strings.ReplaceAll(key, ".", "__"))
}

// checkEnvironment refuses variables that look like those of keys and are none: a misspelt delay would be ignored.
func (s *Schema[T]) checkEnvironment() error {
	var names []string
	almost := map[string]bool{} // with "_" in place of "__"
	for _, key := range s.keys {
		name := variable(key)
		names = append(names, name)
		almost[strings.ReplaceAll(name, "__", "_")] = true
	}
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		meant := strings.HasPrefix(name, "GAZEHOUND_") && strings.Contains(name, "__") || almost[name]
		if meant && !slices.Contains(names, name) {
			return fmt.Errorf("environment: unknown key %s.%s", name, textutil.DidYouMean(name, names))
		}
	}
	return nil
}

func (s *Schema[T]) decode(v *viper.Viper, c *T) error {
	return v.UnmarshalExact(c, func(d *mapstructure.DecoderConfig) {
		d.TagName, d.Squash = "key", true
		d.DecodeHook = mapstructure.ComposeDecodeHookFunc(
			durationHook, mapstructure.TextUnmarshallerHookFunc(), mapstructure.StringToSliceHookFunc(","))
	})
}

// durationHook parses durations; its error names the expected form.
func durationHook(from, to reflect.Type, value any) (any, error) {
	if to != reflect.TypeFor[time.Duration]() || from == to {
		return value, nil
	}
	return parseDuration(fmt.Sprint(value))
}

func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("must be a duration with a unit, such as 2s or 500ms, got %q", text)
	}
	return d, nil
}

var (
	decodedField = regexp.MustCompile(`'([\w.\[\]]+)'`)
	badNumber    = regexp.MustCompile(`cannot parse value as '(\w+)': strconv.*$`)
)

// decodeProblem names the key and origin of a value that has the wrong type.
func decodeProblem(err error, origin Origin) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	for key := range origin {
		for _, m := range decodedField.FindAllStringSubmatch(text, -1) {
			if strings.EqualFold(strings.ReplaceAll(m[1], "_", ""), strings.ReplaceAll(key, "_", "")) {
				text = strings.Replace(text, "'"+m[1]+"'", origin.Where(key), 1)
			}
		}
	}
	text = badNumber.ReplaceAllString(text, "wants a value of type $1")
	return strings.TrimPrefix(text, "decoding failed due to the following error(s): ")
}

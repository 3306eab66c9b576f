package export

import (
	"encoding/csv"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gazehound/index"
	"gazehound/internal/textutil"
)

// A column is one property of an address as text, under the name that it has
// in JSON.
type column struct {
	name   string
	field  int  // of Properties
	number bool // looks like a number and is none: "01067", "7-9"
}

// columns lists all properties but the tags of their kinds, in the order of Properties.
var columns = func() (all []column) {
	t := reflect.TypeFor[Properties]()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name != "" {
			all = append(all, column{name, i, t.Field(i).Tag.Get("cell") == "number"})
		}
	}
	return all
}()

// value writes the property as text; "" where there is nothing to say.
func (c column) value(p *Properties) string {
	switch v := reflect.ValueOf(p).Elem().Field(c.field).Interface().(type) {
	case string:
		return v
	case []string:
		if c.name == "@pages" {
			return strings.Join(v, " ")
		}
		return strings.Join(v, "; ")
	case bool:
		if v {
			return "true"
		}
	case *string:
		if v != nil {
			return *v
		}
	case time.Time:
		if !v.IsZero() {
			return v.Format(time.RFC3339)
		}
	case int:
		return strconv.Itoa(v)
	case float64:
		return decimal(v)
	}
	return ""
}

// decimal writes a number as JSON does, never with an exponent.
func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// columns returns those that the run writes.
func (r *run) columns() []column {
	if r.Evidence {
		return columns
	}
	return slices.DeleteFunc(slices.Clone(columns), func(c column) bool {
		return c.name == "@title" || c.name == "@evidence"
	})
}

// byteOrderMark makes Excel read UTF-8.
const byteOrderMark = "\ufeff"

// writeCSV writes a table (RFC 4180): lat, lon, and the columns. No cell is a
// formula; the names of the columns go without their "@" for that.
func writeCSV(r *run) error {
	columns := r.columns()
	head := []string{"lat", "lon"}
	if r.Datasette {
		head = []string{"latitude", "longitude"}
	}
	for _, c := range columns {
		head = append(head, strings.TrimPrefix(c.name, "@"))
	}
	if r.Excel {
		r.WriteString(byteOrderMark)
	}
	w := csv.NewWriter(r.Writer)
	w.UseCRLF = true
	w.Write(head)
	err := r.each(func(h *index.Hit) error {
		p := r.properties(h)
		row := []string{"", ""}
		if g := GeometryOf(h); g != nil {
			row[0], row[1] = decimal(g.Coordinates[1]), decimal(g.Coordinates[0])
		}
		for _, c := range columns {
			value := c.value(&p)
			if r.Excel && c.number && plain.MatchString(value) {
				value = `="` + value + `"` // Excel makes 1067 of 01067, and a date of 7-9
			} else {
				value = textutil.Guard(value)
			}
			row = append(row, value)
		}
		return w.Write(row)
	})
	if err != nil {
		return err
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// plain is what may stand in a formula that only keeps a number as it is.
var plain = regexp.MustCompile(`^[\pL\pN][\pL\pN ./-]*$`)

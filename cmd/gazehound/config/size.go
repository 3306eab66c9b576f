package config

import (
	"fmt"
	"strconv"
	"strings"
)

// A Size is a number of bytes, written "2MB" or "500 kB" (powers of 1000) or
// as a plain number.
type Size int64

var sizeUnits = []struct {
	name  string
	bytes float64
}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}}

// UnmarshalText parses a size.
func (s *Size) UnmarshalText(text []byte) error {
	number, factor := strings.ToUpper(strings.TrimSpace(string(text))), 1.0
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(number, u.name); ok {
			number, factor = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !(n >= 0 && n*factor <= 1e18) {
		return fmt.Errorf("must be a size such as 2MB or 1GB, got %q", text)
	}
	*s = Size(n * factor)
	return nil
}

// Set parses a flag's value.
func (s *Size) Set(text string) error { return s.UnmarshalText([]byte(text)) }

// Type names the kind of a flag's value.
func (s *Size) Type() string { return "size" }

// String writes s with the largest unit that divides it.
func (s Size) String() string {
	for _, u := range sizeUnits {
		if b := Size(u.bytes); s >= b && s%b == 0 {
			return fmt.Sprintf("%d%s", s/b, u.name)
		}
	}
	return "0"
}

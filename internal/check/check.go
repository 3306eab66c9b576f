// Package check has the findings of "gazehound doctor".
package check

import (
	"fmt"

	"gazehound/internal/textutil"
)

// The states of a finding.
const (
	OK   = "ok"
	Warn = "warn" // deserves a look
	Fail = "fail" // has to be fixed
)

// A Finding is the result of one check.
type Finding struct {
	Type  string `json:"type"` // "check"
	Name  string `json:"name"`
	State string `json:"state"`
	What  string `json:"what"`
	Do    string `json:"do,omitempty"` // what fixes it
}

func finding(state, name, do, format string, args []any) Finding {
	return Finding{"check", name, state, textutil.OneLine(fmt.Sprintf(format, args...)), textutil.OneLine(do)}
}

// Well returns a finding without a problem.
func Well(name, format string, args ...any) Finding { return finding(OK, name, "", format, args) }

// Doubt returns a warning; do is how to fix it, or "".
func Doubt(name, do, format string, args ...any) Finding {
	return finding(Warn, name, do, format, args)
}

// Broken returns a problem that must be fixed; do is how, or "".
func Broken(name, do, format string, args ...any) Finding {
	return finding(Fail, name, do, format, args)
}

// String is the finding in one line.
func (f Finding) String() string {
	line := fmt.Sprintf("%s %-10s %s", map[string]string{OK: "✓", Warn: "!", Fail: "✗"}[f.State], f.Name, f.What)
	if f.Do != "" {
		line += "   → " + f.Do
	}
	return line
}

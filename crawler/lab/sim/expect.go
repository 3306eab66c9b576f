package sim

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gazehound/internal/textutil"
)

// A Measured has been measured: a Comparison or a report.NodesComparison.
type Measured interface {
	// Value returns a metric of what is called name, after so many pages; 0: at
	// the end. ok is false where either is not known.
	Value(name, metric string, pages int) (v float64, ok bool)
}

// An Expectation is a comparison of numbers of a Measured, such as
// "adaptive.harvest > 1.5*breadth-first.harvest@5000".
type Expectation struct {
	Text   string
	parsed *ast.BinaryExpr
	values map[token.Pos]measuredValue
}

// A measuredValue is STRATEGY.METRIC, or STRATEGY.METRIC@PAGES.
type measuredValue struct {
	name, metric string
	pages        int
}

var measuredForm = regexp.MustCompile(`([\w-]*[A-Za-z_][\w-]*)\.([\w.-]+)(@\d*)?`)

// ParseExpectation reads an expectation: two sums of numbers and of
// NAME.METRIC or NAME.METRIC@PAGES, compared by <, <=, >, >= or ==, with
// + - * / and parentheses. Names hold minus signs, so a minus behind a name needs
// a space before it. names and metrics are those that may occur. Errors name the
// position, from 1.
func ParseExpectation(text string, names, metrics []string) (*Expectation, error) {
	// Go's parser reads the rest when each NAME.METRIC has become an identifier
	// of the same length.
	e := &Expectation{Text: text, values: map[token.Pos]measuredValue{}}
	plain := []byte(text)
	for _, m := range measuredForm.FindAllStringSubmatchIndex(text, -1) {
		v := measuredValue{name: text[m[2]:m[3]], metric: text[m[4]:m[5]]}
		if !slices.Contains(names, v.name) {
			return nil, expectError(text, m[2], "want one of the strategies %s", strings.Join(names, ", "))
		}
		if !slices.Contains(metrics, v.metric) {
			return nil, expectError(text, m[4], "want one of %s", strings.Join(metrics, ", "))
		}
		if m[6] >= 0 {
			var err error
			v.pages, err = strconv.Atoi(text[m[6]+1 : m[7]])
			if err != nil || v.pages < 1 || v.pages > math.MaxInt32 {
				return nil, expectError(text, m[6]+1, "want a number of pages, 1 or more")
			}
		}
		copy(plain[m[0]:m[1]], strings.Repeat("x", m[1]-m[0]))
		e.values[token.Pos(m[0]+1)] = v
	}
	x, err := parser.ParseExprFrom(token.NewFileSet(), "", plain, parser.SkipObjectResolution)
	var problems scanner.ErrorList
	if errors.As(err, &problems) {
		return nil, expectError(text, problems[0].Pos.Offset, "%s", problems[0].Msg)
	}
	var ok bool
	e.parsed, ok = x.(*ast.BinaryExpr)
	if !ok || comparison[e.parsed.Op] == nil {
		return nil, expectError(text, len(text), "want <, <=, >, >= or == between two numbers")
	}
	_, left := e.value(e.parsed.X, &Comparison{})
	_, right := e.value(e.parsed.Y, &Comparison{})
	return e, cmp.Or(left, right)
}

func expectError(text string, offset int, format string, args ...any) error {
	rest := "the end"
	if offset < len(text) {
		rest = fmt.Sprintf("%q", textutil.Clip(text[offset:], 30))
	}
	return fmt.Errorf("position %d: %s, got %s", offset+1, fmt.Sprintf(format, args...), rest)
}

var comparison = map[token.Token]func(a, b float64) bool{
	token.LEQ: func(a, b float64) bool { return a <= b },
	token.GEQ: func(a, b float64) bool { return a >= b },
	token.EQL: func(a, b float64) bool { return a == b },
	token.LSS: func(a, b float64) bool { return a < b },
	token.GTR: func(a, b float64) bool { return a > b },
}

var arithmetic = map[token.Token]func(a, b float64) float64{
	token.ADD: func(a, b float64) float64 { return a + b },
	token.SUB: func(a, b float64) float64 { return a - b },
	token.MUL: func(a, b float64) float64 { return a * b },
	token.QUO: func(a, b float64) float64 { return a / b },
}

// value calculates x; what was not measured is not a number. It returns an error for
// what is no arithmetic.
func (e *Expectation) value(x ast.Expr, c Measured) (float64, error) {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return e.value(x.X, c)
	case *ast.BinaryExpr:
		if of := arithmetic[x.Op]; of != nil {
			a, err := e.value(x.X, c)
			b, err2 := e.value(x.Y, c)
			return of(a, b), cmp.Or(err, err2)
		}
	case *ast.BasicLit:
		if v, err := strconv.ParseFloat(x.Value, 64); err == nil {
			return v, nil
		}
	case *ast.Ident:
		if v, ok := e.values[x.Pos()]; ok {
			if measured, ok := c.Value(v.name, v.metric, v.pages); ok {
				return measured, nil
			}
			return math.NaN(), nil
		}
	}
	return 0, expectError(e.Text, int(x.Pos())-1, "want a number, or STRATEGY.METRIC")
}

// Check reports whether the expectation holds for c, on means over all runs, and
// the two numbers. What divides by 0, or was not measured, holds never.
func (e *Expectation) Check(c Measured) (holds bool, left, right float64) {
	left, _ = e.value(e.parsed.X, c)
	right, _ = e.value(e.parsed.Y, c)
	finite := !math.IsNaN(left-right) && !math.IsInf(left, 0) && !math.IsInf(right, 0)
	return finite && comparison[e.parsed.Op](left, right), left, right
}

// Expectations are several, of one comparison.
type Expectations []*Expectation

// ParseExpectations parses several; see ParseExpectation.
func ParseExpectations(texts, names, metrics []string) (list Expectations, err error) {
	for _, text := range texts {
		e, err := ParseExpectation(text, names, metrics)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", textutil.OneLine(text), err)
		}
		list = append(list, e)
	}
	return list, nil
}

// Check reports which of them hold, and which are broken, with the values of both sides.
func (list Expectations) Check(c Measured) (hold, broken []string) {
	for _, e := range list {
		if holds, left, right := e.Check(c); holds {
			hold = append(hold, fmt.Sprintf("%s (%.6g, %.6g)", e.Text, left, right))
		} else {
			broken = append(broken, fmt.Sprintf("%s is false: %.6g and %.6g", e.Text, left, right))
		}
	}
	return hold, broken
}

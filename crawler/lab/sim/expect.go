package sim

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// An Expectation is a comparison of numbers of a Comparison, such as
// "adaptive.harvest > 1.5*breadth-first.harvest@5000".
type Expectation struct {
	Text        string
	left, right value
	holds       func(a, b float64) bool
}

// A Measured has been measured: a Comparison or a NodesComparison.
type Measured interface {
	Metric(name, metric string, n int) (e Estimate, ok bool)
}

// ParseNodesExpectation reads an expectation of a NodesComparison, such as
// "url.coverage >= 8*url-hash.coverage". names are those that may occur.
func ParseNodesExpectation(text string, names []string) (*Expectation, error) {
	return parseExpectation(text, names, NodesMetricNames())
}

// ParseExpectation reads an expectation:
//
//	expectation = sum ("<" | "<=" | ">" | ">=" | "==") sum
//	sum         = product {("+" | "-") product}
//	product     = atom {("*" | "/") atom}
//	atom        = number | STRATEGY "." METRIC ["@" PAGES] | "(" sum ")"
//
// Names hold minus signs, so a minus between names needs a space before it.
// strategies are the names that may occur. Errors name the position, from 1.
func ParseExpectation(text string, strategies []string) (*Expectation, error) {
	return parseExpectation(text, strategies, MetricNames())
}

func parseExpectation(text string, strategies, metrics []string) (*Expectation, error) {
	p := &expectParser{text: text, strategies: strategies, metrics: metrics}
	e := &Expectation{Text: text}
	var err error
	if e.left, err = p.sum(0); err != nil {
		return nil, err
	}
	p.space()
	comparisons := []struct {
		sign  string
		holds func(a, b float64) bool
	}{
		{"<=", func(a, b float64) bool { return a <= b }}, {">=", func(a, b float64) bool { return a >= b }},
		{"==", func(a, b float64) bool { return a == b }},
		{"<", func(a, b float64) bool { return a < b }}, {">", func(a, b float64) bool { return a > b }},
	}
	for _, c := range comparisons {
		if strings.HasPrefix(p.text[p.at:], c.sign) {
			p.at += len(c.sign)
			e.holds = c.holds
			break
		}
	}
	if e.holds == nil {
		return nil, p.fail("want <, <=, >, >= or ==")
	}
	if e.right, err = p.sum(0); err != nil {
		return nil, err
	}
	if p.space(); p.at < len(p.text) {
		return nil, p.fail("want the end")
	}
	return e, nil
}

// Check tells whether the expectation holds for c, on means over all runs, and
// the two numbers. What divides by 0 holds never.
func (e *Expectation) Check(c Measured) (holds bool, left, right float64, err error) {
	if left, err = e.left(c); err != nil {
		return false, 0, 0, err
	}
	if right, err = e.right(c); err != nil {
		return false, 0, 0, err
	}
	finite := !math.IsNaN(left) && !math.IsInf(left, 0) && !math.IsNaN(right) && !math.IsInf(right, 0)
	return finite && e.holds(left, right), left, right, nil
}

type expectParser struct {
	text       string
	at         int
	strategies []string
	metrics    []string
}

const maxNesting = 100 // parentheses

func (p *expectParser) fail(format string, args ...any) error {
	rest := "the end"
	if p.at < len(p.text) {
		rest = fmt.Sprintf("%q", cutText([]byte(p.text[p.at:]), 30))
	}
	return fmt.Errorf("position %d: %s, got %s", p.at+1, fmt.Sprintf(format, args...), rest)
}

func (p *expectParser) space() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

func (p *expectParser) sign(signs string) byte {
	p.space()
	if p.at < len(p.text) && strings.IndexByte(signs, p.text[p.at]) >= 0 {
		p.at++
		return p.text[p.at-1]
	}
	return 0
}

type value = func(c Measured) (float64, error)

func (p *expectParser) sum(depth int) (value, error) {
	return p.chain("+-", func() (value, error) {
		return p.chain("*/", func() (value, error) { return p.atom(depth) })
	})
}

// chain reads operands with signs of one rank between them.
func (p *expectParser) chain(signs string, operand func() (value, error)) (value, error) {
	left, err := operand()
	for err == nil {
		sign := p.sign(signs)
		if sign == 0 {
			return left, nil
		}
		var right value
		if right, err = operand(); err == nil {
			left = combine(sign, left, right)
		}
	}
	return nil, err
}

func combine(sign byte, left, right value) value {
	return func(c Measured) (float64, error) {
		a, err := left(c)
		if err != nil {
			return 0, err
		}
		b, err := right(c)
		switch sign {
		case '+':
			return a + b, err
		case '-':
			return a - b, err
		case '*':
			return a * b, err
		}
		return a / b, err
	}
}

func (p *expectParser) atom(depth int) (value, error) {
	if p.sign("(") != 0 {
		if depth == maxNesting {
			return nil, p.fail("want at most %d parentheses within one another", maxNesting)
		}
		v, err := p.sum(depth + 1)
		if err != nil {
			return nil, err
		}
		if p.sign(")") == 0 {
			return nil, p.fail("want )")
		}
		return v, nil
	}
	start := p.at
	for p.at < len(p.text) && (isNameByte(p.text[p.at])) {
		p.at++
	}
	word := p.text[start:p.at]
	if number, err := strconv.ParseFloat(word, 64); err == nil && word[0] != '-' && !math.IsInf(number, 0) && !math.IsNaN(number) {
		return func(Measured) (float64, error) { return number, nil }, nil
	}
	order, metric, ok := strings.Cut(word, ".")
	if !ok {
		p.at = start
		return nil, p.fail("want a number, or STRATEGY.METRIC")
	}
	if !slices.Contains(p.strategies, order) {
		p.at = start
		return nil, p.fail("want one of the strategies %s", strings.Join(p.strategies, ", "))
	}
	if !slices.Contains(p.metrics, metric) {
		p.at = start + len(order) + 1
		return nil, p.fail("want one of %s", strings.Join(p.metrics, ", "))
	}
	n := 0
	if p.at < len(p.text) && p.text[p.at] == '@' {
		p.at++
		start := p.at
		for p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9' {
			p.at++
		}
		var err error
		if n, err = strconv.Atoi(p.text[start:p.at]); err != nil || n < 1 || n > math.MaxInt32 {
			p.at = start
			return nil, p.fail("want a number of pages, 1 or more")
		}
	}
	return func(c Measured) (float64, error) {
		e, ok := c.Metric(order, metric, n)
		if !ok {
			return 0, fmt.Errorf("sim: %s.%s was not measured", order, metric)
		}
		return e.Mean, nil
	}, nil
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_'
}

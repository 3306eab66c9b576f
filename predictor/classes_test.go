package predictor

import (
	"math"
	"strings"
	"testing"
)

// The textbook's example of multinomial naive Bayes, by hand: documents
// "Chinese Beijing Chinese", "Chinese Chinese Shanghai", "Chinese Macao" in one
// class and "Tokyo Japan Chinese" in the other.
func TestClasses(t *testing.T) {
	c, err := NewClasses("china", "other")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"chinese beijing chinese", "chinese chinese shanghai", "chinese macao"} {
		c.Learn(0, strings.Fields(d))
	}
	c.Learn(1, strings.Fields("tokyo japan chinese"))
	got := c.Scores(strings.Fields("chinese chinese chinese tokyo japan unseen"))
	// 8 and 3 words, 6 in the vocabulary and one place for all others.
	want := []float64{
		math.Log(4./6) + 3*math.Log(6./15) + 2*math.Log(1./15),
		math.Log(2./6) + 3*math.Log(2./10) + 2*math.Log(2./10),
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Errorf("class %d: %v, want %v", i, got[i], want[i])
		}
	}
	if c.Best([]string{"beijing"}) != 0 || c.Best([]string{"tokyo"}) != 1 || c.Best(nil) != 0 || c.Best([]string{"never"}) != 0 {
		t.Error("the best class is another")
	}
	for _, names := range [][]string{{"a"}, {"a", "a"}} {
		if _, err := NewClasses(names...); err == nil {
			t.Errorf("NewClasses(%q): no error", names)
		}
	}
	empty, _ := NewClasses("a", "b")
	for _, s := range empty.Scores([]string{"x"}) {
		if math.IsNaN(s) || math.IsInf(s, 0) {
			t.Errorf("a classifier that learned nothing answers %v", s)
		}
	}
}

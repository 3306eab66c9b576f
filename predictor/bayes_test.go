package predictor

import "testing"

func TestLearn(t *testing.T) {
	m, err := NewModel(DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	contact := Terms(Link{Host: "shop.example", Path: "/kontakt.html", Anchor: "Kontakt"})
	news := Terms(Link{Host: "shop.example", Path: "/news/1.html", Anchor: "Neues"})
	for range 10 {
		m.Learn([][]string{contact, news}, true)
		m.Learn([][]string{news, contact}, false)
	}
	if c, n := m.Score(contact), m.Score(news); c[0] <= n[0] || c[1] >= n[1] || c[2] != 0 || n[2] != 0 {
		t.Errorf("Score(contact) = %v, Score(news) = %v", c, n)
	}
}

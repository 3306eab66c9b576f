package nugget

import "testing"

// In turn one agent at a time may fetch, and after its last part it has to say that it has no more;
// otherwise the better half of all parts may be fetched at once.
func TestRound(t *testing.T) {
	const parts = 2
	for _, inTurn := range []bool{true, false} {
		rounds := make([]*Round, 3)
		for i := range rounds {
			level := .9 - .3*float64(i)
			a, err := NewAgent(Format{Agents: 3, Parts: parts, Lambda: 8}, i, []float64{level, level, level, level})
			if err != nil {
				t.Fatal(err)
			}
			rounds[i] = &Round{Agent: a, InTurn: inTurn}
		}
		publish := func(from int) {
			n, some := rounds[from].Publish()
			for i, r := range rounds {
				switch {
				case i == from:
				case !some:
					r.Empty(from)
				default:
					if err := r.Receive(n); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		for i := range rounds {
			publish(i)
		}
		var order, pages [3]int
		for step := 1; !rounds[0].Over(); step++ {
			next, granted := -1, 0
			for i, r := range rounds {
				_, some, again := r.Settle()
				pages[i] += some
				if some > 0 {
					order[i] = step
					granted++
				}
				if again || r.Due {
					next, r.Due = i, false
				}
			}
			if inTurn && granted != 1 {
				t.Errorf("in turn, step %d: %d agents may fetch", step, granted)
			}
			if next >= 0 {
				publish(next)
			}
		}
		want, half := [3]int{4, 4, 4}, [3]int{4, 2, 0}
		if !inTurn {
			want = half
		}
		if pages != want || inTurn && order != [3]int{2, 4, 6} {
			t.Errorf("in turn %v: pages %v, want %v, the last at steps %v", inTurn, pages, want, order)
		}
	}
}

package nugget

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The sizes of the paper's figures 5 and 6, λ = 4: those of 16 agents with 4
// parts and of 4 agents with 64 parts are about the same, as its text says.
func TestOverhead(t *testing.T) {
	for _, tt := range []struct{ agents, parts, bits, overhead int }{
		{1, 4, 7, 0}, {2, 4, 8, 64}, {4, 4, 9, 432}, {8, 4, 10, 2240}, {16, 4, 11, 10560},
		{4, 1, 7, 84}, {4, 64, 13, 9984}, {4, 256, 15, 46080},
	} {
		f := Format{Agents: tt.agents, Parts: tt.parts, Lambda: 4}
		if f.Bits() != tt.bits || f.Overhead() != tt.overhead {
			t.Errorf("%+v: %d bits and %d in all, want %d and %d", f, f.Bits(), f.Overhead(), tt.bits, tt.overhead)
		}
	}
}

// queues draws the sorted importance of several agents' URLs.
func queues(t *rapid.T, most int) [][]float64 {
	all := make([][]float64, rapid.IntRange(1, 6).Draw(t, "agents"))
	for i := range all {
		all[i] = rapid.SliceOfN(rapid.Float64Range(0, 1), 0, most).Draw(t, "importance")
		slices.SortFunc(all[i], func(a, b float64) int {
			if a > b {
				return -1
			}
			return 1
		})
	}
	return all
}

// Every part has one turn, each agent's parts in order, and none before a better one that waits.
// No more bits are sent than equation 8 says, and exactly as many if all agents have all parts.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := queues(t, 30)
		f := Format{Agents: len(all), Parts: rapid.IntRange(1, 8).Draw(t, "parts"), Lambda: rapid.IntRange(1, 20).Draw(t, "lambda")}
		turns, sent, err := Order(f, all)
		if err != nil {
			t.Fatal(err)
		}
		full, want := true, 0
		next := make([]int, len(all))
		parts := make([]int, len(all))
		for i, q := range all {
			parts[i] = min(f.Parts, len(q))
			want += parts[i]
			full = full && parts[i] == f.Parts
		}
		if len(turns) != want {
			t.Fatalf("%d turns, want %d", len(turns), want)
		}
		mean := func(agent, part int) uint64 {
			from, to := Cut(len(all[agent]), parts[agent], part)
			sum := 0.0
			for _, v := range all[agent][from:to] {
				sum += v
			}
			return f.Quantise(sum / float64(to-from))
		}
		for _, n := range turns {
			if n.Part != next[n.Agent] || n.Last != (n.Part == parts[n.Agent]-1) {
				t.Fatalf("turn %+v, want part %d of it", n, next[n.Agent])
			}
			for other := range all {
				if next[other] < parts[other] && mean(other, next[other]) > n.Mean {
					t.Fatalf("%+v had a turn before part %d of agent %d with %d", n, next[other], other, mean(other, next[other]))
				}
			}
			next[n.Agent]++
		}
		if sent > f.Overhead() || full && sent != f.Overhead() {
			t.Fatalf("%d bits were sent, equation 8 says %d", sent, f.Overhead())
		}
	})
}

// Agents with equal queues take turns.
func TestEqualAgents(t *testing.T) {
	turns, _, err := Order(Format{Parts: 3, Lambda: 8}, [][]float64{{.5, .5, .5}, {.5, .5, .5}, {.5, .5, .5}})
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range turns {
		if n.Agent != i%3 || n.Part != i/3 {
			t.Errorf("turn %d is part %d of agent %d", i, n.Part, n.Agent)
		}
	}
	if len(turns) != 9 {
		t.Errorf("%d turns", len(turns))
	}
}

func TestPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Format{Agents: rapid.IntRange(1, 100).Draw(t, "m"), Parts: rapid.IntRange(1, 300).Draw(t, "l"), Lambda: rapid.IntRange(1, 40).Draw(t, "lambda")}
		n := Nugget{Last: rapid.Bool().Draw(t, "last"), Agent: rapid.IntRange(0, f.Agents-1).Draw(t, "agent"), Part: rapid.IntRange(0, f.Parts-1).Draw(t, "part"),
			Mean: f.Quantise(rapid.Float64().Draw(t, "mean"))}
		word := f.Pack(n)
		if f.Bits() < 64 && word>>f.Bits() != 0 {
			t.Fatalf("%+v takes more than %d bits", n, f.Bits())
		}
		if got, err := f.Unpack(word); err != nil || got != n {
			t.Fatalf("%+v came back as %+v, %v", n, got, err)
		}
	})
	f := Format{Agents: 3, Parts: 1, Lambda: 4}
	if _, err := f.Unpack(f.Pack(Nugget{Agent: 3})); err == nil {
		t.Error("a fourth agent of three was read")
	}
	if _, err := f.Unpack(math.MaxUint64); err == nil {
		t.Error("a word of ones was read")
	}
}

func TestHostileNuggets(t *testing.T) {
	f := Format{Agents: 3, Parts: 4, Lambda: 8}
	a, err := NewAgent(f, 0, []float64{1, .5, .2, .1, .1})
	if err != nil {
		t.Fatal(err)
	}
	a.Publish()
	if _, ok := a.Turn(); ok {
		t.Error("a turn before the others were heard")
	}
	if err := a.Receive(Nugget{Agent: 1, Part: 1, Mean: 255}); !errors.Is(err, ErrOrder) { // an agent that accepts it would get another order than one that received the first
		t.Errorf("a part after one that was lost: %v", err)
	}
	if err := a.Receive(Nugget{Agent: 1, Mean: 255}); err != nil {
		t.Fatal(err)
	}
	for _, n := range []Nugget{{Agent: 0}, {Agent: 1, Part: 1}, {Agent: 7}, {Agent: -1}} {
		if err := a.Receive(n); !errors.Is(err, ErrOrder) {
			t.Errorf("%+v: %v", n, err)
		}
	}
	for _, bad := range []func() error{
		func() error { _, err := NewAgent(f, 3, nil); return err },
		func() error { _, err := NewAgent(f, 0, []float64{.1, .2}); return err },
		func() error { _, err := NewAgent(f, 0, []float64{math.NaN()}); return err },
		func() error { _, err := NewAgent(Format{Agents: 1, Parts: 1}, 0, nil); return err },
		func() error { _, err := NewAgent(Format{Parts: 1, Lambda: 4}, 0, nil); return err },
	} {
		if bad() == nil {
			t.Error("no error")
		}
	}
	if q := f.Quantise(math.NaN()); q != 0 {
		t.Errorf("NaN is %d", q)
	}
}

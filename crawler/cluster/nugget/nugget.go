// Package nugget puts the queues of parallel agents into one order without a
// coordinator (Ahmadi-Abkenari & Selamat 2010, section 8, equations 8 and 9).
//
// Each agent sorts the K URLs of its frontier by importance, cuts them into L parts and sends all
// others the mean importance of its foremost part, in a nugget of a few bits. All agents see the
// same nuggets and so agree whose part is the best: that agent fetches it and sends the mean of
// its next part.
package nugget

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// A Nugget is an agent's summary of one part of its queue.
type Nugget struct {
	Last  bool   // the part is the agent's last: the flag bit
	Agent int    // 0 to m-1
	Part  int    // 0 to L-1
	Mean  uint64 // mean importance, in steps of 1/(2^λ-1): see Quantise
}

// A Format is the sizes on which nuggets depend.
type Format struct {
	Agents int // m, at least 1
	Parts  int // L, at least 1
	Lambda int // bits of the mean, 1 to 52
}

// Validate returns an error for a size out of range.
func (f Format) Validate() error {
	switch {
	case f.Agents < 1 || f.Parts < 1:
		return fmt.Errorf("nugget: agents and parts must be at least 1, got %d and %d", f.Agents, f.Parts)
	case f.Lambda < 1 || f.Lambda > 52:
		return fmt.Errorf("nugget: a mean has 1 to 52 bits, got %d", f.Lambda)
	case f.Bits() > 64:
		return fmt.Errorf("nugget: %d agents, %d parts and %d bits of a mean make nuggets of %d bits; at most 64",
			f.Agents, f.Parts, f.Lambda, f.Bits())
	}
	return nil
}

// Bits is the size of one nugget: n = 1 + λ + log2(m·L) bits (equation 9),
// the logarithm rounded up.
func (f Format) Bits() int { return 1 + f.Lambda + f.position() }

// position is the number of bits that identify a part of an agent.
func (f Format) position() int { return bits.Len(uint(f.Agents*f.Parts - 1)) }

// Overhead is the size of all nuggets that a whole order takes: n·m·(m−1)·L
// bits (equation 8).
func (f Format) Overhead() int { return f.Bits() * f.Agents * (f.Agents - 1) * f.Parts }

// Quantise returns a mean in [0, 1] in λ bits; what is outside is cut off and
// NaN is 0.
func (f Format) Quantise(mean float64) uint64 {
	steps := float64(uint64(1)<<f.Lambda - 1)
	if !(mean > 0) {
		return 0
	}
	return uint64(math.Round(min(mean, 1) * steps))
}

// Pack returns a nugget as its bits, the flag first.
func (f Format) Pack(n Nugget) uint64 {
	word := uint64(n.Agent*f.Parts + n.Part)
	if n.Last {
		word |= 1 << f.position()
	}
	return word<<f.Lambda | n.Mean
}

// Unpack reads what Pack wrote.
func (f Format) Unpack(word uint64) (Nugget, error) {
	n := Nugget{Mean: word & (1<<f.Lambda - 1)}
	word >>= f.Lambda
	at := word & (1<<f.position() - 1)
	flag := word >> f.position()
	if at >= uint64(f.Agents*f.Parts) || flag > 1 {
		return Nugget{}, fmt.Errorf("nugget: no part of %d agents with %d parts", f.Agents, f.Parts)
	}
	n.Agent, n.Part, n.Last = int(at)/f.Parts, int(at)%f.Parts, flag == 1
	return n, nil
}

// A Count is the cost of agreeing on the order. Bits are those received from other nodes; the
// sum over all nodes is that of equation 8.
type Count struct {
	Rounds    int64 `json:"rounds"`    // that were agreed on
	Abandoned int64 `json:"abandoned"` // rounds that a later one overtook
	Nuggets   int64 `json:"nuggets"`   // received from other nodes
	Bits      int64 `json:"bits"`      // of these, equation 9
	Formula   int64 `json:"formula"`   // this node's m-th of what equation 8 says for the rounds that were agreed on
	Bytes     int64 `json:"bytes"`     // of the messages that carried them, with subject and framing
	Turns     int64 `json:"turns"`     // parts whose turn came
	Impatient int64 `json:"impatient"` // parts fetched out of order, after Patience
}

// Add returns the sum of both.
func (c Count) Add(d Count) Count {
	return Count{c.Rounds + d.Rounds, c.Abandoned + d.Abandoned, c.Nuggets + d.Nuggets,
		c.Bits + d.Bits, c.Formula + d.Formula,
		c.Bytes + d.Bytes, c.Turns + d.Turns, c.Impatient + d.Impatient}
}

// An Agent is one participant. It is not safe for concurrent use.
type Agent struct {
	f     Format
	id    int
	means []float64 // of the own parts
	sizes []int     // of the own parts, in URLs
	next  []int     // the part that every agent announces next
	now   []*Nugget // the latest of every agent; nil: none received yet
	done  []bool    // agents whose last part was served
}

// NewAgent makes agent id with the importance of its K URLs, best first, each
// in [0, 1]. It has f.Parts parts as even as possible; an agent with fewer
// URLs than parts has one part a URL.
func NewAgent(f Format, id int, importance []float64) (*Agent, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	if id < 0 || id >= f.Agents {
		return nil, fmt.Errorf("nugget: agent %d of %d", id, f.Agents)
	}
	for i, v := range importance {
		if !(v >= 0 && v <= 1) || i > 0 && v > importance[i-1] {
			return nil, fmt.Errorf("nugget: importance must fall from 1 to 0, number %d is %v", i, v)
		}
	}
	a := &Agent{f: f, id: id, next: make([]int, f.Agents), now: make([]*Nugget, f.Agents),
		done: make([]bool, f.Agents)}
	parts := min(f.Parts, len(importance))
	for p := range parts {
		from, to := Cut(len(importance), parts, p)
		sum := 0.0
		for _, v := range importance[from:to] {
			sum += v
		}
		a.means, a.sizes = append(a.means, sum/float64(to-from)), append(a.sizes, to-from)
	}
	return a, nil
}

// Cut returns where part p of n URLs in so many parts begins and ends.
func Cut(n, parts, p int) (from, to int) { return n * p / parts, n * (p + 1) / parts }

// Publish returns the nugget of the agent's foremost part, and records it as received; false when
// no part is left.
func (a *Agent) Publish() (Nugget, bool) {
	part := a.next[a.id]
	if part >= len(a.means) {
		a.done[a.id] = true
		return Nugget{}, false
	}
	n := Nugget{Last: part == len(a.means)-1, Agent: a.id, Part: part, Mean: a.f.Quantise(a.means[part])}
	a.next[a.id]++
	a.now[a.id] = &n
	return n, true
}

// ErrOrder means that a nugget came out of order: its agent announced a part before the turn of
// the previous one, or the previous nugget was lost.
var ErrOrder = errors.New("nugget: nugget out of order")

// Receive processes a nugget of another agent.
func (a *Agent) Receive(n Nugget) error {
	if n.Agent < 0 || n.Agent >= a.f.Agents || n.Agent == a.id || a.done[n.Agent] ||
		a.now[n.Agent] != nil || n.Part != a.next[n.Agent] {
		return fmt.Errorf("%w: part %d of agent %d", ErrOrder, n.Part, n.Agent)
	}
	a.now[n.Agent] = &n
	a.next[n.Agent]++
	return nil
}

// Empty records that another agent has no URLs at all.
func (a *Agent) Empty(agent int) { a.done[agent] = true }

// Turn returns the next part: the one with the best mean; of several the one with the lowest
// number, so that equal agents alternate; of these the first agent's. It is false while a nugget
// is awaited. All agents that have received the same nuggets return the same. Each call that
// returns true uses the turn up: its agent publishes again.
func (a *Agent) Turn() (n Nugget, ok bool) {
	best := -1
	for i := range a.now {
		switch {
		case a.done[i]:
		case a.now[i] == nil:
			return Nugget{}, false
		case best < 0 || a.now[i].Mean > a.now[best].Mean ||
			a.now[i].Mean == a.now[best].Mean && a.now[i].Part < a.now[best].Part:
			best = i
		}
	}
	if best < 0 {
		return Nugget{}, false
	}
	n = *a.now[best]
	a.now[best] = nil
	if n.Last {
		a.done[best] = true
	}
	return n, true
}

// Over reports whether every part of every agent was served.
func (a *Agent) Over() bool {
	for _, d := range a.done {
		if !d {
			return false
		}
	}
	return true
}

// Order lets agents with these queues agree on one order within this process, and returns the
// parts in their order and the bits sent between agents.
func Order(f Format, queues [][]float64) (turns []Nugget, sent int, err error) {
	f.Agents = len(queues)
	agents := make([]*Agent, len(queues))
	for i, q := range queues {
		agents[i], err = NewAgent(f, i, q)
		if err != nil {
			return nil, 0, err
		}
	}
	publish := func(i int) error {
		n, ok := agents[i].Publish()
		for j, other := range agents {
			switch {
			case j == i:
			case !ok:
				other.Empty(i)
			default:
				sent += f.Bits()
				heard, err := f.Unpack(f.Pack(n))
				if err == nil {
					err = other.Receive(heard)
				}
				if err != nil {
					return err
				}
			}
		}
		return nil
	}
	for i := range agents {
		if err := publish(i); err != nil {
			return nil, 0, err
		}
	}
	for len(agents) > 0 && !agents[0].Over() {
		var turn Nugget
		for i, a := range agents {
			n, ok := a.Turn()
			if !ok || i > 0 && n != turn {
				return nil, 0, fmt.Errorf("nugget: agent %d says %+v, agent 0 says %+v", i, n, turn)
			}
			turn = n
		}
		turns = append(turns, turn)
		if !turn.Last {
			if err := publish(turn.Agent); err != nil {
				return nil, 0, err
			}
		}
	}
	return turns, sent, nil
}

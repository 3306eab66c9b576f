package demo

// A dice is a small deterministic source of choices (splitmix64). The same
// topic and numbers give the same choices in every version of Go.
type dice struct{ state uint64 }

// The topics keep choices apart, so that one more choice in one of them does
// not change the others.
const (
	topicPlaces uint64 = iota + 1
	topicStreets
	topicHouses
	topicSites
	topicPage
	topicText
	topicItem
	topicSeeds
	topicListed
	topicTrap
	topicLanguage
	topicLand
	topicMention
)

func (t *Town) dice(topic uint64, numbers ...uint64) dice {
	d := dice{t.o.Seed*0x9e3779b97f4a7c15 + topic}
	d.state = d.next()
	for _, n := range numbers {
		d.state ^= n * 0xd6e8feb86659fd93
		d.state = d.next()
	}
	return d
}

func (d *dice) next() uint64 {
	d.state += 0x9e3779b97f4a7c15
	z := d.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// n returns a number from 0 to k-1.
func (d *dice) n(k int) int { return int(d.next() >> 1 % uint64(k)) }

// between returns a number from low to high.
func (d *dice) between(low, high int) int { return low + d.n(high-low+1) }

// share returns a number from 0 to 1.
func (d *dice) share() float64 { return float64(d.next()>>11) / (1 << 53) }

// chance is true with probability p.
func (d *dice) chance(p float64) bool { return d.share() < p }

func pick[T any](d *dice, list []T) T { return list[d.n(len(list))] }

// shuffled returns a copy of list in another order.
func shuffled[T any](d *dice, list []T) []T {
	out := append([]T(nil), list...)
	for i := len(out) - 1; i > 0; i-- {
		j := d.n(i + 1)
		out[i], out[j] = out[j], out[i]
	}
	return out
}

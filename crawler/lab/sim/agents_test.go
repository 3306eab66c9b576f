package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gazehound/crawler/cluster"
	"gazehound/crawler/cluster/nugget"
	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/sim"
	"gazehound/crawler/order"
)

// An evenFirst knows that the pages of sites with an even number are good, the lower the better.
type evenFirst struct{ order.BreadthFirst }

func (evenFirst) Score(e *frontier.Entry) (float64, bool) {
	var site, page int
	if _, err := fmt.Sscanf(e.URL.String(), "http://site%d.example/%d", &site, &page); err != nil {
		return 1, true // the hub
	}
	return .9 - .8*float64(site%2) - .01*float64(page), true
}

// numberedSites returns a web of so many sites of 31 pages each, the even ones relevant, with a hub that
// links to them.
func numberedSites(t *testing.T, sites int) *sim.Web {
	line := func(url string, relevant bool, links []string) string {
		return fmt.Sprintf(`{"url":"%s","page":true,"relevant":%v,"bytes":1000,"links":[["%s"]]}`,
			url, relevant, strings.Join(links, `"],["`))
	}
	var roots, lines []string
	for i := range sites {
		root := fmt.Sprintf("http://site%d.example/", i)
		var pages []string
		for p := range 30 {
			pages = append(pages, fmt.Sprint(root, p+1))
			lines = append(lines, line(pages[p], i%2 == 0, []string{root + "0"}))
		}
		roots, lines = append(roots, root+"0"), append(lines, line(root+"0", i%2 == 0, pages))
	}
	return trace(t, append([]string{head, line("http://a.example/0", false, roots)}, lines...)...)
}

// Several agents visit the whole web once, whatever the order. By their own queues they take the less
// time the more there are, and fetch bad pages while others have good ones; in turn they fetch about what
// one alone does, in about its time.
func TestAgents(t *testing.T) {
	const pages = 1 + 8*31
	web := numberedSites(t, 8)
	format := nugget.Format{Agents: 3, Parts: 4, Lambda: 8}
	crawl := func(share sim.Sharing, delay time.Duration) *sim.Result {
		t.Helper()
		r, err := sim.RunAgents(t.Context(), web, func() (order.Strategy, error) { return evenFirst{}, nil },
			sim.Options{Latency: time.Second, Seed: 1, PerHost: 1, Delay: delay}, share)
		if err != nil {
			t.Fatal(err)
		}
		if r.Pages != pages || r.Found(pages) != 4*31 {
			t.Errorf("%+v: %d pages, %d relevant, want %d and %d", share, r.Pages, r.Found(pages), pages, 4*31)
		}
		if of := share.OneOrder; r.Bits%int64(format.Bits()) != 0 || (r.Bits > 0) != (of != nil) {
			t.Errorf("%+v: %d bits are no nuggets of %d", share, r.Bits, format.Bits())
		}
		return r
	}
	by := func(how *cluster.Order) *sim.Result {
		share := sim.Sharing{Agents: format.Agents, Partition: partition.SiteHash, OneOrder: how}
		if polite := crawl(share, 3*time.Second); polite.Time < 31*4*time.Second {
			t.Errorf("%+v: a host with 31 pages every 4 s took %v", share, polite.Time)
		}
		return crawl(share, 0)
	}
	of := cluster.Order{URLs: 16, Parts: format.Parts, Lambda: format.Lambda}
	inTurn, rarely, inTurnRarely := of, of, of
	inTurn.InTurn, inTurnRarely.InTurn = true, true
	rarely.Every, inTurnRarely.Every = 20*time.Second, 20*time.Second
	alone, own, nuggets, turns := crawl(sim.Sharing{}, 0), by(nil), by(&of), by(&inTurn)
	a, b, c, d := alone.Found(100), nuggets.Found(100), turns.Found(100), own.Found(100)
	if a != 99 || b < 95 || c > 85 || d >= c {
		t.Errorf("of 100 pages are relevant: alone %d, nuggets %d, turns %d, own %d", a, b, c, d)
	}
	if own.Time > nuggets.Time || own.Time > alone.Time*2/3 || turns.Time > alone.Time || turns.Time < alone.Time*9/10 {
		t.Errorf("it takes: own %v, nuggets %v, turns %v, alone %v", own.Time, nuggets.Time, turns.Time, alone.Time)
	}
	for name, r := range map[string][2]*sim.Result{
		"nuggets": {nuggets, by(&rarely)}, "turns": {turns, by(&inTurnRarely)},
	} {
		if r[1].Time <= r[0].Time || r[1].Bits > r[0].Bits {
			t.Errorf("%s every 20 s: %v and %d bits, at once %v and %d bits",
				name, r[1].Time, r[1].Bits, r[0].Time, r[0].Bits)
		}
	}
	if again := by(&of); !slices.Equal(again.Finds, nuggets.Finds) || again.Bits != nuggets.Bits {
		t.Errorf("the same crawl again found at %v, before at %v", again.Finds, nuggets.Finds)
	}
}

// What agents cannot share or agree on is an error.
func TestBadSharing(t *testing.T) {
	bySite := func(agents int, of cluster.Order) sim.Sharing {
		return sim.Sharing{Agents: agents, Partition: partition.SiteHash, OneOrder: &of}
	}
	for name, share := range map[string]sim.Sharing{
		"no partition":   {Agents: 2},
		"one for places": {Agents: 2, Partition: partition.URLBased},
		"no parts":       bySite(2, cluster.Order{URLs: 16, Lambda: 8}),
		"few URLs":       bySite(2, cluster.Order{URLs: 1, Parts: 2, Lambda: 8}),
		"long nuggets":   bySite(1000, cluster.Order{URLs: 10_000, Parts: 10_000, Lambda: 40}),
	} {
		fresh := func() (order.Strategy, error) { return evenFirst{}, nil }
		if _, err := sim.RunAgents(t.Context(), numberedSites(t, 2), fresh, sim.Options{}, share); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

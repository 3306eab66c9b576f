package main

import (
	"cmp"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/weburl"
	"gazehound/index"
	"gazehound/internal/corrections"
	"gazehound/predictor"
)

// TestEvalDoubts prints what 20 answers of a person change in a crawl of the real web, which has some 60
// cards: of the 20 most doubtful, and of 20 at random (the mean of 10 draws). The person knows the labels of the pages:
// a card is confirmed if a page that states it has one, else rejected. Counted are the cards of which
// the judge was wrong, the pages whose verdict changes, and how many of the 200 best links of the queue
// are others afterwards.
//
//	go test ./cmd/gazehound -run EvalDoubts -v
func TestEvalDoubts(t *testing.T) {
	if run := flag.Lookup("test.run"); run == nil || !strings.Contains(run.Value.String(), "Eval") {
		t.Skip("long: asked for by make eval")
	}
	const answers, draws, best = 20, 10, 200
	labels := irvineColumns(t)
	base := filepath.Join(t.TempDir(), "base")
	shared := filepath.Join(irvine, "..", "..", "gazetteer")
	irvineRun(t, "gazetteer", "import", "--data", base, filepath.Join(shared, "geonames-postal", "US.txt"))
	irvineRun(t, "gazetteer", "import", "--data", base, filepath.Join(shared, "us-zips", "zips.json.bz2"), "--map", "postcode=zip_code,city=city,state=state,lat=lat,lon=long,aliases=acceptable_cities,country=country")
	irvineRun(t, "crawl", "--data", base, "--region", "Irvine, CA", "--seeds", filepath.Join(irvine, "seeds-near.txt"), "--max-pages", "4000", "--quiet", "--replay", irvine)
	for _, truth := range []struct {
		name string
		is   map[string]bool
	}{{"city and postcode", map[string]bool{}}, {"a number or building, too", map[string]bool{}}} {
		for _, l := range labels {
			if u, err := weburl.Parse(l.url); err == nil {
				truth.is[u.Identity()] = l.city == 1 && truth.name == "city and postcode" || l.address == 1
			}
		}
		cards := doubtfulCards(t, base)
		if len(cards) < 2*answers {
			t.Fatalf("only %d cards", len(cards))
		}
		wrong, verdicts, links := answered(t, base, cards[:answers], truth.is, best)
		t.Logf("%s: %d cards; the %d most doubtful: %d wrong, %d verdicts and %d of %d best links change", truth.name, len(cards), answers, wrong, verdicts, links, best)
		var sum [3]int
		random := rand.New(rand.NewPCG(1, 2))
		for range draws {
			random.Shuffle(len(cards), func(i, j int) { cards[i], cards[j] = cards[j], cards[i] })
			a, b, c := answered(t, base, cards[:answers], truth.is, best)
			sum[0], sum[1], sum[2] = sum[0]+a, sum[1]+b, sum[2]+c
		}
		t.Logf("%s: %d at random, mean of %d: %.1f wrong, %.1f verdicts and %.1f links change", truth.name, answers, draws, float64(sum[0])/draws, float64(sum[1])/draws, float64(sum[2])/draws)
	}
}

// doubtfulCards returns all cards, the most doubtful first; those without a doubt come last.
func doubtfulCards(t *testing.T, dir string) (all []*index.Standing) {
	t.Helper()
	x, err := index.OpenReadOnly(project{dir}.index())
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	weight := map[string]float64{}
	if err := x.Walk(t.Context(), index.Filters{}, func(h *index.Hit) error {
		s, err := x.Standing(h.ID)
		weight[h.ID] = index.DoubtOf(h, false).Weight
		all = append(all, s)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b *index.Standing) int {
		return cmp.Or(cmp.Compare(weight[b.Hit.ID], weight[a.Hit.ID]), cmp.Compare(a.Hit.ID, b.Hit.ID))
	})
	return all
}

// answered corrects cards in a copy of a crawl and counts what changes.
func answered(t *testing.T, base string, cards []*index.Standing, truth map[string]bool, best int) (wrong, verdicts, links int) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
		t.Fatal(err)
	}
	p := project{dir}
	f, err := frontier.Open(frontier.Options{Dir: p.frontier(), Memory: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	model, err := predictor.Load(p.model(), predictor.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	log, err := corrections.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	relevant := func(page string) bool {
		u, err := weburl.Parse(page)
		return err == nil && truth[u.Identity()]
	}
	var entries []corrections.Entry
	for _, s := range cards {
		e := corrections.Entry{Who: corrections.Operator, What: corrections.Reject, Address: s.Hit.ID, Pages: s.Alone}
		if slices.ContainsFunc(s.Pages, relevant) {
			e.What, e.Pages = corrections.Confirm, s.Pages
		} else {
			wrong++
		}
		entries = append(entries, e)
	}
	strategy := order.Lookahead{Model: model}
	front := func() map[string]bool {
		score := crawler.Rescore(strategy, nil)
		type link struct {
			url   string
			score float64
		}
		var all []link
		if err := f.WalkQueue(t.Context(), func(n frontier.Node) error {
			all = append(all, link{n.URL.String(), score(&n.Entry)})
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(all, func(a, b link) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.url, b.url)) })
		set := map[string]bool{}
		for _, l := range all[:min(best, len(all))] {
			set[l.url] = true
		}
		return set
	}
	before := front()
	if _, err := log.Add(nil, entries...); err != nil {
		t.Fatal(err)
	}
	if verdicts, err = crawler.NewLabelled(nil, f, strategy, log).Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for url := range front() {
		if !before[url] {
			links++
		}
	}
	return wrong, verdicts, links
}

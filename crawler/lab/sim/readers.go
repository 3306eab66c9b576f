package sim

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/demo"
	"gazehound/crawler/order"
	"gazehound/crawler/weburl"
	"gazehound/predictor/clicklog"
)

// ReaderOptions tune the simulated readers of a made-up web.
type ReaderOptions struct {
	Seed uint64 `spec:"seed"`
	// how much the readers who judge differ in what they like from those in the logs: 0 not at all, 1 in all
	Taste float64 `spec:"taste" range:"0..1"`
	// sessions for each page, in the time of the logs and again after it
	Visits float64 `spec:"visits" range:"0.01..1000"`
	Logs   float64 `spec:"logs" range:"0.001..1"` // share of the hosts whose logs are known
	// share of the pages that nothing links to; half of them are new
	Unlinked float64 `spec:"unlinked" range:"0..0.99"`
	// how many times more a relevant page draws readers than another
	Bias float64 `spec:"bias" range:"1..1000"`
	// share of the relevant pages that are important: those on which people stay longest after the logs end
	Important float64 `spec:"important" range:"0.001..1"`
}

// DefaultReaderOptions are two sessions a page, logs of all hosts, a tenth of
// unlinked pages, no bias, and a fifth of important pages.
func DefaultReaderOptions() ReaderOptions {
	return ReaderOptions{Seed: 1, Visits: 2, Logs: 1, Unlinked: 0.1, Bias: 1, Important: 0.2}
}

// ReadBy lets people read the web and writes the access log of the hosts whose
// logs are known, in the vhost_combined format. It marks the important pages,
// removes all links to the unlinked ones, and adds the home pages of the hosts
// with logs to the seeds: whoever hands over a log names the site.
//
// How many readers a page draws, and how long they stay, follow log-normal
// distributions of their own; a session begins at a page drawn by that, goes
// along links or ends. Time is in two halves. The log is of the first; which
// pages are important is decided by the second, by other readers with a taste of their
// own as far as Taste goes. The new ones among the unlinked
// pages appear in the last tenth of the first half.
//
// It must be called before anything is fetched, on a web made by FromTown.
func (w *Web) ReadBy(o ReaderOptions, log io.Writer) error {
	if err := demo.InRange(o); err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	if len(w.cache) > 0 {
		return errors.New("sim: pages of the web were fetched before anybody read it")
	}
	r := newReaders(w, o)
	r.hide()
	out := bufio.NewWriter(log)
	r.read(0, func(v view) {
		if r.logged[v.host] {
			u := w.pages[v.page].URL
			line := clicklog.Line{Vhost: u.Hostname() + ":80", Client: v.client, Time: v.at, Method: "GET",
				Target: u.Path(), Status: 200, Agent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0"}
			if u.Scheme() == "https" {
				line.Vhost = u.Hostname() + ":443"
			}
			if q := u.Query(); q != "" {
				line.Target += "?" + q
			}
			fmt.Fprintln(out, line)
		}
	})
	err := out.Flush()
	if err != nil {
		return fmt.Errorf("sim: write access log: %w", err)
	}
	stay := make([]time.Duration, len(w.pages))
	r.read(1, func(v view) { stay[v.page] += v.stay })
	var relevant []int
	for i := range w.pages {
		if w.pages[i].Relevant && !w.pages[i].Forbidden {
			relevant = append(relevant, i)
		}
	}
	slices.SortStableFunc(relevant, func(a, b int) int { return cmp.Compare(stay[b], stay[a]) })
	for _, i := range relevant[:int(math.Ceil(o.Important*float64(len(relevant))))] {
		w.pages[i].Important = stay[i] > 0
	}
	w.Seeds = slices.Clone(w.Seeds)
	for i := range w.pages {
		if u := w.pages[i].URL; u.Path() == "/" && u.Query() == "" && r.logged[r.host[i]] &&
			!w.hidden[frontier.KeyOf(u)] {
			w.Seeds = append(w.Seeds, u)
		}
	}
	w.reach()
	return nil
}

// ImportReaders lets people read the web as ReadBy does, and imports the access
// logs that they leave into Clicks, as "clickstream import" would. It returns
// the lines of the logs.
func (w *Web) ImportReaders(ctx context.Context, o ReaderOptions) (lines int64, err error) {
	dir, err := os.MkdirTemp("", "gazehound-readers-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	clicks := clicklog.DefaultOptions()
	clicks.Canonical = func(raw string) (string, bool) {
		u, err := weburl.Parse(raw)
		return u.String(), err == nil
	}
	s, err := clicklog.Open(dir, clicks)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var log bytes.Buffer
	err = w.ReadBy(o, &log)
	if err != nil {
		return 0, err
	}
	n, err := s.Import(ctx, "access.log", &log)
	if err != nil {
		return 0, err
	}
	if _, err := s.Rank(ctx); err != nil {
		return 0, err
	}
	w.Clicks, err = order.ReadClicks(dir, w.Seeds)
	return n.Lines, err
}

// readers are people and what draws them.
type readers struct {
	w      *Web
	o      ReaderOptions
	host   []int32      // page → host
	logged []bool       // host → its logs are known
	draw   [2][]float64 // of the readers in the logs, and of those who judge
	dwell  [2][]float64 // mean seconds on the page
	fresh  []bool
}

// A view is one page that somebody looks at.
type view struct {
	page   int
	host   int32
	client string
	at     time.Time
	stay   time.Duration
}

func newReaders(w *Web, o ReaderOptions) *readers {
	n := len(w.pages)
	r := &readers{w: w, o: o, host: make([]int32, n), fresh: make([]bool, n)}
	for half := range 2 {
		r.draw[half], r.dwell[half] = make([]float64, n), make([]float64, n)
	}
	dice, other := rand.New(rand.NewPCG(o.Seed, 1)), rand.New(rand.NewPCG(o.Seed, 5))
	hosts := map[string]int32{}
	for i := range w.pages {
		p := &w.pages[i]
		h, known := hosts[p.URL.Host()]
		if !known {
			h = int32(len(hosts))
			hosts[p.URL.Host()] = h
			r.logged = append(r.logged, dice.Float64() < o.Logs)
		}
		r.host[i] = h
		liked, read := dice.NormFloat64(), dice.NormFloat64()
		for half := range 2 {
			if half == 1 { // other people
				liked = math.Sqrt(1-o.Taste)*liked + math.Sqrt(o.Taste)*other.NormFloat64()
				read = math.Sqrt(1-o.Taste)*read + math.Sqrt(o.Taste)*other.NormFloat64()
			}
			r.draw[half][i] = math.Exp(1.5 * liked)
			if p.Relevant {
				r.draw[half][i] *= o.Bias
			}
			r.dwell[half][i] = 30 * math.Exp(0.8*read)
		}
	}
	return r
}

// hide removes all links to the unlinked pages.
func (r *readers) hide() {
	dice := rand.New(rand.NewPCG(r.o.Seed, 2))
	seeds := map[frontier.Key]bool{}
	for _, u := range r.w.Seeds {
		seeds[frontier.KeyOf(u)] = true
	}
	hidden := make([]bool, len(r.w.pages))
	r.w.hidden = map[frontier.Key]bool{}
	for i := range r.w.pages {
		u := r.w.pages[i].URL
		key := frontier.KeyOf(u)
		if chance := dice.Float64(); chance < r.o.Unlinked && !seeds[key] && u.Path() != "/" {
			hidden[i], r.fresh[i] = true, chance < r.o.Unlinked/2
			r.w.hidden[key] = true
		}
	}
	for i := range r.w.pages {
		p := &r.w.pages[i]
		p.Links = slices.DeleteFunc(slices.Clone(p.Links), func(to int32) bool { return hidden[to] })
	}
}

// period is the time of the logs.
const period = 30 * 24 * time.Hour

// read calls fn with every view of one half of the time.
func (r *readers) read(half int, fn func(view)) {
	dice := rand.New(rand.NewPCG(r.o.Seed, 3+uint64(half)))
	begin := time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(half) * period)
	draw, dwell := r.draw[half], r.dwell[half]
	sum := make([]float64, len(draw))
	total := 0.0
	for i, d := range draw {
		total += d
		sum[i] = total
	}
	for range int(r.o.Visits * float64(len(draw))) {
		at := begin.Add(time.Duration(dice.Int64N(int64(period)))).Truncate(time.Second)
		client := fmt.Sprintf("10.%d.%d.%d", dice.IntN(256), dice.IntN(256), dice.IntN(256))
		page := sort.SearchFloat64s(sum, dice.Float64()*total)
		for range 20 {
			page = min(page, len(sum)-1)
			if half == 0 && r.fresh[page] && at.Sub(begin) < period*9/10 {
				break // it does not exist yet
			}
			stay := max(time.Duration(dwell[page]*math.Exp(0.5*dice.NormFloat64())), 1) * time.Second
			fn(view{page, r.host[page], client, at, min(stay, 20*time.Minute)})
			at = at.Add(min(stay, 20*time.Minute))
			links := r.w.pages[page].Links
			if len(links) == 0 || dice.Float64() < 0.35 {
				break
			}
			page = int(links[dice.IntN(len(links))]) // of three links the one that draws most
			for range 2 {
				if other := int(links[dice.IntN(len(links))]); draw[other] > draw[page] {
					page = other
				}
			}
		}
	}
}

// Important returns how many important pages there are, and how many of them
// are unlinked.
func (w *Web) Important() (all, unlinked int) {
	for i := range w.pages {
		if w.pages[i].Important {
			all++
			if w.hidden[frontier.KeyOf(w.pages[i].URL)] {
				unlinked++
			}
		}
	}
	return all, unlinked
}

// isHidden reports whether nothing links to u.
func (w *Web) isHidden(u weburl.URL) bool { return len(w.hidden) > 0 && w.hidden[frontier.KeyOf(u)] }

package sim_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"gazehound/crawler/lab/crawltest"
	"gazehound/crawler/lab/demo"
	"gazehound/crawler/lab/sim"
	"gazehound/crawler/order"
	"gazehound/crawler/weburl"
	"gazehound/predictor"
	"gazehound/predictor/clicklog"
)

// readWeb returns a small town that people have read, and their log.
func readWeb(t testing.TB, o sim.ReaderOptions) (*sim.Web, string) {
	t.Helper()
	town, err := demo.ParseOptions(strings.TrimSpace(crawltest.Fixture("towns/small.txt")))
	if err != nil {
		t.Fatal(err)
	}
	d, err := demo.New(town)
	if err != nil {
		t.Fatal(err)
	}
	w, err := sim.FromTown(d, "")
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	if err := w.ReadBy(o, &log); err != nil {
		t.Fatal(err)
	}
	return w, log.String()
}

// The log is one that clicklog reads to the last line, it tells of unlinked
// pages, and the same seed gives the same log.
func TestReadersLog(t *testing.T) {
	o := sim.DefaultReaderOptions()
	o.Visits = 5
	w, log := readWeb(t, o)
	if _, again := readWeb(t, o); log != again {
		t.Error("the same seed gives another log")
	}
	s, err := clicklog.Open(t.TempDir(), clicklog.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n, err := s.Import(t.Context(), "access.log", strings.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	if n.Lines < 1000 || n.Bad+n.Robots+n.Others+n.Foreign > 0 || n.Views < n.Lines/2 {
		t.Errorf("%+v", n)
	}
	if all, unlinked := w.Important(); all < 10 || unlinked < 1 || unlinked >= all {
		t.Errorf("%d important pages, %d of them unlinked", all, unlinked)
	}
	o.Logs = 0.3
	if _, some := readWeb(t, o); len(some) == 0 || len(some) >= len(log)*2/3 {
		t.Errorf("logs of 30 %% of the hosts have %d bytes, all have %d", len(some), len(log))
	}
}

// What nothing links to is found by nobody but trend, and trend finds important
// pages before the others do.
func TestTrendFindsImportantPages(t *testing.T) {
	w, log := readWeb(t, sim.ReaderOptions{Seed: 3, Visits: 10, Logs: 1, Unlinked: 0.2, Bias: 2, Important: 0.3})
	dir := t.TempDir()
	s, err := clicklog.Open(dir, clicklog.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Import(t.Context(), "access.log", bytes.NewReader([]byte(log))); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Rank(t.Context()); err != nil {
		t.Fatal(err)
	}
	table, err := clicklog.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var known []weburl.URL
	err = clicklog.Pages(dir, func(p clicklog.Page) error {
		u, err := weburl.Parse(p.URL)
		known = append(known, u)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	until := map[string]float64{}
	_, unlinked := w.Important()
	for _, name := range []string{"breadth-first", "adaptive", "trend"} {
		model := predictor.NewModel(predictor.DefaultOptions())
		o := order.Options{Model: model, Known: known, Stay: func(u weburl.URL) float64 { return table.Importance(u.String()) }}
		o.Decay, o.Alpha, o.Beta, o.Emphasis = 0.5, 0.5, 0.5, 1
		order, err := order.New(name, o)
		if err != nil {
			t.Fatal(err)
		}
		r, err := sim.Run(context.Background(), w, order, sim.Options{Seed: 1, Pages: 1000})
		if err != nil {
			t.Fatal(err)
		}
		until[name] = r.UntilImportant(1000)
		switch found := r.Unlinked.At(1000); {
		case name == "trend" && found < unlinked*3/4:
			t.Errorf("trend finds %d of %d important unlinked pages", found, unlinked)
		case name != "trend" && found > unlinked/5: // redirects lead to some
			t.Errorf("%s finds %d of %d important pages that nothing links to", name, found, unlinked)
		}
	}
	if !(until["trend"] < until["adaptive"] && until["trend"] < until["breadth-first"]/2) {
		t.Errorf("mean pages until an important one: %v", until)
	}
}

// Readers of another taste leave the logs as they are and find other pages important.
func TestTaste(t *testing.T) {
	o := sim.DefaultReaderOptions()
	important := func(taste float64) (list []int32, log string) {
		o.Taste = taste
		w, log := readWeb(t, o)
		w.Each(func(n int32, p sim.Page) {
			if p.Important {
				list = append(list, n)
			}
		})
		return list, log
	}
	same, log := important(0)
	other, otherLog := important(1)
	both := 0
	for _, n := range other {
		if slices.Contains(same, n) {
			both++
		}
	}
	if log != otherLog || len(same) < 5 || both > len(same)*2/3 {
		t.Errorf("%d important pages, %d of them also with another taste; logs alike: %v", len(same), both, log == otherLog)
	}
}

func TestReaderOptions(t *testing.T) {
	for _, o := range []sim.ReaderOptions{{}, {Visits: 1, Logs: 2, Bias: 1, Important: 1}, {Visits: 1, Logs: 1, Bias: 0.5, Important: 1}, {Visits: 1, Logs: 1, Bias: 1, Important: 0}, {Visits: 1, Logs: 1, Unlinked: 1, Bias: 1, Important: 1}} {
		if demo.InRange(o) == nil {
			t.Errorf("%+v is valid", o)
		}
	}
}

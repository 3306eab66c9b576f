package sim

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"

	"gazehound/crawler/cluster/nugget"
	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor/report"
	"gazehound/crawler/order"
	"gazehound/internal/textutil"

	"gonum.org/v1/plot/plotter"
)

// A NuggetRow is one order that parallel agents have agreed on (Ahmadi-Abkenari
// & Selamat 2010, section 8).
type NuggetRow struct {
	Agents   int `json:"agents"`   // m
	Parts    int `json:"parts"`    // L
	Bits     int `json:"bits"`     // of one nugget, equation 9
	Formula  int `json:"formula"`  // bits of all nuggets, equation 8
	Heard    int `json:"heard"`    // bits of the nuggets that were heard
	Measured int `json:"measured"` // bits on the wire: 8 × Bytes
	Bytes    int `json:"bytes"`    // of the messages that carried them; 0: there were none
	// of the tenth of all URLs that is most important, how much comes in the first tenth of the order
	Precision float64 `json:"precision"`
}

// A nuggetFigure is one of the paper's: of m and L one has a value and the other one grows.
type nuggetFigure struct {
	name, title, x string
	agents, parts  []int
}

// NuggetOptions are K, L of figure 5, and λ. DefaultNuggetOptions are those of the paper,
// which leaves K open.
type NuggetOptions struct {
	URLs, Parts, Lambda int
	Seed                uint64
	// Queue is that of a crawl, whose URLs agents share out by site; nil: importance is drawn.
	Queue []frontier.Entry
}

// DefaultNuggetOptions have 1,000 URLs for each agent.
func DefaultNuggetOptions() NuggetOptions { return NuggetOptions{URLs: 1000, Parts: 4, Lambda: 4} }

func (o NuggetOptions) figures() []nuggetFigure {
	return []nuggetFigure{
		{"nuggets-agents", "Notification overhead by agents (Ahmadi & Selamat, figure 5)",
			fmt.Sprintf("agents m, with L = %d", o.Parts), []int{1, 2, 4, 8, 16}, []int{o.Parts}},
		{"nuggets-parts", "Notification overhead by parts of a queue (Ahmadi & Selamat, figure 6)",
			"parts L, with m = 4", []int{4}, []int{1, 2, 4, 8, 16, 32, 64, 128, 256}},
	}
}

// Agree lets agents with these queues agree on one order, and returns it, the
// bits that were sent and the bytes of the messages that carried them.
type Agree func(f nugget.Format, queues [][]float64) (turns []nugget.Nugget, bits, bytes int, err error)

// Queue crawls w in the order of s and returns what waits at the end, the best first.
func Queue(ctx context.Context, w *Web, s order.Strategy, o Options) ([]frontier.Entry, error) {
	r, err := crawl(ctx, w, []order.Strategy{s}, o, Sharing{})
	if err != nil {
		return nil, err
	}
	queue := r.agents[0].queue
	waiting := int(queue.Waiting())
	if waiting == 0 {
		return nil, fmt.Errorf("sim: nothing waits after %d pages of %s", r.result.Pages, w.Name)
	}
	return queue.Front(waiting)
}

// Nuggets lets agents agree on an order, for every point of figures 5 and 6, and returns the
// rows of both. Without a Queue, the importance of a URL is drawn evenly, with a fifth that all
// URLs of an agent share.
func Nuggets(o NuggetOptions, agree Agree) (figures [][]NuggetRow, err error) {
	for _, f := range o.figures() {
		var rows []NuggetRow
		for _, m := range f.agents {
			for _, l := range f.parts {
				row, err := o.order(nugget.Format{Agents: m, Parts: l, Lambda: o.Lambda}, agree)
				if err != nil {
					return nil, fmt.Errorf("%d agents with %d parts: %w", m, l, err)
				}
				rows = append(rows, row)
			}
		}
		figures = append(figures, rows)
	}
	return figures, nil
}

func (o NuggetOptions) order(f nugget.Format, agree Agree) (NuggetRow, error) {
	queues, err := o.queues(f.Agents)
	if err != nil {
		return NuggetRow{}, err
	}
	all := slices.Concat(queues...)
	turns, sent, bytes, err := agree(f, queues)
	if err != nil {
		return NuggetRow{}, err
	}
	slices.SortFunc(all, falling)
	tenth := max(len(all)/10, 1)
	least, hits, place := all[tenth-1], 0, 0
	for _, t := range turns {
		urls := len(queues[t.Agent])
		from, to := nugget.Cut(urls, min(f.Parts, urls), t.Part)
		for _, v := range queues[t.Agent][from:to] {
			if place < tenth && v >= least {
				hits++
			}
			place++
		}
	}
	return NuggetRow{f.Agents, f.Parts, f.Bits(), f.Overhead(), sent, 8 * bytes, bytes,
		float64(hits) / float64(tenth)}, nil
}

// queues returns the importance of the foremost URLs of each agent, falling.
func (o NuggetOptions) queues(agents int) ([][]float64, error) {
	queues := make([][]float64, agents)
	if o.Queue == nil {
		dice := rand.New(rand.NewPCG(o.Seed, 7))
		for i := range queues {
			host := dice.Float64()
			for range o.URLs {
				queues[i] = append(queues[i], 0.8*dice.Float64()+0.2*host)
			}
			slices.SortFunc(queues[i], falling)
		}
		return queues, nil
	}
	share, err := shared(agents, partition.SiteHash)
	if err != nil {
		return nil, err
	}
	for _, e := range o.Queue {
		if i := share.Owner(e.URL); len(queues[i]) < o.URLs {
			queues[i] = append(queues[i], min(max(e.Priority, 0), 1))
		}
	}
	return queues, nil
}

func falling(a, b float64) int { return cmp.Compare(b, a) }

// Plot draws figures 5 and 6 of what Nuggets returned, to a file or
// folder as report.DrawFigures does: the formula as a line, the nuggets that were heard
// as points.
func (o NuggetOptions) Plot(name string, figures [][]NuggetRow) (files []string, err error) {
	var drawn []report.Figure
	for i, f := range o.figures() {
		formula, heard := report.Line{Name: "equation 8"}, report.Line{Name: "nuggets heard", Number: 1, Dots: true}
		for _, r := range figures[i] {
			x := float64(r.Agents)
			if len(f.parts) > 1 {
				x = float64(r.Parts)
			}
			formula.Points = append(formula.Points, plotter.XY{X: x, Y: float64(r.Formula)})
			heard.Points = append(heard.Points, plotter.XY{X: x, Y: float64(r.Heard)})
		}
		drawn = append(drawn, report.Figure{Name: f.name, Title: f.title, X: f.x, Y: "bits",
			Lines: []report.Line{formula, heard}})
	}
	return report.DrawFigures(name, drawn)
}

// WriteNuggets writes each figure as a table: the bits of one nugget, those of all nuggets by the
// equation and as they were heard, and the bytes that carried them.
func WriteNuggets(out io.Writer, figures [][]NuggetRow) error {
	for i, figure := range figures {
		if i > 0 {
			fmt.Fprintln(out)
		}
		rows := [][]string{{fmt.Sprintf("figure %d", 5+i), "agents", "parts", "bits each", "equation 8", "heard",
			"wire bytes", "precision"}}
		for _, r := range figure {
			row := []string{""}
			for _, n := range []int{r.Agents, r.Parts, r.Bits, r.Formula, r.Heard, r.Bytes} {
				row = append(row, strconv.Itoa(n))
			}
			rows = append(rows, append(row, fmt.Sprintf("%.3f", r.Precision)))
		}
		err := textutil.WriteTable(out, rows)
		if err != nil {
			return err
		}
	}
	return nil
}

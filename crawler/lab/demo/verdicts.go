package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"gazehound/crawler/weburl"
	"gazehound/internal/textutil"
)

// A Crawl is what a crawl of the town has found, beside the truth.
type Crawl struct {
	Pages, Relevant, Addresses int64
	Seconds                    float64
	Curve                      []int64 // relevant pages among each tenth of the pages
	Right, Invented, Missed    int64   // verdicts
	Strategy                   string
}

// ReadCrawl reads what "crawl --json --emit page" printed, a line each.
func (t *Town) ReadCrawl(out io.Reader) (c Crawl, err error) {
	var verdicts []bool
	for lines := json.NewDecoder(out); ; {
		var line struct {
			Type, URL       string
			Relevant        json.RawMessage // of a page whether, of the summary how many
			Pages           int64
			Addresses       int64
			DurationSeconds float64 `json:"duration_s"`
		}
		err := lines.Decode(&line)
		if err == io.EOF {
			break
		}
		relevant := string(line.Relevant) == "true"
		switch {
		case err != nil:
		case line.Type == "summary":
			c.Pages, c.Addresses, c.Seconds = line.Pages, line.Addresses, line.DurationSeconds
			err = json.Unmarshal(line.Relevant, &c.Relevant)
		case line.Type == "page":
			verdicts = append(verdicts, relevant)
			var u weburl.URL
			u, err = weburl.Parse(line.URL)
			switch truth, _ := t.Truth(u); { // of what is no page: not relevant
			case relevant == truth.Relevant:
				c.Right++
			case relevant:
				c.Invented++
			default:
				c.Missed++
			}
		}
		if err != nil {
			return c, fmt.Errorf("demo: output of the crawl: %w", err)
		}
	}
	c.Curve = make([]int64, 10)
	for i, relevant := range verdicts {
		if relevant {
			c.Curve[i*10/len(verdicts)]++
		}
	}
	return c, nil
}

// WriteComparison writes for people what breadth-first has found, and what lookahead did on the same
// web; both have taken so long.
func WriteComparison(w io.Writer, first, second Crawl, took time.Duration) {
	fmt.Fprintf(w, "\n%-14s %6s %9s %8s %10s %6s\n", "strategy", "pages", "relevant", "harvest", "addresses", "time")
	for _, r := range []Crawl{first, second} {
		fmt.Fprintf(w, "%-14s %6d %9d %6.1f %% %10d %4.0f s\n", r.Strategy, r.Pages, r.Relevant,
			100*float64(r.Relevant)/float64(max(r.Pages, 1)), r.Addresses, r.Seconds)
	}
	fmt.Fprint(w, "\nharvest of each tenth of the pages, %\n")
	for _, r := range []Crawl{first, second} {
		fmt.Fprintf(w, "%-14s", r.Strategy)
		for _, n := range r.Curve {
			fmt.Fprintf(w, " %3.0f", 100*float64(n)/float64(max(r.Pages/10, 1)))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
	if first.Relevant > 0 && first.Addresses > 0 {
		fmt.Fprintf(w, "On the same web and the same seeds, lookahead found %.1f times the relevant pages and "+
			"%.1f times the addresses of breadth first.\n",
			float64(second.Relevant)/float64(first.Relevant), float64(second.Addresses)/float64(first.Addresses))
	}
	fmt.Fprintf(w, "Verdicts against the town's ground truth: %s right, %d invented, %d missed.   %.0f s in all.\n",
		textutil.Count(first.Right+second.Right), first.Invented+second.Invented, first.Missed+second.Missed,
		took.Seconds())
}

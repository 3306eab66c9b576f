package demo

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"gazehound/crawler/weburl"
)

// A Crawl is what a crawl of the town has found, beside the truth.
type Crawl struct {
	Pages, Relevant, Addresses int64
	Seconds                    float64
	Curve                      []int64 // relevant pages among each tenth of the pages
	Right, Invented, Missed    int64   // verdicts
}

// ReadCrawl reads what "crawl --json --emit page" printed, a line each.
func (t *Town) ReadCrawl(out io.Reader) (c Crawl, err error) {
	var verdicts []bool
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Type, URL       string
			Relevant        json.RawMessage // of a page whether, of the summary how many
			Pages           int64
			Addresses       int64
			DurationSeconds float64 `json:"duration_s"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return c, fmt.Errorf("demo: the crawl printed %q: %w", lines.Text(), err)
		}
		switch line.Type {
		case "page":
			relevant := string(line.Relevant) == "true"
			verdicts = append(verdicts, relevant)
			u, err := weburl.Parse(line.URL)
			if err != nil {
				return c, err
			}
			truth, known := t.Truth(u)
			switch {
			case relevant == (known && truth.Relevant):
				c.Right++
			case relevant:
				c.Invented++
			default:
				c.Missed++
			}
		case "summary":
			c.Pages, c.Addresses, c.Seconds = line.Pages, line.Addresses, line.DurationSeconds
			if c.Relevant, err = strconv.ParseInt(string(line.Relevant), 10, 64); err != nil {
				return c, fmt.Errorf("demo: the crawl printed %q: %w", lines.Text(), err)
			}
		}
	}
	c.Curve = make([]int64, 10)
	for i, relevant := range verdicts {
		if relevant {
			c.Curve[i*10/len(verdicts)]++
		}
	}
	return c, lines.Err()
}

package crawler

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"

	"gazehound/crawler/frontier"
	"gazehound/crawler/warc"
	"gazehound/crawler/weburl"
)

// A Comparison compares what a replay found with what was recorded.
type Comparison struct {
	Responses       int64 // recorded exchanges that were replayed
	Pages, Relevant int64
	NoCopy          int64  // exchanges with an archived outcome only
	Unusable        int64  // whose body is lost, damaged or too long
	FirstUnusable   string // and why
	Compared        int64  // pages with a recorded verdict
	Verdicts        int64  // of them, those whose verdict changed between relevant and not
	Addresses       int64  // of them, those with other addresses

	changed [][]string // rows of WriteCSV
}

// maxChanged bounds the rows of WriteCSV.
const maxChanged = 100_000

// Exchanges returns the records of an archive for Replay, except those of blocked URLs, and
// compares their outcomes.
func (c *Comparison) Exchanges(ctx context.Context, archive *warc.Archive,
	blocked func(weburl.URL) bool) iter.Seq2[Exchange, error] {
	errStop := errors.New("stop")
	return func(yield func(Exchange, error) bool) {
		err := archive.Walk(ctx, func(x warc.Recorded) error {
			switch {
			case x.Response != nil && x.Response.Status == 304: // the page recorded before
				return nil
			case blocked(x.URL):
				return nil
			case x.Err != nil:
				c.Responses++
				c.Unusable++
				if c.FirstUnusable == "" {
					c.FirstUnusable = fmt.Sprintf("%s: %v", x.URL, x.Err)
				}
				return nil
			case x.Response == nil:
				c.NoCopy++
			default:
				c.Responses++
			}
			e := Exchange{Entry: RecordedEntry(&x), Outcome: recordedOutcome(&x), Response: x.Response}
			e.Committed = func(v *Visit) { c.add(v, x.Note) }
			if !yield(e, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(Exchange{}, err)
		}
	}
}

// recordedOutcome returns what the recording crawl made of an exchange.
func recordedOutcome(x *warc.Recorded) frontier.Outcome {
	var o frontier.Outcome
	if n := x.Note; n != nil {
		o.Kind, o.Reason = frontier.Kind(n.Outcome), n.Reason
	}
	if x.Response != nil {
		o.Status, o.Bytes, o.At = x.Response.Status, int64(len(x.Response.Body)), x.Response.Fetched
		return o
	}
	n := x.Note
	o.Status, o.At, o.Relevant, o.Score, o.Addresses = n.Status, x.At, n.Relevant, n.Score, n.Addresses
	if o.Kind == frontier.KindPage && o.Reason == "" {
		o.Reason = ReasonNoCopy
	}
	return o
}

// add compares a visit with its recorded note, or nil.
func (c *Comparison) add(v *Visit, note *warc.Note) {
	if v.Page != nil {
		c.Pages++
		if v.Verdict.Relevant {
			c.Relevant++
		}
	}
	if note == nil || note.Outcome != "page" || v.Response == nil {
		return
	}
	c.Compared++
	was, is := slices.Sorted(slices.Values(note.Addresses)), slices.Sorted(slices.Values(v.Outcome.Addresses))
	verdict, addresses := note.Relevant != v.Outcome.Relevant || v.Page == nil, !slices.Equal(was, is)
	if verdict {
		c.Verdicts++
	}
	if addresses {
		c.Addresses++
	}
	if (verdict || addresses) && len(c.changed) < maxChanged {
		c.changed = append(c.changed, []string{
			v.Entry.URL.String(), strconv.FormatBool(note.Relevant), strconv.FormatBool(v.Outcome.Relevant),
			strconv.Itoa(len(was)), strconv.Itoa(len(is)),
		})
	}
}

// WriteCSV writes the pages with another verdict or other addresses to a file.
func (c *Comparison) WriteCSV(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	w.Write([]string{"url", "was_relevant", "is_relevant", "addresses_were", "addresses_are"})
	w.WriteAll(c.changed)
	return errors.Join(w.Error(), f.Close())
}

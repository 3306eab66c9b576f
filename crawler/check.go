package crawler

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"
	"gazehound/internal/check"
	"gazehound/internal/corrections"
	"gazehound/internal/textutil"
)

// CheckIndexed compares the crawl tree with the index and reports pages that only one of them has.
// pages calls its argument with the URL of each page of the index, possibly twice. A page that a person
// has corrected since its last visit may be missing: the index gets it at the next one.
func CheckIndexed(ctx context.Context, name string, f *frontier.Frontier,
	pages func(context.Context, func(url string)) error, log *corrections.Log) check.Finding {
	const again = "\"gazehound replay\" of the WARC files, or crawl --fresh, makes the index anew"
	indexed := map[frontier.Key]bool{}
	unknown, example := 0, ""
	var damaged error // the first page that the crawl tree cannot read
	err := pages(ctx, func(url string) {
		u, err := weburl.Parse(url)
		known := false
		if k := frontier.KeyOf(u); err == nil {
			if indexed[k] {
				return
			}
			indexed[k] = true
			_, known, err = f.Get(k)
			damaged = cmp.Or(damaged, err)
			known = known || err != nil
		}
		if !known {
			unknown, example = unknown+1, url
		}
	})
	err = cmp.Or(err, damaged)
	var visited, relevant, absent, awaited int64
	if err == nil {
		corrected := lastCorrections(log)
		err = f.Walk(ctx, 0, func(n frontier.Node) error {
			visited++
			if !isIndexed(&n.Outcome) {
				return nil
			}
			relevant++
			k := frontier.KeyOf(n.URL)
			visit := n.Outcome.At.Truncate(time.Second) // as the times of corrections are
			switch {
			case indexed[k]:
			case !corrected[k].Before(visit):
				awaited++
			default:
				absent, example = absent+1, n.URL.String()
			}
			return nil
		})
	}
	t := f.Totals()
	switch {
	case err != nil:
		return check.Broken(name, "", "%v", err)
	case unknown > 0:
		return check.Broken(name, again, "the index has %s that the crawl tree does not know, such as %.200s",
			textutil.Several(unknown, "page"), example)
	case absent > 0:
		return check.Broken(name, again, "%d of %d relevant pages of the crawl tree are not in the index, such as "+
			"%.200s",
			absent, relevant, example)
	case t.Damaged > 0:
		return check.Broken(name, "look at the disk's health; the crawl goes on without them",
			"%d records of the crawl tree could not be read and were set aside", t.Damaged)
	case visited+t.Skipped[frontier.ReasonForgotten] != t.Visited ||
		t.Links != t.Queued+t.Parked+t.Visited+t.Repeats+textutil.Sum(t.Dropped):
		return check.Broken(name, "", "the totals of the crawl tree do not add up: %d of %d visits, %d links",
			visited, t.Visited, t.Links)
	}
	text := fmt.Sprintf("%s in the crawl tree, %d of them relevant and all in the index",
		textutil.Several(visited, "visit"), relevant)
	if awaited > 0 {
		text += fmt.Sprintf(", but %d that wait for their next visit after a label", awaited)
	}
	return check.Well(name, "%s", text)
}

// lastCorrections returns when pages were last corrected, or a correction of them was taken back.
func lastCorrections(log *corrections.Log) map[frontier.Key]time.Time {
	last := map[frontier.Key]time.Time{}
	all, _ := log.Since(corrections.Position{})
	for _, e := range all {
		of := e
		if e.What == corrections.Undo {
			of, _ = log.Entry(e.Undoes)
		}
		for _, page := range of.Pages {
			u, err := weburl.Parse(page)
			if err == nil {
				last[frontier.KeyOf(u)] = e.Time
			}
		}
	}
	return last
}

// isIndexed reports whether the index has a page with this outcome.
func isIndexed(o *frontier.Outcome) bool {
	return o.Kind == frontier.KindPage && o.Relevant && len(o.Addresses) > 0 && o.Reason != ReasonNoIndex &&
		o.Reason != ReasonNoCopy
}

// Reconcile completes an index that was made anew from recorded pages. It calls gone for pages of f that
// are gone, with the time since when; the index need not have them. Relevant pages that the index lacks,
// because nothing of them was recorded, are due from now on and will be read in full; absent is how many
// these are, and example one of them. pages is as in CheckIndexed.
func Reconcile(ctx context.Context, f *frontier.Frontier, pages func(context.Context, func(url string)) error,
	gone func(ctx context.Context, url string, since time.Time) error) (absent int, example string, err error) {
	indexed := map[frontier.Key]bool{}
	err = pages(ctx, func(url string) {
		if u, err := weburl.Parse(url); err == nil {
			indexed[frontier.KeyOf(u)] = true
		}
	})
	if err != nil {
		return 0, "", err
	}
	due := map[frontier.Key]frontier.Check{}
	err = f.Walk(ctx, 0, func(n frontier.Node) error {
		k, o := frontier.KeyOf(n.URL), &n.Outcome
		check, _, err := f.Check(k)
		switch {
		case err != nil:
			return err
		case !check.Gone.IsZero():
			return gone(ctx, n.URL.String(), check.Gone)
		case isIndexed(o) || o.Relevant && o.Reason == ReasonNoCopy:
			if !indexed[k] {
				example = n.URL.String()
				check.Asked, check.Relevant = o.At, true
				check.Due, check.ETag, check.Modified = time.Now(), "", ""
				due[k] = check
			}
		}
		return nil
	})
	for k, check := range due {
		err = cmp.Or(err, f.Revise(ctx, k, frontier.Outcome{Check: &check}))
	}
	if err != nil {
		return 0, "", fmt.Errorf("pages without a copy: %w", err)
	}
	return len(due), example, nil
}

package cluster

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/frontier"
	"gazehound/crawler/page"
	"gazehound/crawler/warc"
	"gazehound/crawler/weburl"
)

// handed is a visited page of irvine: the links that its node sends to others.
type handed struct {
	from, to int
	links    []frontier.Entry
}

// irvine crawls the real web breadth first on three nodes and returns the links that each visit
// sends to each other node, for each of the partitions.
func irvine(t testing.TB, pages int, methods ...partition.Method) [][]handed {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join("..", "..", "..", "shared", "data", "web", "irvine", "*.warc.gz"))
	if len(files) == 0 {
		t.Skip("real web missing: no ../shared/data/web/irvine/*.warc.gz")
	}
	web, err := warc.Open(files...)
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()
	names := []string{"a", "b", "c"}
	plans := make([]*partition.Partition, len(methods))
	queues := make([][]*frontier.Memory, len(methods)) // in which the links wait
	for k, method := range methods {
		o := partition.DefaultOptions()
		o.Method = method
		if plans[k], err = partition.New([]partition.Node{{Name: "a"}, {Name: "b"}, {Name: "c"}}, o); err != nil {
			t.Fatal(err)
		}
		for range names {
			queues[k] = append(queues[k], frontier.NewMemory(frontier.Options{}))
		}
	}
	all := make([][]handed, len(methods))
	queue := []weburl.URL{parse(t, "http://www.ics.uci.edu/")}
	seen := map[weburl.URL]bool{queue[0]: true}
	for at := 0; pages > 0 && at < len(queue); at++ {
		u := queue[at]
		r, err := web.Fetch(context.Background(), u)
		if err != nil || r.Status != 200 {
			continue
		}
		p, err := page.Parse(r)
		if err != nil {
			continue
		}
		pages--
		for _, l := range p.Links {
			if !seen[l.To] {
				seen[l.To] = true
				queue = append(queue, l.To)
			}
		}
		for k, plan := range plans {
			from := plan.Owner(u)
			queue := queues[k][from]
			var others []frontier.Entry
			for _, l := range p.Links {
				e := frontier.Entry{URL: l.To, Priority: 0.5 / float64(1+len(l.Anchor)%7), Depth: 3, Distance: 2, Parent: frontier.KeyOf(u), Found: time.UnixMilli(int64(at) * 321),
					Anchor: l.Anchor, Title: l.Title, Around: l.Around, Switch: l.From.Site() != l.To.Site()}
				if to := plan.Owner(l.To); to != from {
					e.Owner = names[to]
					others = append(others, e)
				}
			}
			_, err := queue.Push(t.Context(), others...)
			if err != nil {
				t.Fatal(err)
			}
			out, err := queue.Outgoing(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			by := map[string][]frontier.Entry{}
			for _, e := range out.Links {
				by[e.Owner] = append(by[e.Owner], e)
			}
			for to, name := range names {
				if len(by[name]) > 0 {
					all[k] = append(all[k], handed{from, to, by[name]})
				}
			}
			if err := queue.Sent(t.Context(), out); err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}

// A link, its words included, takes at most 1.5 times the bytes of its URL: on the real web,
// breadth first, with messages of as many visits as gather in Options.Linger at two or three
// pages a second for each node.
func TestEvalBytesPerURL(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("parses 700 pages")
	}
	const visits = 40
	methods := []partition.Method{partition.SiteHash, partition.URLHash}
	for k, all := range irvine(t, 700, methods...) {
		method := methods[k]
		urls, links, messages, size := 0, 0, 0, 0
		outboxes := [3]map[string][]frontier.Entry{}
		gathered := [3]int{}
		send := func(from int) {
			for _, es := range outboxes[from] {
				for _, m := range packLinks(es) {
					size += len(m) + 80 // subject and header, see sendSome
					messages++
				}
			}
			outboxes[from], gathered[from] = nil, 0
		}
		page := frontier.Key{}
		for _, h := range all {
			if outboxes[h.from] == nil {
				outboxes[h.from] = map[string][]frontier.Entry{}
			}
			if h.links[0].Parent != page {
				page = h.links[0].Parent
				gathered[h.from]++
			}
			to := fmt.Sprint(h.to)
			outboxes[h.from][to] = append(outboxes[h.from][to], h.links...)
			for _, e := range h.links {
				urls += len(e.URL.String())
				links++
			}
			if gathered[h.from] >= visits {
				send(h.from)
			}
		}
		for from := range outboxes {
			send(from)
		}
		ratio := float64(size) / float64(urls)
		t.Logf("%s: %d links in %d messages, %.2f bytes for each of the %d of their URLs", method, links, messages, ratio, urls)
		if links < 500 || ratio > 1.5 {
			t.Errorf("%s: %.2f bytes a byte of URL, want at most 1.5", method, ratio)
		}
	}
}

// BenchmarkPack packs and unpacks links of the real web.
func BenchmarkPack(b *testing.B) {
	var es []frontier.Entry
	for _, h := range irvine(b, 100, partition.URLHash)[0] {
		es = append(es, h.links...)
	}
	for b.Loop() {
		for _, m := range packLinks(es) {
			if _, err := unpackLinks(m); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(es)), "ns/link")
}

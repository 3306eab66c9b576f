package crawler

import (
	"context"
	"strings"
	"testing"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/geoparse"
	"gazehound/internal/corrections"
	"gazehound/predictor"
)

type irrelevant struct{}

func (irrelevant) Judge(context.Context, *page.Page) (geoparse.Verdict, error) {
	return geoparse.Verdict{}, nil
}

// TestLabelled adds labels to the file of a crawl that runs: to a page that was
// visited, one that waits, and a line that is not whole.
func TestLabelled(t *testing.T) {
	f, err := frontier.Open(frontier.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	model := predictor.NewModel(predictor.DefaultOptions())
	urlOf := func(raw string) weburl.URL {
		u, err := weburl.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	bridge, kontakt := urlOf("http://www.seed.example/bridge"), urlOf("http://www.b.example/kontakt")
	visited := frontier.Entry{URL: bridge, Anchor: "Branchen", Found: time.Now()}
	if _, err := f.Push(t.Context(), visited, frontier.Entry{URL: kontakt, Anchor: "Kontakt", Found: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Done(t.Context(), visited, frontier.Outcome{Kind: "page", Status: 200, At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	log, err := corrections.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	w := NewLabelled(irrelevant{}, f, order.Lookahead{Model: model}, log)
	other, err := corrections.Open(dir) // of another process
	if err != nil {
		t.Fatal(err)
	}
	label := func(labels ...Label) (n int) {
		t.Helper()
		added, err := other.Add(nil, Corrections(labels)...)
		if err != nil {
			t.Fatal(err)
		}
		return added[0].N
	}
	load := func(want int) {
		t.Helper()
		if learned, err := w.Load(t.Context()); learned != want || err != nil {
			t.Errorf("learned %d, %v; want %d", learned, err, want)
		}
	}
	load(0) // there is no file
	label(Label{URL: bridge, Relevant: true}, Label{URL: kontakt, Relevant: true})
	load(1)
	load(0)
	if v, err := w.Judge(t.Context(), &page.Page{URL: kontakt}); err != nil || !v.Relevant {
		t.Errorf("the label does not stand above the verdict: %+v, %v", v, err)
	}
	if v, err := w.Judge(t.Context(), &page.Page{URL: urlOf("http://www.b.example/other")}); err != nil || v.Relevant {
		t.Errorf("verdict %+v, %v", v, err)
	}
	rejected := label(Label{URL: bridge})
	load(1)
	if _, err := other.Add(nil, corrections.Entry{Who: corrections.Operator, What: corrections.Undo, Undoes: rejected}); err != nil {
		t.Fatal(err)
	}
	load(1) // the label before it counts again
	label(Label{URL: bridge})
	load(1)
	// A page that was judged before its label came.
	label(Label{URL: bridge, Relevant: true})
	if _, err := log.Refresh(); err != nil {
		t.Fatal(err)
	}
	v := &Visit{Entry: visited, Outcome: frontier.Outcome{Kind: "page"}}
	if err := w.Visited(v); err != nil {
		t.Fatal(err)
	}
	if n, _, err := f.Get(frontier.KeyOf(bridge)); err != nil || !n.Outcome.Relevant {
		t.Errorf("%+v, %v", n.Outcome, err)
	}
}

// FuzzParseLabels holds that each label stands in the file, and that what is
// written is read back.
func FuzzParseLabels(f *testing.F) {
	f.Add("http://a.example/\trelevant\nhttp://b.example/\t0\t2026-11-21T10:00:00Z\n# note\n\nnonsense\n")
	f.Add("\ufeffhttp://a.example/ \t NOT \r\n\t1\nftp://x/\t1\n")
	f.Fuzz(func(t *testing.T, text string) {
		bad := 0
		labels := ParseLabels([]byte(text), func(int, string) { bad++ })
		if lines := strings.Count(text, "\n") + 1; len(labels)+bad > lines {
			t.Fatalf("%d labels and %d bad lines of %d", len(labels), bad, lines)
		}
		if len(labels) == 0 {
			return
		}
		var data strings.Builder
		for _, l := range labels {
			data.WriteString(l.URL.String() + "\t" + VerdictWord(l.Relevant) + "\n")
		}
		again := ParseLabels([]byte(data.String()), func(n int, line string) { t.Fatalf("line %d is not read back: %q", n, line) })
		if len(again) != len(labels) {
			t.Fatalf("%d labels, read back %d", len(labels), len(again))
		}
		for i := range labels {
			if again[i] != labels[i] {
				t.Fatalf("label %d: %v, read back %v", i, labels[i], again[i])
			}
		}
	})
}

package index

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	segmenter "github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
	"github.com/paulmach/orb"
)

// made returns n pages with one address and about 300 characters of text each,
// in a vocabulary that is distributed as words are.
func made(n int) []Document {
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 4, 20_000)
	syllables := strings.Fields("ba be bi bo da de di do ka ke ki ko la le li lo ma me mi mo na ne ni no ra re ri ro sa se si so ta te ti to")
	word := func() string {
		k := int(zipf.Uint64()) + 40
		var b strings.Builder
		for ; k > 0; k /= len(syllables) {
			b.WriteString(syllables[k%len(syllables)])
		}
		return b.String()
	}
	text := func(words int) string {
		all := make([]string, words)
		for i := range all {
			all[i] = word()
		}
		return strings.Join(all, " ")
	}
	docs := make([]Document, n)
	for i := range docs {
		name := strings.ToUpper(word()[:1]) + word() + " " + word()
		docs[i] = page(fmt.Sprintf("https://h%d.example/p%d", i%(n/3+1), i), name+" | "+text(3), "de",
			fmt.Sprintf("%s\n%s\n{%sstraße %d, 26%03d Stadt|%.6f %.6f}\n%s", text(20), name, word(), 1+i%200, i%40, 8.1+r.Float64()*0.2, 53.05+r.Float64()*0.15, text(25)))
	}
	return docs
}

// putAll writes the pages from so many callers at once.
func putAll(b testing.TB, x *Index, docs []Document, callers int) {
	var wg sync.WaitGroup
	work := make(chan Document)
	for range callers {
		wg.Go(func() {
			for d := range work {
				if err := x.Put(context.Background(), d); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for _, d := range docs {
		work <- d
	}
	close(work)
	wg.Wait()
}

func sizeOf(b testing.TB, dir string) (bytes int64) {
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			if info, err := e.Info(); err == nil { // a merged segment may have gone
				bytes += info.Size()
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return bytes
}

// Every Put waits for the disk; callers in parallel share a commit.
func BenchmarkPut(b *testing.B) {
	for _, callers := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			n := min(8000, 100*callers)
			docs := made(n)
			var seconds float64
			var bytes int64
			for b.Loop() {
				dir := b.TempDir()
				x := openDir(b, dir)
				start := time.Now()
				putAll(b, x, docs, callers)
				seconds += time.Since(start).Seconds()
				x.Close()
				bytes = sizeOf(b, dir)
			}
			b.ReportMetric(float64(n)*float64(b.N)/seconds, "docs/s")
			b.ReportMetric(float64(bytes)/float64(n), "B/doc")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// The naive way beside it: look at every page.
func BenchmarkSearch(b *testing.B) {
	const n = 20_000
	docs := made(n)
	x := openDir(b, b.TempDir())
	putAll(b, x, docs, 256)
	box := orb.Bound{Min: orb.Point{8.18, 53.1}, Max: orb.Point{8.22, 53.13}}
	centre := orb.Point{8.2, 53.12}
	r := rand.New(rand.NewPCG(3, 4))
	some := func() string { // a word of a name
		return strings.Fields(docs[r.IntN(n)].Title)[0]
	}
	inText := func() string {
		words := strings.Fields(docs[r.IntN(n)].Text)
		return words[r.IntN(10)]
	}
	measure := func(name string, ask func() error) {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				if err := ask(); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
	for _, c := range []struct {
		name string
		make func() Query
	}{
		{"name", func() Query { return Query{Text: some()} }},
		{"two words", func() Query { return Query{Text: inText() + " " + some()} }},
		{"typo", func() Query { return Query{Text: "x" + some()} }},
		{"box", func() Query { return Query{Filters: Filters{Box: &box}} }},
		{"word in box", func() Query { return Query{Filters: Filters{Box: &box}, Text: inText()} }},
		{"box around the world", func() Query {
			return Query{Filters: Filters{Box: &orb.Bound{Min: orb.Point{-180, -85}, Max: orb.Point{180, 85}}}}
		}},
		{"radius 1 km", func() Query { return Query{Filters: Filters{Center: &centre, Radius: 1000}} }},
		{"radius 1,000 km", func() Query { return Query{Filters: Filters{Center: &centre, Radius: MaxRadius}} }},
		{"radius 500 m", func() Query { return Query{Filters: Filters{Center: &centre, Radius: 500}, Sort: Distance} }},
		{"word in 2 km", func() Query { return Query{Filters: Filters{Center: &centre, Radius: 2000}, Text: inText()} }},
		{"word by distance", func() Query { return Query{Filters: Filters{Center: &centre}, Text: inText(), Sort: Distance} }},
		{"everything", func() Query { return Query{} }},
	} {
		measure(c.name, func() error {
			_, err := x.Search(b.Context(), c.make())
			return err
		})
	}
	folded := make([]string, n)
	for i, d := range docs {
		folded[i] = strings.Join(wordsOf(d.Title+" "+d.Text), " ")
	}
	measure("naive scan for a word", func() error {
		word := foldWord(inText())
		found := 0
		for _, text := range folded {
			if strings.Contains(text, word) {
				found++
			}
		}
		return nil
	})
}

// The words of a page, beside Bleve's segmenter of Unicode alone.
func BenchmarkWords(b *testing.B) {
	raw, err := os.ReadFile("testdata/eval/pages.txt")
	if err != nil {
		b.Fatal(err)
	}
	text := clip(string(raw), maxText)
	b.Run("distinct", func(b *testing.B) {
		for b.Loop() {
			distinctWords(text)
		}
	})
	b.Run("segmenter", func(b *testing.B) {
		for b.Loop() {
			segmenter.NewUnicodeTokenizer().Tokenize([]byte(text))
		}
	})
}

package predictor

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// teach lets a model learn pages of a made-up crawl.
func teach(m *Model, pages int) {
	random := rand.New(rand.NewPCG(1, 2))
	for range pages {
		trail := make([][]string, random.IntN(4))
		for d := range trail {
			trail[d] = Terms(Link{
				Host: fmt.Sprintf("h%d.example", random.IntN(20)), Path: fmt.Sprintf("/p%c/%c", 'a'+random.IntN(26), 'a'+random.IntN(26)),
				Anchor: []string{"kontakt", "impressum", "news", "shop"}[random.IntN(4)],
			})
		}
		m.Learn(trail, random.IntN(4) == 0)
	}
}

// same reports where two models differ in what they have learned.
func same(t *testing.T, got, want *Model) {
	t.Helper()
	for d := range want.depths {
		g, w := got.depths[d], want.depths[d]
		gt, wt := g.terms, w.terms
		gr, g0 := g.counts(gt)
		wr, w0 := w.counts(wt)
		if g.relevant != w.relevant || g.other != w.other || !slices.Equal(gt, wt) {
			t.Fatalf("depth %d: learned %d, %d, %d terms; want %d, %d, %d terms", d+1, g.relevant, g.other, len(gt), w.relevant, w.other, len(wt))
		}
		if !slices.Equal(gr, wr) || !slices.Equal(g0, w0) {
			t.Errorf("depth %d: counts differ", d+1)
		}
	}
}

func TestSaveAndLoad(t *testing.T) {
	for _, pages := range []int{0, 1, 3000} {
		m := newModel(t, nil)
		teach(m, pages)
		path := filepath.Join(t.TempDir(), "model")
		for range 2 { // the second replaces the first
			if err := m.Save(path); err != nil {
				t.Fatal(err)
			}
		}
		loaded, err := Load(path, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		same(t, loaded, m)
		terms := Terms(Link{Host: "h3.example", Path: "/pa/b", Anchor: "kontakt"})
		if got, want := loaded.Score(terms), m.Score(terms); !slices.Equal(got, want) {
			t.Errorf("loaded model scores %v, saved one %v", got, want)
		}
		if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
			t.Errorf("left behind: %v", files)
		}
	}
}

// TestCountsComeBack holds that counts survive the way through frequencies.
func TestCountsComeBack(t *testing.T) {
	c := newClassifier(DefaultOptions())
	want := []int{1, 2, 3, 7, 1_000_003, 999_999_937, 3_000_000_019}
	var terms []string
	for i, n := range want {
		terms = append(terms, fmt.Sprint("path:", i))
		c.observe(terms[i], n, 0)
	}
	relevant, other := c.counts(terms)
	for i, n := range want {
		if int(relevant[i]) != n || other[i] != 0 {
			t.Errorf("count %d comes back as %v, %v", n, relevant[i], other[i])
		}
	}
}

// A model of more depths than options have loses the others, and one of fewer has learned
// nothing there.
func TestLoadOtherDepths(t *testing.T) {
	deep := func(depths int) Options {
		o := DefaultOptions()
		o.Depths = depths
		return o
	}
	m := newModel(t, func(o *Options) { o.Depths = 4 })
	link := []string{"anchor:kontakt"}
	for range 5 {
		m.Teach(Example{Link: Link{Host: "a"}, Trail: [][]string{link, link, link, link}, Relevant: true})
	}
	path := filepath.Join(t.TempDir(), "model")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	for depths := 1; depths <= MaxDepth; depths++ {
		loaded, err := Load(path, deep(depths))
		if err != nil {
			t.Fatal(err)
		}
		for d, p := range loaded.Score(link) {
			if want := d < 4; (p > 0) != want {
				t.Errorf("%d depths: %v at depth %d", depths, p, d+1)
			}
		}
		if depths == 4 && loaded.Value(Link{Host: "a"}) != m.Value(Link{Host: "a"}) {
			t.Error("the value of a link has changed")
		}
	}
}

func TestLoadCutsTheVocabulary(t *testing.T) {
	m := newModel(t, nil)
	teach(m, 3000)
	path := filepath.Join(t.TempDir(), "model")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Vocabulary = 10
	small, err := Load(path, o)
	if err != nil {
		t.Fatal(err)
	}
	before, after := m.Stats().Depths[0], small.Stats().Depths[0]
	if after.Terms > 10+len(families) || after.Relevant != before.Relevant {
		t.Errorf("from %+v to %+v", before, after)
	}
	if got, want := small.depths[0].store.WordCount(), m.depths[0].store.WordCount(); !slices.Equal(got, want) {
		t.Errorf("%v terms counted, want %v", got, want)
	}
}

// saved returns the bytes of a small model's file.
func saved(t testing.TB) []byte {
	m := newModel(t, nil)
	teach(m, 5)
	path := filepath.Join(t.TempDir(), "model")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// seal puts a right checksum under the body of a model file.
func seal(body string) []byte {
	return binary.BigEndian.AppendUint32([]byte(body), crc32.Checksum([]byte(body), castagnoli))
}

func TestLoadRefuses(t *testing.T) {
	good := saved(t)
	const head = magic + " 5 2\n"
	sealed := func(f modelFile) []byte {
		b := bytes.NewBufferString(head)
		if err := gob.NewEncoder(b).Encode(f); err != nil {
			t.Fatal(err)
		}
		return seal(b.String())
	}
	depth := func(relevant ...float64) modelFile {
		return modelFile{Depths: []depthFile{{Terms: []string{"a"}, Relevant: relevant, Other: []float64{0}}}}
	}
	for _, test := range []struct {
		name string
		data []byte
		want error
	}{
		{"empty file", nil, ErrDamaged},
		{"cut in the magic word", []byte("gazehound pre"), ErrDamaged},
		{"cut behind it", []byte(magic), ErrDamaged},
		{"text", []byte("seeds: [a, b]\n"), ErrForeign},
		{"gob of another program", []byte{0x40, 0xff, 0x81, 3, 1, 1}, ErrForeign},
		{"newer format", seal(magic + " 6 1\n"), ErrNewerFormat},
		{"newer format with another checksum", []byte(magic + " 7 1\nwhatever follows"), ErrNewerFormat},
		{"older format", seal(magic + "\n\x03\x01\x00"), ErrOlderFormat},
		{"other features", seal(magic + " 5 99\n"), ErrFeatures},
		{"no content", seal(head), ErrDamaged},
		{"bytes behind the end", seal(string(good[:len(good)-4]) + "x"), ErrDamaged},
		{"count out of range", sealed(depth(1 << 40)), ErrDamaged},
		{"negative count", sealed(depth(-1)), ErrDamaged},
		{"count that is no number", sealed(depth(math.NaN())), ErrDamaged},
		{"term that was never seen", sealed(depth(0)), ErrDamaged},
		{"term without counts", sealed(depth()), ErrDamaged},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "model")
			if err := os.WriteFile(path, test.data, 0o600); err != nil {
				t.Fatal(err)
			}
			m, err := Load(path, DefaultOptions())
			if m != nil || !errors.Is(err, test.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("Load = %v, %v; want %q with the path", m, err, test.want)
			}
		})
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none"), DefaultOptions()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestLoadNoticesEveryDamage cuts a file at every byte and flips every byte.
func TestLoadNoticesEveryDamage(t *testing.T) {
	good := saved(t)
	for i := range good {
		if err := newModel(t, nil).read(good[:i]); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut at byte %d of %d: %v", i, len(good), err)
		}
		bad := bytes.Clone(good)
		bad[i] ^= 0x40
		if err := newModel(t, nil).read(bad); err == nil {
			t.Fatalf("byte %d of %d changed: no error", i, len(good))
		}
	}
}

// FuzzLoad holds that what can be read is written again with the same meaning.
func FuzzLoad(f *testing.F) {
	f.Add(saved(f)[len(magic):])
	f.Fuzz(func(t *testing.T, body []byte) {
		m := newModel(t, nil)
		if len(body) > 4 {
			body = body[:len(body)-4]
		}
		if err := m.read(seal(magic + string(body))); err != nil {
			return
		}
		for _, p := range m.Score([]string{"host:a", "anchor:b"}) {
			if !(p >= 0 && p <= 1) {
				t.Errorf("Score = %v", p)
			}
		}
		again := newModel(t, nil)
		data, err := m.encode()
		if err == nil {
			err = again.read(data)
		}
		if err != nil {
			t.Fatal(err)
		}
		same(t, again, m)
	})
}

// TestSaveThatIsKilled: after an interrupted save the old model is read, and the next save removes
// what was left over.
func TestSaveThatIsKilled(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "model[a-b]*") // is no pattern
	m := newModel(t, nil)
	teach(m, 50)
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(dir, ".model[a-b]*.123.part")
	if err := os.WriteFile(half, []byte(magic), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(path, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	same(t, loaded, m)
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(half); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", half, err)
	}
}

func TestSaveFails(t *testing.T) {
	m := newModel(t, nil)
	if err := m.Save(filepath.Join(t.TempDir(), "none", "model")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("into a folder that is not there: %v", err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "model"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := m.Save(filepath.Join(dir, "model")); err == nil {
		t.Error("over a folder: no error")
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}

// BenchmarkSave reports how long a reader waits at most while a full model is
// saved, beside the time of the save.
func BenchmarkSave(b *testing.B) {
	m := newModel(b, nil)
	for i := range 200_000 {
		m.Learn([][]string{{fmt.Sprint("path:", i), fmt.Sprint("anchor:", i), "switch:no"}}, i%10 == 0)
	}
	path := filepath.Join(b.TempDir(), "model")
	done := make(chan time.Duration)
	stop := make(chan struct{})
	go func() {
		longest := time.Duration(0)
		for {
			select {
			case <-stop:
				done <- longest
				return
			default:
			}
			start := time.Now()
			m.Learn([][]string{{"switch:no"}}, false)
			longest = max(longest, time.Since(start))
			time.Sleep(time.Millisecond)
		}
	}()
	for b.Loop() {
		if err := m.Save(path); err != nil {
			b.Fatal(err)
		}
	}
	close(stop)
	b.ReportMetric(float64((<-done).Microseconds()), "µs-longest-wait")
}

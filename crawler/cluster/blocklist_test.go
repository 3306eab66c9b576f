package cluster

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gazehound/crawler/frontier"

	"github.com/nats-io/nats.go/jetstream"
)

// A blocking blocks the hosts of its lines.
type blocking struct {
	mu    sync.Mutex
	lines []string
}

func (b *blocking) Lines() ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.lines), nil
}

func (b *blocking) Add(lines []string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, line := range lines {
		if !slices.Contains(b.lines, line) {
			b.lines = append(b.lines, line)
		}
	}
	return nil
}

func (b *blocking) Blocks(e *frontier.Entry) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.lines, func(host string) bool {
		return strings.Contains(e.URL.String()+e.Words(), host)
	})
}

// What one node has forgotten leaves the messages that JetStream stores, and every other node obeys
// it: one that joins later, and one that is running.
func TestBlocklistOfAllNodes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serve(t, func(o *ServerOptions) { o.Dir = dir })
	optionsOf := map[string]Options{}
	lists := map[string]*blocking{"a": {}, "b": {}, "c": {}}
	for name, list := range lists {
		o := options(t, s, name)
		o.Blocklist = list
		optionsOf[name] = o
	}
	b := join(t, &memory{}, optionsOf["b"])
	a := join(t, &memory{}, optionsOf["a"])
	until(t, "both nodes are known", func() bool { return a.Alive() == 2 })
	b.Close()

	es := entries(t, 60)
	for i := range es {
		if i%6 == 1 {
			es[i].Around = "beside http://www.site0.example/ there"
		}
	}
	if own := route(t, a, es); len(own) == len(es) {
		t.Fatal("all links are a's")
	}
	until(t, "the links are sent", func() bool { return a.State().Outbox == 0 })
	before := storedMessages(t, a)
	if len(before) == 0 {
		t.Fatal("no message is stored")
	}
	var theirs []string // that b is to get
	named := 0
	for _, m := range before {
		links, err := unpackLinks(m.Data)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range links {
			if strings.Contains(e.URL.String()+e.Words(), "site0.example") || strings.Contains(e.URL.String(), "site7.example") {
				named++
			} else {
				theirs = append(theirs, e.URL.String())
			}
		}
	}
	if named == 0 {
		t.Fatal("no link of the forgotten is stored")
	}
	a.Close()

	lists["a"].lines = []string{"site0.example", "site7.example"}
	a = join(t, &memory{}, optionsOf["a"])
	after := storedMessages(t, a)
	for _, m := range after {
		links, err := unpackLinks(m.Data)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(links, func(e frontier.Entry) bool { return lists["a"].Blocks(&e) }) {
			t.Errorf("message %d still names what was forgotten", m.Sequence)
		}
	}
	for _, m := range before {
		if file := holding(t, dir, m.Data); file != "" && !slices.ContainsFunc(after, func(n *jetstream.RawStreamMsg) bool { return bytes.Equal(n.Data, m.Data) }) {
			t.Errorf("%s holds message %d", file, m.Sequence)
		}
	}

	late := &memory{}
	join(t, late, optionsOf["b"])
	if lines, _ := lists["b"].Lines(); !slices.Contains(lines, "site0.example") {
		t.Errorf("b has joined and blocks %q", lines)
	}
	slices.Sort(theirs)
	until(t, "b has its links", func() bool { return len(late.urls()) >= len(theirs) })
	if got := slices.Compact(late.urls()); !slices.Equal(got, slices.Compact(theirs)) {
		t.Errorf("b got %q, want %q", got, theirs)
	}
	lists["c"].lines = []string{"site9.example"}
	join(t, &memory{}, optionsOf["c"])
	until(t, "all nodes block what c has forgotten", func() bool {
		one, _ := lists["a"].Lines()
		two, _ := lists["b"].Lines()
		return slices.Contains(one, "site9.example") && slices.Contains(two, "site9.example")
	})
	if lines, _ := lists["c"].Lines(); len(lines) != 3 {
		t.Errorf("c blocks %q", lines)
	}
}

// storedMessages returns the messages with links that JetStream stores.
func storedMessages(t testing.TB, n *Node) (all []*jetstream.RawStreamMsg) {
	t.Helper()
	for seq := uint64(1); ; {
		m, err := n.links.GetMsg(context.Background(), seq, jetstream.WithGetMsgSubject(n.o.Crawl+".links.>"))
		if err != nil {
			return all
		}
		all = append(all, m)
		seq = m.Sequence + 1
	}
}

// holding returns a file below a folder that holds these bytes, or "".
func holding(t testing.TB, dir string, content []byte) (file string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if bytes.Contains(text, content) {
			file = name
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

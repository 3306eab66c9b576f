package frontier

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// killDir names the variable that makes TestKillChild work in a directory.
const killDir = "FRONTIER_KILL_DIR"

// TestKill kills a process that pushes and finishes as fast as it can, repeatedly on one store. What
// was acknowledged must be stored, and what waits for another node must wait until it is sent.
func TestKill(t *testing.T) {
	t.Parallel()
	kills := 5
	if testing.Short() {
		kills = 3
	}
	dir := t.TempDir()
	checked := 0 // bytes of the ledger
	sent := map[string]bool{}
	for run := range kills {
		killChild(t, dir, rand.N(100*time.Millisecond))
		l := readLedger(t, dir, checked)
		checked = l.size
		maps.Copy(sent, l.sent)
		f := open(t, Options{Dir: filepath.Join(dir, "store"), Memory: 32 << 20})
		checkStore(t, f)
		for url := range l.pushed {
			if n, ok, err := f.Get(KeyOf(parse(t, url))); err != nil || !ok || n.URL.String() != url {
				t.Fatalf("run %d: %s was accepted, and is lost (%v)", run, url, err)
			}
		}
		visits := map[string]int{}
		err := f.Walk(context.Background(), 0, func(n Node) error {
			visits[n.URL.String()]++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for url, n := range l.done {
			if n != 1 || visits[url] != 1 {
				t.Fatalf("run %d: %s was done %d times, and is visited %d times", run, url, n, visits[url])
			}
		}
		waits := waiting(t, f)
		for url := range l.kept {
			if !sent[url] && !waits[url] {
				t.Fatalf("run %d: %s was kept for another node, and is lost", run, url)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	l := readLedger(t, dir, 0)
	if len(l.sent) == 0 {
		t.Error("nothing was sent")
	}
	t.Logf("%d kills: %d URLs accepted, %d done; %d kept, %d sent", kills, len(l.pushed), len(l.done), len(l.kept), len(l.sent))
	finishAll(t, dir)
}

// waiting returns the URLs that wait for other nodes.
func waiting(t *testing.T, f *Frontier) map[string]bool {
	t.Helper()
	urls := map[string]bool{}
	err := f.view.scan([]byte{'o'}, nil, func(_, value []byte) error {
		r, err := decode[outgoingRecord](value)
		urls[r.Link.URL.String()] = true
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return urls
}

// killChild starts a child and kills it some time after its first deed.
func killChild(t *testing.T, dir string, after time.Duration) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestKillChild$")
	child.Env = append(os.Environ(), killDir+"="+dir)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "working\n" {
		t.Fatalf("the child said %q (%v)", line, err)
	}
	if _, err := Open(Options{Dir: filepath.Join(dir, "store")}); err == nil || !strings.Contains(err.Error(), strconv.Itoa(child.Process.Pid)) {
		t.Errorf("opening a store in use: %v; want the process %d", err, child.Process.Pid)
	}
	time.Sleep(after)
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	child.Wait()
}

// TestKillChild is the process that TestKill kills. It notes in a ledger what
// the frontier has acknowledged.
func TestKillChild(t *testing.T) {
	dir := os.Getenv(killDir)
	if dir == "" {
		t.Skip("only TestKill runs this")
	}
	ledger, err := os.OpenFile(filepath.Join(dir, "ledger"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(Options{Dir: filepath.Join(dir, "store"), Memory: 32 << 20})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	var wg sync.WaitGroup
	wg.Go(func() { sendAll(t, f, ledger) })
	for worker := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(os.Getpid()), uint64(worker)))
			for n := 0; ; n++ {
				var found []Entry
				var note strings.Builder
				for range r.IntN(20) {
					e := Entry{URL: parse(t, fmt.Sprintf("http://h%d.example/%d", r.IntN(50), r.IntN(100_000))), Priority: r.Float64(), Around: "some words around the link"}
					what := "push"
					if r.IntN(4) == 0 {
						e.Owner, what = "b", "keep"
					}
					found = append(found, e)
					fmt.Fprintf(&note, "%s %s\n", what, e.URL)
				}
				if n%4 == 0 {
					if _, err := f.Push(ctx, found...); err != nil {
						t.Error(err)
						return
					}
				} else {
					e, err := f.Next(ctx, always)
					if err == io.EOF {
						continue
					}
					if err != nil {
						t.Error(err)
						return
					}
					if r.IntN(10) == 0 {
						if err := f.Return(e, Backoff{}); err != nil {
							t.Error(err)
							return
						}
						continue
					}
					o := Outcome{Kind: "page", Relevant: true, Addresses: []string{e.URL.Path()}, At: time.Now()}
					if _, err := f.Done(ctx, e, o, found...); err != nil {
						t.Error(err)
						return
					}
					fmt.Fprintf(&note, "done %s\n", e.URL)
				}
				if _, err := ledger.WriteString(note.String()); err != nil {
					t.Error(err)
					return
				}
				if n == 4 && worker == 0 {
					fmt.Println("working")
				}
				time.Sleep(time.Millisecond) // a store that grows slower is checked sooner
			}
		})
	}
	wg.Wait()
}

// sendAll takes what waits for other nodes, notes it, and removes it.
func sendAll(t *testing.T, f *Frontier, ledger *os.File) {
	for {
		out, err := f.Outgoing(context.Background())
		if err != nil {
			t.Error(err)
			return
		}
		var note strings.Builder
		for _, e := range out.Links {
			fmt.Fprintf(&note, "sent %s\n", e.URL)
		}
		_, err = ledger.WriteString(note.String())
		err = errors.Join(err, f.Sent(context.Background(), out))
		if err != nil {
			t.Error(err)
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// A ledger is what a frontier has acknowledged, by URL.
type ledger struct {
	pushed, kept, sent map[string]bool
	done               map[string]int // how often
	size               int            // bytes of its file
}

// readLedger reads a ledger from a byte on.
func readLedger(t *testing.T, dir string, from int) ledger {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "ledger"))
	if err != nil {
		t.Fatal(err)
	}
	l := ledger{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]int{}, 0}
	l.size = strings.LastIndexByte(string(text), '\n') + 1 // the last line may be cut
	for line := range strings.SplitSeq(string(text[from:l.size]), "\n") {
		switch what, url, _ := strings.Cut(line, " "); what {
		case "push":
			l.pushed[url] = true
		case "keep":
			l.kept[url] = true
		case "sent":
			l.sent[url] = true
		case "done":
			l.done[url]++
		}
	}
	if len(l.pushed) == 0 {
		t.Fatal("the child did nothing")
	}
	if err := os.Truncate(filepath.Join(dir, "ledger"), int64(l.size)); err != nil { // or the next child would write on in that line
		t.Fatal(err)
	}
	return l
}

// finishAll serves what is left, in a copy of the store.
func finishAll(t *testing.T, dir string) {
	original := filepath.Join(dir, "store")
	copied := filepath.Join(dir, "copy")
	if err := os.CopyFS(copied, os.DirFS(original)); err != nil {
		t.Fatal(err)
	}
	l := readLedger(t, dir, 0)
	f := open(t, Options{Dir: copied})
	ctx := context.Background()
	for {
		e, err := f.Next(ctx, always)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if l.done[e.URL.String()]++; l.done[e.URL.String()] > 1 {
			t.Fatalf("%s was served again after it was done", e.URL)
		}
		if rand.IntN(20) > 0 { // most in parallel, so that they share commits
			go f.Done(ctx, e, Outcome{Kind: "page"})
			continue
		}
		if _, err := f.Done(ctx, e, Outcome{Kind: "page"}); err != nil {
			t.Fatal(err)
		}
	}
	visited := map[string]bool{}
	err := f.Walk(ctx, 0, func(n Node) error {
		if visited[n.URL.String()] {
			t.Errorf("%s is visited twice", n.URL)
		}
		visited[n.URL.String()] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range slices.Sorted(maps.Keys(l.pushed)) {
		if !visited[url] {
			t.Errorf("%s was accepted and never visited", url)
		}
	}
	if got := f.Totals(); got.Queued != 0 || got.Visited != int64(len(visited)) {
		t.Errorf("totals = %+v, want %d visits", got, len(visited))
	}
}

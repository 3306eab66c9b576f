package monitor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestBottleneck(t *testing.T) {
	for _, c := range []struct {
		name string
		s    Snapshot
		word string
		says string
	}{
		{"delays", Snapshot{Queued: 38410, Workers: 16, Hosts: Hosts{Waiting: 402}}, Politeness, "all 402 hosts with links wait for their delay. More hosts"},
		{"one host", Snapshot{Queued: 5, Workers: 16, Hosts: Hosts{Waiting: 1, Next: 90 * time.Second}}, Politeness, "the only host with links waits for its delay. The next one is ready in 1m30s."},
		{"delays while some are asked", Snapshot{Queued: 5, Leased: 2, Workers: 16, Hosts: Hosts{Waiting: 3, Asked: 2}}, Politeness, "wait for their delay"},
		{"patience", Snapshot{Queued: 5, Workers: 4, Hosts: Hosts{Waiting: 1000, Backoff: 700}}, Blocked, "700 of 1,000 hosts with links: backing off"},
		{"patience, but others are there", Snapshot{Queued: 500, Leased: 4, Workers: 4, Hosts: Hosts{Ready: 40, Waiting: 60, Backoff: 60}}, Network, "all 4 workers"},
		{"network", Snapshot{Queued: 50, Leased: 16, Workers: 16, CPU: 0.4, Cores: 2, Hosts: Hosts{Ready: 9, Waiting: 3}}, Network, "9 more hosts are ready"},
		{"better links", Snapshot{Queued: 50, Leased: 3, Selecting: 13, Workers: 16, Hosts: Hosts{Ready: 9, Waiting: 3}}, Politeness, "holding back for better links: 13 of 16 workers; --selectivity 0 fetches more pages"},
		{"processor", Snapshot{Queued: 50, Leased: 16, Workers: 16, CPU: 1.9, Cores: 2, Hosts: Hosts{Ready: 9}}, Processor, "2 processor cores are"},
		{"store", Snapshot{Queued: 50, Leased: 3, Workers: 16, Hosts: Hosts{Ready: 9}}, Store, "3 of 16 workers are busy"},
		{"few links", Snapshot{Queued: 1, Leased: 1, Workers: 16}, Seeds, "1 page is being fetched"},
		{"rest", Snapshot{Queued: 50, Resting: true, Workers: 16, Hosts: Hosts{Ready: 9}}, Rests, "revisited in the next round"},
		{"rest at the limit", Snapshot{Queued: 50, Resting: true, Workers: 16}, Rests, "a higher --max-pages goes on"},
		{"rest without links", Snapshot{Resting: true, Workers: 16}, Rests, "no link may be fetched; pages"},
		{"end", Snapshot{Workers: 16}, Finished, "no link is left"},
	} {
		word, sentence := c.s.Bottleneck()
		if word != c.word || !strings.Contains(sentence, c.says) {
			t.Errorf("%s: %s: %s, want %s: %s", c.name, word, sentence, c.word, c.says)
		}
		for _, odd := range []string{"NaN", "Inf", "-1", "  "} {
			if strings.Contains(sentence, odd) {
				t.Errorf("%s: %q has %q", c.name, sentence, odd)
			}
		}
	}
}

func TestFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "status.json")
	if _, err := Read(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read of nothing: %v", err)
	}
	want := Snapshot{Region: "Oldenburg", PID: 7, Started: time.Unix(1, 0).UTC(), At: time.Unix(2, 0).UTC(), Dropped: map[string]int64{"depth": 2}, Hosts: Hosts{Next: time.Minute}}
	if err := Write(name, want); err != nil {
		t.Fatal(err)
	}
	want.Version = version
	got, err := Read(name)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Read: %v\n%s", err, diff)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for at := range text {
		bad := slices.Clone(text)
		bad[at] ^= 1
		if err := os.WriteFile(name, bad, 0o666); err != nil {
			t.Fatal(err)
		}
		if s, err := Read(name); !errors.Is(err, ErrUnreadable) {
			t.Errorf("bit flipped at %d: %+v, %v", at, s, err)
		}
	}
	for _, text := range []string{"", "{", "[]", `{"version":99}`, "null", strings.Repeat(" ", maxFile+1)} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if s, err := Read(name); !errors.Is(err, ErrUnreadable) {
			t.Errorf("%.20q: %+v, %v", text, s, err)
		}
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(name, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(name); !errors.Is(err, ErrUnreadable) {
		t.Errorf("a folder: %v", err)
	}
}

package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gazehound/predictor/clicklog"
)

// manyViews writes an access log of so many lines, nearly all of them page views.
func manyViews(lines int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	at := time.Date(2026, 10, 4, 12, 0, 0, 0, time.UTC)
	for i := range lines {
		if i%8 == 0 {
			at = at.Add(time.Second)
		}
		client, page := random.IntN(50_000), int(2000*random.Float64()*random.Float64())
		fmt.Fprintf(&b, "10.0.%d.%d - - [%s] \"GET /p%d HTTP/1.1\" 200 5 \"-\" \"Mozilla/5.0 Firefox/140.0\"\n", client/250, client%250, at.Format("02/Jan/2006:15:04:05 -0700"), page)
	}
	return b.Bytes()
}

// An import that is killed at any moment, before anything is on the disk, in
// the middle of the log, while the table is written, and started
// again gives the bytes that it gives in one go.
func TestClickstreamKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("imports 124,000 lines several times")
	}
	t.Parallel()
	log := manyViews(124_000) // the first 100,000 views are written at once
	half := bytes.LastIndexByte(log[:len(log)*560/620], '\n') + 1
	dir := t.TempDir()
	file := filepath.Join(dir, "access.log")
	if err := os.WriteFile(file, log, 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(data, name string) *exec.Cmd {
		return program("clickstream", "import", name, "--site", "https://www.example.org", "--data", data)
	}
	store := func(data, name string) string { return filepath.Join(data, "clickstream", name) }
	table := func(data string) []byte {
		t.Helper()
		if out, err := command(data, file).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		b, err := os.ReadFile(store(data, "table"))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	want := table(filepath.Join(dir, "once"))
	if ranked, err := clicklog.Load(store(filepath.Join(dir, "once"), "")); err != nil || ranked.Len() < 1500 {
		t.Fatalf("%+v, %v: too few pages have a rank", ranked, err)
	}

	killed := filepath.Join(dir, "killed")
	kill := func(t *testing.T, p *exec.Cmd, when func() bool) (hit bool) {
		t.Helper()
		ended := make(chan struct{})
		go func() { p.Wait(); close(ended) }()
		for end := time.Now().Add(time.Minute); !when(); {
			select {
			case <-ended:
				return false // it was faster than we could look
			case <-time.After(time.Millisecond):
			}
			if time.Now().After(end) {
				t.Fatal("the moment does not come")
			}
		}
		p.Process.Kill()
		<-ended
		return !p.ProcessState.Success()
	}
	exists := func(name string) func() bool {
		return func() bool { _, err := os.Stat(store(killed, name)); return err == nil }
	}
	// From a pipe, so that it cannot finish before it is killed.
	for _, part := range []struct {
		bytes []byte
		when  func() bool
	}{
		{log[:half/2], exists("manifest.json")},
		{log[:half], func() bool {
			b, _ := os.ReadFile(store(killed, "manifest.json"))
			return len(b) > 0 && !strings.Contains(string(b), `"Size": 0`)
		}},
	} {
		p := command(killed, "-")
		in, err := p.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		written := make(chan struct{})
		go func() { io.Copy(in, bytes.NewReader(part.bytes)); close(written) }()
		if !kill(t, p, part.when) {
			t.Error("an import was not killed")
		}
		<-written
		in.Close()
	}
	p := command(killed, file)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	kill(t, p, func() bool { parts, _ := filepath.Glob(store(killed, ".table.*")); return len(parts) > 0 })
	got := table(killed)
	if !bytes.Equal(got, want) {
		t.Errorf("after kills the table has %d bytes, in one go %d", len(got), len(want))
	}
}

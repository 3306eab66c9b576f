package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// jumpingClock builds the program with a package time whose clock on the wall, not the monotonic one,
// is right, an hour ahead and an hour behind for a second each, in turn.
func jumpingClock(t *testing.T) (name string) {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("needs go: %v", err)
	}
	original := filepath.Join(strings.TrimSpace(string(out)), "src", "time", "time.go")
	text, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	const reading = "sec, nsec, mono := runtimeNow()\n"
	now := strings.Index(string(text), "func Now() Time {")
	at := strings.Index(string(text[max(0, now):]), reading)
	if now < 0 || at < 0 {
		t.Skip("package time reads the clock in another way")
	}
	at += now + len(reading)
	dir := t.TempDir()
	jumping, overlay := filepath.Join(dir, "time.go"), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{original: jumping}})
	if err != nil {
		t.Fatal(err)
	}
	changed := string(text[:at]) + "\tsec += [...]int64{0, 3600, -3600}[mono/1e9%3]\n" + string(text[at:])
	for name, text := range map[string]string{jumping: changed, overlay: string(replace)} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	name = filepath.Join(dir, "gazehound")
	build := exec.Command("go", "build", "-overlay", overlay, "-o", name, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return name
}

// While a crawl runs, the clock on the wall goes forth by an hour, back by two, and forth again, each
// second: no host gets a request before its delay has passed, all pages are fetched once, and
// a revisit fetches none twice.
func TestClockJumps(t *testing.T) {
	if os.Getenv("GAZEHOUND_SOAK") == "" {
		t.Skip("make soak builds the program with a clock that jumps")
	}
	t.Parallel()
	program := jumpingClock(t)
	const delay = 150 * time.Millisecond
	data, flags, _, ledger := servedTown(t)
	soon := filepath.Join(t.TempDir(), "soon.yaml")
	if err := os.WriteFile(soon, []byte("revisit: {first: 1ms, min: 1ms, max: 1ms}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"crawl", "--json", "--config", soon, "--max-pages", "200"}, flags...)
	args = append(args, "--delay", delay.String())
	began := time.Now()
	for _, more := range [][]string{nil, {"--revisit"}} {
		out, err := exec.Command(program, append(args, more...)...).CombinedOutput()
		if err != nil || strings.Contains(string(out), "panic") || !strings.Contains(string(out), `"pages":200,`) {
			t.Fatalf("%v: %v\n%s", more, err, out)
		}
	}
	shortest, fetched := fault{delay: delay}.gaps(t, ledger), map[string]int{}
	for _, r := range ledger.Requests() {
		if r.Path != "/robots.txt" {
			fetched[r.Host+r.Path]++
		}
	}
	for page, n := range fetched {
		if n > 2 {
			t.Errorf("%s was fetched %d times by a crawl and a revisit", page, n)
		}
	}
	// The last run may have ended an hour ahead: that doctor must say.
	for line := range strings.Lines(problems(t, data)) {
		if !strings.HasPrefix(line, "✗ clock") {
			t.Errorf("%s", line)
		}
	}
	t.Logf("%d requests in %v, about %d jumps, shortest gap %v of %v", len(ledger.Requests()), time.Since(began), time.Since(began)/time.Second, shortest, delay)
}

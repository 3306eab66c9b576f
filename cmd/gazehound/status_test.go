package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gazehound/crawler/monitor"
	"gazehound/internal/textutil"
)

// program returns the command that runs the program with args.
func program(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "GAZEHOUND_TEST_MAIN=1")
	return cmd
}

// A process is the program as people start it.
type process struct {
	*exec.Cmd
	stderr chan string // its lines
	ended  chan error
}

// startProgram runs the program with args until the test ends.
func startProgram(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{program(args...), make(chan string, 10_000), make(chan error, 1)}
	out, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.stderr <- lines.Text()
		}
		close(p.stderr)
		p.ended <- p.Wait()
	}()
	t.Cleanup(func() { p.Process.Kill() })
	return p
}

// heard returns the lines of standard error that nobody has read yet.
func (p *process) heard() (lines []string) {
	for {
		select {
		case line, more := <-p.stderr:
			if !more {
				return append(lines, "(it has ended)")
			}
			lines = append(lines, line)
		default:
			return lines
		}
	}
}

// says waits for a line of standard error with this text.
func (p *process) says(t *testing.T, text string) {
	t.Helper()
	var heard []string
	for timeout := time.After(time.Minute); ; {
		select {
		case line, ok := <-p.stderr:
			if strings.Contains(line, text) {
				return
			}
			if heard = append(heard, line); !ok {
				t.Fatalf("it ended without saying %q:\n%s", text, strings.Join(heard, "\n"))
			}
		case <-timeout:
			t.Fatalf("it does not say %q:\n%s", text, strings.Join(heard, "\n"))
		}
	}
}

// shows waits until status says of the crawl in data what ok looks for.
func (p *process) shows(t *testing.T, data string, ok func(s crawlStatus, text string) bool) (s crawlStatus,
	text string) {
	t.Helper()
	for timeout := time.After(3 * time.Minute); ; {
		s, text = statusOf(t, data)
		if ok(s, text) {
			return s, text
		}
		select {
		case err := <-p.ended:
			t.Fatalf("it ended (%v): %q; its status was:\n%s", err, p.heard(), text)
		case <-timeout:
			t.Fatalf("it says %q; its status stays:\n%s", p.heard(), text)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// end waits for the end and returns the exit code.
func (p *process) end(t *testing.T) int {
	t.Helper()
	select {
	case <-p.ended:
		return p.ProcessState.ExitCode()
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
		return -1
	}
}

func statusOf(t *testing.T, data string) (s crawlStatus, text string) {
	t.Helper()
	var out, complaints bytes.Buffer
	if code := run(t.Context(), []string{"status", "--json", "--data", data}, nil, &out, &complaints); code != 0 {
		t.Fatalf("status: exit %d, %s", code, complaints.String())
	}
	if err := json.Unmarshal(out.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if code := run(t.Context(), []string{"status", "--data", data}, nil, &out, &complaints); code != 0 {
		t.Fatalf("status: exit %d, %s", code, complaints.String())
	}
	return s, out.String()
}

// A crawl says what it does and why it waits; one that was killed is not said
// to run, and one that was stopped says why.
func TestStatus(t *testing.T) {
	t.Parallel()
	data, flags := townProject(t)
	var out, complaints bytes.Buffer
	if code := run(t.Context(), []string{"status", "--data", data}, nil, &out, &complaints); code != exitNoData || !strings.Contains(complaints.String(), "no crawl") {
		t.Errorf("before a crawl: exit %d, %q", code, complaints.String())
	}
	config := filepath.Join(t.TempDir(), "config.yaml")
	write := func(text string) {
		if err := os.WriteFile(config, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("fetch: {max_crawl_delay: 1h, contact: https://bot.example/, backoff_max: 24h}\nhosts: {\"*.example\": {delay: 30m}}\n")
	args := append(append([]string{"crawl", "--config", config}, flags...), "--delay", "30m", "--stats", "1h")
	p := startProgram(t, args...)
	p.says(t, "Ctrl-C once")
	s, text := p.shows(t, data, func(s crawlStatus, _ string) bool { return s.Bottleneck == monitor.Politeness })
	if s.State != monitor.Running || s.PID != p.Process.Pid || !strings.Contains(text, "waiting for delays: ") || !strings.Contains(text, "with links wait") || !strings.Contains(text, "is ready in 29m") && !strings.Contains(text, "is ready in 30m") {
		t.Errorf("status of a crawl that waits: %+v\n%s", s, text)
	}
	p.Process.Signal(statusSignal)
	p.says(t, "state=politeness")
	write("fetch: {retries: often}\n")
	p.Process.Signal(syscall.SIGHUP)
	p.says(t, "the configuration stays as it was")
	write("fetch: {contact: https://bot.example/}\ncrawl: {exclude: [a, b, c]}\nlog: {level: debug}\n")
	p.Process.Signal(syscall.SIGHUP)
	p.says(t, "3 exclude and 0 include patterns, log level debug")

	p.Process.Kill()
	p.end(t)
	if s, text := statusOf(t, data); s.State != monitor.Killed || s.Bottleneck != "" || !strings.HasPrefix(text, "killed") {
		t.Errorf("status of a crawl that was killed: %+v\n%s", s, text)
	}
	if code := run(t.Context(), append([]string{"crawl", "--max-pages", "20", "--quiet"}, flags...), nil, &out, &complaints); code != 0 {
		t.Fatalf("exit %d: %s", code, complaints.String())
	}
	s, text = statusOf(t, data)
	if s.State != monitor.Ended || s.End != "page-limit" || s.Pages != 20 || s.Seen != s.Queued+s.Visited+s.Repeats+textutil.Sum(s.Dropped) || s.Seen == 0 || !strings.Contains(text, "page limit") {
		t.Errorf("status of a crawl at its limit: %+v\n%s", s, text)
	}
	if err := os.Remove(filepath.Join(data, "status.json")); err != nil {
		t.Fatal(err)
	}
	if s, _ := statusOf(t, data); s.State != monitor.NoStatus {
		t.Errorf("status without its file: %+v", s)
	}
}

package cluster

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"strings"
	"testing"
	"time"
)

// After a kill the outbox has what was put, for the same nodes. A record that the kill has torn is
// dropped with what follows it, and stops nothing.
func TestOutbox(t *testing.T) {
	dir := t.TempDir()
	o, err := openOutbox(dir)
	if err != nil {
		t.Fatal(err)
	}
	es := entries(t, 30)
	for i := range es {
		if err := o.put([]string{"a", "b"}[i%2], es[i:i+1]); err != nil {
			t.Fatal(err)
		}
	}
	size := o.Waiting()
	if err := os.Truncate(o.path(1), size-3); err != nil { // and o is forgotten
		t.Fatal(err)
	}
	o, err = openOutbox(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.put("c", es[:1]); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for {
		l, some, err := o.due(0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !some {
			break
		}
		links, err := o.read(l)
		if err != nil {
			t.Fatal(err)
		}
		for name, some := range links {
			got[name] += len(some)
		}
		if err := o.sent(); err != nil {
			t.Fatal(err)
		}
	}
	if want := map[string]int{"a": 15, "b": 14, "c": 1}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if o.Waiting() != 0 {
		t.Errorf("%d bytes wait", o.Waiting())
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%d files are left", len(left))
	}
}

// Links wait to be sent together, but no longer than Linger.
func TestOutboxWaits(t *testing.T) {
	o, err := openOutbox(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer o.close()
	if err := o.put("b", entries(t, 1)); err != nil {
		t.Fatal(err)
	}
	if _, some, err := o.due(1<<20, time.Hour); some || err != nil {
		t.Errorf("one link does not wait (%v)", err)
	}
	if _, some, err := o.due(1, time.Hour); !some || err != nil {
		t.Errorf("enough links wait (%v)", err)
	}
}

// A full outbox makes put wait until its context ends.
func TestOutboxFull(t *testing.T) {
	o, err := openOutbox(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer o.close()
	if err := o.put("b", entries(t, 1)); err != nil {
		t.Fatal(err)
	}
	if err := o.file.Truncate(maxOutbox + 1); err != nil { // sparse
		t.Fatal(err)
	}
	o.waiting = maxOutbox + 1
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() { done <- o.awaitRoom(ctx) }()
	stopped := errors.New("stopped")
	cancel(stopped)
	if err := <-done; !errors.Is(err, stopped) {
		t.Errorf("got %v", err)
	}
	go func() { done <- o.awaitRoom(t.Context()) }()
	if err := o.sent(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Errorf("once there is room: %v", err)
	}
}

// A file of another version is refused with what to do, and stays.
func TestOutboxOfAnotherVersion(t *testing.T) {
	dir := t.TempDir()
	o, err := openOutbox(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.put("b", entries(t, 3)); err != nil {
		t.Fatal(err)
	}
	o.close()
	name := o.path(1)
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	other := append(raw[:2:2], "something else\n"...)
	if err := os.WriteFile(name, other, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openOutbox(dir); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Errorf("opened: %v", err)
	}
	if kept, err := os.ReadFile(name); err != nil || !bytes.Equal(kept, other) {
		t.Errorf("the file was touched: %v", err)
	}
	if err := os.Rename(name, strings.TrimSuffix(name, outboxExt)+".links"); err != nil {
		t.Fatal(err)
	}
	if _, err := openOutbox(dir); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Errorf("opened: %v", err)
	}
}

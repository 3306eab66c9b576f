package main

import (
	"context"
	"testing"

	"gazehound/internal/console"
	"gazehound/internal/disk"
)

// A crawl that waits for another command is stopped by its context, and goes on when the data
// directory is unlocked.
func TestUntilReturned(t *testing.T) {
	a := &app{Console: console.Console{Err: t.Output()}, data: t.TempDir()}
	unlock, err := disk.LockDir(a.data, false)
	if err != nil {
		t.Fatal(err)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.untilReturned(stopped); codeOf(err) != exitStopped {
		t.Errorf("stopped while it waits: %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if err := a.untilReturned(t.Context()); err != nil {
		t.Errorf("after the lock was released: %v", err)
	}
}

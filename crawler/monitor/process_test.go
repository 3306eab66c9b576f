package monitor

import (
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// status shows what the process has in memory: its own, and what is mapped from files.
func TestMemoryUse(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells")
	}
	debug.FreeOSMemory() // returns memory that would be returned during the test
	before, mapped := memoryUse()
	if before <= 0 || mapped <= 0 {
		t.Fatalf("memoryUse() = %d, %d", before, mapped)
	}
	room := make([]byte, 64<<20)
	for i := 0; i < len(room); i += 4096 {
		room[i] = 1
	}
	if after, _ := memoryUse(); after < before+int64(len(room))*3/4 {
		t.Errorf("%d bytes of memory after %d more than %d", after, len(room), before)
	}
	runtime.KeepAlive(room)
}

// If the size of mapped files is unknown, the line shows "?" and not 0.
func TestUnknownMemory(t *testing.T) {
	for mapped, want := range map[int64]string{0: "? MB of files mapped", 5_000_000: "5.0 MB of files mapped"} {
		lines := Lines(&Snapshot{Mapped: mapped})
		if !slices.ContainsFunc(lines, func(l Line) bool { return strings.Contains(l.Text, want) }) {
			t.Errorf("%d bytes: no %q in %q", mapped, want, lines)
		}
	}
}

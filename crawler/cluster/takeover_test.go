package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gazehound/crawler/frontier"
)

// oldOutbox writes a file as earlier versions did: a line for each page, the last one torn by a kill.
func oldOutbox(t testing.TB, dir, name string, owners []string, es []frontier.Entry) {
	t.Helper()
	var lines []byte
	for i, owner := range owners {
		lines = fmt.Appendf(lines, "%s %s\n", owner, encodeLinks(es[i:i+1]))
	}
	lines = fmt.Appendf(lines, "%s %s", owners[0], encodeLinks(es[len(owners):])[:20])
	folder := filepath.Join(dir, "outbox")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name), lines, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Links that an earlier version left in files are sent by this one.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	oa, b := options(t, s, "a"), &memory{}
	join(t, b, options(t, s, "b"))
	es := entries(t, 5)
	oldOutbox(t, oa.Dir, "7.out", []string{"b", "c"}, es[:3])
	oldOutbox(t, oa.Dir, "12.out", []string{"b"}, es[3:])
	f := stored(t)
	join(t, f, oa)
	want := []string{es[0].URL.String(), es[3].URL.String()}
	until(t, "b to have its links", func() bool { return slices.Equal(b.urls(), want) })
	until(t, "all to be sent", func() bool { return f.Totals().Outgoing == 0 })
	if left, err := os.ReadDir(oa.Dir); err != nil || slices.ContainsFunc(left, func(f os.DirEntry) bool { return f.Name() == "outbox" }) {
		t.Errorf("the folder is still there: %v, %v", left, err)
	}
}

// A take-over that was killed, or could not store what it read, is repeated and loses nothing.
func TestTakeOverAgain(t *testing.T) {
	dir, f := t.TempDir(), &memory{fail: fmt.Errorf("disk is full")}
	es := entries(t, 4)
	oldOutbox(t, dir, "1.out", []string{"b", "b", "c"}, es)
	if err := TakeOver(t.Context(), f, dir); err == nil {
		t.Error("links were taken over that could not be stored")
	}
	f.fail = nil
	for range 2 {
		if err := TakeOver(t.Context(), f, dir); err != nil {
			t.Fatal(err)
		}
	}
	out, err := f.Outgoing(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range out.Links {
		got = append(got, e.Owner+" "+e.URL.String())
	}
	want := []string{"b " + es[0].URL.String(), "b " + es[1].URL.String(), "c " + es[2].URL.String()}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A file that cannot be read is refused with what to do, and stays.
func TestTakeOverRefuses(t *testing.T) {
	for name, text := range map[string]string{"1.out": "b something else\n", "1.links": "\x1b\x02"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "outbox", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := TakeOver(t.Context(), &memory{}, dir)
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "remove it") {
			t.Errorf("%s: %v", name, err)
		}
		if kept, err := os.ReadFile(path); err != nil || string(kept) != text {
			t.Errorf("%s was touched: %v", name, err)
		}
	}
}

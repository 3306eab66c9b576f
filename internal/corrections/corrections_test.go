package corrections

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const home = "0123456789abcdef"

func said(what What, value string) Entry {
	return Entry{Who: Operator, What: what, Address: home, Value: value}
}

func add(t *testing.T, l *Log, entries ...Entry) []Entry {
	t.Helper()
	added, err := l.Add(nil, entries...)
	if err != nil {
		t.Fatal(err)
	}
	return added
}

func opened(t *testing.T, dir string) *Log {
	t.Helper()
	l, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// What counts of an address: the last entry of each kind that was not taken back.
func TestFacts(t *testing.T) {
	dir := t.TempDir()
	l, other := opened(t, dir), opened(t, dir)
	facts := func(want ...string) {
		t.Helper()
		for name, log := range map[string]*Log{"the log": l, "another process": other, "a new one": opened(t, dir)} {
			if _, err := log.Refresh(); err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, e := range log.Facts(home) {
				got = append(got, strings.TrimSpace(string(e.What)+" "+e.Value))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
	facts()
	add(t, l, said(Name, "Anker"), said(Phone, "+496313104477"))
	facts("name Anker", "phone +496313104477")
	second := add(t, other, said(Name, "Zum Anker"))[0]
	if second.N != 3 {
		t.Errorf("number %d after two of another process", second.N)
	}
	facts("phone +496313104477", "name Zum Anker")
	undo := add(t, l, Entry{Who: Operator, What: Undo, Undoes: second.N})[0]
	facts("name Anker", "phone +496313104477")
	add(t, l, Entry{Who: Operator, What: Undo, Undoes: undo.N})
	facts("phone +496313104477", "name Zum Anker")
	add(t, l, said(Confirm, ""), said(Reject, ""))
	facts("phone +496313104477", "name Zum Anker", "reject")
	if n := len(l.History(home)); n != 7 {
		t.Errorf("a history of %d entries, want 7", n)
	}
	err := other.Edit(func(e *Entry) bool { return e.Value != "Zum Anker" })
	if err != nil {
		t.Fatal(err)
	}
	facts("name Anker", "phone +496313104477", "reject")
	if text, err := os.ReadFile(filepath.Join(dir, FileName)); err != nil || strings.Contains(string(text), "Zum Anker") {
		t.Errorf("after it was forgotten: %s, %v", text, err)
	}
}

// What a crash has cut off, and what people write into the file, is no entry and harms none.
func TestTornLines(t *testing.T) {
	dir := t.TempDir()
	l := opened(t, dir)
	add(t, l, said(Name, "Anker"))
	f, err := os.OpenFile(filepath.Join(dir, FileName), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.WriteString("nonsense\n{\"n\":-1}\n{\"n\":7,\"what\":\"name\",\"address\":\"x\"}\n{\"n\":2,\"what\":\"na")
	next := add(t, l, said(Name, "Zum Anker"))[0]
	if next.N != 2 {
		t.Errorf("number %d", next.N)
	}
	if facts := opened(t, dir).Facts(home); len(facts) != 1 || facts[0].Value != "Zum Anker" {
		t.Errorf("facts %+v", facts)
	}
}

// Several processes that add at the same time lose nothing and give each number once.
func TestAddTogether(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 4 {
		l := opened(t, dir)
		all.Go(func() {
			for i := range 25 {
				if _, err := l.Add(nil, said(Name, fmt.Sprint("Anker ", i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	entries, _ := opened(t, dir).Since(Position{})
	for i, e := range entries {
		if e.N != i+1 {
			t.Fatalf("entry %d has the number %d", i, e.N)
		}
	}
	if len(entries) != 100 {
		t.Errorf("%d entries, want 100", len(entries))
	}
}

// Whoever had read a log before another process took entries out of it, and added longer ones, has what
// is in it, and no number is used again.
func TestRewritten(t *testing.T) {
	dir := t.TempDir()
	l := opened(t, dir)
	add(t, l, said(Name, "Anker"), said(Name, "Krone"), said(Name, "Adler"))
	reader := opened(t, dir)
	entries, _ := reader.Since(Position{})
	last := entries[2]
	for range 2 { // the second time there is nothing to do
		if err := l.Edit(func(e *Entry) bool { return e.Value == "Krone" }); err != nil {
			t.Fatal(err)
		}
	}
	other := opened(t, dir)
	next := add(t, other, said(Name, strings.Repeat("Zum goldenen Anker ", 20)))[0]
	if next.N != last.N+1 {
		t.Errorf("number %d after %d", next.N, last.N)
	}
	for _, l := range []*Log{l, reader} {
		if _, err := l.Refresh(); err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(l.Facts(home)), fmt.Sprint(opened(t, dir).Facts(home)); got != want || !strings.Contains(got, "goldenen") {
			t.Errorf("facts %s; want %s", got, want)
		}
	}
}

func TestRefusedEntries(t *testing.T) {
	l := opened(t, t.TempDir())
	for name, e := range map[string]Entry{
		"1 MB":           said(Name, strings.Repeat("x", 1<<20)),
		"control":        said(Name, "An\x1bker"),
		"line break":     said(Name, "An\nker"),
		"not UTF-8":      said(Name, "An\xffker"),
		"no value":       said(Name, " "),
		"value":          said(Confirm, "yes"),
		"unknown":        said("colour", "red"),
		"no address":     {Who: Operator, What: Name, Value: "Anker"},
		"nothing":        {Who: Operator, What: Confirm},
		"undo":           {Who: Operator, What: Undo},
		"too many pages": {Who: Operator, What: Reject, Pages: make([]string, MaxPages+1)},
		"long URL":       {Who: Operator, What: Reject, Pages: []string{strings.Repeat("x", 1<<20)}},
	} {
		if _, err := l.Add(nil, said(Name, "Anker"), e); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(l.name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
	refused := errors.New("refused")
	if _, err := l.Add(func() error { return refused }, said(Name, "Anker")); !errors.Is(err, refused) {
		t.Errorf("the check does not count: %v", err)
	}
	l.most = 1000
	var err error
	for n := 0; err == nil && n < 100; n++ {
		_, err = l.Add(nil, said(Name, "Anker"))
	}
	if !errors.Is(err, ErrFull) {
		t.Errorf("a full log: %v", err)
	}
}

// FuzzParse holds that each entry stands in a line of its own, and that what is written is read back.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"n":1,"time":"2026-11-28T10:00:00Z","who":"operator","what":"name","address":"0123456789abcdef","value":"<b>"}` + "\n"))
	f.Add([]byte("{\"n\":2,\"what\":\"undo\",\"undoes\":1}\n\n{\"n\":3,\"what\":\"reject\",\"pages\":[\"http://a.example/\"]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all := parse(data)
		if lines := strings.Count(string(data), "\n") + 1; len(all) > lines {
			t.Fatalf("%d entries in %d lines", len(all), lines)
		}
		var text []byte
		for _, e := range all {
			line, err := json.Marshal(e)
			if err != nil {
				t.Skip() // a year beyond 9999
			}
			text = append(append(text, line...), '\n')
		}
		again := parse(text)
		if len(again) != len(all) {
			t.Fatalf("%d entries, read back %d", len(all), len(again))
		}
		for i := range all {
			if again[i].N != all[i].N || again[i].Value != all[i].Value || again[i].What != all[i].What {
				t.Fatalf("entry %d: %+v, read back %+v", i, all[i], again[i])
			}
		}
	})
}

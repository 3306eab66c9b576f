package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gazehound/crawler/monitor"
	"gazehound/index"

	"github.com/rogpeppe/go-internal/testscript"
)

// What the script of doctor breaks:
//
//	lose DATA    takes a page out of the index
//	tear DIR     takes the last byte of a WARC file away
//	future DATA  the last run of the crawl was tomorrow
//	flip FILE    changes a bit of the fifteenth byte
//	damage DIR   changes 64 bytes in the middle of the first WARC file
func losePage(ts *testscript.TestScript, neg bool, args []string) {
	url := ""
	walkIndex(ts, args[0], func(h *index.Hit) { url = h.Evidence[0].URL })
	x, err := index.Open(project{ts.MkAbs(args[0])}.index())
	ts.Check(err)
	ts.Check(x.Delete(context.Background(), url))
	ts.Check(x.Close())
}

func tearArchive(ts *testscript.TestScript, neg bool, args []string) {
	names, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*.warc.gz"))
	ts.Check(err)
	if len(names) == 0 {
		ts.Fatalf("no WARC file in %s", args[0])
	}
	cutOff(ts, false, names[:1])
}

// damageArchive changes 64 bytes in the middle of the first WARC file of a folder.
func damageArchive(ts *testscript.TestScript, _ bool, args []string) {
	names, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*.warc.gz"))
	if err != nil || len(names) == 0 {
		ts.Fatalf("no WARC file in %s: %v", args[0], err)
	}
	text, err := os.ReadFile(names[0])
	ts.Check(err)
	for i := range 64 {
		text[len(text)/2+i] ^= 0x55
	}
	ts.Check(os.WriteFile(names[0], text, 0o600))
}

func setFuture(ts *testscript.TestScript, neg bool, args []string) {
	name := project{ts.MkAbs(args[0])}.status()
	status, err := monitor.Read(name)
	ts.Check(err)
	status.At = time.Now().Add(24 * time.Hour)
	ts.Check(monitor.Write(name, status))
}

func flipBit(ts *testscript.TestScript, _ bool, args []string) {
	text := []byte(ts.ReadFile(args[0]))
	text[14] ^= 4
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o644))
}

// problems returns what is wrong with a project, but for its contact.
func problems(t *testing.T, data string) (found string) {
	t.Helper()
	for line := range strings.Lines(doctorText(t, data)) {
		if strings.HasPrefix(line, "✗") && !strings.HasPrefix(line, "✗ contact") {
			found += line
		}
	}
	return found
}

// doctorText returns what a deep look into a project says.
func doctorText(t *testing.T, data string) string {
	t.Helper()
	var out, complaints bytes.Buffer
	if code := run(t.Context(), []string{"doctor", "--deep", "--data", data}, nil, &out, &complaints); code != exitOK && code != exitGate {
		t.Errorf("doctor: exit %d: %s", code, complaints.String())
	}
	return out.String()
}

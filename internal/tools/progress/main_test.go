package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestShow(t *testing.T) {
	const events = `{"Time":"2026-11-28T10:00:00Z","Action":"start","Package":"a"}
{"Time":"2026-11-28T10:00:00Z","Action":"start","Package":"b"}
{"Time":"2026-11-28T10:00:01Z","Action":"run","Package":"a","Test":"TestGood"}
{"Time":"2026-11-28T10:00:01Z","Action":"output","Package":"a","Test":"TestGood","Output":"of no interest\n"}
{"Time":"2026-11-28T10:00:02Z","Action":"pass","Package":"a","Test":"TestGood","Elapsed":1}
{"Time":"2026-11-28T10:00:02Z","Action":"output","Package":"a","Output":"PASS\n"}
{"Time":"2026-11-28T10:00:02Z","Action":"output","Package":"a","Output":"ok  \ta\t2.004s\n"}
{"Time":"2026-11-28T10:00:02Z","Action":"pass","Package":"a","Elapsed":2}
{"Time":"2026-11-28T10:00:03Z","Action":"run","Package":"b","Test":"TestSlow"}
{"Time":"2026-11-28T10:00:04Z","Action":"output","Package":"b","Test":"TestSlow","Output":"    b_test.go:7: it is so\n"}
{"Time":"2026-11-28T10:00:40Z","Action":"output","Package":"b","Test":"TestSlow","Output":"--- FAIL: TestSlow\n"}
`
	const failed = `{"Time":"2026-11-28T10:00:41Z","Action":"fail","Package":"b","Test":"TestSlow","Elapsed":38}
{"Time":"2026-11-28T10:00:41Z","Action":"output","Package":"b","Output":"FAIL\n"}
{"Time":"2026-11-28T10:00:41Z","Action":"output","Package":"b","Output":"FAIL\tb\t41.013s\n"}
{"Time":"2026-11-28T10:00:41Z","Action":"fail","Package":"b","Elapsed":41}
`
	for _, c := range []struct {
		name, in, want string
		ok             bool
	}{
		{"so far", events, "ok  \ta\t2.004s\n# 1 of 2 packages are done; what runs:\n#   b TestSlow\n", true},
		{"failed", events + failed, "ok  \ta\t2.004s\n# 1 of 2 packages are done; what runs:\n#   b TestSlow\n" +
			"    b_test.go:7: it is so\n--- FAIL: TestSlow\nFAIL\nFAIL\tb\t41.013s\n", false},
		{"not built", `{"ImportPath":"c","Action":"build-output","Output":"c.go:1: no\n"}` + "\n" +
			`{"ImportPath":"c","Action":"build-fail"}`, "c.go:1: no\n", false},
		{"of go itself", "go: no such module", "go: no such module\n", true},
		{"a line too long", strings.Repeat("x", 17<<20), "progress: bufio.Scanner: token too long\n", false},
	} {
		var w bytes.Buffer
		ok := show(strings.NewReader(c.in), &w, "2")
		if ok != c.ok || w.String() != c.want {
			t.Errorf("%s: %v\n%s\nwant %v\n%s", c.name, ok, w.String(), c.ok, c.want)
		}
	}
}

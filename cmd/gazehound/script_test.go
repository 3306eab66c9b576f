package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gazehound/crawler/demo"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	if os.Getenv("GAZEHOUND_TEST_MAIN") != "" {
		main() // as a child of TestCrawlKilled
	}
	testscript.Main(m, map[string]func(){"gazehound": main})
}

// TestScript runs testdata/*.txt: the command line as a user types it.
// Besides testscript's own commands there are
//
//	town [SHARE] serves a small made-up town: sets $PROXY and $TOWN, writes town.osm, with this share of the houses, and seeds.txt
//	json FILE    every line of FILE is a JSON object; the last one's type is summary or exit_error, or what follows FILE
//	cut FILE     takes the last byte of FILE away
//	code N CMD…  runs a command that must exit with N
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir) // no configuration of the user's
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, ".config"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"town": serveTown,
			"json": checkJSON,
			"code": exitsWith,
			"cut":  cutOff,
		},
	})
}

func cutOff(ts *testscript.TestScript, _ bool, args []string) {
	name := ts.MkAbs(args[0])
	info, err := os.Stat(name)
	ts.Check(err)
	ts.Check(os.Truncate(name, info.Size()-1))
}

func serveTown(ts *testscript.TestScript, neg bool, args []string) {
	o := demo.DefaultOptions()
	o.Sites, o.PagesPerSite, o.Streets = 60, 20, 40
	if len(args) > 0 {
		share, err := strconv.ParseFloat(args[0], 64)
		ts.Check(err)
		o.ListedHouses = share
	}
	town, err := demo.New(o)
	ts.Check(err)
	ln, err := demo.Listen("127.0.0.1:0")
	ts.Check(err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- town.Serve(ctx, ln, nil) }()
	ts.Defer(func() {
		stop()
		if err := <-done; err != nil {
			ts.Logf("town: %v", err)
		}
	})
	ts.Setenv("PROXY", "http://"+ln.Addr().String())
	ts.Setenv("TOWN", town.Name())
	ts.Check(writeFile(ts.MkAbs("town.osm"), town.WriteOSM))
	ts.Check(os.WriteFile(ts.MkAbs("seeds.txt"), []byte(strings.Join(texts(town.Seeds()), "\n")+"\n"), 0o644))
}

func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: json FILE [LAST-TYPE]")
	}
	var last map[string]any
	lines := bytes.Split(bytes.TrimSpace([]byte(ts.ReadFile(args[0]))), []byte("\n"))
	for i, line := range lines {
		last = nil
		if err := json.Unmarshal(line, &last); err != nil {
			ts.Fatalf("line %d of %s is no JSON object: %v: %.200s", i+1, args[0], err, line)
		}
	}
	kind := fmt.Sprint(last["type"])
	if len(args) > 1 && kind != args[1] || len(args) == 1 && kind != "summary" && kind != "exit_error" {
		ts.Fatalf("the last line of %s has type %q", args[0], kind)
	}
}

func exitsWith(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND…")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if err != nil {
		var exit interface{ ExitCode() int }
		if e, ok := err.(interface{ ExitCode() int }); ok {
			exit = e
			code = exit.ExitCode()
		} else {
			ts.Fatalf("%v", err)
		}
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

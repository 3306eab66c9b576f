package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gazehound/crawler/cluster"
	"gazehound/crawler/lab/demo"
	"gazehound/crawler/monitor"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
)

func TestMain(m *testing.M) {
	if os.Getenv("GAZEHOUND_TEST_MAIN") != "" { // a child of a test
		if os.Getenv("GAZEHOUND_TEST_HASTE") != "" {
			tuneCluster = hasten
		}
		main()
	}
	// No test reads the configuration of the user who runs it.
	home, err := os.MkdirTemp("", "gazehound-test-")
	if err == nil {
		err = os.Setenv("XDG_CONFIG_HOME", home)
	}
	if err == nil { // ./config.yaml names a port, which only one crawl can have
		err = os.Setenv("GAZEHOUND_ADMIN__LISTEN", "127.0.0.1:0")
	}
	if err != nil {
		panic(err)
	}
	// Those of several nodes wait most of the time. -parallel on the command line wins.
	if err := flag.Set("test.parallel", strconv.Itoa(max(8, runtime.GOMAXPROCS(0)))); err != nil {
		panic(err)
	}
	testscript.Main(cleaned{m, home}, map[string]func(){"gazehound": main})
}

// hasten makes the times of a node shorter.
func hasten(o *cluster.Options) {
	o.Heartbeat, o.Lease, o.Linger, o.Away = o.Heartbeat/8, o.Lease/8, o.Linger/8, o.Away/4
}

// cleaned removes a folder after all tests.
type cleaned struct {
	*testing.M
	dir string
}

func (c cleaned) Run() int {
	defer os.RemoveAll(c.dir)
	return c.M.Run()
}

// TestScript runs testdata/*.txt: the command line as a user types it.
// Besides testscript's own commands there are
//
//	town [SHARE [LANGUAGE [TRUTH]]] serves a small made-up town: sets $PROXY and $TOWN, writes town.osm, with this share of the houses, and
//	             seeds.txt; a share of its sites is in this language; its addresses are written to the file TRUTH
//	project DIR  is "gazehound init --data DIR --osm town.osm --region $TOWN", made once for all scripts
//	site DIR     serves the HTML files of a folder: sets $SITE
//	json FILE    every line of FILE is a JSON object; the last one's type is summary or exit_error, or what follows FILE
//	cut FILE     takes the last byte of FILE away
//	code N CMD…  runs a command that must exit with N
//	inside N ARGS… is "code N gazehound ARGS…" in the process of the test, which spares the program's
//	             start: for commands that read nothing from the environment that the script has set
//	until CMD…   runs a command until it succeeds
//	age DIR N|model  makes data of an older version of a project, with a crawl tree of format N, or its model alone
//
// and those of stories_test.go, newsroom_test.go and doctor_test.go.
func TestScript(t *testing.T) {
	t.Parallel() // while nodes wait
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir) // no configuration of the user's
			e.Setenv("GOGC", os.Getenv("GOGC"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, ".config"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"town":    serveTown,
			"project": copyProject,
			"shop":    serveShop,
			"site":    serveSite,
			"json":    checkJSON,
			"code":    exitsWith,
			"inside":  exitsInside,

			"until": runUntil,
			"cut":   cutOff,
			"age":   makeOlder,

			"agree": agree,

			"bestsite":  chooseSite,
			"address":   chooseAddress,
			"norecords": noRecords,
			"missing":   checkMissing,
			"nopersons": checkNoPersons,

			"serving":  startServing,
			"get":      getFile,
			"quarter":  chooseQuarter,
			"newsroom": askAsNewsroom,

			"lose":   losePage,
			"tear":   tearArchive,
			"damage": damageArchive,
			"future": setFuture,
			"flip":   flipBit,
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
	o := smallTown()
	if len(args) > 0 {
		share, err := strconv.ParseFloat(args[0], 64)
		ts.Check(err)
		o.ListedHouses = share
	}
	if len(args) > 1 {
		o.Language = args[1]
	}
	town, err := makeTown(o)
	ts.Check(err)
	if len(args) > 2 {
		ts.Check(writeFile(ts.MkAbs(args[2]), town.WriteTruth))
	}
	ln, err := demo.Listen("127.0.0.1:0")
	ts.Check(err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- monitor.ServeHTTP(ctx, ln, town, longestPage) }()
	ts.Defer(func() {
		stop()
		if err := <-done; err != nil {
			ts.Logf("town: %v", err)
		}
	})
	ts.Setenv("PROXY", "http://"+ln.Addr().String())
	ts.Setenv("TOWN", town.Name())
	for _, name := range []string{"town.osm", "seeds.txt"} {
		data, err := os.ReadFile(town.file(name))
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(name), data, 0o644))
	}
	ts.Setenv("PROJECT", town.file("project"))
}

func copyProject(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 || ts.Getenv("PROJECT") == "" {
		ts.Fatalf("usage: project DIR, after town")
	}
	ts.Check(os.CopyFS(ts.MkAbs(args[0]), os.DirFS(ts.Getenv("PROJECT"))))
}

// serveShop serves a small site of pages in several languages and code pages
// at $SHOP: four are Thai and three Japanese, of which one each is recognised by its
// META element, by the header, by its bytes, and in UTF-8 by its letters.
func serveShop(ts *testscript.TestScript, neg bool, args []string) {
	const thai = "ร้านอาหารของเราเปิดทุกวันตั้งแต่แปดโมงเช้าถึงหกโมงเย็น ยินดีต้อนรับลูกค้าทุกท่าน"
	const japanese1 = "東京都千代田区にあるお店です。毎日午前八時から午後六時まで営業しています。"
	const english = "Bicycle repair while you wait: we mend any bicycle, its brakes and its gears. Our workshop is open every day."
	pages := map[string]struct {
		charset string // of the header
		in      encoding.Encoding
		text    string
	}{
		"/":        {"utf-8", encoding.Nop, english + "<a href=/thai1>1</a> <a href=/ja1>2</a> <a href=/news>3</a>"},
		"/thai1":   {"", charmap.Windows874, "<meta charset=tis-620>" + thai + "<a href=/thai2>1</a>"},
		"/thai2":   {"iso-8859-11", charmap.Windows874, thai + "<a href=/thai3>1</a>"},
		"/thai3":   {"iso-8859-1", charmap.Windows874, thai + "<a href=/thai4>1</a>"}, // the server knows no better
		"/thai4":   {"utf-8", encoding.Nop, "<html lang=en>" + thai},
		"/ja1":     {"", japanese.ShiftJIS, japanese1 + "<a href=/ja2>1</a>"},
		"/ja2":     {"euc-jp", japanese.EUCJP, japanese1 + "<a href=/ja3>1</a>"},
		"/ja3":     {"", japanese.ISO2022JP, japanese1},
		"/news":    {"utf-8", encoding.Nop, "The council met on Monday and spoke about nothing in particular for a long while.<a href=/russian>1</a>"},
		"/russian": {"", charmap.Windows1251, "Наш ресторан работает каждый день с восьми утра до шести вечера. Добро пожаловать!"},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		if p.charset != "" {
			w.Header().Set("Content-Type", "text/html; charset="+p.charset)
		}
		body, err := p.in.NewEncoder().Bytes([]byte("<title>x</title><p>" + p.text + "</p>"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Write(body)
	}))
	ts.Defer(server.Close)
	ts.Setenv("SHOP", server.URL)
}

func serveSite(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: site DIR")
	}
	server := httptest.NewServer(http.FileServer(http.Dir(ts.MkAbs(args[0]))))
	ts.Defer(server.Close)
	ts.Setenv("SITE", server.URL)
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

// agree holds the figures of a report against those of a status.
func agree(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: agree REPORT STATUS")
	}
	var report struct {
		Pages, Relevant, Addresses int
		HarvestRecent              float64 `json:"harvest_recent"`
		Streets                    struct{ Gazetteer, Mentioned int }
	}
	var status struct {
		Pages, Relevant, Addresses int
		HarvestRecent              float64 `json:"harvest_1000"`
		Streets                    struct{ All, Found int }
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &report))
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &status))
	if r, s := report.Streets, status.Streets; r.Mentioned == 0 || r.Gazetteer != s.All || r.Mentioned != s.Found {
		ts.Fatalf("the report has %d of %d streets, the status %d of %d", r.Mentioned, r.Gazetteer, s.Found, s.All)
	}
	if r, s := report, status; r.Pages != s.Pages || r.Relevant != s.Relevant || r.Addresses != s.Addresses || math.Abs(r.HarvestRecent-s.HarvestRecent) > 1e-4 {
		ts.Fatalf("the report has %+v, the status %+v", r, s)
	}
}

// runUntil waits for what goes on beside the script.
func runUntil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: until COMMAND…")
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		err := ts.Exec(args[0], args[1:]...)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("it never succeeds: %v", err)
		}
	}
}

// pathFlags are followed by a path, which need not exist.
var pathFlags = []string{"-o", "--data", "--into", "--plot", "--rebuild", "--record-trace", "--refused", "--save-trace", "--save-log", "--warc"}

// wordFlags are followed by a word, even where a file has that name.
var wordFlags = []string{"--judge", "--language", "--name", "--strategy", "--topic"}

func exitsInside(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: inside N ARGS…")
	}
	if code := runInside(ts, args[1:]); strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// runInside runs the program with args in this process. Arguments that name something in the
// script's directory are made absolute, and what is printed has them as they were.
func runInside(ts *testscript.TestScript, args []string) (code int) {
	resolved := slices.Clone(args)
	for i, arg := range resolved {
		if i == 0 || arg == "-" || slices.Contains(wordFlags, args[i-1]) {
			continue
		}
		if _, err := os.Stat(ts.MkAbs(arg)); err == nil || slices.Contains(pathFlags, args[i-1]) {
			resolved[i] = ts.MkAbs(arg)
		}
	}
	var out, complaints bytes.Buffer
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	code = run(ctx, resolved, strings.NewReader(""), &out, &complaints)
	here := ts.MkAbs(".") + string(filepath.Separator)
	for to, printed := range map[io.Writer]*bytes.Buffer{ts.Stdout(): &out, ts.Stderr(): &complaints} {
		_, err := io.WriteString(to, strings.ReplaceAll(printed.String(), here, ""))
		ts.Check(err)
	}
	return code
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

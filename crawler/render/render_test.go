package render

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gazehound/crawler/page"
	"gazehound/crawler/weburl"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open returns a Browser with small bounds, or skips the test.
func open(t *testing.T, change func(*Options)) *Browser {
	t.Helper()
	if testing.Short() {
		t.Skip("browser tests are left out with -short")
	}
	o := DefaultOptions()
	o.Profile, o.UserAgent, o.Time, o.Longest = filepath.Join(t.TempDir(), "browser"), "gazehound-test", 30*time.Second, 2*time.Minute
	if change != nil {
		change(&o)
	}
	b, err := New(o)
	if errors.Is(err, ErrNoBrowser) {
		t.Skip("no Chromium on this machine (Debian: apt-get install chromium); the browser tests are left out")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		socket, _ := os.Readlink(filepath.Join(o.Profile, socketName))
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Dir(socket)); socket != "" && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the folder of the socket %s is left: %v", socket, err)
		}
		if _, err := os.Stat(o.Profile); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the profile is left: %v", err)
		}
	})
	return b
}

func response(address, contentType, body string) *page.Response {
	u, err := weburl.Parse(address)
	if err != nil {
		panic(err)
	}
	return &page.Response{URL: u, Status: 200, Header: http.Header{"Content-Type": {contentType}}, Body: []byte(body)}
}

// site answers the requests of a page and keeps which there were.
type site struct {
	mu    sync.Mutex
	asked []string
	files map[string]*page.Response
}

func newSite(files ...*page.Response) *site {
	s := &site{files: map[string]*page.Response{}}
	for _, f := range files {
		s.files[f.URL.String()] = f
	}
	return s
}

func (s *site) fetch(_ context.Context, u weburl.URL) (*page.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, u.String())
	if f := s.files[u.String()]; f != nil {
		return f, nil
	}
	return nil, errors.New("refused")
}

const shell = `<!doctype html><title>Shell</title><div id="root"></div><script src="https://cdn.example/app.js"></script>`

func appScript(script string) *page.Response {
	return response("https://cdn.example/app.js", "text/javascript; charset=utf-8", script)
}

// The document has what the scripts of another host have put in from data of a third one; scripts are
// fetched once for all pages, and nothing is kept from one page to the next.
func TestRender(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	s := newSite(appScript(`
		const before = document.cookie + localStorage.getItem("seen");
		document.cookie = "seen=1"; localStorage.setItem("seen", "1");
		fetch("https://api.example/shop.json").then((r) => r.json()).then((shop) => {
			document.getElementById("root").innerHTML = "<p>" + shop.street + " " + before + "</p>";
		});`),
		response("https://api.example/shop.json", "application/json", `{"street": "Lange Straße 3"}`))
	for range 2 {
		html, err := b.Render(t.Context(), response("https://shop.example/", "text/html; charset=utf-8", shell), s.fetch)
		if err != nil || !strings.Contains(string(html), `<p>Lange Straße 3 null</p>`) {
			t.Errorf("%s, %v", html, err)
		}
	}
	want := "https://cdn.example/app.js https://api.example/shop.json https://api.example/shop.json"
	if got := strings.Join(s.asked, " "); got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
}

// Pages are read in the charset in which page.Parse reads them: without a declaration, with a wrong one, and those of
// other charsets, in which scripts without a declaration are, too.
func TestRenderCharset(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	latin := response("https://cdn.example/latin.js", "text/javascript", `p.textContent = "Gr\xfc\xdfe"`)
	for _, c := range []struct{ contentType, body, want string }{
		{"text/html", "<!doctype html><body>Straße<p id=p>", "<body>Straße<p"},
		{"text/html; charset=iso-8859-1", "<!doctype html><body>Straße<p id=p>", "<body>Straße<p"},
		{"text/html", "<!doctype html><meta charset=windows-1252><body>Straße<p id=p>", "<body>Straße<p"},
		{"text/html", "<!doctype html><meta charset=iso-8859-1><body>Stra\xdfe<p id=p></p>" +
			"<script src=https://cdn.example/latin.js></script>", "Straße<p id=\"p\">Grüße</p>"},
		{"text/html; charset=shift_jis", "<!doctype html><body>\x93\x8c\x8b\x9e<p id=p>", "<body>東京<p"},
	} {
		r := response("https://shop.example/", c.contentType, c.body)
		html, err := b.Render(t.Context(), r, newSite(latin).fetch)
		if err != nil || !strings.Contains(string(html), c.want) {
			t.Errorf("%s %q: %s, %v", c.contentType, c.body, html, err)
		}
	}
}

// A response in another charset is read as the server declares it, redirects of data are followed, and
// a page that loads itself again after setting a cookie is the page that it becomes.
func TestRenderOddities(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	moved := response("https://shop.example/old.json", "text/plain", "")
	moved.Status, moved.Header = 301, http.Header{"Location": {"https://shop.example/new.json"}}
	s := newSite(moved, response("https://shop.example/new.json", "application/json", `{"street": "Lange Straße 3"}`))
	html, err := b.Render(t.Context(), response("https://shop.example/", "text/html; charset=iso-8859-1",
		"<!doctype html><body>Stra\xdfe<p id=p></p><script>"+
			`if (document.cookie) fetch("/old.json").then((r) => r.json()).then((d) => p.textContent = d.street); else {
				document.cookie = "wall=1"; location.reload() }</script>`), s.fetch)
	if err != nil || !strings.Contains(string(html), "<body>Straße<p id=\"p\">Lange Straße 3</p>") {
		t.Errorf("%s, %v", html, err)
	}
}

// Hostile pages get no further than their bounds, and the page after them is rendered as if they had
// not been. The browser itself sends nothing to anyone: a server on this machine sees no connection.
func TestRenderHostile(t *testing.T) {
	t.Parallel()
	b := open(t, func(o *Options) { o.Time = 1500 * time.Millisecond })
	ledger := newLedger(t)
	inside := ledger.address
	pages := []struct {
		name, script string
		shows        string // in its document; "": it may also have none
	}{
		{"opens tabs", `for (let i = 0; i < 1000; i++) { window.open("https://shop.example/" + i); const a = document.createElement("a");
			a.href = "https://shop.example/a" + i; a.target = "_blank"; document.body.append(a); a.click(); } say("tabs")`, "tabs"},
		{"downloads", `const a = document.createElement("a"); a.href = URL.createObjectURL(new Blob(["x".repeat(1e6)])); a.download = "x.exe";
			document.body.append(a); for (let i = 0; i < 50; i++) a.click(); say("downloads")`, "downloads"},
		{"alerts", `for (let i = 0; i < 1000; i++) { alert("x"); confirm("y"); prompt("z"); } onbeforeunload = () => "stay"; say("alerts")`, "alerts"},
		{"loops for ever", `for (;;) ;`, ""},
		{"loops in timers", `setInterval(() => say(Math.random()), 1); document.title = "timers Shell"`, "timers"},
		{"loads itself for ever", `location.reload()`, ""},
		{"reads files", `fetch("file:///etc/passwd").then((r) => r.text()).then(say, () => say("no fetch")); const f = document.createElement("iframe");
			f.src = "file:///etc/passwd"; document.body.append(f); window.open("file:///etc/passwd"); location = "file:///etc/passwd"`, "no fetch"},
		{"becomes another document", `location = URL.createObjectURL(new Blob(["<p>Lange Straße 5</p>"], {type: "text/html"}))`, ""},
		{"leaves", `location = "https://other.example/"`, ""},
		{"is data", `location = "data:text/html,<p>Lange Straße 5</p>"`, ""},
		{"allocates 4 GB", `const all = []; for (let i = 0; i < 64; i++) { all.push(new Uint8Array(64 << 20).fill(i)); } say("all" + "ocated")`, ""},
		{"allocates 4 GB of strings", `let s = []; for (;;) s.push("x".repeat(1 << 20) + Math.random().toString().split("").join("y"), new Array(1e6).fill(Math.random()))`, ""},
		{"is huge", `let s = "x".repeat(1 << 20); for (let i = 0; i < 64; i++) { const p = document.createElement("p"); p.textContent = s; document.body.append(p) } say("huge")`, ""},
		{"makes requests for ever", `for (let i = 0; i < 5000; i++) fetch("https://shop.example/" + i)`, ""},
		{"writes to the console", `for (let i = 0; i < 200; i++) console.log("x".repeat(1 << 20)); say("console")`, ""},
		{"posts", `fetch("https://shop.example/form", {method: "POST", body: "x"}).then(say, () => say("not posted")); navigator.sendBeacon("https://shop.example/beacon", "x")`, "not posted"},
		{"reaches inside", `const at = "` + inside + `";
			new WebSocket("ws://" + at); new EventSource("http://" + at + "/events"); navigator.sendBeacon("http://" + at + "/beacon", "x");
			fetch("http://" + at + "/fetch", {mode: "no-cors"}).catch(() => say("inside")); new Image().src = "http://" + at + "/image";
			for (const [name, property] of [["iframe", "src"], ["object", "data"], ["embed", "src"], ["video", "src"], ["script", "src"]]) {
				const e = document.createElement(name); e[property] = "http://" + at + "/" + name; document.body.append(e); }
			for (const rel of ["prefetch", "preconnect", "dns-prefetch", "preload", "prerender", "stylesheet", "icon", "manifest", "modulepreload"]) {
				const l = document.createElement("link"); l.rel = rel; l.href = "http://" + at + "/" + rel; l.as = "script"; document.head.append(l); }
			try { new Worker(URL.createObjectURL(new Blob(["fetch('http://" + at + "/worker'); new WebSocket('ws://" + at + "')"]))) } catch {}
			try { new SharedWorker("http://" + at + "/shared") } catch {}
			try { navigator.serviceWorker.register("/worker.js") } catch {}
			try { new WebTransport("https://" + at + "/") } catch {}
			try { const c = new RTCPeerConnection({iceServers: [{urls: "stun:" + at}, {urls: "turn:" + at + "?transport=tcp", username: "u", credential: "c"}]});
				c.createDataChannel("x"); c.createOffer().then((o) => c.setLocalDescription(o)) } catch {}
			const rules = document.createElement("script"); rules.type = "speculationrules";
			rules.textContent = JSON.stringify({prefetch: [{source: "list", urls: ["http://" + at + "/speculation"]}]}); document.head.append(rules);
			const form = document.createElement("form"); form.action = "http://" + at + "/form"; form.method = "POST"; document.body.append(form); form.submit();
			setTimeout(() => { location = "http://" + at + "/location" }, 300)`, "inside"},
	}
	tabs := func() int {
		ctx, cancel := context.WithTimeout(b.tab, 30*time.Second)
		defer cancel()
		infos, err := chromedp.CallBrowser(ctx, target.GetTargets, target.GetTargetsParams{})
		if err != nil {
			t.Fatal(err)
		}
		return len(infos.TargetInfos)
	}
	atRest := 0
	for _, p := range pages {
		s := newSite(appScript(`const say = (text) => { document.getElementById("root").textContent = text }; ` + p.script))
		b.files.Purge()
		began := time.Now()
		html, err := b.Render(t.Context(), response("https://shop.example/", "text/html", shell), s.fetch)
		t.Logf("%s: %v, %v", p.name, time.Since(began).Round(100*time.Millisecond), err)
		switch {
		case err == nil && bytes.Contains(html, []byte(p.shows)) && bytes.Contains(html, []byte("Shell</title>")):
		case errors.Is(err, ErrTime), p.shows == "" && errors.Is(err, ErrPage): // a slow machine runs out of time
		default:
			t.Errorf("%s: %.300s, %v; want %q", p.name, html, err, p.shows)
		}
		for _, never := range []string{"root:", "Straße 5", "allocated"} {
			if bytes.Contains(html, []byte(never)) {
				t.Errorf("%s: its document has %q", p.name, never)
			}
		}
		if int64(len(html)) > b.options.Document || len(s.asked) > b.options.Requests {
			t.Errorf("%s: %d bytes, %d requests", p.name, len(html), len(s.asked))
		}
		if n := tabs(); atRest == 0 {
			atRest = n
		} else if n > atRest {
			t.Errorf("%s: %d tabs are left, not %d", p.name, n, atRest)
		}
	}
	s := newSite(appScript(`document.getElementById("root").textContent = "Lange Straße " + (2 + 1)`))
	b.files.Purge()
	b.options.Time = 30 * time.Second
	html, err := b.Render(t.Context(), response("https://next.example/", "text/html", shell), s.fetch)
	if err != nil || !strings.Contains(string(html), "Lange Straße 3") {
		t.Errorf("after them: %s, %v", html, err)
	}
	if n := ledger.connections.Load(); n > 0 {
		t.Errorf("the browser made %d connections of its own", n)
	}
}

// A ledger counts what reaches a port of this machine, by TCP and UDP.
type ledger struct {
	address     string
	connections atomic.Int64
}

func newLedger(t *testing.T) *ledger {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u, err := net.ListenPacket("udp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	ledger := &ledger{address: l.Addr().String()}
	var listening sync.WaitGroup
	listening.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			ledger.connections.Add(1)
			c.Close()
		}
	})
	listening.Go(func() {
		for b := make([]byte, 1); ; {
			if _, _, err := u.ReadFrom(b); err != nil {
				return
			}
			ledger.connections.Add(1)
		}
	})
	t.Cleanup(func() { l.Close(); u.Close(); listening.Wait() })
	return ledger
}

// Every page is rendered although the browser is killed again and again.
func TestRenderKilled(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	pages := 5
	if os.Getenv("GAZEHOUND_SOAK") != "" {
		pages = 200
	}
	kills := 0
	for i := range pages {
		s := newSite(appScript(fmt.Sprintf(`setTimeout(() => { document.getElementById("root").textContent = "page %d" }, 200)`, i)))
		b.files.Purge()
		var killing *time.Timer
		if i%5 == 3 { // before the page or within it
			process := chromedp.FromContext(b.tab).Browser.Process()
			killing = time.AfterFunc(time.Duration(i%4)*150*time.Millisecond, func() { process.Kill() })
			kills++
		}
		html, err := b.Render(t.Context(), response("https://shop.example/", "text/html", shell), s.fetch)
		if err != nil || !strings.Contains(string(html), fmt.Sprintf("page %d", i)) {
			t.Fatalf("page %d: %s, %v", i, html, err)
		}
		if killing != nil {
			killing.Stop()
		}
	}
	t.Logf("%d pages, %d kills", pages, kills)
}

// A browser that only ever dies is given up.
func TestRenderNoBrowser(t *testing.T) {
	t.Parallel()
	o := DefaultOptions()
	o.Program = "no-such-browser"
	if _, err := New(o); !errors.Is(err, ErrNoBrowser) || !strings.Contains(err.Error(), `"no-such-browser"`) {
		t.Errorf("%v", err)
	}
	program, err := exec.LookPath("true")
	if err != nil {
		t.Skip("no program called true")
	}
	o.Program, o.Profile = program, filepath.Join(t.TempDir(), "browser")
	b, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for range maxDeaths + 2 {
		if _, err = b.Render(t.Context(), response("https://shop.example/", "text/html", shell), newSite().fetch); !errors.Is(err, ErrBrowser) {
			t.Fatal(err)
		}
	}
	if !strings.Contains(err.Error(), "in a row") {
		t.Error(err)
	}
}

// A crawl that stops does not wait for a page.
func TestRenderCancelled(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	began := time.Now()
	_, err := b.Render(ctx, response("https://shop.example/", "text/html", shell), func(ctx context.Context, _ weburl.URL) (*page.Response, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 20*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

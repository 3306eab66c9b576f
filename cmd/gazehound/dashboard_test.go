package main

import (
	"context"
	"flag"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gazehound/crawler/lab/demo"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
)

var (
	screenshots = flag.String("screenshots", "", "write screenshots of the dashboard into this folder")
	dark        = flag.Bool("dark", false, "take them in the dark colours")
)

// browser starts Chromium with one tab, or skips the test.
func browser(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("browser tests are left out with -short")
	}
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no Chromium on this machine (Debian: apt-get install chromium); the browser tests are left out")
	}
	colours := "preferredColorScheme=1"
	if *dark {
		colours = "preferredColorScheme=0"
	}
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, chromedp.ExecPath(program), chromedp.Headless, chromedp.NoSandbox, chromedp.NoFirstRun, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 1700), chromedp.Flag("blink-settings", colours),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-dev-shm-usage", true))
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}

// The dashboard of a running crawl shows its state, explains why a link is next, accepts labels, and
// pauses and stops the crawl. It requests nothing from other servers.
func TestBrowserDashboard(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	o := demo.DefaultOptions()
	o.Sites, o.PagesPerSite = 120, 40
	data, flags, _, _ := projectOf(t, o)
	p := startProgram(t, append([]string{"crawl", "--admin", "127.0.0.1:0", "--workers", "1"}, flags...)...)
	p.says(t, "Ctrl-C once")
	d, err := readAdmin(data)
	if err != nil {
		t.Fatal(err)
	}
	do := func(actions ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		if err := chromedp.Do(ctx, actions...); err != nil {
			t.Fatal(err)
		}
	}
	until := func(what, script string) {
		t.Helper()
		for deadline := time.Now().Add(40 * time.Second); ; time.Sleep(100 * time.Millisecond) {
			ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+script+")"))
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				return
			}
			if time.Now().After(deadline) {
				text, _ := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.innerText"))
				t.Fatalf("%s: never. The page says:\n%s", what, text)
			}
		}
	}
	shoot := func(name string) {
		t.Helper()
		if *screenshots == "" {
			return
		}
		picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}

	do(chromedp.Navigate(d.URL))
	until("figures", `document.getElementById("state").textContent.startsWith("running") && /^[\d,]+/.test(document.getElementById("n-pages").textContent)`)
	until("places on the map", `(document.getElementById("dots")?.getAttribute("d") ?? "").length > 50`)
	until("the curves", `document.querySelector("#harvest path.line") != null && document.querySelector("#rate path.line") != null`)
	until("hosts", `document.querySelectorAll("#hosts tbody tr").length > 3`)
	until("streets", `document.querySelectorAll("#streets tbody tr").length > 3`)
	until("next links", `document.querySelectorAll("#next tbody button").length > 3`)
	// The list changes while the crawl runs: a link may be gone when it is requested.
	until("a reason", `/priority/.test(document.getElementById("why").textContent) || document.querySelector("#next tbody button")?.click()`)
	if *screenshots != "" {
		time.Sleep(10 * time.Second) // for longer curves
		do(chromedp.Evaluate[chromedp.Void](`loadTerms(); loadMap(); loadStreets(); void 0`))
		time.Sleep(time.Second)
	}
	// The slider of the map leads back, and to now again.
	until("the slider", `!document.getElementById("times").hidden`)
	moved, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`(() => {
		const count = () => document.getElementById("dots").getAttribute("d").split("M").length, all = count();
		const slide = (to) => { const when = document.getElementById("when"); when.value = to; when.dispatchEvent(new Event("input")); return document.getElementById("then").value; };
		const then = slide(0), few = count(), now = slide(1000);
		return few < all && then !== "now" && now === "now" && count() >= all;
	})()`))
	if err != nil || !moved {
		t.Errorf("the slider does not lead back: %v", err)
	}
	if *screenshots != "" {
		do(chromedp.Evaluate[chromedp.Void](`document.getElementById("when").value = 400; dirty = true; drawDots()`))
	}
	shoot("dashboard")
	tree, err := chromedp.Call(ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		t.Fatal(err)
	}
	controls := 0
	for _, n := range tree.Nodes {
		if n.Ignored || n.Role == nil || !slices.Contains([]string{`"button"`, `"textbox"`, `"slider"`, `"combobox"`, `"link"`, `"image"`}, string(n.Role.Value)) {
			continue
		}
		if controls++; n.Name == nil || string(n.Name.Value) == `""` {
			t.Errorf("a %s of the dashboard has no name", n.Role.Value)
		}
	}
	if controls < 20 {
		t.Errorf("the dashboard has %d controls", controls)
	}
	do(chromedp.EmulateViewport(390, 844))
	until("no scrolling to the side on a phone", `document.documentElement.scrollWidth <= innerWidth`)
	until("a host table that needs no scrolling on a phone", `(() => {
		const table = document.getElementById("hosts"), cells = [...table.tBodies[0].rows[0].cells];
		return table.scrollWidth <= table.parentElement.clientWidth && cells.every((c) => c.dataset.label) &&
			cells.slice(1).every((c) => getComputedStyle(c, "::before").content.includes(c.dataset.label));
	})()`)
	until("one heading", `document.querySelectorAll("h1").length == 1 && document.querySelector("h1").textContent.startsWith("gazehound ")`)
	shoot("dashboard-phone")

	do(chromedp.Click("#pause"))
	until("a pause", `document.getElementById("state").textContent == "paused"`)
	do(chromedp.Click("#pause"))
	until("a crawl that goes on", `document.getElementById("state").textContent.startsWith("running")`)

	// A page that was judged, judged otherwise.
	visited, err := chromedp.Run(ctx, chromedp.Evaluate[string](`(async () => {
		const { hosts } = await get("/v1/crawl/hosts?limit=50"); // of some the home page was not visited yet
		for (const { host } of hosts) {
			await why("http://" + host + "/");
			if (document.querySelectorAll("#why .thumbs button").length == 2) return host;
		}
		return "";
	})()`, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	if visited == "" {
		t.Fatal("no home page that was visited has thumbs")
	}
	// Not with the mouse: the tables above grow while the crawl runs, and push the button away.
	do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#why .thumbs button:last-child").click()`))
	until("a label", `/Learned/.test(document.getElementById("message").textContent)`)

	others, err := chromedp.Run(ctx, chromedp.Evaluate[int](`performance.getEntriesByType("resource").filter((e) => !e.name.startsWith(location.origin)).length`))
	if err != nil || others != 0 {
		t.Errorf("%d requests to others, %v", others, err)
	}
	response, err := http.Get(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	page, _ := io.ReadAll(response.Body)
	response.Body.Close()
	if policy := response.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(string(page), " style=") {
		t.Errorf("policy %q", policy)
	}

	do(chromedp.Evaluate[chromedp.Void](`window.confirm = () => true`), chromedp.Click("#stop"))
	if code := p.end(t); code != exitStopped {
		t.Errorf("exit %d after the button, want %d", code, exitStopped)
	}
	if _, err := os.Stat(project{data}.admin()); !os.IsNotExist(err) {
		t.Errorf("admin.json is left: %v", err)
	}
}

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
	admin, err := readAdmin(data)
	if err != nil {
		t.Fatal(err)
	}
	d := dashboard{ctx}
	d.do(t, chromedp.Navigate(admin.URL))
	d.showsState(t)
	d.sliderLeadsBack(t)
	d.shoot(t, "dashboard")
	d.controlsNamed(t)
	d.fitsPhone(t)
	d.shoot(t, "dashboard-phone")
	d.pauses(t)
	d.labels(t)
	d.asksNobodyElse(t, admin.URL)

	d.do(t, chromedp.Evaluate[chromedp.Void](`window.confirm = () => true`), chromedp.Click("#stop"))
	if code := p.end(t); code != exitStopped {
		t.Errorf("exit %d after the button, want %d", code, exitStopped)
	}
	if _, err := os.Stat(project{data}.admin()); !os.IsNotExist(err) {
		t.Errorf("admin.json is left: %v", err)
	}
}

// A dashboard is the tab of a browser that shows it.
type dashboard struct{ ctx context.Context }

func (d dashboard) do(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(d.ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// until waits until a script of the page is true.
func (d dashboard) until(t *testing.T, what, script string) {
	t.Helper()
	for deadline := time.Now().Add(40 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		ok, err := chromedp.Run(d.ctx, chromedp.Evaluate[bool]("!!("+script+")"))
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			return
		}
		if time.Now().After(deadline) {
			text, _ := chromedp.Run(d.ctx, chromedp.Evaluate[string]("document.body.innerText"))
			t.Fatalf("%s: never. The page says:\n%s", what, text)
		}
	}
}

// shoot writes a picture of the page, if -screenshots asks for it.
func (d dashboard) shoot(t *testing.T, name string) {
	t.Helper()
	if *screenshots == "" {
		return
	}
	picture, err := chromedp.Run(d.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), picture, 0o644); err != nil {
		t.Fatal(err)
	}
}

// showsState holds that figures, map, curves and tables fill, and that a next link has its reason.
func (d dashboard) showsState(t *testing.T) {
	t.Helper()
	d.until(t, "figures", `document.getElementById("state").textContent.startsWith("running") &&
		/^[\d,]+/.test(document.getElementById("n-pages").textContent)`)
	d.until(t, "places on the map", `(document.getElementById("dots")?.getAttribute("d") ?? "").length > 50`)
	d.until(t, "the curves", `document.querySelector("#harvest path.line") != null && document.querySelector("#rate path.line") != null`)
	d.until(t, "hosts", `document.querySelectorAll("#hosts tbody tr").length > 3`)
	d.until(t, "streets", `document.querySelectorAll("#streets tbody tr").length > 3`)
	d.until(t, "next links", `document.querySelectorAll("#next tbody button").length > 3`)
	// The list changes while the crawl runs: a link may be gone when it is requested.
	d.until(t, "a reason", `/priority/.test(document.getElementById("why").textContent) ||
		document.querySelector("#next tbody button")?.click()`)
	if *screenshots != "" {
		time.Sleep(10 * time.Second) // for longer curves
		d.do(t, chromedp.Evaluate[chromedp.Void](`loadTerms(); loadMap(); loadStreets(); void 0`))
		time.Sleep(time.Second)
	}
}

// sliderLeadsBack holds that the slider of the map leads back, and to now again.
func (d dashboard) sliderLeadsBack(t *testing.T) {
	t.Helper()
	d.until(t, "the slider", `!document.getElementById("times").hidden`)
	moved, err := chromedp.Run(d.ctx, chromedp.Evaluate[bool](`(() => {
		const count = () => document.getElementById("dots").getAttribute("d").split("M").length, all = count();
		const slide = (to) => {
			const when = document.getElementById("when");
			when.value = to;
			when.dispatchEvent(new Event("input"));
			return document.getElementById("then").value;
		};
		const then = slide(0), few = count(), now = slide(1000);
		return few < all && then !== "now" && now === "now" && count() >= all;
	})()`))
	if err != nil || !moved {
		t.Errorf("the slider does not lead back: %v", err)
	}
	if *screenshots != "" {
		d.do(t, chromedp.Evaluate[chromedp.Void](`document.getElementById("when").value = 400; dirty = true; drawDots()`))
	}
}

// controlsNamed holds that whoever does not see the page hears what each control is.
func (d dashboard) controlsNamed(t *testing.T) {
	t.Helper()
	tree, err := chromedp.Call(d.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		t.Fatal(err)
	}
	roles, controls := []string{`"button"`, `"textbox"`, `"slider"`, `"combobox"`, `"link"`, `"image"`}, 0
	for _, n := range tree.Nodes {
		if n.Ignored || n.Role == nil || !slices.Contains(roles, string(n.Role.Value)) {
			continue
		}
		controls++
		if n.Name == nil || string(n.Name.Value) == `""` {
			t.Errorf("a %s of the dashboard has no name", n.Role.Value)
		}
	}
	if controls < 20 {
		t.Errorf("the dashboard has %d controls", controls)
	}
}

// fitsPhone holds that on a phone nothing scrolls to the side.
func (d dashboard) fitsPhone(t *testing.T) {
	t.Helper()
	d.do(t, chromedp.EmulateViewport(390, 844))
	d.until(t, "no scrolling to the side on a phone", `document.documentElement.scrollWidth <= innerWidth`)
	d.until(t, "a host table that needs no scrolling on a phone", `(() => {
		const table = document.getElementById("hosts"), cells = [...table.tBodies[0].rows[0].cells];
		return table.scrollWidth <= table.parentElement.clientWidth && cells.every((c) => c.dataset.label) &&
			cells.slice(1).every((c) => getComputedStyle(c, "::before").content.includes(c.dataset.label));
	})()`)
	d.until(t, "one heading", `document.querySelectorAll("h1").length == 1 &&
		document.querySelector("h1").textContent.startsWith("gazehound ")`)
}

// pauses holds that a button pauses the crawl and lets it go on.
func (d dashboard) pauses(t *testing.T) {
	t.Helper()
	d.do(t, chromedp.Click("#pause"))
	d.until(t, "a pause", `document.getElementById("state").textContent == "paused"`)
	d.do(t, chromedp.Click("#pause"))
	d.until(t, "a crawl that goes on", `document.getElementById("state").textContent.startsWith("running")`)
}

// labels holds that a page that was judged can be judged otherwise.
func (d dashboard) labels(t *testing.T) {
	t.Helper()
	visited, err := chromedp.Run(d.ctx, chromedp.Evaluate[string](`(async () => {
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
	d.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector("#why .thumbs button:last-child").click()`))
	d.until(t, "a label", `/Learned/.test(document.getElementById("message").textContent)`)
}

// asksNobodyElse holds that the page has requested nothing from other servers, and that its policy
// forbids it.
func (d dashboard) asksNobodyElse(t *testing.T, url string) {
	t.Helper()
	others, err := chromedp.Run(d.ctx, chromedp.Evaluate[int](
		`performance.getEntriesByType("resource").filter((e) => !e.name.startsWith(location.origin)).length`))
	if err != nil || others != 0 {
		t.Errorf("%d requests to others, %v", others, err)
	}
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	page, _ := io.ReadAll(response.Body)
	response.Body.Close()
	policy := response.Header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") ||
		strings.Contains(string(page), " style=") {
		t.Errorf("policy %q", policy)
	}
}

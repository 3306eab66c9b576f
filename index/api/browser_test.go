package api

import (
	"context"
	"flag"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

var screenshots = flag.String("screenshots", "", "write screenshots of the page into this folder")

// browser starts Chromium with one tab, or skips the test.
func browser(t *testing.T, flags ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("browser tests are left out with -short")
	}
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("no Chromium on this machine (Debian: apt-get install chromium); the browser tests are left out")
	}
	flags = append([]chromedp.ExecAllocatorOption{chromedp.ExecPath(program), chromedp.Headless, chromedp.NoSandbox, chromedp.NoFirstRun, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true)}, flags...)
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, flags...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}

func do(t *testing.T, ctx context.Context, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

func read[T any](t *testing.T, ctx context.Context, a chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// shoot writes a screenshot where -screenshots asks for them.
func shoot(t *testing.T, ctx context.Context, name string) {
	if *screenshots == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), read(t, ctx, chromedp.CaptureScreenshot()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A reader searches with the keyboard alone, and follows a pin to its hit.
func TestBrowserSearch(t *testing.T) {
	ctx := browser(t, chromedp.WindowSize(1280, 860))
	server := httptest.NewServer(Handler(town(t, 300), options()))
	defer server.Close()
	do(t, ctx, chromedp.Navigate(server.URL+"/"), chromedp.WaitVisible("#q"))
	shoot(t, ctx, "start")
	// The field has the focus already.
	do(t, ctx, chromedp.KeyEvent("tischlerei"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("#r1 mark"))
	if got := read(t, ctx, chromedp.Text("h1")); !strings.HasPrefix(got, "2 addresses") {
		t.Errorf("heading %q", got)
	}
	shoot(t, ctx, "results")
	if n := read(t, ctx, chromedp.Evaluate[float64](`document.querySelectorAll("svg a[aria-label]").length`)); n != 2 {
		t.Errorf("%v pins with a name", n)
	}
	do(t, ctx, chromedp.Click("svg a[href='#r2']"))
	if got := read(t, ctx, chromedp.Location()); !strings.HasSuffix(got, "#r2") {
		t.Errorf("after a click on a pin: %s", got)
	}
	for _, query := range []string{"/?q=haus", "/?q=zzzzqqq&postcode=26121", "/?limit=0", "/?lat=53.14&lon=8.214&radius=700&sort=distance"} {
		do(t, ctx, chromedp.Navigate(server.URL+query), chromedp.WaitVisible("h1"))
		shoot(t, ctx, strings.NewReplacer("/?", "", "&", "-", "=", "-").Replace(query))
	}
}

// Nothing of what hostile pages say runs, and no request leaves the server.
func TestBrowserHostile(t *testing.T) {
	ctx := browser(t, chromedp.WindowSize(1100, 800))
	server := httptest.NewServer(Handler(town(t, 0), options()))
	defer server.Close()
	do(t, ctx, chromedp.Navigate(server.URL+"/?q=boese"), chromedp.WaitVisible("#r1"))
	shoot(t, ctx, "hostile")
	if got := read(t, ctx, chromedp.Title()); got != "boese · gazehound" {
		t.Errorf("title %q", got)
	}
	if n := read(t, ctx, chromedp.Evaluate[float64](`document.scripts.length + document.images.length + document.querySelectorAll("main style").length`)); n != 0 {
		t.Errorf("%v scripts, images and styles of strangers", n)
	}
	for _, name := range read(t, ctx, chromedp.Evaluate[[]string](`performance.getEntriesByType("resource").map(e => e.name)`)) {
		if u, err := url.Parse(name); err != nil || "http://"+u.Host != server.URL && u.Scheme != "data" {
			t.Errorf("request to %s", name)
		}
	}
}

// On a telephone nothing is wider than the screen, in the dark as well.
func TestBrowserPhoneAndDark(t *testing.T) {
	ctx := browser(t, chromedp.WindowSize(1280, 860), chromedp.Flag("blink-settings", "preferredColorScheme=0"))
	server := httptest.NewServer(Handler(town(t, 300), options()))
	defer server.Close()
	do(t, ctx, chromedp.Navigate(server.URL+"/?q=tischlerei&lang=de"), chromedp.WaitVisible("#r1"))
	if dark := read(t, ctx, chromedp.Evaluate[bool](`matchMedia("(prefers-color-scheme: dark)").matches`)); !dark {
		t.Error("the dark scheme is not on")
	}
	shoot(t, ctx, "dark")
	do(t, ctx, chromedp.EmulateViewport(390, 844, chromedp.EmulateScale(2), chromedp.EmulateMobile), chromedp.Navigate(server.URL+"/?q=haus&lang=de"), chromedp.WaitVisible("#r1"))
	shoot(t, ctx, "phone-dark")
	for _, target := range []string{"/", "/?q=haus", "/?q=boese", "/?lat=53.14&lon=8.214&radius=700&sort=distance&postcode=26121&street=" + url.QueryEscape("Neue Straße")} {
		do(t, ctx, chromedp.Navigate(server.URL+target), chromedp.WaitVisible("#q"))
		if over := read(t, ctx, chromedp.Evaluate[float64](`document.documentElement.scrollWidth - document.documentElement.clientWidth`)); over > 0 {
			t.Errorf("%s: %v pixels wider than the screen", target, over)
		}
	}
	small := read(t, ctx, chromedp.Evaluate[[]string](`[...document.querySelectorAll("button, input[type=search], .chips a, .paging a, .more > a, summary")].filter(e => e.getBoundingClientRect().height < 24).map(e => e.outerHTML.slice(0, 80))`))
	if len(small) > 0 {
		t.Errorf("targets lower than 24 pixels: %q", small)
	}
}

// The page needs no JavaScript.
func TestBrowserWithoutScript(t *testing.T) {
	ctx := browser(t, chromedp.WindowSize(1100, 800), chromedp.Flag("blink-settings", "scriptEnabled=false"))
	server := httptest.NewServer(Handler(town(t, 40), options()))
	defer server.Close()
	do(t, ctx, chromedp.Navigate(server.URL+"/?q=haus&lang=en"))
	text := read(t, ctx, chromedp.Text("main"))
	if !strings.Contains(text, "40 addresses") && !strings.Contains(text, "41 addresses") {
		t.Errorf("page says %q", text)
	}
}

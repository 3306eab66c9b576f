package api

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/index/web"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/paulmach/orb"
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

const withoutScript = "scriptEnabled=false"

// needMap skips a test where the moving map was not built in.
func needMap(t *testing.T) {
	t.Helper()
	if !web.HasMap() {
		t.Skip("the moving map is not built in (make ui); its tests are left out")
	}
}

// Without scripts a reader searches with the keyboard alone, and follows a pin
// to its hit.
func TestBrowserSearch(t *testing.T) {
	t.Parallel()
	ctx := browser(t, chromedp.WindowSize(1280, 860), chromedp.Flag("blink-settings", withoutScript))
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

// streets returns a base map of a few streets, a park and a lake.
func streets(t testing.TB) *gazetteer.Basemap {
	t.Helper()
	dir := t.TempDir()
	b, err := gazetteer.NewBuilder(filepath.Join(dir, "gazetteer"))
	if err != nil {
		t.Fatal(err)
	}
	box := func(lon, lat, size float64) []orb.LineString {
		return []orb.LineString{{{lon, lat}, {lon + size, lat}, {lon + size, lat + size/2}, {lon, lat + size/2}, {lon, lat}}}
	}
	err = b.Add(&gazetteer.Source{Name: "town.osm", Format: "osm"}, func(emit func(gazetteer.Place) error) error {
		shapes := []gazetteer.Shape{
			{Kind: gazetteer.MajorRoad, Name: "Nadorster Straße", Lines: []orb.LineString{{{8.21, 53.10}, {8.214, 53.14}, {8.23, 53.19}}}},
			{Kind: gazetteer.Water, Lines: box(8.22, 53.135, 0.02)}, {Kind: gazetteer.Green, Lines: box(8.17, 53.12, 0.03)},
		}
		for i := range 12 {
			lat := 53.11 + 0.006*float64(i)
			shapes = append(shapes, gazetteer.Shape{Kind: gazetteer.MinorRoad, Name: fmt.Sprintf("%d. Querstraße", i+1), Lines: []orb.LineString{{{8.16, lat}, {8.21, lat + 0.002}, {8.27, lat}}}})
		}
		for _, s := range shapes {
			if err := b.Shape(s); err != nil {
				return err
			}
		}
		return emit(gazetteer.Place{ID: "node/1", Kind: gazetteer.City, Names: []string{"Oldenburg"}, City: "Oldenburg", Point: orb.Point{8.21, 53.14}, HasPoint: true, Country: "DE"})
	})
	if err == nil {
		err = b.Finish(t.Context())
	}
	path := filepath.Join(dir, "basemap")
	if err == nil {
		_, err = gazetteer.WriteBasemap(t.Context(), filepath.Join(dir, "gazetteer"), path, outline.Bound())
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := gazetteer.OpenBasemap(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// mapServer serves the town with its streets.
func mapServer(t *testing.T, n int) string {
	o := options()
	o.Basemap, o.OSM = streets(t), true
	server := httptest.NewServer(Handler(town(t, n), o))
	t.Cleanup(server.Close)
	return server.URL
}

// foreign returns the requests of the page to others than its server.
func foreign(t *testing.T, ctx context.Context, server string) (all []string) {
	for _, name := range read(t, ctx, chromedp.Evaluate[[]string](`performance.getEntriesByType("resource").map(e => e.name)`)) {
		if u, err := url.Parse(name); err != nil || "http://"+u.Host != server && u.Scheme != "data" {
			all = append(all, name)
		}
	}
	return all
}

// The map has the hits, draws streets, and sends requests to its own server only.
func TestBrowserMap(t *testing.T) {
	t.Parallel()
	needMap(t)
	ctx := browser(t, chromedp.WindowSize(1280, 860))
	server := mapServer(t, 300)
	do(t, ctx, chromedp.Navigate(server+"/?q=tischlerei&lang=en#map=15/53.146/8.22"), chromedp.WaitVisible(".leaflet-marker-icon"))
	wait := func(what, script string) {
		t.Helper()
		if _, err := chromedp.Run(ctx, chromedp.Poll[bool](script)); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	names := read(t, ctx, chromedp.Evaluate[[]string](`[...document.querySelectorAll(".leaflet-marker-icon")].map(e => e.getAttribute("aria-label") + "|" + e.getAttribute("role") + "|" + e.tabIndex)`))
	if len(names) != 2 || !slices.ContainsFunc(names, func(s string) bool {
		return strings.HasPrefix(s, "1 ") && strings.Contains(s, "Tischlerei") && strings.HasSuffix(s, "|button|0")
	}) {
		t.Errorf("markers %q", names)
	}
	// Water is drawn: its colour is on the canvas.
	wait("water", `(() => { const c = document.querySelector("canvas"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, water = parseInt(getComputedStyle(c).getPropertyValue("--map-water").trim().slice(1), 16); for (let i = 0; i < d.length; i += 4) if ((d[i] << 16 | d[i+1] << 8 | d[i+2]) === water) return true; return false; })()`)
	shoot(t, ctx, "map")
	// A pin opens its popup, and marks its hit.
	do(t, ctx, chromedp.Evaluate[chromedp.Void](`document.querySelector(".leaflet-marker-icon[aria-label^='1 ']").focus()`), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".leaflet-popup"))
	wait("the hit is marked", `document.querySelector("#r1").classList.contains("selected")`)
	shoot(t, ctx, "map-popup")
	do(t, ctx, chromedp.KeyEvent(kb.Escape))
	wait("the popup closes", `!document.querySelector(".leaflet-popup")`)
	// Moved by a key, the map offers to search here.
	do(t, ctx, chromedp.Evaluate[chromedp.Void](`document.querySelector(".leaflet-host").focus()`), chromedp.KeyEvent(kb.ArrowRight), chromedp.WaitVisible("button.area"))
	wait("a permalink", `/^#map=15\/53\./.test(location.hash) && location.hash !== "#map=15/53.146/8.22"`)
	do(t, ctx, chromedp.Click("button.area"), chromedp.WaitVisible(".chips a"))
	if got := read(t, ctx, chromedp.Location()); !strings.Contains(got, "bbox=") || !strings.Contains(got, "#map=15/") {
		t.Errorf("the area is searched at %s", got)
	}
	if all := foreign(t, ctx, server); len(all) > 0 {
		t.Errorf("requests to others: %q", all)
	}
	// Many matches come as clusters with names.
	do(t, ctx, chromedp.Navigate(server+"/?q=haus"), chromedp.WaitVisible(".mark-cluster"))
	if bad := read(t, ctx, chromedp.Evaluate[[]string](`[...document.querySelectorAll(".leaflet-marker-icon")].filter(e => !e.getAttribute("aria-label")).map(e => e.outerHTML)`)); len(bad) > 0 {
		t.Errorf("markers without a name: %q", bad)
	}
	shoot(t, ctx, "map-clusters")
	// On a wide screen filters are not folded, and the list is a column.
	if !read(t, ctx, chromedp.Evaluate[bool](`document.querySelector(".menus summary").getBoundingClientRect().height > 0 && getComputedStyle(document.querySelector(".filters > summary")).display === "none" && getComputedStyle(document.querySelector(".handle")).display === "none" && document.getElementById("foot").parentElement === document.body`)) {
		t.Error("a wide screen has the page of a telephone")
	}
}

// The map shows where its reader is, who asked for it, and says why where it
// cannot.
func TestBrowserLocate(t *testing.T) {
	t.Parallel()
	needMap(t)
	ctx := browser(t, chromedp.WindowSize(1280, 860))
	server := mapServer(t, 40)
	stub := func(answer string) chromedp.Action[chromedp.Void] {
		return chromedp.Evaluate[chromedp.Void](`navigator.geolocation.getCurrentPosition = (found, failed) => { window.asked = (window.asked || 0) + 1; ` + answer + ` }`)
	}
	wait := func(what, script string) {
		t.Helper()
		if _, err := chromedp.Run(ctx, chromedp.Poll[bool](script)); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	do(t, ctx, chromedp.Navigate(server+"/?q=haus&lang=en"), chromedp.WaitVisible("a.locate"))
	if !read(t, ctx, chromedp.Evaluate[bool](`document.featurePolicy.allowsFeature("geolocation")`)) {
		t.Error("the page forbids itself to ask for the position")
	}
	do(t, ctx, stub(`failed({ code: 1, message: "<b>x</b>" })`), chromedp.Click("a.locate"), chromedp.WaitVisible(".located"))
	if got := read(t, ctx, chromedp.Text(".located")); !strings.Contains(got, "Allow it, often by the icon") {
		t.Errorf("refused: %q", got)
	}
	shoot(t, ctx, "locate-refused")
	do(t, ctx, stub(`found({ coords: { latitude: 40.1, longitude: -75.3, accuracy: 30 } })`), chromedp.Click("a.locate"))
	wait("far away", `document.querySelector(".located").textContent.includes("outside the region")`)
	do(t, ctx, stub(`found({ coords: { latitude: 53.1405, longitude: 8.2142, accuracy: 30 } })`), chromedp.Evaluate[chromedp.Void](`document.querySelector("a.locate").focus()`), chromedp.KeyEvent(" "))
	wait("a place", `document.querySelectorAll(".mark-here[aria-label='You are about here']").length === 1 && document.querySelector(".located").hidden && /^#map=1[5-9][.\d]*\/53\.140/.test(location.hash)`)
	shoot(t, ctx, "locate")
	if asked := read(t, ctx, chromedp.Evaluate[float64](`window.asked`)); asked != 3 {
		t.Errorf("the browser was asked %v times", asked)
	}
	do(t, ctx, chromedp.Evaluate[chromedp.Void](`document.querySelector(".mark-here").focus()`), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".leaflet-popup a[href*='sort=distance']"), chromedp.Click(".leaflet-popup a[href*='sort=distance']"), chromedp.WaitVisible(".distance"))
	if got := read(t, ctx, chromedp.Location()); !strings.Contains(got, "lat=53.14050") || !strings.Contains(got, "q=haus") {
		t.Errorf("the nearest are at %s", got)
	}
}

// Everything can be done with keys.
func TestBrowserKeys(t *testing.T) {
	t.Parallel()
	needMap(t)
	ctx := browser(t, chromedp.WindowSize(1280, 860))
	server := mapServer(t, 40)
	active := func() string {
		return read(t, ctx, chromedp.Evaluate[string](`document.activeElement.id || document.activeElement.closest("li")?.id || document.activeElement.className`))
	}
	do(t, ctx, chromedp.Navigate(server+"/?lang=de"), chromedp.WaitVisible("#q"))
	do(t, ctx, chromedp.KeyEvent("tischl"), chromedp.WaitVisible("#suggestions li"))
	shoot(t, ctx, "suggest")
	do(t, ctx, chromedp.KeyEvent(kb.ArrowDown))
	if got := read(t, ctx, chromedp.Evaluate[string](`document.getElementById(document.getElementById("q").getAttribute("aria-activedescendant"))?.dataset.text + "|" + document.getElementById("q").value`)); got != "Tischlerei Harms|Tischlerei Harms" {
		t.Errorf("first suggestion %q", got)
	}
	do(t, ctx, chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("#r1 mark"))
	do(t, ctx, chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`), chromedp.KeyEvent("j"))
	if got := active(); got != "r1" {
		t.Errorf("j leads to %q", got)
	}
	do(t, ctx, chromedp.KeyEvent("/"))
	if got := active(); got != "q" {
		t.Errorf("/ leads to %q", got)
	}
	do(t, ctx, chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`), chromedp.KeyEvent("m"))
	if got := active(); !strings.Contains(got, "leaflet-host") {
		t.Errorf("m leads to %q", got)
	}
	do(t, ctx, chromedp.KeyEvent("?"), chromedp.WaitVisible("dialog[open]"))
	shoot(t, ctx, "help")
	do(t, ctx, chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent("dialog[open]"))
}

// On a telephone the filters are one button, and the list is a sheet over the
// map that stops at three heights: by a press, by keys, by a drag.
func TestBrowserPhoneMap(t *testing.T) {
	t.Parallel()
	needMap(t)
	ctx := browser(t)
	server := mapServer(t, 40)
	wait := func(what, script string) {
		t.Helper()
		if _, err := chromedp.Run(ctx, chromedp.Poll[bool](script)); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	stop := func(n int, share string) {
		t.Helper()
		wait("stop "+fmt.Sprint(n), fmt.Sprintf(`document.querySelector(".columns").dataset.stop === "%d" && document.querySelector(".handle").getAttribute("aria-expanded") === String(%d > 0) && Math.abs(document.querySelector(".list").offsetHeight - Math.max(134.4, %s * document.querySelector(".columns").offsetHeight)) < 2`, n, n, share))
	}
	do(t, ctx, chromedp.EmulateViewport(390, 844, chromedp.EmulateScale(2), chromedp.EmulateMobile), chromedp.Navigate(server+"/?q=haus&lang=de"), chromedp.WaitVisible(".handle"), chromedp.WaitVisible(".leaflet-marker-icon"))
	stop(1, "0.5")
	shoot(t, ctx, "phone-half")
	if over := read(t, ctx, chromedp.Evaluate[float64](`Math.max(document.documentElement.scrollWidth - document.documentElement.clientWidth, document.documentElement.scrollHeight - document.documentElement.clientHeight)`)); over > 0 {
		t.Errorf("%v pixels larger than the screen", over)
	}
	if top := read(t, ctx, chromedp.Evaluate[float64](`document.querySelector("main").offsetTop`)); top > 170 {
		t.Errorf("the head takes %v pixels", top)
	}
	if got := read(t, ctx, chromedp.Evaluate[string](`document.querySelector(".handle").getAttribute("aria-label") + "|" + document.getElementById(document.querySelector(".handle").getAttribute("aria-controls")).className`)); got != "Liste (40), halber Bildschirm|list" {
		t.Errorf("the handle is named %q", got)
	}
	// Pressed, it goes on to the next stop and begins again.
	do(t, ctx, chromedp.Click(".handle"))
	stop(2, "0.92")
	shoot(t, ctx, "phone-list")
	do(t, ctx, chromedp.Click(".handle"))
	stop(0, "0.12")
	shoot(t, ctx, "phone-map")
	// There the cards lie side by side: to swipe them selects the hit, and the map
	// shows it.
	selected := `document.querySelector("li.selected")?.id === "r%d" && document.querySelectorAll(".leaflet-marker-icon.current").length === 1 && (() => { const m = document.querySelector(".leaflet-marker-icon.current").getBoundingClientRect(), f = document.querySelector(".leaflet-host").getBoundingClientRect(); return m.left >= f.left && m.right <= f.right && m.top >= f.top && m.bottom <= f.bottom; })()`
	for _, n := range []int{2, 3, 9, 1} {
		do(t, ctx, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{ const card = document.getElementById("r%d"), cards = card.parentElement; cards.scrollTo({ left: card.offsetLeft - cards.offsetLeft - 20, behavior: "instant" }); }`, n)))
		wait(fmt.Sprintf("card %d", n), fmt.Sprintf(selected, n))
	}
	shoot(t, ctx, "phone-swiped")
	do(t, ctx, chromedp.Click("#r1 .address"))
	stop(1, "0.5")
	do(t, ctx, chromedp.Click(".handle"))
	stop(2, "0.92") // what is pressed must not move away meanwhile
	do(t, ctx, chromedp.Click(".handle"))
	stop(0, "0.12")
	// By keys.
	do(t, ctx, chromedp.Evaluate[chromedp.Void](`document.querySelector(".handle").focus()`), chromedp.KeyEvent(kb.ArrowUp))
	stop(1, "0.5")
	do(t, ctx, chromedp.KeyEvent(kb.End))
	stop(0, "0.12")
	do(t, ctx, chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Tab)) // to what lies below the edge
	stop(1, "0.5")
	// By a drag, whose end is no press.
	drag := func(to float64) {
		t.Helper()
		at := read(t, ctx, chromedp.Evaluate[[]float64](`(() => { const r = document.querySelector(".handle").getBoundingClientRect(), c = document.querySelector(".columns").getBoundingClientRect(); return [r.x + r.width / 2, r.y + 12, c.bottom - c.height * `+fmt.Sprint(to)+`]; })()`))
		mouse := func(kind input.DispatchMouseEventType, y float64) chromedp.Action[chromedp.Void] {
			return chromedp.MouseEvent(kind, at[0], y, chromedp.ButtonLeft, chromedp.ClickCount(1))
		}
		do(t, ctx, mouse(chromedp.MousePressed, at[1]), mouse(chromedp.MouseMoved, (at[1]+at[2])/2), mouse(chromedp.MouseMoved, at[2]), mouse(chromedp.MouseReleased, at[2]))
	}
	drag(0.8)
	stop(2, "0.92")
	drag(0.2)
	stop(0, "0.12")
	drag(0.45)
	stop(1, "0.5")
	// The stop is kept on the next page. The number of a hit leads to the map.
	do(t, ctx, chromedp.Click(".handle"))
	stop(2, "0.92")
	for n, hit := range []string{"#r1", "#r4", "#r6"} {
		page := fmt.Sprintf("%s/?q=haus&lang=de&limit=%d", server, 10+n)
		do(t, ctx, chromedp.Navigate(page), chromedp.WaitVisible(".handle"), chromedp.Click(hit+" button.number"), chromedp.WaitVisible(".leaflet-popup"))
		stop(1, "0.5")
		shoot(t, ctx, "phone-popup-"+hit[1:])
		do(t, ctx, chromedp.Evaluate[chromedp.Void](`document.querySelector(".handle").focus()`), chromedp.KeyEvent(kb.Home))
		stop(2, "0.92")
	}
	// The filters are one button until it is pressed.
	do(t, ctx, chromedp.Navigate(server+"/?q=haus&lang=de&postcode=26135"), chromedp.WaitVisible(".filters > summary"))
	if got := read(t, ctx, chromedp.Text(".filters > summary")); got != "Filter (1)" {
		t.Errorf("the button of the filters says %q", got)
	}
	if read(t, ctx, chromedp.Evaluate[bool](`document.querySelector(".menus summary").checkVisibility()`)) {
		t.Error("the filters are not folded")
	}
	do(t, ctx, chromedp.Click(".filters > summary"), chromedp.WaitVisible(".menus summary"))
	shoot(t, ctx, "phone-filters")
}

// Nothing of what hostile pages say runs, and no request leaves the server.
func TestBrowserHostile(t *testing.T) {
	t.Parallel()
	ctx := browser(t, chromedp.WindowSize(1100, 800))
	server := mapServer(t, 0)
	do(t, ctx, chromedp.Navigate(server+"/?q=boese&lang=en#map=17/53.141/8.21"), chromedp.WaitVisible("#r1"))
	own := 0.0
	if web.HasMap() {
		own = 2 // its data, and the bundle
		do(t, ctx, chromedp.WaitVisible(".leaflet-marker-icon"), chromedp.Click("#r1 button.number"), chromedp.WaitVisible(".leaflet-popup"))
		if n := read(t, ctx, chromedp.Evaluate[float64](`document.querySelectorAll(".leaflet-popup b, .leaflet-popup img, .leaflet-popup script").length`)); n != 0 {
			t.Errorf("%v elements of strangers in a popup", n)
		}
	}
	shoot(t, ctx, "hostile")
	if got := read(t, ctx, chromedp.Title()); got != "boese · gazehound" {
		t.Errorf("title %q", got)
	}
	if n := read(t, ctx, chromedp.Evaluate[float64](`document.scripts.length + document.images.length + document.querySelectorAll("main style").length`)); n != own {
		t.Errorf("%v scripts, images and styles, %v of them ours", n, own)
	}
	if all := foreign(t, ctx, server); len(all) > 0 {
		t.Errorf("requests to others: %q", all)
	}
}

// On a telephone nothing is wider than the screen, in the dark as well.
func TestBrowserPhoneAndDark(t *testing.T) {
	t.Parallel()
	ctx := browser(t, chromedp.WindowSize(1280, 860), chromedp.Flag("blink-settings", "preferredColorScheme=0"))
	server := httptest.NewServer(Handler(town(t, 300), options()))
	defer server.Close()
	do(t, ctx, chromedp.Navigate(server.URL+"/?q=tischlerei&lang=de"), chromedp.WaitVisible("#r1"))
	if dark := read(t, ctx, chromedp.Evaluate[bool](`matchMedia("(prefers-color-scheme: dark)").matches`)); !dark {
		t.Error("the dark scheme is not on")
	}
	shoot(t, ctx, "dark")
	// A menu that opens moves none of the others.
	if !read(t, ctx, chromedp.Evaluate[bool](`(() => {
		const all = [...document.querySelectorAll(".menus > *")], tops = () => all.map((e) => e.offsetTop).join();
		const before = tops();
		all[1].open = true;
		return all.length > 2 && tops() === before;
	})()`)) {
		t.Error("an open menu moves the others")
	}
	shoot(t, ctx, "dark-menu")
	do(t, ctx, chromedp.EmulateViewport(390, 844, chromedp.EmulateScale(2), chromedp.EmulateMobile), chromedp.Navigate(server.URL+"/?q=haus&lang=de"), chromedp.WaitVisible("#r1"))
	shoot(t, ctx, "phone-dark")
	for _, target := range []string{"/", "/?q=haus", "/?q=boese", "/?lat=53.14&lon=8.214&radius=700&sort=distance&postcode=26121&street=" + url.QueryEscape("Neue Straße")} {
		do(t, ctx, chromedp.Navigate(server.URL+target), chromedp.WaitVisible("#q"))
		if over := read(t, ctx, chromedp.Evaluate[float64](`document.documentElement.scrollWidth - document.documentElement.clientWidth`)); over > 0 {
			t.Errorf("%s: %v pixels wider than the screen", target, over)
		}
	}
	small := read(t, ctx, chromedp.Evaluate[[]string](`[...document.querySelectorAll("button, input[type=search], .chips a, .paging a, .more > a, summary")].filter(e => e.offsetParent && e.getBoundingClientRect().height < 24).map(e => e.outerHTML.slice(0, 80))`))
	if len(small) > 0 {
		t.Errorf("targets lower than 24 pixels: %q", small)
	}
}

// The page needs no JavaScript.
func TestBrowserWithoutScript(t *testing.T) {
	t.Parallel()
	ctx := browser(t, chromedp.WindowSize(1100, 800), chromedp.Flag("blink-settings", withoutScript))
	server := httptest.NewServer(Handler(town(t, 40), options()))
	defer server.Close()
	do(t, ctx, chromedp.Navigate(server.URL+"/?q=haus&lang=en"))
	text := read(t, ctx, chromedp.Text("main"))
	if !strings.Contains(text, "40 addresses") && !strings.Contains(text, "41 addresses") {
		t.Errorf("page says %q", text)
	}
}

// Every control has a name for those who do not see it, and shows where the
// focus is to those who do.
func TestBrowserNames(t *testing.T) {
	t.Parallel()
	ctx := browser(t, chromedp.WindowSize(1280, 860))
	server := mapServer(t, 40)
	controls := []string{"button", "link", "searchbox", "textbox", "combobox", "checkbox", "slider", "application", "DisclosureTriangle", "image", "region", "navigation", "listbox"}
	check := func(what string, least int) {
		t.Helper()
		tree, err := chromedp.Call(ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		if err != nil {
			t.Fatal(err)
		}
		text := func(v *accessibility.Value) (s string) {
			if v != nil {
				json.Unmarshal(v.Value, &s)
			}
			return strings.TrimSpace(s)
		}
		named := 0
		for _, n := range tree.Nodes {
			if n.Ignored || !slices.Contains(controls, text(n.Role)) {
				continue
			}
			if named++; text(n.Name) == "" {
				t.Errorf("%s: a %s without a name", what, text(n.Role))
			}
		}
		if named < least {
			t.Errorf("%s: only %d controls", what, named)
		}
		do(t, ctx, chromedp.KeyEvent(kb.Tab)) // whoever uses keys sees the focus
		unseen := read(t, ctx, chromedp.Evaluate[[]string](`[...document.querySelectorAll("a[href], button, input:not([type=hidden]), textarea, select, summary, [tabindex='0']")].filter((e) => e.checkVisibility()).filter((e) => {
			e.focus({ preventScroll: true });
			const s = getComputedStyle(e);
			return document.activeElement === e && !(s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2);
		}).map((e) => e.outerHTML.slice(0, 100))`))
		if len(unseen) > 0 {
			t.Errorf("%s: the focus cannot be seen on %d, such as %.500q", what, len(unseen), unseen[0])
		}
	}
	if _, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Navigate(server+"/?q=haus&postcode=26135&lang=en"), chromedp.WaitVisible("#r1"))
	if web.HasMap() {
		do(t, ctx, chromedp.WaitVisible(".leaflet-marker-icon"))
	}
	check("results", 40)
	do(t, ctx, chromedp.Navigate(server+"/bot?lang=en"), chromedp.WaitVisible("h1"))
	check("bot", 2)
	do(t, ctx, chromedp.Navigate(server+"/?q=zzzzqqq&lang=de"), chromedp.WaitVisible("h1"))
	check("nothing found", 4)
	do(t, ctx, chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile), chromedp.Navigate(server+"/?q=haus&lang=de"), chromedp.WaitVisible("#r1"))
	check("telephone", 40)
}

// What only the map knows is marked on it, and "Near me" orders by the distance from the
// reader, or says why it cannot.
func TestBrowserOnMapAndNearMe(t *testing.T) {
	t.Parallel()
	needMap(t)
	ctx := browser(t, chromedp.WindowSize(1280, 860))
	server := httptest.NewServer(Handler(town(t, 40), onMapOptions()))
	defer server.Close()
	do(t, ctx, chromedp.Navigate(server.URL+"/?lang=en&q=Ulmenweg+5"), chromedp.WaitVisible(".leaflet-marker-icon"))
	shoot(t, ctx, "onmap")
	if got := read(t, ctx, chromedp.Evaluate[string](`[...document.querySelectorAll(".leaflet-marker-icon")].filter(e => e.textContent === "◇").map(e => e.getAttribute("aria-label")).join("|")`)); got != "Ulmenweg 5, 26122 Oldenburg, known to the map, no page yet" {
		t.Errorf("the marker is %q", got)
	}
	fits := `(() => { const b = document.getElementById("nearme"), r = document.createRange(); r.selectNodeContents(b); return b.checkVisibility() && b.getBoundingClientRect().width - r.getBoundingClientRect().width >= 20; })()`
	if !read(t, ctx, chromedp.Evaluate[bool](fits)) {
		t.Error("the button Near me is too narrow for its text")
	}
	stub := func(answer string) chromedp.Action[chromedp.Void] {
		return chromedp.Evaluate[chromedp.Void](`navigator.geolocation.getCurrentPosition = (found, failed) => { ` + answer + ` }`)
	}
	do(t, ctx, chromedp.Navigate(server.URL+"/?lang=en&q=haus"), chromedp.WaitVisible("#nearme"), stub(`failed({ code: 1 })`), chromedp.Click("#nearme"), chromedp.WaitVisible("form .relaxed"))
	shoot(t, ctx, "nearme-refused")
	do(t, ctx, stub(`found({ coords: { latitude: 53.1405, longitude: 8.2142, accuracy: 30 } })`), chromedp.Click("#nearme"), chromedp.WaitVisible(".distance"))
	if got := read(t, ctx, chromedp.Location()); !strings.Contains(got, "lat=53.14050") || !strings.Contains(got, "sort=distance") || !strings.Contains(got, "q=haus") {
		t.Errorf("near me is at %s", got)
	}
	do(t, ctx, chromedp.EmulateViewport(380, 800, chromedp.EmulateScale(2), chromedp.EmulateMobile), chromedp.Navigate(server.URL+"/?lang=de&q=haus"), chromedp.WaitVisible("#nearme"))
	shoot(t, ctx, "phone-nearme")
	if width := read(t, ctx, chromedp.Evaluate[float64](`document.getElementById("q").offsetWidth`)); width < 180 {
		t.Errorf("the field for words is %v pixels wide", width)
	}
}

// The whole list prints from the page with its map, on paper that is as narrow as a telephone.
func TestBrowserPrint(t *testing.T) {
	t.Parallel()
	needMap(t)
	ctx := browser(t, chromedp.WindowSize(1280, 860))
	server := mapServer(t, 40)
	do(t, ctx, chromedp.Navigate(server+"/?lang=en&q=haus&limit=40"), chromedp.WaitVisible(".leaflet-marker-icon"))
	pdf, err := chromedp.Call(ctx, page.PrintToPDF, page.PrintToPDFParams{})
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(pdf.Data), "/Type /Page\n"); n < 4 || n > 12 {
		t.Errorf("40 addresses take %d pages", n)
	}
	if *screenshots != "" {
		if err := os.WriteFile(filepath.Join(*screenshots, "print-map.pdf"), pdf.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	do(t, ctx, chromedp.Evaluate[chromedp.Void](`dispatchEvent(new Event("beforeprint"))`)) // which emulating does not send
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.EmulateViewport(680, 1000)) // A4 without its margins
	// Each card lies below the one before it, inside of the page, and nothing cuts it off.
	if cut := read(t, ctx, chromedp.Evaluate[float64](`(() => {
		const cards = [...document.querySelectorAll("ol > li")], list = document.querySelector(".list");
		return Number(cards.length !== 40) + Number(list.scrollHeight > list.clientHeight + 1) + Number(getComputedStyle(document.body).overflow !== "visible") + cards.filter((c, i) => i > 0 && c.getBoundingClientRect().top < cards[i - 1].getBoundingClientRect().bottom - 1).length;
	})()`)); cut > 0 {
		t.Errorf("%v things are cut off", cut)
	}
	// What holds the map cuts off nothing of it, and it has streets under its marks.
	if height := read(t, ctx, chromedp.Evaluate[float64](`Math.min(...[".leaflet-host", ".map"].map((e) => document.querySelector(e).offsetHeight))`)); height < 300 {
		t.Errorf("the map is printed %v pixels high", height)
	}
	if colours := read(t, ctx, chromedp.Evaluate[float64](`(() => {
		const canvas = document.querySelector(".leaflet-host canvas"), { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
		return new Set(new Uint32Array(data.buffer)).size;
	})()`)); colours < 3 {
		t.Errorf("the printed base map has %v colours", colours)
	}
}

// A wide screen gives the map more than half. Sharing copies a link with the view, a card its facts.
func TestBrowserWide(t *testing.T) {
	t.Parallel()
	needMap(t)
	ctx := browser(t, chromedp.WindowSize(1920, 1080))
	server := mapServer(t, 40)
	do(t, ctx, chromedp.Navigate(server+"/?lang=en&q=haus#map=14/53.141/8.22"), chromedp.WaitVisible(".leaflet-marker-icon"), chromedp.WaitVisible("#share"))
	shoot(t, ctx, "wide")
	if share := read(t, ctx, chromedp.Evaluate[float64](`(() => { const r = document.querySelector(".leaflet-host").getBoundingClientRect(); return r.width * r.height / (innerWidth * innerHeight); })()`)); share < 0.5 {
		t.Errorf("the map has %.2f of the screen", share)
	}
	do(t, ctx, chromedp.Evaluate[chromedp.Void](`navigator.share = undefined; navigator.clipboard.writeText = async (text) => { window.copied = text; }`))
	do(t, ctx, chromedp.Click("#share"))
	if got := read(t, ctx, chromedp.Evaluate[string]("window.copied")); !strings.HasPrefix(got, server+"/?lang=en&q=haus#map=14/53.14") {
		t.Errorf("shared %q", got)
	}
	do(t, ctx, chromedp.Click("#r1 button.copy"))
	if got := read(t, ctx, chromedp.Evaluate[string]("window.copied")); !strings.Contains(got, "\n") || !strings.Contains(got, "26") {
		t.Errorf("copied %q", got)
	}
	if got := read(t, ctx, chromedp.Evaluate[string](`document.querySelector("#r1 a[href^='geo:']").href`)); !strings.HasPrefix(got, "geo:53.") {
		t.Errorf("route %q", got)
	}
}

// Matches that share a place are one mark, which opens a list.
func TestBrowserOnePlace(t *testing.T) {
	t.Parallel()
	needMap(t)
	ctx := browser(t, chromedp.WindowSize(1280, 860))
	server := httptest.NewServer(Handler(crowd(t, 60), options()))
	defer server.Close()
	do(t, ctx, chromedp.Navigate(server.URL+"/?lang=en&q=verein"), chromedp.WaitVisible(".mark-cluster"))
	if n := read(t, ctx, chromedp.Evaluate[float64](`document.querySelectorAll(".leaflet-marker-icon").length`)); n != 1 {
		t.Errorf("%v marks for one place", n)
	}
	do(t, ctx, chromedp.Click(".mark-cluster"), chromedp.WaitVisible(".here-list li"))
	shoot(t, ctx, "one-place")
	if got := read(t, ctx, chromedp.Evaluate[string](`document.querySelectorAll(".here-list li").length + " " + document.querySelector(".leaflet-popup strong").textContent`)); got != "50 60 addresses" {
		t.Errorf("the list has %s", got)
	}
}

// crowd returns an index with n clubs whose position is that of their postcode.
func crowd(t testing.TB, n int) *index.Index {
	t.Helper()
	x, err := index.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	var all []shop
	for i := range n {
		all = append(all, shop{fmt.Sprintf("https://verein%d.example/", i), "Verein", fmt.Sprintf("Verein %d", i), "Feldweg", fmt.Sprint(i + 1), "26122", "Oldenburg",
			8.22, 53.15, "Ein Verein", "am Feld", "", gazetteer.PostcodePrecision})
	}
	putAll(t, x, all)
	return x
}

// Without scripts the page can be read on 380 pixels, in both schemes, and printed with
// its whole list and its map.
func TestBrowserPlainPhoneAndPrint(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"0", "1"} { // dark, light
		ctx := browser(t, chromedp.Flag("blink-settings", withoutScript+",preferredColorScheme="+scheme))
		server := mapServer(t, 40)
		do(t, ctx, chromedp.EmulateViewport(380, 800, chromedp.EmulateScale(2), chromedp.EmulateMobile), chromedp.Navigate(server+"/?lang=en&q=haus"), chromedp.WaitVisible("#r1"))
		shoot(t, ctx, "plain-phone-"+scheme)
		if bad := read(t, ctx, chromedp.Evaluate[[]string](`[...document.querySelectorAll("main *, header *, footer *")].filter(e => e.checkVisibility() && !e.closest("svg, .unseen, .skip") && e.getBoundingClientRect().right > 380.5).map(e => e.outerHTML.slice(0, 80))`)); len(bad) > 0 {
			t.Errorf("wider than 380 pixels: %q", bad)
		}
		do(t, ctx, chromedp.Navigate(server+"/?lang=en&q=haus&limit=40"), chromedp.WaitVisible("#r1"))
		pdf, err := chromedp.Call(ctx, page.PrintToPDF, page.PrintToPDFParams{})
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(pdf.Data), "/Type /Page\n"); n < 2 || n > 12 {
			t.Errorf("40 addresses take %d pages", n)
		}
		if *screenshots != "" {
			if err := os.WriteFile(filepath.Join(*screenshots, "print-"+scheme+".pdf"), pdf.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

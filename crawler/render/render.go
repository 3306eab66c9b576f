// Package render runs the scripts of pages in the user's own Chromium. The browser has no network:
// every request of a page is answered by the caller's fetch, with its robots.txt, delays, proxy and
// guard of private addresses, or refused. Start with [Browser.Render].
package render

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"gazehound/crawler/page"
	"gazehound/crawler/weburl"

	"github.com/chromedp/chromedp"
	lru "github.com/hashicorp/golang-lru/v2"
)

// Options tune a Browser.
type Options struct {
	Program   string        // of Chromium; "": the first of Programs that is installed
	Profile   string        // folder for the browser's files; emptied at start and at the end
	UserAgent string        // as the fetcher sends it
	Time      time.Duration // for the scripts of one page; the waits for its requests do not count
	Longest   time.Duration // of one page, with these waits
	Quiet     time.Duration // a page is done when nothing has changed for so long
	Requests  int           // of one page, beside the page itself
	Bytes     int64         // of all of their bodies
	Document  int64         // bytes of the rendered page, which is cut there
	Tabs      int           // pages at a time
	Memory    int64         // bytes of data of one process of the browser, where the system can limit it
}

// DefaultOptions returns the options of a crawl, without Profile and UserAgent.
func DefaultOptions() Options {
	return Options{
		Time: 15 * time.Second, Longest: 5 * time.Minute, Quiet: 500 * time.Millisecond,
		Requests: 30, Bytes: 16 << 20, Document: 2_000_000, Tabs: 4, Memory: 2 << 30,
	}
}

// Programs are the names under which Chromium is looked for.
var Programs = []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome",
	"/Applications/Chromium.app/Contents/MacOS/Chromium",
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"}

// ErrNoBrowser is wrapped by the error of New if there is no Chromium.
var ErrNoBrowser = errors.New("no Chromium is installed")

// Errors of Render.
var (
	ErrTime    = errors.New("render: the page's scripts did not end in time")
	ErrPage    = errors.New("render: the page misbehaved")
	ErrBrowser = errors.New("render: the browser does not work")
	ErrClosed  = errors.New("render: browser is closed")
)

// errSilent is why a page ends whose tab the browser does not open.
var errSilent = fmt.Errorf("%w: it does not answer", ErrBrowser)

const (
	// maxDeaths is how often in a row, without a rendered page in between, the browser is started again.
	maxDeaths = 5
	maxTries  = 3 // of a page whose browser dies
)

// A Fetch makes one request of a page, politely; it follows no redirect.
type Fetch = func(ctx context.Context, u weburl.URL) (*page.Response, error)

// A Browser renders pages in one Chromium process, which starts with the first page and is started
// again after its death. It is safe for concurrent use. Its goroutines end with Close.
type Browser struct {
	options Options
	program string
	tabs    chan struct{}                      // one token for each page in work
	files   *lru.Cache[string, *page.Response] // scripts, by URL: pages of a site share them

	mu     sync.Mutex
	tab    context.Context // of the running process, chromedp's; nil: none
	stop   func()          // ends that process and waits for it
	deaths int             // in a row
	closed bool

	answer time.Duration // in which the browser must open a tab, or it is ended and started again
}

// maxFiles is how many scripts are remembered.
const maxFiles = 64

// New returns a Browser, or an error that wraps ErrNoBrowser. It starts no process.
func New(o Options) (*Browser, error) {
	program, err := find(o.Program)
	if err != nil {
		return nil, err
	}
	files, err := lru.New[string, *page.Response](maxFiles)
	if err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	return &Browser{options: o, program: program, tabs: make(chan struct{}, o.Tabs), files: files,
		answer: startTime}, nil
}

// find returns the path of the browser.
func find(program string) (string, error) {
	if program != "" {
		path, err := exec.LookPath(program)
		if err != nil {
			return "", fmt.Errorf("%w as %q: %w", ErrNoBrowser, program, errors.Unwrap(err))
		}
		return path, nil
	}
	for _, name := range Programs {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNoBrowser
}

// Close ends the browser and waits for it. No Render may follow.
func (b *Browser) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.end()
	return nil
}

// Render returns the document of a response as it is after its scripts have run, as HTML in UTF-8.
// fetch is called for the page's other requests, by several goroutines at once. Errors wrap those
// above, or the error of ctx.
func (b *Browser) Render(ctx context.Context, r *page.Response, fetch Fetch) ([]byte, error) {
	select {
	case b.tabs <- struct{}{}:
		defer func() { <-b.tabs }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	var lost error
	for range maxTries {
		browser, err := b.running(ctx)
		if err != nil {
			return nil, cmp.Or(ctx.Err(), err)
		}
		html, err := b.render(ctx, browser, r, fetch)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil:
			b.mu.Lock()
			b.deaths = 0
			b.mu.Unlock()
			return html, nil
		case errors.Is(err, errSilent):
			b.endSilent(browser)
		case !isDead(browser):
			return nil, err
		}
		lost = fmt.Errorf("%w: it died: %w", ErrBrowser, err)
	}
	return nil, lost
}

// running returns the context of the browser's process, which it starts if there is none.
func (b *Browser) running(ctx context.Context) (context.Context, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, ErrClosed
	}
	if b.tab != nil && !isDead(b.tab) {
		return b.tab, nil
	}
	if b.tab != nil {
		b.deaths++
	}
	b.end()
	if b.deaths > maxDeaths {
		return nil, fmt.Errorf("%w: it died %d times in a row", ErrBrowser, b.deaths)
	}
	whole, kill := context.WithCancel(context.WithoutCancel(ctx))
	allocator, stopAllocator := chromedp.NewExecAllocator(whole, b.flags()...)
	silent := func(string, ...any) {}
	tab, stopTab := chromedp.NewContext(allocator, chromedp.WithErrorf(silent), chromedp.WithLogf(silent))
	b.tab, b.stop = tab, func() {
		kill()
		stopTab()
		stopAllocator()
		b.removeFiles()
	}
	late := time.AfterFunc(startTime, kill) // a context of its own would end the process with it
	stop := context.AfterFunc(ctx, kill)
	err := chromedp.Do(tab)
	if !stop() || !late.Stop() || err != nil {
		b.end()
		b.deaths++
		return nil, fmt.Errorf("%w: %s does not start: %w", ErrBrowser, b.program, cmp.Or(err, ctx.Err(), ErrTime))
	}
	return tab, nil
}

// isDead reports whether the browser's process has ended. The connection is lost a moment before its
// context ends.
func isDead(process context.Context) bool {
	select {
	case <-chromedp.FromContext(process).Browser.LostConnection:
		return true
	default:
		return process.Err() != nil
	}
}

// endSilent ends a process that does not answer.
func (b *Browser) endSilent(process context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tab == process {
		b.end()
		b.deaths++
	}
}

const startTime = 30 * time.Second

// end ends the process, if there is one, and removes its files.
func (b *Browser) end() {
	if b.stop != nil {
		b.stop()
	}
	b.tab, b.stop = nil, nil
}

// removeFiles removes the profile, and what Chromium leaves among the temporary files when it is killed: a
// folder with a socket, to which the profile has a link.
func (b *Browser) removeFiles() {
	socket, err := os.Readlink(filepath.Join(b.options.Profile, socketName))
	if err == nil {
		for _, name := range []string{socketName, "SingletonCookie", ""} {
			os.Remove(filepath.Join(filepath.Dir(socket), name))
		}
	}
	os.RemoveAll(b.options.Profile)
}

const socketName = "SingletonSocket"

// flags returns the options of the browser's process. What a page requests is answered by us, and
// what escapes that finds no network: a proxy that refuses, also for loopback addresses, no names,
// and no WebRTC beside the proxy.
func (b *Browser) flags() []chromedp.ExecAllocatorOption {
	b.removeFiles() // of a killed crawl
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(b.program), chromedp.UserDataDir(b.options.Profile), chromedp.UserAgent(b.options.UserAgent),
		chromedp.Headless, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.DisableGPU,
		chromedp.WindowSize(1280, 1700), chromedp.ModifyCmdFunc(b.confine),
		chromedp.Flag("proxy-server", "http://127.0.0.1:1"), chromedp.Flag("proxy-bypass-list", "<-loopback>"),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"),
		chromedp.Flag("webrtc-ip-handling-policy", "disable_non_proxied_udp"),
		chromedp.Flag("force-webrtc-ip-handling-policy", "disable_non_proxied_udp"), // its name in older versions
		chromedp.Flag("js-flags", fmt.Sprintf("--max-old-space-size=%d", b.options.Memory>>22)),
		chromedp.Flag("blink-settings", "imagesEnabled=false"),
		chromedp.Flag("disable-features",
			"Translate,MediaRouter,OptimizationHints,Prerender2,SpeculationRulesPrefetchFuture"),
	}
	for _, name := range []string{
		"disable-background-networking", "disable-breakpad", "disable-component-update", "disable-default-apps",
		"disable-dev-shm-usage", "disable-domain-reliability", "disable-extensions", "disable-quic", "disable-sync",
		"disable-background-timer-throttling", "disable-renderer-backgrounding", "metrics-recording-only", "no-pings",
		"disable-software-rasterizer", "disable-3d-apis",
	} {
		options = append(options, chromedp.Flag(name, true))
	}
	return options
}

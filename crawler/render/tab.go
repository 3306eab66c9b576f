package render

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gazehound/crawler/page"
	"gazehound/crawler/weburl"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	devtools "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// policy is the Content-Security-Policy of every rendered page. It may run scripts and make requests,
// and has no popups, dialogs, downloads, forms, frames, workers, WebSockets or WebRTC.
const policy = "sandbox allow-scripts allow-same-origin; connect-src http: https:; worker-src 'none'; " +
	"frame-src 'none'; object-src 'none'; img-src 'none'; media-src 'none'; font-src 'none'; form-action 'none'; " +
	"webrtc 'block'"

const (
	maxLoads   = 3    // of the page itself, which may load itself again once a cookie is set
	maxPaused  = 1000 // requests of a page, those that are refused included
	pollPeriod = 100 * time.Millisecond
	closeTime  = 5 * time.Second
)

// A tab is one page in work.
type tab struct {
	options *Options
	files   filesOf
	page    *page.Response
	fetch   Fetch

	target *chromedp.Target
	fail   context.CancelCauseFunc // ends the work on the page

	waiting atomic.Int64 // requests in flight
	paused  atomic.Int64
	loads   atomic.Int64
	left    atomic.Int64 // requests that the page may still make
	bytes   atomic.Int64 // that they may still bring

	mu      sync.Mutex
	closed  bool // no answer begins any more
	answers sync.WaitGroup
}

// filesOf remembers scripts.
type filesOf interface {
	Get(url string) (*page.Response, bool)
	Add(url string, r *page.Response) (evicted bool)
}

// render renders r in a tab of its own, whose cookies and storage end with it.
func (b *Browser) render(ctx, process context.Context, r *page.Response, fetch Fetch) ([]byte, error) {
	opening, giveUp := context.WithCancelCause(process)
	defer giveUp(nil)
	isolated, closeTab := chromedp.NewContext(opening, chromedp.WithNewBrowserContext())
	defer closeTab()
	late := time.AfterFunc(b.answer, func() { giveUp(errSilent) })
	stop := context.AfterFunc(ctx, func() { giveUp(ctx.Err()) })
	err := chromedp.Do(isolated)
	stop()
	if !late.Stop() || err != nil {
		return nil, fmt.Errorf("%s: %w", r.URL, cmp.Or(context.Cause(opening), err))
	}
	defer closeTarget(isolated)

	work, fail := context.WithCancelCause(isolated)
	defer fail(nil)
	defer context.AfterFunc(ctx, func() { fail(ctx.Err()) })()
	longest := time.AfterFunc(b.options.Longest, func() { fail(ErrTime) })
	defer longest.Stop()

	t := &tab{options: &b.options, files: b.files, page: inCharset(r), fetch: fetch, fail: fail}
	t.left.Store(int64(b.options.Requests))
	t.bytes.Store(b.options.Bytes)
	defer t.close()
	var html []byte
	err = chromedp.Do(work, chromedp.Func(func(work context.Context, target *chromedp.Target) (err error) {
		t.target = target
		err = t.open(work, chromedp.FromContext(isolated).BrowserContextID)
		if err == nil {
			html, err = t.settle(work)
		}
		return err
	}))
	if cause := context.Cause(work); cause != nil {
		err = cause
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.URL, err)
	}
	return html, nil
}

// inCharset returns r with the charset that page.Parse reads it in. Without a declaration Chromium takes
// pages in UTF-8 for windows-1252, and it believes one that is wrong.
func inCharset(r *page.Response) *page.Response {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	declared := *r
	declared.Header = r.Header.Clone()
	declared.Header.Set("Content-Type", cmp.Or(media, "text/html")+"; charset="+r.Charset())
	return &declared
}

// closeTarget closes the page of a tab while its events are still read: chromedp stops to answer once
// 1,024 of them wait for a tab whose context has ended.
func closeTarget(tab context.Context) {
	c := chromedp.FromContext(tab)
	ctx, cancel := context.WithTimeout(tab, closeTime)
	defer cancel()
	cdp.Call(ctx, c.Browser, target.CloseTarget, target.CloseTargetParams{TargetID: c.Target.TargetID})
}

// close waits for the answers in work.
func (t *tab) close() {
	t.fail(nil)
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.answers.Wait()
}

// open loads the page.
func (t *tab) open(ctx context.Context, own cdp.BrowserContextID) error {
	for _, method := range []string{ // what they report, a page could make endless
		log.Disable.Method, dom.Disable.Method, runtime.Disable.Method,
	} {
		err := t.target.Call(ctx, method, cdp.Empty{}, nil)
		if err != nil {
			return err
		}
	}
	none := browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorDeny, BrowserContextID: own,
	}
	_, err := cdp.Call(ctx, chromedp.FromContext(ctx).Browser, browser.SetDownloadBehavior, none)
	if err != nil {
		return err
	}
	err = chromedp.Listen(ctx, func(event any) { t.hear(ctx, event) })
	if err != nil {
		return err
	}
	_, err = cdp.Call(ctx, t.target, network.SetBypassServiceWorker, network.SetBypassServiceWorkerParams{Bypass: true})
	if err != nil {
		return err
	}
	_, err = cdp.Call(ctx, t.target, fetch.Enable, fetch.EnableParams{})
	if err != nil {
		return err
	}
	loaded, err := cdp.Call(ctx, t.target, devtools.Navigate, devtools.NavigateParams{URL: t.page.URL.String()})
	if err == nil && loaded.ErrorText != "" {
		err = fmt.Errorf("%w: %s", ErrPage, loaded.ErrorText)
	}
	return err
}

// hear reacts to events of the page.
func (t *tab) hear(ctx context.Context, event any) {
	switch event := event.(type) {
	case *fetch.EventRequestPaused:
		if t.paused.Add(1) > maxPaused {
			t.fail(fmt.Errorf("%w: it made more than %d requests", ErrPage, maxPaused))
			return
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if !t.closed {
			t.waiting.Add(1)
			t.answers.Go(func() {
				defer t.waiting.Add(-1)
				t.answer(ctx, event)
			})
		}
	case *inspector.EventTargetCrashed:
		t.fail(fmt.Errorf("%w: its process crashed, as by using too much memory", ErrPage))
	}
}

// answer answers a request of the page. Where that fails, the page has gone.
func (t *tab) answer(ctx context.Context, event *fetch.EventRequestPaused) {
	r := t.respond(ctx, event)
	if r == nil {
		reason := network.ErrorReasonBlockedByClient
		if event.ResourceType == network.ResourceTypeDocument {
			reason = network.ErrorReasonAborted // the page stays as it is
		}
		fails := fetch.FailRequestParams{RequestID: event.RequestID, ErrorReason: reason}
		cdp.Call(ctx, t.target, fetch.FailRequest, fails)
		return
	}
	header := []*fetch.HeaderEntry{
		// the requests carry no cookies, so that any page may read the answers
		{Name: "Access-Control-Allow-Origin", Value: allowed(event.Request.Headers)},
		{Name: "Access-Control-Allow-Credentials", Value: "true"},
		{Name: "Content-Security-Policy", Value: policy},
	}
	for _, name := range []string{"Content-Type", "Location"} {
		if value := r.Header.Get(name); value != "" {
			header = append(header, &fetch.HeaderEntry{Name: name, Value: strings.ToValidUTF8(value, "")})
		}
	}
	cdp.Call(ctx, t.target, fetch.FulfillRequest, fetch.FulfillRequestParams{
		RequestID: event.RequestID, ResponseCode: int64(r.Status), ResponseHeaders: header, Body: r.Body})
}

// allowed returns the origin that sends a request, or "*".
func allowed(header network.Headers) string {
	var fields map[string]any
	text, err := json.Marshal(header)
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	if origin, ok := fields["Origin"].(string); err == nil && ok {
		return origin
	}
	return "*"
}

// respond returns the response to a request, or nil: it is refused. Only scripts and data are
// fetched, by GET and within the bounds; style sheets are empty.
func (t *tab) respond(ctx context.Context, event *fetch.EventRequestPaused) *page.Response {
	u, err := weburl.Parse(event.Request.URL)
	if err != nil || event.Request.Method != http.MethodGet {
		return nil
	}
	switch event.ResourceType {
	case network.ResourceTypeDocument:
		if u == t.page.URL && t.loads.Add(1) <= maxLoads {
			return t.page
		}
		return nil
	case network.ResourceTypeStylesheet:
		return &page.Response{Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/css"}}}
	case network.ResourceTypeScript, network.ResourceTypeXHR, network.ResourceTypeFetch:
	default:
		return nil
	}
	if known, ok := t.files.Get(u.String()); ok && event.ResourceType == network.ResourceTypeScript {
		return known
	}
	if t.left.Add(-1) < 0 {
		return nil
	}
	r, err := t.fetch(ctx, u)
	if err != nil || t.bytes.Add(-int64(len(r.Body))) < 0 {
		return nil
	}
	if event.ResourceType == network.ResourceTypeScript && r.Status == http.StatusOK && !r.Cut {
		t.files.Add(u.String(), r)
	}
	return r
}

// A state is what the page is like at a moment.
type state struct {
	Ready    bool   // it is loaded
	Origin   string // scheme and host
	Elements int
	Letters  int
}

const stateScript = `JSON.stringify({Ready: document.readyState == "complete",
	Origin: location.protocol + "//" + location.host,
	Elements: document.getElementsByTagName("*").length, Letters: document.documentElement.textContent.length})`

// settle waits until the page has no request in flight and has not changed for Options.Quiet, or its
// time is over, and returns its document.
func (t *tab) settle(ctx context.Context) ([]byte, error) {
	var last state
	changed, used := time.Now(), time.Duration(0)
	for used < t.options.Time {
		began := time.Now()
		var s state
		text, err := evaluate[string](ctx, t, stateScript, t.options.Time-used)
		if err == nil {
			err = json.Unmarshal([]byte(text), &s)
		}
		if _, changing := errors.AsType[*cdproto.Error](err); err != nil && !changing {
			return nil, err
		}
		waits := t.waiting.Load() > 0
		if s != last || waits {
			last, changed = s, time.Now()
		}
		if s.Ready && time.Since(changed) >= t.options.Quiet {
			break
		}
		select {
		case <-time.After(pollPeriod):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if !waits {
			used += time.Since(began)
		}
	}
	if own := t.page.URL.Scheme() + "://" + t.page.URL.Host(); last.Origin != own {
		return nil, fmt.Errorf("%w: it is no longer of %s", ErrPage, own)
	}
	script := fmt.Sprintf(`"<!DOCTYPE html>" + document.documentElement.outerHTML.slice(0, %d)`, t.options.Document)
	html, err := evaluate[string](ctx, t, script, t.options.Time)
	return []byte(html[:min(int64(len(html)), t.options.Document)]), err
}

// evaluate runs a script of ours in a world of its own: the page cannot change what it calls.
func evaluate[T any](ctx context.Context, t *tab, script string, limit time.Duration) (value T, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, ErrTime)
	defer cancel()
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
	}()
	world, err := cdp.Call(ctx, t.target, devtools.CreateIsolatedWorld, devtools.CreateIsolatedWorldParams{
		FrameID: cdp.FrameID(t.target.TargetID), WorldName: "gazehound"})
	if err != nil {
		return value, err
	}
	yes := true
	result, err := cdp.Call(ctx, t.target, runtime.Evaluate, runtime.EvaluateParams{
		Expression: script, ContextID: world.ExecutionContextID, ReturnByValue: &yes})
	switch {
	case err != nil:
		return value, err
	case result.ExceptionDetails != nil:
		return value, fmt.Errorf("%w: %s", ErrPage, result.ExceptionDetails.Text)
	}
	return value, json.Unmarshal(result.Result.Value, &value)
}

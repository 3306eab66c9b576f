package crawler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"gazehound/crawler/fetch"
	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/order/sitewide"
	"gazehound/crawler/order/trap"
	"gazehound/crawler/page"
	"gazehound/crawler/polite"
	"gazehound/geoparse"
	"gazehound/predictor"
)

// The reasons that the outcome of a page can have.
const (
	ReasonNoIndex = "noindex" // it asks not to be indexed
	ReasonNoCopy  = "no_copy" // it was replayed from an archive that may hold no copy of it
	ReasonPanic   = "panic"   // the program has a defect that this page hits
)

// MaxRedirects is the number of redirects in a row that a crawl follows.
const MaxRedirects = 10

// A Visit is everything that one step of the crawl learned. Page, Verdict and
// Trail are set for HTML pages only.
type Visit struct {
	Entry    frontier.Entry
	Outcome  frontier.Outcome
	Response *page.Response
	Page     *page.Page
	Verdict  geoparse.Verdict
	Trail    []frontier.Node  // the page, the page that held the link to it, and so on
	Found    []frontier.Entry // links that entered the queue or raised a priority there
	New      int              // of them, were not known; set once the visit is committed

	// Before is what was known of a page that is revisited, or nil, and Revisit
	// what became of it. A page that has not changed has neither Page nor
	// Verdict; its Outcome is the one it had.
	Before  *frontier.Check
	Revisit RevisitOutcome

	Panic string // what went wrong within the program, with the stack; "": nothing

	revisit *revisit // nil: the first visit
	// of Found the order.Promising best that the queue did not know, for their value; the best first
	best     []frontier.Entry
	sitemaps []string // that the host names
	text     uint64   // fingerprint of the page's text
}

// Visit takes one page from the queue to the index: fetch, process, learn,
// commit. Run repeats it, and a simulator calls it in its own time. It tells
// whether an HTML page was downloaded. The entry is released last, so that a
// crash repeats a visit and never loses one.
func (c *Crawler) Visit(ctx context.Context, e frontier.Entry) (isPage bool, err error) {
	v := &Visit{Entry: e}
	skip := ""
	if c.Peers != nil {
		moved, err := c.Peers.Moved(ctx, e)
		if moved || err != nil {
			c.Gate.Visited(e.URL.Host(), noRequest)
			return false, err
		}
		if c.Peers.Visited(e) {
			skip = "visited_elsewhere"
		}
	}
	if skip == "" && e.Depth > 0 {
		skip = c.Scope(e.URL) // it was within when the link was found
	}
	if skip == "" && c.spent(&e) {
		skip = "trap"
	}
	if err := c.visit(ctx, c.Frontier, v, skip); err != nil {
		return false, err
	}
	return v.Outcome.Kind == "page", nil
}

// visit takes the way of Visit for an entry of any queue; skip is why it is left
// out, or "". What is to be tried again goes back into the queue.
func (c *Crawler) visit(ctx context.Context, queue Frontier, v *Visit, skip string) error {
	v.Outcome.At = time.Now()
	var retry *frontier.Backoff
	var err error
	if skip != "" {
		c.Gate.Visited(v.Entry.URL.Host(), noRequest)
		v.end("skipped", skip)
	} else if retry, err = c.fetch(ctx, v); err == nil && v.Response != nil {
		retry, err = c.process(ctx, v)
	}
	switch {
	case err != nil:
		return err
	case retry != nil:
		err := queue.Return(v.Entry, *retry)
		if errors.Is(err, frontier.ErrNotLeased) { // it went to another node meanwhile
			return nil
		}
		return err
	}
	if err := c.learn(v); err != nil {
		return err
	}
	return c.commit(ctx, v)
}

// survive, deferred in a step of a visit, keeps a panic from ending the crawl: the
// page is counted as an error, is not tried again, and nothing of it is kept but
// links that were found.
func (v *Visit) survive() {
	p := recover()
	if p == nil {
		return
	}
	o := frontier.Outcome{At: v.Outcome.At, Kind: "error", Reason: ReasonPanic, Status: v.Outcome.Status,
		Bytes: v.Outcome.Bytes}
	*v = Visit{
		Entry: v.Entry, Outcome: o, Response: v.Response, Found: v.Found, Before: v.Before, revisit: v.revisit,
		Panic: fmt.Sprintf("%v\n%s", p, debug.Stack()),
	}
}

// end sets what became of the URL.
func (v *Visit) end(kind, reason string) { v.Outcome.Kind, v.Outcome.Reason = kind, reason }

// fetch makes the request for v.Entry, if the Gate allows it, and sets either
// v.Response, or v.Outcome where nothing came, or returns when to try again. The
// host's turn, which Frontier.Next took, ends here.
func (c *Crawler) fetch(ctx context.Context, v *Visit) (retry *frontier.Backoff, err error) {
	e := &v.Entry
	if c.plain.has(e.URL.Host()) {
		e.URL = e.URL.Plain()
	}
	u := e.URL
	d, err := c.Gate.Check(ctx, u)
	v.sitemaps = d.Sitemaps
	switch {
	case err != nil:
		return nil, err
	case d.Refused != "":
		v.end("skipped", d.Refused)
		return nil, nil
	case d.Unreachable && d.Err != nil && (c.goPlain(e, d.Err) || hopeless(fetch.Class(d.Err))):
		return c.failed(v, d.Err), nil
	case d.Unreachable && e.Retries >= c.Options.Retries:
		v.end("skipped", "robots_unreachable")
		return nil, nil
	case d.Unreachable:
		e.Retries++
		return &frontier.Backoff{Wait: d.Wait, Host: true}, nil
	case !d.Now:
		return &frontier.Backoff{Wait: d.Wait, Host: true}, nil
	}
	r, err := c.request(ctx, v)
	c.Gate.Visited(u.Host(), polite.VisitOf(r, err))
	if ctx.Err() != nil {
		return nil, ctx.Err() // our stop is not the page's fault
	}
	if err != nil {
		return c.failed(v, err), nil
	}
	v.Response = r
	return nil, nil
}

// request asks for a sitemap, a page that was visited before, or a new page.
func (c *Crawler) request(ctx context.Context, v *Visit) (*page.Response, error) {
	e := &v.Entry
	files, ok := c.Fetcher.(FileFetcher)
	switch {
	case e.Sitemap && ok:
		return files.FetchPrefix(ctx, e.URL, sitemapBytes)
	case v.Before != nil:
		return c.fetchAgain(ctx, e.URL, v.Before)
	default:
		return c.Fetcher.Fetch(ctx, e.URL)
	}
}

// process makes an outcome of a response: a page with its verdict, a redirect, a
// sitemap, or why it is none of these. Or it returns when to try again.
func (c *Crawler) process(ctx context.Context, v *Visit) (retry *frontier.Backoff, err error) {
	defer v.survive()
	r := v.Response
	v.Outcome.Status, v.Outcome.Bytes = r.Status, int64(len(r.Body))
	switch {
	case r.Status == 304 && v.Before != nil:
		v.Revisit = Same
		return nil, nil
	case r.Status == 304: // no condition was sent
		v.end("error", fetch.ClassProtocol)
		return nil, nil
	case r.Status >= 300 && r.Status < 400:
		return c.redirected(v), nil
	case r.Status == 429 || r.Status >= 500:
		return c.refused(v), nil
	case r.Status >= 400:
		v.end("error", "http_4xx")
		return nil, nil
	case r.Status != 200 && r.Status != 203:
		v.end("skipped", "no_content")
		return nil, nil
	}
	if v.Entry.Sitemap {
		return nil, c.readSitemap(v)
	}
	p, err := page.Parse(r)
	if err != nil {
		v.end("error", "parse")
		return nil, nil
	}
	if r.Cut {
		return nil, c.cut(v, p)
	}
	if p.Reserved && c.Options.Reservations {
		v.end("skipped", "tdm_reserved")
		return nil, nil
	}
	if len(c.Options.Languages) > 0 && p.Lang != "" && !slices.Contains(c.Options.Languages, p.Lang) {
		v.end("skipped", "language")
		return nil, nil
	}
	verdict, err := c.Judge.Judge(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("judge %s: %w", p.URL, err)
	}
	if r.Parsed == nil {
		p.Doc = nil // nobody needs it any more, and a page may wait for its host
	}
	if verdict.Relevant && c.Options.Reservations {
		reserved, wait, err := c.Gate.Reserved(ctx, v.Entry.URL)
		switch {
		case err != nil:
			return nil, err
		case wait > 0:
			return &frontier.Backoff{Wait: wait, Host: true}, nil
		case reserved:
			v.end("skipped", "tdm_reserved")
			return nil, nil
		}
	}
	v.Page, v.Verdict = p, verdict
	if c.Traps != nil || c.Options.Revisits.First > 0 {
		v.text = page.Fingerprint(p.Text)
	}
	v.judged()
	return nil, nil
}

// cut ends the visit of a page that is too large to be judged: only the links
// before the cut are taken.
func (c *Crawler) cut(v *Visit, p *page.Page) error {
	v.end("skipped", fetch.ClassTooLarge)
	v.Page = p
	defer func() { v.Page = nil }()
	return c.expand(v)
}

// judged notes what the verdict says of the page. Of one that asks not to be
// indexed no words are kept. Which addresses count is up to Outcome.Kept.
func (v *Visit) judged() {
	o := &v.Outcome
	o.Kind, o.Relevant, o.Score, o.Addresses = "page", v.Verdict.Relevant, v.Verdict.Score, addressKeys(v.Verdict)
	switch {
	case v.Page.NoIndex:
		o.Reason = ReasonNoIndex
	case o.Relevant:
		o.Title, o.Evidence = v.Page.Title, v.Verdict.Evidence
	}
}

// maxAddressKeys bounds the addresses of one page that are counted.
const maxAddressKeys = 1000

// addressKeys returns the distinct addresses of a page that lie in the region.
func addressKeys(v geoparse.Verdict) []string {
	var keys []string
	seen := map[string]bool{}
	for _, a := range v.Addresses {
		if k := a.Key(); a.Counts() && !seen[k] && len(keys) < maxAddressKeys {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	return keys
}

// learn adds a page to what is known of its host, scores its links, and tells the
// strategy what the trail of links to it led to. A page counts once, however often
// it is revisited.
func (c *Crawler) learn(v *Visit) error {
	if v.Page == nil {
		return nil
	}
	defer v.survive()
	counted := v.Before != nil && !v.Before.Read.IsZero()
	c.markSiteWide(v, counted)
	if c.Traps != nil && !counted {
		c.Traps.Saw(trap.Page{URL: v.Entry.URL, Text: v.text, Relevant: v.Verdict.Relevant})
	}
	if err := c.expand(v); err != nil {
		return err
	}
	if counted {
		v.Outcome.LinkValue = v.revisit.node.Outcome.LinkValue
		return nil
	}
	return c.teach(v)
}

// markSiteWide marks the addresses of the page that most pages of its host state,
// and the page if it has no others.
func (c *Crawler) markSiteWide(v *Visit, counted bool) {
	if c.SiteWide == nil {
		return
	}
	var mentions []sitewide.Mention
	place := map[string]int{} // of the key in mentions
	found := v.Verdict.Addresses
	for i := range found {
		if key := found[i].Key(); found[i].Counts() {
			n, known := place[key]
			if !known {
				n = len(mentions)
				place[key] = n
				mentions = append(mentions, sitewide.Mention{Key: key, Footer: true})
			}
			mentions[n].Footer = mentions[n].Footer && found[i].Footer
		}
	}
	wide := c.SiteWide.Saw(v.Entry.URL.Host(), mentions, counted)
	all := len(wide) > 0
	for i := range found {
		if n, ok := place[found[i].Key()]; ok {
			found[i].SiteWide = wide[n]
			all = all && wide[n]
		}
	}
	v.Verdict.SiteWide = all && v.Verdict.Relevant
	v.Outcome.SiteWide = v.Verdict.SiteWide
}

// teach tells the strategy what the trail of links to the page led to.
func (c *Crawler) teach(v *Visit) error {
	if s, ok := c.Strategy.(order.LinkValuer); ok && !v.Verdict.Relevant {
		v.Outcome.LinkValue = s.LinkValue(v.best)
	}
	v.Trail = []frontier.Node{{Entry: v.Entry, Outcome: v.Outcome}}
	if v.Entry.Depth > 0 {
		depths := cmp.Or(c.Options.Depths, predictor.MaxDepth)
		parents, err := c.Frontier.Trail(v.Entry.Parent, max(depths-1, 1)) // one says who names the page
		if err != nil {
			return fmt.Errorf("trail of %s: %w", v.Entry.URL, err)
		}
		v.Trail = append(v.Trail, parents...)
	}
	if c.Example != nil && v.Entry.Depth > 0 {
		c.Example(v.Trail, v.Verdict.Relevant)
	}
	c.Strategy.Learn(v.Trail, v.Verdict.Relevant)
	return nil
}

// commit makes a visit durable, its links first and the end of its lease last,
// and reports it.
func (c *Crawler) commit(ctx context.Context, v *Visit) error {
	if v.revisit != nil {
		v.compare()
	}
	own, sent, err := c.route(ctx, v.Page, v.Found)
	if err != nil {
		return fmt.Errorf("links of %s: %w", v.Entry.URL, err)
	}
	v.drop("other_node", int64(sent)) // under policy B some of these are kept, too
	v.Found = own
	for _, s := range c.Sinks {
		if err := store(ctx, s, v); err != nil {
			return fmt.Errorf("store %s: %w", v.Entry.URL, err)
		}
	}
	if v.revisit != nil {
		err = c.revise(ctx, v)
	} else {
		v.Outcome.Check = c.Options.Revisits.first(v)
		v.New, err = c.Frontier.Done(ctx, v.Entry, v.Outcome, v.Found...)
	}
	if err != nil {
		return fmt.Errorf("finish %s: %w", v.Entry.URL, err)
	}
	c.reportVisit(v)
	return nil
}

func store(ctx context.Context, s Sink, v *Visit) error {
	defer v.survive()
	return s.Visit(ctx, v)
}

// reportVisit counts failures in a row and calls Report.
func (c *Crawler) reportVisit(v *Visit) {
	if v.Outcome.Kind == "error" {
		c.failures.Add(1)
	} else {
		c.failures.Store(0)
	}
	if c.Report != nil {
		c.report.Lock()
		defer c.report.Unlock()
		c.Report(v)
	}
}

// noRequest ends a turn that was not used.
var noRequest = polite.Visit{NoRequest: true}

// hopeless reports whether a host that fails like this will fail for its pages too.
func hopeless(class string) bool {
	return class == fetch.ClassDNS || class == fetch.ClassTLS || class == fetch.ClassPrivateAddress
}

// goPlain reports whether an https page is to be asked for by http because of err:
// nobody listens there. A bad certificate is one reason more only where the operator
// says so, for whoever breaks the connection could read and change what comes
// instead. The host is remembered, so that this costs one request per host.
func (c *Crawler) goPlain(e *frontier.Entry, err error) bool {
	plain := fetch.NobodyListens(err) || c.Options.PlainForBadTLS && fetch.Class(err) == fetch.ClassTLS
	return plain && e.URL.Plain() != e.URL && e.Redirects < MaxRedirects
}

// failed ends a visit with an error of the fetcher, or returns when to try again.
func (c *Crawler) failed(v *Visit, err error) (retry *frontier.Backoff) {
	class := fetch.Class(err)
	if c.goPlain(&v.Entry, err) {
		c.plain.add(v.Entry.URL.Host())
		v.Entry.URL = v.Entry.URL.Plain()
		v.Entry.Redirects++
		return &frontier.Backoff{}
	}
	switch class {
	case fetch.ClassContentType, fetch.ClassTooLarge, fetch.ClassPrivateAddress:
		v.end("skipped", class)
		return nil
	case fetch.ClassProtocol:
		if e, ok := errors.AsType[*fetch.Error](err); ok && e.Reused {
			retry = c.retry(v)
		}
	case fetch.ClassTimeout, fetch.ClassConnect:
		retry = c.retry(v)
	}
	if retry == nil {
		v.end("error", class)
	}
	return retry
}

// retry returns how long the page waits for its next try, or nil after the last.
// How long its host waits is the gate's business.
func (c *Crawler) retry(v *Visit) *frontier.Backoff {
	if v.Entry.Retries >= c.Options.Retries {
		return nil
	}
	v.Entry.Retries++
	return &frontier.Backoff{Wait: c.Options.RetryWait << (v.Entry.Retries - 1)}
}

// refused ends a visit with status 429 or 5xx, or returns when to try again.
func (c *Crawler) refused(v *Visit) (retry *frontier.Backoff) {
	if retry = c.retry(v); retry == nil {
		v.end("error", "http_5xx")
		if v.Response.Status == 429 {
			v.Outcome.Reason = "http_429"
		}
	}
	return retry
}

// redirected queues the target in the place of the page itself: same words,
// same parent, same distance. It passes the seen set, scope, robots rules and
// the address guard like any other link. A target that is the same page under
// another spelling, such as https for http, is what this entry is fetched from
// next.
func (c *Crawler) redirected(v *Visit) (retry *frontier.Backoff) {
	e, target := &v.Entry, v.Response.Location
	v.end("redirect", "")
	switch {
	case target.IsZero():
		v.end("error", "bad_redirect")
	case target == e.URL, e.Redirects >= MaxRedirects:
		v.end("error", "redirect_loop")
	case c.Scope(target) != "":
		v.Outcome.Reason = c.Scope(target)
	case frontier.KeyOf(target) == frontier.KeyOf(e.URL):
		e.URL = target
		e.Redirects++
		return &frontier.Backoff{}
	default:
		next := *e
		next.URL, next.Redirects, next.Retries, next.Found = target, e.Redirects+1, 0, v.Outcome.At
		v.Found = []frontier.Entry{next}
	}
	return nil
}

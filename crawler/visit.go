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
	"gazehound/crawler/order/software"
	"gazehound/crawler/order/trap"
	"gazehound/crawler/page"
	"gazehound/crawler/polite"
	"gazehound/geoparse"
	"gazehound/predictor"
)

// Reasons in the outcome of a page.
const (
	ReasonNoIndex = "noindex" // the page is marked noindex
	ReasonNoCopy  = "no_copy" // the archive may hold no copy of the page
	ReasonPanic   = "panic"   // the page made the program panic

	ReasonNoSitemap    = "no_sitemap"       // there is none
	ReasonNeedsScript  = "needs_javascript" // the page has its text only after scripts have run
	ReasonNotInArchive = "not_in_archive"   // of a crawl that reads recorded pages
)

// MaxRedirects is the number of redirects in a row that a crawl follows.
const MaxRedirects = 10

// A Visit is everything that one step of the crawl learned. Page, Verdict and
// Trail are set for HTML pages only, and Trail only where the strategy learns.
type Visit struct {
	Entry    frontier.Entry
	Outcome  frontier.Outcome
	Response *page.Response
	Page     *page.Page
	Verdict  geoparse.Verdict
	Trail    []frontier.Node  // the page, the page that held the link to it, and so on
	Found    []frontier.Entry // links that entered the queue or raised a priority there
	New      int              // those of them that were new; set once the visit is committed

	// Before is the Check of a revisited page, or nil, and Revisit its outcome. An unchanged page
	// has neither Page nor Verdict and keeps its Outcome.
	Before  *frontier.Check
	Revisit RevisitOutcome

	Panic     string // panic and stack; "": none
	RenderErr error  // why the page could not be rendered; nil: it was, or need not be

	revisit *revisit // nil: the first visit
	// the order.BestLinks best of Found that are new to the queue, the best first
	best     []frontier.Entry
	sitemaps []string // sitemaps that the host's robots.txt names
	// hashes of the page's text, see page.Hashes
	text, content uint64
}

// Visit takes one page from the queue to the index: fetch, process, learn, commit. Run and the
// simulator call it. isPage reports whether an HTML page was downloaded. The entry is released
// last, so that a crash repeats a visit and never loses one.
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
		skip = c.scope(&e) // orders may have changed since the link was found
	}
	if f := finding(c.Traps, &e); skip == "" && f.Pattern != "" {
		c.Gate.Visited(e.URL.Host(), noRequest)
		e.Parked = f.Pattern
		err := c.Frontier.Park(ctx, e)
		if err != nil {
			return false, err
		}
		return false, c.releaseLate(ctx, []frontier.Entry{e})
	}
	err = c.visit(ctx, c.Frontier, v, skip)
	if err != nil {
		return false, err
	}
	return v.Outcome.Kind == frontier.KindPage, nil
}

// visit is Visit for an entry of any queue; skip is why it is left out, or "". An entry to be
// retried is returned to the queue.
func (c *Crawler) visit(ctx context.Context, queue Frontier, v *Visit, skip string) error {
	v.Outcome.At = time.Now()
	var retry *frontier.Backoff
	var err error
	if skip != "" {
		c.Gate.Visited(v.Entry.URL.Host(), noRequest)
		v.end(frontier.KindSkipped, skip)
	} else {
		retry, err = c.fetch(ctx, v)
		if err == nil && v.Response != nil {
			retry, err = c.process(ctx, v)
		}
	}
	switch {
	case err != nil:
		return err
	case retry != nil:
		err := queue.Return(v.Entry, *retry)
		if errors.Is(err, frontier.ErrNotLeased) { // the entry moved to another node meanwhile
			return nil
		}
		return err
	}
	err = c.learn(ctx, v)
	if err != nil {
		return err
	}
	return c.commit(ctx, v)
}

// survive, deferred in a step of a visit, keeps a panic from ending the crawl: the page counts as
// an error, is not retried, and only the links found so far are kept.
func (v *Visit) survive() {
	p := recover()
	if p == nil {
		return
	}
	o := frontier.Outcome{At: v.Outcome.At, Kind: frontier.KindError, Reason: ReasonPanic, Status: v.Outcome.Status,
		Bytes: v.Outcome.Bytes}
	*v = Visit{
		Entry: v.Entry, Outcome: o, Response: v.Response, Found: v.Found, Before: v.Before, revisit: v.revisit,
		Panic: fmt.Sprintf("%v\n%s", p, debug.Stack()),
	}
}

// end sets the outcome of the URL.
func (v *Visit) end(kind frontier.Kind, reason string) {
	v.Outcome.Kind, v.Outcome.Reason = kind, reason
}

// fetch makes the request for v.Entry if the Gate allows it. It sets v.Response, or v.Outcome if
// there is none, or returns when to retry. It releases the host's slot, which Frontier.Next took.
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
		v.end(frontier.KindSkipped, d.Refused)
		return nil, nil
	case d.Unreachable && d.Err != nil && (c.goPlain(e, d.Err) || hopeless(fetch.Class(d.Err))):
		return c.failed(v, d.Err), nil
	case d.Unreachable && e.Retries >= c.Options.Retries:
		v.end(frontier.KindSkipped, "robots_unreachable")
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
		return nil, ctx.Err() // the run stops; this is no error of the page
	}
	if err != nil {
		return c.failed(v, err), nil
	}
	v.Response = r
	return nil, nil
}

// request fetches a sitemap, a page that was visited before, or a new page.
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

// process turns a response into an outcome: a page with its verdict, a redirect, a sitemap, or the
// reason why it is none of these; or it returns when to retry.
func (c *Crawler) process(ctx context.Context, v *Visit) (retry *frontier.Backoff, err error) {
	defer v.survive()
	r := v.Response
	v.Outcome.Status, v.Outcome.Bytes, v.Outcome.Rendered = r.Status, int64(len(r.Body)), r.Rendered != nil
	if r.Status != 200 && r.Status != 203 {
		return c.processStatus(ctx, v)
	}
	if v.Entry.Sitemap {
		return nil, c.readSitemap(v)
	}
	return c.processPage(ctx, v)
}

// processStatus turns a response of another status than 200 into an outcome, or returns when to retry.
func (c *Crawler) processStatus(ctx context.Context, v *Visit) (retry *frontier.Backoff, err error) {
	r := v.Response
	switch {
	case r.Status == 304 && v.Before != nil:
		v.Revisit = Same
	case r.Status == 304: // not the answer to a conditional request
		v.end(frontier.KindError, fetch.ClassProtocol)
	case r.Status >= 300 && r.Status < 400:
		return c.redirected(ctx, v)
	case r.Status == 429 || r.Status >= 500:
		return c.refused(v), nil
	case r.Missing:
		v.end(frontier.KindSkipped, ReasonNotInArchive)
	case r.Status >= 400 && v.Entry.Sitemap:
		v.end(frontier.KindSkipped, ReasonNoSitemap)
	case r.Status >= 400:
		v.end(frontier.KindError, "http_4xx")
	default:
		v.end(frontier.KindSkipped, "no_content")
	}
	return nil, nil
}

// processPage parses and judges a page.
func (c *Crawler) processPage(ctx context.Context, v *Visit) (retry *frontier.Backoff, err error) {
	r := v.Response
	p, err := page.Parse(r)
	if err == nil && c.wantsRendering(r, p) {
		p, err = c.render(ctx, v, p)
		if ctx.Err() != nil {
			return nil, ctx.Err() // the run stops
		}
	}
	switch {
	case errors.Is(err, page.ErrXML):
		v.end(frontier.KindSkipped, fetch.ClassContentType)
		return nil, nil
	case err != nil:
		v.end(frontier.KindError, "parse")
		return nil, nil
	}
	if p.Reserved && c.Options.Reservations {
		v.end(frontier.KindSkipped, "tdm_reserved")
		return nil, nil
	}
	if len(c.Options.Languages) > 0 && p.Lang != "" && !slices.Contains(c.Options.Languages, p.Lang) {
		v.end(frontier.KindSkipped, "language")
		return nil, nil
	}
	blank(c.Forgotten, p)
	verdict, err := c.Judge.Judge(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("judge %s: %w", p.URL, err)
	}
	blankBeside(c.Forgotten, p, verdict.Addresses)
	if r.Cut && !verdict.Relevant { // an address may be behind the cut
		return nil, c.undecided(ctx, v, p, fetch.ClassTooLarge)
	}
	if p.NeedsScript && !verdict.Relevant {
		return nil, c.undecided(ctx, v, p, ReasonNeedsScript)
	}
	if r.Parsed == nil {
		p.Doc = nil // frees memory: the page may wait for its host
	}
	if (verdict.Relevant || verdict.Notes != geoparse.Notes{}) && c.Options.Reservations {
		reserved, wait, err := c.Gate.Reserved(ctx, v.Entry.URL)
		switch {
		case err != nil:
			return nil, err
		case wait > 0:
			return &frontier.Backoff{Wait: wait, Host: true}, nil
		case reserved:
			v.end(frontier.KindSkipped, "tdm_reserved")
			return nil, nil
		}
	}
	v.Page, v.Verdict = p, verdict
	if c.Traps != nil || c.Options.Revisits.First > 0 {
		v.text, v.content = page.Hashes(p.Text)
	}
	v.judged()
	if r, ok := c.Strategy.(order.PageRater); ok && !p.NoIndex {
		r.Read(&v.Outcome, p.Title+"\n"+p.Text)
	}
	return nil, nil
}

// undecided ends the visit of a page that cannot be called irrelevant, because a part of it was not
// read: the links that were read are followed, and nothing is learned but that shells of an
// application repeat each other.
func (c *Crawler) undecided(ctx context.Context, v *Visit, p *page.Page, reason string) error {
	v.end(frontier.KindSkipped, reason)
	v.Page = p
	defer func() { v.Page = nil }()
	if reason == ReasonNeedsScript && c.Traps != nil && v.Before == nil {
		v.text, v.content = page.Hashes(p.Text)
		err := c.observe(ctx, v)
		if err != nil {
			return err
		}
	}
	return c.expand(v)
}

// judged copies the verdict into the outcome. No words of a page marked noindex are kept.
// Outcome.Kept decides which addresses count.
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

// learn updates traps and site-wide addresses with a page, scores its links, and trains the
// strategy with the links that led to it. A page counts once, however often it is revisited.
func (c *Crawler) learn(ctx context.Context, v *Visit) error {
	if v.Page == nil {
		return nil
	}
	defer v.survive()
	counted := v.Before != nil && !v.Before.Read.IsZero()
	c.markSiteWide(v, counted)
	if c.Traps != nil && !counted {
		err := c.observe(ctx, v)
		if err != nil {
			return err
		}
	}
	err := c.expand(v)
	if err != nil {
		return err
	}
	if counted {
		v.Outcome.LinkValue = v.revisit.node.Outcome.LinkValue
		return nil
	}
	return c.teach(v)
}

// observe tells the traps of a page and, if it is relevant, of the page that led to it. Links that
// need no longer be parked are queued.
func (c *Crawler) observe(ctx context.Context, v *Visit) error {
	matters := v.Verdict.Relevant && !v.Verdict.SiteWide
	u := v.Entry.URL
	released := c.Traps.Observe(trap.Page{
		URL: u, Text: v.text, Content: v.content, Relevant: matters,
		Software: software.Of(v.Page.Marks),
	})
	err := c.release(ctx, u.Host(), released)
	if err != nil || !matters || v.Entry.Parent.IsZero() {
		return err
	}
	parents, err := c.Frontier.Trail(v.Entry.Parent, 1)
	if err != nil || len(parents) == 0 {
		return err
	}
	u = parents[0].URL
	return c.release(ctx, u.Host(), c.Traps.Credit(u))
}

// markSiteWide marks the addresses that most pages of the host state, and the page if it has no
// others.
func (c *Crawler) markSiteWide(v *Visit, counted bool) {
	if c.SiteWide == nil {
		return
	}
	var mentions []sitewide.Mention
	place := map[string]int{} // key → index in mentions
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
	wide := c.SiteWide.Observe(v.Entry.URL.Host(), mentions, counted)
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

// teach trains the strategy with the links that led to the page, if it learns.
func (c *Crawler) teach(v *Visit) error {
	learner, learns := c.Strategy.(order.Learner)
	if !learns {
		return nil
	}
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
	learner.Learn(v.Trail, v.Verdict.Relevant)
	return nil
}

// commit makes a visit durable, the release of its lease and its links last, and reports it.
func (c *Crawler) commit(ctx context.Context, v *Visit) error {
	if v.revisit != nil {
		v.compare()
	}
	own, others, err := c.route(ctx, v.Page, v.Found)
	if err != nil {
		return fmt.Errorf("links of %s: %w", v.Entry.URL, err)
	}
	v.drop("other_node", int64(len(others))) // under policy B some of these are kept here as well
	v.Found = own
	if p, ok := c.Peers.(Placer); ok && v.Outcome.Kind == frontier.KindPage && v.Page != nil {
		v.Outcome.Place = p.Place(v.Page)
	}
	for _, s := range c.Sinks {
		err := store(ctx, s, v)
		if err != nil {
			return fmt.Errorf("store %s: %w", v.Entry.URL, err)
		}
	}
	found := append(slices.Clip(v.Found), others...)
	if v.revisit != nil {
		err = c.revise(ctx, v, found)
	} else {
		v.Outcome.Check = c.Options.Revisits.first(v)
		v.New, err = c.Frontier.Done(ctx, v.Entry, v.Outcome, found...)
	}
	if err == nil {
		err = c.releaseLate(ctx, v.Found)
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
	if v.Outcome.Kind == frontier.KindError {
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

// noRequest releases a slot that was not used.
var noRequest = polite.Visit{NoRequest: true}

// hopeless reports whether a failure to get robots.txt means that the host's pages will fail, too.
func hopeless(class string) bool {
	return class == fetch.ClassDNS || class == fetch.ClassTLS || class == fetch.ClassPrivateAddress
}

// goPlain reports whether to request an https page by http because of err: nothing listens on the
// https port. A bad certificate counts only with Options.PlainForBadTLS, since an attacker who
// breaks the connection could then read and change the page. The host is remembered, so this costs
// one request per host.
func (c *Crawler) goPlain(e *frontier.Entry, err error) bool {
	plain := fetch.NobodyListens(err) || c.Options.PlainForBadTLS && fetch.Class(err) == fetch.ClassTLS
	return plain && e.URL.Plain() != e.URL && e.Redirects < MaxRedirects
}

// failed ends a visit with an error of the fetcher, or returns when to retry.
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
		v.end(frontier.KindSkipped, class)
		return nil
	case fetch.ClassProtocol:
		if e, ok := errors.AsType[*fetch.Error](err); ok && e.Reused {
			retry = c.retry(v)
		}
	case fetch.ClassTimeout, fetch.ClassConnect:
		retry = c.retry(v)
	}
	if retry == nil {
		v.end(frontier.KindError, class)
	}
	return retry
}

// retry returns how long the page waits for its next try, or nil after the last. The host's
// back-off is the gate's.
func (c *Crawler) retry(v *Visit) *frontier.Backoff {
	if v.Entry.Retries >= c.Options.Retries {
		return nil
	}
	v.Entry.Retries++
	return &frontier.Backoff{Wait: c.Options.RetryWait << (v.Entry.Retries - 1)}
}

// refused ends a visit with status 429 or 5xx, or returns when to retry.
func (c *Crawler) refused(v *Visit) (retry *frontier.Backoff) {
	retry = c.retry(v)
	if retry == nil {
		v.end(frontier.KindError, "http_5xx")
		if v.Response.Status == 429 {
			v.Outcome.Reason = "http_429"
		}
	}
	return retry
}

// redirected queues the target in the place of the page itself: same words, same parent, same
// distance. It passes the set of known URLs, scope, robots.txt and the address guard like any other
// link. If the target is the same page in another spelling, such as https for http, this entry is
// fetched from there next.
func (c *Crawler) redirected(ctx context.Context, v *Visit) (retry *frontier.Backoff, err error) {
	e, target := &v.Entry, v.Response.Location
	v.end(frontier.KindRedirect, "")
	next := *e
	next.URL, next.Redirects, next.Retries, next.Found = target, e.Redirects+1, 0, v.Outcome.At
	switch {
	case target.IsZero():
		v.end(frontier.KindError, "bad_redirect")
	case target != e.URL && c.Scope(target) != "":
		v.Outcome.Reason = c.Scope(target)
	case c.mayBeWall(v):
		if target != e.URL {
			_, err = c.Frontier.Push(ctx, next)
		}
		return &frontier.Backoff{Wait: c.Options.RetryWait}, err
	case target == e.URL, e.Redirects >= MaxRedirects:
		v.end(frontier.KindError, "redirect_loop")
	case frontier.KeyOf(target) == frontier.KeyOf(e.URL):
		e.URL = target
		e.Redirects++
		return &frontier.Backoff{}, nil
	default:
		v.Found = []frontier.Entry{next}
	}
	return nil, nil
}

// mayBeWall reports whether a redirect may come from a wall that lets through who brings its cookie:
// the first redirect of a host in a run, if cookies are kept. Such a page is fetched once more, after
// the page that it redirects to, which may set the cookie and redirect back.
func (c *Crawler) mayBeWall(v *Visit) bool {
	host := v.Entry.URL.Host()
	if !c.Options.Cookies || v.revisit != nil || c.Peers != nil || v.Entry.Redirects > 0 || c.walls.has(host) {
		return false
	}
	if frontier.KeyOf(v.Response.Location) == frontier.KeyOf(v.Entry.URL) && v.Response.Location != v.Entry.URL {
		return false // https for http
	}
	c.walls.add(host)
	return true
}

package fetch

import (
	"container/list"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"sync"

	"gazehound/crawler/weburl"

	"golang.org/x/net/publicsuffix"
)

// Bounds of what is kept of cookies. Beyond them a site starts anew: a crawl
// needs no memory of its visits.
const (
	maxCookie    = 4 << 10 // bytes of one
	maxPerAnswer = 20
	maxPerSite   = 200 // set, not kept: a site that sets more is playing
	maxSites     = 5_000
)

// A pantry holds the cookies of each site in a jar of its own, in memory, for
// this run. No site sees what another one has set. It is safe for concurrent
// use.
type pantry struct {
	mu    sync.Mutex
	sites map[string]*list.Element // of *jar
	order list.List                // last used first
}

type jar struct {
	site string
	*cookiejar.Jar
	set int
}

func newPantry() *pantry { return &pantry{sites: make(map[string]*list.Element)} }

// of returns the jar of a site, new or known.
func (p *pantry) of(site string) *jar {
	if el, ok := p.sites[site]; ok {
		p.order.MoveToFront(el)
		return el.Value.(*jar)
	}
	j := &jar{site: site}
	j.Jar, _ = cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List}) // never fails
	p.sites[site] = p.order.PushFront(j)
	for p.order.Len() > maxSites {
		last := p.order.Remove(p.order.Back()).(*jar)
		delete(p.sites, last.site)
	}
	return j
}

// send adds the cookies of u's site to a request for it.
func (p *pantry) send(request *http.Request, u weburl.URL) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.sites[u.Site()]; !known {
		return
	}
	for _, c := range p.of(u.Site()).Cookies(address(u)) {
		request.AddCookie(c)
	}
}

// keep takes the cookies of an answer, as far as they are for its own site.
func (p *pantry) keep(response *http.Response, u weburl.URL) {
	if len(response.Header["Set-Cookie"]) == 0 {
		return
	}
	var kept []*http.Cookie
	for _, c := range response.Cookies() {
		if len(c.Name)+len(c.Value)+len(c.Path)+len(c.Domain) <= maxCookie && len(kept) < maxPerAnswer {
			kept = append(kept, c)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	j := p.of(u.Site())
	if j.set += len(kept); j.set > maxPerSite {
		p.order.Remove(p.sites[j.site])
		delete(p.sites, j.site)
		return
	}
	j.SetCookies(address(u), kept)
}

func address(u weburl.URL) *url.URL {
	return &url.URL{Scheme: u.Scheme(), Host: u.Host(), Path: u.Path()}
}

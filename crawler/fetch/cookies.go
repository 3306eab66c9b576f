package fetch

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"sync"

	"gazehound/crawler/weburl"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/net/publicsuffix"
)

// Bounds of cookies. Beyond them a site's cookies are dropped, which a crawl does not need to keep.
const (
	maxCookie    = 4 << 10 // bytes of one cookie
	maxPerAnswer = 20
	maxPerSite   = 200 // cookies set in all, kept or not
	maxSites     = 5_000
)

// A cookieStore holds the cookies of each site in a jar of its own, in memory, for
// this run. No site sees what another one has set. It is safe for concurrent use.
type cookieStore struct {
	mu    sync.Mutex
	sites *simplelru.LRU[string, *jar]
}

type jar struct {
	*cookiejar.Jar
	set int
}

func newCookieStore() *cookieStore {
	sites, _ := simplelru.NewLRU[string, *jar](maxSites, nil) // fails for sizes below 1 only
	return &cookieStore{sites: sites}
}

// send adds the cookies of u's site to a request for it.
func (s *cookieStore) send(request *http.Request, u weburl.URL) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j, known := s.sites.Get(u.Site()); known {
		for _, c := range j.Cookies(address(u)) {
			request.AddCookie(c)
		}
	}
}

// keep stores the cookies of a response that are for its own site.
func (s *cookieStore) keep(response *http.Response, u weburl.URL) {
	if len(response.Header["Set-Cookie"]) == 0 {
		return
	}
	var kept []*http.Cookie
	for _, c := range response.Cookies() {
		if len(c.Name)+len(c.Value)+len(c.Path)+len(c.Domain) <= maxCookie && len(kept) < maxPerAnswer {
			kept = append(kept, c)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	j, known := s.sites.Get(u.Site())
	if !known {
		j = &jar{}
		j.Jar, _ = cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List}) // never fails
		s.sites.Add(u.Site(), j)
	}
	j.set += len(kept)
	if j.set > maxPerSite {
		s.sites.Remove(u.Site())
		return
	}
	j.SetCookies(address(u), kept)
}

func address(u weburl.URL) *url.URL {
	return &url.URL{Scheme: u.Scheme(), Host: u.Host(), Path: u.Path()}
}

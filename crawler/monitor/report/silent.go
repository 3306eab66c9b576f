package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"gazehound/crawler/frontier"
	"gazehound/internal/textutil"
)

// A SilentHost is a host that was tried and gave no relevant page, with what most of its URLs ended
// by.
type SilentHost struct {
	Host   string `json:"host"`
	Reason string `json:"reason"` // a key of reasons, such as "robots"
	URLs   int64  `json:"urls"`   // that ended so; parked links count
}

// reasons says what keeps a host silent, and the option that would change it.
var reasons = map[string]struct{ words, option string }{
	"robots":             {"robots.txt forbids them", "no option; ask its owner"},
	"robots_unreachable": {"robots.txt cannot be fetched, which means no", "a later crawl tries again"},
	"nofollow":           {"every page says nofollow", "--seed names further pages of it"},
	"noindex":            {"pages say noindex", "no option; ask its owner"},
	"tdm_reserved":       {"rights to text and data mining are reserved", "policy.tdm, with a reason"},
	"language":           {"pages are in another language", "crawl.content_languages"},
	"login": {"they want a login (HTTP 401, 403, or a redirect to it)",
		"hosts.NAME.user or headers, fetch.cookies: site"},
	"parked":           {"links repeat known pages or are for users of its software", "ctl release HOST"},
	"content_type":     {"they are no pages by their type", "fetch.content_types"},
	"too_large":        {"pages are too long, without an address at their beginning", "fetch.max_body"},
	"tls":              {"its certificate is not trusted", "fetch.ca_file, fetch.http_for_bad_tls"},
	"dns":              {"its name has no address", "a later crawl tries again"},
	"timeout":          {"it answers too slowly", "fetch.timeout"},
	"connect":          {"it cannot be reached", "a later crawl tries again"},
	"http_4xx":         {"pages are not there (HTTP 4xx)", "no option; --seed names other pages of it"},
	"http_429":         {"it asks for fewer requests (HTTP 429)", "hosts.NAME.delay"},
	"http_5xx":         {"its server fails (HTTP 5xx)", "a later crawl tries again"},
	"redirect_loop":    {"pages redirect in circles", "fetch.cookies: site"},
	"private_address":  {"it is inside a network", "no option"},
	"needs_javascript": {"pages have their text only after JavaScript has run", "fetch.render: auto, fetch.render_share"},
	"not_in_archive":   {"they are not in the archive", "more files for --replay"},
}

// String describes the host in one line.
func (h SilentHost) String() string {
	r, known := reasons[h.Reason]
	if !known {
		r.words, r.option = h.Reason, "\"gazehound explain URL\" says more"
	}
	return fmt.Sprintf("%s  %s: %s (%s)", h.Host, textutil.Several(h.URLs, "URL"), r.words, r.option)
}

// maxSilent bounds the hosts that a Silence counts.
const maxSilent = 50_000

// A Silence counts what the URLs of hosts ended by that gave nothing. The zero Silence is ready. It is
// not safe for concurrent use.
type Silence struct {
	hosts map[string]map[string]int64 // reasons by host; nil: it gave something
}

// Visit counts a visit.
func (s *Silence) Visit(e *frontier.Entry, o *frontier.Outcome) {
	host := e.URL.Host()
	if o.Relevant {
		s.gives(host)
	} else if reason := silentReason(e, o); reason != "" {
		s.count(host, reason, 1)
	}
}

func (s *Silence) gives(host string) {
	if s.hosts == nil {
		s.hosts = map[string]map[string]int64{}
	}
	if _, known := s.hosts[host]; known || len(s.hosts) < maxSilent {
		s.hosts[host] = nil
	}
}

func (s *Silence) count(host, reason string, urls int64) {
	if s.hosts == nil {
		s.hosts = map[string]map[string]int64{}
	}
	counts, known := s.hosts[host]
	switch {
	case known && counts == nil, !known && len(s.hosts) >= maxSilent:
		return
	case !known:
		counts = map[string]int64{}
		s.hosts[host] = counts
	}
	counts[reason] += urls
}

// loginPath is the path of a page to log in on, in the languages at hand.
var loginPath = regexp.MustCompile(`(?i)(^|/)(wp-login|log[-_]?in|logon|sign[-_]?in|anmelden|anmeldung|einloggen|` +
	`connexion|se-connecter|iniciar-sesion|acceso|accedi|inloggen|aanmelden|log-ind)(\.\w+)?/?$`)

// silentReason returns why a visit brought nothing, or "" if it was read and just irrelevant.
func silentReason(e *frontier.Entry, o *frontier.Outcome) string {
	switch {
	case e.Sitemap:
		return ""
	case o.Status == 401 || o.Status == 403:
		return "login"
	case o.Kind == frontier.KindError, o.Kind == frontier.KindSkipped:
		return o.Reason
	case o.Kind == frontier.KindPage && e.Redirects > 0 && loginPath.MatchString(e.URL.Path()):
		return "login"
	case o.Kind == frontier.KindPage && o.Reason == "noindex":
		return "noindex"
	case o.Kind == frontier.KindPage && o.Dropped["nofollow"] > 0:
		return "nofollow"
	case o.Kind == frontier.KindPage:
		return "read"
	}
	return ""
}

// Top returns up to n hosts, those with the most URLs first; parked are the patterns of parked links,
// which count for hosts that were visited. A host most of whose URLs were read is left out: it is
// irrelevant and not silent.
func (s *Silence) Top(n int, parked []frontier.ParkedPattern) (top []SilentHost) {
	links := map[string]int64{}
	for _, p := range parked {
		links[p.Host] += p.Links
	}
	for host, counts := range s.hosts {
		if counts == nil {
			continue // it gave something
		}
		worst := SilentHost{host, "parked", links[host]}
		for reason, urls := range counts {
			if reason != "read" && (urls > worst.URLs || urls == worst.URLs && reason < worst.Reason) {
				worst.Reason, worst.URLs = reason, urls
			}
		}
		if worst.URLs > counts["read"] {
			top = append(top, worst)
		}
	}
	slices.SortFunc(top, func(a, b SilentHost) int {
		return cmp.Or(cmp.Compare(b.URLs, a.URLs), cmp.Compare(a.Host, b.Host))
	})
	return top[:min(len(top), n)]
}

package osm

import (
	_ "embed"
	"net/url"
	"strings"
	"unicode"
)

// CleanURL returns the absolute form of a web site as mappers write it, or ""
// if it is none. social is true for social networks, link shorteners and the
// like, whose pages are not the site of the object.
func CleanURL(raw string) (site string, social bool) {
	raw = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, raw)
	if raw == "" || len(raw) > 2000 {
		return "", false
	}
	scheme, _, ok := strings.Cut(raw, "://")
	switch {
	case !ok && strings.HasPrefix(raw, "//"):
		raw = "https:" + raw
	case !ok:
		raw = "https://" + raw
	case !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https"):
		return "", false
	}
	u, err := url.Parse(raw)
	if err != nil || u.User != nil || u.Opaque != "" {
		return "", false
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(strings.TrimSuffix(u.Host, "."))
	host := u.Hostname()
	if !strings.Contains(host, ".") || strings.ContainsAny(host, "@,<>\"'_ ") || strings.HasPrefix(host, ".") ||
		strings.HasSuffix(host, ".") || strings.Contains(host, "..") {
		return "", false
	}
	for name := host; name != ""; {
		if notOwnSites[name] {
			return "", true
		}
		_, name, _ = strings.Cut(name, ".")
	}
	u.Fragment = ""
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String(), false
}

// siteKey is equal for URLs that differ in scheme and "www." only.
func siteKey(site string) string {
	_, rest, _ := strings.Cut(site, "://")
	return strings.TrimSuffix(strings.TrimPrefix(rest, "www."), "/")
}

//go:embed notownsites.txt
var notOwnSiteList string

// notOwnSites are hosts, with all below them, on which an object has a page
// and no site: social networks, shorteners, map and travel portals.
var notOwnSites = func() map[string]bool {
	m := map[string]bool{}
	for host := range strings.FieldsSeq(notOwnSiteList) {
		m[host] = true
	}
	return m
}()

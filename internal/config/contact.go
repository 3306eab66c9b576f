package config

import (
	"errors"
	"net/mail"
	"net/url"
	"strings"

	"gazehound/crawler/weburl"
)

var errContact = errors.New("must be a URL such as https://your-site.example/bot, or a mail address")

// CheckContact returns why text is no contact, or nil: a web address, a mail address, or none yet.
func CheckContact(text string) error {
	if text == "" {
		return nil
	}
	if contactHost(text) == "" {
		return errContact
	}
	return nil
}

// contactHost returns the host of a web address, or the domain of a mail address; "" if text is
// neither.
func contactHost(text string) string {
	if u, err := url.Parse(text); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		return u.Hostname()
	}
	a, err := mail.ParseAddress(strings.TrimPrefix(text, "mailto:"))
	if err != nil {
		return ""
	}
	host := a.Address[strings.LastIndexByte(a.Address, '@')+1:]
	if !strings.Contains(strings.Trim(host, "."), ".") {
		return ""
	}
	return host
}

// ContactIsExample reports whether the contact's host is reserved for examples and tests by RFC
// 2606.
func (o *Options) ContactIsExample() bool {
	host := "." + strings.ToLower(strings.TrimSuffix(contactHost(o.Fetch.Contact), "."))
	for _, name := range []string{"example", "test", "invalid", "example.com", "example.net", "example.org"} {
		if strings.HasSuffix(host, "."+name) {
			return true
		}
	}
	return false
}

// ContactIsHere reports whether the contact is a page on loopback.
func (o *Options) ContactIsHere() bool { return weburl.IsLoopback(contactHost(o.Fetch.Contact)) }

package config

import (
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"strings"

	"gazehound/crawler/weburl"
	"gazehound/internal/textutil"
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
	if !strings.Contains(strings.Trim(host, "."), ".") && !weburl.IsLoopback(host) {
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

// CheckManners returns an error for a crawl of the public internet from these seeds without a delay or
// a contact.
func (o *Options) CheckManners(seeds []weburl.URL) error {
	if o.StaysHere(seeds) {
		return nil
	}
	const howTo = "Site owners must be able to reach you. Set fetch.contact in config.yaml or --contact " +
		"https://… (a page that says who crawls and why)"
	elsewhere := slices.IndexFunc(seeds, func(u weburl.URL) bool { return !weburl.IsLoopback(u.Hostname()) })
	switch {
	case o.Fetch.Contact == "":
		return errors.New("no contact address. " + howTo)
	case o.Fetch.Delay == 0 && o.Fetch.AllowPrivateAddresses && o.Fetch.Proxy == "" && elsewhere >= 0:
		return fmt.Errorf("fetch.delay 0s is for loopback only, with --allow-private-addresses too, and the seed %s "+
			"is elsewhere. Set --delay 1s or longer, or start from pages of this machine alone",
			textutil.OneLine(seeds[elsewhere].String()))
	case o.Fetch.Delay == 0:
		return errors.New("fetch.delay 0s is for loopback only: seeds on this machine with " +
			"--allow-private-addresses, --replay, or a proxy on loopback")
	case o.ContactIsExample():
		return fmt.Errorf("the contact address %s is an example. "+howTo, textutil.OneLine(o.Fetch.Contact))
	}
	return nil
}

package fetch

import (
	"fmt"
	"net/http"
	"strings"

	"gazehound/crawler/weburl"

	"golang.org/x/net/http/httpguts"
)

// A Host has additional header fields and credentials for one host. No other host gets them, even
// after a redirect: every request calls Options.Host.
type Host struct {
	Header     http.Header // overrides the usual fields
	Agent      string      // appended to the User-Agent
	User       string      // of basic authentication, or "": none
	Password   string
	AllowPlain bool // user and password may be sent over plain http
}

// Validate returns an error for a field that cannot be sent or that HTTP itself needs.
func (h Host) Validate() error {
	for name, values := range h.Header {
		if !httpguts.ValidHeaderFieldName(name) {
			return fmt.Errorf("fetch: %q is no name of a header", name)
		}
		switch http.CanonicalHeaderKey(name) {
		case "Host", "Connection", "Content-Length", "Transfer-Encoding", "Te", "Trailer", "Upgrade", "Accept-Encoding",
			"User-Agent", "If-None-Match", "If-Modified-Since", "Range", "Authorization", "Proxy-Authorization":
			return fmt.Errorf("fetch: header %s is set by gazehound itself", name)
		}
		for _, v := range values {
			if !httpguts.ValidHeaderFieldValue(v) {
				return fmt.Errorf("fetch: header %s has a value that cannot be sent", name)
			}
		}
	}
	switch {
	case !httpguts.ValidHeaderFieldValue(h.Agent):
		return fmt.Errorf("fetch: user agent %q cannot be sent in a header", h.Agent)
	case strings.ContainsAny(h.User, ":\x00\r\n"):
		return fmt.Errorf("fetch: user %q cannot be sent: it has a colon or a line end", h.User)
	}
	return nil
}

// UserAgent returns a User-Agent with a product (such as gazehound/1.0) and a contact, in ASCII;
// contact may be "".
func UserAgent(product, contact string) string {
	if contact == "" {
		return product
	}
	return fmt.Sprintf("%s (+%s)", product, strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '(' || r == ')' || r == ';' {
			return '_'
		}
		return r
	}, contact))
}

// dress adds the Host's fields to request.
func (c *Client) dress(request *http.Request, u weburl.URL) {
	if c.cookies != nil {
		c.cookies.send(request, u)
	}
	if c.options.Host == nil {
		return
	}
	h := c.options.Host(u)
	if h.Agent != "" {
		request.Header.Set("User-Agent", c.options.UserAgent+" "+h.Agent)
	}
	for name, values := range h.Header {
		request.Header[http.CanonicalHeaderKey(name)] = values
	}
	if h.User != "" && (u.Scheme() == "https" || h.AllowPlain || weburl.IsLoopback(u.Hostname())) {
		request.SetBasicAuth(h.User, h.Password)
	}
}

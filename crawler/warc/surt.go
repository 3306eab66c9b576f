package warc

import (
	"regexp"
	"slices"
	"strings"

	"gazehound/crawler/weburl"
)

// SURT returns the sortable form of a URL that indexes of web archives are
// ordered by, such as "com,example)/path?a=1&b=2" for
// https://www.example.com/Path?b=2&a=1: the host's labels backwards without
// "www", no scheme, lower case, the query in order. Captures of one page share
// a key whatever spelling it was fetched by.
func SURT(u weburl.URL) string {
	var b strings.Builder
	host := strings.ToLower(u.Hostname())
	if strings.HasPrefix(host, "[") || isIPv4(host) {
		b.WriteString(host)
	} else {
		labels := strings.Split(wwwPrefix.ReplaceAllString(host, ""), ".")
		slices.Reverse(labels)
		b.WriteString(strings.Join(labels, ","))
	}
	if port := strings.TrimPrefix(u.Host(), u.Hostname()); port != "" {
		b.WriteString(port)
	}
	b.WriteByte(')')
	path := strings.ToLower(u.Path())
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	b.WriteString(path)
	if q := u.Query(); q != "" {
		fields := strings.Split(strings.ToLower(q), "&")
		slices.Sort(fields)
		b.WriteString("?" + strings.Join(fields, "&"))
	}
	// What separates the columns cannot stand in one.
	return strings.NewReplacer(" ", "%20", "\t", "%09", "\n", "%0a", "\r", "%0d").Replace(b.String())
}

var wwwPrefix = regexp.MustCompile(`^www\d*\.`)

func isIPv4(host string) bool {
	return strings.Trim(host, "0123456789.") == "" && strings.Count(host, ".") == 3
}

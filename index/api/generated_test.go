package api

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// hostileValues are what no client of good will sends as a value, a name or a header.
var hostileValues = []string{
	"", " ", "0", "-1", "1e309", "-1e309", "NaN", "Inf", "0x1p4", "9223372036854775808", "1,2,3", "180,90,-180,-90", "8.1,53.1,8.3,53.2", "é", "İ", "ﬃ", "\x00", "\r\nX: y",
	"\xff\xfe", "\xf0\x9f\x8d", "\u202e", "<script>alert(1)</script>", "' OR 1=1 --", "\"", "\\", "../../etc/passwd", "%", "%zz", "%25", "${jndi:ldap://a}", "{{7*7}}", "*:*", "/.*/",
	"+a -b ~1 ^9", "a AND OR NOT", "((((((((((", "[[[[[[[[[[", "\"\"\"\"\"", "?", "****", "a*", "~", "null", "true", "undefined", "[object Object]", "2026-02-30", "0000-00-00T00:00:00Z", "../..",
	strings.Repeat("a", 300), strings.Repeat("ä ", 200), strings.Repeat("1", 400), strings.Repeat("(", 150), strings.Repeat("a b ", 50), strings.Repeat("0,", 100), strings.Repeat("%20", 60),
}

// requestMaker makes requests of every route that are wrong in one or several places.
type requestMaker struct {
	*rand.Rand
	names []string // of all parameters
}

func (m *requestMaker) of(list []string) string { return list[m.IntN(len(list))] }

// value returns a hostile value, or one with a character of it exchanged.
func (m *requestMaker) value(right string) string {
	b := []byte(right)
	switch m.IntN(4) {
	case 0:
		return right + m.of(hostileValues)
	case 1:
		if len(b) > 0 {
			b[m.IntN(len(b))] = byte(m.IntN(256))
		}
		return string(b)
	}
	return m.of(hostileValues)
}

// target returns path and query.
func (m *requestMaker) target() string {
	e := endpoints()[m.IntN(len(endpoints()))]
	path := strings.TrimSuffix(e.path, "{$}")
	for _, wild := range []string{"{id}", "{level}", "{x}", "{y}"} {
		path = strings.Replace(path, wild, url.PathEscape(m.value("0123456789abcdef")), 1)
	}
	if m.IntN(20) == 0 {
		path += url.PathEscape(m.value("/"))
	}
	var query []string
	add := func(name, value string) {
		if m.IntN(30) > 0 {
			name, value = url.QueryEscape(name), url.QueryEscape(value)
		}
		query = append(query, name+"="+value)
	}
	for _, p := range parameters {
		right := fmt.Sprint(p.example)
		if p.required&e.on != 0 && m.IntN(8) > 0 {
			add(p.name, right)
		} else if p.on&e.on != 0 && m.IntN(6) == 0 {
			add(p.name, m.value(right))
		}
	}
	if len(query) == 0 || m.IntN(4) == 0 {
		name := m.of(m.names)
		if m.IntN(3) == 0 {
			name = m.value(name)
		}
		add(name, m.value("1"))
	}
	m.Shuffle(len(query), func(i, j int) { query[i], query[j] = query[j], query[i] })
	return path + "?" + strings.Join(query, "&")
}

// Requests that are wrong at random, always the same ones, are refused or answered; none is an error of
// the server, as one that takes longer than Options.QueryTimeout would be (503), and no answer is large.
// GAZEHOUND_REQUESTS makes more of them.
func TestGeneratedRequests(t *testing.T) {
	t.Parallel()
	wanted, _ := strconv.Atoi(os.Getenv("GAZEHOUND_REQUESTS"))
	wanted = max(wanted, 10_000)
	h := Handler(town(t, 100), options())
	m := &requestMaker{Rand: rand.New(rand.NewPCG(22, 7))}
	for _, p := range parameters {
		m.names = append(m.names, p.name)
	}
	slices.Sort(m.names)
	codes := map[int]int{}
	refused, largest := 0, 0
	for refused < wanted {
		target := m.target()
		method := "GET"
		if m.IntN(12) == 0 {
			method = m.of([]string{"HEAD", "POST", "PUT", "OPTIONS", "BREW"})
		}
		r := httptest.NewRequest(method, "http://gazehound.example/", strings.NewReader(m.of(hostileValues)))
		r.URL.Path, r.URL.RawQuery, _ = strings.Cut(target, "?")
		if path, err := url.PathUnescape(r.URL.Path); err == nil {
			r.URL.Path, r.URL.RawPath = path, r.URL.Path
		}
		r.RequestURI = target
		for _, name := range []string{"Accept", "Accept-Language", "Accept-Encoding", "If-None-Match", "If-Modified-Since", "Range", "Origin", "Content-Type", "X-Forwarded-For", "Cookie"} {
			if m.IntN(12) == 0 {
				r.Header.Set(name, m.of(hostileValues))
			}
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		largest = max(largest, w.Body.Len())
		codes[w.Code]++
		if w.Code >= 500 {
			t.Errorf("%s %q: %d %.300s", r.Method, target, w.Code, w.Body)
		}
		if w.Code < 400 {
			continue
		}
		refused++
		var p Problem
		if strings.HasPrefix(w.Header().Get("Content-Type"), "application/problem+json") && (json.Unmarshal(w.Body.Bytes(), &p) != nil || p.Status != w.Code || p.Detail == "") && r.Method != "HEAD" {
			t.Errorf("%s %q: %s", r.Method, target, w.Body)
		}
		if strings.Contains(w.Body.String(), "<script>alert") && strings.Contains(w.Header().Get("Content-Type"), "html") {
			t.Errorf("%s %q: not escaped", r.Method, target)
		}
	}
	if largest > 1<<20 {
		t.Errorf("the largest answer has %d bytes", largest)
	}
	t.Logf("%d refused; answers by status: %v; the largest has %d bytes", refused, codes, largest)
}

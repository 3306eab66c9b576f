package peers

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/gocolly/colly/v2"
)

// bare is the least that a crawler can do: it asks for a page, parses it with
// goquery, takes links, title and text, and remembers in memory what it has
// seen. Breadth first, no limits, no manners, nothing stored.
func bare(ctx context.Context, j job) (result, error) {
	proxy, err := url.Parse(j.Proxy)
	if err != nil {
		return result{}, err
	}
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{Proxy: http.ProxyURL(proxy), MaxIdleConnsPerHost: j.Workers},
		CheckRedirect: func(*http.Request, []*http.Request) error { return nil }}
	var mu sync.Mutex
	changed := sync.NewCond(&mu)
	seen, queue, busy := map[string]bool{}, []string{}, 0
	var r result
	push := func(raw string) { // mu is held
		if !seen[raw] {
			seen[raw] = true
			queue = append(queue, raw)
		}
	}
	for _, s := range j.Seeds {
		push(s)
	}
	began := time.Now()
	var g sync.WaitGroup
	for range j.Workers {
		g.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			for {
				for len(queue) == 0 && busy > 0 && r.Pages < int64(j.Pages) {
					changed.Wait()
				}
				if len(queue) == 0 || r.Pages >= int64(j.Pages) {
					changed.Broadcast()
					return
				}
				raw := queue[0]
				queue = queue[1:]
				busy++
				mu.Unlock()
				links, size, ok := barePage(client, raw)
				mu.Lock()
				busy--
				if ok {
					r.Pages++
					r.Bytes += int64(size)
				}
				for _, l := range links {
					push(l)
				}
				changed.Broadcast()
			}
		})
	}
	g.Wait()
	r.Seconds = time.Since(began).Seconds()
	return r, nil
}

func barePage(client *http.Client, raw string) (links []string, size int, ok bool) {
	response, err := client.Get(raw)
	if err != nil {
		return nil, 0, false
	}
	defer response.Body.Close()
	if response.StatusCode != 200 || !strings.HasPrefix(response.Header.Get("Content-Type"), "text/html") {
		io.Copy(io.Discard, response.Body)
		return nil, 0, false
	}
	body := &counter{r: response.Body}
	doc, err := goquery.NewDocumentFromReader(body)
	if err != nil {
		return nil, 0, false
	}
	keep(doc.Find("title").Text(), doc.Text())
	doc.Find("a[href]").Each(func(_ int, a *goquery.Selection) {
		href, _ := a.Attr("href")
		if to, err := response.Request.URL.Parse(href); err == nil && (to.Scheme == "http" || to.Scheme == "https") {
			to.Fragment = ""
			links = append(links, to.String())
		}
	})
	return links, body.n, true
}

type counter struct {
	r io.Reader
	n int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

var kept atomic.Int64

// keep stands for whatever is done with title and text.
func keep(title, text string) { kept.Add(int64(len(title) + len(text))) }

// collyCrawl is colly as its documentation shows it, asynchronous, with links,
// title and text.
func collyCrawl(ctx context.Context, j job) (result, error) {
	var r result
	var pages, bytes atomic.Int64
	c := colly.NewCollector(colly.Async(true))
	if err := errors.Join(c.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: j.Workers}), c.SetProxy(j.Proxy)); err != nil {
		return r, err
	}
	c.OnRequest(func(q *colly.Request) {
		if pages.Load() >= int64(j.Pages) {
			q.Abort()
		}
	})
	c.OnHTML("html", func(e *colly.HTMLElement) {
		pages.Add(1)
		bytes.Add(int64(len(e.Response.Body)))
		keep(e.DOM.Find("title").Text(), e.DOM.Text())
	})
	c.OnHTML("a[href]", func(e *colly.HTMLElement) {
		if pages.Load() < int64(j.Pages) {
			e.Request.Visit(e.Attr("href"))
		}
	})
	began := time.Now()
	for _, s := range j.Seeds {
		c.Visit(s)
	}
	idle := make(chan struct{})
	go func() { c.Wait(); close(idle) }()
	// colly has no page limit: thousands of requests wait to be made when the
	// last page is in. The process ends without them.
	for waiting := true; waiting && pages.Load() < int64(j.Pages); {
		select {
		case <-idle:
			waiting = false
		case <-time.After(2 * time.Millisecond):
		}
	}
	r.Pages, r.Bytes, r.Seconds = pages.Load(), bytes.Load(), time.Since(began).Seconds()
	return r, nil
}

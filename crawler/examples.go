package crawler

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/geoparse"
)

// SeedsOnly is the strategy of a crawl that follows no links.
type SeedsOnly struct{ order.BreadthFirst }

// Score drops links.
func (SeedsOnly) Score(e *frontier.Entry) (float64, bool) { return 1, e.Depth == 0 }

// Examples is a Judge that keeps the texts of the pages it judges.
type Examples struct {
	mu    sync.Mutex
	texts []string
}

// Judge finds no page relevant.
func (x *Examples) Judge(_ context.Context, p *page.Page) (geoparse.Verdict, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.texts = append(x.texts, exampleText(p))
	return geoparse.Verdict{}, nil
}

// Texts returns the title and text of each page. The crawl must have ended.
func (x *Examples) Texts() []string { return x.texts }

// ReadExample returns the title and text of a page in a file, reading at most that many bytes.
func ReadExample(name string, most int64) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	body, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return "", err
	}
	header := http.Header{"Content-Type": {"text/html"}}
	if strings.EqualFold(filepath.Ext(name), ".txt") {
		header.Set("Content-Type", "text/plain")
	}
	here, err := weburl.Parse("http://localhost/")
	if err != nil {
		return "", err
	}
	p, err := page.Parse(&page.Response{URL: here, Status: http.StatusOK, Header: header, Body: body})
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, page.ErrNotHTML)
	}
	return exampleText(p), nil
}

func exampleText(p *page.Page) string { return p.Title + "\n" + p.Text }

package crawler

import (
	"context"

	"gazehound/crawler/page"
	"gazehound/geoparse"
)

// Geo judges pages by the addresses of the region that they hold.
type Geo struct {
	Parser  *geoparse.Parser
	Country string // hint where a page does not say, ISO 3166-1 alpha-2 or ""
}

// Judge parses the addresses of p.
func (g Geo) Judge(ctx context.Context, p *page.Page) (geoparse.Verdict, error) {
	return g.Parser.Parse(ctx, geoparse.Input{Text: p.Text, Doc: p.Doc, Host: p.URL.Hostname(), Lang: p.Lang, Country: g.Country})
}

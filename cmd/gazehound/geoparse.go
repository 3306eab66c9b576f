package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/gazetteer"
	"gazehound/geoparse"

	"github.com/spf13/cobra"
)

// maxParseFile bounds what geoparse reads, in bytes.
const maxParseFile = 32 << 20

// geoparseOptions are the flags of geoparse.
type geoparseOptions struct {
	html, batch, all bool
	url, country     string
	region, format   string
}

const geoparseHelp = `Finds postal addresses in a text or, with --html, in a page and verifies them against
the gazetteer of the data directory; postal codes alone are enough.

--batch reads one JSON object per line, {"id":…, "text":… or "html":…, "country":…,
"url":…, "title":…, "lang":…}, and prints one per line in the same order, {"id":…,
"addresses":[…]}. Only text or html is required: a page states title and language
itself, and --country applies to lines without one.
start and end of an address count Unicode characters of the text; they are -1
where only the markup of a page states the address.

--all-candidates also lists rejected candidates, and says for every address outside of
the region why it does not count.

Examples:
  echo "Nadorster Straße 12a, 26123 Oldenburg" | gazehound geoparse -
  gazehound geoparse --html --all-candidates page.html
  gazehound geoparse --format geojson page.txt > addresses.geojson
  gazehound geoparse --batch - < pages.jsonl > addresses.jsonl
`

func newGeoparseCommand(a *app) *cobra.Command {
	var o geoparseOptions
	cmd := command("geoparse FILE|-", "Find the addresses in a text or page", geoparseHelp,
		one("one file, or - for standard input"),
		func(ctx context.Context, args []string) error { return a.geoparse(ctx, args[0], o) })
	f := cmd.Flags()
	f.BoolVar(&o.html, "html", false, "the input is an HTML page")
	f.StringVar(&o.url, "url", "", "`URL` of the page: its domain hints at the country")
	f.StringVar(&o.country, "country", "", "country of the input, ISO 3166 `CODE`: only addresses of its form are "+
		"looked for")
	f.StringVar(&o.region, "region", "", "judge against this `REGION` (default the project's)")
	f.BoolVar(&o.all, "all-candidates", false, "also list what was rejected, and why")
	f.StringVar(&o.format, "format", formats[0], "`FORMAT` to print: text, geojson or ndjson")
	oneOf(f, "format", formats)
	f.BoolVar(&o.batch, "batch", false, "read and print JSON, one object per line")
	return cmd
}

// formats are those of one input; the first is the default.
var formats = []string{"text", "geojson", "ndjson"}

func (o *geoparseOptions) check() error {
	switch {
	case o.batch && (o.all || o.format != formats[0]):
		return fail(badUsage, "--batch prints JSON lines of addresses; leave --all-candidates and --format out")
	case o.batch && (o.html || o.url != ""):
		return fail(badUsage, "--batch takes html and url from each line; leave --html and --url out")
	case o.url != "":
		if _, err := weburl.Parse(o.url); err != nil {
			return fail(badUsage, "--url: %w", err)
		}
	}
	return nil
}

// geoparse finds the addresses in a file.
func (a *app) geoparse(ctx context.Context, name string, o geoparseOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := a.needData(); err != nil {
		return err
	}
	p := project{a.data}
	g, err := p.openGazetteer()
	if err != nil {
		return err
	}
	defer g.Close()
	region, err := p.regionIfAny(g, o.region)
	if err != nil {
		return err
	}
	input, err := a.openInput("geoparse", name)
	if err != nil {
		return err
	}
	defer input.Close()
	parser, err := geoparse.New(g, region, geoparse.Options{EveryMention: o.batch})
	if err != nil {
		return err
	}
	if o.batch {
		return geoparse.Batch(ctx, parser, input, a.stdout, o.read)
	}
	in, err := parseInput(name, input, o)
	if err != nil {
		return err
	}
	v, list, err := parser.Findings(ctx, in, o.all)
	switch {
	case err != nil:
		return err
	case a.json || o.format == "ndjson":
		for _, f := range list {
			if err := a.printJSON(f.Record()); err != nil {
				return err
			}
		}
		return a.printJSON(fields{"type": "summary", "addresses": len(v.Addresses), "relevant": v.Relevant,
			"score": v.Score})
	case o.format == "geojson":
		return geoparse.WriteGeoJSON(a.stdout, list)
	}
	a.printFindings(list, v, region)
	return nil
}

// parseInput reads one text or page.
func parseInput(name string, r io.Reader, o geoparseOptions) (in geoparse.Input, err error) {
	if name == "-" {
		name = "standard input"
	}
	data, err := io.ReadAll(io.LimitReader(r, maxParseFile+1))
	if err != nil {
		return in, fmt.Errorf("geoparse: read %s: %w", name, err)
	}
	if len(data) > maxParseFile {
		return in, fail(badInput, "geoparse: %s is larger than %d MB; split it", name, maxParseFile>>20)
	}
	in, err = o.read(data, o.html, o.url)
	if err != nil {
		return in, fail(badInput, "geoparse: %s: %w", name, err)
	}
	return in, nil
}

// read is a [geoparse.ReadInput]: it reads a page as a crawl does.
func (o geoparseOptions) read(data []byte, html bool, rawURL string) (geoparse.Input, error) {
	in := geoparse.Input{Country: strings.ToUpper(o.country)}
	u, err := weburl.Parse(rawURL)
	if err == nil {
		in.Host, in.Path = u.Hostname(), u.RequestURI()
	}
	if !html {
		in.Text = string(bytes.ToValidUTF8(data, []byte("\uFFFD")))
		return in, nil
	}
	if err != nil {
		u, err = weburl.Parse("http://localhost/")
		if err != nil {
			return in, err
		}
	}
	p, err := page.Parse(&page.Response{URL: u, Status: http.StatusOK,
		Header: http.Header{"Content-Type": {"text/html"}}, Body: data, Fetched: time.Now()})
	if err != nil {
		return in, err
	}
	in.Text, in.Doc, in.Title, in.Lang = p.Text, p.Doc, p.Title, p.Lang
	return in, nil
}

var findingsText = textTemplate(`{{range .list}}{{if .Address}}{{with .Address}}{{/**/ -}}
{{printf "%-*s   %-12s  %.2f" $.width (line .Text) .Precision.String .Confidence -}}
{{"   "}}{{if .Precision}}{{printf "%.5f,%.5f" .Point.Lon .Point.Lat}}{{else}}-{{end}}   {{/**/ -}}
{{or (line .Place.ID) "-"}}   {{/**/ -}}
{{if ge .Start 0}}chars {{.Start}}-{{.End}}{{else}}only in the markup{{end}}{{end}}{{with .Reason}}   {{line .}}{{end}}
{{with .Address.Beside}}  {{line .}}
{{end}}{{else}}{{printf "%-*s   %-12s" $.width (line .Text) "rejected"}}  {{line .Reason}}   {{/**/ -}}
chars {{.Rejected.Start}}-{{.Rejected.End}}
{{end}}{{end}}`)

// printFindings prints the addresses of one input, one per line.
func (a *app) printFindings(list []geoparse.Finding, v geoparse.Verdict, region *gazetteer.Region) {
	width := 0
	for _, f := range list {
		width = max(width, min(60, utf8.RuneCountInString(f.Text())))
	}
	a.print("%s", text{findingsText, fields{"list": list, "width": width}})
	found := several(len(v.Addresses), "address")
	switch {
	case region == nil:
		a.say("%s; no region to judge them by", found)
	case v.Relevant:
		a.say("%s, relevant for %s", found, oneLine(region.Name))
	default:
		a.say("%s, not relevant for %s", found, oneLine(region.Name))
	}
}

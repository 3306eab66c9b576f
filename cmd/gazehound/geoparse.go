package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/gazetteer"
	"gazehound/geoparse"
)

// maxParseFile bounds what geoparse reads, in bytes.
const maxParseFile = 32 << 20

func newGeoparseCommand(a *app) *cobra.Command {
	var o struct {
		html, batch, all bool
		url, country     string
		region, format   string
	}
	cmd := &cobra.Command{
		Use:   "geoparse FILE|-",
		Short: "Find the addresses in a text or page",
		Long: `Finds postal addresses in a text or, with --html, in a page and proves them
against the gazetteer of the data directory; postal codes alone are enough.

--batch reads one JSON object a line, {"id":…, "text":… or "html":…, "country":…,
"url":…}, and prints one a line in the same order, {"id":…, "addresses":[…]}.
start and end of an address count Unicode characters of the text; they are -1
where only the markup of a page states the address.

--all-candidates also lists what looked like an address and is none, and says of
every address that does not count for the region why.`,
		Example: `  echo "Nadorster Straße 12a, 26123 Oldenburg" | gazehound geoparse -
  gazehound geoparse --html --all-candidates page.html
  gazehound geoparse --format geojson page.txt > addresses.geojson
  gazehound geoparse --batch - < pages.jsonl > addresses.jsonl`,
		Args: exactly(1, `geoparse wants one file, or - for standard input. "gazehound geoparse --help" shows examples`),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(formats, o.format) {
				return fail(exitUsage, "--format is %q; it must be %s", o.format, strings.Join(formats, ", "))
			}
			if o.batch && (o.all || o.format != formats[0]) {
				return fail(exitUsage, "--batch prints JSON lines of addresses; leave --all-candidates and --format out")
			}
			if o.batch && (o.html || o.url != "") {
				return fail(exitUsage, "--batch takes html and url from each line; leave --html and --url out")
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
			input, err := a.openInput("geoparse", args[0])
			if err != nil {
				return err
			}
			defer input.Close()
			ctx := cmd.Context()
			parser, err := geoparse.New(g, region, geoparse.Options{EveryMention: o.batch})
			if err != nil {
				return err
			}
			if o.batch {
				return geoparse.Batch(ctx, parser, input, a.stdout, hostOfURL)
			}
			in, err := parseInput(args[0], input, o.html, o.url)
			if err != nil {
				return err
			}
			in.Country = strings.ToUpper(o.country)
			if a.json {
				o.format = "ndjson"
			}
			var rejected []geoparse.Candidate
			var v geoparse.Verdict
			if o.all {
				v, rejected, err = parser.Explain(ctx, in)
			} else {
				v, err = parser.Parse(ctx, in)
			}
			if err != nil {
				return err
			}
			lines := verdictLines(parser, v, rejected, o.all)
			switch o.format {
			case "geojson":
				return a.printGeoJSON(lines)
			case "ndjson":
				return a.printLines(lines, v)
			}
			return a.printVerdict(lines, v, region)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&o.html, "html", false, "the input is an HTML page")
	f.StringVar(&o.url, "url", "", "`URL` of the page: its domain hints at the country")
	f.StringVar(&o.country, "country", "", "country of the input, ISO 3166 `CODE`: only addresses of its form are looked for")
	f.StringVar(&o.region, "region", "", "judge against this `REGION` (default the project's)")
	f.BoolVar(&o.all, "all-candidates", false, "also list what was rejected, and why")
	f.StringVar(&o.format, "format", formats[0], "print `text`, geojson or ndjson")
	f.BoolVar(&o.batch, "batch", false, "read and print JSON, an object a line")
	return cmd
}

// parseInput reads one text or page.
func parseInput(name string, r io.Reader, isHTML bool, url string) (geoparse.Input, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxParseFile+1))
	if err != nil {
		return geoparse.Input{}, fmt.Errorf("geoparse: read %s: %w", name, err)
	}
	if len(data) > maxParseFile {
		return geoparse.Input{}, fail(exitInvalidInput, "geoparse: %s is larger than %d MB; split it", name, maxParseFile>>20)
	}
	var u weburl.URL
	in := geoparse.Input{}
	if url != "" {
		if u, err = weburl.Parse(url); err != nil {
			return in, fail(exitUsage, "--url: %w", err)
		}
		in.Host = u.Hostname()
	}
	if !isHTML {
		in.Text = string(bytes.ToValidUTF8(data, []byte("\uFFFD")))
		return in, nil
	}
	if url == "" {
		if u, err = weburl.Parse("http://localhost/"); err != nil {
			return in, err
		}
	}
	p, err := page.Parse(&page.Response{URL: u, Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}, Body: data, Fetched: time.Now()})
	if err != nil {
		return in, fail(exitInvalidInput, "geoparse: %s: %w", name, err)
	}
	in.Text, in.Doc, in.Title, in.Lang = p.Text, p.Doc, p.Title, p.Lang
	return in, nil
}

// formats are those of one input; the first is the default.
var formats = []string{"text", "geojson", "ndjson"}

// A verdictLine is an address, or a candidate that was rejected.
type verdictLine struct {
	address  *geoparse.Address   // nil: rejected
	rejected *geoparse.Candidate // nil: an address
	reason   string
}

// verdictLines returns the lines of a verdict in the order of the text; with
// reasons where they are asked for.
func verdictLines(parser *geoparse.Parser, v geoparse.Verdict, rejected []geoparse.Candidate, reasons bool) []verdictLine {
	var lines []verdictLine
	for i := range v.Addresses {
		line := verdictLine{address: &v.Addresses[i]}
		if reasons {
			line.reason = parser.Doubt(v.Addresses[i])
		}
		lines = append(lines, line)
	}
	for i := range rejected {
		lines = append(lines, verdictLine{rejected: &rejected[i], reason: rejected[i].Reason})
	}
	start := func(l verdictLine) int {
		switch {
		case l.rejected != nil:
			return l.rejected.Start
		case l.address.Start < 0:
			return math.MaxInt
		}
		return l.address.Start
	}
	slices.SortStableFunc(lines, func(a, b verdictLine) int { return cmp.Compare(start(a), start(b)) })
	return lines
}

// printLines prints one JSON object per line and the summary.
func (a *app) printLines(lines []verdictLine, v geoparse.Verdict) error {
	for _, l := range lines {
		var err error
		if l.address != nil {
			j := geoparse.NewRecord(*l.address)
			j.Type, j.Reason = "address", l.reason
			err = a.printJSON(j)
		} else {
			err = a.printJSON(map[string]any{"type": "rejected", "text": l.rejected.Text, "start": l.rejected.Start, "end": l.rejected.End, "reason": l.reason})
		}
		if err != nil {
			return err
		}
	}
	return a.printJSON(map[string]any{"type": "summary", "addresses": len(v.Addresses), "relevant": v.Relevant, "score": v.Score})
}

// printGeoJSON prints a feature collection; the geometry of what has no
// coordinate is null.
func (a *app) printGeoJSON(lines []verdictLine) error {
	type geometry struct {
		Type        string     `json:"type"`
		Coordinates [2]float64 `json:"coordinates"`
	}
	type feature struct {
		Type       string    `json:"type"`
		Geometry   *geometry `json:"geometry"`
		Properties any       `json:"properties"`
	}
	features := []feature{}
	for _, l := range lines {
		f := feature{Type: "Feature"}
		if l.address == nil {
			f.Properties = map[string]any{"type": "rejected", "text": l.rejected.Text, "start": l.rejected.Start, "end": l.rejected.End, "reason": l.reason}
			features = append(features, f)
			continue
		}
		j := geoparse.NewRecord(*l.address)
		if j.Lat != nil {
			f.Geometry = &geometry{"Point", [2]float64{*j.Lon, *j.Lat}}
			j.Lat, j.Lon = nil, nil
		}
		j.Type, j.Reason = "address", l.reason
		f.Properties = j
		features = append(features, f)
	}
	return a.printJSON(map[string]any{"type": "FeatureCollection", "features": features})
}

// printVerdict prints the addresses of one input, a line each.
func (a *app) printVerdict(lines []verdictLine, v geoparse.Verdict, region *gazetteer.Region) error {
	width := 0
	for _, l := range lines {
		text := ""
		if l.address != nil {
			text = l.address.Text
		} else {
			text = l.rejected.Text
		}
		width = max(width, min(60, len([]rune(text))))
	}
	for _, l := range lines {
		if l.address == nil {
			fmt.Fprintf(a.stdout, "%-*s   %-12s  %s   chars %d-%d\n", width, oneLine(l.rejected.Text), "rejected", oneLine(l.reason), l.rejected.Start, l.rejected.End)
			continue
		}
		x := l.address
		where := "only in the markup"
		if x.Start >= 0 {
			where = fmt.Sprintf("chars %d-%d", x.Start, x.End)
		}
		point := "-"
		if x.Precision > gazetteer.NoPrecision {
			point = fmt.Sprintf("%.5f,%.5f", x.Point[0], x.Point[1])
		}
		id := x.Place.ID
		if id == "" {
			id = "-"
		}
		if l.reason != "" {
			where += "   " + oneLine(l.reason)
		}
		fmt.Fprintf(a.stdout, "%-*s   %-12s  %.2f   %s   %s   %s\n", width, oneLine(x.Text), x.Precision, x.Confidence, point, oneLine(id), where)
		if s := beside(x); s != "" {
			fmt.Fprintf(a.stdout, "  %s\n", oneLine(s))
		}
	}
	found := several(len(v.Addresses), "address")
	switch {
	case region == nil:
		a.say("%s; no region to judge them by", found)
	case v.Relevant:
		a.say("%s, relevant for %s", found, oneLine(region.Name))
	default:
		a.say("%s, not relevant for %s", found, oneLine(region.Name))
	}
	return nil
}

// beside returns what belongs to the address, and what is special about it, in
// one line.
func beside(x *geoparse.Address) string {
	var parts []string
	for _, s := range []string{x.Name, x.Branch, x.Phone, x.Email, x.Website, x.Hours} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if x.Role != geoparse.OwnRole {
		parts = append(parts, "role "+x.Role.String())
	}
	if x.Footer {
		parts = append(parts, "in the page's footer")
	}
	switch {
	case x.Private:
		parts = append(parts, "of a private person: not kept")
	case x.Person:
		parts = append(parts, "of a person in business")
	}
	return strings.Join(parts, " · ")
}

// hostOfURL returns the host of a URL, or "".
func hostOfURL(raw string) string {
	u, err := weburl.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

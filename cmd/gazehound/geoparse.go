package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/gazetteer"
	"gazehound/geoparse"
	"gazehound/geoparse/markup"
)

// Limits of what geoparse reads, in bytes.
const (
	maxParseFile = 32 << 20
	maxBatchLine = 32 << 20
)

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
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fail(exitUsage, "geoparse wants one file, or - for standard input. \"gazehound geoparse --help\" shows examples")
			}
			return nil
		},
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
			input, name, closeInput, err := a.openInput(args[0])
			if err != nil {
				return err
			}
			defer closeInput()
			ctx := cmd.Context()
			parser, err := geoparse.New(g, region, geoparse.Options{EveryMention: o.batch})
			if err != nil {
				return err
			}
			if o.batch {
				return a.geoparseBatch(ctx, parser, input)
			}
			in, err := parseInput(name, input, o.html, o.url)
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

// regionIfAny is openRegion, but a project without a region has none.
func (p project) regionIfAny(g *gazetteer.Gazetteer, spec string) (*gazetteer.Region, error) {
	if spec == "" {
		if _, err := os.Stat(p.region()); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
	return p.openRegion(g, spec)
}

// openInput opens the file called name, or standard input for "-".
func (a *app) openInput(name string) (r io.Reader, shown string, closeInput func() error, err error) {
	if name == "-" {
		return a.stdin, "standard input", func() error { return nil }, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, "", nil, fail(exitInvalidInput, "geoparse: %w", err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, "", nil, fail(exitInvalidInput, "geoparse: %s is a folder; name a file", name)
	}
	return f, name, f.Close, nil
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

// addressJSON is an address as geoparse prints it.
type addressJSON struct {
	Type        string   `json:"type,omitempty"`
	Text        string   `json:"text"`
	Street      string   `json:"street,omitempty"`
	HouseNumber string   `json:"housenumber,omitempty"`
	Unit        string   `json:"unit,omitempty"`
	POBox       string   `json:"po_box,omitempty"`
	Postcode    string   `json:"postcode,omitempty"`
	City        string   `json:"city,omitempty"`
	State       string   `json:"state,omitempty"`
	Country     string   `json:"country,omitempty"`
	Start       int      `json:"start"`
	End         int      `json:"end"`
	Level       string   `json:"level"`
	Confidence  float64  `json:"confidence"`
	Precision   string   `json:"precision"`
	Lat         *float64 `json:"lat,omitempty"`
	Lon         *float64 `json:"lon,omitempty"`
	Origin      string   `json:"origin"`
	Place       string   `json:"place,omitempty"`
	InRegion    bool     `json:"in_region"`
	Role        string   `json:"role"`
	Footer      bool     `json:"footer,omitempty"`
	SiteWide    bool     `json:"site_wide,omitempty"` // of a crawl only: one page cannot tell
	Person      bool     `json:"person,omitempty"`
	Private     bool     `json:"private,omitempty"`
	Name        string   `json:"name,omitempty"`
	Branch      string   `json:"branch,omitempty"`
	Phone       string   `json:"phone,omitempty"`
	Email       string   `json:"email,omitempty"`
	Website     string   `json:"website,omitempty"`
	Hours       string   `json:"opening_hours,omitempty"`
	Reason      string   `json:"reason,omitempty"`
}

// formats are those of one input; the first is the default.
var formats = []string{"text", "geojson", "ndjson"}

func newAddressJSON(x geoparse.Address) addressJSON {
	j := addressJSON{
		Text: x.Text, Street: x.Street, HouseNumber: x.HouseNumber, Unit: x.Unit, POBox: x.POBox, Postcode: x.Postcode,
		City: x.City, State: x.State, Country: x.Country, Start: x.Start, End: x.End, Level: x.Level.String(),
		Confidence: float64(int(x.Confidence*1000+0.5)) / 1000, Precision: x.Precision.String(), Origin: x.Origin.String(), Place: x.Place.ID, InRegion: x.InRegion,
		Role: x.Role.String(), Footer: x.Footer, SiteWide: x.SiteWide, Person: x.Person, Private: x.Private, Name: x.Name, Branch: x.Branch, Phone: x.Phone, Email: x.Email, Website: x.Website, Hours: x.Hours,
	}
	if x.Precision > gazetteer.NoPrecision {
		lon, lat := x.Point[0], x.Point[1]
		j.Lat, j.Lon = &lat, &lon
	}
	return j
}

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

// printLines prints a JSON object a line and the summary.
func (a *app) printLines(lines []verdictLine, v geoparse.Verdict) error {
	for _, l := range lines {
		var err error
		if l.address != nil {
			j := newAddressJSON(*l.address)
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
		j := newAddressJSON(*l.address)
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

// A batchLine is one line of input and, once done is closed, its answer.
type batchLine struct {
	number int
	text   []byte
	err    error // of reading it
	answer []byte
	done   chan struct{}
}

// geoparseBatch answers each line of r in order. Lines are parsed side by side;
// an answer is written as soon as those before it are.
func (a *app) geoparseBatch(ctx context.Context, parser *geoparse.Parser, r io.Reader) error {
	workers := runtime.GOMAXPROCS(0)
	todo := make(chan *batchLine, workers)
	order := make(chan *batchLine, 4*workers)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(order)
		defer close(todo)
		return readBatch(ctx, r, todo, order)
	})
	for range workers {
		g.Go(func() error {
			for line := range todo {
				line.answer = answerBatch(ctx, parser, line)
				close(line.done)
			}
			return nil
		})
	}
	g.Go(func() error {
		w := bufio.NewWriterSize(a.stdout, 64<<10)
		for line := range order {
			select {
			case <-line.done:
			case <-ctx.Done():
				return ctx.Err()
			}
			w.Write(line.answer)
			if len(order) == 0 {
				if err := w.Flush(); err != nil {
					return err
				}
			}
		}
		return w.Flush()
	})
	return g.Wait()
}

// readBatch sends each line that is not empty to both channels.
func readBatch(ctx context.Context, r io.Reader, todo, order chan<- *batchLine) error {
	br := bufio.NewReaderSize(r, 1<<20)
	for number := 1; ; number++ {
		text, tooLong, err := readLine(br)
		if err != nil && err != io.EOF {
			return fmt.Errorf("geoparse: read line %d: %w", number, err)
		}
		if text = bytes.TrimSpace(text); len(text) > 0 || tooLong {
			line := &batchLine{number: number, text: text, done: make(chan struct{})}
			if tooLong {
				line.err = fmt.Errorf("longer than %d MB", maxBatchLine>>20)
			}
			for _, c := range []chan<- *batchLine{todo, order} {
				select {
				case c <- line:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

// readLine reads up to the next line break and keeps at most maxBatchLine.
func readLine(r *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxBatchLine {
			line, tooLong = nil, true
		}
		if !tooLong {
			line = append(line, part...)
		}
		if err != bufio.ErrBufferFull {
			return line, tooLong, err
		}
	}
}

// badJSON says in plain words why a line cannot be read.
func badJSON(err error) error {
	var mistyped *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &mistyped) && mistyped.Field != "":
		return fmt.Errorf("%q must be a string, not a %s", mistyped.Field, mistyped.Value)
	case errors.As(err, &mistyped):
		return fmt.Errorf("not a JSON object but a %s", mistyped.Value)
	}
	return fmt.Errorf("not a JSON object: %w", err)
}

// answerBatch returns the line of output for a line of input.
func answerBatch(ctx context.Context, parser *geoparse.Parser, line *batchLine) []byte {
	var q struct {
		ID      json.RawMessage `json:"id"`
		Country *string         `json:"country"`
		URL     *string         `json:"url"`
		Text    *string         `json:"text"`
		HTML    *string         `json:"html"`
	}
	type answer struct {
		ID        json.RawMessage `json:"id"`
		Addresses []addressJSON   `json:"addresses"`
		Error     string          `json:"error,omitempty"`
	}
	out := answer{Addresses: []addressJSON{}}
	err := line.err
	if err == nil {
		err = badJSON(json.Unmarshal(line.text, &q))
	}
	out.ID = q.ID
	if err == nil && q.Text == nil && q.HTML == nil {
		err = errors.New(`neither "text" nor "html"`)
	}
	if err != nil {
		out.Error = fmt.Sprintf("line %d: %v", line.number, err)
	} else {
		in := geoparse.Input{}
		if q.Country != nil {
			in.Country = strings.ToUpper(*q.Country)
		}
		if q.URL != nil {
			if u, err := weburl.Parse(*q.URL); err == nil {
				in.Host = u.Hostname()
			}
		}
		if q.Text != nil {
			in.Text = *q.Text
		} else {
			in.Doc = markup.Parse([]byte(*q.HTML))
			in.Text = markup.Text(in.Doc)
		}
		v, err := parser.Parse(ctx, in)
		if err != nil {
			out.Error = fmt.Sprintf("line %d: %v", line.number, err)
		}
		for _, x := range v.Addresses {
			out.Addresses = append(out.Addresses, newAddressJSON(x))
		}
	}
	if len(out.ID) == 0 {
		out.ID = json.RawMessage("null")
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		b.Reset()
		fmt.Fprintf(&b, "{\"id\":null,\"addresses\":[],\"error\":\"line %d: cannot be answered\"}\n", line.number)
	}
	return b.Bytes()
}

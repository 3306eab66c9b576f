package main

import (
	"context"
	"errors"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"
	"gazehound/index"
	"gazehound/index/export"
	searchpage "gazehound/index/web"
	"gazehound/predictor"

	"github.com/spf13/cobra"
)

const explainHelp = `Prints what the crawl knows about a URL, or about an address by its ID of
"gazehound search --json".

For a queued link: the path from the last relevant page, the parts that add up to its
priority, its rank in the queue, and with a predictor the terms of the link with their
log-odds, which add up to the prediction. This uses the model as last saved and the
crawl's strategy; the priority with which the link was queued may be older.

For a visited page: the outcome, its addresses in the region, and which links its
verdict taught the model as examples of the depths 1 to 3.

For any other URL: why it is left out, if that is known.

For an address: who is there, the objects of the map that it was matched with, how sure
that is and why, and what each page says, with the address in brackets (--json: its span
in the snippet, in characters).

Exit status: 0 known, 4 never seen or damaged model, 5 a crawl runs with
--admin off, 10 no crawl.

Examples:
  gazehound explain https://www.oldenburg.example/branchen
  gazehound explain www.oldenburg.example/branchen --json | jq .depths[0].terms
  gazehound explain 0bce2d70dac32de5
`

func newExplainCommand(a *app) *cobra.Command {
	cmd := command("explain URL|ID", "Explain the priority of a link, the outcome of a page, or an address", explainHelp,
		one("one URL or ID"),
		func(ctx context.Context, args []string) error { return a.explain(ctx, args[0]) })
	strategyFlags(cmd.Flags())
	return cmd
}

// explain prints what the crawl knows about one URL or address.
func (a *app) explain(ctx context.Context, text string) error {
	if addressID.MatchString(text) {
		return a.readIndex(func(_ project, x *index.Index) error { return a.explainAddress(x, text) })
	}
	u, problem := a.parseSeed("explain", text)
	if problem != "" {
		return fail(badUsage, "explain: %s; it takes a URL, or an ID of \"gazehound search --json\"", problem)
	}
	return a.readCrawl(func(p project, cfg *Config, f *frontier.Frontier) error {
		return a.explainURL(ctx, p, cfg, f, u)
	})
}

func (a *app) explainURL(ctx context.Context, p project, cfg *Config, f *frontier.Frontier, u weburl.URL) error {
	model, err := predictor.Load(p.model(), cfg.ModelOptions())
	if errors.Is(err, fs.ErrNotExist) {
		model, err = predictor.NewModel(cfg.ModelOptions()), nil
	}
	if err != nil {
		return invalid(err)
	}
	strategy, err := a.newOrder(p, cfg, model, nil)
	if err != nil {
		return err
	}
	// a missing contact must not make the URL out of scope here
	scope, err := newScope(cfg, crawlOptions{replay: []string{""}})
	if err == nil {
		_, err = scope.Restore(f)
	}
	if err != nil {
		return err
	}
	n, known, err := f.Get(frontier.KeyOf(u))
	if err != nil {
		return err
	}
	if !known {
		return a.explainUnknown(f, u, scope.Check(u))
	}
	traps := newTraps(cfg, scope)
	learned := crawler.Learned{Tree: f, Model: model, Strategy: strategy, Traps: traps}
	err = learned.Restore(ctx)
	if err != nil {
		return err
	}
	x, err := learned.Explain(n)
	if err != nil {
		return err
	}
	x.Scope = scope.Check(n.URL)
	if x.Queued != nil {
		x.Strategy = cfg.Crawl.Strategy
	}
	if n.State == frontier.Queued {
		x.Rank, err = f.RankOf(ctx, &n)
		if err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(x)
	}
	var b strings.Builder
	weights := crawler.Weights{Decay: cfg.Crawl.Decay, Alpha: cfg.Crawl.Alpha, Beta: cfg.Crawl.Beta,
		Emphasis: cfg.Crawl.Emphasis, Weight: cfg.Predictor.Weight, Combine: cfg.Predictor.Combine}
	return errors.Join(x.Write(&b, weights, a.Verbose > 0), a.print("%s", &b))
}

var addressID = regexp.MustCompile(`^[0-9a-f]{16}$`)

var addressText = textTemplate(`address   {{line .Line}}
{{with .Name}}name      {{line .}}
{{end}}{{with .Branch}}branch    {{line .}}
{{end}}{{with .Kind}}kind      {{line .}}
{{end}}{{with .Phone}}phone     {{line .}}
{{end}}{{with .Email}}email     {{line .}}
{{end}}{{with .Website}}website   {{line .}}
{{end}}{{with .Hours}}hours     {{line .}}
{{end}}{{with .Status}}status    {{.}}{{with $.StatusWords}}: {{printf "%q" (line .)}}{{end}}
{{end}}{{with .Differs}}          other sites state another {{join . ", "}}
{{end}}{{range .Objects}}map       https://www.openstreetmap.org/{{.}}
{{end}}{{with .Tags}}          {{line .}}
{{end}}{{if .HasPoint}}point     {{printf "%.6f, %.6f" .Point.Lat .Point.Lon}}
{{end}}{{range .Reasons}}why       {{line .}}
{{end}}seen      {{date .FirstSeen}} to {{date .LastSeen}}, on {{several .Mentions "page"}}
{{range .Evidence}}page      {{line .URL}}
          read {{date .Fetched}}
          {{line (bracketed .Snippet)}}
{{end}}`)

// explainAddress prints why an address is listed: what the map has there, how sure it is, and what
// each page says, with the address in brackets.
func (a *app) explainAddress(x *index.Index, id string) error {
	h, err := x.Address(id)
	if err != nil {
		return err
	}
	if h == nil {
		return fail(badInput, "no address has the ID %s; \"gazehound search --json\" prints IDs", id)
	}
	objects := slices.DeleteFunc(slices.Compact([]string{h.Place, h.Object}),
		func(id string) bool { return !export.OSMObject.MatchString(id) })
	reasons := searchpage.Reasons(h, "en")
	return a.show(h.Proof(), addressText, struct {
		*index.Hit
		Objects, Reasons []string
		Tags             string
	}{h, objects, reasons, strings.ReplaceAll(h.Tags, ";", ", ")})
}

// explainUnknown returns an error that says why a URL was never queued.
func (a *app) explainUnknown(f *frontier.Frontier, u weburl.URL, scope string) error {
	near, err := f.Near(u)
	if err != nil {
		return err
	}
	r := crawler.UnknownReport{Type: "explain", URL: u.String(), State: "never_seen", Scope: scope, Near: near,
		Dropped: f.Totals().Dropped}
	if a.json {
		if err := a.printJSON(r); err != nil {
			return err
		}
	}
	seeds, err := a.ownSeeds(project{a.data})
	if err == nil && slices.ContainsFunc(seeds, func(o weburl.URL) bool { return o.Identity() == u.Identity() }) {
		return fail(badInput, "%s is a seed that no crawl has taken yet; the next \"gazehound crawl\" takes it", u)
	}
	return fail(badInput, "%s", r)
}

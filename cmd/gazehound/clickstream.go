package main

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"gazehound/crawler/weburl"
	"gazehound/predictor/clicklog"

	"github.com/spf13/cobra"
)

const clickstreamHelp = `Clickstream computes the importance of pages from the access logs of web servers:
LR(d), the time that people's sessions spent on each. The strategy "trend" orders its
queue by it.

Examples:
  gazehound clickstream import /var/log/nginx/access.log* --site https://www.example.org
  gazehound clickstream top --limit 10
`

func newClickstreamCommand(a *app) *cobra.Command {
	return group("clickstream", "Learn from access logs which pages people stay on", clickstreamHelp,
		newClickstreamImportCommand(a), newClickstreamTopCommand(a))
}

const clickstreamImportHelp = `Import reads access logs in the common, combined or vhost_combined format of
Apache and nginx, plain or compressed with gzip; "-" is standard input. A known log
is read on from where it ended, even if it was rotated and renamed, so the same
command can run every night. An unfinished last line is left for the next import. An
interrupted import resumes where it was.

Programs are left out: by their agent, by requests for robots.txt, or by opening
more pages in a minute than a person can. Addresses of clients are not stored.

Memory does not grow with the logs: views are sorted on disk.

Examples:
  gazehound clickstream import access.log access.log.1 access.log.2.gz --site https://www.example.org
  zcat old/*.gz | gazehound clickstream import - --site https://www.example.org --idle 15m
`

func newClickstreamImportCommand(a *app) *cobra.Command {
	o := clicklog.DefaultOptions()
	cmd := command("import FILE…", "Add access logs and rank the pages anew", clickstreamImportHelp,
		needArgs("an access log to import"),
		stoppable(func(ctx context.Context, args []string) error { return a.clickstreamImport(ctx, args, o) },
			"the same command resumes from there"))
	f := cmd.Flags()
	f.StringVar(&o.Site, "site", "", "what stands before the paths of the log: `URL` such as https://www.example.org "+
		"(logs with a vhost need none)")
	f.DurationVar(&o.Idle, "idle", o.Idle, "a pause longer than this ends a session")
	f.DurationVar(&o.LastPage, "last-page", o.LastPage,
		"time credited to the last page of a session, whose end no log records")
	f.IntVar(&o.MaxPerMinute, "max-per-minute", o.MaxPerMinute,
		"a client that opens more pages in a minute is a program")
	return cmd
}

func (a *app) clickstreamImport(ctx context.Context, files []string, o clicklog.Options) error {
	if o.Site != "" {
		u, err := weburl.Parse(o.Site)
		if err != nil {
			return fail(badUsage, "--site: %w", err)
		}
		o.Site = u.String()
	}
	o.Canonical = func(raw string) (string, bool) {
		u, err := weburl.Parse(raw)
		return u.String(), err == nil
	}
	if err := o.Validate(); err != nil {
		return fail(badUsage, "%w", err)
	}
	s, err := clicklog.Open(project{a.data}.clickstream(), o)
	if errors.Is(err, clicklog.ErrLocked) {
		return fail(inUse, "%w", err)
	} else if err != nil {
		return invalid(err)
	}
	defer s.Close()
	for _, name := range files {
		n, err := a.importLog(ctx, s, name)
		if errors.Is(err, clicklog.ErrNoSite) {
			return fail(badUsage, "%w. --site https://www.example.org names the site it is from", err)
		} else if err != nil {
			return invalid(err)
		}
		line := struct {
			Type string `json:"type"`
			Name string `json:"name"`
			clicklog.Counts
			Continued bool `json:"continued"`
		}{"log", name, n, n.Before > 0}
		err = a.tell(line, "%s  %s: %s, %s by programs, %s, %s, %s of other sites, %s bad\n", oneLine(name),
			several(n.Lines, "line"), several(n.Views, "page view"), count(n.Robots), several(n.Assets, "asset"),
			several(n.Others, "other request"), count(n.Foreign), count(n.Bad))
		if err != nil {
			return err
		}
	}
	a.say("Ranking the pages …")
	n, err := s.Rank(ctx)
	if err != nil {
		return err
	}
	line := fields{"type": "summary", "logs": s.Logs(), "people": n.Clients, "programs": n.Robots,
		"sessions": n.Sessions,
		"views":    n.Views, "pages": n.Pages, "stay_s": int64(n.Stay / time.Second)}
	return a.tell(line, "%s in all: %s, %s of %s, %s on pages; %s left out\n", several(s.Logs(), "log"),
		several(int(n.Pages), "page"), several(int(n.Sessions), "session"), several(int(n.Clients), "visitor"),
		n.Stay, several(int(n.Robots), "program"))
}

// importLog reads one log into s.
func (a *app) importLog(ctx context.Context, s *clicklog.Store, name string) (clicklog.Counts, error) {
	in, err := a.openInput("", name)
	if err != nil {
		return clicklog.Counts{}, err
	}
	defer in.Close()
	return s.Import(ctx, name, in)
}

const clickstreamTopHelp = `Examples:
  gazehound clickstream top
  gazehound clickstream top --limit 1000 --json
`

func newClickstreamTopCommand(a *app) *cobra.Command {
	limit := 20
	cmd := command("top", "Print the pages that people stay on longest", clickstreamTopHelp, noArgs,
		func(ctx context.Context, args []string) error { return a.clickstreamTop(limit) })
	cmd.Flags().IntVar(&limit, "limit", limit, "pages to print, 1 to 100,000")
	between(cmd.Flags(), "limit", 1, 100_000)
	return cmd
}

func (a *app) clickstreamTop(limit int) error {
	best, err := clicklog.Longest(project{a.data}.clickstream(), limit, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return fail(noData, "no access log was imported into %s. \"gazehound clickstream import FILE --site "+
			"URL\" imports one", a.data)
	} else if err != nil {
		return invalid(err)
	}
	if len(best) == 0 {
		a.say("the access logs have no page views")
	}
	for _, p := range best {
		line := fields{"type": "page", "url": p.URL, "stay_s": int64(p.Stay / time.Second), "visits": p.Visits,
			"sessions": p.Sessions}
		err := a.tell(line, "%10s %14s %17s  %s\n", p.Stay, several(int(p.Visits), "view"),
			several(int(p.Sessions), "session"), p.URL)
		if err != nil {
			return err
		}
	}
	return nil
}

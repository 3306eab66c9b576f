package monitor

import (
	"fmt"
	"strings"
	"time"

	"gazehound/crawler"
	"gazehound/internal/textutil"
)

// A PageLine is one visited page, for scripts.
type PageLine struct {
	Type      string  `json:"type"`
	URL       string  `json:"url"`
	Status    int     `json:"status"`
	Relevant  bool    `json:"relevant"`
	Addresses int     `json:"addresses"` // distinct ones of the region
	Priority  float64 `json:"priority"`
	Distance  int     `json:"distance"`            // links since the last relevant page
	Depth     int     `json:"depth"`               // links from a seed
	SiteWide  bool    `json:"site_wide,omitempty"` // its addresses are all on most pages of its host

	Importance *float64 `json:"importance,omitempty"` // by strategy trend
}

// NewPageLine returns the line of a visit that brought a page.
func NewPageLine(v *crawler.Visit) PageLine {
	return PageLine{Type: "page", URL: v.Entry.URL.String(), Status: v.Outcome.Status,
		Relevant: v.Outcome.Relevant, Addresses: len(v.Outcome.Addresses),
		Priority: v.Entry.Priority, Distance: v.Entry.Distance, Depth: v.Entry.Depth, SiteWide: v.Outcome.SiteWide}
}

// VisitValues returns the values of a line of the log about a visit.
func VisitValues(v *crawler.Visit) []Value {
	return []Value{
		{"kind", v.Outcome.Kind}, {"reason", v.Outcome.Reason}, {"status", v.Outcome.Status},
		{"relevant", v.Outcome.Relevant},
		{"addresses", len(v.Outcome.Addresses)}, {"priority", round(v.Entry.Priority, 3)},
		{"distance", v.Entry.Distance}, {"url", v.Entry.URL.String()},
	}
}

// A Summary is the outcome of a crawl when a run of it ends, for scripts.
type Summary struct {
	Type      string           `json:"type"`
	Region    string           `json:"region"`
	Strategy  string           `json:"strategy"`
	Pages     int64            `json:"pages"` // of the whole crawl, like all counts but PagesRun
	Relevant  int64            `json:"relevant"`
	Harvest   float64          `json:"harvest"`
	Addresses int64            `json:"addresses"` // distinct
	Duration  float64          `json:"duration_s"`
	Reason    string           `json:"reason"`
	ExitCode  int              `json:"exit_code"`
	Resumed   bool             `json:"resumed"`
	Resumable bool             `json:"resumable"`
	PagesRun  int64            `json:"pages_this_run"`
	Bytes     int64            `json:"bytes"`
	Redirects int64            `json:"redirects"`
	Errors    map[string]int64 `json:"errors"`
	Skipped   map[string]int64 `json:"skipped"` // pages not fetched
	Dropped   map[string]int64 `json:"dropped"` // links not queued
	Links     int64            `json:"links"`
	Hosts     int64            `json:"hosts"`
	Seen      int64            `json:"links_seen"` // links + links_visited + links_repeated + all of dropped
	Visited   int64            `json:"links_visited"`
	Repeats   int64            `json:"links_repeated"`
	Again     map[string]int   `json:"asked_again,omitempty"`       // in this run: same, changed, gone, unknown
	Due       int              `json:"still_due,omitzero"`          // pages that are due and were not revisited
	Patterns  int              `json:"demoted_patterns,omitzero"`   // of URLs that multiply pages
	Params    int              `json:"demoted_parameters,omitzero"` // that never change a page
	Wide      int              `json:"site_wide,omitzero"`          // addresses on most indexed pages of their site
	WidePages int              `json:"site_wide_pages,omitzero"`    // indexed pages that hold no other address
}

// Summary returns the counts of the crawl. Reason, ExitCode and what follows from them, Due, and the
// counts of traps and index are the caller's.
func (r *Recorder) Summary() Summary {
	t := r.Frontier.Totals()
	return Summary{
		Type: "summary", Region: r.Region, Strategy: r.Strategy, Pages: t.Pages, Relevant: t.Relevant,
		Harvest: round(float64(t.Relevant)/float64(max(t.Pages, 1)), 4), Addresses: t.Addresses,
		Duration: round(r.Took().Seconds(), 3),
		PagesRun: t.Pages - r.Before().Pages, Bytes: t.Bytes, Redirects: t.Redirects, Errors: t.Errors,
		Skipped: t.Skipped, Dropped: t.Dropped,
		Links: t.Queued, Hosts: t.Hosts, Seen: t.Links, Visited: t.Visited, Repeats: t.Repeats, Again: r.Revisited(),
	}
}

// Lines returns what people read of a summary below its headline: what was found, what is left,
// whether it pays to continue, and where to look. last is the state at the end; missing is how many
// addresses with a house number the gazetteer lacks, or 0 if unknown; flags are the flags for commands
// on the same data.
func (s *Summary) Lines(last *Snapshot, missing int, flags string) []string {
	count, several := textutil.Count[int64], textutil.Several[int64]
	found := fmt.Sprintf("%s on %s of %s (%.1f %%)", several(s.Addresses, "address"), count(s.Relevant),
		several(s.Pages, "page"), 100*s.Harvested())
	if c := last.Coverage(); c.All > 0 {
		found += fmt.Sprintf(", %s of %s", count(int64(c.Found)), several(int64(c.All), "street"))
	}
	if missing > 0 {
		found += fmt.Sprintf("; %s not on the map (gazehound export csv --in-osm=false%s)",
			several(int64(missing), "house"), flags)
	}
	of := func(name string, counts map[string]int64) string {
		text := several(textutil.Sum(counts), name)
		if reasons := textutil.Reasons(counts); reasons != "" {
			text += " (" + reasons + ")"
		}
		return text
	}
	lines := []string{
		"found     " + found,
		fmt.Sprintf("left      %s on %s; %s, %s", several(s.Links, "link"), several(s.Hosts, "host"),
			of("skipped page", s.Skipped), of("error", s.Errors)),
	}
	again := map[string]int64{}
	for what, n := range s.Again {
		again[what] = int64(n)
	}
	if len(again) > 0 || s.Due > 0 {
		lines = append(lines, fmt.Sprintf("revisits  %s: the same %s, changed %s, gone %s, no answer %s; still due %s",
			count(textutil.Sum(again)), count(again["same"]), count(again["changed"]), count(again["gone"]),
			count(again["unknown"]), count(int64(s.Due))))
	}
	lines = append(lines, s.advice(last))
	switch {
	case s.Relevant > 0 && s.Addresses == 0:
		lines = append(lines, fmt.Sprintf("look      gazehound pages%s (the relevant pages)", flags))
	case s.Relevant > 0:
		lines = append(lines, fmt.Sprintf("look      gazehound serve%s (search page and map), gazehound report%[1]s "+
			"(what it achieved, what is undiscovered)", flags))
	}
	return lines
}

// advice returns the line of a summary about whether to continue.
func (s *Summary) advice(last *Snapshot) string {
	advice := Advice(last)
	switch {
	case s.Links == 0:
		return "stop      No link is left. More seeds may lead on."
	case advice == "":
		advice = "Continue: 1,000 pages of a run say whether it pays."
	}
	if s.Reason == "page-limit" {
		advice += " A higher --max-pages continues the crawl."
	}
	verdict, reason, _ := strings.Cut(advice, ": ")
	return fmt.Sprintf("%-9s %s", strings.ToLower(verdict), strings.ToUpper(reason[:1])+reason[1:])
}

// poorHarvest is the share of relevant pages below which the advice is to stop.
const poorHarvest = 0.01

// Advice returns, from the last 1,000 pages of a run, whether to continue; "" if they were fewer,
// or no link is left. s is the state at the end.
func Advice(s *Snapshot) string {
	if s.PagesRun < recent || s.Queued == 0 {
		return ""
	}
	pace := fmt.Sprintf("%.1f %% of the last 1,000 pages are relevant", 100*s.HarvestRecent)
	streets := s.Coverage()
	if streets.All > 0 {
		pace += ", and they brought " + textutil.Several(streets.Recent, "new street")
	}
	if streets.All > 0 && streets.Recent == 0 || s.HarvestRecent < poorHarvest {
		return "Stop: " + pace + ". More seeds may lead on."
	}
	return "Continue: " + pace + "."
}

// Harvested is the share of relevant pages.
func (s *Summary) Harvested() float64 { return float64(s.Relevant) / float64(max(s.Pages, 1)) }

// StatusLine returns the members of a line of JSON about the state of a crawl, for scripts.
func StatusLine(s *Snapshot) map[string]any {
	bottleneck, _ := s.Bottleneck()
	line := map[string]any{"type": "status", "t": s.At.Format(time.RFC3339), "bound": bottleneck}
	for _, v := range Values(s) {
		line[v.Key] = v.Value
	}
	delete(line, "links")
	delete(line, "hosts")
	line["frontier"] = map[string]any{"links": s.Queued, "leased": s.Leased,
		"hosts": map[string]any{"ready": s.Hosts.Ready, "waiting": s.Hosts.Waiting, "backoff": s.Hosts.Backoff}}
	return line
}

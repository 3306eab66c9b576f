// Package monitor describes what a crawl has done and what holds it back: one
// Snapshot for the status line, the status file, the dashboard and scripts.
package monitor

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"gazehound/predictor"
)

// A Snapshot is the state of a crawl at one moment. Counts are of the whole
// crawl over all its runs, unless they say otherwise.
//
// Seen = Queued + Visited + Repeats + the sum of Dropped.
type Snapshot struct {
	Version  int       `json:"version"`
	Region   string    `json:"region"`
	Strategy string    `json:"strategy"`
	PID      int       `json:"pid"`
	Started  time.Time `json:"started"`       // of this run
	At       time.Time `json:"at"`            // when it was so
	End      string    `json:"end,omitempty"` // why the run ended, in a word such as "page-limit"; "" while it runs
	Paused   bool      `json:"paused,omitempty"`
	Stopping bool      `json:"stopping,omitempty"` // open pages finish

	Pages         int64   `json:"pages"`
	PagesRun      int64   `json:"pages_this_run"`
	Relevant      int64   `json:"relevant"`
	HarvestRecent float64 `json:"harvest_1000"` // share of relevant ones among the last 1,000 pages
	Addresses     int64   `json:"addresses"`    // distinct
	Rate          float64 `json:"pps"`          // pages a second, of late
	Bytes         int64   `json:"bytes"`

	Seen      int64            `json:"links_seen"`
	Queued    int64            `json:"links_queued"` // waiting and leased
	Visited   int64            `json:"links_visited"`
	Repeats   int64            `json:"links_repeated"` // led to URLs that were known
	Dropped   map[string]int64 `json:"dropped"`
	Redirects int64            `json:"redirects"`
	Errors    map[string]int64 `json:"errors"`
	Skipped   map[string]int64 `json:"skipped"`
	Damaged   int64            `json:"damaged,omitempty"` // records that could not be read

	Leased    int64 `json:"leased"` // pages that are worked on
	Workers   int   `json:"workers"`
	Selecting int64 `json:"selecting"` // workers that leave worse links alone
	Hosts     Hosts `json:"hosts"`

	Own      int64   `json:"memory_own"`    // bytes
	Mapped   int64   `json:"memory_mapped"` // bytes
	Ceiling  int64   `json:"memory_ceiling"`
	CPU      float64 `json:"cpu"` // cores in use, of late
	Cores    int     `json:"cores"`
	DiskFree int64   `json:"disk_free"` // bytes

	*Insight // nil: nobody has looked
}

// An Insight is what a Board knows beyond the counts.
type Insight struct {
	Breadth    *float64                     `json:"breadth_first_1000"` // estimate of what breadth-first would have brought among its last 1,000 pages; null: not known
	BreadthAll *float64                     `json:"breadth_first"`      // the same, of all pages
	Streets    Coverage                     `json:"streets"`
	LogLoss    [predictor.MaxDepth]*float64 `json:"log_loss"` // of the last predictions at depths 1 to 3; null: none yet
	Advice     []string                     `json:"advice"`
}

// Coverage tells how much of the region's streets was found.
type Coverage struct {
	All    int `json:"all"` // that the gazetteer knows; 0: not known yet, or it knows none
	Found  int `json:"found"`
	Recent int `json:"recent"` // new ones that the last 1,000 pages of this run brought
}

// Hosts counts hosts. Ready and Waiting have links that wait.
type Hosts struct {
	Known   int64         `json:"known"`
	Ready   int64         `json:"ready"`   // may be asked now, as far as is known
	Waiting int64         `json:"waiting"` // rest
	Asked   int64         `json:"asked"`   // a request is under way
	Backoff int64         `json:"backoff"` // rest after an answer that asks for patience
	Next    time.Duration `json:"next_ns"` // until the next that rests may be asked; 0: now, or none rests
}

// Harvest is the share of relevant pages.
func (s *Snapshot) Harvest() float64 {
	if s.Pages == 0 {
		return 0
	}
	return float64(s.Relevant) / float64(s.Pages)
}

// The bottlenecks.
const (
	Politeness = "politeness" // hosts wait for their delays
	Blocked    = "blocked"    // most hosts have asked for patience
	Network    = "network"    // the workers wait for answers
	Processor  = "processor"  // the workers compute
	Store      = "store"      // links and workers are free: what was found is being written
	Seeds      = "seed"       // there are too few links
	Finished   = "finished"   // there are none
	Held       = "paused"     // somebody holds it
)

// Bottleneck says in a word what holds the crawl back, and in a sentence why
// and what would help.
func (s *Snapshot) Bottleneck() (word, sentence string) {
	h := s.Hosts
	with := h.Ready + h.Waiting // hosts with links that wait
	rest := ""
	if h.Ready == 0 && h.Next > time.Second {
		rest = fmt.Sprintf(" The next one may be asked in %v.", h.Next.Round(time.Second))
	}
	switch {
	case s.Paused:
		return Held, "no page is begun until somebody lets it go on."
	case s.Queued == 0:
		return Finished, "no link is left."
	case with > 0 && 2*h.Backoff > with && h.Ready < int64(s.Workers):
		return Blocked, fmt.Sprintf("%s with links asked for patience (429 or 503).%s A longer delay would help.", of(h.Backoff, with, "host"), rest)
	case h.Ready == 0 && h.Waiting > 0:
		return Politeness, fmt.Sprintf("%s with links %s for %s delay.%s More hosts (seeds) would help; more workers would not.",
			of(h.Waiting, with, "host"), verb(h.Waiting, "waits", "wait"), verb(h.Waiting, "its", "their"), rest)
	case s.Selecting > 0 && s.Leased+s.Selecting >= int64(s.Workers):
		return Politeness, fmt.Sprintf("%s for the hosts of better links (crawl.selectivity). More hosts (seeds) would help; more workers would not.",
			count(s.Selecting, "worker")+verb(s.Selecting, " waits", " wait"))
	case with == 0:
		return Seeds, fmt.Sprintf("%s being fetched and no other link waits. More seeds would help.", are(s.Leased, "page"))
	case s.Leased >= int64(s.Workers) && s.Cores > 0 && s.CPU > 0.85*float64(s.Cores):
		return Processor, fmt.Sprintf("%s busy and so %s. A faster machine would help; more workers would not.", workers(s.Workers), are(int64(s.Cores), "processor core"))
	case s.Leased >= int64(s.Workers):
		return Network, fmt.Sprintf("%s busy, and %s could be asked. More workers would help.", workers(s.Workers), count(h.Ready, "more host"))
	default:
		return Store, fmt.Sprintf("%s of %d workers are busy although %s could be asked: what was found is being written. A faster disk would help.",
			number(s.Leased), s.Workers, count(h.Ready, "host"))
	}
}

func of(n, all int64, noun string) string {
	if n == all {
		if n == 1 {
			return "the only " + noun
		}
		return fmt.Sprintf("all %s %ss", number(n), noun)
	}
	return fmt.Sprintf("%s of %s", number(n), count(all, noun))
}

func workers(n int) string {
	if n == 1 {
		return "the only worker is"
	}
	return fmt.Sprintf("all %s workers are", number(int64(n)))
}

func count(n int64, noun string) string { return number(n) + " " + noun + verb(n, "", "s") }

func are(n int64, noun string) string { return count(n, noun) + verb(n, " is", " are") }

func verb(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// number writes n with commas.
func number(n int64) string {
	if n < 0 {
		return "-" + number(-n)
	}
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// version of the status file.
const version = 1

// maxFile bounds a status file, in bytes.
const maxFile = 1 << 20

// Write puts s into a file, whole or not at all.
func Write(name string, s Snapshot) error {
	s.Version = version
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("status: %w", err)
	}
	part := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+".new")
	if err := os.WriteFile(part, append(data, '\n'), 0o666); err != nil {
		return fmt.Errorf("status: %w", err)
	}
	if err := os.Rename(part, name); err != nil {
		return fmt.Errorf("status: %w", err)
	}
	return nil
}

// ErrUnreadable is the error of Read for a file that is no Snapshot.
var ErrUnreadable = errors.New("not a status file of this version")

// Read returns the Snapshot in a file. It may be older than the crawl: whether
// that runs is for its lock to say. The error wraps fs.ErrNotExist where there
// is no file.
func Read(name string) (Snapshot, error) {
	var s Snapshot
	info, err := os.Stat(name)
	if err != nil {
		return s, fmt.Errorf("status: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return s, fmt.Errorf("status: %s: %w", name, ErrUnreadable)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return s, fmt.Errorf("status: %w", err)
	}
	if err := json.Unmarshal(data, &s); err != nil || s.Version != version {
		return Snapshot{}, fmt.Errorf("status: %s: %w", name, ErrUnreadable)
	}
	return s, nil
}

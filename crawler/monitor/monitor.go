// Package monitor shows the progress and the bottleneck of a crawl: one Snapshot for the status
// line, the status file, the dashboard and scripts. To add a figure, see figures.yaml and
// [Snapshot].
package monitor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"slices"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor/report"
	"gazehound/internal/disk"
	"gazehound/predictor"
)

// A Snapshot is the state of a crawl at one moment. Counts are of the whole
// crawl over all its runs, unless they say otherwise.
//
// Seen = Queued + Parked + Visited + Repeats + the sum of Dropped.
type Snapshot struct {
	Version  int       `json:"version"`
	Sum      string    `json:"sum,omitempty"` // CRC-32 of the file of a Snapshot with noSum here
	Region   string    `json:"region"`
	Strategy string    `json:"strategy"`
	PID      int       `json:"pid"`
	Started  time.Time `json:"started"`       // of this run
	At       time.Time `json:"at"`            // when it was so
	End      string    `json:"end,omitempty"` // why the run ended, in a word such as "page-limit"; "" while it runs
	Paused   bool      `json:"paused,omitempty"`
	Stopping bool      `json:"stopping,omitempty"` // pages in flight finish
	Resting  bool      `json:"resting,omitempty"`  // nothing to do until pages are due for a revisit

	Pages         int64   `json:"pages"`
	PagesRun      int64   `json:"pages_this_run"`
	Relevant      int64   `json:"relevant"`
	HarvestRecent float64 `json:"harvest_1000"` // share of relevant ones among the last 1,000 pages
	Addresses     int64   `json:"addresses"`    // distinct
	// mentions of private persons' addresses that this run did not keep
	Private int64   `json:"private_dropped,omitempty"`
	Rate    float64 `json:"pps"` // pages a second, of late
	Bytes   int64   `json:"bytes"`

	Seen      int64            `json:"links_seen"`
	Queued    int64            `json:"links_queued"`  // waiting and leased
	Parked    int64            `json:"links_parked"`  // kept and not fetched
	Due       int64            `json:"due,omitempty"` // pages to revisit before new links
	Visited   int64            `json:"links_visited"`
	Repeats   int64            `json:"links_repeated"` // led to URLs that were known
	Dropped   map[string]int64 `json:"dropped"`
	Redirects int64            `json:"redirects"`
	Errors    map[string]int64 `json:"errors"`
	Skipped   map[string]int64 `json:"skipped"`
	Rendered  int64            `json:"rendered,omitempty"` // visits whose scripts were run
	// patterns with the most parked links, at most 20
	ParkedBy []frontier.ParkedPattern `json:"parked,omitempty"`
	// hosts that gave nothing, of this run and the last pages before it, at most 5
	Silent  []report.SilentHost `json:"silent_hosts,omitempty"`
	Damaged int64               `json:"damaged,omitempty"` // records that could not be read

	Leased    int64 `json:"leased"` // pages that are worked on
	Workers   int   `json:"workers"`
	Selecting int64 `json:"selecting"` // workers that hold back for better links
	Hosts     Hosts `json:"hosts"`

	Own      int64   `json:"memory_own"`    // bytes: heap, stacks and buffers; kept below Ceiling
	Mapped   int64   `json:"memory_mapped"` // bytes of files; the system takes them back when it needs room
	Ceiling  int64   `json:"memory_ceiling"`
	CPU      float64 `json:"cpu"` // cores in use, of late
	Cores    int     `json:"cores"`
	DiskFree int64   `json:"disk_free"` // bytes

	*Insight // nil: no Board has added it
}

// An Insight is the part of a Snapshot from the Board.
type Insight struct {
	PerMinute *float64 `json:"addresses_per_minute"` // in the last minute; null: not known
	Streets   Coverage `json:"streets"`
	// LogLoss is that of the last predictions at depths 1 to 3; null: none yet.
	LogLoss [predictor.DefaultDepths]*float64 `json:"log_loss"`
	Advice  []string                          `json:"advice"`
}

// Coverage is how many of the region's streets were found.
type Coverage struct {
	All    int `json:"all"` // that the gazetteer knows; 0: not known yet, or it knows none
	Found  int `json:"found"`
	Recent int `json:"recent"` // new ones that the last 1,000 pages of this run brought
}

// Share is the part of the streets that was found.
func (c Coverage) Share() float64 { return float64(c.Found) / float64(max(c.All, 1)) }

// Hosts counts hosts. Ready and Waiting have links that wait.
type Hosts struct {
	Known   int64         `json:"known"`
	Ready   int64         `json:"ready"`   // for a request now, as far as is known
	Waiting int64         `json:"waiting"` // for their delay to end
	Asked   int64         `json:"asked"`   // a request is under way
	Backoff int64         `json:"backoff"` // wait after an answer of 429 or 503
	Next    time.Duration `json:"next_ns"` // until the next waiting one is ready; 0: now, or no host waits
}

// Harvest is the share of relevant pages.
func (s *Snapshot) Harvest() float64 {
	if s.Pages == 0 {
		return 0
	}
	return float64(s.Relevant) / float64(s.Pages)
}

// Coverage returns how much of the streets was found, as far as is known.
func (s *Snapshot) Coverage() Coverage {
	if s.Insight == nil {
		return Coverage{}
	}
	return s.Streets
}

// The bottlenecks.
const (
	Politeness = "politeness" // hosts wait for their delays
	Blocked    = "blocked"    // most hosts are backing off
	Network    = "network"    // the workers wait for answers
	Processor  = "processor"  // the workers compute
	Store      = "store"      // links and workers are free: the crawl is writing to the disk
	Seeds      = "seed"       // there are too few links
	Finished   = "finished"   // no links are left
	Held       = "paused"     // by an operator
	Rests      = "resting"    // nothing to do until pages are due for a revisit
)

// Bottleneck returns the bottleneck in a word, and a sentence with the reason and what would help.
func (s *Snapshot) Bottleneck() (word, sentence string) { return s.bottleneck(texts["en"]) }

func (s *Snapshot) bottleneck(t words) (word, sentence string) {
	h := s.Hosts
	with := h.Ready + h.Waiting // hosts with links that wait
	rest := ""
	if h.Ready == 0 && h.Next > time.Second {
		rest = t.say("rest", h.Next.Round(time.Second))
	}
	workers := t.say("only_worker")
	if s.Workers != 1 {
		workers = t.say("all_workers", t.number(int64(s.Workers)))
	}
	switch {
	case s.Paused:
		return Held, t.say("held")
	case s.Resting && s.Queued > 0: // only the limit keeps Stay from them
		return Rests, t.say("limited")
	case s.Resting:
		return Rests, t.say("resting")
	case s.Queued == 0 && s.Due == 0:
		return Finished, t.say("finished")
	case with > 0 && 2*h.Backoff > with && h.Ready < int64(s.Workers):
		return Blocked, t.say("blocked", t.of(h.Backoff, with), rest)
	case h.Ready == 0 && h.Waiting > 0:
		return Politeness, t.sayOf(h.Waiting, "politeness", t.of(h.Waiting, with), rest)
	case s.Selecting > 0 && s.Leased+s.Selecting >= int64(s.Workers):
		return Politeness, t.sayOf(s.Selecting, "selecting", t.number(s.Selecting), t.number(int64(s.Workers)))
	case with == 0:
		return Seeds, t.sayOf(s.Leased, "seeds", t.number(s.Leased))
	case s.Leased >= int64(s.Workers) && s.Cores > 0 && s.CPU > 0.85*float64(s.Cores):
		return Processor, t.say("processor", workers, t.sayOf(int64(s.Cores), "cores", t.number(int64(s.Cores))))
	case s.Leased >= int64(s.Workers):
		return Network, t.sayOf(h.Ready, "network", workers, t.number(h.Ready))
	default:
		return Store, t.sayOf(h.Ready, "store", t.number(s.Leased), t.number(int64(s.Workers)), t.number(h.Ready))
	}
}

// BoundBy returns the text for a bottleneck, such as "limited by the network".
func BoundBy(bottleneck string) string { return texts["en"]["js_bound_"+bottleneck] }

// boundBy is BoundBy of s, with the crawl's own waiting told apart from that for delays.
func (s *Snapshot) boundBy() string {
	word, _ := s.Bottleneck()
	if word == Politeness && s.Hosts.Ready > 0 {
		return "holding back for better links"
	}
	return BoundBy(word)
}

// version of the status file.
const version = 1

// maxFile bounds a status file, in bytes.
const maxFile = 1 << 20

// Write puts s into a file, whole or not at all.
func Write(name string, s Snapshot) error {
	s.Version, s.Sum = version, noSum
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("status: %w", err)
	}
	data = bytes.Replace(data, []byte(noSum), []byte(sumOf(data)), 1)
	err = disk.ReplaceBytes(name, 0o644, append(data, '\n'))
	if err != nil {
		return fmt.Errorf("status: %w", err)
	}
	return nil
}

// Forget removes the lines of a status file that match. A file that is missing or cannot be read stays
// as it is.
func Forget(name string, matches func(text string) bool) error {
	s, err := Read(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrUnreadable) {
		return nil
	} else if err != nil {
		return err
	}
	s.Silent = slices.DeleteFunc(s.Silent, func(h report.SilentHost) bool { return matches(h.Host) })
	s.ParkedBy = slices.DeleteFunc(s.ParkedBy, func(p frontier.ParkedPattern) bool { return matches(p.Name()) })
	if s.Insight != nil {
		s.Advice = slices.DeleteFunc(s.Advice, matches)
	}
	return Write(name, s)
}

// noSum stands in a status file for the check sum of its text.
const noSum = "00000000"

// sumOf returns the check sum of a status file with noSum in its place.
func sumOf(text []byte) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE(text)) }

// ErrUnreadable is the error of Read for a file that is no Snapshot, or not the one that was written.
var ErrUnreadable = errors.New("damaged, or not a status file of this version; remove it")

// Read returns the Snapshot in a file. It may be out of date: only the lock shows whether the crawl
// is running. The error wraps fs.ErrNotExist if there is no file.
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
	err = json.Unmarshal(data, &s)
	data = bytes.Replace(data, []byte(s.Sum), []byte(noSum), 1)
	if err != nil || s.Version != version || s.Sum != sumOf(bytes.TrimSuffix(data, []byte("\n"))) {
		return Snapshot{}, fmt.Errorf("status: %s: %w", name, ErrUnreadable)
	}
	s.Sum = ""
	return s, nil
}

package monitor

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/internal/check"
	"gazehound/internal/textutil"
)

// The states of a crawl.
const (
	Running  = "running"
	Paused   = "paused"
	Ended    = "stopped"
	Killed   = "killed"  // it could not say why it ended
	InUse    = "in use"  // by another command
	NoStatus = "unknown" // there is a crawl, and no status of it
)

// A Status is the last Snapshot of a crawl, and whether the crawl is running.
type Status struct {
	Type       string `json:"type"` // "status"
	State      string `json:"state"`
	Bottleneck string `json:"bottleneck"` // in a word; "" unless it runs
	Because    string `json:"because"`    // in a sentence
	Holder     int    `json:"-"`          // process that has the crawl open, or 0
	Snapshot
}

// Check returns the finding about the state of the crawl.
func (s *Status) Check() check.Finding {
	const name = "crawl"
	pages := textutil.Several(s.Pages, "page")
	switch {
	case s.Runs():
		return check.Well(name, "process %d works on it: %s, %s", s.PID, s.State, pages)
	case s.State == InUse:
		return check.Well(name, "%s", s.Because)
	case s.State == NoStatus:
		return check.Doubt(name, "", "%s", s.Because)
	case s.Damaged > 0:
		return check.Doubt(name, "look at the disk's health",
			"%s; %d records could not be read and were set aside", pages, s.Damaged)
	}
	return check.Well(name, "%s fetched, %s waiting; %s: %s", pages, textutil.Several(s.Queued, "link"),
		s.State, s.Because)
}

// Runs reports whether the crawl is running, or paused.
func (s *Status) Runs() bool { return s.State == Running || s.State == Paused }

// ReadStatus returns the state of the crawl with its tree in the folder tree and its last Snapshot in
// the file status. Whether it runs follows from the lock that it holds. Where there is no crawl, the
// error is fs.ErrNotExist. Because is empty for a crawl that has Ended.
func ReadStatus(tree, status string) (Status, error) {
	s := Status{Type: "status"}
	pid, locked, err := frontier.Holder(tree)
	if err != nil {
		return s, err
	}
	if locked {
		s.Holder = pid
	}
	s.Snapshot, err = Read(status)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !(locked && errors.Is(err, ErrUnreadable)) {
		return s, err
	}
	switch {
	case locked && (err != nil || pid != s.PID || s.End != ""):
		s.State, s.Because = InUse, fmt.Sprintf("process %d is using it.", pid)
	case err != nil:
		s.State, s.Because = NoStatus, "this crawl has left no status; \"gazehound crawl\" resumes it."
	case locked:
		s.State = Running
		if s.Paused {
			s.State = Paused
		}
		s.Bottleneck, s.Because = s.Snapshot.Bottleneck()
	case s.End == "":
		s.State, s.Because = Killed, "it was killed or lost power; nothing is lost, and the same command resumes it."
	default:
		s.State = Ended
	}
	return s, nil
}

// Text is what people read of a status, with a line of more before the advice.
func (s *Status) Text(more string) string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s %s\n", name, textutil.OneLine(fmt.Sprintf(format, args...)))
	}
	switch s.State {
	case Running:
		line(s.State, "pid %d  %s  %s: %s", s.PID, s.At.Sub(s.Started).Round(time.Second),
			s.boundBy(), strings.TrimPrefix(s.Because, s.boundBy()+": "))
	case Paused:
		line(s.State, "pid %d  %s: %s \"gazehound ctl resume\" resumes it.", s.PID,
			s.At.Sub(s.Started).Round(time.Second), s.Because)
	case Ended, Killed:
		line(s.State, "%s after %s: %s", textutil.Moment(s.At),
			s.At.Sub(s.Started).Round(time.Second), s.Because)
	default:
		line(s.State, "%s", s.Because)
	}
	if s.At.IsZero() {
		return b.String()
	}
	for _, l := range Lines(&s.Snapshot) {
		line(l.Title, "%s", l.Text)
	}
	b.WriteString(more)
	if s.Insight == nil {
		return b.String()
	}
	for _, advice := range s.Advice {
		line("advice", "%s", advice)
	}
	return b.String()
}

package monitor

import (
	"errors"
	"fmt"
	"io/fs"

	"gazehound/crawler/frontier"
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

// A Status is the last Snapshot of a crawl, and whether that still holds.
type Status struct {
	Type       string `json:"type"` // "status"
	State      string `json:"state"`
	Bottleneck string `json:"bottleneck"` // in a word; "" unless it runs
	Because    string `json:"because"`    // in a sentence
	Snapshot
}

// Runs tells whether the crawl is running, or paused.
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
	s.Snapshot, err = Read(status)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrUnreadable) {
		return s, err
	}
	switch {
	case locked && (err != nil || pid != s.PID || s.End != ""):
		s.State, s.Because = InUse, fmt.Sprintf("process %d is using it.", pid)
	case err != nil:
		s.State, s.Because = NoStatus, "this crawl has left no status; \"gazehound crawl\" resumes it."
	case locked:
		if s.State = Running; s.Paused {
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

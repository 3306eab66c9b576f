package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"gazehound/crawler/cluster/nugget"
	"gazehound/internal/disk"
)

// notes are the state that a node keeps between two processes. After a kill between an action and
// its note the action is repeated, which changes nothing.
type notes struct {
	Visited uint64   `json:"visited"`           // number of the last visit that was published
	Settled []string `json:"settled,omitempty"` // nodes of the map by which settle last sorted the queue
	Cleaned string   `json:"cleaned,omitempty"` // hash of the blocklist by which cleanLinks was last done
	Traffic
	Order nugget.Count `json:"order,omitzero"` // what agreeing on the order has taken
}

// Traffic counts what a node has sent to others, over all its processes.
type Traffic struct {
	Sent      int64 `json:"sent"`       // links
	URLBytes  int64 `json:"url_bytes"`  // of the URLs of these links
	SentBytes int64 `json:"sent_bytes"` // of the messages with them: subject, header and content
	Messages  int64 `json:"messages"`   // number of these messages
}

// PerURL returns the bytes sent for each byte of the URLs; 0 if none was sent.
func (t Traffic) PerURL() float64 {
	if t.URLBytes == 0 {
		return 0
	}
	return float64(t.SentBytes) / float64(t.URLBytes)
}

// ReadTraffic returns the sum of the traffic of nodes by their Options.Dir; 0 for a folder without
// one.
func ReadTraffic(dirs ...string) (all Traffic, err error) {
	for _, dir := range dirs {
		k, err := openNotes(dir)
		if err != nil {
			return Traffic{}, err
		}
		t := k.notes.Traffic
		all.Sent, all.URLBytes, all.SentBytes = all.Sent+t.Sent, all.URLBytes+t.URLBytes, all.SentBytes+t.SentBytes
	}
	return all, nil
}

// ReadOrder returns the cost of the order in all runs of the node whose Options.Dir was dir; zero
// if it kept none.
func ReadOrder(dir string) (nugget.Count, error) {
	k, err := openNotes(dir)
	if err != nil {
		return nugget.Count{}, err
	}
	return k.notes.Order, nil
}

// A notebook keeps notes in a file. It is safe for concurrent use.
type notebook struct {
	path string

	mu    sync.Mutex
	notes notes
}

func openNotes(dir string) (*notebook, error) {
	k := &notebook{path: filepath.Join(dir, "notes.json")}
	raw, err := os.ReadFile(k.path)
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &k.notes)
	}
	if err != nil {
		return nil, fmt.Errorf("cluster: %s: %w", k.path, err)
	}
	return k, nil
}

func (k *notebook) get() notes {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.notes
}

// change changes the notes and stores them.
func (k *notebook) change(fn func(*notes)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	fn(&k.notes)
	raw, err := json.Marshal(k.notes)
	if err == nil {
		err = disk.ReplaceBytes(k.path, 0o600, raw)
	}
	if err != nil {
		return fmt.Errorf("cluster: notes: %w", err)
	}
	return nil
}

package forget

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"gazehound/index/api"
	"gazehound/internal/disk"
	"gazehound/internal/oserr"
)

// A Request is a visitor's removal request: a line of requests.ndjson.
type Request struct {
	Number int       `json:"number"`
	Time   time.Time `json:"time"`
	api.Removal
}

// ErrNoRequest means that there is no request with this number.
var ErrNoRequest = errors.New("no such removal request")

// maxRequests bounds the file of removal requests, in bytes.
const maxRequests = 8 << 20

// Keeper returns a function that numbers and stores removal requests durably. It is safe for
// concurrent use.
func (d Dir) Keeper() func(api.Removal) (int, error) {
	var mu sync.Mutex
	return func(r api.Removal) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		if info, err := os.Stat(d.requests()); err == nil && info.Size() > maxRequests {
			return 0, fmt.Errorf("%s is full: %w", d.requests(), oserr.Full)
		}
		all, err := readLines[Request](d.requests())
		if err != nil {
			return 0, err
		}
		done, err := readLines[Removal](d.log())
		if err != nil {
			return 0, err
		}
		next := 1
		for _, q := range all {
			next = max(next, q.Number+1)
		}
		for _, r := range done { // whose requests are forgotten, too
			next = max(next, r.Request+1)
		}
		var line bytes.Buffer
		enc := json.NewEncoder(&line)
		enc.SetEscapeHTML(false) // which makes six bytes of one
		err = enc.Encode(Request{next, time.Now().UTC().Truncate(time.Second), r})
		if err != nil {
			return 0, err
		}
		// only the operator may read names and reasons
		return next, disk.AppendLines(d.requests(), 0o600, strings.TrimSpace(line.String()))
	}
}

// Waiting returns the pending requests, in their order.
func (d Dir) Waiting() ([]Request, error) {
	done, err := readLines[Removal](d.log())
	if err != nil {
		return nil, err
	}
	answered := map[int]bool{}
	for _, r := range done {
		answered[r.Request] = true
	}
	all, err := readLines[Request](d.requests())
	var waiting []Request
	for _, q := range all {
		if !answered[q.Number] {
			waiting = append(waiting, q)
		}
	}
	return waiting, err
}

// Request returns the request with this number, or ErrNoRequest.
func (d Dir) Request(number int) (found Request, err error) {
	all, err := readLines[Request](d.requests())
	for _, q := range all {
		if q.Number == number {
			found = q
		}
	}
	if err == nil && found.Number == 0 {
		err = ErrNoRequest
	}
	return found, err
}

// forgetRequests removes the request that r answers and those that name the same.
func (d Dir) forgetRequests(r *Removal, f finder) error {
	text, err := os.ReadFile(d.requests())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	var left bytes.Buffer
	for line := range bytes.Lines(text) {
		var q Request
		if json.Unmarshal(line, &q) != nil {
			continue // torn
		}
		var aim Removal
		same := aim.Aim(q.What) && aim.Kind == r.Kind && aim.What == r.What
		if same || q.Number == r.Request || f.in(string(line)) {
			continue
		}
		left.Write(line)
	}
	if left.Len() == len(text) {
		return nil
	}
	return disk.ReplaceBytes(d.requests(), 0o600, left.Bytes())
}

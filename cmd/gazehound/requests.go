package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"gazehound/index/api"
	"gazehound/internal/disk"
)

// A request is what a visitor wants to be taken out: a line of requests.ndjson.
type request struct {
	Number int       `json:"number"`
	Time   time.Time `json:"time"`
	api.Removal
}

// maxRequests bounds the file of removal requests, in bytes.
const maxRequests = 8 << 20

// keeper returns what stores removal requests, each on the disk when it
// returns.
func (p project) keeper() func(api.Removal) (int, error) {
	var mu sync.Mutex
	return func(r api.Removal) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		if info, err := os.Stat(p.requests()); err == nil && info.Size() > maxRequests {
			return 0, fmt.Errorf("%s is full: %w", p.requests(), syscall.ENOSPC)
		}
		last := 0
		if err := p.eachRequest(func(q request) { last = max(last, q.Number) }); err != nil {
			return 0, err
		}
		line, err := json.Marshal(request{last + 1, time.Now().UTC().Truncate(time.Second), r})
		if err != nil {
			return 0, err
		}
		return last + 1, disk.AppendLines(p.requests(), string(line))
	}
}

func (p project) eachRequest(fn func(request)) error {
	return eachLine(p.requests(), func(line []byte) error {
		var q request
		err := json.Unmarshal(line, &q)
		if err == nil {
			fn(q)
		}
		return err
	})
}

// waitingRequests returns the requests that no removal has answered.
func (p project) waitingRequests() ([]request, error) {
	answered := map[int]bool{}
	err := eachLine(p.forgotten(), func(line []byte) error {
		var r removal
		err := json.Unmarshal(line, &r)
		answered[r.Request] = true
		return err
	})
	var waiting []request
	err = errors.Join(err, p.eachRequest(func(q request) {
		if !answered[q.Number] {
			waiting = append(waiting, q)
		}
	}))
	return waiting, err
}

// request returns the request with this number.
func (p project) request(number int) (found request, err error) {
	err = p.eachRequest(func(q request) {
		if q.Number == number {
			found = q
		}
	})
	if err == nil && found.Number == 0 {
		err = fail(exitUsage, "there is no removal request %d; \"gazehound forget --requests\" lists them", number)
	}
	return found, err
}

// listRequests prints the requests that wait.
func (a *app) listRequests(p project) error {
	waiting, err := p.waitingRequests()
	if err != nil {
		return err
	}
	for _, q := range waiting {
		if a.json {
			err = a.printJSON(struct {
				Type string `json:"type"`
				request
			}{"request", q})
		} else {
			_, err = fmt.Fprintf(a.stdout, "%d  %s  %s\n    reason: %s\n    contact: %s\n", q.Number, q.Time.Format(time.DateTime), oneLine(q.What), oneLine(q.Reason), oneLine(q.Contact))
		}
		if err != nil {
			return err
		}
	}
	if len(waiting) == 0 {
		a.say("no removal request waits")
		return nil
	}
	a.say("Look at each before you act: \"gazehound forget --request NUMBER\"")
	return nil
}

package polite

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"net/netip"
	"os"
	"time"

	"gazehound/internal/disk"
)

// A journal is a file with one JSON record per line, followed by a tab and its check sum. It begins
// with all known delays and appends those longer than Options.Delay as they begin, so that a killed
// crawl does not forget back-offs. Shorter ones are written by Close only; after a kill every host
// waits for Delay once. The last record of a host or address counts.
type journal struct {
	name string
	file *os.File
	size int64 // bytes
	most int64 // bytes at which it is rewritten
}

// A record is one line of the journal: a head, a host, an address or the end.
type record struct {
	Version int        `json:"version,omitempty"`
	Host    string     `json:"host,omitempty"`
	IP      netip.Addr `json:"ip,omitzero"`
	Next    int64      `json:"next,omitempty"` // end of the delay, Unix time in milliseconds
	// remaining delay when this was written, in milliseconds
	Rest   int64 `json:"rest,omitempty"`
	Delay  int64 `json:"delay,omitempty"` // last delay, in milliseconds
	Fails  int   `json:"fails,omitempty"`
	Errs   int   `json:"errs,omitempty"`
	Closed bool  `json:"closed,omitempty"` // no request was in flight
}

const (
	journalVersion = 1
	maxKept        = 100_000 // hosts, and addresses, read from a journal
	maxStreak      = 1000    // failures in a row read from a journal
	maxAppended    = 4 << 20 // bytes
	maxJournal     = 256 << 20
)

// Keep restores the delays that another Gate kept in the file, before the first Claim, and keeps
// those of g there until Close. No delay becomes longer, whatever the clock did in between. After a
// crash, which may have interrupted requests, every host waits for Options.Delay or its own longer
// delay; owed computes it for hosts that are not in the file.
func (g *Gate) Keep(name string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	file, err := os.Open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("polite: %w", err)
	default:
		err := g.recall(file, now)
		file.Close()
		if err != nil {
			return fmt.Errorf("polite: %s: %w", name, err)
		}
	}
	g.journal = &journal{name: name}
	return g.rewrite(false)
}

// A line of the journal is a record in JSON, a tab and its CRC-32 in eight hexadecimal digits.
func (r record) line() []byte {
	text, _ := json.Marshal(r) // numbers, names and addresses always marshal
	return fmt.Appendf(text, "\t%08x\n", crc32.ChecksumIEEE(text))
}

// readRecord reads a line of a journal.
func readRecord(line []byte) (r record, ok bool) {
	text, sum, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte("\t"))
	return r, json.Unmarshal(text, &r) == nil && string(sum) == fmt.Sprintf("%08x", crc32.ChecksumIEEE(text))
}

// recall reads a journal. Its last line may be torn and is left out then; any other one that is not as
// it was written is an error.
func (g *Gate) recall(file *os.File, now time.Time) error {
	if info, err := file.Stat(); err != nil || info.Size() > maxJournal {
		return errors.Join(err, fmt.Errorf("%d bytes are not a journal; remove the file", info.Size()))
	}
	lines := bufio.NewReader(file)
	closed, torn := false, 0
	hosts, ips := map[string]record{}, map[netip.Addr]record{}
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			break
		}
		if torn > 0 {
			return fmt.Errorf("line %d is damaged; remove the file, and every host rests once", torn)
		}
		r, ok := readRecord(line)
		if !ok {
			closed, torn = false, n
			continue
		}
		if r.Version > journalVersion {
			return fmt.Errorf("version %d, and this program reads %d", r.Version, journalVersion)
		}
		closed = r.Closed
		switch {
		case r.Host != "" && len(hosts) < maxKept:
			hosts[r.Host] = r
		case r.IP.IsValid() && len(ips) < maxKept:
			ips[r.IP] = r
		}
	}
	until := func(r record) time.Time {
		rest := min(r.Next-now.UnixMilli(), r.Rest, max(g.options.BackoffMax, g.options.MaxDelay,
			g.options.Delay).Milliseconds())
		if rest <= 0 && !closed { // a request may have been in flight
			rest = min(r.Delay, g.options.MaxDelay.Milliseconds())
		}
		return now.Add(time.Duration(max(rest, 0)) * time.Millisecond)
	}
	for name, r := range hosts {
		h := &host{fails: streak(r.Fails), errs: streak(r.Errs), noted: true}
		h.delay = min(max(0, time.Duration(min(r.Delay, 1<<40))*time.Millisecond), g.options.BackoffMax)
		h.next = until(r)
		g.hosts[name] = h
	}
	for ip, r := range ips {
		g.ips[ip] = &slot{next: until(r)}
	}
	if !closed {
		g.killed, g.quiet = now, now.Add(g.options.Delay)
	}
	g.sweep = max(keepHosts, 2*len(g.hosts))
	return nil
}

func streak(n int) int { return min(max(n, 0), maxStreak) }

// rewrite replaces the journal by the known delays. g.mu is held.
func (g *Gate) rewrite(closed bool) error {
	j, now := g.journal, time.Now()
	var b bytes.Buffer
	b.Write(record{Version: journalVersion}.line())
	for name, h := range g.hosts {
		h.noted = h.fails+h.errs > 0 || h.next.After(now) && (closed || h.delay > g.options.Delay)
		if h.noted {
			b.Write(h.record(name, now).line())
		}
	}
	for ip, t := range g.ips {
		if closed && t.next.After(now) {
			b.Write(record{IP: ip, Next: t.next.UnixMilli(), Rest: t.next.Sub(now).Milliseconds() + 1}.line())
		}
	}
	if closed {
		b.Write(record{Closed: true}.line())
	}
	if err := disk.ReplaceBytes(j.name, 0o644, b.Bytes()); err != nil {
		return fmt.Errorf("polite: %w", err)
	}
	if j.file != nil {
		j.file.Close()
		j.file = nil
	}
	if closed {
		return nil
	}
	file, err := os.OpenFile(j.name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("polite: %w", err)
	}
	j.file, j.size, j.most = file, int64(b.Len()), 2*int64(b.Len())+maxAppended
	return nil
}

func (h *host) record(name string, now time.Time) record {
	r := record{Host: name, Delay: h.delay.Milliseconds(), Fails: h.fails, Errs: h.errs}
	if rest := h.next.Sub(now); rest > 0 {
		r.Next, r.Rest = h.next.UnixMilli(), rest.Milliseconds()+1
	}
	return r
}

// note appends the delay of h if the default delay after a restart would be too short, or if
// another delay was written before. Write errors are ignored. g.mu is held.
func (g *Gate) note(name string, h *host, now time.Time) {
	j := g.journal
	long := h.delay > g.options.Delay || h.fails+h.errs > 0
	if j == nil || j.file == nil || !long && !h.noted {
		return
	}
	h.noted = long
	if j.size > j.most {
		g.rewrite(false)
		return
	}
	line := h.record(name, now).line()
	if _, err := j.file.Write(line); err != nil {
		j.file.Truncate(j.size) // to whole lines
		return
	}
	j.size += int64(len(line))
}

// Forget removes hosts from a file of Keep; a missing file is no error.
func Forget(name string, match func(host string) bool) error {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("polite: %w", err)
	}
	var left bytes.Buffer
	for line := range bytes.Lines(text) {
		if r, ok := readRecord(line); !ok || r.Host == "" || !match(r.Host) {
			left.Write(line)
		}
	}
	if left.Len() == len(text) {
		return nil
	}
	return disk.ReplaceBytes(name, 0o644, left.Bytes())
}

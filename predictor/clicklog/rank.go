package clicklog

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"time"

	"gazehound/internal/disk"
)

// Totals are what Rank counted.
type Totals struct {
	Clients  int64 // distinct people, by address and agent
	Robots   int64 // clients left out: they requested robots.txt or were too fast
	Sessions int64
	Views    int64
	Pages    int64
	Stay     time.Duration // of all sessions
}

// Rank makes the table of all imported logs: every page with the time that
// sessions spent on it. A session is one client's views with no pause longer
// than Options.Idle; a page's time ends with the client's next view. It sorts the
// views by client and time and holds one client's at a time; what Options.Views leave no
// room for in memory goes through temporary files.
// The table is written to dir/table.
func (s *Store) Rank(ctx context.Context) (Totals, error) {
	var n Totals
	memory := s.o.Views * bytesOfView
	sorted, pages := disk.Sorter{Dir: s.dir, Memory: memory}, disk.Sorter{Dir: s.dir, Memory: memory}
	defer sorted.Close()
	defer pages.Close()
	err := s.eachView(func(v view) error {
		key := binary.BigEndian.AppendUint64(nil, v.client)
		key = binary.BigEndian.AppendUint64(key, uint64(v.at)^1<<63) // times before 1970 come first
		return cmp.Or(ctx.Err(), sorted.Add(append(key, v.url...), nil))
	})
	var views []view // of one client
	end := func() error {
		defer func() { views = views[:0] }()
		if len(views) == 0 {
			return nil
		}
		if s.isProgram(views) {
			n.Robots++
			return nil
		}
		n.Clients++
		n.Views += int64(len(views))
		return s.sessions(views, &n, &pages)
	}
	if err == nil {
		err = sorted.Each(func(key, _ []byte) error {
			d := disk.Decode(key)
			v := view{client: d.Uint64(), at: int64(d.Uint64() ^ 1<<63), url: string(d.Rest())}
			if len(views) > 0 && views[0].client != v.client {
				if err := end(); err != nil {
					return err
				}
			}
			if len(views) < maxViews {
				views = append(views, v)
			}
			return ctx.Err()
		})
	}
	if err == nil {
		err = end()
	}
	if err == nil {
		n.Pages, err = writeTable(filepath.Join(s.dir, tableName), &pages)
	}
	if err != nil {
		return n, fmt.Errorf("rank pages: %w", err)
	}
	return n, nil
}

// bytesOfView is the approximate size of a view in memory.
const bytesOfView = 100

// maxViews bounds the views of one client. A client with more is a program.
const maxViews = 1 << 20

// isProgram reports whether the views of one client, in order of time, are a program's: it
// requested robots.txt, or opened more pages within a minute than a person can.
func (s *Store) isProgram(views []view) bool {
	if len(views) == maxViews {
		return true
	}
	for i, v := range views {
		if v.url == "" {
			return true
		}
		if j := i - s.o.MaxPerMinute; j >= 0 && v.at-views[j].at < 60 {
			return true
		}
	}
	return false
}

// sessions cuts one client's views into sessions and adds up their pages.
func (s *Store) sessions(views []view, n *Totals, pages *disk.Sorter) error {
	idle := int64(s.o.Idle / time.Second)
	seen := map[string]bool{} // pages of the session
	for i, v := range views {
		p := Page{URL: v.url, Visits: 1}
		if i == 0 || v.at-views[i-1].at > idle {
			n.Sessions++
			clear(seen)
		}
		if !seen[v.url] {
			seen[v.url] = true
			p.Sessions = 1
		}
		p.Stay = s.o.LastPage
		if i+1 < len(views) && views[i+1].at-v.at <= idle {
			p.Stay = time.Duration(views[i+1].at-v.at) * time.Second
		}
		n.Stay += p.Stay
		err := addPage(pages, p)
		if err != nil {
			return err
		}
	}
	return nil
}

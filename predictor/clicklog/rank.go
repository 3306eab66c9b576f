package clicklog

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

// Totals are what Rank counted.
type Totals struct {
	Clients  int64 // people, as far as a log can tell them apart
	Robots   int64 // clients left out: they asked for robots.txt or were too fast
	Sessions int64
	Views    int64
	Pages    int64
	Stay     time.Duration // of all sessions
}

// Rank makes the table of all imported logs: every page with the time that
// sessions spent on it. A session is one client's views with no pause longer
// than Options.Idle; a page's time ends with the client's next view. It reads
// the segments once, in order, and holds one client's views and at most
// Options.Views pages; pages beyond that are sorted through temporary files.
// The table is written to dir/table.tsv.
func (s *Store) Rank(ctx context.Context) (Totals, error) {
	var n Totals
	t := newTally(s.dir, s.o.Views)
	defer t.close()

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
		return s.sessions(views, &n, t)
	}
	count := 0
	err := s.eachView(func(v view) error {
		if count++; count%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if len(views) > 0 && views[0].client != v.client {
			if err := end(); err != nil {
				return err
			}
		}
		if len(views) < maxViews {
			views = append(views, v)
		}
		return nil
	})
	if err == nil {
		err = end()
	}
	if err == nil {
		n.Pages, err = t.write(filepath.Join(s.dir, tableName))
	}
	if err != nil {
		return n, fmt.Errorf("rank pages: %w", err)
	}
	return n, nil
}

// maxViews is how many views of one client are looked at. One that has more
// is no reader, whatever it says.
const maxViews = 1 << 20

// isProgram says that the views of one client, in order of time, are not a
// person's: it asked for robots.txt, or opened more pages than a person can
// within some minute.
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
func (s *Store) sessions(views []view, n *Totals, t *tally) error {
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
		if err := t.add(p); err != nil {
			return err
		}
	}
	return nil
}

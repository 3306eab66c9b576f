package crawler

import (
	"context"
	"fmt"
	"strings"

	"gazehound/crawler/frontier"
	"gazehound/crawler/warc"
	"gazehound/crawler/weburl"
)

// ArchiveSink archives every exchange. Of pages that are marked noarchive or reserve their rights
// it keeps only the outcome.
type ArchiveSink struct {
	Writer   *warc.Writer
	Frontier *frontier.Frontier
	// Forgotten says which exchanges name what was forgotten: of them only the outcome is kept, too.
	// nil: none.
	Forgotten Forgotten
}

// Visit writes the exchange and its outcome.
func (s ArchiveSink) Visit(ctx context.Context, v *Visit) error {
	if v.Response == nil {
		return nil
	}
	c := warc.Capture{Response: v.Response, Note: noteOf(v)}
	if v.Outcome.Kind == frontier.KindSkipped || s.names(v) || v.Page != nil && v.Page.NoArchive ||
		v.Page == nil && strings.Contains(strings.ToLower(strings.Join(v.Response.Header.Values("X-Robots-Tag"),
			",")), "noarchive") {
		c.NoteOnly, c.Note.Status = true, v.Response.Status
	}
	switch {
	case len(v.Trail) > 1:
		c.Note.Via = v.Trail[1].URL.String()
	case v.Trail == nil && !v.Entry.Parent.IsZero():
		n, ok, err := s.Frontier.Get(v.Entry.Parent)
		if err != nil {
			return err
		} else if ok {
			c.Note.Via = n.URL.String()
		}
	}
	if v.Response.Status == 304 {
		n, ok, err := s.Frontier.Get(frontier.KeyOf(v.Entry.URL))
		if err != nil {
			return err
		}
		if ok && n.State == frontier.Visited {
			c.Before = n.Outcome.At
		}
	}
	return s.Writer.Write(ctx, c)
}

// names reports whether an exchange names what was forgotten.
func (s ArchiveSink) names(v *Visit) bool {
	f := s.Forgotten
	return f != nil && (v.Page != nil && (v.Page.NoCopy || f.States(v.Page.Text)) ||
		f.Names(fmt.Sprint(v.Response.Header)) || f.Names(string(v.Response.Body)) ||
		f.Names(string(v.Response.Rendered)))
}

// noteOf returns the metadata archived with an exchange.
func noteOf(v *Visit) warc.Note {
	e, o := &v.Entry, &v.Outcome
	return warc.Note{
		Outcome: string(o.Kind), Reason: o.Reason, Depth: e.Depth, Distance: e.Distance, Priority: e.Priority,
		Anchor: e.Anchor, Title: e.Title, Around: e.Around, Place: e.Place, Switch: e.Switch,
		Redirects: e.Redirects,
		Relevant:  o.Relevant, Score: o.Score, Addresses: o.Addresses,
	}
}

// RecordedEntry returns the queue entry that the note of a record describes.
func RecordedEntry(x *warc.Recorded) frontier.Entry {
	e := frontier.Entry{URL: x.URL, Found: x.At}
	if n := x.Note; n != nil {
		e.Priority, e.Depth, e.Distance, e.Redirects = n.Priority, n.Depth, n.Distance, n.Redirects
		e.Anchor, e.Title, e.Around, e.Place, e.Switch = n.Anchor, n.Title, n.Around, n.Place, n.Switch
		if via, err := weburl.Parse(n.Via); err == nil {
			e.Parent = frontier.KeyOf(via)
		}
	}
	return e
}

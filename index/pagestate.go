package index

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"gazehound/geoparse"

	bleveindex "github.com/blevesearch/bleve_index_api"
)

// An index that sends passes the states of its pages on to indexes that follow it:
//
//  1. The batch that changes a page marks it as unsent, so that no kill loses a change ([Index.Send]).
//  2. [Index.Unsent] reads the present states of marked pages. Somebody brings them into a stream that
//     keeps the newest state of each page and numbers all states.
//  3. [Index.Sent] takes the marks off, unless a page has changed again meanwhile.
//  4. An index that follows writes states and its position in the stream in one batch ([Index.Apply]), so
//     that each state counts once. What pages of a host mean for each other it finds out by itself.
//
// A state is all that is known of a page, not what has changed: a later one replaces an earlier one,
// which nobody needs to have seen.

// A PageState is what an index knows of one page.
type PageState struct {
	Page      string // hash of the URL, 16 hexadecimal digits
	Revision  int    // of the sending index when the page changed, for Sent
	Seq       uint64 // number in the stream, from 1 on; 0 before it is there
	Forgotten bool   // no earlier state of the page may be kept anywhere
	Content   []byte // JSON; empty: the page states nothing any more
}

// Errors of Apply.
var (
	ErrOtherStream = errors.New("the index follows another stream")
	ErrPageState   = errors.New("not the state of a page")
)

// A Position is how far an index has followed a stream; the zero Position is that of an index that
// follows none.
type Position struct {
	Stream string `json:"stream"` // its ID
	Seq    uint64 `json:"seq"`    // of the last state that counts
}

var positionKey = []byte("position")

// Position returns how far the index has followed a stream.
func (x *Index) Position() (Position, error) {
	v, err := x.view()
	if v == nil {
		return Position{}, err
	}
	defer v.Close()
	return positionOf(v)
}

func positionOf(r bleveindex.IndexReader) (p Position, err error) {
	text, err := r.GetInternal(positionKey)
	if err == nil && text != nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return p, fmt.Errorf("index: position: %w: %w", ErrDamaged, err)
	}
	return p, nil
}

// SendsTo returns the ID of the stream that the index sends to, "" where it does not send.
func (x *Index) SendsTo() (string, error) {
	v, err := x.view()
	if v == nil {
		return "", err
	}
	defer v.Close()
	return v.state.Stream, nil
}

// Send makes the index send to a stream: every change of a page marks it as unsent from now on, by
// whatever process. If the index has not sent to that stream before, all of its pages are marked.
func (x *Index) Send(ctx context.Context, stream string) error {
	known, err := x.SendsTo()
	if err != nil || known == stream {
		return err
	}
	// First, so that no change gets lost between the two steps. A kill in between marks all again.
	sendTo := func(id string) change {
		return change{do: func(c *commit) error { c.state.Stream = id; return nil }}
	}
	if known == "" {
		if err := x.change(ctx, sendTo(unknownStream)); err != nil {
			return err
		}
	}
	var all []string
	if err := each(ctx, x, typePage, pageOf, func(p *pageRecord) { all = append(all, p.id) }); err != nil {
		return err
	}
	for some := range slices.Chunk(all, maxBatch) {
		mark := func(c *commit) error { return c.mark(some) }
		if err := x.change(ctx, change{do: mark}); err != nil {
			return err
		}
	}
	return x.change(ctx, sendTo(stream))
}

// unknownStream is the ID of the stream of an index that sends while its pages are being marked.
const unknownStream = "?"

// errEnough ends a visit.
var errEnough = errors.New("enough")

// Unsent returns the states of pages that have not been sent, at most so many, the oldest changes
// among them first.
func (x *Index) Unsent(ctx context.Context, most int) (states []PageState, err error) {
	v, err := x.view()
	if v == nil {
		return nil, err
	}
	defer v.Close()
	var ids []string
	err = visit(ctx, v, has(fieldUnsent, yes), func(n bleveindex.IndexInternalID) error {
		id, err := v.ExternalID(n)
		if err != nil {
			return fmt.Errorf("index: %w", err)
		}
		ids = append(ids, id)
		if len(ids) == most {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	records := newCommit(v) // which many pages share
	for _, id := range ids {
		p, err := pageOf(v, id)
		if err != nil {
			return nil, err
		}
		s := PageState{Page: id[len(pagePrefix):], Revision: p.Unsent, Forgotten: p.Forgotten}
		if !p.isEmpty() {
			s.Content, err = p.content(records)
			if err != nil {
				return nil, err
			}
		}
		states = append(states, s)
	}
	slices.SortStableFunc(states, func(a, b PageState) int { return cmp.Compare(a.Revision, b.Revision) })
	return states, nil
}

// CountUnsent returns how many pages have not been sent.
func (x *Index) CountUnsent() (int, error) {
	v, err := x.view()
	if v == nil {
		return 0, err
	}
	defer v.Close()
	return v.count(fieldUnsent, yes), nil
}

// Sent takes the marks off pages whose states are durable elsewhere. A page that has changed since
// keeps its mark.
func (x *Index) Sent(ctx context.Context, states []PageState) error {
	revisions := make(map[string]int, len(states))
	for _, s := range states {
		revisions[pagePrefix+s.Page] = s.Revision
	}
	return x.change(ctx, change{do: func(c *commit) error { return c.unmark(revisions) }})
}

// A pageContent is the content of a PageState.
type pageContent struct {
	URL      string         `json:"url"`
	Lost     bool           `json:"lost,omitempty"` // see pageRecord
	Homes    []string       `json:"homes,omitempty"`
	Notes    geoparse.Notes `json:"notes,omitzero"`
	Mentions []sentMention  `json:"mentions,omitempty"`
	Counted  []string       `json:"counted,omitempty"` // IDs of addresses of whose pages this one is only counted
	Words    []string       `json:"words,omitempty"`   // of the page, as its mentions have them
}

// A sentMention is a mention in the state of its page.
type sentMention struct {
	Address string   `json:"address"`
	Words   int      `json:"words,omitempty"` // which of pageContent.Words it has, from 1 on; 0: none
	Says    *mention `json:"says"`
}

// content returns the content of the page's state.
func (p *pageRecord) content(c *commit) ([]byte, error) {
	s := pageContent{URL: p.URL, Lost: p.Lost, Homes: p.Homes, Notes: p.Notes}
	for _, id := range p.States {
		r, err := c.address(id)
		if err != nil {
			return nil, err
		}
		i := r.of(p.URL)
		if i < 0 {
			s.Counted = append(s.Counted, id)
			continue
		}
		m := sentMention{Address: id, Says: r.Mentions[i]}
		if words := m.Says.Words; words != "" {
			m.Words = slices.Index(s.Words, words) + 1
			if m.Words == 0 {
				s.Words = append(s.Words, words)
				m.Words = len(s.Words)
			}
		}
		s.Mentions = append(s.Mentions, m)
	}
	for {
		text, err := json.Marshal(s)
		if err != nil {
			return nil, fmt.Errorf("index: state of %s: %w", p.URL, err)
		}
		half := len(s.Mentions) / 2
		if len(text) <= maxContent || len(s.Mentions) == 0 {
			return text, nil
		}
		for _, m := range s.Mentions[half:] {
			s.Counted = append(s.Counted, m.Address)
		}
		s.Mentions = s.Mentions[:half]
	}
}

// maxContent bounds the state of a page, in bytes: a message of JetStream takes 1 MB. Of a page with
// more it is only counted among the pages of some of its addresses.
const maxContent = 900_000

var idForm = regexp.MustCompile(`^[0-9a-f]{16}$`)

// decodeState returns the change that makes the index know what s says.
func decodeState(s PageState) (change, error) {
	c := change{page: pagePrefix + s.Page, forgotten: s.Forgotten}
	wrong := func(what string) (change, error) {
		return change{}, fmt.Errorf("index: message %d: %w: %s", s.Seq, ErrPageState, what)
	}
	if !idForm.MatchString(s.Page) {
		return wrong("the ID of the page is not 16 hexadecimal digits")
	}
	if len(s.Content) == 0 {
		return c, nil
	}
	var p pageContent
	if err := json.Unmarshal(s.Content, &p); err != nil {
		return wrong(err.Error())
	}
	if hostOf(p.URL) == "" || pageID(p.URL) != c.page {
		return wrong("the ID is not that of the URL")
	}
	if len(p.Mentions)+len(p.Counted) > maxMentions || len(p.Homes) > maxHomes {
		return wrong("more addresses than a page has")
	}
	c.url, c.lost, c.homes, c.notes, c.counted = p.URL, p.Lost, p.Homes, p.Notes.Clipped(maxShown), p.Counted
	stated := slices.Clone(p.Counted)
	for _, sent := range p.Mentions {
		m := sent.Says
		if m == nil || m.URL != p.URL || sent.Words < 0 || sent.Words > len(p.Words) ||
			m.Start < 0 || m.End < m.Start || m.End > len(m.Near) {
			return wrong("a mention is not one of the page")
		}
		m.id = sent.Address
		m.locate()
		if sent.Words > 0 {
			m.Words = p.Words[sent.Words-1]
		}
		c.mentions = append(c.mentions, m)
		stated = append(stated, m.id)
	}
	known := map[string]bool{}
	for _, id := range stated {
		if !idForm.MatchString(id) || known[id] {
			return wrong("the ID of an address is not 16 hexadecimal digits, or stands there twice")
		}
		known[id] = true
	}
	return c, nil
}

// Apply makes the index know the states of pages of a stream, in the order of their numbers. It is
// durable like Put, together with the number of the last state: a state whose number the index has
// passed changes nothing. Of states that were forgotten, no byte is left in the files when it returns.
// Errors are ErrOtherStream, ErrPageState, or those of Put.
func (x *Index) Apply(ctx context.Context, stream string, states []PageState) error {
	for some := range slices.Chunk(states, maxBatch) {
		pages := make([]change, len(some))
		for i, s := range some {
			one, err := decodeState(s)
			if err != nil {
				return err
			}
			if one.url != "" && x.Blocked != nil {
				x.Blocked.filter(&one)
			}
			pages[i] = one
		}
		apply := func(c *commit) error { return c.applyStates(stream, some, pages) }
		if err := x.change(ctx, change{do: apply}); err != nil {
			return err
		}
	}
	return x.mergeForgotten(ctx)
}

// mergeForgotten rewrites the files if Apply has removed what was forgotten since the last time.
func (x *Index) mergeForgotten(ctx context.Context) error {
	v, err := x.view()
	if v == nil {
		return err
	}
	due := v.state.Forgotten
	err = v.Close()
	if err != nil || !due {
		return err
	}
	err = x.merge(ctx)
	if err != nil {
		return err
	}
	return x.change(ctx, change{do: func(c *commit) error { c.state.Forgotten = false; return nil }})
}

// A Blocked is what an index must not take over from others.
type Blocked struct {
	Page  func(url string) bool
	Place func(id string) bool // see PlaceOf
}

// filter takes out of the state of a page what is blocked.
func (b *Blocked) filter(c *change) {
	if b.Page(c.url) {
		*c = change{page: c.page, forgotten: c.forgotten}
		return
	}
	c.mentions = slices.DeleteFunc(c.mentions, func(m *mention) bool {
		of := m.place()
		return of != "" && b.Place(of)
	})
}

// applyStates makes the changes of pages by their states, but of those that the index has passed.
func (c *commit) applyStates(stream string, states []PageState, pages []change) error {
	at, err := c.at()
	if err != nil {
		return err
	}
	if at.Stream != "" && at.Stream != stream {
		return fmt.Errorf("index: %w: %s, not %s", ErrOtherStream, at.Stream, stream)
	}
	before := at
	at.Stream = stream
	// First what is no home any more: the states of pages that state it now may come before those of the
	// page that said so.
	for i, s := range states {
		p, err := c.pageByID(pages[i].page)
		if err != nil {
			return err
		}
		if p == nil || s.Seq <= at.Seq {
			continue
		}
		left := slices.DeleteFunc(slices.Clone(p.Homes), func(id string) bool { return !slices.Contains(pages[i].homes, id) })
		err = c.setHomes(p, hostOf(p.URL), left)
		if err != nil {
			return err
		}
	}
	for i, s := range states {
		if s.Seq <= at.Seq {
			continue
		}
		err := c.applyPage(pages[i])
		if err != nil {
			return err
		}
		at.Seq = s.Seq
	}
	if at != before {
		c.position = &at
	}
	return nil
}

// at returns the position of the index, with that of the batch.
func (c *commit) at() (Position, error) {
	if c.position != nil {
		return *c.position, nil
	}
	return positionOf(c.reader)
}

// countOnly makes a page that the record may keep one that is only counted; stated says that it was one of
// its pages before.
func (r *record) countOnly(url string, stated bool) {
	i := r.of(url)
	if i >= 0 {
		r.Mentions = slices.Delete(r.Mentions, i, i+1)
	}
	if i < 0 && stated {
		return // it is counted already
	}
	if r.More == nil {
		r.More = map[string]int{}
	}
	r.More[hostOf(url)]++
}

// unmark takes the marks of being unsent off pages.
func (c *commit) unmark(revisions map[string]int) error {
	for _, id := range slices.Sorted(maps.Keys(revisions)) {
		p, err := c.pageByID(id)
		if err != nil {
			return err
		}
		if p != nil && p.Unsent == revisions[id] {
			p.Unsent, p.Forgotten = 0, false
			c.changed[id] = true
		}
	}
	return nil
}

// mark marks pages as unsent.
func (c *commit) mark(ids []string) error {
	for _, id := range ids {
		p, err := c.pageByID(id)
		if err != nil {
			return err
		}
		if p != nil {
			c.pageChanged(p)
		}
	}
	return nil
}

// pageChanged notes that a page has changed, and that it is to be sent.
func (c *commit) pageChanged(p *pageRecord) {
	c.changed[p.id] = true
	if c.state.Stream != "" {
		p.Unsent = c.state.Generation + 1
	}
}

package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"gazehound/geoparse"

	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/index/scorch/mergeplan"
	"golang.org/x/sync/errgroup"
)

// Forgotten counts what Forget removes.
type Forgotten struct {
	Pages     []string // URLs of the pages that lose all of their addresses or some, in order
	Addresses int      // mentions of addresses
	Texts     []string // of the addresses by place: how they are written, telephones, e-mail addresses, persons
}

// Affected returns what Forget would remove, and changes nothing.
func (x *Index) Affected(ctx context.Context, page, place func(string) bool) (Forgotten, error) {
	n, _, err := x.affected(ctx, page, place)
	return n, err
}

// affected is Affected; gone are the IDs of the addresses whose place matches.
func (x *Index) affected(
	ctx context.Context, page, place func(string) bool,
) (n Forgotten, gone map[string]bool, err error) {
	gone = map[string]bool{}
	if place != nil {
		err := x.eachRecord(ctx, func(r *record) {
			gone[r.id] = slices.ContainsFunc(r.Mentions, func(m *mention) bool {
				of := m.place()
				return of != "" && place(of)
			})
			if !gone[r.id] {
				return
			}
			for _, m := range r.Mentions {
				n.Texts = append(n.Texts, m.Near[m.Start:m.End], m.Phone, m.Fax, m.Email, m.mailBeside())
				if m.Person {
					n.Texts = append(n.Texts, m.Name)
				}
			}
		})
		if err != nil {
			return n, nil, err
		}
		slices.Sort(n.Texts)
		n.Texts = slices.Compact(n.Texts)
	}
	err = each(ctx, x, typePage, pageOf, func(p *pageRecord) {
		lost := 0
		for _, id := range p.States {
			if gone[id] || page != nil && page(p.URL) {
				lost++
			}
		}
		if lost > 0 || page != nil && page(p.URL) {
			n.Pages, n.Addresses = append(n.Pages, p.URL), n.Addresses+lost
		}
	})
	slices.Sort(n.Pages)
	return n, gone, err
}

var mailbox = regexp.MustCompile(`[\pL\pN._%+-]+@[\pL\pN-]+(?:\.[\pL\pN-]+)+`)

// mailBeside returns the e-mail address nearest to an address, a person's included, behind it rather
// than before; or "".
func (m *mention) mailBeside() string {
	if behind := mailbox.FindString(m.Near[m.End:]); behind != "" {
		return behind
	}
	before := mailbox.FindAllString(m.Near[:m.Start], -1)
	if len(before) == 0 {
		return ""
	}
	return before[len(before)-1]
}

// Forget takes pages and addresses out of the index: all of a page whose URL
// matches, and of the other pages the addresses whose place matches (see
// PlaceOf), and texts beside the others that match. Functions may be nil. It is
// durable like Put, and the files are merged afterwards, so that they hold nothing
// of it either.
//
// What is left of a page that lost an address is found by the words around its
// other addresses only, until the page is read again. No other write may run
// meanwhile. A killed Forget is completed by calling it again.
func (x *Index) Forget(ctx context.Context, page, place, text func(string) bool) (Forgotten, error) {
	if x.writes == nil {
		return Forgotten{}, ErrReadOnly
	}
	n, gone, err := x.affected(ctx, page, place)
	if err != nil {
		return n, err
	}
	loses := map[string]bool{} // pages: true where they lose an address, false where only texts
	for _, url := range n.Pages {
		loses[url] = true
	}
	if text != nil {
		err := x.eachRecord(ctx, func(r *record) {
			corrected := r.saysInFacts(text)
			for _, m := range r.Mentions {
				if _, known := loses[m.URL]; !known && (corrected || m.says(text)) {
					loses[m.URL] = false
				}
			}
		})
		if err == nil {
			err = each(ctx, x, typePage, pageOf, func(p *pageRecord) {
				if _, known := loses[p.URL]; !known && p.Notes.Has(text) {
					loses[p.URL] = false
				}
			})
		}
		if err != nil {
			return n, err
		}
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(maxBatch)
	for url, address := range loses {
		edit := func(m *mention) bool {
			if address { // whose words these may be
				m.Words = ""
			}
			if text != nil {
				m.blank(text)
			}
			return !gone[m.id] && (page == nil || !page(url))
		}
		work.Go(func() error { return x.change(ctx, change{url: url, edit: edit, text: text, forgotten: true}) })
	}
	err = work.Wait()
	if err != nil {
		return n, err
	}
	return n, x.merge(context.WithoutCancel(ctx))
}

// eachRecord calls fn with the record of every address, hidden ones included.
func (x *Index) eachRecord(ctx context.Context, fn func(r *record)) error {
	for _, kind := range []string{typeAddress, typeHidden} {
		if err := each(ctx, x, kind, recordOf, fn); err != nil {
			return err
		}
	}
	return nil
}

// says reports whether a text about the address matches.
func (m *mention) says(text func(string) bool) bool {
	return text(m.Near) || slices.ContainsFunc(m.texts(), func(t *string) bool { return text(*t) })
}

// merge rewrites the files of Bleve into one, without what was deleted. Bleve merges two segments
// or more, so one page is written again; and it removes old states, and then the files of
// no state, whenever it has stored a new one.
func (x *Index) merge(ctx context.Context) error {
	var last *pageRecord
	if err := each(ctx, x, typePage, pageOf, func(p *pageRecord) { last = p }); err != nil {
		return err
	}
	x.using.RLock() // without a view: it would hold files back
	defer x.using.RUnlock()
	if x.closed {
		return ErrClosed
	}
	s, err := scorchOf(x.bleve)
	if err != nil {
		return err
	}
	stored := last != nil
	if !stored {
		last = &pageRecord{URL: blankPage, id: pageID(blankPage), Lost: true}
	}
	err = x.storeAgain(last, stored)
	if err != nil {
		return err
	}
	err = x.mergeFiles(ctx, s)
	if last.URL == blankPage {
		last.Lost = false
		err = errors.Join(err, x.storeAgain(last, true))
	}
	return err
}

// blankPage is the URL of the page that an index without pages has while its files are merged.
const blankPage = "about:blank"

// mergeTime is for how long mergeFiles tries.
const mergeTime = 30 * time.Second

// mergeFiles merges all segments until one file is left, or, where a crawl adds others meanwhile, none
// of those of the first merge. A merge leaves out segments whose files are just being made, and Bleve
// removes the files of old states a moment after it has stored a new one.
func (x *Index) mergeFiles(ctx context.Context, s *scorch.Scorch) error {
	var first []string
	for end := time.Now().Add(mergeTime); ; time.Sleep(10 * time.Millisecond) {
		err := s.ForceMerge(ctx, &intoOne)
		if err != nil {
			return fmt.Errorf("index: merge: %w", err)
		}
		files, err := filepath.Glob(filepath.Join(x.dir, "bleve", "store", "*.zap"))
		if err != nil {
			return fmt.Errorf("index: %w", err)
		}
		if first == nil {
			first = files
		}
		inMemory, _ := s.StatsMap()["TotMemorySegmentsAtRoot"].(uint64)
		left := func(file string) bool { return slices.Contains(first, file) }
		if inMemory == 0 && len(files) <= 1 || !slices.ContainsFunc(files, left) {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("index: %s: after %v there are still %d files of before, so what was forgotten may still be in "+
				"them: run the command again", x.dir, mergeTime, len(files))
		}
		err = x.storeAgain(nil, true)
		if err != nil { // old states go
			return err
		}
	}
}

// intoOne are the options of a merge of all segments. Those of Bleve merge ten at a time, and leave
// more than one of more than ten.
var intoOne = func() mergeplan.MergePlanOptions {
	o := mergeplan.SingleSegmentMergePlanOptions
	o.SegmentsPerMergeTask = 1000
	return o
}()

// storeAgain writes a state of the data, with a page, which is stored already or not, unless it is nil. One
// that is empty goes.
func (x *Index) storeAgain(p *pageRecord, stored bool) error {
	r, err := x.latest()
	if err != nil {
		return err
	}
	defer r.Close()
	c := newCommit(r)
	if p != nil {
		c.pages[p.id], c.stored[p.id], c.changed[p.id] = p, stored, true
	}
	return x.store(c)
}

// Place returns the identity of a wherever it is stated, see PlaceOf.
func Place(a geoparse.Address) string {
	p := a.Parts()
	return PlaceOf(p.Street, p.Number, p.Postcode, p.City)
}

// Places returns Place of a, with and without its postcode: what was stated
// without one is known by its city.
func Places(a geoparse.Address) []string {
	p := a.Parts()
	places := []string{PlaceOf(p.Street, p.Number, p.Postcode, p.City)}
	if other := PlaceOf(p.Street, p.Number, "", p.City); p.City != "" && other != places[0] {
		places = append(places, other)
	}
	return places
}

// PlaceOf returns the identity of an address wherever it is stated: 16
// hexadecimal digits, or "" where no street is named. The house number, where
// there is one, belongs to it.
func PlaceOf(street, number, postcode, city string) string {
	if street == "" {
		return ""
	}
	p := geoparse.Parts{Street: street, Number: number, Postcode: postcode, City: city}.Folded()
	parts := []string{"place", p.Street, p.Number, cmp.Or(strings.ToLower(p.Postcode), p.City)}
	return hashOf(strings.Join(parts, "\x1f"))
}

func (m *mention) place() string { return PlaceOf(m.Street, m.Number, m.Code, m.City) }

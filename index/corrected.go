package index

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"gazehound/internal/corrections"
	"gazehound/internal/kind"

	"github.com/blevesearch/bleve/v2/document"
)

// A person's corrections stand above what pages say, until a newer page says something new. The index
// keeps those of an address with its record, and words, filters and facets follow them; the log of the
// data directory is where they come from (Index.Facts).

// A Fact is a correction of an address that counts.
type Fact struct {
	corrections.Entry
	// Contradicted: a page that was read later says what no page said when the person spoke. The fact
	// no longer stands above the pages.
	Contradicted bool
}

// typeHidden is the type of documents of addresses that a person has rejected, or that are private.
const typeHidden = "hidden"

// Said is what pages say of an address, for each kind of correction: what Was of one is at that time.
type Said map[corrections.What]string

// said returns what the pages of r say of it, whatever was corrected.
func (r *record) said() Said {
	pages := *r
	pages.Facts = nil
	return saidBy((&hitMaker{most: 1}).hitOf(&pages), r)
}

// saidBy returns what the hit of the pages of r, without corrections, says.
func saidBy(h Hit, r *record) Said {
	sites := strconv.Itoa(len(r.present()))
	return Said{
		corrections.Name: h.Name, corrections.Kind: h.Kind, corrections.Phone: h.Phone, corrections.Hours: h.Hours,
		corrections.Gone: sites, corrections.Reject: sites, corrections.Private: sites,
		corrections.Confirm: hashOf(strings.Join([]string{h.Name, h.Kind, h.Phone, h.Hours, h.Status}, "\x1f")),
	}
}

// present returns the sites that state the address now.
func (r *record) present() map[string]bool {
	sites := map[string]bool{}
	for _, m := range r.Mentions {
		if m.Gone == 0 {
			sites[m.site] = true
		}
	}
	for host := range r.More {
		sites[siteOf(host)] = true
	}
	return sites
}

// facts returns the corrections of r, and which of them are contradicted.
func (r *record) facts(said Said) (facts []Fact) {
	_, last := r.times()
	for _, e := range r.Facts {
		newer := timeOf(last).After(e.Time)
		facts = append(facts, Fact{e, newer && r.contradicts(&e, said[e.What])})
	}
	return facts
}

// contradicts reports whether what pages say now is something new, and not what a person says.
func (r *record) contradicts(e *corrections.Entry, now string) bool {
	switch e.What {
	case corrections.Private:
		return false
	case corrections.Gone, corrections.Reject: // further sites state it
		was, _ := strconv.Atoi(e.Was)
		sites, _ := strconv.Atoi(now)
		return sites > was
	case corrections.Name:
		city := ""
		if len(r.Mentions) > 0 {
			city = r.Mentions[0].City
		}
		return now != "" && !SameName(now, e.Value, city) && !SameName(now, e.Was, city)
	case corrections.Confirm:
		return now != e.Was
	}
	return now != "" && now != e.Value && now != e.Was
}

// isHidden reports whether corrections keep r from being found.
func (r *record) isHidden() bool { return len(r.Facts) > 0 && hides(r.facts(r.said())) }

// hides reports whether facts keep an address from being found.
func hides(facts []Fact) bool {
	return slices.ContainsFunc(facts, func(f Fact) bool {
		return !f.Contradicted && (f.What == corrections.Reject || f.What == corrections.Private)
	})
}

// correct puts the corrections of r into h, which has what pages say. They are about the place whose
// name is first there, and change nothing where h has the name of another one.
func (h *Hit) correct(r *record) {
	if len(r.Facts) == 0 {
		return
	}
	said := r.said()
	if h.Name != said[corrections.Name] {
		return
	}
	h.Facts = r.facts(said)
	for _, f := range h.Facts {
		if f.Contradicted {
			continue
		}
		switch f.What {
		case corrections.Confirm:
			h.Confidence = 1
		case corrections.Name:
			h.Name = f.Value
		case corrections.Kind:
			h.Kind, h.StatedKind = f.Value, ""
		case corrections.Phone:
			h.Phone = f.Value
		case corrections.Hours:
			h.Hours = f.Value
		case corrections.Gone:
			h.Status, h.StatusWords, h.StatusPage, h.Hours = f.Value, "", nil, ""
		}
		h.Differs = slices.DeleteFunc(slices.Clone(h.Differs), func(name string) bool { return name == property(f.What) })
	}
}

// property returns the name of what a correction is about in Hit.Differs and in answers.
func property(w corrections.What) string {
	switch w {
	case corrections.Hours:
		return "opening_hours"
	case corrections.Gone:
		return "status"
	}
	return string(w)
}

// Corrected returns what of h a person has corrected, as answers and exports name it: "name", "kind",
// "phone", "opening_hours", "status", and "confirm" for what was found to be true.
func (h *Hit) Corrected() (names []string) {
	for _, f := range h.Facts {
		if !f.Contradicted {
			names = append(names, property(f.What))
		}
	}
	return names
}

// addCorrected adds the words and filters of what a person says to the document of r. What
// corrections say of kind, telephone and hours takes the place of what pages say.
func (r *record) addCorrected(d *builder) {
	if len(r.Facts) == 0 {
		return
	}
	h := (&hitMaker{most: 1}).hitOf(r)
	for _, f := range h.Facts {
		if f.Contradicted {
			continue
		}
		switch f.What {
		case corrections.Name:
			for _, w := range termsOf(analyserOf(r.lang()), h.Name) {
				d.keyword(fieldNamed, w)
			}
			d.suggest(byName, h.Name)
			delete(d.keywords, fieldKey)
			d.keyword(fieldKey, (&mention{Name: h.Name}).nameKey())
		case corrections.Kind:
			delete(d.keywords, fieldKind)
			delete(d.keywords, fieldKindless)
			d.keyword(fieldKind, h.Kind)
			d.keyword(fieldKind, kind.Main(h.Kind))
		case corrections.Phone:
			delete(d.keywords, fieldPhone)
			d.keyword(fieldPhone, reversed(strings.TrimPrefix(h.Phone, "+")))
		case corrections.Hours, corrections.Gone:
			delete(d.keywords, fieldOpen)
			for _, key := range openKeys(h.Hours) {
				d.keyword(fieldOpen, key)
			}
		}
	}
}

// hidden returns the document of an address that nobody finds: the record alone.
func (r *record) hidden(stored []byte, words []string) *document.Document {
	d := newDocument(r.id, typeHidden, stored)
	d.store(fieldPageWords, []byte(strings.Join(words, "\n")))
	return d.finish()
}

// Correct makes the index follow the corrections of some addresses, as x.Facts has them now. Unknown
// addresses are no error: their corrections count when a page states them. It is durable like Put.
func (x *Index) Correct(ctx context.Context, ids []string) error {
	for some := range slices.Chunk(ids, maxBatch) {
		if err := x.change(ctx, change{corrected: some}); err != nil {
			return err
		}
	}
	return nil
}

// correct marks the addresses of which other corrections count now.
func (c *commit) correct(ids []string) error {
	for _, id := range ids {
		if strings.HasPrefix(id, pagePrefix) {
			continue
		}
		r, err := c.address(id)
		if err != nil {
			return err
		}
		if r.corrected && len(r.Mentions) > 0 {
			c.changed[id] = true
		}
	}
	return nil
}

// follow gives r the corrections that count now.
func (r *record) follow(facts []corrections.Entry) {
	for i := range facts { // what the log alone needs
		facts[i].Address, facts[i].Places, facts[i].Pages = "", nil, nil
	}
	same := slices.EqualFunc(r.Facts, facts, func(a, b corrections.Entry) bool { return a.N == b.N && a.Value == b.Value })
	r.Facts, r.corrected = facts, !same
}

// saysInFacts reports whether a correction has a text that matches.
func (r *record) saysInFacts(text func(string) bool) bool {
	return slices.ContainsFunc(r.Facts, func(e corrections.Entry) bool { return text(e.Value) || text(e.Was) })
}

// loseFacts removes corrections whose texts match.
func (r *record) loseFacts(text func(string) bool) {
	r.Facts = slices.DeleteFunc(r.Facts, func(e corrections.Entry) bool { return text(e.Value) || text(e.Was) })
}

// Standing returns what pages say of an address, hidden or not, and a tag that changes with it; nil
// where no page states it.
func (x *Index) Standing(id string) (*Standing, error) {
	if strings.HasPrefix(id, pagePrefix) {
		return nil, nil
	}
	v, err := x.view()
	if v == nil {
		return nil, err
	}
	defer v.Close()
	r, err := recordOf(v, id)
	if err != nil || r == nil || len(r.Mentions) == 0 {
		return nil, err
	}
	s := &Standing{Said: r.said(), Hit: whole(v, maxRead).hitOf(r), Hidden: r.isHidden()}
	for _, m := range r.Mentions {
		if m.Gone > 0 || len(s.Pages) == corrections.MaxPages {
			continue
		}
		p, err := pageOf(v, pageID(m.URL))
		if err != nil {
			return nil, err
		}
		s.Pages = append(s.Pages, m.URL)
		if p != nil && len(p.States) == 1 {
			s.Alone = append(s.Alone, m.URL)
		}
	}
	m := r.Mentions[0]
	s.Places = slices.Compact([]string{PlaceOf(m.Street, m.Number, m.Code, ""), PlaceOf(m.Street, m.Number, "", m.City)})
	s.Places = slices.DeleteFunc(s.Places, func(p string) bool { return p == "" })
	return s, nil
}

// A Standing is what a person corrects.
type Standing struct {
	Hit    Hit // with its corrections; also of a hidden address
	Said   Said
	Hidden bool
	Pages  []string // URLs of pages that state it, at most corrections.MaxPages
	Alone  []string // those that state no other address
	Places []string // see PlaceOf
}

// Tag is short and changes with what pages say.
func (s *Standing) Tag() string {
	var all []string
	for _, w := range corrections.Whats {
		all = append(all, s.Said[w])
	}
	return hashOf(strings.Join(all, "\x1f"))
}

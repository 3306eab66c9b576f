package index

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"gazehound/gazetteer"
	"gazehound/geoparse"
	"gazehound/internal/corrections"

	"github.com/blevesearch/bleve/v2/document"
	bleveindex "github.com/blevesearch/bleve_index_api"
	"github.com/paulmach/orb"
)

// The fields of a document of Bleve. There are two types of documents: one for each address, whose
// ID is AddressID, and a small one for each page, which says what addresses it states. The words of
// an address lie in fields that contain each other, so that a word counts more the nearer it is to
// the address.
const (
	fieldType = "type" // typeAddress, typeHidden, typePage or typeRemoved

	fieldWords = "words" // words of and about the address, each as often as it weighs
	fieldWhere = "where" // words of the address alone

	fieldShared = "shared" // keywords that are only looked up, see ownField
	separator   = "\x1f"   // between the parts of a term

	fieldStreet      = "street" // keywords from here on
	fieldCode        = "code"
	fieldCity        = "city"
	fieldStreetShown = "streetshown" // the same as a page writes them
	fieldCodeShown   = "codeshown"
	fieldCityShown   = "cityshown"
	fieldHost        = "host"
	fieldSite        = "site"
	fieldKind        = "kind"
	fieldKindless    = "kindless" // yes: the kind is unknown
	fieldNamed       = "named"    // words of names
	fieldMonth       = "month"    // month first seen
	fieldPrecision   = "precision"
	fieldLevel       = "level"
	fieldOSM         = "osm"       // yes: the house is in OpenStreetMap
	fieldOften       = "often"     // number of the site's pages with the address, see oftenKey
	fieldCount       = "count"     // of pages, eight digits
	fieldRank        = "rank"      // importance of the most important page, six decimals
	fieldKey         = "key"       // the name that orders, folded
	fieldPhone       = "phone"     // digits of telephone numbers, the last one first
	fieldOwn         = "own"       // hosts that state it as their own
	fieldOpen        = "open"      // when it is open, see openKeys
	fieldTyped       = "typed"     // texts for suggestions, see suggest.go
	fieldFirst       = "first"     // first seen, a number: Unix seconds
	fieldPoint       = "point"     // a geo point
	fieldStored      = "stored"    // the record, or the page, as JSON
	fieldPageWords   = "pagewords" // lines of Words of each mention of the record, which hits do not need
	fieldPageSite    = "onsite"    // of a page: its site
	fieldStates      = "states"    // of a page: IDs of its addresses
	fieldSeat        = "seat"      // host and ID, where the host states the address as its own, see host.go
	fieldHome        = "home"      // of a page: its host and the ID of an address that is a home
	fieldNoted       = "noted"     // of a page with notes: its host and ID
	fieldUnsent      = "unsent"    // of a page, yes: its state is to be sent, see pagestate.go
)

// scored are the fields of Bleve that are looked up.
var scored = []string{
	"*", // of Bleve's searchers that have none
	fieldWords, fieldWhere, fieldShared, fieldHost, fieldSite, fieldKind, fieldNamed,
	fieldMonth, fieldPrecision, fieldLevel,
	fieldFirst, fieldPoint,
}

const (
	typeAddress = "address"
	typePage    = "page"
	typeRemoved = "removed" // of a page that states nothing any more, until that is sent
	yes         = "yes"
)

// maxKept bounds the pages of one address whose words and evidence are kept;
// further ones are counted. Each change of an address writes all of them again.
const (
	maxKept  = 200
	maxWords = 32 << 10 // bytes of the page words that are kept with their pages, for one address
)

// A record is the stored form of one address.
type record struct {
	id       string
	Mentions []*mention     `json:"m"`
	More     map[string]int `json:"n,omitempty"` // pages that are counted only, by host
	First    int64          `json:"a,omitempty"` // time of the first of them, Unix seconds
	Last     int64          `json:"z,omitempty"`
	// Notes are what other pages of a host say of its only place, which is at the address.
	Notes map[string]geoparse.Notes `json:"o,omitempty"`
	Facts []corrections.Entry       `json:"y,omitempty"` // what a person says of it

	corrected bool // Facts are not those that are stored
}

// A pageRecord is the stored form of one page.
type pageRecord struct {
	URL    string         `json:"u"`
	States []string       `json:"s"`           // IDs of addresses
	Homes  []string       `json:"h,omitempty"` // IDs of addresses that the page shows to be homes
	Lost   bool           `json:"l,omitempty"` // it states one that another page of the host shows to be a home
	Notes  geoparse.Notes `json:"n,omitzero"`

	Unsent    int  `json:"x,omitempty"` // the revision of the index that changed it, until its state was sent
	Forgotten bool `json:"f,omitempty"` // Unsent removes what was forgotten

	id     string // of its document
	before int    // how many of States are stored
}

// isEmpty reports whether the page states nothing.
func (p *pageRecord) isEmpty() bool {
	return len(p.States) == 0 && len(p.Homes) == 0 && !p.Lost && p.Notes == geoparse.Notes{}
}

// pageOf returns what is stored of a page, nil if there is none.
func pageOf(r bleveindex.IndexReader, id string) (*pageRecord, error) {
	stored, err := storedOf(r, id)
	if err != nil || stored[fieldStored] == nil {
		return nil, err
	}
	p := &pageRecord{id: id}
	if err := json.Unmarshal(stored[fieldStored], p); err != nil {
		return nil, fmt.Errorf("index: page %s: %w: %w", id, ErrDamaged, err)
	}
	p.before = len(p.States)
	return p, nil
}

// pagePrefix begins the IDs of the documents of pages, and of no address.
const pagePrefix = "p"

func pageID(url string) string { return pagePrefix + hashOf(url) }

// recordOf returns the record of an address, nil if there is none.
func recordOf(r bleveindex.IndexReader, id string) (*record, error) {
	stored, err := storedOf(r, id)
	if err != nil || stored[fieldStored] == nil {
		return nil, err
	}
	all, err := decodeRecord(id, stored[fieldStored])
	if err != nil {
		return nil, err
	}
	words := strings.Split(string(stored[fieldPageWords]), "\n")
	for i, m := range all.Mentions[:min(len(words), len(all.Mentions))] {
		m.Words = words[i]
	}
	return all, nil
}

// decodeRecord returns a record without the words of its pages.
func decodeRecord(id string, stored []byte) (*record, error) {
	r := &record{id: id}
	if err := json.Unmarshal(stored, r); err != nil {
		return nil, fmt.Errorf("index: address %s: %w: %w", id, ErrDamaged, err)
	}
	for _, m := range r.Mentions {
		m.id = id
		m.locate()
	}
	r.takeNotes()
	return r, nil
}

// storedOf returns the stored fields of a document.
func storedOf(r bleveindex.IndexReader, id string) (map[string][]byte, error) {
	d, err := r.Document(id)
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	stored := map[string][]byte{}
	if d != nil {
		d.VisitFields(func(f bleveindex.Field) { stored[f.Name()] = f.Value() })
	}
	return stored, nil
}

// count returns how many pages state the address.
func (r *record) count() int {
	n := len(r.Mentions)
	for _, more := range r.More {
		n += more
	}
	return n
}

// times returns when the address was seen first and last, Unix seconds.
func (r *record) times() (first, last int64) {
	first, last = cmp.Or(r.First, math.MaxInt64), r.Last
	for _, m := range r.Mentions {
		first, last = min(first, m.First), max(last, m.Fetched)
	}
	return first, last
}

// importance returns that of the most important page that is kept.
func (r *record) importance() (most float64) {
	for _, m := range r.Mentions {
		most = max(most, m.Importance)
	}
	return most
}

// sites returns how many pages of each site state the address.
func (r *record) sites() map[string]int {
	sites := map[string]int{}
	for _, m := range r.Mentions {
		sites[m.site]++
	}
	for host, n := range r.More {
		sites[siteOf(host)] += n
	}
	return sites
}

// of returns the index of a page among the mentions, or -1.
func (r *record) of(url string) int {
	return slices.IndexFunc(r.Mentions, func(m *mention) bool { return m.URL == url })
}

// put adds a mention, or replaces what its page said before; stated says that
// the page stated the address before.
func (r *record) put(m *mention, stated bool) {
	if i := r.of(m.URL); i >= 0 {
		m.First = min(m.First, r.Mentions[i].First)
		r.Mentions[i] = m
		return
	}
	if stated {
		m.First = min(m.First, cmp.Or(r.First, m.First))
		r.uncount(m.host)
	}
	r.Mentions = append(r.Mentions, m)
	if len(r.Mentions) > maxKept {
		r.drop()
	}
}

// drop counts one mention without keeping it: the last of the name and site with the most, so that
// as many names and sites as possible are kept.
func (r *record) drop() {
	alike := map[[2]string]int{}
	key := func(m *mention) [2]string { return [2]string{m.site, m.Name} }
	most := 0
	for i, m := range r.Mentions {
		alike[key(m)]++
		if alike[key(m)] >= alike[key(r.Mentions[most])] {
			most = i
		}
	}
	m := r.Mentions[most]
	r.Mentions = slices.Delete(r.Mentions, most, most+1)
	if r.More == nil {
		r.More = map[string]int{}
	}
	r.More[m.host]++
	r.First, r.Last = min(cmp.Or(r.First, m.First), m.First), max(r.Last, m.Fetched)
}

// remove removes a page.
func (r *record) remove(url string) {
	if i := r.of(url); i >= 0 {
		r.Mentions = slices.Delete(r.Mentions, i, i+1)
	} else {
		r.uncount(hostOf(url))
	}
}

// uncount removes one page of a host that was only counted.
func (r *record) uncount(host string) {
	r.More[host]--
	if r.More[host] <= 0 {
		delete(r.More, host)
	}
}

// bestPlaced returns the mention with the best coordinate.
func bestPlaced(all []*mention) *mention {
	return slices.MaxFunc(all, func(a, b *mention) int {
		return cmp.Or(cmp.Compare(a.Precision, b.Precision),
			cmp.Compare(math.Round(100*a.Confidence), math.Round(100*b.Confidence)),
			cmp.Compare(b.Point[0], a.Point[0]), cmp.Compare(b.Point[1], a.Point[1]))
	})
}

// located reports whether the mention has a coordinate.
func (m *mention) located() bool { return m.Precision > gazetteer.NoPrecision }

func (m *mention) osm() bool { return m.Precision == gazetteer.HousePrecision && isOSM(m.Place) }

// nameKey returns the key by which spellings of a name are united and names are sorted.
func (m *mention) nameKey() string { return clipBytes(foldWord(m.name()), maxKey) }

// voice is the weight of a site's vote for a name.
func (m *mention) voice() int {
	switch {
	case m.Guess || m.role().ThirdParty():
		return 1
	case m.role() > 0:
		return 2
	}
	return 3
}

// document returns the address as Bleve keeps it.
func (r *record) document() (*document.Document, error) {
	r.limitWords()
	r.takeNotes()
	stored, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	words := make([]string, len(r.Mentions))
	for i, m := range r.Mentions {
		words[i] = m.Words
	}
	if r.isHidden() {
		return r.hidden(stored, words), nil
	}
	d := newDocument(r.id, typeAddress, stored)
	d.store(fieldPageWords, []byte(strings.Join(words, "\n")))
	r.addWords(d)
	for _, m := range r.Mentions {
		if m.Street != "" { // else it is no single place, and the names of many
			for _, w := range termsOf(analyserOf(r.lang()), m.name()) {
				d.keyword(fieldNamed, w)
			}
		}
	}
	for _, f := range allFilters {
		if f.add != nil {
			f.add(r, d)
		}
	}
	for _, m := range r.Mentions {
		m.addTo(d, r.id)
	}
	if len(d.keywords[fieldKind]) == 0 {
		d.keyword(fieldKindless, yes)
	}
	at := bestPlaced(r.Mentions)
	d.keyword(fieldStreetShown, at.Street)
	d.keyword(fieldCodeShown, at.Code)
	d.keyword(fieldCityShown, at.City)
	if at.located() {
		d.point(at.Point)
	}
	d.keyword(fieldCount, fmt.Sprintf("%08d", r.count()))
	d.keyword(fieldRank, fmt.Sprintf("%.6f", r.importance()))
	if names := namesOf(r.Mentions, nil); len(names) > 0 {
		d.keyword(fieldKey, names[0].key)
	}
	r.addCorrected(d)
	return d.finish(), nil
}

// addTo adds to the document of the address id what suggestions and direct searches know by the
// mention.
func (m *mention) addTo(d *builder, id string) {
	d.suggest(ByStreet, m.Street)
	d.suggest(ByPostcode, m.Code)
	d.suggest(ByCity, m.City)
	d.suggest(BySite, m.site)
	d.suggest(byName, m.name())
	d.keyword(fieldPhone, reversed(strings.TrimPrefix(m.phone(), "+")))
	d.keyword(fieldOwn, hostOf(m.Home))
	if m.role() == geoparse.OwnRole {
		d.keyword(fieldOwn, m.host)
	}
	if m.isSeat() {
		d.keyword(fieldSeat, m.host+separator+id)
	}
}

// lang returns the language of most pages. All words about an address are folded as
// its: one word has one term then.
func (r *record) lang() string {
	pages := map[string]int{}
	for _, m := range r.Mentions {
		pages[m.Lang]++
	}
	most := ""
	for lang, n := range pages {
		if lang != "" && (n > pages[most] || most == "" || n == pages[most] && lang < most) {
			most = lang
		}
	}
	return most
}

// limitWords drops the words of further pages above the limit.
func (r *record) limitWords() {
	left := maxWords
	for _, m := range r.Mentions {
		left -= len(m.Words)
		if left < 0 {
			m.Words = ""
		}
	}
}

// How often a word counts as standing in an address's text, by where it stands.
// Bleve's scores grow with the root.
const (
	inPage = 1 // of a page with few addresses
	nearby = 4 // around the address, in the title and the host
	inName = 9 // in a name, the street or the code
)

// For an address on many pages, such as in a footer, a word counts only if at least one in
// commonShare of them has it.
const commonShare = 10

// addWords adds the words of an address, and of the text about it.
func (r *record) addWords(d *builder) {
	where, words := termSet{}, termSet{}
	near, pages := termSet{}, termSet{} // on how many pages each word stands
	terms := map[string][]string{}      // of texts, of which pages of one site share many
	analyser := analyserOf(r.lang())
	add := func(to termSet, weight int, text string) {
		if _, known := terms[text]; !known {
			terms[text] = termsOf(analyser, text)
		}
		to.add(weight, terms[text]...)
	}
	r.addAddress(where, words)
	for _, m := range r.Mentions {
		said := termSet{}
		to, weight := words, inName
		if m.Street == "" { // no single place, and the names of many
			to, weight = said, 1
		}
		name := m.name()
		if name == "" && m.role() == geoparse.OwnRole {
			name = m.Title // of a page about what is there
		}
		add(to, weight, name)
		add(to, weight, strings.ReplaceAll(name, "-", "")) // "Löwen-Apotheke" is also Löwenapotheke
		for line := range strings.SplitSeq(m.Near, "\n") {
			add(said, 1, line)
		}
		if !m.role().ThirdParty() { // the place that the page is about
			add(said, 1, m.Title)
			add(said, 1, hostWords(m.host))
			for _, w := range stemmed(analyser, m.Words) {
				pages[w]++
			}
		}
		for w := range said {
			near[w]++
		}
	}
	r.addCounted(words, near, pages)
	for _, e := range r.Facts {
		if e.What == corrections.Name {
			add(words, inName, e.Value)
		}
	}
	d.terms(fieldWhere, where, bleveindex.IndexField|bleveindex.SkipFreqNorm)
	d.terms(fieldWords, words, bleveindex.IndexField)
}

// addAddress adds the words of the address as its pages write it, each way once.
func (r *record) addAddress(where, words termSet) {
	added := map[[3]string]bool{}
	for _, m := range r.Mentions {
		parts := [3]string{m.Street + " " + m.Number, m.Code, m.City}
		if added[parts] {
			continue
		}
		added[parts] = true
		for i, part := range parts {
			terms := termsOf(addressWords, part)
			where.add(1, terms...)
			words.add([...]int{inName, inName, nearby}[i], terms...)
		}
	}
}

// addCounted adds to words what stands near the address, and on its pages, by the number of pages on
// which each word stands.
func (r *record) addCounted(words, near, pages termSet) {
	common := len(r.Mentions) / commonShare
	place := slices.ContainsFunc(r.Mentions, func(m *mention) bool { return m.Street != "" })
	for w, n := range near {
		if n >= common && (place || common == 0) {
			words.add(nearby, w)
		} else {
			words.add(inPage, w)
		}
	}
	for w, n := range pages {
		if n >= common {
			words.add(inPage, w)
		}
	}
}

// A termSet has the terms of a field, and how often each counts.
type termSet map[string]int

func (s termSet) add(weight int, terms ...string) {
	for _, t := range terms {
		s[t] = max(s[t], weight)
	}
}

// document returns the page as Bleve keeps it. Of one that states nothing not even the URL is left,
// because it may have been forgotten.
func (p *pageRecord) document() (*document.Document, error) {
	kind, kept := typePage, *p
	if p.isEmpty() {
		kind, kept.URL = typeRemoved, ""
	}
	stored, err := json.Marshal(kept)
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	d := newDocument(p.id, kind, stored)
	if p.Unsent > 0 {
		d.keyword(fieldUnsent, yes)
	}
	host := hostOf(p.URL)
	if len(p.States) > 0 {
		d.keyword(fieldPageSite, siteOf(host))
	}
	for _, id := range p.States {
		d.keyword(fieldStates, id)
	}
	for _, id := range p.Homes {
		d.keyword(fieldHome, homeKey(host, id))
	}
	if p.Notes != (geoparse.Notes{}) {
		d.keyword(fieldNoted, host+separator+pageID(p.URL))
	}
	return d.finish(), nil
}

// A builder puts a document together.
type builder struct {
	*document.Document
	keywords map[string]termSet // by field
}

func newDocument(id, kind string, stored []byte) *builder {
	b := &builder{document.NewDocument(id), map[string]termSet{}}
	b.store(fieldStored, stored)
	b.keyword(fieldType, kind)
	return b
}

func (b *builder) store(field string, text []byte) {
	b.AddField(document.NewTextFieldCustom(field, nil, text, bleveindex.StoreField, nil))
}

// keyword adds a value that filters, and that facets count.
func (b *builder) keyword(field, value string) {
	value = clipBytes(value, maxKey)
	if value == "" {
		return
	}
	if b.keywords[field] == nil {
		b.keywords[field] = termSet{}
	}
	b.keywords[field][value] = 1
}

func (b *builder) number(field string, value float64) {
	const options = bleveindex.IndexField | bleveindex.DocValues
	b.AddField(document.NewNumericFieldWithIndexingOptions(field, nil, value, options))
}

func (b *builder) point(p orb.Point) {
	const options = bleveindex.IndexField | bleveindex.DocValues
	b.AddField(document.NewGeoPointFieldWithIndexingOptions(fieldPoint, nil, p[0], p[1], options))
}

func (b *builder) terms(field string, all termSet, options bleveindex.FieldIndexingOptions) {
	b.AddField(&termField{name: field, options: options, all: all})
}

// ownField are the fields of Bleve that have words, or keywords that a facet counts or an order
// compares. All other keywords share one: every field of a segment costs, however small the segment
// is.
var ownField = []string{
	fieldWords, fieldWhere, fieldStreetShown, fieldCodeShown, fieldCityShown, fieldHost, fieldSite, fieldKind,
	fieldNamed, fieldMonth, fieldPrecision, fieldLevel, fieldOften, fieldCount, fieldRank, fieldKey,
}

// termOf returns the field of Bleve and the term under which a keyword lies.
func termOf(field, value string) (name, term string) {
	if slices.Contains(ownField, field) {
		return field, value
	}
	return fieldShared, field + separator + value
}

// finish returns the document with its keywords.
func (b *builder) finish() *document.Document {
	const options = bleveindex.IndexField | bleveindex.SkipFreqNorm
	shared := termSet{}
	for field, all := range b.keywords {
		if slices.Contains(ownField, field) {
			b.terms(field, all, options|bleveindex.DocValues)
			continue
		}
		for value := range all {
			_, term := termOf(field, value)
			shared.add(1, term)
		}
	}
	b.terms(fieldShared, shared, options)
	return b.Document
}

// fieldLength is how many words each field counts as having, where the average has
// one: BM25 then hardly saturates, and three times the weight is nearly three times
// the score.
const fieldLength = 20

// A termField is a field whose terms were made before: several fields of an
// address share theirs, and an analyser would make them for each.
type termField struct {
	name    string
	options bleveindex.FieldIndexingOptions
	all     termSet
	words   bleveindex.TokenFrequencies
}

// The methods make it a field of a Bleve document.

func (f *termField) Name() string                             { return f.name }
func (f *termField) ArrayPositions() []uint64                 { return nil }
func (f *termField) Options() bleveindex.FieldIndexingOptions { return f.options }
func (f *termField) Value() []byte                            { return nil }
func (f *termField) NumPlainTextBytes() uint64                { return 0 }
func (f *termField) Size() int                                { return f.words.Size() }
func (f *termField) EncodedFieldType() byte                   { return 't' }
func (f *termField) AnalyzedLength() int                      { return fieldLength }
func (f *termField) AnalyzedTokenFrequencies() bleveindex.TokenFrequencies {
	return f.words
}

func (f *termField) Analyze() {
	f.words = make(bleveindex.TokenFrequencies, len(f.all))
	terms := make([]bleveindex.TokenFreq, 0, len(f.all))
	for term, often := range f.all {
		terms = append(terms, bleveindex.TokenFreq{Term: []byte(term)})
		t := &terms[len(terms)-1]
		t.SetFrequency(often)
		f.words[term] = t
	}
}

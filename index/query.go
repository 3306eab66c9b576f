package index

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/paulmach/orb"
)

// Bounds of a query.
const (
	MaxQueryLength = 200       // characters of Text; also of Street, Postcode and Host
	MaxQueryWords  = 16        // of Text; further ones are not looked at
	MaxLimit       = 500       // hits on one page
	MaxRadius      = 1_000_000 // metres
	MaxValues      = 20        // of one filter
)

// Errors of Search for invalid queries, wrapped with the reason.
var (
	ErrQuery  = errors.New("bad query")
	ErrCursor = errors.New("bad cursor")
)

// A Sort is the order of hits.
type Sort string

// The orders. With Relevance, a Center without Radius lifts what is near.
// Without words the addresses with the most mentions come first, or the
// nearest where there is a Center.
const (
	Relevance Sort = "relevance"
	Distance  Sort = "distance" // needs a Center; addresses without coordinate last
	Newest    Sort = "newest"   // first seen last
	ByName    Sort = "name"
	// Importance brings the addresses first that the most important pages state, as strategy
	// trend rates pages (Ahmadi-Abkenari & Selamat 2010, figure 7, line 37).
	Importance Sort = "importance"
)

// A Facet is a property by which the matches of a query are counted.
type Facet string

// The facets.
const (
	ByStreet    Facet = "street"
	ByPostcode  Facet = "postcode"
	ByCity      Facet = "city"
	ByHost      Facet = "host"
	BySite      Facet = "site"
	ByPrecision Facet = "precision"
	ByLevel     Facet = "level"
	ByKind      Facet = "kind"  // see package kind
	ByMonth     Facet = "month" // first seen, "2026-11" in UTC

	byName Facet = "name" // of suggestions only
)

// Facets returns all facets of queries.
func Facets() []Facet {
	return []Facet{ByStreet, ByPostcode, ByCity, ByHost, BySite, ByKind, ByMonth, ByPrecision, ByLevel}
}

// A Query asks for addresses. All parts that are given must fit; the zero
// Query finds everything.
type Query struct {
	// Text is words of the name, the address, the title, the text near the
	// address or, on pages with few addresses, of the whole page. Each must
	// occur somewhere; where no address has them all, one typing error a word
	// is forgiven, and at last some of the words are enough. The last word may
	// be the start of one. There are no operators.
	Text string
	// AddressOnly looks the words of Text up in addresses only.
	AddressOnly bool

	Filters

	// Scale is how far, in metres, the lift of a Center without Radius
	// reaches; 0 means 4,000. Bias in 0 … 1 is its strength; 0 lifts nothing.
	Scale, Bias float64

	Sort   Sort   // "" is Relevance
	Limit  int    // 1 to MaxLimit; 0 means 10
	Cursor string // Result.Next of the page before, asked with the same query but for Limit
	Group  bool   // what is in one building is one hit, with its Tenants; a page has up to 5 × Limit addresses

	Facets     []Facet // counted over all matches, the most frequent values first
	CountPages bool    // say in Result.Pages how many pages state the matches
	Explain    bool    // say of each hit what its score is made of

	// Locate finds the place in "dentist near Main St" where no address in the index
	// is it, and its name for people. Nil: only addresses in the index are found.
	Locate func(text string) (at orb.Point, name string, ok bool) `json:"-"`
	// OtherNames returns the other names of a place, as in other languages: words of one find pages
	// that write another. Nil: only what is written is found.
	OtherNames func(name string) []string `json:"-"`

	AnyTime bool // a time that is asked for filters nothing; Result.Open has it

	Now      time.Time // for "open now", in the zone of the region; zero: the time here
	Holidays []string  // public holidays of the next days, such as "2026-12-25"
}

// check returns the query with its defaults, or an error that wraps ErrQuery.
func (q Query) check() (Query, error) {
	bad := func(format string, args ...any) (Query, error) {
		return Query{}, fmt.Errorf("index: %w: "+format, append([]any{ErrQuery}, args...)...)
	}
	if err := checkTexts("text", q.Text); err != nil {
		return bad("%w", err)
	}
	if err := q.Filters.check(); err != nil {
		return Query{}, err
	}
	q.Limit = cmp.Or(q.Limit, 10)
	q.Sort = cmp.Or(q.Sort, Relevance)
	q.Scale = cmp.Or(q.Scale, 4000)
	switch {
	case q.Limit < 1 || q.Limit > MaxLimit:
		return bad("limit %d is not 1 to %d", q.Limit, MaxLimit)
	case !slices.Contains([]Sort{Relevance, Distance, Newest, ByName, Importance}, q.Sort):
		return bad("sort %q is not relevance, distance, newest, name or importance", q.Sort)
	case q.Sort == Distance && q.Center == nil:
		return bad("sorting by distance needs a centre")
	case !(q.Scale > 0 && q.Scale <= 1e7):
		return bad("scale %v is not in 0 to 1e7 metres", q.Scale)
	case !(q.Bias >= 0 && q.Bias <= 1):
		return bad("bias %v is not 0 to 1", q.Bias)
	}
	for i, f := range q.Facets {
		if !slices.Contains(Facets(), f) || slices.Contains(q.Facets[:i], f) {
			return bad("facet %q is not one of %v, or is given twice", f, Facets())
		}
	}
	return q, nil
}

// pageSize is how many addresses a page has.
func (q *Query) pageSize() int {
	if q.Group {
		return min(grouped*q.Limit, MaxLimit)
	}
	return q.Limit
}

func onEarth(p orb.Point) bool {
	return -180 <= p[0] && p[0] <= 180 && -90 <= p[1] && p[1] <= 90 // false for NaN
}

// A word of a query.
type word struct {
	raw   string
	terms []string // under which it may be found
	where []string // as words of an address
	minor bool     // a stop word
	kinds []string // of places that it means, alone or with its neighbours
	alike []string // kinds of the same name
	signs []string // words in the names of such places
}

var oneLetter = regexp.MustCompile("^[A-Za-z]$")

// splitQuery returns the words of a text, "12 a" joined to one.
func splitQuery(text string) []word {
	var raws []string
	for _, t := range plainWords.Analyze([]byte(text)) {
		raws = append(raws, text[t.Start:t.End])
	}
	var words []word
	for i := 0; i < len(raws) && len(words) < MaxQueryWords; i++ {
		raw := raws[i]
		if i+1 < len(raws) && isNumber(raw) && oneLetter.MatchString(raws[i+1]) {
			raw += raws[i+1]
			i++
		}
		folded := wordsOf(raw)
		if len(folded) != 1 || len(folded[0]) > 60 {
			continue
		}
		w := word{raw: raw, terms: forms(raw), minor: minor[folded[0]]}
		if n := strings.ToLower(raw); len(n) > 1 && isNumber(n[:len(n)-1]) {
			w.where = []string{n} // 12a, not 12 or 12a
		} else {
			w.where = streetWords(folded[0])
		}
		words = append(words, w)
	}
	return words
}

var minor = foldedSet("a an and at by for from in near nearby next of on or the to with " +
	"am an auf bei beim das dem den der die ein eine im in nahe nähe neben und vom von zu zum zur " +
	"nr hausnr hausnummer")

// A stage is how tolerant a search is.
type stage uint8

const (
	direct  stage = iota // the telephone number, host or URL that the text is
	about                // places of the kinds that are named, at the address that is named
	exact                // all words, the last one may be the start of a word
	typos                // all words, one edit in those of 4 letters or more
	partial              // some of the words
	stages
)

// A cursor is the position of a hit in the order of an answer.
type cursor struct {
	Version int    `json:"version"` // cursorVersion
	Stage   stage  `json:"stage"`
	Offset  int    `json:"offset"` // matches up to the hit, itself included
	Key     string `json:"key"`    // that hits are ordered by, see order.key
	ID      string `json:"id"`     // of the address; orders those of one key
	Query   uint32 `json:"query"`  // digest
}

// cursorVersion is raised when stages, orders or scores change: positions of before mean others then.
const cursorVersion = 3

// compare orders cursors of one query as their hits are ordered.
func (c *cursor) compare(o *cursor) int {
	return cmp.Or(strings.Compare(c.Key, o.Key), strings.Compare(c.ID, o.ID))
}

// maxKey bounds what orders hits, in bytes.
const maxKey = 120

// encode returns the opaque form of c: JSON and its sum.
func (c cursor) encode() string {
	c.Version = cursorVersion
	text, _ := json.Marshal(c) // strings and numbers
	text = binary.BigEndian.AppendUint32(text, crc32.ChecksumIEEE(text))
	return base64.RawURLEncoding.EncodeToString(text)
}

func decodeCursor(text string, q Query) (c cursor, err error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	n := max(0, len(b)-4)
	if err != nil || n == 0 || binary.BigEndian.Uint32(b[n:]) != crc32.ChecksumIEEE(b[:n]) ||
		json.Unmarshal(b[:n], &c) != nil || c.Stage >= stages {
		return c, fmt.Errorf("index: %w: it is not one of this index's; take it from the answer before", ErrCursor)
	}
	if c.Version != cursorVersion {
		return c, fmt.Errorf("index: %w: another version of gazehound made it; begin with the first page", ErrCursor)
	}
	if c.Query != q.digest() {
		return c, fmt.Errorf("index: %w: it belongs to another query; only limit may differ", ErrCursor)
	}
	return c, nil
}

// digest identifies a query, whatever page of its answer is asked for, in whatever
// detail: Limit, Cursor, Facets, Group, CountPages, Explain, Now and Holidays do not
// count.
func (q Query) digest() uint32 {
	q.Limit, q.Cursor, q.Facets = 0, "", nil
	q.Group, q.CountPages, q.Explain, q.Now, q.Holidays = false, false, false, time.Time{}, nil
	q.Since, q.Until = q.Since.UTC(), q.Until.UTC()
	text, _ := json.Marshal(q) // numbers were checked
	return crc32.ChecksumIEEE(append(text, Format))
}

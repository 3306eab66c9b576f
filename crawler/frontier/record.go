package frontier

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"gazehound/crawler/weburl"
)

// version is the first byte of every value; see KEYS.md.
const version = 1

var errDamaged = errors.New("damaged record")

// KeyOf returns the key of u. URLs of one identity (see weburl.URL.Identity)
// have one key.
func KeyOf(u weburl.URL) Key {
	var k Key
	copy(k[:8], digest(u.Host()))
	copy(k[8:], digest(u.Identity()))
	return k
}

// KeysOf returns the keys of entries. Links of a page mostly stand in the order of
// their hosts, of which each is hashed once.
func KeysOf(es []Entry) []Key {
	keys := make([]Key, len(es))
	var host string
	var id []byte
	for i := range es {
		u := es[i].URL
		if id == nil || u.Host() != host {
			host, id = u.Host(), digest(u.Host())
		}
		copy(keys[i][:8], id)
		copy(keys[i][8:], digest(u.Identity()))
	}
	return keys
}

// digest hashes with SHA-256: pages must not be able to make URLs that are
// taken for one another.
func digest(s string) []byte {
	var buf [512]byte
	sum := sha256.Sum256(append(buf[:0], s...))
	return sum[:]
}

func (k Key) host() uint64 { return binary.BigEndian.Uint64(k[:8]) }
func (k Key) url() uint64  { return binary.BigEndian.Uint64(k[8:]) }

func makeKey(host, url uint64) Key {
	var k Key
	binary.BigEndian.PutUint64(k[:8], host)
	binary.BigEndian.PutUint64(k[8:], url)
	return k
}

// The keys of the store.

var totalsKey = []byte{'t'}

func urlKey(k Key) []byte { return append([]byte{'u'}, k[:]...) }

func hostKey(id uint64) []byte { return binary.BigEndian.AppendUint64([]byte{'h'}, id) }

func groupKey(id uint64) []byte { return binary.BigEndian.AppendUint64([]byte{'l'}, id) }

func visitKey(seq uint64) []byte { return binary.BigEndian.AppendUint64([]byte{'v'}, seq) }

func partKey(host uint64, part string) []byte {
	return append(binary.BigEndian.AppendUint64([]byte{'d'}, host), digest(part)[:8]...)
}

func addressKey(id string) []byte { return append([]byte{'a'}, digest(id)[:12]...) }

func asideKey(key []byte) []byte { return append([]byte{'x'}, key...) }

func queueKey(host uint64, p place) []byte {
	k := make([]byte, 0, 21)
	k = append(k, 'q')
	k = binary.BigEndian.AppendUint64(k, host)
	k = binary.BigEndian.AppendUint32(k, p.rank)
	return binary.BigEndian.AppendUint64(k, p.tie)
}

// A place is a position in the order of the queue; the smallest is the first
// to be served.
type place struct {
	rank uint32 // of the priority, see rankOf
	tie  uint64 // decides between equal priorities, see tieOf
}

var nowhere = place{math.MaxUint32, math.MaxUint64}

func (a place) before(b place) bool {
	return a.rank < b.rank || a.rank == b.rank && a.tie < b.tie
}

// rankOf maps priorities to numbers in the opposite order.
func rankOf(p float32) uint32 {
	if p == 0 {
		p = 0 // no negative zero
	}
	b := math.Float32bits(p)
	if b>>31 == 0 {
		return ^(b | 1<<31)
	}
	return b
}

// priorityOf undoes rankOf.
func priorityOf(rank uint32) float64 {
	if b := ^rank; b>>31 == 1 {
		return float64(math.Float32frombits(b &^ (1 << 31)))
	}
	return float64(math.Float32frombits(rank))
}

// tieOf mixes the hash of a URL with the seed (SplitMix64's finaliser, which
// can be undone). So the order among equals is another one with every seed,
// and the tie names the URL.
func tieOf(seed, url uint64) uint64 {
	x := url ^ seed*golden
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// urlOf undoes tieOf.
func urlOf(seed, tie uint64) uint64 { return unmix(tie) ^ seed*golden }

// seedOf returns the seed that makes this tie of this URL.
func seedOf(tie, url uint64) uint64 { return (unmix(tie) ^ url) * goldenInverse }

const (
	golden        = 0x9E3779B97F4A7C15
	goldenInverse = 0xF1DE83E19937733D // golden · goldenInverse = 1 modulo 2⁶⁴
)

func unmix(x uint64) uint64 {
	x = (x ^ x>>31 ^ x>>62) * 0x319642B2D24D8EC3
	x = (x ^ x>>27 ^ x>>54) * 0x96DE1B173F119089
	return x ^ x>>30 ^ x>>60
}

// A ref names a link: the group that it was stored in, and its place there.
type ref uint64

const maxGroup = 128 // links in a group; a ref holds the index in 8 bits

func makeRef(group uint64, index int) ref { return ref(group<<8 | uint64(index)) }

func (r ref) group() uint64 { return uint64(r >> 8) }
func (r ref) index() int    { return int(r & 0xff) }

// urlRecord is what the store knows under a URL's key.
type urlRecord struct {
	state    State
	rank     uint32 // queued: under which it stands in the queue
	distance uint64 // queued
	ref      ref    // queued
	retries  uint64 // queued
	seq      uint64 // visited
}

func (r urlRecord) encode() []byte {
	b := append(make([]byte, 0, 20), version, byte(r.state))
	if r.state == Visited {
		return binary.AppendUvarint(b, r.seq)
	}
	b = binary.BigEndian.AppendUint32(b, r.rank)
	b = binary.AppendUvarint(b, r.distance)
	b = binary.AppendUvarint(b, uint64(r.ref))
	return binary.AppendUvarint(b, r.retries)
}

func decodeURL(value []byte) (r urlRecord, err error) {
	d := decoder{rest: value}
	d.version()
	switch r.state = State(d.byte()); r.state {
	case Visited:
		r.seq = d.uvarint()
	case Queued:
		r.rank = d.uint32()
		r.distance = d.uvarint()
		r.ref = ref(d.uvarint())
		r.retries = d.uvarint()
	default:
		d.bad = true
	}
	return r, d.end()
}

// queueValue is what stands under a key of the queue.
func queueValue(r ref, retries uint64) []byte {
	b := binary.AppendUvarint(append(make([]byte, 0, 8), version), uint64(r))
	return binary.AppendUvarint(b, retries)
}

func decodeQueue(value []byte) (r ref, retries uint64, err error) {
	d := decoder{rest: value}
	d.version()
	r, retries = ref(d.uvarint()), d.uvarint()
	return r, retries, d.end()
}

// hostRecord sums up the URLs of a host. best is no worse than its best queued
// entry. Format 1 gave every host its places and did not say so.
type hostRecord struct {
	queued, total uint64
	best          place
	ordered       bool // its queue has places under q
}

func (r hostRecord) encode() []byte {
	b := append(make([]byte, 0, 24), version)
	b = binary.AppendUvarint(b, r.queued)
	b = binary.AppendUvarint(b, r.total)
	b = binary.BigEndian.AppendUint32(b, r.best.rank)
	b = binary.BigEndian.AppendUint64(b, r.best.tie)
	if r.ordered {
		return b
	}
	return append(b, 0)
}

func decodeHost(value []byte) (r hostRecord, err error) {
	d := decoder{rest: value}
	d.version()
	r.queued, r.total = d.uvarint(), d.uvarint()
	r.best = place{d.uint32(), d.uint64()}
	if r.ordered = len(d.rest) == 0; !r.ordered {
		d.bad = d.byte() != 0 || d.bad
	}
	return r, d.end()
}

// A link is an entry on its way into the store.
type link struct {
	Entry
	key Key
}

// prepare brings entries into the form in which they are stored.
func prepare(es []Entry) ([]link, error) {
	links, keys := make([]link, len(es)), KeysOf(es)
	for i, e := range es {
		if e.URL.IsZero() {
			return nil, fmt.Errorf("frontier: entry %d has no URL", i)
		}
		e.Anchor, e.Title, e.Around = cut(e.Anchor, MaxAnchor), cut(e.Title, MaxAnchor), cut(e.Around, MaxAround)
		e.Depth, e.Distance = clamp(e.Depth, math.MaxInt32), clamp(e.Distance, math.MaxInt32)
		e.Redirects, e.Retries = clamp(e.Redirects, 255), clamp(e.Retries, 255)
		links[i] = link{e, keys[i]}
	}
	return links, nil
}

func clamp(n, most int) int { return max(0, min(n, most)) }

// cut returns the first max bytes of s, or less so as not to break a character.
func cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max]
}

// perLink is about what a link costs in a transaction beside its words.
const perLink = 160

func weigh(links []link) int {
	n := 0
	for i := range links {
		l := &links[i]
		n += perLink + len(l.URL.String()) + len(l.Anchor) + len(l.Title) + len(l.Around)
	}
	return n
}

// visitRecord is a visited URL of the crawl tree.
type visitRecord struct {
	key     Key
	ref     ref
	rank    uint32
	retries uint64
	outcome Outcome
}

var kinds = []string{"", "page", "redirect", "error", "skipped"}

const spelt = 255 // a kind that is none of kinds

func (r visitRecord) encode() []byte {
	o := &r.outcome
	b := append(make([]byte, 0, 96), version)
	b = append(b, r.key[:]...)
	b = binary.AppendUvarint(b, uint64(r.ref))
	b = binary.BigEndian.AppendUint32(b, r.rank)
	b = binary.AppendUvarint(b, r.retries)
	if kind := slices.Index(kinds, o.Kind); kind >= 0 {
		b = append(b, byte(kind))
	} else {
		b = appendString(append(b, spelt), o.Kind)
	}
	b = appendString(b, o.Reason)
	b = binary.AppendVarint(b, int64(o.Status))
	verdict := byte(0)
	if o.Relevant {
		verdict = 1
		if o.SiteWide {
			verdict = 2
		}
		if o.named() {
			verdict += 2
		}
	}
	b = append(b, verdict)
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(o.Score))
	b = binary.AppendVarint(b, o.Bytes)
	var at int64
	if !o.At.IsZero() {
		at = o.At.UnixMilli()
	}
	b = binary.AppendVarint(b, at)
	b = binary.AppendUvarint(b, uint64(len(o.Addresses)))
	for _, a := range o.Addresses {
		b = appendString(b, a)
	}
	b = appendCounts(b, o.Dropped)
	if verdict > 2 {
		b = appendString(appendString(b, o.Title), o.Evidence)
	}
	if o.Promise != 0 {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(float32(o.Promise)))
	}
	return b
}

func decodeVisit(value []byte) (r visitRecord, err error) {
	d := decoder{rest: value}
	d.version()
	copy(r.key[:], d.bytes(16))
	r.ref = ref(d.uvarint())
	r.rank = d.uint32()
	r.retries = d.uvarint()
	o := &r.outcome
	if kind := d.byte(); int(kind) < len(kinds) {
		o.Kind = kinds[kind]
	} else {
		o.Kind = d.string()
		d.bad = d.bad || kind != spelt || slices.Contains(kinds, o.Kind)
	}
	o.Reason = d.string()
	o.Status = int(d.varint())
	verdict := d.byte()
	o.Relevant, o.SiteWide, d.bad = verdict > 0, verdict == 2 || verdict == 4, d.bad || verdict > 4
	o.Score = math.Float64frombits(d.uint64())
	o.Bytes = d.varint()
	if at := d.varint(); at != 0 {
		o.At = time.UnixMilli(at).UTC()
	}
	if n := d.count(MaxAddresses); n > 0 {
		o.Addresses = make([]string, n)
		for i := range o.Addresses {
			o.Addresses[i] = d.string()
		}
	}
	o.Dropped = d.counts()
	if verdict > 2 {
		o.Title, o.Evidence = d.string(), d.string()
		d.bad = d.bad || !o.named()
	}
	if len(d.rest) > 0 {
		o.Promise = float64(math.Float32frombits(d.uint32()))
		d.bad = d.bad || !(o.Promise > 0 && o.Promise <= 1)
	}
	return r, d.end()
}

// named tells whether a relevant page has words that are kept of it.
func (o *Outcome) named() bool { return o.Title != "" || o.Evidence != "" }

// trimmed returns o within the bounds of the store.
func (o Outcome) trimmed() Outcome {
	o.Kind, o.Reason = cut(o.Kind, maxReasonLength), cut(o.Reason, maxReasonLength)
	if o.Promise = float64(float32(o.Promise)); !(o.Promise > 0 && o.Promise <= 1) {
		o.Promise = 0
	}
	if o.Title, o.Evidence = cut(o.Title, MaxTitle), cut(o.Evidence, MaxEvidence); !o.Relevant {
		o.Title, o.Evidence = "", ""
	}
	var ids []string
	for _, id := range o.Addresses {
		if len(ids) < MaxAddresses {
			ids = append(ids, cut(id, MaxAddress))
		}
	}
	o.Addresses = ids
	var dropped map[string]int64
	for _, reason := range slices.Sorted(maps.Keys(o.Dropped)) {
		if o.Dropped[reason] > 0 {
			if dropped == nil {
				dropped = make(map[string]int64)
			}
			count(dropped, reason, o.Dropped[reason])
		}
	}
	o.Dropped = dropped
	return o
}

func (o Outcome) weight() int {
	n := 2*perLink + len(o.Title) + len(o.Evidence)
	for _, a := range o.Addresses {
		n += perLink + len(a)
	}
	return n + len(o.Dropped)*maxReasonLength
}

// count adds n to the count of a reason.
func count(m map[string]int64, reason string, n int64) {
	reason = cut(reason, maxReasonLength)
	if _, known := m[reason]; !known && len(m) >= MaxReasons-1 {
		reason = "other"
	}
	m[reason] += n
}

// encodeTotals returns the record of totals; groups is the number of groups
// stored, seed the store's.
func encodeTotals(t *Totals, groups, seed uint64) []byte {
	b := append(make([]byte, 0, 256), version)
	b = binary.AppendUvarint(b, groups)
	b = binary.AppendUvarint(b, seed)
	for _, n := range t.numbers() {
		b = binary.AppendVarint(b, *n)
	}
	b = appendCounts(b, t.Errors)
	b = appendCounts(b, t.Skipped)
	return appendCounts(b, t.Dropped)
}

func decodeTotals(value []byte) (t Totals, groups, seed uint64, err error) {
	d := decoder{rest: value}
	d.version()
	groups, seed = d.uvarint(), d.uvarint()
	for _, n := range t.numbers() {
		*n = d.varint()
	}
	t.Errors, t.Skipped, t.Dropped = d.counts(), d.counts(), d.counts()
	return t, groups, seed, d.end()
}

// numbers are the stored counts, in their order.
func (t *Totals) numbers() []*int64 {
	return []*int64{&t.Queued, &t.Visited, &t.Pages, &t.Redirects, &t.Relevant, &t.Addresses, &t.Bytes, &t.Links, &t.Repeats, &t.Damaged}
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendCounts(b []byte, m map[string]int64) []byte {
	b = binary.AppendUvarint(b, uint64(len(m)))
	for _, reason := range slices.Sorted(maps.Keys(m)) {
		b = appendString(b, reason)
		b = binary.AppendVarint(b, m[reason])
	}
	return b
}

// A decoder reads a record from the front. After the first thing that is not
// there it returns zeros; end tells.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) bytes(n int) []byte {
	if n < 0 || n > len(d.rest) {
		d.bad, d.rest = true, nil
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) version() {
	if d.byte() != version {
		d.bad = true
	}
}

func (d *decoder) byte() byte {
	if b := d.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uint32() uint32 {
	if b := d.bytes(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if b := d.bytes(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (d *decoder) uvarint() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 || size > 1 && d.rest[size-1] == 0 {
		d.bad, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

func (d *decoder) varint() int64 {
	n, size := binary.Varint(d.rest)
	if size <= 0 || size > 1 && d.rest[size-1] == 0 {
		d.bad, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

// count reads a number of at most most.
func (d *decoder) count(most int) int {
	n := d.uvarint()
	if n > uint64(most) {
		d.bad = true
		return 0
	}
	return int(n)
}

func (d *decoder) string() string { return string(d.bytes(d.count(len(d.rest)))) }

func (d *decoder) counts() map[string]int64 {
	n := d.count(MaxReasons)
	if n == 0 {
		return nil
	}
	m := make(map[string]int64, n)
	last := ""
	for i := range n {
		reason := d.string()
		d.bad = d.bad || i > 0 && reason <= last
		m[reason], last = d.varint(), reason
	}
	return m
}

func (d *decoder) end() error {
	if d.bad || len(d.rest) != 0 {
		return errDamaged
	}
	return nil
}

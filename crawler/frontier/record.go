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

	"gazehound/crawler/weburl"
	"gazehound/internal/disk"
	"gazehound/internal/textutil"
)

// version is the first byte of every value; see KEYS.md.
const version = 1

var errDamaged = disk.ErrDamaged

// errForgotten is met where the words of a link were taken out by Forget.
var errForgotten = errors.New("forgotten")

// KeyOf returns the key of u. URLs of one identity (see weburl.URL.Identity) have one key.
func KeyOf(u weburl.URL) Key {
	var k Key
	copy(k[:8], digest(u.Host()))
	copy(k[8:], digest(u.Identity()))
	return k
}

// KeysOf returns the keys of entries. Links of a page mostly stand in the order of their hosts, of
// which each is hashed once.
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

// digest hashes with SHA-256: pages must not be able to make URLs that are taken for one another.
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
var (
	totalsKey = []byte{'t'}
	seedKey   = []byte{'s'}
)

func urlKey(k Key) []byte { return append([]byte{'u'}, k[:]...) }

func hostKey(id uint64) []byte { return binary.BigEndian.AppendUint64([]byte{'h'}, id) }

func visitKey(seq uint64) []byte { return binary.BigEndian.AppendUint64([]byte{'v'}, seq) }

func partKey(host uint64, part string) []byte {
	return append(binary.BigEndian.AppendUint64([]byte{'d'}, host), digest(part)[:8]...)
}

func addressKey(id string) []byte { return append([]byte{'a'}, digest(id)[:12]...) }

func queueKey(host uint64, p place) []byte {
	k := append(make([]byte, 0, 21), 'q')
	k = binary.BigEndian.AppendUint64(k, host)
	k = binary.BigEndian.AppendUint32(k, p.rank)
	return binary.BigEndian.AppendUint64(k, p.tie)
}

// queueOf is what all keys of the queue of a host begin with.
func queueOf(host uint64) []byte { return queueKey(host, place{})[:9] }

// placeOf returns the place in a key of the queue.
func placeOf(key []byte) (p place, ok bool) {
	if len(key) != 21 {
		return p, false
	}
	return place{binary.BigEndian.Uint32(key[9:]), binary.BigEndian.Uint64(key[13:])}, true
}

// idOf returns the number in the key of a host or a visit.
func idOf(key []byte) uint64 { return binary.BigEndian.Uint64(key[1:]) }

// A place is a position in the order of the queue; the smallest is the first to be served.
type place struct {
	rank uint32 // of the priority, see rankOf
	tie  uint64 // decides between equal priorities, see tieOf
}

var nowhere = place{math.MaxUint32, math.MaxUint64}

func (a place) before(b place) bool {
	return a.rank < b.rank || a.rank == b.rank && a.tie < b.tie
}

func (a place) compare(b place) int {
	switch {
	case a == b:
		return 0
	case a.before(b):
		return -1
	}
	return 1
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

// finite returns p as a float32 that is a number.
func finite(p float64) float32 {
	if p != p {
		return 0
	}
	return float32(max(-math.MaxFloat32, min(p, math.MaxFloat32)))
}

// tieOf mixes the hash of a URL with the seed (SplitMix64's finaliser, which can be undone). So the
// order among equals is another one with every seed, and the tie names the URL.
func tieOf(seed, url uint64) uint64 {
	x := url ^ seed*golden
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// urlOf undoes tieOf.
func urlOf(seed, tie uint64) uint64 {
	x := (tie ^ tie>>31 ^ tie>>62) * 0x319642B2D24D8EC3
	x = (x ^ x>>27 ^ x>>54) * 0x96DE1B173F119089
	return x ^ x>>30 ^ x>>60 ^ seed*golden
}

const golden = 0x9E3779B97F4A7C15

// newDecoder begins to read a value.
func newDecoder(value []byte) disk.Decoder {
	d := disk.Decode(value)
	if d.Byte() != version {
		d.Fail()
	}
	return d
}

// A urlRecord is what the store knows under the key of a URL.
type urlRecord struct {
	state    State
	rank     uint32 // queued: of its place in the queue
	distance int    // queued
	retries  int    // queued
	seq      uint64 // visited
}

// outdoes tells whether another link to the URL, of this rank and distance, changes nothing.
func (r urlRecord) outdoes(rank uint32, distance int) bool {
	return r.state == Visited || rank > r.rank || rank == r.rank && distance >= r.distance
}

func (r urlRecord) encode() []byte {
	b := append(make([]byte, 0, 16), version, byte(r.state))
	if r.state == Visited {
		return binary.AppendUvarint(b, r.seq)
	}
	b = binary.BigEndian.AppendUint32(b, r.rank)
	b = binary.AppendUvarint(b, uint64(r.distance))
	return binary.AppendUvarint(b, uint64(r.retries))
}

func decodeURL(value []byte) (r urlRecord, err error) {
	d := newDecoder(value)
	switch r.state = State(d.Byte()); r.state {
	case Visited:
		r.seq = d.Uvarint()
	case Queued:
		r.rank = d.Uint32()
		r.distance, r.retries = d.Int(math.MaxInt32), d.Int(math.MaxInt32)
	default:
		d.Fail()
	}
	return r, d.Err()
}

// A hostRecord sums up the URLs of a host. best is no worse than its best queued entry.
type hostRecord struct {
	queued, total uint32
	best          place
}

func (r hostRecord) encode() []byte {
	b := append(make([]byte, 0, 24), version)
	b = binary.AppendUvarint(b, uint64(r.queued))
	b = binary.AppendUvarint(b, uint64(r.total))
	b = binary.BigEndian.AppendUint32(b, r.best.rank)
	return binary.BigEndian.AppendUint64(b, r.best.tie)
}

func decodeHost(value []byte) (r hostRecord, err error) {
	d := newDecoder(value)
	r.queued, r.total = uint32(d.Int(math.MaxUint32)), uint32(d.Int(math.MaxUint32))
	r.best = place{d.Uint32(), d.Uint64()}
	return r, d.Err()
}

func encodeNumber(n uint64) []byte { return binary.AppendUvarint([]byte{version}, n) }

func decodeNumber(value []byte) (uint64, error) {
	d := newDecoder(value)
	n := d.Uvarint()
	return n, d.Err()
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
		e.Anchor, e.Title, e.Around = textutil.ClipBytes(e.Anchor, MaxAnchor), textutil.ClipBytes(e.Title, MaxAnchor), textutil.ClipBytes(e.Around, MaxAround)
		e.Depth, e.Distance = clamp(e.Depth, math.MaxInt32), clamp(e.Distance, math.MaxInt32)
		e.Redirects, e.Retries = clamp(e.Redirects, 255), clamp(e.Retries, 255)
		links[i] = link{e, keys[i]}
	}
	return links, nil
}

func clamp(n, most int) int { return max(0, min(n, most)) }

// perLink is about what a link costs in a transaction beside its words.
const perLink = 200

func weigh(links []link) int {
	n := 0
	for i := range links {
		l := &links[i]
		n += perLink + len(l.URL.String()) + len(l.Anchor) + len(l.Title) + len(l.Around)
	}
	return n
}

// Bits of the first byte of a link.
const (
	linkSwitch = 1 << iota
	linkSitemap
	linkFound
	linkParent
)

// appendLink appends all of an entry but its priority.
func appendLink(b []byte, e *Entry) []byte {
	var flags byte
	if e.Switch {
		flags |= linkSwitch
	}
	if e.Sitemap {
		flags |= linkSitemap
	}
	if !e.Found.IsZero() {
		flags |= linkFound
	}
	if !e.Parent.IsZero() {
		flags |= linkParent
	}
	b = append(b, flags)
	for _, n := range [...]int{e.Depth, e.Distance, e.Redirects, e.Retries} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	if flags&linkFound != 0 {
		b = binary.AppendVarint(b, e.Found.Unix())
	}
	if flags&linkParent != 0 {
		b = append(b, e.Parent[:]...)
	}
	for _, s := range [...]string{e.URL.String(), e.Anchor, e.Title, e.Around} {
		b = disk.AppendString(b, s)
	}
	return b
}

// decodeLink returns the entry that appendLink wrote. One that was forgotten has no URL; its error
// is errForgotten.
func decodeLink(b []byte) (e Entry, err error) {
	d := disk.Decode(b)
	flags := d.Byte()
	e.Switch, e.Sitemap = flags&linkSwitch != 0, flags&linkSitemap != 0
	for _, n := range [...]*int{&e.Depth, &e.Distance, &e.Redirects, &e.Retries} {
		*n = d.Int(math.MaxInt32)
	}
	if flags&linkFound != 0 {
		e.Found = time.Unix(d.Varint(), 0).UTC()
	}
	if flags&linkParent != 0 {
		copy(e.Parent[:], d.Next(len(e.Parent)))
	}
	raw := d.String()
	e.Anchor, e.Title, e.Around = d.String(), d.String(), d.String()
	if err := d.Err(); err != nil {
		return Entry{}, err
	}
	if raw == "" {
		return e, errForgotten
	}
	if e.URL, err = weburl.Parse(raw); err != nil {
		return Entry{}, errDamaged
	}
	return e, nil
}

// encodeQueued returns the value of a place in the queue.
func encodeQueued(e *Entry) []byte {
	return appendLink(append(make([]byte, 0, 64+len(e.URL.String())+len(e.Anchor)+len(e.Around)), version), e)
}

func decodeQueued(value []byte) (Entry, error) {
	if len(value) == 0 || value[0] != version {
		return Entry{}, errDamaged
	}
	return decodeLink(value[1:])
}

// A visitRecord is a visited URL of the crawl tree.
type visitRecord struct {
	rank    uint32
	link    []byte // of appendLink
	outcome Outcome
}

func (r visitRecord) encode() []byte {
	o := &r.outcome
	b := append(make([]byte, 0, 128+len(r.link)), version)
	b = binary.BigEndian.AppendUint32(b, r.rank)
	b = disk.AppendString(b, string(r.link))
	b = disk.AppendString(b, o.Kind)
	b = disk.AppendString(b, o.Reason)
	b = binary.AppendVarint(b, int64(o.Status))
	relevant := byte(0)
	if o.Relevant {
		relevant = 1
		if o.SiteWide {
			relevant = 2
		}
	}
	b = append(b, relevant)
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(o.Score))
	b = binary.BigEndian.AppendUint32(b, math.Float32bits(float32(o.LinkValue)))
	b = binary.AppendVarint(b, o.Bytes)
	var at int64
	if !o.At.IsZero() {
		at = o.At.UnixMilli()
	}
	b = binary.AppendVarint(b, at)
	b = disk.AppendString(b, o.Title)
	b = disk.AppendString(b, o.Evidence)
	b = disk.AppendStrings(b, o.Addresses)
	return appendCounts(b, o.Dropped)
}

func decodeVisit(value []byte) (r visitRecord, err error) {
	d := newDecoder(value)
	r.rank = d.Uint32()
	r.link = slices.Clone(d.Bytes())
	o := &r.outcome
	o.Kind, o.Reason = d.String(), d.String()
	o.Status = int(d.Varint())
	relevant := d.Byte()
	o.Relevant, o.SiteWide = relevant > 0, relevant == 2
	o.Score, o.LinkValue = d.Float64(), float64(d.Float32())
	o.Bytes = d.Varint()
	if at := d.Varint(); at != 0 {
		o.At = time.UnixMilli(at).UTC()
	}
	o.Title, o.Evidence = d.String(), d.String()
	o.Addresses = d.Strings()
	o.Dropped = decodeCounts(&d)
	return r, d.Err()
}

// trimmed returns o within the bounds of the store.
func (o Outcome) trimmed() Outcome {
	o.Kind, o.Reason = textutil.ClipBytes(o.Kind, maxReasonLength), textutil.ClipBytes(o.Reason, maxReasonLength)
	if math.IsNaN(o.Score) || math.IsInf(o.Score, 0) {
		o.Score = 0
	}
	if o.LinkValue = float64(float32(o.LinkValue)); !(o.LinkValue > 0 && o.LinkValue <= 1) {
		o.LinkValue = 0
	}
	if o.Title, o.Evidence = textutil.ClipBytes(o.Title, MaxTitle), textutil.ClipBytes(o.Evidence, MaxEvidence); !o.Relevant {
		o.Title, o.Evidence = "", ""
	}
	var ids []string
	for _, id := range o.Addresses[:min(len(o.Addresses), MaxAddresses)] {
		ids = append(ids, textutil.ClipBytes(id, MaxAddress))
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

// count adds n to the count of a reason.
func count(m map[string]int64, reason string, n int64) {
	reason = textutil.ClipBytes(reason, maxReasonLength)
	if _, known := m[reason]; !known && len(m) >= MaxReasons-1 {
		reason = "other"
	}
	m[reason] += n
}

func (t *Totals) encode() []byte {
	b := append(make([]byte, 0, 256), version)
	for _, n := range t.stored() {
		b = binary.AppendVarint(b, *n)
	}
	b = appendCounts(b, t.Errors)
	b = appendCounts(b, t.Skipped)
	return appendCounts(b, t.Dropped)
}

func decodeTotals(value []byte) (t Totals, err error) {
	d := newDecoder(value)
	for _, n := range t.stored() {
		*n = d.Varint()
	}
	t.Errors, t.Skipped, t.Dropped = decodeCounts(&d), decodeCounts(&d), decodeCounts(&d)
	return t, d.Err()
}

// stored are the counts that are stored, in their order.
func (t *Totals) stored() []*int64 {
	return []*int64{
		&t.Queued, &t.Visited, &t.Pages, &t.Redirects, &t.Relevant, &t.Addresses, &t.Bytes, &t.Links,
		&t.Repeats, &t.Damaged,
	}
}

func appendCounts(b []byte, m map[string]int64) []byte {
	b = binary.AppendUvarint(b, uint64(len(m)))
	for _, reason := range slices.Sorted(maps.Keys(m)) {
		b = disk.AppendString(b, reason)
		b = binary.AppendVarint(b, m[reason])
	}
	return b
}

func decodeCounts(d *disk.Decoder) map[string]int64 {
	n := d.Int(MaxReasons)
	if n == 0 {
		return nil
	}
	m := make(map[string]int64, n)
	for range n {
		reason := d.String()
		m[reason] = d.Varint()
	}
	return m
}

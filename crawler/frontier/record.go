package frontier

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"gazehound/crawler/weburl"
	"gazehound/internal/textutil"
)

// errForgotten is the error of reading a link that Forget has removed.
var errForgotten = errors.New("forgotten")

// KeyOf returns the key of u. URLs of one identity (see weburl.URL.Identity) have one key.
func KeyOf(u weburl.URL) Key {
	var k Key
	copy(k[:8], digest(u.Host()))
	copy(k[8:], digest(u.Identity()))
	return k
}

// KeysOf returns the keys of entries.
func KeysOf(es []Entry) []Key {
	keys := make([]Key, len(es))
	for i := range es {
		keys[i] = KeyOf(es[i].URL)
	}
	return keys
}

// digest hashes with SHA-256, so that pages cannot make colliding URLs.
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

// MarshalText returns k in hexadecimal.
func (k Key) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, k[:]), nil }

// UnmarshalText undoes MarshalText.
func (k *Key) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(k) {
		return fmt.Errorf("%.40q is not the key of a page", text)
	}
	copy(k[:], b)
	return nil
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

// queueOf returns the prefix of the keys of a host's queue.
func queueOf(host uint64) []byte { return queueKey(host, place{})[:9] }

// placeOf returns the place in a key of the queue.
func placeOf(key []byte) place {
	return place{binary.BigEndian.Uint32(key[9:]), binary.BigEndian.Uint64(key[13:])}
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
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.tie, b.tie))
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

// tie returns what decides between k and entries of equal priority: the lowest is served first.
func (f *Frontier) tie(k Key) uint64 {
	if f.found != nil {
		return f.found.of(k.url())
	}
	return tieOf(f.seed, k.url())
}

// urlOf returns the hash of the URL of a tie.
func (f *Frontier) urlOf(tie uint64) uint64 {
	if f.found != nil {
		return f.found.url(tie)
	}
	return urlOf(f.seed, tie)
}

// encode returns v as JSON, the form of most records.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // which makes six bytes of each & in a URL
	err := e.Encode(v)
	return b.Bytes(), err
}

// decode undoes encode.
func decode[T any](value []byte) (v T, err error) {
	err = json.Unmarshal(value, &v)
	if err != nil {
		err = fmt.Errorf("%w: a record cannot be read: %w", ErrDamaged, err)
	}
	return v, err
}

// fixed returns numbers, or a struct of them, with fixed length: the form of the most frequent
// records.
func fixed(v any) []byte {
	b, err := binary.Append(nil, binary.BigEndian, v)
	if err != nil {
		panic(err) // a record has a field that is no number
	}
	return b
}

// decodeFixed undoes fixed.
func decodeFixed[T any](value []byte) (v T, err error) {
	n, err := binary.Decode(value, binary.BigEndian, &v)
	if err != nil || n != len(value) {
		err = fmt.Errorf("%w: a record has %d bytes, not %d", ErrDamaged, len(value), binary.Size(v))
	}
	return v, err
}

// A urlRecord is the record of a URL.
type urlRecord struct {
	State    State
	Rank     uint32 // queued: of its place in the queue
	Distance uint32 // queued or parked
	Retries  uint8  // queued or parked
	Seq      uint64 // visited: the number of the visit; parked: the id of its pattern
}

// outdoes reports whether another link to the URL, which is known, changes nothing.
func (r urlRecord) outdoes(e *Entry) bool {
	switch {
	case r.State == Visited || e.Parked != "":
		return true
	case r.State == Parked: // the link releases it
		return false
	}
	rank := rankOf(finite(e.Priority))
	return rank > r.Rank || rank == r.Rank && e.Distance >= int(r.Distance)
}

// A hostRecord sums up the URLs of a host. No queued entry has a better place than Rank and Tie.
type hostRecord struct {
	Queued, Total, Rank uint32
	Tie                 uint64
}

func (r hostRecord) best() place { return place{r.Rank, r.Tie} }

// A link is an entry to be stored.
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
		e.Anchor, e.Title = textutil.ClipBytes(e.Anchor, MaxAnchor), textutil.ClipBytes(e.Title, MaxAnchor)
		e.Around, e.Found = textutil.ClipBytes(e.Around, MaxAround), e.Found.UTC().Truncate(time.Second)
		e.Place = textutil.ClipBytes(e.Place, MaxPlace)
		e.Depth, e.Distance = clamp(e.Depth, math.MaxInt32), clamp(e.Distance, math.MaxInt32)
		e.Redirects, e.Retries = clamp(e.Redirects, 255), clamp(e.Retries, 255)
		links[i] = link{e, keys[i]}
	}
	return links, nil
}

func clamp(n, most int) int { return max(0, min(n, most)) }

// decodeLink returns the entry of a place in the queue or of a visit, without its priority. One that
// was forgotten has no URL; its error is errForgotten.
func decodeLink(value []byte) (e Entry, err error) {
	e, err = decode[Entry](value)
	if err == nil && e.URL.IsZero() {
		err = errForgotten
	}
	return e, err
}

// A visitRecord is a visited URL of the crawl tree.
type visitRecord struct {
	Rank    uint32
	Link    Entry // without URL and words if it was forgotten
	Outcome Outcome
}

// trimmed returns o within the bounds of the store.
func (o Outcome) trimmed() Outcome {
	o.Kind = Kind(textutil.ClipBytes(string(o.Kind), maxReasonLength))
	o.Reason = textutil.ClipBytes(o.Reason, maxReasonLength)
	o.At = o.At.UTC().Truncate(time.Millisecond)
	if math.IsNaN(o.Score) || math.IsInf(o.Score, 0) {
		o.Score = 0
	}
	if !(o.LinkValue > 0 && o.LinkValue <= 1) {
		o.LinkValue = 0
	}
	o.Title, o.Evidence = textutil.ClipBytes(o.Title, MaxTitle), textutil.ClipBytes(o.Evidence, MaxEvidence)
	if !o.Relevant {
		o.Title, o.Evidence, o.SiteWide = "", "", false
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

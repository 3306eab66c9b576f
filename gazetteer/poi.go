package gazetteer

import (
	"bytes"
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// Keys of points of interest. Both end with the ID of the object.
const (
	poiWordKey = "w" // word of a name, ID → the POI
	poiTagKey  = "k" // tag that says what it is, ID → the POI
)

// Bounds of points of interest.
const (
	maxPOIWords = 16   // of all names of one
	maxPOIs     = 5000 // that one question reads
)

// addPOI writes a point of interest, under the words of its names and its tags.
func (c *compiler) addPOI(p *Place) error {
	var keys [][]byte
	for _, word := range poiWords(p.Names) {
		keys = append(keys, joinKey(poiWordKey, word, p.ID))
	}
	for _, tag := range p.Object.Tags {
		if what, _, _ := strings.Cut(tag, "="); slices.Contains(poiKeys, what) {
			keys = append(keys, joinKey(poiTagKey, tag, p.ID))
		}
	}
	return c.record(func(record *codec) {
		record.place(p)
		record.object(p.Object)
	}, keys...)
}

// poiKeys are the keys of tags by which points of interest are found.
var poiKeys = []string{"amenity", "shop", "tourism", "office", "craft", "healthcare", "leisure", "historic", "club",
	"railway", "public_transport"}

// IsPOIKey reports whether a tag of this key says what a point of interest is.
func IsPOIKey(key string) bool { return slices.Contains(poiKeys, key) }

// poiWords returns the folded words of names, and the whole names in one word, each once.
func poiWords(names []string) (words []string) {
	add := func(word string) {
		word = Key(word)
		if word != "" && !slices.Contains(words, word) && len(words) < maxPOIWords {
			words = append(words, word)
		}
	}
	for _, name := range names {
		for word := range strings.FieldsFuncSeq(name, isWordBreak) {
			add(word)
		}
		add(name)
	}
	return words
}

// A POIQuery asks for points of interest: named places of the map that are no address. All parts
// that are given must fit.
type POIQuery struct {
	Words []string   // all in the names; the last may be the start of a word
	Tags  []string   // one of them: "shop=bakery", or several that go together, "amenity=restaurant cuisine=thai"
	Near  *orb.Point // lon, lat: the nearest come first
	Fits  func(*Place) bool
	Limit int // at least 1
}

// POIs returns points of interest, each with its Object: those that are named by the words alone
// first, then by name, or the nearest first. It reads at most some thousand of those that the first
// word or the tags lead to.
func (g *Gazetteer) POIs(q POIQuery) (found []Place) {
	type ranked struct {
		place *Place
		key   float64 // the distance in metres or the words of the name, the least first
	}
	var all []ranked
	for _, off := range slices.Sorted(maps.Keys(g.poiOffsets(q))) { // as they lie in the file
		p, ok := g.poi(off)
		if !ok || !p.fits(q) {
			continue
		}
		one := ranked{place: &p}
		switch {
		case q.Near != nil:
			one.key = geo.Distance(*q.Near, p.Point)
		case len(q.Words) > 0:
			one.key = float64(len(poiWords(p.Names[:1])))
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.key, b.key), strings.Compare(a.place.Names[0], b.place.Names[0]),
			strings.Compare(a.place.ID, b.place.ID))
	})
	for _, one := range all[:min(len(all), q.Limit)] {
		found = append(found, *one.place)
	}
	return found
}

// EachPOI yields every point of interest once, with its Object, in the order of their first tags.
func (g *Gazetteer) EachPOI() iter.Seq[Place] {
	return func(yield func(Place) bool) {
		for key, off := range g.each(poiTagKey) {
			tag, _, _ := strings.Cut(strings.TrimPrefix(key, poiTagKey), "\x00")
			p, ok := g.poi(off)
			if !ok {
				continue
			}
			first := slices.IndexFunc(p.Object.Tags, func(t string) bool {
				what, _, _ := strings.Cut(t, "=")
				return IsPOIKey(what)
			})
			if first >= 0 && p.Object.Tags[first] == tag && !yield(p) {
				return
			}
		}
	}
}

// poiOffsets returns where the records are that may fit: by the longest word, or by the tags.
func (g *Gazetteer) poiOffsets(q POIQuery) map[uint64]bool {
	all := map[uint64]bool{}
	take := func(prefix string) {
		for _, off := range g.each(prefix) {
			if len(all) >= maxPOIs {
				return
			}
			all[off] = true
		}
	}
	if len(q.Words) == 0 {
		for _, tags := range q.Tags {
			main, _, _ := strings.Cut(tags, " ")
			take(string(joinKey(poiTagKey, main)))
		}
		return all
	}
	longest := 0
	for i, word := range q.Words {
		if len(word) > len(q.Words[longest]) {
			longest = i
		}
	}
	prefix := joinKey(poiWordKey, Key(q.Words[longest]))
	if longest == len(q.Words)-1 {
		prefix = bytes.TrimSuffix(prefix, []byte{0}) // may be the start of one
	}
	if len(prefix) > len(poiWordKey)+1 {
		take(string(prefix))
	}
	return all
}

// poi reads a point of interest; ok is false where the file is damaged.
func (g *Gazetteer) poi(off uint64) (p Place, ok bool) {
	record := g.at(off)
	p.Object = new(Object)
	record.place(&p)
	record.object(p.Object)
	return p, !record.Failed() && p.Kind == POI && len(p.Names) > 0
}

// fits reports whether a point of interest is one that is asked for.
func (p *Place) fits(q POIQuery) bool {
	if !IsNamed(p.Names, q.Words) {
		return false
	}
	if len(q.Tags) > 0 && !slices.ContainsFunc(q.Tags, p.Object.Is) {
		return false
	}
	return q.Fits == nil || q.Fits(p)
}

// IsNamed reports whether all words are in the names of a place; the last may be the start of one.
func IsNamed(names, words []string) bool {
	if len(words) == 0 {
		return true
	}
	known := poiWords(names)
	for i, word := range words {
		word = Key(word)
		last := i == len(words)-1
		if !slices.ContainsFunc(known, func(k string) bool { return k == word || last && strings.HasPrefix(k, word) }) {
			return false
		}
	}
	return true
}

// Is reports whether an object has some tags, "amenity=restaurant cuisine=thai"; one of several
// values is enough.
func (o *Object) Is(tags string) bool {
	for tag := range strings.FieldsSeq(tags) {
		key, value, _ := strings.Cut(tag, "=")
		has := o.Tag(key)
		values := strings.FieldsFunc(has, func(r rune) bool { return strings.ContainsRune(";, ", r) })
		if has != value && !slices.Contains(values, value) {
			return false
		}
	}
	return true
}

// Tag returns the value of a tag, or "".
func (o *Object) Tag(key string) string {
	for _, tag := range o.Tags {
		if k, value, _ := strings.Cut(tag, "="); k == key {
			return value
		}
	}
	return ""
}

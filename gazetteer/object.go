package gazetteer

import (
	"slices"
	"strings"

	"gazehound/internal/disk"
)

// An Object is a named thing of the map at a house: a shop, an office, a church.
type Object struct {
	ID    string   // of the source: "node/240036"
	Names []string // the usual one first
	Tags  []string // what it is, and when it is open: "amenity=dentist", "opening_hours=Mo-Fr 08:00-18:00"
}

// Bounds of what is kept of objects.
const (
	maxObjects = 100 // at one house
	maxTags    = 16  // of one object
)

// check cuts what is too much, and drops what is no object.
func (o *Object) check() *Object {
	if o == nil || o.ID == "" {
		return nil
	}
	short := func(all []string, most int) (kept []string) {
		for _, s := range all {
			s = strings.ToValidUTF8(s, "")
			if s != "" && len(s) <= maxText && len(kept) < most {
				kept = append(kept, s)
			}
		}
		return kept
	}
	kept := &Object{o.ID, short(o.Names, maxNames), short(o.Tags, maxTags)}
	if len(kept.Names) == 0 || len(kept.Tags) == 0 {
		return nil
	}
	return kept
}

// keyOfObjects is that of the objects at one number of a street.
func keyOfObjects(street *Place, number string) []byte {
	return joinKey(objectKey, append(streetIdentity(street), number)...)
}

// addObject sends the object at a house to the sort.
func (c *compiler) addObject(p *Place) error {
	if p.Object == nil {
		return nil
	}
	for _, number := range numberList(p.HouseNumber) {
		err := c.addFact(keyOfObjects(p, number), func(fact *codec) { fact.object(p.Object) })
		if err != nil {
			return err
		}
	}
	return nil
}

// An objectGroup is the objects at one house.
type objectGroup struct {
	key []byte
	all []Object
}

func (g *objectGroup) add(_, value []byte) error {
	var o Object
	readFrom(value).object(&o)
	if len(g.all) < maxObjects {
		g.all = addObjects(g.all, o)
	}
	return nil
}

func addObjects(all []Object, more ...Object) []Object {
	for _, o := range more {
		if !slices.ContainsFunc(all, func(k Object) bool { return k.ID == o.ID }) {
			all = append(all, o)
		}
	}
	return all
}

func (g *objectGroup) write(c *compiler) error {
	return c.record(func(record *codec) { disk.List(&record.Codec, &g.all, record.object) }, g.key)
}

// Objects returns the named objects at a house that Streets and House returned, at
// most 100 for each number of it.
func (g *Gazetteer) Objects(house Place) (all []Object) {
	if house.Kind != House {
		return nil
	}
	for _, number := range numberList(house.HouseNumber) {
		if record := g.find(keyOfObjects(&house, number)); record != nil {
			var some []Object
			disk.List(&record.Codec, &some, record.object)
			all = addObjects(all, some...)
		}
	}
	return all
}

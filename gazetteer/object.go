package gazetteer

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"gazehound/internal/disk"

	"github.com/blevesearch/vellum"
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
			if s = strings.ToValidUTF8(s, ""); s != "" && len(s) <= maxText && len(kept) < most {
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

func putObject(b []byte, o *Object) []byte {
	return disk.AppendStrings(disk.AppendStrings(putID(b, o.ID), o.Names), o.Tags)
}

func (d *decoder) object() Object {
	return Object{d.id(), d.Strings(), d.Strings()}
}

// objectKey is that of the objects at one number of a street.
func objectKey(street *Place, number string) []byte { return append(unitKey(street), number...) }

// addObject sends the object at a house to the sort.
func (c *compiler) addObject(p *Place) error {
	for _, number := range numberList(p.HouseNumber) {
		if err := c.objects.Add(objectKey(p, number), putObject(nil, p.Object)); err != nil {
			return err
		}
	}
	return nil
}

// writeObjects writes the objects of each house. Where their FST lies is noted in
// the meta section, which a file of before lacks.
func (c *compiler) writeObjects() error {
	var index bytes.Buffer
	fst, err := vellum.New(&index, nil)
	if err != nil {
		return err
	}
	var last []byte
	var group []Object
	finish := func() error {
		if len(group) == 0 {
			return nil
		}
		if err := fst.Insert(last, c.off); err != nil {
			return err
		}
		b := append(c.buf[:0], byte(len(group)))
		for i := range group {
			b = putObject(b, &group[i])
		}
		group, c.buf = nil, b
		return c.write(b)
	}
	err = c.objects.Each(func(key, value []byte) error {
		if !bytes.Equal(key, last) {
			if err := finish(); err != nil {
				return err
			}
			last = slices.Clone(key)
		}
		d := decode(value)
		if o := d.object(); len(group) < maxObjects && !slices.ContainsFunc(group, func(k Object) bool { return k.ID == o.ID }) {
			group = append(group, o)
		}
		return nil
	})
	if err == nil {
		err = finish()
	}
	if err == nil {
		err = fst.Close()
	}
	if err != nil {
		return err
	}
	c.meta.Objects = [2]uint64{c.off, uint64(index.Len())}
	return c.write(index.Bytes())
}

// loadObjects opens the FST of the objects, if there is one.
func (g *Gazetteer) loadObjects() error {
	off, n := g.meta.Objects[0], g.meta.Objects[1]
	if n == 0 {
		return nil
	}
	if off > uint64(len(g.data)) || n > uint64(len(g.data))-off {
		return fmt.Errorf("%w: the objects lie outside the file", ErrDamaged)
	}
	var err error
	if g.objects, err = vellum.Load(g.data[off : off+n : off+n]); err != nil {
		return fmt.Errorf("%w: objects: %w", ErrDamaged, err)
	}
	return nil
}

// Objects returns the named objects at a house that Streets and House returned, at
// most 100 for each number of it.
func (g *Gazetteer) Objects(house Place) (all []Object) {
	if house.Kind != House || g.objects == nil {
		return nil
	}
	for _, number := range numberList(house.HouseNumber) {
		off, ok := g.find(g.objects, string(objectKey(&house, number)))
		if !ok {
			continue
		}
		d := g.at(off)
		for range int(d.Byte()) {
			o := d.object()
			if !d.Failed() && !slices.ContainsFunc(all, func(k Object) bool { return k.ID == o.ID }) {
				all = append(all, o)
			}
		}
	}
	return all
}

package forget

import (
	"sync/atomic"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"
	"gazehound/geoparse"
)

// A Current is the blocklist in force, which may change while a crawl runs. It is safe for
// concurrent use; a nil one is empty.
type Current struct{ list atomic.Pointer[Blocklist] }

// NewCurrent returns a Current with a list.
func NewCurrent(b Blocklist) *Current {
	c := &Current{}
	c.Set(b)
	return c
}

// Set replaces the list.
func (c *Current) Set(b Blocklist) { c.list.Store(&b) }

// List returns the list.
func (c *Current) List() Blocklist {
	if c == nil {
		return Blocklist{}
	}
	return *c.list.Load()
}

// Has is Blocklist.Has.
func (c *Current) Has(u weburl.URL) bool { return c.List().Has(u) }

// HasPage is Blocklist.HasPage.
func (c *Current) HasPage(url string) bool { return c.List().HasPage(url) }

// HasPlace is Blocklist.HasPlace.
func (c *Current) HasPlace(place string) bool { return c.List().HasPlace(place) }

// HasAddress is Blocklist.HasAddress.
func (c *Current) HasAddress(a geoparse.Address) bool { return c.List().HasAddress(a) }

// Names is Blocklist.Names.
func (c *Current) Names(text string) bool { return c.List().Names(text) }

// States is Blocklist.States.
func (c *Current) States(text string) bool { return c.List().States(text) }

// Blank is Blocklist.Blank.
func (c *Current) Blank(text string) string { return c.List().Blank(text) }

// A Node shares the blocklist of a data directory with other nodes.
type Node struct {
	Dir     Dir
	Current *Current
	Learned func(lines []string) // is told of lines of other nodes that were new here
}

// Lines returns the lines of the blocklist.
func (n Node) Lines() (lines []string, err error) {
	missing, err := n.Dir.readBlocked(func(line string) error {
		if line != "" && line[0] != '#' && len(lines) < maxShared {
			lines = append(lines, line)
		}
		return nil
	})
	return append(lines, missing...), err
}

// maxShared bounds the lines that a node gives to others.
const maxShared = 1 << 20

// Add adds lines that are not there, not even commented out.
func (n Node) Add(lines []string) error {
	if _, err := NewBlocklist(lines...); err != nil {
		return err
	}
	fresh, err := n.Dir.block(lines, uncommented)
	if err != nil || len(fresh) == 0 {
		return err
	}
	list, err := n.Dir.Blocklist()
	if err != nil {
		return err
	}
	n.Current.Set(list)
	n.Learned(fresh)
	return nil
}

// Blocks reports whether a link leads to or names what is blocked.
func (n Node) Blocks(e *frontier.Entry) bool {
	return n.Current.Has(e.URL) || n.Current.Names(e.Words())
}

package index

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gazehound/internal/corrections"
)

// correcting is an index whose corrections are in a log.
func correcting(t *testing.T) (*Index, *corrections.Log) {
	t.Helper()
	log, err := corrections.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	x := open(t)
	x.Facts = log.Facts
	return x, log
}

// correct says something of an address an hour after its pages were read, and returns its number.
func correct(t *testing.T, x *Index, log *corrections.Log, id string, what corrections.What, value string) int {
	t.Helper()
	s, err := x.Standing(id)
	if err != nil || s == nil {
		t.Fatalf("%s: %v, %v", id, s, err)
	}
	added, err := log.Add(nil, corrections.Entry{Time: day.Add(time.Hour), Who: corrections.Operator, What: what, Address: id,
		Value: value, Was: s.Said[what], Places: s.Places})
	if err == nil {
		err = x.Correct(t.Context(), []string{id})
	}
	if err != nil {
		t.Fatal(err)
	}
	return added[0].N
}

func undo(t *testing.T, x *Index, log *corrections.Log, id string, n int) {
	t.Helper()
	_, err := log.Add(nil, corrections.Entry{Who: corrections.Operator, What: corrections.Undo, Undoes: n})
	if err == nil {
		err = x.Correct(t.Context(), []string{id})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func idOf(t *testing.T, x *Index, words string) string {
	t.Helper()
	r := find(t, x, Query{Text: words})
	if len(r.Hits) == 0 {
		t.Fatalf("nothing has %q", words)
	}
	return r.Hits[0].ID
}

// Each correction stands on the card and is found by words and filters; recrawls change nothing, and
// what is taken back is as it was.
func TestCorrections(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what  corrections.What
		value string
		shows func(h *Hit) string
		found Query // the hit alone; zero: it is not asked
	}{
		{corrections.Name, "Werkstatt Quendel", func(h *Hit) string { return h.Name }, Query{Text: "quendel"}},
		{corrections.Kind, "shop=books", func(h *Hit) string { return h.Kind }, Query{Filters: Filters{Kind: []string{"shop=books"}}}},
		{corrections.Phone, "+4944199887", func(h *Hit) string { return h.Phone }, Query{Text: "0441 99887"}},
		{corrections.Hours, "Mo-Su 00:00-24:00", func(h *Hit) string { return h.Hours }, Query{}},
		{corrections.Gone, "closed", func(h *Hit) string { return h.Status }, Query{}},
	} {
		x, log := correcting(t)
		put(t, x, town()...)
		id := idOf(t, x, "tischlerei harms")
		before, _ := hitsOf(t, x)
		n := correct(t, x, log, id, c.what, c.value)
		put(t, x, town()...) // read again
		h, err := x.Address(id)
		if err != nil || c.shows(h) != c.value || !slices.Equal(h.Corrected(), []string{property(c.what)}) {
			t.Errorf("%s: %+v, %v", c.what, h, err)
		}
		if q := c.found; q.Text != "" || q.Kind != nil {
			if r := find(t, x, q); len(r.Hits) != 1 || r.Hits[0].ID != id || c.shows(&r.Hits[0]) != c.value {
				t.Errorf("%s: found %q", c.what, names(r))
			}
		}
		undo(t, x, log, id, n)
		after, _ := hitsOf(t, x)
		if !slices.Equal(before, after) {
			t.Errorf("%s: taken back, it is not as it was:\n%s\n%s", c.what, before, after)
		}
	}
}

// What is rejected or private is in no search, count, suggestion or walk, until it is taken back. It
// can be forgotten.
func TestHidden(t *testing.T) {
	t.Parallel()
	for _, what := range []corrections.What{corrections.Reject, corrections.Private} {
		x, log := correcting(t)
		put(t, x, town()...)
		before, _ := hitsOf(t, x)
		id := idOf(t, x, "kaiserstraße 7")
		n := correct(t, x, log, id, what, "")
		put(t, x, town()...)
		if r := find(t, x, Query{Text: "kaiserstraße 7"}); slices.ContainsFunc(r.Hits, func(h Hit) bool { return h.ID == id }) {
			t.Errorf("%s: it is found", what)
		}
		all := find(t, x, Query{Facets: []Facet{ByStreet}})
		stats, err := x.Stats(t.Context())
		if err != nil || all.Total != len(before)-1 || stats.Addresses != len(before)-1 {
			t.Errorf("%s: %d found, %+v, %v; want %d", what, all.Total, stats, err, len(before)-1)
		}
		for _, v := range all.Facets[0].Values {
			if strings.HasPrefix(v.Value, "Kaiser") {
				t.Errorf("%s: a facet counts it", what)
			}
		}
		if s, err := x.Suggest("kaiserstr", 5); err != nil || len(s) > 0 {
			t.Errorf("%s: suggested %v, %v", what, s, err)
		}
		if h, err := x.Address(id); h != nil || err != nil {
			t.Errorf("%s: its page is there, %v", what, err)
		}
		s, err := x.Standing(id)
		if err != nil || s == nil || !s.Hidden {
			t.Fatalf("%s: %+v, %v", what, s, err)
		}
		gone, err := x.Affected(t.Context(), nil, func(place string) bool { return slices.Contains(s.Places, place) })
		if err != nil || gone.Addresses != 1 {
			t.Errorf("%s: forget would remove %+v, %v", what, gone, err)
		}
		undo(t, x, log, id, n)
		if after, _ := hitsOf(t, x); !slices.Equal(before, after) {
			t.Errorf("%s: taken back, it is not as it was", what)
		}
	}
}

// A correction wins until a page that is read later says something new, and not what pages said
// before or what the person says.
func TestContradicted(t *testing.T) {
	t.Parallel()
	const url, street = "https://cafe-kaiser.example/", "{Kaiserstraße 7, 26122 Oldenburg|8.2200 53.1430}"
	later := func(url, name, hours string) Document {
		d := page(url, name, "de", name+"\n"+street)
		d.Addresses[0].Hours, d.Addresses[0].Phone, d.Fetched = hours, "+4944111", day.Add(2*time.Hour)
		return d
	}
	for name, c := range map[string]struct {
		what         corrections.What
		value        string
		next         Document
		contradicted bool
	}{
		"the old name again":       {corrections.Name, "Kaffeehaus Anders", later(url, "Café am Kaiser", "Mo 10:00-12:00"), false},
		"the name of the person":   {corrections.Name, "Kaffeehaus Anders", later(url, "Kaffeehaus Anders", "Mo 10:00-12:00"), false},
		"a third name":             {corrections.Name, "Kaffeehaus Anders", later(url, "Blumen Ritter", "Mo 10:00-12:00"), true},
		"the old hours again":      {corrections.Hours, "Tu 10:00-12:00", later(url, "Café am Kaiser", "Mo 10:00-12:00"), false},
		"other hours":              {corrections.Hours, "Tu 10:00-12:00", later(url, "Café am Kaiser", "We 10:00-12:00"), true},
		"nothing new to confirm":   {corrections.Confirm, "", later(url, "Café am Kaiser", "Mo 10:00-12:00"), false},
		"a confirmed name changes": {corrections.Confirm, "", later(url, "Blumen Ritter", "Mo 10:00-12:00"), true},
		"rejected, the same site":  {corrections.Reject, "", later(url, "Café am Kaiser", "Mo 10:00-12:00"), false},
		"rejected, another site":   {corrections.Reject, "", later("https://blumen.example/", "Blumen Ritter", ""), true},
		"private, another site":    {corrections.Private, "", later("https://blumen.example/", "Blumen Ritter", ""), false},
		"gone, another site":       {corrections.Gone, "moved", later("https://blumen.example/", "Blumen Ritter", ""), true},
	} {
		x, log := correcting(t)
		first := later(url, "Café am Kaiser", "Mo 10:00-12:00")
		first.Fetched = day
		put(t, x, first)
		id := idOf(t, x, "kaiserstraße 7")
		correct(t, x, log, id, c.what, c.value)
		put(t, x, c.next)
		s, err := x.Standing(id)
		if err != nil || s == nil || len(s.Hit.Facts) != 1 || s.Hit.Facts[0].Contradicted != c.contradicted {
			t.Errorf("%s: %+v, %v", name, s, err)
			continue
		}
		hides := c.what == corrections.Reject || c.what == corrections.Private
		if h, err := x.Address(id); err != nil || (h == nil) != (hides && !c.contradicted) {
			t.Errorf("%s: the card %v, %v", name, h, err)
		}
	}
}

// Corrections of an address that no page states yet count when one does, as after a replay.
func TestCorrectionComesFirst(t *testing.T) {
	x, log := correcting(t)
	put(t, x, town()...)
	id := idOf(t, x, "kaiserstraße 7")
	correct(t, x, log, id, corrections.Name, "Kaffeehaus Anders")
	again := open(t)
	again.Facts = log.Facts
	if err := again.Correct(t.Context(), []string{id, "ffffffffffffffff", "pffffffffffffffff"}); err != nil {
		t.Fatal(err)
	}
	put(t, again, town()...)
	if h, err := again.Address(id); err != nil || h.Name != "Kaffeehaus Anders" {
		t.Errorf("%+v, %v", h, err)
	}
	forgotten := func(text string) bool { return strings.Contains(text, "Anders") }
	again.Facts = nil // they are out of the log
	if _, err := again.Forget(t.Context(), nil, nil, forgotten); err != nil {
		t.Fatal(err)
	}
	if h, err := again.Address(id); err != nil || h.Name != "Café am Kaiser" {
		t.Errorf("forgotten: %+v, %v", h, err)
	}
}

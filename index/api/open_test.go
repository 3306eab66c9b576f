package api

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"gazehound/index"
	"gazehound/internal/localtime"
)

// What is open is said on the card and can be chosen; where nothing is, the page says what opens
// next. The time is that of the region.
func TestOpenNow(t *testing.T) {
	x, err := index.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	for i, hours := range []string{"Mo-Fr 08:00-18:00", "Mo-Sa 09:00-13:00"} {
		d := shops[2*i].document()
		d.Addresses[0].Hours = hours
		if err := x.Put(context.Background(), d); err != nil {
			t.Fatal(err)
		}
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ now, query, want, not string }{
		{"2026-11-27T07:30:00Z", "q=tischlerei", "open until 18:00", ""}, // 8:30 in the region
		{"2026-11-27T07:30:00Z", "q=tischlerei", "closed, opens 09:00", "Nothing"},
		{"2026-11-27T07:30:00Z", "q=tischlerei&open=now", "1 address", "closed, opens"},
		{"2026-11-28T20:00:00Z", "q=tischlerei&open=now", "Nothing is known to be open then. Next: <a", "Check the spelling"},
		{"2026-11-28T20:00:00Z", "q=tischlerei&open=now", "Tischlerei Harms, opens Monday 08:00", ""},
		{"2026-11-28T20:00:00Z", "q=tischlerei open monday 10:00", "open on Monday 10:00", "Nothing"},
		{"2026-12-25T09:00:00Z", "q=tischlerei", "public holiday today", "open until"},
		{"2026-12-25T09:00:00Z", "q=tischlerei&open=now", "Next:", "open until"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		o := options()
		o.Clock = func() localtime.Clock { return localtime.Clock{Zone: berlin, Country: "DE", Fixed: now} }
		v, _ := url.ParseQuery(c.query)
		r, body := get(Handler(x, o), "/?lang=en&"+v.Encode())
		if r.StatusCode != http.StatusOK || !strings.Contains(body, c.want) || c.not != "" && strings.Contains(body, c.not) {
			i := strings.Index(body, "<main>")
			t.Errorf("%s at %s: %d, want %q and not %q in %.1500s", c.query, c.now, r.StatusCode, c.want, c.not, body[max(i, 0):])
		}
	}
	if r, body := get(Handler(x, options()), "/v1/search?open=sometime"); r.StatusCode != 400 || !strings.Contains(body, "monday 10:00") {
		t.Errorf("%d %s", r.StatusCode, body)
	}
}

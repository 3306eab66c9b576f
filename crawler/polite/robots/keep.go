package robots

import (
	"encoding/json"
	"time"

	"gazehound/crawler/weburl"
)

// A kept is what is stored of a site, so that a restart does not ask every
// host again and does not forget which of them could not be reached.
type kept struct {
	Version int       `json:"version"`
	Agent   string    `json:"agent"`
	At      time.Time `json:"at"`    // when it was stored
	Until   time.Time `json:"until"` // when to ask again
	Failure string    `json:"failure,omitempty"`
	Fails   int       `json:"fails,omitempty"`
	Next    string    `json:"next,omitempty"` // where a redirect led
	Hops    int       `json:"hops,omitempty"`

	Rules    bool          `json:"rules"` // are known
	Plain    []keptRule    `json:"plain,omitempty"`
	Wild     []keptRule    `json:"wild,omitempty"`
	Delay    time.Duration `json:"delay,omitempty"`
	Note     string        `json:"note,omitempty"`
	Sitemaps []string      `json:"sitemaps,omitempty"`
}

type keptRule struct {
	Pattern string `json:"p"`
	Allow   bool   `json:"a,omitempty"`
}

const (
	keptVersion = 1
	maxKept     = 128 << 10 // bytes; larger rules are fetched again
)

// keep stores what is known of s. What cannot be stored is fetched again after
// a restart, and a host that did not answer at all is asked again.
func (c *Cache) keep(s *site) {
	past := s.past()
	if c.options.Save == nil || past.err != nil {
		return
	}
	k := kept{Version: keptVersion, Agent: c.options.Agent, At: time.Now().UTC().Round(0), Until: s.until.UTC().Round(0), Failure: past.failure, Fails: past.fails, Hops: past.hops}
	if !past.next.IsZero() {
		k.Next = past.next.String()
	}
	if r := s.rules; r != nil {
		k.Rules, k.Delay, k.Note, k.Sitemaps = true, r.delay, r.note, r.sitemaps
		for _, x := range r.plain {
			k.Plain = append(k.Plain, keptRule{x.pattern, x.allow})
		}
		for _, x := range r.wild {
			k.Wild = append(k.Wild, keptRule{x.pattern, x.allow})
		}
	}
	data, err := json.Marshal(k)
	if err == nil && len(data) <= maxKept {
		c.options.Save(s.key, data)
	}
}

// recall fills s, of which nothing is known, with what was stored. Nothing is
// believed for longer than it would be if it had come just now, wherever the
// clock stands.
func (c *Cache) recall(s *site) {
	s.recalled = true
	if c.options.Load == nil {
		return
	}
	data := c.options.Load(s.key)
	var k kept
	if len(data) == 0 || json.Unmarshal(data, &k) != nil || k.Version != keptVersion || k.Agent != c.options.Agent {
		return
	}
	now := time.Now()
	longest := c.options.TTL
	if k.Failure != "" {
		longest = c.options.RetryMax
	}
	left := min(k.Until.Sub(now), k.Until.Sub(k.At), longest)
	past := trouble{failure: k.Failure, fails: min(max(k.Fails, 0), 1000)}
	if k.Next != "" {
		next, err := weburl.Parse(k.Next)
		if err != nil || k.Hops < 0 || k.Hops > maxHops {
			return
		}
		past.next, past.hops, left = next, k.Hops, 0
	}
	s.until = now.Add(max(left, 0))
	if past != (trouble{}) {
		s.trouble = &past
	}
	if !k.Rules {
		return
	}
	s.rules = &rules{delay: min(max(k.Delay, 0), c.options.MaxDelay), note: k.Note, sitemaps: k.Sitemaps}
	for _, x := range k.Plain {
		s.rules.plain = append(s.rules.plain, rule{x.Pattern, x.Allow})
	}
	for _, x := range k.Wild {
		s.rules.wild = append(s.rules.wild, rule{x.Pattern, x.Allow})
	}
}

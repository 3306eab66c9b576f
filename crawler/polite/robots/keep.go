package robots

import (
	"encoding/json"
	"time"
)

// A kept is the stored state of a site, so that a restart need not fetch every robots.txt again and
// remembers which hosts were unreachable.
type kept struct {
	Version int       `json:"version"`
	Agent   string    `json:"agent"`
	At      time.Time `json:"at"`    // when it was stored
	Until   time.Time `json:"until"` // when to fetch again
	Failure string    `json:"failure,omitempty"`
	Fails   int       `json:"fails,omitempty"`

	Rules *rules `json:"rules,omitempty"` // null: not known
}

const (
	keptVersion = 3
	maxKept     = 128 << 10 // bytes; larger rules are fetched again
)

// keep stores the state of s. If that fails, rules are fetched again after a restart, as are those
// of hosts that did not answer, or whose robots.txt has moved and was not fetched yet.
func (c *Cache) keep(s *site) {
	if c.options.Save == nil || s.err != nil || !s.next.IsZero() {
		return
	}
	k := kept{
		Version: keptVersion, Agent: c.options.Agent, At: time.Now().UTC().Round(0), Until: s.until.UTC().Round(0),
		Failure: s.failure, Fails: s.fails, Rules: s.rules,
	}
	data, err := json.Marshal(k)
	if err == nil && len(data) <= maxKept {
		c.options.Save(s.key, data)
	}
}

// recall fills s with its stored state. Whatever the clock says, it is valid no longer than if it
// had been fetched now.
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
	s.failure, s.fails = k.Failure, min(max(k.Fails, 0), 1000)
	s.until = now.Add(max(left, 0))
	s.rules = k.Rules
	if s.rules != nil {
		s.rules.Delay = min(max(s.rules.Delay, 0), c.options.MaxDelay)
	}
}

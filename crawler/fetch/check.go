package fetch

import (
	"context"
	"time"

	"gazehound/crawler/weburl"
	"gazehound/internal/check"
)

// checkSize bounds what Check reads of a page, in bytes.
const checkSize = 512 << 10

// Check requests a URL and returns an error for status 500 and above, with must also for 400 and
// above; do is the advice in the error.
func (c *Client) Check(ctx context.Context, what, url string, must bool, do string) check.Finding {
	const name = "network"
	u, err := weburl.Parse(url)
	if err != nil {
		return check.Broken(name, do, "%s: %v", what, err)
	}
	r, err := c.FetchPrefix(ctx, u, checkSize)
	switch {
	case err != nil:
		return check.Broken(name, do, "%s: %v", what, err)
	case r.Status >= 400 && must, r.Status >= 500:
		return check.Broken(name, do, "%s: %s answers %d", what, url, r.Status)
	}
	return check.Well(name, "%s: %s answers %d in %v", what, url, r.Status, r.Took.Round(time.Millisecond))
}

package crawltest_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"gazehound/crawler/lab/crawltest"

	"golang.org/x/sync/errgroup"
)

// TestKeptConnections asks each case twice on one connection. Where the first
// response is whole and does not say that the connection ends, a client keeps
// it, and its next request must not meet the end of it by chance: only the case
// made for that does so.
func TestKeptConnections(t *testing.T) {
	server := crawltest.NewHostile()
	defer server.Close()
	keeps := func(name string) bool {
		c, err := net.Dial("tcp", server.Addr())
		if err != nil {
			t.Error(err)
			return false
		}
		defer c.Close()
		in := bufio.NewReader(c)
		ask := func(name string, timeout time.Duration) (whole bool) {
			c.SetDeadline(time.Now().Add(timeout))
			fmt.Fprintf(c, "GET /%s HTTP/1.1\r\nHost: %s\r\n\r\n", name, server.Addr())
			r, err := http.ReadResponse(in, nil)
			if err != nil {
				return false
			}
			defer r.Body.Close()
			n, err := io.Copy(io.Discard, io.LimitReader(r.Body, 8<<20))
			return err == nil && n < 8<<20 && r.StatusCode >= 200 && !r.Close
		}
		if !ask(name, time.Second) || name == "closes-second-use" { // some never end
			return false
		}
		if !ask("good", time.Minute) {
			t.Errorf("%s: its connection ends though its response is whole and does not say so", name)
		}
		return true
	}
	var kept atomic.Int64
	var all errgroup.Group
	all.SetLimit(16)
	for _, name := range crawltest.Cases() {
		all.Go(func() error {
			if keeps(name) {
				kept.Add(1)
			}
			return nil
		})
	}
	all.Wait()
	if kept.Load() < 20 {
		t.Errorf("%d connections were kept; want those of most cases", kept.Load())
	}
}

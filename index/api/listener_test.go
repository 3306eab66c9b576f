package api

import (
	"errors"
	"net"
	"net/netip"
	"testing"
)

// queue is a listener of connections that are there already.
type queue struct {
	net.Listener
	conns []net.Conn
}

func (q *queue) Accept() (net.Conn, error) {
	if len(q.conns) == 0 {
		return nil, net.ErrClosed
	}
	c := q.conns[0]
	q.conns = q.conns[1:]
	return c, nil
}

type strangerConn struct {
	net.Conn
	from   string
	closed bool
}

func (c *strangerConn) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.from))
}
func (c *strangerConn) Close() error { c.closed = true; return nil }

// One client with 1,000 idle connections leaves room for the others.
func TestConnectionsOfAClient(t *testing.T) {
	q := &queue{}
	add := func(n int, from string) {
		for range n {
			q.conns = append(q.conns, &strangerConn{from: from})
		}
	}
	add(1000, "203.0.113.9:4000")
	add(1000, "[2001:db8::1]:4000")
	add(10, "[2001:db8::ffff]:4000") // the same /64
	add(5, "203.0.113.10:4000")
	add(200, "127.0.0.1:4000")
	l := newFairListener(q)
	got := map[string]int{}
	var one net.Conn
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			break
		}
		got[c.RemoteAddr().String()]++
		if one == nil {
			one = c
		}
	}
	for from, want := range map[string]int{"203.0.113.9:4000": 50, "[2001:db8::1]:4000": 50, "[2001:db8::ffff]:4000": 0, "203.0.113.10:4000": 5, "127.0.0.1:4000": 200} {
		if got[from] != want {
			t.Errorf("%s has %d connections, want %d", from, got[from], want)
		}
	}
	one.Close()
	one.Close() // as net/http may
	add(2, "203.0.113.9:4000")
	if c, err := l.Accept(); err != nil || c.RemoteAddr().String() != "203.0.113.9:4000" {
		t.Errorf("no room after a connection has ended: %v", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("room for two after one has ended: %v", err)
	}
}

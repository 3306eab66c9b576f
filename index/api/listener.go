package api

import (
	"net"
	"net/netip"
	"sync"

	"golang.org/x/net/netutil"
)

// MaxConnections bounds the open connections of a server.
const MaxConnections = 1000

// maxClientConnections bounds the connections of one client, so that none can take all of
// MaxConnections. Clients on this machine, such as a proxy before the server, are not limited.
const maxClientConnections = 50

// A fairListener closes connections of a client that has too many.
type fairListener struct {
	net.Listener
	mu   sync.Mutex
	open map[netip.Addr]int
}

// LimitConnections returns l with at most MaxConnections open connections, few of them of one client.
func LimitConnections(l net.Listener) net.Listener {
	return netutil.LimitListener(newFairListener(l), MaxConnections)
}

func newFairListener(l net.Listener) *fairListener {
	return &fairListener{Listener: l, open: map[netip.Addr]int{}}
}

// Accept returns the next connection of a client below its limit.
func (l *fairListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		at, _ := netip.ParseAddrPort(c.RemoteAddr().String())
		client := at.Addr().Unmap().WithZone("")
		if client.IsLoopback() || !client.IsValid() {
			return c, nil
		}
		if client.Is6() {
			p, _ := client.Prefix(64) // one IPv6 client has a /64
			client = p.Addr()
		}
		if l.add(client, 1) <= maxClientConnections {
			return &fairConn{Conn: c, closed: sync.OnceFunc(func() { l.add(client, -1) })}, nil
		}
		l.add(client, -1)
		c.Close()
	}
}

func (l *fairListener) add(client netip.Addr, n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[client] += n
	left := l.open[client]
	if left == 0 {
		delete(l.open, client)
	}
	return left
}

type fairConn struct {
	net.Conn
	closed func()
}

func (c *fairConn) Close() error {
	c.closed()
	return c.Conn.Close()
}

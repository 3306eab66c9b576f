package partition

import (
	"context"
	"net"
	"net/netip"
	"time"
)

// Servers returns what finds the address of a host by a resolver that remembers its answers, such as
// fetch.Client.Resolve. It is for Options.Resolve.
func Servers(ctx context.Context, resolve func(ctx context.Context, host string) ([]netip.Addr, error),
) func(host string) (netip.Addr, bool) {
	return func(host string) (netip.Addr, bool) {
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		addrs, _ := resolve(ctx, host) // a host that cannot be found has none
		return Lowest(addrs)
	}
}

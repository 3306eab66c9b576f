package fetch

import (
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"gazehound/crawler/weburl"
)

// The guard checks the address of every connection just before it is made, so that no name,
// redirect or second lookup with another answer leads the crawl into its own network.

// refusal returns why addr must not be connected to, or "". With loopback, this machine is
// admitted, but no other private address.
func refusal(addr netip.Addr, loopback bool) string {
	addr = addr.Unmap().WithZone("")
	if addr.IsLoopback() {
		if loopback {
			return ""
		}
		return "loopback"
	}
	for _, s := range special {
		if s.prefix.Contains(addr) {
			return s.name
		}
	}
	if addr.Is4() {
		return ""
	}
	if nat64.Contains(addr) {
		b := addr.As16()
		return embedded(netip.AddrFrom4([4]byte(b[12:16])), "NAT64")
	}
	if sixToFour.Contains(addr) {
		b := addr.As16()
		return embedded(netip.AddrFrom4([4]byte(b[2:6])), "6to4")
	}
	if !globalUnicast.Contains(addr) {
		return "not global unicast"
	}
	return ""
}

// embedded is refusal for the IPv4 address inside an IPv6 address. Loopback is never admitted: it
// would be that of a translator.
func embedded(addr netip.Addr, how string) string {
	if name := refusal(addr, false); name != "" {
		return name + " inside " + how
	}
	return ""
}

var (
	globalUnicast = netip.MustParsePrefix("2000::/3")
	nat64         = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052
	sixToFour     = netip.MustParsePrefix("2002::/16")    // RFC 3056
)

// special holds the registries of special-purpose addresses (RFC 6890 and its
// successors) and a metadata service with a public address.
var special = []struct {
	prefix netip.Prefix
	name   string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "unspecified"},
	{netip.MustParsePrefix("10.0.0.0/8"), "private"},
	{netip.MustParsePrefix("100.64.0.0/10"), "carrier-grade NAT"},
	{netip.MustParsePrefix("168.63.129.16/32"), "cloud metadata"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local"},
	{netip.MustParsePrefix("172.16.0.0/12"), "private"},
	{netip.MustParsePrefix("192.0.0.0/24"), "protocol assignment"},
	{netip.MustParsePrefix("192.0.2.0/24"), "documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "6to4 relay"},
	{netip.MustParsePrefix("192.168.0.0/16"), "private"},
	{netip.MustParsePrefix("198.18.0.0/15"), "benchmarking"},
	{netip.MustParsePrefix("198.51.100.0/24"), "documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},
	{netip.MustParsePrefix("::/128"), "unspecified"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "local NAT64"},
	{netip.MustParsePrefix("2001::/23"), "protocol assignment"}, // with Teredo
	{netip.MustParsePrefix("2001:db8::/32"), "documentation"},
	{netip.MustParsePrefix("3fff::/20"), "documentation"},
	{netip.MustParsePrefix("fc00::/7"), "private"},
	{netip.MustParsePrefix("fe80::/10"), "link-local"},
	{netip.MustParsePrefix("ff00::/8"), "multicast"},
}

// guard is the Control function of the dialler: address is what the kernel is
// about to connect to.
func (c *Client) guard(network, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return classedf(ClassPrivateAddress, "%q is not an address", address)
	}
	return c.refuse(at)
}

// refuse returns an error if that address and port must not get a request.
func (c *Client) refuse(at netip.AddrPort) error {
	if name := refusal(at.Addr(), c.options.AllowPrivate); name != "" {
		return classedf(ClassPrivateAddress, "%s is not on the public internet (%s)", at.Addr(), name)
	}
	own := localPrefixes()
	switch {
	case isOneOf(own, at.Addr()) && c.options.OwnPort != nil && c.options.OwnPort(at.Port()):
		return classedf(ClassPrivateAddress, "this program itself listens on %s", at)
	case at.Addr().IsLoopback(): // admitted
	case isOneOf(own, at.Addr()) && at.Port() != 80 && at.Port() != 443:
		return classedf(ClassPrivateAddress, "%s is a port of this machine that no public website has", at)
	case isNeighbour(own, at.Addr()):
		return classedf(ClassPrivateAddress, "%s is in the network of this machine", at.Addr())
	}
	return nil
}

// localPrefixes returns the addresses of this machine with the sizes of their networks.
func localPrefixes() (own []netip.Prefix) {
	addresses, _ := net.InterfaceAddrs()
	for _, a := range addresses {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			own = append(own, p)
		}
	}
	return own
}

// isOneOf reports whether addr is an address of this machine.
func isOneOf(own []netip.Prefix, addr netip.Addr) bool {
	return addr.Unmap().IsLoopback() || slices.ContainsFunc(own, func(p netip.Prefix) bool {
		return p.Addr().Unmap() == addr.Unmap()
	})
}

// isNeighbour reports whether addr is another machine's in a network of this one with global IPv6
// addresses, which have no prefix of their own as private IPv4 networks do.
func isNeighbour(own []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(own, func(p netip.Prefix) bool {
		return globalUnicast.Contains(p.Addr()) && p.Masked().Contains(addr.WithZone("")) && p.Addr() != addr.WithZone("")
	})
}

// refuseHost is refuse for the host of a URL without a lookup. With a proxy, which looks up names
// itself and may be inside a network, it is the only protection.
func (c *Client) refuseHost(u weburl.URL) error {
	name := strings.Trim(u.Hostname(), "[]")
	addr, err := netip.ParseAddr(name)
	switch {
	case err == nil:
	case weburl.IsLoopback(name):
		addr = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	case !strings.Contains(name, ".") || privateName.MatchString(name):
		return classedf(ClassPrivateAddress, "%s is not a host name of the public internet", name)
	case wildcardName.MatchString(name):
		addr = addressIn(name)
		if !addr.IsValid() {
			return nil
		}
	default:
		return nil
	}
	port := map[string]uint64{"http": 80, "https": 443}[u.Scheme()]
	if _, given, ok := strings.Cut(u.Host()[len(u.Hostname()):], ":"); ok {
		port, _ = strconv.ParseUint(given, 10, 16) // weburl has checked it
	}
	return c.refuse(netip.AddrPortFrom(addr, uint16(port)))
}

// privateName matches names reserved for private networks (RFC 6762 and its appendix G, RFC 8375,
// ICANN resolution 2024.07.29.06), those of routers at home, and those of clusters.
var privateName = regexp.MustCompile(`\.(internal|intern|local|localdomain|lan|intranet|private|corp|home|home\.arpa|svc|consul)$` +
	`|(^|\.)(fritz\.box|speedport\.ip|easy\.box|o2\.box|routerlogin\.net|tplinkwifi\.net|localtest\.me|lvh\.me|vcap\.me)$`)

// wildcardName matches names of public zones that resolve to the address in the name, such as
// 10.0.0.1.nip.io, app-10-0-0-1.sslip.io and 0a000001.nip.io.
var wildcardName = regexp.MustCompile(`\.(nip\.io|sslip\.io|xip\.io|traefik\.me|ip\.addr\.tools)$`)

var (
	fourNumbers = regexp.MustCompile(`(?:^|[.-])(\d{1,3})[.-](\d{1,3})[.-](\d{1,3})[.-](\d{1,3})(?:\.|$)`)
	eightDigits = regexp.MustCompile(`(?:^|[.-])([0-9a-f]{8})\.`)
	manyDashes  = regexp.MustCompile(`(?:^|\.)([0-9a-f-]*--?[0-9a-f-]*)\.`)
)

// addressIn returns the address that a name matched by wildcardName resolves to; the zero Addr where
// none is found.
func addressIn(name string) netip.Addr {
	if m := fourNumbers.FindStringSubmatch(name); m != nil {
		if addr, err := netip.ParseAddr(strings.Join(m[1:], ".")); err == nil {
			return addr
		}
	}
	if m := eightDigits.FindStringSubmatch(name); m != nil {
		if n, err := strconv.ParseUint(m[1], 16, 32); err == nil {
			return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
		}
	}
	if m := manyDashes.FindStringSubmatch(name); m != nil { // IPv6: --1, fd00--1
		addr, _ := netip.ParseAddr(strings.ReplaceAll(m[1], "-", ":"))
		return addr
	}
	return netip.Addr{}
}

// badPort returns the port of host if it belongs to another protocol, such as mail, into which a
// request could be smuggled, or "".
func badPort(host string) string {
	if !strings.Contains(host, ":") {
		return ""
	}
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		return "" // an IPv6 address without port
	}
	n, err := strconv.Atoi(port)
	if err != nil || n == 0 || slices.Contains(badPorts, n) {
		return port
	}
	return ""
}

// badPorts is the list of the Fetch standard, section 2.9 "Port blocking".
var badPorts = []int{0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95,
	101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
	512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719,
	1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080}

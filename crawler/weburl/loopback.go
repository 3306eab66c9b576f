package weburl

import (
	"net"
	"strings"
)

// IsLoopback reports whether a host name or address, without a port, can only mean
// this machine.
func IsLoopback(host string) bool {
	host = strings.ToLower(strings.Trim(host, "[]"))
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

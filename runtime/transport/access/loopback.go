package access

import (
	"net/netip"
	"strings"
)

// Loopback reports whether host, a name or an address without port, is this
// machine by definition: a loopback address or localhost.
func Loopback(host string) bool {
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().IsLoopback()
	}
	return strings.EqualFold(host, "localhost")
}

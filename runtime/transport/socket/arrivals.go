package socket

import (
	"errors"
	"net"
	"slices"
	"sync"
)

// maxArrivals is how many connections may be at their first line.
const maxArrivals = 128

// errDisplaced ends a connection that had not identified itself.
var errDisplaced = errors.New("closed before its first line: too many newer connections")

// arrivals are the connections that have not identified themselves, oldest
// first. A new one never waits: if there are too many the oldest is closed,
// because a client that has a token presents it at once.
type arrivals struct {
	mu    sync.Mutex
	conns []net.Conn
}

func (a *arrivals) add(c net.Conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.conns) == maxArrivals {
		a.conns[0].Close()
		a.conns = slices.Delete(a.conns, 0, 1)
	}
	a.conns = append(a.conns, c)
}

// remove reports whether c was still there. Otherwise add has closed it.
func (a *arrivals) remove(c net.Conn) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.Index(a.conns, c)
	if i >= 0 {
		a.conns = slices.Delete(a.conns, i, i+1)
	}
	return i >= 0
}

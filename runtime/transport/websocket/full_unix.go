//go:build unix

package websocket

import (
	"crypto/tls"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// isFull reports whether a connection takes no more output at the moment.
func isFull(conn net.Conn) (full bool) {
	if encrypted, ok := conn.(*tls.Conn); ok {
		conn = encrypted.NetConn()
	}
	if below, ok := conn.(syscall.Conn); ok {
		raw, err := below.SyscallConn()
		if err != nil {
			return false
		}
		_ = raw.Control(func(fd uintptr) {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, 0)
			full = err == nil && n == 0
		})
	}
	return full
}

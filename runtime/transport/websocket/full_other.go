//go:build !unix

package websocket

import "net"

// isFull reports whether a connection takes no more output at the moment, which is not known here.
func isFull(net.Conn) bool { return false }

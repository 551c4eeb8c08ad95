// Package socket carries messages over Unix sockets and TCP, one a line.
//
// A Unix socket lies in a folder only its owner can enter, and both ends check
// that the other runs as the same user.
//
// Over TCP the first line each way is a handshake:
//
//	client: hermes/1 TOKEN
//	server: ok
//
// or "error REASON" and the end of the connection. Messages follow. The server
// compares the token in constant time, waits at most HandshakeTimeout for it,
// and starts nothing before it is right. With a tls.Config all of this happens
// inside TLS.
package socket

import (
	"fmt"
	"time"
)

// HandshakeTimeout is how long either end waits for the other's first line.
const HandshakeTimeout = 10 * time.Second

// RefusedError is returned by DialTCP when the server answered the handshake
// with a refusal.
type RefusedError struct {
	Addr   string
	Reason string // what the server said, such as "wrong token"
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s: the server refused the connection: %s", e.Addr, e.Reason)
}

// Permanent reports whether the server will refuse again.
func (e *RefusedError) Permanent() bool { return e.Reason == wrongToken || e.Reason == noHandshake }

// PeerError reports the other end of a Unix socket running as another user.
type PeerError struct {
	Path      string
	UID, Want int
}

func (e *PeerError) Error() string {
	return fmt.Sprintf("%s: the other end runs as user %d, expected %d", e.Path, e.UID, e.Want)
}

// Permanent reports that trying again is pointless.
func (e *PeerError) Permanent() bool { return true }

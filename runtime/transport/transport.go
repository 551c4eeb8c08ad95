// Package transport carries whole JSON-RPC messages between two ends: over a
// byte stream with one message per line (the protocol's stdio transport), over
// the standard streams of this process, and in memory for tests.
//
// See https://agentclientprotocol.com/protocol/transports.
package transport

import (
	"errors"
	"fmt"
)

// DefaultMaxMessage is the largest message that a transport accepts by default,
// in bytes. It holds a text file of 64 MiB: line ends, quotes and backslashes
// take two bytes in JSON, other control characters six.
const DefaultMaxMessage = 160 << 20

// ErrClosed is returned by Read and Write after Close.
var ErrClosed = errors.New("transport closed")

// Transport carries whole JSON-RPC messages. Read and Write may run
// concurrently with each other, but each is called by one goroutine at a time.
// Close may be called at any time, more than once, and unblocks both.
type Transport interface {
	// Read returns the next message, appended to buf[:0]. A message above the
	// limit is skipped and reported as *TooLargeError; reading continues with the
	// next call. Any other error is final; it may come with an unfinished last
	// message. A clean end is io.EOF.
	Read(buf []byte) ([]byte, error)
	// Write sends one message; msg has no line end and may be reused afterwards.
	Write(msg []byte) error
	Close() error
}

// BatchWriter is implemented by transports that can send several messages more
// cheaply than one after the other.
type BatchWriter interface {
	// WriteBatch sends msgs in order, as Write would.
	WriteBatch(msgs [][]byte) error
}

// Limiter is implemented by transports whose message limit can be set, in
// bytes. It is called before the first Read.
type Limiter interface {
	SetMaxMessage(n int)
}

// Progress is implemented by transports that can distinguish a slow peer from
// one that stopped in the middle of a message. Its methods may be called at any
// time.
type Progress interface {
	// Received returns a number that changes whenever input arrives, and
	// whether the input so far ends inside a message.
	Received() (mark uint64, inside bool)
	// Sent returns a number that changes whenever the peer takes output.
	Sent() (mark uint64)
}

// Explainer is implemented by transports that can tell the other end why they are closed.
type Explainer interface {
	// CloseWith is Close with the reason.
	CloseWith(why error) error
}

// TooLargeError reports a message above the limit. Its text was not kept,
// except for the beginning.
type TooLargeError struct {
	Limit int    // bytes
	Size  int    // bytes, for an outgoing message; 0 when not known
	Head  []byte // the first bytes of an incoming message
}

func (e *TooLargeError) Error() string {
	if e.Size > 0 {
		return fmt.Sprintf("message of %d bytes is above the limit of %d", e.Size, e.Limit)
	}
	return fmt.Sprintf("message is above the limit of %d bytes", e.Limit)
}

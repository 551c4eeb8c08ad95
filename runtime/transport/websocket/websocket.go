// Package websocket carries messages over WebSocket, one JSON-RPC message a
// text frame, as the protocol's proposal for remote agents has it. Frames that
// are not text are ignored.
//
// See https://agentclientprotocol.com/rfds/streamable-http-websocket-transport.
package websocket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/hermes-nvim/hermes/runtime/transport"
)

const (
	headSize  = 4 << 10          // kept of a message above the limit
	giveUp    = 16               // times the limit: a message this long ends the connection
	pingEvery = 30 * time.Second // between signs of life, and for the answer
	farewell  = time.Second      // for the closing handshake
)

// CloseError says how the other end closed the connection, unless it did so in
// the ordinary way, which is io.EOF.
type CloseError struct {
	Code   int // of RFC 6455, such as 1009 for a message above its limit
	Reason string
}

func (e *CloseError) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("websocket closed with code %d", e.Code)
	}
	return fmt.Sprintf("websocket closed with code %d: %.200q", e.Code, e.Reason)
}

// ErrUnreachable ends a connection whose other end answers no pings.
var ErrUnreachable = errors.New("the other end does not answer")

// conn is the transport over a WebSocket.
type conn struct {
	ws      *websocket.Conn
	max     int
	ctx     context.Context
	cancel  context.CancelCauseFunc
	reading atomic.Bool
	mark    atomic.Uint64
	inside  atomic.Bool
	sent    atomic.Uint64
	code    websocket.StatusCode // to close with, when nothing is wrong
	status  atomic.Int32         // to close with
	reason  atomic.Pointer[string]
	net     net.Conn      // below, nil if it is not known
	every   time.Duration // between pings
	once    sync.Once
	pinging chan struct{}
}

func newConn(ws *websocket.Conn, below net.Conn, code websocket.StatusCode, every time.Duration) *conn {
	ws.SetReadLimit(-1) // Read has its own, which does not end the connection
	c := &conn{ws: ws, net: below, every: every, code: code, max: transport.DefaultMaxMessage, pinging: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	c.status.Store(int32(code))
	go c.ping()
	return c
}

// SetMaxMessage implements transport.Limiter.
func (c *conn) SetMaxMessage(n int) { c.max = n }

var _ transport.Progress = (*conn)(nil)

// Received implements transport.Progress.
func (c *conn) Received() (uint64, bool) { return c.mark.Load(), c.inside.Load() }

// Sent implements transport.Progress. A message counts when it is sent whole.
func (c *conn) Sent() uint64 { return c.sent.Load() }

// Read implements transport.Transport.
func (c *conn) Read(buf []byte) ([]byte, error) {
	c.reading.Store(true)
	defer c.reading.Store(false)
	for {
		kind, r, err := c.ws.Reader(c.ctx)
		if err != nil {
			return buf[:0], c.ending(err)
		}
		msg, err := c.frame(buf[:0], r, kind == websocket.MessageText)
		if err != nil || len(msg) > 0 {
			return msg, err
		}
	}
}

// frame reads one message; the text of one that is not wanted is dropped.
func (c *conn) frame(dst []byte, r io.Reader, wanted bool) ([]byte, error) {
	c.inside.Store(true)
	defer c.inside.Store(false)
	size := 0
	for {
		if len(dst) == cap(dst) {
			dst = append(dst, 0)[:len(dst)]
		}
		n, err := r.Read(dst[len(dst):cap(dst)])
		c.mark.Add(1)
		size += n
		if wanted && size <= c.max {
			dst = dst[:len(dst)+n]
		} else if len(dst) > headSize {
			dst = dst[:headSize]
		}
		switch {
		case size/giveUp > c.max:
			err := fmt.Errorf("frame without end: %w", &transport.TooLargeError{Limit: c.max})
			c.status.Store(int32(websocket.StatusMessageTooBig))
			c.because(err)
			return dst[:0], err
		case err == nil:
		case err != io.EOF:
			return dst[:0], c.ending(err)
		case !wanted:
			return dst[:0], nil
		case size > c.max:
			big := &transport.TooLargeError{Limit: c.max, Head: bytes.Clone(dst[:min(len(dst), headSize)])}
			c.status.Store(int32(websocket.StatusMessageTooBig))
			c.because(big)
			return dst[:0], big
		default:
			c.status.Store(int32(c.code))
			c.reason.Store(nil)
			return bytes.TrimSpace(dst), nil
		}
	}
}

// ending turns the error of a WebSocket into the error of a transport.
func (c *conn) ending(err error) error {
	var ce websocket.CloseError
	switch {
	case c.ctx.Err() != nil:
		return context.Cause(c.ctx)
	case errors.As(err, &ce):
		switch ce.Code {
		case websocket.StatusNormalClosure, websocket.StatusGoingAway, websocket.StatusNoStatusRcvd:
			return io.EOF
		}
		return &CloseError{Code: int(ce.Code), Reason: ce.Reason}
	case errors.Is(err, io.EOF):
		return fmt.Errorf("websocket ended without closing: %w", io.ErrUnexpectedEOF)
	}
	return err
}

// Write implements transport.Transport.
func (c *conn) Write(msg []byte) error {
	if !utf8.Valid(msg) {
		msg = bytes.ToValidUTF8(msg, []byte("\uFFFD")) // or the frame would end the connection
	}
	if err := c.ws.Write(c.ctx, websocket.MessageText, msg); err != nil {
		return c.ending(err)
	}
	c.sent.Add(1)
	return nil
}

// ping keeps the connection alive for proxies between the ends, and ends a
// connection whose other end is dead. Pongs only arrive while Read runs. No ping waits behind
// data that the other end does not read: the library would end the connection after five seconds.
// Whether it reads at all notices who writes.
func (c *conn) ping() {
	defer close(c.pinging)
	tick := time.NewTicker(c.every)
	defer tick.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-tick.C:
		}
		if isFull(c.net) {
			continue
		}
		mark := c.mark.Load()
		ctx, cancel := context.WithTimeout(c.ctx, pingEvery)
		err := c.ws.Ping(ctx)
		late := ctx.Err() != nil // or the ping found no room between messages
		cancel()
		if err != nil && late && c.reading.Load() && mark == c.mark.Load() {
			c.cancel(ErrUnreachable)
			c.ws.CloseNow()
		}
	}
}

// maxReason is how long the reason of a closing frame may be, in bytes.
const maxReason = 120

// because notes the reason to close with. A long reason loses its middle and keeps more of its end,
// because the beginning may be the path of a program.
func (c *conn) because(err error) {
	text := strings.ToValidUTF8(err.Error(), "\uFFFD")
	if len(text) > maxReason {
		const head, gap = 30, " … "
		text = strings.ToValidUTF8(text[:head]+gap+text[len(text)-(maxReason-head-len(gap)):], "")
	}
	c.reason.Store(&text)
}

// CloseWith implements transport.Explainer.
func (c *conn) CloseWith(why error) error {
	if c.reason.Load() == nil {
		c.because(why)
		if end := (*transport.PipeEnd)(nil); errors.As(why, &end) && !transport.Clean(end.Err) {
			c.status.CompareAndSwap(int32(c.code), int32(websocket.StatusInternalError))
		}
	}
	return c.Close()
}

// Close implements transport.Transport. It gives the other end a second to say
// goodbye.
func (c *conn) Close() error {
	c.once.Do(func() {
		said := make(chan struct{})
		go func() {
			reason := ""
			if r := c.reason.Load(); r != nil {
				reason = *r
			}
			c.ws.Close(websocket.StatusCode(c.status.Load()), reason)
			close(said)
		}()
		select {
		case <-said:
		case <-time.After(farewell):
		}
		c.cancel(transport.ErrClosed)
		c.ws.CloseNow()
		<-said
		<-c.pinging
	})
	return nil
}

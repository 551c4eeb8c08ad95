//go:build unix

package websocket

import (
	"bytes"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hermes-nvim/hermes/internal/patience"
)

// A peer that pauses is not dead: no ping waits behind what it does not read. The library gives a
// ping five seconds to be sent, so the pauses are longer.
func TestAPeerMayPause(t *testing.T) {
	t.Parallel()
	for name, pause := range map[string]struct {
		before func(net.Conn)
		during func(*testing.T, *conn, *websocket.Conn)
	}{
		"in a message": {func(net.Conn) {}, func(t *testing.T, c *conn, peer *websocket.Conn) {
			msg, wrote := bytes.Repeat([]byte("x"), 64<<20), make(chan error, 1)
			go func() { wrote <- c.Write(msg) }()
			patience.True(t, "a full socket", func() bool { return isFull(c.net) })
			time.Sleep(7 * time.Second)
			if _, got, err := peer.Read(t.Context()); err != nil || !bytes.Equal(got, msg) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			if err := patience.Value(t, "write", wrote); err != nil {
				t.Error(err)
			}
		}},
		"between messages": {fill, func(*testing.T, *conn, *websocket.Conn) { time.Sleep(7 * time.Second) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made, over := make(chan *conn, 1), make(chan struct{})
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				below := &hijacked{ResponseWriter: w}
				ws, err := websocket.Accept(below, r, nil)
				if err != nil {
					t.Error(err)
					return
				}
				pause.before(below.conn)
				made <- newConn(ws, below.conn, websocket.StatusGoingAway, 500*time.Millisecond)
				<-over
			}))
			defer h.Close()
			defer close(over)
			peer, _, err := websocket.Dial(t.Context(), h.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer peer.CloseNow()
			peer.SetReadLimit(-1)
			c := patience.Value(t, "connection", made)
			defer c.Close()
			ended := make(chan error, 1)
			go func() {
				_, err := c.Read(nil)
				ended <- err
			}()
			pause.during(t, c, peer)
			select {
			case err := <-ended:
				t.Errorf("the connection has ended: %v", err)
			default:
			}
		})
	}
}

// fill writes until there is no room for a single byte more, and nobody waits to write it.
func fill(conn net.Conn) {
	for chunk := make([]byte, 64<<10); ; {
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second)) // the system makes more room at first
		if _, err := conn.Write(chunk); err == nil {
			continue
		} else if len(chunk) == 1 {
			break
		}
		chunk = chunk[:1]
	}
	_ = conn.SetWriteDeadline(time.Time{})
}

func TestASocketIsFullUntilThePeerReads(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	out, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	in, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	encrypted := tls.Client(out, new(tls.Config))
	is := func(want bool) func() bool {
		return func() bool { return isFull(out) == want && isFull(encrypted) == want }
	}
	if !is(false)() {
		t.Error("a new one is full")
	}
	go out.Write(make([]byte, 64<<20))
	patience.True(t, "a full socket", is(true))
	patience.True(t, "a socket with room", func() bool {
		in.Read(make([]byte, 1<<20))
		return is(false)()
	})
	if isFull(nil) || isFull(struct{ net.Conn }{}) {
		t.Error("one that is not known is full")
	}
}

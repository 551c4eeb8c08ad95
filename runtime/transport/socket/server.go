package socket

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/internal/envelope"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
)

// Server accepts connections and hands each to Handle. Its fields must not
// change while it serves.
type Server struct {
	// Handle owns the connection it gets and returns when it is over. Its context
	// ends with the context of Serve.
	Handle func(ctx context.Context, t transport.Transport)
	// Admit, when set, may refuse a connection; release is called at its end.
	// The client gets to know the error: over TCP as the answer to the
	// handshake, from a Unix socket as an error answer without an id.
	Admit func() (release func(), err error)
	// Token is what TCP clients must present. Serve refuses a TCP listener without one.
	Token access.Token
	// TLS, when set, encrypts TCP connections.
	TLS *tls.Config
	// Logger gets what was refused and why; nil: nothing is logged.
	Logger *slog.Logger
}

// Serve accepts connections from l until ctx ends, which is not an error, or l
// fails. It closes l and returns when the last Handle has. Unix listeners come
// from ListenUnix, any other is treated as TCP.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if l.Addr().Network() != "unix" && s.Token.IsZero() {
		l.Close()
		return errNoToken
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer func() {
		if stop() {
			l.Close()
		}
	}()
	arriving := new(arrivals)
	for {
		c, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			if retry(err) {
				time.Sleep(20 * time.Millisecond) // out of descriptors: others may end meanwhile
				continue
			}
			return err
		}
		arriving.add(c)
		running.Go(func() { s.serve(ctx, c, arriving) })
	}
}

var errNoToken = errors.New("a server for TCP needs a Token: without one it would refuse every client")

func retry(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary() // as net/http does; there is no newer way to recognize EMFILE
}

func (s *Server) serve(ctx context.Context, raw net.Conn, arriving *arrivals) {
	stop := context.AfterFunc(ctx, func() { raw.SetDeadline(time.Now()) })
	c, release, err := s.welcome(raw, arriving)
	if !stop() || err != nil {
		c.Close()
		if release != nil {
			release()
		}
		if err != nil && s.Logger != nil {
			s.Logger.Warn("connection refused", "remote", c.RemoteAddr().String(), "reason", printable(err.Error()))
		}
		return
	}
	defer release()
	s.Handle(ctx, transport.NewStream(c, c))
}

// welcome checks who is at the other end and sends it the verdict.
func (s *Server) welcome(raw net.Conn, arriving *arrivals) (c net.Conn, release func(), err error) {
	u, local := raw.(*net.UnixConn)
	c = raw
	if !local && s.TLS != nil {
		c = tls.Server(raw, s.TLS)
	}
	if local {
		err = samePeer(u, raw.LocalAddr().String())
	} else {
		err = admit(c, s.Token)
	}
	if !arriving.remove(raw) {
		return c, nil, errDisplaced
	}
	if err != nil {
		if !local && !errors.Is(err, errHandshake) {
			answer(c, err)
		}
		return c, nil, err
	}
	release = func() {}
	if s.Admit != nil {
		if release, err = s.Admit(); err != nil {
			if local {
				c.SetDeadline(time.Now().Add(answerWithin))
				c.Write(append(envelope.Failure([]byte("null"), err.Error(), nil), '\n'))
			} else {
				answer(c, err)
			}
			return c, nil, err
		}
	}
	if !local {
		err = answer(c, nil)
	}
	return c, release, err
}

package serve

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/hermes-nvim/hermes/runtime/transport/httpstream"
	"github.com/hermes-nvim/hermes/runtime/transport/websocket"
)

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute // of a TCP connection between requests
	maxHeader     = 64 << 10        // bytes
	maxStreams    = 1100            // of an HTTP/2 connection: the event streams of one client, and some calls
)

// Health answers load balancers: 200 while connections are accepted.
const Health = "/healthz"

// serveHTTP serves streamable HTTP and WebSocket on one path.
func (s *Server) serveHTTP(ctx context.Context, l *Listener) error {
	guard := s.Guard
	if host, _, err := net.SplitHostPort(l.Addr().String()); err == nil && !net.ParseIP(host).IsUnspecified() {
		guard.Hosts = append([]string{host}, guard.Hosts...)
	}
	streams := &httpstream.Server{Guard: guard, Handle: s.handle, Admit: s.admit, Logger: s.Logger, MaxBody: int64(s.maxMessage)}
	ws := &websocket.Server{Guard: guard, Handle: s.handle, Admit: s.admit, Logger: s.Logger}
	mux := http.NewServeMux()
	mux.HandleFunc(l.path, func(w http.ResponseWriter, r *http.Request) {
		if websocket.Upgrade(r) {
			ws.ServeHTTP(w, r)
			return
		}
		streams.ServeHTTP(w, r)
	})
	mux.HandleFunc(Health, func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).SetWriteDeadline(time.Now().Add(headerTimeout))
		if ctx.Err() != nil {
			http.Error(w, "shutting down", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		w.Write([]byte("ok\n"))
	})
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(s.TLS == nil)
	server := &http.Server{
		Handler: mux, TLSConfig: s.TLS, Protocols: protocols,
		ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		HTTP2:       &http.HTTP2Config{MaxConcurrentStreams: maxStreams, SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    slog.NewLogLogger(s.Logger.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() {
		if s.TLS != nil {
			ended <- server.ServeTLS(l.Listener, "", "")
		} else {
			ended <- server.Serve(l.Listener)
		}
	}()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.Background(), shutdown)
	defer cancel()
	streams.Shutdown(grace) // WebSockets end with ctx, Serve waits for them
	server.Shutdown(grace)
	server.Close()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

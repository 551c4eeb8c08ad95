package claudehooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	bearer   = "Bearer "
	maxBody  = 32 << 20         // bytes of an event: it may hold a file twice
	readTime = 10 * time.Second // that an event may take to arrive
	endTime  = time.Second      // that the answers may take when the agent ends
)

// server takes the hooks over HTTP, from this machine only.
type server struct {
	http   *http.Server
	url    string
	find   func(token string) *session
	log    *slog.Logger
	ended  chan struct{}
	cancel context.CancelFunc
}

// listen opens a port of the loopback interface. find returns the session of a token,
// nil for none.
func listen(find func(token string) *session, log *slog.Logger) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("hooks of Claude Code: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &server{url: "http://" + l.Addr().String() + "/", find: find, log: log, ended: make(chan struct{}), cancel: cancel}
	s.http = &http.Server{
		Handler: s, ReadTimeout: readTime, MaxHeaderBytes: 16 << 10,
		ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() {
		defer close(s.ended)
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("hooks of Claude Code", "error", err)
		}
	}()
	return s, nil
}

// close ends the questions that are open, which gates take as a denial, and the
// server.
func (s *server) close() error {
	s.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		s.http.Close()
	}
	<-s.ended
	return nil
}

// ServeHTTP answers a hook. Claude Code takes every status but 200 as a failure of the
// hook, so it blocks the tool call if the gate is to fail closed.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, answer := s.serve(w, r)
	if status != http.StatusOK {
		s.log.Warn("hook refused", "status", status)
		http.Error(w, http.StatusText(status), status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		s.log.Warn("hook not answered", "error", err)
	}
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) (status int, answer any) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), bearer)
	session := s.find(token)
	switch {
	case !ok || session == nil || r.Header.Get("Origin") != "": // a page in a browser has an origin
		return http.StatusUnauthorized, nil
	case r.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return http.StatusRequestEntityTooLarge, nil
	} else if err != nil {
		return http.StatusBadRequest, nil
	}
	e := new(event)
	if json.Unmarshal(body, e) != nil || e.Name == "" {
		return http.StatusBadRequest, nil
	}
	return http.StatusOK, session.handle(r.Context(), e)
}

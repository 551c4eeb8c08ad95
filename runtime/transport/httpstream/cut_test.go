package httpstream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/httpstream"
)

// cutter cuts the event streams of a server after a number of bytes.
type cutter struct {
	http.Handler
	after   int64 // bytes of a stream
	streams atomic.Int32
	cuts    atomic.Int32
	max     int32
}

func (c *cutter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || c.cuts.Load() >= c.max {
		c.Handler.ServeHTTP(w, r)
		return
	}
	c.streams.Add(1)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	cw := &cutWriter{ResponseWriter: w, c: c, left: c.after, cancel: cancel}
	c.Handler.ServeHTTP(cw, r.WithContext(ctx))
	if cw.cut {
		panic(http.ErrAbortHandler)
	}
}

type cutWriter struct {
	http.ResponseWriter
	c      *cutter
	left   int64
	cut    bool
	cancel func()
}

func (w *cutWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *cutWriter) Write(b []byte) (int, error) {
	if int64(len(b)) < w.left {
		w.left -= int64(len(b))
		return w.ResponseWriter.Write(b)
	}
	n, _ := w.ResponseWriter.Write(b[:w.left])
	http.NewResponseController(w.ResponseWriter).Flush()
	if !w.cut {
		w.cut = true
		w.c.cuts.Add(1)
		w.cancel()
	}
	return n, io.ErrShortWrite
}

func TestACutStreamContinuesWithoutLossOrRepetition(t *testing.T) {
	t.Parallel()
	var places []int64 // a cut in every part of an event, and far into the stream
	for at := int64(1); at < 420; at += 11 {
		places = append(places, at)
	}
	for _, after := range append(places, 1500, 9999, 20_000) {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			t.Parallel()
			s := new(httpstream.Server)
			cut := &cutter{after: after, max: 2}
			server := serve(t, s, func(h http.Handler) http.Handler {
				cut.Handler = h
				return cut
			})
			client := new(testagent.Client)
			c := connect(t, server.URL, access.Client{Token: s.Guard.Token}, client)
			id := newSession(t, c)
			ctx := patience.Context(t, patience.Soon)
			if _, err := testagent.Prompt(ctx, c, id, "COUNT 150"); err != nil {
				t.Fatal(err)
			}
			same(t, client.Texts(id), counted(150))
			if cut.cuts.Load() == 0 {
				t.Error("nothing was cut")
			}
		})
	}
}

// noIDs removes the numbers from a server's events, as in servers without them.
type noIDs struct{ http.ResponseWriter }

func (w noIDs) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w noIDs) WriteHeader(status int) {
	w.Header().Del("Last-Event-Id")
	w.ResponseWriter.WriteHeader(status)
}

func (w noIDs) Write(b []byte) (int, error) {
	var out []byte
	for line := range strings.Lines(string(b)) {
		if !strings.HasPrefix(line, "id:") {
			out = append(out, line...)
		}
	}
	if _, err := w.ResponseWriter.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// C153 of the conformance list.
func TestASessionStreamThatCannotContinueFailsOnlyItsCalls(t *testing.T) {
	t.Parallel()
	s := new(httpstream.Server)
	cut := make(chan struct{})
	var streams atomic.Int32
	server := serve(t, s, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && r.Header.Get("Acp-Session-Id") == "s1" && streams.Add(1) == 1 {
				ctx, cancel := context.WithCancel(r.Context())
				go func() {
					<-cut
					cancel()
				}()
				h.ServeHTTP(noIDs{w}, r.WithContext(ctx))
				panic(http.ErrAbortHandler)
			}
			h.ServeHTTP(noIDs{w}, r)
		})
	})
	client := new(testagent.Client)
	c := connect(t, server.URL, access.Client{Token: s.Guard.Token}, client)
	a, b := newSession(t, c), newSession(t, c)
	failed, other := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := testagent.Prompt(t.Context(), c, a, "COUNT 1\nWAIT")
		failed <- err
	}()
	go func() {
		_, err := testagent.Prompt(t.Context(), c, b, "COUNT 1\nWAIT")
		other <- err
	}()
	patience.True(t, "both turns run", func() bool { return len(client.Texts(a)) == 1 && len(client.Texts(b)) == 1 })
	close(cut)
	var e *acp.Error
	if err := <-failed; !errors.As(err, &e) || !strings.Contains(err.Error(), "cut off") {
		t.Error(err)
	}
	acp.Agent{Conn: c}.Cancel(t.Context(), &acp.CancelNotification{SessionID: b})
	if err := <-other; err != nil {
		t.Error("the other session:", err)
	}
	acp.Agent{Conn: c}.Cancel(t.Context(), &acp.CancelNotification{SessionID: a})
	if _, err := testagent.Prompt(t.Context(), c, a, "COUNT 3"); err != nil {
		t.Error("the session again:", err)
	}
	if c.Err() != nil {
		t.Error(c.Err())
	}
}

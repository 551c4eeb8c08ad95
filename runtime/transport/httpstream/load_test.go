package httpstream_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime"
	"github.com/hermes-nvim/hermes/runtime/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/httpstream"
)

// BenchmarkUpdates measures how many updates a second go from one agent to one
// client over loopback.
func BenchmarkUpdates(b *testing.B) {
	s := &httpstream.Server{Guard: access.Guard{Token: access.NewToken()}, Handle: new(testagent.Store).Serve}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: s}
	go server.Serve(l)
	defer server.Close()
	defer s.Shutdown(context.Background())
	tr, err := httpstream.Dial("http://"+l.Addr().String(), access.Client{Token: s.Guard.Token})
	if err != nil {
		b.Fatal(err)
	}
	c := runtime.NewConn(tr, acp.ClientSide(new(testagent.Client)), runtime.Options{})
	defer c.Close()
	a := acp.Agent{Conn: c}
	if _, err := a.Initialize(b.Context(), &acp.InitializeRequest{ProtocolVersion: 1}); err != nil {
		b.Fatal(err)
	}
	r, err := a.NewSession(b.Context(), &acp.NewSessionRequest{Cwd: "/w", MCPServers: []acp.MCPServer{}})
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	if _, err := testagent.Prompt(b.Context(), c, r.SessionID, fmt.Sprintf("count %d", b.N)); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "updates/s")
}

func TestManyConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a few seconds")
	}
	const connections, rounds = 30, 3 // of two sessions each
	s := new(httpstream.Server)
	server := serve(t, s, nil)
	var got atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for range connections {
		client := new(testagent.Client)
		c := connect(t, server.URL, access.Client{Token: s.Guard.Token}, client)
		for range 2 {
			id := newSession(t, c)
			all.Go(func() {
				for range rounds {
					if _, err := testagent.Prompt(t.Context(), c, id, "count 50"); err != nil {
						t.Error(err)
						return
					}
				}
				got.Add(int64(len(client.Texts(id))))
			})
		}
	}
	all.Wait()
	if want := int64(connections * 2 * rounds * 50); got.Load() != want {
		t.Errorf("%d updates, want %d", got.Load(), want)
	}
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	t.Logf("%d updates over %d streams in %v, %d MiB", got.Load(), connections*3, time.Since(began).Round(time.Millisecond), m.Sys>>20)
}

package httpstream_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/soak"
	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/httpstream"
)

// BenchmarkUpdates measures how many updates a second go from one agent to one
// client over loopback.
func BenchmarkUpdates(b *testing.B) {
	s := &httpstream.Server{Guard: access.Guard{Token: access.NewToken()}, Handle: new(testagent.Agent).Serve}
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
	c := rpc.NewConn(tr, acp.ClientSide(new(testagent.Client)), rpc.Options{})
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
	if _, err := testagent.Prompt(b.Context(), c, r.SessionID, fmt.Sprintf("COUNT %d", b.N)); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "updates/s")
}

// L6: many connections of two sessions each, and one client that asks for much and
// reads nothing. It costs its share of memory and does not delay the others.
func TestManyConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a few seconds")
	}
	connections, rounds, count := 30, 3, 50
	if soak.Duration(t) > 0 {
		connections, rounds, count = 500, 10, 150
	}
	token := access.NewToken()
	url, peak := loadServer(t, token)
	deaf(t, url, token)
	sessions := make(map[*rpc.Conn][2]acp.SessionID)
	clients := make(map[*rpc.Conn]*testagent.Client)
	for range connections {
		client := new(testagent.Client)
		c := connect(t, url, access.Client{Token: token}, client)
		sessions[c], clients[c] = [2]acp.SessionID{newSession(t, c), newSession(t, c)}, client
	}
	var got atomic.Int64
	var all sync.WaitGroup
	few := make(chan struct{}, 100) // turns at a time
	began := time.Now()
	for c, ids := range sessions {
		for _, id := range ids {
			all.Go(func() {
				for range rounds {
					few <- struct{}{}
					_, err := testagent.Prompt(t.Context(), c, id, fmt.Sprint("COUNT ", count))
					<-few
					if err != nil {
						t.Error(err)
						return
					}
				}
				got.Add(int64(len(clients[c].Texts(id))))
				clients[c].Forget(id)
			})
		}
	}
	all.Wait()
	took := time.Since(began)
	if want := int64(connections * 2 * rounds * count); got.Load() != want {
		t.Errorf("%d updates, want %d", got.Load(), want)
	}
	used := peak()
	t.Logf("%d updates over %d streams in %v, %.0f/s, the server took %d MiB", got.Load(), connections*3, took.Round(time.Millisecond), float64(got.Load())/took.Seconds(), used>>20)
	if used > 512<<20 && !raceDetector() {
		t.Error("too much memory")
	}
}

const loadEnv = "HERMES_HTTPSTREAM_LOAD"

// serveLoad is a server in its own process. It ends when its input ends.
func serveLoad(token string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	secret, err := access.ParseToken(token)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	s := &httpstream.Server{Guard: access.Guard{Token: secret}, Handle: new(testagent.Agent).Serve, MaxQueued: 1 << 20}
	go http.Serve(l, s)
	fmt.Println("http://" + l.Addr().String())
	io.Copy(io.Discard, os.Stdin)
}

// loadServer starts one. It returns the URL, and a function for its peak memory in
// bytes, 0 where the system does not say.
func loadServer(t *testing.T, token access.Token) (url string, peak func() int64) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe)
	c.Env = append(os.Environ(), loadEnv+"="+token.Reveal())
	c.Stderr = os.Stderr
	in, err1 := c.StdinPipe()
	out, err2 := c.StdoutPipe()
	if err := errors.Join(err1, err2, c.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		c.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), func() int64 {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid))
		_, rest, _ := strings.Cut(string(status), "VmHWM:")
		var kib int64
		fmt.Sscan(rest, &kib)
		return kib << 10
	}
}

// raceDetector reports whether the race detector is on, which itself takes much memory.
func raceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "-race" && s.Value == "true" })
}

// deaf has an agent send 10 MiB that its client does not read.
func deaf(t *testing.T, url string, token access.Token) {
	t.Helper()
	send := func(method, connection, session, msg string) string {
		r, err := http.NewRequest(method, url, strings.NewReader(msg))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+token.Reveal())
		for name, value := range map[string]string{"Acp-Connection-Id": connection, "Acp-Session-Id": session} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil || answer.StatusCode/100 != 2 && method != "DELETE" { // the server may have given it up
			t.Fatal(answer, err)
		}
		answer.Body.Close()
		return answer.Header.Get("Acp-Connection-Id")
	}
	id := send("POST", "", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)
	t.Cleanup(func() { send("DELETE", id, "", "") })
	send("POST", id, "", `{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`)
	send("POST", id, "s1", `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"COUNT 60000"}]}}`)
}

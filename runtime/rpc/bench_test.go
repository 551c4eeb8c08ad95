package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// chunk is the most frequent message; mix has the sizes of a real turn.
var (
	chunk = []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess_0123456789abcdef","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Let me look at the configuration first."}}}}`)
	mix   = [][]byte{
		chunk, chunk, chunk, chunk, chunk, chunk, chunk, chunk,
		[]byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess_0123456789abcdef","update":{"sessionUpdate":"tool_call","toolCallId":"call_1","title":"Edit main.go","kind":"edit","status":"pending","content":[{"type":"diff","path":"/w/main.go","oldText":` + quoted(1000) + `,"newText":` + quoted(1000) + `}]}}}`),
		[]byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess_0123456789abcdef","update":{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"completed","rawOutput":{"text":` + quoted(8000) + `}}}}`),
	}
)

func quoted(n int) string {
	text, _ := json.Marshal(strings.Repeat("if err != nil {\n\treturn \"x\", err\n}\n", n/36))
	return string(text)
}

type counter struct {
	acp.UnimplementedClientHandler
	left int
	done chan struct{}
}

func (c *counter) SessionUpdate(context.Context, *acp.SessionNotification) error {
	if c.left--; c.left == 0 {
		close(c.done)
	}
	return nil
}

// BenchmarkUpdates measures a client that gets ready-made updates as fast as
// it takes them.
func BenchmarkUpdates(b *testing.B) {
	for _, bench := range []struct {
		name  string
		lines [][]byte
	}{{"chunk", [][]byte{chunk}}, {"mix", mix}} {
		b.Run(bench.name+"/os.Pipe", func(b *testing.B) {
			r, w, err := os.Pipe()
			if err != nil {
				b.Fatal(err)
			}
			var block bytes.Buffer
			for block.Len() < 48<<10 {
				for _, l := range bench.lines {
					block.Write(l)
					block.WriteByte('\n')
				}
			}
			lines := bytes.Count(block.Bytes(), []byte{'\n'})
			blocks := b.N/lines + 1
			h := &counter{left: blocks * lines, done: make(chan struct{})}
			b.SetBytes(int64(block.Len() / lines))
			b.ReportAllocs()
			b.ResetTimer()
			conn := rpc.NewConn(transport.NewStream(r, discard{}), acp.ClientSide(h), rpc.Options{})
			go func() {
				for range blocks {
					w.Write(block.Bytes())
				}
			}()
			<-h.done
			b.StopTimer()
			w.Close()
			conn.Close()
		})
		b.Run(bench.name+"/Pair", func(b *testing.B) {
			near, far := transport.Pair()
			h := &counter{left: b.N, done: make(chan struct{})}
			b.ReportAllocs()
			b.ResetTimer()
			conn := rpc.NewConn(near, acp.ClientSide(h), rpc.Options{})
			go func() {
				for i := range b.N {
					far.Write(bench.lines[i%len(bench.lines)])
				}
			}()
			<-h.done
			b.StopTimer()
			conn.Close()
			far.Close()
		})
	}
}

// BenchmarkBothSides measures an agent that sends typed updates to a client.
func BenchmarkBothSides(b *testing.B) {
	for _, kind := range []string{"Pair", "os.Pipe"} {
		b.Run(kind, func(b *testing.B) {
			h := &counter{left: b.N, done: make(chan struct{})}
			client, agent := connect(b, kind, acp.ClientSide(h), nil)
			update := &acp.SessionNotification{SessionID: "sess_0123456789abcdef", Update: &acp.AgentMessageChunk{
				Content: &acp.TextContent{Text: "Let me look at the configuration first."}}}
			peer := acp.Client{Conn: agent}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if err := peer.SessionUpdate(b.Context(), update); err != nil {
					b.Fatal(err)
				}
			}
			<-h.done
			b.StopTimer()
			client.Close()
			agent.Close()
		})
	}
}

// BenchmarkRoundTrip measures one permission question at a time.
func BenchmarkRoundTrip(b *testing.B) {
	for _, kind := range []string{"Pair", "os.Pipe"} {
		b.Run(kind, func(b *testing.B) {
			client, agent := connect(b, kind, acp.ClientSide(allow{}), nil)
			ask := &acp.RequestPermissionRequest{SessionID: "s", ToolCall: acp.ToolCallUpdate{ToolCallID: "c"},
				Options: []acp.PermissionOption{{OptionID: "yes", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce}}}
			peer := acp.Client{Conn: agent}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if _, err := peer.RequestPermission(b.Context(), ask); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			client.Close()
			agent.Close()
		})
	}
}

type allow struct {
	acp.UnimplementedClientHandler
}

func (allow) RequestPermission(_ context.Context, p *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return &acp.RequestPermissionResponse{Outcome: &acp.SelectedPermissionOutcome{OptionID: p.Options[0].OptionID}}, nil
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// connect returns both ends of a connection.
func connect(tb testing.TB, kind string, clientSide, agentSide acp.Handler) (client, agent *rpc.Conn) {
	near, far := transport.Pair()
	if kind == "os.Pipe" {
		r1, w1, err1 := os.Pipe()
		r2, w2, err2 := os.Pipe()
		if err1 != nil || err2 != nil {
			tb.Fatal(fmt.Errorf("pipe: %v %v", err1, err2))
		}
		near, far = transport.NewStream(r1, w2), transport.NewStream(r2, w1)
	}
	return rpc.NewConn(near, clientSide, rpc.Options{}), rpc.NewConn(far, agentSide, rpc.Options{Server: true})
}

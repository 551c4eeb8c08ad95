package rpc_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// FuzzConn feeds a connection whatever it likes: it must come to its end, with
// every call failed, and only say JSON.
func FuzzConn(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x"}}` + "\n",
		`{"jsonrpc":"2.0","id":1,"error":{}}` + "\n",
		`{"jsonrpc":"2.0","id":0,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}` + "\n" + `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`,
		`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":1}}` + "\n" + `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"a"}}`,
		"\xef\xbb\xbf{}\r\n\r\nnull\n[[[[\n\"\\ud800\"\n" + strings.Repeat("x", 5000),
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, input []byte, server bool) {
		var out lockedBuilder
		r, w := io.Pipe()
		side := acp.ClientSide(acp.UnimplementedClientHandler{})
		if server {
			side = acp.AgentSide(acp.UnimplementedAgentHandler{})
		}
		c := rpc.NewConn(transport.NewStream(r, &out), side, rpc.Options{Server: server, Limits: rpc.Limits{Message: 4096}})
		done := call(t.Context(), c, "session/prompt", prompt)
		go func() {
			w.Write(input)
			w.Close()
		}()
		select {
		case <-c.Done():
		case <-time.After(patience.Soon):
			t.Fatalf("%q keeps the connection open", input)
		}
		err := receive(t, "end of the call", done)
		if err != nil && !isA[*rpc.ClosedError](err) && !isA[*acp.Error](err) && !isA[*rpc.MalformedError](err) && !isA[*rpc.TooLargeError](err) {
			t.Fatalf("%q makes a call fail with %T: %v", input, err, err)
		}
		if !errors.Is(c.Err(), io.EOF) {
			t.Fatalf("%q ends the connection with %v", input, c.Err())
		}
		for line := range bytes.Lines([]byte(out.String())) {
			if v := verdict(string(line)); !strings.Contains(string(line), `"jsonrpc":"2.0"`) || v == string(line) {
				t.Fatalf("%q was answered %q", input, line)
			}
		}
	})
}

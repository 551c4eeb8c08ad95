package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// C174. Neither version 1 nor version 2 uses JSON-RPC batches.
func TestNothingOfABatchIsExecuted(t *testing.T) {
	t.Parallel()
	for version := 1; version <= 2; version++ {
		for _, server := range []bool{true, false} {
			t.Run(fmt.Sprintf("version %d server %v", version, server), func(t *testing.T) {
				var ran journal
				c, w := dial(t, handler{
					request: func(_ context.Context, method string, _ json.RawMessage) (acp.Appender, error) {
						if method == acp.MethodInitialize {
							return raw(fmt.Sprintf(`{"protocolVersion":%d}`, version)), nil
						}
						ran.add("%s", method)
						return nil, acp.MethodNotFound(method)
					},
					notify: func(_ context.Context, method string, _ json.RawMessage) error {
						ran.add("%s", method)
						return nil
					},
				}, rpc.Options{Server: server, Handshake: server})
				if server {
					w.say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%d}}`, version)
					w.hear()
				}
				pending := call(t.Context(), c, "_slow", "{}")
				w.hear()
				w.say(`[{"jsonrpc":"2.0","id":7,"method":"_a"},{"jsonrpc":"2.0","method":"_b"},{"jsonrpc":"2.0","id":1,"result":{}}]`)
				if got := w.hear(); verdict(got) != "null -32600" || !strings.Contains(got, "batches are not supported") {
					t.Errorf("answered %s", got)
				}
				w.quiet()
				select {
				case err := <-pending:
					t.Errorf("a call was answered by the batch: %v", err)
				default:
				}
				w.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
				if err := receive(t, "answer", pending); err != nil {
					t.Error(err)
				}
				if got := ran.String(); got != "_none" {
					t.Errorf("executed %q", got)
				}
			})
		}
	}
}

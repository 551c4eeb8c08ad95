package codex

import (
	"bytes"

	"github.com/hermes-nvim/hermes/runtime/transport"
)

// bare is a transport without the members and methods of JSON-RPC that the
// app-server does not have: the version, and $/cancel_request. What it reads is
// left alone; a client's connection takes messages without a version.
type bare struct{ transport.Transport }

var (
	version = []byte(`"jsonrpc":"2.0",`)
	cancel  = []byte(`{"jsonrpc":"2.0","method":"$/cancel_request"`)
)

func (b bare) Write(msg []byte) error {
	if bytes.HasPrefix(msg, cancel) {
		return nil
	}
	if rest, found := bytes.CutPrefix(msg[1:], version); found {
		msg = append([]byte{'{'}, rest...)
	}
	return b.Transport.Write(msg)
}

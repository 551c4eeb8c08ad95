package codex

import (
	"bytes"
	"encoding/json"
	"sync/atomic"

	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// bare is a transport without the members and methods of JSON-RPC that the
// app-server does not have: the version, and $/cancel_request. Incoming messages pass
// unchanged, because a client's connection takes messages without a version. The
// exception is serverRequest/resolved, by which the app-server cancels a request that
// another client has answered: it becomes $/cancel_request.
type bare struct {
	transport.Transport
	mute atomic.Bool // nothing is sent any more, not even denials
}

var (
	version  = []byte(`"jsonrpc":"2.0",`)
	cancel   = []byte(`{"jsonrpc":"2.0","method":"$/cancel_request"`)
	resolved = []byte(`"` + appserver.MethodServerRequestResolved + `"`)
)

func (b *bare) Read(buf []byte) ([]byte, error) {
	msg, err := b.Transport.Read(buf)
	if err != nil || !bytes.Contains(msg, resolved) {
		return msg, err
	}
	var m struct {
		Method string
		Params appserver.ServerRequestResolvedNotification
	}
	if json.Unmarshal(msg, &m) != nil || m.Method != appserver.MethodServerRequestResolved {
		return msg, nil
	}
	msg = append(msg[:0], `{"method":"$/cancel_request","params":{"requestId":`...)
	return append(appserver.AppendRequestID(msg, m.Params.RequestID), "}}"...), nil
}

func (b *bare) Write(msg []byte) error {
	if b.mute.Load() || bytes.HasPrefix(msg, cancel) {
		return nil
	}
	if rest, found := bytes.CutPrefix(msg[1:], version); found {
		msg = append([]byte{'{'}, rest...)
	}
	return b.Transport.Write(msg)
}

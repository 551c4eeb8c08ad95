package websocket

import (
	"context"
	"fmt"
	"net/http"

	"github.com/coder/websocket"

	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
)

// StatusError reports a server that answered the handshake with something other
// than a WebSocket.
type StatusError struct {
	URL    string
	Status int
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s: the server answered %d %s", e.URL, e.Status, http.StatusText(e.Status))
}

// Permanent reports whether the same request will be refused again.
func (e *StatusError) Permanent() bool { return access.Permanent(e.Status) }

// Dial connects to a server at a ws, wss, http or https URL. Errors are a
// *StatusError, an *access.PlainError, an *access.RedirectError, or what the
// network says.
func Dial(ctx context.Context, url string, opts access.Client) (transport.Transport, error) {
	u, err := access.Parse(url)
	if err != nil {
		return nil, err
	}
	client := opts.HTTP()
	ws, answer, err := websocket.Dial(ctx, u.String(), &websocket.DialOptions{HTTPClient: client, HTTPHeader: opts.Headers()})
	if err != nil {
		client.CloseIdleConnections()
		if answer != nil && answer.StatusCode != http.StatusSwitchingProtocols && answer.StatusCode/100 != 3 {
			return nil, &StatusError{URL: u.Redacted(), Status: answer.StatusCode}
		}
		return nil, err
	}
	return newConn(ws, websocket.StatusNormalClosure), nil
}

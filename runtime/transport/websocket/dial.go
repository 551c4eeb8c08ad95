package websocket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	neturl "net/url"
	"strings"

	"github.com/coder/websocket"

	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
)

// Dial connects to a server at a ws, wss, http or https URL. Errors are a
// *access.StatusError, an *access.PlainError, an *access.RedirectError, or what the
// network says.
func Dial(ctx context.Context, url string, opts access.Client) (transport.Transport, error) {
	u, err := access.Parse(url)
	if err != nil {
		return nil, err
	}
	client := opts.HTTP()
	var below net.Conn
	if t, ok := client.Transport.(*http.Transport); ok {
		dial := t.DialContext
		if dial == nil {
			dial = new(net.Dialer).DialContext
		}
		t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			below = conn
			return conn, err
		}
	}
	ws, answer, err := websocket.Dial(ctx, u.String(), &websocket.DialOptions{HTTPClient: client, HTTPHeader: opts.Headers()})
	if err != nil {
		client.CloseIdleConnections()
		asked := *u
		asked.Scheme = map[string]string{"http": "ws", "https": "wss"}[u.Scheme]
		if answer != nil && answer.StatusCode != http.StatusSwitchingProtocols && answer.StatusCode/100 != 3 {
			body, _ := io.ReadAll(io.LimitReader(answer.Body, maxBody)) // it was read before
			return nil, &access.StatusError{Request: asked.Redacted(), Status: answer.StatusCode, Body: strings.TrimSpace(string(body))}
		}
		return nil, fmt.Errorf("%s: %w", asked.Redacted(), reason(err))
	}
	return newConn(ws, below, websocket.StatusNormalClosure, pingEvery), nil
}

// maxBody is how much of a refusal is kept, in bytes.
const maxBody = 1 << 10

// reason returns what went wrong, without the names that the layers between gave it.
func reason(err error) error {
	var request *neturl.Error // of the http.Client, which names the URL again
	if errors.As(err, &request) {
		return request.Err
	}
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

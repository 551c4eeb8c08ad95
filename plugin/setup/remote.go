package setup

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"

	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/httpstream"
	"github.com/hermes-nvim/hermes/runtime/transport/socket"
	"github.com/hermes-nvim/hermes/runtime/transport/websocket"
)

// Protocols by which an agent is reached.
const (
	protocolStdio     = "stdio" // a program of this machine, the default
	protocolSocket    = "socket"
	protocolTCP       = "tcp"
	protocolWebSocket = "websocket"
	protocolHTTP      = "http"
)

// Remote is where an agent is that this program does not start.
type Remote struct {
	Protocol string            `json:"protocol,omitempty"`
	Path     string            `json:"path,omitempty"` // of a Unix socket
	Host     string            `json:"host,omitempty"`
	Port     int               `json:"port,omitempty"`
	TLS      bool              `json:"tls,omitempty"` // of tcp; certificates as the system trusts them
	URL      string            `json:"url,omitempty"`
	Token    string            `json:"token,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
}

// IsRemote reports whether the agent runs elsewhere, where this program does not start it.
func (r Remote) IsRemote() bool { return r.Protocol != "" && r.Protocol != protocolStdio }

// over returns r with the members that o sets replaced.
func (r Remote) over(o Remote) Remote {
	r.Protocol = cmp.Or(o.Protocol, r.Protocol)
	r.Path = cmp.Or(o.Path, r.Path)
	r.Host = cmp.Or(o.Host, r.Host)
	r.Port = cmp.Or(o.Port, r.Port)
	r.TLS = r.TLS || o.TLS
	r.URL = cmp.Or(o.URL, r.URL)
	r.Token = cmp.Or(o.Token, r.Token)
	if o.Headers != nil {
		r.Headers = o.Headers
	}
	return r
}

// check names what is missing or wrong, without quoting the token.
func (r Remote) check(agent string) error {
	bad := func(format string, args ...any) error {
		return wire.Invalid("agent %q: %s", agent, fmt.Sprintf(format, args...))
	}
	switch r.Protocol {
	case "", protocolStdio:
		if r.Path != "" || r.Host != "" || r.Port != 0 || r.URL != "" || r.Token != "" {
			return bad("path, host, port, url and token need a protocol: socket, tcp, websocket or http")
		}
		return nil
	case protocolSocket:
		if !filepath.IsAbs(r.Path) {
			return bad("protocol socket needs path, the absolute path of a Unix socket, not %q", r.Path)
		}
	case protocolTCP:
		switch {
		case r.Host == "":
			return bad("protocol tcp needs host")
		case r.Port < 1 || r.Port > 65535:
			return bad("protocol tcp needs port, 1 to 65535, not %d", r.Port)
		case r.Token == "":
			return bad("protocol tcp needs token, the one that the server was started with")
		}
	case protocolWebSocket, protocolHTTP:
		if _, err := access.Parse(r.URL); err != nil {
			return bad("protocol %s needs url: %v", r.Protocol, err)
		}
	default:
		return bad("unknown protocol %q: it must be http, socket, stdio, tcp or websocket", r.Protocol)
	}
	if r.Token != "" {
		if _, err := access.ParseToken(r.Token); err != nil {
			return bad("token: %v", err)
		}
	}
	return nil
}

// Dial connects to the agent.
func (r Remote) Dial(ctx context.Context) (transport.Transport, error) {
	token := access.Token{}
	if r.Token != "" {
		var err error
		if token, err = access.ParseToken(r.Token); err != nil {
			return nil, err
		}
	}
	switch r.Protocol {
	case protocolSocket:
		return socket.DialUnix(ctx, r.Path)
	case protocolTCP:
		var config *tls.Config
		if r.TLS {
			config = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		return socket.DialTCP(ctx, net.JoinHostPort(r.Host, strconv.Itoa(r.Port)), token, config)
	}
	opts := access.Client{Token: token, Header: make(http.Header)}
	for name, value := range r.Headers {
		opts.Header.Set(name, value)
	}
	if r.Protocol == protocolHTTP {
		return httpstream.Dial(r.URL, opts)
	}
	return websocket.Dial(ctx, r.URL, opts)
}

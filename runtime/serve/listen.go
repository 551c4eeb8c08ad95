package serve

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/hermes-nvim/hermes/runtime/transport/socket"
)

// Endpoint is the path of the HTTP service if the address has none.
const Endpoint = "/acp"

// Listen opens an address:
//
//	unix:PATH                a socket only this user can reach
//	tcp:HOST:PORT            lines, after a handshake with the token
//	http://HOST:PORT[/PATH]  streamable HTTP, and WebSocket on the same path
//
// https is http with a certificate; encrypted says that there is one. Without
// it HOST must be this machine unless insecure is set, which is for use behind
// a proxy that terminates TLS. Port 0 takes a free port.
func Listen(address string, encrypted, insecure bool) (*Listener, error) {
	scheme, rest, _ := strings.Cut(address, ":")
	switch scheme {
	case "unix":
		path, err := filepath.Abs(strings.TrimPrefix(rest, "//"))
		if err != nil || rest == "" {
			return nil, fmt.Errorf("%q: expected unix:PATH", address)
		}
		l, err := socket.ListenUnix(path)
		if err != nil {
			return nil, err
		}
		return &Listener{Listener: l, url: "unix:" + path}, nil
	case "tcp":
		l, err := socket.ListenTCP(strings.TrimPrefix(rest, "//"), encrypted || insecure)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", address, err)
		}
		return &Listener{Listener: l, url: "tcp:" + named(rest, l)}, nil
	case "http", "https":
	default:
		return nil, fmt.Errorf("%q: expected unix:PATH, tcp:HOST:PORT or http://HOST:PORT/PATH", address)
	}
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, err
	case u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("%q: expected http://HOST:PORT/PATH", address)
	case scheme == "https" && !encrypted:
		return nil, fmt.Errorf("%q: https needs a certificate and its key", address)
	case u.Port() == "":
		return nil, fmt.Errorf("%q: no port (0 takes a free one)", address)
	}
	l, err := socket.ListenTCP(u.Host, encrypted || insecure)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", address, err)
	}
	if u.Scheme = "http"; encrypted {
		u.Scheme = "https"
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = Endpoint
	}
	u.Host = named(u.Host, l)
	return &Listener{Listener: l, http: true, path: u.Path, url: u.String()}, nil
}

// named is the requested address with the port that l got.
func named(address string, l net.Listener) string {
	host, _, err := net.SplitHostPort(strings.TrimPrefix(address, "//"))
	_, port, err2 := net.SplitHostPort(l.Addr().String())
	if err != nil || err2 != nil {
		return l.Addr().String()
	}
	return net.JoinHostPort(host, port)
}

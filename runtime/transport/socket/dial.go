package socket

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
)

// DialUnix connects to the Unix socket at path. The server must run as the same
// user, or as root; otherwise the error is a *PeerError.
func DialUnix(ctx context.Context, path string) (transport.Transport, error) {
	c, err := Dial(ctx, path)
	if err != nil {
		return nil, err
	}
	return transport.NewStream(c, c), nil
}

// Dial is DialUnix for a server that does not speak in lines.
func Dial(ctx context.Context, path string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, tooLong(path, err)
	}
	if err := samePeer(c.(*net.UnixConn), path, 0); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// DialTCP connects to a server at addr, "host:port", and presents the token.
// With a tls.Config the connection is encrypted; without one addr must be on
// this machine, because the token and the conversation would be readable. A
// refusal is a *RefusedError.
func DialTCP(ctx context.Context, addr string, token access.Token, config *tls.Config) (transport.Transport, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	if config == nil && !access.Loopback(host) {
		return nil, fmt.Errorf("%s: refusing to connect without TLS to another machine (use TLS, or an ssh tunnel to a loopback port)", addr)
	}
	d := net.Dialer{Timeout: HandshakeTimeout}
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	if config != nil {
		config = config.Clone()
		if config.ServerName == "" {
			config.ServerName = host
		}
		c = tls.Client(c, config)
	}
	if err := greet(ctx, c, token); err != nil {
		c.Close()
		return nil, err
	}
	return transport.NewStream(c, c), nil
}

// samePeer checks that the other end runs as this user, or as one of others.
func samePeer(c *net.UnixConn, path string, others ...int) error {
	uid, err := peerUID(c)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil // the folder's mode must suffice
	}
	if err != nil {
		return fmt.Errorf("%s: cannot identify the other end: %w", path, err)
	}
	for _, ok := range append(others, os.Getuid()) {
		if uid == ok {
			return nil
		}
	}
	return &PeerError{Path: path, UID: uid, Want: os.Getuid()}
}

//go:build amd64 || arm64

package shim

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// proxying is the proxy for HTTP of the programs in a gate for effects. It uses the proxy of the
// user, if there is one.
func (s *supervisor) proxying() *http.Server {
	direct := &http.Transport{DialContext: s.dialHost, DisableCompression: true}
	beyond := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableCompression: true}
	quiet := log.New(io.Discard, "", 0)
	forward := &httputil.ReverseProxy{
		Rewrite: func(*httputil.ProxyRequest) {},
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if proxy, err := http.ProxyFromEnvironment(r); proxy == nil {
				return direct.RoundTrip(r)
			} else if err = errors.Join(err, s.mayRequest(r.Context(), addressOfURL(r.URL))); err != nil {
				return nil, err
			}
			return beyond.RoundTrip(r)
		}),
		FlushInterval: -1,
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, err error) { refuseRequest(w, err) },
		ErrorLog:      quiet,
	}
	handle := func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodConnect:
			s.tunnel(w, r)
		case r.URL.Scheme != "http" || r.URL.Host == "":
			http.Error(w, "hermes: this is a proxy, which takes CONNECT and http://", http.StatusBadRequest)
		default:
			forward.ServeHTTP(w, r)
		}
	}
	return &http.Server{Handler: http.HandlerFunc(handle), ErrorLog: quiet}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// addressOfURL is the host of an address with its port.
func addressOfURL(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// refuseRequest says why there is no connection.
func refuseRequest(w http.ResponseWriter, err error) {
	status := http.StatusBadGateway
	if errors.As(err, new(errNotAllowed)) {
		status = http.StatusForbidden
	}
	http.Error(w, "hermes: "+err.Error(), status)
}

// errNotAllowed says that the user does not allow a connection.
type errNotAllowed struct{ error }

func (e errNotAllowed) Unwrap() error { return e.error }

// dialHost connects to a host after it was asked about.
func (s *supervisor) dialHost(ctx context.Context, _, address string) (net.Conn, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("the port of %q: %w", address, err)
	}
	list, err := s.find(host, uint16(port), func(host string) error { return s.mayRequest(ctx, host) })
	if err != nil {
		return nil, err
	}
	return dialFirst(ctx, list)
}

// mayRequest asks about a connection for a request.
func (s *supervisor) mayRequest(ctx context.Context, host string) error {
	q := s.report(0, "")
	q.Kind, q.Host = feed.Connect, host
	if err := s.gate.ask(ctx, q); err != nil {
		return errNotAllowed{fmt.Errorf("a connection to %s is not allowed: %w", host, err)}
	}
	return nil
}

// dialFirst connects to the first address that answers.
func dialFirst(ctx context.Context, list []netip.AddrPort) (c net.Conn, err error) {
	err = unix.EHOSTUNREACH
	for _, at := range list {
		if c, err = (&net.Dialer{}).DialContext(ctx, "tcp", at.String()); err == nil {
			return c, nil
		}
	}
	return nil, err
}

// tunnel connects a program to a host. What they say is not looked at.
func (s *supervisor) tunnel(w http.ResponseWriter, r *http.Request) {
	c, err := s.dialTunnel(r.Context(), r.Host)
	if err != nil {
		refuseRequest(w, err)
		return
	}
	defer c.Close()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		refuseRequest(w, err)
		return
	}
	defer client.Close()
	if _, err := io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(c, buffered)
		closeWrite(c)
	}()
	io.Copy(client, c)
	closeWrite(client)
	<-done
}

func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
}

// dialTunnel connects to a host, by the proxy of the user if there is one.
func (s *supervisor) dialTunnel(ctx context.Context, host string) (net.Conn, error) {
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: "https", Host: host}})
	if err != nil || proxy == nil || proxy.Scheme != "http" && proxy.Scheme != "https" {
		return s.dialHost(ctx, "tcp", host)
	}
	if err := s.mayRequest(ctx, host); err != nil {
		return nil, err
	}
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", addressOfURL(proxy))
	if err != nil {
		return nil, err
	}
	if proxy.Scheme == "https" {
		c = tls.Client(c, &tls.Config{ServerName: proxy.Hostname()})
	}
	ask := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: host}, Host: host, Header: http.Header{}}
	if u := proxy.User; u != nil {
		password, _ := u.Password()
		ask.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password)))
	}
	if err := ask.Write(c); err != nil {
		c.Close()
		return nil, err
	}
	said := bufio.NewReader(c)
	resp, err := http.ReadResponse(said, ask)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("the proxy %s says %s", proxy.Host, resp.Status)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return tunnelled{c, said}, nil
}

// tunnelled is a connection of which a part may have been read.
type tunnelled struct {
	net.Conn
	said *bufio.Reader
}

func (t tunnelled) Read(b []byte) (int, error) { return t.said.Read(b) }

// CloseWrite says that nothing more will be sent.
func (t tunnelled) CloseWrite() error {
	closeWrite(t.Conn)
	return nil
}

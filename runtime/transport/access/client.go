package access

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"
)

const (
	maxRedirects      = 5
	maxResponseHeader = 64 << 10 // bytes
	dialTimeout       = 30 * time.Second
)

// Client says how a client reaches a server over HTTP or WebSocket. Plain http
// is for this machine only, redirects stay on the server's origin, proxies come
// from the environment (HTTPS_PROXY, NO_PROXY), and cookies follow their
// Domain, Path, Secure and expiry.
type Client struct {
	// Token, when there is one, is sent as a bearer token.
	Token Token
	// Header holds further headers of every request.
	Header http.Header
	// TLS is for custom certificates; nil means the system's.
	TLS *tls.Config
	// Jar keeps cookies across connections, which load balancers use to find
	// the same machine again. Nil: cookies last as long as the connection.
	Jar http.CookieJar
	// Dial, if set, makes the connections, such as to a Unix socket, without a proxy.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// RedirectError reports a redirect to another origin, which would get the
// token and the cookies.
type RedirectError struct{ From, To string }

func (e *RedirectError) Error() string {
	return fmt.Sprintf("refusing the redirect from %s to %s: another origin", e.From, e.To)
}

// Permanent reports that trying again is pointless.
func (e *RedirectError) Permanent() bool { return true }

// PlainError reports a URL that would send the token and the conversation
// unencrypted over a network.
type PlainError struct{ URL string }

func (e *PlainError) Error() string {
	return fmt.Sprintf("%s: refusing to connect without TLS to another machine (use https or wss, or an ssh tunnel to a loopback port)", e.URL)
}

// Permanent reports that trying again is pointless.
func (e *PlainError) Permanent() bool { return true }

// StatusError reports a server that refused a request, such as with 401 for a wrong
// token. Over WebSocket it is the error of Dial, over streamable HTTP it ends the
// connection.
type StatusError struct {
	Request string // its URL, or the method
	Status  int
	Body    string // beginning of what the server said
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("%s: the server answered %d %s", e.Request, e.Status, http.StatusText(e.Status))
	if e.Body != "" {
		text += fmt.Sprintf(": %.200q", e.Body)
	}
	return text
}

// Permanent reports whether a retry of the same request would get the same
// status, because the fault is the client's.
func (e *StatusError) Permanent() bool {
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed,
		http.StatusNotAcceptable, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		return true
	}
	return false
}

// Parse checks the URL of a server: http, https, ws or wss. The scheme of the
// result is http or https.
func Parse(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	switch u.Scheme {
	case "ws":
		u.Scheme = "http"
	case "wss":
		u.Scheme = "https"
	case "http", "https":
	default:
		return nil, fmt.Errorf("%s: the scheme is not http, https, ws or wss", u.Redacted())
	}
	switch {
	case u.User != nil:
		return nil, fmt.Errorf("%s: credentials do not belong in the URL (use a token)", u.Redacted())
	case u.Hostname() == "":
		return nil, fmt.Errorf("%s: no host", text)
	case u.Scheme == "http" && !Loopback(u.Hostname()):
		return nil, &PlainError{text}
	}
	u.Fragment = ""
	return u, nil
}

// HTTP returns an http.Client that follows the rules above. It has its own
// transport; close its idle connections when done.
func (c *Client) HTTP() *http.Client {
	jar := c.Jar
	if jar == nil {
		jar, _ = cookiejar.New(nil) // cannot fail
	}
	proxy := http.ProxyFromEnvironment
	if c.Dial != nil {
		proxy = nil
	}
	return &http.Client{
		Jar:           jar,
		CheckRedirect: sameOrigin,
		Transport: &http.Transport{
			Proxy:                  proxy,
			DialContext:            c.Dial,
			TLSClientConfig:        c.TLS,
			ForceAttemptHTTP2:      true,
			TLSHandshakeTimeout:    dialTimeout,
			MaxResponseHeaderBytes: maxResponseHeader,
			MaxIdleConnsPerHost:    8,
			IdleConnTimeout:        time.Minute,
			HTTP2:                  &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
		},
	}
}

// Headers returns the headers of every request.
func (c *Client) Headers() http.Header {
	h := c.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	if !c.Token.IsZero() {
		h.Set("Authorization", "Bearer "+c.Token.Reveal())
	}
	return h
}

func sameOrigin(r *http.Request, via []*http.Request) error {
	from, to := origin(via[0].URL), origin(r.URL)
	if from != to {
		return &RedirectError{From: from, To: to}
	}
	if len(via) >= maxRedirects {
		return fmt.Errorf("%s: more than %d redirects", from, maxRedirects)
	}
	return nil
}

func origin(u *url.URL) string {
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	switch scheme {
	case "ws":
		scheme = "http"
	case "wss":
		scheme = "https"
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	return scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

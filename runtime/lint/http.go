package lint

import (
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/internal/jtree"
)

const (
	connectionHeader = "Acp-Connection-Id"
	sessionHeader    = "Acp-Session-Id"
	versionHeader    = "Acp-Protocol-Version"
	maxExchanges     = 4096 // that are remembered, streams among them
	maxCookies       = 64
)

const remotePage = "rfd/streamable-http-websocket-transport"

func httpRules() []Rule {
	return []Rule{
		{
			ID: "HTP01", Severity: Error, Side: ByClient, Versions: All, Page: remotePage, Strength: Must,
			Summary: "What is posted is declared as application/json.",
			Why:     "The server refuses anything else with 415.",
			Check: func(c *Checker) {
				followHTTP(c, func(e *exchange, r *Record) {
					if e.method != http.MethodPost {
						return
					}
					c.Exercised()
					if kind, _, _ := mime.ParseMediaType(r.HTTP.Header.Get("Content-Type")); kind != "application/json" {
						failHTTP(c, r, Client, "the Content-Type is %q", quote(r.HTTP.Header.Get("Content-Type")))
					}
				}, nil, nil)
			},
		},
		{
			ID: "HTP02", Severity: Error, Side: ByClient, Versions: All, Page: remotePage, Strength: Must,
			Summary: "A request for a stream accepts text/event-stream.",
			Why:     "The server refuses anything else with 406.",
			Check: func(c *Checker) {
				followHTTP(c, func(e *exchange, r *Record) {
					if e.method != http.MethodGet || e.upgrade {
						return
					}
					c.Exercised()
					if accept := strings.Join(r.HTTP.Header.Values("Accept"), ","); !strings.Contains(strings.ToLower(accept), "text/event-stream") {
						failHTTP(c, r, Client, "it accepts %q", quote(accept))
					}
				}, nil, nil)
			},
		},
		{
			ID: "HTP03", Severity: Error, Side: ByServer, Versions: All, Page: remotePage, Strength: Must,
			Summary: "initialize is answered with 200, JSON and a connection id, and any other POST with 202 and no body.",
			Why:     "Clients read the answers of all other requests from the streams, and wait there for ever.",
			Check: func(c *Checker) {
				followHTTP(c, nil, func(e *exchange, r *Record) {
					if e.method != http.MethodPost || !accepted(r) || e.batch {
						return
					}
					c.Exercised()
					kind, _, _ := mime.ParseMediaType(r.HTTP.Header.Get("Content-Type"))
					switch {
					case !e.initialize && r.HTTP.Status != http.StatusAccepted:
						failHTTP(c, r, Agent, "the status is %d, not 202", r.HTTP.Status)
					case !e.initialize && len(r.Bytes) > 0:
						failHTTP(c, r, Agent, "the response has a body")
					case !e.initialize:
					case r.HTTP.Status != http.StatusOK:
						failHTTP(c, r, Agent, "the status of initialize is %d, not 200", r.HTTP.Status)
					case kind != "application/json":
						failHTTP(c, r, Agent, "the Content-Type of initialize is %q", quote(kind))
					case r.HTTP.Header.Get(connectionHeader) == "":
						failHTTP(c, r, Agent, "there is no "+connectionHeader)
					}
				}, nil)
			},
		},
		{
			ID: "HTP04", Severity: Error, Side: ByClient, Versions: All, Page: remotePage, Strength: Must,
			Summary: "Requests after initialize have the connection id, and requests about a session also its id, the same as in the params.",
			Why:     "The server cannot tell which connection and session they belong to.",
			Check: func(c *Checker) {
				followHTTP(c, func(e *exchange, r *Record) {
					if !e.belongs() {
						return
					}
					c.Exercised()
					switch {
					case e.connection == "":
						failHTTP(c, r, Client, "there is no "+connectionHeader)
					case e.lacksSession():
						failHTTP(c, r, Client, "there is no "+sessionHeader)
					case e.otherSession():
						failHTTP(c, r, Client, sessionHeader+" is not the sessionId of the params")
					}
				}, nil, nil)
			},
		},
		{
			ID: "HTP05", Severity: Error, Side: ByServer, Versions: All, Page: remotePage, Strength: Must,
			Summary: "Without a connection id the status is 400, with an unknown one 404, and without the right session id 400.",
			Why:     "The client cannot tell whether to mend the request or to connect again.",
			Check: func(c *Checker) {
				ids := NewBounded[string, bool](maxExchanges) // of connections that the server named
				seen := false
				followHTTP(c, nil, func(e *exchange, r *Record) {
					if id := r.HTTP.Header.Get(connectionHeader); id != "" && (e.initialize || e.upgrade) {
						ids.Put(bounded([]byte(id)), true)
						seen = true
					}
					if !e.belongs() {
						return
					}
					_, known := ids.Get(e.connection)
					switch {
					case e.connection == "":
						c.Exercised()
						if accepted(r) || r.HTTP.Status == http.StatusNotFound {
							failHTTP(c, r, Agent, "there is no connection id, and the status is %d", r.HTTP.Status)
						}
					case !known && seen && c.Whole && !ids.Lost():
						c.Exercised()
						if accepted(r) || r.HTTP.Status == http.StatusBadRequest {
							failHTTP(c, r, Agent, "there is no such connection, and the status is %d", r.HTTP.Status)
						}
					case e.lacksSession(), e.otherSession():
						c.Exercised()
						if accepted(r) {
							failHTTP(c, r, Agent, "the session id is missing or another one, and the status is %d", r.HTTP.Status)
						}
					}
				}, nil)
			},
		},
		{
			ID: "HTP06", Severity: Error, Side: ByServer, Versions: All, Page: remotePage, Strength: Must,
			Summary: "Messages of a session come on its stream, and answers that open sessions on the stream of the connection.",
			Why:     "Clients look for a message on one stream, and see it late or never on another.",
			Check:   checkStreams,
		},
		{
			ID: "HTP07", Severity: Error, Side: BySender, Versions: All, Page: remotePage, Strength: Must,
			Summary: "Streams and posts use HTTP/2.",
			Why:     "HTTP/1.1 needs a connection for each stream, and browsers and proxies allow only a few.",
			Check: func(c *Checker) {
				told := false
				followHTTP(c, func(e *exchange, r *Record) {
					if e.upgrade || r.HTTP.Proto == "" {
						return
					}
					c.Exercised()
					if strings.HasPrefix(r.HTTP.Proto, "HTTP/1") && !told {
						told = true
						failHTTP(c, r, Client, "the connection uses %s", quote(r.HTTP.Proto))
					}
				}, nil, nil)
			},
		},
		{
			ID: "HTP08", Severity: Error, Side: ByClient, Versions: All, Page: remotePage, Strength: Must,
			Summary: "Clients send back the cookies that the server has set.",
			Why:     "Balancers send the request to another server, which does not know the connection.",
			Check:   checkCookies,
		},
		{
			ID: "HTP09", Severity: Warn, Side: ByClient, Versions: All, Page: remotePage, Strength: Must,
			Summary: "A client that is told that there are no streams uses a WebSocket.",
			Why:     "Servers may support WebSockets only.",
			Check: func(c *Checker) {
				var refused *Finding
				followHTTP(c, func(e *exchange, _ *Record) {
					if e.upgrade {
						c.Exercised()
						refused = nil
					}
				}, func(e *exchange, r *Record) {
					if e.initialize && slices.Contains([]int{http.StatusMethodNotAllowed, http.StatusUpgradeRequired, http.StatusNotImplemented}, r.HTTP.Status) {
						f := c.Describe(httpFrame(c, r), Value{}, "the server has no streams, and the client does not try a WebSocket")
						f.By = Client
						refused = &f
					}
				}, nil)
				c.End(func() {
					if refused != nil && c.Closed {
						c.Add(*refused)
					}
				})
			},
		},
		{
			ID: "HTP10", Severity: Error, Side: BySender, Versions: All, Page: remotePage, Strength: Must,
			Summary: "Messages on a WebSocket are text frames.",
			Why:     "The other side ignores binary ones.",
			Check: func(c *Checker) {
				followHTTP(c, nil, nil, func(_ *exchange, r *Record) {
					switch r.HTTP.Opcode {
					case 1:
						c.Exercised()
					case 2:
						failHTTP(c, r, r.From, "the frame is binary")
					}
				})
			},
		},
		{
			ID: "HTP11", Severity: Error, Side: ByClient, Versions: All, Page: remotePage, Strength: Must,
			Summary: "The first message on a WebSocket is initialize.",
			Why:     "The server closes the connection.",
			Check: func(c *Checker) {
				opened := false
				followHTTP(c, nil, func(e *exchange, r *Record) {
					opened = opened || r.HTTP.Status == http.StatusSwitchingProtocols
				}, func(_ *exchange, r *Record) {
					if !opened || r.From != Client || r.HTTP.Opcode != 1 {
						return
					}
					opened = false
					c.Exercised()
					if !readBody(r.Bytes).initialize {
						failHTTP(c, r, Client, "this message is not initialize")
					}
				})
			},
		},
		{
			ID: "HTP12", Severity: Error, Side: ByServer, Versions: All, Page: remotePage, Strength: Must,
			Summary: "The response that opens a WebSocket has the connection id.",
			Why:     "Clients and logs cannot name the connection.",
			Check: func(c *Checker) {
				followHTTP(c, nil, func(_ *exchange, r *Record) {
					if r.HTTP.Status != http.StatusSwitchingProtocols {
						return
					}
					c.Exercised()
					if r.HTTP.Header.Get(connectionHeader) == "" {
						failHTTP(c, r, Agent, "there is no "+connectionHeader)
					}
				}, nil)
			},
		},
		{
			ID: "HTP13", Severity: Warn, Side: ByServer, Versions: All, Page: remotePage, Strength: RFD,
			Summary: "The server refuses batches.",
			Why:     "The transport has no answer for it, so the client would wait for some that never come.",
			Check: func(c *Checker) {
				followHTTP(c, nil, func(e *exchange, r *Record) {
					if e.method != http.MethodPost || !e.batch {
						return
					}
					c.Exercised()
					if accepted(r) {
						failHTTP(c, r, Agent, "a batch is accepted with %d", r.HTTP.Status)
					}
				}, nil)
			},
		},
		{
			ID: "HTP14", Severity: Error, Side: ByServer, Versions: All, Page: remotePage, Strength: Must,
			Summary: "DELETE ends a connection with 202, and requests after it get 404.",
			Why:     "The client cannot tell whether the agent still works for it.",
			Check: func(c *Checker) {
				ended := NewBounded[string, int](maxExchanges) // number of the exchange that ended a connection
				followHTTP(c, nil, func(e *exchange, r *Record) {
					if e.connection == "" || e.upgrade {
						return
					}
					_, gone := ended.Get(e.connection)
					switch {
					case gone && e.afterEnd:
						c.Exercised()
						if accepted(r) || r.HTTP.Status == http.StatusBadRequest {
							failHTTP(c, r, Agent, "the connection was deleted, and the status is %d", r.HTTP.Status)
						}
					case e.method == http.MethodDelete && accepted(r):
						c.Exercised()
						ended.Put(e.connection, r.HTTP.Exchange)
						if r.HTTP.Status != http.StatusAccepted {
							failHTTP(c, r, Agent, "the status is %d, not 202", r.HTTP.Status)
						}
					}
				}, nil)
			},
		},
		{
			ID: "HTP15", Severity: Warn, Side: ByClient, Versions: All, Page: remotePage, Strength: Should,
			Summary: "The version that a client repeats in a header is the one that was negotiated.",
			Why:     "Servers and proxies choose by it how to read the request.",
			Check: func(c *Checker) {
				followHTTP(c, func(e *exchange, r *Record) {
					version := r.HTTP.Header.Get(versionHeader)
					want, ok := c.AgentHello.Get("protocolVersion").Int()
					if version == "" || !ok || e.initialize || e.upgrade {
						return
					}
					c.Exercised()
					if version != strconv.FormatInt(want, 10) {
						failHTTP(c, r, Client, "the header says %q, and version %d was negotiated", quote(version), want)
					}
				}, nil, nil)
			},
		},
		{
			ID: "HTP16", Severity: Error, Side: ByServer, Versions: All, Strength: Security,
			Summary: "A server on this computer refuses requests that name another host or come from another web site.",
			Why:     "Any web page that the user visits could run the agent.",
			Check: func(c *Checker) {
				followHTTP(c, nil, func(e *exchange, r *Record) {
					if !e.local || e.method == http.MethodOptions {
						return
					}
					c.Exercised()
					ok := accepted(r) || r.HTTP.Status == http.StatusSwitchingProtocols
					switch {
					case ok && e.host != "" && !isLoopback(e.host):
						failHTTP(c, r, Agent, "the request is for the host %q, and the status is %d", quote(e.host), r.HTTP.Status)
					case accepted(r) && e.foreign && r.HTTP.Header.Get("Access-Control-Allow-Origin") == "":
						failHTTP(c, r, Agent, "the request is from a web site that is not allowed, and the status is %d", r.HTTP.Status)
					}
				}, nil)
			},
		},
		{
			ID: "HTP17", Severity: Error, Side: ByServer, Versions: All, Page: remotePage, Strength: Security,
			Summary: "A server on the network demands a credential with each request, and a connection id is not one.",
			Why:     "Whoever reaches it or learns the id can run the agent.",
			Check: func(c *Checker) {
				used := false // a credential
				followHTTP(c, func(e *exchange, _ *Record) { used = used || e.credential }, func(e *exchange, r *Record) {
					if e.url == nil || e.url.Host == "" || e.local || e.method == http.MethodOptions || !accepted(r) && r.HTTP.Status != http.StatusSwitchingProtocols {
						return
					}
					c.Exercised()
					plain := e.url.Scheme == "http" || e.url.Scheme == "ws" // otherwise there may be a client certificate
					switch {
					case e.credential:
					case used && e.connection != "":
						failHTTP(c, r, Agent, "the connection id is accepted without the credential of earlier requests")
					case plain:
						failHTTP(c, r, Agent, "a request without a credential is accepted with %d", r.HTTP.Status)
					}
				}, nil)
			},
		},
		{
			ID: "HTP18", Severity: Warn, Side: BySender, Versions: All, Strength: Security,
			Summary: "Connections to another computer are encrypted.",
			Why:     "Others on the network can read the conversation and add to it.",
			Check: func(c *Checker) {
				told := false
				followHTTP(c, func(e *exchange, r *Record) {
					if e.url == nil || e.url.Host == "" {
						return
					}
					c.Exercised()
					if (e.url.Scheme == "http" || e.url.Scheme == "ws") && !e.local && !told {
						told = true
						failHTTP(c, r, Client, "%s to %s", e.url.Scheme, quote(e.url.Hostname()))
					}
				}, nil, nil)
			},
		},
	}
}

// body is what is known of a message from its text alone.
type body struct {
	read              bool // it is JSON
	batch, initialize bool
	method, session   string // session: of the params
}

func readBody(text []byte) (b body) {
	var tree jtree.Tree
	if len(text) == 0 || len(text) > maxCapability || tree.Parse(text) != nil {
		return b
	}
	root := tree.Root()
	b.read, b.batch = true, root.IsArray()
	b.method = bounded(root.Get("method").Bytes())
	b.initialize = b.method == "initialize"
	b.session = bounded(root.Get("params", "sessionId").Bytes())
	return b
}

// exchange is a request and what came of it.
type exchange struct {
	body                       // of the request
	method              string // of HTTP
	url                 *url.URL
	host                string // of the header
	local               bool   // the URL leads to this computer
	foreign             bool   // a page of another web site sent it
	upgrade             bool   // to a WebSocket
	credential          bool
	connection, session string // headers
	status              int    // of the response, 0 before it
	afterEnd            bool   // its connection was deleted before
}

// belongs reports whether a request belongs to a connection that exists.
func (e *exchange) belongs() bool {
	switch e.method {
	case http.MethodPost:
		return e.read && !e.initialize && !e.batch
	case http.MethodGet:
		return !e.upgrade
	}
	return e.method == http.MethodDelete
}

func (e *exchange) lacksSession() bool {
	return e.session == "" && e.body.session != "" && slices.Contains(clientMethodsOfSession, e.body.method)
}

func (e *exchange) otherSession() bool {
	return e.session != "" && e.body.session != "" && e.session != e.body.session
}

// accepted reports whether a response says that the request was accepted.
func accepted(r *Record) bool { return r.HTTP.Status >= 200 && r.HTTP.Status < 300 }

// credentialWords are in the names of headers with credentials.
var credentialWords = []string{"authorization", "cookie", "key", "token", "secret", "auth"}

// followHTTP calls request, response and other, which may be nil, with what travels: the
// request of an exchange, the beginning of its response, and events and WebSocket frames,
// whose exchange may be nil. Requests whose headers the capture lacks are left out.
func followHTTP(c *Checker, request, response, other func(*exchange, *Record)) {
	exchanges := NewBounded[int, *exchange](maxExchanges)
	ended := NewBounded[string, bool](maxExchanges)
	c.HTTP(func(r *Record) {
		h := r.HTTP
		e, known := exchanges.Get(h.Exchange)
		switch {
		case h.Opcode == 0 && h.Method != "" && len(h.Header) > 0:
			e = newExchange(r)
			_, e.afterEnd = ended.Get(e.connection)
			exchanges.Put(h.Exchange, e)
			if request != nil {
				request(e, r)
			}
		case h.Opcode == 0 && h.Method == "" && h.Status > 0 && known && e.status == 0:
			e.status = h.Status
			if response != nil {
				response(e, r)
			}
			if e.method == http.MethodDelete && accepted(r) && e.connection != "" {
				ended.Put(e.connection, true)
			}
		case h.Method == "" && other != nil:
			other(e, r)
		}
	})
}

func newExchange(r *Record) *exchange {
	h := r.HTTP
	e := &exchange{
		body: readBody(r.Bytes), method: h.Method, host: h.Header.Get("Host"),
		connection: bounded([]byte(h.Header.Get(connectionHeader))), session: bounded([]byte(h.Header.Get(sessionHeader))),
		upgrade: strings.EqualFold(h.Header.Get("Upgrade"), "websocket") || h.Header.Get(":protocol") == "websocket",
	}
	if u, err := url.Parse("http://" + e.host); err == nil {
		e.host = u.Hostname()
	}
	if u, err := url.Parse(h.URL); err == nil {
		e.url = u
		e.local = u.Host != "" && isLoopback(u.Hostname())
		e.credential = u.User != nil || u.RawQuery != ""
	}
	if o, err := url.Parse(h.Header.Get("Origin")); err == nil && o.Host != "" {
		e.foreign = !isLoopback(o.Hostname()) && !strings.EqualFold(o.Hostname(), e.host)
	}
	for name := range h.Header {
		e.credential = e.credential || !strings.HasPrefix(name, "Sec-") && slices.ContainsFunc(credentialWords, func(w string) bool { return strings.Contains(strings.ToLower(name), w) })
	}
	return e
}

// httpFrame makes a frame of a record that need not be a message.
func httpFrame(c *Checker, r *Record) *Frame {
	f := &Frame{Record: *r}
	if len(r.Bytes) > 0 {
		f.Number = c.linter.number + 1
	}
	return f
}

// failHTTP reports that a party broke the rule by how a record travelled.
func failHTTP(c *Checker, r *Record, by Party, format string, args ...any) {
	f := c.Describe(httpFrame(c, r), Value{}, format, args...)
	f.By = by
	c.Add(f)
}

// checkStreams compares the stream that a message came on with the session that it is
// about. Servers with one stream for all sessions follow an older proposal.
func checkStreams(c *Checker) {
	streams := NewBounded[string, bool](maxSessions) // sessions with a stream
	followHTTP(c, nil, func(e *exchange, r *Record) {
		if e.method == http.MethodGet && !e.upgrade && accepted(r) && e.session != "" {
			streams.Put(e.session, true)
		}
	}, func(e *exchange, r *Record) {
		if e == nil || e.upgrade || e.method != http.MethodGet || r.HTTP.Opcode != 0 || len(r.Bytes) == 0 {
			return
		}
		var tree jtree.Tree
		if tree.Parse(r.Bytes) != nil {
			return
		}
		root := tree.Root()
		if id := root.Get("params", "sessionId"); id.IsString() {
			session := bounded(id.Bytes())
			c.Exercised()
			if _, has := streams.Get(session); e.session == "" && has {
				failHTTP(c, r, Agent, "the message is on the stream of the connection, and its session has a stream")
			} else if e.session != "" && e.session != session {
				failHTTP(c, r, Agent, "the message is on the stream of another session")
			}
			return
		}
		if root.Get("method").Exists() || !root.Get("id").Exists() {
			return
		}
		q, ok := c.Outstanding(Client).Get(Key(root.Get("id")))
		if ok && (q.Method == "session/new" || q.Method == "session/load") {
			c.Exercised()
			if e.session != "" {
				failHTTP(c, r, Agent, "the answer to %s is on the stream of a session", q.Method)
			}
		}
	})
}

// checkCookies looks for requests without a cookie that they should have.
func checkCookies(c *Checker) {
	type jar struct {
		path string
		set  time.Time
	}
	cookies := NewBounded[string, jar](maxCookies)
	followHTTP(c, func(e *exchange, r *Record) {
		sent := (&http.Request{Header: r.HTTP.Header}).Cookies()
		for name, j := range cookies.All() {
			if c.Crossed(j.set, r.Time) || e.url == nil || !strings.HasPrefix(e.url.Path, j.path) {
				continue
			}
			c.Exercised()
			if !slices.ContainsFunc(sent, func(k *http.Cookie) bool { return k.Name == name }) {
				failHTTP(c, r, Client, "the cookie %q is missing", quote(name))
			}
		}
	}, func(e *exchange, r *Record) {
		for _, k := range (&http.Response{Header: r.HTTP.Header}).Cookies() {
			secure := e.url != nil && (e.url.Scheme == "https" || e.url.Scheme == "wss")
			switch expired := k.MaxAge < 0 || !k.Expires.IsZero() && k.Expires.Before(r.Time.Add(time.Hour)); {
			case expired || k.MaxAge > 0 || k.Secure && !secure || k.Domain != "":
				cookies.Delete(k.Name)
			case k.Value != "":
				where := k.Path
				if !strings.HasPrefix(where, "/") && e.url != nil {
					where = path.Dir(e.url.Path)
				}
				cookies.Put(k.Name, jar{where, r.Time})
			}
		}
	}, nil)
}

package httpstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/envelope"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
)

const (
	maxErrorBody  = 8 << 10          // bytes kept of what a server says with an error
	headerTimeout = 30 * time.Second // for a server to open a stream
	deleteTimeout = 2 * time.Second
	orderly       = 500 * time.Millisecond // for initialize, and for streams, to end in order
	together      = 5 * time.Second        // for the connection to end after the stream of a session
)

// client is the client's side of a connection.
type client struct {
	url     *url.URL
	http    *http.Client
	headers http.Header
	max     int
	silence time.Duration // of a server that sends comments, at least, until it is taken for gone

	ctx    context.Context // ends with the connection
	cancel context.CancelCauseFunc
	last   context.Context // ends before that: the connection's stream has ended, and only the rest of others is waited for
	ending context.CancelFunc
	in     chan arrival
	run    sync.WaitGroup
	once   sync.Once

	begun bool          // initialize was sent; owned by Write
	ready chan struct{} // closed when initialize was answered, or failed

	mu       sync.Mutex
	giveUp   context.CancelFunc // ends initialize; nil before it
	id       string             // of the connection, "" before initialize
	streams  map[string]*stream // by session; "" is the stream of the connection
	streamed map[string]bool    // sessions that had a stream with numbered events
	waiting  map[string]waiting // calls by id
	asked    map[string]string  // the agent's requests: the session they came from
}

// arrival is what Read returns.
type arrival struct {
	msg []byte
	err error
}

// waiting is a call whose answer is due on a stream.
type waiting struct {
	id      []byte
	method  string
	session string
	on      string // the session whose stream it is due on
}

// Dial returns a connection to the server at an http or https URL. Nothing is
// sent before the first message, which must be initialize. Errors of Read and
// Write are an *access.StatusError, an *access.RedirectError, io.EOF when the server
// ended the connection, or what the network says.
func Dial(url string, opts access.Client) (transport.Transport, error) {
	u, err := access.Parse(url)
	if err != nil {
		return nil, err
	}
	c := &client{
		url: u, http: opts.HTTP(), headers: opts.Headers(), max: transport.DefaultMaxMessage, silence: minSilence,
		in: make(chan arrival), ready: make(chan struct{}),
		streams: map[string]*stream{}, streamed: map[string]bool{}, waiting: map[string]waiting{}, asked: map[string]string{},
	}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	c.last, c.ending = context.WithCancel(c.ctx)
	return c, nil
}

// SetMaxMessage implements transport.Limiter.
func (c *client) SetMaxMessage(n int) { c.max = n }

// Read implements transport.Transport.
func (c *client) Read(buf []byte) ([]byte, error) {
	select {
	case a := <-c.in:
		return append(buf[:0], a.msg...), a.err
	case <-c.ctx.Done():
		return buf[:0], context.Cause(c.ctx)
	}
}

// deliver hands a message to Read; false when the connection has ended.
func (c *client) deliver(a arrival) bool {
	select {
	case c.in <- a:
		return true
	case <-c.ctx.Done():
		return false
	}
}

// Write implements transport.Transport. It returns when the server has taken
// the message.
func (c *client) Write(msg []byte) error {
	e, err := envelope.Parse(msg)
	if err != nil {
		return err
	}
	if err := context.Cause(c.ctx); err != nil {
		return err
	}
	if !c.begun {
		if string(e.Method) != acp.MethodInitialize || e.Key() == "" {
			return errors.New("the first message is not an initialize request")
		}
		c.begun = true
		return c.begin(bytes.Clone(msg), e.Key())
	}
	select {
	case <-c.ready:
	case <-c.ctx.Done():
	}
	if err := context.Cause(c.ctx); err != nil {
		return err
	}
	return c.post(msg, &e)
}

// begin opens the connection, without making Write wait for the agent to start.
func (c *client) begin(msg []byte, key string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := context.Cause(c.ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.giveUp = cancel
	c.run.Go(func() {
		defer cancel()
		c.initialize(ctx, msg, key)
	})
	return nil
}

// initialize opens the connection.
func (c *client) initialize(ctx context.Context, msg []byte, key string) {
	defer close(c.ready)
	answer, err := c.request(ctx, http.MethodPost, "", msg)
	if err != nil {
		c.cancel(err)
		return
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, int64(c.max)+1))
	if err != nil {
		c.cancel(err)
		return
	}
	e, bad := envelope.Parse(body)
	matches := bad == nil && e.IsAnswer() && e.Key() == key
	id := answer.Header.Get(headerConnection)
	switch {
	case len(body) > c.max:
		c.cancel(&transport.TooLargeError{Limit: c.max})
	case answer.StatusCode/100 != 2 || id == "" && matches && e.Error != nil:
		if matches { // the reason, as the answer to initialize
			c.deliver(arrival{msg: body})
		}
		c.cancel(statusError(http.MethodPost, answer.StatusCode, body))
	case !sound(id):
		c.cancel(fmt.Errorf("initialize: the answer has no usable %s (is this an ACP server?)", headerConnection))
	case !matches:
		c.setID(id)
		c.cancel(errors.New("initialize: the answer does not belong to the request"))
	default:
		c.setID(id)
		if e.Error != nil { // there may be nothing more to come
			c.deliver(arrival{msg: body})
			c.open("", false)
			return
		}
		s := c.open("", false)
		select {
		case <-s.opened:
			c.deliver(arrival{msg: body})
		case <-c.ctx.Done():
		}
	}
}

func (c *client) setID(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.id = id
}

// post sends a message of an open connection.
func (c *client) post(msg []byte, e *envelope.Envelope) error {
	key := e.Key()
	session := e.Session()
	if e.IsAnswer() {
		c.mu.Lock()
		session = c.asked[key]
		delete(c.asked, key)
		c.mu.Unlock()
	}
	attach := string(e.Method) == acp.MethodSessionLoad || string(e.Method) == acp.MethodSessionResume
	if session != "" && !sound(session) {
		if e.IsRequest() {
			c.deliver(arrival{msg: envelope.Failure(e.ID, "the session id is too long or holds unusual characters, it cannot be used over HTTP", nil)})
		}
		return nil
	}
	if session != "" && !attach {
		s := c.open(session, false)
		select {
		case <-s.opened:
		case <-c.ctx.Done():
			return context.Cause(c.ctx)
		}
	}
	if e.IsRequest() && key != "" {
		w := waiting{id: bytes.Clone(e.ID), method: string(e.Method), session: session, on: answeredOn(e, session)}
		c.mu.Lock()
		c.waiting[key] = w
		c.mu.Unlock()
	}
	answer, err := c.request(c.ctx, http.MethodPost, session, msg)
	if err != nil {
		if cause := context.Cause(c.ctx); cause != nil {
			return cause
		}
		c.cancel(err)
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		return c.refused(answer, e, key, session)
	}
	io.Copy(io.Discard, io.LimitReader(answer.Body, maxErrorBody)) // so that the connection can be used again
	if session != "" && (!e.IsRequest() || c.waits(key)) {
		c.open(session, true) // when it is not open, or was refused before
	}
	return nil
}

// refused handles a message that the server did not accept.
func (c *client) refused(answer *http.Response, e *envelope.Envelope, key, session string) error {
	body, _ := io.ReadAll(io.LimitReader(answer.Body, maxErrorBody))
	err := statusError(http.MethodPost, answer.StatusCode, body)
	switch answer.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusGone:
		c.cancel(err)
		return err
	}
	if e.IsRequest() {
		if _, still := c.settled(key); still {
			c.deliver(arrival{msg: envelope.Failure(e.ID, err.Error(), map[string]any{"status": err.Status, "body": err.Body})})
		}
		return nil
	}
	if err.Status >= 500 {
		c.cancel(err)
		return err
	}
	// No call to fail and no reason to end: the reader reports it as noise.
	c.deliver(arrival{msg: []byte(err.Error())})
	if answer.StatusCode == http.StatusRequestEntityTooLarge && e.IsAnswer() && e.Result != nil {
		// The agent waits for it.
		instead := envelope.Failure(e.ID, err.Error(), nil)
		small := envelope.Beginning(instead)
		c.mu.Lock()
		c.asked[key] = session
		c.mu.Unlock()
		return c.post(instead, &small)
	}
	return nil
}

func (c *client) waits(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.waiting[key]
	return ok
}

// settled removes a call from the list, and reports whether it was there.
func (c *client) settled(key string) (waiting, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w, ok := c.waiting[key]
	delete(c.waiting, key)
	return w, ok
}

// failSession answers the calls that wait for a session's stream. If that has ended in order, so
// may the connection, and then they fail with it.
func (c *client) failSession(session string, reason error) {
	c.mu.Lock()
	var lost []waiting
	for key, w := range c.waiting {
		if w.on == session {
			lost = append(lost, w)
			delete(c.waiting, key)
		}
	}
	c.mu.Unlock()
	fail := func() {
		for _, w := range lost {
			c.deliver(arrival{msg: envelope.Failure(w.id, "the answer was lost: "+reason.Error(), nil)})
		}
	}
	if reason != errOver || len(lost) == 0 {
		fail()
		return
	}
	c.run.Go(func() {
		select {
		case <-c.last.Done():
		case <-time.After(together):
			fail()
		}
	})
}

// request sends one HTTP request.
func (c *client) request(ctx context.Context, method, session string, body []byte, more ...string) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.url.String(), content)
	if err != nil {
		return nil, err
	}
	for name, values := range c.headers {
		r.Header[name] = values
	}
	c.mu.Lock()
	id := c.id
	c.mu.Unlock()
	if id != "" {
		r.Header.Set(headerConnection, id)
	}
	if session != "" {
		r.Header.Set(headerSession, session)
	}
	if body != nil {
		r.Header.Set("Content-Type", typeJSON)
		r.Header.Set("Accept", typeJSON+", "+typeEvents)
	}
	for i := 0; i+1 < len(more); i += 2 {
		r.Header.Set(more[i], more[i+1])
	}
	answer, err := c.http.Do(r)
	if err == nil && answer.Request.Method != method {
		answer.Body.Close()
		return nil, fmt.Errorf("%s: a redirect made it a %s", method, answer.Request.Method)
	}
	return answer, err
}

func statusError(method string, status int, body []byte) *access.StatusError {
	return &access.StatusError{Request: method, Status: status, Body: string(bytes.TrimSpace(body[:min(len(body), maxErrorBody)]))}
}

// farewell ends the connection on the server, trying twice: the first attempt
// may meet a TCP connection that is gone.
func (c *client) farewell() {
	ctx, cancel := context.WithTimeout(context.Background(), deleteTimeout)
	defer cancel()
	for range 2 {
		if answer, err := c.request(ctx, http.MethodDelete, "", nil); err == nil {
			answer.Body.Close()
			return
		}
	}
}

// Close implements transport.Transport. It notifies the server with a DELETE.
func (c *client) Close() error {
	c.once.Do(func() {
		c.mu.Lock()
		giveUp := c.giveUp
		c.mu.Unlock()
		if giveUp != nil {
			select {
			case <-c.ready: // or its answer would leave a connection behind
			case <-c.ctx.Done():
			case <-time.After(orderly):
			}
		}
		c.cancel(transport.ErrClosed)
		c.mu.Lock()
		if giveUp = c.giveUp; giveUp == nil {
			close(c.ready)
		}
		c.mu.Unlock()
		if giveUp != nil {
			time.AfterFunc(orderly, giveUp)
			<-c.ready
		}
		c.mu.Lock()
		known := c.id != ""
		c.mu.Unlock()
		if known {
			c.farewell()
		}
		c.run.Wait()
		c.http.CloseIdleConnections()
	})
	return nil
}

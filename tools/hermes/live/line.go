package live

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/envelope"
	"github.com/hermes-nvim/hermes/runtime/lint"
)

// message is a message of the other side.
type message struct {
	envelope.Envelope
	text []byte
}

// failure is an error that the other side answered with.
type failure struct {
	method  string
	members string // of its params
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (f *failure) Error() string {
	return fmt.Sprintf("%s is answered with the error %d: %s", f.method, f.Code, quoted(f.Message))
}

// errEnded is the end of the line.
var errEnded = errors.New("the other side has ended the connection")

// line is one end of a connection. It sends anything, also what no conforming side
// would, and takes anything.
type line struct {
	me    lint.Party
	tap   func(lint.Record)
	serve acp.Handler // of the other side's requests and notifications

	ctx    context.Context // of the handlers
	ended  chan struct{}   // nothing more will be heard
	cancel context.CancelFunc
	killed atomic.Bool // the other side was, by this one, so its end is not its own doing
	left   atomic.Bool // this side has hung up

	writing sync.Mutex // so that messages are tapped in the order of the writes
	out     io.WriteCloser

	tapping sync.Mutex // held while tap is called for a message
	unsent  [][]byte   // what is being written, and not tapped yet

	mu      sync.Mutex
	asked   int
	open    map[string]*call
	heard   int // messages
	watches map[*watch]bool
	told    map[string]context.CancelFunc // requests of the other side that are being handled
}

// call is a request without an answer.
type call struct {
	id       json.RawMessage
	method   string
	members  string                       // of its params, and the types of the blocks of a prompt
	answered func(result json.RawMessage) // runs before the next message is handled; may be nil
	answer   chan *message
	heard    int // messages before it
}

// watch waits for a message.
type watch struct {
	is    func(*message) bool
	found chan *message
}

// newLine starts to read in, until it ends.
func newLine(me lint.Party, in io.Reader, out io.WriteCloser, serve acp.Handler, tap func(lint.Record)) *line {
	l := &line{me: me, tap: tap, serve: serve, out: out, ended: make(chan struct{}), open: map[string]*call{}, watches: map[*watch]bool{}, told: map[string]context.CancelFunc{}}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	go l.read(in)
	return l
}

// maxLine bounds a line of the other side, in bytes. Only the size of a longer one is
// known.
const maxLine = lint.MaxMessage

func (l *line) read(in io.Reader) {
	defer close(l.ended)
	defer l.cancel()
	defer func() {
		if !l.killed.Load() {
			l.tap(lint.Record{Source: lint.End, From: l.me.Peer()})
		}
	}()
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		var text []byte
		left := 0
		piece, err := r.ReadSlice('\n')
		for ; err == bufio.ErrBufferFull; piece, err = r.ReadSlice('\n') {
			if text = append(text, piece...); len(text) > maxLine {
				left += len(text)
				text = text[:0]
			}
		}
		text = append(text, piece...)
		whole := err == nil
		switch {
		case left > 0:
			l.sent(lint.Record{From: l.me.Peer(), Left: left + len(text)})
		case whole || len(text) > 0:
			text = bytes.TrimSuffix(text, []byte("\n"))
			l.sent(lint.Record{From: l.me.Peer(), Bytes: text, Cut: !whole})
			l.hear(text)
		}
		if err != nil {
			return
		}
	}
}

func (l *line) hear(text []byte) {
	m := &message{text: text}
	var err error
	if m.Envelope, err = envelope.Parse(bytes.TrimPrefix(text, []byte("\ufeff"))); err != nil {
		m.Problem = err.Error()
	}
	l.mu.Lock()
	l.heard++
	for w := range l.watches {
		if w.is(m) {
			delete(l.watches, w)
			w.found <- m
		}
	}
	var c *call
	if m.Problem == "" && m.IsAnswer() {
		if c = l.open[string(m.ID)]; c != nil {
			delete(l.open, string(m.ID))
		}
	}
	l.mu.Unlock()
	switch {
	case c != nil:
		if c.answered != nil && m.Result != nil {
			c.answered(m.Result)
		}
		c.answer <- m
	case m.Problem != "" || m.Method == nil:
	case m.IsRequest():
		l.request(m)
	case string(m.Method) == "$/cancel_request":
		var p struct{ RequestID json.RawMessage }
		json.Unmarshal(m.Params, &p)
		l.mu.Lock()
		if stop := l.told[string(p.RequestID)]; stop != nil {
			stop()
		}
		l.mu.Unlock()
	case l.serve != nil:
		l.serve.HandleNotification(l.ctx, string(m.Method), m.Params)
	}
}

// maxServed is how many requests of the other side are handled at a time.
const maxServed = 256

// request handles a request of the other side.
func (l *line) request(m *message) {
	l.mu.Lock()
	many := len(l.told) >= maxServed
	ctx, stop := context.WithCancel(l.ctx)
	if !many {
		l.told[string(m.ID)] = stop
	}
	l.mu.Unlock()
	go func() {
		defer stop()
		var result acp.Appender
		var err error = acp.MethodNotFound(string(m.Method))
		switch {
		case many:
			err = &acp.Error{Code: acp.ErrorCodeInternalError, Message: "too many requests at a time"}
		case l.serve != nil:
			result, err = l.serve.HandleRequest(ctx, string(m.Method), m.Params)
		}
		member := []byte(`"result":{}`)
		if refused := (*acp.Error)(nil); errors.As(err, &refused) {
			member = refused.AppendJSON([]byte(`"error":`))
		} else if err != nil {
			member = (&acp.Error{Code: acp.ErrorCodeInternalError, Message: err.Error()}).AppendJSON([]byte(`"error":`))
		} else if result != nil {
			member = result.AppendJSON([]byte(`"result":`))
		}
		if !many {
			l.mu.Lock()
			delete(l.told, string(m.ID))
			l.mu.Unlock()
		}
		l.send([]byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,` + string(member) + `}`))
	}()
}

// send writes a line, whatever it is.
func (l *line) send(text []byte) error {
	return l.pieces([][]byte{append(append(make([]byte, 0, len(text)+1), text...), '\n')}, text)
}

// pieces writes lines in pieces; texts are their messages. Messages that cannot be
// written, or come after the end of the other side, are not tapped.
func (l *line) pieces(pieces [][]byte, texts ...[]byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	select {
	case <-l.ended:
		return errEnded
	default:
	}
	l.tapping.Lock()
	l.unsent = texts
	l.tapping.Unlock()
	for _, p := range pieces {
		if _, err := l.out.Write(p); err != nil {
			l.tapping.Lock()
			l.unsent = nil
			l.tapping.Unlock()
			return fmt.Errorf("%w: %w", errEnded, err)
		}
	}
	l.sent()
	return nil
}

// sent taps what has been written, and then some records. A message that is being
// written precedes messages that come from the other side meanwhile, because one of them
// may be the answer.
func (l *line) sent(more ...lint.Record) {
	l.tapping.Lock()
	defer l.tapping.Unlock()
	for _, text := range l.unsent {
		l.tap(lint.Record{From: l.me, Bytes: text})
	}
	l.unsent = nil
	for _, r := range more {
		l.tap(r)
	}
}

// hangUp closes this side, once.
func (l *line) hangUp() {
	if !l.left.CompareAndSwap(false, true) {
		return
	}
	if !l.killed.Load() {
		l.tap(lint.Record{Source: lint.End, From: l.me})
	}
	l.out.Close() // also ends a write that waits
}

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // our own values encode
	}
	return bytes.TrimSpace(b.Bytes())
}

// object is a JSON object.
type object map[string]any

func (l *line) notify(method string, params any) error {
	return l.send([]byte(`{"jsonrpc":"2.0","method":` + string(encode(method)) + `,"params":` + string(encode(params)) + `}`))
}

// ask sends a request and returns how to wait for its answer.
func (l *line) ask(method string, params any, answered func(json.RawMessage)) (*call, error) {
	l.mu.Lock()
	l.asked++
	id := strconv.Itoa(l.asked)
	l.mu.Unlock()
	return l.askAs(id, method, params, answered)
}

// askAs is ask with an id of its own, which is JSON.
func (l *line) askAs(id, method string, params any, answered func(json.RawMessage)) (*call, error) {
	c := &call{id: json.RawMessage(id), method: method, members: members(params), answered: answered, answer: make(chan *message, 1)}
	l.mu.Lock()
	c.heard = l.heard
	l.open[id] = c
	l.mu.Unlock()
	return c, l.send([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":` + string(encode(method)) + `,"params":` + string(encode(params)) + `}`))
}

// members are the names of the members of params, and the types of the blocks of a prompt:
// requests that have the same ones ask for the same thing.
func members(params any) string {
	all, _ := params.(object)
	names := slices.Sorted(maps.Keys(all))
	blocks, _ := all["prompt"].([]any)
	for _, b := range blocks {
		if block, ok := b.(object); ok {
			names = append(names, fmt.Sprint(block["type"]))
		}
	}
	return strings.Join(names, " ")
}

// wait waits for the answer to a call. The error is a *failure, errEnded or the error of
// ctx.
func (l *line) wait(ctx context.Context, c *call) (json.RawMessage, error) {
	m, err := l.take(ctx, c.answer)
	if err != nil {
		return nil, fmt.Errorf("%s is not answered: %w", c.method, err)
	}
	if m.Error != nil {
		f := &failure{method: c.method, members: c.members}
		json.Unmarshal(m.Error, f) // the linter says what is wrong with it
		return nil, f
	}
	return m.Result, nil
}

func (l *line) take(ctx context.Context, from chan *message) (*message, error) {
	select {
	case m := <-from:
		return m, nil
	case <-l.ended:
		select {
		case m := <-from:
			return m, nil
		default:
			return nil, errEnded
		}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// call sends a request and waits for its answer.
func (l *line) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	c, err := l.ask(method, params, nil)
	if err != nil {
		return nil, err
	}
	return l.wait(ctx, c)
}

// expect begins to wait for a message; end ends that.
func (l *line) expect(is func(*message) bool) (found chan *message, end func()) {
	w := &watch{is: is, found: make(chan *message, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watches[w] = true
	return w.found, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.watches, w)
	}
}

const maxQuoted = 120 // bytes

// quoted is text of the other side, in quotes, on one line and short.
func quoted(text string) string {
	if len(text) > maxQuoted {
		text = text[:maxQuoted] + "…"
	}
	return strconv.QuoteToGraphic(text)
}

package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/socket"
)

// Client tells a Server about files. It is safe for concurrent use.
type Client struct {
	mu             sync.Mutex
	t              transport.Transport
	last, answered int64 // ids

	answers <-chan []byte // lines, of a client of Join; nil for others
	done    <-chan struct{}
}

// Dial connects to a socket. The server must run as the same user.
func Dial(ctx context.Context, path string) (*Client, error) {
	t, err := socket.DialUnix(ctx, path)
	if err != nil {
		return nil, err
	}
	return &Client{t: t}, nil
}

// Join is Dial for a program that may know more than it has told. It does not Send. report is called, on a
// goroutine of its own, when the server asks for that. It returns when all has been reported.
func Join(ctx context.Context, path string, report func()) (*Client, error) {
	t, err := socket.DialUnix(ctx, path)
	if err != nil {
		return nil, err
	}
	answers, done := make(chan []byte, 1), make(chan struct{})
	c := &Client{t: t, answers: answers, done: done}
	if err := c.flushed(0); err != nil {
		t.Close()
		return nil, c.broken(ctx, err)
	}
	go func() {
		defer close(done)
		defer close(answers)
		for {
			line, err := t.Read(nil)
			if err != nil {
				return
			}
			var asked struct {
				Method string
				Params wireFlush
			}
			if err := json.Unmarshal(line, &asked); err == nil && asked.Method == flush {
				go func() {
					report()
					c.flushed(asked.Params.Flush) // an error is that of the connection
				}()
				continue
			}
			select {
			case answers <- line:
			default: // nobody has asked for it
				t.Close()
				return
			}
		}
	}()
	return c, nil
}

// flushed says that all has been reported that a flush asked for.
func (c *Client) flushed(n int64) error {
	line, err := json.Marshal(wireMessage{Version: "2.0", Method: flushed, Params: wireFlush{n}})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t.Write(line)
}

// Done is closed when the connection of a client of Join has ended. It is nil for others.
func (c *Client) Done() <-chan struct{} { return c.done }

// Close ends the connection.
func (c *Client) Close() error { return c.t.Close() }

// Tell sends a report and waits until it has been handled. An *Error is the
// server's answer; after any other error the connection is closed.
func (c *Client) Tell(ctx context.Context, r Report) error {
	return c.call(ctx, func(id int64) ([]byte, error) { return encode(id, r) }, nil)
}

// Resume returns the sequence number of the last report of a producer that was
// handled, 0 if none was.
func (c *Client) Resume(ctx context.Context, producer string) (uint64, error) {
	var result struct{ Seq uint64 }
	err := c.call(ctx, func(id int64) ([]byte, error) {
		return json.Marshal(wireMessage{"2.0", id, resume, wireResume{producer}})
	}, &result)
	return result.Seq, err
}

// Yield asks the server to give up the review of the project. An *Error says why it does
// not. Otherwise it does so soon after this has returned.
func (c *Client) Yield(ctx context.Context, to Program) error {
	return c.call(ctx, func(id int64) ([]byte, error) {
		return json.Marshal(wireMessage{"2.0", id, yield, wireYield{to.Name, to.PID}})
	}, nil)
}

// Send sends a report without waiting until it has been handled, which Answer does. Both are for
// one goroutine, which has to call Answer for each report before it uses anything else.
func (c *Client) Send(ctx context.Context, r Report) error {
	return c.send(ctx, func(id int64) ([]byte, error) { return encode(id, r) })
}

// Answer waits until the first report that Send has sent, and that has no answer yet, has been
// handled. It returns what Tell would.
func (c *Client) Answer(ctx context.Context) error { return c.answer(ctx, nil) }

func (c *Client) call(ctx context.Context, request func(id int64) ([]byte, error), result any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.send(ctx, request); err != nil {
		return err
	}
	return c.answer(ctx, result)
}

func (c *Client) send(ctx context.Context, request func(id int64) ([]byte, error)) error {
	line, err := request(c.last + 1)
	if err != nil {
		return err
	}
	if len(line) > MaxMessage {
		return fmt.Errorf("the report has %d bytes, and %d are allowed", len(line), MaxMessage)
	}
	stop := context.AfterFunc(ctx, func() { c.t.Close() })
	defer stop()
	if err := c.t.Write(line); err != nil {
		return c.broken(ctx, err)
	}
	c.last++
	return nil
}

func (c *Client) answer(ctx context.Context, result any) error {
	stop := context.AfterFunc(ctx, func() { c.t.Close() })
	defer stop()
	line, err := c.read()
	if err != nil {
		return c.broken(ctx, err)
	}
	c.answered++
	var answer struct {
		ID     json.RawMessage
		Result json.RawMessage
		Error  *struct {
			Code    int
			Message string
			Data    struct{ Pointer string }
		}
	}
	switch err := json.Unmarshal(line, &answer); {
	case err != nil:
		return c.broken(ctx, err)
	case answer.Error != nil:
		return &Error{answer.Error.Code, answer.Error.Message, answer.Error.Data.Pointer}
	case string(answer.ID) != fmt.Sprint(c.answered):
		return c.broken(ctx, fmt.Errorf("the answer has the id %.40q, expected %d", answer.ID, c.answered))
	case result != nil:
		return json.Unmarshal(answer.Result, result)
	}
	return nil
}

// read returns the next answer.
func (c *Client) read() ([]byte, error) {
	if c.answers == nil {
		return c.t.Read(nil)
	}
	line, ok := <-c.answers
	if !ok {
		return nil, io.EOF
	}
	return line, nil
}

func (c *Client) broken(ctx context.Context, err error) error {
	c.t.Close()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return fmt.Errorf("tell the editor: %w", err)
}

package rpc

import (
	"context"
	"sync"
	"time"
)

// handlerKey finds what a context of this connection's handlers belongs to: a
// *request, nil for notifications.
type handlerKey struct{ c *Conn }

// requestKey finds the *request that a context's handler answers, on whatever connection.
type requestKey struct{}

// origin says where a call with ctx is made.
func (c *Conn) origin(ctx context.Context) origin {
	req, ok := ctx.Value(handlerKey{c}).(*request)
	switch {
	case !ok:
		return outside
	case req == nil:
		return inNotification
	}
	return inRequestHandler
}

// requestContext is what the handler of a request gets. The context behind it
// is made when somebody asks for more than the request, which quick handlers do
// not.
type requestContext struct {
	c   *Conn
	req *request

	mu     sync.Mutex
	behind context.Context // nil until asked for
	cancel context.CancelCauseFunc
	cause  error // of the end, once it has ended
}

var _ context.Context = (*requestContext)(nil)

func (x *requestContext) Deadline() (time.Time, bool) { return time.Time{}, false }
func (x *requestContext) Done() <-chan struct{}       { return x.get().Done() }
func (x *requestContext) Err() error                  { return x.get().Err() }

func (x *requestContext) Value(key any) any {
	if key == (handlerKey{x.c}) || key == (requestKey{}) {
		return x.req
	}
	return x.get().Value(key)
}

func (x *requestContext) get() context.Context {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.behind == nil {
		x.behind, x.cancel = context.WithCancelCause(x.c.requests)
		if x.cause != nil {
			x.cancel(x.cause)
		}
	}
	return x.behind
}

// end ends the context; the first cause counts.
func (x *requestContext) end(cause error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.cause != nil {
		return
	}
	x.cause = cause
	if x.cancel != nil {
		x.cancel(cause)
	}
}

// ended returns why the context was ended, nil when it was not.
func (x *requestContext) ended() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.cause
}

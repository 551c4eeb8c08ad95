package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hermes-nvim/hermes/acp"
)

// TimeoutError says that the peer did not answer within Limits.Initialize or
// Limits.NewSession. It is a context.DeadlineExceeded.
type TimeoutError struct {
	Method string
	Limit  time.Duration
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("%s: not answered within %v", e.Method, e.Limit)
}

func (e *TimeoutError) Unwrap() error { return context.DeadlineExceeded }

// Timeout reports true, as net.Error has it.
func (e *TimeoutError) Timeout() bool { return true }

// patience is how long to wait for the answer to a method. Zero or less: only ctx
// limits the wait. A deadline of ctx replaces the limit.
func (l *Limits) patience(ctx context.Context, method string) time.Duration {
	var limit time.Duration
	switch method {
	case acp.MethodInitialize:
		limit = l.Initialize
	case acp.MethodSessionNew:
		limit = l.NewSession
	default:
		return 0
	}
	if _, has := ctx.Deadline(); has {
		return 0
	}
	return limit
}

// callWithin is Call with a limit.
func (c *Conn) callWithin(ctx context.Context, limit time.Duration, method string, params acp.Appender, result json.Unmarshaler) error {
	within, stop := context.WithTimeout(ctx, limit)
	defer stop()
	err := c.callPeer(within, method, params, result)
	if errors.Is(err, context.DeadlineExceeded) && within.Err() == context.DeadlineExceeded {
		return &TimeoutError{Method: method, Limit: limit}
	}
	return err
}

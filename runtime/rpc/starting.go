package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
)

// starting is a Call of Conn.Start on its way through Middleware, which knows only
// calls as a whole. A goroutine of its own passes it on and waits for the answer.
type starting struct {
	c      *Conn
	method string
	once   sync.Once
	queued chan struct{} // closed when the request is queued
	ended  chan struct{} // closed when result and err are set
	stop   context.CancelFunc
	result keptResult
	err    error
}

// startingKey finds the *starting that a context belongs to.
type startingKey struct{ c *Conn }

// startThrough is startCall through the Middleware.
func (c *Conn) startThrough(ctx context.Context, method string, params acp.Appender) (*Call, error) {
	inner, stop := context.WithCancel(context.WithoutCancel(ctx))
	s := &starting{c: c, method: method, queued: make(chan struct{}), ended: make(chan struct{}), stop: stop}
	defer context.AfterFunc(ctx, func() { // ctx is for the start alone
		if !s.isQueued() {
			stop()
		}
	})()
	go func() {
		defer close(s.ended)
		defer stop()
		s.err = c.send.Call(context.WithValue(inner, startingKey{c}, s), method, params, &s.result)
	}()
	select {
	case <-s.queued:
	case <-s.ended:
		switch {
		case s.isQueued() || s.err == nil:
		case ctx.Err() != nil:
			return nil, fmt.Errorf("%s: %w", method, ctx.Err())
		default:
			return nil, s.err
		}
	}
	return &Call{through: s}, nil
}

func (s *starting) isQueued() bool {
	select {
	case <-s.queued:
		return true
	default:
		return false
	}
}

// call sends the request at the end of the Middleware, and waits for the answer.
func (s *starting) call(ctx context.Context, params acp.Appender, result json.Unmarshaler) error {
	k, err := s.c.startCall(ctx, s.method, params)
	if err != nil {
		return err
	}
	s.once.Do(func() { close(s.queued) })
	return k.Wait(ctx, result)
}

// wait is Call.Wait.
func (s *starting) wait(ctx context.Context, result json.Unmarshaler) error {
	select {
	case <-s.ended:
	case <-ctx.Done():
		s.stop()
		<-s.ended
		if s.err != nil {
			return fmt.Errorf("%s: %w", s.method, ctx.Err())
		}
	}
	if s.err != nil || result == nil {
		return s.err
	}
	return decodeResult(s.method, s.result, result)
}

// keptResult keeps the text of a result for whoever waits for it.
type keptResult []byte

func (r *keptResult) UnmarshalJSON(b []byte) error {
	*r = append((*r)[:0], b...)
	return nil
}

// Package question puts an agent's questions to the user: a few at a time, each
// for a limited time, and only while the agent wants the answer.
package question

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// DefaultMaxOpen is how many questions of one connection may be open at once.
const DefaultMaxOpen = 64

// Reasons for a question without an answer.
var (
	ErrNobodyToAsk = errors.New("nobody to ask")
	ErrTimeout     = errors.New("no answer in time")
	ErrTooMany     = errors.New("too many open questions")
)

// Asker asks questions of one kind.
type Asker[Q, A any] struct {
	// Ask returns the user's answer. It must return when the context ends.
	// Nil: there is nobody to ask.
	Ask func(context.Context, Q) (A, error)
	// Fits returns an error if an answer does not fit the question.
	Fits func(Q, A) error
	// Timeout bounds each question; 0 means no limit.
	Timeout time.Duration
	// MaxOpen bounds the open questions; 0 means DefaultMaxOpen.
	MaxOpen int
}

// Put asks q, unless too many questions are open; open counts them. If there is no
// answer, it returns why, even if Ask panics.
func (a Asker[Q, A]) Put(ctx context.Context, open *atomic.Int64, q Q) (A, error) {
	var none A
	if a.Ask == nil {
		return none, ErrNobodyToAsk
	}
	limit := a.MaxOpen
	if limit == 0 {
		limit = DefaultMaxOpen
	}
	defer open.Add(-1)
	if open.Add(1) > int64(limit) {
		return none, ErrTooMany
	}
	if a.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, a.Timeout, ErrTimeout)
		defer cancel()
	}
	answer, err := a.ask(ctx, q)
	// An answer after the question was withdrawn does not count.
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if err != nil {
		return none, err
	}
	return answer, nil
}

func (a Asker[Q, A]) ask(ctx context.Context, q Q) (answer A, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("asking failed: %v", r)
		}
	}()
	if answer, err = a.Ask(ctx, q); err == nil {
		err = a.Fits(q, answer)
	}
	return answer, err
}

package main

import (
	"context"
	"errors"
	"io"

	"github.com/hermes-nvim/hermes/internal/lint/capture"
	"github.com/hermes-nvim/hermes/runtime/lint"
)

// lintProxied judges a capture of the messages between a proxy and its client, together
// with one of the messages between the proxy and its agent at the same time.
func lintProxied(ctx context.Context, near, far *capture.Reader, add func(lint.Record)) error {
	sides := [2]struct {
		*capture.Reader
		next lint.Record
		over bool
	}{{Reader: near}, {Reader: far}}
	read := func(i int) (err error) {
		side := &sides[i]
		if side.next, err = side.Next(); errors.Is(err, io.EOF) {
			side.over, err = true, nil
		}
		return err
	}
	err := errors.Join(read(0), read(1))
	for err == nil && !(sides[0].over && sides[1].over) && ctx.Err() == nil {
		first := 0
		if a, b := &sides[0], &sides[1]; a.over || !b.over && b.next.Time.Before(a.next.Time) {
			first = 1
		}
		rec := sides[first].next
		rec.Beyond = first == 1
		add(rec)
		err = read(first)
	}
	return errors.Join(err, context.Cause(ctx))
}

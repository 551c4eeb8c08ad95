package capture

import (
	"context"
	"errors"
	"io"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

const (
	batchBytes   = 256 << 10 // of records that are handed over at once
	batchRecords = 1024
	batches      = 4
)

// batch is a row of records with the memory that they are in.
type batch struct {
	text    []byte
	records []lint.Record
	err     error
}

// Each reads a capture in a goroutine of its own and calls f with each record, whose
// bytes are valid during the call. It returns nil at the end of the capture, an *Error,
// or the reason why ctx ended.
func Each(ctx context.Context, r *Reader, f func(lint.Record)) error {
	ctx, cancel := context.WithCancel(ctx)
	full, empty := make(chan *batch, batches), make(chan *batch, batches)
	for range batches {
		empty <- &batch{}
	}
	done := make(chan struct{})
	defer func() {
		cancel()
		<-done
	}()
	go func() {
		defer close(done)
		defer close(full)
		for {
			var b *batch
			select {
			case <-ctx.Done():
				return
			case b = <-empty:
			}
			b.fill(r)
			full <- b // has room for all batches
			if b.err != nil {
				return
			}
		}
	}()
	for b := range full {
		for _, rec := range b.records {
			f(rec)
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if errors.Is(b.err, io.EOF) {
			return nil
		}
		if b.err != nil {
			return b.err
		}
		empty <- b
	}
	return context.Cause(ctx)
}

// fill reads records until there are enough.
func (b *batch) fill(r *Reader) {
	if cap(b.text) > 4*batchBytes {
		b.text = nil // after a giant record
	}
	b.text, b.records = b.text[:0], b.records[:0]
	for len(b.text) < batchBytes && len(b.records) < batchRecords {
		rec, err := r.Next()
		if err != nil {
			b.err = err
			return
		}
		// Records before keep the memory that text had when they were read.
		start := len(b.text)
		b.text = append(b.text, rec.Bytes...)
		rec.Bytes = b.text[start:len(b.text):len(b.text)]
		b.records = append(b.records, rec)
	}
}

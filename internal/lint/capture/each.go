package capture

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/hermes-nvim/hermes/internal/jtree"
	"github.com/hermes-nvim/hermes/runtime/lint"
)

const (
	batchBytes   = 256 << 10 // of records that are handed over at once
	batchRecords = 256
	batches      = 4
	smallRecord  = 8 << 10 // bytes up to which the memory of a tree is used again
)

// batch is a row of records with the memory that they are in.
type batch struct {
	text    []byte
	records []lint.Record
	trees   [batchRecords]jtree.Tree // of small records
	err     error
}

// Each reads and parses a capture in a goroutine of its own and calls f with each record,
// whose bytes and tree are valid during the call. It returns nil at the end of the capture, an *Error,
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
			giant := b.fill(r)
			full <- b // has room for all batches
			if b.err != nil {
				return
			}
			if giant && !wait(ctx, empty) {
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

// wait returns when all batches are empty, because a giant record is in the memory of
// the reader. It reports false if ctx ended before.
func wait(ctx context.Context, empty chan *batch) bool {
	var all [batches]*batch
	for i := range all {
		select {
		case <-ctx.Done():
			return false
		case all[i] = <-empty:
		}
	}
	for _, b := range all {
		empty <- b
	}
	return true
}

// fill reads records until there are enough, and reports whether the last one is giant:
// then its bytes belong to the reader.
func (b *batch) fill(r *Reader) (giant bool) {
	b.text, b.records = b.text[:0], b.records[:0]
	r.tree = b.tree
	for len(b.text) < batchBytes && len(b.records) < batchRecords {
		rec, err := r.Next()
		if err != nil {
			b.err = err
			return false
		}
		if len(rec.Bytes) > batchBytes {
			b.records = append(b.records, rec)
			return true
		}
		// Records before keep the memory that text had when they were read.
		start := len(b.text)
		b.text = append(b.text, rec.Bytes...)
		rec.Bytes = b.text[start:len(b.text):len(b.text)]
		switch {
		case rec.Tree != nil:
			rec.Tree.Move(rec.Bytes)
		case rec.Source == lint.Wire:
			rec.Tree = b.parse(rec.Bytes)
		}
		b.records = append(b.records, rec)
	}
	return false
}

// tree is for the next record, from a line or text of a size; nil if that is giant. Only
// trees of small records keep their memory, so that it is bounded.
func (b *batch) tree(size int) *jtree.Tree {
	switch {
	case size > batchBytes:
		return nil
	case size > smallRecord:
		return &jtree.Tree{}
	}
	return &b.trees[len(b.records)]
}

// parse returns the tree of the next record, nil if it is not JSON.
func (b *batch) parse(text []byte) *jtree.Tree {
	tree := b.tree(len(text))
	if tree.Parse(bytes.TrimPrefix(text, []byte("\ufeff"))) != nil {
		return nil
	}
	return tree
}

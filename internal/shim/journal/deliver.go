package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// redial is how long after a failure an editor is tried again.
const redial = time.Second

// delivery reports what is in a journal to an editor: everything, in order and
// once, whenever an editor is there.
type delivery struct {
	journal *Writer
	socket  string
	last    <-chan struct{} // is closed when no more changes come
}

// Deliver reports what is in the journal to the editor that listens at a socket, now or
// later. It returns when ctx ends, or once all is reported or nobody listens after last
// has been closed. It may run while the journal is written.
func (w *Writer) Deliver(ctx context.Context, socket string, last <-chan struct{}) {
	(&delivery{journal: w, socket: socket, last: last}).run(ctx)
}

func (d *delivery) run(ctx context.Context) {
	for ctx.Err() == nil {
		d.connection(ctx)
		select {
		case <-d.last:
			return
		case <-ctx.Done():
		case <-time.After(redial):
		}
	}
}

// Replay reports what is in a journal to an editor, as far as the editor does not
// know it yet. It is for journals whose program has ended; of another journal it
// reports the events so far.
func Replay(ctx context.Context, dir, socket string) error {
	d, err := deliveryOf(dir)
	if err != nil {
		return err
	}
	defer d.journal.Store.Close()
	d.socket = socket
	d.connection(ctx)
	return nil
}

// Reports calls f with what is in a journal, as Replay reports it.
func Reports(dir string, f func(feed.Report)) error {
	d, err := deliveryOf(dir)
	if err != nil {
		return err
	}
	defer d.journal.Store.Close()
	r, err := Open(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		e, err := r.Next()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		f(d.report(e))
	}
}

// deliveryOf returns the delivery of what is in a journal now. Its store must be
// closed.
func deliveryOf(dir string) (*delivery, error) {
	r, err := Open(dir)
	if err != nil {
		return nil, err
	}
	first, err := r.Next()
	r.Close()
	if err != nil || first.Op != Start {
		return nil, fmt.Errorf("journal: %s has no start: %w", dir, err)
	}
	st, err := store.Open(filepath.Join(dir, storeName), store.Options{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	last := make(chan struct{})
	close(last)
	return &delivery{journal: &Writer{Name: first.Text, Store: st, dir: dir, agent: first.Agent, session: first.Session}, last: last}, nil
}

// maxSent is how many reports are on their way to an editor at once: the next are made while it
// handles one.
const maxSent = 32

// connection reports to an editor until it is gone.
func (d *delivery) connection(ctx context.Context) {
	c, err := feed.Dial(ctx, d.socket)
	if err != nil {
		return
	}
	defer c.Close()
	told, err := c.Resume(ctx, d.journal.Name)
	if err != nil {
		return
	}
	r, err := Open(d.journal.dir)
	if err != nil {
		return
	}
	defer r.Close()
	sent := 0 // and not answered
	for {
		more := d.journal.arrived()
		e, err := r.Next()
		for ; sent > 0 && (err != nil || sent == maxSent); sent-- {
			// A report that the editor refuses is not sent again.
			if err := c.Answer(ctx); err != nil && !errors.As(err, new(*feed.Error)) {
				return
			}
		}
		switch {
		case err == io.EOF:
			select {
			case <-more:
				continue
			default:
			}
			select {
			case <-more:
				continue
			case <-d.last:
				return
			case <-ctx.Done():
				return
			}
		case err != nil:
			return
		case e.Seq <= told:
			continue
		}
		if err := c.Send(ctx, d.report(e)); err != nil {
			return
		}
		sent++
	}
}

// report returns the report of an event to an editor. Each event has one, so
// that no number is missing.
func (d *delivery) report(e Event) feed.Report {
	r := feed.Report{
		Kind: feed.Write, Path: e.Path, Phase: feed.Post, Agent: d.journal.agent, PID: e.PID,
		Author:   review.Author{Session: d.journal.session, Source: "shim", Inferred: e.Inferred},
		Before:   d.version(e.Before),
		After:    d.version(e.After),
		At:       e.Time,
		Producer: d.journal.Name, Seq: e.Seq,
	}
	switch e.Op {
	case Remove:
		r.Kind = feed.Remove
	case Rename:
		r.Kind, r.From = feed.Rename, e.From
	case Unseen:
		r.Kind, r.Path, r.Reason, r.Whole = feed.Unseen, "", e.Text, e.Whole
	case Mkdir, Rmdir:
		r.Kind = feed.Read // a review has no folders
	case Chmod:
		if e.After != nil && e.After.Dir {
			r.Kind = feed.Read
		}
	}
	return r
}

func (d *delivery) version(v *Version) *feed.Version {
	switch {
	case v == nil || v.Dir || v.Link != "":
		return nil
	case v.Absent:
		return &feed.Version{Absent: true}
	}
	f := &feed.Version{Size: v.Size, Hash: v.Hash}
	if mode, err := strconv.ParseUint(v.Mode, 8, 32); err == nil {
		perm := fs.FileMode(mode).Perm()
		f.Mode = &perm
	}
	if v.Hash == (store.Hash{}) {
		return f
	}
	if data, err := d.journal.Store.Get(v.Hash); err == nil && utf8.Valid(data) {
		text := string(data)
		f.Text = &text
	}
	return f
}

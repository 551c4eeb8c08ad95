package shim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
	"github.com/hermes-nvim/hermes/runtime/review/store"
)

// redial is how long after a failure an editor is tried again.
const redial = time.Second

// delivery reports what is in a journal to an editor: everything, in order and
// once, whenever an editor is there.
type delivery struct {
	journal *journal
	socket  string
	agent   string
	session string
	last    <-chan struct{} // is closed when no more changes come
}

// run reports until ctx ends, or until all is reported or nobody listens after last
// has been closed.
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
// know it yet. It is for journals whose program has ended; of others it reports
// what is there.
func Replay(ctx context.Context, dir, socket string) error {
	d, err := deliveryOf(dir)
	if err != nil {
		return err
	}
	defer d.journal.store.Close()
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
	defer d.journal.store.Close()
	r, err := OpenJournal(dir)
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
	r, err := OpenJournal(dir)
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
	return &delivery{journal: &journal{dir: dir, name: first.Text, store: st}, agent: first.Agent, session: first.Session, last: last}, nil
}

// connection reports to an editor until it is gone.
func (d *delivery) connection(ctx context.Context) {
	c, err := feed.Dial(ctx, d.socket)
	if err != nil {
		return
	}
	defer c.Close()
	told, err := c.Resume(ctx, d.journal.name)
	if err != nil {
		return
	}
	r, err := OpenJournal(d.journal.dir)
	if err != nil {
		return
	}
	defer r.Close()
	for {
		more := d.journal.arrived()
		e, err := r.Next()
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
		// A report that the editor refuses is not sent again.
		if err := c.Tell(ctx, d.report(e)); err != nil && !errors.As(err, new(*feed.Error)) {
			return
		}
	}
}

// report is what an editor is told about a change. Each has a report, so that no
// number is missing.
func (d *delivery) report(e Event) feed.Report {
	r := feed.Report{
		Kind: feed.Write, Path: e.Path, Phase: feed.Post, Agent: d.agent, PID: e.PID,
		Author:   review.Author{Session: d.session, Source: "shim", Inferred: e.Inferred},
		Before:   d.version(e.Before),
		After:    d.version(e.After),
		At:       e.Time,
		Producer: d.journal.name, Seq: e.Seq,
	}
	switch e.Op {
	case Remove:
		r.Kind = feed.Remove
	case Rename:
		r.Kind, r.From = feed.Rename, e.From
	case Mkdir, Rmdir:
		r.Kind = feed.Read // a review has no folders
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
	if v.Hash == (store.Hash{}) {
		return f
	}
	if data, err := d.journal.store.Get(v.Hash); err == nil && utf8.Valid(data) {
		text := string(data)
		f.Text = &text
	}
	return f
}

package trace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// Options configure a Writer.
type Options struct {
	Meta Meta // Format and Redacted are filled in
	// Raw keeps secrets; without it Redact is applied to everything.
	Raw bool
	// Queue bounds what waits to be written, in bytes: 32 MiB.
	Queue int
	// Transport is written into the records of messages.
	Transport string
}

// Writer writes a recording. It is safe for concurrent use.
//
// Nothing is lost: records wait in a queue, and a goroutine masks them and writes
// them, whole lines at a time, as soon as there are any. If more than
// Options.Queue bytes wait, the methods wait as well, so that a connection slows
// down instead of being recorded with holes. If the file cannot be written, later
// records are counted and dropped, traffic continues, and Close returns the error.
type Writer struct {
	w    io.Writer
	opts Options

	mu     sync.Mutex
	room   sync.Cond
	work   sync.Cond
	queue  []Record
	bytes  int
	seq    uint64
	lost   int
	err    error
	closed bool
	done   chan struct{}
}

// ErrClosed is returned by a Writer after Close.
var ErrClosed = errors.New("recording is closed")

// Create starts a recording in a file that only its owner can read; an existing
// file is replaced.
func Create(path string, opts Options) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		err = errors.Join(f.Chmod(0o600), f.Truncate(0))
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("recording: %w", err)
	}
	return NewWriter(f, opts), nil
}

// NewWriter starts a recording. Close closes w if it is an io.Closer. Each
// write to w holds whole lines.
func NewWriter(w io.Writer, opts Options) *Writer {
	if opts.Queue <= 0 {
		opts.Queue = 32 << 20
	}
	opts.Meta.Format, opts.Meta.Redacted = Format, !opts.Raw
	t := &Writer{w: w, opts: opts, done: make(chan struct{})}
	t.room.L, t.work.L = &t.mu, &t.mu
	meta := opts.Meta
	t.queue = []Record{{Time: time.Now(), Direction: About, Meta: &meta}}
	go t.run()
	return t
}

// Message records a message, or a line that is not a message, as it is on the wire
// and without its line end. It does not keep b.
func (t *Writer) Message(d Direction, b []byte) error {
	return t.add(Record{Direction: d, Transport: t.opts.Transport, Bytes: b})
}

// CutMessage is Message for a line whose end never came.
func (t *Writer) CutMessage(d Direction, b []byte) error {
	return t.add(Record{Direction: d, Transport: t.opts.Transport, Bytes: b, Cut: true})
}

// Line records a line of the agent's standard error.
func (t *Writer) Line(line []byte) error { return t.add(Record{Direction: Stderr, Bytes: line}) }

// Note records a remark.
func (t *Writer) Note(format string, args ...any) error {
	return t.add(Record{Direction: Note, Bytes: fmt.Appendf(nil, format, args...)})
}

// End records that a way was closed by the side that sends there: ToAgent by the client.
func (t *Writer) End(d Direction) error {
	who := "agent"
	if d == ToAgent {
		who = "client"
	}
	return t.add(Record{Direction: Note, End: d, Bytes: []byte("the " + who + " closed its side")})
}

// Restart records that what follows is another connection of the same agent.
func (t *Writer) Restart() error {
	meta := t.opts.Meta
	return t.add(Record{Direction: About, Meta: &meta})
}

// Middleware records the messages of a connection, whichever side it is.
func (t *Writer) Middleware() rpc.Middleware {
	return rpc.Middleware{Tap: func(from acp.Side, b []byte) {
		way := ToAgent
		if from == acp.SideAgent {
			way = ToClient
		}
		t.Message(way, b)
	}}
}

func (t *Writer) add(r Record) error {
	r.Bytes = append(make([]byte, 0, len(r.Bytes)), r.Bytes...)
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.err == nil && !t.closed && len(t.queue) > 0 && t.bytes+len(r.Bytes) > t.opts.Queue {
		t.room.Wait()
	}
	switch {
	case t.err != nil:
		t.lost++
		return t.err
	case t.closed:
		return ErrClosed
	}
	t.seq++
	r.Seq, r.Time = t.seq, time.Now()
	t.queue = append(t.queue, r)
	t.bytes += len(r.Bytes)
	t.work.Signal()
	return nil
}

// maxBatch is how much is encoded before it is written, in bytes.
const maxBatch = 256 << 10

func (t *Writer) run() {
	defer close(t.done)
	var out []byte
	for {
		t.mu.Lock()
		for len(t.queue) == 0 && !t.closed {
			t.work.Wait()
		}
		batch := t.queue
		t.queue = nil
		t.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		for i := range batch {
			r := &batch[i]
			size := len(r.Bytes)
			if !t.opts.Raw {
				t.mask(r)
			}
			out = r.Append(out)
			if len(out) >= maxBatch || i == len(batch)-1 {
				if !t.flush(out, len(batch)-i) {
					return
				}
				if out = out[:0]; cap(out) > 4*maxBatch {
					out = nil
				}
			}
			r.Bytes = nil
			t.mu.Lock()
			t.bytes -= size
			t.mu.Unlock()
			t.room.Broadcast()
		}
	}
}

func (t *Writer) mask(r *Record) {
	if r.Meta != nil {
		r.Meta.Command = redactCommand(r.Meta.Command)
		return
	}
	masked, changed := Redact(r.Bytes)
	r.Bytes, r.Redacted = masked, changed
}

// flush writes whole lines. left is how many records are lost if it fails.
func (t *Writer) flush(lines []byte, left int) bool {
	_, err := t.w.Write(lines)
	if err == nil {
		return true
	}
	t.mu.Lock()
	t.err = fmt.Errorf("recording: %w", err)
	t.lost += left + len(t.queue)
	t.queue, t.bytes = nil, 0
	t.mu.Unlock()
	t.room.Broadcast()
	return false
}

// Close writes what is queued and closes the file. It returns the first error
// since the recording started.
func (t *Writer) Close() error {
	t.mu.Lock()
	first := !t.closed
	t.closed = true
	t.mu.Unlock()
	t.work.Signal()
	t.room.Broadcast()
	<-t.done
	t.mu.Lock()
	defer t.mu.Unlock()
	if c, ok := t.w.(io.Closer); ok && first {
		if err := c.Close(); err != nil && t.err == nil {
			t.err = fmt.Errorf("recording: %w", err)
		}
	}
	if t.lost > 0 && t.err != nil {
		return fmt.Errorf("%w (%d records lost)", t.err, t.lost)
	}
	return t.err
}

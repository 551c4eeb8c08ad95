package terminal

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/creack/pty"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/process"
)

// KillGrace is how long a command may take to end after TERM.
const KillGrace = 2 * time.Second

const (
	pipeGrace  = 200 * time.Millisecond // for output after the end of the command
	pipeTries  = 50                     // times that, while a child goes on writing
	maxPending = 256 << 10              // bytes that OnData may be behind
)

// term is one terminal. Three goroutines serve it: read copies the output into
// out, exited is called when the command has exited, notify calls back.
type term struct {
	m    *Manager
	id   acp.TerminalID
	in   *os.File // this side's end of the pipe or pseudo terminal
	to   *os.File // what the command reads from: a pipe, or in; nil: nothing
	done chan struct{}
	eof  chan struct{}
	gone chan struct{} // shut has finished

	status Status // valid once done is closed

	group *process.Group
	asked atomic.Bool   // read is to say when there is nothing more to read
	empty chan struct{} // gets the answer

	mu      sync.Mutex
	out     ring
	dec     decoder
	pending []byte // not yet seen by OnData
	skipped int
	wake    chan struct{}
}

func newTerm(m *Manager, id acp.TerminalID, limit uint64) *term {
	return &term{
		m: m, id: id, out: ring{limit: int(limit)},
		done: make(chan struct{}), eof: make(chan struct{}), gone: make(chan struct{}), wake: make(chan struct{}, 1), empty: make(chan struct{}, 1),
	}
}

// start starts the command, which is killed when this process dies.
func (t *term) start(c *Command) error {
	cmd := &exec.Cmd{Path: c.Path, Args: c.Argv, Dir: c.Dir, Env: c.environ}
	kind := process.Kind{Terminal: t.m.opts.PTY != nil, Death: process.Killed, Wrapper: t.m.opts.Wrapper, Keeper: t.m.opts.Keeper}
	var theirs *os.File
	var err error
	if size := t.m.opts.PTY; size != nil {
		t.in, theirs, err = pty.Open()
		if err == nil {
			err = pty.Setsize(t.in, &pty.Winsize{Rows: size.Rows, Cols: size.Cols})
		}
		cmd.Stdin, t.to = theirs, t.in
	} else {
		t.in, theirs, err = os.Pipe()
	}
	var reads *os.File
	if err == nil && t.m.opts.Input && t.to == nil {
		reads, t.to, err = os.Pipe()
		cmd.Stdin = reads
	}
	if err != nil {
		closeAll(t.in, theirs)
		return fmt.Errorf("open terminal: %w", err)
	}
	cmd.Stdout, cmd.Stderr = theirs, theirs
	if c.Shell {
		toShell(cmd, c.Argv)
	}

	t.m.wg.Add(1)
	t.group, err = process.Start(cmd, kind, func(_ *process.Group, exit process.Exit) {
		defer t.m.wg.Done()
		t.exited(exit)
	})
	closeAll(theirs, reads)
	if err != nil {
		t.m.wg.Done()
		closeAll(t.in, t.to)
		return fmt.Errorf("start %s: %w", brief(c.Argv[0]), plain(err))
	}
	if t.m.opts.OnStart != nil {
		t.m.opts.OnStart(t.id, c)
	}
	t.m.wg.Go(t.read)
	if t.m.opts.OnData != nil || t.m.opts.OnExit != nil {
		t.m.wg.Go(t.notify)
	}
	return nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

func (t *term) exited(exit process.Exit) {
	t.status = Status{Code: exit.Code, Signal: exit.Signal}
	t.drain()
	close(t.done)
	t.poke()
}

// drain waits until what the command has written is read. A background child
// may keep the pipe open, and write to it.
func (t *term) drain() {
	select {
	case <-t.eof:
		return
	case <-time.After(pipeGrace):
	}
	// Only read knows whether what it took out of the pipe is kept by now.
	t.asked.Store(true)
	if t.in.SetReadDeadline(time.Now()) != nil {
		return // nobody can be asked here
	}
	select {
	case <-t.eof:
	case <-t.empty:
	case <-time.After(pipeTries * pipeGrace):
	}
}

// read returns at the end of the output: when the last process that holds the
// pipe ends, or when shut closes this side's end.
func (t *term) read() {
	buf := make([]byte, 32<<10)
	for {
		n, err := t.in.Read(buf)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.in.SetReadDeadline(time.Time{})
			if !unread(t.in) {
				t.asked.Store(false)
				t.empty <- struct{}{}
				continue
			}
			n, err = t.in.Read(buf)
		}
		t.add(buf[:n], err != nil)
		if err != nil {
			close(t.eof)
			return
		}
		if t.asked.Load() {
			t.in.SetReadDeadline(time.Now())
		}
	}
}

func (t *term) add(raw []byte, end bool) {
	t.mu.Lock()
	text := t.dec.decode(raw, end)
	t.out.write(text)
	if t.m.opts.OnData != nil {
		t.pending = append(t.pending, text...)
		if over := len(t.pending) - maxPending; over > 0 {
			cut := runeStart(t.pending, over)
			t.skipped += cut
			t.pending = append(t.pending[:0], t.pending[cut:]...)
		}
	}
	t.mu.Unlock()
	t.poke()
}

func (t *term) poke() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

func (t *term) notify() {
	exited := false
	for last := false; !last; {
		select {
		case <-t.wake:
		case <-t.gone:
			last = true
		}
		ended := !exited && isClosed(t.done)
		t.mu.Lock()
		text, skipped := string(t.pending), t.skipped
		t.pending, t.skipped = t.pending[:0], 0
		t.mu.Unlock()
		if text != "" && t.m.opts.OnData != nil {
			t.m.opts.OnData(t.id, text, skipped)
		}
		if ended && t.m.opts.OnExit != nil {
			t.m.opts.OnExit(t.id, t.status)
		}
		exited = exited || ended
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (t *term) output() (text string, truncated bool, status *Status) {
	if isClosed(t.done) { // first, so that the text is complete when there is a status
		s := t.status
		status = &s
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	text, truncated = t.out.tail()
	return text, truncated, status
}

// kill ends the process group. It returns once the group is gone, or if it
// outlives KILL, which only a process stuck in the kernel does.
func (t *term) kill() {
	t.group.End(KillGrace)
	select {
	case <-t.done:
	case <-time.After(time.Second):
	}
}

func (t *term) shut() {
	t.kill()
	closeAll(t.in, t.to)
	<-t.eof
	select {
	case <-t.done:
	case <-time.After(time.Second):
	}
	close(t.gone)
}

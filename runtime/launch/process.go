package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/hermes-nvim/hermes/internal/process"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// lastWords is how long the pipes of an exited agent are still read if
// something else keeps them open.
const lastWords = 500 * time.Millisecond

// exitKnown is how long it may take to learn the exit of an agent whose output
// has ended, on a very busy machine. An agent that lives on without an output
// counts as gone after it.
const exitKnown = 3 * time.Second

// Process is a running agent. Its methods are safe for concurrent use.
type Process struct {
	cmd   Command
	group *process.Group
	pipes process.Pipes
	io    *stdio
	turns turns
	errs  tail // standard error
	noise tail // lines on standard output that are not messages

	stopOnce sync.Once
	stopErr  error
	stopped  chan struct{} // the shutdown sequence is over
	done     chan struct{} // exited and waited for
	exit     *ExitError    // set before done is closed
}

// Start starts an agent in a process group of its own. The error, a
// *StartError, names the command and what is wrong with it. When ctx ends, the
// agent is stopped as by Stop.
//
// On Linux, when this process dies without stopping the agent, the agent gets
// TERM, or its keeper ends it if it has one.
func Start(ctx context.Context, cmd Command) (*Process, error) {
	cmd = cmd.withDefaults()
	p := &Process{cmd: cmd, stopped: make(chan struct{}), done: make(chan struct{})}
	p.errs = tail{limit: StderrTail, each: cmd.OnStderr}
	p.noise = tail{limit: StderrLine}
	if err := ctx.Err(); err != nil {
		return nil, &StartError{cmd.String(), err}
	}
	if err := p.start(); err != nil {
		return nil, &StartError{cmd.String(), err}
	}
	stop := context.AfterFunc(ctx, func() { p.Stop(context.Background()) })
	go func() {
		<-p.done
		stop()
	}()
	return p, nil
}

func (p *Process) start() error {
	env := p.cmd.Environ()
	if err := checkDir(p.cmd.Dir); err != nil {
		return err
	}
	path, err := resolve(p.cmd.Path, p.cmd.Dir, env)
	if err != nil {
		return err
	}
	x := &exec.Cmd{
		Path: path, Args: append([]string{p.cmd.Path}, p.cmd.Args...), Env: env, Dir: p.cmd.Dir,
	}
	exited := make(chan process.Exit, 1)
	kind := process.Kind{Whole: true, Death: process.Terminated, Wrapper: p.cmd.Wrapper, Keeper: p.cmd.Keeper}
	err = process.Piped(x, func(pipes process.Pipes) (err error) {
		p.pipes = pipes
		p.group, err = process.Start(x, kind, func(_ *process.Group, exit process.Exit) { exited <- exit })
		return err
	})
	if err != nil {
		if errors.Is(err, syscall.ENOEXEC) {
			err = fmt.Errorf("%w (a script needs a first line such as #!/bin/sh)", err)
		}
		return err
	}
	p.turns.init(p.group.Busy)
	p.io = &stdio{Stream: transport.NewStream(output{p.pipes.Stdout}, p.pipes.Stdin), p: p}
	go p.wait(exited)
	return nil
}

// wait waits until the agent has exited and its leftovers are gone, and records
// how it ended.
func (p *Process) wait(exited <-chan process.Exit) {
	read := make(chan struct{})
	go func() {
		defer close(read)
		p.errs.drain(output{p.pipes.Stderr})
	}()
	exit := <-exited
	p.pipes.Stderr.SetReadDeadline(time.Now())
	p.pipes.Stdout.SetReadDeadline(time.Now())
	<-read
	p.pipes.Stderr.Close()
	p.pipes.Stdin.Close()
	p.exit = &ExitError{Command: p.cmd.String(), Code: exit.Code, Signal: exit.Words, Stderr: p.errs.String()}
	close(p.done)
}

// Programs returns the names of the programs that the agent and its descendants run: the
// names of the processes, and the first two words of their command lines. It is empty on
// systems other than Linux.
func (p *Process) Programs() []string { return p.group.Programs() }

// PID returns the process id, which is also the id of its group.
func (p *Process) PID() int { return p.group.Leader() }

// Transport returns the agent's standard streams as a transport. Its Close
// stops the agent; its Read and Write fail with the *ExitError when the agent has exited.
func (p *Process) Transport() transport.Transport { return p.io }

// Done is closed when the agent has exited and been waited for.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns an *ExitError once the agent has exited, whatever its status,
// nil before.
func (p *Process) Err() error {
	select {
	case <-p.done:
		e := *p.exit
		e.Stdout = p.noise.String()
		return &e
	default:
		return nil
	}
}

// Stderr returns the last StderrTail bytes of standard error.
func (p *Process) Stderr() string { return p.errs.String() }

// Said quotes the last lines of standard error, and of those on standard output
// that are not messages, as an *ExitError does: "stderr: ...; stdout: ...". It
// explains why a running agent does not answer. The text is the agent's, of at
// most about 1 KiB, and empty when there is nothing to quote.
func (p *Process) Said() string { return said(p.errs.String(), p.noise.String()) }

// output is an agent's standard output or error. Once the agent has exited,
// which sets a read deadline, what it wrote before is still read; then the
// output ends, even when a process that left its group keeps it open.
type output struct{ *os.File }

func (o output) Read(b []byte) (int, error) {
	n, err := o.File.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		o.SetReadDeadline(time.Now().Add(lastWords))
		n, err = o.File.Read(b)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = io.EOF
		}
	}
	return n, err
}

// stdio is the transport over the agent's standard streams. It counts the
// running turns.
type stdio struct {
	*transport.Stream
	p *Process

	reading, writing sync.Mutex // for leave, while a connection still does these
}

// Read is Stream.Read, but keeps lines that are not messages for ExitError. At
// the end of the output its error is how the agent exited.
func (s *stdio) Read(buf []byte) ([]byte, error) {
	msg, err := s.read(buf)
	if len(msg) > 0 && msg[0] != '{' {
		s.p.noise.write(msg)
		s.p.noise.line()
	}
	if err == io.EOF {
		err = s.p.ending(err)
	}
	return msg, err
}

// ending returns how the agent ended, or that it has only closed a stream.
func (p *Process) ending(err error) error {
	if p.gone(exitKnown) {
		return p.Err()
	}
	return &HalfClosedError{Command: p.cmd.String(), Said: p.Said(), Err: err}
}

func (s *stdio) read(buf []byte) ([]byte, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	msg, err := s.Stream.Read(buf)
	s.p.turns.received(msg)
	return msg, err
}

// Write is Stream.Write, but its error is how the agent exited rather than the
// broken pipe, which a slow machine notices first.
func (s *stdio) Write(msg []byte) error { return s.unwritten(s.write(msg)) }

// WriteBatch implements transport.BatchWriter.
func (s *stdio) WriteBatch(msgs [][]byte) error { return s.unwritten(s.write(msgs...)) }

func (s *stdio) write(msgs ...[]byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	for _, m := range msgs {
		s.p.turns.sent(m)
	}
	return s.Stream.WriteBatch(msgs)
}

func (s *stdio) unwritten(err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
		return s.p.ending(err)
	}
	return err
}

// Close stops the agent. Messages that the agent sends meanwhile are dropped.
func (s *stdio) Close() error {
	if s.p.turns.running() {
		go s.leave()
	}
	err := s.p.Stop(context.Background())
	s.Stream.Close()
	return err
}

// leave reads instead of the departed client until the agent has ended.
func (s *stdio) leave() {
	var buf []byte
	for {
		msg, err := s.read(buf)
		if tooLarge := (*transport.TooLargeError)(nil); err != nil && !errors.As(err, &tooLarge) {
			return
		}
		if answer := farewell(msg); answer != nil {
			s.write(answer)
		}
		buf = msg[:0]
	}
}

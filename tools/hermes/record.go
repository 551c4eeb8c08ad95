package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/hermes-nvim/hermes/internal/process"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/trace"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/pathmap"
)

// record runs an agent, passes on the bytes between it and its client unchanged, and
// writes a recording. Both sides do not notice it: standard error, signals and the
// exit status are passed on as well. With --map it renames paths on the way and
// records them as the client knows them.
func record(_ context.Context, args []string, std *stdio) error {
	args, argv := splitCommand(args)
	flags := newFlags("record", "[--out FILE] [--raw] [--map HERE=THERE] -- AGENT [ARGUMENT...]", std.out)
	path := flags.String("out", "", "write the recording to `FILE` (default: a new file below the user's cache folder, named on standard error)")
	raw := flags.Bool("raw", false, "keep secrets in the recording")
	var paths folders
	flags.Var(&paths, "map", mapUsage)
	if rest, err := flags.parse(args); err != nil {
		return err
	} else if len(rest) > 0 || len(argv) == 0 {
		return usageError("the agent's command is missing after --: hermes record --out FILE -- AGENT [ARGUMENT...]")
	}
	if *path == "" {
		var err error
		if *path, err = newRecording(argv[0]); err != nil {
			return err
		}
		fmt.Fprintf(std.err, "hermes record: writing %s\n", oneLine(*path))
	}
	cwd, _ := os.Getwd() // for the reader of the recording only
	w, err := trace.Create(*path, trace.Options{
		Raw: *raw, Transport: "stdio",
		Meta: trace.Meta{Program: "hermes record", Version: version, Agent: filepath.Base(argv[0]), Command: argv, Cwd: cwd},
	})
	if err != nil {
		return err
	}
	err = proxy(proxied{recorder: w, paths: paths}, argv, std)
	if e := w.Close(); e != nil {
		fmt.Fprintf(std.err, "hermes record: %s is not complete: %s\n", oneLine(*path), oneLine(e.Error()))
	}
	return passOn(err)
}

// newRecording names a file for a recording of an agent.
func newRecording(program string) (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no place for the recording: %w; use --out", err)
	}
	dir = filepath.Join(dir, "hermes", "recordings")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("no place for the recording: %w; use --out", err)
	}
	name := fmt.Sprintf("%s-%s-%d.jsonl", filepath.Base(program), time.Now().Format("20060102-150405"), os.Getpid())
	return filepath.Join(dir, name), nil
}

// lastWords is how long output is passed on after the agent has exited, if another
// process keeps it open.
const lastWords = 500 * time.Millisecond

// recorder gets what passes through a proxy.
type recorder interface {
	Message(trace.Direction, []byte) error
	CutMessage(trace.Direction, []byte) error
	Line([]byte) error
	Note(format string, args ...any) error
	End(trace.Direction) error
}

// proxied is how a proxy treats what it passes on.
type proxied struct {
	recorder
	paths  folders
	faults *faults // nil: the line is not broken
}

// proxy runs the agent to its end. The error is an *exec.ExitError if the agent
// failed.
//
// If one side closes a stream or cannot be written to, the other side notices it as
// it would with a pipe.
func proxy(w proxied, argv []string, std *stdio) error {
	var toAgent, toClient func([]byte) []byte
	if len(w.paths) > 0 {
		m := pathmap.New(w.paths...)
		toAgent, toClient = m.ToAgent, m.ToClient
	}
	in, out := std.in, std.protocol()
	signals := make(chan os.Signal, 16)
	process.Notify(signals, forwarded...)
	defer signal.Stop(signals)
	start := func() (*life, error) {
		one, err := bear(argv)
		if err != nil {
			w.Note("cannot start: %v", err)
			err = &exit{statusCannotRun(err), fmt.Errorf("cannot start %s: %w", launch.Command{Path: argv[0], Args: argv[1:]}, err)}
		}
		return one, err
	}
	one, err := start()
	if err != nil {
		return err
	}
	agent := newLives(one)
	if w.faults != nil {
		w.faults.agent = agent
	}
	var left sync.Once // the client has, by closing its side or by a signal
	leave := func() { left.Do(func() { w.End(trace.ToAgent) }) }
	ended, heard := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(heard)
		for {
			select {
			case s := <-signals:
				if !fromTerminal(s) {
					agent.signal(s)
				}
				w.Note("signal %v", s)
				if asksToEnd(s) {
					leave()
				}
			case <-ended:
				return
			}
		}
	}()
	go func() { // ends with this program: a read from a terminal cannot be stopped
		l := lines{w: w, add: w.Message, cut: w.CutMessage, way: trace.ToAgent, rename: toAgent}
		if w.faults.copy(agent, in, l) {
			leave()
		}
		agent.Close()
		if c, ok := in.(io.Closer); ok {
			c.Close()
		}
	}()
	var state *os.ProcessState
	for {
		if state, err = w.listen(agent, out, std, toClient); !agent.restarts() {
			break
		}
		w.Note("%v", state)
		if one, err = start(); err != nil {
			break
		}
		w.faults.born()
		agent.next(one)
	}
	agent.next(nil)
	out.Close() // also if no process follows
	close(ended)
	<-heard
	known := true
	left.Do(func() { known = !killed(state) }) // otherwise somebody did it, and nobody knows who
	if known {
		w.End(trace.ToClient)
	}
	w.Note("%v", state)
	return err
}

// listen passes on what a process of the agent says, until it has exited.
func (w *proxied) listen(agent *lives, out io.WriteCloser, std *stdio, rename func([]byte) []byte) (*os.ProcessState, error) {
	one := agent.now
	var output sync.WaitGroup
	output.Go(func() {
		w.faults.copy(out, one.stdout, lines{w: w, add: w.Message, cut: w.CutMessage, way: trace.ToClient, rename: rename})
		one.stdout.Close()
		if !agent.restarts() {
			out.Close()
		}
	})
	line := func(_ trace.Direction, b []byte) error { return w.Line(b) }
	output.Go(func() {
		copyLines(std.wireErr, one.stderr, lines{w: w, add: line, cut: line})
		one.stderr.Close()
	})
	err := one.cmd.Wait()
	deadline := time.Now().Add(lastWords)
	one.stdout.SetReadDeadline(deadline)
	one.stderr.SetReadDeadline(deadline)
	output.Wait()
	return one.cmd.ProcessState, err
}

// killed reports whether a signal that other processes send ended a process.
func killed(s *os.ProcessState) bool {
	status, ok := s.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && (asksToEnd(status.Signal()) || status.Signal() == syscall.SIGKILL)
}

// copyLines copies bytes as they arrive and passes the lines in them to l. It does
// so before it copies the end of the line, so that a question is recorded before
// its answer. It reports whether it reached the end of from.
func copyLines(to io.Writer, from io.Reader, l lines) (ended bool) {
	defer l.end()
	if l.rename != nil {
		return l.copyRenamed(to, from)
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		l.write(buf[:n])
		if n > 0 {
			if _, e := to.Write(buf[:n]); e != nil {
				return false // the other side is gone, and this side will notice
			}
		}
		if err != nil {
			return true
		}
	}
}

// copyRenamed is copyLines for lines whose paths are renamed. It records them with
// the client's paths. A line that is too long to record is passed on unchanged.
func (l *lines) copyRenamed(to io.Writer, from io.Reader) (ended bool) {
	in := bufio.NewReaderSize(from, 64<<10)
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		whole := err == nil && l.skipped == 0
		if err == bufio.ErrBufferFull && l.skipped == 0 && len(line) <= maxRecorded {
			continue
		}
		passed, recorded := line, line
		if whole {
			passed = append(l.rename(line[:len(line)-1]), '\n')
			if l.way == trace.ToClient {
				recorded = passed
			}
		}
		l.write(recorded)
		if _, e := to.Write(passed); e != nil {
			return false
		}
		if err != nil && err != bufio.ErrBufferFull {
			return true
		}
		if line = line[:0]; cap(line) > 1<<20 {
			line = nil
		}
	}
}

// maxRecorded is the longest line that is recorded, in bytes.
const maxRecorded = transport.DefaultMaxMessage

// lines cuts a stream into lines.
type lines struct {
	w        recorder
	add, cut func(trace.Direction, []byte) error
	way      trace.Direction
	rename   func([]byte) []byte // renames the paths in a message; may be nil
	part     []byte
	skipped  int // bytes of a line that is too long
}

func (l *lines) write(b []byte) {
	start := 0
	for i, c := range b {
		if c != '\n' {
			continue
		}
		if l.keep(b[start:i]) {
			l.add(l.way, l.part)
		}
		l.next()
		start = i + 1
	}
	l.keep(b[start:])
}

// keep adds to the line and reports whether it is still whole.
func (l *lines) keep(b []byte) bool {
	if l.skipped == 0 && len(l.part)+len(b) <= maxRecorded {
		l.part = append(l.part, b...)
		return true
	}
	l.skipped += len(l.part) + len(b)
	l.part = nil
	return false
}

func (l *lines) next() {
	if l.skipped > 0 {
		l.w.Note("a line of %d bytes (%s) was passed on and not recorded: the limit is %d", l.skipped, l.way, maxRecorded)
	}
	l.skipped = 0
	if l.part = l.part[:0]; cap(l.part) > 1<<20 {
		l.part = nil
	}
}

func (l *lines) end() {
	if len(l.part) > 0 {
		l.cut(l.way, l.part)
	}
	l.next()
}

// statusCannotRun is the exit status of a shell for a program it cannot run.
func statusCannotRun(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return 127
	}
	return 126
}

// passOn ends this program as the agent ended: with the same exit status, or by the
// same signal.
func passOn(err error) error {
	var failed *exec.ExitError
	if !errors.As(err, &failed) {
		return err
	}
	if status, ok := failed.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		dieBy(status.Signal())
		return &exit{Status: 128 + int(status.Signal())}
	}
	return &exit{Status: failed.ExitCode()}
}

// agentStatus returns the exit status that passOn makes of the end of a program, and
// describes that end.
func agentStatus(err error) (status int, why string) {
	var failed *exec.ExitError
	if !errors.As(err, &failed) {
		return 1, err.Error()
	}
	if status, ok := failed.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), "the agent was ended by " + status.Signal().String()
	}
	return failed.ExitCode(), fmt.Sprintf("the agent's exit status is %d", failed.ExitCode())
}

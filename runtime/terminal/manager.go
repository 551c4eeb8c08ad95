// Package terminal runs the commands of an agent and keeps their output.
//
// A command runs in a process group of its own, with an argument vector and
// without a shell, except for a whole shell line (see Command). Output is
// bounded and always valid UTF-8.
//
// It answers the terminal methods of
// https://agentclientprotocol.com/protocol/terminals.
package terminal

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/files"
)

// Defaults of Options.
const (
	DefaultMaxOutput    = 1 << 20 // bytes
	DefaultMaxTerminals = 64
)

// CloseTimeout is how long Close waits at most.
const CloseTimeout = 6 * time.Second

// The reasons a call fails besides those of the operating system and of
// package files. Match them with errors.Is.
var (
	ErrUnknown = errors.New("unknown terminal")
	ErrClosed  = errors.New("the session is closed")
	ErrTooMany = errors.New("too many terminals")
	ErrCommand = errors.New("not an acceptable command")
	ErrEnv     = errors.New("environment variable refused")
	ErrNoInput = errors.New("the command reads no input")
)

// Options are settings of a Manager. The zero value is the safe default.
type Options struct {
	// Workspace has the roots that must contain a working directory; its first
	// root is the directory of commands that name none. Without it any directory
	// is allowed.
	Workspace *files.Workspace
	// Env lists variables that commands inherit besides the harmless ones
	// (PATH, HOME, LANG and the like). A name may end in *.
	Env []string
	// Shell says when a shell may run the command.
	Shell ShellPolicy
	// Approve is asked before anything is started, with exactly what would
	// run. An error refuses the command. Nil approves everything.
	Approve func(context.Context, *Command) error
	// MaxOutput is the most output kept per terminal, in bytes of UTF-8, also
	// for requests that ask for more; 0 means DefaultMaxOutput.
	MaxOutput int
	// MaxTerminals bounds the terminals not yet released; 0 means
	// DefaultMaxTerminals.
	MaxTerminals int
	// Keeper: see launch.Command.Keeper. With it, commands end even in another
	// process group or session, and even when this process is killed.
	Keeper []string
	// Wrapper: see launch.Command.Wrapper. It confines the commands, as it does
	// the agent.
	Wrapper []string
	// PTY gives commands a pseudo terminal of this size instead of pipes.
	PTY *Size
	// Input lets Write reach commands without a PTY. Otherwise they read nothing.
	Input bool
	// OnStart is called once a command runs, before the other callbacks.
	OnStart func(id acp.TerminalID, cmd *Command)
	// OnData receives output as it arrives, cut between characters. A slow OnData
	// never delays the command: skipped counts the bytes left out right before
	// text.
	OnData func(id acp.TerminalID, text string, skipped int)
	// OnExit is called once for each terminal, after the OnData calls with the
	// output of the command. Background children may cause more OnData calls.
	// No callback may call Close.
	OnExit func(id acp.TerminalID, status Status)
}

// Size is the size of a pseudo terminal in characters.
type Size struct{ Rows, Cols uint16 }

// Request describes a command an agent wants to run.
type Request struct {
	Command     string
	Args        []string
	Env         []acp.EnvVariable
	Dir         string          // absolute; empty means the first root
	OutputLimit acp.Opt[uint64] // bytes kept
}

// Status says how a command ended.
type Status struct {
	Code   int    // exit code; -1 when a signal ended the command
	Signal string // name of that signal, such as SIGKILL
}

// Manager owns the terminals of one session, so that another session cannot
// reach them. It is safe for concurrent use.
type Manager struct {
	opts Options

	ctx    context.Context // ends with Close
	cancel context.CancelFunc

	mu     sync.Mutex
	terms  map[acp.TerminalID]*term // nil while a command is being started
	closed bool
	wg     sync.WaitGroup // everything that belongs to a command
}

// New returns a Manager without terminals.
func New(opts Options) *Manager {
	if opts.MaxOutput == 0 {
		opts.MaxOutput = DefaultMaxOutput
	}
	if opts.MaxTerminals == 0 {
		opts.MaxTerminals = DefaultMaxTerminals
	}
	m := &Manager{opts: opts, terms: make(map[acp.TerminalID]*term)}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	return m
}

// Create starts a command and returns at once. The context only bounds the
// approval; the command runs until it ends, is killed or is released.
func (m *Manager) Create(ctx context.Context, req Request) (acp.TerminalID, error) {
	id, err := m.create(ctx, req)
	if err != nil {
		return "", fmt.Errorf("terminal/create: %w", err)
	}
	return id, nil
}

func (m *Manager) create(ctx context.Context, req Request) (acp.TerminalID, error) {
	cmd, err := m.Command(req)
	if err != nil {
		return "", err
	}
	id := newID()
	if err := m.reserve(id); err != nil {
		return "", err
	}
	if m.opts.Approve != nil {
		err = m.approve(ctx, cmd)
	}
	var t *term
	if err == nil {
		t = newTerm(m, id, min(req.OutputLimit.Or(uint64(m.opts.MaxOutput)), uint64(m.opts.MaxOutput)))
		err = t.start(cmd)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	defer m.wg.Done()
	switch {
	case err != nil:
		delete(m.terms, id)
		return "", err
	case m.closed:
		m.wg.Go(t.shut)
		return "", ErrClosed
	}
	m.terms[id] = t
	return id, nil
}

func (m *Manager) approve(ctx context.Context, cmd *Command) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(m.ctx, func() { cancel(ErrClosed) })()
	if err := m.opts.Approve(ctx, cmd); err != nil {
		return fmt.Errorf("%s: %w", shorten(cmd.String()), err)
	}
	return context.Cause(ctx)
}

// reserve takes a place before the approval, so that questions count too. Close
// waits for the caller.
func (m *Manager) reserve(id acp.TerminalID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return ErrClosed
	case len(m.terms) >= m.opts.MaxTerminals:
		return fmt.Errorf("%w: the limit is %d, release some first", ErrTooMany, m.opts.MaxTerminals)
	}
	m.terms[id] = nil
	m.wg.Add(1)
	return nil
}

func newID() acp.TerminalID {
	var b [8]byte
	rand.Read(b[:])
	return acp.TerminalID("term-" + hex.EncodeToString(b[:]))
}

func (m *Manager) find(op string, id acp.TerminalID) (*term, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.terms[id]; t != nil {
		return t, nil
	}
	return nil, unknown(op, id)
}

func unknown(op string, id acp.TerminalID) error {
	return fmt.Errorf("%s %s: %w", op, brief(string(id)), ErrUnknown)
}

// Output returns the output kept so far, whether older output was dropped, and
// how the command ended, nil while it runs.
func (m *Manager) Output(id acp.TerminalID) (text string, truncated bool, status *Status, err error) {
	t, err := m.find("terminal/output", id)
	if err != nil {
		return "", false, nil, err
	}
	text, truncated, status = t.output()
	return text, truncated, status, nil
}

// Wait returns how the command ended, once it has. Any number of callers may
// wait. A release does not disturb them; it ends the command.
func (m *Manager) Wait(ctx context.Context, id acp.TerminalID) (Status, error) {
	t, err := m.find("terminal/wait_for_exit", id)
	if err != nil {
		return Status{}, err
	}
	select {
	case <-t.done:
		return t.status, nil
	case <-ctx.Done():
		return Status{}, fmt.Errorf("terminal/wait_for_exit %s: %w", id, ctx.Err())
	}
}

// Kill ends the command and everything it started in its process group: TERM,
// after KillGrace KILL. It returns when they are gone. The output stays.
func (m *Manager) Kill(ctx context.Context, id acp.TerminalID) error {
	m.mu.Lock()
	t := m.terms[id]
	if t == nil {
		m.mu.Unlock()
		return unknown("terminal/kill", id)
	}
	killed := make(chan struct{})
	m.wg.Go(func() { t.kill(); close(killed) })
	m.mu.Unlock()
	select {
	case <-killed:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("terminal/kill %s: %w", id, ctx.Err())
	}
}

// Release forgets the terminal at once and ends its command in the background.
func (m *Manager) Release(id acp.TerminalID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.terms[id]
	if t == nil {
		return unknown("terminal/release", id)
	}
	delete(m.terms, id)
	m.wg.Go(t.shut)
	return nil
}

// Close releases all terminals and waits until their commands are gone. It
// gives up with an error after CloseTimeout, which happens only if a process is
// stuck in the kernel or a callback does not return. Calls after Close fail.
func (m *Manager) Close() error {
	m.cancel()
	m.mu.Lock()
	m.closed = true
	for id, t := range m.terms {
		delete(m.terms, id)
		if t != nil {
			m.wg.Go(t.shut)
		}
	}
	m.mu.Unlock()
	gone := make(chan struct{})
	go func() { m.wg.Wait(); close(gone) }()
	select {
	case <-gone:
		return nil
	case <-time.After(CloseTimeout):
		return fmt.Errorf("close terminals: a command or callback is still there after %v", CloseTimeout)
	}
}

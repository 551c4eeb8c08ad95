// Package process runs the commands of the agent, where its configuration says:
// on this machine, in a sandbox, in a container or on another machine.
//
// A Registry has the commands of one session. They run in the background until
// they end, are killed, or the session is over.
package process

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/terminal"
)

// Limits of a Registry.
const (
	MaxOutput    = 200 << 10        // bytes kept of each process, the newest
	MaxProcesses = 64               // running ones
	KeepEnded    = 30 * time.Minute // how long a process is listed after its end
)

// ErrUnknown is the error for an id that no process has.
var ErrUnknown = errors.New("there is no such process")

// Options are settings of a Registry.
type Options struct {
	// Backend says where commands run. Nil: on this machine.
	Backend Backend
	// Keeper is that of terminal.Options. With it nothing outlives the agent.
	Keeper []string
}

// Approve decides about a line before it runs, and before it is typed into a
// running process. Nil approves everything.
type Approve func(ctx context.Context, line, dir string) error

// Registry has the processes of one session. It is safe for concurrent use.
type Registry struct {
	opts Options
	now  func() time.Time

	mu     sync.Mutex
	closed bool
	list   []*running // in the order of their start
}

// Command is a shell line to run.
type Command struct {
	Line string
	Dir  string // absolute
	PTY  bool   // for programs that want a terminal

	Approve Approve
}

// Info describes a process.
type Info struct {
	ID      string `json:"id"`
	Command string `json:"command"`
	Dir     string `json:"cwd,omitempty"`
	Seconds int    `json:"seconds"`          // since its start, or until its end
	Status  string `json:"status"`           // running, exited, killed
	Code    *int   `json:"code,omitempty"`   // once it has exited
	Signal  string `json:"signal,omitempty"` // if one ended it
}

// running is a process and what it has said.
type running struct {
	Info
	manager *terminal.Manager
	term    acp.TerminalID
	started time.Time
	done    chan struct{} // closed at the end, when the output is complete

	typing sync.Mutex // held while input is written
	typed  string     // the line that is not complete

	mu     sync.Mutex
	out    window
	ended  time.Time
	status terminal.Status
}

// New returns a Registry without processes.
func New(o Options) *Registry {
	if o.Backend == nil {
		o.Backend = Local{}
	}
	return &Registry{opts: o, now: time.Now}
}

// Isolated reports whether commands cannot reach this machine.
func (r *Registry) Isolated() bool { return r.opts.Backend.Isolated() }

// Elsewhere reports whether commands run in another way than any program of the user.
func (r *Registry) Elsewhere() bool {
	_, local := r.opts.Backend.(Local)
	return !local
}

// Start starts a command and returns at once.
func (r *Registry) Start(ctx context.Context, c Command) (Info, error) {
	p, err := r.start(ctx, c)
	if err != nil {
		return Info{}, err
	}
	return r.info(p), nil
}

func (r *Registry) start(ctx context.Context, c Command) (*running, error) {
	if err := c.Approve.ask(ctx, c.Line, c.Dir); err != nil {
		return nil, err
	}
	p := &running{Info: Info{ID: newID(), Command: c.Line, Dir: c.Dir}, started: r.now(), done: make(chan struct{})}
	argv, dir, err := r.opts.Backend.Command(ctx, p.ID, c)
	if err != nil {
		return nil, fmt.Errorf("start the command: %w", err)
	}
	opts := terminal.Options{
		Env: inherited(), Shell: terminal.ShellNever, Keeper: r.opts.Keeper, Input: true, MaxOutput: 1,
		OnData: func(_ acp.TerminalID, text string, skipped int) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.out.add(text, skipped)
		},
		OnExit: func(_ acp.TerminalID, s terminal.Status) {
			p.mu.Lock()
			p.status, p.ended = s, r.now()
			p.mu.Unlock()
			close(p.done)
		},
	}
	if c.PTY {
		opts.PTY = &terminal.Size{Rows: 24, Cols: 80}
	}
	if err := r.admit(p); err != nil {
		return nil, err
	}
	p.manager = terminal.New(opts)
	if p.term, err = p.manager.Create(ctx, terminal.Request{Command: argv[0], Args: argv[1:], Dir: dir}); err != nil {
		r.forget(p)
		return nil, fmt.Errorf("start the command: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		go r.end(p)
		return nil, errors.New("the session is over")
	}
	r.list = append(r.list, p)
	return p, nil
}

// admit refuses a process too many, and forgets those that ended long ago.
func (r *Registry) admit(p *running) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	count := 0
	r.list = slices.DeleteFunc(r.list, func(p *running) bool {
		_, ended := p.state()
		if ended.IsZero() {
			count++
			return false
		}
		if r.now().Sub(ended) < KeepEnded {
			return false
		}
		go p.manager.Close()
		return true
	})
	switch {
	case r.closed:
		return errors.New("the session is over")
	case count >= MaxProcesses:
		return fmt.Errorf("%d processes are running, which is the limit: kill some first", count)
	}
	return nil
}

func (a Approve) ask(ctx context.Context, line, dir string) error {
	if a == nil {
		return nil
	}
	return a(ctx, line, dir)
}

func newID() string {
	var b [4]byte
	rand.Read(b[:])
	return "proc_" + hex.EncodeToString(b[:])
}

func (p *running) state() (terminal.Status, time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status, p.ended
}

func (r *Registry) info(p *running) Info {
	i := p.Info
	status, ended := p.state()
	i.Status = "running"
	if until := ended; ended.IsZero() {
		i.Seconds = int(r.now().Sub(p.started).Seconds())
	} else {
		i.Seconds, i.Status, i.Signal = int(until.Sub(p.started).Seconds()), "exited", status.Signal
		if i.Signal != "" {
			i.Status = "killed"
		} else {
			i.Code = &status.Code
		}
	}
	return i
}

func (r *Registry) find(id string) (*running, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.IndexFunc(r.list, func(p *running) bool { return p.ID == id }); i >= 0 {
		return r.list[i], nil
	}
	return nil, fmt.Errorf("process %q: %w", id, ErrUnknown)
}

// List returns the processes that run, and those that ended lately.
func (r *Registry) List() []Info {
	r.mu.Lock()
	list := slices.Clone(r.list)
	r.mu.Unlock()
	infos := []Info{}
	for _, p := range list {
		infos = append(infos, r.info(p))
	}
	return infos
}

// Output is what a process has written.
type Output struct {
	Info
	Text    string `json:"output"`
	Skipped int    `json:"bytes_left_out,omitempty"` // before Text, because too much was written
}

// Poll returns what a process has written since the last Poll or Wait.
func (r *Registry) Poll(id string) (Output, error) {
	p, err := r.find(id)
	if err != nil {
		return Output{}, err
	}
	return r.news(p), nil
}

func (r *Registry) news(p *running) Output {
	info := r.info(p) // first, so that the text is complete if the process has ended
	p.mu.Lock()
	defer p.mu.Unlock()
	text, skipped := p.out.news()
	return Output{info, text, skipped}
}

// Wait returns like Poll, once the process has ended or ctx ends.
func (r *Registry) Wait(ctx context.Context, id string) (Output, error) {
	p, err := r.find(id)
	if err != nil {
		return Output{}, err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
	}
	return r.news(p), nil
}

// Page is a part of all output that is kept.
type Page struct {
	Info
	Text  string `json:"output"`
	From  int    `json:"from_line"` // of the lines that are kept, from 0
	Lines int    `json:"lines"`     // that are kept
}

// Log returns limit lines of the output from a line on. A negative line counts
// from the end.
func (r *Registry) Log(id string, from, limit int) (Page, error) {
	p, err := r.find(id)
	if err != nil {
		return Page{}, err
	}
	info := r.info(p)
	p.mu.Lock()
	text := string(p.out.kept)
	p.mu.Unlock()
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if from < 0 {
		from += len(lines)
	}
	from = min(max(0, from), len(lines))
	to := min(len(lines), from+max(0, limit))
	return Page{info, strings.Join(lines[from:to], ""), from, len(lines)}, nil
}

// Write types text into a process. What completes a line is approved first,
// because the process may be a shell.
func (r *Registry) Write(ctx context.Context, id, text string, approve Approve) error {
	p, err := r.find(id)
	if err != nil {
		return err
	}
	p.typing.Lock()
	defer p.typing.Unlock()
	if _, ended := p.state(); !ended.IsZero() {
		return fmt.Errorf("process %s has ended", id)
	}
	line := p.typed + text
	if err := approve.ask(ctx, line, p.Dir); err != nil {
		return err
	}
	if err := p.manager.Write(ctx, p.term, text); err != nil {
		return err
	}
	p.typed = line[strings.LastIndexAny(line, "\r\n")+1:]
	return nil
}

// Kill ends a process and everything it has started.
func (r *Registry) Kill(id string) (Output, error) {
	p, err := r.find(id)
	if err != nil {
		return Output{}, err
	}
	if err := r.end(p); err != nil {
		return Output{}, err
	}
	return r.news(p), nil
}

// end ends what a process has started here, and where the backend ran it.
func (r *Registry) end(p *running) error {
	if _, ended := p.state(); ended.IsZero() {
		r.opts.Backend.End(p.ID)
	}
	return p.manager.Close()
}

func (r *Registry) forget(p *running) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = slices.DeleteFunc(r.list, func(other *running) bool { return other == p })
}

// Close ends all processes and the backend.
func (r *Registry) Close() error {
	r.mu.Lock()
	r.closed = true
	list := r.list
	r.mu.Unlock()
	errs := make([]error, len(list))
	var wg sync.WaitGroup
	for i, p := range list {
		wg.Go(func() { errs[i] = r.end(p) })
	}
	wg.Wait()
	return errors.Join(append(errs, r.opts.Backend.Close())...)
}

// Package process runs the commands of the agent, where its configuration says:
// in the client's terminals, on this machine, in a sandbox, in a container or on
// another machine.
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

// ErrUnknown is the error for an id that no process has. A model may have it from a
// session that was loaded.
var ErrUnknown = errors.New("there is no such process; those that ran before the session was opened again have ended")

// Options are settings of a Registry.
type Options struct {
	// Backend says where commands run. Nil: on this machine.
	Backend Backend
	// Keeper: see terminal.Options.Keeper. With it nothing outlives the agent.
	Keeper []string
	// Environment names more variables that commands get. A name may end in *.
	Environment []string
	// Terminals are the terminals of the client, where the user sees the commands
	// of this machine. Nil: the client has none.
	Terminals Terminals
	Session   acp.SessionID // of Terminals
}

// Approve decides about a line before it runs, and before it is typed into a
// running process. Nil approves everything.
type Approve func(ctx context.Context, line, dir string) error

// Registry has the processes of one session. It is safe for concurrent use.
type Registry struct {
	opts Options
	now  func() time.Time

	mu      sync.Mutex
	closed  bool
	list    []*running      // in the order of their start
	allowed map[string]bool // scopes of effects, until the session ends
}

// Command is a shell line to run.
type Command struct {
	Line  string
	Dir   string // absolute
	Input bool   // something will be typed into it, which terminals of clients do not allow
	PTY   bool   // for programs that want a terminal; implies Input

	Approve Approve
	// Effect decides about what the command is about to do beyond the project, if the backend
	// asks. always says that the answer also is one for later commands. Nil denies everything.
	Effect func(ctx context.Context, e Effect) (always bool, err error)
	// Progress is called with the newest output while the command runs, if no terminal of the
	// client shows it. Nil: nobody wants to know.
	Progress func(text string)
	// Shown is called if the command runs in a terminal of the client. Nil: nobody
	// wants to know.
	Shown func(acp.TerminalID)
}

// Info describes a process.
type Info struct {
	ID      string `json:"id"`
	Command string `json:"command"`
	Dir     string `json:"cwd,omitempty"`
	Seconds int    `json:"seconds"`          // since its start, or until its end
	Status  string `json:"status"`           // running, exited, killed, lost by the client
	Code    *int   `json:"code,omitempty"`   // once it has exited
	Signal  string `json:"signal,omitempty"` // if one ended it
}

// child is a command that was started.
type child interface {
	news() news
	log() string // all output that is kept
	write(ctx context.Context, text string) error
	end() error // with everything it has started
}

// news is output that was not returned before.
type news struct {
	Text    string `json:"output"`
	Skipped int    `json:"bytes_left_out,omitempty"`     // before Text, because too much was written
	Cut     bool   `json:"beginning_left_out,omitempty"` // the same, if the client does not say how much
}

// running is a child as the Registry knows it.
type running struct {
	Info
	child
	started time.Time
	done    chan struct{} // closed at the end, when the output is complete

	typing sync.Mutex // held while input is written
	typed  string     // the line that is not complete

	mu      sync.Mutex
	ended   time.Time
	status  terminal.Status
	lost    bool            // the client does not say how it ended
	allowed map[string]bool // scopes of effects, for this command
	denied  []string        // effects, and why
	asking  int             // questions that are open
	asked   time.Time       // since when one is
	waited  time.Duration   // for answers before
}

// New returns a Registry without processes.
func New(o Options) *Registry {
	if o.Backend == nil {
		o.Backend = Local{}
	}
	return &Registry{opts: o, now: time.Now, allowed: make(map[string]bool)}
}

// Reach says how far commands reach.
func (r *Registry) Reach(ctx context.Context) Reach { return r.opts.Backend.Reach(ctx) }

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
	p := &running{Info: Info{ID: newID(), Command: c.Line, Dir: c.Dir}, started: r.now(), done: make(chan struct{}), allowed: make(map[string]bool)}
	if err := r.admit(p); err != nil {
		return nil, err
	}
	exited := func(s terminal.Status, lost bool) {
		if backend, forgets := r.opts.Backend.(interface{ Ended(id string) }); forgets {
			backend.Ended(p.ID)
		}
		p.mu.Lock()
		p.status, p.lost, p.ended = s, lost, r.now()
		p.mu.Unlock()
		close(p.done)
	}
	c.Effect = r.remembers(p, c.Effect)
	begin := r.here
	if _, local := chosen(ctx, r.opts.Backend).(Local); local && r.opts.Terminals != nil && !c.Input && !c.PTY {
		begin = r.inClient
	}
	var err error
	if p.child, err = begin(ctx, p.ID, c, exited); err != nil {
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
		p.mu.Lock()
		ended := p.ended
		p.mu.Unlock()
		if ended.IsZero() {
			count++
			return false
		}
		if r.now().Sub(ended) < KeepEnded {
			return false
		}
		go p.end()
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

func (p *running) hasEnded() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (r *Registry) info(p *running) Info {
	i := p.Info
	p.mu.Lock()
	defer p.mu.Unlock()
	until := p.ended
	switch {
	case p.ended.IsZero():
		i.Status, until = "running", r.now()
	case p.lost:
		i.Status = "lost"
	case p.status.Signal != "":
		i.Status, i.Signal = "killed", p.status.Signal
	default:
		code := p.status.Code
		i.Status, i.Code = "exited", &code
	}
	i.Seconds = int(until.Sub(p.started).Seconds())
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
	news
	// Denied says what the process was not allowed to do, and why.
	Denied []string `json:"not_allowed,omitempty"`
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
	return Output{info, p.child.news(), slices.Clone(p.denied)}
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
	lines := strings.SplitAfter(p.log(), "\n")
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

// Write types text into a process. Text that completes a line is approved
// first, because the process may be a shell.
func (r *Registry) Write(ctx context.Context, id, text string, approve Approve) error {
	p, err := r.find(id)
	if err != nil {
		return err
	}
	p.typing.Lock()
	defer p.typing.Unlock()
	if p.hasEnded() {
		return fmt.Errorf("process %s has ended", id)
	}
	line := p.typed + text
	if err := approve.ask(ctx, line, p.Dir); err != nil {
		return err
	}
	if err := p.write(ctx, text); err != nil {
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
	if !p.hasEnded() {
		r.opts.Backend.End(p.ID)
	}
	return p.child.end()
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

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/files"
	"github.com/hermes-nvim/hermes/runtime/history"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/permission"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/services"
	"github.com/hermes-nvim/hermes/runtime/terminal"
	"github.com/hermes-nvim/hermes/runtime/trace"
	"github.com/hermes-nvim/hermes/runtime/transport/pathmap"
)

// Limits on memory, in bytes: for the session, which rules and titles of tool calls
// need, and for messages of the agent that have not been shown yet.
const (
	maxState   = 8 << 20
	maxWaiting = 2 << 20
)

// cancelTime is how long a cancelled turn may take to end.
const cancelTime = 5 * time.Second

// lastChance is how long an agent whose turn did not end after a cancel may take to end
// once its input is closed. TERM comes halfway, and KILL at the end.
const lastChance = 4 * time.Second

// lastWork is how long an agent may go on after TERM. It may be writing what it keeps of
// the session, on a slow disk or a busy machine.
const lastWork = 10 * time.Second

// turn is one run of an agent. It is the client's side of the connection.
type turn struct {
	*services.Services
	*job
	agent  acp.Agent
	denied atomic.Int64
	hurry  bool // the agent is killed, after grace; set by watch
	grace  time.Duration
	began  bool // the agent has opened the session; set by talk
	review *runReview

	mu      sync.Mutex
	session acp.SessionID // set while a prompt runs
	why     error         // why this program cancelled it
}

func newTurn(j *job) *turn { return &turn{job: j} }

// play runs the agent, the session and the turn, and ends all of them.
func (t *turn) play(ctx context.Context, again <-chan os.Signal) (stop acp.StopReason, denied int, err error) {
	cmd := t.job.agent.Process()
	box, err := boxFor(t.job.agent, cmd.Environ(), t.cwd, t.std.err)
	if err != nil {
		return "", 0, err
	}
	cmd.Wrapper, cmd.Keeper, cmd.TermWait = box.Wrapper(), keeper(), lastWork
	if err := t.services(terminal.Options{Wrapper: cmd.Wrapper, Keeper: cmd.Keeper}); err != nil {
		return "", 0, err
	}
	defer t.Services.Close()
	if t.review, err = openReview(ctx, t.job); err != nil {
		if ctx.Err() != nil {
			err = errInterrupted
		}
		return "", 0, err
	}
	defer func() { err = errors.Join(err, t.review.finish(t.show.current())) }()
	recorder, closeTrace, err := t.recording(&cmd)
	if err != nil {
		return "", 0, err
	}
	life, kill := context.WithCancelCause(context.Background())
	defer kill(nil)
	process, err := launch.Start(life, cmd)
	if err != nil {
		if hint := t.job.agent.Install; hint != "" {
			err = fmt.Errorf("%w (to install it: %s)", err, hint)
		}
		return "", 0, errors.Join(err, closeTrace())
	}
	conn := rpc.NewConn(pathmap.Wrap(process.Transport(), t.paths...), acp.ClientSide(t), rpc.Options{
		Middleware: recorder, OnFault: t.show.losses.fault, Limits: rpc.Limits{Bytes: maxWaiting},
	})
	t.agent = acp.Agent{Conn: conn}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		t.watch(ctx, life, kill, again)
	}()
	stop, err = t.talk(life)
	t.show.losses.turnEnded()
	cause := context.Cause(life) // set if this program stopped it
	said := process.Said()
	kill(nil)
	<-watched
	var over <-chan time.Time
	if t.hurry {
		over = time.After(t.grace)
	}
	if interrupted(again, conn.Done(), over) {
		process.Stop(life) // life is over, so at once
	}
	<-conn.Done() // the messages before the answer have been handled
	conn.Close()
	err = errors.Join(t.quoting(t.explain(stop, err, cause), said), closeTrace())
	return stop, int(t.denied.Load()), err
}

// recording prepares the recording that was asked for.
func (t *turn) recording(cmd *launch.Command) (recorder []rpc.Middleware, done func() error, err error) {
	var stderr func(string)
	if t.verbose {
		stderr = func(line string) { t.show.note(line) }
	}
	cmd.OnStderr = stderr
	if t.record == "" {
		return nil, func() error { return nil }, nil
	}
	w, err := trace.Create(t.record, trace.Options{
		Raw: t.raw, Transport: "stdio",
		Meta: trace.Meta{
			Program: "hermes run", Version: version, Agent: t.job.agent.Name,
			Command: append([]string{cmd.Path}, cmd.Args...), Cwd: t.cwd, Protocol: 1,
		},
	})
	if err != nil {
		return nil, nil, err
	}
	cmd.OnStderr = func(line string) {
		w.Line([]byte(line))
		if stderr != nil {
			stderr(line)
		}
	}
	return []rpc.Middleware{w.Middleware()}, w.Close, nil
}

// watch stops the turn on an interrupt or a timeout. It cancels first, and kills the
// agent if that does not help or on a second interrupt.
func (t *turn) watch(ctx, life context.Context, kill context.CancelCauseFunc, again <-chan os.Signal) {
	var late <-chan time.Time
	if t.timeout > 0 {
		timer := time.NewTimer(t.timeout)
		defer timer.Stop()
		late = timer.C
	}
	reason, interrupts := errInterrupted, 2
	select {
	case <-life.Done():
		return
	case <-late:
		reason, interrupts = errTimeout, 1
	case <-ctx.Done():
	}
	t.mu.Lock()
	session := t.session
	t.mu.Unlock()
	if session == "" { // no turn to cancel
		kill(reason)
		return
	}
	t.stopped(reason)
	t.agent.Cancel(life, &acp.CancelNotification{SessionID: session})
	limit := time.NewTimer(cancelTime)
	defer limit.Stop()
	for ; interrupts > 0; interrupts-- {
		select {
		case <-again:
		case <-limit.C:
			interrupts, t.grace = 0, lastChance
		case <-life.Done():
			return
		}
	}
	t.hurry = true
	kill(reason)
}

// interrupted waits for the end of an agent whose turn is over, and reports whether the
// user has interrupted that, or its time is over.
func interrupted(again <-chan os.Signal, ended <-chan struct{}, over <-chan time.Time) bool {
	for len(again) > 0 {
		<-again // this one was for the turn
	}
	select {
	case <-ended:
		return false
	case <-again:
		return true
	case <-over:
		return true
	}
}

// talk opens the session and runs the turn.
func (t *turn) talk(ctx context.Context) (acp.StopReason, error) {
	init, err := t.agent.Initialize(ctx, &acp.InitializeRequest{
		ProtocolVersion: 1, ClientCapabilities: t.Capabilities(),
		ClientInfo: &acp.Implementation{Name: "hermes", Title: acp.Some("Hermes"), Version: version},
	})
	if refused := (*acp.Error)(nil); errors.As(err, &refused) {
		return "", fmt.Errorf("initialize: %w", err)
	} else if err != nil {
		return "", err // it names the method
	}
	if init.ProtocolVersion != 1 {
		return "", fmt.Errorf("the agent speaks version %d of the protocol, Hermes speaks 1", init.ProtocolVersion)
	}
	id, can, err := t.open(ctx, init)
	if err != nil {
		return "", t.loginHint(err, init)
	}
	t.began = true
	t.show.opened()
	if err := t.wanted.apply(ctx, t.agent, id, can); err != nil {
		return "", err
	}
	t.mu.Lock()
	t.session = id
	t.mu.Unlock()
	resp, err := t.agent.Prompt(ctx, &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.NewTextContent(t.prompt)}})
	t.mu.Lock()
	t.session = ""
	t.mu.Unlock()
	if err != nil {
		return "", t.loginHint(err, init)
	}
	return resp.StopReason, nil
}

// open starts a session or continues the one that was named.
func (t *turn) open(ctx context.Context, init *acp.InitializeResponse) (acp.SessionID, *offer, error) {
	id := acp.SessionID(t.job.session)
	can := init.AgentCapabilities
	switch {
	case id == "":
		show := func(_ context.Context, id acp.SessionID, _ json.RawMessage) { t.show.expect(id) }
		resp, err := t.NewSession(rpc.WithOpened(ctx, show), t.agent, &acp.NewSessionRequest{Cwd: t.cwd, MCPServers: []acp.MCPServer{}})
		if err != nil {
			return "", nil, err
		}
		return resp.SessionID, &offer{resp.Modes, resp.ConfigOptions, resp.Extra}, nil
	case can != nil && can.SessionCapabilities != nil && can.SessionCapabilities.Resume != nil:
		t.show.expect(id)
		resp, err := t.ResumeSession(ctx, t.agent, &acp.ResumeSessionRequest{SessionID: id, Cwd: t.cwd, MCPServers: []acp.MCPServer{}})
		if err != nil {
			return "", nil, err
		}
		return id, &offer{resp.Modes, resp.ConfigOptions, resp.Extra}, nil
	case can != nil && can.LoadSession:
		t.show.expect(id)
		t.show.replay(true)
		resp, err := t.LoadSession(ctx, t.agent, &acp.LoadSessionRequest{SessionID: id, Cwd: t.cwd, MCPServers: []acp.MCPServer{}})
		t.show.replay(false)
		if err != nil {
			return "", nil, err
		}
		return id, &offer{resp.Modes, resp.ConfigOptions, resp.Extra}, nil
	}
	return "", nil, errors.New("the agent can neither load nor resume sessions; run it without --session")
}

// loginHint says how to log in, if a login is missing.
func (t *turn) loginHint(err error, init *acp.InitializeResponse) error {
	if !errors.Is(err, &acp.Error{Code: acp.ErrorCodeAuthenticationRequired}) {
		return err
	}
	var names []string
	for _, m := range init.AuthMethods {
		switch m := m.(type) {
		case *acp.AuthMethodAgent:
			names = append(names, m.Name)
		case *acp.AuthMethodTerminal:
			names = append(names, m.Name)
		}
	}
	switch hint := t.job.agent.Auth; {
	case len(names) > 0:
		return fmt.Errorf("%w; log in to the agent first (its ways to log in: %s)", err, enumerate(names))
	case hint != "":
		return fmt.Errorf("%w; %s", err, hint)
	}
	return fmt.Errorf("%w; log in with the agent's own program first", err)
}

// explain turns the end of the turn into the error of the program.
func (t *turn) explain(stop acp.StopReason, err, cause error) error {
	var why *exit
	t.mu.Lock()
	stopped := t.why
	t.mu.Unlock()
	switch {
	case errors.As(cause, &why), errors.As(stopped, &why):
		return why
	case err != nil:
		return err
	case stop == acp.StopReasonEndTurn && t.denied.Load() > 0:
		return &exit{statusDenied, fmt.Errorf("%d request(s) of the agent were not allowed (--approve %s)", t.denied.Load(), t.approve)}
	case stop == acp.StopReasonEndTurn:
		return nil
	case stop == acp.StopReasonCancelled:
		return errors.New("the agent cancelled the turn by itself")
	}
	return &exit{statusStopped, fmt.Errorf("the agent stopped: %s", stop)}
}

// quoting adds the output of the agent to the error if the agent did not answer. It
// may have printed its usage, or be waiting for something.
func (t *turn) quoting(err error, said string) error {
	var unanswered *rpc.TimeoutError
	if said == "" || !errors.As(err, &unanswered) && (t.began || !errors.Is(err, errTimeout)) {
		return err
	}
	return fmt.Errorf("%w; the agent said: %s", err, said)
}

func (t *turn) stopped(why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.why = why
}

// services sets up what the agent may use, and offers only what is approved.
func (t *turn) services(terminals terminal.Options) error {
	policy, err := permission.Open("")
	if err != nil {
		return err
	}
	missingIsEmpty := t.job.agent.Quirks.MissingFileEmpty
	opts := services.Options{
		Agent: t.job.agent.Name, Policy: policy, Ask: t.ask, Decided: t.decided,
		Terminal:       terminals,
		MissingIsEmpty: missingIsEmpty != nil && *missingIsEmpty,
		Updated: func(_ context.Context, n *acp.SessionNotification) error {
			t.show.update(n)
			t.review.updated(n.SessionID, n.Update, t.Services)
			return nil
		},
		Limits: history.Limits{Bytes: maxState},
	}
	t.show.title = func(id acp.ToolCallID) string {
		if st := t.State(t.show.session); st != nil {
			if c := st.ToolCall(id); c != nil {
				return c.Title
			}
		}
		return string(id)
	}
	switch t.approve {
	case "all":
		opts.ApproveCommand = services.AllowCommands
		opts.ApproveWrite = func(context.Context, *acp.WriteTextFileRequest, files.Location, *files.ProtectedError) error {
			return nil
		}
	case "reads":
		inside := escapePattern(t.cwd) + "/**"
		err := policy.Configure([]permission.Rule{
			{Action: permission.Allow, Kind: acp.ToolKindRead, Path: inside},
			{Action: permission.Allow, Kind: acp.ToolKindSearch, Path: inside},
		})
		if err != nil {
			return err
		}
	}
	t.Services = services.New(opts)
	return nil
}

// escapePattern escapes a path so that a rule matches it literally.
func escapePattern(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// Capabilities returns the capabilities of the services, without those that
// were not approved.
func (t *turn) Capabilities() *acp.ClientCapabilities {
	c := t.Services.Capabilities()
	c.Fs.ReadTextFile = t.approve != "none"
	c.Fs.WriteTextFile = t.approve == "all"
	return c
}

// ask answers requests that no rule answers: with --approve all it allows
// everything, otherwise nothing.
func (t *turn) ask(_ context.Context, req *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
	if t.approve != "all" {
		if id, ok := permission.Select(req.Options, permission.Deny); ok {
			return id, nil
		}
		return "", permission.ErrNoOption
	}
	if id, ok := permission.Select(req.Options, permission.Allow); ok {
		return id, nil
	}
	for _, o := range req.Options {
		if o.Kind == acp.PermissionOptionKindAllowOnce || o.Kind == acp.PermissionOptionKindAllowAlways {
			return o.OptionID, nil
		}
	}
	return "", permission.ErrNoOption
}

func (t *turn) decided(req *acp.RequestPermissionRequest, outcome acp.RequestPermissionOutcome, _ *permission.Rule, err error) {
	if errors.Is(err, rpc.ErrRequestCancelled) {
		return // the agent has taken its question back
	}
	allowed := false
	if o, ok := outcome.(*acp.SelectedPermissionOutcome); ok {
		for _, option := range req.Options {
			allowed = allowed || option.OptionID == o.OptionID &&
				(option.Kind == acp.PermissionOptionKindAllowOnce || option.Kind == acp.PermissionOptionKindAllowAlways)
		}
	}
	if !allowed && !errors.Is(err, rpc.ErrSessionCancelled) {
		t.denied.Add(1)
	}
	t.show.permission(req, allowed)
}

// RequestPermission answers only for the session of this run, as the services for
// files and terminals do.
func (t *turn) RequestPermission(ctx context.Context, p *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	if _, err := t.Workspace(p.SessionID); err != nil {
		t.denied.Add(1)
		return nil, &acp.Error{Code: acp.ErrorCodeResourceNotFound, Message: acp.MethodSessionRequestPermission + ": " + err.Error()}
	}
	return t.Services.RequestPermission(ctx, p)
}

// ReadTextFile reads files unless --approve is none.
func (t *turn) ReadTextFile(ctx context.Context, p *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	if t.approve == "none" {
		return nil, t.refuse("fs/read_text_file", p.Path)
	}
	return t.Services.ReadTextFile(ctx, p)
}

// WriteTextFile writes files if everything is approved.
func (t *turn) WriteTextFile(ctx context.Context, p *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	if t.approve != "all" {
		return nil, t.refuse("fs/write_text_file", p.Path)
	}
	var resp *acp.WriteTextFileResponse
	err := t.review.writing(p.SessionID, p.Path, p.Content, func() (err error) {
		resp, err = t.Services.WriteTextFile(ctx, p)
		return err
	})
	if errors.Is(err, files.ErrProtected) || errors.Is(err, files.ErrOutside) {
		t.denied.Add(1)
	}
	return resp, err
}

// CreateTerminal runs commands if everything is approved.
func (t *turn) CreateTerminal(ctx context.Context, p *acp.CreateTerminalRequest) (*acp.CreateTerminalResponse, error) {
	if t.approve != "all" {
		return nil, t.refuse("terminal/create", p.Command)
	}
	return t.Services.CreateTerminal(ctx, p)
}

func (t *turn) refuse(method, what string) error {
	t.denied.Add(1)
	return &acp.Error{Code: acp.ErrorCodeInvalidParams, Message: fmt.Sprintf("%s %s: not allowed by the user (--approve %s)", method, what, t.approve)}
}

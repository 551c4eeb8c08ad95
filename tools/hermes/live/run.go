package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/lazyregexp"
	"github.com/hermes-nvim/hermes/runtime/files"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/runtime/services"
	"github.com/hermes-nvim/hermes/runtime/terminal"
	"github.com/hermes-nvim/hermes/runtime/trace"
)

// Options say how an agent is driven.
type Options struct {
	// Start starts the agent, whose standard error goes to stderr.
	Start func(stderr func([]byte)) (*Agent, error)
	// Workspace is the folder of the sessions.
	Workspace string
	Version   string        // of this program
	Timeout   time.Duration // of a step
	Total     time.Duration // of the run; zero: no limit
	Lint      lint.Options
	Recording *trace.Writer // nil: none
	// Prompts are played, the first of them wherever any prompt will do. Asking makes the
	// agent ask for permission, and Busy keeps it busy until it is cancelled.
	Prompts      []string
	Asking, Busy string
	// Steps are the ids of the steps to play; none: all. Without are those to leave out.
	Steps, Without []string
	// AuthMethod is the login to use, empty for none. Logout allows to log out.
	AuthMethod string
	Logout     bool
	Keeper     []string               // of terminals, see launch.Command
	Known      func(step string) bool // reports whether a step that fails is known to; may be nil
	Done       func(Outcome)          // is called with how each step ended, at once; may be nil
}

// skip is why a step was not exercised.
type skip string

func (s skip) Error() string { return string(s) }

// unplayed is why a step could not be played, although it concerns the agent: what it
// needs first did not work.
type unplayed struct{ error }

func (u unplayed) Unwrap() error { return u.error }

// late is the end of a step's time.
type late time.Duration

func (l late) Error() string { return fmt.Sprintf("%v have passed", time.Duration(l)) }

// spent is the end of the run's time.
type spent time.Duration

func (s spent) Error() string { return fmt.Sprintf("the run has taken %v", time.Duration(s)) }

// hello is an agent's answer to initialize. Members of other types than the schema's
// are left to the linter.
type hello struct {
	ProtocolVersion   json.RawMessage
	AgentInfo         struct{ Name, Version string }
	AgentCapabilities struct {
		LoadSession        bool
		PromptCapabilities struct{ Image, Audio, EmbeddedContext bool }
	}
	AuthMethods []struct{ ID, Name, Type string }
	session     map[string]json.RawMessage
	logout      bool
}

func readHello(result json.RawMessage) *hello {
	h := &hello{}
	json.Unmarshal(result, h)
	var more struct {
		AgentCapabilities struct {
			SessionCapabilities map[string]json.RawMessage
			Auth                struct{ Logout json.RawMessage }
		}
	}
	json.Unmarshal(result, &more)
	h.session, h.logout = more.AgentCapabilities.SessionCapabilities, offered(more.AgentCapabilities.Auth.Logout)
	return h
}

// offered reports whether the value of a capability offers it.
func offered(v json.RawMessage) bool {
	return len(v) > 0 && string(v) != "null" && string(v) != "false"
}

func (h *hello) can(session string) bool { return offered(h.session[session]) }

// driven is an agent that runs.
type driven struct {
	*line
	agent    *Agent
	words    *words
	services *services.Services
	hello    *hello
	main     *session
	failed   error      // why there is no session
	canceled []*session // in which a turn was cancelled
}

// session is one of the agent's.
type session struct {
	id    string
	turns int // that ended
	Modes *struct {
		CurrentModeID  string
		AvailableModes []struct{ ID string }
	}
	ConfigOptions []option
}

type option struct {
	ID, Type     string
	CurrentValue json.RawMessage
	Options      []struct {
		Value   json.RawMessage
		Options []struct{ Value json.RawMessage }
	}
}

// stage is where the steps are played.
type stage struct {
	Options
	judge   *Judge
	begun   bool           // there was a connection
	now     *driven        // nil if none
	dead    error          // the agent does not start, or no longer answers
	closed  error          // it no longer opens sessions
	greeted time.Duration  // how long the first initialize took that it has answered; zero: none
	hangs   map[string]int // requests in a row that were not answered in time, by method
	end     time.Time      // of the run; zero: none
	renew   func() bool    // gives the step its whole time again, and reports false if that is over
	version string         // another one that the agent speaks
	login   string         // how, if the agent needs it
	who     string         // the agent, with its version
	name    string
	note    string // of the step

	outcomes []*Outcome // with first, the number of the first message of each
	first    []int
	before   [][2]int            // messages that open a connection or session which a step only needs
	faults   map[string]bool     // faults that a step has shown
	errors   map[string]*Outcome // steps that failed with an error, by what it is about

	mu     sync.Mutex
	decide func(context.Context, *acp.RequestPermissionRequest) (acp.PermissionOptionID, error)
	asked  int // permission requests of the step
}

// Run drives an agent through all steps. The error is about the run, not about the agent.
func Run(ctx context.Context, o Options) (*Result, error) {
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	o.Lint.Whole = true
	s := &stage{Options: o, judge: NewJudge(o.Lint, lint.Agent), hangs: map[string]int{}, faults: map[string]bool{}, errors: map[string]*Outcome{}}
	defer s.stop()
	if err := o.CheckSteps(); err != nil {
		return nil, err
	}
	if o.Total > 0 {
		s.end = time.Now().Add(o.Total)
	}
	for _, step := range s.steps() {
		out := s.play(ctx, step)
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		s.done(out)
	}
	s.stop()
	r := &Result{Report: s.judge.Report(), Name: s.name, Peer: s.who}
	for _, out := range s.attach() { // the end of a connection may show more
		s.done(out)
	}
	for _, out := range s.outcomes {
		r.Outcomes = append(r.Outcomes, *out)
	}
	for _, out := range s.outcomes {
		if len(s.Steps) > 0 {
			r.Only = append(r.Only, out.Step)
		}
	}
	r.Without = slices.Compact(slices.Sorted(slices.Values(s.Without)))
	r.decide(&s.Lint, s.Lint.RuleSet.Since("2026-12"), "initialize", "session-new", "prompt")
	return r, nil
}

func (s *stage) done(out *Outcome) {
	out.Known = out.Status == Failed && s.Known != nil && s.Known(out.Step)
	if s.Done != nil {
		s.Done(*out)
	}
}

// play plays a step.
func (s *stage) play(ctx context.Context, step *step) *Outcome {
	out := &Outcome{Step: step.id, Title: step.title, Tier: step.tier, Requirements: step.requirements}
	s.attach() // to those before
	s.outcomes, s.first = append(s.outcomes, out), append(s.first, s.judge.Messages()+1)
	if step.tier == Informational {
		defer s.judge.Silent()()
	}
	if s.Recording != nil {
		s.Recording.Note("step %s: %s", step.id, step.title)
	}
	s.mu.Lock()
	s.asked, s.decide = 0, reject
	s.mu.Unlock()
	err := s.exercised(step)
	if err == nil {
		err = s.try(ctx, step)
	}
	if step.greeting && errors.As(err, new(late)) && !errors.As(err, new(skip)) {
		err = s.slow(ctx, step, err)
	}
	out.hung = errors.As(err, new(late)) && step.tier != Informational && s.Lint.RuleSet.Since("2026-12")
	var no skip
	switch first := s.same(out, err); {
	case errors.As(err, &no):
		out.Status, out.Text = NotExercised, string(no)
	case errors.As(err, new(unplayed)), errors.As(err, new(spent)):
		out.Status, out.Text = NotPlayed, err.Error()
	case err != nil && step.tier == Informational:
		out.Status, out.Text = Passed, err.Error() // it is what was seen
	case first != "":
		out.Status, out.Text, out.Same = NotPlayed, "the same fault as "+first+": "+err.Error(), first
	case err != nil:
		out.Status, out.Text = Failed, err.Error()
		out.Message = s.judge.Messages() // the last message before, if the step sends none itself
	default:
		out.Status, out.Text = Passed, s.note
	}
	if err != nil && !errors.As(err, &no) && s.now != nil && (errors.Is(err, errEnded) || errors.As(err, new(late))) {
		if s.ended(err) {
			out.Text += ": " + s.now.agent.Status() + s.now.words.last()
		}
		s.stop()
	}
	s.attach()
	return out
}

// try does a step within its time.
func (s *stage) try(ctx context.Context, step *step) (err error) {
	s.note = ""
	limit := func() time.Duration {
		if s.end.IsZero() {
			return s.Timeout
		}
		return min(s.Timeout, time.Until(s.end))
	}
	limited, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(limit(), func() {
		if !s.end.IsZero() && !time.Now().Before(s.end) {
			cancel(spent(s.Total))
		} else {
			cancel(late(s.Timeout))
		}
	})
	s.renew = func() bool { return timer.Reset(limit()) }
	done := make(chan error, 1)
	go func() { done <- step.do(s, limited) }()
	select {
	case err = <-done:
	case <-limited.Done():
		select {
		case err = <-done:
		case <-ctx.Done():
			s.kill()
			err = <-done
		case <-time.After(cancelTime + 5*time.Second): // it does not even read
			s.kill()
			<-done
			err = fmt.Errorf("the agent does not read its input: %w", context.Cause(limited))
		}
	}
	timer.Stop()
	cancel(nil)
	return err
}

// slow says what an initialize means that was left without an answer. The machine may be busy,
// so it fails the step only if the agent has answered the first one in much less time, and a
// second process does not answer this one either.
func (s *stage) slow(ctx context.Context, step *step, err error) error {
	switch {
	case s.greeted == 0:
		return unplayed{fmt.Errorf("%w; --timeout gives it more time", err)}
	case s.greeted > s.Timeout/4:
		return unplayed{fmt.Errorf("%w, and the first was answered in %v; --timeout gives it more time", err, s.greeted.Round(10*time.Millisecond))}
	}
	if s.Recording != nil {
		s.Recording.Note("step %s, in a second process", step.id)
	}
	s.stop()
	switch again := s.try(ctx, step); {
	case again == nil:
		return unplayed{fmt.Errorf("%w, and a second process has answered; --timeout gives it more time", err)}
	case errors.As(again, new(late)):
		return fmt.Errorf("%w, and neither has a second process answered", err)
	default:
		return again
	}
}

// same returns the step that has failed with the same error, if it is worth as much. Otherwise
// the step is the first.
func (s *stage) same(out *Outcome, err error) (first string) {
	var f *failure
	fault := ""
	switch {
	case out.Tier == Informational, errors.As(err, new(skip)), errors.As(err, new(unplayed)):
	case errors.As(err, new(stillRuns)):
		fault = "exit"
	case errors.As(err, &f) && f.Code == int(acp.ErrorCodeMethodNotFound): // whatever the params
		fault = f.method
	case errors.As(err, &f):
		fault = fmt.Sprint(f.method, " ", f.Code, " ", f.members)
	}
	if before := s.errors[fault]; before != nil && slices.Index(tiers, before.Tier) <= slices.Index(tiers, out.Tier) {
		return before.Step
	}
	if fault != "" {
		s.errors[fault] = out
	}
	return ""
}

// attach gives the findings since the last call to the steps that they are about, and
// returns the steps before this one that it changed. One fault fails one step: the
// first that shows it, and none that only needed the connection or the session.
func (s *stage) attach() (changed []*Outcome) {
	for _, f := range s.judge.Findings() {
		i := len(s.outcomes) - 1
		for f.Message > 0 && i > 0 && s.first[i] > f.Message {
			i--
		}
		if i < 0 {
			continue
		}
		out := s.outcomes[i]
		fault := f.Rule.ID + " " + f.Pointer + " " + f.Text
		if s.Lint.RuleSet.Since("2026-12") {
			fault += " " + f.Name // a second unknown method is another fault
		}
		fault = digits().ReplaceAllString(fault, "#")
		within := func(r [2]int) bool { return r[0] <= f.Message && f.Message <= r[1] }
		if out.Tier != Informational && (s.faults[fault] || slices.ContainsFunc(s.before, within)) {
			note(&out.Again, f.Rule.ID)
			continue
		}
		if out.Tier != Informational {
			s.faults[fault] = true
		}
		old := out.Status
		if out.found(f); out.Status != old && i < len(s.outcomes)-1 && !slices.Contains(changed, out) {
			changed = append(changed, out)
		}
	}
	return changed
}

// need does what a step needs first. Its findings and its time are not the step's.
func (s *stage) need(ctx context.Context, do func() error) error {
	first := s.judge.Messages() + 1
	err := do()
	if last := s.judge.Messages(); last >= first {
		s.before = append(s.before, [2]int{first, last})
	}
	if !s.renew() && err == nil {
		return context.Cause(ctx)
	}
	return err
}

// missing says that a step has not what it needs.
func missing(what string, err error) error {
	switch {
	case err == nil, errors.As(err, new(skip)):
		return err
	case errors.As(err, new(late)):
		return unplayed{fmt.Errorf("there is no %s: %w; --timeout gives it more time", what, err)}
	default:
		return unplayed{fmt.Errorf("there is no %s: %w", what, err)}
	}
}

// digits are what is different in the same fault at another time.
var digits = lazyregexp.New("[0-9]+")

// ended reports whether the agent has exited. err is why a step failed. If the connection
// has ended, the exit is about to come, which takes a while on a busy machine.
func (s *stage) ended(err error) bool {
	limit := lastWords
	if errors.Is(err, errEnded) {
		limit = exitTime
	}
	select {
	case <-s.now.agent.Exited:
		return true
	case <-time.After(limit):
		return false
	}
}

// exercised says why a step cannot be played.
func (s *stage) exercised(step *step) error {
	switch {
	case !s.end.IsZero() && !time.Now().Before(s.end):
		return spent(s.Total)
	case s.dead != nil:
		return unplayed{s.dead}
	case s.version != "" && step.id != "initialize-version":
		return skip("the agent speaks " + s.version)
	case s.login != "" && step.session:
		return skip("the agent needs a login: " + s.login)
	case s.closed != nil && step.session:
		return unplayed{s.closed}
	}
	return nil
}

// maxHangs is how often in a row the agent may leave what every step needs without an
// answer, before the steps that need it are not played.
const maxHangs = 2

// hung notes whether a request that steps need was answered, and returns an error once
// it was left without an answer too often in a row.
func (s *stage) hung(method string, err error) error {
	if !errors.As(err, new(late)) {
		s.hangs[method] = 0
		return nil
	}
	if s.hangs[method]++; s.hangs[method] < maxHangs {
		return nil
	}
	return fmt.Errorf("%s was left without an answer %d times", method, maxHangs)
}

func (s *stage) tap(r lint.Record) { record(s.judge, s.Recording, r) }

// start starts the agent. It ends the one that ran.
func (s *stage) start() (*driven, error) {
	s.stop()
	if s.begun && s.Recording != nil {
		s.Recording.Restart()
	}
	s.begun = true
	s.judge.Add(lint.Record{Source: lint.Beginning})
	said := &words{}
	agent, err := s.Start(func(line []byte) {
		said.add(line)
		s.tap(lint.Record{Source: lint.Stderr, From: lint.Agent, Bytes: line})
	})
	if err != nil {
		return nil, fmt.Errorf("cannot start the agent: %w", err)
	}
	d := &driven{agent: agent, words: said}
	d.services = services.New(services.Options{
		Agent: "agent", Ask: s.ask, ApproveCommand: services.AllowCommands,
		ApproveWrite: func(context.Context, *acp.WriteTextFileRequest, files.Location, *files.ProtectedError) error {
			return nil
		},
		Terminal: terminal.Options{Keeper: s.Keeper},
		Elicit:   decline,
	})
	s.now = d
	d.line = newLine(lint.Client, agent.Out, agent.In, acp.ClientSide(d.services), s.tap)
	return d, nil
}

// stop ends the agent as a client does: it closes its input, and helps it if it does not
// exit.
func (s *stage) stop() {
	d := s.now
	if d == nil {
		return
	}
	s.now = nil
	d.hangUp()
	d.agent.End()
	<-d.ended
	d.services.Close()
}

// kill ends the agent at once.
func (s *stage) kill() {
	if d := s.now; d != nil {
		d.killed.Store(true)
		s.tap(lint.Record{Source: lint.End, From: lint.Client})
		d.agent.Kill()
	}
}

// codeVersion is the error of an agent that does not speak the version.
const codeVersion = -32022

// greet sends initialize and waits for its answer.
func (s *stage) greet(ctx context.Context, d *driven, params object) (json.RawMessage, error) {
	began := time.Now()
	result, err := d.call(ctx, acp.MethodInitialize, params)
	if s.greeted == 0 && (err == nil || errors.As(err, new(*failure))) {
		s.greeted = max(time.Since(began), 1)
	}
	return result, err
}

// initialize begins the connection.
func (s *stage) initialize(ctx context.Context, d *driven, capabilities any) error {
	result, err := s.greet(ctx, d, s.hi(1, capabilities))
	if gone := s.hung(acp.MethodInitialize, err); gone != nil {
		s.dead = gone
	}
	if f := (*failure)(nil); errors.As(err, &f) && f.Code == codeVersion {
		s.version = "other versions than 1: " + f.Error()
		return skip("the agent speaks " + s.version)
	}
	if err != nil {
		return err
	}
	d.hello = readHello(result)
	if s.who == "" && d.hello.AgentInfo.Name != "" {
		s.name = d.hello.AgentInfo.Name
		s.who = s.name + " " + d.hello.AgentInfo.Version
	}
	if v := string(d.hello.ProtocolVersion); v != "1" {
		s.version = "version " + v + " of the protocol, and these steps are of version 1"
		return skip("the agent speaks " + s.version)
	}
	if s.AuthMethod != "" {
		if _, err := d.call(ctx, acp.MethodAuthenticate, object{"methodId": s.AuthMethod}); err != nil {
			s.login = err.Error()
			no := skip("the login did not work: " + err.Error())
			if over := late(0); errors.As(err, &over) {
				return errors.Join(no, over)
			}
			return no
		}
	}
	return nil
}

// hi are the params of initialize.
func (s *stage) hi(version int, capabilities any) object {
	o := object{"protocolVersion": version, "clientInfo": object{"name": "hermes-lint", "title": "hermes lint run", "version": s.Version}}
	if capabilities != nil {
		o["clientCapabilities"] = capabilities
	}
	return o
}

// able are the capabilities of a client that offers everything.
func (d *driven) able() any {
	var all map[string]any
	json.Unmarshal(d.services.Capabilities().AppendJSON(nil), &all)
	all["_meta"] = object{"hermes.dev": object{"lint": true}} // whose methods are asked
	all["session"] = object{"configOptions": object{"boolean": object{}}}
	return all
}

// ready returns a connection that is initialized, with all capabilities.
func (s *stage) ready(ctx context.Context) (*driven, error) {
	if d := s.now; d != nil && d.hello != nil {
		select {
		case <-d.ended: // between two steps
		default:
			return d, nil
		}
	}
	return s.connect(ctx, nil)
}

// connect starts the agent and initializes the connection, with all capabilities
// unless some are given.
func (s *stage) connect(ctx context.Context, capabilities any) (d *driven, err error) {
	err = s.need(ctx, func() error {
		if d, err = s.start(); err != nil {
			return err
		}
		if capabilities == nil {
			capabilities = d.able()
		}
		return s.initialize(ctx, d, capabilities)
	})
	return d, missing("connection", err)
}

// open opens a session with some params.
func (s *stage) open(ctx context.Context, d *driven, method string, params object) (*session, error) {
	c, err := d.ask(method, params, func(result json.RawMessage) {
		var r struct{ SessionID string }
		json.Unmarshal(result, &r)
		if r.SessionID == "" {
			r.SessionID, _ = params["sessionId"].(string)
		}
		d.services.OpenSession(acp.SessionID(r.SessionID), []string{s.Workspace})
	})
	if err != nil {
		return nil, err
	}
	result, err := d.wait(ctx, c)
	if method == acp.MethodSessionNew {
		if gone := s.hung(method, err); gone != nil {
			s.closed = gone
		}
	}
	if err != nil {
		return nil, s.wantsLogin(d, err)
	}
	var r struct{ SessionID string }
	one := &session{}
	json.Unmarshal(result, &r)
	json.Unmarshal(result, one)
	if one.id = r.SessionID; one.id == "" {
		one.id, _ = params["sessionId"].(string)
	}
	if one.id == "" {
		return nil, fmt.Errorf("the answer to %s has no sessionId", method)
	}
	return one, nil
}

// wantsLogin turns an error that asks for a login into a reason.
func (s *stage) wantsLogin(d *driven, err error) error {
	var f *failure
	if !errors.As(err, &f) || f.Code != int(acp.ErrorCodeAuthenticationRequired) {
		return err
	}
	var ways []string
	for _, m := range d.hello.AuthMethods {
		ways = append(ways, quoted(m.ID))
	}
	s.login = f.Error()
	if len(ways) > 0 {
		s.login += "; log in with the agent's own program, or use --auth-method with one of " + strings.Join(ways, ", ")
	}
	return skip("the agent needs a login: " + s.login)
}

func (s *stage) fresh() object {
	return object{"cwd": s.Workspace, "mcpServers": []any{}}
}

// session returns the main session of a connection.
func (s *stage) session(ctx context.Context) (*driven, *session, error) {
	d, err := s.ready(ctx)
	if err != nil {
		return nil, nil, err
	}
	if d.main == nil && d.failed == nil {
		d.failed = s.need(ctx, func() (err error) {
			d.main, err = s.open(ctx, d, acp.MethodSessionNew, s.fresh())
			return err
		})
	}
	if d.failed != nil {
		return nil, nil, missing("session", d.failed)
	}
	return d, d.main, nil
}

// another returns a session of the step's own. What happens in it concerns no other step. That an
// agent opens no second one fails the step.
func (s *stage) another(ctx context.Context, d *driven) (one *session, err error) {
	err = s.need(ctx, func() error {
		one, err = s.open(ctx, d, acp.MethodSessionNew, s.fresh())
		return err
	})
	return one, err
}

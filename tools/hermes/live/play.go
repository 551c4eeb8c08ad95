package live

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/runtime/trace"
)

// Script is what an agent does in its turns by the rules of today, unless it is given
// another script.
//
//go:embed agent.script
var Script string

// PlayOptions say how an agent is played for a client.
type PlayOptions struct {
	In        io.Reader
	Out       io.WriteCloser
	Script    string // ScriptOf the rules if empty
	Version   string // of this program
	Lint      lint.Options
	Recording *trace.Writer // nil: none
	// Timeout is how long the client may take to answer, and a person ten times as long.
	Timeout time.Duration
	Known   func(step string) bool // reports whether a step that fails is known to; may be nil
}

// scripted is a line of a script.
type scripted struct {
	number int
	verb   *verb
	text   string // of the whole line
	rest   string
}

// verb is what a line of a script does.
type verb struct {
	tier Tier
	// needs are members of clientCapabilities, of which the client has to offer one.
	needs []string
	do    func(t *playedTurn, ctx context.Context, rest string) error
}

// ParseScript reads a script: the steps of each prompt, one a line, and a line --- between
// prompts. The last ones are for all further prompts.
func ParseScript(text string) ([][]scripted, error) {
	parts := [][]scripted{nil}
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		line = strings.TrimRight(line, "\r")
		name, rest, _ := strings.Cut(line, " ")
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
		case line == "---":
			parts = append(parts, nil)
		case verbs[name] == nil:
			return nil, fmt.Errorf("line %d: there is no step %q", i+1, name)
		default:
			last := len(parts) - 1
			parts[last] = append(parts[last], scripted{i + 1, verbs[name], line, rest})
		}
	}
	return parts, nil
}

// played is an agent that is played.
type played struct {
	PlayOptions
	*line
	judge *Judge
	parts [][]scripted
	own   []Outcome // what clients do by themselves, before it happened

	mu       sync.Mutex
	name     string // of the client, and with its version
	peer     string
	can      map[string]any // nil before initialize
	opened   int
	prompts  int
	sessions map[string]*playedSession
	outcomes map[string]*Outcome
}

type playedSession struct {
	id, cwd string
	mode    string
	brief   bool
	stop    context.CancelFunc // of its turn; nil if there is none
	said    []object
	files   map[string]string // that were written
	calls   int
}

// Play plays an agent until the client has hung up or ctx ends.
func Play(ctx context.Context, o PlayOptions) (*Result, error) {
	if o.Script == "" {
		o.Script = ScriptOf(o.Lint.RuleSet)
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	p := &played{PlayOptions: o, own: clientStepsIn(o.Lint.RuleSet), sessions: map[string]*playedSession{}, outcomes: map[string]*Outcome{}}
	var err error
	if p.parts, err = ParseScript(o.Script); err != nil {
		return nil, err
	}
	p.Lint.Whole = true
	p.judge = NewJudge(p.Lint, lint.Client)
	p.judge.Add(lint.Record{Source: lint.Beginning})
	started := make(chan struct{}) // the line is set
	p.line = newLine(lint.Agent, o.In, o.Out, starting{p, started}, func(r lint.Record) { record(p.judge, p.Recording, r) })
	close(started)
	select {
	case <-p.ended:
	case <-ctx.Done():
		select {
		case <-p.ended: // the client has also hung up
		case <-time.After(lastWords):
		}
	}
	p.cancel()
	return p.result(), nil
}

// starting lets the first message wait until the line is set.
type starting struct {
	*played
	started chan struct{}
}

// Side implements acp.Handler.
func (s starting) Side() acp.Side { return acp.SideAgent }

func (s starting) HandleRequest(ctx context.Context, method string, params json.RawMessage) (acp.Appender, error) {
	<-s.started
	result, err := s.request(ctx, method, params)
	if err != nil {
		return nil, err
	}
	return acp.Raw(encode(result)), nil
}

func (s starting) HandleNotification(_ context.Context, method string, params json.RawMessage) error {
	<-s.started
	if method == acp.MethodSessionCancel {
		var q struct{ SessionID string }
		json.Unmarshal(params, &q)
		s.played.mu.Lock()
		defer s.played.mu.Unlock()
		if one := s.sessions[q.SessionID]; one != nil && one.stop != nil {
			one.stop()
		}
	}
	return nil
}

func refusal(code acp.ErrorCode, format string, args ...any) error {
	return &acp.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// The steps that clients take by themselves.
var clientSteps = []Outcome{
	{Step: "initialize", Title: "The client begins with initialize.", Tier: Mandatory},
	{Step: "session", Title: "The client opens a session.", Tier: Mandatory},
	{Step: "prompt", Title: "The client sends a prompt.", Tier: Mandatory},
	{Step: "cancel", Title: "The client cancels a turn.", Tier: Informational},
	{Step: "hang-up", Title: "The client closes the input of the agent when it leaves.", Tier: Advisory},
}

// happened notes that a client did something by itself; mu is held.
func (p *played) happened(id string) {
	for _, o := range p.own {
		if o.Step == id {
			o.Status = Passed
			p.outcomes[id] = &o
		}
	}
}

func (p *played) request(ctx context.Context, method string, params json.RawMessage) (object, error) {
	var q struct {
		ProtocolVersion    int
		ClientCapabilities map[string]any
		ClientInfo         struct{ Name, Version string }
		SessionID, Cwd     string
		ModeID, ConfigID   string
		Value              any
	}
	json.Unmarshal(params, &q) // what has another type is the business of the linter
	if method == acp.MethodInitialize {
		return p.initialize(q.ClientCapabilities, q.ClientInfo.Name, strings.TrimSpace(q.ClientInfo.Name+" "+q.ClientInfo.Version))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.can == nil {
		return nil, refusal(acp.ErrorCodeInvalidRequest, "%s: initialize comes first", method)
	}
	one := p.sessions[q.SessionID]
	switch method {
	case acp.MethodSessionNew, acp.MethodSessionList, acp.MethodSessionDelete:
	case acp.MethodSessionLoad, acp.MethodSessionResume, acp.MethodSessionClose, acp.MethodSessionPrompt, acp.MethodSessionSetMode, acp.MethodSessionSetConfigOption:
		if one == nil {
			return nil, refusal(acp.ErrorCodeResourceNotFound, "%s: there is no session %s", method, quoted(q.SessionID))
		}
	default:
		return nil, acp.MethodNotFound(method)
	}
	switch method {
	case acp.MethodSessionNew:
		if !filepath.IsAbs(q.Cwd) {
			return nil, refusal(acp.ErrorCodeInvalidParams, "session/new: cwd is not an absolute path")
		}
		p.opened++
		one = &playedSession{id: fmt.Sprintf("lint-%d", p.opened), cwd: q.Cwd, mode: "ask", files: map[string]string{}}
		p.sessions[one.id] = one
		p.happened("session")
		state := p.state(one)
		state["sessionId"] = one.id
		return state, nil
	case acp.MethodSessionList:
		list := []object{}
		for _, s := range p.sessions {
			if q.Cwd == "" || q.Cwd == s.cwd {
				list = append(list, object{"sessionId": s.id, "cwd": s.cwd})
			}
		}
		return object{"sessions": list}, nil
	case acp.MethodSessionLoad:
		for _, update := range one.said {
			p.notify(acp.MethodSessionUpdate, object{"sessionId": one.id, "update": update})
		}
		return p.state(one), nil
	case acp.MethodSessionResume:
		return p.state(one), nil
	case acp.MethodSessionClose, acp.MethodSessionDelete:
		if one != nil && one.stop != nil {
			one.stop()
		}
		delete(p.sessions, q.SessionID)
		return object{}, nil
	case acp.MethodSessionSetMode:
		if q.ModeID != "ask" && q.ModeID != "plan" {
			return nil, refusal(acp.ErrorCodeInvalidParams, "session/set_mode: there is no mode %s", quoted(q.ModeID))
		}
		one.mode = q.ModeID
		return object{}, nil
	case acp.MethodSessionSetConfigOption:
		switch v := q.Value.(type) {
		case string:
			if q.ConfigID == "mode" && (v == "ask" || v == "plan") {
				one.mode = v
				return object{"configOptions": p.options(one)}, nil
			}
		case bool:
			if q.ConfigID == "brief" {
				one.brief = v
				return object{"configOptions": p.options(one)}, nil
			}
		}
		return nil, refusal(acp.ErrorCodeInvalidParams, "session/set_config_option: there is no such option or value")
	}
	// A prompt: nothing else happens while the turn runs.
	if one.stop != nil {
		return nil, refusal(acp.ErrorCodeInvalidRequest, "session/prompt: a turn runs already")
	}
	part := p.parts[min(p.prompts, len(p.parts)-1)]
	p.prompts++
	ctx, one.stop = context.WithCancel(ctx)
	t := &playedTurn{played: p, session: one, reason: "end_turn"}
	p.happened("prompt")
	p.mu.Unlock()
	t.play(ctx, part)
	p.mu.Lock()
	if one.stop(); errors.Is(ctx.Err(), context.Canceled) && t.cancelled {
		t.reason, t.failure = "cancelled", nil
		p.happened("cancel")
	}
	one.stop = nil
	if t.failure != nil {
		return nil, t.failure
	}
	return object{"stopReason": t.reason}, nil
}

func (p *played) initialize(can map[string]any, name, peer string) (object, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.can != nil {
		return nil, refusal(acp.ErrorCodeInvalidRequest, "initialize: already done")
	}
	if p.can = can; can == nil {
		p.can = map[string]any{}
	}
	p.name, p.peer = name, peer
	p.happened("initialize")
	return object{
		"protocolVersion": 1,
		"agentInfo":       object{"name": "hermes-lint", "title": "hermes lint agent", "version": p.Version},
		"authMethods":     []any{},
		"agentCapabilities": object{
			"_meta":               object{"hermes.dev": object{"lint": true}}, // whose methods are asked
			"loadSession":         true,
			"promptCapabilities":  object{"image": true, "audio": true, "embeddedContext": true},
			"mcpCapabilities":     object{"http": true, "sse": true},
			"sessionCapabilities": object{"list": object{}, "resume": object{}, "close": object{}, "delete": object{}},
		},
	}, nil
}

// offers looks up a capability of the client, such as fs.readTextFile.
func (p *played) offers(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	var v any = p.can
	for part := range strings.SplitSeq(name, ".") {
		m, _ := v.(map[string]any)
		v = m[part]
	}
	return v != nil && v != false
}

// state is what a session answers when it is opened.
func (p *played) state(one *playedSession) object {
	return object{
		"modes":         object{"currentModeId": one.mode, "availableModes": []object{{"id": "ask", "name": "Ask"}, {"id": "plan", "name": "Plan"}}},
		"configOptions": p.options(one),
	}
}

func (p *played) options(one *playedSession) []object {
	list := []object{{"id": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": one.mode,
		"options": []object{{"value": "ask", "name": "Ask"}, {"value": "plan", "name": "Plan"}}}}
	s, _ := p.can["session"].(map[string]any)
	c, _ := s["configOptions"].(map[string]any)
	if c["boolean"] != nil {
		list = append(list, object{"id": "brief", "name": "Brief", "type": "boolean", "currentValue": one.brief})
	}
	return list
}

// playedTurn is a turn of a played agent.
type playedTurn struct {
	*played
	session   *playedSession
	reason    string
	failure   error // that answers the prompt
	over      bool  // a step has ended the turn
	cancelled bool
}

// play plays the steps of a turn.
func (t *playedTurn) play(ctx context.Context, part []scripted) {
	for _, s := range part {
		if ctx.Err() != nil {
			t.cancelled = true
			return
		}
		err := t.do(ctx, s)
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			t.cancelled = true
			return // the client need not answer any more
		}
		t.note(s, err)
		if t.over || errors.Is(err, errEnded) {
			return
		}
	}
	t.cancelled = ctx.Err() != nil
}

// said is what a step that passed has seen.
type said string

func (s said) Error() string { return string(s) }

func (t *playedTurn) do(ctx context.Context, s scripted) error {
	if len(s.verb.needs) > 0 && !slices.ContainsFunc(s.verb.needs, t.offers) {
		return skip("the client does not offer " + strings.Join(s.verb.needs, " or "))
	}
	return s.verb.do(t, ctx, strings.NewReplacer("$SESSION", t.session.id, "$CWD", t.session.cwd).Replace(s.rest))
}

// note keeps the outcome of a step. If a step is played again, it keeps the worst
// one.
func (t *playedTurn) note(s scripted, err error) {
	o := t.outcome(s)
	o.Text = ""
	var no skip
	var text said
	switch {
	case errors.As(err, &no):
		o.Status, o.Text = NotExercised, string(no)
	case errors.As(err, &text):
		o.Status, o.Text = Passed, string(text)
	case err != nil:
		o.Status, o.Text = Failed, err.Error()
	default:
		o.Status = Passed
	}
	for _, f := range t.judge.Findings() {
		o.found(f)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.outcomes[o.Step]; old == nil || o.Status == Failed || old.Status == NotExercised {
		t.outcomes[o.Step] = &o
	}
}

func (p *played) outcome(s scripted) Outcome {
	name, _, _ := strings.Cut(s.text, " ")
	title := s.text
	if len(title) > maxQuoted {
		title = title[:maxQuoted] + "…"
	}
	return Outcome{Step: fmt.Sprintf("%d-%s", s.number, strings.ToLower(name)), Title: title, Tier: verbTier(p.Lint.RuleSet, name), Status: NotExercised, Text: "no prompt came that far"}
}

// result sums up.
func (p *played) result() *Result {
	r := &Result{Report: p.judge.Report()}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.ended:
		p.happened("hang-up")
	default:
	}
	r.Name, r.Peer = p.name, p.peer
	add := func(o Outcome) {
		if seen := p.outcomes[o.Step]; seen != nil {
			o = *seen
		}
		o.Known = o.Status == Failed && p.Known != nil && p.Known(o.Step)
		r.Outcomes = append(r.Outcomes, o)
	}
	for _, o := range p.own {
		o.Status, o.Text = NotExercised, "it did not happen"
		add(o)
	}
	for _, part := range p.parts {
		for _, s := range part {
			add(p.outcome(s))
		}
	}
	r.decide(&p.Lint, false, "initialize", "session", "prompt")
	return r
}

// verbs are the steps of a script.
var verbs = map[string]*verb{
	"ASK":      {Mandatory, nil, (*playedTurn).ask},                             // TITLE: ask for permission
	"BIG":      {Mandatory, nil, (*playedTurn).big},                             // BYTES: a tool call with a text of that size
	"CALL":     {Mandatory, nil, (*playedTurn).anyCall},                         // METHOD PARAMS: a request that has to be answered
	"COMMANDS": {Mandatory, nil, (*playedTurn).commands},                        // announce slash commands
	"ERROR":    {Mandatory, nil, (*playedTurn).fail},                            // JSON: answer the prompt with this error
	"EXIT":     {Mandatory, nil, (*playedTurn).exit},                            // end the agent
	"FORM":     {Capability, []string{"elicitation.form"}, (*playedTurn).form},  // MESSAGE: ask with a form
	"KILL":     {Capability, []string{"terminal"}, (*playedTurn).killed},        // COMMAND ARG…: run a command that takes long, and kill it
	"LINE":     {Mandatory, nil, (*playedTurn).raw},                             // TEXT: write a line, whatever it is
	"MISSING":  {Advisory, []string{"fs.readTextFile"}, (*playedTurn).missing},  // PATH: read a file that is not there
	"NOTIFY":   {Mandatory, nil, (*playedTurn).anyNotify},                       // METHOD PARAMS: a notification
	"PLAN":     {Mandatory, nil, (*playedTurn).plan},                            // ENTRY | ENTRY…: show a plan
	"READ":     {Capability, []string{"fs.readTextFile"}, (*playedTurn).read},   // PATH: read a file
	"REFUSED":  {Advisory, nil, (*playedTurn).refused},                          // CODE METHOD PARAMS: a request that has to fail, with this code unless it is 0
	"RUN":      {Capability, []string{"terminal"}, (*playedTurn).run},           // COMMAND ARG…: run a command in a terminal
	"SAY":      {Mandatory, nil, (*playedTurn).say},                             // TEXT: say it
	"STOP":     {Mandatory, nil, (*playedTurn).stopWith},                        // REASON: end the turn
	"THINK":    {Mandatory, nil, (*playedTurn).think},                           // TEXT: think it
	"TOOL":     {Mandatory, nil, (*playedTurn).tool},                            // TITLE: a tool call that completes
	"UPDATE":   {Mandatory, nil, (*playedTurn).anyUpdate},                       // JSON: an update of the session
	"URL":      {Capability, []string{"elicitation.url"}, (*playedTurn).url},    // URL: ask to open a page
	"WAIT":     {Informational, nil, (*playedTurn).wait},                        // DURATION: wait
	"WITHDRAW": {Mandatory, nil, (*playedTurn).withdraw},                        // TITLE: ask for permission, and cancel that request
	"WRITE":    {Capability, []string{"fs.writeTextFile"}, (*playedTurn).write}, // PATH TEXT: write a file
}

package testagent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// Agent plays prompts as scenarios. Its sessions outlive connections, so that
// they can be loaded on another one.
type Agent struct {
	Mode string // words of modes, separated by spaces

	mu       sync.Mutex
	sessions map[acp.SessionID][]string // texts of the updates so far
	ids      []acp.SessionID            // of the sessions, in order
	cwd      string                     // of the last session
	cancels  int
}

// modes are the ways in which an agent can differ from the usual.
var modes = map[string]string{
	"any":       `works without initialize, knows every session but "none", each with one message, and lists "old"`,
	"both":      "offers models as config options and, under other ids, as models",
	"commands":  "announces its commands before it answers session/new",
	"curt":      "with any: offers models as config options, and reports their values by updates",
	"echo":      "answers every request with its params",
	"forgetful": "cannot load sessions",
	"hung":      "does not answer the first session/new",
	"levels":    "offers config options of every category",
	"locked":    "wants a login, and then still has no session",
	"modest":    "announces no capability, and still has them all",
	"stdio":     "announces no MCP servers but those over stdio, and no further folders",
	"mixed":     "says everything in all of its sessions, whose ids name the process",
	"models":    "offers models as agents did before config options",
	"options":   "offers models as config options",
	"own":       "with any: answers with members of its own that have the names of ours",
	"resume":    "can resume sessions",
	"terminal":  "with locked: offers logins in a terminal, too",
	"version":   "speaks version 9 of the protocol",
}

func (a *Agent) check() error {
	for _, word := range strings.Fields(a.Mode) {
		if modes[word] == "" {
			return fmt.Errorf("no mode %q", word)
		}
	}
	return nil
}

func (a *Agent) is(mode string) bool { return slices.Contains(strings.Fields(a.Mode), mode) }

// Serve is the agent over t until the connection or ctx ends. It panics if Mode
// has a word that does not exist.
func (a *Agent) Serve(ctx context.Context, t transport.Transport) {
	if err := a.check(); err != nil {
		panic(err)
	}
	a.serve(ctx, t, nil)
}

func (a *Agent) serve(ctx context.Context, t transport.Transport, out io.Writer) {
	conn := rpc.Connect(t, func(c *rpc.Conn) acp.Handler {
		agent := acp.AgentSide(&link{Agent: a, conn: c, client: acp.Client{Conn: c}, way: t, out: out})
		if a.is("any") || a.is("echo") {
			return answers{agent, a}
		}
		return agent
	}, rpc.Options{Server: true})
	select {
	case <-conn.Done():
	case <-ctx.Done():
	}
	conn.Close()
}

// Texts returns what was sent in a session so far.
func (a *Agent) Texts(id acp.SessionID) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.sessions[id])
}

// answers gives answers that the types of package acp cannot express.
type answers struct {
	acp.Handler
	agent *Agent
}

// Side does not say that this is an agent, so the connection does not insist on initialize.
func (answers) Side() acp.Side { return acp.SideBoth }

// OwnAnswer is the answer of the mode "own" to everything but session/new.
const OwnAnswer = `{"sessionId":"theirs","agent":"theirs","opId":"theirs","promptId":"theirs","methodId":"theirs","modeId":"theirs","configId":"theirs",
"cwd":"/theirs","seq":7,"replay":"theirs","value":["theirs"],"stopReason":"end_turn","sessions":[],"configOptions":[],"_meta":{"sessionId":"theirs"}}`

func (h answers) HandleRequest(ctx context.Context, method string, params json.RawMessage) (acp.Appender, error) {
	switch {
	case h.agent.is("echo"):
		return acp.Raw(bytes.Clone(params)), nil
	case h.agent.is("curt") && method == acp.MethodSessionSetConfigOption: // leaves the list to an update
		_, err := h.Handler.HandleRequest(ctx, method, params)
		return acp.Raw(`{}`), err
	case !h.agent.is("own") || method == acp.MethodInitialize || method == acp.MethodSessionNew:
		return h.Handler.HandleRequest(ctx, method, params)
	case method == "_list":
		return acp.Raw(`["theirs",2]`), nil
	}
	return acp.Raw(OwnAnswer), nil
}

// link is an agent on one connection.
type link struct {
	acp.UnimplementedAgentHandler
	*Agent
	conn   *rpc.Conn
	client acp.Client
	way    transport.Transport
	out    io.Writer // the bytes of the connection, if it is made of them
}

func (l *link) Initialize(_ context.Context, p *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	r := &acp.InitializeResponse{
		ProtocolVersion:   1,
		AgentInfo:         &acp.Implementation{Name: "scripted", Version: "1"},
		AgentCapabilities: l.capabilities(),
	}
	if l.is("version") {
		r.ProtocolVersion = 9
	}
	if l.is("locked") {
		r.AuthMethods = []acp.AuthMethod{
			&acp.AuthMethodAgent{ID: "oauth", Name: "Log in with a browser"},
			&acp.AuthMethodAgent{ID: "key", Name: "Use a key\x1b[2J"},
		}
		if l.is("terminal") {
			r.AuthMethods = append(r.AuthMethods,
				&acp.AuthMethodTerminal{ID: "tui", Name: "Log in here", Args: []string{"login"}, Env: map[string]string{"LOGIN": "yes"}},
				&acp.AuthMethodAgent{ID: "old", Name: "Log in the old way", Meta: []byte(`{"terminal-auth":{"command":"sh","args":["-c","exit 3"]}}`)})
		}
	}
	caps, err := json.Marshal(p.ClientCapabilities)
	r.Meta = append(append([]byte(`{"caps":`), caps...), '}')
	return r, err
}

func (l *link) capabilities() *acp.AgentCapabilities {
	if l.is("modest") {
		return nil
	}
	sessions := &acp.SessionCapabilities{
		List: &acp.SessionListCapabilities{}, Delete: &acp.SessionDeleteCapabilities{}, Close: &acp.SessionCloseCapabilities{},
		AdditionalDirectories: &acp.SessionAdditionalDirectoriesCapabilities{}, Extra: acp.Extra(`{"fork":{}}`),
	}
	if l.is("resume") {
		sessions.Resume = &acp.SessionResumeCapabilities{}
	}
	mcp := &acp.MCPCapabilities{HTTP: true, SSE: true}
	if l.is("stdio") {
		mcp, sessions.AdditionalDirectories = nil, nil
	}
	return &acp.AgentCapabilities{
		LoadSession:         !l.is("forgetful"),
		PromptCapabilities:  &acp.PromptCapabilities{Image: true, Audio: true, EmbeddedContext: true},
		MCPCapabilities:     mcp,
		SessionCapabilities: sessions,
		Auth:                &acp.AgentAuthCapabilities{Logout: &acp.LogoutCapabilities{}},
	}
}

func (l *link) Authenticate(_ context.Context, p *acp.AuthenticateRequest) (*acp.AuthenticateResponse, error) {
	if p.MethodID != "key" {
		return nil, &acp.Error{Code: acp.ErrorCodeAuthenticationRequired, Message: "wrong key"}
	}
	return nil, nil
}

func (l *link) Logout(context.Context, *acp.LogoutRequest) (*acp.LogoutResponse, error) {
	return nil, nil
}

func (l *link) NewSession(ctx context.Context, p *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	if l.is("locked") {
		return nil, &acp.Error{Code: acp.ErrorCodeAuthenticationRequired, Message: "Authentication required"}
	}
	l.mu.Lock()
	id := acp.SessionID("s" + strconv.Itoa(len(l.ids)+1))
	if l.is("mixed") {
		id += acp.SessionID("-" + strconv.Itoa(os.Getpid()))
	}
	if l.sessions == nil {
		l.sessions = map[acp.SessionID][]string{}
	}
	l.sessions[id] = nil
	l.ids = append(l.ids, id)
	l.cwd = p.Cwd
	l.mu.Unlock()
	if l.is("commands") {
		err := l.update(ctx, id, &acp.AvailableCommandsUpdate{AvailableCommands: []acp.AvailableCommand{{Name: "plan", Description: "Plan"}}})
		if err != nil {
			return nil, err
		}
	}
	r := &acp.NewSessionResponse{SessionID: id}
	models := ""
	switch {
	case l.is("hung") && id == "s1":
		<-ctx.Done()
		return nil, ctx.Err()
	case l.is("both"):
		r.ConfigOptions = modelOptions("big")
		models = `{"currentModelId":"big[low]","availableModels":[{"modelId":"big[low]","name":"Big"},{"modelId":"small[low]","name":"Small"}]}`
	case l.is("options"), l.is("curt"):
		r.ConfigOptions = modelOptions("big")
	case l.is("levels"):
		r.ConfigOptions = levelOptions("low", false)
	case l.is("models"):
		models = `{"currentModelId":"big","availableModels":[]}`
	}
	if models == "" {
		return r, nil
	}
	// Models are no longer in any schema, but in many agents.
	return r, r.UnmarshalJSON([]byte(strings.TrimSuffix(string(r.AppendJSON(nil)), "}") + `,"models":` + models + "}"))
}

// modelOptions offers models as config options, which replaced them.
func modelOptions(current acp.SessionConfigValueID) []acp.SessionConfigOption {
	return []acp.SessionConfigOption{{
		ID: "m", Name: "Model", Category: acp.Some(acp.SessionConfigOptionCategoryModel),
		Variant: &acp.SessionConfigSelect{CurrentValue: current, Options: acp.SessionConfigSelectOptionsGrouped{
			{Group: "g", Name: "All", Options: []acp.SessionConfigSelectOption{{Value: "big", Name: "Big"}, {Value: "small", Name: "Small"}}},
		}},
	}}
}

// levelOptions are options of every category.
func levelOptions(level acp.SessionConfigValueID, web bool) []acp.SessionConfigOption {
	return append(modelOptions("big"),
		acp.SessionConfigOption{
			ID: "web", Name: "Search the web", Category: acp.Some(acp.SessionConfigOptionCategoryModelConfig),
			Variant: &acp.SessionConfigBoolean{CurrentValue: web},
		},
		acp.SessionConfigOption{
			ID: "effort", Name: "Effort", Category: acp.Some(acp.SessionConfigOptionCategoryThoughtLevel),
			Variant: &acp.SessionConfigSelect{CurrentValue: level, Options: acp.SessionConfigSelectOptionsUngrouped{
				{Value: "low", Name: "Low"}, {Value: "high", Name: "High"},
			}},
		})
}

func (l *link) SetSessionConfigOption(ctx context.Context, p *acp.SetSessionConfigOptionRequest) (*acp.SetSessionConfigOptionResponse, error) {
	value, ok := p.Variant.(*acp.SetSessionConfigOptionRequestValueID)
	switch flag, isFlag := p.Variant.(*acp.SetSessionConfigOptionRequestBoolean); {
	case !l.is("levels"):
	case isFlag && p.ConfigID == "web":
		return &acp.SetSessionConfigOptionResponse{ConfigOptions: levelOptions("low", flag.Value)}, nil
	case ok && p.ConfigID == "effort":
		return &acp.SetSessionConfigOptionResponse{ConfigOptions: levelOptions(value.Value, false)}, nil
	}
	if !ok || p.ConfigID != "m" {
		return nil, &acp.Error{Code: acp.ErrorCodeInvalidParams, Message: "no such option"}
	}
	if l.is("curt") { // "big": before the answer
		tell := func() {
			l.update(context.WithoutCancel(ctx), p.SessionID, &acp.ConfigOptionUpdate{ConfigOptions: modelOptions(value.Value)})
		}
		if value.Value == "big" {
			tell()
		} else {
			time.AfterFunc(200*time.Millisecond, tell)
		}
	}
	return &acp.SetSessionConfigOptionResponse{ConfigOptions: modelOptions(value.Value)}, nil
}

func (l *link) SetSessionMode(ctx context.Context, p *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	time.Sleep(50 * time.Millisecond)
	return nil, l.update(ctx, p.SessionID, &acp.CurrentModeUpdate{CurrentModeID: p.ModeID})
}

func (l *link) ListSessions(context.Context, *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	if l.is("any") {
		return acp.NewListSessionsResponse([]acp.SessionInfo{*acp.NewSessionInfo("old", "/w")}), nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	list := []acp.SessionInfo{}
	for _, id := range l.ids {
		list = append(list, *acp.NewSessionInfo(id, "/w"))
	}
	return acp.NewListSessionsResponse(list), nil
}

func (a *Agent) known(id acp.SessionID) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := a.sessions[id]; ok || a.is("any") && id != "none" {
		return nil
	}
	return &acp.Error{Code: acp.ErrorCodeResourceNotFound, Message: "no such session"}
}

func (l *link) LoadSession(ctx context.Context, p *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	err := l.known(p.SessionID)
	if err == nil && l.is("any") {
		return nil, l.update(ctx, p.SessionID, (*acp.UserMessageChunk)(&acp.ContentChunk{Content: acp.NewTextContent("earlier")}))
	}
	for _, text := range l.Texts(p.SessionID) {
		if err == nil {
			err = l.update(ctx, p.SessionID, acp.NewAgentMessageChunk(acp.NewTextContent(text)))
		}
	}
	return nil, err
}

func (l *link) ResumeSession(_ context.Context, p *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	return nil, l.known(p.SessionID)
}

func (l *link) CloseSession(_ context.Context, p *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	return nil, l.known(p.SessionID)
}

func (l *link) DeleteSession(context.Context, *acp.DeleteSessionRequest) (*acp.DeleteSessionResponse, error) {
	return nil, nil
}

func (l *link) Cancel(context.Context, *acp.CancelNotification) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cancels++
	return nil
}

// ExtRequest answers "_count" with what the agent has seen.
func (l *link) ExtRequest(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	switch {
	case method == "_count":
		l.mu.Lock()
		defer l.mu.Unlock()
		return fmt.Appendf(nil, `{"cancels":%d,"params":%s,"big":9007199254740993}`, l.cancels, params), nil
	case method == "session/fork":
		return l.fork(params)
	case method != "session/set_model", l.is("both") && !strings.Contains(string(params), "[low]"):
		return nil, acp.MethodNotFound(method)
	case l.is("both"):
		var p struct{ SessionID, ModelID string }
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, err
		}
		model, _, _ := strings.Cut(p.ModelID, "[")
		return json.RawMessage(`{}`), l.update(ctx, acp.SessionID(p.SessionID), &acp.ConfigOptionUpdate{ConfigOptions: modelOptions(acp.SessionConfigValueID(model))})
	case !strings.Contains(string(params), `"modelId":"small"`):
		return nil, &acp.Error{Code: acp.ErrorCodeInvalidParams, Message: "no such model"}
	}
	return json.RawMessage(`{}`), nil
}

// fork copies what a session has said.
func (l *link) fork(params json.RawMessage) (json.RawMessage, error) {
	id, _ := acp.SessionOf(params)
	if err := l.known(acp.SessionID(id)); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	copied := acp.SessionID(id + "-fork")
	if l.sessions == nil {
		l.sessions = map[acp.SessionID][]string{}
	}
	l.sessions[copied] = slices.Clone(l.sessions[acp.SessionID(id)])
	l.ids = append(l.ids, copied)
	return fmt.Appendf(nil, `{"sessionId":%q}`, copied), nil
}

func (l *link) ExtNotification(context.Context, string, json.RawMessage) error { return nil }

func (l *link) update(ctx context.Context, id acp.SessionID, u acp.SessionUpdate) error {
	return l.client.SessionUpdate(ctx, &acp.SessionNotification{SessionID: id, Update: u})
}

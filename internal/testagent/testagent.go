// Package testagent is a small agent for tests of transports. Its sessions
// outlive connections, so that they can be loaded on another one.
//
// The text of a prompt is what it does: "count N" sends N numbered updates,
// "ask PATH" reads a file of the client and sends its text, "wait" waits for
// session/cancel, "die" ends the connection.
package testagent

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// Store holds the sessions of an agent.
type Store struct {
	// NoLoad and NoResume take these abilities away.
	NoLoad, NoResume bool

	mu       sync.Mutex
	sessions map[acp.SessionID][]string // texts of the updates so far
	made     int
}

// Serve is the agent over t until the connection or ctx ends.
func (s *Store) Serve(ctx context.Context, t transport.Transport) {
	rpc.Serve(ctx, t, func(c acp.Client) acp.AgentHandler { return &agent{store: s, client: c, link: t} }, rpc.Options{})
}

// Texts returns what was sent in a session so far.
func (s *Store) Texts(id acp.SessionID) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.sessions[id]...)
}

type agent struct {
	acp.UnimplementedAgentHandler
	store  *Store
	client acp.Client
	link   transport.Transport
}

func (a *agent) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	can := &acp.AgentCapabilities{LoadSession: !a.store.NoLoad, SessionCapabilities: &acp.SessionCapabilities{
		List: &acp.SessionListCapabilities{}, Close: &acp.SessionCloseCapabilities{},
	}}
	if !a.store.NoResume {
		can.SessionCapabilities.Resume = &acp.SessionResumeCapabilities{}
	}
	return &acp.InitializeResponse{ProtocolVersion: 1, AgentCapabilities: can}, nil
}

func (a *agent) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	a.store.mu.Lock()
	defer a.store.mu.Unlock()
	if a.store.sessions == nil {
		a.store.sessions = map[acp.SessionID][]string{}
	}
	a.store.made++
	id := acp.SessionID("session-" + strconv.Itoa(a.store.made))
	a.store.sessions[id] = nil
	return &acp.NewSessionResponse{SessionID: id}, nil
}

func (a *agent) ListSessions(context.Context, *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	a.store.mu.Lock()
	defer a.store.mu.Unlock()
	r := &acp.ListSessionsResponse{Sessions: []acp.SessionInfo{}}
	for id := range a.store.sessions {
		r.Sessions = append(r.Sessions, acp.SessionInfo{SessionID: id, Cwd: "/w"})
	}
	return r, nil
}

func (a *agent) known(id acp.SessionID) error {
	a.store.mu.Lock()
	defer a.store.mu.Unlock()
	if _, ok := a.store.sessions[id]; !ok {
		return &acp.Error{Code: acp.ErrorCodeResourceNotFound, Message: "no session " + string(id)}
	}
	return nil
}

func (a *agent) LoadSession(ctx context.Context, p *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	if err := a.known(p.SessionID); err != nil {
		return nil, err
	}
	for _, text := range a.store.Texts(p.SessionID) {
		if err := a.client.Session(p.SessionID).Say(ctx, text); err != nil {
			return nil, err
		}
	}
	return &acp.LoadSessionResponse{}, nil
}

func (a *agent) ResumeSession(_ context.Context, p *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	return &acp.ResumeSessionResponse{}, a.known(p.SessionID)
}

func (a *agent) CloseSession(_ context.Context, p *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	return &acp.CloseSessionResponse{}, a.known(p.SessionID)
}

func (a *agent) Cancel(context.Context, *acp.CancelNotification) error { return nil }

func (a *agent) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	if err := a.known(p.SessionID); err != nil {
		return nil, err
	}
	var text string
	if t, ok := p.Prompt[0].(*acp.TextContent); ok {
		text = t.Text
	}
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "count":
		n, _ := strconv.Atoi(rest)
		for i := range n {
			a.say(ctx, p.SessionID, fmt.Sprintf("%d of %d", i+1, n))
		}
	case "ask":
		text, err := a.client.Session(p.SessionID).ReadFile(ctx, rest)
		if err != nil {
			return nil, err
		}
		a.say(ctx, p.SessionID, text)
	case "wait":
		<-ctx.Done()
		return &acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	case "die":
		a.link.Close()
		<-ctx.Done()
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

// say sends an update and remembers it, sent or not.
func (a *agent) say(ctx context.Context, id acp.SessionID, text string) {
	a.store.mu.Lock()
	a.store.sessions[id] = append(a.store.sessions[id], text)
	a.store.mu.Unlock()
	a.client.Session(id).Say(ctx, text)
}

// Client is a client that remembers the texts of updates and answers file
// requests with their path.
type Client struct {
	acp.UnimplementedClientHandler

	mu    sync.Mutex
	texts map[acp.SessionID][]string
}

// SessionUpdate implements acp.ClientHandler.
func (c *Client) SessionUpdate(_ context.Context, p *acp.SessionNotification) error {
	m, ok := p.Update.(*acp.AgentMessageChunk)
	if !ok {
		return nil
	}
	if t, ok := m.Content.(*acp.TextContent); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.texts == nil {
			c.texts = map[acp.SessionID][]string{}
		}
		c.texts[p.SessionID] = append(c.texts[p.SessionID], t.Text)
	}
	return nil
}

// ReadTextFile implements acp.ClientHandler.
func (c *Client) ReadTextFile(_ context.Context, p *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	return &acp.ReadTextFileResponse{Content: "text of " + p.Path}, nil
}

// Texts returns the texts of a session so far.
func (c *Client) Texts(id acp.SessionID) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.texts[id]...)
}

// Forget drops what was remembered of a session.
func (c *Client) Forget(id acp.SessionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.texts, id)
}

// Prompt sends a prompt and waits for its end.
func Prompt(ctx context.Context, conn acp.Caller, id acp.SessionID, text string) (acp.StopReason, error) {
	r, err := acp.Agent{Conn: conn}.Prompt(ctx, &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.NewTextContent(text)}})
	if err != nil {
		return "", err
	}
	return r.StopReason, nil
}

package agentkit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/acp/unstable"
	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/agentkit"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

// client is an agent with its client, which answers questions.
type client struct {
	acp.UnimplementedClientHandler
	*rpc.Agent
	choose func(*acp.RequestPermissionRequest) acp.RequestPermissionOutcome
	hold   chan<- struct{} // set: the question is left open

	mu   sync.Mutex
	said strings.Builder
}

func (c *client) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	if chunk, ok := n.Update.(*acp.AgentMessageChunk); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.said.WriteString(chunk.Content.(*acp.TextContent).Text)
	}
	return nil
}

func (c *client) RequestPermission(ctx context.Context, p *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	if c.hold != nil {
		close(c.hold)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	outcome := c.choose(p)
	if outcome == nil {
		return nil, errors.New("no screen")
	}
	return &acp.RequestPermissionResponse{Outcome: outcome}, nil
}

func chooses(id acp.PermissionOptionID) func(*acp.RequestPermissionRequest) acp.RequestPermissionOutcome {
	return func(*acp.RequestPermissionRequest) acp.RequestPermissionOutcome {
		return acp.NewSelectedPermissionOutcome(id)
	}
}

func (c *client) takeSaid() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.said.Reset()
	return c.said.String()
}

var introduction = &acp.InitializeRequest{ClientInfo: &acp.Implementation{Name: "test", Version: "1"}}

func connect(t *testing.T, agent func(acp.Client) acp.AgentHandler, middleware ...rpc.Middleware) *client {
	t.Helper()
	near, far := transport.Pair()
	served := make(chan error, 1)
	go func() { served <- rpc.Serve(context.Background(), far, agent, rpc.Options{}) }()
	c := &client{choose: chooses(agentkit.OptionOnce)}
	var err error
	if c.Agent, err = rpc.Open(t.Context(), near, c, introduction, rpc.Options{Middleware: middleware}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(c.Close(), <-served); err != nil {
			t.Error(err)
		}
	})
	return c
}

// The guide quotes this agent: what it does with a tool call is right, whatever the user says.
func TestAnAgentOfTheKitKeepsToTheProtocol(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		choose acp.PermissionOptionID
		end    acp.StopReason
		said   string
	}{
		"allowed":   {agentkit.OptionOnce, acp.StopReasonEndTurn, "You have [milk]\n"},
		"trusted":   {agentkit.OptionAlways, acp.StopReasonEndTurn, "You have [milk]\n"},
		"rejected":  {agentkit.OptionReject, acp.StopReasonEndTurn, "You have []\n"},
		"cancelled": {"", acp.StopReasonCancelled, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := connect(t, func(c acp.Client) acp.AgentHandler { return &notes{client: c} }, lint.Check(t, lint.Options{}))
			r, err := c.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			s := c.Session(r.SessionID)
			c.choose = func(p *acp.RequestPermissionRequest) acp.RequestPermissionOutcome {
				if test.choose != "" {
					return acp.NewSelectedPermissionOutcome(test.choose)
				}
				if err := s.Cancel(t.Context()); err != nil {
					t.Error(err)
				}
				return &acp.RequestPermissionOutcomeCancelled{}
			}
			end, err := s.Prompt(t.Context(), acp.NewTextContent("milk"))
			if said := c.takeSaid(); err != nil || end != test.end || said != test.said {
				t.Errorf("%v, %v, %q", end, err, said)
			}
		})
	}
}

func TestAnAgentOfTheKitKeepsSessionsApart(t *testing.T) {
	t.Parallel()
	c := connect(t, func(c acp.Client) acp.AgentHandler { return &notes{client: c} })
	open := func() acp.AgentSession {
		r, err := c.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		return c.Session(r.SessionID)
	}
	says := func(s acp.AgentSession, prompt, want string) {
		t.Helper()
		end, err := s.Prompt(t.Context(), acp.NewTextContent(prompt))
		if said := c.takeSaid(); err != nil || end != acp.StopReasonEndTurn || said != want {
			t.Errorf("%q: %v, %v, %q; want %q", prompt, end, err, said, want)
		}
	}
	one, two := open(), open()
	says(one, "milk", "You have [milk]\n")
	says(two, "tea", "You have [tea]\n")

	request := unstable.ForkSessionRequest{SessionID: unstable.SessionID(one.ID), Cwd: t.TempDir()}
	var forked unstable.ForkSessionResponse
	if err := c.Conn.Call(t.Context(), agentkit.MethodFork, &request, &forked); err != nil {
		t.Fatal(err)
	}
	says(c.Session(acp.SessionID(forked.SessionID)), "bread", "You have [milk bread]\n")
	says(one, "eggs", "You have [milk eggs]\n")

	c.choose = chooses(agentkit.OptionReject)
	says(one, "salt", "You have [milk eggs]\n")
	c.choose = func(*acp.RequestPermissionRequest) acp.RequestPermissionOutcome {
		return &acp.RequestPermissionOutcomeCancelled{}
	}
	if end, err := one.Prompt(t.Context(), acp.NewTextContent("salt")); err != nil || end != acp.StopReasonCancelled {
		t.Errorf("a cancelled question: %v, %v", end, err)
	}
	if _, err := c.CloseSession(t.Context(), &acp.CloseSessionRequest{SessionID: one.ID}); err != nil {
		t.Error(err)
	}
	gone := &acp.Error{Code: acp.ErrorCodeResourceNotFound}
	if _, err := one.Prompt(t.Context(), acp.NewTextContent("salt")); !errors.Is(err, gone) || !strings.Contains(err.Error(), string(one.ID)) {
		t.Errorf("a prompt of a closed session: %v", err)
	}
	if _, err := c.CloseSession(t.Context(), &acp.CloseSessionRequest{SessionID: one.ID}); !errors.Is(err, gone) {
		t.Errorf("closed twice: %v", err)
	}
}

// A replay is what was said before, whether the session is closed, open, or in a turn.
func TestAnAgentOfTheKitLoadsSessions(t *testing.T) {
	t.Parallel()
	const replay = "You have [milk]\nYou have [milk tea]\n"
	for name, before := range map[string]func(*testing.T, *client, acp.AgentSession) (turn <-chan acp.StopReason){
		"open": func(*testing.T, *client, acp.AgentSession) <-chan acp.StopReason { return nil },
		"closed": func(t *testing.T, c *client, s acp.AgentSession) <-chan acp.StopReason {
			if _, err := c.CloseSession(t.Context(), &acp.CloseSessionRequest{SessionID: s.ID}); err != nil {
				t.Fatal(err)
			}
			return nil
		},
		"in a turn": func(t *testing.T, c *client, s acp.AgentSession) <-chan acp.StopReason {
			asked, ended := make(chan struct{}), make(chan acp.StopReason, 1)
			c.hold = asked
			go func() {
				end, err := s.Prompt(t.Context(), acp.NewTextContent("salt"))
				if err != nil {
					t.Error(err)
				}
				ended <- end
			}()
			patience.Value(t, "question", asked)
			return ended
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := connect(t, func(c acp.Client) acp.AgentHandler { return &notes{client: c} }, lint.Check(t, lint.Options{}))
			r, err := c.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			s := c.Session(r.SessionID)
			for _, word := range []string{"milk", "tea"} {
				if _, err := s.Prompt(t.Context(), acp.NewTextContent(word)); err != nil {
					t.Fatal(err)
				}
			}
			turn := before(t, c, s)
			c.takeSaid()
			load := &acp.LoadSessionRequest{SessionID: s.ID, Cwd: t.TempDir()}
			if _, err := c.LoadSession(t.Context(), load); err != nil {
				t.Fatal(err)
			}
			if said := c.takeSaid(); said != replay {
				t.Errorf("the replay is %q", said)
			}
			if turn != nil {
				if end := patience.Value(t, "end of the turn", turn); end != acp.StopReasonCancelled {
					t.Errorf("the turn before ended with %s", end)
				}
			}
			c.hold = nil
			if _, err := s.Prompt(t.Context(), acp.NewTextContent("eggs")); err != nil {
				t.Error(err)
			}
			if said := c.takeSaid(); said != "You have [milk tea eggs]\n" {
				t.Errorf("then %q", said)
			}
			load.SessionID = "none"
			if _, err := c.LoadSession(t.Context(), load); !errors.Is(err, &acp.Error{Code: acp.ErrorCodeResourceNotFound}) {
				t.Errorf("an unknown session: %v", err)
			}
		})
	}
}

func TestSessionsAreFoundUntilTheyAreTaken(t *testing.T) {
	t.Parallel()
	var open agentkit.Sessions[string]
	gone := &acp.Error{Code: acp.ErrorCodeResourceNotFound}
	if _, err := open.Find("a"); !errors.Is(err, gone) {
		t.Errorf("none is open: %v", err)
	}
	for _, s := range []struct {
		id          acp.SessionID
		value, from string
	}{{"a", "first", ""}, {"b", "other", ""}, {"a", "second", "first"}} {
		before, replaced, err := open.Open(s.id, s.value)
		if err != nil || before != s.from || replaced != (s.from != "") {
			t.Errorf("open %s: %q, %v, %v", s.value, before, replaced, err)
		}
	}
	if got, err := open.Find("a"); got != "second" || err != nil {
		t.Errorf("found %q, %v", got, err)
	}
	if got, err := open.Take("b"); got != "other" || err != nil {
		t.Errorf("took %q, %v", got, err)
	}
	if _, err := open.Take("b"); !errors.Is(err, gone) {
		t.Errorf("taken twice: %v", err)
	}
	if all := open.All(); !slices.Equal(all, []string{"second"}) {
		t.Errorf("open: %q", all)
	}
	if all := open.Close(); !slices.Equal(all, []string{"second"}) {
		t.Errorf("closed: %q", all)
	}
	if _, _, err := open.Open("c", "late"); !errors.Is(err, rpc.ErrClosed) || len(open.Close()) != 0 {
		t.Errorf("opened after the end: %v", err)
	}
}

func TestOnlyAbsoluteFoldersAreRoots(t *testing.T) {
	t.Parallel()
	here := t.TempDir()
	for _, c := range []struct {
		cwd   string
		roots []string
		names string // in the error; empty: none
	}{
		{here, nil, ""},
		{here, []string{here}, ""},
		{"", nil, `cwd ""`},
		{"here", nil, `cwd "here"`},
		{here, []string{here, "./there"}, `"./there"`},
	} {
		err := agentkit.CheckRoots("session/new", c.cwd, c.roots)
		switch {
		case c.names == "" && err != nil:
			t.Errorf("%q, %q: %v", c.cwd, c.roots, err)
		case c.names != "" && (!errors.Is(err, &acp.Error{Code: acp.ErrorCodeInvalidParams}) ||
			!strings.Contains(err.Error(), c.names) || !strings.Contains(err.Error(), "session/new")):
			t.Errorf("%q, %q: %v", c.cwd, c.roots, err)
		}
	}
}

func TestAForkHasAllThatTheDraftSays(t *testing.T) {
	t.Parallel()
	whole := unstable.ForkSessionRequest{
		SessionID: "s", Cwd: "/w", AdditionalDirectories: []string{"/more"},
		MCPServers: []unstable.MCPServer{&unstable.MCPServerHTTP{Name: "n", URL: "http://h/"}},
		Meta:       []byte(`{"own":1}`), Extra: acp.Extra(`{"later":2}`),
	}
	var got *acp.ResumeSessionRequest
	answer := &acp.NewSessionResponse{
		SessionID: "t", Modes: &acp.SessionModeState{CurrentModeID: "ask", AvailableModes: []acp.SessionMode{{ID: "ask", Name: "Ask"}}},
		Meta: []byte(`{"own":3}`),
	}
	fork := func(_ context.Context, p *acp.ResumeSessionRequest) (*acp.NewSessionResponse, error) {
		got = p
		return answer, nil
	}
	raw, err := agentkit.Fork(t.Context(), whole.AppendJSON(nil), fork)
	if err != nil {
		t.Fatal(err)
	}
	var again unstable.ForkSessionRequest
	if err := again.UnmarshalJSON(got.AppendJSON(nil)); err != nil || string(again.AppendJSON(nil)) != string(whole.AppendJSON(nil)) {
		t.Errorf("the request became %s, %v", got.AppendJSON(nil), err)
	}
	var response unstable.ForkSessionResponse
	if err := response.UnmarshalJSON(raw); err != nil || response.Extra != nil || string(response.AppendJSON(nil)) != string(answer.AppendJSON(nil)) {
		t.Errorf("the answer is %s, %v", raw, err)
	}
	var answered *acp.Error
	if _, err := agentkit.Fork(t.Context(), []byte(`{"sessionId":7,"cwd":"/w"}`), fork); !errors.As(err, &answered) ||
		answered.Code != acp.ErrorCodeInvalidParams || !strings.Contains(err.Error(), "session/fork") || !strings.Contains(string(answered.Data), "/sessionId") {
		t.Errorf("bad params: %v", err)
	}
	failed := errors.New("no such thread")
	if _, err := agentkit.Fork(t.Context(), whole.AppendJSON(nil), func(context.Context, *acp.ResumeSessionRequest) (*acp.NewSessionResponse, error) {
		return nil, failed
	}); !errors.Is(err, failed) {
		t.Errorf("a fork that fails: %v", err)
	}
}

// asker asks in each turn and says what came of it.
type asker struct {
	acp.UnimplementedAgentHandler
	client acp.Client
	always string
}

func (*asker) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{ProtocolVersion: 1}, nil
}

func (a *asker) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	s := a.client.Session(p.SessionID)
	trusted, err := agentkit.Permit(ctx, s, acp.NewToolCall("1", "Do it").AsUpdate(), a.always)
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, s.Say(ctx, fmt.Sprintf("%v %v %v %v",
		trusted, err == nil, errors.Is(err, agentkit.ErrRejected), errors.Is(err, rpc.ErrSessionCancelled)))
}

func TestOnlyAPermissionPermits(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		always string
		choose func(*acp.RequestPermissionRequest) acp.RequestPermissionOutcome
		want   string // trusted, permitted, rejected, cancelled
	}{
		"once":        {"All", chooses("once"), "false true false false"},
		"always":      {"All", chooses("always"), "true true false false"},
		"rejected":    {"All", chooses("reject"), "false false true false"},
		"not offered": {"", chooses("always"), "false false false false"},
		"unknown":     {"All", chooses("sudo"), "false false false false"},
		"no option":   {"All", chooses(""), "false false false false"},
		"an error":    {"All", func(*acp.RequestPermissionRequest) acp.RequestPermissionOutcome { return nil }, "false false false false"},
		"cancelled": {"All", func(*acp.RequestPermissionRequest) acp.RequestPermissionOutcome {
			return &acp.RequestPermissionOutcomeCancelled{}
		}, "false false false true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := connect(t, func(c acp.Client) acp.AgentHandler { return &asker{client: c, always: test.always} })
			c.choose = test.choose
			if _, err := c.Session("s").Prompt(t.Context(), acp.NewTextContent("go")); err != nil {
				t.Fatal(err)
			}
			if got := c.takeSaid(); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

package redial_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	v2 "github.com/hermes-nvim/hermes/acp/v2"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/redial"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/httpstream"
	"github.com/hermes-nvim/hermes/runtime/transport/websocket"
)

// store2 holds the sessions of an agent of version 2. The text of a prompt is
// what happens after its answer: a number counts to it, a state is reported.
type store2 struct {
	mu     sync.Mutex
	texts  []string
	setups []string      // params of session/resume
	early  bool          // reports work before session/new is answered
	busy   bool          // reports work before session/resume is answered
	refuse bool          // session/resume
	hold   chan struct{} // session/resume waits for it, or for the end; nil: not
}

func (s *store2) said() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.texts)
}

// serve is the agent over t.
func (s *store2) serve(t transport.Transport) *rpc.Conn {
	return rpc.Connect(t, func(c *rpc.Conn) acp.Handler {
		return rpc.NewAgentVersions(rpc.AgentVersion{Protocol: v2.V2, Handler: v2.AgentSide(&agent2{store2: s, conn: c, link: t})})
	}, rpc.Options{})
}

type agent2 struct {
	v2.UnimplementedAgentHandler
	*store2
	conn *rpc.Conn
	link transport.Transport
}

func (a *agent2) CancelToolCall(_ context.Context, p *v2.CancelToolCallRequest) (*v2.CancelToolCallResponse, error) {
	if p.ToolCallID == "die" {
		a.link.Close()
	}
	return &v2.CancelToolCallResponse{}, nil
}

func (a *agent2) Initialize(context.Context, *v2.InitializeRequest) (*v2.InitializeResponse, error) {
	return &v2.InitializeResponse{
		ProtocolVersion: 2, Info: v2.Implementation{Name: "test", Version: "1"},
		Capabilities: &v2.AgentCapabilities{Session: &v2.SessionCapabilities{}},
	}, nil
}

func (a *agent2) send(u v2.SessionUpdate) {
	v2.Client{Conn: a.conn}.SessionUpdate(context.Background(), &v2.UpdateSessionNotification{SessionID: "s", Update: u})
}

func idle() v2.SessionUpdate { return &v2.IdleStateUpdate{Variant: &v2.IdleStateUpdateEndTurn{}} }

func chunk2(text string) v2.SessionUpdate {
	return v2.NewAgentMessageChunk("m", v2.NewTextContent(text))
}

func (a *agent2) NewSession(context.Context, *v2.NewSessionRequest) (*v2.NewSessionResponse, error) {
	if a.early {
		a.send(&v2.RunningStateUpdate{})
	}
	return &v2.NewSessionResponse{SessionID: "s"}, nil
}

func (a *agent2) ResumeSession(ctx context.Context, p *v2.ResumeSessionRequest) (*v2.ResumeSessionResponse, error) {
	a.mu.Lock()
	a.setups = append(a.setups, string(p.AppendJSON(nil)))
	a.mu.Unlock()
	if p.ReplayFrom != nil {
		for _, text := range a.said() {
			a.send(chunk2(text))
		}
	}
	if a.hold != nil {
		select {
		case <-a.hold:
		case <-ctx.Done():
		}
	}
	if a.refuse {
		return nil, acp.InvalidParams("session/resume", errors.New("refused"))
	}
	if a.busy {
		a.send(&v2.RunningStateUpdate{})
	} else {
		a.send(idle())
	}
	return &v2.ResumeSessionResponse{}, nil
}

func (a *agent2) Prompt(ctx context.Context, p *v2.PromptRequest) (*v2.PromptResponse, error) {
	text := p.Prompt[0].(*v2.TextContent).Text
	if text == "refuse" {
		return nil, acp.InvalidParams("session/prompt", errors.New("refused"))
	}
	rpc.AfterResponse(ctx, func() {
		if n, err := strconv.Atoi(text); err == nil {
			a.send(&v2.RunningStateUpdate{})
			for i := range n {
				a.mu.Lock()
				a.texts = append(a.texts, strconv.Itoa(i))
				a.mu.Unlock()
				a.send(chunk2(strconv.Itoa(i)))
			}
			a.send(idle())
		} else if u, err := v2.DecodeSessionUpdate([]byte(text)); err == nil {
			a.send(u)
		}
		a.send(chunk2("over"))
	})
	return &v2.PromptResponse{MessageID: "u"}, nil
}

// client2 remembers texts, and tells when a turn is over.
type client2 struct {
	v2.UnimplementedClientHandler
	mu    sync.Mutex
	texts []string
	over  chan struct{}
}

func (c *client2) SessionUpdate(_ context.Context, p *v2.UpdateSessionNotification) error {
	if m, ok := p.Update.(*v2.AgentMessageChunk); ok {
		text := m.Content.(*v2.TextContent).Text
		if text == "over" {
			c.over <- struct{}{}
			return nil
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.texts = append(c.texts, text)
	}
	return nil
}

func (c *client2) said() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.texts)
}

type world2 struct {
	world
	store  store2
	client client2
	v1     atomic.Bool // the agent speaks version 1 only
}

func (w *world2) dial(ctx context.Context) (transport.Transport, error) {
	if w.v1.Load() {
		return w.world.dial(ctx)
	}
	near, far, err := w.pair()
	if err == nil {
		w.store.serve(far)
	}
	return near, err
}

func (w *world2) event(e redial.Event) {
	if e.Kind == redial.Replaying {
		w.client.mu.Lock()
		w.client.texts = nil
		w.client.mu.Unlock()
	}
	w.world.event(e)
}

func (w *world2) connect(t *testing.T) *redial.Client {
	t.Helper()
	return w.connectBy(t, w.dial)
}

func (w *world2) connectBy(t *testing.T, dial func(context.Context) (transport.Transport, error)) *redial.Client {
	t.Helper()
	w.client.over = make(chan struct{}, 100)
	c, err := redial.Connect(t.Context(), redial.Options{
		Dial: dial, Pause: time.Millisecond, LongestPause: 4 * time.Millisecond, OnEvent: w.event,
		Versions: []rpc.ClientVersion{
			{Protocol: acp.V1, Params: &acp.InitializeRequest{}, Handler: acp.ClientSide(&w.world.client)},
			{Protocol: v2.V2, Params: &v2.InitializeRequest{Info: v2.Implementation{Name: "test", Version: "1"}}, Handler: v2.ClientSide(&w.client)},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func (w *world2) open(t *testing.T, c *redial.Client) v2.Agent {
	t.Helper()
	a := v2.Agent{Conn: c}
	if _, err := a.NewSession(t.Context(), &v2.NewSessionRequest{
		Cwd: "/w", AdditionalDirectories: []v2.AbsolutePath{"/x"}, Meta: []byte(`{"own":1}`),
		MCPServers: []v2.MCPServer{v2.NewMCPServerStdio("m", "/bin/mcp")},
	}); err != nil {
		t.Fatal(err)
	}
	return a
}

func prompt2(ctx context.Context, a v2.Agent, text string) error {
	_, err := a.Prompt(ctx, &v2.PromptRequest{SessionID: "s", Prompt: []v2.ContentBlock{v2.NewTextContent(text)}})
	return err
}

func TestWorkThatOutlivesItsPromptIsReplayed(t *testing.T) {
	t.Parallel()
	const n = 200
	for at := range 10 {
		w := new(world2)
		c := w.connect(t)
		a := w.open(t, c)
		w.gate = func() error {
			for end := time.Now().Add(patience.Soon); len(w.store.said()) < n; time.Sleep(100 * time.Microsecond) {
				if time.Now().After(end) {
					return errors.New("the agent is still at it")
				}
			}
			return nil
		}
		if err := prompt2(t.Context(), a, strconv.Itoa(n)); err != nil {
			t.Fatal(err)
		}
		for ; len(w.client.said()) < 1+at*14; time.Sleep(100 * time.Microsecond) {
		}
		w.cut()
		w.await(t, redial.Connected)
		if got := w.client.said(); !slices.Equal(got, w.store.said()) {
			t.Fatalf("cut at %d: %d updates, the agent has %d", at, len(got), len(w.store.said()))
		}
		c.Close()
	}
}

// What the agent last reported decides whether updates can have been missed.
func TestOnlyIdleSessionsOfVersion2AreResumedWithoutReplay(t *testing.T) {
	t.Parallel()
	for prompt, replay := range map[string]bool{
		"":       false,
		"3":      false,
		"refuse": false,
		`{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn","background":[]}`:                                     false,
		`{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn","background":[{"type":"terminal","terminalId":"t"}]}`: true,
		`{"sessionUpdate":"state_update","state":"running"}`:                                                                          true,
		`{"sessionUpdate":"state_update","state":"requires_action"}`:                                                                  true,
		`{"sessionUpdate":"state_update","state":"_own"}`:                                                                             true,
		"accepted, and not begun": true,
		"early":                   true,
	} {
		w := new(world2)
		w.store.early = prompt == "early"
		c := w.connect(t)
		a := w.open(t, c)
		if prompt != "" && prompt != "early" {
			if err := prompt2(t.Context(), a, prompt); (err != nil) != (prompt == "refuse") {
				t.Fatal(prompt, err)
			} else if err == nil {
				<-w.client.over
			}
		}
		for range 2 {
			w.cut()
			w.await(t, redial.Connected)
			w.mu.Lock()
			w.events = slices.DeleteFunc(w.events, func(e redial.Event) bool { return e.Kind == redial.Connected })
			w.mu.Unlock()
		}
		w.store.mu.Lock()
		setups := w.store.setups
		w.store.mu.Unlock()
		const plain = `{"sessionId":"s","cwd":"/w","additionalDirectories":["/x"],"mcpServers":[{"type":"stdio","name":"m","command":"/bin/mcp"}],"_meta":{"own":1}}`
		first := plain
		if replay {
			first = strings.Replace(plain, `,"_meta"`, `,"replayFrom":{"type":"start"},"_meta"`, 1)
		}
		if !slices.Equal(setups, []string{first, plain}) { // the second time nothing is open
			t.Errorf("%q: %q", prompt, setups)
		}
		if n := slices.IndexFunc(w.events, func(e redial.Event) bool { return e.Kind == redial.Replaying }); (n >= 0) != replay {
			t.Errorf("%q: %v", prompt, w.events)
		}
		c.Close()
	}
}

func TestTheVersionOfTheFirstConnectionIsKept(t *testing.T) {
	t.Parallel()
	w := new(world2)
	c := w.connect(t)
	if p, agent := c.Agent(); p != v2.V2 || agent.(*v2.InitializeResponse).Info.Name != "test" {
		t.Error(p, agent)
	}
	w.v1.Store(true)
	w.cut()
	var version *rpc.VersionError
	if e := w.await(t, redial.GaveUp); !errors.As(e.Err, &version) || !slices.Equal(version.Offered, []int{2}) {
		t.Error(e.Err)
	}

	w = new(world2)
	w.v1.Store(true)
	c = w.connect(t)
	if p, agent := c.Agent(); p != acp.V1 || agent.(*acp.InitializeResponse).ProtocolVersion != 1 {
		t.Error(p, agent)
	}
	if _, err := (acp.Agent{Conn: c}).NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/w", MCPServers: []acp.MCPServer{}}); err != nil {
		t.Error(err)
	}
	w.cut()
	w.await(t, redial.Connected)
	w.await(t, redial.Restored)
	if p, _ := c.Agent(); p != acp.V1 {
		t.Error(p)
	}
}

func TestSessionsOfVersion2AreReplayedOverTheNetwork(t *testing.T) {
	t.Parallel()
	token := access.NewToken()
	guard := access.Guard{Token: token}
	for name, over := range map[string]func(func(context.Context, transport.Transport)) (http.Handler, func(context.Context, string) (transport.Transport, error)){
		"http": func(handle func(context.Context, transport.Transport)) (http.Handler, func(context.Context, string) (transport.Transport, error)) {
			return &httpstream.Server{Guard: guard, Handle: handle}, func(_ context.Context, url string) (transport.Transport, error) {
				return httpstream.Dial(url, access.Client{Token: token})
			}
		},
		"websocket": func(handle func(context.Context, transport.Transport)) (http.Handler, func(context.Context, string) (transport.Transport, error)) {
			return &websocket.Server{Guard: guard, Handle: handle}, func(ctx context.Context, url string) (transport.Transport, error) {
				return websocket.Dial(ctx, url, access.Client{Token: token})
			}
		},
	} {
		w := new(world2)
		handler, dial := over(func(ctx context.Context, t transport.Transport) {
			conn := w.store.serve(t)
			select {
			case <-conn.Done():
			case <-ctx.Done():
			}
			conn.Close()
		})
		server := httptest.NewServer(handler)
		c := w.connectBy(t, func(ctx context.Context) (transport.Transport, error) { return dial(ctx, server.URL) })
		a := w.open(t, c)
		if err := prompt2(t.Context(), a, "50"); err != nil {
			t.Fatal(name, err)
		}
		<-w.client.over
		if _, err := a.CancelToolCall(t.Context(), &v2.CancelToolCallRequest{SessionID: "s", ToolCallID: "c"}); err != nil {
			t.Error(name, err)
		}
		if err := prompt2(t.Context(), a, `{"sessionUpdate":"state_update","state":"running"}`); err != nil {
			t.Fatal(name, err)
		}
		<-w.client.over
		a.CancelToolCall(t.Context(), &v2.CancelToolCallRequest{SessionID: "s", ToolCallID: "die"})
		w.await(t, redial.Connected)
		w.await(t, redial.Replaying)
		if got := w.client.said(); !slices.Equal(got, w.store.said()) || len(got) != 50 {
			t.Error(name, len(got))
		}
		c.Close()
		server.Close()
	}
}

// A session that the caller resumes is restored once it has been resumed, with a
// replay if the agent reported work before its answer.
func TestASessionThatWasResumedIsRestoredOnceItIsOpen(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ restored, replayed bool }{
		"idle": {true, false}, "busy": {true, true}, "refuse": {}, "cut": {},
	} {
		w := new(world2)
		w.store.busy, w.store.refuse = name == "busy", name == "refuse"
		if name == "cut" {
			w.store.hold = make(chan struct{})
		}
		c := w.connect(t)
		resumed := make(chan error, 1)
		go func() {
			_, err := v2.Agent{Conn: c}.ResumeSession(t.Context(), &v2.ResumeSessionRequest{SessionID: "s", Cwd: "/w"})
			resumed <- err
		}()
		if name == "cut" { // while the call is out
			for asked := 0; asked == 0; time.Sleep(time.Millisecond) {
				w.store.mu.Lock()
				asked = len(w.store.setups)
				w.store.mu.Unlock()
			}
			w.cut()
		}
		if err := <-resumed; (err == nil) != want.restored {
			t.Errorf("%s: %v", name, err)
		}
		if name != "cut" {
			w.cut()
		}
		w.await(t, redial.Connected)
		w.mu.Lock()
		kinds := map[redial.EventKind]bool{}
		for _, e := range w.events {
			kinds[e.Kind] = true
		}
		w.mu.Unlock()
		if kinds[redial.Restored] != want.restored || kinds[redial.Replaying] != want.replayed || kinds[redial.Lost] {
			t.Errorf("%s: %v", name, w.events)
		}
		c.Close()
	}
}

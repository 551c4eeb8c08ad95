package rpc_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/httpstream"
	"github.com/hermes-nvim/hermes/runtime/transport/websocket"
)

// slow is an agent whose turns last as long as their contexts.
type slow struct {
	acp.UnimplementedAgentHandler
	client acp.Client
	end    func(context.Context) (*acp.PromptResponse, error)
}

func (*slow) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{ProtocolVersion: 1}, nil
}

func (*slow) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "s"}, nil
}

func (s *slow) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	if err := s.client.Session(p.SessionID).Say(ctx, "begun"); err != nil {
		return nil, err
	}
	<-ctx.Done()
	return s.end(ctx)
}

// hearing is a client that notices the first word.
type hearing struct {
	acp.UnimplementedClientHandler
	heard chan struct{}
}

func (h hearing) SessionUpdate(context.Context, *acp.SessionNotification) error {
	close(h.heard)
	return nil
}

// A server that is shut down in the middle of a turn ends the turn of its client with the
// connection, unless the agent still has an answer.
func TestAnAgentThatIsShutDownAnswersWhatItCan(t *testing.T) {
	t.Parallel()
	type handle = func(context.Context, transport.Transport)
	type link func(*testing.T, handle) (near transport.Transport, shutdown func())
	joined := func(pair func() (near, far transport.Transport)) link {
		return func(_ *testing.T, h handle) (transport.Transport, func()) {
			near, far := pair()
			ctx, stop := context.WithCancel(context.Background())
			done := make(chan struct{})
			go func() {
				defer close(done)
				h(ctx, far)
			}()
			return near, func() { stop(); <-done }
		}
	}
	token := access.NewToken()
	type server interface {
		http.Handler
		Shutdown(context.Context) error
	}
	served := func(make func(access.Guard, handle) server, dial func(context.Context, string, access.Client) (transport.Transport, error)) link {
		return func(t *testing.T, h handle) (transport.Transport, func()) {
			s := make(access.Guard{Token: token}, h)
			l := httptest.NewServer(s)
			t.Cleanup(l.Close)
			near, err := dial(t.Context(), l.URL, access.Client{Token: token})
			if err != nil {
				t.Fatal(err)
			}
			return near, func() {
				if err := s.Shutdown(patience.Context(t, patience.Soon)); err != nil {
					t.Error(err)
				}
			}
		}
	}
	for name, connected := range map[string]link{
		"Pair": joined(transport.Pair),
		"pipe": joined(func() (near, far transport.Transport) {
			r1, w1, err1 := os.Pipe()
			r2, w2, err2 := os.Pipe()
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			return transport.NewStream(r1, w2), transport.NewStream(r2, w1)
		}),
		"WebSocket": served(func(g access.Guard, h handle) server { return &websocket.Server{Guard: g, Handle: h} }, websocket.Dial),
		"HTTP": served(func(g access.Guard, h handle) server { return &httpstream.Server{Guard: g, Handle: h} },
			func(_ context.Context, url string, opts access.Client) (transport.Transport, error) {
				return httpstream.Dial(url, opts)
			}),
	} {
		for kind, end := range map[string]func(context.Context) (*acp.PromptResponse, error){
			"the error of the context": func(ctx context.Context) (*acp.PromptResponse, error) { return nil, ctx.Err() },
			"the cause":                func(ctx context.Context) (*acp.PromptResponse, error) { return nil, context.Cause(ctx) },
			"a result": func(context.Context) (*acp.PromptResponse, error) {
				return &acp.PromptResponse{StopReason: acp.StopReasonMaxTokens}, nil
			},
		} {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				near, shutdown := connected(t, func(ctx context.Context, far transport.Transport) {
					rpc.Serve(ctx, far, func(c acp.Client) acp.AgentHandler { return &slow{client: c, end: end} }, patient(rpc.Options{}))
				})
				h := hearing{heard: make(chan struct{})}
				agent, err := rpc.Open(t.Context(), near, h, nil, rpc.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer agent.Close()
				if _, err := agent.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/w"}); err != nil {
					t.Fatal(err)
				}
				type outcome struct {
					reason acp.StopReason
					err    error
				}
				over := make(chan outcome, 1)
				go func() {
					reason, err := agent.Session("s").Prompt(t.Context(), acp.NewTextContent("go"))
					over <- outcome{reason, err}
				}()
				receive(t, "the first word", h.heard)
				shutdown()
				got := receive(t, "the end of the turn", over)
				if kind == "a result" {
					if got.reason != acp.StopReasonMaxTokens || got.err != nil {
						t.Errorf("the prompt returned %v, %v", got.reason, got.err)
					}
				} else if !isA[*rpc.ClosedError](got.err) || isA[*acp.Error](got.err) {
					t.Errorf("the prompt returned %v", got.err)
				}
			})
		}
	}
}

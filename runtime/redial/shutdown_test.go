package redial_test

import (
	"context"
	"errors"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/redial"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// lasting is an agent whose turns last as long as their contexts.
type lasting struct {
	acp.UnimplementedAgentHandler
	begun chan struct{}
	end   func(context.Context) (*acp.PromptResponse, error)
}

func (*lasting) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{ProtocolVersion: 1, AgentCapabilities: &acp.AgentCapabilities{
		LoadSession: true, SessionCapabilities: &acp.SessionCapabilities{Resume: &acp.SessionResumeCapabilities{}},
	}}, nil
}

func (*lasting) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "s"}, nil
}

func (*lasting) LoadSession(context.Context, *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	return &acp.LoadSessionResponse{}, nil
}

func (*lasting) ResumeSession(context.Context, *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	return &acp.ResumeSessionResponse{}, nil
}

func (l *lasting) Prompt(ctx context.Context, _ *acp.PromptRequest) (*acp.PromptResponse, error) {
	l.begun <- struct{}{}
	<-ctx.Done()
	return l.end(ctx)
}

// A turn is unfinished work exactly if its agent gave no answer when it was shut down.
func TestAnAgentThatIsShutDownLeavesTheWorkThatItHasNotAnswered(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		end        func(context.Context) (*acp.PromptResponse, error)
		unfinished bool
	}{
		"the error of the context": {func(ctx context.Context) (*acp.PromptResponse, error) { return nil, ctx.Err() }, true},
		"the cause":                {func(ctx context.Context) (*acp.PromptResponse, error) { return nil, context.Cause(ctx) }, true},
		"a result": {func(context.Context) (*acp.PromptResponse, error) {
			return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
		}, false},
		"its own error": {func(context.Context) (*acp.PromptResponse, error) { return nil, &acp.Error{Code: 7, Message: "no"} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 50 {
				agent := &lasting{begun: make(chan struct{}, 1), end: test.end}
				w := newWorld()
				var stop context.CancelFunc // of the newest connection; dials come one at a time
				c, id := w.connect(t, func(o *redial.Options) {
					o.Dial = func(context.Context) (transport.Transport, error) {
						near, far, err := w.pair()
						var ctx context.Context
						ctx, stop = context.WithCancel(context.Background())
						t.Cleanup(stop)
						go rpc.Serve(ctx, far, func(acp.Client) acp.AgentHandler { return agent }, rpc.Options{})
						return near, err
					}
				})
				over := make(chan error, 1)
				go func() {
					_, err := (acp.Agent{Conn: c}).Prompt(context.Background(), &acp.PromptRequest{SessionID: id})
					over <- err
				}()
				patience.Value(t, "turn", agent.begun)
				stop()
				w.await(t, redial.Connected)
				var closed *rpc.ClosedError
				if err := patience.Value(t, "end of the turn", over); errors.As(err, &closed) != test.unfinished {
					t.Errorf("the prompt returned %v", err)
				}
				replayed := false
				for _, e := range w.events {
					replayed = replayed || e.Kind == redial.Replaying
				}
				if replayed != test.unfinished {
					t.Fatalf("replayed: %v; events %v", replayed, w.events)
				}
				c.Close()
			}
		})
	}
}

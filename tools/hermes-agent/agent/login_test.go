package agent

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/store"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/tool"
)

// A client that can start the agent in a terminal is asked to, and others get the
// message, which says the same.
func TestAMissingModelAsksTheUserToSignIn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		terminal bool
		methods  int
		code     acp.ErrorCode
	}{{true, 1, acp.ErrorCodeAuthenticationRequired}, {false, 0, acp.ErrorCodeInternalError}} {
		for _, noModel := range []error{&model.LoginError{Err: errors.New("no model: run setup")}, nil} {
			agent := connect(t, Options{Ready: func() error { return noModel }, Model: failing{&model.LoginError{Err: errors.New("401 who are you")}}})
			hello, err := agent.Initialize(t.Context(), &acp.InitializeRequest{
				ProtocolVersion: 1, ClientInfo: &acp.Implementation{Name: "test", Version: "1"},
				ClientCapabilities: &acp.ClientCapabilities{Auth: &acp.AuthCapabilities{Terminal: test.terminal}},
			})
			if err != nil || len(hello.AuthMethods) != test.methods {
				t.Errorf("%v: %v", hello, err)
			}
			session, err := agent.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: t.TempDir()})
			want := "no model: run setup"
			if noModel == nil {
				if err != nil {
					t.Fatal(err)
				}
				_, err = agent.Prompt(t.Context(), &acp.PromptRequest{SessionID: session.SessionID, Prompt: []acp.ContentBlock{acp.NewTextContent("hi")}})
				want = "401 who are you"
			}
			if answer := (*acp.Error)(nil); !errors.As(err, &answer) || answer.Code != test.code || answer.Message != want {
				t.Errorf("%v, want %d %s", err, test.code, want)
			}
		}
	}
}

// connect starts an agent for a client that can do nothing.
func connect(t *testing.T, opts Options) acp.Agent {
	t.Helper()
	var err error
	if opts.Store, err = store.Open(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if opts.Tools, err = tool.NewSet(nil, nil); err != nil {
		t.Fatal(err)
	}
	opts.Version, opts.Log = "1", slog.New(slog.NewTextHandler(io.Discard, nil))
	opts.Models = ListModels(t.Context(), "m", func(context.Context) (map[string]int, error) { return nil, nil }, func(error) {})
	here, there := transport.Pair()
	ended := make(chan error, 1)
	go func() { ended <- Run(context.Background(), there, opts) }()
	conn := rpc.NewConn(here, acp.ClientSide(acp.UnimplementedClientHandler{}), rpc.Options{Middleware: []rpc.Middleware{lint.Check(t, lint.Options{Profile: lint.Strict})}})
	t.Cleanup(func() {
		conn.Close()
		patience.Value(t, "end of the agent", ended)
	})
	return acp.Agent{Conn: conn}
}

func TestAnEndpointThatWasDownIsAskedForItsModelsAgain(t *testing.T) {
	t.Parallel()
	up := make(chan bool, 1)
	failures := make(chan error, 1000)
	models := ListModels(t.Context(), "", func(context.Context) (map[string]int, error) {
		if len(up) == 0 {
			return nil, errors.New("connection refused")
		}
		return map[string]int{"small": 10}, nil
	}, func(err error) { failures <- err })
	patience.Value(t, "failure", failures)
	up <- true
	patience.True(t, "answer", func() bool { return models.Default(t.Context()) == "small" })
	if size := models.Context("small"); size != 10 {
		t.Errorf("the window has %d tokens", size)
	}
}

package lint_test

import (
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// A test of an agent. It fails if the agent breaks a rule of the protocol.
func TestMyAgent(t *testing.T) {
	near, far := transport.Pair()
	go rpc.Serve(t.Context(), far, newAgent, rpc.Options{})

	agent, err := rpc.Open(t.Context(), near, acp.UnimplementedClientHandler{}, &acp.InitializeRequest{
		ProtocolVersion: 1, ClientInfo: &acp.Implementation{Name: "my-agent-test", Version: "1"},
	}, rpc.Options{Middleware: []rpc.Middleware{lint.Check(t, lint.Options{})}})
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	session, err := agent.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/repo"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := agent.Session(session.SessionID).Prompt(t.Context(), acp.NewTextContent("hello")); err != nil {
		t.Fatal(err)
	}
}

func newAgent(client acp.Client) acp.AgentHandler { return &echo{client: client} }

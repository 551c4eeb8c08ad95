package e2e

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/test/editors"
)

// bluntAgent as the only argument makes the test program an agent that runs a
// command in each turn without asking.
const bluntAgent = "blunt-agent"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == bluntAgent {
		rpc.Serve(context.Background(), transport.Stdio(), func(c acp.Client) acp.AgentHandler { return &blunt{client: c} }, rpc.Options{})
		return
	}
	dir, err := os.MkdirTemp("", "hermes-e2e")
	if err != nil {
		panic(err)
	}
	buildFolder = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

type blunt struct {
	acp.UnimplementedAgentHandler
	client acp.Client
}

func (b *blunt) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{ProtocolVersion: 1}, nil
}

func (b *blunt) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "s"}, nil
}

// Prompt runs the text as a shell line and says how that went.
func (b *blunt) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	said := "it ran"
	term, err := b.client.CreateTerminal(ctx, &acp.CreateTerminalRequest{SessionID: p.SessionID, Command: p.Prompt[0].(*acp.TextContent).Text})
	if err == nil {
		_, err = b.client.WaitForTerminalExit(ctx, &acp.WaitForTerminalExitRequest{SessionID: p.SessionID, TerminalID: term.TerminalID})
	}
	if err != nil {
		said = err.Error()
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, b.client.Session(p.SessionID).Say(ctx, said)
}

func TestAServedAgentRunsNothingUnasked(t *testing.T) {
	t.Parallel()
	hermes := build(t)
	agent, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, nvim := range editors.All(t) {
		for _, protocol := range []string{"websocket", "http"} {
			t.Run(nvim.Version+"/"+protocol, func(t *testing.T) {
				t.Parallel()
				env := environment{hermes: hermes, recording: filepath.Join(t.TempDir(), "traffic.jsonl")}
				run(t, nvim.Path, "remote_command.lua", map[string]any{
					"hermes": hermes, "launch": serve(t, hermes, protocol, env.recorded(agent, bluntAgent)...), "workspace": realTempDir(t),
				})
				lintClean(t, env.recording, lint.Client)
			})
		}
	}
}

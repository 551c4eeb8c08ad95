package agent

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/agentkit"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/mcp"
)

// serveMCP in the environment makes the test program an MCP server.
const serveMCP = "HERMES_AGENT_TEST_MCP"

func TestMain(m *testing.M) {
	if os.Getenv(serveMCP) != "" {
		if err := greeter().Run(context.Background(), &sdk.StdioTransport{}); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// greeter is an MCP server with a tool that works and one that fails.
func greeter() *sdk.Server {
	type who struct {
		Name string `json:"name"`
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "greeter", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "greet.now", Description: "Greet somebody."}, func(_ context.Context, _ *sdk.CallToolRequest, w who) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "Hello, " + w.Name + os.Getenv("MARK")}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "fail", Description: "Fail."}, func(context.Context, *sdk.CallToolRequest, who) (*sdk.CallToolResult, any, error) {
		return nil, nil, errors.New("out of greetings")
	})
	return s
}

func TestToolsOfMCPServersAskAndWork(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return greeter() }, nil)
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer k" {
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(remote.Close)
	e := newEditor(t)
	e.choose = choose(agentkit.OptionAlways)
	e.start()
	answer, err := e.NewSession(t.Context(), e.agent, &acp.NewSessionRequest{Cwd: e.dir, MCPServers: []acp.MCPServer{
		&acp.MCPServerStdio{Name: "near", Command: program, Args: []string{}, Env: []acp.EnvVariable{{Name: serveMCP, Value: "1"}, {Name: "MARK", Value: "!"}}},
		&acp.MCPServerHTTP{Name: "far", URL: remote.URL, Headers: []acp.HTTPHeader{{Name: "Authorization", Value: "Bearer k"}}},
		&acp.MCPServerStdio{Name: "broken", Command: "/no/such/program", Args: []string{}, Env: []acp.EnvVariable{}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	id := answer.SessionID
	got := e.play(id, `CALL near_greet_now {"name":"you"}
CALL near_greet_now {"name":"me"}
CALL far_greet_now {"name":"all"}
CALL far_fail {"name":"x"}
CALL near_greet_now {"name":5}
SAY well.`, acp.StopReasonEndTurn)
	for _, want := range []string{
		"thought: MCP server broken", "call near: greet.now: other pending\n  in_progress\n  completed Hello, you!", "completed Hello, me!",
		"call far: greet.now: other pending\n  in_progress\n  completed Hello, all", "failed out of greetings", "failed the arguments do not fit",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if len(e.asked) != 3 { // once for each tool
		t.Errorf("%d questions", len(e.asked))
	}
	if got := e.play(id, "/tools", acp.StopReasonEndTurn); !strings.Contains(got, "near_greet_now") {
		t.Error(got)
	}
	if _, err := e.agent.SetSessionConfigOption(t.Context(), &acp.SetSessionConfigOptionRequest{
		SessionID: id, ConfigID: optionMode, Variant: &acp.SetSessionConfigOptionRequestValueID{Value: "plan"},
	}); err != nil {
		t.Fatal(err)
	}
	if got := e.play(id, `CALL far_greet_now {"name":"again"}`, acp.StopReasonEndTurn); !strings.Contains(got, "the mode is plan only") {
		t.Error(got)
	}
}

// The user has chosen the servers of an editor for this project, and those of the settings for
// all projects.
func TestServersOfTheClientWinOverThoseOfTheSettings(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	greets := func(name, mark string) *acp.MCPServerStdio {
		return &acp.MCPServerStdio{Name: name, Command: program, Args: []string{}, Env: []acp.EnvVariable{{Name: serveMCP, Value: "1"}, {Name: "MARK", Value: mark}}}
	}
	e := newEditor(t)
	e.servers = []mcp.Server{
		{MCPServer: greets("mine", " of the settings"), Setting: "mcp_servers.mine", Allow: []string{"*"}},
		{MCPServer: greets("both", " of the settings"), Setting: "mcp_servers.both", Allow: []string{"*"}},
		{MCPServer: greets("broken", ""), Setting: "mcp_servers.broken", Fault: errors.New("no word")},
	}
	e.start()
	answer, err := e.NewSession(t.Context(), e.agent, &acp.NewSessionRequest{Cwd: e.dir, MCPServers: []acp.MCPServer{greets("both", " of the client")}})
	if err != nil {
		t.Fatal(err)
	}
	got := e.play(answer.SessionID, `CALL mine_greet_now {"name":"a"}
CALL both_greet_now {"name":"b"}
SAY well.`, acp.StopReasonEndTurn)
	for _, want := range []string{"MCP server broken: no word; correct mcp_servers.broken in the settings", "Hello, a of the settings", "Hello, b of the client"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if len(e.asked) != 1 { // the setting is not about the server of the client
		t.Errorf("%d questions", len(e.asked))
	}
}

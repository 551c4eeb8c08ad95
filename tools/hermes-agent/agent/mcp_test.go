package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/agentkit"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/mcp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
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
	for _, name := range []string{"look", "list"} {
		sdk.AddTool(s, &sdk.Tool{Name: name, Description: "Look.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "seen by " + name}}}, nil, nil
		})
	}
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

// That a tool only reads is what its server says.
func TestToolsThatOnlyReadNeedFewerQuestions(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	greets := func(name string) *acp.MCPServerStdio {
		return &acp.MCPServerStdio{Name: name, Command: program, Args: []string{}, Env: []acp.EnvVariable{{Name: serveMCP, Value: "1"}}}
	}
	const all = `CALL one_look {}
CALL one_list {}
CALL two_look {}
CALL own_look {}
CALL own_greet_now {"name":"you"}
SAY well.`
	const claim = "says that this tool only reads"
	for _, test := range []struct {
		mode   acp.SessionModeID
		answer acp.PermissionOptionID
		asked  string // tools, with a star if the question has the claim
		runs   int
		want   string
	}{
		{modeAsk, agentkit.OptionAlways, "one: look* two: look*", 5, "Hello, you"},
		{modeAsk, agentkit.OptionOnce, "one: look* one: list* two: look*", 5, "Hello, you"},
		{modeAsk, agentkit.OptionReject, "one: look* one: list* two: look*", 2, "Hello, you"},
		{modeAcceptEdits, agentkit.OptionReject, "", 5, "Hello, you"},
		{modePlan, agentkit.OptionAlways, "one: look* two: look*", 4, "own_greet_now was not used: the mode is plan only"},
		{modePlan, agentkit.OptionReject, "one: look* one: list* two: look*", 1, "own_greet_now was not used: the mode is plan only"},
	} {
		t.Run(string(test.mode)+" "+string(test.answer), func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			e.choose = choose(test.answer)
			e.servers = []mcp.Server{{MCPServer: greets("own"), Setting: "mcp_servers.own", Allow: []string{"*"}}}
			e.start()
			answer, err := e.NewSession(t.Context(), e.agent, &acp.NewSessionRequest{Cwd: e.dir, MCPServers: []acp.MCPServer{greets("one"), greets("two")}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.agent.SetSessionMode(t.Context(), &acp.SetSessionModeRequest{SessionID: answer.SessionID, ModeID: test.mode}); err != nil {
				t.Fatal(err)
			}
			got := e.play(answer.SessionID, all, acp.StopReasonEndTurn)
			var asked []string
			for _, p := range e.asked {
				title := p.ToolCall.Title.V
				if strings.Contains(contents(p.ToolCall.Content), claim) {
					title += "*"
				}
				asked = append(asked, title)
			}
			if strings.Join(asked, " ") != test.asked || strings.Count(got, "  completed") != test.runs || !strings.Contains(got, test.want) {
				t.Errorf("asked %q\n%s", asked, got)
			}
		})
	}
	e := newEditor(t)
	e.start()
	answer, err := e.NewSession(t.Context(), e.agent, &acp.NewSessionRequest{Cwd: e.dir, MCPServers: []acp.MCPServer{greets("one")}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.agent.SetSessionMode(t.Context(), &acp.SetSessionModeRequest{SessionID: answer.SessionID, ModeID: modeAcceptEdits}); err != nil {
		t.Fatal(err)
	}
	e.play(answer.SessionID, `CALL one_greet_now {"name":"you"}`, acp.StopReasonEndTurn)
	if len(e.asked) != 1 || strings.Contains(contents(e.asked[0].ToolCall.Content), claim) {
		t.Errorf("%d questions", len(e.asked))
	}
}

// watched is a model whose requests are looked at.
type watched struct {
	model.Model
	asked func(model.Request)
}

func (w watched) Complete(ctx context.Context, r model.Request, on func(model.Delta)) (model.Reply, error) {
	w.asked(r)
	return w.Model.Complete(ctx, r, on)
}

// Sixty tools with long descriptions would fill the window of a small model.
func TestManyToolsOfServersTakeLittleRoom(t *testing.T) {
	t.Parallel()
	s := sdk.NewServer(&sdk.Implementation{Name: "many", Version: "1"}, nil)
	for i := range 60 {
		sdk.AddTool(s, &sdk.Tool{Name: fmt.Sprintf("tool%02d", i), Description: "Do it.\n" + strings.Repeat("How it is done. ", 50)}, func(_ context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done by " + r.Params.Name}}}, nil, nil
		})
	}
	remote := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
	t.Cleanup(remote.Close)
	e := newEditor(t)
	var sizes []int
	var last []model.Spec
	e.model = watched{e.model, func(r model.Request) {
		own := slices.IndexFunc(r.Tools, func(s model.Spec) bool { return s.Name == "load_tools" })
		b, err := json.Marshal(r.Tools[max(0, own):])
		if err != nil {
			t.Error(err)
		}
		sizes, last = append(sizes, len(b)/3), r.Tools
	}}
	e.start()
	answer, err := e.NewSession(t.Context(), e.agent, &acp.NewSessionRequest{Cwd: e.dir, MCPServers: []acp.MCPServer{&acp.MCPServerHTTP{Name: "many", URL: remote.URL, Headers: []acp.HTTPHeader{}}}})
	if err != nil {
		t.Fatal(err)
	}
	got := e.play(answer.SessionID, `CALL load_tools {"names":["many_tool07","many_tool42"]}
CALL many_tool42 {}
SAY well.`, acp.StopReasonEndTurn)
	if !strings.Contains(got, "You can call them now.") || !strings.Contains(got, "done by tool42") {
		t.Error(got)
	}
	t.Logf("%d tokens", sizes)
	if len(sizes) != 3 || sizes[0] >= 2000 || sizes[1] <= sizes[0] || sizes[1] >= 2500 || last[len(last)-1].Name != "many_tool42" {
		t.Errorf("the tools have %d tokens; the last one is %s", sizes, last[len(last)-1].Name)
	}
}

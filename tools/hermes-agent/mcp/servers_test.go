package mcp

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/gobuild"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/tool"
)

// open is a user who allows everything.
type open struct{ tool.Gate }

func (open) Use(context.Context, *acp.ToolCallUpdate, tool.Foreign) error { return nil }

// use calls a tool.
func use(ctx context.Context, t *tool.Tool) (string, error) {
	return t.Run(ctx, &tool.Call{
		Env:   &tool.Env{Gate: open{}, Show: func(acp.SessionUpdate) {}},
		Shown: acp.NewToolCall("1", t.Name), Arguments: []byte("{}"),
	})
}

// serve starts a server whose tools answer by calling the functions.
func serve(t *testing.T, tools map[string]func() (*sdk.CallToolResult, error)) *httptest.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	for name, answer := range tools {
		s.AddTool(&sdk.Tool{Name: name, InputSchema: map[string]any{"type": "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return answer() })
	}
	server := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
	t.Cleanup(server.Close)
	return server
}

func TestResultsBecomeText(t *testing.T) {
	t.Parallel()
	answers := map[string]func() (*sdk.CallToolResult, error){}
	wants := map[string]string{}
	for name, c := range map[string]struct {
		result *sdk.CallToolResult
		want   string
	}{
		"text":       {&sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "a"}, &sdk.TextContent{Text: "b"}}}, "a\nb"},
		"resource":   {&sdk.CallToolResult{Content: []sdk.Content{&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "x:y", Text: "inside"}}}}, "inside"},
		"link":       {&sdk.CallToolResult{Content: []sdk.Content{&sdk.ResourceLink{URI: "file:///x", Name: "x"}}}, "file:///x"},
		"structured": {&sdk.CallToolResult{StructuredContent: map[string]any{"n": 1}}, `{"n":1}`},
		"sound":      {&sdk.CallToolResult{Content: []sdk.Content{&sdk.AudioContent{Data: []byte("x"), MIMEType: "audio/wav"}}}, "[*mcp.AudioContent]"},
		"nothing":    {&sdk.CallToolResult{}, ""},
	} {
		answers[name], wants["s_"+name] = func() (*sdk.CallToolResult, error) { return c.result, nil }, c.want
	}
	answers["error"] = func() (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "out of order"}}}, nil
	}
	answers["fault"] = func() (*sdk.CallToolResult, error) { return nil, errors.New("a fault") }
	var servers Servers
	tools, err := servers.Connect(t.Context(), t.TempDir(), []Server{{MCPServer: &acp.MCPServerHTTP{Name: "s", URL: serve(t, answers).URL}}})
	if err != nil || len(tools) != len(answers) {
		t.Fatalf("%d tools, %v", len(tools), err)
	}
	defer servers.Close()
	for _, each := range tools {
		got, err := use(t.Context(), each)
		switch each.Name {
		case "s_error", "s_fault":
			if err == nil || !strings.Contains(err.Error(), "out of order") && !strings.Contains(err.Error(), "a fault") {
				t.Errorf("%s: %q, %v", each.Name, got, err)
			}
		default:
			if err != nil || got != wants[each.Name] {
				t.Errorf("%s: %q, %v; want %q", each.Name, got, err, wants[each.Name])
			}
		}
	}
}

func TestServersAreAlsoReachedByEvents(t *testing.T) {
	t.Parallel()
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "look", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "seen"}}}, nil
	})
	events := sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return s }, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Team") != "blue" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		events.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	var servers Servers
	tools, err := servers.Connect(t.Context(), t.TempDir(), []Server{{MCPServer: &acp.MCPServerSSE{Name: "s", URL: server.URL, Headers: []acp.HTTPHeader{{Name: "X-Team", Value: "blue"}}}}})
	if err != nil || len(tools) != 1 {
		t.Fatalf("%d tools, %v", len(tools), err)
	}
	defer servers.Close()
	if got, err := use(t.Context(), tools[0]); err != nil || got != "seen" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestServersGetNoKeys(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "secret-1")
	t.Setenv("OPENROUTER_API_KEY", "secret-2")
	transport, err := transportOf(t.TempDir(), &acp.MCPServerStdio{Name: "s", Command: "x"}, &words{})
	if err != nil {
		t.Fatal(err)
	}
	if env := strings.Join(transport.(exactTransport).Transport.(*sdk.CommandTransport).Command.Env, " "); strings.Contains(env, "secret-") || !strings.Contains(env, "PATH=") {
		t.Error("the environment of a server has a key, or nothing else")
	}
}

func TestNamesAreWhatEndpointsAccept(t *testing.T) {
	t.Parallel()
	fine := func() (*sdk.CallToolResult, error) { return &sdk.CallToolResult{}, nil }
	server := serve(t, map[string]func() (*sdk.CallToolResult, error){"a.b": fine, strings.Repeat("long", 25): fine})
	var servers Servers
	tools, err := servers.Connect(t.Context(), t.TempDir(), []Server{
		{MCPServer: &acp.MCPServerHTTP{Name: "my server", URL: server.URL}}, {MCPServer: &acp.MCPServerHTTP{Name: "ünï", URL: server.URL}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer servers.Close()
	var names []string
	for _, each := range tools {
		names = append(names, each.Name)
		if len(each.Name) > 64 || notInNames.MatchString(each.Name) {
			t.Errorf("%q", each.Name)
		}
	}
	if !slices.Contains(names, "my_server_a_b") || len(names) != 4 {
		t.Errorf("the names are %q", names)
	}
}

// What a server says of its tools goes to the model with every request.
func TestDescriptionsAreBoundedAndClean(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"one\n\ttwo":                     "one\n\ttwo",
		"a\x1b[31mb\x00\u009bc\rd":       "a[31mbcd",
		"a\xffb":                         "a\ufffdb",
		strings.Repeat("é", 3000):        strings.Repeat("é", 2048) + "…",
		"x" + strings.Repeat("é", 1<<20): "x" + strings.Repeat("é", 2047) + "…",
	} {
		if got := described(text); got != want {
			t.Errorf("%.40q becomes %.40q (%d bytes)", text, got, len(got))
		}
	}
}

func TestServersThatDoNotWorkHaveNoToolsAndSayWhy(t *testing.T) {
	t.Parallel()
	nothing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(nothing.Close)
	mute := t.TempDir() + "/mute"
	if err := gobuild.Write(mute, "#!/bin/sh\nexit 3\n"); err != nil {
		t.Fatal(err)
	}
	for want, server := range map[string]acp.MCPServer{
		"MCP server gone: ":  &acp.MCPServerStdio{Name: "gone", Command: "/no/such/program"},
		"MCP server mute: ":  &acp.MCPServerStdio{Name: "mute", Command: mute},
		"MCP server empty: ": &acp.MCPServerHTTP{Name: "empty", URL: nothing.URL},
		"MCP server old: ":   &acp.MCPServerSSE{Name: "old", URL: nothing.URL},
	} {
		var servers Servers
		tools, err := servers.Connect(t.Context(), t.TempDir(), []Server{{MCPServer: server}})
		if err == nil || !strings.Contains(err.Error(), want) || len(tools) > 0 {
			t.Errorf("%v, want %q", err, want)
		}
		if err := servers.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A server can end in the middle of a session. The calls fail then, and the turn goes on.
func TestACallToAServerThatIsGoneFails(t *testing.T) {
	t.Parallel()
	server := serve(t, map[string]func() (*sdk.CallToolResult, error){"a": func() (*sdk.CallToolResult, error) { return &sdk.CallToolResult{}, nil }})
	var servers Servers
	tools, err := servers.Connect(t.Context(), t.TempDir(), []Server{{MCPServer: &acp.MCPServerHTTP{Name: "s", URL: server.URL}}})
	if err != nil {
		t.Fatal(err)
	}
	defer servers.Close()
	server.CloseClientConnections()
	server.Close()
	if got, err := use(t.Context(), tools[0]); err == nil {
		t.Errorf("the call gave %q", got)
	}
}

// A server can log for days.
func TestTheEndOfWhatAServerSaysIsKept(t *testing.T) {
	t.Parallel()
	for want, pieces := range map[string][]string{
		"":                        {"", " \n"},
		"b":                       {"a\nb\n\n"},
		"ab":                      {"x\na", "b\n"},
		"é":                       {"\n\xff", "é"},
		strings.Repeat("y", 1024): {"x\n", strings.Repeat("y", 3000), strings.Repeat("y", 1<<20)},
	} {
		var said words
		for _, piece := range pieces {
			if n, err := said.Write([]byte(piece)); n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
		}
		if got := said.last(); got != want || len(said.text) > 1024 {
			t.Errorf("%.40q, want %.40q; %d bytes are kept", got, want, len(said.text))
		}
	}
}

// Keys are often part of an address, and errors reach models, logs and trajectories.
func TestTheQueryOfAnAddressIsSentAndNotInErrors(t *testing.T) {
	t.Parallel()
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "look", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "seen"}}}, nil
	})
	get := func(*http.Request) *sdk.Server { return s }
	guarded := func(h http.Handler) *httptest.Server {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if q := r.URL.Query(); q.Get("key") != "s3cret" && q.Get("sessionid") == "" {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			h.ServeHTTP(w, r)
		}))
		t.Cleanup(server.Close)
		return server
	}
	http, events := guarded(sdk.NewStreamableHTTPHandler(get, nil)), guarded(sdk.NewSSEHandler(get, nil))
	for _, c := range []struct {
		name   string
		server func(query string) acp.MCPServer
		end    *httptest.Server
	}{
		{"http", func(q string) acp.MCPServer { return &acp.MCPServerHTTP{Name: "s", URL: http.URL + "/mcp" + q} }, http},
		{"sse", func(q string) acp.MCPServer { return &acp.MCPServerSSE{Name: "s", URL: events.URL + "/sse" + q} }, events},
	} {
		var servers Servers
		tools, err := servers.Connect(t.Context(), t.TempDir(), []Server{{MCPServer: c.server("?key=s3cret")}})
		if err != nil || len(tools) != 1 {
			t.Fatalf("%s: %d tools, %v", c.name, len(tools), err)
		}
		if got, err := use(t.Context(), tools[0]); err != nil || got != "seen" {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
		servers.Close()
		c.end.CloseClientConnections()
		c.end.Close()
		if _, err := servers.Connect(t.Context(), t.TempDir(), []Server{{MCPServer: c.server("?key=s3cret")}}); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

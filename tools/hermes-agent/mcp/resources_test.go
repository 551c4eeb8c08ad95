package mcp

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/tool"
)

// library serves resources: their texts by their addresses.
func library(t *testing.T, name string, texts map[string]string, templates ...string) Server {
	t.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: name, Version: "1"}, &sdk.ServerOptions{HasResources: true})
	read := func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		text, ok := texts[r.Params.URI]
		if !ok {
			return nil, sdk.ResourceNotFoundError(r.Params.URI)
		}
		content := &sdk.ResourceContents{URI: r.Params.URI, Text: text}
		if strings.HasSuffix(r.Params.URI, ".png") {
			content = &sdk.ResourceContents{URI: r.Params.URI, MIMEType: "image/png", Blob: []byte(text)}
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{content, {URI: "x:", Text: "the end"}}}, nil
	}
	for uri := range texts {
		s.AddResource(&sdk.Resource{URI: uri, Name: strings.TrimPrefix(uri, "doc://"), Description: "Text\nof " + name}, read)
	}
	for _, template := range templates {
		s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: template, Name: "t"}, read)
	}
	server := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
	t.Cleanup(server.Close)
	return Server{MCPServer: &acp.MCPServerHTTP{Name: name, URL: server.URL}}
}

// ask calls the tool for resources, which is the last one.
func ask(t *testing.T, gate tool.Gate, arguments string, list ...Server) (string, error) {
	t.Helper()
	var servers Servers
	tools, err := servers.Connect(t.Context(), t.TempDir(), list)
	if err != nil || len(tools) == 0 {
		t.Fatalf("%d tools, %v", len(tools), err)
	}
	defer servers.Close()
	set, err := tool.NewSet(nil, nil)
	if err == nil {
		set, err = set.With(tools)
	}
	if err != nil || set.Names()[len(tools)-1] != "resource" {
		t.Fatalf("%q, %v", set.Names(), err)
	}
	c := &tool.Call{Env: &tool.Env{Gate: gate, Show: func(acp.SessionUpdate) {}}, Arguments: []byte(arguments)}
	last := tools[len(tools)-1]
	c.Shown = acp.NewToolCall("1", last.Title(c))
	return last.Run(t.Context(), c)
}

// gatekeeper notes what it was asked.
type gatekeeper struct {
	tool.Gate
	asked []tool.Foreign
}

func (g *gatekeeper) Use(_ context.Context, _ *acp.ToolCallUpdate, f tool.Foreign) error {
	g.asked = append(g.asked, f)
	return nil
}

func TestResourcesAreListedAndRead(t *testing.T) {
	t.Parallel()
	long := map[string]string{}
	for i := range 500 {
		long[fmt.Sprintf("doc://long/%03d", i)] = "x"
	}
	one := library(t, "one", map[string]string{"doc://a": "text of a", "doc://big": strings.Repeat("y", 1<<20), "doc://p.png": "PNG"}, "doc://t/{name}")
	one.Setting, one.Allow = "mcp_servers.one", []string{"resource"}
	two, many := library(t, "two", map[string]string{"doc://b": "text of b"}), library(t, "many", long)
	for _, test := range []struct {
		servers   []Server
		arguments string
		want      string // "…" stands for anything
		asked     int
	}{
		{[]Server{one}, `{}`, "doc://a  a: Text of one\ndoc://big  big: Text of one\ndoc://p.png  p.png: Text of one\ndoc://t/{name}  t", 0},
		{[]Server{one, two}, `{}`, "one:\ndoc://a  a: Text of one\n…two:\ndoc://b  b: Text of two", 0},
		{[]Server{one, two}, `{"server":"two"}`, "doc://b  b: Text of two", 0},
		{[]Server{one, two}, `{"match":"TEXT OF TWO"}`, "one:\ntwo:\ndoc://b  b: Text of two", 0},
		{[]Server{one}, `{"match":"nothing like it"}`, "There are none.", 0},
		{[]Server{many}, `{}`, "doc://long/000  long/000: Text of many\n…[there are more; match and server make the list shorter]", 0},
		{[]Server{many}, `{"match":"/499"}`, "doc://long/499  long/499: Text of many", 0},
		{[]Server{one}, `{"uri":"doc://a"}`, "text of a\nthe end", 1},
		{[]Server{one, two}, `{"uri":"doc://b","server":"two"}`, "text of b\nthe end", 1},
		{[]Server{one}, `{"uri":"doc://p.png"}`, "[3 bytes of image/png, which is not text]\nthe end", 1},
		{[]Server{one}, `{"uri":"doc://big"}`, "yyyy…\n[983048 bytes were left out]\n…the end", 1},
		{[]Server{one, two}, `{"uri":"doc://b"}`, "error: name the server of the resource: one, two", 0},
		{[]Server{one}, `{"uri":"doc://none"}`, "error: …Resource not found…", 1},
	} {
		gate := &gatekeeper{}
		got, err := ask(t, gate, test.arguments, test.servers...)
		if err != nil {
			got = "error: " + err.Error()
		}
		rest, fits := got, len(got) <= resourceBytes+100
		for i, part := range strings.Split(test.want, "…") {
			at := strings.Index(rest, part)
			fits = fits && at >= 0 && (at == 0 || i > 0)
			rest = rest[max(0, at)+len(part)*min(1, at+1):]
		}
		if !fits || rest != "" && !strings.HasSuffix(test.want, "…") || len(gate.asked) != test.asked {
			t.Errorf("%s: %.300q (%d bytes), asked %+v; want %q", test.arguments, got, len(got), gate.asked, test.want)
		}
		for _, f := range gate.asked {
			if !f.Reads || f.Allowed != (f.Server == "one") || f.Name != "resource" || (f.Remedy == "") != (f.Server == "two") {
				t.Errorf("asked about %+v", f)
			}
		}
	}
}

// The tool takes room in each request.
func TestWithoutResourcesThereIsNoToolForThem(t *testing.T) {
	t.Parallel()
	var servers Servers
	empty := library(t, "empty", nil)
	tools, err := servers.Connect(t.Context(), t.TempDir(), []Server{empty})
	if err != nil || len(tools) != 0 {
		t.Errorf("%d tools, %v", len(tools), err)
	}
	if err := servers.Close(); err != nil {
		t.Error(err)
	}
	only := library(t, "only", nil, "doc://t/{name}")
	if got, err := ask(t, open{}, `{}`, only); err != nil || got != "doc://t/{name}  t" {
		t.Errorf("%q, %v", got, err)
	}
}

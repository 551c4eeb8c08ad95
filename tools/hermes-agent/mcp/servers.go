// Package mcp makes the tools of MCP servers tools of the agent. It is the only package
// that knows the SDK.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/tool"
)

// Patience is how long a server may take to start and to list its tools.
const Patience = 30 * time.Second

// Servers are the connections of one session.
type Servers struct {
	mu   sync.Mutex
	open []*sdk.ClientSession
}

// Connect starts the servers, all at once, and returns their tools in the order of the
// list. A server that fails has none, and the error says why.
func (s *Servers) Connect(ctx context.Context, cwd string, list []acp.MCPServer) ([]*tool.Tool, error) {
	tools, errs := make([][]*tool.Tool, len(list)), make([]error, len(list))
	var all sync.WaitGroup
	for i, server := range list {
		all.Go(func() { tools[i], errs[i] = s.connect(ctx, cwd, server) })
	}
	all.Wait()
	var joined []*tool.Tool
	for _, t := range tools {
		joined = append(joined, t...)
	}
	return joined, errors.Join(errs...)
}

func (s *Servers) connect(ctx context.Context, cwd string, server acp.MCPServer) (_ []*tool.Tool, err error) {
	name, transport, err := transportOf(cwd, server)
	if err != nil {
		return nil, err
	}
	// The connection by events lives as long as the context that it was made with.
	ctx, stop := context.WithCancelCause(ctx)
	late := time.AfterFunc(Patience, func() { stop(fmt.Errorf("no answer after %s", Patience)) })
	defer func() {
		late.Stop()
		if err != nil {
			stop(err)
		}
	}()
	client := sdk.NewClient(&sdk.Implementation{Name: "hermes-agent", Version: "1"}, nil)
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return nil, fmt.Errorf("MCP server %s: %w", name, err)
	}
	s.mu.Lock()
	s.open = append(s.open, session)
	s.mu.Unlock()
	var tools []*tool.Tool
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("MCP server %s: list the tools: %w", name, err)
		}
		made, err := toolOf(name, session, t)
		if err != nil {
			return nil, fmt.Errorf("MCP server %s: tool %s: %w", name, t.Name, err)
		}
		tools = append(tools, made)
	}
	return tools, nil
}

// Close ends the servers.
func (s *Servers) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for _, session := range s.open {
		err = errors.Join(err, session.Close())
	}
	s.open = nil
	return err
}

func transportOf(cwd string, server acp.MCPServer) (string, sdk.Transport, error) {
	switch server := server.(type) {
	case *acp.MCPServerStdio:
		cmd := exec.Command(server.Command, server.Args...)
		cmd.Dir, cmd.Env = cwd, slices.DeleteFunc(os.Environ(), isKey)
		for _, v := range server.Env {
			cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
		}
		return server.Name, exactTransport{&sdk.CommandTransport{Command: cmd, TerminateDuration: time.Second}}, nil
	case *acp.MCPServerHTTP:
		client := &http.Client{Transport: &requests{server.Headers}}
		return server.Name, &sdk.StreamableClientTransport{Endpoint: server.URL, HTTPClient: client, DisableStandaloneSSE: true}, nil
	case *acp.MCPServerSSE:
		client := &http.Client{Transport: &requests{server.Headers}}
		return server.Name, &sdk.SSEClientTransport{Endpoint: server.URL, HTTPClient: client}, nil
	}
	return "", nil, fmt.Errorf("MCP servers of the type %T are not supported", server)
}

// isKey reports whether a variable of the environment is a key of an endpoint, which is
// nobody else's business.
func isKey(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return name == "OPENAI_API_KEY" || name == "OPENROUTER_API_KEY"
}

// requests adds the headers that the client wants sent, and the exact texts to the answers.
type requests struct{ headers []acp.HTTPHeader }

func (h *requests) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for _, header := range h.headers {
		r.Header.Set(header.Name, header.Value)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		answer.Body, answer.ContentLength = exactBody(answer.Header, answer.Body), -1
	}
	return answer, err
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// toolOf is a tool of a server under a name that endpoints accept.
func toolOf(server string, session *sdk.ClientSession, t *sdk.Tool) (*tool.Tool, error) {
	schema, _ := exactOf(t.Meta)
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(schema), &object); err != nil || object == nil {
		return nil, errors.New("the schema is no object")
	}
	name := notInNames.ReplaceAllString(server+"_"+t.Name, "_")
	if len(name) > 64 {
		name = name[:64]
	}
	return &tool.Tool{
		Name: name, Description: described(t.Description), Toolset: "mcp", Kind: acp.ToolKindOther, Schema: []byte(schema), Asks: true,
		Title: func(*tool.Call) string { return server + ": " + t.Name },
		Run: func(ctx context.Context, c *tool.Call) (string, error) {
			if err := c.Gate.Use(ctx, c.Shown.AsUpdate(), name); err != nil {
				return "", err
			}
			c.Begin()
			result, err := session.CallTool(ctx, &sdk.CallToolParams{Name: t.Name, Arguments: c.Arguments})
			if err != nil {
				return "", err
			}
			text := textOf(result)
			if result.IsError {
				return "", errors.New(text)
			}
			return text, nil
		},
	}, nil
}

// maxDescription is how much of the description of a tool the model gets with each request, in
// bytes.
const maxDescription = 4 << 10

// described bounds what a server says of a tool, and leaves out what no text has.
func described(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
	if len(text) <= maxDescription {
		return text
	}
	return strings.ToValidUTF8(text[:maxDescription], "") + "…"
}

// textOf is what a model without pictures can read of a result.
func textOf(result *sdk.CallToolResult) string {
	var parts []string
	for _, content := range result.Content {
		switch content := content.(type) {
		case *sdk.TextContent:
			parts = append(parts, content.Text)
		case *sdk.EmbeddedResource:
			parts = append(parts, content.Resource.Text)
		case *sdk.ResourceLink:
			parts = append(parts, content.URI)
		default:
			parts = append(parts, fmt.Sprintf("[%T]", content))
		}
	}
	if text, ok := exactOf(result.Meta); ok && len(parts) == 0 {
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n")
}

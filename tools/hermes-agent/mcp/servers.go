// Package mcp makes the tools of MCP servers tools of the agent. It is the only package
// that knows the SDK.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
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

// Server is a server to connect to.
type Server struct {
	acp.MCPServer
	Setting string   // that describes it, such as mcp_servers.files; empty: the client names it
	Allow   []string // tools that need no question; a star at the end is any text
	Fault   error    // of the setting; the server cannot be reached then
}

// Name returns the name of the server.
func (s Server) Name() string {
	switch server := s.MCPServer.(type) {
	case *acp.MCPServerStdio:
		return server.Name
	case *acp.MCPServerHTTP:
		return server.Name
	case *acp.MCPServerSSE:
		return server.Name
	}
	return fmt.Sprintf("of the type %T", s.MCPServer)
}

// allows reports whether a tool needs no question.
func (s Server) allows(name string) bool {
	return slices.ContainsFunc(s.Allow, func(allowed string) bool {
		prefix, open := strings.CutSuffix(allowed, "*")
		return allowed == name || open && strings.HasPrefix(name, prefix)
	})
}

// foreign is a tool of the server under the name that the model knows.
func (s Server) foreign(name, own string) tool.Foreign {
	f := tool.Foreign{Name: name, Server: s.Name(), Allowed: s.allows(own)}
	if s.Setting != "" {
		f.Remedy = fmt.Sprintf("%s.allow in the settings can allow it: add %q", s.Setting, own)
	}
	return f
}

// Servers are the connections of one session.
type Servers struct {
	mu   sync.Mutex
	open []*sdk.ClientSession
}

// Connect starts the servers, all at once, and returns their tools in the order of the
// list, and one for their resources if there are any. A server that fails has none, and the error says why.
func (s *Servers) Connect(ctx context.Context, cwd string, list []Server) ([]*tool.Tool, error) {
	tools, sources, errs := make([][]*tool.Tool, len(list)), make([]*source, len(list)), make([]error, len(list))
	var all sync.WaitGroup
	for i, server := range list {
		all.Go(func() {
			if tools[i], sources[i], errs[i] = s.connect(ctx, cwd, server); errs[i] == nil {
				return
			}
			errs[i] = fmt.Errorf("MCP server %s: %w", server.Name(), errs[i])
			if server.Setting != "" {
				errs[i] = fmt.Errorf("%w; correct %s in the settings, or set enabled: false there", errs[i], server.Setting)
			}
		})
	}
	all.Wait()
	var joined []*tool.Tool
	for _, t := range tools {
		joined = append(joined, t...)
	}
	if sources = slices.DeleteFunc(sources, func(s *source) bool { return s == nil }); len(sources) > 0 {
		joined = append(joined, resources(sources))
	}
	return joined, errors.Join(errs...)
}

func (s *Servers) connect(ctx context.Context, cwd string, server Server) (_ []*tool.Tool, _ *source, err error) {
	if server.Fault != nil {
		return nil, nil, server.Fault
	}
	var said words
	transport, err := transportOf(cwd, server.MCPServer, &said)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if last := said.last(); err != nil && last != "" {
			err = fmt.Errorf("%w: it said %q", err, last)
		}
	}()
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
		return nil, nil, err
	}
	s.mu.Lock()
	s.open = append(s.open, session)
	s.mu.Unlock()
	var tools []*tool.Tool
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, nil, fmt.Errorf("list the tools: %w", err)
		}
		made, err := toolOf(server, session, t)
		if err != nil {
			return nil, nil, fmt.Errorf("tool %s: %w", t.Name, err)
		}
		tools = append(tools, made)
	}
	return tools, sourceOf(ctx, server, session), nil
}

// Close ends the servers.
func (s *Servers) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for _, session := range s.open {
		// Something that the server has started may live on, and hold what the server wrote to.
		if closed := session.Close(); !errors.Is(closed, exec.ErrWaitDelay) {
			err = errors.Join(err, closed)
		}
	}
	s.open = nil
	return err
}

// transportOf returns the way to a server. What a program says on standard error goes to said.
func transportOf(cwd string, server acp.MCPServer, said *words) (sdk.Transport, error) {
	switch server := server.(type) {
	case *acp.MCPServerStdio:
		cmd := exec.Command(server.Command, server.Args...)
		cmd.Dir, cmd.Env, cmd.Stderr, cmd.WaitDelay = cwd, slices.DeleteFunc(os.Environ(), isKey), said, time.Second
		for _, v := range server.Env {
			cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
		}
		return exactTransport{&sdk.CommandTransport{Command: cmd, TerminateDuration: time.Second}}, nil
	case *acp.MCPServerHTTP:
		address, client := reach(server.URL, server.Headers)
		return &sdk.StreamableClientTransport{Endpoint: address, HTTPClient: client, DisableStandaloneSSE: true}, nil
	case *acp.MCPServerSSE:
		address, client := reach(server.URL, server.Headers)
		return &sdk.SSEClientTransport{Endpoint: address, HTTPClient: client}, nil
	}
	return nil, errors.New("this type is not supported")
}

// words is the end of what a program has said.
type words struct {
	mu   sync.Mutex
	text []byte
}

func (w *words) Write(p []byte) (int, error) {
	const most = 1 << 10
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, p[max(0, len(p)-most):]...)
	w.text = append([]byte{}, w.text[max(0, len(w.text)-most):]...)
	return len(p), nil
}

// last returns the last line.
func (w *words) last() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := strings.TrimSpace(strings.ToValidUTF8(string(w.text), ""))
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}

// isKey reports whether a variable of the environment is a key of an endpoint, which is
// nobody else's business.
func isKey(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return name == "OPENAI_API_KEY" || name == "OPENROUTER_API_KEY"
}

// reach returns the address of a server without its query, which often has a key in it: errors
// name addresses. Requests have the query.
func reach(address string, headers []acp.HTTPHeader) (string, *http.Client) {
	query := ""
	if u, err := url.Parse(address); err == nil {
		query, u.RawQuery = u.RawQuery, ""
		address = u.String()
	}
	return address, &http.Client{Transport: &requests{address, query, headers}}
}

// requests adds the query and the headers that the client wants sent, and the exact texts to the
// answers.
type requests struct {
	address, query string
	headers        []acp.HTTPHeader
}

func (h *requests) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for _, header := range h.headers {
		r.Header.Set(header.Name, header.Value)
	}
	if r.URL.String() == h.address {
		r.URL.RawQuery = h.query
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		answer.Body, answer.ContentLength = exactBody(answer.Header, answer.Body), -1
	}
	return answer, err
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// toolOf is a tool of a server under a name that endpoints accept.
func toolOf(server Server, session *sdk.ClientSession, t *sdk.Tool) (*tool.Tool, error) {
	schema, _ := exactOf(t.Meta)
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(schema), &object); err != nil || object == nil {
		return nil, errors.New("the schema is no object")
	}
	name := notInNames.ReplaceAllString(server.Name()+"_"+t.Name, "_")
	if len(name) > 64 {
		name = name[:64]
	}
	foreign := server.foreign(name, t.Name)
	foreign.Reads = t.Annotations != nil && t.Annotations.ReadOnlyHint
	return &tool.Tool{
		Name: name, Description: described(t.Description), Toolset: "mcp", Kind: acp.ToolKindOther, Schema: []byte(schema), Asks: true,
		Reads: foreign.Reads && foreign.Allowed, // the claim of a server that the user trusts
		Title: func(*tool.Call) string { return server.Name() + ": " + t.Name },
		Run: func(ctx context.Context, c *tool.Call) (string, error) {
			if err := c.Gate.Use(ctx, c.Shown.AsUpdate(), foreign); err != nil {
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

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/test/llm"
)

// sample is what one start of an agent showed.
type sample struct {
	initialize, session time.Duration // since the start
	cpu                 time.Duration // of all processes, until the session was there
	idle, after         int           // bytes of memory, shared pages in parts
	prompt, tools       int           // bytes of the request with the most tools
}

// The bounds of a run.
const (
	patience = time.Minute
	settled  = 2 * time.Second // until an agent is idle
)

// run starts an agent in an empty project, says one sentence and ends it.
func (c *contender) run(ctx context.Context) (s sample, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	model, err := newGauge()
	if err != nil {
		return s, err
	}
	defer model.close()
	home, err := os.MkdirTemp("", "agents-")
	if err != nil {
		return s, err
	}
	defer os.RemoveAll(home)
	more, err := c.prepare(home, model.url+"/v1")
	if err != nil {
		return s, err
	}
	project := filepath.Join(home, "project")
	if err := os.Mkdir(project, 0o755); err != nil {
		return s, err
	}
	program, err := filepath.Abs(c.command[0])
	if err != nil {
		return s, err
	}
	x := exec.Command(program, c.command[1:]...)
	x.Dir = project
	x.Env = append([]string{"HOME=" + home, "PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH"), "TMPDIR=" + home}, more...)
	in, err := x.StdinPipe()
	if err != nil {
		return s, err
	}
	out, err := x.StdoutPipe()
	if err != nil {
		return s, err
	}
	var said bytes.Buffer
	x.Stderr = &said
	began := time.Now()
	if err := x.Start(); err != nil {
		return s, err
	}
	defer func() {
		for _, pid := range tree(x.Process.Pid) {
			if p, err := os.FindProcess(pid); err == nil {
				p.Kill()
			}
		}
		x.Wait()
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, said.String())
		}
	}()
	conn := rpc.NewConn(transport.NewStream(out, in), acp.ClientSide(silent{}), rpc.Options{})
	defer conn.Close()
	agent := acp.Agent{Conn: conn}
	hello := &acp.InitializeRequest{ProtocolVersion: 1, ClientInfo: &acp.Implementation{Name: "bench", Version: "1"}, ClientCapabilities: &acp.ClientCapabilities{}}
	if _, err := agent.Initialize(ctx, hello); err != nil {
		return s, fmt.Errorf("initialize: %w", err)
	}
	s.initialize = time.Since(began)
	session, err := agent.NewSession(ctx, &acp.NewSessionRequest{Cwd: project, MCPServers: []acp.MCPServer{}})
	if err != nil {
		return s, fmt.Errorf("session/new: %w", err)
	}
	s.session = time.Since(began)
	s.cpu = spent(x.Process.Pid)
	time.Sleep(settled)
	if s.idle, err = memory(x.Process.Pid); err != nil {
		return s, err
	}
	answer, err := agent.Prompt(ctx, &acp.PromptRequest{SessionID: session.SessionID, Prompt: []acp.ContentBlock{acp.NewTextContent("SAY hello")}})
	if err != nil {
		return s, fmt.Errorf("session/prompt: %w", err)
	}
	if answer.StopReason != acp.StopReasonEndTurn {
		return s, fmt.Errorf("the turn ended with %s", answer.StopReason)
	}
	time.Sleep(settled)
	if s.after, err = memory(x.Process.Pid); err != nil {
		return s, err
	}
	s.prompt, s.tools = model.seen()
	if s.tools == 0 {
		return s, errors.New("the model was not asked")
	}
	return s, nil
}

// silent is a client that offers nothing.
type silent struct{ acp.UnimplementedClientHandler }

func (silent) SessionUpdate(context.Context, *acp.SessionNotification) error { return nil }

// gauge is the scripted model behind a proxy that measures what it is asked.
type gauge struct {
	url   string
	close func()

	mu            sync.Mutex
	prompt, tools int
}

func newGauge() (*gauge, error) {
	model, err := llm.Start()
	if err != nil {
		return nil, err
	}
	address, err := url.Parse(model.URL)
	if err != nil {
		return nil, err
	}
	g := &gauge{}
	inside := httputil.NewSingleHostReverseProxy(address)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		g.measure(body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		inside.ServeHTTP(w, r)
	}))
	g.url, g.close = server.URL, func() {
		server.CloseClientConnections()
		server.Close()
		model.Close()
	}
	return g, nil
}

func (g *gauge) measure(body []byte) {
	var request struct {
		Tools    json.RawMessage
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if json.Unmarshal(body, &request) != nil {
		return
	}
	prompt := 0
	for _, m := range request.Messages {
		if m.Role != "system" && m.Role != "developer" {
			continue
		}
		var text string
		if json.Unmarshal(m.Content, &text) == nil {
			prompt += len(text)
		} else {
			prompt += len(m.Content)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(request.Tools) > g.tools {
		g.prompt, g.tools = prompt, len(request.Tools)
	}
}

func (g *gauge) seen() (prompt, tools int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.prompt, g.tools
}

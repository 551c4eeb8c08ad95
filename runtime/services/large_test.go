package services_test

import (
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/files"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/services"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/httpstream"
	"github.com/hermes-nvim/hermes/runtime/transport/websocket"
)

// copier is an agent that copies the file named by a prompt, through its client.
type copier struct {
	acp.UnimplementedAgentHandler
	client acp.Client
}

func (a copier) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{ProtocolVersion: 1}, nil
}

func (a copier) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "s"}, nil
}

func (a copier) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	path := p.Prompt[0].(*acp.TextContent).Text
	r, err := a.client.ReadTextFile(ctx, &acp.ReadTextFileRequest{SessionID: p.SessionID, Path: path})
	if err != nil {
		return nil, err
	}
	_, err = a.client.WriteTextFile(ctx, &acp.WriteTextFileRequest{SessionID: p.SessionID, Path: path + ".copy", Content: r.Content})
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, err
}

func serveCopier(_ context.Context, t transport.Transport) {
	c := rpc.Connect(t, func(c *rpc.Conn) acp.Handler {
		return acp.AgentSide(copier{client: acp.Client{Conn: c}})
	}, rpc.Options{})
	<-c.Done()
}

// The largest file that is read by default passes the default limit of a
// message in both directions, although each of its bytes takes two in JSON.
func TestTheLargestFileFitsIntoAMessage(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes this take minutes; make test runs it without")
	}
	token := access.NewToken()
	text := strings.Repeat("\"\\\t\n", files.DefaultMaxRead/4)
	for name, dial := range map[string]func(t *testing.T) transport.Transport{
		"standard streams": func(t *testing.T) transport.Transport {
			fromAgent, toClient, err := os.Pipe()
			must(t, err)
			fromClient, toAgent, err := os.Pipe()
			must(t, err)
			go serveCopier(t.Context(), transport.NewStream(fromClient, toClient))
			return transport.NewStream(fromAgent, toAgent)
		},
		"HTTP": func(t *testing.T) transport.Transport {
			h := httptest.NewUnstartedServer(nil)
			h.Config.Handler = &httpstream.Server{Handle: serveCopier, Guard: access.Guard{Token: token}}
			h.Start()
			t.Cleanup(h.Close)
			c, err := httpstream.Dial(h.URL, access.Client{Token: token})
			must(t, err)
			return c
		},
		"WebSocket": func(t *testing.T) transport.Transport {
			h := httptest.NewServer(&websocket.Server{Handle: serveCopier, Guard: access.Guard{Token: token}})
			t.Cleanup(h.Close)
			c, err := websocket.Dial(t.Context(), h.URL, access.Client{Token: token})
			must(t, err)
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			must(t, err)
			path := filepath.Join(dir, "large.txt")
			must(t, os.WriteFile(path, []byte(text), 0o600))
			s := services.New(services.Options{})
			defer s.Close()
			c := rpc.NewConn(dial(t), acp.ClientSide(s), rpc.Options{})
			defer c.Close()
			agent := acp.Agent{Conn: c}
			_, err = agent.Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1, ClientCapabilities: s.Capabilities()})
			must(t, err)
			_, err = s.NewSession(t.Context(), agent, &acp.NewSessionRequest{Cwd: dir})
			must(t, err)
			_, err = s.Prompt(t.Context(), agent, &acp.PromptRequest{SessionID: "s", Prompt: []acp.ContentBlock{&acp.TextContent{Text: path}}})
			must(t, err)
			got, err := os.ReadFile(path + ".copy")
			must(t, err)
			if !bytes.Equal(got, []byte(text)) {
				t.Errorf("the copy has %d bytes and differs", len(got))
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

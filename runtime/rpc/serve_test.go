package rpc_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	v2 "github.com/hermes-nvim/hermes/acp/v2"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// serve runs an agent at the other end of the transport it returns.
func serve(ctx context.Context, agent acp.AgentHandler, opts rpc.Options) (transport.Transport, <-chan error) {
	here, there := transport.Pair()
	ended := make(chan error, 1)
	go func() {
		ended <- rpc.Serve(ctx, there, func(acp.Client) acp.AgentHandler { return agent }, opts)
	}()
	return here, ended
}

func within[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience.Soon):
		t.Fatal("nothing happened")
		panic("unreachable")
	}
}

func TestServeEndsWithoutAnErrorWhenTheClientHangsUp(t *testing.T) {
	t.Parallel()
	here, ended := serve(t.Context(), new(greeter), rpc.Options{})
	client, err := rpc.Open(t.Context(), here, printer{}, nil, rpc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/w"}); err != nil {
		t.Error(err)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if err := within(t, ended); err != nil {
		t.Errorf("Serve returned %v", err)
	}
	if err := client.Wait(t.Context()); err != nil {
		t.Errorf("Wait after Close returned %v", err)
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	why := errors.New("enough")
	ctx, stop := context.WithCancelCause(t.Context())
	here, ended := serve(ctx, new(greeter), rpc.Options{})
	client, err := rpc.Open(t.Context(), here, printer{}, nil, rpc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	stop(why)
	if err := within(t, ended); !errors.Is(err, why) {
		t.Errorf("Serve returned %v", err)
	}
	<-client.Done()
}

// burning is a transport that fails.
type burning struct{ transport.Transport }

func (burning) Read([]byte) ([]byte, error) { return nil, errors.New("disk on fire") }

func TestServeReturnsWhatBrokeTheConnection(t *testing.T) {
	t.Parallel()
	_, there := transport.Pair()
	err := rpc.Serve(t.Context(), burning{there}, func(acp.Client) acp.AgentHandler { return new(greeter) }, rpc.Options{})
	if closed := (*rpc.ClosedError)(nil); !errors.As(err, &closed) || !strings.Contains(err.Error(), "disk on fire") {
		t.Errorf("Serve returned %v", err)
	}
}

// newer answers initialize with a version or an error.
type newer struct {
	acp.UnimplementedAgentHandler
	version acp.ProtocolVersion
	err     error
}

func (n newer) Initialize(_ context.Context, p *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	if p.ProtocolVersion != 1 {
		return nil, errors.New("asked for another version than 1")
	}
	return &acp.InitializeResponse{ProtocolVersion: n.version}, n.err
}

func TestOpenFailsUnlessTheAgentSpeaksVersion1(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		agent newer
		want  string // "": it opens
	}{
		"1":               {newer{version: 1}, ""},
		"0":               {newer{version: 0}, "no common protocol version: this client speaks 1, the agent 0"},
		"2":               {newer{version: 2}, "no common protocol version: this client speaks 1, the agent 2"},
		"refused":         {newer{err: &acp.Error{Code: acp.ErrorCodeUnsupportedProtocolVersion, Message: "no", Data: []byte(`{"supported":[2,3]}`)}}, "no common protocol version: this client speaks 1, the agent 3 and 2: no"},
		"another failure": {newer{err: &acp.Error{Code: acp.ErrorCodeInternalError, Message: "out of order"}}, "out of order"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			here, ended := serve(t.Context(), c.agent, rpc.Options{})
			request := &acp.InitializeRequest{ProtocolVersion: 7} // is not sent
			client, err := rpc.Open(t.Context(), here, printer{}, request, rpc.Options{})
			if err == nil {
				client.Close()
			}
			if got := text(err); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
				t.Errorf("Open: %q", got)
			}
			if strings.HasPrefix(c.want, "no common") && !isA[*rpc.VersionError](err) {
				t.Errorf("Open: %T", err)
			}
			if err := within(t, ended); err != nil { // Open has hung up
				t.Errorf("Serve: %v", err)
			}
			if request.ProtocolVersion != 7 {
				t.Error("the caller's request was changed")
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Handlers that say that they are an agent's make the connection the agent's
// side, whatever the options say.
func TestAnAgentsHandlerIsServedAsAnAgent(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]acp.Handler{
		"AgentSide":     acp.AgentSide(new(greeter)),
		"v2.AgentSide":  v2.AgentSide(v2.UnimplementedAgentHandler{}),
		"AgentVersions": rpc.NewAgentVersions(rpc.AgentVersion{Protocol: acp.V1, Handler: acp.AgentSide(new(greeter))}),
	} {
		_, w := dial(t, h, rpc.Options{})
		w.say(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`)
		if got := verdict(w.hear()); got != "1 -32600" {
			t.Errorf("%s: session/new before initialize was answered %s", name, got)
		}
		w.say(`{"id":2,"method":"initialize","params":{"protocolVersion":1}}`)
		if got := verdict(w.hear()); got != "2 -32600" {
			t.Errorf("%s: a message without jsonrpc was answered %s", name, got)
		}
		w.say(`hello`)
		if got := verdict(w.hear()); got != "null -32700" {
			t.Errorf("%s: noise was answered %s", name, got)
		}
	}
	for name, h := range map[string]acp.Handler{
		"ClientSide":     acp.ClientSide(printer{}),
		"ClientVersions": rpc.NewClientVersions(rpc.ClientVersion{Protocol: acp.V1, Params: acp.Raw(`{}`), Handler: acp.ClientSide(printer{})}),
		"nobody":         nil,
	} {
		_, w := dial(t, h, rpc.Options{})
		w.say(`hello`)
		w.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)
		if got := w.hear(); !strings.Contains(got, `"id":1`) {
			t.Errorf("%s: answered the noise: %s", name, got)
		}
	}
}

func TestWaitReturnsWhenTheConnectionIsOver(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	c := rpc.NewConn(transport.NewStream(r, io.Discard), nil, rpc.Options{})
	w.Close()
	if err := c.Wait(t.Context()); err != nil {
		t.Errorf("the end of the input is %v", err)
	}
	select {
	case <-c.Done():
	default:
		t.Error("Wait returned before the end")
	}
}

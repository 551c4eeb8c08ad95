package websocket_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	ws "github.com/coder/websocket"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/websocket"
)

const helloV1 = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`

// peer is a server that does what a test wants with the WebSocket.
func peer(t *testing.T, do func(ctx context.Context, c *ws.Conn)) transport.Transport {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := ws.Accept(w, r, nil); err == nil {
			defer c.CloseNow()
			do(r.Context(), c)
		}
	}))
	t.Cleanup(h.Close)
	return dial(t, h.URL, access.Client{})
}

func receives(t *testing.T, c *ws.Conn, want string) {
	t.Helper()
	if _, got, err := c.Read(t.Context()); err != nil || !strings.Contains(string(got), want) {
		t.Fatalf("%q, %v, want %s", got, err, want)
	}
}

// C159 of the conformance list.
func TestAClientIgnoresOtherFrames(t *testing.T) {
	t.Parallel()
	c := peer(t, func(ctx context.Context, c *ws.Conn) {
		c.Write(ctx, ws.MessageBinary, []byte(`{"binary":1}`))
		c.Write(ctx, ws.MessageText, nil)
		c.Write(ctx, ws.MessageText, []byte(`{"text":1}`))
		c.Read(ctx)
	})
	if got, err := c.Read(nil); err != nil || string(got) != `{"text":1}` {
		t.Fatalf("%q, %v", got, err)
	}
}

// C160 of the conformance list.
func TestAMalformedFrameIsAnsweredAndTheConnectionContinues(t *testing.T) {
	t.Parallel()
	url, client := start(t, &websocket.Server{Handle: new(testagent.Agent).Serve})
	c := raw(t, url, client)
	c.Write(t.Context(), ws.MessageText, []byte(helloV1))
	receives(t, c, `"id":0,"result":{`)
	for bad, id := range map[string]string{`{"jsonrpc":`: "null", `{"jsonrpc":"2.0","id":7,"method":"x"}}`: "7"} {
		c.Write(t.Context(), ws.MessageText, []byte(bad))
		receives(t, c, `{"jsonrpc":"2.0","id":`+id+`,"error":{"code":-32700`)
	}
	c.Write(t.Context(), ws.MessageText, []byte(`{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}`))
	receives(t, c, `"id":1,"result":{"sessions":[]}`)
}

// late is an agent that takes its time with initialize.
type late struct {
	acp.UnimplementedAgentHandler
	asked, answer chan struct{}
}

func (l *late) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	close(l.asked)
	<-l.answer
	return &acp.InitializeResponse{ProtocolVersion: 1}, nil
}

func (l *late) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "s1"}, nil
}

// C163 of the conformance list.
func TestFramesDuringInitializeWaitForItsAnswer(t *testing.T) {
	t.Parallel()
	agent := &late{asked: make(chan struct{}), answer: make(chan struct{})}
	url, client := start(t, &websocket.Server{Handle: func(ctx context.Context, c transport.Transport) {
		conn := rpc.NewConn(c, acp.AgentSide(agent), rpc.Options{})
		<-conn.Done()
		conn.Close()
	}})
	c := raw(t, url, client)
	c.Write(t.Context(), ws.MessageText, []byte(helloV1))
	<-agent.asked
	c.Write(t.Context(), ws.MessageText, []byte(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`))
	c.Write(t.Context(), ws.MessageText, []byte(helloV1)) // refused by the server itself, so what came before has arrived
	receives(t, c, `"the connection is initialized"`)
	close(agent.answer)
	receives(t, c, `"id":0,"result":{"protocolVersion":1`)
	receives(t, c, `"id":1,"result":{"sessionId":"s1"`)
}

// C164 of the conformance list.
func TestTheServersCloseSaysWhy(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		send   string
		want   ws.StatusCode
		reason string
	}{
		"it ends":               {hello, ws.StatusGoingAway, "no more work"},
		"not initialize":        {`{"jsonrpc":"2.0","id":1,"method":"x"}`, ws.StatusProtocolError, "the first message is not an initialize request"},
		"a message too large":   {strings.Repeat("x", 1001), ws.StatusMessageTooBig, "message is above the limit of 1000 bytes"},
		"a message without end": {strings.Repeat("x", 40_000), ws.StatusMessageTooBig, "frame without end: message is above the limit of 1000 bytes"},
	} {
		url, client := start(t, &websocket.Server{MaxMessage: 1000, Handle: func(_ context.Context, c transport.Transport) {
			c.Read(nil)
			c.(transport.Explainer).CloseWith(errors.New("no more work"))
		}})
		c := raw(t, url, client)
		c.Write(t.Context(), ws.MessageText, []byte(test.send))
		var got ws.CloseError
		if _, _, err := c.Read(t.Context()); !errors.As(err, &got) || got.Code != test.want || got.Reason != test.reason {
			t.Errorf("%s: %v, want %d and %q", name, err, test.want, test.reason)
		}
	}
}

// C165 of the conformance list.
func TestTheCloseOfThePeerFailsPendingCalls(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(c *ws.Conn){
		"closed": func(c *ws.Conn) { c.Close(ws.StatusInternalError, "why") },
		"cut":    func(c *ws.Conn) { c.CloseNow() },
	} {
		link := peer(t, func(ctx context.Context, c *ws.Conn) {
			c.Read(ctx) // initialize
			end(c)
		})
		conn := rpc.NewConn(link, nil, rpc.Options{})
		_, err := acp.Agent{Conn: conn}.Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1})
		var closed *rpc.ClosedError
		var why *websocket.CloseError
		if !errors.As(err, &closed) || errors.As(err, &why) != (name == "closed") || why != nil && (why.Code != 1011 || why.Reason != "why") {
			t.Errorf("%s: %v", name, err)
		}
		conn.Close()
	}
}

// T22 of the conformance list.
func TestAPeerThatStopsInsideAMessageIsReported(t *testing.T) {
	t.Parallel()
	faults, goOn := make(chan rpc.Fault, 4), make(chan struct{})
	link := peer(t, func(ctx context.Context, c *ws.Conn) {
		w, err := c.Writer(ctx, ws.MessageText)
		if err != nil {
			t.Error(err)
			return
		}
		io.WriteString(w, `{"jsonrpc":"2.0","method":"_x","params":{"x":"`+strings.Repeat("x", 100_000))
		<-goOn
		io.WriteString(w, `"}}`)
		w.Close()
		c.Read(ctx)
	})
	conn := rpc.NewConn(link, nil, rpc.Options{
		Limits:  rpc.Limits{Stall: 60 * time.Millisecond},
		OnFault: func(f rpc.Fault) { faults <- f },
	})
	defer conn.Close()
	for _, want := range []rpc.FaultKind{rpc.FaultStalled, rpc.FaultUnknownMethod} {
		select {
		case f := <-faults:
			if f.Kind != want {
				t.Fatalf("reported %v: %v", f.Kind, f.Err)
			}
		case <-time.After(patience.Soon):
			t.Fatalf("no %v", want)
		}
		if want == rpc.FaultStalled {
			close(goOn)
		}
	}
}

package redial_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/jx"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/redial"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// sealed are params that say which session they are about, and whose text
// nobody can read: it is not JSON, and names another session first.
type sealed struct {
	*acp.PromptRequest
	encoded int
}

const sealedText = `{"sessionId":"another","prompt":["`

func (s *sealed) AppendJSON(b []byte) []byte {
	s.encoded++
	return append(b, sealedText...)
}

// script is an agent with one session that never answers a prompt.
type script struct {
	prompted chan string // the whole message
	mu       sync.Mutex
	last     string // method other than session/prompt
}

func (s *script) serve(t transport.Transport) {
	for {
		msg, err := t.Read(nil)
		if err != nil {
			return
		}
		if bytes.Contains(msg, []byte(`"session/prompt"`)) {
			s.prompted <- string(msg)
			continue
		}
		id, _ := acp.Extra(msg).Get("id")
		name, _ := acp.Extra(msg).Get("method")
		answer := `{}`
		switch string(name) {
		case `"initialize"`:
			answer = `{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"resume":{}}}}`
		case `"session/new"`:
			answer = `{"sessionId":"s"}`
		}
		s.mu.Lock()
		s.last = string(name)
		s.mu.Unlock()
		t.Write([]byte(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":` + answer + `}`))
	}
}

// connect connects to the agent and opens its session.
func (s *script) connect(t *testing.T, w *world) (*redial.Client, acp.SessionID) {
	return w.connect(t, func(o *redial.Options) {
		o.Dial = func(context.Context) (transport.Transport, error) {
			near, far, err := w.pair()
			if err == nil {
				go s.serve(far)
			}
			return near, err
		}
	})
}

// hear returns the next prompt.
func (s *script) hear(t *testing.T) string {
	t.Helper()
	select {
	case msg := <-s.prompted:
		return msg
	case <-time.After(patience.Soon):
		t.Fatal("the prompt did not arrive")
		return ""
	}
}

// Prompts carry images. From the call to the transport they are encoded once and
// read by nobody. Not parallel: it sees what the whole program reads and writes.
func TestAPromptIsWrittenOnceAndNotRead(t *testing.T) {
	agent := &script{prompted: make(chan string, 1)}
	c, id := agent.connect(t, newWorld())
	prompt := &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{
		&acp.TextContent{Text: "look"}, &acp.ImageContent{Data: strings.Repeat("aGVybWVz", 1<<17), MimeType: "image/png"},
	}}
	var reads, writes atomic.Int64
	watch := &jx.Watch{
		Read: func(text []byte) {
			if len(text) >= 1<<20 {
				reads.Add(1)
			}
		},
		Written: func([]byte) { writes.Add(1) },
	}
	stop := watch.Start()
	prompt.AppendJSON(nil)
	once := writes.Swap(0)
	call, err := c.Start(t.Context(), acp.MethodSessionPrompt, prompt)
	if err != nil {
		t.Fatal(err)
	}
	sent := agent.hear(t)
	stop()
	if len(sent) < 1<<20 || once == 0 {
		t.Fatalf("%d objects, %d bytes", once, len(sent))
	}
	if reads.Load() != 0 || writes.Load() != once {
		t.Errorf("read %d times, %d objects written, want none and %d", reads.Load(), writes.Load(), once)
	}
	c.Close()
	var closed *rpc.ClosedError
	if err := call.Wait(t.Context(), nil); !errors.As(err, &closed) {
		t.Error(err)
	}
}

// Three places have to know the session of a prompt: what is queued, the answer
// that waits for the updates before it, and the turn that is cut short when the
// connection breaks. None of them looks into the text.
func TestThePromptsTextIsNobodysBusiness(t *testing.T) {
	t.Parallel()
	agent := &script{prompted: make(chan string, 1)}
	w := newWorld()
	c, id := agent.connect(t, w)
	prompt := &sealed{PromptRequest: &acp.PromptRequest{SessionID: id}}
	call, err := c.Start(t.Context(), acp.MethodSessionPrompt, prompt)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":` + sealedText + `}`
	if got := agent.hear(t); got != want {
		t.Errorf("the agent read %s\nwant %s", got, want)
	}
	w.cut()
	var closed *rpc.ClosedError
	if err := call.Wait(t.Context(), nil); !errors.As(err, &closed) {
		t.Error(err)
	}
	w.await(t, redial.Connected)
	if prompt.encoded != 1 {
		t.Errorf("encoded %d times", prompt.encoded)
	}
	agent.mu.Lock()
	defer agent.mu.Unlock()
	if got := agent.last; got != `"session/load"` { // not resume: the turn was cut short
		t.Errorf("the session was resumed by %s", got)
	}
}

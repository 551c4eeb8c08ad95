package redial_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
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
		id, _ := acp.Extra(msg).Get("id")
		name, _ := acp.Extra(msg).Get("method")
		answer := `{}`
		switch string(name) {
		case `"initialize"`:
			answer = `{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"resume":{}}}}`
		case `"session/new"`:
			answer = `{"sessionId":"s"}`
		case `"session/prompt"`:
			s.prompted <- string(msg)
			continue
		}
		s.mu.Lock()
		s.last = string(name)
		s.mu.Unlock()
		t.Write([]byte(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":` + answer + `}`))
	}
}

// Prompts carry images. From the call to the transport they are encoded once and
// not parsed, although three places have to know their session: what is queued,
// the answer that waits for the updates before it, and the turn that is cut
// short when the connection breaks.
func TestAPromptIsEncodedOnceAndReadByNobody(t *testing.T) {
	t.Parallel()
	agent := &script{prompted: make(chan string, 1)}
	w := new(world)
	c, id := w.connect(t, func(o *redial.Options) {
		o.Dial = func(context.Context) (transport.Transport, error) {
			near, far, err := w.pair()
			if err == nil {
				go agent.serve(far)
			}
			return near, err
		}
	})
	prompt := &sealed{PromptRequest: &acp.PromptRequest{SessionID: id}}
	call, err := c.Start(t.Context(), acp.MethodSessionPrompt, prompt)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":` + sealedText + `}`
	select {
	case got := <-agent.prompted:
		if got != want {
			t.Errorf("the agent read %s\nwant %s", got, want)
		}
	case <-time.After(soon):
		t.Fatal("the prompt did not arrive")
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

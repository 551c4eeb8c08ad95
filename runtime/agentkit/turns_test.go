package agentkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/agentkit"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// worker is an agent with one session. Its prompts are words of what a turn does.
type worker struct {
	acp.UnimplementedAgentHandler
	client acp.Client
	turns  agentkit.Turns
	goOn   chan struct{}
}

func (*worker) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{ProtocolVersion: 1}, nil
}

func (*worker) Cancel(context.Context, *acp.CancelNotification) error { return nil }

func (w *worker) CloseSession(ctx context.Context, _ *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	return &acp.CloseSessionResponse{}, w.turns.Close(ctx)
}

func (w *worker) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	return w.turns.Prompt(ctx, func(ctx context.Context) (acp.StopReason, error) {
		for word := range strings.FieldsSeq(p.Prompt[0].(*acp.TextContent).Text) {
			if err := w.client.Session(p.SessionID).Say(context.WithoutCancel(ctx), word); err != nil {
				return "", err
			}
			switch word {
			case "waits":
				select {
				case <-w.goOn:
				case <-ctx.Done():
					return "", ctx.Err()
				}
			case "breaks":
				<-ctx.Done()
				return "", errors.New("signal: killed")
			case "fails":
				return "", errors.New("the model is gone")
			case "panics":
				panic("a fault of this test")
			case "refuses":
				return acp.StopReasonRefusal, nil
			}
		}
		return acp.StopReasonEndTurn, nil
	})
}

// line is a worker with a client that sees each message.
type line struct {
	t *testing.T
	transport.Transport
	*worker
}

func newLine(t *testing.T) *line {
	t.Helper()
	near, far := transport.Pair()
	w := &worker{goOn: make(chan struct{})}
	ended := make(chan error, 1)
	go func() {
		ended <- rpc.Serve(context.Background(), far, func(c acp.Client) acp.AgentHandler { w.client = c; return w }, rpc.Options{})
	}()
	t.Cleanup(func() {
		if err := errors.Join(near.Close(), <-ended); err != nil {
			t.Error(err)
		}
	})
	l := &line{t, near, w}
	l.request(0, "initialize", `{"protocolVersion":1}`)
	l.sees("0 protocolVersion")
	return l
}

func (l *line) request(id int, method, params string) {
	l.t.Helper()
	l.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params))
}

func (l *line) write(message string) {
	l.t.Helper()
	if err := l.Write([]byte(message)); err != nil {
		l.t.Fatal(err)
	}
}

func (l *line) prompt(id int, words string) {
	l.t.Helper()
	l.request(id, "session/prompt", fmt.Sprintf(`{"sessionId":"s","prompt":[{"type":"text","text":%q}]}`, words))
}

func (l *line) cancel() {
	l.t.Helper()
	l.write(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`)
}

// sees reads messages: "word" is an update, "1 end_turn" an answer that contains the word.
func (l *line) sees(want ...string) {
	l.t.Helper()
	for _, want := range want {
		read := make(chan []byte, 1)
		go func() {
			raw, _ := l.Read(nil)
			read <- raw
		}()
		raw := patience.Value(l.t, want, read)
		var m struct {
			ID            *int
			Result, Error json.RawMessage
			Params        struct {
				Update struct{ Content struct{ Text string } }
			}
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			l.t.Fatalf("%s: %v", raw, err)
		}
		got := m.Params.Update.Content.Text
		if m.ID != nil {
			got = fmt.Sprint(*m.ID, " ", string(m.Result), string(m.Error))
		}
		number, word, isAnswer := strings.Cut(want, " ")
		if isAnswer && !(strings.HasPrefix(got, number+" ") && strings.Contains(got, word)) || !isAnswer && got != want {
			l.t.Fatalf("got %s, want %s", raw, want)
		}
	}
}

func TestTurnsFollowEachOther(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	l.prompt(1, "waits")
	l.sees("waits")
	l.prompt(2, "second refuses")
	l.prompt(3, "third")
	l.goOn <- struct{}{}
	l.sees("1 end_turn", "second", "refuses", "2 refusal", "third", "3 end_turn")
}

func TestATurnThatFailsOrPanicsIsOver(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	l.prompt(1, "fails")
	l.prompt(2, "panics")
	l.prompt(3, "third")
	l.sees("fails", "1 model is gone", "panics", "2 internal error", "third", "3 end_turn")
}

func TestACancelEndsTheTurnAndThoseThatWait(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"waits", "breaks"} {
		l := newLine(t)
		l.prompt(1, word)
		l.sees(word)
		l.prompt(2, "second")
		l.cancel()
		answers := map[bool]string{true: "1 cancelled", false: "2 cancelled"}
		first := l.answer()
		l.sees(answers[!first])
		l.prompt(3, "third")
		l.sees("third", "3 end_turn")
	}
}

// answer reads an answer with the stop reason cancelled, and reports whether it is that of 1.
func (l *line) answer() (first bool) {
	l.t.Helper()
	raw, err := l.Read(nil)
	first = strings.Contains(string(raw), `"id":1`)
	if err != nil || !strings.Contains(string(raw), "cancelled") {
		l.t.Fatalf("%s, %v", raw, err)
	}
	return first
}

func TestAPromptThatIsWithdrawnWhileItWaitsEndsNoOther(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	l.prompt(1, "waits")
	l.sees("waits")
	l.prompt(2, "second")
	l.prompt(3, "third")
	l.write(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}`)
	l.sees("2 request cancelled")
	l.goOn <- struct{}{}
	l.sees("1 end_turn", "third", "3 end_turn")
}

func TestNothingOfASessionFollowsTheAnswerToItsClose(t *testing.T) {
	t.Parallel()
	for range 20 {
		l := newLine(t)
		l.prompt(1, "breaks")
		l.sees("breaks")
		l.prompt(2, "second")
		l.request(3, "session/close", `{"sessionId":"s"}`)
		var order []string
		for range 3 {
			raw, err := l.Read(nil)
			var m struct{ ID json.Number }
			if json.Unmarshal(raw, &m); err != nil || m.ID != "3" && !strings.Contains(string(raw), "cancelled") {
				t.Fatalf("%s, %v", raw, err)
			}
			order = append(order, string(m.ID))
		}
		if slices.Index(order, "1") > slices.Index(order, "3") {
			t.Error("the session was closed before its turn was answered")
		}
		if !errors.Is(context.Cause(l.turns.Context()), rpc.ErrSessionCancelled) {
			t.Error("the context of the session goes on")
		}
		l.prompt(4, "late")
		l.sees("4 cancelled")
	}
}

func TestACloseThatIsWithdrawnDoesNotWait(t *testing.T) {
	t.Parallel()
	var turns agentkit.Turns
	goOn, begun, over := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		over <- turns.Run(context.Background(), func(context.Context) error {
			close(begun)
			<-goOn
			return nil
		})
	}()
	<-begun
	ctx, stop := context.WithCancelCause(t.Context())
	impatient := errors.New("impatient")
	stop(impatient)
	if err := turns.Close(ctx); !errors.Is(err, impatient) {
		t.Error(err)
	}
	close(goOn)
	if err := patience.Value(t, "the turn", over); err != nil {
		t.Error(err)
	}
	if err := turns.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := turns.Run(t.Context(), func(context.Context) error { t.Error("a turn of a closed session"); return nil }); !errors.Is(err, rpc.ErrSessionCancelled) {
		t.Error(err)
	}
}

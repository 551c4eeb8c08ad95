package turns

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/envelope"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/steering"
	"github.com/hermes-nvim/hermes/plugin/ask"
	"github.com/hermes-nvim/hermes/plugin/say"
	"github.com/hermes-nvim/hermes/plugin/setup"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// lateCancel is a session whose agent ends turn a at about the time at which the user
// cancels it. Nobody cancels turn b, which comes next.
type lateCancel struct {
	a, b    *Turn
	random  func(n int) int
	obeys   bool         // the agent ends a because of the cancel alone
	cancels atomic.Int64 // on their way

	mu     sync.Mutex
	heard  []string // what the agent gets
	faults []string
}

// dawdle lets others run for a random while.
func (l *lateCancel) dawdle() {
	for range l.random(100) {
		runtime.Gosched()
	}
}

func (l *lateCancel) fault(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

func (l *lateCancel) notOver(when string) {
	select {
	case <-l.a.over:
		l.fault("the turn was over %s its cancel was sent", when)
	default:
	}
}

// serve is the agent.
func (l *lateCancel) serve(t transport.Transport) {
	defer t.Close()
	prompts, cancelled := 0, make(chan struct{})
	var work sync.WaitGroup
	defer work.Wait()
	var writing sync.Mutex
	answer := func(id []byte, result string) {
		writing.Lock()
		defer writing.Unlock()
		if err := t.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)); err != nil {
			l.fault("%v", err)
		}
	}
	for {
		msg, err := t.Read(nil)
		if err != nil {
			return
		}
		e, err := envelope.Parse(msg)
		if err != nil {
			l.fault("%v", err)
			return
		}
		l.mu.Lock()
		l.heard = append(l.heard, string(e.Method))
		l.mu.Unlock()
		switch string(e.Method) {
		case acp.MethodInitialize:
			answer(e.ID, `{"protocolVersion":1}`)
		case acp.MethodSessionCancel:
			close(cancelled)
		case acp.MethodSessionPrompt:
			prompts++
			first := prompts == 1
			work.Go(func() {
				if first && l.obeys {
					<-cancelled
				}
				for !first && l.cancels.Load() > 0 { // none should be left; one that is gets the time to arrive
					runtime.Gosched()
				}
				l.dawdle()
				answer(e.ID, `{"stopReason":"end_turn"}`)
			})
		}
	}
}

// pipe is an agent at the other end of a connection. Its cancels take a while.
type pipe struct {
	*lateCancel
	conn *rpc.Conn
	ctx  context.Context
}

func (p pipe) Name() string              { return "a" }
func (p pipe) Context() context.Context  { return p.ctx }
func (p pipe) Ready() bool               { return true }
func (p pipe) Why() error                { return nil }
func (p pipe) Left() error               { return nil }
func (p pipe) Timeouts() *setup.Timeouts { return new(setup.Timeouts) }
func (p pipe) Fit(*Turn) error           { return nil }

func (p pipe) Steers() bool { return false }

func (p pipe) Steer(context.Context, *acp.PromptRequest) (steering.Result, error) {
	return steering.Result{}, errors.New("the agent has not announced it")
}

func (p pipe) Prompt(r *acp.PromptRequest, sent func()) (*acp.PromptResponse, error) {
	call, err := p.conn.Start(p.ctx, acp.MethodSessionPrompt, r)
	if err != nil {
		return nil, err
	}
	sent()
	answer := new(acp.PromptResponse)
	return answer, call.Wait(p.ctx, answer)
}

func (p pipe) Cancel(id acp.SessionID) error {
	p.cancels.Add(1)
	defer p.cancels.Add(-1)
	p.notOver("before")
	p.dawdle()
	err := p.conn.Notify(p.ctx, acp.MethodSessionCancel, &acp.CancelNotification{SessionID: id})
	p.notOver("after")
	return err
}

// noWork is the Work of a session whose turns leave nothing.
type noWork struct{}

func (noWork) Before(*Turn) {}
func (noWork) After()       {}
func (noWork) Begin(*Turn)  {}

// Agents take a cancel that comes when they are idle for the next prompt.
func TestACancelIsNeverForTheNextPrompt(t *testing.T) {
	t.Parallel()
	sent := 0
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		var mu sync.Mutex
		early := seed%3 == 0 // the cancel may come before the prompt has gone out
		l := &lateCancel{obeys: seed%6 == 1, random: func(n int) int {
			mu.Lock()
			defer mu.Unlock()
			return random.IntN(n)
		}}
		prompt := func(id string) *Turn {
			p, err := ReadTurn(id, []byte(`{"sessionId":"s","prompt":[{"type":"text","text":"x"}]}`))
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		l.a, l.b = prompt("a"), prompt("b")

		editor := say.New(wire.NewQueue(1<<40, nil), slog.New(slog.DiscardHandler))
		here, there := transport.Pair()
		served := make(chan struct{})
		go func() {
			defer close(served)
			l.serve(there)
		}()
		conn := rpc.NewConn(here, acp.ClientSide(acp.UnimplementedClientHandler{}), rpc.Options{})
		s := New(editor, ask.NewAsks(editor.Queue, editor.Log), pipe{l, conn, t.Context()}, noWork{}, "s")

		s.Prompt(l.a)
		if !early {
			patience.Value(t, "the first prompt", l.a.sent)
		}
		l.dawdle()
		s.Cancel()
		s.Prompt(l.b)
		patience.True(t, "the end of the second turn", func() bool { return s.isIdle() })
		editor.Wait()
		conn.Close()
		<-served

		if i := strings.Index(strings.Join(l.heard, " "), acp.MethodSessionPrompt+" "+acp.MethodSessionPrompt+" "+acp.MethodSessionCancel); i >= 0 {
			l.fault("the agent got %v", l.heard)
		}
		if len(l.faults) > 0 {
			t.Fatalf("round %d: %s", seed, strings.Join(l.faults, "\n"))
		}
		sent += strings.Count(strings.Join(l.heard, " "), acp.MethodSessionCancel)
	}
	if sent < 10 { // the agent has waited for some
		t.Errorf("%d cancels in 300 rounds", sent)
	}
}

func (s *Turns) isIdle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn == nil && len(s.queued) == 0
}

package host

import (
	"context"
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
	"github.com/hermes-nvim/hermes/plugin/ask"
	"github.com/hermes-nvim/hermes/plugin/say"
	"github.com/hermes-nvim/hermes/plugin/setup"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/redial"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// lateCancel is a session whose agent ends turn a at about the time at which the user
// cancels it. Nobody cancels turn b, which comes next.
type lateCancel struct {
	a, b    *turn
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

// slow is a Middleware.Send in which a cancel takes a while.
type slow struct {
	acp.Caller
	*lateCancel
}

func (s slow) Notify(ctx context.Context, method string, params acp.Appender) error {
	if method != acp.MethodSessionCancel {
		return s.Caller.Notify(ctx, method, params)
	}
	s.cancels.Add(1)
	defer s.cancels.Add(-1)
	s.notOver("before")
	s.dawdle()
	err := s.Caller.Notify(ctx, method, params)
	s.notOver("after")
	return err
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
		prompt := func(id string) *turn {
			return newTurn(id, &acp.PromptRequest{SessionID: "s", Prompt: []acp.ContentBlock{acp.NewTextContent(id)}}, []wire.Part{wire.ForLua([]byte("{}"))})
		}
		l.a, l.b = prompt("a"), prompt("b")

		h := &Host{Editor: say.New(wire.NewQueue(1<<40, errNeovimEnded), slog.New(slog.DiscardHandler)), ctx: t.Context()}
		h.asks = ask.NewAsks(h.Queue, h.Log)
		c := newConnection(t.Context(), h, "a", setup.Command{})
		served := make(chan struct{})
		var err error
		c.wire, err = redial.Connect(t.Context(), redial.Options{
			Versions: []rpc.ClientVersion{{Protocol: acp.V1, Params: c.initialize(), Handler: handler{acp.ClientSide(&client{conn: c}), c}}},
			Conn:     rpc.Options{Middleware: []rpc.Middleware{{Send: func(next acp.Caller) acp.Caller { return slow{next, l} }}}},
			Attempts: -1,
			Dial: func(context.Context) (transport.Transport, error) {
				here, there := transport.Pair()
				go func() {
					defer close(served)
					l.serve(there)
				}()
				return here, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range []connectionEvent{connectionStarts, connectionReached} {
			c.on(e, nil)
		}
		c.noteInit()
		c.becomeReady()
		s := c.addSession("s", []string{"/"})

		s.prompt(l.a)
		if !early {
			patience.Value(t, "the first prompt", l.a.sent)
		}
		l.dawdle()
		s.cancel()
		s.prompt(l.b)
		patience.True(t, "the end of the second turn", func() bool { return s.idle() })
		c.end(errHostStopped)
		c.wire.Close()
		h.Wait()
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

func (s *session) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn == nil && len(s.queued) == 0
}

package turns

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/envelope"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/steering"
	"github.com/hermes-nvim/hermes/plugin/ask"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/say"
	"github.com/hermes-nvim/hermes/plugin/setup"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/redial"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// steered is a session whose user sends prompts and messages at any moment of its turns, to an
// agent that answers messages as an agent may. Every text is the id of its operation.
type steered struct {
	steers bool                     // the agent announces it
	answer func(text string) string // how it answers a message: see takesOr
	random func(n int) int

	mu      sync.Mutex
	conn    transport.Transport // of the agent
	running string              // prompt that the agent is at work on
	taken   []string            // what the agent has read, prompts and messages, in order
	into    map[string]string   // message: the turn that took it
	asked   int                 // _session/steering
	cancels int
	stop    chan struct{} // closed by a cancel
	faults  []string

	ended  map[string]done     // by operation
	events map[string][]string // outcomes of PromptSteered, each with the turn that ran then
}

// done is the end of an operation.
type done struct {
	Result struct {
		StopReason string `json:"stopReason"`
		Outcome    string `json:"outcome"`
	} `json:"result"`
	Error *struct {
		Kind    string `json:"kind"`
		Message string `json:"message"`
	} `json:"error"`
}

func (m *steered) fault(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.faults = append(m.faults, fmt.Sprintf(format, args...))
}

func (m *steered) dawdle() {
	for range m.random(60) {
		runtime.Gosched()
	}
}

// deliver is Neovim.
func (m *steered) deliver(batch []wire.Item) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, it := range batch {
		var e struct {
			ID       string `json:"id"`
			SteerID  string `json:"steerId"`
			Outcome  string `json:"outcome"`
			PromptID string `json:"promptId"`
			done
		}
		if err := json.Unmarshal(it.JSON, &e); err != nil {
			m.faults = append(m.faults, err.Error())
		}
		switch it.Kind {
		case wire.KindDone:
			if _, twice := m.ended[e.ID]; twice {
				m.faults = append(m.faults, e.ID+" ended twice")
			}
			m.ended[e.ID] = e.done
		case events.PromptSteered:
			m.events[e.SteerID] = append(m.events[e.SteerID], e.Outcome+" "+e.PromptID)
		}
	}
	return 0
}

// serve is the agent, on one connection.
func (m *steered) serve(t transport.Transport) {
	var work sync.WaitGroup
	defer work.Wait()
	defer t.Close()
	var writing sync.Mutex
	reply := func(id []byte, member, value string) {
		writing.Lock()
		defer writing.Unlock()
		_ = t.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,%q:%s}`, id, member, value)) // it may have hung up
	}
	for {
		msg, err := t.Read(nil)
		if err != nil {
			return
		}
		e, err := envelope.Parse(msg)
		if err != nil {
			m.fault("%v", err)
			return
		}
		var p acp.PromptRequest
		text := ""
		if method := string(e.Method); method == acp.MethodSessionPrompt || method == steering.Method {
			if err := p.UnmarshalJSON(e.Params); err != nil {
				m.fault("%v", err)
			}
			text = p.Prompt[0].(*acp.TextContent).Text
		}
		id := slices.Clone(e.ID)
		switch string(e.Method) {
		case acp.MethodInitialize:
			reply(id, "result", fmt.Sprintf(`{"protocolVersion":1,"_meta":{"steering":{"supported":%v}}}`, m.steers))
		case acp.MethodSessionCancel:
			m.mu.Lock()
			if m.cancels++; m.stop != nil {
				close(m.stop)
				m.stop = nil
			}
			m.mu.Unlock()
		case acp.MethodSessionPrompt:
			stop := make(chan struct{})
			m.mu.Lock()
			if m.running != "" {
				m.faults = append(m.faults, text+" came while "+m.running+" ran")
			}
			m.running, m.stop = text, stop
			m.taken = append(m.taken, text)
			m.mu.Unlock()
			work.Go(func() {
				reason := "end_turn"
				for range m.random(200) {
					runtime.Gosched()
					if isClosed(stop) {
						reason = "cancelled"
						break
					}
				}
				m.mu.Lock()
				m.running, m.stop = "", nil
				m.mu.Unlock()
				m.dawdle()
				reply(id, "result", `{"stopReason":"`+reason+`"}`)
			})
		case steering.Method:
			how := m.answer(text)
			m.mu.Lock()
			m.asked++
			turn := m.running
			takes := how != "failed" && how != "method" && how != "internal" && how != "break"
			if takes && turn == "" {
				how, takes = "promptRequired", false
			}
			if takes || how == "break" && turn != "" {
				m.taken = append(m.taken, text)
				m.into[text] = cmp.Or(turn, "none")
			}
			m.mu.Unlock()
			work.Go(func() {
				m.dawdle()
				switch how {
				case "method":
					reply(id, "error", `{"code":-32601,"message":"no"}`)
				case "internal":
					reply(id, "error", `{"code":-32603,"message":"oops"}`)
				case "break":
					t.Close()
				case "taken and internal":
					reply(id, "error", `{"code":-32603,"message":"oops"}`)
				default:
					reply(id, "result", fmt.Sprintf(`{"outcome":%q}`, how))
				}
			})
		}
	}
}

// line is the way to the agent, which is made again when it breaks.
type line struct {
	*steered
	client *redial.Client
	ctx    context.Context
	ready  atomic.Bool
}

func (l *line) Name() string              { return "a" }
func (l *line) Context() context.Context  { return l.ctx }
func (l *line) Ready() bool               { return l.ready.Load() }
func (l *line) Why() error                { return nil }
func (l *line) Left() error               { return nil }
func (l *line) Timeouts() *setup.Timeouts { return new(setup.Timeouts) }
func (l *line) Fit(*Turn) error           { return nil }
func (l *line) Steers() bool              { return l.steers }

func (l *line) failure(err error) error {
	if closed := (*rpc.ClosedError)(nil); errors.As(err, &closed) {
		return &BrokenError{Method: "call", Cause: err}
	}
	return err
}

func (l *line) Prompt(r *acp.PromptRequest, sent func()) (*acp.PromptResponse, error) {
	call, err := l.client.Start(l.ctx, acp.MethodSessionPrompt, r)
	if err != nil {
		return nil, l.failure(err)
	}
	sent()
	answer := new(acp.PromptResponse)
	return answer, l.failure(call.Wait(l.ctx, answer))
}

func (l *line) Steer(ctx context.Context, p *acp.PromptRequest) (steering.Result, error) {
	var raw acp.Raw
	err := l.client.Call(ctx, steering.Method, steering.Request{PromptRequest: p}, &raw)
	r, err := steering.Read(raw, err)
	return r, l.failure(err)
}

func (l *line) Cancel(id acp.SessionID) error {
	now, cancel := context.WithCancel(l.ctx)
	cancel()
	return l.client.Notify(now, acp.MethodSessionCancel, &acp.CancelNotification{SessionID: id})
}

// open is a session of m. The returned function ends everything.
func (m *steered) open(t *testing.T) (s *Turns, l *line, end func()) {
	m.ended, m.events, m.into = map[string]done{}, map[string][]string{}, map[string]string{}
	editor := say.New(wire.NewQueue(1<<40, nil), slog.New(slog.DiscardHandler))
	delivered := make(chan struct{})
	go func() {
		defer close(delivered)
		editor.Run(m.deliver)
	}()
	ctx, cancel := context.WithCancel(t.Context())
	l = &line{steered: m, ctx: ctx}
	var served sync.WaitGroup
	var turns atomic.Pointer[Turns]
	client, err := redial.Connect(ctx, redial.Options{
		Dial: func(context.Context) (transport.Transport, error) {
			here, there := transport.Pair()
			m.mu.Lock()
			m.conn, m.running, m.stop = there, "", nil
			m.mu.Unlock()
			served.Go(func() { m.serve(there) })
			return here, nil
		},
		Versions: []rpc.ClientVersion{{Protocol: acp.V1, Params: &acp.InitializeRequest{}, Handler: acp.ClientSide(acp.UnimplementedClientHandler{})}},
		Pause:    time.Millisecond, LongestPause: time.Millisecond,
		OnEvent: func(e redial.Event) {
			s := turns.Load()
			switch e.Kind {
			case redial.Broken:
				l.ready.Store(false)
				s.CutShort()
			case redial.Connected:
				l.ready.Store(true)
				s.Resume()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	l.client = client
	l.ready.Store(true)
	s = New(editor, ask.NewAsks(editor.Queue, editor.Log), l, noWork{}, "s")
	turns.Store(s)
	return s, l, func() {
		client.Close()
		cancel()
		editor.Wait()
		served.Wait()
		editor.Close()
		<-delivered
	}
}

func message(t *testing.T, id string, how Steering) *Turn {
	t.Helper()
	p, err := ReadTurn(id, fmt.Appendf(nil, `{"sessionId":"s","prompt":[{"type":"text","text":%q}]}`, id))
	if err != nil {
		t.Fatal(err)
	}
	p.Steering = how
	return p
}

// A message that steers is read once at most, by the turn that ran, and its end says what became
// of it. Only what the user was told of is lost.
func TestNoSteeringMessageIsLostOrReadTwice(t *testing.T) {
	t.Parallel()
	const shards, rounds = 8, 320
	var counts [shards]map[string]int
	t.Run("rounds", func(t *testing.T) {
		for shard := range shards {
			counts[shard] = map[string]int{}
			t.Run(strconv.Itoa(shard), func(t *testing.T) {
				t.Parallel()
				for round := range rounds {
					steerAtRandom(t, uint64(shard*rounds+round), counts[shard])
				}
			})
		}
	})
	sum := map[string]int{}
	for _, c := range counts {
		for what, n := range c {
			sum[what] += n
		}
	}
	for _, what := range []string{"injected", "queued", "restarted", "started", "agent", "broke", "closed"} {
		if sum[what] < 50 {
			t.Errorf("%d times %s in %v", sum[what], what, sum)
		}
	}
}

// steerAtRandom is one round. It counts how messages ended.
func steerAtRandom(t *testing.T, seed uint64, counts map[string]int) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 26))
	var mu sync.Mutex
	n := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return random.IntN(n)
	}
	answers := [][]string{
		{"injected"},
		{"injected", "injected", "failed"},
		{"injected", "injected", "method"},
		{"injected", "internal", "taken and internal"},
		{"injected", "injected", "break"},
		{"injected", "startedNewTurn"},
	}[n(6)]
	m := &steered{random: n, steers: seed%4 != 0, answer: func(string) string { return answers[n(len(answers))] }}
	s, _, end := m.open(t)
	modes := []Steering{SteerOrQueue, SteerOrQueue, SteerOrQueue, SteerOrCancel, SteerCancel}
	if seed%3 != 0 {
		modes = modes[:3] // and nothing is cancelled
	}
	var prompts, messages []string
	how := map[string]Steering{}
	closes, cancels := seed%5 == 1, false
	var closed []string // when the session was closed, the texts that the agent had read
	for i := range 3 + n(6) {
		m.dawdle()
		id := fmt.Sprintf("%02d", i)
		switch what := n(10); {
		case what < 3 || i == 0:
			prompts = append(prompts, id)
			s.Prompt(message(t, id, ""))
		case what < 9:
			how[id] = modes[n(len(modes))]
			messages = append(messages, id)
			s.Prompt(message(t, id, how[id]))
		case seed%3 == 0:
			cancels = true
			s.Cancel()
		}
	}
	if closes {
		s.Abort(&wire.Error{Kind: wire.ErrorClosed, Message: "closed"})
		m.mu.Lock()
		closed = slices.Clone(m.taken)
		m.mu.Unlock()
	}
	all := slices.Concat(prompts, messages)
	patience.True(t, fmt.Sprintf("the end of everything in round %d", seed), func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return len(m.ended) == len(all) && s.isIdle()
	})
	end()

	read := map[string]int{}
	for _, text := range m.taken {
		read[text]++
	}
	for _, id := range all {
		d, told := m.ended[id], m.events[id]
		_, into := m.into[id]
		if read[id] > 1 {
			m.fault("%s was read %d times", id, read[id])
		}
		if len(told) > 1 {
			m.fault("%s has the outcomes %v", id, told)
		}
		outcome, turn, _ := strings.Cut(strings.Join(told, ""), " ")
		switch {
		case d.Error != nil:
			kind := d.Error.Kind
			if strings.HasPrefix(d.Error.Message, "call: ") {
				kind = "broke"
			}
			counts[kind]++
		case d.Result.Outcome != outcome:
			m.fault("%s: the result says %q, the event %q", id, d.Result.Outcome, outcome)
		case outcome == "injected":
			if !into || m.into[id] != turn && m.into[id] != "none" {
				m.fault("%s: said to be in the turn %s, and was read by %q", id, turn, m.into[id])
			}
		case into:
			m.fault("%s was read by the turn %s, and is said to be %q", id, m.into[id], outcome)
		case d.Result.StopReason != "cancelled" && read[id] != 1:
			m.fault("%s ended with %q and was never read", id, d.Result.StopReason)
		}
		counts[outcome]++
		if how[id] == "" && len(told) > 0 || outcome == "restarted" && how[id] == SteerOrQueue {
			m.fault("%s, which is to %q, was %s", id, how[id], outcome)
		}
	}
	calm := !closes && !cancels && seed%3 != 0
	if m.cancels > 0 && calm {
		m.fault("the agent got %d cancels", m.cancels)
	}
	if m.asked > 0 && !m.steers {
		m.fault("the agent has not announced steering, and got %d messages", m.asked)
	}
	if closes {
		late := m.taken[len(closed):] // the turn and the message that were on their way
		asPrompts := slices.DeleteFunc(slices.Clone(late), func(id string) bool { return m.into[id] != "" })
		if len(asPrompts) > 1 || len(late)-len(asPrompts) > 1 {
			m.fault("%v were read after the session was closed", late)
		}
	}
	if order := slices.DeleteFunc(slices.Clone(m.taken), func(id string) bool { return how[id] == "" }); calm && !slices.IsSorted(order) {
		m.fault("messages were read in the order %v", order)
	}
	if order := slices.DeleteFunc(slices.Clone(m.taken), func(id string) bool { return how[id] != "" }); !slices.IsSorted(order) {
		m.fault("prompts were read in the order %v", order)
	}
	if len(m.faults) > 0 {
		t.Fatalf("round %d (announced %v, answers %v):\n%s\nread %v\nended %v\nevents %v", seed, m.steers, answers, strings.Join(m.faults, "\n"), m.taken, m.ended, m.events)
	}
}

// byHand is an agent that does what a test says.
type byHand struct {
	ctx     context.Context
	prompts chan chan error             // each takes the end of a prompt
	steers  chan chan<- steering.Result // each takes the answer to a message
}

func (a *byHand) Name() string               { return "a" }
func (a *byHand) Context() context.Context   { return a.ctx }
func (a *byHand) Ready() bool                { return true }
func (a *byHand) Why() error                 { return nil }
func (a *byHand) Left() error                { return nil }
func (a *byHand) Timeouts() *setup.Timeouts  { return new(setup.Timeouts) }
func (a *byHand) Fit(*Turn) error            { return nil }
func (a *byHand) Steers() bool               { return true }
func (a *byHand) Cancel(acp.SessionID) error { return nil }

func (a *byHand) Prompt(_ *acp.PromptRequest, sent func()) (*acp.PromptResponse, error) {
	end := make(chan error)
	sent()
	a.prompts <- end
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, <-end
}

func (a *byHand) Steer(ctx context.Context, _ *acp.PromptRequest) (steering.Result, error) {
	answer := make(chan steering.Result, 1)
	a.steers <- answer
	select {
	case r := <-answer:
		return r, nil
	case <-ctx.Done():
		return steering.Result{}, fmt.Errorf("steering: %w", ctx.Err())
	}
}

// What the agent leaves open when a turn ends is told, and holds up nothing.
func TestAMessageThatIsNotAnsweredIsNotSentAgain(t *testing.T) {
	t.Parallel()
	broke := &BrokenError{Method: acp.MethodSessionPrompt, Cause: errors.New("it hung up")}
	for _, c := range []struct {
		name   string
		end    error // of the turn
		answer string
		first  func(s *Turns) // before the turn ends
		want   map[string]string
		next   bool // another turn follows
	}{
		{name: "the agent says nothing", next: true, want: map[string]string{"1": "has not said whether it took the message", "2": "queued", "3": ""}},
		{name: "the agent takes it late", answer: "injected", next: true, want: map[string]string{"1": "injected", "2": "queued", "3": ""}},
		{name: "the agent leaves it late", answer: "promptRequired", next: true, want: map[string]string{"1": "queued", "2": "queued", "3": ""}},
		{name: "the connection breaks", end: broke, want: map[string]string{"1": "it hung up", "2": "it hung up", "3": "it hung up"}},
		{name: "the user cancels", answer: "promptRequired", first: func(s *Turns) { s.Cancel() }, want: map[string]string{"1": "cancelled", "2": "cancelled", "3": "cancelled"}},
		{name: "the user cancels, and the agent takes it", answer: "injected", first: func(s *Turns) { s.Cancel() }, want: map[string]string{"1": "injected", "2": "cancelled", "3": "cancelled"}},
		{name: "the session is closed", answer: "promptRequired", first: func(s *Turns) { s.Abort(errors.New("it was closed")) }, want: map[string]string{"1": "it was closed", "2": "it was closed", "3": "it was closed"}},
		{name: "the session is closed, and the agent takes it", answer: "injected", first: func(s *Turns) { s.Abort(errors.New("it was closed")) }, want: map[string]string{"1": "injected", "2": "it was closed", "3": "it was closed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &steered{ended: map[string]done{}, events: map[string][]string{}}
				editor := say.New(wire.NewQueue(1<<40, nil), slog.New(slog.DiscardHandler))
				go editor.Run(m.deliver)
				agent := &byHand{ctx: t.Context(), prompts: make(chan chan error, 10), steers: make(chan chan<- steering.Result, 10)}
				s := New(editor, ask.NewAsks(editor.Queue, editor.Log), agent, noWork{}, "s")
				s.Prompt(message(t, "0", ""))
				s.Prompt(message(t, "3", ""))
				end := <-agent.prompts
				s.Prompt(message(t, "1", SteerOrQueue))
				answer := <-agent.steers
				s.Prompt(message(t, "2", SteerOrQueue)) // waits for what becomes of the first
				if c.first != nil {
					c.first(s)
				}
				began := time.Now()
				end <- c.end
				synctest.Wait()
				if c.answer != "" {
					answer <- steering.Result{Outcome: steering.Outcome(c.answer)}
					synctest.Wait()
				}
				if c.next {
					order := ""
					for !s.isIdle() {
						end := <-agent.prompts
						order += s.Now().ID
						end <- nil
						synctest.Wait()
					}
					if want := "23"; order != want && order != "1"+want {
						t.Errorf("the turns that followed are %s", order)
					}
				}
				synctest.Wait()
				if !s.isIdle() || len(agent.steers) > 0 || len(agent.prompts) > 0 {
					t.Errorf("idle %v, %d messages, %d prompts", s.isIdle(), len(agent.steers), len(agent.prompts))
				}
				if c.answer != "" || c.end != nil {
					if took := time.Since(began); took >= answerTime {
						t.Errorf("it took %v", took)
					}
				}
				time.Sleep(time.Second) // deliveries
				m.mu.Lock()
				defer m.mu.Unlock()
				for id, want := range c.want {
					d, ok := m.ended[id]
					got := cmp.Or(d.Result.Outcome, d.Result.StopReason)
					if id == "3" && d.Result.StopReason == "end_turn" {
						got = ""
					}
					if d.Error != nil {
						got = d.Error.Message
					}
					if !ok || got != want && (d.Error == nil || !strings.Contains(got, want)) {
						t.Errorf("%s ended %v with %q, want %q", id, ok, got, want)
					}
				}
				editor.Close()
			})
		})
	}
}

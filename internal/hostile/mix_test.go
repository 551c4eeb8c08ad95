//go:build unix

package hostile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/acp/validate"
	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/soak"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// turnFault is what goes wrong in one turn, and how the turn ends.
type turnFault struct {
	name  string
	steps []string // before the updates and the answer, or instead of them
	dies  bool     // instead, and the agent is gone or useless
	ends  func(error) bool
	heard int // faults that are counted, at least

	givenUp bool // once the updates before the fault are heard
}

const (
	okAnswer  = `LINE {"jsonrpc":"2.0","id":$ID,"result":{"stopReason":"end_turn"}}`
	mixSize   = 10 // updates of a turn
	chunk     = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"TURN $N"}}}}`
	mixedAsk  = `{"jsonrpc":"2.0","id":"q$N","method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[]}}`
	halfChunk = `PUT "{\"jsonrpc\":\"2.0\",\"method\":\"session/upd"`
)

var (
	fine      = func(err error) bool { return err == nil }
	gone      = func(err error) bool { return isA[*rpc.ClosedError](err) }
	gaveUp    = func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }
	mixFaults = []turnFault{
		{name: "killed", steps: []string{"KILL"}, dies: true, ends: gone},
		{name: "killed in a line", steps: []string{halfChunk, "KILL"}, dies: true, ends: gone},
		{name: "exit", steps: []string{"EXIT 3"}, dies: true, ends: gone},
		{name: "leaves a child", steps: []string{"CHILD", "EXIT 3"}, dies: true, ends: gone},
		{name: "frozen", steps: []string{"FREEZE"}, dies: true, ends: gaveUp, givenUp: true},
		{name: "deaf in a line", steps: []string{"DEAF", halfChunk, "WAIT 1h"}, dies: true, ends: gaveUp, givenUp: true},
		{name: "no answer", steps: []string{"HEAR $/cancel_request"}, ends: gaveUp, givenUp: true},
		{name: "noise", steps: []string{"LINE Loading ... 50 %"}, ends: fine, heard: 1},
		{name: "broken line", steps: []string{halfChunk, `PUT "\n"`}, ends: fine, heard: 1},
		{name: "slow line", steps: []string{"DRIP 7 1ms " + `{"jsonrpc":"2.0","method":"_x"}`}, ends: fine, heard: 1},
		{name: "odd answers", steps: []string{`LINE {"jsonrpc":"2.0","id":9007199254740991,"result":{}}`, `LINE {"jsonrpc":"2.0","id":"$ID","result":{}}`, `LINE {"jsonrpc":"2.0","id":null,"result":{}}`}, ends: fine, heard: 3},
		{name: "large", steps: []string{"GIANT 2000000"}, ends: fine},
		{name: "questions", steps: []string{"FLOOD 100 " + mixedAsk}, ends: fine},
		{name: "unknown requests", steps: []string{`FLOOD 20 {"jsonrpc":"2.0","id":"u$N","method":"_nobody"}`}, ends: fine},
	}
)

// K3: agents do something wrong in one turn of a hundred. This costs at most that turn:
// every update of the others arrives, in order. The messages of the client are always
// valid. In the end nothing is left, and memory does not grow.
func TestRandomFaultsCostOnlyTheirTurns(t *testing.T) {
	leak.Check(t)
	m := &mix{t: t, valid: validate.New(validate.V1, validate.Strict), faults: map[string]int{}}
	goroutines := goruntime.NumGoroutine()
	m.run(len(mixFaults)*4, func(i int) *turnFault { return &mixFaults[i%len(mixFaults)] }) // each, and what is made once
	before := heap()
	every, turns := 20, soak.Of(t, 2000, 600)
	d := soak.Duration(t)
	if d > 0 {
		every = 100
	}
	seed := rand.Uint64()
	for end, round := time.Now().Add(d), uint64(0); round == 0 || time.Now().Before(end) && !t.Failed(); round++ {
		rnd := rand.New(rand.NewPCG(seed, round))
		plan := make([]*turnFault, turns)
		for i := range plan {
			if rnd.IntN(every) == 0 {
				plan[i] = &mixFaults[rnd.IntN(len(mixFaults))]
			}
		}
		m.run(turns, func(i int) *turnFault { return plan[i] })
	}
	grown := heap() - before
	t.Logf("seed %d: %d turns, %d messages of ours, heap %+d KiB, faults %v", seed, m.turns.Load(), m.ours.Load(), grown>>10, m.faults)
	if perThousand := grown * 1000 / m.turns.Load(); perThousand > mib {
		t.Errorf("memory grew by %d KiB in a thousand turns", perThousand>>10)
	}
	for end := time.Now().Add(patience.Soon); goruntime.NumGoroutine() > goroutines; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", goruntime.NumGoroutine(), goroutines)
		}
	}
}

// heap is the heap in use, in bytes.
func heap() int64 {
	goruntime.GC()
	goruntime.GC() // pools survive one
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

type mix struct {
	t           *testing.T
	valid       *validate.Validator
	turns, ours atomic.Int64

	mu     sync.Mutex
	faults map[string]int
}

// run plays n turns with a few agents.
func (m *mix) run(n int, plan func(i int) *turnFault) {
	var next atomic.Int64
	workers(4, func(int) {
		var a *mixAgent
		for !m.t.Failed() {
			i := int(next.Add(1)) - 1
			if i >= n {
				break
			}
			if a == nil {
				a = m.start()
			}
			if !a.turn(i, plan(i)) {
				a = nil
			}
		}
		if a != nil {
			closed(m.t, "mix", a.conn, a.process)
		}
	})
}

// mixAgent is a client of one agent, which obeys.
type mixAgent struct {
	m       *mix
	conn    *rpc.Conn
	process *launch.Process

	faults atomic.Int64

	mu    sync.Mutex
	texts []string // of the turn
	half  func()   // is called when half of them are heard
}

func (m *mix) start() *mixAgent {
	a := &mixAgent{m: m, process: start(m.t, "OBEY\nAGAIN")}
	a.conn = rpc.NewConn(a.process.Transport(), a, rpc.Options{OnFault: func(rpc.Fault) { a.faults.Add(1) }, Tap: func(d rpc.Direction, msg []byte) {
		if d != rpc.Outbound {
			return
		}
		m.ours.Add(1)
		answers := ""
		if strings.Contains(string(msg), `"id":"q`) {
			answers = acp.MethodSessionRequestPermission
		}
		if found, err := m.valid.Message(validate.Agent, msg, answers); err != nil || len(found) > 0 {
			m.t.Errorf("we said %.200s: %v %v", msg, found, err)
		}
	}})
	return a
}

func (*mixAgent) Side() acp.Side { return acp.SideClient }

func (a *mixAgent) HandleNotification(_ context.Context, method string, params json.RawMessage) error {
	var p struct {
		Update struct{ Content struct{ Text string } }
	}
	if method != acp.MethodSessionUpdate || json.Unmarshal(params, &p) != nil {
		return acp.MethodNotFound(method)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if text := p.Update.Content.Text; text != "" {
		a.texts = append(a.texts, text)
		if a.half != nil && len(a.texts) == mixSize/2 {
			a.half()
		}
	}
	return nil
}

func (a *mixAgent) HandleRequest(ctx context.Context, method string, _ json.RawMessage) (acp.Appender, error) {
	if method != acp.MethodSessionRequestPermission {
		return nil, acp.MethodNotFound(method)
	}
	return acp.Raw(`{"outcome":{"outcome":"cancelled"}}`), nil
}

// turn plays one turn; false when the agent is gone.
func (a *mixAgent) turn(i int, f *turnFault) bool {
	t := a.m.t
	a.m.turns.Add(1)
	name := fmt.Sprintf("turn %d", i)
	chunks := strings.ReplaceAll(chunk, "TURN", name)
	var steps, want []string
	ends := fine
	if f != nil {
		a.m.mu.Lock()
		a.m.faults[f.name]++
		a.m.mu.Unlock()
		name += ", " + f.name
		ends, steps = f.ends, slices.Clone(f.steps)
	}
	// A fault comes in the middle.
	steps = append([]string{fmt.Sprintf("FLOOD %d %s", mixSize/2, chunks)}, steps...)
	for n := range mixSize / 2 {
		want = append(want, fmt.Sprintf("turn %d %d", i, n))
	}
	if f == nil || !f.dies {
		want = append(want, want...)
		steps = append(steps, fmt.Sprintf("FLOOD %d %s", mixSize/2, chunks), okAnswer)
	}
	scenario := []acp.ContentBlock{acp.NewTextContent(strings.Join(steps, "\n"))}
	faults := a.faults.Load()
	d := newDeadline(t)
	if f != nil && f.givenUp {
		a.mu.Lock()
		a.half = d.pass
		a.mu.Unlock()
	}
	err := patience.Ends(t, name, func() error {
		return a.conn.Call(d, acp.MethodSessionPrompt, &acp.PromptRequest{SessionID: "s", Prompt: scenario}, nil)
	})
	if !ends(err) {
		t.Errorf("%s: the prompt returned %v", name, err)
	}
	if f != nil && !f.dies && f.givenUp { // messages after the timeout also arrive
		for end := time.Now().Add(patience.Soon); time.Now().Before(end) && a.heard() < len(want); time.Sleep(time.Millisecond) {
		}
	}
	if f != nil && f.dies {
		closed(t, name, a.conn, a.process)
	}
	if f != nil { // messages without a session are in no order with the answer
		for end := time.Now().Add(patience.Soon); a.faults.Load()-faults < int64(f.heard); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Errorf("%s: only %v", name, a.conn.Stats())
				break
			}
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Equal(a.texts, want) {
		t.Errorf("%s: heard %q, want %q", name, a.texts, want)
	}
	a.texts, a.half = nil, nil
	return f == nil || !f.dies
}

func (a *mixAgent) heard() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.texts)
}

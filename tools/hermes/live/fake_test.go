package live

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// fake is a conforming agent in this process that offers everything, except for what
// changed does instead.
type fake struct {
	changed func(f *fake, m *heard) (handled bool)
	starts  *atomic.Int32 // of all processes of the agent
	deaf    bool          // it does not exit when its input ends

	out    io.WriteCloser
	exited chan struct{}
	bare   bool // it offers nothing
	mu     *sync.Mutex
	opened int
	dirs   map[string]string        // sessions
	turns  map[string]chan struct{} // closed by a cancel
	asks   map[string]chan *heard   // by id
	asked  int
	open   map[string]bool // client capabilities
}

type heard struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		ProtocolVersion    int
		SessionID          string
		Cwd                any
		ModeID             string
		ConfigID           string
		Value              json.RawMessage
		ClientInfo, Meta   json.RawMessage
		ClientCapabilities map[string]json.RawMessage
		Prompt             []struct{ Type, Text string }
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	text   string
}

func (m *heard) prompt() string {
	if len(m.Params.Prompt) == 0 {
		return ""
	}
	return m.Params.Prompt[0].Text
}

// has reports whether a prompt has a block of a kind.
func (m *heard) has(kind string) bool {
	for _, b := range m.Params.Prompt {
		if b.Type == kind {
			return true
		}
	}
	return false
}

func (f *fake) write(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fmt.Fprintf(f.out, format+"\n", args...)
}

// work takes some time.
func (f *fake) work(d time.Duration) {
	select {
	case <-time.After(d):
	case <-f.exited:
	}
}

func (f *fake) answer(m *heard, result string) {
	f.write(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

func (f *fake) refuse(m *heard, code int) {
	f.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"refused"}}`, m.ID, code)
}

func (f *fake) update(id, update string) {
	f.write(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":%s}}`, id, update)
}

func (f *fake) say(id, text string) {
	f.update(id, fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}`, text))
}

// ask asks the client and returns its answer; an empty one if the agent has to end.
func (f *fake) ask(method, params string) *heard {
	f.mu.Lock()
	f.asked++
	id := fmt.Sprintf(`"f%d"`, f.asked)
	c := make(chan *heard, 1)
	f.asks[id] = c
	f.mu.Unlock()
	f.write(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
	select {
	case m := <-c:
		return m
	case <-f.exited:
		return new(heard)
	}
}

const (
	fakeModes  = `"modes":{"currentModeId":"a","availableModes":[{"id":"a","name":"A"},{"id":"b","name":"B"}]}`
	fakeConfig = `"configOptions":[{"id":"mode","name":"Mode","category":"mode","type":"select","currentValue":%s,"options":[{"value":"a","name":"A"},{"value":"b","name":"B"}]}]`
)

// start is Options.Start.
func (f fake) start(func([]byte)) (*Agent, error) {
	f.starts.Add(1)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	f.mu, f.out, f.dirs, f.turns, f.asks = new(sync.Mutex), outW, map[string]string{}, map[string]chan struct{}{}, map[string]chan *heard{}
	f.exited = make(chan struct{})
	var once sync.Once
	exit := func() {
		once.Do(func() {
			inR.Close()
			outW.Close()
			close(f.exited)
		})
	}
	go func() {
		in := bufio.NewReader(inR)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				break
			}
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			m := &heard{text: line}
			if json.Unmarshal([]byte(line), m) != nil && m.Method == "" {
				m.Method = "not JSON"
			}
			if f.changed != nil && f.changed(&f, m) {
				continue
			}
			if m.Method == "not JSON" {
				f.write(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON"}}`)
				continue
			}
			f.handle(m)
		}
		if !f.deaf {
			exit()
		}
	}()
	return &Agent{
		In: inW, Out: outR, Exited: f.exited, Status: func() string { return "exit status 0" }, Kill: exit,
		End: func() error { inW.Close(); exit(); return nil },
	}, nil
}

func (f *fake) handle(m *heard) {
	id := m.Params.SessionID
	f.mu.Lock()
	_, known := f.dirs[id]
	f.mu.Unlock()
	strange := id != "" && !known && m.Method != "session/delete"
	switch {
	case m.Method == "" && m.ID != nil:
		f.mu.Lock()
		c := f.asks[string(m.ID)]
		delete(f.asks, string(m.ID))
		f.mu.Unlock()
		if c != nil {
			c <- m
		}
		return
	case m.Method == "":
		f.write(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not a message"}}`)
		return
	case m.ID != nil && strange:
		f.refuse(m, -32002)
		return
	}
	switch m.Method {
	case "initialize":
		f.open = map[string]bool{}
		for name := range m.Params.ClientCapabilities {
			f.open[name] = true
		}
		if f.bare {
			f.answer(m, `{"protocolVersion":1,"agentInfo":{"name":"fake","version":"1"}}`)
			return
		}
		f.answer(m, strings.ReplaceAll(
			`{"protocolVersion":1,"agentInfo":{"name":"fake","version":"1"},"authMethods":[{"id":"key","name":"Key"}],"agentCapabilities":{
"loadSession":true,"promptCapabilities":{"image":true,"audio":true,"embeddedContext":true},"auth":{"logout":{}},"mcpCapabilities":{"http":true},
"sessionCapabilities":{"list":{},"resume":{},"close":{},"delete":{},"fork":{},"additionalDirectories":{}}}}`, "\n", ""))
	case "session/new", "session/fork":
		dir, ok := m.Params.Cwd.(string)
		if !ok {
			f.refuse(m, -32602)
			return
		}
		f.mu.Lock()
		f.opened++
		id := fmt.Sprintf("s%d", f.opened)
		f.dirs[id] = dir
		f.mu.Unlock()
		f.answer(m, fmt.Sprintf(`{"sessionId":%q,%s,`+fakeConfig+`}`, id, fakeModes, `"a"`))
	case "session/list":
		var list []string
		f.mu.Lock()
		for id, dir := range f.dirs {
			if m.Params.Cwd == nil || m.Params.Cwd == dir {
				list = append(list, fmt.Sprintf(`{"sessionId":%q,"cwd":%q}`, id, dir))
			}
		}
		f.mu.Unlock()
		f.answer(m, `{"sessions":[`+strings.Join(list, ",")+`]}`)
	case "session/set_config_option":
		f.answer(m, fmt.Sprintf(`{`+fakeConfig+`}`, m.Params.Value))
	case "session/load", "session/resume", "session/set_mode", "authenticate", "logout":
		f.answer(m, `{}`)
	case "session/close", "session/delete":
		f.mu.Lock()
		if stop := f.turns[id]; stop != nil {
			close(stop)
			delete(f.turns, id)
		}
		delete(f.dirs, id)
		f.mu.Unlock()
		time.AfterFunc(50*time.Millisecond, func() { f.answer(m, `{}`) }) // after the turn
	case "session/cancel":
		f.mu.Lock()
		if stop := f.turns[id]; stop != nil {
			close(stop)
			delete(f.turns, id)
		}
		f.mu.Unlock()
	case "session/prompt":
		stop := make(chan struct{})
		f.mu.Lock()
		f.turns[id] = stop
		f.mu.Unlock()
		go func() {
			reason := f.turn(m, stop)
			f.mu.Lock()
			if f.turns[id] == stop {
				delete(f.turns, id)
			}
			f.mu.Unlock()
			if reason != "" {
				f.answer(m, fmt.Sprintf(`{"stopReason":%q}`, reason))
			}
		}()
	default:
		if m.ID != nil {
			f.refuse(m, -32601)
		}
	}
}

// turn plays a prompt and returns its stop reason.
func (f *fake) turn(m *heard, stop chan struct{}) string {
	id := m.Params.SessionID
	f.say(id, "hello")
	switch m.prompt() {
	case "busy":
		select {
		case <-stop:
		case <-f.exited:
		}
	case "ask":
		f.update(id, `{"sessionUpdate":"tool_call","toolCallId":"t1","title":"Edit","kind":"edit","status":"pending"}`)
		f.ask("session/request_permission", fmt.Sprintf(`{"sessionId":%q,"toolCall":{"toolCallId":"t1"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}`, id))
		f.update(id, `{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed"}`)
	}
	select {
	case <-stop:
		return "cancelled"
	default:
		return "end_turn"
	}
}

// drive plays steps with a fake, on a clock of their own: what waits takes no time, and what
// works is never late.
func drive(t *testing.T, f fake, change func(*Options)) *Result {
	t.Helper()
	r, _ := timed(t, f, change)
	return r
}

// timed is drive, with the time that the steps took by their clock.
func timed(t *testing.T, f fake, change func(*Options)) (r *Result, took time.Duration) {
	t.Helper()
	r = &Result{Outcomes: []Outcome{{}}}
	o := Options{Workspace: t.TempDir(), Version: "1", Timeout: 20 * time.Second, Prompts: []string{"hello"}, Asking: "ask", Busy: "busy"}
	if change != nil {
		change(&o)
	}
	synctest.Test(t, func(t *testing.T) {
		f.starts = new(atomic.Int32)
		o.Start = f.start
		began := time.Now()
		result, err := Run(t.Context(), o)
		if err != nil {
			t.Error(err)
			return
		}
		r, took = result, time.Since(began)
	})
	return r, took
}

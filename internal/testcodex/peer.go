package testcodex

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
)

// The environment of a scripted app-server.
const (
	ScriptEnv = "HERMES_TEST_CODEX_SCRIPT" // the script to play
	LogEnv    = "HERMES_TEST_CODEX_LOG"    // the file that gets what the client sends
	QuickEnd  = "GORACE=atexit_sleep_ms=0" // for the race detector, which waits a second by default
)

// Peer is a scripted app-server on standard input and output. It speaks the
// protocol without any code of the packages under test.
type Peer struct {
	// OnTurn plays a turn. It runs on its own.
	OnTurn func(*Turn)
	// OnRequest may answer a request; it returns whether it did.
	OnRequest func(p *Peer, id json.RawMessage, method string, params json.RawMessage) bool

	mu      sync.Mutex
	asked   int
	answers map[string]chan json.RawMessage
	turns   int
	turn    *Turn
	log     *os.File
}

// Turn is a turn that the client has started.
type Turn struct {
	*Peer
	Thread, ID  string
	Text        string        // of the user
	Params      string        // as sent
	Interrupted chan struct{} // closed by turn/interrupt
	Steered     chan string
}

// thread is what the app-server says about a thread, apart from its id.
const thread = `{"id":%q,"sessionId":%[1]q,"preview":"a preview","ephemeral":false,"historyMode":"paginated","modelProvider":"fake","model":"gpt-test","createdAt":1795228369,"updatedAt":1795228370,"recencyAt":1795228369,"status":{"type":"idle"},"cwd":%q,"cliVersion":"0.169.0","source":"vscode","originator":"hermes","canAcceptDirectInput":true,"environments":[],"name":null,"turns":[%s]}`

// Thread is a thread in the form of the app-server.
func Thread(id, dir string, turns ...string) string {
	return fmt.Sprintf(thread, id, dir, strings.Join(turns, ","))
}

// Opened is the answer to thread/start, thread/resume and thread/fork.
func Opened(id, dir string, turns ...string) string {
	return fmt.Sprintf(`{"thread":%s,"model":"gpt-test","modelProvider":"fake","cwd":%q,"approvalPolicy":"on-request","approvalsReviewer":"user","sandbox":{"type":"readOnly","networkAccess":false}}`, Thread(id, dir, turns...), dir)
}

// Serve plays the app-server until its input ends.
func (p *Peer) Serve() {
	p.answers = map[string]chan json.RawMessage{}
	if name := os.Getenv(LogEnv); name != "" {
		p.log, _ = os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		if p.log != nil {
			fmt.Fprintf(p.log, "%s\n", in.Bytes())
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if err := json.Unmarshal(in.Bytes(), &m); err != nil {
			continue
		}
		switch {
		case m.Method == "":
			p.mu.Lock()
			if c := p.answers[string(m.ID)]; c != nil {
				c <- append(json.RawMessage(nil), in.Bytes()...)
			}
			p.mu.Unlock()
		case m.ID != nil:
			if p.OnRequest == nil || !p.OnRequest(p, m.ID, m.Method, m.Params) {
				p.request(m.ID, m.Method, m.Params)
			}
		}
	}
}

func (p *Peer) request(id json.RawMessage, method string, params json.RawMessage) {
	var in struct {
		ThreadID string `json:"threadId"`
		Cwd      string `json:"cwd"`
		Input    []struct {
			Text string `json:"text"`
		} `json:"input"`
	}
	_ = json.Unmarshal(params, &in)
	text := ""
	for _, i := range in.Input {
		text += i.Text
	}
	switch method {
	case "initialize":
		p.Answer(id, `{"userAgent":"scripted/0.169.0","codexHome":"/home/user/.codex","platformFamily":"unix","platformOs":"linux"}`)
	case "thread/start":
		p.Answer(id, Opened("thread-1", in.Cwd))
	case "thread/resume":
		p.Answer(id, Opened(in.ThreadID, in.Cwd))
	case "thread/inject_items":
		p.Answer(id, `{}`)
	case "thread/turns/list":
		p.Answer(id, `{"data":[]}`)
	case "turn/start":
		t := p.Begin(in.ThreadID, text)
		t.Params = string(params)
		p.Answer(id, fmt.Sprintf(`{"turn":{"id":%q,"items":[],"status":"inProgress"}}`, t.ID))
		go p.play(t)
	case "review/start":
		t := p.Begin(in.ThreadID, "say reviewed")
		p.Answer(id, fmt.Sprintf(`{"reviewThreadId":%q,"turn":{"id":%q,"items":[],"status":"inProgress"}}`, in.ThreadID, t.ID))
		go p.play(t)
	case "thread/compact/start": // its turn may be over before the answer
		t := p.Begin(in.ThreadID, "mute")
		p.play(t)
		p.Answer(id, `{}`)
	case "turn/interrupt":
		t := p.current()
		p.Answer(id, `{}`)
		close(t.Interrupted)
	case "turn/steer":
		t := p.current()
		t.Steered <- text
		p.Answer(id, fmt.Sprintf(`{"turnId":%q}`, t.ID))
	default:
		p.Fail(id, -32600, "Invalid request: unknown variant `"+method+"`")
	}
}

// play starts a turn.
func (p *Peer) play(t *Turn) {
	t.Note("turn/started", `"turn":{"id":%q,"items":[],"status":"inProgress"}`, t.ID)
	p.OnTurn(t)
}

// Begin makes a turn the one that runs.
func (p *Peer) Begin(thread, text string) *Turn {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turns++
	p.turn = &Turn{Peer: p, Thread: thread, ID: fmt.Sprintf("turn-%d", p.turns), Text: text, Interrupted: make(chan struct{}), Steered: make(chan string, 10)}
	return p.turn
}

func (p *Peer) current() *Turn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.turn
}

// Elsewhere begins a turn in the name of another client.
func (p *Peer) Elsewhere(thread, text string) *Turn {
	t := p.Begin(thread, text)
	t.Note("turn/started", `"turn":{"id":%q,"items":[],"status":"inProgress"}`, t.ID)
	t.User("u-"+t.ID, "theirs", text)
	return t
}

// User reports a message of the user, which has the mark of a client.
func (t *Turn) User(id, client, text string) {
	item := fmt.Sprintf(`{"type":"userMessage","id":%q,"clientId":%q,"content":[{"type":"text","text":%q}]}`, id, client, text)
	t.Start(item)
	t.Complete(item)
}

// Resolved reports that a question was answered by another client. Questions are
// numbered from 0.
func (t *Turn) Resolved(question int) {
	t.Line(`{"method":"serverRequest/resolved","params":{"threadId":%q,"requestId":%d},"emittedAtMs":3}`, t.Thread, question)
}

// Line writes a line, whatever it is.
func (p *Peer) Line(format string, a ...any) {
	line := format
	if len(a) > 0 {
		line = fmt.Sprintf(format, a...)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Println(line)
}

// Answer answers a request of the client.
func (p *Peer) Answer(id json.RawMessage, result string) { p.Line(`{"id":%s,"result":%s}`, id, result) }

// Fail answers a request of the client with an error.
func (p *Peer) Fail(id json.RawMessage, code int, message string) {
	p.Line(`{"id":%s,"error":{"code":%d,"message":%q}}`, id, code, message)
}

// Ask sends a request and returns the whole answer. The params get the ids of the
// turn.
func (t *Turn) Ask(method, format string, a ...any) string {
	c := make(chan json.RawMessage, 1)
	t.mu.Lock()
	id := fmt.Sprint(t.asked)
	t.asked++
	t.answers[id] = c
	t.mu.Unlock()
	t.Line(`{"id":%s,"method":%q,"params":{%s,"threadId":%q,"conversationId":%[4]q,"turnId":%q,"startedAtMs":1}}`, id, method, fmt.Sprintf(format, a...), t.Thread, t.ID)
	return string(<-c)
}

// Note sends a notification about the turn. The params get its ids.
func (t *Turn) Note(method, format string, a ...any) {
	t.Line(`{"method":%q,"params":{%s,"threadId":%q,"turnId":%q,"startedAtMs":1,"completedAtMs":2},"emittedAtMs":3}`, method, fmt.Sprintf(format, a...), t.Thread, t.ID)
}

// Start reports that an item has started, Complete that it is complete.
func (t *Turn) Start(item string) { t.Note("item/started", `"item":%s`, item) }

// Complete reports that an item is complete.
func (t *Turn) Complete(item string) { t.Note("item/completed", `"item":%s`, item) }

// Say is a message of the agent.
func (t *Turn) Say(text string) {
	t.Start(fmt.Sprintf(`{"type":"agentMessage","id":"m-%s","text":""}`, t.ID))
	t.Note("item/agentMessage/delta", `"itemId":"m-%s","delta":%q`, t.ID, text)
	t.Complete(fmt.Sprintf(`{"type":"agentMessage","id":"m-%s","text":%q}`, t.ID, text))
}

// End ends the turn: completed, interrupted, or failed with an error.
func (t *Turn) End(status, err string) {
	if err == "" {
		err = "null"
	}
	t.Note("turn/completed", `"turn":{"id":%q,"items":[],"status":%q,"error":%s}`, t.ID, status, err)
}

// Command is a command's item.
func Command(id, command, status, output string, exit int) string {
	return fmt.Sprintf(`{"type":"commandExecution","id":%q,"command":%q,"cwd":"/project","processId":null,"source":"agent","status":%q,"commandActions":[{"type":"unknown","command":%[2]q}],"aggregatedOutput":%[4]q,"exitCode":%[5]d,"durationMs":1}`, id, command, status, output, exit)
}

// Patch is the item of a change of one file.
func Patch(id, path, kind, diff, status string) string {
	return fmt.Sprintf(`{"type":"fileChange","id":%q,"changes":[{"path":%q,"kind":{"type":%q},"diff":%q}],"status":%q}`, id, path, kind, diff, status)
}

package launch

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/envelope"
)

// maxAsked bounds the remembered questions of an agent.
const maxAsked = 256

// turns follows the traffic of an agent, so that it can end the agent's turns
// for a client that leaves in the middle of them.
//
// In version 1 the answer to a prompt ends the turn. In version 2 it begins the
// work, and the agent reports the end.
type turns struct {
	busy func(bool) // called when the first turn begins and when the last one ends

	mu       sync.Mutex
	prompts  map[string]string   // the session of each prompt without an answer, by request id
	sessions map[string]*work    // those at work
	asked    map[string]question // those without an answer, by request id
	idle     chan struct{}       // closed when no turn runs; created by leave
}

// work is what one session does.
type work struct {
	prompts  int  // without an answer
	reported bool // the agent has reported since the last prompt whether it works
	working  bool
	ending   bool // it was cancelled after the last prompt
}

// question is a request of the agent to the user.
type question struct {
	id     json.RawMessage
	method string
}

func (t *turns) init(busy func(bool)) {
	t.busy = busy
	t.prompts, t.sessions, t.asked = map[string]string{}, map[string]*work{}, map[string]question{}
}

// sent is called with each message to the agent, before it is written.
func (t *turns) sent(msg []byte) {
	relevant := bytes.Contains(msg, []byte(`/prompt"`)) || bytes.Contains(msg, []byte(`/cancel"`))
	t.mu.Lock()
	defer t.mu.Unlock()
	if !relevant && len(t.asked) == 0 {
		return
	}
	e, err := envelope.Parse(msg)
	switch {
	case err != nil:
	case e.IsAnswer():
		delete(t.asked, e.Key())
	case string(e.Method) == acp.MethodSessionCancel:
		if w := t.sessions[e.Session()]; w != nil {
			w.ending = true
		}
	case e.IsRequest() && string(e.Method) == acp.MethodSessionPrompt:
		id := e.Session()
		if len(t.sessions) == 0 {
			t.busy(true)
		}
		w := t.sessions[id]
		if w == nil {
			w = new(work)
			t.sessions[id] = w
		}
		w.prompts++
		w.reported, w.ending = false, false
		t.prompts[e.Key()] = id
	}
}

// received is called with each message from the agent.
func (t *turns) received(msg []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.sessions) == 0 || !telling(msg) {
		return
	}
	e, err := envelope.Parse(msg)
	switch {
	case err != nil:
	case e.IsAnswer():
		t.answered(&e)
	case e.IsRequest() && asks(string(e.Method)):
		if len(t.asked) < maxAsked {
			t.asked[e.Key()] = question{bytes.Clone(e.ID), string(e.Method)}
		}
	case string(e.Method) == acp.MethodSessionUpdate:
		t.reported(e.Session(), e.Params)
	}
}

// telling reports whether received may need a message. The rest, which is
// nearly all of them, need not be parsed.
func telling(msg []byte) bool {
	if bytes.HasPrefix(msg, []byte(`{"jsonrpc":"2.0","method":"session/update",`)) { // how they usually begin
		return bytes.Contains(msg, []byte(`"state_update"`))
	}
	for _, word := range []string{`"result"`, `"error"`, `/request_permission"`, `/create"`, `"state_update"`} {
		if bytes.Contains(msg, []byte(word)) {
			return true
		}
	}
	return false
}

func asks(method string) bool {
	return method == acp.MethodSessionRequestPermission || method == acp.MethodElicitationCreate
}

func (t *turns) answered(e *envelope.Envelope) {
	id, ok := t.prompts[e.Key()]
	w := t.sessions[id]
	if !ok || w == nil {
		return
	}
	delete(t.prompts, e.Key())
	var r struct {
		StopReason string `json:"stopReason"`
	}
	json.Unmarshal(e.Result, &r) // without a result there is no reason either
	w.prompts--
	if e.Result != nil && r.StopReason == "" && !w.reported {
		w.working = true
	}
	t.settle(id)
}

func (t *turns) reported(id string, params json.RawMessage) {
	var p struct {
		Update struct {
			SessionUpdate string            `json:"sessionUpdate"`
			State         string            `json:"state"`
			Background    []json.RawMessage `json:"background"`
		} `json:"update"`
	}
	w := t.sessions[id]
	if w == nil || json.Unmarshal(params, &p) != nil || p.Update.SessionUpdate != "state_update" {
		return
	}
	w.reported, w.working = true, p.Update.State != "idle" || len(p.Update.Background) > 0
	t.settle(id)
}

// settle forgets a session that no longer works.
func (t *turns) settle(id string) {
	if w := t.sessions[id]; w.prompts > 0 || w.working {
		return
	}
	delete(t.sessions, id)
	if len(t.sessions) > 0 {
		return
	}
	clear(t.asked)
	t.busy(false)
	if t.idle != nil {
		close(t.idle)
		t.idle = nil
	}
}

// running reports whether a turn runs.
func (t *turns) running() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.sessions) > 0
}

// leave returns the messages of a departing client: a cancel for each turn that has none yet, then
// the answers to open questions, which the protocol requires. idle is closed when no turn runs any
// more; it is nil if none runs now.
func (t *turns) leave() (msgs [][]byte, idle <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.sessions) == 0 {
		return nil, nil
	}
	for id, w := range t.sessions {
		if w.ending {
			continue
		}
		w.ending = true
		n := acp.CancelNotification{SessionID: acp.SessionID(id)}
		msg := append([]byte(`{"jsonrpc":"2.0","method":"`+acp.MethodSessionCancel+`","params":`), n.AppendJSON(nil)...)
		msgs = append(msgs, append(msg, '}'))
	}
	for _, q := range t.asked {
		msgs = append(msgs, unanswered(q.id, q.method))
	}
	clear(t.asked)
	if t.idle == nil {
		t.idle = make(chan struct{})
	}
	return msgs, t.idle
}

// farewell returns a departed client's answer to a request of the agent, nil
// for anything else.
func farewell(msg []byte) []byte {
	e, err := envelope.Parse(msg)
	if err != nil || !e.IsRequest() {
		return nil
	}
	return unanswered(e.ID, string(e.Method))
}

// unanswered is the answer to a request that the user will not see.
func unanswered(id json.RawMessage, method string) []byte {
	result := ""
	switch method {
	case acp.MethodSessionRequestPermission:
		result = `{"outcome":{"outcome":"cancelled"}}`
	case acp.MethodElicitationCreate:
		result = `{"action":"cancel"}`
	default:
		return envelope.Failure(id, method+": the client is leaving", nil)
	}
	return []byte(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":` + result + `}`)
}

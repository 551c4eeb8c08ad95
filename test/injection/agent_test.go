package injection

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// roleEnv makes the test program play the agent: "names" for one whose texts are the names of
// their slots, or which part of the vectors its texts are, as JSON.
const roleEnv = "HERMES_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleEnv)
	if role == "" {
		os.Exit(runTests(m))
	}
	if err := playAgent(role); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// hostile is an agent that puts a vector into every text it may choose.
type hostile struct {
	traffic
	part     part
	names    bool
	ready    chan struct{}
	conn     *rpc.Conn
	cwd      string
	sessions atomic.Int32
	round    atomic.Int32
	refusing atomic.Bool // no more sessions
}

func playAgent(role string) error {
	all, err := protocol()
	if err != nil {
		return err
	}
	names, vectors := role == "names", part{0, 1}
	if !names {
		if err := json.Unmarshal([]byte(role), &vectors); err != nil {
			return fmt.Errorf("%s: %w", roleEnv, err)
		}
	}
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	a := &hostile{traffic: all, part: vectors, names: names, ready: make(chan struct{}), cwd: cwd}
	a.conn = rpc.NewConn(transport.Stdio(), a, rpc.Options{Server: true})
	close(a.ready)
	<-a.conn.Done()
	return nil
}

// vector is the text of a slot in a round. Over all rounds each slot has each
// vector of the part once.
func (p part) vector(s slot, round int) string {
	h := fnv.New32a()
	h.Write([]byte(s))
	return p.at(int(h.Sum32()%1024) + round)
}

// named is how a slot is named in a text of its own.
func named(s slot) string { return "«" + string(s) + "»" }

// text says what each slot holds in a round.
func (a *hostile) text(session string, round int) func(slot) string {
	return func(s slot) string {
		v := a.part.vector(s, round)
		if a.names {
			v = named(s)
		}
		// In every other round a text is where it must be to get further.
		further := round%2 != 0
		switch of, name, _ := strings.Cut(string(s), "."); {
		case name == "sessionId" && of != "SessionInfo":
			return session
		case name == "path" && further:
			return a.cwd + "/" + v
		case s == "CreateTerminalRequest.cwd" && further:
			return a.cwd
		case name == "command" && further:
			return "echo"
		case name == "url" && further:
			return "https://agent.example/" + url.PathEscape(v)
		}
		return v
	}
}

func (a *hostile) HandleRequest(ctx context.Context, method string, params json.RawMessage) (acp.Appender, error) {
	<-a.ready
	var p struct {
		SessionID string                  `json:"sessionId"`
		Prompt    []struct{ Text string } `json:"prompt"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	round := int(a.round.Add(1)) - 1
	switch method {
	case "session/new":
		n := a.sessions.Add(1)
		v := a.part.at(int(n))
		if a.refusing.Load() {
			return nil, &acp.Error{Code: 400, Message: v}
		}
		p.SessionID = v + fmt.Sprint(n)
	case "_refuse":
		a.refusing.Store(true)
		return acp.Raw(`{}`), nil
	case "session/prompt":
		script := p.Prompt[len(p.Prompt)-1].Text
		if err := a.play(ctx, p.SessionID, script); err != nil {
			return nil, err
		}
	case "_fail":
		v := a.part.vector("", round)
		data, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		return nil, &acp.Error{Code: 400, Message: v, Data: data}
	}
	of := slices.DeleteFunc(slices.Clone(a.results), func(m message) bool { return m.method != method })
	if len(of) == 0 {
		return nil, acp.MethodNotFound(method)
	}
	return acp.Raw(fill(of[round%len(of)].body, a.text(p.SessionID, round))), nil
}

func (*hostile) Side() acp.Side { return 0 } // serves before initialize

func (a *hostile) HandleNotification(context.Context, string, json.RawMessage) error { return nil }

// play runs one scene of a turn.
func (a *hostile) play(ctx context.Context, session, scene string) error {
	switch scene {
	case "everything":
		for round := range 2 {
			if err := a.notify(ctx, session, round); err != nil {
				return err
			}
			for _, m := range a.requests {
				a.ask(ctx, m.method, fill(m.body, a.text(session, round)))
			}
		}
	case "updates":
		for round := range a.part.len() {
			if err := a.notify(ctx, session, round); err != nil {
				return err
			}
			fmt.Fprintln(os.Stderr, a.part.at(round))
		}
	case "strays": // updates of unopened sessions
		m := a.notifications[0]
		for round, v := range a.part.all() {
			if err := a.conn.Notify(ctx, m.method, acp.Raw(fill(m.body, a.text(v, round)))); err != nil {
				return err
			}
		}
	case "terminals": // commands that the agent runs itself
		for _, v := range a.part.all() {
			for _, meta := range []map[string]any{
				{"terminal_info": map[string]any{"terminal_id": v, "cwd": v}},
				{"terminal_output": map[string]any{"terminal_id": v, "data": "\x1b[31m" + v + "\x1b[m\n" + v}},
				{"terminal_output_delta": map[string]any{"terminal_id": v, "data": v + "\x1b[6n\x1b[c\x07"}},
				{"terminal_exit": map[string]any{"terminal_id": v, "signal": v}},
			} {
				update := map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": v, "title": v, "_meta": meta}
				if err := a.conn.Notify(ctx, acp.MethodSessionUpdate, acp.Raw(encode(map[string]any{"sessionId": session, "update": update}))); err != nil {
					return err
				}
			}
		}
	case "requests":
		for round := range a.part.len() {
			var all sync.WaitGroup
			for _, m := range a.requests {
				if m.method != acp.MethodElicitationCreate && m.method != acp.MethodSessionRequestPermission {
					all.Go(func() { a.ask(ctx, m.method, fill(m.body, a.text(session, round))) })
				}
			}
			all.Wait()
		}
	case "permissions":
		of := slices.DeleteFunc(slices.Clone(a.requests), func(m message) bool { return m.method != acp.MethodSessionRequestPermission })
		for round := range a.part.len() {
			a.ask(ctx, acp.MethodSessionRequestPermission, fill(of[round%len(of)].body, a.text(session, round)))
		}
	case "forms":
		for _, form := range a.part.forms(session) {
			a.ask(ctx, acp.MethodElicitationCreate, form)
		}
	case "pages":
		for i, v := range a.part.all() {
			link := "https://agent.example/" + v
			if i%2 == 0 {
				link = "https://agent.example/"
			}
			a.ask(ctx, acp.MethodElicitationCreate, encode(map[string]any{
				"sessionId": session, "mode": "url", "elicitationId": v, "url": link, "message": v,
			}))
		}
	default:
		return &acp.Error{Code: 400, Message: scene}
	}
	return nil
}

// notify sends every notification once.
func (a *hostile) notify(ctx context.Context, session string, round int) error {
	for _, m := range a.notifications {
		if err := a.conn.Notify(ctx, m.method, acp.Raw(fill(m.body, a.text(session, round)))); err != nil {
			return err
		}
	}
	return nil
}

// ask sends a request. The agent continues after any answer.
func (a *hostile) ask(ctx context.Context, method string, params []byte) {
	var r acp.Raw
	if err := a.conn.Call(ctx, method, acp.Raw(params), &r); err != nil {
		fmt.Fprintln(os.Stderr, method, err)
	}
}

// forms are elicitations whose fields hold every vector of the part in every place that
// reaches a prompt: name, title, description, default, choice.
func (p part) forms(session string) [][]byte {
	form := func(message string, property func(i int, v string) (string, map[string]any)) []byte {
		properties := map[string]any{}
		for i, v := range p.all() {
			name, property := property(i, v)
			properties[name] = property
		}
		return encode(map[string]any{
			"sessionId": session, "mode": "form", "message": message,
			"requestedSchema": map[string]any{"type": "object", "title": message, "description": message, "properties": properties},
		})
	}
	at := func(i int) string { return vectors[i%len(vectors)] }
	return [][]byte{
		form("defaults", func(i int, v string) (string, map[string]any) {
			return fmt.Sprintf("%03d", i), map[string]any{"type": "string", "default": v}
		}),
		form(vectors[0], func(i int, v string) (string, map[string]any) {
			return v, map[string]any{"type": "string", "description": at(i + 1), "default": at(i + 2)}
		}),
		form(vectors[2], func(i int, v string) (string, map[string]any) {
			p := map[string]any{"title": v, "description": at(i + 1), "type": []string{"number", "integer", "boolean", "_" + v}[i%4]}
			p["default"] = []any{v, i, 1.5, true, []string{v}, map[string]any{v: v}, nil}[i%7]
			return fmt.Sprintf("%03d", i), p
		}),
		form(vectors[4], func(i int, v string) (string, map[string]any) {
			few := []string{v, at(i + 1), at(i + 2)}
			titled := []any{map[string]any{"const": v, "title": at(i + 3)}, map[string]any{"const": at(i + 1), "title": at(i + 4)}}
			p := []map[string]any{
				{"type": "string", "enum": few, "default": v},
				{"type": "string", "oneOf": titled, "default": v},
				{"type": "array", "items": map[string]any{"type": "string", "enum": few}, "default": []string{v}},
				{"type": "array", "items": map[string]any{"anyOf": titled}, "default": []string{v}},
			}[i%4]
			return fmt.Sprintf("%03d", i), p
		}),
	}
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings, numbers and their lists always encode
	}
	return b
}

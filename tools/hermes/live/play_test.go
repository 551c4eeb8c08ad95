package live

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/lint"
)

// client is a conforming client in this process that offers everything, except for the
// results that are changed.
type client struct {
	changed map[string]string // results by method; "error" is an error, "silence" none
	told    func(l *line, update string)
	rules   *lint.RuleSet // that judge it; nil: today's
	line    *line
	mu      sync.Mutex
	files   map[string]string
	exited  bool
}

func (c *client) Side() acp.Side { return acp.SideClient }

func (c *client) HandleNotification(_ context.Context, method string, params json.RawMessage) error {
	if c.told != nil {
		c.told(c.line, string(params))
	}
	return nil
}

func (c *client) HandleRequest(ctx context.Context, method string, params json.RawMessage) (acp.Appender, error) {
	switch said := c.changed[method]; said {
	case "":
	case "silence":
		<-ctx.Done()
		time.Sleep(5 * time.Second)
		return nil, ctx.Err()
	case "error":
		return nil, acp.MethodNotFound(method)
	default:
		return acp.Raw(said), nil
	}
	var p struct {
		Path, Content, Mode string
	}
	json.Unmarshal(params, &p)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch method {
	case acp.MethodSessionRequestPermission:
		return acp.Raw(`{"outcome":{"outcome":"selected","optionId":"yes"}}`), nil
	case acp.MethodFsWriteTextFile:
		c.files[p.Path] = p.Content
		return acp.Raw(`{}`), nil
	case acp.MethodFsReadTextFile:
		text, ok := c.files[p.Path]
		if !ok {
			return nil, &acp.Error{Code: acp.ErrorCodeResourceNotFound, Message: "no such file"}
		}
		return acp.Raw(encode(object{"content": text})), nil
	case acp.MethodTerminalCreate:
		return acp.Raw(`{"terminalId":"t"}`), nil
	case acp.MethodTerminalWaitForExit:
		c.exited = true
		return acp.Raw(`{"exitCode":0}`), nil
	case acp.MethodTerminalOutput:
		if !c.exited {
			return acp.Raw(`{"output":"","truncated":false}`), nil
		}
		return acp.Raw(`{"output":"hello\n","truncated":false,"exitStatus":{"exitCode":0}}`), nil
	case acp.MethodTerminalKill, acp.MethodTerminalRelease:
		return acp.Raw(`{}`), nil
	case acp.MethodElicitationCreate:
		if p.Mode == "url" {
			return acp.Raw(`{"action":"accept"}`), nil
		}
		return acp.Raw(`{"action":"accept","content":{"name":"N","sure":true}}`), nil
	}
	return nil, acp.MethodNotFound(method)
}

const ableClient = `{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"elicitation":{"form":{},"url":{}},"session":{"configOptions":{"boolean":{}}}}`

// played1 plays a script for a client that has a session and sends prompts, on a clock of their
// own.
func played1(t *testing.T, script, capabilities string, c *client, talk func(l *line, call func(method string, params any) string)) *Result {
	t.Helper()
	result, dir := &Result{Outcomes: []Outcome{{}}}, t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		c.files = map[string]string{}
		timeout := patience.Soon
		for _, answer := range c.changed {
			if answer == "silence" {
				timeout = 500 * time.Millisecond
			}
		}
		go func() {
			defer outW.Close()
			r, err := Play(t.Context(), PlayOptions{In: inR, Out: outW, Script: script, Version: "1", Lint: lint.Options{Profile: lint.Spec, RuleSet: c.rules}, Timeout: timeout})
			if err != nil {
				t.Error(err)
				return
			}
			result = r
		}()
		l := newLine(lint.Client, outR, inW, c, func(lint.Record) {})
		c.line = l
		call := func(method string, params any) string {
			ctx := patience.Context(t, patience.Soon)
			result, err := l.call(ctx, method, params)
			if err != nil {
				return err.Error()
			}
			return string(result)
		}
		if talk == nil {
			talk = func(_ *line, call func(string, any) string) {
				call("initialize", object{"protocolVersion": 1, "clientInfo": object{"name": "fake", "version": "2"}, "clientCapabilities": json.RawMessage(capabilities)})
				call("session/new", object{"cwd": dir, "mcpServers": []any{}})
				call("session/prompt", object{"sessionId": "lint-1", "prompt": text("hello")})
				call("session/prompt", object{"sessionId": "lint-1", "prompt": text("again")})
			}
		}
		talk(l, call)
		l.hangUp()
		time.Sleep(time.Minute) // for the agent, and for a client that is silent
	})
	return result
}

func TestAConformingClientPassesTheWholeScript(t *testing.T) {
	t.Parallel()
	r := played1(t, "", ableClient, &client{}, nil)
	if r.Decision != Conformant || r.Report.Errors > 0 || r.Peer != "fake 2" {
		t.Errorf("%s %s %q\n%s", r.Peer, r.Decision, r.Why, strings.Join(failed(r), "\n"))
	}
	for _, o := range r.Outcomes {
		if o.Status != Passed && o.Step != "cancel" {
			t.Errorf("%s", o.String())
		}
	}
}

// The agent does not ask for what the client does not offer.
func TestAClientThatOffersNothingConforms(t *testing.T) {
	t.Parallel()
	r := played1(t, "", `{}`, &client{changed: map[string]string{"fs/read_text_file": "error", "fs/write_text_file": "error", "terminal/create": "error", "elicitation/create": "error"}}, nil)
	if list := failed(r); r.Decision != Conformant || len(list) > 0 {
		t.Errorf("%s\n%s", r.Decision, strings.Join(list, "\n"))
	}
	for _, o := range r.Outcomes {
		if o.Tier == Capability && o.Status != NotExercised {
			t.Errorf("%s", o.String())
		}
	}
}

// Each step that asks can fail: a client that answers this one thing otherwise fails it.
func TestEachStepOfAScriptSeesWhatItIsFor(t *testing.T) {
	t.Parallel()
	cases := []struct {
		script, method, answer, says string
	}{
		{"ASK go on?", "session/request_permission", `{"outcome":{"outcome":"selected","optionId":"other"}}`, `"other" was not offered`},
		{"ASK go on?", "session/request_permission", `{"outcome":{"outcome":"maybe"}}`, "neither selected nor cancelled"},
		{"ASK go on?", "session/request_permission", "error", "-32601"},
		{"WITHDRAW never mind", "session/request_permission", `{}`, "neither selected nor cancelled"},
		{"READ a.txt", "fs/read_text_file", `{}`, "no content"},
		{"READ a.txt", "fs/read_text_file", "error", "-32601"},
		{"READ a.txt", "fs/read_text_file", "silence", "nobody answered"},
		{"WRITE a.txt hello", "fs/write_text_file", "error", "-32601"},
		{"MISSING a.txt", "fs/read_text_file", `{"content":""}`, "is not there"},
		{"RUN echo", "terminal/create", `{}`, "no terminalId"},
		{"RUN echo", "terminal/create", "error", "-32601"},
		{"RUN echo", "terminal/output", `{"truncated":false}`, "no output"},
		{"RUN echo", "terminal/output", `{"output":"","truncated":false}`, "no exitStatus"},
		{"RUN echo", "terminal/release", "error", "-32601"},
		{"RUN echo", "terminal/output", "silence", "not answered"},
		{"KILL sleep 9", "terminal/kill", "error", "-32601"},
		{"FORM who?", "elicitation/create", `{"action":"accept","content":{}}`, "without the required name"},
		{"FORM who?", "elicitation/create", `{"action":"perhaps"}`, "none of accept"},
		{"URL https://example.com", "elicitation/create", `{"action":"perhaps"}`, "none of accept"},
		{"CALL _x/y {}", "_x/y", "silence", "nobody answered"},
		{"REFUSED -32601 x/y {}", "x/y", `{}`, "is answered with"},
	}
	silent := map[string]bool{ // they send, and only the linter sees what is wrong
		"SAY": true, "THINK": true, "PLAN": true, "TOOL": true, "COMMANDS": true, "BIG": true, "UPDATE": true, "NOTIFY": true, "LINE": true, "WAIT": true, "STOP": true, "ERROR": true, "EXIT": true,
	}
	for name := range verbs {
		if !silent[name] && !slices.ContainsFunc(cases, func(c struct{ script, method, answer, says string }) bool {
			return strings.HasPrefix(c.script, name+" ")
		}) {
			t.Errorf("nothing makes %s fail", name)
		}
	}
	for _, c := range cases {
		r := played1(t, c.script, ableClient, &client{changed: map[string]string{c.method: c.answer}}, nil)
		o := r.Outcomes[len(r.Outcomes)-1]
		if want := Failed; o.Status != want && !(c.says == "nobody answered" && o.Status == NotExercised) || !strings.Contains(o.Text, c.says) {
			t.Errorf("%s answered with %s: want %s with %q:\n%s", c.method, c.answer, want, c.says, o.String())
		}
	}
	// A read must return the text that was written.
	r := played1(t, "WRITE a.txt hello\nREAD a.txt", ableClient, &client{changed: map[string]string{"fs/read_text_file": `{"content":"other"}`}}, nil)
	if o := r.Outcomes[len(r.Outcomes)-1]; o.Status != Failed || !strings.Contains(o.Text, `"hello" was written, and "other" is read`) {
		t.Errorf("%s", o.String())
	}
}

// A client that answers notifications breaks rules, whatever the step is.
func TestAStepInWhichARuleIsBrokenFails(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"SAY x", "THINK x", "PLAN a | b", "TOOL x", "COMMANDS", "BIG 100", `UPDATE {"sessionUpdate":"plan","entries":[]}`} {
		c := &client{told: func(l *line, _ string) {
			l.send([]byte(`{"jsonrpc":"2.0","id":99,"error":{"code":-32601,"message":"x"}}`))
		}}
		r := played1(t, step+"\nCALL _x/y {}", ableClient, c, nil) // whose answer follows
		if list := strings.Join(failed(r), "\n"); r.Decision != NotConformant || !strings.Contains(list, "RPC") {
			t.Errorf("%s: %s\n%s", step, r.Decision, list)
		}
	}
}

func TestATurnEndsAsTheScriptSays(t *testing.T) {
	t.Parallel()
	var said []string
	cancelling := &client{told: func(l *line, update string) {
		if strings.Contains(update, "waiting") {
			l.notify("session/cancel", object{"sessionId": "lint-1"})
		}
	}}
	r := played1(t, "STOP max_tokens\nSAY never\n---\nERROR {\"code\":-32603,\"message\":\"as asked\"}\n---\nSAY waiting\nWAIT 1h\n---\nEXIT", "", cancelling, func(_ *line, call func(string, any) string) {
		keep := func(method string, params any) { said = append(said, call(method, params)) }
		keep("session/new", object{"cwd": "/w", "mcpServers": []any{}})
		call("initialize", object{"protocolVersion": 1, "clientCapabilities": object{}})
		keep("initialize", object{"protocolVersion": 1})
		keep("session/new", object{"cwd": "w", "mcpServers": []any{}})
		call("session/new", object{"cwd": "/w", "mcpServers": []any{}})
		keep("session/prompt", object{"sessionId": "none", "prompt": text("x")})
		keep("session/set_mode", object{"sessionId": "lint-1", "modeId": "plan"})
		keep("session/set_config_option", object{"sessionId": "lint-1", "configId": "mode", "value": "other"})
		keep("session/list", object{"cwd": "/elsewhere"})
		for range 3 {
			keep("session/prompt", object{"sessionId": "lint-1", "prompt": text("x")})
		}
		keep("session/prompt", object{"sessionId": "lint-1", "prompt": text("x")})
	})
	want := []string{"initialize comes first", "already done", "not an absolute path", `no session \"none\"`, "{}", "no such option or value", `{"sessions":[]}`,
		`{"stopReason":"max_tokens"}`, "-32603", `{"stopReason":"cancelled"}`, "ended the connection"}
	if len(said) != len(want) {
		t.Fatalf("%q", said)
	}
	for i := range want {
		if !strings.Contains(said[i], want[i]) {
			t.Errorf("answer %d is %s, want %s", i, said[i], want[i])
		}
	}
	if i := slices.IndexFunc(r.Outcomes, func(o Outcome) bool { return o.Step == "cancel" }); r.Outcomes[i].Status != Passed {
		t.Errorf("%s", r.Outcomes[i].String())
	}
}

// A client may end its agent with a signal right before or after it hangs up.
func TestAHangUpCountsBesideASignal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, signal := context.WithCancel(t.Context())
		in, hangUp := io.Pipe()
		_, out := io.Pipe()
		go func() {
			signal()
			time.Sleep(lastWords / 2)
			hangUp.Close()
		}()
		r, err := Play(ctx, PlayOptions{In: in, Out: out, Version: "1", Lint: lint.Options{Profile: lint.Spec}})
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(r.Outcomes, func(o Outcome) bool { return o.Step == "hang-up" }); r.Outcomes[i].Status != Passed {
			t.Errorf("%s", r.Outcomes[i].String())
		}
	})
}

func TestAClientThatOnlyLooksIsUndecided(t *testing.T) {
	t.Parallel()
	r := played1(t, "", "", &client{}, func(_ *line, call func(string, any) string) {
		call("initialize", object{"protocolVersion": 1, "clientInfo": object{"name": "c", "version": "1"}})
	})
	if list := failed(r); r.Decision != Undecided || len(list) > 0 {
		t.Errorf("%s %q\n%s", r.Decision, r.Why, strings.Join(list, "\n"))
	}
}

func TestAScriptNamesItsMistakes(t *testing.T) {
	t.Parallel()
	if parts, err := ParseScript(Script); err != nil || len(parts) != 2 || len(parts[0]) < 20 || len(parts[1]) == 0 {
		t.Errorf("%v, %v", parts, err)
	}
	if _, err := ParseScript("# a comment\n\nSAY x\nDANCE\n"); err == nil || err.Error() != `line 4: there is no step "DANCE"` {
		t.Error(err)
	}
	for _, step := range []string{"CALL x", "NOTIFY", "REFUSED x y {}", "UPDATE {", "BIG x", "WAIT x", "ERROR x"} {
		r := played1(t, step, ableClient, &client{}, nil)
		if o := r.Outcomes[len(r.Outcomes)-1]; o.Status != NotExercised || !strings.HasPrefix(o.Text, "the script is wrong: ") {
			t.Errorf("%s", o.String())
		}
	}
}

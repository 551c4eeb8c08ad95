package claudehooks

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/elsewhere"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/agentkit"
)

func TestATurnInTheTerminalIsATurnOfTheClient(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ends    func(e *editor)
		outcome string
	}{
		"done":      {func(e *editor) { e.post(stop, nil) }, "end_turn"},
		"failed":    {func(e *editor) { e.post(stopFailure, map[string]any{"error": "rate_limit"}) }, "rate_limit"},
		"left":      {func(e *editor) { e.post(sessionEnd, map[string]any{"reason": "exit"}) }, "end_turn"},
		"idle":      {func(e *editor) { e.post(notification, map[string]any{"notification_type": idlePrompt}) }, "end_turn"},
		"next":      {func(e *editor) { e.post(userPromptSubmit, map[string]any{"prompt": "another"}) }, "end_turn"},
		"cancelled": {func(e *editor) { e.agent.Session(e.id).Cancel(context.Background()) }, "cancelled"},
		"closed": {func(e *editor) {
			if _, err := e.agent.CloseSession(context.Background(), &acp.CloseSessionRequest{SessionID: e.id}); err != nil {
				t.Error(err)
			}
		}, "cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := connect(t, Options{}, nil)
			if answer := e.post(userPromptSubmit, map[string]any{"prompt": "fix it"}); answer != "{}" {
				t.Errorf("answered %s", answer)
			}
			if !e.has("prompt fix it") {
				t.Error("Claude Code goes on before the client has its prompt")
			}
			patience.True(t, "title", func() bool { return e.has("session_info_update", `"title":"fix it"`) })
			select {
			case outcome := <-e.ended:
				t.Errorf("ended at once: %s", outcome)
			default:
			}
			c.ends(e)
			if outcome := patience.Value(t, "end of the turn", e.ended); !strings.Contains(outcome, c.outcome) {
				t.Errorf("ended with %q, want %q", outcome, c.outcome)
			}
		})
	}
}

func TestAClientWithoutSuchTurnsSeesThePrompt(t *testing.T) {
	t.Parallel()
	e := connect(t, Options{}, func(e *editor) { e.turns = false })
	e.post(userPromptSubmit, map[string]any{"prompt": "fix it"})
	patience.True(t, "prompt", func() bool { return e.has("user_message_chunk", "fix it") })
	if _, err := e.agent.Session(e.id).Prompt(t.Context(), acp.NewTextContent("from the editor")); err == nil || !strings.Contains(err.Error(), "terminal") {
		t.Errorf("a prompt of the client: %v", err)
	}
}

func TestAnEditIsShownWithTheTextBeforeAndAfter(t *testing.T) {
	t.Parallel()
	e := connect(t, Options{}, nil)
	path := filepath.Join(e.dir, "a.txt")
	for name, c := range map[string]struct {
		tool     string
		before   any // nil: there is no file
		input    map[string]any
		response map[string]any
		old, new string // "" for none
	}{
		"write a new file":     {"Write", nil, map[string]any{"content": "new\n"}, map[string]any{"type": "create", "originalFile": nil}, "", "new\n"},
		"write a file":         {"Write", "old\n", map[string]any{"content": "new\n"}, map[string]any{"originalFile": "old\n"}, "old\n", "new\n"},
		"edit once":            {"Edit", "a a\n", map[string]any{"old_string": "a", "new_string": "b"}, map[string]any{"originalFile": "a a\n"}, "a a\n", "b a\n"},
		"edit all":             {"Edit", "a a\n", map[string]any{"old_string": "a", "new_string": "b", "replace_all": true}, map[string]any{"originalFile": "a a\n"}, "a a\n", "b b\n"},
		"edit what changed":    {"Edit", "a\n", map[string]any{"old_string": "a", "new_string": "b"}, map[string]any{"originalFile": "mine a\n"}, "mine a\n", "mine b\n"},
		"edits":                {"MultiEdit", "a c\n", map[string]any{"edits": []map[string]any{{"old_string": "a", "new_string": "b"}, {"old_string": "b c", "new_string": "d"}}}, map[string]any{"originalFile": "a c\n"}, "a c\n", "d\n"},
		"notebook":             {"NotebookEdit", "{}", map[string]any{"new_source": "x"}, map[string]any{"original_file": "{}", "updated_file": "{1}"}, "{}", "{1}"},
		"edit that cannot fit": {"Edit", "a\n", map[string]any{"old_string": "z", "new_string": "b"}, nil, "", ""},
	} {
		os.Remove(path)
		if text, ok := c.before.(string); ok {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		member := "file_path"
		if c.tool == "NotebookEdit" {
			member = "notebook_path"
		}
		c.input[member] = path
		e.forget()
		var response any
		if c.response != nil {
			response = c.response
		}
		if answer := e.tool(c.tool, c.input, response); answer != "{}" {
			t.Errorf("%s: without a gate the answer is %s", name, answer)
		}
		patience.True(t, name+": the tool call", func() bool { return e.has(`"tool_call"`, `"kind":"edit"`, path) })
		if c.new == "" {
			if e.has(`"diff"`) {
				t.Errorf("%s: shows a diff", name)
			}
			continue
		}
		last := []string{`"tool_call_update"`, "completed", `"newText":` + quoted(c.new)}
		if c.old != "" {
			last = append(last, `"oldText":`+quoted(c.old))
		}
		patience.True(t, name+": the diff", func() bool { return e.has(last...) })
		if c.old == "" && e.has("oldText") {
			t.Errorf("%s: has a text before", name)
		}
	}
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func TestCommandsAndFailuresAreShown(t *testing.T) {
	t.Parallel()
	e := connect(t, Options{}, nil)
	e.post(userPromptSubmit, map[string]any{"prompt": "build"})
	e.post(stop, nil)
	patience.Value(t, "end of the turn", e.ended)
	e.tool("Bash", map[string]any{"command": "make", "description": "builds"}, map[string]any{"stdout": "built\n", "stderr": "", "interrupted": false})
	patience.True(t, "output", func() bool { return e.has("tool_call_update", "completed", `built\n`) })
	if !e.has(`"tool_call"`, `"kind":"execute"`, `"command":"make"`) {
		t.Error("the command is not shown")
	}
	if !e.has("prompt " + goesOn) {
		t.Error("a tool call between two prompts is in no turn")
	}
	call := map[string]any{"tool_name": "mcp__x__y", "tool_use_id": "1", "tool_input": []int{1}}
	e.post(preToolUse, call)
	call["error"] = "it broke"
	e.post(postToolUseFailure, call)
	patience.True(t, "failure", func() bool { return e.has("tool_call_update", "failed", "it broke") })
	e.post(postToolUse, map[string]any{"tool_name": "Write", "tool_use_id": "unseen", "tool_input": map[string]any{"file_path": "b.txt", "content": "x"}, "tool_response": "odd"})
	patience.True(t, "end of a call whose beginning was not seen", func() bool { return e.has("tool_call_update", "unseen", "completed") })
}

func chooses(id acp.PermissionOptionID) func(context.Context, *acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error) {
	return func(context.Context, *acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error) {
		return &acp.SelectedPermissionOutcome{OptionID: id}, nil
	}
}

func TestAGateAllowsOnlyWhatTheUserAllows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		choose       func(context.Context, *acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error)
		closed, open string // decisions of gates that fail closed and open; "" for none
	}{
		"allowed":     {chooses(agentkit.OptionOnce), "allow", "allow"},
		"rejected":    {chooses(agentkit.OptionReject), "deny", "deny"},
		"nobody asks": {nil, "deny", ""},
		"unknown":     {chooses("another"), "deny", ""},
		"empty":       {chooses(""), "deny", ""},
		"error": {func(context.Context, *acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error) {
			return nil, errors.New("broken")
		}, "deny", ""},
		"cancelled": {func(context.Context, *acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error) {
			return &acp.RequestPermissionOutcomeCancelled{}, nil
		}, "deny", ""},
		"panic": {func(context.Context, *acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error) {
			panic("in a test")
		}, "deny", ""},
	} {
		for _, open := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				e := connect(t, Options{Gate: true, FailOpen: open}, func(e *editor) { e.choose = c.choose })
				want := c.closed
				if open {
					want = c.open
				}
				answer := e.tool("Write", map[string]any{"file_path": filepath.Join(e.dir, "a"), "content": "x"}, nil)
				switch {
				case want == "" && answer != "{}", want != "" && !strings.Contains(answer, `"permissionDecision":"`+want+`"`):
					t.Errorf("open %v: answered %s, want %q", open, answer, want)
				}
				if asked := e.questions(); len(asked) != 1 || !strings.Contains(string(asked[0].AppendJSON(nil)), `"newText":"x"`) {
					t.Errorf("asked %d questions, or without the change", len(asked))
				}
				if want == "deny" {
					patience.True(t, "end of the call", func() bool { return e.has("tool_call_update", "failed") })
				}
				if answer := e.tool("Read", map[string]any{"file_path": "/a"}, nil); answer != "{}" || len(e.questions()) != 1 {
					t.Errorf("reading is asked about: %s", answer)
				}
			})
		}
	}
}

func TestAGateDeniesWhenTheClientIsGone(t *testing.T) {
	t.Parallel()
	asked := make(chan bool, 1)
	e := connect(t, Options{Gate: true}, func(e *editor) {
		e.choose = func(ctx context.Context, _ *acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error) {
			asked <- true
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})
	h := e.hook(preToolUse)
	answers := e.begins("Bash", map[string]any{"command": "rm x"})
	patience.Value(t, "question", asked)
	e.agent.Conn.Close()
	if answer := patience.Value(t, "answer", answers); !strings.Contains(answer, `"deny"`) {
		t.Errorf("answered %s", answer)
	}
	patience.True(t, "the end of the hooks", func() bool {
		r, err := http.Post(h.URL, "application/json", strings.NewReader("{}"))
		if err == nil {
			r.Body.Close()
		}
		return err != nil
	})
}

func TestAQuestionIsWithdrawnWhenClaudeCodeNoLongerWaits(t *testing.T) {
	t.Parallel()
	asked, withdrawn := make(chan bool, 1), make(chan bool, 1)
	e := connect(t, Options{Gate: true}, func(e *editor) {
		e.choose = func(ctx context.Context, _ *acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error) {
			asked <- true
			<-ctx.Done()
			withdrawn <- true
			return nil, ctx.Err()
		}
	})
	h := e.hook(preToolUse)
	ctx, interrupt := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, strings.NewReader(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"1","tool_input":{"command":"x"}}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", h.Headers["Authorization"])
	go func() {
		if response, err := http.DefaultClient.Do(r); err == nil {
			response.Body.Close()
		}
	}()
	patience.Value(t, "question", asked)
	interrupt()
	patience.Value(t, "end of the question", withdrawn)
}

func stops(answer string) bool { return strings.Contains(answer, `"continue":false`) }

func TestClaudeCodeStopsAfterTheClientHasCancelled(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(e *editor){
		"next prompt":  func(e *editor) { e.post(userPromptSubmit, map[string]any{"prompt": "go on"}) },
		"it has ended": func(e *editor) { e.post(stop, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := connect(t, Options{}, nil)
			e.post(userPromptSubmit, map[string]any{"prompt": "fix it"})
			if err := e.agent.Session(e.id).Cancel(t.Context()); err != nil {
				t.Fatal(err)
			}
			patience.Value(t, "end of the turn", e.ended)
			if answer := e.tool("Bash", map[string]any{"command": "rm x"}, nil); !stops(answer) || !strings.Contains(answer, `"deny"`) {
				t.Errorf("answered %s", answer)
			}
			if e.has("rm x") {
				t.Error("the client sees a call that does not happen")
			}
			next(e)
			if answer := e.tool("Bash", map[string]any{"command": "ls"}, nil); answer != "{}" {
				t.Errorf("afterwards: %s", answer)
			}
		})
	}
}

func TestATurnThatIsCancelledAtOnceStopsClaudeCode(t *testing.T) {
	t.Parallel()
	e := connect(t, Options{}, func(e *editor) { e.drops = true })
	if answer := e.post(userPromptSubmit, map[string]any{"prompt": "fix it"}); !stops(answer) {
		t.Errorf("answered %s", answer)
	}
}

func TestACancelDuringAQuestionStopsClaudeCodeEvenIfTheGateFailsOpen(t *testing.T) {
	t.Parallel()
	for _, open := range []bool{false, true} {
		e := connect(t, Options{Gate: true, FailOpen: open}, func(e *editor) {
			e.choose = func(ctx context.Context, _ *acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error) {
				err := e.agent.Session(e.id).Cancel(ctx)
				return &acp.RequestPermissionOutcomeCancelled{}, err
			}
		})
		e.post(userPromptSubmit, map[string]any{"prompt": "fix it"})
		if answer := e.tool("Bash", map[string]any{"command": "rm x"}, nil); !stops(answer) || !strings.Contains(answer, `"deny"`) {
			t.Errorf("open %v: answered %s", open, answer)
		}
	}
}

func TestToolCallsAtTheSameTimeBeginOneTurn(t *testing.T) {
	t.Parallel()
	e := connect(t, Options{}, nil)
	var all []<-chan string
	for range 8 {
		all = append(all, e.begins("Bash", map[string]any{"command": "make"}))
	}
	for _, answers := range all {
		if answer := patience.Value(t, "answer", answers); answer != "{}" {
			t.Errorf("answered %s", answer)
		}
	}
	patience.True(t, "calls", func() bool { return e.count(`"tool_call"`) == 8 })
	if n := e.count("prompt " + goesOn); n != 1 {
		t.Errorf("%d turns", n)
	}
}

// What happens right after the answer is known to be of the tool call.
func TestAToolThatMayChangeFilesWaitsUntilTheClientKnowsIt(t *testing.T) {
	t.Parallel()
	takeIn := make(chan struct{})
	e := connect(t, Options{}, func(e *editor) { e.takeIn = takeIn })
	if a := patience.Value(t, "answer", e.begins("Read", map[string]any{"file_path": "f"})); a != "{}" {
		t.Errorf("answered %s", a)
	}
	answer := e.begins("Bash", map[string]any{"command": "make"})
	patience.True(t, "question", func() bool { return e.has(elsewhere.MethodToolCall, `"toolCallId"`) })
	if !e.has(`"tool_call"`, "make") {
		t.Error("the client is asked before it is told")
	}
	select {
	case a := <-answer:
		t.Errorf("the tool goes on, %s, before the client knows it", a)
	default:
	}
	close(takeIn)
	if a := patience.Value(t, "answer", answer); a != "{}" {
		t.Errorf("answered %s", a)
	}
	if n := e.count(elsewhere.MethodToolCall); n != 1 {
		t.Errorf("the client was asked %d times, want 1", n)
	}
}

func TestAClientThatCannotSayThatItKnowsAToolCallIsAskedOnce(t *testing.T) {
	t.Parallel()
	e := connect(t, Options{}, func(e *editor) { e.turns = false })
	for range 3 {
		if a := patience.Value(t, "answer", e.begins("Bash", map[string]any{"command": "make"})); a != "{}" {
			t.Errorf("answered %s", a)
		}
	}
	if n := e.count("refused " + elsewhere.MethodToolCall); n != 1 {
		t.Errorf("the client was asked %d times, want 1", n)
	}
}

func TestPromptsAtTheSameTimeLeaveNoTurnOpen(t *testing.T) {
	t.Parallel()
	e := connect(t, Options{}, nil)
	done := make(chan error, 4)
	for range cap(done) {
		go func() {
			_, err := e.try(userPromptSubmit, map[string]any{"prompt": "fix it"})
			done <- err
		}()
	}
	for range cap(done) {
		if err := patience.Value(t, "answer", done); err != nil {
			t.Error(err)
		}
	}
	e.post(stop, nil)
	for range cap(done) {
		patience.Value(t, "end of a turn", e.ended)
	}
}

func TestTheTitleOfASessionIsTheBeginningOfItsPrompt(t *testing.T) {
	t.Parallel()
	e := connect(t, Options{}, nil)
	for prompt, want := range map[string]string{
		"\n fix it\nplease":                 "fix it",
		strings.Repeat("ü", maxTitle):       strings.Repeat("ü", maxTitle/2),
		"x" + strings.Repeat("ü", maxTitle): "x" + strings.Repeat("ü", maxTitle/2-1),
	} {
		e.post(userPromptSubmit, map[string]any{"prompt": prompt})
		patience.True(t, "title", func() bool { return e.has("session_info_update", `"title":"`+want+`"`) })
	}
}

func TestTheClientKnowsWhetherClaudeCodeWaits(t *testing.T) {
	t.Parallel()
	e := connect(t, Options{}, nil)
	notify := func(kind string) {
		e.post(notification, map[string]any{"notification_type": kind, "message": "about " + kind})
	}
	for _, kind := range []string{"", "permission_prompt", "elicitation_dialog", "agent_needs_input"} {
		e.forget()
		notify("auth_success")
		notify(kind)
		patience.True(t, "attention", func() bool { return e.has(elsewhere.MethodAttention, `"waiting":true`, `"about `+kind+`"`) })
		notify("push_notification")
		e.post(stop, nil)
		patience.True(t, "end of the wait", func() bool { return e.has(elsewhere.MethodAttention, `"waiting":false`) })
		if n := e.count(elsewhere.MethodAttention); n != 2 {
			t.Errorf("%q: told %d times", kind, n)
		}
	}
}

func TestOnlyTheTokenOfASessionIsHeard(t *testing.T) {
	t.Parallel()
	e := connect(t, Options{}, nil)
	h := e.hook(stop)
	right, event := h.Headers["Authorization"], `{"hook_event_name":"Stop"}`
	if !strings.HasPrefix(h.URL, "http://127.0.0.1:") {
		t.Errorf("listens at %s", h.URL)
	}
	for name, c := range map[string]struct {
		headers map[string]string
		body    string
		status  int
	}{
		"right":       {map[string]string{"Authorization": right}, event, 200},
		"none":        {nil, event, 401},
		"empty":       {map[string]string{"Authorization": "Bearer "}, event, 401},
		"wrong":       {map[string]string{"Authorization": right + "x"}, event, 401},
		"no scheme":   {map[string]string{"Authorization": strings.TrimPrefix(right, "Bearer ")}, event, 401},
		"a page":      {map[string]string{"Authorization": right, "Origin": "http://127.0.0.1"}, event, 401},
		"not JSON":    {map[string]string{"Authorization": right}, "{", 400},
		"not a hook":  {map[string]string{"Authorization": right}, `{"x":1}`, 400},
		"wrong types": {map[string]string{"Authorization": right}, `{"hook_event_name":"Stop","prompt":1}`, 400},
		"too large":   {map[string]string{"Authorization": right}, `{"hook_event_name":"Stop","prompt":"` + strings.Repeat("x", maxBody) + `"}`, 413},
	} {
		status, answer, err := send(t.Context(), h.URL, c.headers, []byte(c.body))
		if err != nil || status != c.status {
			t.Errorf("%s: status %d %s %v, want %d", name, status, answer, err, c.status)
		}
	}
}

func TestTheSettingsArePrivateAndFailClosedOnlyForAGate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		opts      Options
		onFailure string
		timeout   int
	}{
		{Options{}, "", hookTime}, {Options{Gate: true}, "block", gateTime}, {Options{Gate: true, FailOpen: true}, "", gateTime}, {Options{FailOpen: true}, "", hookTime},
	} {
		e := connect(t, c.opts, nil)
		if h := e.hook(preToolUse); h.OnFailure != c.onFailure || h.Timeout != c.timeout || h.Type != "http" {
			t.Errorf("%+v: %+v", c.opts, h)
		}
		for _, name := range []string{userPromptSubmit, postToolUse, postToolUseFailure, notification, stop, stopFailure, sessionEnd} {
			if h := e.hook(name); h.OnFailure != "" || h.Timeout != hookTime {
				t.Errorf("%+v: %s: %+v", c.opts, name, h)
			}
		}
		for path, want := range map[string]os.FileMode{e.settings: 0o600, filepath.Dir(e.settings): 0o700} {
			if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v", path, info, err)
			}
		}
	}
}

func TestAClaudeCodeThatIsTooOldIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		opts    Options
		version string
		want    string // in the error; "" for none
	}{
		{Options{}, "2.1.78 (Claude Code)\n", ""}, {Options{}, "2.1.77 (Claude Code)", "it takes 2.1.78"},
		{Options{Gate: true}, "2.1.294 (Claude Code)", "it takes 2.1.295"}, {Options{Gate: true}, "2.1.295 (Claude Code)", ""},
		{Options{Gate: true}, "10.0.0", ""}, {Options{Gate: true, FailOpen: true}, "2.1.100", ""}, {Options{}, "hello", "not a version"}, {Options{}, "", "no such program"},
	} {
		c.opts.Installed = func(context.Context) (string, error) {
			if c.version == "" {
				return "", errors.New("no such program")
			}
			return c.version, nil
		}
		if err := c.opts.Check(t.Context()); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v %q: %v, want %q", c.opts, c.version, err, c.want)
		}
	}
}

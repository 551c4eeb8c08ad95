package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/claudehooks"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// serveHooks is the role of an agent that is the Claude Code of a terminal.
func serveHooks(gate bool) int {
	if claudehooks.Serve(context.Background(), transport.Stdio(), claudehooks.Options{Gate: gate}) != nil {
		return 1
	}
	return 0
}

// pane is a desk with a Claude Code in a terminal.
type pane struct {
	*desk
	settings string
}

func newPane(t *testing.T, role string, elsewhere bool) *pane {
	t.Helper()
	d := &pane{desk: newDesk(t, true)}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d.agent = "hooked"
	d.send("setup", "", map[string]any{
		"agents": map[string]any{"hooked": map[string]any{
			"command": exe, "env": map[string]string{roleEnv: role}, "quirks": map[string]any{"elsewhere": elsewhere}}},
		"review": map[string]any{"enabled": true, "dir": filepath.Join(d.state, "review")},
	})
	d.write("a.txt", "one\n")
	d.must("connect", args{"agent": d.agent})
	r := d.must("request", args{"agent": d.agent, "method": "session/new", "params": args{"cwd": d.root, "mcpServers": []any{}}})
	d.session = r["sessionId"].(string)
	d.settings = r["_meta"].(map[string]any)["hermes"].(map[string]any)["settings"].(string)
	return d
}

// hook is what Claude Code posts to its hook of an event, and the answer.
func (d *pane) hook(event string, members args) string {
	d.t.Helper()
	answer, err := d.tryHook(event, members)
	if err != nil {
		d.t.Fatal(err)
	}
	return answer
}

// tryHook is hook for goroutines.
func (d *pane) tryHook(event string, members args) (string, error) {
	text, err := os.ReadFile(d.settings)
	if err != nil {
		return "", err
	}
	var file struct {
		Hooks map[string][]struct {
			Hooks []struct {
				URL     string
				Headers map[string]string
			}
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return "", err
	}
	h := file.Hooks[event][0].Hooks[0]
	body := args{"hook_event_name": event, "session_id": "c", "cwd": d.root}
	for k, v := range members {
		body[k] = v
	}
	r, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, h.URL, bytes.NewReader(wire.Encode(body)))
	if err != nil {
		return "", err
	}
	for k, v := range h.Headers {
		r.Header.Set(k, v)
	}
	r.Close = true
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New(event + ": " + response.Status)
	}
	return string(answer), err
}

func TestATurnInATerminalIsATurnWithACheckpointAndAReview(t *testing.T) {
	t.Parallel()
	d := newPane(t, "hooks", true)
	d.hook("UserPromptSubmit", args{"prompt": "change it"})
	d.until("checkpoint", func() bool { return len(d.of(events.CheckpointCreated)) == 1 })
	d.until("turn with its prompt", func() bool { return len(d.of(events.TurnStarted)) == 1 && len(d.of("ClientTextMessage")) == 1 })
	d.hook("Notification", args{"notification_type": "permission_prompt", "message": "may I?"})
	d.until("attention", func() bool {
		list := d.of(events.AttentionNeeded)
		return len(list) == 1 && list[0]["message"] == "may I?" && d.is("waiting")
	})
	call := args{"tool_name": "Write", "tool_use_id": "w1", "tool_input": args{"file_path": d.path("a.txt"), "content": "two\n"}}
	if answer := d.hook("PreToolUse", call); strings.TrimSpace(answer) != "{}" {
		t.Errorf("without a gate: %s", answer)
	}
	d.until("the end of the wait", func() bool { return d.is("running") })
	d.write("a.txt", "two\n")
	call["tool_response"] = args{"type": "update", "originalFile": "one\n"}
	d.hook("PostToolUse", call)
	d.hook("Stop", nil)
	d.until("end of the turn", func() bool {
		list := d.of(events.TurnEnded)
		return len(list) == 1 && list[0]["stopReason"] == "end_turn" && d.is("idle")
	})
	d.until("change", func() bool { return len(d.of(events.FileEdited)) > 0 })
	if p := d.pending(); len(p) != 1 || !strings.Contains(p[0], "one") || !strings.Contains(p[0], "two") {
		t.Errorf("pending: %q", p)
	}
}

// is reports whether the last state of the session that Neovim got is this one. The
// desk is locked.
func (d *pane) is(state string) bool {
	last := ""
	for _, data := range d.of(events.StateChanged) {
		if data["sessionId"] == d.session {
			last = data["to"].(string)
		}
	}
	return last == state
}

func TestAGateInATerminalAsksInNeovimAndDeniesWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	d := newPane(t, "hooks gate", true)
	d.hook("UserPromptSubmit", args{"prompt": "change it"})
	answer := d.hook("PreToolUse", args{"tool_name": "Bash", "tool_use_id": "b1", "tool_input": args{"command": "rm a.txt"}})
	if !strings.Contains(answer, `"permissionDecision":"deny"`) { // the desk leaves every question to the default
		t.Errorf("answered %s", answer)
	}
	d.until("question", func() bool {
		return len(d.of(wire.KindAsk)) == 1 && d.of(wire.KindAsk)[0]["name"] == "PermissionRequest"
	})
}

func TestACancelInNeovimStopsTheTerminalHoweverEarlyItIs(t *testing.T) {
	t.Parallel()
	d := newPane(t, "hooks", true)
	for i := range 500 { // the checkpoint takes a while
		d.write(fmt.Sprintf("%d.txt", i), "text\n")
	}
	answered := make(chan error, 1)
	go func() {
		_, err := d.tryHook("UserPromptSubmit", args{"prompt": "change it"})
		answered <- err
	}()
	d.until("turn", func() bool { return len(d.of(events.TurnStarted)) == 1 })
	d.must("cancel", args{"agent": d.agent, "sessionId": d.session})
	d.until("end of the turn", func() bool {
		list := d.of(events.TurnEnded)
		return len(list) == 1 && list[0]["stopReason"] == "cancelled"
	})
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	answer := d.hook("PreToolUse", args{"tool_name": "Bash", "tool_use_id": "b1", "tool_input": args{"command": "rm a.txt"}})
	if !strings.Contains(answer, `"continue":false`) {
		t.Errorf("answered %s", answer)
	}
}

func TestAnAgentBeginsNoTurnsWithoutTheQuirk(t *testing.T) {
	t.Parallel()
	d := newPane(t, "hooks", false)
	d.hook("UserPromptSubmit", args{"prompt": "change it"})
	d.hook("Notification", args{"notification_type": "permission_prompt", "message": "may I?"})
	d.hook("Stop", nil)
	d.until("notification", func() bool { return len(d.of(events.ExtNotification)) > 0 })
	if turns, asks := d.seen(events.TurnStarted), d.seen(events.AttentionNeeded); len(turns)+len(asks) > 0 {
		t.Errorf("an agent began %v and asked for attention %v", turns, asks)
	}
}

package agent

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
)

func TestTheModelTalksToACommandInTheBackground(t *testing.T) {
	t.Parallel()
	e := newEditor(t).start()
	id := e.open()
	do := func(arguments map[string]any) string {
		t.Helper()
		call, err := json.Marshal(arguments)
		if err != nil {
			t.Fatal(err)
		}
		return e.play(id, "CALL process "+string(call), acp.StopReasonEndTurn)
	}
	shown := do(map[string]any{"action": "start", "input": true, "command": `echo ready; while read line; do echo "got $line"; [ "$line" != end ] || exit 4; done`})
	process := regexp.MustCompile(`proc_[0-9a-f]+`).FindString(shown)
	limit := 100 // the scripted model makes the same call once only
	wait := func(text string, offset int) {
		t.Helper()
		patience.True(t, text, func() bool {
			limit++
			return strings.Contains(do(map[string]any{"action": "log", "id": process, "offset": offset, "limit": limit}), text)
		})
	}
	wait("ready", 0)
	do(map[string]any{"action": "submit", "id": process, "data": "one"})
	wait("got one", 0)
	do(map[string]any{"action": "write", "id": process, "data": "tw"})
	do(map[string]any{"action": "write", "id": process, "data": "o\n"})
	wait("got two", -1)
	if got := do(map[string]any{"action": "wait", "id": process, "timeout": 1}); !strings.Contains(got, `"status":"running"`) {
		t.Errorf("waiting for one second shows\n%s", got)
	}
	if got := do(map[string]any{"action": "poll", "id": process}); strings.Contains(got, "got one") {
		t.Errorf("polling repeats what the wait has returned:\n%s", got)
	}
	do(map[string]any{"action": "submit", "id": process, "data": "end"})
	if got := do(map[string]any{"action": "wait", "id": process}); !strings.Contains(got, "got end") || !strings.Contains(got, `"code":4`) {
		t.Errorf("its end shows\n%s", got)
	}
	shown = do(map[string]any{"action": "start", "command": "sleep 1000"})
	other := regexp.MustCompile(`proc_[0-9a-f]+`).FindString(shown)
	if got := do(map[string]any{"action": "kill", "id": other}); strings.Contains(got, `"status":"running"`) || strings.Contains(got, "  failed") {
		t.Errorf("killing it shows\n%s", got)
	}
	if got := do(map[string]any{"action": "list"}); !strings.Contains(got, process) || !strings.Contains(got, other) || strings.Contains(got, `"status":"running"`) {
		t.Errorf("the list shows\n%s", got)
	}
}

// The user sees a command in the background where the client shows terminals, and can end
// it there.
func TestACommandInTheBackgroundRunsInATerminalOfTheClient(t *testing.T) {
	t.Parallel()
	for _, terminals := range []bool{true, false} {
		e := newEditor(t)
		e.can = func(c *acp.ClientCapabilities) { c.Terminal = terminals }
		e.start()
		id := e.open()
		number := 0
		do := func(format string, args ...any) string {
			t.Helper()
			number++ // the scripted model makes the same call once only
			return e.play(id, fmt.Sprintf("CALL process {\"timeout\":%d,", 60+number)+fmt.Sprintf(format, args...)+"}", acp.StopReasonEndTurn)
		}
		begin := func(line string) string {
			t.Helper()
			shown := do(`"action":"start","command":%q`, line)
			if got := strings.Contains(shown, "\n  terminal\n"); got != terminals {
				t.Errorf("the call has a terminal: %v\n%s", got, shown)
			}
			all := regexp.MustCompile(`proc_[0-9a-f]+`).FindAllString(do(`"action":"list"`), -1)
			return all[len(all)-1]
		}

		served := begin("echo ready; exec sleep 1000")
		patience.True(t, "its output", func() bool { return strings.Contains(do(`"action":"log","id":%q`, served), `"output":"ready\n"`) })
		if got := do(`"action":"poll","id":%q`, served); !strings.Contains(got, `"output":"ready\n"`) {
			t.Errorf("the first poll shows\n%s", got)
		}
		if got := do(`"action":"poll","id":%q`, served); !strings.Contains(got, `"output":""`) {
			t.Errorf("the second poll shows\n%s", got)
		}
		if terminals {
			if got := do(`"action":"submit","id":%q,"data":"x"`, served); !strings.Contains(got, "  failed") || !strings.Contains(got, "start it with input") {
				t.Errorf("typing shows\n%s", got)
			}
			if _, err := e.Services.KillTerminal(t.Context(), &acp.KillTerminalRequest{SessionID: id, TerminalID: e.newest}); err != nil { // the user ends it
				t.Fatal(err)
			}
		} else if got := do(`"action":"kill","id":%q`, served); strings.Contains(got, "  failed") {
			t.Errorf("killing it shows\n%s", got)
		}
		if got := do(`"action":"wait","id":%q`, served); !strings.Contains(got, `"status":"killed"`) {
			t.Errorf("its end shows\n%s", got)
		}

		short := begin("echo one; echo two; exit 3")
		if got := do(`"action":"wait","id":%q`, short); !strings.Contains(got, `"code":3`) || !strings.Contains(got, `"output":"one\ntwo\n"`) {
			t.Errorf("waiting shows\n%s", got)
		}
		long := begin("echo three; exec sleep 1000")
		patience.True(t, "its output", func() bool { return strings.Contains(do(`"action":"log","id":%q`, long), `"output":"three\n"`) })
		if got := do(`"action":"kill","id":%q`, long); !strings.Contains(got, `"status":"killed"`) || !strings.Contains(got, `"output":"three\n"`) {
			t.Errorf("killing it shows\n%s", got)
		}
		if e.ran != e.released || e.ran != map[bool]int{true: 3}[terminals] {
			t.Errorf("%d terminals, %d are released", e.ran, e.released)
		}
	}
}

func TestSessionsAreListedInPages(t *testing.T) {
	t.Parallel()
	e := newEditor(t).start()
	const all = pageSize + 7
	for range all {
		e.open()
	}
	seen := map[acp.SessionID]bool{}
	var sizes []int
	request := &acp.ListSessionsRequest{Cwd: acp.Some(e.dir)}
	for range 3 {
		page, err := e.agent.ListSessions(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range page.Sessions {
			seen[s.SessionID] = true
		}
		sizes = append(sizes, len(page.Sessions))
		if request.Cursor = page.NextCursor; !request.Cursor.OK {
			break
		}
	}
	if got, want := fmt.Sprint(sizes), fmt.Sprint([]int{pageSize, 7}); got != want || len(seen) != all {
		t.Errorf("the pages have %s sessions, %d different ones; want %s", got, len(seen), want)
	}
}

// The model must not count on a server that it has started in a command.
func TestTheModelHearsThatTheBackgroundOfACommandHasEnded(t *testing.T) {
	t.Parallel()
	e := newEditor(t).start()
	id := e.open()
	const said = "[what the command left running in the background was ended with it]"
	for line, want := range map[string]bool{
		"sleep 600 & echo started":                true,
		"(sleep 601 &); exit 3":                   true,
		"if true; then sleep 602 & fi":            true,
		"sleep 603 &\necho started":               true,
		"echo 'a & b' && echo \"& c\" 2>&1 # & d": false,
		"echo one; echo two | cat || echo three":  false,
	} {
		call, err := json.Marshal(map[string]any{"command": line})
		if err != nil {
			t.Fatal(err)
		}
		if got := e.play(id, "CALL terminal "+string(call), acp.StopReasonEndTurn); strings.Contains(got, said) != want {
			t.Errorf("%s:\n%s", line, got)
		}
	}
}

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
	shown := do(map[string]any{"action": "start", "command": `echo ready; while read line; do echo "got $line"; [ "$line" != end ] || exit 4; done`})
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

package codexagent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
)

// After a restart of codex before the first turn a session goes on with another thread. The client
// knows it by the name that it has got.
func TestASessionKeepsItsName(t *testing.T) {
	t.Parallel()
	for _, refusal := range []string{"no rollout found for thread id", "thread not found", "rollout at /x is empty"} {
		t.Run(refusal, func(t *testing.T) {
			t.Parallel()
			command, log := scripted(t)
			command.Env = append(command.Env, "TEST_UNSAVED="+refusal)
			e := start(t, command, nil)
			id := e.open(t)
			if _, err := e.prompt(t, id, "die"); err == nil {
				t.Error("no error from a codex that died")
			}
			e.choose = pick("accept")
			if _, err := e.prompt(t, id, "ask exec "+filepath.Join(e.dir, "made")); err != nil {
				t.Fatal(err)
			}
			if len(e.asked) != 1 || e.asked[0].SessionID != id {
				t.Errorf("asked %v", e.asked)
			}
			e.mu.Lock()
			for _, other := range e.sessions {
				if other != id {
					t.Errorf("an update for session %s, which is %s", other, id)
				}
			}
			e.mu.Unlock()
			if _, err := e.agent.CloseSession(t.Context(), &acp.CloseSessionRequest{SessionID: id}); err != nil {
				t.Error(err)
			}
			sent, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(string(sent)), "\n")
			if last := lines[len(lines)-1]; !strings.Contains(last, "thread/unsubscribe") || strings.Contains(last, `"`+string(id)+`"`) {
				t.Errorf("the session has another thread, codex was told %s", last)
			}
		})
	}
}

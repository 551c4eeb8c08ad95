package agent

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
)

func TestTwoAgentsDoNotShareASession(t *testing.T) {
	t.Parallel()
	e := newEditor(t).start()
	id := e.open()
	other := newEditor(t)
	other.state, other.dir = e.state, e.dir
	other.start()
	var answer *acp.Error
	load := &acp.LoadSessionRequest{SessionID: id, Cwd: e.dir}
	if _, err := other.LoadSession(t.Context(), other.agent, load); !errors.As(err, &answer) || !strings.Contains(answer.Message, "open in another agent") {
		t.Errorf("%v", err)
	}
	if got := e.play(id, "SAY mine", acp.StopReasonEndTurn); !strings.HasPrefix(got, "agent: mine") {
		t.Errorf("shown:\n%s", got)
	}
	ended := make(chan error, 1)
	go func() { // while the first one ends
		_, err := other.LoadSession(t.Context(), other.agent, load)
		ended <- err
	}()
	e.end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Clients know a call by its id, also when the model has forgotten it.
func TestIdsOfCallsAreNotUsedAgain(t *testing.T) {
	t.Parallel()
	e := newEditor(t).start() // whose end fails if an id was used again
	id := e.open()
	for range 2 {
		if shown := e.play(id, `CALL terminal {"command":"echo from a command"}`, acp.StopReasonEndTurn); strings.Count(shown, "call echo") != 1 {
			t.Errorf("shown:\n%s", shown)
		}
		e.play(id, "/reset", acp.StopReasonEndTurn)
	}
	e.start()
	if _, err := e.LoadSession(t.Context(), e.agent, &acp.LoadSessionRequest{SessionID: id, Cwd: e.dir}); err != nil {
		t.Fatal(err)
	}
	if shown := e.take(); strings.Count(shown, "completed from a command") != 2 {
		t.Errorf("the user no longer sees what the model has forgotten:\n%s", shown)
	}
}

// An agent can be killed before it has written the first message of a session.
func TestASessionWithoutMessagesBegins(t *testing.T) {
	t.Parallel()
	e := newEditor(t).start()
	id := e.open()
	e.end()
	if err := os.Truncate(filepath.Join(e.state, string(id)+".jsonl"), 0); err != nil {
		t.Fatal(err)
	}
	e.start()
	if _, err := e.LoadSession(t.Context(), e.agent, &acp.LoadSessionRequest{SessionID: id, Cwd: e.dir}); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"/reset", "/context"} {
		if got := e.play(id, command, acp.StopReasonEndTurn); command == "/context" && !strings.HasPrefix(got, "agent: 0 messages") {
			t.Errorf("%q", got)
		}
	}
	if got := e.play(id, "SAY hi", acp.StopReasonEndTurn); !strings.HasPrefix(got, "agent: hi") {
		t.Errorf("shown:\n%s", got)
	}
}

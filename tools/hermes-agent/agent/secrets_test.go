package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
)

// What holds secrets is shown to the model after a question, whatever tool reads it and in
// whatever mode.
func TestTheModelGetsNoSecretUnasked(t *testing.T) {
	t.Parallel()
	for _, mode := range []acp.SessionModeID{modeAsk, modeAcceptEdits, modePlan} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			answer := acp.PermissionOptionKindRejectOnce
			e.choose = func(r *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
				for _, o := range r.Options {
					if o.Kind == answer {
						return o.OptionID, nil
					}
				}
				return "", nil
			}
			e.start()
			for _, dir := range []string{".aws", "deploy", "sub"} {
				if err := os.Mkdir(filepath.Join(e.dir, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range []string{".env", ".aws/credentials", "deploy/server.key", ".aws/p.png"} {
				e.file(name, "KEY=topsecret\n")
			}
			e.file("a.txt", "KEY=\n")
			if err := os.Symlink(".env", filepath.Join(e.dir, "notes.txt")); err != nil {
				t.Log(err)
			}
			id := e.open()
			if _, err := e.agent.SetSessionMode(t.Context(), &acp.SetSessionModeRequest{SessionID: id, ModeID: mode}); err != nil {
				t.Fatal(err)
			}
			for _, call := range []string{
				`read {"path":".env"}`, `read {"path":"./sub/../.env"}`, `read {"path":"notes.txt"}`, `read {"path":".aws/credentials"}`,
				`read {"path":"deploy/server.key"}`, `read {"path":".aws/p.png"}`, `search {"pattern":"KEY","path":".env"}`,
				`search {"pattern":"KEY","path":".aws"}`, `search {"pattern":"KEY","path":"notes.txt"}`, `edit {"path":".env","old":"KEY=a","new":"x"}`,
			} {
				e.asked = nil
				got := e.play(id, "CALL "+call, acp.StopReasonEndTurn)
				if !strings.Contains(got, "the user denied it") || strings.Contains(got, "topsecret") || len(e.asked) != 1 {
					t.Errorf("%s: %d questions\n%s", call, len(e.asked), got)
				}
			}
			e.asked = nil
			got := e.play(id, `CALL search {"pattern":"KEY"}`, acp.StopReasonEndTurn)
			if strings.Contains(got, "topsecret") || !strings.Contains(got, "a.txt\n1: KEY=") || !strings.Contains(got, "may hold secrets") || len(e.asked) != 0 {
				t.Errorf("searched: %d questions\n%s", len(e.asked), got)
			}
			if got := e.play(id, `CALL search {"pattern":"topsecret"}`, acp.StopReasonEndTurn); !strings.Contains(got, "may hold secrets") || strings.Contains(got, ".env\n1") {
				t.Errorf("searched:\n%s", got)
			}
			answer = acp.PermissionOptionKindAllowAlways
			for _, call := range []string{`read {"path":"./.env"}`, `read {"path":"././.env"}`, `search {"pattern":"KEY=","path":".env"}`, `search {"pattern":"KEY=","path":".aws"}`, `read {"path":"./.aws/credentials"}`} {
				if got := e.play(id, "CALL "+call, acp.StopReasonEndTurn); !strings.Contains(got, "topsecret") {
					t.Errorf("%s, allowed:\n%s", call, got)
				}
			}
			if len(e.asked) != 2 {
				t.Errorf("%d questions about a file and a folder", len(e.asked))
			}
			if text := e.asked[0].ToolCall.Content; len(text) != 1 || !strings.Contains(text[0].(*acp.Content).Content.(*acp.TextContent).Text, "uses .env, which holds secrets") {
				t.Errorf("the question says %+v", text)
			}
		})
	}
}

// An allowed change of a special file is made also where the client writes no files.
func TestWhatTheUserAllowsIsWrittenWithoutAClientThatWrites(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.can = func(can *acp.ClientCapabilities) { can.Fs = nil }
	e.start()
	e.play(e.open(), "CALL write {\"path\":\".env\",\"content\":\"1\"}\nCALL write {\"path\":\"Makefile\",\"content\":\"2\"}\nCALL write {\"path\":\".git/config\",\"content\":\"3\"}", acp.StopReasonEndTurn)
	for name, want := range map[string]string{".env": "1", "Makefile": "2", ".git/config": ""} {
		if got, err := os.ReadFile(filepath.Join(e.dir, name)); string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if len(e.asked) != 3 {
		t.Errorf("%d questions", len(e.asked))
	}
}

package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// fill makes a session with a turn that has a tool call.
func fill(t *testing.T, s *Store) *Session {
	t.Helper()
	session, err := s.Create(Info{ID: NewID(), Cwd: "/w", Created: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(session.AddMessage(model.Message{Role: model.User, Text: "hi"}))
	do(session.Show(acp.NewUserMessageChunk(acp.NewTextContent("hi"))))
	do(session.Show(acp.NewAgentMessageChunk(acp.NewTextContent("I "))))
	do(session.Show(acp.NewAgentMessageChunk(acp.NewTextContent("look"))))
	do(session.AddMessage(model.Message{Role: model.Assistant, Calls: []model.Call{{ID: "1", Name: "read", Arguments: "{}"}}}))
	do(session.Show(acp.NewToolCall("1", "Read")))
	done := acp.NewToolCallUpdate("1")
	done.Status = acp.Some(acp.ToolCallStatusCompleted)
	do(session.Show(done))
	do(session.AddMessage(model.Message{Role: model.Tool, CallID: "1", Text: "x"}))
	return session
}

// A program can be killed after any byte. All that it had written before is there, and
// the session can go on.
func TestASessionThatWasCutOffAnywhereGoesOn(t *testing.T) {
	t.Parallel()
	whole, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	session := fill(t, whole)
	id := session.Info.ID
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(whole.dir, string(id)+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	facts, err := os.ReadFile(filepath.Join(whole.dir, string(id)+".json"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(log) + 1 {
		if err := errors.Join(os.WriteFile(filepath.Join(s.dir, string(id)+".jsonl"), log[:cut], 0o600), os.WriteFile(filepath.Join(s.dir, string(id)+".json"), facts, 0o600)); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time after the first has written behind the cut
			session, err := s.Load(id)
			if err != nil {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			for i, m := range session.Messages {
				if len(m.Calls) > 0 && (i+1 == len(session.Messages) || session.Messages[i+1].CallID != "1") {
					t.Errorf("cut at %d: the call has no result", cut)
				}
			}
			if err := errors.Join(session.AddMessage(model.Message{Role: model.User, Text: "more"}), session.Close()); err != nil {
				t.Fatal(err)
			}
		}
		again, err := s.Load(id)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(again.Messages); n < 2 || again.Messages[n-1].Text != "more" || again.Messages[n-2].Text != "more" {
			t.Errorf("cut at %d: what came later is lost: %+v", cut, again.Messages)
		}
		again.Close()
	}
}

func TestPiecesAreStoredWhole(t *testing.T) {
	t.Parallel()
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	session := fill(t, s)
	defer session.Close()
	loaded, err := s.Fork(session.Info.ID, func(i *Info) { i.ID = NewID() })
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	if len(loaded.Updates) != 3 {
		t.Fatalf("%d updates", len(loaded.Updates))
	}
	if said := loaded.Updates[1].(*acp.AgentMessageChunk).Content.(*acp.TextContent).Text; said != "I look" {
		t.Errorf("%q", said)
	}
	if call := loaded.Updates[2].(*acp.ToolCall); call.Status.V != acp.ToolCallStatusCompleted {
		t.Errorf("%+v", call)
	}
}

func TestIdsLeadNowhereElse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(filepath.Join(dir, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(dir, "x.json")
	if err := os.WriteFile(outside, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []acp.SessionID{"../x", "", "/x", "a/b", `..\x`, "X", "a.b"} {
		if _, err := s.Load(id); !errors.Is(err, ErrUnknown) {
			t.Errorf("Load(%q): %v", id, err)
		}
		if err := s.Delete(id); err != nil {
			t.Errorf("Delete(%q): %v", id, err)
		}
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}

func TestASessionIsOpenOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	session := fill(t, one)
	id := session.Info.ID
	if _, err := other.Load(id); !errors.Is(err, ErrBusy) {
		t.Errorf("Load: %v", err)
	}
	if err := other.Delete(id); !errors.Is(err, ErrBusy) {
		t.Errorf("Delete: %v", err)
	}
	fork, err := other.Fork(id, func(i *Info) { i.ID = NewID() })
	if err != nil || len(fork.Messages) != 3 || fork.Info.ID == id || fork.Info.Cwd != "/w" || fork.Calls != 1 {
		t.Errorf("Fork: %+v, %v", fork, err)
	}
	if list, err := other.List(""); err != nil || len(list) != 2 {
		t.Errorf("List: %v, %v", list, err)
	}
	if err := errors.Join(session.Close(), fork.Close()); err != nil {
		t.Fatal(err)
	}
	again, err := other.Load(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(again.Close(), other.Delete(id)); err != nil {
		t.Error(err)
	}
	if _, err := one.Load(id); !errors.Is(err, ErrUnknown) {
		t.Errorf("after Delete: %v", err)
	}
}

// One line replaces the messages: after any cut the model sees all old messages or all new
// ones, and ids of calls are not used again.
func TestMessagesAreReplacedAtOnce(t *testing.T) {
	t.Parallel()
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	session := fill(t, s)
	id := session.Info.ID
	log := filepath.Join(s.dir, string(id)+".jsonl")
	before, err := os.Stat(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Replace([]model.Message{{Role: model.System, Text: "new"}, {Role: model.User, Text: "summary"}}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(session.AddMessage(model.Message{Role: model.User, Text: "more"}), session.Close()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for cut := int(before.Size()); cut <= len(whole); cut++ {
		if err := os.WriteFile(log, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		session, err := s.Load(id)
		if err != nil {
			t.Fatal(err)
		}
		old := len(session.Messages) == 3 && session.Messages[0].Text == "hi"
		fresh := (len(session.Messages) == 2 || len(session.Messages) == 3) && session.Messages[0].Text == "new" && session.Messages[1].Text == "summary"
		if !old && !fresh || session.Calls != 1 || cut == len(whole) && len(session.Messages) != 3 {
			t.Errorf("cut at %d: %+v, %d calls", cut, session.Messages, session.Calls)
		}
		session.Close()
	}
}

// A folder is the same however it is spelt.
func TestSessionsOfAFolderAreFoundThroughEverySpelling(t *testing.T) {
	t.Parallel()
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	real, link, other := filepath.Join(dir, "real"), filepath.Join(dir, "link"), filepath.Join(dir, "other")
	for _, err := range []error{os.Mkdir(real, 0o700), os.Mkdir(other, 0o700), os.Symlink(real, link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	gone := filepath.Join(dir, "gone")
	for _, cwd := range []string{real, link, real + "/.", other, gone, gone} {
		session, err := s.Create(Info{ID: NewID(), Cwd: cwd})
		if err != nil {
			t.Fatal(err)
		}
		session.Close()
	}
	for cwd, want := range map[string]int{real: 3, link: 3, link + "/": 3, other: 1, gone: 2, dir: 0, "": 6} {
		if list, err := s.List(cwd); err != nil || len(list) != want {
			t.Errorf("%q: %d sessions, %v, want %d", cwd, len(list), err, want)
		}
	}
}

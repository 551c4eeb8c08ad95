package history

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
)

func TestEditsRespectTheLimits(t *testing.T) {
	t.Parallel()
	s := New("s", Limits{Bytes: 10_000})
	for i := range 300 {
		s.Edit(func(e Edit) {
			e.Terminal(acp.TerminalID(fmt.Sprint("n", i)), func(t *Terminal) { t.Command = strings.Repeat("x", 200) })
			e.Output("t", []byte(strings.Repeat("o", 1000)), false)
			e.AddContent("c", &acp.Content{Content: acp.NewTextContent(strings.Repeat("y", 500))})
			e.ToolCall("d", func(c *ToolCall) { c.RawInput = fmt.Append(nil, i) })
			e.Message(Agent, "m", acp.Set([]acp.ContentBlock{acp.NewTextContent(strings.Repeat("z", i))}))
		})
		if s.bytes > 10_000 {
			t.Fatalf("%d bytes", s.bytes)
		}
		if n := len(s.terminals) + len(s.calls) + len(s.messages); n != len(s.items) {
			t.Fatalf("%d entries can be found, there are %d", n, len(s.items))
		}
		sum := 0
		for _, it := range s.items {
			sum += it.size()
		}
		if sum != s.bytes {
			t.Fatalf("%d bytes, counted as %d", sum, s.bytes)
		}
	}
}

func TestASnapshotSeesAllOfAnEditOrNothing(t *testing.T) {
	t.Parallel()
	s := New("s", Limits{})
	before := s.Snapshot()
	s.Edit(func(e Edit) {
		e.Plan("p", []acp.PlanEntry{{Content: "x"}})
		e.Message(User, "m", acp.Patch[[]acp.ContentBlock]{})
	})
	after := s.Snapshot()
	if len(before.Timeline)+len(before.Plans) != 0 || len(after.Timeline) != 1 || len(after.Plans) != 1 || after.Plan[0].Content != "x" {
		t.Errorf("%+v, %+v", before, after)
	}
}

func TestASessionKnowsItsEnd(t *testing.T) {
	t.Parallel()
	ended := func(s *State) bool {
		select {
		case <-s.Done():
			return true
		default:
			return false
		}
	}
	st := NewStore(Limits{})
	a, b := st.Open("a"), st.Open("b")
	st.End("a")
	st.End("a")
	if !ended(a) || ended(b) {
		t.Error("End")
	}
	stranger := func(i int) *State {
		id := acp.SessionID(fmt.Sprint(i))
		st.Apply(&acp.SessionNotification{SessionID: id, Update: &acp.Plan{}})
		return st.Get(id)
	}
	first := stranger(0)
	for i := range maxStrangers {
		stranger(i + 1)
	}
	if !ended(first) {
		t.Error("a forgotten stranger")
	}
	st.Close()
	st.Close()
	if !ended(b) || !ended(st.Open("c")) || st.Get("b") != b {
		t.Error("Close")
	}
	st.End("b")
	st.End("c")
}

func TestActivityCountsHowOftenWorkBegan(t *testing.T) {
	t.Parallel()
	s := New("s", Limits{})
	for _, step := range []struct {
		state string
		begun int
	}{{"idle", 0}, {"running", 1}, {"requires_action", 1}, {"idle", 1}, {"idle", 1}, {"_new", 2}} {
		_, changed := s.Activity()
		s.Edit(func(e Edit) { e.Activity(Activity{State: step.state}) })
		select {
		case <-changed:
		default:
			t.Errorf("%s: not reported", step.state)
		}
		if now, _ := s.Activity(); now.State != step.state || now.Begun != step.begun {
			t.Errorf("%+v, want %+v", now, step)
		}
	}
}

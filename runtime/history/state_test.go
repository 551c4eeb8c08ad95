package history

import (
	"fmt"
	"reflect"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
)

func apply(t *testing.T, s *State, updates ...string) {
	t.Helper()
	for _, u := range updates {
		v, err := acp.DecodeSessionUpdate([]byte(u))
		if err != nil {
			t.Fatalf("%s: %v", u, err)
		}
		s.Apply(v)
	}
}

func chunk(role, id, text string) string {
	if id != "" {
		id = fmt.Sprintf(`,"messageId":%q`, id)
	}
	return fmt.Sprintf(`{"sessionUpdate":"%s_chunk"%s,"content":{"type":"text","text":%q}}`, role, id, text)
}

// outline describes a timeline in a line.
func outline(s *Snapshot) string {
	var b strings.Builder
	for _, e := range s.Timeline {
		switch e := e.(type) {
		case *Message:
			fmt.Fprintf(&b, "%s%s:%s", e.Role, e.ID, e.Text())
			if e.Truncated {
				b.WriteString(" (truncated)")
			}
		case *ToolCall:
			fmt.Fprintf(&b, "call %s %s %s", e.ToolCallID, e.Status.V, e.Title)
			if e.Truncated {
				b.WriteString(" (truncated)")
			}
		case *Notice:
			b.WriteString("notice " + e.Title)
		case *Compaction:
			fmt.Fprintf(&b, "compaction %s %d", e.Status, len(e.Summary))
		}
		b.WriteString("; ")
	}
	return b.String()
}

func TestChunksMakeMessages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		updates []string
		want    string
	}{
		{[]string{chunk("agent_message", "", "a"), chunk("agent_message", "", "b")}, "agent:ab; "},
		{[]string{chunk("agent_thought", "", "a"), chunk("agent_message", "", "b"), chunk("agent_message", "", "c")}, "thought:a; agent:bc; "},
		{[]string{chunk("agent_message", "", "a"), `{"sessionUpdate":"tool_call","toolCallId":"c","title":"T"}`, chunk("agent_message", "", "b")}, "agent:a; call c pending T; agent:b; "},
		{[]string{chunk("agent_message", "1", "a"), chunk("agent_message", "2", "b"), chunk("agent_message", "1", "c")}, "agent1:ac; agent2:b; "},
		{[]string{chunk("agent_message", "1", "a"), chunk("agent_message", "", "b")}, "agent1:a; agent:b; "},
		{[]string{chunk("agent_message", "1", "a"), chunk("agent_thought", "1", "b")}, "agent1:a; thought1:b; "},
		{[]string{chunk("user_message", "", "q"), `{"sessionUpdate":"plan","entries":[]}`, chunk("user_message", "", "r")}, "user:qr; "},
		{[]string{`{"sessionUpdate":"_new","x":1}`, chunk("user_message", "", "q")}, "user:q; "},
	} {
		s := New("s", Limits{})
		apply(t, s, c.updates...)
		if got := outline(s.Snapshot()); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// C065 of the conformance list.
func TestATurnDoesNotContinueTheTextBeforeIt(t *testing.T) {
	t.Parallel()
	s := New("s", Limits{})
	apply(t, s, chunk("agent_message", "", "background"))
	s.NewTurn()
	apply(t, s, chunk("agent_message", "", "a"), chunk("agent_message", "", "b"), chunk("agent_message", "1", "x"))
	s.NewTurn()
	apply(t, s, chunk("agent_message", "1", "y"), chunk("agent_message", "", "c"), chunk("agent_message", "", "d"))
	if got := outline(s.Snapshot()); got != "agent:background; agent:ab; agent1:xy; agent:cd; " {
		t.Error(got)
	}
}

func TestOnlyPlainTextIsJoined(t *testing.T) {
	t.Parallel()
	s := New("s", Limits{})
	apply(t, s, chunk("agent_message", "", "a"), chunk("agent_message", "", "b"),
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"AA==","mimeType":"image/png"}}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"c","annotations":{"audience":["user"]}}}`,
		chunk("agent_message", "", "d"))
	m := s.Snapshot().Timeline[0].(*Message)
	if len(m.Content) != 4 || m.Text() != "abcd" {
		t.Errorf("%d blocks, %q", len(m.Content), m.Text())
	}
}

// C067-like order of upserts: repeated starts, updates for calls never announced.
func TestToolCallsAreUpserts(t *testing.T) {
	t.Parallel()
	s := New("s", Limits{})
	apply(t, s, `{"sessionUpdate":"tool_call_update","toolCallId":"x","status":"in_progress"}`,
		`{"sessionUpdate":"tool_call","toolCallId":"c","title":"T","kind":"edit","rawInput":{"a":1},"locations":[{"path":"/a"}]}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"in_progress","content":[{"type":"content","content":{"type":"text","text":"one"}}]}`,
		`{"sessionUpdate":"tool_call","toolCallId":"c","title":"T2"}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","content":[{"type":"diff","path":"/a","newText":"n"}],"locations":[],"rawOutput":2}`)
	if got := outline(s.Snapshot()); got != "call x in_progress ; call c completed T2; " {
		t.Error(got)
	}
	c := s.ToolCall("c")
	if _, ok := c.Content[0].(*acp.Diff); !ok || len(c.Content) != 1 || len(c.Locations) != 0 || c.Kind.V != acp.ToolKindEdit ||
		string(c.RawInput) != `{"a":1}` || string(c.RawOutput) != "2" {
		t.Errorf("%+v", c)
	}
	merged, whole := s.Merge(&acp.ToolCallUpdate{ToolCallID: "c", Title: acp.Some("asked")})
	if !whole || merged.Title.V != "asked" || merged.Kind.V != acp.ToolKindEdit || s.ToolCall("c").Title != "T2" {
		t.Errorf("%+v", merged)
	}
	u := &acp.ToolCallUpdate{ToolCallID: "new"}
	if same, whole := s.Merge(u); same != u || !whole || s.ToolCall("new") != nil {
		t.Error("a merge changed the state")
	}
}

func TestAMergeReportsWhetherPartOfTheCallIsMissing(t *testing.T) {
	t.Parallel()
	const (
		call  = `{"sessionUpdate":"tool_call","toolCallId":"c","title":"T","kind":"edit","locations":[{"path":"/a"}]}`
		other = `{"sessionUpdate":"tool_call","toolCallId":"o","title":"T"}`
	)
	large := `{"sessionUpdate":"tool_call_update","toolCallId":"c","rawInput":"` + strings.Repeat("x", 9000) + `"}`
	again := func(s *State) { apply(t, s, call) }
	for name, c := range map[string]struct {
		limits  Limits
		updates []string
		then    func(*State)
		whole   bool
	}{
		"all there":               {updates: []string{call, large, other}, whole: true},
		"too large":               {limits: Limits{Bytes: 10_000}, updates: []string{call, large}},
		"too large, then updated": {limits: Limits{Bytes: 10_000}, updates: []string{call, large}, then: again},
		"forgotten":               {limits: Limits{Entries: 1}, updates: []string{call, other}},
		"not received":            {updates: []string{call}, then: func(s *State) { s.Truncate("c") }},
		"not received, nor known": {then: func(s *State) { s.Truncate("?") }},
		"of the time before":      {limits: Limits{Bytes: 10_000}, updates: []string{call, large}, then: (*State).Reset, whole: true},
	} {
		s := New("s", c.limits)
		apply(t, s, c.updates...)
		if c.then != nil {
			c.then(s)
		}
		if _, whole := s.Merge(&acp.ToolCallUpdate{ToolCallID: "c"}); whole != c.whole {
			t.Errorf("%s: whole is %v", name, whole)
		}
	}
}

func TestTheRestOfTheState(t *testing.T) {
	t.Parallel()
	s := New("s", Limits{})
	s.Start(&acp.SessionModeState{CurrentModeID: "ask", AvailableModes: []acp.SessionMode{{ID: "ask"}, {ID: "code"}}}, nil)
	apply(t, s,
		`{"sessionUpdate":"plan","entries":[{"content":"x","priority":"high","status":"pending"}]}`,
		`{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"web","description":"d"}]}`,
		`{"sessionUpdate":"current_mode_update","currentModeId":"code"}`,
		`{"sessionUpdate":"session_info_update","title":"T","updatedAt":"2026-01-01T00:00:00+02:00"}`,
		`{"sessionUpdate":"session_info_update","title":null}`,
		`{"sessionUpdate":"usage_update","used":1,"size":2}`)
	n := s.Snapshot()
	if len(n.Plan) != 1 || len(n.Commands) != 1 || n.Mode != "code" || len(n.Modes) != 2 || n.Title != "" ||
		n.UpdatedAt != "2026-01-01T00:00:00+02:00" || n.Usage.Size != 2 { // C121
		t.Errorf("%+v", n)
	}
	apply(t, s, chunk("user_message", "", "x"))
	s.Reset()
	if n := s.Snapshot(); len(n.Timeline) != 0 || n.Plan != nil || n.Mode != "code" || len(n.Commands) != 1 {
		t.Errorf("%+v", n)
	}
}

func TestPendingRequests(t *testing.T) {
	t.Parallel()
	s := New("s", Limits{})
	end1 := s.Begin("session/request_permission", 1)
	end2 := s.Begin("session/request_permission", 2)
	before := s.Snapshot()
	end1()
	end1()
	after := s.Snapshot()
	end2()
	if len(before.Requests) != 2 || len(after.Requests) != 1 || after.Requests[0].Params != 2 || len(s.Snapshot().Requests) != 0 {
		t.Errorf("%v, %v", before.Requests, after.Requests)
	}
}

func TestSnapshotsNeverChange(t *testing.T) {
	t.Parallel()
	s := New("s", Limits{})
	var snaps []*Snapshot
	var outlines []string
	for i := range 50 {
		apply(t, s, chunk("agent_message", "m", fmt.Sprint(i)), fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":"%d","title":"%d"}`, i%3, i))
		snaps = append(snaps, s.Snapshot())
		outlines = append(outlines, outline(s.Snapshot()))
		if s.Snapshot() != snaps[i] {
			t.Error("nothing changed, and yet another snapshot")
		}
	}
	for i := range snaps {
		if got := outline(snaps[i]); got != outlines[i] {
			t.Errorf("snapshot %d changed from %q to %q", i, outlines[i], got)
		}
	}
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	s := New("s", Limits{Bytes: 100_000, Entries: 50})
	for i := range 500 {
		apply(t, s, fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":"%d","title":"t"}`, i), chunk("agent_message", fmt.Sprint(i), strings.Repeat("x", 3000)))
	}
	n := s.Snapshot()
	if s.bytes > 100_000 || len(n.Timeline) > 50 || n.Dropped+len(n.Timeline) != 1000 || len(s.messages)+len(s.calls) != len(n.Timeline) {
		t.Errorf("%d bytes, %d entries, %d dropped, %d indexed", s.bytes, len(n.Timeline), n.Dropped, len(s.messages)+len(s.calls))
	}
	// An endless message keeps its newest text and does not push out the others.
	apply(t, s, chunk("agent_message", "", strings.Repeat("ä", 10_000)))
	for range 20 {
		apply(t, s, chunk("agent_message", "", strings.Repeat("ö", 10_000)))
	}
	last := s.Snapshot().Timeline[len(s.Snapshot().Timeline)-1].(*Message)
	if !last.Truncated || len(last.Text()) > 75_000 || len(last.Text()) < 40_000 || strings.Trim(last.Text(), "ö") != "" || len(s.Snapshot().Timeline) < 2 {
		t.Errorf("%d bytes, truncated %v, %d entries", len(last.Text()), last.Truncated, len(s.Snapshot().Timeline))
	}
	apply(t, s, fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":"big","title":"T","rawOutput":%q}`, strings.Repeat("x", 200_000)))
	if c := s.ToolCall("big"); !c.Truncated || c.Title != "T" || s.bytes > 100_000 {
		t.Errorf("%v, %d bytes", c.Truncated, s.bytes)
	}
	for range 5000 {
		apply(t, s, `{"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"AA==","mimeType":"image/png"}}`)
	}
	if s.bytes > 100_000 {
		t.Errorf("%d bytes", s.bytes)
	}
}

func TestCompactionsAndNotices(t *testing.T) {
	t.Parallel()
	s := New("s", Limits{})
	apply(t, s, `{"sessionUpdate":"compaction_update","compactionId":"k","status":"in_progress"}`,
		`{"sessionUpdate":"compaction_summary_chunk","compactionId":"k","content":{"type":"text","text":"a"}}`,
		`{"sessionUpdate":"compaction_summary_chunk","compactionId":"k","content":{"type":"text","text":"b"}}`,
		`{"sessionUpdate":"compaction_update","compactionId":"k","status":"completed"}`,
		`{"sessionUpdate":"notice","severity":"warning","title":"N"}`)
	if got := outline(s.Snapshot()); got != "compaction completed 2; notice N; " {
		t.Error(got)
	}
	apply(t, s, `{"sessionUpdate":"compaction_update","compactionId":"k","status":"failed","summary":null,"error":"e"}`)
	c := s.Snapshot().Timeline[0].(*Compaction)
	if !reflect.DeepEqual(c, &Compaction{ID: "k", Status: acp.CompactionStatusFailed, Error: "e"}) {
		t.Errorf("%+v", c)
	}
}

func TestStateMayBeSharedByGoroutines(t *testing.T) {
	t.Parallel()
	s := New("s", Limits{Bytes: 20_000})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 300 {
				apply(t, s, chunk("agent_message", fmt.Sprint(i), "hello"), fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":"%d","title":"%d"}`, j%7, i))
				_ = outline(s.Snapshot())
				s.Begin("m", j)()
			}
		})
	}
	wg.Wait()
}

func TestStoreKeepsUpdatesThatComeEarly(t *testing.T) {
	t.Parallel()
	st := NewStore(Limits{})
	note := func(id string) {
		u, err := acp.DecodeSessionUpdate([]byte(chunk("agent_message", "", "early")))
		if err != nil {
			t.Fatal(err)
		}
		st.Apply(&acp.SessionNotification{SessionID: acp.SessionID(id), Update: u})
	}
	note("s")
	if got := outline(st.Open("s").Snapshot()); got != "agent:early; " {
		t.Error(got)
	}
	for i := range 1000 {
		note(fmt.Sprint("stranger", i))
	}
	if n := len(st.Sessions()); n != maxStrangers+1 || st.Get("s") == nil || st.Get("stranger999") == nil {
		t.Errorf("%d sessions", n)
	}
	st.End("s")
	if st.Get("s") != nil {
		t.Error("still there")
	}
}

// Names that an agent chooses count, and so do updates of unopened sessions.
func TestMemoryIsBoundedWhateverIsLong(t *testing.T) {
	const limit = 1 << 20
	long := func(i int) string { return fmt.Sprint(i, strings.Repeat("x", 100<<10)) }
	text := &acp.TextContent{Text: "x"}
	huge := strings.Repeat("y", 8*limit)
	updates := map[string]func(i int) acp.SessionUpdate{
		"message id": func(i int) acp.SessionUpdate {
			return &acp.AgentMessageChunk{MessageID: acp.Some(acp.MessageID(long(i))), Content: text}
		},
		"call id": func(i int) acp.SessionUpdate { return &acp.ToolCall{ToolCallID: acp.ToolCallID(long(i))} },
		"compaction id": func(i int) acp.SessionUpdate {
			return &acp.CompactionUpdate{CompactionID: acp.CompactionID(long(i))}
		},
		"title": func(i int) acp.SessionUpdate {
			return &acp.ToolCall{ToolCallID: acp.ToolCallID(fmt.Sprint(i)), Title: strings.Clone(huge)}
		},
		"notice": func(int) acp.SessionUpdate { return &acp.Notice{Title: strings.Clone(huge)} },
		"image": func(i int) acp.SessionUpdate {
			return &acp.AgentMessageChunk{Content: &acp.ImageContent{Data: long(i)}}
		},
	}
	for name, update := range updates {
		before := heapInUse()
		s := New("s", Limits{Bytes: limit})
		for i := range 30 {
			s.Apply(update(i))
		}
		if got := heapInUse() - before; got > 2*limit {
			t.Errorf("%s: %d KiB are kept, the limit is %d", name, got>>10, limit>>10)
		}
		goruntime.KeepAlive(s)
	}
	strangers := map[string]func(i int) acp.SessionUpdate{
		"messages": func(i int) acp.SessionUpdate { return &acp.AgentMessageChunk{Content: &acp.TextContent{Text: long(i)}} },
		"commands": func(i int) acp.SessionUpdate {
			return &acp.AvailableCommandsUpdate{AvailableCommands: []acp.AvailableCommand{{Name: long(i)}}}
		},
	}
	for name, update := range strangers {
		before := heapInUse()
		store := NewStore(Limits{Bytes: limit})
		opened := store.Open("mine")
		opened.Apply(update(0))
		for i := range 120 {
			store.Apply(&acp.SessionNotification{SessionID: acp.SessionID(fmt.Sprint(i % 60)), Update: update(i)})
		}
		if got := heapInUse() - before; got > 2*limit {
			t.Errorf("%s of unknown sessions: %d KiB are kept, the limit is %d", name, got>>10, limit>>10)
		}
		if store.Get("mine") != opened {
			t.Error("an open session was forgotten")
		}
		goruntime.KeepAlive(store)
	}
}

func heapInUse() int {
	goruntime.GC()
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

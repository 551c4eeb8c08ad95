package servicesv2

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	v2 "github.com/hermes-nvim/hermes/acp/v2"
	"github.com/hermes-nvim/hermes/runtime/history"
)

func apply2(t *testing.T, s *history.State, updates ...string) {
	t.Helper()
	for _, u := range updates {
		v, err := v2.DecodeSessionUpdate([]byte(u))
		if err != nil {
			t.Fatalf("%s: %v", u, err)
		}
		Apply(s, v)
	}
}

func has(x acp.Extra, name string) bool {
	_, ok := x.Get(name)
	return ok
}

func chunk(role, id, text string) string {
	return fmt.Sprintf(`{"sessionUpdate":"%s_chunk","messageId":%q,"content":{"type":"text","text":%q}}`, role, id, text)
}

// outline describes a timeline in a line.
func outline(s *history.Snapshot) string {
	var b strings.Builder
	for _, e := range s.Timeline {
		switch e := e.(type) {
		case *history.Message:
			fmt.Fprintf(&b, "%s%s:%s; ", e.Role, e.ID, e.Text())
		case *history.Notice:
			fmt.Fprintf(&b, "notice %s; ", e.Title)
		case *history.Compaction:
			fmt.Fprintf(&b, "compaction %s %d; ", e.Status, len(e.Summary))
		default:
			fmt.Fprintf(&b, "%T; ", e)
		}
	}
	return b.String()
}

func TestMessagesOfVersion2AreUpserts(t *testing.T) {
	t.Parallel()
	message := func(kind, id, content string) string {
		return fmt.Sprintf(`{"sessionUpdate":%q,"messageId":%q,"content":%s}`, kind, id, content)
	}
	const x, y = `{"type":"text","text":"x"}`, `{"type":"text","text":"y"}`
	for _, c := range []struct {
		updates []string
		want    string
	}{
		{[]string{chunk("agent_message", "1", "a"), chunk("agent_message", "2", "b"), chunk("agent_message", "1", "c")}, "agent1:ac; agent2:b; "},
		{[]string{message("agent_message", "1", "["+x+"]"), chunk("agent_message", "1", "c")}, "agent1:xc; "},
		{[]string{chunk("agent_message", "1", "a"), message("agent_message", "1", "["+x+","+y+"]")}, "agent1:xy; "},
		{[]string{chunk("user_message", "1", "a"), message("user_message", "1", "null")}, "user1:; "},
		{[]string{chunk("agent_thought", "1", "a"), message("agent_thought", "1", "[]"), chunk("agent_thought", "1", "b")}, "thought1:b; "},
		{[]string{chunk("agent_message", "1", "a"), `{"sessionUpdate":"agent_message","messageId":"1"}`}, "agent1:a; "},
		{[]string{`{"sessionUpdate":"user_message","messageId":"1"}`, chunk("agent_message", "1", "a"), chunk("user_message", "1", "q")}, "user1:q; agent1:a; "},
	} {
		s := history.New("s", history.Limits{})
		apply2(t, s, c.updates...)
		before := s.Snapshot()
		if got := outline(before); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		apply2(t, s, message("agent_message", "1", "["+y+"]"), chunk("user_message", "1", "more"))
		if got := outline(before); got != c.want {
			t.Errorf("a snapshot changed from %q to %q", c.want, got)
		}
	}
}

func TestToolCallsOfVersion2ArePatched(t *testing.T) {
	t.Parallel()
	s := history.New("s", history.Limits{})
	apply2(t, s, `{"sessionUpdate":"tool_call_update","toolCallId":"c"}`)
	if c := s.ToolCall("c"); c.Status.V != acp.ToolCallStatusPending || c.Kind.V != acp.ToolKindOther {
		t.Errorf("%+v", c)
	}
	apply2(t, s,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"T","name":"edit_file","kind":"edit","status":"paused","rawInput":{"a":1},"rawOutput":[2],"locations":[{"path":"/a","line":3}],"capabilities":{"cancel":{}},"_meta":{"m":1},"content":[{"type":"content","content":{"type":"text","text":"one"}}]}`,
		`{"sessionUpdate":"tool_call_content_chunk","toolCallId":"c","content":{"type":"diff","changes":[{"operation":"move","oldPath":"/a","path":"/b"}]}}`,
		`{"sessionUpdate":"tool_call_content_chunk","toolCallId":"c","content":{"type":"terminal","terminalId":"t"}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"cancelled"}`)
	c := s.ToolCall("c")
	if c.Title != "T" || c.Name.V != "edit_file" || c.Kind.V != acp.ToolKindEdit || c.Status.V != "cancelled" || string(c.RawInput) != `{"a":1}` ||
		string(c.RawOutput) != "[2]" || len(c.Locations) != 1 || c.Locations[0].Line.V != 3 || !has(c.Capabilities, "cancel") || len(c.Content) != 3 || string(c.Meta) != `{"m":1}` {
		t.Errorf("%+v", c)
	}
	d, ok := Diff(c.Content[1])
	if move, _ := d.Changes[0].Variant.(*v2.DiffChangeMove); !ok || move.OldPath != "/a" || move.Path != "/b" {
		t.Errorf("%+v", c.Content[1])
	}
	if _, ok := Diff(c.Content[0]); ok {
		t.Error("text counts as a diff")
	}
	if term, ok := c.Content[2].(*acp.Terminal); !ok || term.TerminalID != "t" {
		t.Errorf("%+v", c.Content[2])
	}
	apply2(t, s, `{"sessionUpdate":"tool_call_update","toolCallId":"c","title":null,"name":null,"kind":null,"status":null,"rawInput":null,"rawOutput":null,"locations":null,"capabilities":null,"_meta":null,"content":null}`)
	want := &history.ToolCall{ToolCall: acp.ToolCall{ToolCallID: "c", Kind: acp.Some(acp.ToolKindOther), Status: acp.Some(acp.ToolCallStatusPending)}}
	if got := s.ToolCall("c"); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if c.Title != "T" || len(c.Content) != 3 {
		t.Error("an earlier view changed")
	}
}

func TestTerminalsOfTheAgent(t *testing.T) {
	t.Parallel()
	output := func(b string) string {
		return fmt.Sprintf(`{"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":%q}`, base64.StdEncoding.EncodeToString([]byte(b)))
	}
	s := history.New("s", history.Limits{Bytes: 10_000})
	apply2(t, s, output("a\xc3"), `{"sessionUpdate":"terminal_update","terminalId":"t","command":"make","cwd":"/w","size":{"cols":80,"rows":24},"capabilities":{"cancel":{}}}`)
	early := s.Terminal("t")
	apply2(t, s, output("\xa4"), `{"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":"not base64"}`,
		`{"sessionUpdate":"terminal_update","terminalId":"t","exitStatus":{"exitCode":-1},"capabilities":null}`)
	late := s.Terminal("t")
	if early.Output != "a\xc3" || early.Exit != nil || early.Command != "make" || early.Dir != "/w" || early.Cols != 80 || early.Rows != 24 || !has(early.Capabilities, "cancel") {
		t.Errorf("%+v", early)
	}
	if late.Output != "aä" || late.Exit.Code.V != -1 || late.Capabilities != nil || s.Snapshot().Timeline[0] != history.Entry(late) {
		t.Errorf("%+v", late)
	}
	apply2(t, s, `{"sessionUpdate":"terminal_update","terminalId":"t","output":{"data":"eA=="},"command":null,"cwd":null,"size":null,"exitStatus":null}`)
	if got := s.Terminal("t"); !reflect.DeepEqual(got, &history.Terminal{ID: "t", Output: "x"}) {
		t.Errorf("%+v", got)
	}
	for i := range 200 {
		apply2(t, s, output(strings.Repeat(fmt.Sprint(i%10), 1000)))
	}
	if got := s.Terminal("t"); !got.Truncated || len(got.Output) > 10_000 || len(got.Output) < 4000 || !strings.HasSuffix(got.Output, strings.Repeat("9", 1000)) {
		t.Errorf("%d bytes kept", len(got.Output))
	}
	for i := range 300 {
		apply2(t, s, fmt.Sprintf(`{"sessionUpdate":"terminal_update","terminalId":"n%d","command":%q}`, i, strings.Repeat("x", 200)),
			fmt.Sprintf(`{"sessionUpdate":"tool_call_content_chunk","toolCallId":"c","content":{"type":"content","content":{"type":"text","text":%q}}}`, strings.Repeat("y", 500)))
	}
	kept := 0
	for _, e := range s.Snapshot().Timeline {
		switch e := e.(type) {
		case *history.Terminal:
			kept += len(e.Command) + len(e.Output)
			if s.Terminal(e.ID) != e {
				t.Errorf("terminal %s is not found", e.ID)
			}
		case *history.ToolCall:
			kept += len(e.ToolCall.AppendJSON(nil))
		}
	}
	if kept > 10_000 || kept < 1000 || s.Terminal("t") != nil || s.Terminal("n299") == nil {
		t.Errorf("%d bytes kept", kept)
	}
}

func TestTheRestOfTheStateOfVersion2(t *testing.T) {
	t.Parallel()
	s := history.New("s", history.Limits{})
	option := []byte(`{"configId":"m","name":"Model","category":"model","type":"select","currentValue":"a","options":[{"groupId":"g","name":"G","options":[{"value":"a","name":"A"}]}]}`)
	var o v2.SessionConfigOption
	if err := o.UnmarshalJSON(option); err != nil {
		t.Fatal(err)
	}
	Start(s, []v2.SessionConfigOption{o}, []v2.AvailableCommand{&v2.Command{Name: "web", Input: v2.NewTextCommandInput("what")}})
	n := s.Snapshot()
	const option1 = `{"id":"m","name":"Model","category":"model","type":"select","currentValue":"a","options":[{"group":"g","name":"G","options":[{"value":"a","name":"A"}]}]}`
	if got := string(n.ConfigOptions[0].AppendJSON(nil)); got != option1 {
		t.Error(got)
	}
	if in, _ := n.Commands[0].Input.(*acp.UnstructuredCommandInput); n.Commands[0].Name != "web" || in.Hint != "what" || !n.Activity.Idle() {
		t.Errorf("%+v", n)
	}
	apply2(t, s,
		`{"sessionUpdate":"plan_update","plan":{"type":"items","planId":"p","entries":[{"content":"x","priority":"high","status":"pending"}]}}`,
		`{"sessionUpdate":"plan_update","plan":{"type":"items","planId":"q","entries":[]}}`,
		`{"sessionUpdate":"plan_update","plan":{"type":"items","planId":"p","entries":[{"content":"y","priority":"low","status":"completed"}]}}`,
		`{"sessionUpdate":"available_commands_update","availableCommands":[{"type":"_new","name":"n","description":"d"}]}`,
		`{"sessionUpdate":"config_option_update","configOptions":[{"configId":"b","name":"B","type":"boolean","currentValue":true},{"configId":"n","name":"N","type":"_new","x":1}]}`,
		`{"sessionUpdate":"session_info_update","title":"T","updatedAt":"2026-01-01T00:00:00Z"}`,
		`{"sessionUpdate":"session_info_update","title":null}`,
		`{"sessionUpdate":"usage_update","used":1,"size":2,"cost":{"amount":1.5,"currency":"USD"}}`,
		`{"sessionUpdate":"usage_update","used":2,"size":2}`,
		`{"sessionUpdate":"notice","severity":"warning","title":"N"}`,
		`{"sessionUpdate":"compaction_summary_chunk","compactionId":"k","content":{"type":"text","text":"a"}}`,
		`{"sessionUpdate":"compaction_update","compactionId":"k","status":"failed","summary":null,"error":"e"}`,
		`{"sessionUpdate":"_new","x":1}`)
	n = s.Snapshot()
	if len(n.Plans) != 2 || n.Plans[0].ID != "p" || n.Plans[0].Entries[0].Content != "y" || n.Plan[0].Status != acp.PlanEntryStatusCompleted ||
		n.Commands[0].Name != "n" || len(n.ConfigOptions) != 2 || n.Title != "" || n.UpdatedAt != "2026-01-01T00:00:00Z" ||
		n.Usage.Used != 2 || n.Usage.Cost.Amount != 1.5 || outline(n) != "notice N; compaction failed 0; " {
		t.Errorf("%+v", n)
	}
	for i := range 100 {
		apply2(t, s, fmt.Sprintf(`{"sessionUpdate":"plan_update","plan":{"type":"items","planId":"%d","entries":[]}}`, i))
	}
	if n := s.Snapshot(); len(n.Plans) != 16 || n.Plans[0].ID != "84" {
		t.Errorf("%d plans", len(n.Plans))
	}
	apply2(t, s, `{"sessionUpdate":"usage_update","used":2,"size":2,"cost":null}`)
	s.Reset()
	if n := s.Snapshot(); n.Plans != nil || n.Usage.Cost != nil {
		t.Errorf("%+v", n)
	}
}

func TestWhatASessionOfVersion2IsDoing(t *testing.T) {
	t.Parallel()
	for update, want := range map[string]struct {
		state, why string
		idle       bool
	}{
		`"running"`:                        {"running", "", false},
		`"requires_action"`:                {"requires_action", "", false},
		`"_new"`:                           {"_new", "", false},
		`"idle"`:                           {"idle", "", true},
		`"idle","stopReason":"end_turn"`:   {"idle", "end_turn", true},
		`"idle","stopReason":"max_tokens"`: {"idle", "max_tokens", true},
		`"idle","stopReason":"max_turn_requests"`:                           {"idle", "max_turn_requests", true},
		`"idle","stopReason":"refusal"`:                                     {"idle", "refusal", true},
		`"idle","stopReason":"cancelled"`:                                   {"idle", "cancelled", true},
		`"idle","stopReason":"error","error":{"code":-32603,"message":"m"}`: {"idle", "error", true},
		`"idle","stopReason":"_new"`:                                        {"idle", "_new", true},
	} {
		s := history.New("s", history.Limits{})
		apply2(t, s, `{"sessionUpdate":"state_update","state":`+update+`,"background":[{"type":"terminal","terminalId":"t"}]}`)
		a := s.Snapshot().Activity
		if a.State != want.state || string(a.StopReason) != want.why || a.Idle() != want.idle || (a.Error != nil) != (want.why == "error") || len(a.Background) != 1 && want.state != "_new" {
			t.Errorf("%s: %+v", update, a)
		}
	}
}

// Both versions write content the same way.
func TestContentOfVersion2KeepsEverything(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"type":"text","text":"a","_meta":{"m":1},"own":2}`,
		`{"type":"text","text":"a","annotations":{"audience":["user"],"priority":0.5}}`,
		`{"type":"image","data":"AA==","mimeType":"image/png","uri":"file:///a"}`,
		`{"type":"audio","data":"AA==","mimeType":"audio/wav"}`,
		`{"type":"resource_link","name":"n","uri":"file:///a","size":18446744073709551615,"icons":[{"src":"https://x/i"}]}`,
		`{"type":"resource","resource":{"uri":"file:///a","text":"t"}}`,
		`{"type":"resource","resource":{"uri":"file:///a","blob":"AA=="}}`,
		`{"type":"_new","x":[1]}`,
	} {
		c, err := v2.DecodeContentBlock([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		want, err := acp.DecodeContentBlock([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got := string(acp.AppendContentBlock(nil, contentV1(c)))
		if got != string(acp.AppendContentBlock(nil, want)) {
			t.Errorf("%s became %s", text, got)
		}
	}
}

func TestTheStoreTakesUpdatesOfVersion2(t *testing.T) {
	t.Parallel()
	st := history.NewStore(history.Limits{})
	u, err := v2.DecodeSessionUpdate([]byte(chunk("agent_message", "1", "early")))
	if err != nil {
		t.Fatal(err)
	}
	st.Update("s", func(s *history.State) { Apply(s, u) })
	if got := outline(st.Open("s").Snapshot()); got != "agent1:early; " {
		t.Error(got)
	}
}

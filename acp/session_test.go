package acp

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// sent is a peer that records what it receives and answers with result.
type sent struct {
	result string
	lines  []string
}

func (s *sent) Call(_ context.Context, method string, p Appender, result json.Unmarshaler) error {
	s.lines = append(s.lines, method+" "+string(p.AppendJSON(nil)))
	return result.UnmarshalJSON([]byte(s.result))
}

func (s *sent) Notify(_ context.Context, method string, p Appender) error {
	s.lines = append(s.lines, method+" "+string(p.AppendJSON(nil)))
	return nil
}

func TestASessionSendsItsID(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for want, c := range map[string]struct {
		result string
		do     func(ClientSession, AgentSession) (any, error)
		value  any
	}{
		`session/update {"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}`: {do: func(c ClientSession, _ AgentSession) (any, error) {
			return nil, c.Say(ctx, "hi")
		}},
		`session/update {"sessionId":"s","update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}}`: {do: func(c ClientSession, _ AgentSession) (any, error) {
			return nil, c.Think(ctx, "hm")
		}},
		`session/update {"sessionId":"s","update":{"sessionUpdate":"plan","entries":[]}}`: {do: func(c ClientSession, _ AgentSession) (any, error) {
			return nil, c.Update(ctx, &Plan{})
		}},
		`fs/read_text_file {"sessionId":"s","path":"/w/a"}`: {do: func(c ClientSession, _ AgentSession) (any, error) {
			return c.ReadFile(ctx, "/w/a")
		}, result: `{"content":"text"}`, value: "text"},
		`fs/write_text_file {"sessionId":"s","path":"/w/a","content":"new"}`: {do: func(c ClientSession, _ AgentSession) (any, error) {
			return nil, c.WriteFile(ctx, "/w/a", "new")
		}, result: `{}`},
		`session/prompt {"sessionId":"s","prompt":[{"type":"text","text":"hi"},{"type":"text","text":"there"}]}`: {do: func(_ ClientSession, a AgentSession) (any, error) {
			return a.Prompt(ctx, NewTextContent("hi"), NewTextContent("there"))
		}, result: `{"stopReason":"refusal"}`, value: StopReasonRefusal},
		`session/cancel {"sessionId":"s"}`: {do: func(_ ClientSession, a AgentSession) (any, error) {
			return nil, a.Cancel(ctx)
		}},
	} {
		peer := &sent{result: c.result}
		got, err := c.do(Client{Conn: peer}.Session("s"), Agent{Conn: peer}.Session("s"))
		if err != nil || got != c.value || strings.Join(peer.lines, "\n") != want {
			t.Errorf("got %v, %v and sent %q, want %v and %s", got, err, peer.lines, c.value, want)
		}
	}
}

func TestAskReturnsTheOptionThatWasChosen(t *testing.T) {
	t.Parallel()
	yes := PermissionOption{OptionID: "yes", Name: "Allow", Kind: PermissionOptionKindAllowOnce}
	no := PermissionOption{OptionID: "no", Name: "Reject", Kind: PermissionOptionKindRejectOnce}
	for outcome, want := range map[string]struct {
		chosen PermissionOption
		err    string
	}{
		`{"outcome":"selected","optionId":"no"}`:    {chosen: no},
		`{"outcome":"cancelled"}`:                   {},
		`{"outcome":"selected","optionId":"maybe"}`: {err: "session/request_permission: the client did not choose one of the options"},
		`{"outcome":"postponed"}`:                   {err: "session/request_permission: the client did not choose one of the options"},
	} {
		peer := &sent{result: `{"outcome":` + outcome + `}`}
		call := NewToolCall("call-1", "Delete everything")
		got, err := Client{Conn: peer}.Session("s").Ask(t.Context(), call.AsUpdate(), yes, no)
		if !reflect.DeepEqual(got, want.chosen) || (err == nil) != (want.err == "") || err != nil && !strings.HasPrefix(err.Error(), want.err) {
			t.Errorf("%s: %+v, %v", outcome, got, err)
		}
		if line := peer.lines[0]; !strings.Contains(line, `"sessionId":"s","toolCall":{"toolCallId":"call-1","title":"Delete everything"}`) {
			t.Errorf("sent %s", line)
		}
	}
}

// AsUpdate is written by hand, so this test finds members that the protocol adds.
func TestAsUpdateHasEveryMemberOfTheToolCall(t *testing.T) {
	t.Parallel()
	const text = `"toolCallId":"c","kind":"edit","status":"failed","title":"t","name":"n","content":[{"type":"terminal","terminalId":"x"}],` +
		`"locations":[{"path":"/w/a"}],"rawInput":{"a":1},"rawOutput":[2],"_meta":{"m":3},"extra":4`
	call := new(ToolCall)
	if err := call.UnmarshalJSON([]byte("{" + text + "}")); err != nil {
		t.Fatal(err)
	}
	from, to := reflect.ValueOf(*call), reflect.ValueOf(*call.AsUpdate())
	for i := range from.NumField() {
		name := from.Type().Field(i).Name
		if from.Field(i).IsZero() {
			t.Errorf("the test has no %s", name)
		} else if f := to.FieldByName(name); !f.IsValid() || f.IsZero() {
			t.Errorf("AsUpdate drops %s", name)
		}
	}
	if got := string(call.AsUpdate().AppendJSON(nil)); got != "{"+text+"}" {
		t.Errorf("got %s", got)
	}
}

package acp

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestUnknownVariantsAreKeptInClosedUnions(t *testing.T) {
	t.Parallel()
	text := `{"sessionId":"s","update":{"sessionUpdate":"_vendor/thing","n":9007199254740993,"deep":{"a":[1.50]}}}`
	var v SessionNotification
	if err := v.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	other, ok := v.Update.(*SessionUpdateOther)
	if !ok || other.Tag != "_vendor/thing" {
		t.Fatalf("update is %#v", v.Update)
	}
	if n, ok := other.Raw.Get("n"); !ok || string(n) != "9007199254740993" {
		t.Errorf("n is %s", n)
	}
	if got := string(v.AppendJSON(nil)); got != text {
		t.Errorf("got  %s\nwant %s", got, text)
	}
	if found := Check(&v); len(found) != 1 || found[0] != (Violation{"/update/sessionUpdate", "enum", `unknown sessionUpdate "_vendor/thing"`}) {
		t.Errorf("Check: %v", found)
	}
}

func TestDecodingErrorsNameTheMember(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"sessionId":"s","update":{"sessionUpdate":"tool_call","title":"t"}}`:                                        `/update: missing required member "toolCallId"`,
		`{"sessionId":"s","update":{"sessionUpdate":7}}`:                                                              `/update/sessionUpdate: want string, got number`,
		`{"sessionId":"s","update":{"x":7}}`:                                                                          `/update: missing required member "sessionUpdate"`,
		`{"sessionId":"s","update":[]}`:                                                                               `/update: want object, got array`,
		`{"sessionId":"s","sessionId":"s"}`:                                                                           `/sessionId: duplicate member`,
		`{"sessionId":"s","update":{"sessionUpdate":"plan","sessionUpdate":"plan","entries":[]}}`:                     `/update/sessionUpdate: duplicate member`,
		`{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[],"_vendor":[{"a":1,"\u0061":2}]}}`:             `/update/_vendor/0/a: duplicate member`,
		`{"sessionId":"s","update":{"x":1,"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":1}}}`: `/update/content/text: want string, got number`,
		`{"SessionId":"s"}`:    `missing required member "sessionId"; found "SessionId"`,
		`{"sessionId":"s",}`:   `invalid JSON at byte 17: expected a member name`,
		`{"sessionId":"s"} {}`: `missing required member "sessionId"`,
	} {
		var v SessionNotification
		err := v.UnmarshalJSON([]byte(text))
		if text == `{"sessionId":"s"} {}` {
			want = `missing required member "update"`
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s\n  error %v\n  want  %s", text, err, want)
		}
		if at, ok := Pointer(fmt.Errorf("wrapped: %w", err)); ok && !strings.HasPrefix(want, at) {
			t.Errorf("%s: pointer %q", text, at)
		}
	}
}

// Readers of raw text differ in which of two members they use. So a message with such
// text is refused, although rawInput is one of the members that are dropped if they do
// not fit. A question about a tool call without its arguments would be worse than no
// question.
func TestRawValuesWithADuplicateMemberAreNotDelivered(t *testing.T) {
	t.Parallel()
	for value, place := range map[string]string{
		`{"command":"ls","env":{"A":"1","B":"2"}}`: "",
		`{"command":"ls","env":{"A":"1","A":"2"}}`: "/env/A",
		`{"command":"ls","command":"rm"}`:          "/command",
		`[{"a":1},{"a":1,"\u0061":1}]`:             "/1/a",
	} {
		for _, c := range []struct {
			before, member, after string
			into                  json.Unmarshaler
		}{
			{`{"toolCallId":"c",`, "rawInput", `}`, new(ToolCallUpdate)},
			{`{"toolCallId":"c",`, "_meta", `}`, new(ToolCallUpdate)},
			{`{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[`, "_meta", `]}}`, new(SessionNotification)},
			{`{"sessionId":"s","options":[],"toolCall":{"toolCallId":"c",`, "rawInput", `}}`, new(RequestPermissionRequest)},
			{`{"code":1,"message":"",`, "data", `}`, new(Error)},
		} {
			if c.member == "_meta" && value[0] != '{' {
				continue
			}
			member := `"` + c.member + `":` + value
			if strings.HasSuffix(c.before, "[") {
				member = `{"content":"c","priority":"low","status":"pending",` + member + `}`
			}
			err := c.into.UnmarshalJSON([]byte(c.before + member + c.after))
			at, _ := Pointer(err)
			if place == "" && err != nil || place != "" && !strings.HasSuffix(at, "/"+c.member+place) {
				t.Errorf("%s%s%s: %v", c.before, member, c.after, err)
			}
		}
	}
}

func TestErrorsNameTheProbableWord(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, want string
		into       json.Unmarshaler
	}{
		{`{"sessionID":"s","update":{"sessionUpdate":"plan","entries":[]}}`, `missing required member "sessionId"; found "sessionID"`, new(SessionNotification)},
		{`{"sessionId":"s","update":{"a":[{}],"session_update":"plan","entries":[]}}`, `/update: missing required member "sessionUpdate"; found "session_update"`, new(SessionNotification)},
		{`{"stop_reason":"end_turn"}`, `missing required member "stopReason"; found "stop_reason"`, new(PromptResponse)},
		{`{"stopReason":"endTurn"}`, `/stopReason: unknown StopReason "endTurn"; did you mean "end_turn"?`, new(PromptResponse)},
		{`{"stopReason":"_nap"}`, `/stopReason: unknown StopReason "_nap"`, new(PromptResponse)},
		{`{"path":"/a","oldText":"x","new-text":"y"}`, `missing required member "newText"; found "new-text"`, new(Diff)},
		{`{"path":"/a","oldText":"x"}`, `missing required member "newText"`, new(Diff)},
		{`{"sessionID":"s"`, `invalid JSON at byte 16: unexpected end`, new(PromptRequest)},
	} {
		err := c.into.UnmarshalJSON([]byte(c.text))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s\n  error %v\n  want  %s", c.text, err, c.want)
		}
	}
}

func TestAFailureDoesNotBreakExtra(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"toolCallId":"c","title":"t","zz":}`, `{"toolCallId":"c","title":"t","y":1,"zz":[1,{"a":tru}]}`,
		`{"toolCallId":"c","title":"t","zz":1,"zz":2}`, `{"toolCallId":"c","zz":1}`, `{"toolCallId":"c","title":"t","zz":"` + "\xff" + `"}`,
		`{"toolCallId":"c","title":"t","zz":1`, `{"toolCallId":"c","title":"t","locations":[{"path":"/a","zz":}]}`,
	} {
		var v ToolCall
		if err := v.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s is taken", text)
		}
		extras := []Extra{v.Extra}
		for _, l := range v.Locations {
			extras = append(extras, l.Extra)
		}
		for _, x := range extras {
			if len(x) > 0 && !json.Valid(x) {
				t.Errorf("%s leaves %s in Extra", text, x)
			}
		}
	}
}

func TestAbsentNullAndValueDifferInAPatch(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Patch[string]{
		`{}`:                {},
		`{"title":null}`:    Clear[string](),
		`{"title":"x"}`:     Set("x"),
		`{"title":["bad"]}`: {},
	} {
		var v SessionInfoUpdate
		if err := v.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if v.Title != want {
			t.Errorf("%s reads as %v", text, v.Title)
		}
		if got, ok := v.Title.Get(); got != want.V || ok != (want.State == PatchValue) {
			t.Errorf("of %s, Get returns %q, %t", text, got, ok)
		}
		if got := string(v.AppendJSON(nil)); got != text && text != `{"title":["bad"]}` {
			t.Errorf("%s is written as %s", text, got)
		}
	}
	title := "old"
	Set("new").Apply(&title, "")
	if title != "new" {
		t.Errorf("title is %q", title)
	}
	Clear[string]().Apply(&title, "")
	if title != "" {
		t.Errorf("title is %q", title)
	}
}

func TestEmptyAndAbsentListsDiffer(t *testing.T) {
	t.Parallel()
	for text, isNil := range map[string]bool{`{"toolCallId":"c"}`: true, `{"toolCallId":"c","content":[]}`: false} {
		var v ToolCallUpdate
		if err := v.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if (v.Content == nil) != isNil {
			t.Errorf("%s reads as %#v", text, v.Content)
		}
		if got := string(v.AppendJSON(nil)); got != text {
			t.Errorf("%s is written as %s", text, got)
		}
	}
}

func TestExtraMembersCanBeChanged(t *testing.T) {
	t.Parallel()
	var v PlanEntry
	if err := v.UnmarshalJSON([]byte(`{"content":"c","priority":"high","status":"pending","a":1,"b":{"c":2}}`)); err != nil {
		t.Fatal(err)
	}
	if err := v.Extra.Set("a", json.RawMessage(`[true]`)); err != nil {
		t.Fatal(err)
	}
	if err := v.Extra.Set("d \"q\"", json.RawMessage("{\n}")); err != nil {
		t.Fatal(err)
	}
	v.Extra.Delete("b")
	if want := `{"a":[true],"d \"q\"":{ }}`; v.Extra.String() != want {
		t.Errorf("extra is %s, want %s", v.Extra, want)
	}
	if err := v.Extra.Set("e", json.RawMessage(`{`)); err == nil {
		t.Error("text that is not JSON is accepted")
	}
	v.Extra.Delete("a")
	v.Extra.Delete("d \"q\"")
	if v.Extra != nil {
		t.Errorf("extra is %q without members", v.Extra)
	}
}

func TestNothingPrintsSecrets(t *testing.T) {
	t.Parallel()
	const secret = "sk-canary"
	env := []EnvVariable{{Name: "API_KEY", Value: secret}}
	header := []HTTPHeader{{Name: "Authorization", Value: secret}}
	servers := []MCPServer{&MCPServerStdio{Name: "a", Command: "/bin/a", Env: env}, &MCPServerHTTP{Name: "b", URL: "http://b", Headers: header}}
	values := []any{
		env[0], header[0], env,
		NewSessionRequest{Cwd: "/w", MCPServers: servers}, &NewSessionRequest{Cwd: "/w", MCPServers: servers},
		LoadSessionRequest{MCPServers: servers}, servers,
		CreateTerminalRequest{Command: "x", Env: env},
		InitializeResponse{AuthMethods: []AuthMethod{&AuthMethodTerminal{ID: "t", Env: map[string]string{"TOKEN": secret}}}},
		AuthMethodTerminal{Env: map[string]string{"TOKEN": secret}},
	}
	for _, v := range values {
		var logged strings.Builder
		slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "v", v)
		for _, text := range []string{fmt.Sprint(v), fmt.Sprintf("%v", v), fmt.Sprintf("%+v", v), fmt.Sprintf("%s", v), logged.String()} {
			if strings.Contains(text, secret) {
				t.Errorf("%T prints its secret: %s", v, text)
			}
		}
	}
	if text := fmt.Sprint(NewPromptRequest("s", []ContentBlock{NewTextContent(strings.Repeat("x", 1<<20))})); len(text) > 1000 {
		t.Errorf("a megabyte prints as %d bytes", len(text))
	}
}

func TestCheckFindsWhatDecodingAccepts(t *testing.T) {
	t.Parallel()
	n := SessionNotification{SessionID: "s", Update: &ToolCall{ToolCallID: "c", Kind: Some(ToolKind("dance")), Content: []ToolCallContent{nil}}}
	var got []string
	for _, v := range Check(&n) {
		got = append(got, v.Rule+" "+v.String())
	}
	want := "enum /update/kind: want a value of ToolKind; required /update/content/0: want ToolCallContent"
	if strings.Join(got, "; ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), want)
	}
	notice := NewNotice("info", "")
	if found := Check(notice); len(found) != 1 || found[0].Rule != "minLength" {
		t.Errorf("an empty title is not a violation: %v", found)
	}
}

func TestErrorsAreValuesOnTheWireAndInGo(t *testing.T) {
	t.Parallel()
	text := `{"code":-32000,"message":"sign in first","data":{"methods":["a"]},"x":1}`
	var e Error
	if err := e.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if got := string(e.AppendJSON(nil)); got != text {
		t.Errorf("got %s", got)
	}
	wrapped := fmt.Errorf("connect: %w", &e)
	if !errors.Is(wrapped, &Error{Code: ErrorCodeAuthenticationRequired}) || errors.Is(wrapped, &Error{Code: ErrorCodeInternalError}) {
		t.Error("errors.Is does not go by the code")
	}
	if ToError(wrapped) != &e {
		t.Error("ToError does not find the error of the peer")
	}
	if got := ToError(errors.New("disk full")); got.Code != ErrorCodeInternalError || got.Message != "disk full" {
		t.Errorf("ToError: %v", got)
	}
	for _, bad := range []string{`{}`, `{"code":1}`, `{"code":"1","message":""}`, `{"code":99999999999,"message":""}`, `[]`} {
		if err := e.UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%s decodes", bad)
		}
	}
}

func TestRequestIDsKeepTheirKind(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`null`, `1`, `"1"`, `-9223372036854775808`, `9223372036854775807`, `""`} {
		var id RequestID
		if err := id.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if id.String() != text {
			t.Errorf("%s reads as %s", text, id)
		}
	}
	if NumberID(1) == StringID("1") {
		t.Error("1 and \"1\" are the same id")
	}
	for _, bad := range []string{`1.5`, `true`, `{}`, `9223372036854775808`} {
		var id RequestID
		if err := id.UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%s decodes", bad)
		}
	}
}

func TestTheTagOfAVariantIsTheEncodedOne(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"}}`: "agent_message_chunk",
		`{"content":{"type":"text","text":"a"},"sessionUpdate":"user_message_chunk"}`:  "user_message_chunk",
		`{"sessionUpdate":"usage_update","used":1,"size":2}`:                           "usage_update",
		`{"sessionUpdate":"_vendor/\"thing\""}`:                                        `_vendor/"thing"`,
		`{"sessionUpdate":""}`:                                                         "",
	} {
		v, err := DecodeSessionUpdate([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var written struct {
			Tag string `json:"sessionUpdate"`
		}
		if err := json.Unmarshal(AppendSessionUpdate(nil, v), &written); err != nil {
			t.Fatal(err)
		}
		if got := SessionUpdateTag(v); got != want || written.Tag != want {
			t.Errorf("%s: the tag is %q and %q is written, want %q", text, got, written.Tag, want)
		}
	}
	if tag := AuthMethodTag(new(AuthMethodAgent)); tag != "" {
		t.Errorf("a variant without a tag has the tag %q", tag)
	}
	if tag := SessionUpdateTag(nil); tag != "" {
		t.Errorf("no variant has the tag %q", tag)
	}
}

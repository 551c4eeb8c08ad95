package acp

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// C111 of the conformance list.
func TestUnknownPartsAreKeptByteForByte(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		into interface {
			json.Unmarshaler
			AppendJSON([]byte) []byte
		}
	}{
		{`{"toolCallId":"c","content":[{"type":"_hologram","x":[1.50]},{"type":"content","content":{"type":"_smell","y":9007199254740993}}]}`, new(ToolCallUpdate)},
		{`{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"_smell","y":1.0}}}`, new(SessionNotification)},
		{`{"outcome":{"outcome":"_shrug","why":null}}`, new(RequestPermissionResponse)},
		{`{"protocolVersion":1,"authMethods":[{"type":"_handshake","id":"i","name":"n","grip":"firm"}]}`, new(InitializeResponse)},
		{`{"protocolVersion":1,"agentCapabilities":{"_new":{"a":[]},"promptCapabilities":{"smell":true}}}`, new(InitializeResponse)},
	} {
		if err := c.into.UnmarshalJSON([]byte(c.text)); err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if got := string(c.into.AppendJSON(nil)); !sameJSON(got, c.text) {
			t.Errorf("%s\nis written as\n%s", c.text, got)
		}
	}
}

// C111 of the conformance list. The enums of version 1 are closed. An unknown value
// that decides something is refused; one that only describes is kept, and Check
// reports it.
func TestUnknownValuesDecideNothing(t *testing.T) {
	t.Parallel()
	for text, into := range map[string]json.Unmarshaler{
		`{"stopReason":"_nap"}`: new(PromptResponse),
		`{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[{"optionId":"o","name":"n","kind":"_allow_sometimes"}]}`: new(RequestPermissionRequest),
		`{"cwd":"/","mcpServers":[{"type":"_pigeon","name":"n","loft":7}]}`:                                                 new(NewSessionRequest),
	} {
		if err := into.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

// C111 of the conformance list. A proxy older than its peers passes these on.
func TestUnknownWordsThatOnlyDescribeAreKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		into interface {
			json.Unmarshaler
			AppendJSON([]byte) []byte
		}
		reported []string
	}{
		{`{"toolCallId":"c","title":"t","kind":"_debug","status":"_paused"}`, new(ToolCall), []string{"/kind", "/status"}},
		{`{"toolCallId":"c","kind":"_debug","status":"_paused"}`, new(ToolCallUpdate), []string{"/kind", "/status"}},
		{`{"entries":[{"content":"a","priority":"_urgent","status":"_stuck"},{"content":"b","priority":"low","status":"pending"}]}`, new(Plan), []string{"/entries/0/priority", "/entries/0/status"}},
		{`{"audience":["user","_auditor"]}`, new(Annotations), []string{"/audience/1"}},
	} {
		if err := c.into.UnmarshalJSON([]byte(c.text)); err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := string(c.into.AppendJSON(nil)); got != c.text {
			t.Errorf("%s\nis written as\n%s", c.text, got)
		}
		var at []string
		for _, v := range Check(c.into) {
			if v.Rule == "enum" {
				at = append(at, v.Pointer)
			}
		}
		if !slices.Equal(at, c.reported) {
			t.Errorf("%s: Check reports %v, want %v", c.text, at, c.reported)
		}
	}
	var bad ToolCall // a value of a wrong type is still repaired
	if err := bad.UnmarshalJSON([]byte(`{"toolCallId":"c","title":"t","kind":7,"status":{}}`)); err != nil || bad.Kind.OK || bad.Status.OK {
		t.Errorf("%+v, %v", bad, err)
	}
}

// sameJSON compares members in any order, and numbers as they are written.
func sameJSON(a, b string) bool {
	norm := func(s string) string {
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			return err.Error()
		}
		out, _ := json.Marshal(v)
		return string(out)
	}
	return norm(a) == norm(b)
}

// C112, C113 of the conformance list.
func TestAKnownTagWithABadPayloadIsNotUnknown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, want string
		into       json.Unmarshaler
	}{
		{`{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"image"}}}`, "/update/content", new(SessionNotification)},
		{`{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"text":"x"}}}`, "/update/content", new(SessionNotification)},
		{`{"sessionId":"s","prompt":[{"type":"text"}]}`, "/prompt/0", new(PromptRequest)},
		{`{"sessionId":"s","prompt":[{"text":"x"}]}`, "/prompt/0", new(PromptRequest)},
		{`{"outcome":{"outcome":"selected"}}`, "/outcome", new(RequestPermissionResponse)},
		{`{"outcome":{"optionId":"o"}}`, "/outcome", new(RequestPermissionResponse)},
		{`{"cwd":"/","mcpServers":[{"type":"http","name":"n","headers":[]}]}`, "/mcpServers/0", new(NewSessionRequest)},
		{`{"cwd":"/","mcpServers":[{"name":"n","args":[],"env":[]}]}`, "/mcpServers/0", new(NewSessionRequest)},
	} {
		if err := c.into.UnmarshalJSON([]byte(c.text)); err == nil {
			t.Errorf("%s is taken", c.text)
		} else if at, ok := Pointer(err); !ok || !strings.HasPrefix(at, c.want) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
	// The two forms that are older than their tags.
	var n NewSessionRequest
	if err := n.UnmarshalJSON([]byte(`{"cwd":"/","mcpServers":[{"name":"n","command":"/c","args":["a"],"env":[]}]}`)); err != nil {
		t.Fatal(err)
	}
	if s, ok := n.MCPServers[0].(*MCPServerStdio); !ok || s.Command != "/c" {
		t.Errorf("%#v", n.MCPServers[0])
	}
	var i InitializeResponse
	if err := i.UnmarshalJSON([]byte(`{"protocolVersion":1,"authMethods":[{"id":"i","name":"n"}]}`)); err != nil {
		t.Fatal(err)
	}
	if a, ok := i.AuthMethods[0].(*AuthMethodAgent); !ok || a.ID != "i" {
		t.Errorf("%#v", i.AuthMethods[0])
	}
}

// C115, C116 of the conformance list.
func TestOnlyMembersThatProtectNobodyAreRepaired(t *testing.T) {
	t.Parallel()
	var u ToolCall
	if err := u.UnmarshalJSON([]byte(`{"toolCallId":"c","title":"t","kind":5,"locations":[{"path":"/a"},{"path":7},{"path":"/b"}],"rawInput":{}}`)); err != nil {
		t.Fatal(err)
	}
	if u.Kind.OK || len(u.Locations) != 2 || u.Locations[1].Path != "/b" {
		t.Errorf("%+v", u)
	}
	for text, into := range map[string]json.Unmarshaler{
		`{"sessionId":"s","command":"c","args":["a",7]}`:       new(CreateTerminalRequest),
		`{"sessionId":"s","command":"c","args":"a"}`:           new(CreateTerminalRequest),
		`{"sessionId":"s","command":"c","env":[{"name":"A"}]}`: new(CreateTerminalRequest),
		`{"sessionId":"s","command":"c","cwd":7}`:              new(CreateTerminalRequest),
		`{"sessionId":"s","path":"/a","line":"1"}`:             new(ReadTextFileRequest),
		`{"sessionId":"s","path":"/a","content":7}`:            new(WriteTextFileRequest),
		`{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[{"optionId":"a","name":"n","kind":"allow_once"},{"optionId":"b"}]}`: new(RequestPermissionRequest),
		`{"cwd":"/","mcpServers":[{"name":"n","command":"/c","args":[7],"env":[]}]}`:                                                   new(NewSessionRequest),
		`{"cwd":"/","mcpServers":[{"name":"n","command":"/c","args":[],"env":[{"name":"A","value":1}]}]}`:                              new(NewSessionRequest),
		`{"cwd":"/","mcpServers":[7]}`:                                 new(NewSessionRequest),
		`{"cwd":"/","mcpServers":[],"additionalDirectories":["/a",7]}`: new(NewSessionRequest),
	} {
		if err := into.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

// C118 of the conformance list.
func TestTextIsNeverReadAsABoolean(t *testing.T) {
	t.Parallel()
	var r InitializeResponse
	if err := r.UnmarshalJSON([]byte(`{"protocolVersion":1,"agentCapabilities":{"loadSession":"true","promptCapabilities":{"image":"true","audio":1}}}`)); err == nil {
		if c := r.AgentCapabilities; c.LoadSession || c.PromptCapabilities.Image || c.PromptCapabilities.Audio {
			t.Errorf("%+v", c)
		}
	}
	var c ClientCapabilities
	if err := c.UnmarshalJSON([]byte(`{"terminal":"true","fs":{"readTextFile":"true"}}`)); err == nil && (c.Terminal || c.Fs.ReadTextFile) {
		t.Errorf("%+v", c)
	}
	var s SetSessionConfigOptionRequest
	const text = `{"sessionId":"s","configId":"c","value":"true"}`
	if err := s.UnmarshalJSON([]byte(text)); err != nil || string(s.AppendJSON(nil)) != text {
		t.Errorf("%v, %s", err, s.AppendJSON(nil))
	}
	if err := s.UnmarshalJSON([]byte(`{"sessionId":"s","configId":"c","type":"boolean","value":"true"}`)); err == nil {
		t.Errorf("a boolean option is set to text: %s", s.AppendJSON(nil))
	}
}

// C110 of the conformance list.
func TestAbsentCapabilitiesAreOff(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"protocolVersion":1}`, `{"protocolVersion":1,"agentCapabilities":{}}`, `{"protocolVersion":1,"agentCapabilities":null}`,
		`{"protocolVersion":1,"agentCapabilities":{"promptCapabilities":{},"mcpCapabilities":{},"sessionCapabilities":{}}}`} {
		var r InitializeResponse
		if err := r.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		c := r.AgentCapabilities
		if c == nil {
			continue // nothing can be on
		}
		p, m, s := c.PromptCapabilities, c.MCPCapabilities, c.SessionCapabilities
		if c.LoadSession || p != nil && (p.Image || p.Audio || p.EmbeddedContext) || m != nil && (m.HTTP || m.SSE) ||
			s != nil && (s.List != nil || s.Close != nil || s.Resume != nil) {
			t.Errorf("%s: %+v", text, c)
		}
	}
	var q InitializeRequest
	if err := q.UnmarshalJSON([]byte(`{"protocolVersion":1,"clientCapabilities":{"fs":{}}}`)); err != nil {
		t.Fatal(err)
	}
	if c := q.ClientCapabilities; c.Terminal || c.Fs.ReadTextFile || c.Fs.WriteTextFile || c.Elicitation != nil {
		t.Errorf("%+v", c)
	}
}

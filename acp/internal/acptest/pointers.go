package acptest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp/validate"
	"github.com/hermes-nvim/hermes/internal/jx"
)

const (
	v1Only       = "v1 unstable"
	v2Only       = "v2 v2/unstable"
	unstableOnly = "unstable v2/unstable"
	every        = v1Only + " " + v2Only
)

// mistakes are values that fail, most of them with a known tag, and the JSON
// pointer that the decoder and the validator must both name.
var mistakes = []struct{ editions, definition, text, at string }{
	{every, "ContentBlock", `{"type":"text"}`, ""},
	{every, "ContentBlock", `{"type":"text","text":1}`, "/text"},
	{every, "ContentBlock", `{"type":"text","text":null}`, "/text"},
	{every, "ContentBlock", `{"type":"image","mimeType":"a"}`, ""},
	{every, "ContentBlock", `{"type":"image","data":[],"mimeType":"a"}`, "/data"},
	{every, "ContentBlock", `{"type":"audio","data":"aGk="}`, ""},
	{every, "ContentBlock", `{"type":"audio","data":"aGk=","mimeType":{}}`, "/mimeType"},
	{every, "ContentBlock", `{"type":"resource_link","name":"n"}`, ""},
	{every, "ContentBlock", `{"type":"resource_link","name":false,"uri":"file:///a"}`, "/name"},
	{every, "ContentBlock", `{"type":"resource"}`, ""},
	{every, "ContentBlock", `{"type":"resource","resource":7}`, "/resource"},
	{every, "ContentBlock", `{"type":"resource","resource":{"uri":"file:///a"}}`, "/resource"},
	{every, "ContentBlock", `{"type":"resource","resource":{"uri":5,"text":"t"}}`, "/resource/uri"},
	{every, "ContentBlock", `{"type":"resource","resource":{"uri":"file:///a","text":5}}`, "/resource/text"},
	{every, "ContentBlock", `{"text":"t"}`, ""},
	{every, "ContentBlock", `{"type":7}`, "/type"},
	{every, "ContentBlock", `[]`, ""},
	{every, "ContentBlock", `{"type":"text","text":"a","text":"b"}`, "/text"},
	{v1Only, "SessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk"}}`, "/update"},
	{v1Only, "SessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":5}}}`, "/update/content/text"},
	{v1Only, "SessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":null}}`, "/update/content"},
	{v1Only, "SessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"tool_call","title":"t"}}`, "/update"},
	{v1Only, "SessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":[]}}`, "/update/title"},
	{v1Only, "SessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"tool_call_update"}}`, "/update"},
	{v1Only, "SessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":7}}`, "/update/toolCallId"},
	{v1Only, "SessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"plan"}}`, "/update"},
	{v1Only, "SessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"current_mode_update"}}`, "/update"},
	{v1Only, "SessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"current_mode_update","currentModeId":1}}`, "/update/currentModeId"},
	{v1Only, "SessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"usage_update","used":"1","size":2}}`, "/update/used"},
	{v1Only, "SessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"usage_update","used":-1,"size":2}}`, "/update/used"},
	{v1Only, "SessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"config_option_update"}}`, "/update"},
	{v1Only, "SessionNotification", `{"sessionId":"s","update":{"sessionUpdate":null}}`, "/update/sessionUpdate"},
	{v1Only, "SessionNotification", `{"sessionId":"s","update":{}}`, "/update"},
	{v1Only, "SessionNotification", `{"sessionId":"s","update":"plan"}`, "/update"},
	{v2Only, "UpdateSessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"tool_call_update"}}`, "/update"},
	{v2Only, "UpdateSessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":7}}`, "/update/toolCallId"},
	{v2Only, "UpdateSessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"state_update","state":7}}`, "/update/state"},
	{v2Only, "UpdateSessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"state_update"}}`, "/update"},
	{v2Only, "UpdateSessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":5},"messageId":"m"}}`, "/update/content/text"},
	{v2Only, "UpdateSessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"t"}}}`, "/update"},
	{v2Only, "UpdateSessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"terminal_update"}}`, "/update"},
	{v2Only, "UpdateSessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"usage_update","used":1.5,"size":2}}`, "/update/used"},
	{v2Only, "UpdateSessionNotification", `{"sessionId":"s","update":{"sessionUpdate":[]}}`, "/update/sessionUpdate"},
	{v2Only, "UpdateSessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"config_option_update","configOptions":5}}`, "/update/configOptions"},
	{every, "PromptRequest", `{"sessionId":"s","prompt":[{"type":"text","text":"a"},{"type":"text"}]}`, "/prompt/1"},
	{every, "PromptRequest", `{"sessionId":"s","prompt":[{"type":"text","text":"a"},{"type":"image","data":1,"mimeType":"a"}]}`, "/prompt/1/data"},
	{every, "NewSessionRequest", `{"cwd":"/","mcpServers":[{"type":"http","name":"n","url":"https://a","headers":[{"name":"a"}]}]}`, "/mcpServers/0/headers/0"},
	{every, "NewSessionRequest", `{"cwd":"/","mcpServers":[{"type":"http","name":"n","url":5,"headers":[]}]}`, "/mcpServers/0/url"},
	{every, "NewSessionRequest", `{"cwd":5,"mcpServers":[]}`, "/cwd"},
	{v1Only, "NewSessionRequest", `{"cwd":"/","mcpServers":[{"name":"n","command":"c","args":[1],"env":[]}]}`, "/mcpServers/0/args/0"},
	{v1Only, "NewSessionRequest", `{"cwd":"/","mcpServers":[{"name":"n","command":"c","args":[],"env":[{"name":"a","value":{}}]}]}`, "/mcpServers/0/env/0/value"},
	{v2Only, "NewSessionRequest", `{"cwd":"/","mcpServers":[{"type":"stdio","name":"n","command":7}]}`, "/mcpServers/0/command"},
	{v1Only, "RequestPermissionResponse", `{"outcome":{"outcome":"selected"}}`, "/outcome"},
	{v1Only, "RequestPermissionResponse", `{"outcome":{"outcome":"selected","optionId":1}}`, "/outcome/optionId"},
	{v2Only, "RequestPermissionResponse", `{"outcome":{"outcome":"selected"}}`, "/outcome"},
	{v2Only, "RequestPermissionResponse", `{"outcome":{"outcome":"selected","optionId":1}}`, "/outcome/optionId"},
	{v1Only, "RequestPermissionRequest", `{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[{"optionId":"a","name":"n","kind":7}]}`, "/options/0/kind"},
	{v1Only, "RequestPermissionRequest", `{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[{"optionId":"a","kind":"allow_once"}]}`, "/options/0"},
	{v1Only, "CreateTerminalRequest", `{"sessionId":"s","command":"ls","args":["-l",null]}`, "/args/1"},
	{v1Only, "CreateTerminalRequest", `{"sessionId":"s","command":"ls","env":[{"name":"a"}]}`, "/env/0"},
	{v1Only, "ReadTextFileRequest", `{"sessionId":"s","path":"/a","line":-1}`, "/line"},
	{v1Only, "ReadTextFileRequest", `{"sessionId":"s","path":"/a","limit":4294967296}`, "/limit"},
	{every, "InitializeRequest", `{"protocolVersion":70000,"info":{"name":"n","version":"1"}}`, "/protocolVersion"},
	{every, "InitializeRequest", `{"protocolVersion":"1","info":{"name":"n","version":"1"}}`, "/protocolVersion"},
	{v2Only, "InitializeRequest", `{"protocolVersion":2}`, ""},
	{v1Only, "SetSessionConfigOptionRequest", `{"sessionId":"s","configId":"c","type":"boolean","value":3}`, "/value"},
	{unstableOnly, "MessageMcpResponse", `{"error":{"code":1}}`, "/error"},
}

func (k *kit) testPlaces(t *testing.T) {
	v := validate.New(validate.Edition(k.Package.Edition), validate.Tolerant)
	n := 0
	for _, m := range mistakes {
		if !slices.Contains(strings.Fields(m.editions), k.Package.Edition) {
			continue
		}
		n++
		codec := k.Definitions[m.definition]
		if codec == nil {
			t.Errorf("no definition %s", m.definition)
			continue
		}
		_, _, err := codec([]byte(m.text))
		var e *jx.Error
		if !errors.As(err, &e) || e.Syntax || e.Pointer != m.at {
			t.Errorf("%s %s\n  decoder: %v, want an error at %q", m.definition, m.text, err, m.at)
		}
		found, err := v.Value(m.definition, []byte(m.text))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 || slices.ContainsFunc(found, func(f validate.Finding) bool { return f.Pointer != m.at }) {
			t.Errorf("%s %s\n  validator: %v, want findings at %q only", m.definition, m.text, found, m.at)
		}
	}
	t.Logf("%d mistakes", n)
}

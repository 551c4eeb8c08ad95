package report

import (
	"fmt"
	"strings"

	"github.com/hermes-nvim/hermes/internal/jtree"
	"github.com/hermes-nvim/hermes/runtime/lint"
)

// One line about a message has the values at these paths, where * is every element of a
// list.
var (
	asked = map[string][]string{
		"initialize":                 {"protocolVersion", "clientInfo.name", "clientInfo.version", "info.name", "info.version"},
		"authenticate":               {"methodId"},
		"session/new":                {"cwd"},
		"session/load":               {"sessionId", "cwd"},
		"session/resume":             {"sessionId", "cwd"},
		"session/prompt":             {"prompt.*.text", "prompt.*.uri"},
		"session/set_mode":           {"modeId"},
		"session/set_model":          {"modelId"},
		"session/set_config_option":  {"configId", "value"},
		"session/request_permission": {"title", "toolCall.title", "subject.toolCall.title", "toolCall.toolCallId"},
		"fs/read_text_file":          {"path"},
		"fs/write_text_file":         {"path"},
		"terminal/create":            {"command", "args.*"},
		"terminal/output":            {"terminalId"},
		"terminal/wait_for_exit":     {"terminalId"},
		"terminal/kill":              {"terminalId"},
		"terminal/release":           {"terminalId"},
		"elicitation/create":         {"message"},
		"$/cancel_request":           {"requestId"},
	}
	answered = map[string][]string{
		"initialize":                 {"protocolVersion", "agentInfo.name", "agentInfo.version", "info.name", "info.version"},
		"session/new":                {"sessionId"},
		"session/prompt":             {"stopReason"},
		"session/request_permission": {"outcome.outcome", "outcome.optionId"},
		"session/list":               {"sessions.*.sessionId"},
		"fs/read_text_file":          {"content"},
		"terminal/create":            {"terminalId"},
		"terminal/output":            {"output"},
		"terminal/wait_for_exit":     {"exitCode", "signal"},
		"elicitation/create":         {"action"},
	}
	updated = map[string][]string{
		"agent_message_chunk":       {"content.text"},
		"agent_thought_chunk":       {"content.text"},
		"user_message_chunk":        {"content.text"},
		"tool_call":                 {"title", "kind", "status"},
		"tool_call_update":          {"title", "status"},
		"plan":                      {"entries.*.content"},
		"available_commands_update": {"availableCommands.*.name"},
		"current_mode_update":       {"currentModeId"},
		"config_option_update":      {"configOptions.*.id"},
		"session_info_update":       {"title"},
		"usage_update":              {"used", "size"},
		"state_update":              {"state", "stopReason"},
	}
)

// brief says in a few words what a message is about. root is the root of the masked
// message.
func brief(m *lint.Message, root jtree.Value) string {
	var paths []string
	var from jtree.Value
	switch {
	case m.UpdateTag != "":
		paths, from = updated[m.UpdateTag], root.Get("params", "update")
	case m.Kind == lint.AnswerMessage && m.Failed():
		code, _ := root.Get("error", "code").Int()
		return fmt.Sprintf("error %d: %s", code, first(root.Get("error", "message")))
	case m.Kind == lint.AnswerMessage:
		paths, from = answered[m.Method], root.Get("result")
	default:
		paths, from = asked[m.Method], root.Get("params")
	}
	var words []string
	for _, p := range paths {
		words = gather(words, from, strings.Split(p, "."))
	}
	if strings.HasSuffix(m.UpdateTag, "_chunk") {
		return strings.Join(words, "")
	}
	return strings.Join(words, " · ")
}

// gather appends the values at a path.
func gather(words []string, v jtree.Value, path []string) []string {
	switch {
	case len(words) >= maxDetails || !v.Set():
	case len(path) == 0:
		if s := first(v); s != "" && (len(words) == 0 || words[len(words)-1] != s) {
			words = append(words, s)
		}
	case path[0] == "*":
		for _, e := range v.Items() {
			words = gather(words, e, path[1:])
		}
	default:
		words = gather(words, v.Get(path[0]), path[1:])
	}
	return words
}

// first is the beginning of a value.
func first(v jtree.Value) string {
	text := v.Text()
	if v.IsString() {
		text = v.Bytes()
	}
	return string(text[:min(len(text), 2*maxBrief)])
}

package testagent

import "fmt"

// Block is a content block, with the name it gives to events and a member of its data.
type Block struct{ Name, JSON, Key, Value string }

// Blocks has one of each type.
var Blocks = []Block{
	{"Text", `{"type":"text","text":"t"}`, "text", "t"},
	{"Image", `{"type":"image","data":"aQ==","mimeType":"image/png"}`, "mimeType", "image/png"},
	{"Audio", `{"type":"audio","data":"aQ==","mimeType":"audio/wav"}`, "mimeType", "audio/wav"},
	{"ResourceLink", `{"type":"resource_link","name":"n","uri":"file:///n"}`, "uri", "file:///n"},
	{"Resource", `{"type":"resource","resource":{"uri":"file:///n","text":"t"}}`, "resource.uri", "file:///n"},
	{"Unknown", `{"type":"_smell","of":"roses"}`, "type", "_smell"},
}

// Update is an update with the name of its event and a member of the data.
type Update struct{ JSON, Event, Key, Value string }

// Updates has an update of each kind.
func Updates() []Update {
	rows := []Update{
		{`{"sessionUpdate":"tool_call","toolCallId":"c","title":"T","kind":"edit"}`, "AgentToolCall", "kind", "edit"},
		{`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed"}`, "AgentToolCallUpdate", "status", "failed"},
		{`{"sessionUpdate":"plan","entries":[{"content":"e","priority":"low","status":"pending"}]}`, "AgentPlan", "entries[1].content", "e"},
		{`{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"n","description":"d"}]}`, "AgentAvailableCommands", "availableCommands[1].name", "n"},
		{`{"sessionUpdate":"current_mode_update","currentModeId":"m"}`, "AgentCurrentMode", "id", "m"},
		{`{"sessionUpdate":"config_option_update","configOptions":[{"id":"o","name":"O","type":"boolean","currentValue":true}]}`, "AgentConfigOption", "configOptions[1].id", "o"},
		{`{"sessionUpdate":"session_info_update","title":"i"}`, "SessionUpdate", "title", "i"},
		{`{"sessionUpdate":"usage_update","used":1,"size":2}`, "UsageUpdate", "update.sessionUpdate", "usage_update"},
		{`{"sessionUpdate":"notice","severity":"warning","title":"w"}`, "AgentNotice", "severity", "warning"},
		{`{"sessionUpdate":"compaction_update","compactionId":"k","status":"in_progress"}`, "CompactionUpdate", "compactionId", "k"},
		{`{"sessionUpdate":"compaction_summary_chunk","compactionId":"k","content":{"type":"text","text":"s"}}`, "CompactionSummaryChunk", "content.text", "s"},
		{`{"sessionUpdate":"_dance","steps":"two"}`, "SessionUpdateUnknown", "update.steps", "two"},
	}
	for update, event := range map[string]string{
		"agent_message_chunk": "Agent%sMessage", "agent_thought_chunk": "Agent%sThought", "user_message_chunk": "User%sMessage",
	} {
		for _, b := range Blocks {
			rows = append(rows, Update{`{"sessionUpdate":"` + update + `","content":` + b.JSON + `}`, fmt.Sprintf(event, b.Name), b.Key, b.Value})
		}
	}
	return rows
}

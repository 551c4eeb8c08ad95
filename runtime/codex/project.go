package codex

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
)

// Item is something that a turn has produced, as a message for a conversation.
type Item struct {
	ID     string
	Kind   string // the word of the app-server, such as "agentMessage" or "commandExecution"
	Role   Role
	Text   string // of a message; of a tool: its output
	Tool   string // its name, or the command; empty for messages
	Input  json.RawMessage
	Failed bool
	Raw    *appserver.ThreadItem
}

// Role says whose an item is.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// note keeps what a notification says about the turn.
func (t *turn) note(note any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch n := note.(type) {
	case *appserver.ErrorNotification:
		if n.WillRetry {
			t.retry = n.Error.Message
			return // the turn does not advance
		}
	case *appserver.ItemStartedNotification:
		if i := Project(&n.Item); i != nil {
			t.started[i.ID] = &n.Item
			if i.Role == RoleTool {
				t.running[i.ID] = true
			}
		}
	case *appserver.FileChangePatchUpdatedNotification:
		if i := t.started[n.ItemID]; i != nil {
			if f, ok := i.Variant.(*appserver.ThreadItemFileChange); ok {
				f.Changes = n.Changes
			}
		}
	case *appserver.ItemCompletedNotification:
		if i := Project(&n.Item); i != nil {
			delete(t.running, i.ID)
			delete(t.started, i.ID)
			t.items = append(t.items, *i)
			switch n.Item.Variant.(type) {
			case *appserver.ThreadItemCommandExecution, *appserver.ThreadItemFileChange, *appserver.ThreadItemMCPToolCall, *appserver.ThreadItemDynamicToolCall:
				t.tools++
			}
		}
	}
	t.last = time.Now()
}

// item is a tool's item that has started.
func (t *turn) item(id string) *appserver.ThreadItem {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.started[id]
}

// Project makes an item of what the app-server reports; nil for a kind that this
// version does not know.
func Project(item *appserver.ThreadItem) *Item {
	i := &Item{Raw: item, Role: RoleTool}
	switch v := item.Variant.(type) {
	case *appserver.ThreadItemUserMessage:
		i.ID, i.Kind, i.Role, i.Text = v.ID, "userMessage", RoleUser, inputText(v.Content)
	case *appserver.ThreadItemAgentMessage:
		i.ID, i.Kind, i.Role, i.Text = v.ID, "agentMessage", RoleAssistant, v.Text
	case *appserver.ThreadItemPlan:
		i.ID, i.Kind, i.Role, i.Text = v.ID, "plan", RoleAssistant, v.Text
	case *appserver.ThreadItemReasoning:
		i.ID, i.Kind, i.Role, i.Text = v.ID, "reasoning", RoleAssistant, strings.Join(append(v.Summary, v.Content...), "\n\n")
	case *appserver.ThreadItemCommandExecution:
		i.ID, i.Kind, i.Tool, i.Text = v.ID, "commandExecution", v.Command, v.AggregatedOutput.V
		i.Failed = v.Status == appserver.CommandExecutionStatusFailed || v.Status == appserver.CommandExecutionStatusDeclined || v.ExitCode.V != 0
	case *appserver.ThreadItemFileChange:
		i.ID, i.Kind, i.Tool, i.Text = v.ID, "fileChange", "apply_patch", patchText(v.Changes)
		i.Failed = v.Status == appserver.PatchApplyStatusFailed || v.Status == appserver.PatchApplyStatusDeclined
	case *appserver.ThreadItemMCPToolCall:
		i.ID, i.Kind, i.Tool, i.Input = v.ID, "mcpToolCall", v.Server+"."+v.Tool, v.Arguments
		i.Failed = v.Status == appserver.MCPToolCallStatusFailed
		if v.Error != nil {
			i.Text = v.Error.Message
		} else if v.Result != nil {
			i.Text = string(v.Result.AppendJSON(nil))
		}
	case *appserver.ThreadItemDynamicToolCall:
		i.ID, i.Kind, i.Tool, i.Input = v.ID, "dynamicToolCall", v.Tool, v.Arguments
		i.Failed = v.Status == appserver.DynamicToolCallStatusFailed
	case *appserver.ThreadItemCollabAgentToolCall:
		i.ID, i.Kind, i.Tool, i.Text = v.ID, "collabAgentToolCall", string(v.Tool), v.Prompt.V
		i.Failed = v.Status == appserver.CollabAgentToolCallStatusFailed
	case *appserver.ThreadItemSubAgentActivity:
		i.ID, i.Kind, i.Tool, i.Text = v.ID, "subAgentActivity", v.AgentPath, string(v.Kind)
	case *appserver.ThreadItemWebSearch:
		i.ID, i.Kind, i.Tool, i.Text = v.ID, "webSearch", "web_search", v.Query
	case *appserver.ThreadItemImageView:
		i.ID, i.Kind, i.Tool, i.Text = v.ID, "imageView", "view_image", string(v.Path)
	case *appserver.ThreadItemImageGeneration:
		i.ID, i.Kind, i.Tool, i.Text = v.ID, "imageGeneration", "image_generation", string(v.SavedPath.V)
	default:
		return nil
	}
	return i
}

// inputText is what is text in a message of the user.
func inputText(input []appserver.UserInput) string {
	var parts []string
	for _, in := range input {
		if text, ok := in.(*appserver.UserInputText); ok {
			parts = append(parts, text.Text)
		}
	}
	return strings.Join(parts, "\n")
}

func patchText(changes []appserver.FileUpdateChange) string {
	var b strings.Builder
	for _, c := range changes {
		b.WriteString("*** " + c.Path + "\n" + c.Diff)
	}
	return b.String()
}

// finalText is the last message of the agent: among the items of the turn, or else
// in the end that codex has declared.
func finalText(items []Item, declared []appserver.ThreadItem) string {
	for i := len(items) - 1; i >= 0; i-- {
		if items[i].Kind == "agentMessage" {
			return items[i].Text
		}
	}
	for i := len(declared) - 1; i >= 0; i-- {
		if m, ok := declared[i].Variant.(*appserver.ThreadItemAgentMessage); ok {
			return m.Text
		}
	}
	return ""
}

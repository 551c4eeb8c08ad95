package codexagent

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/codex"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
)

// call is the tool call that an item is, as it begins; nil for other items.
func (s *session) call(item *appserver.ThreadItem) *acp.ToolCall {
	i := codex.Project(item)
	if i == nil || i.Role != codex.RoleTool {
		return nil
	}
	c := acp.NewToolCall(acp.ToolCallID(i.ID), i.Tool)
	c.Status, c.RawInput = acp.Some(acp.ToolCallStatusInProgress), i.Input
	kind := acp.ToolKindOther
	switch v := item.Variant.(type) {
	case *appserver.ThreadItemCommandExecution:
		kind, c.Title, c.Locations = command(v)
		c.RawInput, _ = json.Marshal(map[string]string{"command": v.Command, "cwd": string(v.Cwd)})
		if s.agent.meta("terminal_output") {
			c.Content = []acp.ToolCallContent{&acp.Terminal{TerminalID: acp.TerminalID(v.ID)}}
			c.Meta = meta("terminal_info", map[string]any{"terminal_id": v.ID, "cwd": v.Cwd})
		}
	case *appserver.ThreadItemFileChange:
		kind, c.Title = acp.ToolKindEdit, editTitle(v.Changes)
		c.Content, c.Locations = diffs(v.Changes), places(v.Changes)
	case *appserver.ThreadItemWebSearch:
		kind, c.Title = acp.ToolKindFetch, "Search the web: "+v.Query
	case *appserver.ThreadItemImageView:
		kind, c.Title = acp.ToolKindRead, "Look at "+filepath.Base(string(v.Path))
		c.Locations = located(string(v.Path), s.dir)
	case *appserver.ThreadItemImageGeneration:
		c.Title = "Make an image"
	case *appserver.ThreadItemCollabAgentToolCall, *appserver.ThreadItemSubAgentActivity:
		kind = acp.ToolKindThink
	}
	if c.Title == "" {
		c.Title = i.Kind
	}
	c.Kind = acp.Some(kind)
	return c
}

// command is what a command does, as far as codex can tell.
func command(v *appserver.ThreadItemCommandExecution) (kind acp.ToolKind, title string, at []acp.ToolCallLocation) {
	var texts []string
	for n, action := range v.CommandActions {
		k := acp.ToolKindExecute
		switch a := action.(type) {
		case *appserver.CommandActionRead:
			k = acp.ToolKindRead
			texts = append(texts, a.Command)
			at = append(at, located(string(a.Path), string(v.Cwd))...)
		case *appserver.CommandActionListFiles:
			k = acp.ToolKindSearch
			texts = append(texts, a.Command)
		case *appserver.CommandActionSearch:
			k = acp.ToolKindSearch
			texts = append(texts, a.Command)
		case *appserver.CommandActionUnknown:
			texts = append(texts, a.Command)
		}
		if n > 0 && k != kind {
			k = acp.ToolKindExecute
		}
		kind = k
	}
	if texts == nil {
		return acp.ToolKindExecute, v.Command, at
	}
	return kind, strings.Join(texts, "; "), at
}

func located(path, dir string) []acp.ToolCallLocation {
	if path == "" {
		return nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return []acp.ToolCallLocation{*acp.NewToolCallLocation(path)}
}

// finish fills in how a tool call ended.
func (s *session) finish(c *acp.ToolCall, item *appserver.ThreadItem) {
	i := codex.Project(item)
	c.Status = acp.Some(acp.ToolCallStatusCompleted)
	if i.Failed {
		c.Status = acp.Some(acp.ToolCallStatusFailed)
	}
	switch v := item.Variant.(type) {
	case *appserver.ThreadItemCommandExecution:
		out := map[string]any{"status": v.Status}
		if v.ExitCode.OK {
			out["exitCode"] = v.ExitCode.V
		}
		c.RawOutput, _ = json.Marshal(out)
		if s.agent.meta("terminal_output") {
			exit := map[string]any{"terminal_id": v.ID, "signal": nil, "exit_code": nil}
			if v.ExitCode.OK {
				exit["exit_code"] = v.ExitCode.V
			}
			m := map[string]any{"terminal_exit": exit, "terminal_info": map[string]any{"terminal_id": v.ID, "cwd": v.Cwd}}
			if text := s.unseen(v); text != "" {
				m["terminal_output"] = map[string]any{"terminal_id": v.ID, "data": text}
			}
			c.Meta, _ = json.Marshal(m)
			return
		}
		c.Content = outputContent(i.Text)
	case *appserver.ThreadItemFileChange:
	case *appserver.ThreadItemMCPToolCall:
		if v.Error != nil {
			c.Content = outputContent(v.Error.Message)
		} else if v.Result != nil {
			c.RawOutput = v.Result.AppendJSON(nil)
			for _, raw := range v.Result.Content {
				if block, err := acp.DecodeContentBlock(raw); err == nil {
					c.Content = append(c.Content, acp.NewContent(block))
				}
			}
		}
	default:
		if i.Text != "" && i.Text != c.Title {
			c.Content = outputContent(i.Text)
		}
	}
}

// unseen is the output of a command that was not sent piece by piece: all of it
// when no piece was, because codex may leave out the first ones.
func (s *session) unseen(v *appserver.ThreadItemCommandExecution) string {
	s.shown.mu.Lock()
	defer s.shown.mu.Unlock()
	if o := s.shown.calls[v.ID]; o != nil && o.text.Len() > 0 {
		sent := o.text.String()
		if rest, ok := strings.CutPrefix(v.AggregatedOutput.V, sent); ok {
			return rest
		}
		return ""
	}
	return v.AggregatedOutput.V
}

// outputContent is text as a block of code, whatever is in it.
func outputContent(text string) []acp.ToolCallContent {
	if text == "" {
		return nil
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return []acp.ToolCallContent{acp.NewContent(acp.NewTextContent(fence + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence))}
}

func editTitle(changes []appserver.FileUpdateChange) string {
	var names []string
	for _, c := range changes {
		names = append(names, filepath.Base(c.Path))
	}
	return "Edit " + strings.Join(names, ", ")
}

func places(changes []appserver.FileUpdateChange) []acp.ToolCallLocation {
	var out []acp.ToolCallLocation
	for _, c := range changes {
		out = append(out, located(c.Path, "/")...)
	}
	return out
}

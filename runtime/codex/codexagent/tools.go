package codexagent

import (
	"cmp"
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
	c.Status, c.RawInput, c.Kind = acp.Some(acp.ToolCallStatusInProgress), i.Input, acp.Some(acp.ToolKindOther)
	switch v := item.Variant.(type) {
	case *appserver.ThreadItemCommandExecution:
		var kind acp.ToolKind
		kind, c.Title, c.Locations = command(v)
		c.Kind = acp.Some(kind)
		c.RawInput, _ = json.Marshal(map[string]string{"command": v.Command, "cwd": string(v.Cwd)})
		if s.agent.meta("terminal_output") {
			c.Content = []acp.ToolCallContent{&acp.Terminal{TerminalID: acp.TerminalID(v.ID)}}
			c.Meta = meta("terminal_info", map[string]any{"terminal_id": v.ID, "cwd": v.Cwd})
		}
	case *appserver.ThreadItemFileChange:
		s.edit(c, v.Changes)
	case *appserver.ThreadItemWebSearch:
		c.Kind, c.Title = acp.Some(acp.ToolKindFetch), "Search the web: "+v.Query
	case *appserver.ThreadItemImageView:
		c.Kind, c.Title = acp.Some(acp.ToolKindRead), "Look at "+filepath.Base(string(v.Path))
		c.Locations = located(string(v.Path), s.dir)
	case *appserver.ThreadItemImageGeneration:
		c.Title = "Make an image"
	case *appserver.ThreadItemCollabAgentToolCall, *appserver.ThreadItemSubAgentActivity:
		c.Kind = acp.Some(acp.ToolKindThink)
	}
	if c.Title == "" {
		c.Title = i.Kind
	}
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
	return []acp.ToolCallLocation{*acp.NewToolCallLocation(absolute(path, dir))}
}

func absolute(path, dir string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
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
		c.Content = outputContent(s.ended(v))
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

// ended is the output of a command that has ended: what codex says that it was, or the pieces if it
// does not. Pieces that come later are not shown.
func (s *session) ended(v *appserver.ThreadItemCommandExecution) string {
	s.shown.mu.Lock()
	defer s.shown.mu.Unlock()
	o := s.shown.calls[v.ID]
	if o == nil {
		return v.AggregatedOutput.V
	}
	o.ended = true
	return cmp.Or(v.AggregatedOutput.V, o.text.String())
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

// edit fills in what a tool call changes.
func (s *session) edit(c *acp.ToolCall, changes []appserver.FileUpdateChange) {
	var edited, deleted, moved []string
	c.Content, c.Locations = nil, nil
	for _, change := range changes {
		change.Path = absolute(change.Path, s.dir)
		c.Locations = append(c.Locations, *acp.NewToolCallLocation(change.Path))
		name := filepath.Base(change.Path)
		switch v := change.Kind.(type) {
		case *appserver.PatchChangeKindDelete:
			deleted = append(deleted, name)
		case *appserver.PatchChangeKindUpdate:
			if v.MovePath.V == "" {
				edited = append(edited, name)
				break
			}
			to := *v
			to.MovePath.V = absolute(v.MovePath.V, s.dir)
			change.Kind = &to
			c.Locations = append(c.Locations, *acp.NewToolCallLocation(to.MovePath.V))
			moved = append(moved, name+" to "+filepath.Base(to.MovePath.V))
			if change.Diff != "" {
				edited = append(edited, name)
			}
		default:
			edited = append(edited, name)
		}
		c.Content = append(c.Content, diff(change)...)
	}
	kind := acp.ToolKindEdit
	switch {
	case edited != nil:
	case moved == nil && deleted != nil:
		kind = acp.ToolKindDelete
	case deleted == nil && moved != nil:
		kind = acp.ToolKindMove
	}
	c.Kind = acp.Some(kind)
	var parts []string
	for _, part := range []struct {
		what  string
		names []string
	}{{"edit ", edited}, {"move ", moved}, {"delete ", deleted}} {
		if part.names != nil {
			parts = append(parts, part.what+strings.Join(part.names, ", "))
		}
	}
	if parts == nil {
		c.Title = "Edit files that Codex does not name"
		return
	}
	c.Title = strings.Join(parts, "; ")
	c.Title = strings.ToUpper(c.Title[:1]) + c.Title[1:]
}

package serve

import (
	"bytes"
	"encoding/json"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/runtime/terminal"
)

// foreignTerminal is the _meta of a tool call by which agents that run commands
// themselves report them: the start, output to append, and the end.
type foreignTerminal struct {
	Info struct {
		ID  acp.TerminalID `json:"terminal_id"`
		Cwd string         `json:"cwd"`
	} `json:"terminal_info"`
	Output foreignOutput `json:"terminal_output"`
	Delta  foreignOutput `json:"terminal_output_delta"`
	Exit   struct {
		ID     acp.TerminalID `json:"terminal_id"`
		Code   int            `json:"exit_code"`
		Signal string         `json:"signal"`
	} `json:"terminal_exit"`
}

type foreignOutput struct {
	ID   acp.TerminalID `json:"terminal_id"`
	Data string         `json:"data"`
}

// foreign shows the output of a terminal that the agent has of its own like the
// output of one that was made here. It skips a name that a terminal has here
// already, and a _meta of another shape.
func (s *Session) foreign(u acp.SessionUpdate) {
	var meta json.RawMessage
	var title string
	switch u := u.(type) {
	case *acp.ToolCall:
		meta, title = u.Meta, u.Title
	case *acp.ToolCallUpdate:
		meta, title = u.Meta, u.Title.Or("")
	}
	var f foreignTerminal
	if !bytes.Contains(meta, []byte(`"terminal_`)) || json.Unmarshal(meta, &f) != nil {
		return
	}
	if s.isForeign(f.Info.ID) {
		o := s.client.terminal(s.ID(), f.Info.ID)
		if title != "" {
			o.Str("title", title)
		}
		if f.Info.Cwd != "" {
			o.Str("cwd", f.Info.Cwd)
		}
		s.client.Editor.Push(o.Item(events.TerminalStarted))
	}
	for _, out := range []foreignOutput{f.Output, f.Delta} {
		if out.Data != "" && s.isForeign(out.ID) {
			s.client.terminalData(s.ID(), out.ID, out.Data, 0)
		}
	}
	if s.isForeign(f.Exit.ID) {
		s.client.terminalExited(s.ID(), f.Exit.ID, terminal.Status{Code: f.Exit.Code, Signal: f.Exit.Signal})
	}
}

func (s *Session) isForeign(id acp.TerminalID) bool {
	if id == "" {
		return false
	}
	_, err := s.client.services.TerminalOutput(s.client.Context, &acp.TerminalOutputRequest{SessionID: s.ID(), TerminalID: id})
	return err != nil
}

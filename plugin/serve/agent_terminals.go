package serve

import (
	"bytes"
	"encoding/json"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/runtime/terminal"
)

// foreignTerminal is what agents that run commands themselves tell of them in
// the _meta of a tool call: the start, output to append, and the end.
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

// foreign shows the output of a terminal the agent has of its own like that of
// one that was made here. A name that is taken here stays what it is, and what
// does not have the usual shape is left to whoever reads _meta.
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

package servicesv2

import (
	"github.com/hermes-nvim/hermes/acp"
	v2 "github.com/hermes-nvim/hermes/acp/v2"
	"github.com/hermes-nvim/hermes/runtime/history"
)

// Start adopts the answer to session/new or session/resume.
func Start(s *history.State, options []v2.SessionConfigOption, commands []v2.AvailableCommand) {
	s.Start(nil, optionsV1(options))
	if len(commands) > 0 {
		s.Apply(&acp.AvailableCommandsUpdate{AvailableCommands: commandsV1(commands)})
	}
}

// Apply adds an update of version 2 to the state of a session. Updates that this version does
// not know change nothing. See https://agentclientprotocol.com/protocol/v2/prompt-lifecycle.
func Apply(s *history.State, update v2.SessionUpdate) {
	s.Edit(func(e history.Edit) { apply(e, update) })
}

func apply(e history.Edit, update v2.SessionUpdate) {
	switch u := update.(type) {
	case *v2.UserMessageChunk:
		e.Apply((*acp.UserMessageChunk)(chunkV1(u.MessageID, u.Content)))
	case *v2.AgentMessageChunk:
		e.Apply((*acp.AgentMessageChunk)(chunkV1(u.MessageID, u.Content)))
	case *v2.AgentThoughtChunk:
		e.Apply((*acp.AgentThoughtChunk)(chunkV1(u.MessageID, u.Content)))
	case *v2.UserMessage:
		e.Message(history.User, acp.MessageID(u.MessageID), patchV1(u.Content))
	case *v2.AgentMessage:
		e.Message(history.Agent, acp.MessageID(u.MessageID), patchV1(u.Content))
	case *v2.AgentThought:
		e.Message(history.Thought, acp.MessageID(u.MessageID), patchV1(u.Content))
	case *v2.ToolCallUpdate:
		e.ToolCall(acp.ToolCallID(u.ToolCallID), func(c *history.ToolCall) { patchCall(c, u) })
	case *v2.ToolCallContentChunk:
		e.AddContent(acp.ToolCallID(u.ToolCallID), productV1(u.Content))
	case *v2.TerminalUpdate:
		patchTerminal(e, u)
	case *v2.TerminalOutputChunk:
		if data, err := u.Bytes(); err == nil {
			e.Output(acp.TerminalID(u.TerminalID), data, false)
		}
	case *v2.PlanUpdate:
		if p, ok := u.Plan.(*v2.PlanItems); ok {
			e.Plan(string(p.PlanID), entriesV1(p.Entries))
		}
	case *v2.AvailableCommandsUpdate:
		e.Apply(&acp.AvailableCommandsUpdate{AvailableCommands: commandsV1(u.AvailableCommands)})
	case *v2.ConfigOptionUpdate:
		e.Apply(&acp.ConfigOptionUpdate{ConfigOptions: optionsV1(u.ConfigOptions)})
	case *v2.SessionInfoUpdate:
		e.Apply(&acp.SessionInfoUpdate{Title: u.Title, UpdatedAt: u.UpdatedAt})
	case *v2.UsageUpdate:
		e.Apply(usageV1(e.Usage(), u))
	case *v2.Notice:
		e.Apply(&acp.Notice{Severity: acp.NoticeSeverity(u.Severity), Title: u.Title, Description: u.Description})
	case *v2.CompactionUpdate:
		e.Apply(&acp.CompactionUpdate{
			CompactionID: acp.CompactionID(u.CompactionID), Status: acp.CompactionStatus(u.Status), Summary: patchV1(u.Summary), Error: u.Error,
		})
	case *v2.CompactionSummaryChunk:
		e.Apply(&acp.CompactionSummaryChunk{CompactionID: acp.CompactionID(u.CompactionID), Content: contentV1(u.Content)})
	case v2.StateUpdate:
		e.Activity(activity(u))
	}
}

func activity(update v2.StateUpdate) history.Activity {
	switch u := update.(type) {
	case *v2.RunningStateUpdate:
		return history.Activity{State: "running", Background: background(u.Background)}
	case *v2.RequiresActionStateUpdate:
		return history.Activity{State: "requires_action", Background: background(u.Background)}
	case *v2.StateUpdateOther:
		return history.Activity{State: u.Tag}
	case *v2.IdleStateUpdate:
		a := history.Activity{State: "idle", Background: background(u.Background)}
		switch why := u.Variant.(type) {
		case *v2.IdleStateUpdateEndTurn:
			a.StopReason = acp.StopReasonEndTurn
		case *v2.IdleStateUpdateMaxTokens:
			a.StopReason = acp.StopReasonMaxTokens
		case *v2.IdleStateUpdateMaxTurnRequests:
			a.StopReason = acp.StopReasonMaxTurnRequests
		case *v2.IdleStateUpdateRefusal:
			a.StopReason = acp.StopReasonRefusal
		case *v2.IdleStateUpdateCancelled:
			a.StopReason = acp.StopReasonCancelled
		case *v2.ErrorStopReason:
			a.StopReason, a.Error = "error", why.Error
		case *v2.IdleStateUpdateOther:
			a.StopReason = acp.StopReason(why.Tag)
		}
		return a
	}
	return history.Activity{}
}

func background(list []v2.BackgroundWork) []history.Work {
	out := make([]history.Work, len(list))
	for i, w := range list {
		switch w := w.(type) {
		case *v2.BackgroundTerminal:
			out[i] = history.Work{Type: "terminal", ID: string(w.TerminalID)}
		case *v2.BackgroundToolCall:
			out[i] = history.Work{Type: "tool_call", ID: string(w.ToolCallID)}
		case *v2.BackgroundWorkOther:
			out[i] = history.Work{Type: w.Tag}
		}
	}
	return out
}

func patchCall(c *history.ToolCall, u *v2.ToolCallUpdate) {
	convert(&c.Name, u.Name, acp.Opt[string]{}, acp.Some[string])
	u.Title.Apply(&c.Title, "")
	convert(&c.Kind, u.Kind, acp.Some(acp.ToolKindOther), func(k v2.ToolKind) acp.Opt[acp.ToolKind] { return acp.Some(acp.ToolKind(k)) })
	convert(&c.Status, u.Status, acp.Some(acp.ToolCallStatusPending), func(v v2.ToolCallStatus) acp.Opt[acp.ToolCallStatus] {
		return acp.Some(acp.ToolCallStatus(v))
	})
	convert(&c.Content, u.Content, nil, func(list []v2.ToolCallContent) []acp.ToolCallContent {
		out := make([]acp.ToolCallContent, len(list))
		for i, p := range list {
			out[i] = productV1(p)
		}
		return out
	})
	convert(&c.Locations, u.Locations, nil, locationsV1)
	u.RawInput.Apply(&c.RawInput, nil)
	u.RawOutput.Apply(&c.RawOutput, nil)
	u.Meta.Apply(&c.Meta, nil)
	if u.Extra != nil {
		c.Extra = u.Extra
	}
	convert(&c.Capabilities, u.Capabilities, nil, func(can v2.ToolCallCapabilities) acp.Extra { return can.AppendJSON(nil) })
}

func patchTerminal(e history.Edit, u *v2.TerminalUpdate) {
	id := acp.TerminalID(u.TerminalID)
	e.Terminal(id, func(t *history.Terminal) {
		u.Command.Apply(&t.Command, "")
		convert(&t.Dir, u.Cwd, "", func(p v2.AbsolutePath) string { return string(p) })
		convert(&t.Exit, u.ExitStatus, nil, func(s v2.TerminalExitStatus) *history.Exit { return &history.Exit{Code: s.ExitCode, Signal: s.Signal} })
		size := v2.TerminalSize{Cols: t.Cols, Rows: t.Rows}
		u.Size.Apply(&size, v2.TerminalSize{})
		t.Cols, t.Rows = size.Cols, size.Rows
		convert(&t.Capabilities, u.Capabilities, nil, func(can v2.TerminalCapabilities) acp.Extra { return can.AppendJSON(nil) })
	})
	if u.Output.State != acp.PatchAbsent {
		data, err := u.Output.V.Bytes()
		if err != nil {
			data = nil
		}
		e.Output(id, data, true)
	}
}

// usageV1 returns the usage as version 1 reports it. The cost stays if the update
// does not mention it.
func usageV1(before *acp.UsageUpdate, u *v2.UsageUpdate) *acp.UsageUpdate {
	v := &acp.UsageUpdate{Used: u.Used, Size: u.Size, Meta: u.Meta, Extra: u.Extra}
	if before != nil {
		v.Cost = before.Cost
	}
	convert(&v.Cost, u.Cost, nil, func(c v2.Cost) *acp.Cost { cost := acp.Cost(c); return &cost })
	return v
}

package history

import (
	"slices"

	"github.com/hermes-nvim/hermes/acp"
	v2 "github.com/hermes-nvim/hermes/acp/v2"
)

// maxPlans bounds the named plans of a session; the oldest goes first.
const maxPlans = 16

// Plan is one of the named plans of version 2.
type Plan struct {
	ID      v2.PlanID
	Entries []acp.PlanEntry
	bytes   int
}

// Activity is what a session of version 2 was last reported to be doing.
type Activity struct {
	// State is "running", "idle", "requires_action", or what a newer agent
	// calls it; empty before the first report, which stands for idle.
	State string
	// StopReason says why it is idle: one of version 1, "error", or what a
	// newer agent calls it; empty when it does not tell.
	StopReason acp.StopReason
	Error      *acp.Error // of the stop reason "error", when it tells
	Background []v2.BackgroundWork
}

// Idle reports whether nothing goes on in the foreground.
func (a *Activity) Idle() bool { return a.State == "" || a.State == "idle" }

// StartV2 takes over what session/new or resume of version 2 answered.
func (s *State) StartV2(options []v2.SessionConfigOption, commands []v2.AvailableCommand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cached = nil
	s.now.ConfigOptions = optionsV1(options)
	if len(commands) > 0 {
		s.now.Commands = commandsV1(commands)
	}
}

// ApplyV2 adds an update of version 2. The snapshot tells it in the types of
// version 1, so that whoever shows a session need not know its version.
func (s *State) ApplyV2(update v2.SessionUpdate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cached = nil
	switch u := update.(type) {
	case *v2.UserMessageChunk:
		s.addText(User, u.MessageID, u.Content)
	case *v2.AgentMessageChunk:
		s.addText(Agent, u.MessageID, u.Content)
	case *v2.AgentThoughtChunk:
		s.addText(Thought, u.MessageID, u.Content)
	case *v2.UserMessage:
		s.patchMessage(User, u.MessageID, u.Content)
	case *v2.AgentMessage:
		s.patchMessage(Agent, u.MessageID, u.Content)
	case *v2.AgentThought:
		s.patchMessage(Thought, u.MessageID, u.Content)
	case *v2.ToolCallUpdate:
		s.patchCall(u)
	case *v2.ToolCallContentChunk:
		s.addProduct(u)
	case *v2.TerminalUpdate:
		s.patchTerminal(u)
	case *v2.TerminalOutputChunk:
		if data, err := u.Bytes(); err == nil {
			s.addOutput(u.TerminalID, data)
		}
	case *v2.PlanUpdate:
		if p, ok := u.Plan.(*v2.PlanItems); ok {
			s.setPlan(p.PlanID, entriesV1(p.Entries), s.sizeOf(u))
		}
	case *v2.AvailableCommandsUpdate:
		s.now.Commands, s.rest["commands"] = commandsV1(u.AvailableCommands), s.sizeOf(u)
	case *v2.ConfigOptionUpdate:
		s.now.ConfigOptions, s.rest["options"] = optionsV1(u.ConfigOptions), s.sizeOf(u)
	case *v2.SessionInfoUpdate:
		u.Title.Apply(&s.now.Title, "")
		u.UpdatedAt.Apply(&s.now.UpdatedAt, "")
		s.rest["title"] = len(s.now.Title) + len(s.now.UpdatedAt)
	case *v2.UsageUpdate:
		s.setUsage(u)
	case *v2.Notice:
		s.add(&notice{view: &Notice{Severity: acp.NoticeSeverity(u.Severity), Title: u.Title, Description: u.Description.Or("")}, bytes: s.sizeOf(u)})
	case *v2.CompactionUpdate:
		v := &acp.CompactionUpdate{CompactionID: acp.CompactionID(u.CompactionID), Status: acp.CompactionStatus(u.Status), Error: u.Error}
		v.Summary.State = u.Summary.State
		v.Summary.V = contentsV1(u.Summary.V)
		s.mergeCompaction(v)
	case *v2.CompactionSummaryChunk:
		s.addSummary(&acp.CompactionSummaryChunk{CompactionID: acp.CompactionID(u.CompactionID), Content: contentV1(u.Content)})
	case v2.StateUpdate:
		s.now.Activity = activity(u)
	}
	s.shrink()
}

// Activity returns what the session was last reported to be doing (version 2).
func (s *State) Activity() Activity {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now.Activity
}

func activity(update v2.StateUpdate) Activity {
	switch u := update.(type) {
	case *v2.RunningStateUpdate:
		return Activity{State: "running", Background: u.Background}
	case *v2.RequiresActionStateUpdate:
		return Activity{State: "requires_action", Background: u.Background}
	case *v2.StateUpdateOther:
		return Activity{State: u.Tag}
	case *v2.IdleStateUpdate:
		a := Activity{State: "idle", Background: u.Background}
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
	return Activity{}
}

func (s *State) addText(role Role, id v2.MessageID, c v2.ContentBlock) {
	s.addChunk(role, &acp.ContentChunk{MessageID: acp.Some(acp.MessageID(id)), Content: contentV1(c)})
}

// patchMessage is an upsert; chunks that follow go on where it ends.
func (s *State) patchMessage(role Role, id v2.MessageID, content acp.Patch[[]v2.ContentBlock]) {
	key := messageKey{acp.MessageID(id), role}
	m := s.messages[key]
	if m == nil {
		m = &message{key: key}
		s.messages[key] = m
		s.add(m)
	}
	if content.State == acp.PatchAbsent {
		return
	}
	before := m.size()
	m.blocks, m.bytes, m.truncated, m.view = nil, 0, false, nil
	for _, c := range content.V {
		m.append(s, contentV1(c))
	}
	s.resized(m, before)
}

// callV2 returns a tool call to change, a new one if there is none.
func (s *State) callV2(id v2.ToolCallID) (*toolCall, acp.ToolCall) {
	c := s.calls[acp.ToolCallID(id)]
	if c == nil {
		c = &toolCall{view: &ToolCall{ToolCall: acp.ToolCall{
			ToolCallID: acp.ToolCallID(id), Status: acp.Some(acp.ToolCallStatusPending), Kind: acp.Some(acp.ToolKindOther),
		}}}
		s.calls[acp.ToolCallID(id)] = c
		s.add(c)
	}
	return c, c.view.ToolCall
}

func (s *State) patchCall(u *v2.ToolCallUpdate) {
	c, call := s.callV2(u.ToolCallID)
	before := c.bytes
	convert(&call.Name, u.Name, acp.Opt[string]{}, acp.Some[string])
	u.Title.Apply(&call.Title, "")
	convert(&call.Kind, u.Kind, acp.Some(acp.ToolKindOther), func(k v2.ToolKind) acp.Opt[acp.ToolKind] { return acp.Some(acp.ToolKind(k)) })
	convert(&call.Status, u.Status, acp.Some(acp.ToolCallStatusPending), func(v v2.ToolCallStatus) acp.Opt[acp.ToolCallStatus] {
		return acp.Some(acp.ToolCallStatus(v))
	})
	convert(&call.Content, u.Content, nil, func(list []v2.ToolCallContent) []acp.ToolCallContent {
		out := make([]acp.ToolCallContent, len(list))
		for i, p := range list {
			out[i] = productV1(p)
		}
		return out
	})
	convert(&call.Locations, u.Locations, nil, locationsV1)
	u.RawInput.Apply(&call.RawInput, nil)
	u.RawOutput.Apply(&call.RawOutput, nil)
	u.Meta.Apply(&call.Meta, nil)
	if u.Extra != nil {
		call.Extra = u.Extra
	}
	v := &ToolCall{ToolCall: call, Truncated: c.view.Truncated, Capabilities: c.view.Capabilities}
	convert(&v.Capabilities, u.Capabilities, nil, func(can v2.ToolCallCapabilities) *v2.ToolCallCapabilities { return &can })
	c.view, c.bytes = v, s.sizeOf(&call)
	s.resized(c, before)
}

func (s *State) addProduct(u *v2.ToolCallContentChunk) {
	c, _ := s.callV2(u.ToolCallID)
	before := c.bytes
	v := *c.view
	v.Content = append(v.Content, productV1(u.Content)) // earlier views end before it
	c.view = &v
	c.bytes += overhead + len(v2.AppendToolCallContent(s.scratch[:0], u.Content))
	s.resized(c, before)
}

func (s *State) setPlan(id v2.PlanID, entries []acp.PlanEntry, bytes int) {
	s.now.Plan = entries
	plans := slices.Clone(s.now.Plans)
	if i := slices.IndexFunc(plans, func(p Plan) bool { return p.ID == id }); i >= 0 {
		s.rest["plan"] += bytes - plans[i].bytes
		plans[i].Entries, plans[i].bytes = entries, bytes
	} else {
		s.rest["plan"] += bytes
		plans = append(plans, Plan{id, entries, bytes})
	}
	for len(plans) > 1 && (len(plans) > maxPlans || s.rest["plan"] > s.limits.Bytes) {
		s.rest["plan"] -= plans[0].bytes
		plans = slices.Delete(plans, 0, 1)
	}
	s.now.Plans = plans
}

func (s *State) setUsage(u *v2.UsageUpdate) {
	v := &acp.UsageUpdate{Used: u.Used, Size: u.Size, Meta: u.Meta, Extra: u.Extra}
	if s.now.Usage != nil {
		v.Cost = s.now.Usage.Cost
	}
	convert(&v.Cost, u.Cost, nil, func(c v2.Cost) *acp.Cost { cost := acp.Cost(c); return &cost })
	s.now.Usage, s.rest["usage"] = v, s.sizeOf(v)
}

package codexagent

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/codex"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
)

// outputPause is the time between two updates with the output of a command. Each
// holds all output so far, so a talkative command would be shown too often.
const outputPause = 200 * time.Millisecond

// shown is what the client has seen of the items of the running turn.
type shown struct {
	mu     sync.Mutex
	texts  map[string]bool    // messages of which a part was shown
	calls  map[string]*output // tool calls, by item
	errors map[string]bool    // reasons to try again

	said string // the message of which a part was shown last
	cut  string // the message that a plan has interrupted

	missed bool            // the turn began before the session was opened
	heard  map[string]bool // then: messages that were shown from their beginning
}

// output is what a command has written.
type output struct {
	text  strings.Builder
	last  time.Time
	ended bool // what is shown is all of it
	told  bool // codex has reported the call, and not only asked about it
}

func newShown() *shown {
	return &shown{texts: map[string]bool{}, calls: map[string]*output{}, errors: map[string]bool{}, heard: map[string]bool{}}
}

// whole reports whether the client can be shown a part of a message, because it was
// shown what comes before. Otherwise it gets the whole message later.
func (s *shown) whole(item string) bool { return !s.missed || s.heard[item] }

// part is what to show of a part of a message.
func (s *shown) part(item string, u acp.SessionUpdate) []acp.SessionUpdate {
	if !s.whole(item) {
		return nil
	}
	s.texts[item] = true
	return one(u)
}

// around is the id of the message that a part belongs to. What follows a plan is another
// message than what precedes it, although it is one item.
func (s *shown) around(item string) string {
	if s.said = item; item == s.cut {
		return item + "-after"
	}
	return item
}

// known notes that the client knows a tool call, and whether codex has told what it is: a question
// may come before that. It returns what was so before.
func (s *shown) known(id string, told bool) (known, wasTold bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.calls[id]
	if known = o != nil; !known {
		o = new(output)
		s.calls[id] = o
	}
	wasTold, o.told = o.told, o.told || told
	return known, wasTold
}

// note shows the client what codex reports.
func (s *session) note(ctx context.Context, note any) {
	for _, u := range s.updates(note) {
		if err := s.to().Update(ctx, u); err != nil {
			return // the client is gone
		}
	}
}

// updates are what a notification means for the client. Notifications come one at
// a time.
func (s *session) updates(note any) []acp.SessionUpdate {
	switch n := note.(type) {
	case *appserver.TurnStartedNotification:
		s.shown = newShown()
	case *appserver.AgentMessageDeltaNotification:
		return s.shown.part(n.ItemID, message(s.shown.around(n.ItemID), n.Delta))
	case *appserver.PlanDeltaNotification:
		s.shown.cut = s.shown.said
		return s.shown.part(n.ItemID, message(n.ItemID, n.Delta))
	case *appserver.ReasoningSummaryTextDeltaNotification:
		return s.shown.part(n.ItemID, thought(n.ItemID, n.Delta))
	case *appserver.ReasoningTextDeltaNotification:
		return s.shown.part(n.ItemID, thought(n.ItemID, n.Delta))
	case *appserver.ReasoningSummaryPartAddedNotification:
		if n.SummaryIndex > 0 && s.shown.whole(n.ItemID) {
			return one(thought(n.ItemID, "\n\n"))
		}
	case *appserver.ItemStartedNotification:
		if i := codex.Project(&n.Item); i != nil {
			s.shown.heard[i.ID] = true
		}
		return s.started(&n.Item)
	case *appserver.ItemCompletedNotification:
		if m, ok := n.Item.Variant.(*appserver.ThreadItemUserMessage); ok {
			return s.typed(n.TurnID, m, &n.Item)
		}
		return s.completed(&n.Item)
	case *appserver.CommandExecutionOutputDeltaNotification:
		return s.wrote(n.ItemID, n.Delta)
	case *appserver.FileChangePatchUpdatedNotification:
		c := acp.NewToolCall(acp.ToolCallID(n.ItemID), "")
		s.edit(c, n.Changes)
		return one(update(c))
	case *appserver.MCPToolCallProgressNotification:
		u := acp.NewToolCallUpdate(acp.ToolCallID(n.ItemID))
		u.Content = []acp.ToolCallContent{acp.NewContent(acp.NewTextContent(n.Message))}
		return one(u)
	case *appserver.TurnPlanUpdatedNotification:
		return one(plan(n.Plan))
	case *appserver.ThreadTokenUsageUpdatedNotification:
		if size := n.TokenUsage.ModelContextWindow.V; size > 0 && n.TokenUsage.Last.TotalTokens >= 0 {
			return one(acp.NewUsageUpdate(uint64(n.TokenUsage.Last.TotalTokens), uint64(size)))
		}
	case *appserver.ThreadNameUpdatedNotification:
		u := &acp.SessionInfoUpdate{Title: acp.Clear[string]()}
		if n.ThreadName.V != "" {
			u.Title = acp.Set(n.ThreadName.V)
		}
		return one(u)
	case *appserver.ErrorNotification:
		if n.WillRetry && !s.shown.errors[n.Error.Message] {
			s.shown.errors[n.Error.Message] = true
			return one(thought("", n.Error.Message+"\n\n"))
		}
	}
	return nil
}

func one(u acp.SessionUpdate) []acp.SessionUpdate { return []acp.SessionUpdate{u} }

func message(id, text string) acp.SessionUpdate {
	u := acp.NewAgentMessageChunk(acp.NewTextContent(text))
	u.MessageID = acp.Opt[acp.MessageID]{V: acp.MessageID(id), OK: id != ""}
	return u
}

func thought(id, text string) acp.SessionUpdate {
	u := acp.NewAgentThoughtChunk(acp.NewTextContent(text))
	u.MessageID = acp.Opt[acp.MessageID]{V: acp.MessageID(id), OK: id != ""}
	return u
}

func plan(steps []appserver.TurnPlanStep) *acp.Plan {
	p := acp.NewPlan([]acp.PlanEntry{})
	for _, s := range steps {
		status := acp.PlanEntryStatusPending
		switch s.Status {
		case appserver.TurnPlanStepStatusInProgress:
			status = acp.PlanEntryStatusInProgress
		case appserver.TurnPlanStepStatusCompleted:
			status = acp.PlanEntryStatusCompleted
		}
		p.Entries = append(p.Entries, *acp.NewPlanEntry(s.Step, acp.PlanEntryPriorityMedium, status))
	}
	return p
}

// started shows a tool call.
func (s *session) started(item *appserver.ThreadItem) []acp.SessionUpdate {
	call := s.call(item)
	if call == nil {
		return nil
	}
	switch known, told := s.shown.known(string(call.ToolCallID), true); {
	case !known:
		return one(call)
	case !told:
		return one(update(call))
	}
	return nil
}

// completed shows the end of a tool call, or a text of which nothing was shown.
func (s *session) completed(item *appserver.ThreadItem) []acp.SessionUpdate {
	if u := s.text(item); u != nil {
		return u
	}
	call := s.call(item)
	if call == nil {
		return nil
	}
	s.finish(call, item)
	known, told := s.shown.known(string(call.ToolCallID), true)
	if !known {
		return one(call)
	}
	u := acp.NewToolCallUpdate(call.ToolCallID)
	if !told {
		u = update(call)
	}
	u.Status, u.Content, u.RawOutput, u.Meta = call.Status, call.Content, call.RawOutput, call.Meta
	if _, edit := item.Variant.(*appserver.ThreadItemFileChange); edit && told {
		u.Content = nil // the diffs of the beginning; the files have changed since
	}
	return one(u)
}

// text are the messages of an item that were not shown in parts.
func (s *session) text(item *appserver.ThreadItem) []acp.SessionUpdate {
	switch v := item.Variant.(type) {
	case *appserver.ThreadItemAgentMessage:
		if !s.shown.texts[v.ID] && v.Text != "" {
			return one(message(v.ID, v.Text))
		}
	case *appserver.ThreadItemPlan:
		if !s.shown.texts[v.ID] && v.Text != "" {
			return one(message(v.ID, v.Text))
		}
	case *appserver.ThreadItemContextCompaction:
		return one(message(v.ID, "The conversation was summarized.\n"))
	case *appserver.ThreadItemReasoning:
		if text := strings.Join(append(v.Summary, v.Content...), "\n\n"); !s.shown.texts[v.ID] && text != "" {
			return one(thought(v.ID, text))
		}
	}
	return nil
}

// past are the updates for an item of an earlier turn.
func (s *session) past(item *appserver.ThreadItem) []acp.SessionUpdate {
	if v, ok := item.Variant.(*appserver.ThreadItemUserMessage); ok {
		var out []acp.SessionUpdate
		for _, in := range v.Content {
			switch in := in.(type) {
			case *appserver.UserInputText:
				out = append(out, acp.NewUserMessageChunk(acp.NewTextContent(in.Text)))
			case *appserver.UserInputImage:
				if mime, data, ok := dataURL(in.URL.V); ok {
					out = append(out, acp.NewUserMessageChunk(&acp.ImageContent{MimeType: mime, Data: data}))
				}
			}
		}
		return out
	}
	return s.completed(item)
}

func dataURL(url string) (mime, data string, ok bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ";base64,")
}

// wrote shows the output of a command: piece by piece where the client has
// terminals for it, otherwise all of it, now and then.
func (s *session) wrote(id, delta string) []acp.SessionUpdate {
	u := acp.NewToolCallUpdate(acp.ToolCallID(id))
	s.shown.mu.Lock()
	defer s.shown.mu.Unlock()
	o := s.shown.calls[id]
	if o == nil {
		return nil
	}
	o.text.WriteString(delta)
	if s.agent.meta("terminal_output") {
		u.Meta = meta("terminal_output", map[string]any{"terminal_id": id, "data": delta})
		return one(u)
	}
	if o.ended || time.Since(o.last) < outputPause {
		return nil
	}
	o.last = time.Now()
	u.Content = outputContent(o.text.String())
	return one(u)
}

func meta(name string, value any) json.RawMessage {
	b, _ := json.Marshal(map[string]any{name: value})
	return b
}

package agentv2

import (
	"encoding/json"
	"errors"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/acp/v2"
)

// recode reads a value of one version as one of the other, where both write it the same
// way.
func recode(from acp.Appender, to json.Unmarshaler) error {
	return to.UnmarshalJSON(from.AppendJSON(nil))
}

// update returns an update of version 1 as one of version 2. s.mu is held.
func (s *session) update(u acp.SessionUpdate) (v2.SessionUpdate, error) {
	switch u := u.(type) {
	case *acp.UserMessageChunk:
		c, err := block(u.Content)
		return &v2.UserMessageChunk{MessageID: s.messageOf("user", u.MessageID), Content: c, Meta: u.Meta}, err
	case *acp.AgentMessageChunk:
		c, err := block(u.Content)
		return &v2.AgentMessageChunk{MessageID: s.messageOf("agent", u.MessageID), Content: c, Meta: u.Meta}, err
	case *acp.AgentThoughtChunk:
		c, err := block(u.Content)
		return &v2.AgentThoughtChunk{MessageID: s.messageOf("thought", u.MessageID), Content: c, Meta: u.Meta}, err
	}
	switch u := u.(type) {
	case *acp.ToolCall:
		s.kind = "" // later chunks belong to another message
		return toolCall(u.AsUpdate())
	case *acp.ToolCallUpdate:
		return toolCall(u)
	case *acp.Plan:
		entries := make([]v2.PlanEntry, len(u.Entries))
		for i, e := range u.Entries {
			entries[i] = v2.PlanEntry{
				Content: e.Content, Priority: v2.PlanEntryPriority(e.Priority), Status: v2.PlanEntryStatus(e.Status), Meta: e.Meta, Extra: e.Extra,
			}
		}
		return &v2.PlanUpdate{Plan: v2.NewPlanItems("plan", entries), Meta: u.Meta}, nil
	case *acp.AvailableCommandsUpdate:
		list := make([]v2.AvailableCommand, len(u.AvailableCommands))
		for i, c := range u.AvailableCommands {
			command := &v2.Command{Name: c.Name, Description: c.Description, Meta: c.Meta, Extra: c.Extra}
			if in, ok := c.Input.(*acp.UnstructuredCommandInput); ok {
				command.Input = v2.NewTextCommandInput(in.Hint)
			}
			list[i] = command
		}
		return v2.NewAvailableCommandsUpdate(list), nil
	case *acp.CurrentModeUpdate:
		s.currentMode(u.CurrentModeID)
		return v2.NewConfigOptionUpdate(s.allOptions()), nil
	case *acp.ConfigOptionUpdate:
		s.options = u.ConfigOptions
		return v2.NewConfigOptionUpdate(s.allOptions()), nil
	}
	return v2.DecodeSessionUpdate(acp.AppendSessionUpdate(nil, u)) // the rest is the same
}

func block(c acp.ContentBlock) (v2.ContentBlock, error) {
	if t, ok := c.(*acp.TextContent); ok && t != nil && t.Annotations == nil {
		return &v2.TextContent{Text: t.Text, Meta: t.Meta, Extra: t.Extra}, nil
	}
	text := acp.AppendContentBlock(nil, c)
	if _, err := acp.DecodeContentBlock(text); err != nil {
		return nil, err
	}
	return v2.DecodeContentBlock(text)
}

func blocks(list []v2.ContentBlock) ([]acp.ContentBlock, error) {
	out := make([]acp.ContentBlock, len(list))
	for i, c := range list {
		var err error
		if out[i], err = acp.DecodeContentBlock(v2.AppendContentBlock(nil, c)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func patch[A, B any](o acp.Opt[A], f func(A) B) acp.Patch[B] {
	v, ok := o.Get()
	if !ok {
		return acp.Patch[B]{}
	}
	return acp.Set(f(v))
}

func same[A any](a A) A { return a }

func toolCall(u *acp.ToolCallUpdate) (*v2.ToolCallUpdate, error) {
	if u == nil {
		return nil, errors.New("nil *ToolCallUpdate")
	}
	out := &v2.ToolCallUpdate{
		ToolCallID: v2.ToolCallID(u.ToolCallID), Extra: u.Extra,
		Name: patch(u.Name, same[string]), Title: patch(u.Title, same[string]),
		Kind:   patch(u.Kind, func(k acp.ToolKind) v2.ToolKind { return v2.ToolKind(k) }),
		Status: patch(u.Status, func(s acp.ToolCallStatus) v2.ToolCallStatus { return v2.ToolCallStatus(s) }),
	}
	if u.Content != nil {
		products := make([]v2.ToolCallContent, 0, len(u.Content))
		for _, c := range u.Content {
			p, err := product(c)
			if err != nil {
				return nil, err
			}
			if p != nil {
				products = append(products, p)
			}
		}
		out.Content = acp.Set(products)
	}
	if u.Locations != nil {
		places := make([]v2.ToolCallLocation, len(u.Locations))
		for i, l := range u.Locations {
			if l.Line.V == 0 {
				l.Line = acp.Opt[uint32]{} // version 2 counts from 1
			}
			places[i] = v2.ToolCallLocation{Path: v2.AbsolutePath(l.Path), Line: l.Line, Meta: l.Meta, Extra: l.Extra}
		}
		out.Locations = acp.Set(places)
	}
	for _, m := range []struct {
		from json.RawMessage
		to   *acp.Patch[json.RawMessage]
	}{{u.RawInput, &out.RawInput}, {u.RawOutput, &out.RawOutput}, {u.Meta, &out.Meta}} {
		if m.from != nil {
			*m.to = acp.Set(m.from)
		}
	}
	return out, nil
}

// product returns what a tool call produced, nil if version 2 has nothing like it: the
// terminals of version 1 are the client's.
func product(c acp.ToolCallContent) (v2.ToolCallContent, error) {
	switch c := c.(type) {
	case *acp.Content:
		b, err := block(c.Content)
		return &v2.Content{Content: b, Meta: c.Meta, Extra: c.Extra}, err
	case *acp.Terminal:
		return nil, nil
	case *acp.Diff:
		return diff(c), nil
	}
	return v2.DecodeToolCallContent(acp.AppendToolCallContent(nil, c))
}

// capabilities says what the agent can do. Version 2 takes the rest for granted.
func capabilities(c *acp.AgentCapabilities) *v2.AgentCapabilities {
	if c == nil {
		c = new(acp.AgentCapabilities)
	}
	session := new(v2.SessionCapabilities)
	if p := c.PromptCapabilities; p != nil {
		session.Prompt = new(v2.PromptCapabilities)
		if p.Image {
			session.Prompt.Image = new(v2.PromptImageCapabilities)
		}
		if p.Audio {
			session.Prompt.Audio = new(v2.PromptAudioCapabilities)
		}
		if p.EmbeddedContext {
			session.Prompt.EmbeddedContext = new(v2.PromptEmbeddedContextCapabilities)
		}
	}
	session.MCP = &v2.MCPCapabilities{Stdio: new(v2.MCPStdioCapabilities)} // every agent of version 1 takes these
	if c.MCPCapabilities != nil && c.MCPCapabilities.HTTP {
		session.MCP.HTTP = new(v2.MCPHTTPCapabilities)
	}
	if s := c.SessionCapabilities; s != nil {
		if s.Delete != nil {
			session.Delete = new(v2.SessionDeleteCapabilities)
		}
		if s.AdditionalDirectories != nil {
			session.AdditionalDirectories = new(v2.SessionAdditionalDirectoriesCapabilities)
		}
	}
	can := &v2.AgentCapabilities{Session: session, Meta: c.Meta}
	if c.Auth != nil && c.Auth.Logout != nil {
		can.Auth = new(v2.AgentAuthCapabilities)
	}
	return can
}

func authMethods(list []acp.AuthMethod) ([]v2.AuthMethod, error) {
	var out []v2.AuthMethod
	for _, m := range list {
		text := acp.Extra(acp.AppendAuthMethod(nil, m))
		id, _ := text.Get("id")
		if err := text.Set("methodId", id); err != nil {
			return nil, err
		}
		text.Delete("id")
		if _, has := text.Get("type"); !has {
			text.Set("type", json.RawMessage(`"agent"`)) // cannot fail: it is JSON
		}
		newer, err := v2.DecodeAuthMethod(text)
		if err != nil {
			return nil, err
		}
		out = append(out, newer)
	}
	return out, nil
}

func paths(list []v2.AbsolutePath) []string {
	var out []string
	for _, p := range list {
		out = append(out, string(p))
	}
	return out
}

// servers returns the MCP servers that version 1 can name.
func servers(list []v2.MCPServer) []acp.MCPServer {
	out := []acp.MCPServer{}
	for _, s := range list {
		switch s := s.(type) {
		case *v2.MCPServerStdio:
			one := &acp.MCPServerStdio{Name: s.Name, Command: string(s.Command), Args: s.Args, Meta: s.Meta}
			for _, e := range s.Env {
				one.Env = append(one.Env, acp.EnvVariable{Name: e.Name, Value: e.Value})
			}
			out = append(out, one)
		case *v2.MCPServerHTTP:
			one := &acp.MCPServerHTTP{Name: s.Name, URL: s.URL, Meta: s.Meta}
			for _, h := range s.Headers {
				one.Headers = append(one.Headers, acp.HTTPHeader{Name: h.Name, Value: h.Value})
			}
			out = append(out, one)
		}
	}
	return out
}

func options(list []acp.SessionConfigOption) []v2.SessionConfigOption {
	var out []v2.SessionConfigOption
	for _, o := range list {
		v := v2.SessionConfigOption{ConfigID: v2.SessionConfigID(o.ID), Name: o.Name, Description: o.Description, Meta: o.Meta}
		if o.Category.OK {
			v.Category = acp.Some(v2.SessionConfigOptionCategory(o.Category.V))
		}
		switch x := o.Variant.(type) {
		case *acp.SessionConfigSelect:
			v.Variant = v2.NewSessionConfigSelect(v2.SessionConfigValueID(x.CurrentValue), choices(x.Options))
		case *acp.SessionConfigBoolean:
			v.Variant = v2.NewSessionConfigBoolean(x.CurrentValue)
		default:
			continue // nobody knows what it is
		}
		out = append(out, v)
	}
	return out
}

func choices(c acp.SessionConfigSelectOptions) v2.SessionConfigSelectOptions {
	switch list := c.(type) {
	case acp.SessionConfigSelectOptionsUngrouped:
		return v2.SessionConfigSelectOptionsUngrouped(values(list))
	case acp.SessionConfigSelectOptionsGrouped:
		var out v2.SessionConfigSelectOptionsGrouped
		for _, g := range list {
			out = append(out, v2.SessionConfigSelectGroup{GroupID: v2.SessionConfigGroupID(g.Group), Name: g.Name, Options: values(g.Options)})
		}
		return out
	}
	return nil
}

func values(list []acp.SessionConfigSelectOption) []v2.SessionConfigSelectOption {
	out := make([]v2.SessionConfigSelectOption, len(list))
	for i, o := range list {
		out[i] = v2.SessionConfigSelectOption{Value: v2.SessionConfigValueID(o.Value), Name: o.Name, Description: o.Description}
	}
	return out
}

// diff returns a change of a file, with its text as a patch.
func diff(d *acp.Diff) *v2.Diff {
	change := v2.DiffChange{Variant: (*v2.DiffChangeModify)(v2.NewDiffPathChange(v2.AbsolutePath(d.Path)))}
	if !d.OldText.OK {
		change.Variant = (*v2.DiffChangeAdd)(v2.NewDiffPathChange(v2.AbsolutePath(d.Path)))
	}
	out := v2.NewDiff([]v2.DiffChange{change})
	out.Meta = d.Meta
	if text := unified(d.Path, d.OldText.Or(""), d.NewText, !d.OldText.OK); text != "" {
		out.Patch = v2.NewDiffPatch(v2.DiffPatchFormatGitPatch, text)
	}
	return out
}

// ending says how work ended.
func ending(answer *acp.PromptResponse, err error, cancelled bool) v2.IdleStateUpdateVariant {
	switch {
	case cancelled:
		return &v2.IdleStateUpdateCancelled{}
	case err != nil:
		return &v2.ErrorStopReason{Error: acp.ToError(err)}
	case answer == nil:
		return &v2.ErrorStopReason{Error: acp.NoResult(acp.MethodSessionPrompt)}
	}
	switch answer.StopReason {
	case acp.StopReasonEndTurn:
		return &v2.IdleStateUpdateEndTurn{}
	case acp.StopReasonMaxTokens:
		return &v2.IdleStateUpdateMaxTokens{}
	case acp.StopReasonMaxTurnRequests:
		return &v2.IdleStateUpdateMaxTurnRequests{}
	case acp.StopReasonRefusal:
		return &v2.IdleStateUpdateRefusal{}
	case acp.StopReasonCancelled:
		return &v2.IdleStateUpdateCancelled{}
	}
	return &v2.ErrorStopReason{Error: acp.ToError(errors.New("the agent ended the turn with the unknown reason " + string(answer.StopReason)))}
}

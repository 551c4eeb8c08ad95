package neovim

import (
	"maps"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/gen/emit"
	"github.com/hermes-nvim/hermes/gen/ir"
)

// The data of an event has parts: what every event has, what its source adds,
// the wire object, and flat copies of its members.

// eventBase is what the data of every event holds.
var eventBase = []luaMember{
	{name: "agent", typ: "string", doc: "The agent that the event is about."},
	{name: "alias_of", typ: "string", optional: true, doc: "The event's own name, when it fires under another one."},
	{name: "truncated", typ: "hermes.Truncated", optional: true, doc: "What was left out, because Neovim cannot take that much at a time."},
}

// sessionBase is what the data of the events of a session also holds.
var sessionBase = []luaMember{
	{name: "sessionId", typ: acpSpace + "SessionId", doc: "The session."},
	{name: "seq", typ: "integer", doc: "Counts the events of the session."},
	{name: "replay", typ: "boolean", doc: "Whether this is the history of a session that is being loaded."},
	{name: "promptId", typ: "string", optional: true, doc: "The running turn, as returned by `prompt`."},
}

// sourceBase is what a source adds.
var sourceBase = map[Source][]luaMember{
	FromUpdate: {
		{name: "cleared", typ: "string[]", optional: true, doc: "Members of the update that are null and therefore no longer have a value."},
	},
	FromPrompt: {
		{name: "source", typ: `"client"|"steer"`, doc: "How it went to the agent: as the prompt of a turn, or into the turn that runs. Repeated messages have none."},
	},
	FromRequest: {
		{name: "requestId", typ: "string", doc: "Names the request in `respond` and in later events."},
		{name: "respond", typ: "fun(value?: any): boolean", doc: "Answers; returns false when it is too late."},
		{name: "reject", typ: "fun(message?: string, code?: integer): boolean", doc: "Answers with an error; returns false when it is too late."},
		{name: "default", typ: "fun(): boolean", doc: "Lets Hermes answer as if nothing listened; returns false when it is too late."},
	},
	FromReply: {
		{name: "opId", typ: "string", optional: true, doc: "The id returned by the call that asked for this."},
	},
}

// sourceClass is the class of the members that the events of a source share.
func sourceClass(s Source) string {
	return "hermes." + strings.ToUpper(string(s[:1])) + string(s[1:]) + "Data"
}

// ofSession reports whether an event belongs to a session and its order.
func (e Event) ofSession() bool {
	return e.Session || e.Source == FromUpdate || e.Source == FromPrompt
}

// parents lists the classes of the members that an event's data shares with
// others.
func (e Event) parents() string {
	var list []string
	if e.ofSession() {
		list = append(list, "hermes.SessionData")
	}
	if sourceBase[e.Source] != nil {
		list = append(list, sourceClass(e.Source))
	}
	if list == nil {
		list = []string{"hermes.EventData"}
	}
	return ": " + strings.Join(list, ", ")
}

// base lists the members of those classes.
func (e Event) base() []luaMember {
	list := slices.Clone(eventBase)
	if e.ofSession() {
		list = append(list, sessionBase...)
	}
	return append(list, sourceBase[e.Source]...)
}

// eventTypes writes a class for the data of every event. Like the types of the
// protocol it is for language servers and never loaded.
func eventTypes(s *ir.Spec, events []Event) ([]emit.Output, error) {
	c := &cats{spec: s}
	c.line("-- " + eventsHeader)
	c.line("---@meta _")
	c.line("")
	c.line("-- The contents of `args.data` in the callback of each autocommand.")
	c.line("")
	c.doc("The data of every event.")
	c.class("hermes.EventData", "", eventBase)
	c.line("")
	c.doc("The data of every event of a session. They fire in the order of seq.")
	c.class("hermes.SessionData", ": hermes.EventData", sessionBase)
	for _, src := range sources {
		if sourceBase[src] != nil {
			c.line("")
			c.class(sourceClass(src), ": hermes.EventData", sourceBase[src])
		}
	}
	c.flatContent()
	c.line("")
	c.doc("The names of all events.")
	c.line("---@alias hermes.EventName")
	for _, e := range events {
		c.linef("---| %s # %s", luaString(e.Name), e.When)
		for _, a := range e.Alias {
			c.linef("---| %s # Another name of %s.", luaString(a), e.Name)
		}
	}
	for _, e := range events {
		c.line("")
		c.doc(e.When)
		c.class("hermes.event."+e.Name, e.parents(), c.data(e))
	}
	return []emit.Output{{Path: "lua/hermes/core/event_types_gen.lua", Data: []byte(c.b.String())}}, nil
}

// flatContentType is the type of a tool call's content in the flat keys.
const flatContentType = "hermes.FlatContent[]"

func (c *cats) flatContent() {
	diff := acpSpace + "ToolCallContent.diff"
	terminal := acpSpace + "ToolCallContent.terminal"
	c.line("")
	c.doc("A difference in the content of a tool call, with both spellings of its texts.")
	c.class("hermes.FlatDiff", ": "+diff, []luaMember{
		{name: "new_text", typ: "string", doc: "The same as newText."},
		{name: "old_text", typ: "string", optional: true, doc: "The same as oldText."},
	})
	c.line("")
	c.doc("A terminal in the content of a tool call, with both spellings of its id.")
	c.class("hermes.FlatTerminal", ": "+terminal, []luaMember{
		{name: "id", typ: acpSpace + "TerminalId", doc: "The same as terminalId."},
	})
	c.line("")
	c.doc("Content of a tool call, with content blocks out of their wrapper.")
	c.linef("---@alias hermes.FlatContent %sContentBlock|hermes.FlatDiff|hermes.FlatTerminal", acpSpace)
}

// data lists the members of an event's data other than those of its parents. The
// parents' members win over wire members of the same name.
func (c *cats) data(e Event) []luaMember {
	base := e.base()
	list := slices.DeleteFunc(c.ownData(e), func(m luaMember) bool {
		return slices.ContainsFunc(base, func(b luaMember) bool { return b.name == m.name })
	})
	for i := range list { // a null never gets into the data
		list[i].typ = strings.TrimSuffix(list[i].typ, "|vim.NIL")
	}
	return list
}

func (c *cats) ownData(e Event) []luaMember {
	var list []luaMember
	for _, d := range e.Data {
		name, optional := strings.CutSuffix(d.Name, "?")
		list = append(list, luaMember{name: name, typ: d.Type, doc: d.Doc, optional: optional})
	}
	switch e.Source {
	case FromUpdate:
		return merge(list, c.updateData(e))
	case FromPrompt:
		list = append(list, luaMember{name: "content", typ: c.variantType("ContentBlock", e.Variant), doc: "The block as it goes over the wire."})
		return merge(list, flat(c.variant("ContentBlock", e.Variant)))
	case FromRequest:
		if e.Sub != "" {
			return merge(list, c.variant(e.Payload, e.Sub))
		}
		return merge(list, c.object(e.Payload))
	case FromReply:
		return merge(c.replyData(e), list)
	case FromNotification:
		return merge(list, c.object(e.Payload))
	}
	return list
}

func (c *cats) updateData(e Event) []luaMember {
	list := []luaMember{{name: "update", typ: c.variantType("SessionUpdate", e.Variant), doc: "The update as it came over the wire."}}
	if e.Variant == unknown {
		list[0].typ = "table"
		return list
	}
	var members []luaMember
	if e.By != "" {
		members = flat(c.variant("ContentBlock", e.Sub))
	} else {
		members = flat(c.object(e.Payload))
	}
	for _, k := range slices.Sorted(maps.Keys(e.Flat)) {
		p := e.Flat[k]
		i := slices.IndexFunc(c.object(e.Payload), func(m luaMember) bool { return m.name == p.Of })
		m := c.object(e.Payload)[i]
		m.name = k
		switch p.As {
		case "json":
			m.typ, m.optional, m.doc = "string", true, "The same as "+p.Of+", as JSON text."
		case "blocks":
			m.typ = flatContentType
		case "options":
			m.typ = "hermes.FlatOption[]"
		default:
			m.doc = "The same as " + p.Of + "."
		}
		if j := slices.IndexFunc(members, func(x luaMember) bool { return x.name == k }); j >= 0 {
			members[j] = m
		} else {
			members = append(members, m)
		}
	}
	return merge(list, members)
}

func (c *cats) replyData(e Event) []luaMember {
	list := c.object(e.Payload)
	request := ""
	for _, m := range c.spec.Methods {
		if m.Wire == e.Method && m.Handler == "agent" {
			request = m.Request
		}
	}
	for _, m := range c.object(request) {
		if m.name == "sessionId" || slices.Contains(e.Params, m.name) {
			list = merge(list, []luaMember{m})
		}
	}
	return list
}

// flat renames what has another name outside its object.
func flat(list []luaMember) []luaMember {
	for i := range list {
		if list[i].name == "_meta" {
			list[i].name = "meta"
		}
	}
	return list
}

func (c *cats) variantType(def, tag string) string {
	if tag == unknown {
		return "table"
	}
	return acpSpace + def + "." + tag
}

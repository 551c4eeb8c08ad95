package emit

import (
	"maps"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// The data of an event has parts: what every event has, what its source adds,
// the wire object, and flat copies for those who want no nesting.

// eventBase is what the data of every event holds.
var eventBase = []luaMember{
	{name: "agent", typ: "string", doc: "The agent that the event is about."},
	{name: "seq", typ: "integer", doc: "Counts the events of an agent."},
	{name: "alias_of", typ: "string", optional: true, doc: "The name proper, when the event fires under another."},
}

// sourceBase is what a source adds to it.
var sourceBase = map[Source][]luaMember{
	FromUpdate: {
		{name: "sessionId", typ: acpSpace + "SessionId", doc: "The session."},
		{name: "promptId", typ: "string", optional: true, doc: "The turn that runs: what `prompt` returned."},
		{name: "replay", typ: "boolean", doc: "Whether a session is being loaded and this is its past."},
	},
	FromPrompt: {
		{name: "sessionId", typ: acpSpace + "SessionId", doc: "The session."},
		{name: "promptId", typ: "string", optional: true, doc: "The turn: what `prompt` returned."},
		{name: "replay", typ: "boolean", doc: "Whether a session is being loaded and this is its past."},
	},
	FromRequest: {
		{name: "requestId", typ: "string", doc: "Names the request in `respond` and in later events."},
	},
	FromReply: {
		{name: "opId", typ: "string", doc: "What the call returned that asked for this."},
	},
}

// baseClass is the class of what the data of a source's events has in common.
func baseClass(s Source) string {
	if sourceBase[s] == nil {
		return "hermes.EventData"
	}
	return "hermes." + strings.ToUpper(string(s[:1])) + string(s[1:]) + "Data"
}

// EventTypes writes a class for the data of every event. Like the types of the
// protocol it is for language servers and never loaded.
func EventTypes(s *ir.Spec, w Words, events []Event) ([]Output, error) {
	c := &cats{spec: s, words: w}
	c.line("---@meta")
	c.line("-- " + eventsHeader)
	c.line("")
	c.line("-- What `args.data` holds in the callback of each autocommand.")
	c.line("")
	c.doc("What the data of every event holds.")
	c.class("hermes.EventData", "", eventBase)
	for _, src := range sources {
		if sourceBase[src] != nil {
			c.line("")
			c.class(baseClass(src), ": hermes.EventData", sourceBase[src])
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
		c.class("hermes.event."+e.Name, ": "+baseClass(e.Source), c.data(e))
	}
	return []Output{{Path: "lua/hermes/event_types_gen.lua", Data: []byte(c.b.String())}}, nil
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
	c.doc("Content of a tool call in which content blocks stand without their wrapper.")
	c.linef("---@alias hermes.FlatContent %sContentBlock|hermes.FlatDiff|hermes.FlatTerminal", acpSpace)
}

// data lists what an event's data holds besides what its source gives it.
func (c *cats) data(e Event) []luaMember {
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

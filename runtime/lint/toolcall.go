package lint

import (
	"time"

	"github.com/hermes-nvim/hermes/internal/jtree"
)

// largeRaw is from which size on the input or output of a tool is worth a word.
const largeRaw = 1 << 20

func toolCallRules() []Rule {
	return []Rule{
		{
			ID: "TOO01", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/tool-calls", Strength: Schema,
			Summary:      "Every message about a tool call has a toolCallId that is not empty.",
			Why:          "The client cannot tell which tool call it is about.",
			Requirements: []string{"ACP-PATCH-204"},
			Check: func(c *Checker) {
				c.Update(func(m *Message) {
					c.Exercised()
					id := m.Update.Get("toolCallId")
					if !id.IsString() || len(id.Bytes()) == 0 {
						c.Fail(m, orElse(id, m.Update), "toolCallId is missing or empty")
					}
				}, "tool_call", "tool_call_update", "tool_call_content_chunk")
			},
		},
		{
			ID: "TOO02", Severity: Warn, Side: ByAgent, Versions: V1, Page: "v1/tool-calls", Strength: Infer,
			Summary: "A tool call is created once; later messages about it are tool_call_update.",
			Why:     "Some clients show it twice, and others drop what they knew of it.",
			Check: func(c *Checker) {
				replay := replays(c)
				c.Update(func(m *Message) {
					call := c.toolCall(m)
					if m.Session == nil || !m.Update.Get("toolCallId").IsString() {
						return
					}
					c.Exercised()
					if call != nil && call.Created && replay(m.Session) < call.First {
						c.Report(m.Frame, Finding{Text: "the tool call exists already", Also: []int{call.First}}, m.Update.Get("toolCallId"))
					}
				}, "tool_call")
			},
		},
		{
			ID: "TOO03", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/tool-calls", Strength: Infer,
			Summary: "A tool_call_update is about a tool call that a tool_call or a permission request introduced.",
			Why:     "The client has no title to show, and drops the update.",
			Check: func(c *Checker) {
				missed := NewBounded[Of, bool](maxToolCalls)
				c.Update(func(m *Message) {
					id := m.Update.Get("toolCallId")
					if m.Session == nil || !id.IsString() || len(id.Bytes()) == 0 {
						return
					}
					if call := c.toolCall(m); call != nil {
						c.Exercised()
						return
					}
					key := Of{m.SessionID, bounded(id.Bytes())}
					if _, again := missed.Get(key); !again && c.Whole && m.Session.By == "session/new" && !c.ToolCalls.Lost() {
						missed.Put(key, true)
						c.Fail(m, id, "no tool call has this id")
					}
				}, "tool_call_update")
			},
		},
		{
			ID: "TOO04", Severity: Warn, Side: ByAgent, Versions: All, Page: "v1+v2/tool-calls", Strength: Infer,
			Summary: "The status of a tool call only moves forward, and does not change after the end.",
			Why:     "The client has told the user that the tool call is over.",
			Check: func(c *Checker) {
				replay := replays(c)
				c.ToolCallChanged(func(call *ToolCall, before ToolCall, m *Message) {
					old, now := progress(before.Status), progress(call.Status)
					if before.Status == call.Status || old == 0 || now == 0 {
						return
					}
					c.Exercised()
					if m.Kind == RequestMessage && now == 1 && old == 2 || replay(call.Session) > before.Last {
						return // it waits for the user
					}
					if now < old || old == 3 {
						c.Report(m.Frame, Finding{Text: "the status was " + quote(before.Status), Also: []int{before.Last}}, statusOf(m))
					}
				})
			},
		},
		{
			ID: "TOO05", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/tool-calls", Strength: Schema,
			Summary:      "The kind, the status and the types of content of a tool call are those of version 1.",
			Why:          "Strict clients refuse the message, and others show something else.",
			Requirements: []string{"ACP-PROMPT-002"},
			Check: func(c *Checker) {
				eachToolCall(c, func(m *Message, call Value) {
					c.Exercised()
					if v := call.Get("kind"); v.IsString() && !v.OneOf(toolKinds...) {
						c.Unknown(m, v, "not a kind of version 1")
					}
					if v := call.Get("status"); v.IsString() && !v.OneOf("pending", "in_progress", "completed", "failed") {
						c.Unknown(m, v, "not a status of version 1")
					}
				})
				eachToolContent(c, func(m *Message, item Value) {
					if v := item.Get("type"); v.IsString() && !v.OneOf("content", "diff", "terminal") && !v.OneOf(blockTypes...) {
						c.Unknown(m, v, "not a type of content of version 1")
					}
				})
			},
		},
		{
			ID: "TOO06", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/tool-calls", Strength: Must,
			Summary: "The paths of diffs and locations are absolute.",
			Why:     "The client opens or shows another file, or none.",
			Check: func(c *Checker) {
				eachToolCall(c, func(m *Message, call Value) {
					for _, location := range call.Get("locations").Items() {
						c.checkAbsolute(m, location.Get("path"), "the path")
					}
				})
				eachToolContent(c, func(m *Message, item Value) {
					if item.Get("type").Is("diff") && c.Version == V1 { // DIF01 checks the diffs of version 2
						c.checkAbsolute(m, item.Get("path"), "the path")
					}
				})
			},
		},
		{
			ID: "TOO07", Severity: Warn, Side: ByAgent, Versions: All, Page: "v1+v2/overview", Strength: Schema,
			Summary: "Line numbers start at 1.",
			Why:     "The client shows the line before, or none.",
			Check: func(c *Checker) {
				eachToolCall(c, func(m *Message, call Value) {
					for _, location := range call.Get("locations").Items() {
						line, ok := location.Get("line").Int()
						if !ok {
							continue
						}
						c.Exercised()
						if line == 0 {
							c.Fail(m, location.Get("line"), "there is no line 0")
						}
					}
				})
			},
		},
		{
			ID: "TOO08", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/tool-calls", Strength: Must,
			Summary: "A terminal in a tool call comes from terminal/create, and is put there before it is released.",
			Why:     "The client has no such terminal, or has thrown its output away.",
			Check:   checkEmbeddedTerminals,
		},
		{
			ID: "TOO10", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/migration", Strength: Schema,
			Summary: "A tool call is created by its first tool_call_update; version 2 has no tool_call.",
			Why:     "Clients of version 2 ignore the update, so the tool call has no title.",
			Check: func(c *Checker) {
				c.Update(func(m *Message) {
					c.Exercised()
					if m.UpdateTag == "tool_call" {
						c.Fail(m, m.Update.Get("sessionUpdate"), "tool_call is an update of version 1")
					}
				}, "tool_call", "tool_call_update")
			},
		},
		{
			ID: "TOO11", Severity: Warn, Side: ByAgent, Versions: V2, Page: "v2/tool-calls", Strength: Should,
			Summary:      "The first update of a tool call has a title.",
			Why:          "Until there is one, the client has nothing to show but an id.",
			Requirements: []string{"ACP-PATCH-208"},
			Check: func(c *Checker) {
				c.ToolCallChanged(func(call *ToolCall, before ToolCall, m *Message) {
					if m.Kind != NotificationMessage || before.Created || !call.Created || call.Session.By != "session/new" || c.ToolCalls.Lost() {
						return
					}
					c.Exercised()
					if call.Title == "" {
						c.Fail(m, m.Update, "the tool call has no title")
					}
				})
			},
		},
		{
			ID: "TOO12", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/tool-calls", Strength: Schema,
			Summary:      "A tool_call_content_chunk has one item of content.",
			Why:          "The client has nothing to append.",
			Requirements: []string{"ACP-PATCH-204"},
			Check: func(c *Checker) {
				c.Update(func(m *Message) {
					c.Exercised()
					switch content := m.Update.Get("content"); content.Kind() {
					case jtree.Object:
					case jtree.Array:
						c.Fail(m, content, "the content is a list")
					default:
						c.Fail(m, orElse(content, m.Update), "the content is missing")
					}
				}, "tool_call_content_chunk")
			},
		},
		{
			ID: "TOO13", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/tool-calls", Strength: Schema,
			Summary: "What a tool shows is wrapped in an item of type content.",
			Why:     "Clients drop a content block that stands alone.",
			Check: func(c *Checker) {
				eachToolContent(c, func(m *Message, item Value) {
					c.Exercised()
					if v := item.Get("type"); v.OneOf(blockTypes...) {
						c.Fail(m, item, "the content block is not in an item of type content")
					}
				})
			},
		},
		{
			ID: "TOO14", Severity: Warn, Side: ByAgent, Versions: All, Page: "v1/tool-calls", Strength: ShouldNot,
			Summary:      "The name of a tool does not change during a tool call.",
			Why:          "Clients choose by the name how they show the tool call, and what they allow.",
			Requirements: []string{"ACP-PATCH-208"},
			Check: func(c *Checker) {
				replay := replays(c)
				c.ToolCallChanged(func(call *ToolCall, before ToolCall, m *Message) {
					if call.Name == "" {
						return
					}
					c.Exercised()
					if before.Name != "" && before.Name != call.Name && replay(call.Session) < before.Last {
						c.Report(m.Frame, Finding{Text: "the name was " + quote(before.Name), Also: []int{before.Last}}, orElse(toolCallOf(m).Get("name"), m.Update))
					}
				})
			},
		},
		{
			ID: "TOO15", Severity: Error, Side: ByClient, Versions: V2b, Page: "schema-2.4.0/CancelToolCallRequest", Strength: MustNot,
			Summary: "tool_call/cancel and terminal/cancel are sent only while the tool call or terminal says that it can be cancelled.",
			Why:     "The agent cannot do it, and the user believes that it has stopped.",
			Check:   checkCancellable,
		},
		{
			ID: "TOO16", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/tool-calls", Strength: Must,
			Summary:      "A kind or status of tool calls that the specification does not define begins with an underscore.",
			Why:          "A later version may give the word another meaning.",
			Requirements: []string{"ACP-ENUM-201"},
			Check: func(c *Checker) {
				eachToolCall(c, func(m *Message, call Value) {
					c.Exercised()
					if v := call.Get("kind"); isCustom(v) && !v.OneOf(toolKinds...) {
						c.Unknown(m, v, "the specification does not have this kind")
					}
					if v := call.Get("status"); isCustom(v) && !v.OneOf("pending", "in_progress", "paused", "completed", "failed", "cancelled") {
						c.Unknown(m, v, "the specification does not have this status")
					}
				})
			},
		},
		{
			ID: "TOO17", Severity: Info, Side: ByAgent, Versions: All, Strength: Hygiene,
			Summary: "The input and output of a tool have less than 1 MiB.",
			Why:     "Clients keep them in memory for as long as the session is shown.",
			Check: func(c *Checker) {
				eachToolCall(c, func(m *Message, call Value) {
					for _, name := range []string{"rawInput", "rawOutput"} {
						v := call.Get(name)
						if !v.Set() {
							continue
						}
						c.Exercised()
						if n := len(v.Text()); n > largeRaw {
							c.Fail(m, v, "%s has %d KiB", name, n>>10)
						}
					}
				})
			},
		},
	}
}

// The values that the specification defines. The version 1 schema is closed.
var (
	toolKinds  = []string{"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"}
	blockTypes = []string{"text", "image", "audio", "resource_link", "resource"}
)

// isCustom reports whether a value is a word that only the specification may define.
func isCustom(v Value) bool {
	b := v.Bytes()
	return v.IsString() && (len(b) == 0 || b[0] != '_')
}

// toolCallOf returns the tool call in an update or a permission request.
func toolCallOf(m *Message) Value {
	if m.Kind == NotificationMessage {
		return m.Update
	}
	if call := m.Params.Get("subject", "toolCall"); call.IsObject() {
		return call
	}
	return m.Params.Get("toolCall")
}

// eachToolCall calls f with every message that says something about a tool call.
func eachToolCall(c *Checker, f func(*Message, Value)) {
	each := func(m *Message) {
		if call := toolCallOf(m); call.IsObject() {
			f(m, call)
		}
	}
	c.Update(each, "tool_call", "tool_call_update")
	c.Request(each, "session/request_permission")
}

// eachToolContent calls f with every item of the content of tool calls.
func eachToolContent(c *Checker, f func(*Message, Value)) {
	eachToolCall(c, func(m *Message, call Value) {
		for _, item := range call.Get("content").Items() {
			if item.IsObject() {
				f(m, item)
			}
		}
	})
	c.Update(func(m *Message) {
		if item := m.Update.Get("content"); item.IsObject() {
			f(m, item)
		}
	}, "tool_call_content_chunk")
}

// toolCall returns the tool call of an update, nil if it is not known.
func (c *Checker) toolCall(m *Message) *ToolCall {
	call, _ := c.ToolCalls.Get(Of{m.SessionID, c.recent.bounded(m.Update.Get("toolCallId").Bytes())})
	return call
}

// progress orders the defined states of a tool call; 0 is any other word.
func progress(status string) int {
	switch status {
	case "pending":
		return 1
	case "in_progress", "paused":
		return 2
	case "completed", "failed", "cancelled":
		return 3
	}
	return 0
}

func statusOf(m *Message) Value {
	call := toolCallOf(m)
	return orElse(call.Get("status"), call)
}

func checkEmbeddedTerminals(c *Checker) {
	embedded := NewBounded[Of, bool](maxTerminals)
	replay := replays(c)
	eachToolContent(c, func(m *Message, item Value) {
		id := item.Get("terminalId")
		s := m.Session
		if !item.Get("type").Is("terminal") || !id.IsString() || s == nil || hasOwnTerminals(c) {
			return
		}
		key := Of{s.ID, bounded(id.Bytes())}
		_, again := embedded.Get(key)
		t, known := c.Terminals.Get(key)
		embedded.Put(key, true)
		switch {
		case again || embedded.Lost():
		case known && t.Released > 0:
			c.Report(m.Frame, Finding{Text: "the terminal was released before", Also: []int{t.Released}}, id)
		case known:
			c.Exercised()
		case c.Whole && !c.Terminals.Lost() && s.By == "session/new" && replay(s) == 0:
			c.Fail(m, id, "terminal/create has not returned this id")
		}
	})
}

// hasOwnTerminals reports whether the client can show terminals that the agent runs
// itself, by an extension that is older than version 2. A client that does not know
// the extension cannot use the agent's terminal_info.
func hasOwnTerminals(c *Checker) bool {
	meta := c.ClientCapabilities.Get("_meta")
	return c.Initialize == nil || meta.Get("terminal_output").Set() || meta.Get("terminal-output").Set()
}

func checkCancellable(c *Checker) {
	type state struct {
		cancel bool
		ever   bool // it has been possible
		since  time.Time
		number int
	}
	items := NewBounded[Of, state](maxToolCalls) // tool calls and terminals, which have prefixes
	advertise := func(m *Message, prefix string, v Value) {
		id, capabilities := v.Get(prefix+"Id"), v.Get("capabilities")
		if m.Session == nil || m.From != Agent || !id.IsString() {
			return
		}
		key := Of{m.SessionID, prefix + bounded(id.Bytes())}
		old, known := items.Get(key)
		if now := capabilities.Get("cancel").Set(); !known || capabilities.Exists() && now != old.cancel {
			items.Put(key, state{now, now || old.ever, m.Time, m.Number})
		}
	}
	eachToolCall(c, func(m *Message, call Value) { advertise(m, "toolCall", call) })
	c.Update(func(m *Message) { advertise(m, "terminal", m.Update) }, "terminal_update")
	check := func(prefix string) func(*Message) {
		return func(m *Message) {
			id := m.Params.Get(prefix + "Id")
			if m.From != Client || m.Session == nil || !id.IsString() {
				return
			}
			switch item, known := items.Get(Of{m.SessionID, prefix + bounded(id.Bytes())}); {
			case known && item.cancel:
				c.Exercised()
			case known && (!item.ever || !c.Crossed(item.since, m.Time)):
				c.Report(m.Frame, Finding{Text: "the agent does not say that it can be cancelled", Also: []int{item.number}}, id)
			case !known && c.Whole && m.Session.By == "session/new" && !items.Lost():
				c.Fail(m, id, "the agent has told nothing about it")
			}
		}
	}
	c.Request(check("toolCall"), "tool_call/cancel")
	c.Request(check("terminal"), "terminal/cancel")
}

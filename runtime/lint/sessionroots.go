package lint

import (
	"path"
	"strings"
)

// checkRoots looks for files outside of cwd and the additional directories. Without
// additional directories the protocol does not speak of a boundary. What the user was
// asked about is their decision.
func checkRoots(c *Checker) {
	outside := NewBounded[Of, Finding](maxToolCalls) // of tool calls that are not over
	told := NewBounded[Of, bool](maxToolCalls)       // paths that were reported
	asked := NewBounded[string, *Turn](maxSessions)  // turns with a permission request
	look := func(m *Message, at Value, found func(Value)) {
		s := m.Session
		if !at.IsString() || s == nil || s.Cwd == "" || len(at.Bytes()) > maxID || !isAbsolute(at.Bytes()) {
			return
		}
		if len(s.Roots) == 0 && !advertised(c.AgentCapabilities, c.sessionCapability("additionalDirectories")) {
			return
		}
		c.Exercised()
		name := bounded(at.Bytes())
		if within(name, s.Cwd) {
			return
		}
		for _, root := range s.Roots {
			if within(name, root) {
				return
			}
		}
		if _, ok := told.Get(Of{s.ID, name}); !ok {
			found(at)
		}
	}
	tell := func(m *Message, at Value) {
		told.Put(Of{m.SessionID, bounded(at.Bytes())}, true)
		c.Fail(m, at, "the file is outside of the folders of the session")
	}
	c.Request(sentBy(Agent, func(m *Message) {
		if m.Session != nil {
			asked.Put(m.SessionID, m.Session.Turn)
		}
	}), "session/request_permission")
	c.Request(sentBy(Agent, func(m *Message) {
		if m.Session == nil {
			return
		}
		if t, ok := asked.Get(m.SessionID); ok && t == m.Session.Turn {
			return
		}
		for _, name := range []string{"path", "cwd"} {
			look(m, m.Params.Get(name), func(at Value) { tell(m, at) })
		}
	}), "fs/*", "terminal/create")
	c.Update(func(m *Message) {
		id := m.Update.Get("toolCallId")
		if !id.IsString() || m.Session == nil {
			return
		}
		key := Of{m.SessionID, bounded(id.Bytes())}
		note := func(at Value) {
			if _, ok := outside.Get(key); !ok {
				told.Put(Of{m.SessionID, bounded(at.Bytes())}, true)
				outside.Put(key, c.Describe(m.Frame, at, "the file is outside of the folders of the session"))
			}
		}
		for _, l := range m.Update.Get("locations").Items() {
			look(m, l.Get("path"), note)
		}
		for _, item := range m.Update.Get("content").Items() {
			if !item.Get("type").Is("diff") {
				continue
			}
			look(m, item.Get("path"), note)
			for _, change := range item.Get("changes").Items() {
				look(m, change.Get("path"), note)
			}
		}
	}, "tool_call", "tool_call_update")
	c.ToolCallChanged(func(call *ToolCall, _ ToolCall, _ *Message) {
		key := Of{call.Session.ID, call.ID}
		if f, ok := outside.Get(key); ok && call.Done() {
			outside.Delete(key)
			if call.Status == "completed" && !call.Asked {
				c.Add(f)
			}
		}
	})
}

// cleanPath makes spellings of one path equal: separators, dots, the case of Windows,
// and where macOS really has /tmp and /var.
func cleanPath(name string) string {
	if len(name) > 1 && (name[1] == ':' || strings.HasPrefix(name, `\\`)) {
		name = strings.ToLower(strings.ReplaceAll(name, `\`, "/"))
	}
	name = path.Clean(name)
	return strings.TrimPrefix(name, "/private")
}

func samePath(a, b string) bool { return cleanPath(a) == cleanPath(b) }

func within(name, root string) bool {
	name, root = cleanPath(name), cleanPath(root)
	return root == "/" || name == root || strings.HasPrefix(name, root+"/")
}

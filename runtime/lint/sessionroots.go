package lint

import (
	"path"
	"strings"
)

// outside reports whether a path is outside of cwd and the additional directories, and
// whether that is known. The protocol defines a boundary only with additional
// directories.
func (c *Checker) outside(s *Session, at Value) (outside, judged bool) {
	if !at.IsString() || s == nil || s.Cwd == "" || len(at.Bytes()) > maxID || !isAbsolute(at.Bytes()) {
		return false, false
	}
	if len(s.Roots) == 0 && !advertised(c.AgentCapabilities, c.sessionCapability("additionalDirectories")) {
		return false, false
	}
	name := c.recent.bounded(at.Bytes())
	for _, root := range append([]string{s.Cwd}, s.Roots...) {
		if within(name, root) {
			return false, true
		}
	}
	return true, true
}

// checkOutside looks for a path in requests of the agent that is outside of the folders
// of the session. In a turn with a permission request, the path may be the user's
// decision.
func checkOutside(c *Checker, member, text string, methods ...string) {
	told := NewBounded[Of, bool](maxToolCalls)      // paths that were reported
	asked := NewBounded[string, *Turn](maxSessions) // turns with a permission request
	c.Request(sentBy(Agent, func(m *Message) {
		if m.Session != nil {
			asked.Put(m.SessionID, m.Session.Turn)
		}
	}), "session/request_permission")
	c.Request(sentBy(Agent, func(m *Message) {
		at := m.Params.Get(member)
		outside, judged := c.outside(m.Session, at)
		if judged {
			c.Exercised()
		}
		if !outside {
			return
		}
		if t, ok := asked.Get(m.SessionID); ok && t == m.Session.Turn {
			return
		}
		key := Of{m.SessionID, bounded(at.Bytes())}
		if _, ok := told.Get(key); !ok {
			told.Put(key, true)
			c.Fail(m, at, "%s", text)
		}
	}), methods...)
}

// checkRoots looks for tool calls on files outside of the folders of the session. A
// call that the user was asked about is the user's decision.
func checkRoots(c *Checker) {
	outside := NewBounded[Of, Finding](maxToolCalls) // of tool calls that are not over
	told := NewBounded[Of, bool](maxToolCalls)       // paths that were reported
	look := func(m *Message, at Value, found func(Value)) {
		outside, judged := c.outside(m.Session, at)
		if judged {
			c.Exercised()
		}
		if !outside {
			return
		}
		if _, ok := told.Get(Of{m.SessionID, bounded(at.Bytes())}); !ok {
			found(at)
		}
	}
	c.Update(func(m *Message) {
		id := m.Update.Get("toolCallId")
		if !id.IsString() || m.Session == nil {
			return
		}
		key := Of{m.SessionID, c.recent.bounded(id.Bytes())}
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

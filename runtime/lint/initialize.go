package lint

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/internal/jtree"
	"github.com/hermes-nvim/hermes/internal/shape"
)

// newest is the highest version that exists.
const newest = 2

func initializeRules() []Rule {
	return []Rule{
		{
			ID: "INI01", Severity: Error, Side: ByClient, Versions: All, Page: "v1+v2/initialization", Strength: Must,
			Summary: "initialize comes first and is answered before any other request is sent.",
			Why:     "Until then neither side knows which version and features the other one has.",
			Check:   checkInitializeFirst,
		},
		{
			ID: "INI02", Severity: Error, Side: ByClient, Versions: All, Page: "v1+v2/initialization", Strength: Must,
			Summary: "initialize has a protocolVersion that is an integer from 0 to 65535.",
			Why:     "Without it the agent cannot choose a version.",
			Check: func(c *Checker) {
				c.Request(func(m *Message) {
					c.Exercised()
					v := m.Params.Get("protocolVersion")
					if n, ok := v.Int(); !v.Exists() {
						c.Fail(m, m.Params, "protocolVersion is missing")
					} else if !ok || n < 0 || n > 65535 {
						c.Fail(m, v, "protocolVersion is not an integer from 0 to 65535")
					}
				}, "initialize")
			},
		},
		{
			ID: "INI03", Severity: Warn, Side: ByClient, Versions: All, Page: "v1+v2/initialization", Strength: Must,
			Summary: "The client offers the newest version that it speaks.",
			Why:     "The agent cannot choose a newer one than the client offers.",
			Check: func(c *Checker) {
				var offered int64 = -1
				c.Request(func(m *Message) {
					n, ok := m.Params.Get("protocolVersion").Int()
					if !ok {
						return
					}
					c.Exercised()
					if offered >= 0 && n > offered && n <= newest {
						c.Fail(m, m.Params.Get("protocolVersion"), "the client offered version %d before", offered)
					}
					offered = n
				}, "initialize")
			},
		},
		{
			ID: "INI04", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/initialization", Strength: Must,
			Summary:      "The agent answers with a version that exists and that it speaks.",
			Why:          "The client believes the answer, and the two then speak different versions.",
			Requirements: []string{"ACP-INIT-002", "ACP-INIT-003"},
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					v := m.Result.Get("protocolVersion")
					n, ok := v.Int()
					if !ok {
						return
					}
					c.Exercised()
					if n > newest || n < 0 {
						c.Fail(m, v, "version %d does not exist", n)
					}
				}, "initialize")
			},
		},
		{
			ID: "INI05", Severity: Error, Side: ByAgent, Versions: V1 | V2a, Page: "v1+v2/initialization", Strength: Must,
			Summary:      "Asked for a version that it does not have, the agent answers with its newest one.",
			Why:          "After an error the client does not know which version would work.",
			Requirements: []string{"ACP-INIT-003"},
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					asked, ok := m.Answers.Params().Get("protocolVersion").Int()
					if !ok || asked < 0 || asked > 65535 {
						return
					}
					n, _ := m.Result.Get("protocolVersion").Int()
					switch {
					case m.Failed() && (asked > newest || isAboutVersion(m)) && m.ErrorCode() != codeVersion:
						c.Fail(m, m.Error, "version %d is refused with an error", asked)
					case !m.Failed() && n != asked:
						c.Exercised()
					}
				}, "initialize")
			},
		},
		{
			ID: "INI06", Severity: Error, Side: ByAgent, Versions: V2b, Page: "schema-2.4.0/InitializeResponse", Strength: Must,
			Summary:      "The agent answers with its highest version that is not above the one asked for, or with -32022 and the versions that it has.",
			Why:          "The client cannot speak a version above its own.",
			Requirements: []string{"ACP-INIT-201"},
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					asked, ok := m.Answers.Params().Get("protocolVersion").Int()
					if !ok || asked < 0 || asked > 65535 {
						return
					}
					n, has := m.Result.Get("protocolVersion").Int()
					data := m.Error.Get("data")
					switch {
					case n > newest: // INI04 reports it
					case has && n > asked && asked < 2:
						// By the rules of version 1, an agent without it answers with its latest.
					case has && n > asked:
						c.Fail(m, m.Result.Get("protocolVersion"), "version %d was asked for", asked)
					case has:
						c.Exercised()
					case m.Failed() && m.ErrorCode() == codeVersion:
						c.Exercised()
						if !isInteger(data.Get("requested")) || !data.Get("supported").IsArray() {
							c.Fail(m, orElse(data, m.Error), "the data lacks requested and supported")
						}
					case m.Failed() && isAboutVersion(m):
						c.Fail(m, m.Error.Get("code"), "a version is refused with another code than -32022")
					}
				}, "initialize")
			},
		},
		{
			ID: "INI07", Severity: Warn, Side: ByClient, Versions: All, Page: "v1+v2/initialization", Strength: Should,
			Summary: "A client that does not speak the version in the answer closes the connection.",
			Why:     "Everything that follows is read by the rules of another version.",
			Check: func(c *Checker) {
				var asked, got int64 = -1, -1
				c.Answer(func(m *Message) {
					a, ok := m.Answers.Params().Get("protocolVersion").Int()
					n, has := m.Result.Get("protocolVersion").Int()
					if ok && has {
						asked, got = a, n
						c.Exercised()
					}
				}, "initialize")
				c.Request(func(m *Message) {
					if m.From == Client && got > asked {
						c.Fail(m, Value{}, "the client offered version %d and works on with version %d", asked, got)
						got = -1
					}
				}, "session/*", "authenticate", "auth/*")
			},
		},
		{
			ID: "INI08", Severity: Error, Side: BySender, Versions: All, Page: "v1+v2/initialization", Strength: Must,
			Summary: "After initialize, only methods and updates of the negotiated version are used.",
			Why:     "The other side does not know the methods and updates of another version.",
			Check: func(c *Checker) {
				c.Message(func(m *Message) {
					if !c.Negotiated || c.Edition == nil || m.Kind != RequestMessage && m.Kind != NotificationMessage {
						return
					}
					c.Exercised()
					other := shape.V1()
					if c.Version == V1 {
						other = shape.V2()
					}
					switch {
					case m.Known == nil && other.Method([]byte(m.Method)) != nil:
						c.Unknown(m, m.Root.Get("method"), "version %s does not have this method", c.Version)
					case m.UpdateTag != "" && !hasUpdate(c.Edition, m.UpdateTag) && hasUpdate(other, m.UpdateTag):
						c.Unknown(m, m.Update.Get("sessionUpdate"), "version %s does not have this update", c.Version)
					}
				})
			},
		},
		{
			ID: "INI09", Severity: Warn, Side: BySender, Versions: V1, Page: "v1/initialization", Strength: Should,
			Summary:      "Both sides say who they are: clientInfo and agentInfo have a name and a version.",
			Why:          "People who read a bug report need them, and workarounds depend on them.",
			Requirements: []string{"ACP-INIT-004"},
			Check: func(c *Checker) {
				c.Request(func(m *Message) { checkInfo(c, m, m.Params, "clientInfo") }, "initialize")
				c.Answer(func(m *Message) {
					if m.Result.IsObject() {
						checkInfo(c, m, m.Result, "agentInfo")
					}
				}, "initialize")
			},
		},
		{
			ID: "INI10", Severity: Error, Side: BySender, Versions: V2, Page: "v2/initialization", Strength: Must,
			Summary:      "Both sides say who they are: info has a name and a version, and neither is empty.",
			Why:          "Version 2 requires them, so strict peers refuse initialize.",
			Requirements: []string{"ACP-INIT-203"},
			Check: func(c *Checker) {
				c.Request(func(m *Message) { checkInfo(c, m, m.Params, "info") }, "initialize")
				c.Answer(func(m *Message) {
					if m.Result.IsObject() {
						checkInfo(c, m, m.Result, "info")
					}
				}, "initialize")
			},
		},
		{
			ID: "INI11", Severity: Error, Side: BySender, Versions: All, Page: "v1+v2/initialization", Strength: Must,
			Summary: "Neither side uses a feature that the other one did not advertise.",
			Why:     "The other side does not have it, and refuses the request at best.",
			Check:   checkAdvertised,
		},
		{
			ID: "INI12", Severity: Warn, Side: BySender, Versions: All, Page: "v1/extensibility", Strength: MustNot,
			Summary:      "Capabilities that the negotiated version does not define are below _meta.",
			Why:          "Strict peers refuse initialize, and a later version may give the name another meaning.",
			Requirements: []string{"ACP-EXT-202"},
			Check: func(c *Checker) {
				check := func(m *Message) {
					for _, name := range capabilityNames {
						if m.Params.Get(name).Set() || m.Result.Get(name).Set() {
							c.Exercised()
						}
					}
					for _, p := range m.Problems() {
						if p.Kind == shape.Undeclared && isCapability(p.At.Pointer()) {
							c.Fail(m, p.At, "no capability has the name %q", quote(p.Name))
						}
					}
				}
				c.Request(check, "initialize")
				c.Answer(check, "initialize")
			},
		},
		{
			ID: "INI13", Severity: Error, Side: BySender, Versions: V2, Page: "v2/migration", Strength: Schema,
			Summary:      "Capabilities of version 2 are objects or null, never true or false.",
			Why:          "Version 1 had booleans; readers of version 2 refuse or ignore them.",
			Requirements: []string{"ACP-INIT-204"},
			Check: func(c *Checker) {
				check := func(m *Message) {
					for _, name := range capabilityNames {
						for _, v := range []Value{m.Params.Get(name), m.Result.Get(name)} {
							if v.IsObject() {
								c.Exercised()
								checkMarkers(c, m, v)
							}
						}
					}
				}
				c.Request(check, "initialize")
				c.Answer(check, "initialize")
			},
		},
		{
			ID: "INI14", Severity: Warn, Side: ByClient, Versions: V1 | V2a, Page: "v1/initialization", Strength: Infer,
			Summary: "initialize is sent once on a connection.",
			Why:     "Nobody says what becomes of the sessions when the capabilities change.",
			Check: func(c *Checker) {
				c.Request(func(m *Message) {
					c.Exercised()
					if c.Negotiated {
						c.Report(m.Frame, Finding{Text: "initialize was answered before", Also: []int{c.Initialized}}, Value{})
					}
				}, "initialize")
			},
		},
		{
			ID: "INI15", Severity: Error, Side: BySender, Versions: V2b, Page: "schema-2.4.0/initialize", Strength: Must,
			Summary: "A second initialize is accepted only before the first other request, and refused with -32600 afterwards.",
			Why:     "The sides would disagree about the version and the capabilities of what is open.",
			Check:   checkSecondInitialize,
		},
		{
			ID: "INI16", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/initialization", Strength: Must,
			Summary: "The agent implements session/new and session/prompt.",
			Why:     "Clients rely on them without asking.",
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					c.Exercised()
					if m.ErrorCode() == codeNoMethod {
						c.Fail(m, m.Error.Get("code"), "the agent does not have %s", m.Method)
					}
				}, "session/new", "session/prompt")
			},
		},
		{
			ID: "INI17", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/initialization", Strength: Must,
			Summary: "An agent that advertises session implements new, list, resume, close, prompt and cancel.",
			Why:     "Version 2 has no capabilities for these, so clients rely on them.",
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					if !c.AgentCapabilities.Get("session").Set() {
						return
					}
					c.Exercised()
					if m.ErrorCode() == codeNoMethod {
						c.Fail(m, m.Error.Get("code"), "the agent does not have %s", m.Method)
					}
				}, "session/new", "session/list", "session/resume", "session/close", "session/prompt")
			},
		},
		{
			ID: "INI18", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/initialization", Strength: Must,
			Summary:      "Prompts of text and links to resources are accepted.",
			Why:          "They need no capability, so clients send them to every agent.",
			Requirements: []string{"ACP-PROMPT-003"},
			Check: func(c *Checker) {
				worked := NewBounded[string, int](maxSessions) // the last sign of work in a session
				note := func(m *Message) {
					if m.From == Agent && m.SessionID != "" {
						worked.Put(m.SessionID, m.Number)
					}
				}
				c.Request(note)
				c.Update(note, "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan")
				c.Answer(func(m *Message) {
					prompt := m.Answers.Params().Get("prompt")
					if m.Session == nil || m.Session.State != Open || !isPlainPrompt(prompt) || m.missesSession() || m.Known == nil || !m.Known.Request.Fits(m.Answers.Params()) {
						return
					}
					c.Exercised()
					last, _ := worked.Get(m.SessionID) // after work, the error is about something else
					if m.ErrorCode() == codeInvalidParams && last < m.Answers.Number {
						c.Report(m.Frame, Finding{Text: "a prompt of text and links is refused", Also: []int{m.Answers.Number}}, m.Error)
					}
				}, "session/prompt")
			},
		},
		{
			ID: "INI19", Severity: Info, Side: BySender, Versions: All, Page: "v1+v2/initialization", Strength: Should,
			Summary: "Both sides say which optional capabilities they have.",
			Why:     "What is left out does not exist for the other side.",
			Check: func(c *Checker) {
				check := func(m *Message, v Value, names ...string) {
					if !v.IsObject() {
						return
					}
					c.Exercised()
					for _, name := range names {
						if v.Get(name).Set() {
							return
						}
					}
					c.Fail(m, v, "no capabilities")
				}
				c.Request(func(m *Message) { check(m, m.Params, "clientCapabilities", "capabilities") }, "initialize")
				c.Answer(func(m *Message) { check(m, m.Result, "agentCapabilities", "capabilities") }, "initialize")
			},
		},
	}
}

var capabilityNames = []string{"clientCapabilities", "agentCapabilities", "capabilities"}

func isCapability(pointer string) bool {
	for _, name := range capabilityNames {
		if strings.HasPrefix(pointer, "/params/"+name+"/") || strings.HasPrefix(pointer, "/result/"+name+"/") {
			return true
		}
	}
	return false
}

func hasUpdate(e *shape.Edition, tag string) bool { return e.Definition("SessionUpdate").HasCase(tag) }

// isAboutVersion reports whether an error speaks of the protocol version.
func isAboutVersion(m *Message) bool {
	return bytes.Contains(bytes.ToLower(m.Error.Text()), []byte("version"))
}

func checkInitializeFirst(c *Checker) {
	var early []Finding // sent before initialize, in a capture that may have begun later
	later := false      // it did begin later, because the agent worked
	next := int64(-1)   // the id that comes next if ids count from the first message of the capture
	c.Message(func(m *Message) {
		if m.From == Agent && c.Initialize == nil {
			// An agent demands a login only after initialize, which lists its ways to
			// log in.
			later = later || !m.Failed() || m.ErrorCode() == codeAuthRequired
		}
		if m.From != Client || m.Kind == AnswerMessage || m.Kind == Malformed {
			return
		}
		switch {
		case m.Method == "initialize":
			id, counts := m.ID.Int()
			certain := !later || counts && id == next
			if certain || len(early) == 0 {
				c.Exercised()
			}
			for _, f := range early {
				if certain {
					c.Add(f)
				}
			}
			early = nil
		case c.Initialize == nil && c.Whole:
			c.Fail(m, Value{}, "%s is sent before initialize", quote(m.Method))
		case c.Initialize == nil && len(early) < maxFindings:
			if n, ok := m.ID.Int(); m.Kind != RequestMessage {
				// it has no id
			} else if ok && (n == next || len(early) == 0 && n == 0) { // no request precedes the id 0
				next = n + 1
			} else {
				next = -1
			}
			early = append(early, c.Describe(m.Frame, Value{}, "%s is sent before initialize", quote(m.Method)))
		case c.Initialize != nil && m.Kind == RequestMessage:
			if r, open := c.Outstanding(Client).Get(c.Initialize.ID); open && r == c.Initialize {
				c.Report(m.Frame, Finding{Text: quote(m.Method) + " is sent before initialize is answered", Also: []int{r.Number}}, Value{})
			}
		}
	})
}

// checkInfo checks what a side says about itself.
func checkInfo(c *Checker, m *Message, v Value, name string) {
	c.Exercised()
	info := v.Get(name)
	if !info.IsObject() {
		c.Fail(m, orElse(info, v), "%s is missing", name)
		return
	}
	for _, field := range []string{"name", "version"} {
		if text := info.Get(field); !text.IsString() || len(text.Bytes()) == 0 {
			c.Fail(m, orElse(text, info), "%s has no %s", name, field)
		}
	}
}

// checkMarkers reports booleans among capabilities.
func checkMarkers(c *Checker, m *Message, v Value) {
	for name, x := range v.Members() {
		switch x.Kind() {
		case jtree.True, jtree.False:
			c.Fail(m, x, "the capability %q is a boolean", quote(string(name)))
		case jtree.Object:
			if string(name) != "_meta" {
				checkMarkers(c, m, x)
			}
		}
	}
}

// optional are the methods that need a capability and have no rule of their own.
var optional = []struct {
	version Versions
	method  string
	path    []string // of the capability of the side that handles the method
}{
	{V1, "session/fork", []string{"sessionCapabilities", "fork"}},
	{V1, "session/archive", []string{"sessionCapabilities", "archive"}},
	{V1, "session/unarchive", []string{"sessionCapabilities", "archive"}},
	{V1, "session/status", []string{"sessionCapabilities", "status"}},
	{V1, "session/set_title", []string{"sessionCapabilities", "title"}},
	{V2, "session/fork", []string{"session", "fork"}},
	{V2, "session/archive", []string{"session", "archive"}},
	{V2, "session/unarchive", []string{"session", "archive"}},
	{V2, "session/status", []string{"session", "status"}},
	{V2, "session/set_title", []string{"session", "title"}},
	{All, "providers/list", []string{"providers"}},
	{All, "providers/set", []string{"providers"}},
	{All, "providers/disable", []string{"providers"}},
}

// checkAdvertised covers the methods that need a capability and have no rule of their
// own.
func checkAdvertised(c *Checker) {
	var names []string
	for _, o := range optional {
		names = append(names, o.method)
	}
	slices.Sort(names)
	c.Request(func(m *Message) {
		if m.From != Client || !c.AgentHello.Exists() {
			return
		}
		for _, o := range optional {
			if o.method == m.Method && o.version&c.Version != 0 {
				c.Exercised()
				if !c.AgentCapabilities.Get(o.path...).Set() {
					c.Fail(m, Value{}, "the agent does not advertise %s", strings.Join(o.path, "."))
				}
			}
		}
	}, slices.Compact(names)...)
}

func checkSecondInitialize(c *Checker) {
	others := 0
	second := map[int]bool{} // requests that came too late, by number
	c.Request(func(m *Message) {
		switch {
		case m.From != Client:
		case m.Method != "initialize":
			others++
		case others > 0 && len(second) < maxFindings:
			second[m.Number] = true
		}
	})
	c.Answer(func(m *Message) {
		if m.Answers == nil || !second[m.Answers.Number] {
			return
		}
		c.Exercised()
		if m.ErrorCode() != codeInvalidRequest {
			c.Report(m.Frame, Finding{Text: "a second initialize after other requests is not refused with -32600", Also: []int{m.Answers.Number}}, Value{})
		}
	}, "initialize")
}

// isPlainPrompt reports whether a prompt has only blocks that need no capability.
func isPlainPrompt(prompt Value) bool {
	n := 0
	for _, block := range prompt.Items() {
		n++
		switch {
		case block.Get("type").Is("text") && block.Get("text").IsString():
		case block.Get("type").Is("resource_link") && block.Get("name").IsString() && block.Get("uri").IsString():
		default:
			return false
		}
	}
	return n > 0
}

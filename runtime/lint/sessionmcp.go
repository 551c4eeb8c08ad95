package lint

import "bytes"

var methodsWithServers = []string{"session/new", "session/load", "session/resume", "session/fork"}

// mcpServerRules are the rules of sessions that are about MCP servers.
func mcpServerRules() []Rule {
	return []Rule{
		{
			ID: "SES27", Severity: Error, Side: ByClient, Versions: All, Page: "v1+v2/session-setup", Strength: Schema,
			Summary: "The command of an MCP server is an absolute path.",
			Why:     "The agent starts it with its own PATH and from its own folder, so another program may run.",
			Check: func(c *Checker) {
				eachServer(c, func(m *Message, s Value) {
					if serverType(c, s) == "stdio" {
						c.checkAbsolute(m, s.Get("command"), "the command")
					}
				})
			},
		},
		{
			ID: "SES28", Severity: Error, Side: ByClient, Versions: All, Page: "v1+v2/session-setup", Strength: Must,
			Summary: "MCP servers use only transports that the agent advertises.",
			Why:     "The agent cannot connect to them, and their tools are missing.",
			Check: func(c *Checker) {
				eachServer(c, func(m *Message, s Value) {
					kind := serverType(c, s)
					path := []string{"mcpCapabilities", kind}
					known := kind == "http" || kind == "sse" || kind == "acp"
					if c.Version != V1 {
						path = []string{"session", "mcp", kind}
						known = kind == "http" || kind == "stdio" || kind == "acp"
					}
					if !known || !c.AgentHello.Exists() {
						return
					}
					c.Exercised()
					if !advertised(c.AgentCapabilities, path) {
						c.Fail(m, orElse(s.Get("type"), s), "the agent does not advertise the MCP transport %s", kind)
					}
				})
			},
		},
		{
			ID: "SES29", Severity: Warn, Side: ByAgent, Versions: V1, Page: "v1/session-setup", Strength: Must,
			Summary: "MCP servers on standard input and output are supported.",
			Why:     "Clients rely on it without asking.",
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					stdio := false
					for _, s := range m.Answers.Params().Get("mcpServers").Items() {
						stdio = stdio || serverType(c, s) == "stdio" && s.Get("command").IsString()
					}
					if !stdio {
						return
					}
					c.Exercised()
					text := bytes.ToLower(m.Error.Text())
					if m.Failed() && bytes.Contains(text, []byte("support")) && (bytes.Contains(text, []byte("mcp")) || bytes.Contains(text, []byte("stdio"))) {
						// The error's meaning is a guess from its words.
						c.Report(m.Frame, Finding{Text: "a session with an MCP server is refused as not supported", Also: []int{m.Answers.Number}}, m.Error)
					}
				}, methodsWithServers...)
			},
		},
		{
			ID: "SES31", Severity: Info, Side: ByAgent, Versions: V1, Page: "v1/session-setup", Strength: Should,
			Summary: "An agent that is given MCP servers takes those over HTTP, too.",
			Why:     "Many servers exist only there.",
			Check: func(c *Checker) {
				said := false
				eachServer(c, func(m *Message, _ Value) {
					if !c.AgentHello.Exists() {
						return
					}
					c.Exercised()
					if !said && !advertised(c.AgentCapabilities, []string{"mcpCapabilities", "http"}) {
						said = true
						c.Report(m.Frame, Finding{By: Agent, Text: "mcpCapabilities.http is not advertised", Also: []int{c.Initialized}}, m.Params.Get("mcpServers"))
					}
				})
			},
		},
		{
			ID: "SES32", Severity: Error, Side: ByClient, Versions: V2, Page: "v2/migration", Strength: Must,
			Summary: "Every MCP server has a type.",
			Why:     "In version 1 a server without a type was a command; version 2 refuses it.",
			Check: func(c *Checker) {
				eachServer(c, func(m *Message, s Value) {
					c.Exercised()
					if kind := s.Get("type"); !kind.IsString() {
						c.Fail(m, orElse(kind, s), "the server has no type")
					}
				})
			},
		},
		{
			ID: "SES33", Severity: Error, Side: ByClient, Versions: V2, Page: "v2/session-setup", Strength: Must,
			Summary: "The type of an MCP server is a defined word or begins with an underscore.",
			Why:     "A later version may give the word another meaning.",
			Check: func(c *Checker) {
				eachServer(c, func(m *Message, s Value) {
					kind := s.Get("type")
					if !kind.IsString() {
						return
					}
					c.Exercised()
					if !kind.OneOf("stdio", "http", "acp") && !isExtension(kind.Str()) {
						c.Unknown(m, kind, "not a type of MCP server")
					}
				})
			},
		},
		{
			ID: "SES34", Severity: Warn, Side: ByClient, Versions: V2b, Page: "schema-2.4.0/McpServerStdio", Strength: Should,
			Summary: "A variable is set once in the environment of an MCP server.",
			Why:     "The last one counts, and some agents take the first.",
			Check: func(c *Checker) {
				eachServer(c, func(m *Message, s Value) {
					checkDistinct(c, m, s.Get("env"), "name", "the variable is set twice")
				})
			},
		},
	}
}

// eachServer calls f with the MCP servers that the client wants the agent to use.
func eachServer(c *Checker, f func(*Message, Value)) {
	c.Request(sentBy(Client, func(m *Message) {
		for _, s := range m.Params.Get("mcpServers").Items() {
			if s.IsObject() {
				f(m, s)
			}
		}
	}), methodsWithServers...)
}

// serverType is the transport of an MCP server. In version 1 it is stdio if there is
// none.
func serverType(c *Checker, s Value) string {
	if kind := s.Get("type"); kind.Set() || c.Version != V1 {
		return kind.Str()
	}
	return "stdio"
}

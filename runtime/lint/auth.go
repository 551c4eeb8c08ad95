package lint

import (
	"bytes"
	"time"
)

// freshLogin is how long a login is good for without doubt.
const freshLogin = time.Minute

// gated are the methods that an agent may refuse before a login.
var gated = []string{"session/new", "session/load", "session/resume", "session/list", "session/prompt", "session/fork"}

func authRules() []Rule {
	return []Rule{
		{
			ID: "AUT01", Severity: Error, Side: ByClient, Versions: V1, Page: "v1/authentication", Strength: Infer,
			Summary: "authenticate names a way to log in that the agent advertises.",
			Why:     "The agent does not know what to do.",
			Check: func(c *Checker) {
				eachLogin(c, func(m *Message, id Value) {
					if !c.loginMethod(id).Exists() {
						c.Fail(m, id, "the agent does not advertise this method")
					}
				}, "authenticate")
			},
		},
		{
			ID: "AUT02", Severity: Error, Side: ByClient, Versions: All, Page: "v1+v2/authentication", Strength: MustNot,
			Summary: "A login in a terminal is not started by a request.",
			Why:     "The client has to run the agent in a terminal for it, and the request can only fail.",
			Check: func(c *Checker) {
				eachLogin(c, func(m *Message, id Value) {
					if c.loginMethod(id).Get("type").Is("terminal") {
						c.Fail(m, id, "the method is of type terminal")
					}
				}, "authenticate", "auth/login")
			},
		},
		{
			ID: "AUT03", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/authentication", Strength: Must,
			Summary:      "A login in a terminal is offered only to clients that advertise auth.terminal.",
			Why:          "Other clients have no terminal for it, and show a choice that does not work.",
			Requirements: []string{"ACP-AUTH-002", "ACP-AUTH-202"},
			Check: func(c *Checker) {
				eachMethod(c, func(m *Message, method Value) {
					if !c.ClientHello.Exists() {
						return
					}
					c.Exercised()
					if method.Get("type").Is("terminal") && !advertised(c.ClientCapabilities, []string{"auth", "terminal"}) {
						c.Fail(m, method.Get("type"), "the client does not advertise auth.terminal")
					}
				})
			},
		},
		{
			ID: "AUT04", Severity: Error, Side: ByClient, Versions: V1, Page: "v1/authentication", Strength: MustNot,
			Summary: "logout is called only if the agent advertises auth.logout.",
			Why:     "The agent does not know the method, and the user believes to be logged out.",
			Check:   onlyAdvertised("logout", "auth", "logout"),
		},
		{
			ID: "AUT05", Severity: Error, Side: ByClient, Versions: V2, Page: "v2/authentication", Strength: MustNot,
			Summary: "auth/login and auth/logout are called only if the agent offers ways to log in.",
			Why:     "An agent without them need not have these methods.",
			Check: func(c *Checker) {
				c.Request(sentBy(Client, func(m *Message) {
					if !c.AgentHello.Exists() {
						return
					}
					c.Exercised()
					if c.AgentHello.Get("authMethods").Len() == 0 {
						c.Fail(m, Value{}, "the agent offers no way to log in")
					}
				}), "auth/login", "auth/logout")
			},
		},
		{
			ID: "AUT06", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/authentication", Strength: Must,
			Summary:      "An agent that offers ways to log in knows auth/login and auth/logout.",
			Why:          "The client offers both to the user because of the list.",
			Requirements: []string{"ACP-AUTH-204"},
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					if c.AgentHello.Get("authMethods").Len() == 0 {
						return
					}
					c.Exercised()
					if m.ErrorCode() == codeNoMethod {
						c.Report(m.Frame, Finding{Text: "the agent does not know " + m.Method + ", although it offers ways to log in", Also: []int{m.Answers.Number}}, m.Error.Get("code"))
					}
				}, "auth/login", "auth/logout")
			},
		},
		{
			ID: "AUT07", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/authentication", Strength: Schema,
			Summary: "A way to log in has a methodId, a name and a type.",
			Why:     "The client can neither show it nor ask for it.",
			Check: func(c *Checker) {
				eachMethod(c, func(m *Message, method Value) {
					c.Exercised()
					for _, name := range []string{"methodId", "name", "type"} {
						if v := method.Get(name); !v.IsString() {
							c.Fail(m, orElse(v, method), "%s is missing", name)
						}
					}
				})
			},
		},
		{
			ID: "AUT08", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/authentication", Strength: Must,
			Summary:      "A type of login that the specification does not define begins with an underscore.",
			Why:          "A later version may give the word another meaning.",
			Requirements: []string{"ACP-AUTH-206"},
			Check: func(c *Checker) {
				eachMethod(c, func(m *Message, method Value) {
					kind := method.Get("type")
					if !kind.IsString() {
						return
					}
					c.Exercised()
					if isCustom(kind) && !kind.OneOf("agent", "terminal") {
						c.Unknown(m, kind, "the specification does not have this type")
					}
				})
			},
		},
		{
			ID: "AUT09", Severity: Warn, Side: ByAgent, Versions: V1, Page: "v1/authentication", Strength: Schema,
			Summary: "The type of a way to log in is agent, terminal or missing.",
			Why:     "Clients take any other for agent, or leave the method out.",
			Check: func(c *Checker) {
				eachMethod(c, func(m *Message, method Value) {
					c.Exercised()
					if kind := method.Get("type"); kind.Set() && !kind.OneOf("agent", "terminal") {
						c.Unknown(m, kind, "version 1 does not have this type")
					}
				})
			},
		},
		{
			ID: "AUT10", Severity: Warn, Side: ByAgent, Versions: All, Page: "schema/AuthMethod", Strength: Infer,
			Summary:      "The ids of the ways to log in are unique.",
			Why:          "A client that sends the id back cannot choose between two methods.",
			Requirements: []string{"ACP-AUTH-001", "ACP-AUTH-201"},
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					checkDistinct(c, m, m.Result.Get("authMethods"), c.methodID(), "another method has this id")
				}, "initialize")
			},
		},
		{
			ID: "AUT11", Severity: Warn, Side: ByAgent, Versions: All, Page: "v1+v2/authentication", Strength: Infer,
			Summary:      "A login is demanded only by agents that offer a way to log in.",
			Why:          "The client knows that the user has to log in, and has nothing to offer.",
			Requirements: []string{"ACP-AUTH-005", "ACP-AUTH-205"},
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					if m.From != Agent || !c.AgentHello.Exists() || m.ErrorCode() != codeAuthRequired {
						return
					}
					c.Exercised()
					if c.AgentHello.Get("authMethods").Len() == 0 {
						c.Report(m.Frame, Finding{Text: "the code means that a login is required, and authMethods is empty", Also: []int{c.Initialized}}, m.Error.Get("code"))
					}
				}, gated...)
			},
		},
		{
			ID: "AUT12", Severity: Warn, Side: ByAgent, Versions: All, Page: "v1+v2/authentication", Strength: Infer,
			Summary:      "After a login that succeeded, no login is demanded.",
			Why:          "The user logs in again and again.",
			Requirements: []string{"ACP-AUTH-003", "ACP-AUTH-204"},
			Check: func(c *Checker) {
				login, at := 0, time.Time{} // number and time of the answer
				c.Answer(func(m *Message) {
					login, at = 0, m.Time
					if !m.Failed() && m.Method != "logout" && m.Method != "auth/logout" {
						login = m.Number
					}
				}, "authenticate", "auth/login", "logout", "auth/logout")
				c.Answer(func(m *Message) {
					if m.From != Agent || login == 0 || m.Answers.Number < login || m.Time.Sub(at) > freshLogin {
						return
					}
					c.Exercised()
					if m.ErrorCode() == codeAuthRequired {
						c.Report(m.Frame, Finding{Text: "a login is required, although one succeeded just before", Also: []int{login}}, m.Error.Get("code"))
					}
				}, gated...)
			},
		},
		{
			ID: "AUT13", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/authentication", Strength: Must,
			Summary:      "Each variable of a login in a terminal is set once.",
			Why:          "Clients differ in which of two values they take.",
			Requirements: []string{"ACP-AUTH-207"},
			Check: func(c *Checker) {
				eachMethod(c, func(m *Message, method Value) {
					if !method.Get("type").Is("terminal") {
						return
					}
					seen := map[string]bool{}
					c.Exercised()
					for _, e := range method.Get("env").Items() {
						name := e.Get("name")
						if name.IsString() && seen[name.Str()] {
							c.Fail(m, name, "the variable is set twice")
						}
						seen[name.Str()] = true
					}
				})
			},
		},
		{
			ID: "AUT16", Severity: Warn, Side: ByClient, Versions: All, Page: "v1+v2/authentication", Strength: Infer,
			Summary: "After a login in a terminal the client connects and initializes again.",
			Why:     "An agent that runs already need not notice that the user has logged in elsewhere.",
			Check:   checkReconnects,
		},
	}
}

// methodID is the name of the id of a way to log in.
func (h *History) methodID() string {
	if h.Version == V1 {
		return "id"
	}
	return "methodId"
}

// loginMethod returns a way to log in that the agent advertises, absent if there is
// none with this id.
func (h *History) loginMethod(id Value) Value {
	for _, method := range h.AgentHello.Get("authMethods").Items() {
		if v := method.Get(h.methodID()); v.IsString() && bytes.Equal(v.Bytes(), id.Bytes()) {
			return method
		}
	}
	return Value{}
}

// eachLogin has check look at the requests that log in by a way that the agent may have
// advertised.
func eachLogin(c *Checker, check func(m *Message, id Value), methods ...string) {
	c.Request(sentBy(Client, func(m *Message) {
		id := m.Params.Get("methodId")
		if !c.AgentHello.Exists() || !id.IsString() {
			return
		}
		c.Exercised()
		check(m, id)
	}), methods...)
}

// eachMethod calls f with the ways to log in.
func eachMethod(c *Checker, f func(m *Message, method Value)) {
	c.Answer(func(m *Message) {
		for _, method := range m.Result.Get("authMethods").Items() {
			if method.IsObject() {
				f(m, method)
			}
		}
	}, "initialize")
}

// checkReconnects looks for what was refused for want of a login and then works on the
// same connection, although the user can only have logged in in a terminal.
func checkReconnects(c *Checker) {
	refused := NewBounded[string, int](len(gated)) // number of the answer, by method
	c.Answer(func(m *Message) {
		if m.From != Agent || !c.AgentHello.Exists() {
			return
		}
		methods := c.AgentHello.Get("authMethods")
		for _, method := range methods.Items() {
			if !method.Get("type").Is("terminal") {
				return
			}
		}
		if methods.Len() == 0 {
			return
		}
		if m.ErrorCode() == codeAuthRequired {
			c.Exercised()
			refused.Put(m.Method, m.Number)
		} else if before, ok := refused.Get(m.Method); ok && !m.Failed() && before < m.Answers.Number {
			refused.Delete(m.Method)
			c.Report(m.Frame, Finding{By: Client, Text: "the client has logged in in a terminal and goes on with the old connection", Also: []int{before, m.Answers.Number}}, Value{})
		}
	}, gated...)
	c.Request(sentBy(Client, func(*Message) { // there was another way
		for method := range refused.All() {
			refused.Delete(method)
		}
	}), "authenticate", "auth/login")
}

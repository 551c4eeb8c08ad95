package lint

import (
	"strings"

	"github.com/hermes-nvim/hermes/internal/jtree"
)

func sessionRules() []Rule {
	return append([]Rule{
		{
			ID: "SES01", Severity: Error, Side: ByClient, Versions: All, Page: "v1+v2/session-setup", Strength: Must,
			Summary: "Sessions are created, loaded, resumed, listed or deleted only after initialize succeeded.",
			Why:     "The sides have not agreed on a version yet, so the agent cannot know what the client means.",
			Check: func(c *Checker) {
				done := false
				c.Answer(func(m *Message) { done = done || !m.Failed() }, "initialize")
				c.Request(sentBy(Client, func(m *Message) {
					if !c.Whole {
						return
					}
					c.Exercised()
					if !done {
						c.Fail(m, Value{}, "initialize has not succeeded")
					}
				}), "session/new", "session/load", "session/resume", "session/list", "session/delete", "session/fork")
			},
		},
		{
			ID: "SES02", Severity: Error, Side: ByClient, Versions: All, Page: "v1+v2/session-setup", Strength: Must,
			Summary: "The cwd of a session is an absolute path.",
			Why:     "The agent runs in another folder, so it would resolve a relative path to something else.",
			Check: func(c *Checker) {
				c.Request(func(m *Message) {
					c.checkAbsolute(m, m.Params.Get("cwd"), "cwd")
				}, "session/new", "session/load", "session/resume", "session/list", "session/fork")
			},
		},
		{
			ID: "SES03", Severity: Error, Side: ByClient, Versions: All, Page: "v1+v2/session-setup", Strength: Must,
			Summary: "The additional directories of a session are absolute paths.",
			Why:     "The agent would resolve a relative one against its own folder or against cwd, and nobody says which.",
			Check: func(c *Checker) {
				c.Request(sentBy(Client, func(m *Message) {
					for _, d := range m.Params.Get("additionalDirectories").Items() {
						c.checkAbsolute(m, d, "the directory")
					}
				}), "session/new", "session/load", "session/resume", "session/fork")
			},
		},
		{
			ID: "SES04", Severity: Error, Side: ByClient, Versions: All, Page: "v1+v2/session-setup", Strength: Must,
			Summary: "additionalDirectories is sent only to agents that advertise it.",
			Why:     "Another agent ignores them, and the user believes that it can work there.",
			Check: func(c *Checker) {
				c.Request(sentBy(Client, func(m *Message) {
					dirs := m.Params.Get("additionalDirectories")
					if !dirs.IsArray() || dirs.Len() == 0 || !c.AgentHello.Exists() { // an empty list says the same as none
						return
					}
					c.Exercised()
					if path := c.sessionCapability("additionalDirectories"); !advertised(c.AgentCapabilities, path) {
						c.Fail(m, dirs, "the agent does not advertise %s", strings.Join(path, "."))
					}
				}), "session/new", "session/load", "session/resume", "session/fork")
			},
		},
		{
			ID: "SES05", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/session-setup", Strength: Must,
			Summary:      "session/new returns an id that is not empty and that no other session has.",
			Why:          "The client cannot tell the conversations apart and shows one in the other.",
			Requirements: []string{"ACP-SESSION-001", "ACP-SESSION-002"},
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					id := m.Result.Get("sessionId")
					if m.Failed() || !id.IsString() {
						return
					}
					c.Exercised()
					if len(id.Bytes()) == 0 {
						c.Fail(m, id, "the id is empty")
					} else if s, ok := c.Sessions.Get(bounded(id.Bytes())); ok && s.State != Opening {
						c.Report(m.Frame, Finding{Text: "another session has this id", Also: []int{s.Opened}}, id)
					}
				}, "session/new")
			},
		},
		{
			ID: "SES06", Severity: Error, Side: BySender, Versions: All, Page: "v1+v2/session-setup", Strength: Infer,
			Summary: "A sessionId names a session that was opened on this connection and that is not closed.",
			Why:     "The other side has nothing that the message could be about.",
			Check:   checkSessionIsOpen,
		},
		{
			ID: "SES07", Severity: Warn, Side: ByAgent, Versions: All, Page: "v1+v2/session-setup", Strength: Infer,
			Summary: "Updates are about sessions that the client created, loaded or resumed.",
			Why:     "Clients drop updates about a session that they have never heard of.",
			Check:   checkUpdatesOfKnownSessions,
		},
		{
			ID: "SES08", Severity: Error, Side: ByClient, Versions: V1, Page: "v1/session-setup", Strength: MustNot,
			Summary: "session/load is sent only if the agent advertises it.",
			Why:     "The agent cannot load sessions, so the user gets an error instead of the conversation.",
			Check:   onlyAdvertised("session/load", "loadSession"),
		},
		{
			ID: "SES09", Severity: Error, Side: ByClient, Versions: V1, Page: "v1/session-setup", Strength: Must,
			Summary: "session/load has sessionId, cwd and mcpServers.",
			Why:     "Strict agents refuse the request without one of them.",
			Check: func(c *Checker) {
				c.Request(sentBy(Client, func(m *Message) {
					c.Exercised()
					requireMembers(c, m, "sessionId", "cwd", "mcpServers")
				}), "session/load")
			},
		},
		{
			ID: "SES10", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/session-setup", Strength: Must,
			Summary:      "The history of a load is sent before its response.",
			Why:          "The client takes what follows for new and lets the user write into an unfinished conversation.",
			Requirements: []string{"ACP-LOAD-002"},
			Check:        checkLoadIsComplete,
		},
		{
			ID: "SES11", Severity: Warn, Side: ByAgent, Versions: V1, Page: "v1/session-setup", Strength: Must,
			Summary: "session/load replays the conversation.",
			Why:     "The user sees an empty conversation that the agent remembers.",
			Check:   checkLoadReplays,
		},
		{
			ID: "SES12", Severity: Error, Side: ByClient, Versions: V1, Page: "v1/session-setup", Strength: MustNot,
			Summary: "session/resume is sent only if the agent advertises it.",
			Why:     "The agent does not have the method.",
			Check:   onlyAdvertised("session/resume", "sessionCapabilities", "resume"),
		},
		{
			ID: "SES13", Severity: Error, Side: ByClient, Versions: V1, Page: "v1/session-setup", Strength: Must,
			Summary: "session/resume has sessionId and cwd.",
			Why:     "Strict agents refuse the request without one of them.",
			Check: func(c *Checker) {
				c.Request(sentBy(Client, func(m *Message) {
					c.Exercised()
					requireMembers(c, m, "sessionId", "cwd")
				}), "session/resume")
			},
		},
		{
			ID: "SES14", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/session-setup", Strength: MustNot,
			Summary:      "A resume that asks for no replay gets no history.",
			Why:          "The client has the history already and shows all of it twice.",
			Requirements: []string{"ACP-RESUME-002", "ACP-RESUME-203"},
			Check:        checkNoReplay,
		},
		{
			ID: "SES15", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/session-setup", Strength: Must,
			Summary:      "The replay that a resume asks for is sent before its response.",
			Why:          "The client takes what follows for new messages.",
			Requirements: []string{"ACP-RESUME-202"},
			Check:        checkReplayIsComplete,
		},
		{
			ID: "SES16", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/session-setup", Strength: Must,
			Summary: "Each message of a replay has a messageId of its own.",
			Why:     "The client joins messages with one id into one.",
			Check: func(c *Checker) {
				followReplays(c, func(r *replay, m *Message) {
					role := roleOf(m.UpdateTag)
					if !r.wanted || r.answered > 0 || role == "" {
						return
					}
					c.Exercised()
					id := m.Update.Get("messageId")
					if !id.IsString() || len(id.Bytes()) == 0 {
						c.Fail(m, orElse(id, m.Update), "a replayed message has no messageId")
					} else if before, ok := r.roles.Get(bounded(id.Bytes())); ok && before != role {
						f := Finding{Text: "a replayed message of another kind has this id, too: " + before}
						if role != "user" && before != "user" {
							f.Severity = Warn // a thought may be taken for a part of the message
						}
						c.Report(m.Frame, f, id)
					}
				}, nil)
			},
		},
		{
			ID: "SES17", Severity: Error, Side: ByAgent, Versions: V2b, Page: "schema-2.4.0/ResumeSessionResponse", Strength: Must,
			Summary: "A state_update precedes the response to session/resume, after the replay.",
			Why:     "The client does not know whether the session is at work or takes a prompt.",
			Check: func(c *Checker) {
				followReplays(c, nil, func(r *replay, m *Message) {
					if m.Failed() {
						return
					}
					c.Exercised()
					switch {
					case r.stateAt == 0:
						c.Report(m.Frame, Finding{Text: "no state_update precedes the response", Also: []int{r.number}}, Value{})
					case r.wanted && r.userAt > r.stateAt && r.state == "idle":
						c.Report(m.Frame, Finding{Text: "the state_update precedes the replay", Also: []int{r.stateAt}}, Value{})
					}
				})
			},
		},
		{
			ID: "SES18", Severity: Error, Side: ByClient, Versions: V1, Page: "v1/session-setup", Strength: MustNot,
			Summary: "session/close is sent only if the agent advertises it.",
			Why:     "The agent does not have the method, and what the session holds stays.",
			Check:   onlyAdvertised("session/close", "sessionCapabilities", "close"),
		},
		{
			ID: "SES19", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/session-setup", Strength: Must,
			Summary:      "Closing a session ends its work with the stop reason cancelled.",
			Why:          "The client waits for the end of the turn, or shows the user an error for what they asked for.",
			Requirements: []string{"ACP-CLOSE-002", "ACP-CLOSE-202", "ACP-CANCEL-208"},
			Check:        checkCloseCancels,
		},
		{
			ID: "SES20", Severity: Error, Side: ByAgent, Versions: V2b, Page: "schema-2.4.0/CloseSessionRequest", Strength: Must,
			Summary: "Nothing is sent about a session after its close was answered.",
			Why:     "The client has forgotten the session, and drops what comes or shows it as a new one.",
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					if !m.Failed() {
						c.Exercised()
					}
				}, "session/close")
				c.Message(func(m *Message) {
					if m.From != Agent || m.Kind != RequestMessage && m.Kind != NotificationMessage || m.Session == nil ||
						m.Session.State != Closed || isExtension(m.Method) || c.reopening(m.SessionID) {
						return
					}
					c.Report(m.Frame, Finding{Text: "the session is closed", Also: []int{m.Session.Ended}}, m.Params.Get("sessionId"))
				})
			},
		},
		{
			ID: "SES21", Severity: Warn, Side: ByClient, Versions: All, Page: "v1+v2/session-setup", Strength: Infer,
			Summary: "A client is done with a session after it closed or deleted it.",
			Why:     "The agent has freed the session and answers with an error.",
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					if !m.Failed() {
						c.Exercised()
					}
				}, "session/close", "session/delete")
				check := sentBy(Client, func(m *Message) {
					if s := m.Session; s != nil && s.State >= Closed && !c.reopening(s.ID) {
						word := "closed"
						if s.State == Deleted {
							word = "deleted"
						}
						c.Report(m.Frame, Finding{Text: "the session was " + word, Also: []int{s.Ended}}, m.Params.Get("sessionId"))
					}
				})
				c.Request(check, clientMethodsOfSession...)
				c.Notification(check, clientMethodsOfSession...)
			},
		},
		{
			ID: "SES22", Severity: Warn, Side: ByClient, Versions: All, Page: "v1+v2/session-setup", Strength: Must,
			Summary: "load and resume repeat the additional directories that should be active.",
			Why:     "The agent does not restore them by itself, so it loses access to them.",
			Check: func(c *Checker) {
				listed := NewBounded[string, int](maxSessions) // sessions by how many directories session/list reported
				c.Answer(func(m *Message) {
					for _, s := range m.Result.Get("sessions").Items() {
						if id := s.Get("sessionId"); id.IsString() {
							listed.Put(bounded(id.Bytes()), s.Get("additionalDirectories").Len())
						}
					}
				}, "session/list")
				c.Request(sentBy(Client, func(m *Message) {
					n, _ := listed.Get(m.SessionID)
					if m.Session != nil {
						n = len(m.Session.Roots)
					}
					if n == 0 {
						return
					}
					c.Exercised()
					// An empty list says that none is wanted; a member that is left out was
					// probably forgotten.
					if !m.Params.Get("additionalDirectories").Exists() {
						c.Fail(m, m.Params, "the session had additional directories, %d in number, and the request has none", n)
					}
				}), "session/load", "session/resume")
			},
		},
		{
			ID: "SES23", Severity: Error, Side: ByClient, Versions: V2b, Page: "schema-2.4.0/ResumeSessionRequest", Strength: Must,
			Summary: "session/resume has the cwd that the session was created with.",
			Why:     "The agent refuses it, or what the conversation says about files is no longer true.",
			Check: func(c *Checker) {
				created := NewBounded[string, string](maxSessions)
				c.Answer(func(m *Message) {
					if id, cwd := m.Result.Get("sessionId"), m.Answers.Params().Get("cwd"); !m.Failed() && id.IsString() && cwd.IsString() {
						created.Put(bounded(id.Bytes()), bounded(cwd.Bytes()))
					}
				}, "session/new")
				c.Request(sentBy(Client, func(m *Message) {
					cwd := m.Params.Get("cwd")
					want, ok := created.Get(m.SessionID)
					if !ok || !cwd.IsString() {
						return
					}
					c.Exercised()
					if !samePath(want, bounded(cwd.Bytes())) {
						c.Fail(m, cwd, "the session was created in %q", quote(want))
					}
				}), "session/resume")
			},
		},
		{
			ID: "SES25", Severity: Warn, Side: ByAgent, Versions: All, Page: "v1+v2/session-setup", Strength: Should,
			Summary: "Tools work on files below cwd and the additional directories.",
			Why:     "Those are what the user opened; elsewhere they do not expect the agent.",
			Check:   checkRoots,
		},
		{
			ID: "SES26", Severity: Warn, Side: ByClient, Versions: V1, Page: "v1/prompt-turn", Strength: Infer,
			Summary: "A session gets one prompt at a time.",
			Why:     "Nothing says what becomes of the first one: agents queue, drop or mix them.",
			Check: func(c *Checker) {
				c.Request(sentBy(Client, func(m *Message) {
					if m.Session == nil {
						return
					}
					c.Exercised()
					if t := m.Session.Turn; t != nil {
						if r, open := c.Outstanding(Client).Get(t.Prompt.ID); open && r == t.Prompt {
							c.Report(m.Frame, Finding{Text: "the prompt before is not answered", Also: []int{r.Number}}, Value{})
						}
					}
				}), "session/prompt")
			},
		},
		{
			ID: "SES35", Severity: Warn, Side: ByAgent, Versions: V2b, Page: "schema-2.4.0/ErrorData", Strength: Should,
			Summary: "A request about a session that does not exist fails with -32002 and the sessionId in data.",
			Why:     "The client cannot tell a session that is gone from a request that is wrong.",
			Check:   checkMissingSession,
		},
		{
			ID: "SES36", Severity: Warn, Side: ByClient, Versions: V2b, Page: "schema-2.4.0/CloseSessionRequest", Strength: Should,
			Summary: "A client is content if the session that it closes or deletes does not exist.",
			Why:     "The session is gone, as the client wanted; asking again cannot change that.",
			Check: func(c *Checker) {
				gone := NewBounded[Of, int](maxSessions) // by session and method: the answer
				c.Answer(func(m *Message) {
					if m.ErrorCode() == codeNotFound && m.SessionID != "" {
						c.Exercised()
						gone.Put(Of{m.SessionID, m.Method}, m.Number)
					}
				}, "session/close", "session/delete")
				c.SessionChanged(func(s *Session, _ *Message) {
					gone.Delete(Of{s.ID, "session/close"})
					gone.Delete(Of{s.ID, "session/delete"})
				})
				c.Request(sentBy(Client, func(m *Message) {
					if n, ok := gone.Get(Of{m.SessionID, m.Method}); ok {
						c.Report(m.Frame, Finding{Text: "the agent has said that the session does not exist", Also: []int{n}}, m.Params.Get("sessionId"))
					}
				}), "session/close", "session/delete")
			},
		},
	}, mcpServerRules()...)
}

// sentBy makes a handler that sees only what one party sent.
func sentBy(p Party, f func(*Message)) func(*Message) {
	return func(m *Message) {
		if m.From == p {
			f(m)
		}
	}
}

// onlyAdvertised returns the check of a method that needs a capability.
func onlyAdvertised(method string, path ...string) func(*Checker) {
	return func(c *Checker) {
		c.Request(sentBy(Client, func(m *Message) {
			if !c.AgentHello.Exists() {
				return
			}
			c.Exercised()
			if !advertised(c.AgentCapabilities, path) {
				c.Fail(m, Value{}, "the agent does not advertise %s", strings.Join(path, "."))
			}
		}), method)
	}
}

// advertised reports whether a capability is there, as an object or as true.
func advertised(capabilities Value, path []string) bool {
	v := capabilities.Get(path...)
	return v.Set() && v.Kind() != jtree.False
}

// sessionCapability is the path of a capability of sessions.
func (h *History) sessionCapability(name string) []string {
	if h.Version == V1 {
		return []string{"sessionCapabilities", name}
	}
	return []string{"session", name}
}

func requireMembers(c *Checker, m *Message, names ...string) {
	for _, name := range names {
		if !m.Params.Get(name).Set() {
			c.Fail(m, m.Params, "%s is missing", name)
		}
	}
}

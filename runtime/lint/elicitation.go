package lint

import (
	"bytes"
	"net/url"

	"github.com/hermes-nvim/hermes/internal/lazyregexp"
)

const longPattern = 1000 // bytes of a pattern that nobody writes by hand

func elicitationRules() []Rule {
	return []Rule{
		{
			ID: "ELI01", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/elicitation", Strength: MustNot,
			Summary:      "Only modes of elicitation that the client advertises are used.",
			Why:          "The client cannot ask the user in another way.",
			Requirements: []string{"ACP-CLIENTCAP-003", "ACP-CLIENTCAP-201"},
			Check: func(c *Checker) {
				eachQuestion(c, func(m *Message, mode string) {
					if !c.ClientHello.Exists() || mode != "form" && mode != "url" {
						return
					}
					c.Exercised()
					if !advertised(c.ClientCapabilities, []string{"elicitation", mode}) {
						c.Fail(m, m.Params.Get("mode"), "the client does not advertise elicitation.%s", mode)
					}
				})
			},
		},
		{
			ID: "ELI02", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/elicitation", Strength: Schema,
			Summary: "An elicitation names its mode.",
			Why:     "The client cannot tell whether it is a form or a web page.",
			Check: func(c *Checker) {
				c.Request(sentBy(Agent, func(m *Message) {
					c.Exercised()
					if mode := m.Params.Get("mode"); !mode.IsString() {
						c.Fail(m, orElse(mode, m.Params), "mode is missing")
					}
				}), "elicitation/create")
			},
		},
		{
			ID: "ELI03", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/elicitation", Strength: Schema,
			Summary: "An elicitation belongs to a session or to a request, not to both.",
			Why:     "The client does not know where to ask, and until when.",
			Check: func(c *Checker) {
				eachQuestion(c, func(m *Message, _ string) {
					c.Exercised()
					session, request := m.Params.Get("sessionId"), m.Params.Get("requestId")
					switch {
					case session.Set() && request.Set():
						c.Fail(m, request, "the elicitation has a sessionId and a requestId")
					case !session.Set() && !request.Exists():
						c.Fail(m, m.Params, "the elicitation has neither a sessionId nor a requestId")
					}
				})
			},
		},
		{
			ID: "ELI04", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/elicitation", Strength: Infer,
			Summary: "The request that an elicitation belongs to is not answered yet.",
			Why:     "The client has nowhere to ask, because it is done with it.",
			Check: func(c *Checker) {
				eachQuestion(c, func(m *Message, _ string) {
					id := m.Params.Get("requestId")
					if !id.Set() {
						return
					}
					if _, ok := c.Outstanding(Client).Get(Key(id)); ok {
						c.Exercised()
					} else if a := c.AnsweredLately(Client, Key(id)); a != nil {
						c.Report(m.Frame, Finding{Text: "the request was answered", Also: []int{a.Number}}, id)
					} else if c.Complete(Client) {
						c.Fail(m, id, "the client has sent no request with this id")
					}
				})
			},
		},
		{
			ID: "ELI05", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/elicitation", Strength: Schema,
			Summary: "The fields of a form are texts, numbers, switches and choices.",
			Why:     "Clients have no way to draw objects and lists of them.",
			Check: func(c *Checker) {
				eachField(c, func(m *Message, _ string, field Value) {
					c.Exercised()
					items := field.Get("items")
					switch {
					case field.Get("type").Is("object"), !field.Get("type").IsString() && field.Get("properties").IsObject():
						c.Fail(m, field, "the field is an object")
					case field.Get("type").Is("array") && items.Get("type").OneOf("object", "array"):
						c.Fail(m, items, "the field is a list of %ss", items.Get("type").Str())
					}
				})
			},
		},
		{
			ID: "ELI06", Severity: Warn, Side: ByAgent, Versions: All, Page: "v1+v2/elicitation", Strength: MustNot,
			Summary: "Forms do not ask for passwords, keys and tokens.",
			Why:     "What is typed into a form passes through client, agent and logs; url mode is for secrets.",
			Check: func(c *Checker) {
				eachSecret(c, func(m *Message, at Value) {
					if advertised(c.ClientCapabilities, []string{"elicitation", "url"}) || !c.ClientHello.Exists() { // else ELI07
						c.Fail(m, at, "the form asks for a secret")
					}
				})
			},
		},
		{
			ID: "ELI07", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/elicitation", Strength: MustNot,
			Summary: "Forms do not ask for secrets when the client lacks url mode.",
			Why:     "A client without url mode still shows and logs what is typed into a form.",
			Check: func(c *Checker) {
				eachSecret(c, func(m *Message, at Value) {
					if c.ClientHello.Exists() && !advertised(c.ClientCapabilities, []string{"elicitation", "url"}) {
						// It is a guess that the field asks for a secret.
						c.Report(m.Frame, Finding{Severity: Warn, Text: "the form asks for a secret, and the client has no url mode"}, at)
					}
				})
			},
		},
		{
			ID: "ELI08", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/elicitation", Strength: Schema,
			Summary: "An elicitation by URL has an elicitationId and an absolute URL.",
			Why:     "The client can neither open the page nor learn that the user is done.",
			Check: func(c *Checker) {
				eachQuestion(c, func(m *Message, mode string) {
					if mode != "url" {
						return
					}
					c.Exercised()
					if id := m.Params.Get("elicitationId"); len(id.Bytes()) == 0 {
						c.Fail(m, orElse(id, m.Params), "elicitationId is missing")
					}
					if u := m.Params.Get("url"); !u.IsString() || !hasScheme(u.Bytes()) {
						c.Fail(m, orElse(u, m.Params), "there is no absolute URL")
					}
				})
			},
		},
		{
			ID: "ELI09", Severity: Warn, Side: ByAgent, Versions: All, Page: "v1+v2/elicitation", Strength: Should,
			Summary: "The URL of an elicitation uses https, unless it leads to this computer.",
			Why:     "Others on the network can read and change what the user enters there.",
			Check: func(c *Checker) {
				eachURL(c, func(m *Message, at Value, u *url.URL) {
					c.Exercised()
					if u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
						c.Fail(m, at, "the scheme is %q", quote(u.Scheme))
					}
				})
			},
		},
		{
			ID: "ELI10", Severity: Warn, Side: ByAgent, Versions: All, Page: "v1+v2/elicitation", Strength: MustNot,
			Summary: "The URL of an elicitation has no user, token, e-mail address or signature that grants access.",
			Why:     "Whoever sees the URL could act for the user; it is kept in histories and logs.",
			Check: func(c *Checker) {
				eachURL(c, func(m *Message, at Value, u *url.URL) {
					c.Exercised()
					if what := grants(u); what != "" {
						c.Fail(m, at, "the URL has %s", what)
					}
				})
			},
		},
		{
			ID: "ELI11", Severity: Warn, Side: ByAgent, Versions: All, Page: "v1+v2/elicitation", Strength: ShouldNot,
			Summary: "The fields of a form have no links to click.",
			Why:     "The user follows them without the checks of url mode.",
			Check: func(c *Checker) {
				eachField(c, func(m *Message, _ string, field Value) {
					c.Exercised()
					if field.Get("format").OneOf("uri", "url") {
						return
					}
					for _, name := range []string{"title", "description"} {
						if text := field.Get(name); webLink().Match(text.Bytes()) && !sample().Match(text.Bytes()) {
							c.Fail(m, text, "the %s has a link", name)
						}
					}
				})
			},
		},
		{
			ID: "ELI12", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/elicitation", Strength: Must,
			Summary: "Two elicitations that are not answered have different elicitationIds.",
			Why:     "The client cannot tell which of them is complete.",
			Check: func(c *Checker) {
				eachQuestion(c, func(m *Message, _ string) {
					id := m.Params.Get("elicitationId")
					if !id.IsString() {
						return
					}
					c.Exercised()
					for _, r := range c.Outstanding(Agent).All() {
						if r.Method == "elicitation/create" && r.ID != Key(m.ID) && bytes.Equal(r.Params().Get("elicitationId").Bytes(), id.Bytes()) && r.Params().Get("elicitationId").IsString() {
							c.Report(m.Frame, Finding{Text: "an elicitation that is not answered has the same id", Also: []int{r.Number}}, id)
							return
						}
					}
				})
			},
		},
		{
			ID: "ELI13", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/elicitation", Strength: Must,
			Summary: "elicitation/complete names an elicitation of this connection.",
			Why:     "The client has nothing to complete, and the user keeps waiting.",
			Check: func(c *Checker) {
				ids := issued(c)
				c.Notification(sentBy(Agent, func(m *Message) {
					id := m.Params.Get("elicitationId")
					if !id.IsString() {
						return
					}
					if _, ok := ids.Get(bounded(id.Bytes())); ok {
						c.Exercised()
					} else if c.Whole && !ids.Lost() {
						c.Fail(m, id, "no elicitation had this id")
					}
				}), "elicitation/complete")
			},
		},
		{
			ID: "ELI14", Severity: Warn, Side: ByClient, Versions: All, Page: "v1+v2/elicitation", Strength: Must,
			Summary: "Clients ignore elicitation/complete for ids that they do not know or that are complete.",
			Why:     "Completion may come late or twice, which is no reason to fail.",
			Check:   checkLateCompletion,
		},
		{
			ID: "ELI15", Severity: Warn, Side: ByClient, Versions: All, Page: "v1+v2/elicitation", Strength: Should,
			Summary: "What a user accepts fits the form: required fields are there, and values have their type and range.",
			Why:     "The agent asked for what it can use.",
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					form := m.Answers.Params().Get("requestedSchema")
					content := m.Result.Get("content")
					if !m.Result.Get("action").Is("accept") || !m.Answers.Params().Get("mode").Is("form") || !form.IsObject() {
						return
					}
					c.Exercised()
					for _, name := range form.Get("required").Items() {
						if name.IsString() && form.Get("properties").Get(name.Str()).Exists() && !content.Get(name.Str()).Set() {
							c.Report(m.Frame, Finding{Text: "the required field " + quote(name.Str()) + " is missing", Also: []int{m.Answers.Number}}, orElse(content, m.Result))
						}
					}
					for name, v := range content.Members() {
						field := form.Get("properties").Get(string(name))
						if wrong := misfit(field, v); wrong != "" {
							c.Report(m.Frame, Finding{Text: wrong, Also: []int{m.Answers.Number}}, v)
						}
					}
				}, "elicitation/create")
			},
		},
		{
			ID: "ELI16", Severity: Error, Side: ByClient, Versions: V1, Page: "v1/elicitation", Strength: Schema,
			Summary: "The action of an answer is accept, decline or cancel.",
			Why:     "The agent cannot tell what the user wants.",
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					if m.Failed() || !m.Result.Exists() {
						return
					}
					c.Exercised()
					action := m.Result.Get("action")
					if !action.IsString() || !action.OneOf("accept", "decline", "cancel") && isCustom(action) {
						c.Fail(m, orElse(action, m.Result), "the action is not accept, decline or cancel")
					}
				}, "elicitation/create")
			},
		},
		{
			ID: "ELI17", Severity: Info, Side: ByClient, Versions: All, Page: "v1+v2/elicitation", Strength: Infer,
			Summary: "An answer has content only if the user accepts.",
			Why:     "What the user typed before they declined is not meant for the agent.",
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					action, content := m.Result.Get("action"), m.Result.Get("content")
					if !action.IsString() {
						return
					}
					c.Exercised()
					if action.OneOf("decline", "cancel") && content.Set() && (!content.IsObject() || content.Len() > 0) {
						c.Fail(m, content, "there is content, and the action is %s", action.Str())
					}
				}, "elicitation/create")
			},
		},
		{
			ID: "ELI18", Severity: Error, Side: ByClient, Versions: All, Page: "v1+v2/elicitation", Strength: Must,
			Summary: "A mode that the client does not advertise is refused with -32602.",
			Why:     "The agent learns that it has to ask in another way.",
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					mode := m.Answers.Params().Get("mode")
					if !mode.OneOf("form", "url") || !c.ClientCapabilities.Get("elicitation").IsObject() ||
						advertised(c.ClientCapabilities, []string{"elicitation", mode.Str()}) || m.Answers.Cancelled > 0 || m.ErrorCode() == codeCancelled || m.missesSession() {
						return
					}
					c.Exercised()
					if !m.Failed() {
						c.Report(m.Frame, Finding{Text: "mode " + mode.Str() + " is not advertised, and the request succeeds", Also: []int{m.Answers.Number}}, m.Result)
					} else if m.ErrorCode() != codeInvalidParams {
						c.Report(m.Frame, Finding{Text: "mode " + mode.Str() + " is refused with another code than -32602", Also: []int{m.Answers.Number}}, m.Error.Get("code"))
					}
				}, "elicitation/create")
			},
		},
		{
			ID: "ELI19", Severity: Warn, Side: ByAgent, Versions: All, Page: "v1+v2/elicitation", Strength: Must,
			Summary: "A turn goes on or ends in order when the user declines or cancels an elicitation.",
			Why:     "Saying no is an answer, and the work need not fail because of it.",
			Check:   checkDeclined,
		},
		{
			ID: "ELI20", Severity: Warn, Side: ByAgent, Versions: All, Page: "v1+v2/elicitation", Strength: MustNot,
			Summary: "Tokens that were obtained by a URL do not come back over the protocol.",
			Why:     "The point of url mode is that client and logs never see them.",
			Check: func(c *Checker) {
				visited := false
				c.Answer(func(m *Message) {
					visited = visited || m.Answers.Params().Get("mode").Is("url") && m.Result.Get("action").Is("accept")
				}, "elicitation/create")
				c.Message(sentBy(Agent, func(m *Message) {
					if !visited {
						return
					}
					c.Exercised()
					if t := grantedToken().Find(m.Bytes); t != nil && isRandom(t) {
						c.Fail(m, holder(m.Root, t), "this looks like a token, and the user has logged in on a page")
					}
				}))
			},
		},
		{
			ID: "ELI29", Severity: Warn, Side: ByAgent, Versions: All, Strength: Security,
			Summary: "The pattern of a field is short and has no repetition of repetitions.",
			Why:     "Some engines need time beyond all bounds for such a pattern, and the client hangs.",
			Check: func(c *Checker) {
				eachField(c, func(m *Message, _ string, field Value) {
					p := field.Get("pattern")
					if !p.IsString() {
						return
					}
					c.Exercised()
					if len(p.Bytes()) > longPattern {
						c.Fail(m, p, "the pattern has %d bytes", len(p.Bytes()))
					} else if explosive().Match(p.Bytes()) {
						c.Fail(m, p, "the pattern repeats a repetition")
					}
				})
			},
		},
		{
			ID: "ELI30", Severity: Error, Side: BySender, Versions: V2, Page: "schema/CreateElicitation", Strength: MustNot,
			Summary: "Modes and actions that the specification does not define begin with an underscore.",
			Why:     "A later version may give the word another meaning.",
			Check: func(c *Checker) {
				look := func(m *Message, v Value, known ...string) {
					if !v.IsString() {
						return
					}
					c.Exercised()
					if isCustom(v) && !v.OneOf(known...) {
						c.Unknown(m, v, "the specification does not have this word")
					}
				}
				c.Request(sentBy(Agent, func(m *Message) { look(m, m.Params.Get("mode"), "form", "url") }), "elicitation/create")
				c.Answer(func(m *Message) { look(m, m.Result.Get("action"), "accept", "decline", "cancel") }, "elicitation/create")
			},
		},
	}
}

// eachQuestion calls f with the elicitations of the agent that have a mode.
func eachQuestion(c *Checker, f func(m *Message, mode string)) {
	c.Request(sentBy(Agent, func(m *Message) {
		if mode := m.Params.Get("mode"); mode.IsString() {
			f(m, bounded(mode.Bytes()))
		}
	}), "elicitation/create")
}

var (
	secretWords = lazyregexp.New(`(?i)pass(word|wd|phrase|code)|api[ _-]?(key|token|secret)|(access|auth|bearer|refresh|secret)[ _-]?token|(secret|private)[ _-]?key|client[ _-]?secret|credit[ _-]?card|\bcvv\b`)
	askedWords  = lazyregexp.New(`(?i)\b(enter|paste|type|provide|give|supply)\b[^.?!]{0,40}\b(password|passphrase|api key|(access|auth|secret) token|private key|client secret)\b`)
	webLink     = lazyregexp.New(`(?i)\bhttps?://[^\s]+`)
	sample      = lazyregexp.New(`(?i)\be\.g\.|\bexample\b|such as|like https?://`)
	// explosive is a group of one repetition, or more that may be empty, which is repeated.
	explosive    = lazyregexp.New(`\((?:\?:)?(?:\[[^\]]*\]|\\.|[^\\()\[\]|*+?])[+*](?:(?:\[[^\]]*\]|\\.|[^\\()\[\]|*+?])[?*])*\)(?:[+*]|\{\d+,)`)
	mailAddress  = lazyregexp.New(`[\w.+-]+@[\w-]+\.\w`)
	grantedToken = lazyregexp.New(`\b(gh[oupsr]_[A-Za-z0-9]{30,}|ya29\.[\w-]{30,}|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}|xox[bpa]-[\w-]{20,})`)
)

// checkDeclined looks for turns whose failure is the next thing that the agent sends
// about the session after the user declined.
func checkDeclined(c *Checker) {
	refused := NewBounded[string, int](maxSessions) // number of the answer, by session
	c.Answer(func(m *Message) {
		if m.Session == nil || m.Session.Turn == nil || m.From != Client {
			return
		}
		refused.Delete(m.SessionID)
		if m.Result.Get("action").OneOf("decline", "cancel") {
			c.Exercised()
			refused.Put(m.SessionID, m.Number)
		}
	}, "elicitation/create")
	c.TurnEnded(func(t *Turn, m *Message) {
		answer, ok := refused.Get(t.Session.ID)
		if ok && t.Cancelled == 0 && m.ErrorCode() != codeCancelled && (t.Failed || t.StopReason == "error") {
			c.Report(m.Frame, Finding{Text: "the turn fails after the user has said no", Also: []int{answer}}, orElse(m.Error, m.Update))
		}
		refused.Delete(t.Session.ID)
	})
	c.Message(sentBy(Agent, func(m *Message) {
		if m.Kind != AnswerMessage && m.SessionID != "" && m.UpdateTag != "state_update" {
			refused.Delete(m.SessionID)
		}
	}))
}

// isRandom reports whether text has enough different characters, digits among them, to
// be a real key and not a placeholder.
func isRandom(text []byte) bool {
	var seen [256]bool
	different, digits := 0, 0
	for _, b := range text {
		if !seen[b] {
			seen[b] = true
			different++
			if b >= '0' && b <= '9' {
				digits++
			}
		}
	}
	return different >= 12 && digits >= 2 && !bytes.Contains(bytes.ToLower(text), []byte("example"))
}

// holder returns the innermost string that has some text in it.
func holder(root Value, text []byte) Value {
	for v := range root.Below() {
		if v.IsString() && bytes.Contains(v.Bytes(), text) {
			return v
		}
	}
	return root
}

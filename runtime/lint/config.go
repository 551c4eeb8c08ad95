package lint

import (
	"bytes"
	"fmt"
	"time"
)

func configRules() []Rule {
	return []Rule{
		{
			ID: "CFG01", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/session-config-options", Strength: Must,
			Summary:      "Each config option has a current value, and that of a select is one of its options.",
			Why:          "The client cannot show what is chosen.",
			Requirements: []string{"ACP-CONFIG-001", "ACP-CONFIG-201", "ACP-CONFIG-203", "ACP-CONFIG-204"},
			Check: func(c *Checker) {
				eachOption(c, func(m *Message, o Value) {
					c.Exercised()
					checkCurrentValue(c, m, o)
				})
			},
		},
		{
			ID: "CFG02", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/session-config-options", Strength: MustNot,
			Summary:      "Options that are on or off are offered only to clients that advertise session.configOptions.boolean.",
			Why:          "Other clients refuse the whole list because of one option.",
			Requirements: []string{"ACP-CONFIG-003"},
			Check: func(c *Checker) {
				eachOption(c, func(m *Message, o Value) {
					if !c.ClientHello.Exists() {
						return
					}
					c.Exercised()
					if o.Get("type").Is("boolean") && !advertised(c.ClientCapabilities, []string{"session", "configOptions", "boolean"}) {
						c.Fail(m, o.Get("type"), "the client does not advertise session.configOptions.boolean")
					}
				})
			},
		},
		{
			ID: "CFG03", Severity: Error, Side: ByClient, Versions: All, Page: "v1+v2/session-config-options", Strength: Must,
			Summary: "session/set_config_option names an option of the session, and a value that it can have.",
			Why:     "The agent refuses it, or sets something that it does not understand.",
			Check: func(c *Checker) {
				states := followConfig(c)
				c.Request(sentBy(Client, func(m *Message) {
					s, ok := states.Get(m.SessionID)
					if !ok {
						return
					}
					at, wrong := Value{}, ""
					refused := true // by each list that the client may have had
					if !c.seen(s, m, func(s *configState) {
						if at, wrong = s.refuses(m.Params); wrong == "" {
							refused = false
						}
					}) {
						return
					}
					c.Exercised()
					if refused {
						c.Fail(m, at, "%s", wrong)
					}
				}), "session/set_config_option")
			},
		},
		{
			ID: "CFG04", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/session-config-options", Strength: Must,
			Summary:      "The answer to session/set_config_option has all options, with the new value.",
			Why:          "The client replaces its list by the answer, and the other options are gone.",
			Requirements: []string{"ACP-CONFIG-002", "ACP-CONFIG-202"},
			Check:        checkSetOption,
		},
		{
			ID: "CFG05", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/session-config-options", Strength: Infer,
			Summary:      "A config_option_update has all options.",
			Why:          "The client replaces its list by the update, and the other options are gone.",
			Requirements: []string{"ACP-CONFIG-206"},
			Check: func(c *Checker) {
				states := followConfig(c)
				c.Update(func(m *Message) {
					list := m.Update.Get("configOptions")
					c.Exercised()
					if !list.IsArray() {
						c.Fail(m, orElse(list, m.Update), "configOptions is missing")
						return
					}
					if s, ok := states.before(); ok {
						reportShrunk(c, m, s, list, Warn) // they may really have gone
					}
				}, "config_option_update")
			},
		},
		{
			ID: "CFG06", Severity: Warn, Side: ByAgent, Versions: V1, Page: "v1/session-config-options", Strength: Should,
			Summary: "Modes are offered both as modes and as a config option of the category mode.",
			Why:     "Some clients know only one of the two.",
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					modes := m.Result.Get("modes", "availableModes").Len() > 0
					option := modeOption(m.Result.Get("configOptions")).Exists()
					if !modes && !option {
						return
					}
					c.Exercised()
					if !option {
						c.Fail(m, m.Result.Get("modes"), "there are modes, and no config option of the category mode")
					} else if !modes {
						c.Fail(m, m.Result.Get("configOptions"), "there is a config option of the category mode, and no modes")
					}
				}, sessionAnswers...)
			},
		},
		{
			ID: "CFG07", Severity: Warn, Side: ByClient, Versions: V1, Page: "v1/session-config-options", Strength: Should,
			Summary: "A client that uses config options does not use session/set_mode as well.",
			Why:     "The two may not agree, and modes will go.",
			Check: func(c *Checker) {
				withMode := NewBounded[string, int](maxSessions) // sessions with a mode option, by the answer
				uses := false
				c.Answer(func(m *Message) {
					if modeOption(m.Result.Get("configOptions")).Exists() {
						withMode.Put(sessionOf(m), m.Number)
					}
				}, sessionAnswers...)
				c.Request(sentBy(Client, func(*Message) { uses = true }), "session/set_config_option")
				c.Request(sentBy(Client, func(m *Message) {
					n, ok := withMode.Get(m.SessionID)
					if !ok || !uses && !advertised(c.ClientCapabilities, []string{"session", "configOptions"}) {
						return // it may know only modes
					}
					c.Report(m.Frame, Finding{Text: "the session has a config option for modes", Also: []int{n}}, Value{})
				}), "session/set_mode")
				c.Request(sentBy(Client, func(m *Message) {
					if _, ok := withMode.Get(m.SessionID); ok {
						c.Exercised()
					}
				}), "session/set_config_option")
			},
		},
		{
			ID: "CFG08", Severity: Warn, Side: ByAgent, Versions: V1, Page: "v1/session-config-options", Strength: Should,
			Summary: "The mode and the config option for modes say the same.",
			Why:     "What a client shows depends on which of the two it looks at.",
			Check:   checkModesInStep,
		},
		{
			ID: "CFG09", Severity: Warn, Side: ByClient, Versions: All, Page: "v1+v2/session-config-options", Strength: Should,
			Summary: "A client leaves options alone whose type it cannot know.",
			Why:     "Nobody says what their values are.",
			Check: func(c *Checker) {
				states := followConfig(c)
				c.Request(sentBy(Client, func(m *Message) {
					s, ok := states.Get(m.SessionID)
					if !ok || s.unknown() {
						return
					}
					o := s.option(m.Params.Get("configId"))
					if !o.Exists() {
						return
					}
					c.Exercised()
					if kind := o.Get("type"); kind.IsString() && !kind.OneOf("select", "boolean") && !isExtension(kind.Str()) {
						c.Fail(m, m.Params.Get("configId"), "the option has the type %q, which no version defines", quote(kind.Str()))
					}
				}), "session/set_config_option")
			},
		},
		{
			ID: "CFG10", Severity: Info, Side: ByAgent, Versions: All, Page: "v1+v2/session-config-options", Strength: Infer,
			Summary: "The category of a config option is a defined word or begins with an underscore.",
			Why:     "A later version may give the word another meaning.",
			Check: func(c *Checker) {
				eachOption(c, func(m *Message, o Value) {
					category := o.Get("category")
					if !category.IsString() {
						return
					}
					c.Exercised()
					if !category.OneOf("mode", "model", "model_config", "thought_level") && !isExtension(category.Str()) {
						c.Unknown(m, category, "not a category")
					}
				})
			},
		},
		{
			ID: "CFG11", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/session-config-options", Strength: Must,
			Summary: "The type of a config option is a defined word or begins with an underscore.",
			Why:     "A later version may give the word another meaning.",
			Check: func(c *Checker) {
				eachOption(c, func(m *Message, o Value) {
					kind := o.Get("type")
					if !kind.IsString() {
						return
					}
					c.Exercised()
					if !kind.OneOf("select", "boolean") && !isExtension(kind.Str()) {
						c.Unknown(m, kind, "not a type of config option")
					}
				})
			},
		},
		{
			ID: "CFG12", Severity: Error, Side: ByAgent, Versions: V2b, Page: "schema-2.4.0/SessionConfigSelect", Strength: Must,
			Summary: "A select has values, and none of them twice.",
			Why:     "The client cannot tell which of them is chosen.",
			Check: func(c *Checker) {
				eachOption(c, func(m *Message, o Value) {
					options := o.Get("options")
					if !o.Get("type").Is("select") || !options.IsArray() {
						return
					}
					c.Exercised()
					seen := map[string]bool{}
					n := 0
					for v := range valuesOf(options) {
						n++
						if !v.IsString() {
							continue
						}
						if seen[v.Str()] {
							c.Fail(m, v, "another value of the option is the same")
						}
						seen[v.Str()] = true
					}
					if n == 0 {
						c.Fail(m, options, "the select has no values")
					}
				})
			},
		},
		{
			ID: "CFG13", Severity: Error, Side: ByAgent, Versions: V2b, Page: "schema-2.4.0/SetSessionConfigOption", Strength: Must,
			Summary: "An option that does not exist, or a value that it cannot have, is refused with -32602.",
			Why:     "The client believes that something was set.",
			Check: func(c *Checker) {
				states := followConfig(c)
				bad := NewBounded[int, string](maxSessions) // requests, by number
				c.Request(sentBy(Client, func(m *Message) {
					s, ok := states.Get(m.SessionID)
					if !ok || s.unknown() || c.setting(m.SessionID) || m.Session == nil || m.Session.State != Open {
						return
					}
					if _, wrong := s.refuses(m.Params); wrong != "" {
						bad.Put(m.Number, wrong)
					}
				}), "session/set_config_option")
				c.Update(func(m *Message) { // the agent may have changed its options before it read the request
					for _, r := range c.Outstanding(Client).All() {
						if r.SessionID == m.SessionID {
							bad.Delete(r.Number)
						}
					}
				}, "config_option_update")
				c.Answer(func(m *Message) {
					wrong, ok := bad.Get(m.Answers.Number)
					if !ok {
						return
					}
					bad.Delete(m.Answers.Number)
					if m.missesSession() {
						return
					}
					c.Exercised()
					switch m.ErrorCode() {
					case codeInvalidParams, codeAuthRequired, codeNoMethod, codeCancelled, codeNotFound:
					default:
						at, text := m.Error.Get("code"), "this is refused with another code than -32602"
						if !m.Failed() {
							at, text = m.Result, "this is accepted"
						}
						c.Report(m.Frame, Finding{Text: text + ": " + wrong, Also: []int{m.Answers.Number}}, at)
					}
				}, "session/set_config_option")
			},
		},
	}
}

// sessionAnswers are the methods whose answers say what a session offers.
var sessionAnswers = []string{"session/new", "session/load", "session/resume", "session/fork"}

// eachOption calls f with each config option that an agent offers.
func eachOption(c *Checker, f func(*Message, Value)) {
	each := func(m *Message, options Value) {
		for _, o := range options.Items() {
			if o.IsObject() {
				f(m, o)
			}
		}
	}
	c.Answer(sentBy(Agent, func(m *Message) { each(m, m.Result.Get("configOptions")) }), append(sessionAnswers, "session/set_config_option")...)
	c.Update(func(m *Message) { each(m, m.Update.Get("configOptions")) }, "config_option_update")
}

func checkCurrentValue(c *Checker, m *Message, o Value) {
	current := o.Get("currentValue")
	if kind := o.Get("type"); kind.IsString() && !kind.OneOf("select", "boolean") {
		return // only its type says whether it has one
	}
	if !current.Set() {
		c.Fail(m, o, "currentValue is missing")
		return
	}
	if !o.Get("type").Is("select") || !current.IsString() || !o.Get("options").IsArray() {
		return
	}
	for v := range valuesOf(o.Get("options")) {
		if v.Is(current.Str()) {
			return
		}
	}
	c.Fail(m, current, "the current value is not among the options")
}

// valuesOf ranges over the values of a select, which may be in groups.
func valuesOf(options Value) func(func(Value) bool) {
	return func(yield func(Value) bool) {
		for _, x := range options.Items() {
			group := x.Get("options")
			if !group.IsArray() {
				if !yield(x.Get("value")) {
					return
				}
				continue
			}
			for _, y := range group.Items() {
				if !yield(y.Get("value")) {
					return
				}
			}
		}
	}
}

// optionID is the id of a config option, which has another name in each version.
func optionID(o Value) Value { return orElse(o.Get("configId"), o.Get("id")) }

// modeOption is the config option for modes.
func modeOption(options Value) Value {
	for _, o := range options.Items() {
		if o.Get("category").Is("mode") && o.Get("type").Is("select") {
			return o
		}
	}
	return Value{}
}

// sessionOf is the session that an answer opens or is about.
func sessionOf(m *Message) string {
	if id := m.Result.Get("sessionId"); id.IsString() && m.SessionID == "" {
		return bounded(id.Bytes())
	}
	if m.Method == "session/fork" {
		return bounded(m.Result.Get("sessionId").Bytes())
	}
	return m.SessionID
}

// opensAgain reports whether an answer is about a session that existed before, so that
// it may leave out what the session offers.
func opensAgain(m *Message) bool { return m.Method == "session/load" || m.Method == "session/resume" }

// reportShrunk reports a list that has one option where there were more. Options may
// come and go when another one changes, but hardly all others at once.
func reportShrunk(c *Checker, m *Message, s *configState, list Value, most Severity) {
	n := s.list().Len()
	if list.Len() != 1 || n < 2 {
		return
	}
	var only Value
	for _, o := range list.Items() {
		only = o
	}
	if !s.option(optionID(only)).Exists() {
		return
	}
	f := Finding{Severity: most, Text: fmt.Sprintf("the list has one of the %d options of the session", n)}
	if n == 2 {
		f.Severity = Warn
	}
	c.Report(m.Frame, f, list)
}

func checkSetOption(c *Checker) {
	states := followConfig(c)
	alone := NewBounded[int, bool](maxSessions) // requests that no other one may interfere with, by number
	c.Request(sentBy(Client, func(m *Message) {
		if c.setting(m.SessionID) {
			for _, r := range c.Outstanding(Client).All() {
				if r.SessionID == m.SessionID {
					alone.Delete(r.Number)
				}
			}
			return
		}
		alone.Put(m.Number, true)
	}), "session/set_config_option")
	c.Request(sentBy(Client, func(m *Message) {
		for _, r := range c.Outstanding(Client).All() {
			if r.SessionID == m.SessionID {
				alone.Delete(r.Number)
			}
		}
	}), "session/set_mode")
	c.Answer(func(m *Message) {
		if m.Failed() || !m.Result.Exists() {
			return
		}
		c.Exercised()
		list := m.Result.Get("configOptions")
		if !list.IsArray() {
			c.Fail(m, orElse(list, m.Result), "configOptions is missing")
			return
		}
		params := m.Answers.Params()
		id, value := params.Get("configId"), params.Get("value")
		if !id.IsString() || !value.Exists() {
			return
		}
		var option Value
		for _, o := range list.Items() {
			if own := optionID(o); own.IsString() && id.Is(own.Str()) {
				option = o
			}
		}
		current := option.Get("currentValue")
		_, undisturbed := alone.Get(m.Answers.Number)
		switch {
		case !option.Exists():
			c.Report(m.Frame, Finding{Text: "the option that was set is missing", Also: []int{m.Answers.Number}}, list)
		case undisturbed && current.Exists() && !bytes.Equal(current.Text(), value.Text()) && !(value.IsString() && current.Is(value.Str())):
			c.Report(m.Frame, Finding{Text: "the option does not have the new value " + quote(string(value.Text())), Also: []int{m.Answers.Number}}, current)
		default:
			if s, ok := states.before(); ok {
				reportShrunk(c, m, s, list, Error)
			}
		}
	}, "session/set_config_option")
}

// checkModesInStep compares the current mode with the option for modes, if their values
// have the same names. A difference breaks the rule only if it lasts.
func checkModesInStep(c *Checker) {
	type both struct {
		mode, option string
		values       map[string]bool // of the option
		differs      bool
		since        time.Time
		finding      Finding
	}
	const maxModes = 256
	sessions := NewBounded[string, *both](maxSessions)
	compare := func(s *both, m *Message, at Value) {
		differs := s.mode != "" && s.option != "" && s.values[s.mode] && s.mode != s.option
		if differs && !s.differs {
			s.since = m.Time
			s.finding = c.Describe(m.Frame, at, "the mode is %q and the config option says %q", quote(s.mode), quote(s.option))
			s.finding.By = Agent
		}
		s.differs = differs
		if s.values[s.mode] {
			c.Exercised()
		}
	}
	take := func(s *both, option Value) {
		n := option.Get("options").Len()
		if !option.Get("currentValue").IsString() || n > maxModes {
			s.option = ""
			return
		}
		s.option, s.values = bounded(option.Get("currentValue").Bytes()), map[string]bool{}
		for v := range valuesOf(option.Get("options")) {
			if len(s.values) < maxModes {
				s.values[bounded(v.Bytes())] = true
			}
		}
	}
	judge := func(session string, s *both, now time.Time) {
		if s.differs && !s.since.IsZero() && now.Sub(s.since) > soonAfter {
			c.Add(s.finding)
			sessions.Delete(session)
		}
	}
	c.Answer(func(m *Message) {
		s := &both{mode: bounded(m.Result.Get("modes", "currentModeId").Bytes())}
		take(s, modeOption(m.Result.Get("configOptions")))
		if id := sessionOf(m); id != "" && s.mode != "" && s.option != "" {
			compare(s, m, m.Result.Get("modes", "currentModeId"))
			if s.differs {
				c.Add(s.finding)
				return // once is enough
			}
			sessions.Put(id, s)
		}
	}, sessionAnswers...)
	mode := func(m *Message, id, at Value) {
		if s, ok := sessions.Get(m.SessionID); ok && id.IsString() {
			s.mode = bounded(id.Bytes())
			compare(s, m, at)
		}
	}
	options := func(m *Message, list Value) {
		s, ok := sessions.Get(m.SessionID)
		if option := modeOption(list); ok && option.Exists() {
			take(s, option)
			compare(s, m, option.Get("currentValue"))
		}
	}
	c.Answer(func(m *Message) {
		if !m.Failed() {
			mode(m, m.Answers.Params().Get("modeId"), Value{})
		}
	}, "session/set_mode")
	c.Answer(func(m *Message) { options(m, m.Result.Get("configOptions")) }, "session/set_config_option")
	c.Update(func(m *Message) { mode(m, m.Update.Get("currentModeId"), m.Update.Get("currentModeId")) }, "current_mode_update")
	c.Update(func(m *Message) { options(m, m.Update.Get("configOptions")) }, "config_option_update")
	c.Request(sentBy(Client, func(m *Message) {
		if s, ok := sessions.Get(m.SessionID); ok {
			judge(m.SessionID, s, m.Time)
		}
	}), "session/prompt")
	c.End(func() {
		for id, s := range sessions.All() {
			judge(id, s, c.LastTime)
		}
	})
}

package lint

import (
	"bytes"
	"slices"
	"strings"
	"time"
)

// readingTime is in which nobody can read a question and answer it.
const readingTime = 300 * time.Millisecond

func permissionRules() []Rule {
	return []Rule{
		{
			ID: "PER01", Severity: Error, Side: ByAgent, Versions: All, Page: "v2/tool-calls", Strength: Must,
			Summary:      "A permission request has at least one option.",
			Why:          "The user can only cancel.",
			Requirements: []string{"ACP-PERM-201"},
			Check: func(c *Checker) {
				c.Request(func(m *Message) {
					options := m.Params.Get("options")
					if !options.IsArray() {
						return
					}
					c.Exercised()
					if options.Len() == 0 {
						c.Fail(m, options, "there are no options")
					}
				}, "session/request_permission")
			},
		},
		{
			ID: "PER02", Severity: Error, Side: ByAgent, Versions: All, Page: "schema-2.4.0/PermissionOption", Strength: Must,
			Summary: "Each option of a permission request has an optionId of its own.",
			Why:     "The agent cannot tell which of two options the user has chosen.",
			Check: func(c *Checker) {
				c.Request(func(m *Message) {
					checkDistinct(c, m, m.Params.Get("options"), "optionId", "another option has the same id")
				}, "session/request_permission")
			},
		},
		{
			ID: "PER03", Severity: Error, Side: ByClient, Versions: All, Page: "v1+v2/tool-calls", Strength: Infer,
			Summary: "The selected option is one that was offered.",
			Why:     "The agent does not know what the user wants.",
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					outcome := m.Result.Get("outcome")
					if m.Answers == nil || !outcome.Get("outcome").Is("selected") || !outcome.Get("optionId").IsString() {
						return
					}
					options := m.Answers.Params().Get("options")
					if !options.IsArray() {
						return
					}
					c.Exercised()
					if !chosen(m).Exists() {
						c.Report(m.Frame, Finding{Text: "no option has this id", Also: []int{m.Answers.Number}}, outcome.Get("optionId"))
					}
				}, "session/request_permission")
			},
		},
		{
			ID: "PER04", Severity: Error, Side: ByClient, Versions: V1, Page: "v1/tool-calls", Strength: Schema,
			Summary: "The outcome of a permission request is selected or cancelled.",
			Why:     "The agent cannot tell what the user wants, and may go on.",
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					if m.Failed() || !m.Result.Exists() {
						return
					}
					c.Exercised()
					if outcome := m.Result.Get("outcome", "outcome"); !outcome.OneOf("selected", "cancelled") {
						c.Fail(m, orElse(outcome, m.Result), "the outcome is neither selected nor cancelled")
					}
				}, "session/request_permission")
			},
		},
		{
			ID: "PER05", Severity: Error, Side: ByClient, Versions: V2, Page: "v2/extensibility", Strength: Must,
			Summary: "An outcome that the specification does not define begins with an underscore.",
			Why:     "A later version may give the word another meaning.",
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					outcome := m.Result.Get("outcome", "outcome")
					if !outcome.IsString() {
						return
					}
					c.Exercised()
					if isCustom(outcome) && !outcome.OneOf("selected", "cancelled") {
						c.Unknown(m, outcome, "the specification does not have this outcome")
					}
				}, "session/request_permission")
			},
		},
		{
			ID: "PER06", Severity: Warn, Side: ByAgent, Versions: All, Page: "v2/tool-calls", Strength: MustNot,
			Summary: "What the user did not allow is not done: the tool call does not start or complete, and no such file is written or command run.",
			Why:     "The user has said no to it, and believes that it has not happened.",
			Check:   checkRefused,
		},
		{
			ID: "PER07", Severity: Warn, Side: ByAgent, Versions: V1 | V2a, Page: "v1/tool-calls", Strength: Infer,
			Summary: "A permission request describes the tool call, unless the agent reported it before.",
			Why:     "The user is asked to allow something without a name.",
			Check: func(c *Checker) {
				c.Request(func(m *Message) {
					v := toolCallOf(m)
					id := v.Get("toolCallId")
					if m.Session == nil || !id.IsString() {
						return
					}
					call, known := c.ToolCalls.Get(Of{m.SessionID, bounded(id.Bytes())})
					switch {
					case known && (call.Created || call.Title != ""), len(v.Get("title").Bytes()) > 0, len(m.Params.Get("title").Bytes()) > 0:
						c.Exercised()
					case c.Whole && m.Session.By == "session/new" && !c.ToolCalls.Lost():
						c.Fail(m, v, "the tool call has no title and was not reported before")
					}
				}, "session/request_permission")
			},
		},
		{
			ID: "PER08", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/tool-calls", Strength: Must,
			Summary:      "A permission request has a title, and a command in it has its text and an absolute cwd.",
			Why:          "The user is asked to allow something that the client cannot name.",
			Requirements: []string{"ACP-PERM-201"},
			Check: func(c *Checker) {
				c.Request(func(m *Message) {
					c.Exercised()
					if title := m.Params.Get("title"); len(title.Bytes()) == 0 {
						c.Fail(m, orElse(title, m.Params), "the request has no title")
					}
					subject := m.Params.Get("subject")
					if !subject.Get("type").Is("command") {
						return
					}
					if command := subject.Get("command"); len(command.Bytes()) == 0 {
						c.Fail(m, orElse(command, subject), "the subject has no command")
					}
					if cwd := subject.Get("cwd"); !isAbsolute(cwd.Bytes()) {
						c.Fail(m, orElse(cwd, subject), "the cwd of the command is not an absolute path")
					}
				}, "session/request_permission")
			},
		},
		{
			ID: "PER09", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/tool-calls", Strength: Must,
			Summary: "A kind of option that the specification does not define begins with an underscore.",
			Why:     "A later version may give the word another meaning, and clients act by the kind.",
			Check: func(c *Checker) {
				c.Request(func(m *Message) {
					for _, o := range m.Params.Get("options").Items() {
						kind := o.Get("kind")
						if !kind.IsString() {
							continue
						}
						c.Exercised()
						if isCustom(kind) && !kind.OneOf("allow_once", "allow_always", "reject_once", "reject_always") {
							c.Unknown(m, kind, "the specification does not have this kind")
						}
					}
				}, "session/request_permission")
			},
		},
		{
			ID: "PER10", Severity: Warn, Side: ByAgent, Versions: All, Strength: Security,
			Summary: "The label of an option says what its kind does.",
			Why:     "The user reads the label, and the client draws and remembers the choice by the kind.",
			Check: func(c *Checker) {
				c.Request(func(m *Message) {
					for _, o := range m.Params.Get("options").Items() {
						name, kind := o.Get("name"), o.Get("kind").Str()
						if !name.IsString() || kind == "" {
							continue
						}
						c.Exercised()
						switch {
						case strings.HasPrefix(kind, "allow") && readsLike(name.Bytes(), refusals, hedges):
							c.Fail(m, name, "the label reads like a refusal, but the kind is %s", quote(kind))
						case strings.HasPrefix(kind, "reject") && readsLike(name.Bytes(), consents, hedges):
							c.Fail(m, name, "the label reads like a consent, but the kind is %s", quote(kind))
						}
					}
				}, "session/request_permission")
			},
		},
		{
			ID: "PER11", Severity: Warn, Side: ByAgent, Versions: All, Page: "v1/tool-calls", Strength: Security,
			Summary: "A request to edit, delete, move or run something says what: by rawInput, content, locations or a description.",
			Why:     "The user cannot know what is being allowed.",
			Check: func(c *Checker) {
				c.Request(func(m *Message) {
					v := toolCallOf(m)
					id := v.Get("toolCallId")
					if m.Session == nil || !id.IsString() {
						return
					}
					call, known := c.ToolCalls.Get(Of{m.SessionID, bounded(id.Bytes())})
					kind := v.Get("kind").Str()
					if kind == "" && known {
						kind = call.Kind
					}
					switch {
					case !slices.Contains([]string{"execute", "edit", "delete", "move"}, kind):
					case v.Get("rawInput").Set(), v.Get("content").Len() > 0, v.Get("locations").Len() > 0, len(m.Params.Get("description").Bytes()) > 0, known && call.Input:
						c.Exercised()
					case known || c.Whole && m.Session.By == "session/new" && !c.ToolCalls.Lost():
						c.Fail(m, v, "the request has no rawInput, content or locations")
					}
				}, "session/request_permission")
			},
		},
		{
			ID: "PER12", Severity: Info, Side: ByClient, Versions: All, Page: "v1+v2/tool-calls", Strength: Hygiene,
			Summary: "What an agent asks for is allowed by a person, who needs time to read it.",
			Why:     "A program that allows at once should be what the user wants.",
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					r := m.Answers
					if r == nil || r.Time.IsZero() || m.Time.IsZero() || !m.Result.Get("outcome", "outcome").Is("selected") {
						return
					}
					kind := chosen(m).Get("kind").Str()
					if !strings.HasPrefix(kind, "allow") {
						return // nobody needs to read what is rejected anyway
					}
					c.Exercised()
					if d := m.Time.Sub(r.Time); d < readingTime {
						c.Report(m.Frame, Finding{Text: "an option of kind " + quote(kind) + " was selected after " + d.Round(time.Millisecond).String(), Also: []int{r.Number}}, m.Result.Get("outcome", "optionId"))
					}
				}, "session/request_permission")
			},
		},
		{
			ID: "PER13", Severity: Warn, Side: ByAgent, Versions: V1, Page: "v1/tool-calls", Strength: Infer,
			Summary: "Permission is requested during a turn.",
			Why:     "The client may have nowhere to ask, and the user does not know what it is about.",
			Check: func(c *Checker) {
				c.Request(func(m *Message) {
					if m.Session == nil || m.Session.State != Open {
						return
					}
					c.Exercised()
					if !c.prompting(m.Session) {
						c.Fail(m, m.Params.Get("sessionId"), "no turn is running")
					}
				}, "session/request_permission")
			},
		},
		{
			ID: "PER14", Severity: Warn, Side: ByAgent, Versions: All, Page: "v1+v2/prompt-turn", Strength: Should,
			Summary: "A tool call that the user allows is reported as in_progress when it starts.",
			Why:     "The client shows it as waiting while it works.",
			Check: func(c *Checker) {
				allowed := NewBounded[Of, int](maxToolCalls)
				c.Answer(func(m *Message) {
					id := toolCallAsked(m)
					if id == "" || !strings.HasPrefix(chosen(m).Get("kind").Str(), "allow") {
						return
					}
					if call, known := c.ToolCalls.Get(Of{m.SessionID, id}); known && call.Status == "pending" {
						allowed.Put(Of{m.SessionID, id}, m.Number)
					}
				}, "session/request_permission")
				c.ToolCallChanged(func(call *ToolCall, before ToolCall, m *Message) {
					key := Of{call.Session.ID, call.ID}
					answer, ok := allowed.Get(key)
					if !ok || call.Status == before.Status {
						return
					}
					allowed.Delete(key)
					switch call.Status {
					case "in_progress":
						c.Exercised()
					case "completed":
						c.Report(m.Frame, Finding{Text: "the tool call was never in_progress", Also: []int{answer}}, statusOf(m))
					}
				})
			},
		},
		{
			ID: "PER15", Severity: Info, Side: ByAgent, Versions: All, Page: "v1+v2/tool-calls", Strength: Security,
			Summary: "The user is asked before something is edited, deleted or run.",
			Why:     "This reports the policy of the agent: what it does without asking.",
			Check:   checkUnasked,
		},
		{
			ID: "PER16", Severity: Warn, Side: ByClient, Versions: V1, Page: "v1/tool-calls", Strength: Should,
			Summary: "A decision that depends on the input of a tool is not taken when the input is missing.",
			Why:     "A missing input is not an empty one: the tool may do anything.",
			Check:   checkBlindDecisions,
		},
	}
}

// chosen returns the option of the request that an answer selects, absent if none.
func chosen(m *Message) Value {
	id := m.Result.Get("outcome", "optionId")
	if m.Answers == nil || !id.IsString() || !m.Result.Get("outcome", "outcome").Is("selected") {
		return Value{}
	}
	for _, o := range m.Answers.Params().Get("options").Items() {
		if v := o.Get("optionId"); v.IsString() && bytes.Equal(v.Bytes(), id.Bytes()) {
			return o
		}
	}
	return Value{}
}

// toolCallAsked returns the id of the tool call that an answer is about, as the history
// has it; empty if there is none.
func toolCallAsked(m *Message) string {
	if m.Answers == nil {
		return ""
	}
	return bounded(subjectID(m.Answers.Params()).Bytes())
}

// subjectID returns the id of the tool call of a permission request.
func subjectID(params Value) Value {
	for _, path := range [][]string{{"toolCall", "toolCallId"}, {"subject", "toolCall", "toolCallId"}, {"subject", "toolCallId"}} {
		if id := params.Get(path...); id.IsString() {
			return id
		}
	}
	return Value{}
}

// How labels begin, and what makes the beginning say nothing.
var (
	refusals = []string{"no", "reject", "deny", "refuse", "decline", "disallow", "forbid", "never", "don't", "do not", "cancel", "abort"}
	consents = []string{"yes", "allow", "approve", "accept", "grant", "permit", "always allow"}
	hedges   = []string{"ask", "prompt", "not ", "nothing", "without", "but ", "except", "restriction", "limit"}
)

// readsLike reports whether a label begins with one of some words, and has none of
// others behind it.
func readsLike(label []byte, words, but []string) bool {
	text := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(quote(string(label))), "’", "'"))
	for _, w := range words {
		rest, ok := strings.CutPrefix(text, w)
		if !ok || rest != "" && !strings.ContainsAny(rest[:1], " ,.:;!-(") {
			continue
		}
		return !slices.ContainsFunc(but, func(b string) bool { return strings.Contains(rest, b) })
	}
	return false
}

// checkRefused follows what the user refused. That a tool call starts nevertheless can
// be seen; that a file or a command is the same is a guess.
func checkRefused(c *Checker) {
	type refused struct {
		answer int
		status string // of the tool call at that time
	}
	type deed struct{ session, what string }
	calls := NewBounded[Of, refused](maxToolCalls)
	deeds := NewBounded[deed, int](maxToolCalls)
	replayed := 0 // number of the last message that tells history, which does nothing
	followReplays(c, func(r *replay, m *Message) {
		if r.answered == 0 || r.soon(m) {
			replayed = m.Number
		}
	}, nil)
	each := func(m *Message, f func(string)) {
		params := m.Answers.Params()
		call := params.Get("toolCall")
		if v := params.Get("subject", "toolCall"); v.IsObject() {
			call = v
		}
		for _, item := range call.Get("content").Items() {
			if item.Get("type").Is("diff") && item.Get("path").IsString() {
				f("write " + bounded(item.Get("path").Bytes()))
			}
		}
		if command := call.Get("rawInput", "command"); command.IsString() {
			f("run " + bounded(command.Bytes()))
		}
	}
	c.Answer(func(m *Message) {
		id := toolCallAsked(m)
		if m.Session == nil || m.Answers == nil {
			return
		}
		key := Of{m.SessionID, id}
		kind := chosen(m).Get("kind").Str()
		outcome := m.Result.Get("outcome", "outcome")
		switch {
		case strings.HasPrefix(kind, "allow"):
			calls.Delete(key)
			each(m, func(what string) { deeds.Delete(deed{m.SessionID, what}) })
		case kind == "" && m.Answers.Cancelled > 0: // withdrawn: the user may have answered elsewhere
		case strings.HasPrefix(kind, "reject"), m.Failed(), outcome.IsString() && !outcome.Is("selected") && !isExtension(outcome.Str()):
			c.Exercised()
			if call, known := c.ToolCalls.Get(key); known && id != "" {
				calls.Put(key, refused{m.Number, call.Status})
			}
			each(m, func(what string) { deeds.Put(deed{m.SessionID, what}, m.Number) })
		}
	}, "session/request_permission")
	c.ToolCallChanged(func(call *ToolCall, before ToolCall, m *Message) {
		key := Of{call.Session.ID, call.ID}
		r, ok := calls.Get(key)
		if !ok || m.Kind != NotificationMessage || before.Status == call.Status || m.Number == replayed {
			return
		}
		if call.Status == "in_progress" || call.Status == "completed" {
			calls.Delete(key)
			c.Report(m.Frame, Finding{Text: "the user has not allowed this tool call", Also: []int{r.answer}}, statusOf(m))
		}
	})
	c.Request(func(m *Message) {
		what := "write " + bounded(m.Params.Get("path").Bytes())
		if m.Method == "terminal/create" {
			what = "run " + bounded(commandLine(m.Params))
		}
		if n, ok := deeds.Get(deed{m.SessionID, what}); ok && m.From == Agent {
			c.Report(m.Frame, Finding{Text: "the user has not allowed this", Also: []int{n}}, orElse(m.Params.Get("path"), m.Params.Get("command")))
		}
	}, "fs/write_text_file", "terminal/create")
	c.TurnStarted(func(t *Turn, _ *Message) {
		for d := range deeds.All() { // the user may have asked for it in the prompt
			if d.session == t.Session.ID {
				deeds.Delete(d)
			}
		}
	})
}

// commandLine returns what a terminal runs: the command with its arguments, or the text
// that a shell is given.
func commandLine(params Value) []byte {
	line := bytes.Clone(params.Get("command").Bytes())
	args := params.Get("args")
	var last Value
	for _, a := range args.Items() {
		if last.Is("-c") || last.Is("-lc") {
			return a.Bytes()
		}
		line = append(append(line, ' '), a.Bytes()...)
		last = a
	}
	return line
}

func checkUnasked(c *Checker) {
	general := NewBounded[string, bool](maxSessions) // the user allowed more than was asked, by session
	asked := NewBounded[Of, bool](maxToolCalls)
	c.Request(func(m *Message) {
		id := subjectID(m.Params)
		if !id.IsString() {
			general.Put(m.SessionID, true)
			return
		}
		asked.Put(Of{m.SessionID, bounded(id.Bytes())}, true)
	}, "session/request_permission")
	c.Answer(func(m *Message) {
		if chosen(m).Get("kind").Is("allow_always") {
			general.Put(m.SessionID, true)
		}
	}, "session/request_permission")
	c.ToolCallChanged(func(call *ToolCall, before ToolCall, m *Message) {
		if call.Status != "completed" || before.Status == "completed" || call.Turn == nil || !slices.Contains([]string{"edit", "delete", "execute"}, call.Kind) {
			return
		}
		if _, ok := general.Get(call.Session.ID); ok {
			return
		}
		c.Exercised()
		if _, ok := asked.Get(Of{call.Session.ID, call.ID}); !ok && !asked.Lost() {
			c.Report(m.Frame, Finding{Text: "the user was not asked about this tool call of kind " + quote(call.Kind), Also: []int{call.First}}, statusOf(m))
		}
	})
}

// checkBlindDecisions looks for a client that decides by itself, and by the input: it
// allowed one tool of a kind at once and rejected another. Then it has to leave those
// without input to the user.
func checkBlindDecisions(c *Checker) {
	type policy struct{ allows, rejects bool }
	policies := map[string]policy{} // by kind
	c.Answer(func(m *Message) {
		r := m.Answers
		if r == nil || r.Time.IsZero() || m.Time.IsZero() || m.Time.Sub(r.Time) >= readingTime {
			return
		}
		v := r.Params().Get("toolCall")
		call, known := c.ToolCalls.Get(Of{m.SessionID, toolCallAsked(m)})
		kind := v.Get("kind").Str()
		if kind == "" && known {
			kind = call.Kind
		}
		decision := chosen(m).Get("kind").Str()
		p := policies[kind]
		switch {
		case kind == "" || len(kind) > 32 || len(policies) > 64 || !v.IsObject() || !known:
			return
		case call.Input && strings.HasPrefix(decision, "allow"):
			p.allows = true
		case call.Input && strings.HasPrefix(decision, "reject"):
			p.rejects = true
		case !call.Input && p.allows && p.rejects:
			c.Exercised()
			if strings.HasPrefix(decision, "allow") {
				c.Report(m.Frame, Finding{Text: "the request has no rawInput, and the client decides about others by it", Also: []int{r.Number}}, m.Result.Get("outcome", "optionId"))
			}
		}
		policies[kind] = p
	}, "session/request_permission")
}

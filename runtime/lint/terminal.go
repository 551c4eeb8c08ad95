package lint

import (
	"bytes"
	"slices"
	"time"

	"github.com/hermes-nvim/hermes/internal/lazyregexp"
)

const (
	slowCreate  = 5 * time.Second        // after which nobody calls an answer immediate
	soonExit    = 100 * time.Millisecond // in which a command was over before anybody could look
	leakTime    = 10 * time.Second       // in which an agent releases what it no longer needs
	maxOutputs  = 256                    // terminals whose output is compared
	outputKept  = 4 << 10                // bytes of an output that are kept
	minOverlap  = 64                     // bytes that do not repeat by accident
	replacement = "\uFFFD"
)

func terminalRules() []Rule {
	return []Rule{
		{
			ID: "TER01", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/terminals", Strength: MustNot,
			Summary:      "Commands are run through the client only if it advertises terminal.",
			Why:          "The client has no such methods, so the tool that needs the command fails.",
			Requirements: []string{"ACP-CLIENTCAP-002"},
			Check:        onlyOffered([]string{"terminal/*"}, "terminal"),
		},
		{
			ID: "TER02", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/terminals", Strength: Must,
			Summary: "The cwd of a terminal is absolute, if there is one.",
			Why:     "The client would run the command in another folder.",
			Check: func(c *Checker) {
				c.Request(sentBy(Agent, func(m *Message) {
					c.checkAbsolute(m, m.Params.Get("cwd"), "cwd")
				}), "terminal/create")
			},
		},
		{
			ID: "TER03", Severity: Warn, Side: ByClient, Versions: V1, Page: "v1/terminals", Strength: Infer,
			Summary: "A terminal is created at once, without waiting for its command.",
			Why:     "The agent can neither show output nor stop the command before it ends.",
			Check:   checkCreateWaits,
		},
		{
			ID: "TER04", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/terminals", Strength: Infer,
			Summary: "A terminal that is used exists, and was not released.",
			Why:     "The client has nothing to answer with.",
			Check: func(c *Checker) {
				c.Request(sentBy(Agent, func(m *Message) {
					t, strange := c.terminal(m)
					switch {
					case t != nil && t.Released > 0:
						c.Report(m.Frame, Finding{Text: "the terminal was released", Also: []int{t.Released}}, m.Params.Get("terminalId"))
					case t != nil:
						c.Exercised()
					case strange && !c.elsewhere(m):
						c.Fail(m, m.Params.Get("terminalId"), "terminal/create has not returned this id")
					}
				}), terminalMethods...)
			},
		},
		{
			ID: "TER05", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/terminals", Strength: Must,
			Summary: "Each terminal is released, also one that was killed.",
			Why:     "The client keeps its output, and perhaps its process, for as long as it runs.",
			Check:   checkReleased,
		},
		{
			ID: "TER06", Severity: Error, Side: ByClient, Versions: V1, Page: "v1/terminals", Strength: Must,
			Summary: "The output of a terminal has at most outputByteLimit bytes.",
			Why:     "The agent has asked for what it has room for.",
			Check: func(c *Checker) {
				limits := outputLimits(c)
				c.Answer(func(m *Message) {
					limit, ok := limits.Get(terminalKey(m))
					out := m.Result.Get("output")
					if !ok || !out.IsString() {
						return
					}
					c.Exercised()
					// A byte that is not text became three.
					n := len(out.Bytes()) - 2*bytes.Count(out.Bytes(), []byte(replacement))
					if int64(n) > limit {
						c.Fail(m, out, "the output has %d bytes, and the limit is %d", n, limit)
					}
				}, "terminal/output")
			},
		},
		{
			ID: "TER07", Severity: Error, Side: ByClient, Versions: V1, Page: "v1/terminals", Strength: Must,
			Summary: "Output that is too long loses its beginning, up to the border of a character.",
			Why:     "The end of the output is what the agent looks for, and half a character is not text.",
			Check: func(c *Checker) {
				followOutput(c, func(before, now *output, m *Message) {
					if !now.truncated || before.truncated || before.cut {
						return
					}
					c.Exercised()
					at, old := m.Result.Get("output"), before.text
					rest, half := bytes.CutPrefix(now.text, []byte(replacement))
					switch {
					case len(old) >= minOverlap && bytes.HasPrefix(now.text, old) && bytes.Count(now.text, old) == 1 && now.size > before.size:
						c.Report(m.Frame, Finding{Text: "the output still has its beginning, so what was dropped is newer", Also: []int{before.number}}, at)
					case half && !bytes.Contains(old, []byte(replacement)) && cutsCharacter(old, rest):
						c.Report(m.Frame, Finding{Text: "the output begins inside a character", Also: []int{before.number}}, at)
					}
				})
			},
		},
		{
			ID: "TER08", Severity: Warn, Side: ByClient, Versions: V1, Page: "v1/terminals", Strength: Infer,
			Summary: "truncated is true exactly if output was dropped.",
			Why:     "The agent takes a part for the whole, or the whole for a part.",
			Check: func(c *Checker) {
				followOutput(c, func(before, now *output, m *Message) {
					c.Exercised()
					at := orElse(m.Result.Get("truncated"), m.Result)
					start := now.text[:min(len(now.text), minOverlap)]
					switch {
					case before.truncated && !now.truncated:
						c.Report(m.Frame, Finding{Text: "output was dropped before, and it does not come back", Also: []int{before.number}}, at)
					case now.truncated && !before.truncated && before.exit.known && now.size == before.size && bytes.Equal(now.text, before.text):
						c.Report(m.Frame, Finding{Text: "the output is as before, when it was whole", Also: []int{before.number}}, at)
					case !now.truncated && !before.truncated && len(start) == minOverlap && bytes.Index(before.text, start) > 0 && now.size < before.size:
						c.Report(m.Frame, Finding{Text: "the beginning of the output was dropped", Also: []int{before.number}}, at)
					}
				})
			},
		},
		{
			ID: "TER09", Severity: Error, Side: ByClient, Versions: V1, Page: "v1/terminals", Strength: Infer,
			Summary: "The exit status of a command stays what it is.",
			Why:     "The agent believes that the command still runs, or that it failed.",
			Check: func(c *Checker) {
				followOutput(c, func(before, now *output, m *Message) {
					if !before.exit.known || before.number > m.Answers.Number {
						return
					}
					c.Exercised()
					f := Finding{Also: []int{before.number}}
					if !now.exit.known {
						f.Text = "the exit status is gone"
						c.Report(m.Frame, f, orElse(m.Result.Get("exitStatus"), m.Result))
					} else if now.exit != before.exit {
						f.Text = "the exit status has changed"
						c.Report(m.Frame, f, m.Result.Get("exitStatus"))
					}
				})
			},
		},
		{
			ID: "TER10", Severity: Warn, Side: ByClient, Versions: V1, Page: "v1/terminals", Strength: Infer,
			Summary: "terminal/wait_for_exit and terminal/output agree about the exit of a command.",
			Why:     "What the agent does next depends on which of them it asked.",
			Check:   checkExitsAgree,
		},
		{
			ID: "TER11", Severity: Error, Side: ByClient, Versions: V1, Page: "v1/terminals", Strength: Infer,
			Summary: "A request about a terminal that does not exist, or was released, fails.",
			Why:     "The agent believes that its command runs.",
			Check:   checkMissingTerminals,
		},
		{
			ID: "TER13", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/terminals", Strength: Security,
			Summary: "The arguments of a command are strings, and its variables have a name and a value that are strings.",
			Why:     "A lenient client drops what it cannot read, and runs another command than the user was shown.",
			Check: func(c *Checker) {
				c.Request(sentBy(Agent, func(m *Message) {
					c.Exercised()
					args, env := m.Params.Get("args"), m.Params.Get("env")
					if args.Set() && !args.IsArray() {
						c.Fail(m, args, "args is %s", kindOf(args))
					}
					for _, a := range args.Items() {
						if !a.IsString() {
							c.Fail(m, a, "the argument is %s", kindOf(a))
						}
					}
					if env.Set() && !env.IsArray() {
						c.Fail(m, env, "env is %s", kindOf(env))
					}
					for _, e := range env.Items() {
						if !e.Get("name").IsString() || !e.Get("value").IsString() {
							c.Fail(m, e, "the variable has no name or no value that is a string")
						}
					}
				}), "terminal/create")
			},
		},
		{
			ID: "TER14", Severity: Warn, Side: ByAgent, Versions: V1, Strength: Security,
			Summary: "Each variable of a command is set once, and none makes shells, loaders or interpreters run something else.",
			Why:     "The user allows the command that they see, and other code runs.",
			Check: func(c *Checker) {
				c.Request(sentBy(Agent, func(m *Message) {
					seen := map[string]bool{}
					for _, e := range m.Params.Get("env").Items() {
						name := e.Get("name")
						if !name.IsString() {
							continue
						}
						c.Exercised()
						switch {
						case seen[name.Str()]:
							c.Fail(m, name, "the variable is set twice")
						case slices.Contains(hooks, name.Str()):
							c.Fail(m, name, "the variable makes programs run something else")
						}
						seen[name.Str()] = true
					}
				}), "terminal/create")
			},
		},
		{
			ID: "TER15", Severity: Warn, Side: ByAgent, Versions: V1, Page: "v1/session-setup", Strength: Should,
			Summary: "Commands run below the folders of the session.",
			Why:     "Those are what the user opened; elsewhere they do not expect the agent.",
			Check: func(c *Checker) {
				checkOutside(c, "cwd", "the command runs outside of the folders of the session", "terminal/create")
			},
		},
		{
			ID: "TER16", Severity: Info, Side: ByAgent, Versions: V1, Page: "v1/terminals", Strength: Hygiene,
			Summary: "A command that needs a shell names it, or else the arguments are in args.",
			Why:     "Some clients give the command to a shell and others do not, and then there is no such program.",
			Check: func(c *Checker) {
				c.Request(sentBy(Agent, func(m *Message) {
					command := m.Params.Get("command")
					if !command.IsString() {
						return
					}
					c.Exercised()
					if m.Params.Get("args").Len() == 0 && shellSyntax().Match(command.Bytes()) {
						c.Fail(m, command, "the command is a line for a shell")
					}
				}), "terminal/create")
			},
		},
		{
			ID: "TER17", Severity: Error, Side: BySender, Versions: V2a, Page: "v2/migration", Strength: Schema,
			Summary:      "Version 2 has no methods for terminals of the client.",
			Why:          "The other side does not know them.",
			Requirements: []string{"ACP-CLIENTCAP-202"},
			Check:        gone("terminal/"),
		},
		{
			ID: "TER18", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/terminals", Strength: Infer,
			Summary: "A terminal is used with the session that created it.",
			Why:     "The client looks for it among those of another conversation.",
			Check: func(c *Checker) {
				c.Request(sentBy(Agent, func(m *Message) {
					if t, strange := c.terminal(m); t != nil {
						c.Exercised()
					} else if strange && c.elsewhere(m) {
						c.Fail(m, m.Params.Get("sessionId"), "another session created this terminal")
					}
				}), terminalMethods...)
			},
		},
		{
			ID: "TER19", Severity: Warn, Side: ByAgent, Versions: V1, Page: "v1/prompt-turn", Strength: Infer,
			Summary: "Commands are started during a turn.",
			Why:     "The user does not know what it is about, and cannot cancel it.",
			Check:   duringTurns("terminal/create"),
		},
	}
}

// terminalMethods are the methods about a terminal that exists.
var terminalMethods = []string{"terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"}

// hooks are variables that make programs run something else.
var hooks = []string{
	"LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "PROMPT_COMMAND", "ZDOTDIR", "PYTHONSTARTUP",
	"PERL5OPT", "PERL5DB", "RUBYOPT", "NODE_OPTIONS", "JAVA_TOOL_OPTIONS", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF",
}

// shellSyntax are operators of shells, and words after the name of a program.
var shellSyntax = lazyregexp.New("[|&;<>\n`]|\\$\\(|^[^ /\\\\]+ +[^ ]")

// terminal returns the terminal that a message is about, and whether it is certain that
// the session has none with this id.
func (c *Checker) terminal(m *Message) (t *Terminal, strange bool) {
	key := terminalKey(m)
	if key.ID == "" {
		return nil, false
	}
	t, ok := c.Terminals.Get(key)
	return t, !ok && c.Whole && m.Session != nil && m.Session.By == "session/new" && !c.Terminals.Lost()
}

// elsewhere reports whether another session has a terminal with the id of a message.
func (c *Checker) elsewhere(m *Message) bool {
	id := terminalKey(m).ID
	for key := range c.Terminals.All() {
		if key.ID == id && key.Session != m.SessionID {
			return true
		}
	}
	return false
}

// terminalKey returns the terminal that a request or its answer is about.
func terminalKey(m *Message) Of {
	params := m.Params
	if m.Kind == AnswerMessage {
		params = m.Answers.Params()
	}
	return Of{m.SessionID, bounded(params.Get("terminalId").Bytes())}
}

// created returns the terminal that an answer to terminal/create is about.
func created(m *Message) (key Of, ok bool) {
	id := m.Result.Get("terminalId")
	return Of{m.SessionID, bounded(id.Bytes())}, !m.Failed() && id.IsString()
}

// exit is how a command ended.
type exit struct {
	known        bool
	code, signal string
}

func exitOf(v Value) exit {
	e := exit{known: v.IsObject()}
	if code := v.Get("exitCode"); code.Set() {
		e.code = bounded(code.Text())
	}
	if signal := v.Get("signal"); signal.Set() {
		e.signal = bounded(signal.Bytes())
	}
	return e
}

// output is what a terminal/output returned.
type output struct {
	number    int // of the answer
	text      []byte
	size      int
	cut       bool // text is only the beginning
	truncated bool
	exit      exit
}

// followOutput calls f with two outputs of one terminal, where the second was asked for
// after the first had come.
func followOutput(c *Checker, f func(before, now *output, m *Message)) {
	outputs := NewBounded[Of, *output](maxOutputs)
	c.Answer(func(m *Message) {
		if key, ok := created(m); ok {
			outputs.Delete(key)
		}
	}, "terminal/create")
	c.Answer(func(m *Message) {
		text := m.Result.Get("output")
		key := terminalKey(m)
		if m.Failed() || !text.IsString() || m.Session == nil || key.ID == "" {
			return
		}
		b := text.Bytes()
		now := &output{number: m.Number, size: len(b), cut: len(b) > outputKept, truncated: m.Result.Get("truncated").True(), exit: exitOf(m.Result.Get("exitStatus"))}
		now.text = b
		if before, ok := outputs.Get(key); ok && before.number < m.Answers.Number {
			f(before, now, m)
		}
		now.text = bytes.Clone(b[:min(len(b), outputKept)])
		outputs.Put(key, now)
	}, "terminal/output")
}

// outputLimits follows what agents ask for.
func outputLimits(c *Checker) *Bounded[Of, int64] {
	limits := NewBounded[Of, int64](maxTerminals)
	c.Answer(func(m *Message) {
		key, ok := created(m)
		if !ok {
			return
		}
		limits.Delete(key)
		if limit, ok := m.Answers.Params().Get("outputByteLimit").Int(); ok {
			limits.Put(key, limit)
		}
	}, "terminal/create")
	return limits
}

// cutsCharacter reports whether text begins behind a place inside a character of a
// longer one.
func cutsCharacter(whole, rest []byte) bool {
	if len(rest) < minOverlap {
		return false
	}
	start := rest[:minOverlap]
	at := bytes.Index(whole, start)
	return at > 0 && whole[at-1] >= 0x80 && bytes.LastIndex(whole, start) == at
}

func checkCreateWaits(c *Checker) {
	type slow struct {
		found Finding
		at    time.Time // of the answer to create
	}
	slows := NewBounded[Of, slow](maxTerminals)
	c.Answer(func(m *Message) {
		key, ok := created(m)
		if !ok || m.Time.IsZero() || m.Answers.Time.IsZero() {
			return
		}
		c.Exercised()
		slows.Delete(key)
		if d := m.Time.Sub(m.Answers.Time); d >= slowCreate {
			f := c.Describe(m.Frame, Value{}, "the answer took %s, and the command was over when it came", d.Round(time.Millisecond))
			f.Also = []int{m.Answers.Number}
			slows.Put(key, slow{f, m.Time})
		}
	}, "terminal/create")
	c.Answer(func(m *Message) {
		key := terminalKey(m)
		s, ok := slows.Get(key)
		if !ok {
			return
		}
		slows.Delete(key)
		over := m.Method == "terminal/wait_for_exit" && !m.Failed() || m.Result.Get("exitStatus").IsObject()
		if over && m.Time.Sub(s.at) < soonExit {
			c.Add(s.found)
		}
	}, "terminal/output", "terminal/wait_for_exit")
}

// checkReleased looks for terminals that their agent has forgotten: it knows that the
// command is over, its turn has ended, and it had the time.
func checkReleased(c *Checker) {
	type open struct {
		found Finding
		turn  *Turn
		over  int // the message from which the agent knows; 0 if it does not
		at    time.Time
	}
	asked := NewBounded[string, Finding](maxRequests) // terminal/create, by id
	opens := NewBounded[Of, *open](maxTerminals)
	c.Request(sentBy(Agent, func(m *Message) {
		asked.Put(Key(m.ID), c.Describe(m.Frame, m.Params.Get("command"), "the terminal was never released"))
	}), "terminal/create")
	c.Answer(func(m *Message) {
		f, ok := asked.Get(m.Answers.ID)
		asked.Delete(m.Answers.ID)
		key, success := created(m)
		if ok && success && m.Session != nil {
			opens.Delete(key)
			opens.Put(key, &open{found: f, turn: m.Session.Turn})
		}
	}, "terminal/create")
	c.Answer(func(m *Message) {
		o, ok := opens.Get(terminalKey(m))
		if ok && !m.Failed() && o.over == 0 && (m.Method != "terminal/output" || m.Result.Get("exitStatus").IsObject()) {
			o.over, o.at = m.Number, m.Time
		}
	}, "terminal/output", "terminal/wait_for_exit", "terminal/kill")
	c.Request(sentBy(Agent, func(m *Message) {
		key := terminalKey(m)
		if _, ok := opens.Get(key); ok {
			c.Exercised()
			opens.Delete(key)
		}
	}), "terminal/release")
	c.SessionChanged(func(s *Session, _ *Message) {
		if s.State < Closed {
			return
		}
		for key := range opens.All() { // the client may have ended them all
			if key.Session == s.ID {
				opens.Delete(key)
			}
		}
	})
	c.End(func() {
		last := c.LastTime
		switch {
		case c.ClosedTime.IsZero():
		case c.ClosedBy == Client && c.ClosedTime.After(last): // the agent had until then
			last = c.ClosedTime
		case c.ClosedBy == Agent && c.ClosedTime.Before(last): // what the client sent to nobody
			last = time.Time{}
		}
		for _, o := range opens.All() {
			t := o.turn
			if o.over == 0 || t == nil || t.Ended == 0 {
				continue
			}
			since := t.EndedTime
			if o.at.After(since) {
				since = o.at
			}
			late := func(until time.Time) bool { return !t.EndedTime.IsZero() && until.Sub(since) > leakTime }
			later := t.Session.Last // a turn that began when the agent knew
			switch {
			case later != nil && later != t && later.Ended > t.Ended && later.Prompt.Number > o.over, late(last):
			case c.ClosedBy == Agent && late(c.ClosedTime) && c.Since("2026-12"):
				o.found.Severity = Warn // it may have crashed long before its output was closed
			default:
				continue
			}
			c.Exercised()
			c.Add(o.found)
		}
	})
}

func checkExitsAgree(c *Checker) {
	type ended struct {
		number int
		exit   exit
	}
	waited, seen := NewBounded[Of, ended](maxTerminals), NewBounded[Of, ended](maxTerminals)
	c.Answer(func(m *Message) {
		if key, ok := created(m); ok {
			waited.Delete(key)
			seen.Delete(key)
		}
	}, "terminal/create")
	c.Answer(func(m *Message) {
		key := terminalKey(m)
		if m.Failed() || m.Session == nil || key.ID == "" {
			return
		}
		status, other, mine := m.Result, seen, waited
		if m.Method == "terminal/output" {
			status, other, mine = m.Result.Get("exitStatus"), waited, seen
		}
		e := exitOf(status)
		if before, ok := other.Get(key); ok && before.number < m.Answers.Number {
			c.Exercised()
			f := Finding{Also: []int{before.number}}
			if !e.known {
				f.Text = "the command is over, and there is no exit status"
			} else if e != before.exit {
				f.Text = "the exit status is another one than before"
			}
			if f.Text != "" {
				c.Report(m.Frame, f, orElse(status, m.Result))
			}
		}
		if e.known {
			mine.Put(key, ended{m.Number, e})
		}
	}, "terminal/output", "terminal/wait_for_exit")
}

// checkMissingTerminals follows requests about terminals that are certain not to exist.
// Terminals of another session are left out: whether the client finds them depends on
// its table.
func checkMissingTerminals(c *Checker) {
	missing := NewBounded[string, int](maxRequests) // numbers of such requests, by id
	c.Request(sentBy(Agent, func(m *Message) {
		missing.Delete(Key(m.ID))
		t, strange := c.terminal(m)
		if m.Method == "terminal/release" && t != nil { // may be repeated
			return
		}
		if t != nil && t.Released > 0 || strange && !c.elsewhere(m) {
			missing.Put(Key(m.ID), m.Number)
		}
	}), terminalMethods...)
	c.Answer(func(m *Message) {
		number, ok := missing.Get(m.Answers.ID)
		if !ok || number != m.Answers.Number {
			return
		}
		missing.Delete(m.Answers.ID)
		c.Exercised()
		if !m.Failed() {
			c.Report(m.Frame, Finding{Text: "there is no such terminal, and the request succeeds", Also: []int{number}}, m.Result)
		}
	}, terminalMethods...)
}

package lint

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/internal/lazyregexp"
)

const (
	fastUpdates  = 2000     // for one session in a second
	manyBytes    = 50 << 20 // for one session in a minute
	manyRequests = 64       // of the agent at a time
)

func securityRules() []Rule {
	return []Rule{
		{
			ID: "SEC01", Severity: Warn, Side: BySender, Versions: All, Strength: Security,
			Summary: "Messages have no live credentials, such as tokens of known services and private keys.",
			Why:     "Messages are logged, recorded and shared; redact the capture and replace the credential.",
			Check: func(c *Checker) {
				c.Message(func(m *Message) {
					c.Exercised()
					if !hasCredentialMark(m.Bytes) {
						return
					}
					for _, at := range credential().FindAllIndex(m.Bytes, maxFindings) {
						text := m.Bytes[at[0]:at[1]]
						if bytes.HasPrefix(text, []byte("-----")) || isRandom(text) {
							c.Fail(m, holder(m.Root, text), "this looks like a credential")
							return
						}
					}
				})
			},
		},
		{
			ID: "SEC02", Severity: Warn, Side: ByAgent, Versions: All, Strength: Security,
			Summary: "Text to be shown has no control characters but tabs and line breaks.",
			Why:     "A client that prints it hands the terminal to the agent.",
			Check: func(c *Checker) {
				eachShown(c, func(m *Message, text Value) {
					c.Exercised()
					if m.isPlain() || isPlain(text.Text()) {
						return
					}
					if r := control(text.Bytes()); r >= 0 {
						c.Fail(m, text, "the text has %U", r)
					}
				})
			},
		},
		{
			ID: "SEC03", Severity: Warn, Side: ByAgent, Versions: All, Strength: Security,
			Summary: "Text to be shown and paths have no characters that are invisible or reverse their order.",
			Why:     "What the user reads and allows is not what is there.",
			Check: func(c *Checker) {
				look := func(m *Message, text Value) {
					c.Exercised()
					if m.isPlain() || isPlain(text.Text()) {
						return
					}
					if r := hidden(text.Bytes()); r >= 0 {
						c.Fail(m, text, "the text has %U", r)
					}
				}
				eachShown(c, look)
				eachNamed(c, look)
			},
		},
		{
			ID: "SEC04", Severity: Warn, Side: ByAgent, Versions: All, Strength: Security,
			Summary: "Links use https, http, file or mailto.",
			Why:     "Editors and desktops run programs for other schemes.",
			Check: func(c *Checker) {
				eachContent(c, func(m *Message, block Value) {
					uri := block.Get("uri")
					if m.From != Agent || !block.Get("type").Is("resource_link") || !uri.IsString() {
						return
					}
					c.Exercised()
					scheme, _, ok := bytes.Cut(uri.Bytes(), []byte(":"))
					switch string(bytes.ToLower(scheme)) {
					case "https", "http", "file", "mailto":
					default:
						if ok {
							c.Fail(m, uri, "the scheme is %q", quote(string(scheme)))
						}
					}
				})
			},
		},
		{
			ID: "SEC05", Severity: Warn, Side: ByAgent, Versions: All, Strength: Security,
			Summary: "Paths, ids and names of commands have nothing that the command line of an editor would run or replace.",
			Why:     "Clients put them into commands, file names and buffers.",
			Check: func(c *Checker) {
				eachNamed(c, func(m *Message, name Value) {
					c.Exercised()
					if what := editorSyntax(name.Bytes()); what != "" {
						c.Fail(m, name, "it has %s", what)
					}
				})
			},
		},
		{
			ID: "SEC06", Severity: Info, Side: ByClient, Versions: All, Strength: Security,
			Summary: "Definitions of MCP servers have no literal secrets in env and headers.",
			Why:     "They are stored and logged with the session; a name of a variable or a helper program is not secret.",
			Check: func(c *Checker) {
				eachServer(c, func(m *Message, server Value) {
					for _, list := range []Value{server.Get("env"), server.Get("headers")} {
						for _, e := range list.Items() {
							name, value := e.Get("name"), e.Get("value")
							if !name.IsString() || !value.IsString() {
								continue
							}
							c.Exercised()
							if secretName().Match(name.Bytes()) && isLiteral(value.Bytes()) {
								c.Fail(m, value, "the value of %q is a secret", quote(name.Str()))
							}
						}
					}
				})
			},
		},
		{
			ID: "SEC07", Severity: Warn, Side: ByAgent, Versions: All, Strength: Security,
			Summary: "A session has no more than 2000 updates in a second and 50 MiB in a minute.",
			Why:     "The client cannot draw them, and becomes slow or runs out of memory.",
			Check:   checkRate,
		},
		{
			ID: "SEC08", Severity: Warn, Side: ByAgent, Versions: All, Strength: Security,
			Summary: "An agent waits for no more than 64 answers at once.",
			Why:     "The user cannot answer that many questions, and the client has to keep them all.",
			Check: func(c *Checker) {
				told := false
				c.Request(sentBy(Agent, func(m *Message) {
					c.Exercised()
					n := c.Outstanding(Agent).Len() + 1
					if n > manyRequests && !told {
						c.Fail(m, Value{}, "%d requests are not answered", n)
					}
					told = n > manyRequests
				}))
			},
		},
		{
			ID: "SEC09", Severity: Warn, Side: ByAgent, Versions: All, Strength: Security,
			Summary: "The host of a link has a readable name in one script, not a number or an address of a private network.",
			Why:     "The user cannot tell where the link leads.",
			Check: func(c *Checker) {
				look := func(m *Message, at Value, u *url.URL) {
					if u.Hostname() == "" || isLoopback(u.Hostname()) {
						return
					}
					c.Exercised()
					if what := strangeHost(u.Hostname()); what != "" {
						c.Fail(m, at, "the host is %s", what)
					}
				}
				eachURL(c, look)
				eachContent(c, func(m *Message, block Value) {
					uri := block.Get("uri")
					if m.From != Agent || !block.Get("type").Is("resource_link") || !uri.IsString() {
						return
					}
					if u, err := url.Parse(uri.Str()); err == nil && (u.Scheme == "https" || u.Scheme == "http") {
						look(m, uri, u)
					}
				})
			},
		},
		{
			ID: "SEC10", Severity: Warn, Side: ByAgent, Versions: V1, Strength: Security,
			Summary: "After an approval, the agent runs or writes exactly what the user was shown.",
			Why:     "The user has allowed something else.",
			Check:   checkApproved,
		},
	}
}

var (
	credentialMarks = [][]mark{
		{{"PRIVATE KEY", '-', "----"}, {"glpat", '-', ""}, {"sk", '-', "ant-"}, {"sk", '-', "proj-"}, {"xoxb", '-', ""}, {"xoxp", '-', ""}},
		{{"ghp", '_', ""}, {"gho", '_', ""}, {"ghs", '_', ""}, {"github", '_', "pat_"}, {"npm", '_', ""}},
		{{"", 'A', "KIA"}, {"", 'A', "Iza"}},
	}
	credential = lazyregexp.New(`-----BEGIN [A-Z ]*PRIVATE KEY-----(\\n|\\r|[A-Za-z0-9+/=]){64}|\b(gh[pos]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{50,}|glpat-[\w-]{20,}|sk-(ant|proj)-[\w-]{40,}|xox[bp]-[\w-]{30,}|AKIA[A-Z0-9]{16}\b|AIza[\w-]{35}|npm_[A-Za-z0-9]{36})`)
	secretName = lazyregexp.New(`(?i)(^|[_-])(token|secret|password|passwd|api_?key|apikey|authorization|private_key|access_key)$`)
	indirect   = lazyregexp.New(`^\s*$|[$<{]|(?i)^(bearer )?(x+|\*+|redacted|changeme|your[_-].*|\[redacted\]|todo|none|test|dummy|placeholder)$`)
)

func hasCredentialMark(text []byte) bool {
	return slices.ContainsFunc(credentialMarks, func(marks []mark) bool { return marked(text, marks...) })
}

// isLiteral reports whether a value is a secret itself, not a reference to one.
func isLiteral(value []byte) bool { return !indirect().Match(value) }

// eachShown calls f with text of the agent that clients show as it is. All rules share one
// walk over a message.
func eachShown(c *Checker, f func(*Message, Value)) {
	if c.linter.shown == nil {
		walkShown(c.linter.everyVersion(), c.linter.show)
	}
	c.linter.shown.add(c, f)
}

func walkShown(c *Checker, f func(*Message, Value)) {
	each := func(m *Message, list ...Value) {
		for _, v := range list {
			if v.IsString() && m.From == Agent {
				f(m, v)
			}
		}
	}
	eachContent(c, func(m *Message, block Value) { each(m, block.Get("text"), block.Get("title"), block.Get("name")) })
	eachToolCall(c, func(m *Message, call Value) { each(m, call.Get("title")) })
	c.Request(func(m *Message) {
		each(m, m.Params.Get("title"), m.Params.Get("description"))
		for _, o := range m.Params.Get("options").Items() {
			each(m, o.Get("name"))
		}
	}, "session/request_permission")
	c.Request(func(m *Message) { each(m, m.Params.Get("message")) }, "elicitation/create")
	c.Update(func(m *Message) {
		for _, e := range m.Update.Get("entries").Items() {
			each(m, e.Get("content"))
		}
	}, "plan")
	c.Update(func(m *Message) { each(m, m.Update.Get("title")) }, "session_info_update")
}

// eachNamed calls f with paths, ids and names of commands of the agent.
func eachNamed(c *Checker, f func(*Message, Value)) {
	each := func(m *Message, list ...Value) {
		for _, v := range list {
			if v.IsString() && m.From == Agent {
				f(m, v)
			}
		}
	}
	c.Answer(func(m *Message) { each(m, m.Result.Get("sessionId")) }, "session/new", "session/fork")
	eachToolCall(c, func(m *Message, call Value) {
		each(m, call.Get("toolCallId"))
		for _, l := range call.Get("locations").Items() {
			each(m, l.Get("path"))
		}
	})
	eachDiff(c, func(m *Message, diff Value) { each(m, diff.Get("path")) })
	c.Request(func(m *Message) { each(m, m.Params.Get("path")) }, "fs/*")
	c.Update(func(m *Message) {
		for _, command := range m.Update.Get("availableCommands").Items() {
			each(m, command.Get("name"))
		}
	}, "available_commands_update")
}

// isPlain reports whether JSON text has only printable ASCII, tabs and line breaks. Most
// text is, and need not be unescaped.
func isPlain(text []byte) bool {
	const high, del, ones = 0x8080808080808080, 0x7F7F7F7F7F7F7F7F, 0x0101010101010101
	rest := text
	for ; len(rest) >= 8; rest = rest[8:] {
		w := binary.LittleEndian.Uint64(rest)
		if x := w ^ del; (w|(x-ones)&^x)&high != 0 {
			return false
		}
	}
	for _, b := range rest {
		if b >= 0x7F {
			return false
		}
	}
	for rest = text; ; {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 || i+1 == len(rest) {
			return true
		}
		if c := rest[i+1]; c == 'u' || c == 'b' || c == 'f' {
			return false
		}
		rest = rest[i+1:]
	}
}

// isPlain reports isPlain of the whole message. It is found out once.
func (m *Message) isPlain() bool {
	if m.plain == 0 {
		if m.plain = 1; isPlain(m.Bytes) {
			m.plain = 2
		}
	}
	return m.plain == 2
}

// control returns the first control character of a text but tabs and line breaks, -1 if
// it has none.
func control(text []byte) rune {
	for i, b := range text {
		switch {
		case b < ' ' && b != '\t' && b != '\n' && b != '\r', b == 0x7F:
			return rune(b)
		case b == 0xC2 && i+1 < len(text) && text[i+1] < 0xA0:
			return rune(text[i+1])
		}
	}
	return -1
}

// hidden returns the first character of a text that is invisible or changes the order
// of others, -1 if it has none. Those that join letters and emoji are ordinary text.
func hidden(text []byte) rune {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == 0x200B, r == 0x2060, r == 0xFEFF && i > 0:
			return r
		case r >= 0xE0000 && r <= 0xE007F && !bytes.ContainsRune(text, 0x1F3F4): // of flags
			return r
		}
		i += n
	}
	return -1
}

// editorSyntax says what an editor would take for more than a name.
func editorSyntax(name []byte) string {
	switch {
	case len(name) == 0:
		return ""
	case name[0] == '-' || name[0] == '+':
		return "a leading plus or minus"
	case bytes.IndexByte(name, '`') >= 0:
		return "a backquote"
	case bytes.IndexByte(name, '|') >= 0:
		return "a bar"
	case bytes.ContainsAny(name, "\r\n"):
		return "a line break"
	case bytes.Contains(name, []byte("%:")):
		return "a percent sequence"
	}
	return ""
}

// strangeHost says why a host misleads, and is empty for others.
func strangeHost(host string) string {
	host = strings.TrimSuffix(host, ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip.Unmap().IsPrivate() || ip.Unmap().IsLinkLocalUnicast() {
			return "an address of a private network"
		}
		return "an IP address"
	}
	for _, label := range strings.Split(host, ".") {
		if strings.HasPrefix(strings.ToLower(label), "xn--") {
			return "in Punycode"
		}
		scripts := map[string]bool{}
		for _, r := range label {
			for _, s := range []string{"Latin", "Cyrillic", "Greek", "Armenian", "Hebrew", "Arabic"} {
				if unicode.Is(unicode.Scripts[s], r) {
					scripts[s] = true
				}
			}
		}
		if len(scripts) > 1 {
			return "in several scripts"
		}
	}
	return ""
}

// checkRate counts updates by session. A replay may be as fast as it can.
func checkRate(c *Checker) {
	type rate struct {
		second, minute time.Time // when they began
		updates, bytes int
		told           bool
	}
	rates := NewBounded[string, *rate](maxSessions)
	c.Update(sentBy(Agent, func(m *Message) {
		if m.SessionID == "" || m.Time.IsZero() || c.reopening(m.SessionID) {
			return
		}
		c.Exercised()
		r, ok := rates.Get(m.SessionID)
		if !ok {
			r = &rate{second: m.Time, minute: m.Time}
			rates.Put(m.SessionID, r)
		}
		if d := m.Time.Sub(r.second); d < 0 || d >= time.Second {
			r.second, r.updates = m.Time, 0
		}
		if d := m.Time.Sub(r.minute); d < 0 || d >= time.Minute {
			r.minute, r.bytes = m.Time, 0
		}
		r.updates++
		r.bytes += len(m.Bytes)
		switch {
		case r.told:
		case r.updates > fastUpdates:
			c.Fail(m, m.Params.Get("sessionId"), "more than %d updates in a second", fastUpdates)
			r.told = true
		case r.bytes > manyBytes:
			c.Fail(m, m.Params.Get("sessionId"), "more than 50 MiB in a minute")
			r.told = true
		}
	}))
}

// checkApproved compares what the user allowed with the next thing of its kind, while
// no other tool call of the session is at work.
func checkApproved(c *Checker) {
	type approval struct {
		call    string
		number  int      // of the answer
		command string   // shown
		paths   []string // shown
	}
	approvals := NewBounded[string, *approval](maxSessions) // the last of each session
	c.Answer(func(m *Message) {
		if m.Session == nil {
			return
		}
		approvals.Delete(m.SessionID)
		if kind := chosen(m).Get("kind").Str(); !strings.HasPrefix(kind, "allow") {
			return
		}
		call := m.Answers.Params().Get("toolCall")
		a := &approval{call: toolCallAsked(m), number: m.Number}
		if input := call.Get("rawInput"); input.Get("command").IsString() {
			a.command = squeeze(commandLine(input))
		}
		for _, item := range call.Get("content").Items() {
			if p := item.Get("path"); item.Get("type").Is("diff") && p.IsString() && len(a.paths) < maxRoots {
				a.paths = append(a.paths, bounded(p.Bytes()))
			}
		}
		approvals.Put(m.SessionID, a)
	}, "session/request_permission")
	alone := func(m *Message) *approval {
		a, ok := approvals.Get(m.SessionID)
		if !ok || m.Session == nil || c.ToolCalls.Lost() {
			return nil
		}
		for _, call := range c.ToolCalls.All() {
			if call.Session == m.Session && call.Turn == m.Session.Turn && call.ID != a.call && !call.Done() {
				return nil
			}
		}
		if call, ok := c.ToolCalls.Get(Of{m.SessionID, a.call}); !ok || call.Done() {
			return nil
		}
		return a
	}
	c.Request(sentBy(Agent, func(m *Message) {
		a := alone(m)
		if a == nil || a.command == "" {
			return
		}
		c.Exercised()
		run := squeeze(commandLine(m.Params))
		if run != "" && !strings.Contains(run, a.command) && !strings.Contains(a.command, run) {
			c.Report(m.Frame, Finding{Text: "the user has allowed another command: " + quote(a.command), Also: []int{a.number}}, m.Params.Get("command"))
		}
		approvals.Delete(m.SessionID)
	}), "terminal/create")
	c.Request(sentBy(Agent, func(m *Message) {
		a, p := alone(m), m.Params.Get("path")
		if a == nil || len(a.paths) == 0 || !p.IsString() {
			return
		}
		c.Exercised()
		if !slices.ContainsFunc(a.paths, func(shown string) bool { return samePath(shown, bounded(p.Bytes())) }) {
			c.Report(m.Frame, Finding{Text: "the user has allowed to change another file: " + quote(a.paths[0]), Also: []int{a.number}}, p)
		}
	}), fsWrite)
}

// squeeze removes what does not make commands differ: white space and quotes.
func squeeze(command []byte) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '"' || r == '\'' || r == '\\' {
			return -1
		}
		return r
	}, bounded(command))
}

package lint

import (
	"bytes"
	"path"
	"strings"

	"github.com/hermes-nvim/hermes/internal/jtree"
	"github.com/hermes-nvim/hermes/internal/lazyregexp"
)

const fsRead, fsWrite = "fs/read_text_file", "fs/write_text_file"

func filesRules() []Rule {
	return []Rule{
		{
			ID: "FS01", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/file-system", Strength: MustNot,
			Summary:      "Files are read through the client only if it advertises fs.readTextFile.",
			Why:          "The client has no such method, so the tool that needs the file fails.",
			Requirements: []string{"ACP-CLIENTCAP-001"},
			Check:        onlyOffered([]string{fsRead}, "fs", "readTextFile"),
		},
		{
			ID: "FS02", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/file-system", Strength: MustNot,
			Summary:      "Files are written through the client only if it advertises fs.writeTextFile.",
			Why:          "The client has no such method, so the change is lost.",
			Requirements: []string{"ACP-CLIENTCAP-001"},
			Check:        onlyOffered([]string{fsWrite}, "fs", "writeTextFile"),
		},
		{
			ID: "FS03", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/file-system", Strength: Must,
			Summary: "The path of a file is absolute.",
			Why:     "The client has no folder that a relative path would start from.",
			Check: func(c *Checker) {
				c.Request(sentBy(Agent, func(m *Message) {
					c.checkAbsolute(m, m.Params.Get("path"), "the path")
				}), "fs/*")
			},
		},
		{
			ID: "FS04", Severity: Warn, Side: ByAgent, Versions: V1, Page: "v1/file-system", Strength: Infer,
			Summary: "The first line to read is 1 or more, if it is given.",
			Why:     "Lines count from 1, so clients fail or return other lines than the agent believes.",
			Check: func(c *Checker) {
				c.Request(sentBy(Agent, func(m *Message) {
					line := m.Params.Get("line")
					n, ok := line.Int()
					if !ok {
						return
					}
					c.Exercised()
					if n < 1 {
						c.Fail(m, line, "there is no line %d", n)
					}
				}), fsRead)
			},
		},
		{
			ID: "FS05", Severity: Warn, Side: ByClient, Versions: V1, Page: "v1/file-system", Strength: Must,
			Summary: "Writing to a file that does not exist creates it.",
			Why:     "The agent has no other way to create files.",
			Check:   checkWriteCreates,
		},
		{
			ID: "FS06", Severity: Warn, Side: ByClient, Versions: V1, Page: "v1/file-system", Strength: Infer,
			Summary: "A read of a file returns no more lines than limit asked for.",
			Why:     "The agent takes them for other lines, or runs out of context.",
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					content := m.Result.Get("content")
					limit, ok := m.Answers.Params().Get("limit").Int()
					if !ok || limit < 1 || !content.IsString() {
						return
					}
					c.Exercised()
					lines := bytes.Count(bytes.TrimSuffix(content.Bytes(), []byte("\n")), []byte("\n")) + 1
					if int64(lines) > limit {
						c.Report(m.Frame, Finding{Text: "there are " + string(appendInt(nil, int64(lines))) + " lines, and the limit is " + string(appendInt(nil, limit)), Also: []int{m.Answers.Number}}, content)
					}
				}, fsRead)
			},
		},
		{
			ID: "FS07", Severity: Warn, Side: ByAgent, Versions: V1, Page: "v1/session-setup", Strength: Should,
			Summary: "Files are read and written below the folders of the session.",
			Why:     "Those are what the user opened; elsewhere they do not expect the agent.",
			Check: func(c *Checker) {
				checkOutside(c, "path", "the file is outside of the folders of the session", "fs/*")
			},
		},
		{
			ID: "FS08", Severity: Warn, Side: ByAgent, Versions: V1, Strength: Security,
			Summary: "Files that other programs run or trust are written only after the user has seen a request for it.",
			Why:     "Hooks, start-up files and the like run code later, outside of what the user has allowed.",
			Check:   checkTrustedFiles,
		},
		{
			ID: "FS09", Severity: Error, Side: ByAgent, Versions: V1, Strength: Security,
			Summary: "A path has no NUL, parent segments, home shorthand, URI scheme, backquote or line break.",
			Why:     "Clients, shells and editors read such a path differently from what the user is shown.",
			Check: func(c *Checker) {
				c.Request(sentBy(Agent, func(m *Message) {
					path := m.Params.Get("path")
					if !path.IsString() {
						return
					}
					c.Exercised()
					if what := oddPath(path.Bytes()); what != "" {
						c.Fail(m, path, "the path has %s", what)
					}
				}), "fs/*")
			},
		},
		{
			ID: "FS10", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/file-system", Strength: Infer,
			Summary: "A request about a file names the session whose turn needs it.",
			Why:     "The client reads another workspace, or shows the change in another conversation.",
			Check:   checkSessionOfFile,
		},
		{
			ID: "FS11", Severity: Error, Side: ByClient, Versions: V1, Page: "v1/file-system", Strength: Infer,
			Summary: "A read that fails is answered with an error, not with empty content.",
			Why:     "The agent takes the file for empty and writes it anew.",
			Check:   checkEmptyReads,
		},
		{
			ID: "FS12", Severity: Error, Side: BySender, Versions: V2, Page: "v2/migration", Strength: Schema,
			Summary:      "Version 2 has no methods for files.",
			Why:          "The other side does not know them.",
			Requirements: []string{"ACP-CLIENTCAP-202"},
			Check:        gone("fs/"),
		},
		{
			ID: "FS13", Severity: Info, Side: ByClient, Versions: V1, Page: "v1/file-system", Strength: Schema,
			Summary: "The result of writing a file is an empty object or null.",
			Why:     "There is nothing to say but that it worked, and strict agents refuse anything else.",
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					if m.Failed() || !m.Result.Exists() {
						return
					}
					c.Exercised()
					if m.Result.Set() && !m.Result.IsObject() {
						c.Fail(m, m.Result, "the result is %s", kindOf(m.Result))
					}
					for name, v := range m.Result.Members() {
						if !bytes.HasPrefix(name, []byte("_")) {
							c.Fail(m, v, "the result has %q", quote(string(name)))
						}
					}
				}, fsWrite)
			},
		},
		{
			ID: "FS14", Severity: Warn, Side: ByAgent, Versions: V1, Page: "v1/prompt-turn", Strength: Infer,
			Summary: "Files are read and written during a turn.",
			Why:     "The user does not know what it is about, and cannot cancel it.",
			Check:   duringTurns("fs/*"),
		},
	}
}

// onlyOffered returns the check of methods that need a capability of the client.
func onlyOffered(methods []string, path ...string) func(*Checker) {
	return func(c *Checker) {
		c.Request(sentBy(Agent, func(m *Message) {
			if !c.ClientHello.Exists() {
				return
			}
			c.Exercised()
			if !advertised(c.ClientCapabilities, path) {
				c.Fail(m, Value{}, "the client does not advertise %s", strings.Join(path, "."))
			}
		}), methods...)
	}
}

// duringTurns returns the check of what an agent does only during turns.
func duringTurns(methods ...string) func(*Checker) {
	return func(c *Checker) {
		c.Request(sentBy(Agent, func(m *Message) {
			if m.Session == nil || m.Session.State != Open {
				return
			}
			c.Exercised()
			if !c.prompting(m.Session) {
				c.Fail(m, m.Params.Get("sessionId"), "no turn is running")
			}
		}), methods...)
	}
}

// gone returns the check of methods of agents that version 2 has dropped.
func gone(prefix string) func(*Checker) {
	return func(c *Checker) {
		c.Request(sentBy(Agent, func(m *Message) {
			c.Exercised()
			if strings.HasPrefix(m.Method, prefix) {
				c.Unknown(m, m.Root.Get("method"), "version 2 does not have this method")
			}
		}))
	}
}

// oddPath says what makes a path dangerous, and is empty for other paths.
func oddPath(p []byte) string {
	switch {
	case bytes.IndexByte(p, 0) >= 0:
		return "a NUL"
	case bytes.ContainsAny(p, "\r\n"):
		return "a line break"
	case bytes.IndexByte(p, '`') >= 0:
		return "a backquote"
	case len(p) > 0 && p[0] == '~' && (len(p) == 1 || p[1] == '/' || p[1] == '\\'):
		return "a home shorthand"
	case hasScheme(p):
		return "a URI scheme"
	}
	windows := !bytes.HasPrefix(p, []byte("/"))
	for _, part := range bytes.FieldsFunc(p, func(r rune) bool { return r == '/' || windows && r == '\\' }) {
		if string(part) == ".." {
			return "a parent segment"
		}
	}
	return ""
}

// folder returns the folder of a path, with slashes.
func folder(p Value) string { return path.Dir(cleanPath(bounded(p.Bytes()))) }

var notFound = lazyregexp.New(`(?i)enoent|no such file|(file|path)[^.]{0,80} (not found|does not exist|doesn't exist)`)

// checkWriteCreates looks for writes that failed because there was no such file,
// although its folder was there.
func checkWriteCreates(c *Checker) {
	folders := NewBounded[string, bool](maxSessions) // that hold a file
	c.Answer(func(m *Message) {
		p := m.Answers.Params().Get("path")
		if !p.IsString() || !isAbsolute(p.Bytes()) {
			return
		}
		if !m.Failed() {
			if m.Method == fsWrite {
				c.Exercised()
			}
			folders.Put(folder(p), true)
			return
		}
		if m.Method != fsWrite || m.Session == nil {
			return
		}
		_, there := folders.Get(folder(p))
		if !there && (m.Session.Cwd == "" || folder(p) != cleanPath(m.Session.Cwd)) {
			return
		}
		for _, text := range []Value{m.Error.Get("message"), m.Error.Get("data"), m.Error.Get("data", "details"), m.Error.Get("data", "message")} {
			if notFound().Match(head(text)) {
				c.Report(m.Frame, Finding{Text: "the file was not created", Also: []int{m.Answers.Number}}, m.Error)
				return
			}
		}
	}, fsRead, fsWrite)
}

// trusted are files that run or configure programs, by the end of their paths.
var trusted = lazyregexp.New(`(?i)/(` + strings.Join([]string{
	`\.git/(hooks/[^/]+|config)`, `\.(hg/hgrc|husky/[^/]+)`, `\.gitconfig`, `\.config/git/config`,
	`\.(bashrc|bash_profile|bash_login|profile|zshrc|zshenv|zprofile|zlogin|kshrc|cshrc|tcshrc)`, `\.?config\.fish`,
	`\.?(vimrc|exrc|nvimrc|gvimrc|emacs)`, `\.nvim\.lua`, `nvim/init\.(lua|vim)`, `\.emacs\.d/init\.el`, `\.envrc`,
	`\.vscode/(tasks|settings|launch)\.json`, `\.zed/(tasks|settings)\.json`,
	`\.github/workflows/[^/]+\.ya?ml`, `\.gitlab-ci\.yml`, `\.circleci/config\.yml`,
	`\.ssh/[^/]+`, `\.(npmrc|yarnrc|yarnrc\.yml|pypirc)`, `\.cargo/config(\.toml)?`, `pip\.conf`, `\.netrc`,
}, "|") + `)$`)

// checkTrustedFiles looks at writes that the user was not asked about. The request has
// to name the file.
func checkTrustedFiles(c *Checker) {
	asked := NewBounded[Of, bool](maxToolCalls)
	c.Request(sentBy(Agent, func(m *Message) {
		eachPath(toolCallOf(m), func(p Value) { asked.Put(Of{m.SessionID, cleanPath(bounded(p.Bytes()))}, true) })
	}), "session/request_permission")
	c.Request(sentBy(Agent, func(m *Message) {
		p := m.Params.Get("path")
		if !p.IsString() || len(p.Bytes()) > maxID {
			return
		}
		c.Exercised()
		name := cleanPath(bounded(p.Bytes()))
		if _, ok := asked.Get(Of{m.SessionID, name}); !ok && !asked.Lost() && trusted().MatchString(name) {
			c.Fail(m, p, "other programs run or trust this file, and no permission request has named it")
		}
	}), fsWrite)
}

// eachPath calls f with the paths that a tool call names.
func eachPath(call Value, f func(Value)) {
	each := func(v Value) {
		if v.IsString() && isAbsolute(v.Bytes()) {
			f(v)
		}
	}
	for _, l := range call.Get("locations").Items() {
		each(l.Get("path"))
	}
	for _, item := range call.Get("content").Items() {
		each(item.Get("path"))
	}
	for _, name := range []string{"path", "file_path", "filePath", "abs_path", "absolute_path"} {
		each(call.Get("rawInput", name))
	}
}

// checkSessionOfFile looks for files that a tool call of another session works on at
// that time, while the session that is named does nothing.
func checkSessionOfFile(c *Checker) {
	type use struct{ session, call string }
	uses := NewBounded[string, use](maxToolCalls) // by path
	c.Update(sentBy(Agent, func(m *Message) {
		id := m.Update.Get("toolCallId")
		if m.Session == nil || !id.IsString() {
			return
		}
		eachPath(m.Update, func(p Value) {
			uses.Put(cleanPath(c.recent.bounded(p.Bytes())), use{m.SessionID, c.recent.bounded(id.Bytes())})
		})
	}), "tool_call", "tool_call_update")
	c.Request(sentBy(Agent, func(m *Message) {
		p := m.Params.Get("path")
		if m.Session == nil || m.Session.State != Open || !p.IsString() {
			return
		}
		if c.prompting(m.Session) {
			c.Exercised()
			return
		}
		u, ok := uses.Get(cleanPath(bounded(p.Bytes())))
		if !ok || u.session == m.SessionID || m.Session.Last != nil {
			return
		}
		call, ok := c.ToolCalls.Get(Of{u.session, u.call})
		if ok && !call.Done() && call.Session.Turn != nil && call.Session.Turn == call.Turn {
			c.Report(m.Frame, Finding{Text: "a tool call of another session works on this file, and this session has no turn", Also: []int{call.First}}, m.Params.Get("sessionId"))
		}
	}), "fs/*")
}

// checkEmptyReads looks for empty content where something else is known of the file:
// the agent wrote it just before, or the client says that it cannot read.
func checkEmptyReads(c *Checker) {
	type written struct {
		answer int
		turn   *Turn
	}
	files := NewBounded[Of, written](maxToolCalls)
	commands := 0 // number of the last message about something that may change files
	c.Request(func(m *Message) {
		if strings.HasPrefix(m.Method, "terminal/") || m.Method == fsWrite {
			commands = m.Number
		}
	})
	c.Answer(func(m *Message) {
		params := m.Answers.Params()
		p := params.Get("path")
		if m.Session == nil || !p.IsString() {
			return
		}
		key := Of{m.SessionID, bounded(p.Bytes())}
		if m.Method == fsWrite {
			files.Delete(key)
			if !m.Failed() && commands == m.Answers.Number && len(params.Get("content").Bytes()) > 0 {
				files.Put(key, written{m.Number, m.Session.Turn})
			}
			return
		}
		content := m.Result.Get("content")
		if m.Failed() || content.IsString() {
			c.Exercised()
		}
		if m.Failed() || !content.IsString() || len(content.Bytes()) > 0 {
			return
		}
		fs := c.ClientCapabilities.Get("fs", "readTextFile")
		if c.ClientHello.Exists() && (!fs.Exists() || fs.Kind() == jtree.False) {
			c.Report(m.Frame, Finding{Text: "the client does not advertise that it can read, and answers with empty content", Also: []int{m.Answers.Number}}, content)
			return
		}
		line, given := params.Get("line").Int()
		w, ok := files.Get(key)
		if ok && w.answer > commands && w.answer < m.Answers.Number && w.turn != nil && w.turn == m.Session.Turn &&
			(!given || line <= 1) && (!params.Get("limit").Set() || !params.Get("limit").Is("0") && string(params.Get("limit").Text()) != "0") {
			c.Report(m.Frame, Finding{Text: "the file is not empty: the agent wrote to it just before", Also: []int{w.answer, m.Answers.Number}}, content)
		}
	}, fsRead, fsWrite)
}

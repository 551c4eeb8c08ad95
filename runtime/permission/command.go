package permission

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/pathname"
)

// readCommand understands a shell line, an argument vector, and a name with
// arguments. Anything else leaves the command unknown.
func (q *Request) readCommand(command, args any) {
	switch c := command.(type) {
	case string:
		q.readLine(c, args)
		return
	case []any:
		if argv, ok := texts(c); ok && args == nil {
			q.vector(argv)
			return
		}
	}
	for _, v := range []any{command, args} {
		if v != nil {
			q.moreCommand = true
			text, _ := json.Marshal(v) // it came from JSON
			q.words = append(q.words, roughWords(string(text))...)
		}
	}
}

func (q *Request) readLine(line string, args any) {
	list, isList := args.([]any)
	words, ok := texts(list)
	switch {
	case line == "" && args == nil:
	case args == nil, isList && len(list) == 0:
		q.Command, q.words = plainWords(line), roughWords(line)
	case isList && ok:
		q.vector(append([]string{line}, words...))
	default:
		q.moreCommand = true
		text, _ := json.Marshal(args)
		q.words = append(roughWords(line), roughWords(string(text))...)
	}
}

// vector reads the words of a command. The agent may put them into one line for a
// shell, where some would end the command.
func (q *Request) vector(argv []string) {
	if len(argv) == 0 {
		return
	}
	q.Command, q.words = argv, argv
	if isShell(argv[0]) {
		q.Command, q.words = nil, roughWords(strings.Join(argv, " "))
	}
	if slices.ContainsFunc(argv, func(word string) bool { return strings.ContainsAny(word, ";|&<>()`$\r\n\x00") }) {
		q.moreCommand = true
	}
}

// isFound reports whether a file is the one that the name of a program stands for.
func isFound(name string, file any) bool {
	path, err := exec.LookPath(name)
	return err == nil && path == file
}

// texts converts a list of strings; false if it holds anything else.
func texts(list []any) ([]string, bool) {
	var words []string
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			return nil, false
		}
		words = append(words, s)
	}
	return words, true
}

// programName is the name of a program without its folder, as every system
// would find it.
func programName(program string) string {
	program = strings.ToLower(program[strings.LastIndexAny(program, `/\`)+1:])
	return strings.TrimSuffix(program, ".exe")
}

// shells run what their arguments say, so the first words of such a command do
// not say what runs.
var shells = []string{
	"sh", "bash", "rbash", "dash", "zsh", "ksh", "mksh", "ash", "yash", "fish", "csh", "tcsh", "nu", "elvish", "xonsh", "busybox", "toybox",
	"env", "sudo", "doas", "xargs", "nohup", "cmd", "pwsh", "powershell",
}

func isShell(program string) bool { return slices.Contains(shells, programName(program)) }

// interpreters run programs that their arguments or files hold. A version may
// follow the name.
var interpreters = []string{
	"eval", ".", "source", "trap", "alias", "exec", "command", "builtin",
	"python", "pypy", "perl", "ruby", "node", "deno", "bun", "lua", "luajit", "php", "awk", "gawk", "mawk", "nawk", "tclsh", "expect", "osascript", "rscript",
	"vi", "vim", "nvim", "ex", "ed", "emacs", "gdb", "lldb",
}

func interprets(program string) bool {
	name := programName(program)
	return slices.Contains(interpreters, name) || slices.Contains(interpreters, strings.TrimRight(name, "0123456789.-"))
}

// clear reports whether the words of the command say what runs: a program that
// is found by its name, and arguments that also mean the same in a shell, in case
// the program passes them to one.
func (q *Request) clear() bool {
	return len(q.Command) > 0 && !q.moreCommand && !strings.ContainsAny(q.Command[0], `/\`) && !isShell(q.Command[0]) && !interprets(q.Command[0]) &&
		!slices.ContainsFunc(q.Command, func(word string) bool {
			return strings.ContainsAny(strings.TrimRight(word, "$"), "'\"\\`$*?[{\r\n\x00") || runtime.GOOS == "windows" && strings.ContainsAny(word, "^%")
		})
}

// deniesCommand compares the rule's command with the request's. They certainly
// differ only if the words of the request are clear and do not mention the
// rule's command.
func (r *Rule) deniesCommand(q *Request) match {
	switch {
	case len(r.Command) == 0, contains(q.words, r.Command), contains(q.Command, r.Command):
		return yes
	case q.clear() && !mentions(q.Command, r.Command):
		return no
	case q.runs(), q.moreCommand, q.Kind == acp.ToolKindOther, !known(q.Kind):
		return maybe
	}
	return no
}

// harmless are variables that only control how a program prints, or that say that
// nobody watches it. Agents send them with every command.
var harmless = map[string][]string{
	"CI": {"1", "true"}, "CLAUDECODE": {"1"}, "NO_COLOR": {"1"}, "FORCE_COLOR": {"0", "1"}, "TERM": {"dumb", "xterm", "xterm-256color"},
	"PAGER": {"cat"}, "GIT_PAGER": {"cat"}, "GH_PAGER": {"cat"}, "EDITOR": {"true"}, "GIT_EDITOR": {"true"}, "GIT_TERMINAL_PROMPT": {"0"},
	"LANG": {"C", "C.UTF-8", "en_US.UTF-8"}, "LC_ALL": {"C", "C.UTF-8", "en_US.UTF-8"},
}

// allowsCommand compares the words of a command, and also its environment and its
// folder, because they decide what the words do.
func (r *Rule) allowsCommand(s *subject) bool {
	for _, v := range s.Env {
		name, value, _ := strings.Cut(v, "=")
		if !slices.Contains(r.Env, name) && !slices.Contains(harmless[name], value) {
			return false
		}
	}
	if s.morePaths || !r.allowsFolders(s) {
		return false
	}
	if len(r.Command) == 0 {
		return true
	}
	return !s.moreCommand && len(s.Command) >= len(r.Command) && slices.Equal(s.Command[:len(r.Command)], r.Command) &&
		(!r.Exact || len(s.Command) == len(r.Command))
}

// allowsFolders checks every path that comes with a command, because each may be
// the folder that it runs in. Without a path the command runs in the session's
// folder.
func (r *Rule) allowsFolders(s *subject) bool {
	folders := s.places
	if s.Dir == "" && len(s.roots) > 0 {
		folders = append(slices.Clip(folders), place{real: s.roots[0], known: true})
	}
	if r.Cwd != "" {
		pattern := led(r.Cwd)
		return len(folders) > 0 && !slices.ContainsFunc(folders, func(p place) bool { return !p.known || !matchPath(pattern, p.real) })
	}
	return !slices.ContainsFunc(folders, func(p place) bool {
		return !p.known || len(s.Roots) > 0 && !slices.ContainsFunc(s.roots, func(root string) bool { return pathname.Within(root, p.real) }) || s.configuresGit(p.real)
	})
}

// configuresGit reports whether git would treat a folder as a repository without
// a .git. The configuration of a repository may name programs to run, and anybody
// who can write files can make one.
func (s *subject) configuresGit(dir string) bool {
	exists := func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	}
	for {
		if exists(".git") {
			return false
		}
		if exists("HEAD") && (exists("config") || exists("commondir") || exists("objects")) {
			return true
		}
		parent := filepath.Dir(dir)
		if parent == dir || slices.Contains(s.roots, dir) {
			return false
		}
		dir = parent
	}
}

// mentions reports whether every word of part occurs in words, as a whole word or
// between characters that are not letters or digits.
func mentions(words, part []string) bool {
	return !slices.ContainsFunc(part, func(p string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return mentioned(strings.ToLower(word), strings.ToLower(p)) })
	})
}

func mentioned(text, word string) bool {
	letter := func(r rune, _ int) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	for from := 0; ; from++ {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return false
		}
		from += at
		if !letter(utf8.DecodeLastRuneInString(text[:from])) && !letter(utf8.DecodeRuneInString(text[from+len(word):])) {
			return true
		}
	}
}

func contains(words, part []string) bool {
	for i := 0; i+len(part) <= len(words); i++ {
		if slices.Equal(words[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

// plainWords splits a line that a shell reads as one simple command with literal
// words; nil for every other line.
func plainWords(line string) []string {
	var words []string
	var word strings.Builder
	quote, open := byte(0), false
	for i := range len(line) {
		c := line[i]
		switch {
		case c == '\n' || c == '\r' || c == 0 || c == '\\' || quote != '\'' && (c == '$' || c == '`'):
			return nil
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, open = c, true
		case c == ' ' || c == '\t':
			if open {
				words = append(words, word.String())
				word.Reset()
				open = false
			}
		case strings.IndexByte("|&;<>(){}*?[]#~!", c) >= 0:
			return nil
		default:
			word.WriteByte(c)
			open = true
		}
	}
	if quote != 0 {
		return nil
	}
	if open {
		words = append(words, word.String())
	}
	if len(words) > 0 && (isShell(words[0]) || strings.Contains(words[0], "=")) {
		return nil
	}
	return words
}

// roughWords splits a line wherever a shell might.
func roughWords(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n|&;<>(){}[]$`'\"\\,", r) })
}

package approval

import (
	"io"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// unknown stands for text in a word that only the shell knows.
const unknown = '\uE000'

// wide matches formats of printf with a width that may be large.
var wide = regexp.MustCompile(`%[^%a-zA-Z]*(\*|\d{4})`)

// words expands words as the shell would, as far as the text of the script
// determines the result.
func (s *script) words(list []*syntax.Word) []string {
	var all []string
	for _, w := range list {
		if w == nil {
			continue
		}
		fields := []string{string(unknown)}
		if s.spend(1) && s.mayExpand(w) {
			if found, err := expand.Fields(s.config(), w); err == nil && s.spend(len(found)) {
				fields = found
			}
		}
		all = append(all, fields...)
	}
	return all
}

// mayExpand reports whether a word becomes so few others that they can be judged.
func (s *script) mayExpand(w *syntax.Word) bool {
	braces := 0
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			braces += strings.Count(lit.Value, "{")
		}
	}
	if braces > maxBrace {
		s.find(unreadable, "a word stands for too many others", "…")
		return false
	}
	return true
}

func (s *script) heredoc(r *syntax.Redirect) string {
	if r.Hdoc == nil {
		return ""
	}
	for _, part := range r.Word.Parts {
		if _, plain := part.(*syntax.Lit); !plain || strings.Contains(r.Word.Lit(), `\`) { // quoted: nothing is expanded
			var text strings.Builder
			for _, part := range r.Hdoc.Parts {
				if lit, ok := part.(*syntax.Lit); ok {
					text.WriteString(lit.Value)
				}
			}
			return text.String()
		}
	}
	text, err := expand.Document(s.config(), r.Hdoc)
	if err != nil {
		return string(unknown)
	}
	return text
}

func (s *script) config() *expand.Config {
	return &expand.Config{
		Env: expand.FuncEnviron(s.variable),
		CmdSubst: func(w io.Writer, c *syntax.CmdSubst) error {
			text := string(unknown)
			if len(c.Stmts) == 1 {
				text = s.output(c.Stmts[0])
			}
			_, err := io.WriteString(w, text)
			return err
		},
		ProcSubst: func(*syntax.ProcSubst) (string, error) { return "/dev/fd/" + string(unknown), nil },
	}
}

// variable returns the value of a variable, as far as it is certain.
func (s *script) variable(name string) string {
	if value, ok := s.vars[name]; ok {
		return value
	}
	switch {
	case name == "IFS":
		return " \t\n"
	case s.changed[name] > 0:
	case name == "HOME" && s.Home != "":
		return s.Home
	case name == "PWD" && s.Dir != "":
		return s.Dir
	case name == "TMPDIR":
		return os.TempDir()
	}
	return string(unknown)
}

// output returns what a statement prints, if it only prints text.
func (s *script) output(stmt *syntax.Stmt) string {
	if s.printing++; s.printing > maxDepth {
		s.printing--
		return string(unknown)
	}
	defer func() { s.printing-- }()
	if pipe, ok := stmt.Cmd.(*syntax.BinaryCmd); ok && pipe.Op == syntax.Pipe && len(stmt.Redirs) == 0 {
		if right, ok := pipe.Y.Cmd.(*syntax.CallExpr); ok && len(right.Args) > 0 && slices.Contains(filters, right.Args[0].Lit()) {
			return s.output(pipe.X)
		}
		return string(unknown)
	}
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return string(unknown)
	}
	words := s.words(call.Args)
	if len(words) == 0 {
		return string(unknown)
	}
	switch program := words[0]; {
	case program == "cat" && len(words) == 1 && len(stmt.Redirs) == 1 && stmt.Redirs[0].Hdoc != nil:
		return s.heredoc(stmt.Redirs[0])
	case len(stmt.Redirs) > 0:
	case program == "echo":
		text := words[1:]
		for len(text) > 0 && (text[0] == "-n" || text[0] == "-e" || text[0] == "-ne" || text[0] == "-en" || text[0] == "-E") {
			text = text[1:]
		}
		joined := strings.Join(text, " ")
		if strings.Contains(joined, `\`) { // shells differ in what a backslash means to echo
			plain, _, err := expand.Format(s.config(), strings.ReplaceAll(joined, "%", "%%"), nil)
			if err != nil {
				return string(unknown)
			}
			return joined + "\n" + plain
		}
		return joined
	case program == "pwd" && s.Dir != "":
		return s.Dir
	case program == "mktemp":
		for _, word := range words[1:] {
			if strings.Contains(word, "/") {
				return word[strings.IndexByte(word, '=')+1:]
			}
		}
		return os.TempDir() + "/" + string(unknown)
	case slices.Contains(listing, program):
		return s.listed(words)
	case program == "printf" && len(words) > 1 && !strings.HasPrefix(words[1], "-") && !wide.MatchString(words[1]):
		if text, _, err := expand.Format(s.config(), words[1], words[2:]); err == nil {
			return text
		}
	}
	return string(unknown)
}

// filters are programs that print some of the lines that they read.
var filters = strings.Fields("grep egrep fgrep head tail sort uniq")

// listing are programs that print names of files, below the folders in their arguments or
// below the working folder.
var listing = strings.Fields("find fd fdfind ls rg ag git")

// listed returns what a program of listing prints: names in a folder, which is the first
// one outside of the project, if it has one.
func (s *script) listed(words []string) string {
	if words[0] == "git" && !slices.ContainsFunc(words[1:], func(w string) bool { return w == "ls-files" || w == "--name-only" || w == "grep" }) {
		return string(unknown)
	}
	for _, word := range words[1:] {
		if !strings.ContainsAny(word, "/~.") || strings.HasPrefix(word, "-") {
			continue
		}
		if name := s.locate(word); name == "" || s.outside(name) {
			return path.Join(name, string(unknown))
		}
	}
	return "./" + string(unknown)
}

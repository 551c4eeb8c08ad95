package approval

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The findings that are not about one program.
var (
	unreadable = rule{name: "unreadable", action: Ask, reason: "the command cannot be parsed"}
	hidden     = rule{name: "invisible", action: Ask, reason: "the command contains characters that cannot be seen"}
	computed   = rule{name: "computed", action: Ask, reason: "what runs is computed by the command itself"}
	piped      = rule{name: "pipe-to-shell", action: Ask, reason: "runs the output of another command"}
	forkBomb   = rule{name: "fork-bomb", action: Deny, reason: "starts processes without end"}
	hooked     = rule{name: "environment", action: Ask, reason: "sets a variable that makes programs run other code"}
)

// The bounds of a judgement. A command that exceeds them is asked about.
const (
	maxDepth = 8       // scripts in scripts, such as sh -c 'sh -c …'
	maxCalls = 2000    // commands, counted for each dialect
	maxWords = 20000   // words, counted for each dialect and each program that may run them
	maxBrace = 12      // expansions such as {a,b} in a word: each doubles it
	maxValue = 1 << 10 // bytes of a variable whose value is kept
)

// dialects are the shells that may read the command. A comment or a quotation
// of one may be code of another.
var dialects = []syntax.LangVariant{syntax.LangBash, syntax.LangPOSIX}

// script is a shell text that is being judged, with the texts inside it.
type script struct {
	Place
	start     string   // the folder that the command begins in
	settings  []string // the folders of our own settings
	secrets   []string // files and folders of the user and the machine that hold secrets
	temporary []string // folders in which any file may change
	findings  []Finding

	depth     int
	printing  int               // outputs within outputs, such as $(echo $(echo …))
	left      *bounds           // what may still be judged
	maybe     int               // within a part that may not run, or not in this shell
	vars      map[string]string // those whose value is certain
	changed   map[string]int    // how often the text may set a variable
	functions map[string]bool   // those being defined around this place
}

// bounds are how much of a script may still be judged, and of those in it.
type bounds struct{ calls, words int }

// spend reports whether so many words may still be judged.
func (s *script) spend(words int) bool {
	if s.left.words -= words; s.left.words < 0 {
		s.find(unreadable, "too many words", "…")
		return false
	}
	return true
}

// input is what a command reads. The zero value is what the script itself reads.
type input struct {
	text string // may hold unknown
	own  bool   // made by the script: a pipe, a heredoc
}

func newScript(p Place) *script {
	return &script{Place: p, start: p.Dir, settings: p.own(), secrets: secrets(p.Home), temporary: []string{"/tmp", "/var/tmp", filepath.ToSlash(os.TempDir())}, left: &bounds{maxCalls, maxWords}, functions: make(map[string]bool)}
}

func (s *script) find(r rule, reason, command string) {
	if !slices.ContainsFunc(s.findings, func(f Finding) bool { return f.Rule == r.name }) {
		s.findings = append(s.findings, Finding{Rule: r.name, Reason: reason, Command: strings.TrimSpace(shorten(command)), Action: r.action})
	}
}

// shorten bounds a command in a finding.
func shorten(command string) string {
	const most = 500
	if command = strings.ReplaceAll(command, string(unknown), "…"); len(command) > most {
		return strings.ToValidUTF8(command[:most], "") + "…"
	}
	return command
}

// text judges a script with variables and a folder of its own.
func (s *script) text(text string) {
	if s.depth >= maxDepth {
		s.find(unreadable, "too many scripts within scripts", text)
		return
	}
	for _, dialect := range dialects {
		inner := *s
		inner.depth, inner.maybe = s.depth+1, 0
		inner.vars, inner.changed = make(map[string]string), make(map[string]int)
		stmts, err := parse(text, dialect)
		inner.count(stmts)
		for _, stmt := range stmts {
			if failed := guard(func() { inner.stmt(stmt, input{}) }); err == nil {
				err = failed
			}
		}
		s.findings = inner.findings
		if err != nil && dialect == dialects[0] {
			s.find(unreadable, unreadable.reason+": "+err.Error(), text)
		}
	}
}

// parse returns the statements before the first error, because a shell runs those.
func parse(text string, dialect syntax.LangVariant) (stmts []*syntax.Stmt, err error) {
	failed := guard(func() {
		for stmt, e := range syntax.NewParser(syntax.Variant(dialect)).StmtsSeq(strings.NewReader(text)) {
			switch { // no break: after some errors the parser does not stop at one
			case e != nil && err == nil:
				err = e
			case err == nil && stmt != nil:
				stmts = append(stmts, stmt)
			}
		}
	})
	return stmts, cmp.Or(err, failed)
}

// guard turns a panic of the parser or of the expansion of words into an error.
func guard(do func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it cannot be analyzed: %v", r)
		}
	}()
	do()
	return nil
}

// count notes every name that the text may set. The value of a variable is
// certain only if there is one assignment and its name is nowhere else: read,
// for, printf -v and arithmetic set variables too.
func (s *script) count(stmts []*syntax.Stmt) {
	for _, stmt := range stmts {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.ParamExp:
				if n.Param != nil {
					s.changed[n.Param.Value]-- // reads it
				}
			case *syntax.Lit:
				s.changed[strings.TrimRight(n.Value, "+")]++
				if slices.Contains([]string{"eval", "source", ".", "read", "mapfile", "readarray", "getopts", "nameref", "IFS"}, n.Value) {
					s.changed[""]++
				}
			}
			return true
		})
	}
}

// node judges the statements below a node.
func (s *script) node(n syntax.Node, in input) {
	syntax.Walk(n, func(n syntax.Node) bool {
		stmt, ok := n.(*syntax.Stmt)
		if ok {
			s.uncertain(func() { s.stmt(stmt, in) })
		}
		return !ok
	})
}

// uncertain judges a part that may not run, or that cannot change this shell.
func (s *script) uncertain(judge func()) {
	s.maybe++
	judge()
	s.maybe--
}

func (s *script) stmt(stmt *syntax.Stmt, in input) {
	for _, r := range stmt.Redirs {
		if made, ok := s.redirect(r); ok {
			in = made
		}
	}
	if stmt.Background {
		s.maybe++
		defer func() { s.maybe-- }()
	}
	switch c := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		s.node(c, in)
		s.assign(c.Assigns, len(c.Args) > 0)
		if words := s.words(c.Args); len(words) > 0 {
			s.call(words, in)
		}
	case *syntax.DeclClause:
		s.node(c, in)
		s.assign(c.Args, false)
	case *syntax.BinaryCmd:
		s.binary(c, in)
	case *syntax.Subshell:
		dir := s.Dir
		s.node(c, in)
		s.Dir = dir
	case *syntax.Block:
		for _, stmt := range c.Stmts {
			s.stmt(stmt, in)
		}
	case *syntax.FuncDecl:
		s.function(c, in)
	case *syntax.ForClause:
		s.loop(c, in)
	case nil:
	default:
		s.node(c, in)
	}
}

func (s *script) binary(c *syntax.BinaryCmd, in input) {
	if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
		s.stmt(c.X, in)
		s.uncertain(func() { s.stmt(c.Y, in) })
		return
	}
	s.uncertain(func() {
		dir := s.Dir
		s.stmt(c.X, in)
		s.Dir = dir
		s.stmt(c.Y, input{text: s.output(c.X), own: true})
		s.Dir = dir
	})
}

// maxTurns is how many turns of a loop are judged, each with its own value.
const maxTurns = 20

// loop judges a loop, turn by turn if its words are few.
func (s *script) loop(c *syntax.ForClause, in input) {
	words, ok := c.Loop.(*syntax.WordIter)
	if !ok || c.Select || len(words.Items) == 0 || s.changed[words.Name.Value] > 1 || s.changed[""] > 0 {
		s.node(c, in)
		return
	}
	values := s.words(words.Items)
	if len(values) > maxTurns || s.left.words < 0 { // loops within loops
		s.node(c, in)
		return
	}
	s.node(words, in)
	name := words.Name.Value
	for _, value := range values {
		s.vars[name] = value
		s.uncertain(func() {
			for _, stmt := range c.Do {
				s.stmt(stmt, in)
			}
		})
	}
	delete(s.vars, name)
}

// function judges the body of a function where it is defined.
func (s *script) function(c *syntax.FuncDecl, in input) {
	if c.Name == nil || s.functions[c.Name.Value] {
		s.uncertain(func() { s.stmt(c.Body, in) })
		return
	}
	s.functions[c.Name.Value] = true
	defer delete(s.functions, c.Name.Value)
	if bomb(c) {
		s.find(forkBomb, forkBomb.reason, c.Name.Value+"()")
	}
	dir := s.Dir
	s.uncertain(func() { s.stmt(c.Body, in) })
	s.Dir = dir
}

// bomb reports whether a function starts itself in the background or in a pipe,
// so that nothing waits for the end of either.
func bomb(c *syntax.FuncDecl) (yes bool) {
	calls := func(n syntax.Node) (itself bool) {
		syntax.Walk(n, func(n syntax.Node) bool {
			call, ok := n.(*syntax.CallExpr)
			itself = itself || ok && len(call.Args) > 0 && call.Args[0].Lit() == c.Name.Value
			return true
		})
		return itself
	}
	syntax.Walk(c.Body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			yes = yes || n.Background && calls(n)
		case *syntax.BinaryCmd:
			yes = yes || (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && calls(n.X) && calls(n.Y)
		}
		return true
	})
	return yes
}

// assign notes variables. Variables for one command are not set in the shell.
func (s *script) assign(assigns []*syntax.Assign, forCommand bool) {
	for _, a := range assigns {
		if a.Name == nil || a.Naked {
			continue
		}
		value := string(unknown)
		if words := s.words([]*syntax.Word{a.Value}); a.Value == nil {
			value = ""
		} else if len(words) == 1 {
			value = words[0]
		}
		name := a.Name.Value
		if !forCommand && s.maybe == 0 && a.Index == nil && a.Array == nil && !a.Append && len(value) <= maxValue &&
			s.changed[name] <= 1 && s.changed[""] == 0 {
			s.vars[name] = value
		}
		if hooks(name) {
			s.find(hooked, hooked.reason+": "+name, name+"="+value)
		}
	}
}

// redirect judges what a redirection writes, and returns what it reads.
func (s *script) redirect(r *syntax.Redirect) (in input, reads bool) {
	s.node(r, input{})
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		return input{text: s.heredoc(r), own: true}, true
	}
	words := s.words([]*syntax.Word{r.Word})
	for _, target := range words {
		switch r.Op {
		case syntax.WordHdoc:
			return input{text: target, own: true}, true
		case syntax.RdrIn:
			s.files(">", []string{"<", target}, nil, []string{target})
			return input{text: string(unknown), own: strings.ContainsRune(target, unknown)}, true
		case syntax.DplIn, syntax.DplOut:
		default:
			s.files(">", []string{">", target}, []string{target}, nil)
		}
	}
	return input{}, false
}

// chdir follows cd. A folder that is not certain is not known.
func (s *script) chdir(args []string) {
	args = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return len(a) > 1 && a[0] == '-' })
	switch {
	case len(args) == 0:
		s.Dir = s.Home
	case strings.HasPrefix(args[0], string(unknown)) || args[0] == "-":
		s.Dir = ""
	case filepath.IsAbs(args[0]):
		s.Dir = filepath.Clean(args[0])
	case s.Dir != "":
		s.Dir = filepath.Join(s.Dir, args[0])
	}
}

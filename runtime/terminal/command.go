package terminal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/internal/process"
)

// ShellPolicy says when a command is given to a shell.
type ShellPolicy int

const (
	// ShellForLines runs a command without arguments through a shell if it is not
	// an executable and contains a space or shell syntax, because some agents
	// send a whole shell line. With arguments there is never a shell.
	ShellForLines ShellPolicy = iota
	// ShellNever runs only argument vectors.
	ShellNever
)

const shellSyntax = " \t\n|&;<>()$`\\\"'*?[]{}#~=!%"

// Command is exactly what runs for a Request, for the user to approve.
type Command struct {
	Path  string   // the executable
	Argv  []string // the argument vector, the command's name first
	Dir   string   // the working directory, links resolved
	Env   []string // NAME=value of the variables the request sets
	Shell bool     // Argv is a shell that interprets the request's command

	environ []string
}

// String returns the argument vector, quoted so that the arguments are distinct
// and nothing is invisible.
func (c *Command) String() string {
	words := make([]string, len(c.Argv))
	for i, arg := range c.Argv {
		words[i] = quote(arg)
	}
	return strings.Join(words, " ")
}

// quote quotes like a shell if that is enough, and with escapes if the word
// contains invisible characters.
func quote(word string) string {
	plainWord := word != ""
	for _, r := range word {
		switch {
		case r == utf8.RuneError || !unicode.IsPrint(r):
			escaped := strconv.QuoteToASCII(word)
			return "$'" + strings.NewReplacer(`\"`, `"`, "'", `\'`).Replace(escaped[1:len(escaped)-1]) + "'"
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-+=:,./@%^", r):
			plainWord = false
		}
	}
	if plainWord {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// maxShown bounds a text of the agent in an error, in bytes.
const maxShown = 200

// brief quotes a text of the agent for an error, short enough for the reason
// behind it to be read.
func brief(word string) string {
	return shorten(quote(word))
}

func shorten(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + "…"
}

// Command determines what a request would run, without starting anything.
func (m *Manager) Command(req Request) (*Command, error) {
	if err := check(req); err != nil {
		return nil, err
	}
	c := &Command{Argv: append([]string{req.Command}, req.Args...)}
	var err error
	if c.Dir, err = m.dir(req.Dir); err != nil {
		return nil, err
	}
	if c.Env, err = requested(req.Env); err != nil {
		return nil, err
	}
	c.environ = m.environ(c)
	c.Path, err = lookPath(req.Command, c)
	if err == nil {
		if batchFiles {
			err = batchSyntax(c)
		}
		return c, err
	}
	if m.opts.Shell == ShellForLines && len(req.Args) == 0 && strings.ContainsAny(req.Command, shellSyntax) {
		c.Shell = true
		c.Argv = shellArgv(req.Command)
		c.Path, err = lookPath(c.Argv[0], c)
	}
	return c, err
}

func check(req Request) error {
	if strings.TrimSpace(req.Command) == "" {
		return fmt.Errorf("%w: it is empty", ErrCommand)
	}
	for _, word := range append([]string{req.Command}, req.Args...) {
		if strings.IndexByte(word, 0) >= 0 {
			return fmt.Errorf("%w: %s contains NUL", ErrCommand, brief(word))
		}
	}
	return nil
}

func (m *Manager) dir(dir string) (string, error) {
	if w := m.opts.Workspace; w != nil {
		if dir == "" {
			dir = w.Roots()[0]
		}
		loc, err := w.ResolveDir(dir)
		if err != nil {
			return "", fmt.Errorf("working directory: %w", err)
		}
		return loc.Real, nil
	}
	if dir == "" {
		return os.Getwd()
	}
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("working directory %s: it must be absolute", brief(dir))
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	if err != nil {
		return "", fmt.Errorf("working directory %s: %w", brief(dir), plain(err))
	}
	return dir, nil
}

// lookPath finds the executable with the PATH that the command will have. An
// entry of PATH that is not absolute would depend on the working directory,
// which an agent can write to, so it is skipped.
func lookPath(name string, c *Command) (string, error) {
	if strings.ContainsRune(name, '/') || filepath.IsAbs(name) {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.Dir, path)
		}
		return path, executable(path, name)
	}
	for _, dir := range filepath.SplitList(process.Lookup(c.environ, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, suffix := range suffixes {
			if path := filepath.Join(dir, name+suffix); executable(path, name) == nil {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("command %s: %w", brief(name), exec.ErrNotFound)
}

func executable(path, name string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
	case info.IsDir():
		err = errors.New("is a directory")
	case !mayRun(info.Mode()):
		err = fs.ErrPermission
	}
	if err != nil {
		return fmt.Errorf("command %s: %w", brief(name), plain(err))
	}
	return nil
}

// plain strips the operation and the name, which the caller adds in its own
// words.
func plain(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

package search

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os/exec"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
)

// ripgrep is Lines with ripgrep. It reports whether the search is over: if ripgrep fails
// before it finds anything, for example because it is too old, somebody else has to search.
func (q Query) ripgrep(ctx context.Context, program string, pattern *regexp.Regexp, yield func(Match, error) bool) (over bool) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(running, program, "--no-config", "--no-messages", "--color=never", "--no-heading",
		"--with-filename", "--line-number", "--null", "--crlf", "--sort=path",
		"--hidden", "--glob=!.git", "--no-require-git", "--no-ignore-dot", "--max-filesize="+strconv.Itoa(maxFile),
		"--regexp="+forRipgrep(pattern), "--", q.Root)
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return false
	}
	found := false
	var of string // the file of the last line, and whether its lines are left out
	hidden := false
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadBytes('\n')
		m, ok := q.parse(line)
		if ok && q.wants(m.Path) {
			found = true
			if m.Path != of || of == "" {
				of, hidden = m.Path, q.hides(m.Path)
			}
			if !hidden && !yield(m, nil) {
				stop()
				cmd.Wait()
				return true
			}
		}
		if err != nil {
			break
		}
	}
	err = cmd.Wait()
	if ctx.Err() != nil {
		yield(Match{}, context.Cause(ctx))
		return true
	}
	var exit *exec.ExitError
	nothing := errors.As(err, &exit) && exit.ExitCode() == 1
	return found || err == nil || nothing
}

// forRipgrep writes a pattern in the syntax that ripgrep and Go share. Classes such as \w are
// spelled out, because they are ASCII in Go and Unicode in ripgrep. ^ and $ become anchors of
// lines, because ripgrep sees whole files.
func forRipgrep(pattern *regexp.Regexp) string {
	tree, err := syntax.Parse(pattern.String(), syntax.Perl&^syntax.OneLine)
	if err != nil {
		return pattern.String()
	}
	return asciiWords.Replace(tree.String())
}

// asciiWords makes the boundaries of words ASCII. An escaped backslash keeps what follows it.
var asciiWords = strings.NewReplacer(`\\`, `\\`, `\b`, `(?-u:\b)`, `\B`, `(?-u:\B)`)

// parse reads a line of output: the path, a zero byte, the number, a colon and the text.
func (q Query) parse(line []byte) (Match, bool) {
	path, rest, ok := bytes.Cut(line, []byte{0})
	number, text, also := bytes.Cut(rest, []byte{':'})
	n, err := strconv.Atoi(string(number))
	if !ok || !also || err != nil {
		return Match{}, false
	}
	return Match{q.below(string(path)), n, shorten(bytes.TrimRight(text, "\r\n"))}, true
}

package chat

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/term"
)

// errInterrupted says that the user pressed Ctrl-C.
var errInterrupted = errors.New("interrupted")

// reaction is less time than anybody needs to answer a question. Keys that are typed
// earlier were not meant for it: somebody who types while the agent works must not allow
// anything by chance.
const reaction = 300 * time.Millisecond

// input reads what the user types. On a terminal a line can be edited, completed and
// recalled; otherwise it is read as it is. It reads nothing before the first prompt or
// answer, and is safe for concurrent use.
type input struct {
	in       *os.File
	out      io.Writer
	history  *history
	complete func() []string // the slash commands

	mu    sync.Mutex // held while a prompt or an answer is read
	keys  *keys
	plain *bufio.Reader  // of keys, if in is not a terminal
	line  *term.Terminal // of keys; nil before the first line and after a line that was cut off
}

func newInput(in *os.File, out io.Writer, h *history, complete func() []string) *input {
	return &input{in: in, out: out, history: h, complete: complete}
}

// begin locks the input for somebody who reads until ctx ends.
func (i *input) begin(ctx context.Context) (end func()) {
	i.mu.Lock()
	if i.keys == nil {
		i.keys = &keys{keyboard: newKeyboard(i.in)}
		if !isTerminal(i.in) {
			i.plain = bufio.NewReader(i.keys)
		}
	}
	i.keys.ctx = ctx
	return i.mu.Unlock
}

// prompt reads a prompt, which may have several lines: a line that ends with a backslash
// goes on, and so does pasted text.
func (i *input) prompt(ctx context.Context) (string, error) {
	defer i.begin(ctx)()
	var lines []string
	for mark := "> "; ; mark = ". " {
		line, pasted, err := i.read(mark, i.history)
		if err != nil {
			return "", err
		}
		line, goesOn := strings.CutSuffix(line, `\`)
		if lines = append(lines, line); !pasted && !goesOn {
			return strings.Join(lines, "\n"), nil
		}
	}
}

// maxMark is how long the choices may be on one line, in bytes.
const maxMark = 72

// answer reads the number of a choice. Text that was typed before the question stays
// for the next prompt.
func (i *input) answer(ctx context.Context, choices []string) (int, error) {
	defer i.begin(ctx)()
	if i.plain != nil {
		return 0, errors.New("there is nobody to ask")
	}
	state, err := term.MakeRaw(int(i.in.Fd())) // a line that was begun arrives now, too
	if err != nil {
		return 0, err
	}
	defer term.Restore(int(i.in.Fd()), state)
	select {
	case <-time.After(reaction):
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	before, line := i.keys.take(), i.line
	i.line = nil // it may have more of that
	defer func() { i.keys.back(before); i.line = line }()
	var numbered []string
	for n, choice := range choices {
		numbered = append(numbered, fmt.Sprintf("%d %s", n+1, choice))
	}
	mark := strings.Join(numbered, ", ") + "? "
	if len(mark) > maxMark {
		fmt.Fprint(i.out, "  "+strings.Join(numbered, "\r\n  ")+"\r\n")
		mark = fmt.Sprintf("1 to %d? ", len(choices))
	}
	for {
		text, pasted, err := i.read(mark, &history{})
		if err != nil {
			return 0, err
		}
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err == nil && !pasted && n > 0 && n <= len(choices) {
			return n - 1, nil
		}
	}
}

// read reads a line. Pasted says that more of what was pasted follows.
func (i *input) read(mark string, h term.History) (line string, pasted bool, err error) {
	if i.plain != nil {
		line, err = i.plain.ReadString('\n')
		if line != "" {
			err = nil
		}
		return strings.TrimRight(line, "\r\n"), false, err
	}
	fd := int(i.in.Fd())
	state, err := term.MakeRaw(fd)
	if err != nil {
		return "", false, err
	}
	defer term.Restore(fd, state)
	if i.line == nil {
		i.line = term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{i.keys, echo{i.out}}, "")
		i.line.AutoCompleteCallback = i.tab
	}
	if width, height, err := term.GetSize(fd); err == nil {
		i.line.SetSize(width, height)
	}
	i.line.SetPrompt(mark)
	i.line.History = h
	i.line.SetBracketedPasteMode(true)
	defer i.line.SetBracketedPasteMode(false)
	line, err = i.line.ReadLine()
	switch {
	case errors.Is(err, term.ErrPasteIndicator):
		return line, true, nil
	case err != nil:
		i.line = nil // it still has what was typed
		io.WriteString(i.out, "\r\n")
		if err == io.EOF && i.keys.last == ctrlC {
			err = errInterrupted
		}
	}
	return line, false, err
}

// echo shows what is typed, or pasted: control characters only as the line editor uses them.
type echo struct{ to io.Writer }

// Write implements io.Writer.
func (e echo) Write(b []byte) (int, error) {
	_, err := e.to.Write(bytes.Map(func(r rune) rune {
		if unicode.IsControl(r) && !strings.ContainsRune("\x1b\r\n\t", r) {
			return -1
		}
		return r
	}, b))
	return len(b), err
}

// tab completes a slash command. If several fit, it lists them.
func (i *input) tab(line string, at int, key rune) (string, int, bool) {
	if key != '\t' || at != len(line) || !strings.HasPrefix(line, "/") || strings.Contains(line, " ") {
		return "", 0, false
	}
	common, fit := completion(i.complete(), line[1:])
	switch {
	case len(fit) == 0:
		return "", 0, false
	case len(fit) == 1:
		common += " "
	case common == line[1:]:
		io.WriteString(i.line, "/"+strings.Join(fit, "  /")+"\n")
	}
	return "/" + common, len(common) + 1, true
}

// completion returns the names with a prefix, and what they have in common.
func completion(names []string, prefix string) (common string, fit []string) {
	for _, name := range names {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		if fit = append(fit, name); len(fit) == 1 {
			common = name
		}
		for !strings.HasPrefix(name, common) {
			common = common[:len(common)-1]
		}
	}
	return common, fit
}

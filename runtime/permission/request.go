package permission

import (
	"encoding/json"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
)

// Request is what rules are compared with: what is known about the tool call an
// agent asks permission for.
type Request struct {
	Agent   string // name of the agent in the user's configuration
	Session acp.SessionID
	Kind    acp.ToolKind
	Paths   []string // every path it names
	Command []string // the words of a plain command; nil when a shell could read more into it

	words []string // every word of the command, whatever the shell makes of it
}

// Describe reads a Request out of a tool call: kind, paths (locations, diffs and
// the usual members of rawInput), and the command of rawInput. The title is for
// people, an agent may write there what it likes.
func Describe(agent string, session acp.SessionID, call *acp.ToolCallUpdate) Request {
	q := Request{Agent: agent, Session: session, Kind: call.Kind.Or("")}
	for _, l := range call.Locations {
		q.Paths = append(q.Paths, l.Path)
	}
	for _, c := range call.Content {
		if d, ok := c.(*acp.Diff); ok {
			q.Paths = append(q.Paths, d.Path)
		}
	}
	var input map[string]json.RawMessage
	if json.Unmarshal(call.RawInput, &input) != nil {
		return q
	}
	for _, member := range []string{"path", "file_path", "filePath", "filepath", "abs_path", "absPath", "file", "filename"} {
		var p string
		if json.Unmarshal(input[member], &p) == nil && p != "" {
			q.Paths = append(q.Paths, p)
		}
	}
	q.readCommand(input)
	return q
}

// readCommand understands a shell line, an argument vector, and a name with
// arguments. Anything else leaves the command unknown.
func (q *Request) readCommand(input map[string]json.RawMessage) {
	var line string
	var argv, args []string
	switch {
	case json.Unmarshal(input["command"], &argv) == nil && len(argv) > 0:
		q.Command, q.words = argv, argv
		if isShell(argv[0]) {
			q.Command = nil
			q.words = roughWords(strings.Join(argv, " "))
		}
	case json.Unmarshal(input["command"], &line) == nil && line != "":
		q.words = roughWords(line)
		q.Command = plainWords(line)
		if raw, ok := input["args"]; ok {
			if json.Unmarshal(raw, &args) != nil || isShell(line) {
				q.Command = nil
				q.words = append(q.words, roughWords(string(raw))...)
				return
			}
			q.Command = append([]string{line}, args...)
			q.words = q.Command
		}
	}
}

func isShell(program string) bool {
	switch program[strings.LastIndexByte(program, '/')+1:] {
	case "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "busybox", "env", "sudo", "doas", "xargs", "nohup", "cmd.exe", "cmd", "pwsh", "powershell":
		return true
	}
	return false
}

// plainWords splits a line that a shell takes for one simple command whose words
// stand there literally; nil for every other line.
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

// roughWords takes everything apart that a shell might.
func roughWords(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n|&;<>(){}[]$`'\"\\,", r) })
}

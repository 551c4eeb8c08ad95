package chat

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/aymanbagabas/go-udiff"

	"github.com/hermes-nvim/hermes/acp"
)

// resultLines is how much is shown of the result of a call. Changes are shown whole, because
// the user allows them.
const resultLines = 6

// The looks of a text, as a terminal knows them.
const (
	dim   = "2"
	bold  = "1"
	red   = "31"
	green = "32"
)

// view prints what an agent shows. Answers and everything else can go to different places.
// It is safe for concurrent use.
type view struct {
	answers, others io.Writer
	color           bool

	mu    sync.Mutex
	block string // the kind of text that is being printed
	ends  bool   // the text ends with the end of a line
	names []string
	usage string                      // of the turn, as last reported
	seen  map[acp.ToolCallID][]string // contents that were printed, of calls that go on

	titles map[acp.ToolCallID]string // of calls that go on
	call   acp.ToolCallID            // whose title was printed last
}

// show prints an update.
func (v *view) show(u acp.SessionUpdate) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch u := u.(type) {
	case *acp.AgentMessageChunk:
		v.stream(v.answers, "answer", text(u.Content), "")
	case *acp.AgentThoughtChunk:
		v.stream(v.others, "thought", text(u.Content), dim)
	case *acp.ToolCall:
		if v.titles == nil {
			v.titles = map[acp.ToolCallID]string{}
		}
		v.titles[u.ToolCallID], v.call = u.Title, ""
		v.title(u.ToolCallID)
		v.contents(u.ToolCallID, u.Content, u.Status.V)
	case *acp.ToolCallUpdate:
		v.contents(u.ToolCallID, u.Content, u.Status.V)
	case *acp.Plan:
		for _, entry := range u.Entries {
			mark := map[acp.PlanEntryStatus]string{acp.PlanEntryStatusCompleted: "x", acp.PlanEntryStatusInProgress: "-"}[entry.Status]
			v.line(fmt.Sprintf("  [%1s] %s", mark, OneLine(entry.Content)), "")
		}
	case *acp.Notice:
		v.line("! "+OneLine(u.Title), red)
	case *acp.CompactionUpdate:
		v.line(OneLine(fmt.Sprintf("! compaction: %s %s", u.Status, u.Error.V)), dim)
	case *acp.AvailableCommandsUpdate:
		v.names = nil
		for _, c := range u.AvailableCommands {
			v.names = append(v.names, OneLine(c.Name))
		}
	case *acp.UsageUpdate:
		v.usage = "  " + used(u)
	case *acp.UserMessageChunk: // of a session that is loaded
		v.indented("> ", text(u.Content), -1, func(string) string { return bold })
	}
}

// title prints the title of a call, unless it is that of the last one.
func (v *view) title(id acp.ToolCallID) {
	if title, known := v.titles[id]; known && v.call != id {
		v.line("* "+OneLine(title), bold)
		v.call = id
	}
}

// used says what the last request of a turn had, and what the session cost so far. A window
// of the size 0 is one that the agent does not know.
func used(u *acp.UsageUpdate) string {
	text := fmt.Sprint(u.Used)
	if u.Size > 0 {
		text += fmt.Sprintf(" of %d", u.Size)
	}
	text += " tokens"
	var also struct {
		Cached int `json:"hermes.cached"`
	}
	if json.Unmarshal(u.Meta, &also) == nil && also.Cached > 0 {
		text += fmt.Sprintf(", %d of them cached", also.Cached)
	}
	if u.Cost != nil {
		text += fmt.Sprintf(", %.4f %s in all", u.Cost.Amount, OneLine(u.Cost.Currency))
	}
	return text
}

// contents prints what a tool call has, besides what was printed of it before.
func (v *view) contents(id acp.ToolCallID, list []acp.ToolCallContent, status acp.ToolCallStatus) {
	look := dim
	if status == acp.ToolCallStatusFailed {
		look = red
	}
	before := v.seen[id]
	if v.seen == nil {
		v.seen = map[acp.ToolCallID][]string{}
	}
	if status == acp.ToolCallStatusFailed || status == acp.ToolCallStatusCompleted {
		delete(v.seen, id)
		defer delete(v.titles, id)
	} else if list != nil {
		v.seen[id] = nil
		for _, c := range list {
			v.seen[id] = append(v.seen[id], key(c))
		}
	}
	for at, c := range list {
		if at < len(before) && before[at] == key(c) {
			continue
		}
		if _, terminal := c.(*acp.Terminal); !terminal {
			v.title(id)
		}
		switch c := c.(type) {
		case *acp.Content:
			v.indented("  ", text(c.Content), resultLines, func(string) string { return look })
		case *acp.Diff:
			changes := udiff.Unified("", "", c.OldText.V, c.NewText)
			_, changes, _ = strings.Cut(changes, "\n") // the two lines with the names
			_, changes, _ = strings.Cut(changes, "\n")
			v.indented("  ", changes, -1, func(line string) string {
				return map[string]string{"+": green, "-": red, "@": dim}[line[:min(1, len(line))]]
			})
		}
	}
}

// key is the same for contents that print the same.
func key(c acp.ToolCallContent) string {
	b := acp.AppendToolCallContent(nil, c)
	sum := sha256.Sum256(b)
	return string(sum[:])
}

// question prints what is asked, besides the changes, which the call has shown before.
func (v *view) question(p *acp.RequestPermissionRequest) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.title(p.ToolCall.ToolCallID)
	changes := false
	for _, c := range p.ToolCall.Content {
		switch c := c.(type) {
		case *acp.Content:
			v.indented("? ", text(c.Content), -1, func(string) string { return bold })
		case *acp.Diff:
			changes = true
		}
	}
	if !changes {
		v.indented("  ", wanted(p.ToolCall.RawInput), -1, func(string) string { return "" })
	}
}

// wanted is the whole command of a call, of which the title shows the beginning, or the
// arguments of another tool.
func wanted(input json.RawMessage) string {
	var run struct {
		Command string
		Args    []string
	}
	if json.Unmarshal(input, &run) == nil && run.Command != "" {
		if last := len(run.Args) - 1; last > 0 && slices.Contains([]string{"-c", "/c"}, run.Args[last-1]) {
			return run.Args[last] // the line that a shell runs
		}
		return strings.Join(append([]string{run.Command}, run.Args...), " ")
	}
	return string(input)
}

// indented prints the first lines of a text, or all of them, behind a mark.
func (v *view) indented(mark, text string, most int, look func(line string) string) {
	if text == "" {
		return
	}
	lines := strings.Split(strings.TrimRight(Clean(text), "\n"), "\n")
	more := 0
	if most >= 0 && len(lines) > most {
		lines, more = lines[:most], len(lines)-most
	}
	for _, line := range lines {
		v.line(mark+line, look(line))
	}
	if more > 0 {
		v.line(fmt.Sprintf("%s(%d more lines)", mark, more), dim)
	}
}

// stream prints a piece of a text, which others may follow.
func (v *view) stream(to io.Writer, block, text, look string) {
	if text == "" {
		return
	}
	if v.block != block {
		v.rest()
		v.block = block
	}
	io.WriteString(to, v.painted(Clean(text), look))
	v.ends = strings.HasSuffix(text, "\n")
}

// line prints a clean text on lines of its own.
func (v *view) line(text, look string) {
	v.rest()
	io.WriteString(v.others, v.painted(text, look)+"\n")
}

// say prints a text of the chat itself.
func (v *view) say(text, look string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.line(Clean(text), look)
}

// rest ends the text that is being printed.
func (v *view) rest() {
	if v.block != "" && !v.ends {
		to := v.others
		if v.block == "answer" {
			to = v.answers
		}
		io.WriteString(to, "\n")
	}
	v.block, v.ends = "", false
}

// end ends a turn.
func (v *view) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.rest()
	if v.usage != "" {
		v.line(v.usage, dim)
		v.usage = ""
	}
}

// commands are the names of the slash commands.
func (v *view) commands() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Concat(v.names, []string{"help", "mode", "model", "quit"})
}

func (v *view) painted(text, look string) string {
	if !v.color || look == "" {
		return text
	}
	return "\x1b[" + look + "m" + text + "\x1b[0m"
}

func text(c acp.ContentBlock) string {
	switch c := c.(type) {
	case *acp.TextContent:
		return c.Text
	case *acp.ImageContent:
		return "[" + c.MimeType + "]"
	}
	return ""
}

// Package compact replaces the beginning of a conversation that has become too long by a
// summary, which the model itself writes.
//
// The system prompt and the newest messages stay. The user's earlier messages are
// repeated, because a summary must not change what was asked for. A call and its results
// are never parted.
package compact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// bytesPerToken is low for English, code and JSON, so that estimates are high.
const bytesPerToken = 3

const (
	imageTokens = 1500
	pieceBytes  = 2000 // of a message that the summary is made from
)

// Tokens estimates how many tokens messages have.
func Tokens(messages []model.Message) int {
	bytes, images := 0, 0
	for _, m := range messages {
		bytes += len(m.Text) + len(m.Reasoning) + 12
		images += len(m.Images)
		for _, c := range m.Calls {
			bytes += len(c.Name) + len(c.Arguments) + 30
		}
	}
	return bytes/bytesPerToken + images*imageTokens
}

// Compactor makes conversations shorter.
type Compactor struct {
	Model  model.Model
	Name   string // of the model
	Cheap  string // a model that is asked first; empty: none
	Window int    // the size of the context window in tokens
	// Begin is called when the model begins to write a summary. It may be nil.
	Begin func()
	// Used hears what each request for a summary used. Nil ignores it.
	Used func(model.Usage)
}

// ErrShort says that a summary would not make the conversation shorter.
var ErrShort = errors.New("a summary would not be shorter")

// errEmpty says that the model had nothing to say.
var errEmpty = errors.New("the model gave an empty summary")

// Compact returns a shorter history and the summary in it, or an error. It does not change
// the old history.
func (c Compactor) Compact(ctx context.Context, history []model.Message) (shorter []model.Message, summary string, err error) {
	head := 0
	if len(history) > 0 && history[0].Role == model.System {
		head = 1
	}
	from := c.tail(history, head)
	middle := history[head:from]
	if len(middle) == 0 || len(middle) == 1 && isSummary(middle[0]) {
		return nil, "", ErrShort
	}
	if c.Begin != nil {
		c.Begin()
	}
	summary, err = c.summarize(ctx, middle)
	if err != nil {
		return nil, "", fmt.Errorf("summarize the conversation: %w", err)
	}
	text := intro
	if said := words(middle); said != "" {
		text += "\n\n<user_said>\n" + model.Bound(said, c.bytes(8)) + "\n</user_said>"
	}
	text += "\n\n<summary>\n" + model.Bound(summary, c.bytes(8)) + "\n</summary>"
	shorter = slices.Concat(history[:head], []model.Message{{Role: model.User, Text: text}}, c.cut(history[from:]))
	if Tokens(shorter) >= Tokens(history) {
		return nil, "", ErrShort
	}
	return model.Repair(shorter), summary, nil
}

// bytes is how many a part of the context window has.
func (c Compactor) bytes(part int) int { return c.Window * bytesPerToken / part }

// tail returns where the messages begin that stay: as many as fit in a quarter of the
// window, at least those since the last answer.
func (c Compactor) tail(history []model.Message, head int) int {
	from := len(history)
	for i := len(history) - 1; i >= head; i-- {
		if history[i].Role == model.Tool {
			continue // its call has to stay, too
		}
		if Tokens(history[i:]) > c.Window/4 && from < len(history) {
			break
		}
		from = i
	}
	return from
}

// cut shortens results if the messages that stay are too long.
func (c Compactor) cut(tail []model.Message) []model.Message {
	results := 0
	for _, m := range tail {
		if m.Role == model.Tool {
			results++
		}
	}
	if results == 0 || Tokens(tail) <= c.Window/4 {
		return tail
	}
	tail = slices.Clone(tail)
	for i := range tail {
		if tail[i].Role == model.Tool {
			tail[i].Text = model.Bound(tail[i].Text, c.bytes(4)/results)
		}
	}
	return tail
}

const intro = "The beginning of this conversation was replaced by a summary. It is for reference: what it calls done need not be done again."

func isSummary(m model.Message) bool {
	return m.Role == model.User && strings.HasPrefix(m.Text, intro)
}

// words repeats the user's messages.
func words(middle []model.Message) string {
	var said []string
	for _, m := range middle {
		switch {
		case isSummary(m):
			_, earlier, _ := strings.Cut(m.Text, "<user_said>\n")
			earlier, _, found := strings.Cut(earlier, "\n</user_said>")
			if found {
				said = append(said, earlier)
			}
		case m.Role == model.User:
			said = append(said, model.Bound(m.Text, pieceBytes))
		}
	}
	return strings.Join(said, "\n---\n")
}

const task = `Summarize the work of a coding agent for its successor, who sees nothing else of it: what the user wants, what was done and in which files, what was decided and learned and why, what failed, and what is left to do. Use names and paths as they are. Add nothing of your own. Answer with the summary only, in at most 400 words.`

// summarize asks the cheap model, and the one of the conversation if that fails.
func (c Compactor) summarize(ctx context.Context, middle []model.Message) (string, error) {
	if c.Cheap != "" && c.Cheap != c.Name {
		other := c
		other.Name, other.Cheap = c.Cheap, ""
		if summary, err := other.summarize(ctx, middle); err == nil || ctx.Err() != nil {
			return summary, err
		}
	}
	reply, err := c.Model.Complete(ctx, model.Request{Model: c.Name, Messages: []model.Message{
		{Role: model.System, Text: task},
		{Role: model.User, Text: model.Bound(transcript(middle), c.bytes(2))},
	}}, func(model.Delta) {})
	if c.Used != nil {
		c.Used(reply.Usage)
	}
	if err != nil {
		return "", err
	}
	if text := strings.TrimSpace(reply.Message.Text); text != "" {
		return text, nil
	}
	return "", errEmpty
}

// transcript is a conversation as a text. Results are the least of what has to be known
// later, and the most of it by size.
func transcript(messages []model.Message) string {
	var b strings.Builder
	for _, m := range messages {
		most := pieceBytes
		if isSummary(m) {
			most = len(m.Text)
		}
		if m.Text != "" {
			fmt.Fprintf(&b, "[%s]\n%s\n\n", m.Role, model.Bound(m.Text, most))
		}
		for _, call := range m.Calls {
			fmt.Fprintf(&b, "[call of %s]\n%s\n\n", call.Name, model.Bound(call.Arguments, pieceBytes))
		}
	}
	return b.String()
}

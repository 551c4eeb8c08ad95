package demoagent

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/acp"
)

// tourFile is the file that the tour edits, in the folder of the session.
const tourFile = "hermes-demo.md"

// commands are the prompts that start with a slash; play gets the rest of them.
var commands = []struct {
	name, hint, description string
	play                    func(t *turn, ctx context.Context, rest string) error
}{
	{"say", "text", "Repeats a text", func(t *turn, ctx context.Context, rest string) error {
		return t.say(ctx, "%s", rest)
	}},
	{"slow", "number", "Counts, five numbers a second", func(t *turn, ctx context.Context, rest string) error {
		n, err := strconv.Atoi(rest)
		if err != nil || n < 1 || n > 10_000 {
			return t.say(ctx, "I count to 10000 at most, not to %q.", rest)
		}
		chunks := make([]string, n)
		for i := range chunks {
			chunks[i] = fmt.Sprintf("%d ", i+1)
		}
		return t.stream(ctx, 200*time.Millisecond, chunks)
	}},
	{"edit", "file", "Adds a line to a file of the project", func(t *turn, ctx context.Context, rest string) error {
		return t.edit(ctx, rest, addVisit)
	}},
	{"run", "command", "Runs a command; blanks separate its arguments", func(t *turn, ctx context.Context, rest string) error {
		if words := strings.Fields(rest); len(words) > 0 {
			return t.run(ctx, words[0], words[1:]...)
		}
		return t.say(ctx, "I need a command to run.")
	}},
	{"fail", "", "Answers with an error", func(t *turn, ctx context.Context, _ string) error {
		return errors.Join(t.say(ctx, "This will fail. "), errors.New("failed as asked"))
	}},
	{"crash", "", "Ends the agent in the middle of the turn", func(t *turn, ctx context.Context, _ string) error {
		err := t.say(ctx, "These are my last words. ")
		t.exit(3)
		return err
	}},
}

// play does what the prompt asks for.
func (t *turn) play(ctx context.Context, prompt string) error {
	word, rest, _ := strings.Cut(strings.TrimSpace(prompt), " ")
	name, isCommand := strings.CutPrefix(word, "/")
	if !isCommand {
		return t.tour(ctx)
	}
	for _, c := range commands {
		if c.name == name {
			return c.play(t, ctx, strings.TrimSpace(rest))
		}
	}
	return t.say(ctx, "I do not know /%s.", name)
}

// tour shows what an agent asks of a client in a usual turn.
func (t *turn) tour(ctx context.Context) error {
	plan := []string{"Write this visit down", "Count the lines"}
	thought := acp.NewAgentThoughtChunk(acp.NewTextContent("A file and a command will show it all."))
	for _, step := range []func() error{
		func() error { return t.update(ctx, thought) },
		func() error { return t.say(ctx, "Hello! I keep a list of visits in %s. ", tourFile) },
		func() error { return t.plan(ctx, 0, plan...) },
		func() error { return t.edit(ctx, tourFile, addVisit) },
		func() error { return t.plan(ctx, 1, plan...) },
		func() error { return t.run(ctx, "wc", "-l", tourFile) },
		func() error { return t.plan(ctx, 2, plan...) },
		func() error { return t.say(ctx, "That was the tour; ask again for another line.") },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// addVisit adds a line with the next number.
func addVisit(old string) string {
	if old == "" {
		old = "# Visits of the demo agent\n\n"
	} else if !strings.HasSuffix(old, "\n") {
		old += "\n"
	}
	return fmt.Sprintf("%s- visit %d\n", old, strings.Count(old, "- visit ")+1)
}

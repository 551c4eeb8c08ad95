package live

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// step is one thing that an agent is asked to do. It returns nil if the agent did it, a
// skip if it could not be exercised, and otherwise what is wrong.
type step struct {
	id, title    string
	tier         Tier
	requirements []string
	session      bool // it needs one
	greeting     bool // it is about initialize, in a process of its own
	do           func(s *stage, ctx context.Context) error
}

// The methods that no agent knows.
const (
	unknownMethod = "hermes/lint/unknown"
	customMethod  = "_hermes.dev/lint/ping"
)

// quiet is how long the line has to stay silent, to see that nothing comes.
const quiet = 300 * time.Millisecond

// steps are all steps of the rules, in the order in which they are played.
func (s *stage) steps() []*step {
	list := stepsIn(s.Lint.RuleSet, handshakes, sessions, prompts)
	for i, text := range s.Prompts[1:] {
		list = append(list, &step{
			id: fmt.Sprintf("prompt-%d", i+2), title: "A prompt of yours ends with a stop reason.", tier: Mandatory, requirements: []string{"ACP-PROMPT-001", "ACP-PROMPT-002"}, session: true,
			do: func(s *stage, ctx context.Context) error { return s.oneTurn(ctx, text) },
		})
	}
	list = append(list, stepsIn(s.Lint.RuleSet, permissions, cancels, kept, robust, ends)...)
	return slices.DeleteFunc(list, func(one *step) bool {
		return len(s.Steps) > 0 && !slices.Contains(s.Steps, one.id) || slices.Contains(s.Without, one.id)
	})
}

// oneTurn plays one turn in the main session.
func (s *stage) oneTurn(ctx context.Context, prompt string) error {
	d, one, err := s.session(ctx)
	if err != nil {
		return err
	}
	s.note, err = s.prompt(ctx, d, one, text(prompt), nil)
	return err
}

// Package testagent is an agent for tests that plays a scenario: one step per
// line, each a verb and its arguments. The text of a prompt is the scenario of a
// turn. A whole program can also play one (see Main); its steps write bytes as
// they are, and most of them also work in a turn.
//
// In a turn, $SESSION stands for the session. In a program, $ID stands for the
// id of the last request that was read and $PID for the id of the process. A step that fails answers the prompt
// with an error, or ends the program with status 99.
package testagent

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"strconv"
	"strings"
)

// step is what a verb does with the rest of its line.
type step func(ctx context.Context, p *player, rest string) error

// verbs is filled by init, because some steps run other steps.
var verbs map[string]step

func init() {
	verbs = maps.Clone(programVerbs)
	for name, do := range turnVerbs {
		verbs[name] = func(ctx context.Context, p *player, rest string) error {
			if p.turn == nil {
				return fmt.Errorf("%s works only in a turn", name)
			}
			return do(p.turn, ctx, rest)
		}
	}
}

// player does the steps of one scenario.
type player struct {
	out   io.Writer     // nil if the connection is not made of bytes
	in    *bufio.Reader // of a program
	id    string        // of the last request that it read
	steps []string      // in the text of that request
	turn  *turn         // nil in a program
}

func (p *player) do(ctx context.Context, line string) error {
	name, rest, _ := strings.Cut(line, " ")
	if name == "" {
		return nil
	}
	do, ok := verbs[name]
	if !ok {
		return fmt.Errorf("no step %q", name)
	}
	if p.turn == nil {
		rest = strings.NewReplacer("$ID", p.id, "$PID", strconv.Itoa(os.Getpid())).Replace(rest)
	} else {
		rest = strings.ReplaceAll(rest, "$SESSION", string(p.turn.id))
	}
	return do(ctx, p, rest)
}

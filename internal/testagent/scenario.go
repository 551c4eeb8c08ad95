// Package testagent is an agent for tests that plays a scenario: one step per
// line, each a verb and its arguments. The text of a prompt is the scenario of a
// turn. A whole program can also play one (see Main); its steps write bytes as
// they are, and most of them also work in a turn.
//
// In a turn, $SESSION stands for the session. In a program, these stand for more
// than themselves:
//
//	$ID      the id of the last request that was read
//	$HEARD   the requests that TALK has answered, inside a JSON string
//	$ANSWER  the last answer to a REQUEST, inside a JSON string
//	$PID     the id of the process, and $PPID that of its parent
//	$x100    100 times the letter x, or as often as it says
//
// A step that fails answers the prompt with an error, or ends the program with
// status 99.
package testagent

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
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

	answers map[string]string // by method, as ANSWER says
	heard   []string          // methods and params of the requests that TALK answered
	asked   int               // with REQUEST
	answer  string            // to the last of them
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
		rest = p.expand(rest)
	} else {
		rest = strings.ReplaceAll(rest, "$SESSION", string(p.turn.id))
	}
	return do(ctx, p, rest)
}

var manyLetters = regexp.MustCompile(`\$x\d+`)

// expand returns the arguments of a program's step.
func (p *player) expand(rest string) string {
	if !strings.Contains(rest, "$") {
		return rest
	}
	inside := func(text string) string {
		quoted, _ := json.Marshal(text) // strings always encode
		return string(quoted[1 : len(quoted)-1])
	}
	rest = manyLetters.ReplaceAllStringFunc(rest, func(name string) string {
		n, _ := strconv.Atoi(name[2:]) // digits
		return strings.Repeat("x", n)
	})
	return strings.NewReplacer(
		"$ID", p.id, "$HEARD", inside(strings.Join(p.heard, "\n")), "$ANSWER", inside(p.answer),
		"$PID", strconv.Itoa(os.Getpid()), "$PPID", strconv.Itoa(os.Getppid()),
	).Replace(rest)
}

package serve

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/ask"
	"github.com/hermes-nvim/hermes/plugin/setup"
	"github.com/hermes-nvim/hermes/plugin/turns"
	"github.com/hermes-nvim/hermes/runtime/permission"
	"github.com/hermes-nvim/hermes/runtime/terminal"
)

// errNotAllowed is why a command does not run.
var errNotAllowed = errors.New("the user did not allow it")

// approvals are the commands that the user has allowed in one turn.
type approvals struct {
	turn *turns.Turn    // nil: none
	once map[digest]int // how many times each may still run
	all  bool           // the user has allowed every command of the turn
}

// digest stands for everything that decides what a command does.
type digest [sha256.Size]byte

// agentMark is a variable that claude-code-acp adds to every command after it
// has asked without it. It changes nothing but how programs name their caller.
const agentMark = "CLAUDECODE=1"

func digestOf(c *terminal.Command) digest {
	env := slices.DeleteFunc(slices.Clone(c.Env), func(v string) bool { return v == agentMark })
	return sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %t", c.Path, c.Argv, c.Dir, env, c.Shell))
}

// approval is what the user approves by allowing an agent's question. It is
// settled before the question is shown.
type approval struct {
	turn    *turns.Turn
	command *digest // nil: none
}

// shown works out which command a question of the agent shows. Only the
// question itself is used: earlier updates can change the call while the user
// reads.
func (s *Session) shown(ctx context.Context, call acp.ToolCallUpdate) approval {
	s.mu.Lock()
	a := approval{turn: s.approved.turn}
	s.mu.Unlock()
	known, _ := s.calls.Merge(&call)
	if s.client.RunAccess() != setup.RunAsked || known.Kind.Or("") != acp.ToolKindExecute || s.openRoots() != nil {
		return a
	}
	req := commandShown(call.RawInput)
	if req == nil {
		return a
	}
	req.SessionID = s.ID()
	c, err := s.client.services.Command(ctx, req)
	if err != nil || !c.Shell && len(req.Args) == 0 && strings.ContainsAny(req.Command, " \t\r\n") {
		return a // it would not run, or is not the line that it looks like
	}
	d := digestOf(c)
	a.command = &d
	return a
}

// commandShown reads the command in the raw input of a tool call, nil when there
// is none or when it can be read in two ways.
func commandShown(rawInput json.RawMessage) *acp.CreateTerminalRequest {
	var input map[string]json.RawMessage
	if json.Unmarshal(rawInput, &input) != nil {
		return nil
	}
	req := new(acp.CreateTerminalRequest)
	var vector []string
	switch {
	case json.Unmarshal(input["command"], &req.Command) == nil:
		if present(input["args"]) && json.Unmarshal(input["args"], &req.Args) != nil {
			return nil
		}
	case json.Unmarshal(input["command"], &vector) == nil && len(vector) > 0 && !present(input["args"]):
		req.Command, req.Args = vector[0], vector[1:]
	}
	if req.Command == "" || present(input["env"]) && json.Unmarshal(input["env"], &req.Env) != nil {
		return nil
	}
	for name, value := range input {
		if !permission.NamesFolder(name) || !present(value) {
			continue
		}
		var dir string
		if json.Unmarshal(value, &dir) != nil || req.Cwd.OK && req.Cwd.V != dir {
			return nil
		}
		req.Cwd = acp.Some(dir)
	}
	return req
}

func present(member json.RawMessage) bool { return len(member) > 0 && string(member) != "null" }

// approve lets the command of a run once, in the turn in which it was shown.
func (s *Session) approve(a approval) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.command == nil || a.turn != s.approved.turn {
		return
	}
	if s.approved.once == nil {
		s.approved.once = make(map[digest]int)
	}
	s.approved.once[*a.command]++
}

// spend reports whether the user has allowed the command, and uses that up.
func (s *Session) spend(c *terminal.Command) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.approved.all {
		return true
	}
	d := digestOf(c)
	if s.approved.once[d] == 0 {
		return false
	}
	s.approved.once[d]--
	return true
}

// approveCommand asks the user about a command, showing exactly what would run,
// unless a rule decides or the user has allowed this very command before.
func (s *Session) approveCommand(ctx context.Context, cmd *terminal.Command) error {
	if s.client.RunAccess() != setup.RunAsked {
		return nil
	}
	s.mu.Lock()
	during := s.approved.turn
	s.mu.Unlock()
	p, err := s.commandQuestion(cmd, during != nil)
	if err != nil {
		return err
	}
	k := s.client
	var id acp.PermissionOptionID
	if choice, ruled := k.ruled(s, p); ruled {
		if choice != nil {
			id = choice.OptionID
		} else {
			id = ask.OptionReject
		}
	} else if s.spend(cmd) {
		return nil
	} else if id, err = k.askItself(ctx, p); err != nil {
		return err
	}
	switch id {
	case ask.OptionAllow:
		return nil
	case ask.OptionTurn:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.approved.all = s.approved.all || s.approved.turn == during
		return nil
	case "":
		return ask.ErrNotAnswered
	}
	return errNotAllowed
}

// commandQuestion asks whether cmd may run. Every further command of the turn
// can be allowed with it while one runs.
func (s *Session) commandQuestion(cmd *terminal.Command, turn bool) (*acp.RequestPermissionRequest, error) {
	title := "Run "
	if cmd.Shell {
		title = "Run through a shell: "
	}
	input := struct {
		Command string   `json:"command"`
		Program string   `json:"program"`
		Cwd     string   `json:"cwd"`
		Shell   bool     `json:"shell"`
		Env     []string `json:"env,omitempty"`
	}{cmd.String(), cmd.Path, cmd.Dir, cmd.Shell, cmd.Env}
	raw, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	options := []acp.PermissionOption{{OptionID: ask.OptionAllow, Name: "Run it", Kind: acp.PermissionOptionKindAllowOnce}}
	if turn {
		options = append(options, acp.PermissionOption{
			OptionID: ask.OptionTurn, Name: "Run this and every further command of this turn", Kind: acp.PermissionOptionKindAllowAlways,
		})
	}
	options = append(options, acp.PermissionOption{OptionID: ask.OptionReject, Name: "Do not run it", Kind: acp.PermissionOptionKindRejectOnce})
	return ask.Own(s.ID(), acp.ToolCallUpdate{
		Title: acp.Some(title + cmd.String()), Kind: acp.Some(acp.ToolKindExecute), RawInput: raw,
	}, options...), nil
}

package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/pathname"
	"github.com/hermes-nvim/hermes/runtime/agentkit"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/approval"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/process"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/tool"
)

var errDenied = errors.New("the user denied it; do not try to do the same in another way")

// Hides reports whether Read would ask about a file.
func (s *session) Hides(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	shown := slices.ContainsFunc(s.shown, func(place string) bool { return pathname.Within(place, path) })
	return !shown && s.gate.Secret(s.env.Cwd, path) != ""
}

// Read asks before the model gets the text of a file that holds secrets.
func (s *session) Read(ctx context.Context, call *acp.ToolCallUpdate, path string) error {
	why := s.gate.Secret(s.env.Cwd, path)
	call.Content = []acp.ToolCallContent{acp.NewContent(acp.NewTextContent(why))}
	all, err := s.ask(ctx, call, "Allow it for the session")
	if all {
		s.mu.Lock()
		s.shown = append(s.shown, path)
		s.mu.Unlock()
	}
	return err
}

// Edit asks before a file is changed, unless the mode accepts edits and the file is not a
// special one.
func (s *session) Edit(ctx context.Context, call *acp.ToolCallUpdate, path string) error {
	switch s.mode() {
	case modePlan:
		return fmt.Errorf("%s was not changed: the mode is plan only; describe what you would change", path)
	case modeAcceptEdits:
		if approval.Protected(s.env.Cwd, path) == "" && !s.gate.Owns(path) {
			return nil
		}
	}
	all, err := s.ask(ctx, call, "Accept all edits of this session")
	if all {
		s.setMode(modeAcceptEdits)
	}
	return err
}

// Command asks before a dangerous command runs.
func (s *session) Command(ctx context.Context, call *acp.ToolCallUpdate, command string, reach process.Reach) error {
	if s.mode() == modePlan {
		return errors.New("the command did not run: the mode is plan only; describe what you would do")
	}
	return s.gate.Check(ctx, command, s.env.Cwd, reach, func(ctx context.Context, q approval.Question) (approval.Answer, error) {
		asked := *call
		asked.Content = []acp.ToolCallContent{acp.NewContent(acp.NewTextContent(approval.Verdict{Findings: q.Findings}.Reason()))}
		options := []acp.PermissionOption{
			{OptionID: acp.PermissionOptionID(approval.Once), Name: "Allow", Kind: acp.PermissionOptionKindAllowOnce},
			{OptionID: acp.PermissionOptionID(approval.Session), Name: "Allow this command for the session", Kind: acp.PermissionOptionKindAllowAlways},
		}
		if s.agent.opts.Approval.Keep != nil {
			options = append(options, acp.PermissionOption{OptionID: acp.PermissionOptionID(approval.Always), Name: "Always allow this command in this folder", Kind: acp.PermissionOptionKindAllowAlways})
		}
		options = append(options, acp.PermissionOption{OptionID: acp.PermissionOptionID(approval.Refused), Name: "Reject", Kind: acp.PermissionOptionKindRejectOnce})
		chosen, err := s.client.Ask(ctx, &asked, options...)
		return approval.Answer(chosen.OptionID), err
	})
}

// Effect asks before a command reaches further than the project.
func (s *session) Effect(ctx context.Context, call *acp.ToolCallUpdate, e process.Effect) (always bool, err error) {
	if s.gate.AllowsEffect(e.Scopes) {
		return true, nil
	}
	options := []acp.PermissionOption{
		{OptionID: acp.PermissionOptionID(approval.Once), Name: "Allow for this command: " + e.Scope(), Kind: acp.PermissionOptionKindAllowOnce},
		{OptionID: acp.PermissionOptionID(approval.Session), Name: "Allow for the session: " + e.Scope(), Kind: acp.PermissionOptionKindAllowAlways},
	}
	if e.Why == "" && s.gate.KeepsEffect(e.Scopes) {
		options = append(options, acp.PermissionOption{OptionID: acp.PermissionOptionID(approval.Always), Name: "Always allow: " + e.Scope(), Kind: acp.PermissionOptionKindAllowAlways})
	}
	options = append(options, acp.PermissionOption{OptionID: acp.PermissionOptionID(approval.Refused), Name: "Reject", Kind: acp.PermissionOptionKindRejectOnce})
	chosen, err := s.client.Ask(ctx, call, options...)
	switch answer := approval.Answer(chosen.OptionID); {
	case errors.Is(err, rpc.ErrSessionCancelled):
		return false, errors.New("the user denied it")
	case err != nil:
		return false, fmt.Errorf("nobody could be asked: %w", err)
	case answer == approval.Always:
		if err := s.gate.AlwaysAllowEffect(e.Scopes); err != nil {
			return false, fmt.Errorf("the answer could not be kept: %w", err)
		}
		return true, nil
	case answer == approval.Once, answer == approval.Session:
		return answer == approval.Session, nil
	}
	return false, errors.New("the user denied it")
}

// Use asks before a tool of an MCP server runs: nobody here knows what it does. That it only
// reads is a claim of its server. Who accepts edits without a question accepts the claim, too;
// otherwise the first question about the server can settle it.
func (s *session) Use(ctx context.Context, call *acp.ToolCallUpdate, f tool.Foreign) error {
	mode := s.mode()
	if mode == modePlan && !f.Reads {
		return fmt.Errorf("%s was not used: the mode is plan only; describe what you would do", f.Name)
	}
	trusted, key, always := s.trusted, f.Name, "Allow this tool for the session"
	if f.Reads {
		trusted, key, always = s.readers, f.Server, fmt.Sprintf("Allow all tools of %s that only read, for the session", f.Server)
	}
	s.mu.Lock()
	known := trusted[key]
	s.mu.Unlock()
	if known || f.Allowed || f.Reads && mode == modeAcceptEdits {
		return nil
	}
	if f.Reads {
		call.Content = append(call.Content, acp.NewContent(acp.NewTextContent(fmt.Sprintf("The server %s says that this tool only reads.", f.Server))))
	}
	if f.Remedy != "" {
		call.Content = append(call.Content, acp.NewContent(acp.NewTextContent(f.Remedy)))
	}
	all, err := s.ask(ctx, call, always)
	if all {
		s.mu.Lock()
		trusted[key] = true
		s.mu.Unlock()
	}
	return err
}

// ask asks the user about a call, or about all such calls in the words of always. The errors are
// for the model to read.
func (s *session) ask(ctx context.Context, call *acp.ToolCallUpdate, always string) (all bool, err error) {
	all, err = agentkit.Permit(ctx, s.client, call, always)
	switch {
	case err == nil:
		return all, nil
	case errors.Is(err, agentkit.ErrRejected), errors.Is(err, rpc.ErrSessionCancelled):
		return false, errDenied
	}
	return false, fmt.Errorf("nobody could be asked, so it was not done: %w", err)
}

package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/hermes-nvim/hermes/acp"
)

// The answers to a question, and the ids of their options.
const (
	allowOnce    acp.PermissionOptionID = "once"
	allowSession acp.PermissionOptionID = "session"
	deny         acp.PermissionOptionID = "deny"
)

var errDenied = errors.New("the user denied it; do not try to do the same in another way")

// Edit asks before a file is changed, unless the mode accepts edits.
func (s *session) Edit(ctx context.Context, call *acp.ToolCallUpdate, path string) error {
	switch s.mode() {
	case modePlan:
		return fmt.Errorf("%s was not changed: the mode is plan only; describe what you would change", path)
	case modeAcceptEdits:
		return nil
	}
	answer, err := s.ask(ctx, call, "Accept all edits of this session")
	if answer == allowSession {
		s.setMode(modeAcceptEdits)
	}
	return err
}

// Command asks before a command runs.
func (s *session) Command(ctx context.Context, call *acp.ToolCallUpdate, command string) error {
	if s.mode() == modePlan {
		return errors.New("the command did not run: the mode is plan only; describe what you would do")
	}
	s.mu.Lock()
	allowed := s.commands[command]
	s.mu.Unlock()
	if allowed {
		return nil
	}
	answer, err := s.ask(ctx, call, "Allow this command for the session")
	if answer == allowSession {
		s.mu.Lock()
		s.commands[command] = true
		s.mu.Unlock()
	}
	return err
}

// ask asks the user about a call. Whatever is not a permission is a denial: an error, a turn
// that is cancelled, an option that was not offered.
func (s *session) ask(ctx context.Context, call *acp.ToolCallUpdate, always string) (acp.PermissionOptionID, error) {
	chosen, err := s.client.Ask(ctx, call,
		acp.PermissionOption{OptionID: allowOnce, Name: "Allow", Kind: acp.PermissionOptionKindAllowOnce},
		acp.PermissionOption{OptionID: allowSession, Name: always, Kind: acp.PermissionOptionKindAllowAlways},
		acp.PermissionOption{OptionID: deny, Name: "Deny", Kind: acp.PermissionOptionKindRejectOnce})
	switch {
	case err != nil:
		return deny, fmt.Errorf("nobody could be asked, so it was not done: %w", err)
	case chosen.OptionID == allowOnce, chosen.OptionID == allowSession:
		return chosen.OptionID, nil
	}
	return deny, errDenied
}

package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/hermes-nvim/hermes/acp"
)

// sessions are the steps that open sessions and look at them.
var sessions = []*step{
	{id: "session-new", title: "session/new opens a session.", tier: Mandatory, requirements: []string{"ACP-SESSION-001"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			if err != nil {
				return err
			}
			d.main, d.failed = s.open(ctx, d, acp.MethodSessionNew, s.fresh())
			return d.failed
		}},
	{id: "login", title: "An agent that wants a login says which there are.", tier: Advisory, requirements: []string{"ACP-AUTH-005"},
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			switch {
			case err != nil:
				return err
			case s.login == "":
				return skip("no login was wanted")
			case len(d.hello.AuthMethods) == 0:
				return errors.New("the agent wants a login, and initialize names none")
			}
			return nil
		}},
	{id: "session-two", title: "Two sessions have different ids.", tier: Mandatory, requirements: []string{"ACP-SESSION-002"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, one, err := s.session(ctx)
			if err != nil {
				return err
			}
			two, err := s.open(ctx, d, acp.MethodSessionNew, s.fresh())
			if err == nil && two.id == one.id {
				err = fmt.Errorf("both are %s", quoted(one.id))
			}
			return err
		}},
	{id: "session-directories", title: "A session can have more folders.", tier: Capability, requirements: []string{"ACP-ADDDIRS-001"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, _, err := s.offering(ctx, "additionalDirectories")
			if err != nil {
				return err
			}
			params := s.fresh()
			params["additionalDirectories"] = []string{filepath.Dir(s.Workspace)}
			_, err = s.open(ctx, d, acp.MethodSessionNew, params)
			return err
		}},
	{id: "session-list", title: "session/list lists sessions.", tier: Capability, requirements: []string{"ACP-LIST-001"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, _, err := s.offering(ctx, "list")
			if err != nil {
				return err
			}
			n, cursor := 0, ""
			for page := range maxPages {
				params := object{}
				if cursor != "" {
					params["cursor"] = cursor
				}
				ids, next, err := s.list(ctx, d, params)
				if n += len(ids); err != nil {
					return err
				}
				if cursor = next; cursor == "" {
					s.note = fmt.Sprintf("sessions: %d, pages: %d", n, page+1)
					return nil
				}
			}
			s.note = fmt.Sprintf("more than %d pages", maxPages)
			return nil
		}},
	{id: "session-list-folder", title: "A folder without sessions has an empty list.", tier: Capability, requirements: []string{"ACP-LIST-002"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, _, err := s.offering(ctx, "list")
			if err != nil {
				return err
			}
			ids, _, err := s.list(ctx, d, object{"cwd": filepath.Join(s.Workspace, "nobody", "was", "here")})
			if err == nil && len(ids) > 0 {
				err = fmt.Errorf("%d sessions are in a folder that does not exist", len(ids))
			}
			return err
		}},
	{id: "session-mode", title: "The mode of a session can be changed.", tier: Capability, requirements: []string{"ACP-MODES-001", "ACP-MODES-002"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, one, err := s.session(ctx)
			if err != nil {
				return err
			}
			if one.Modes == nil || len(one.Modes.AvailableModes) == 0 {
				return skip("session/new offers no modes")
			}
			current, known, other := one.Modes.CurrentModeID, false, ""
			for _, m := range one.Modes.AvailableModes {
				if m.ID == current {
					known = true
				} else {
					other = m.ID
				}
			}
			switch {
			case !known:
				return fmt.Errorf("the current mode %s is not one of those that are available", quoted(current))
			case other == "":
				s.note = "there is only one mode"
				return nil
			}
			for _, mode := range []string{other, current} {
				if _, err = d.call(ctx, acp.MethodSessionSetMode, object{"sessionId": one.id, "modeId": mode}); err != nil {
					return err
				}
			}
			return nil
		}},
	{id: "session-config", title: "A config option can be changed, and the answer has all options.", tier: Capability, requirements: []string{"ACP-CONFIG-001", "ACP-CONFIG-002"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, one, err := s.session(ctx)
			if err != nil {
				return err
			}
			for _, o := range one.ConfigOptions {
				if other := o.other(); other != nil {
					if err := s.set(ctx, d, one, o, other); err != nil {
						return err
					}
					s.note = "changed " + quoted(o.ID)
					return s.set(ctx, d, one, o, o.CurrentValue)
				}
			}
			return skip("session/new offers no config option with two values")
		}},
}

// offering returns the main session if the agent has a capability of sessions.
func (s *stage) offering(ctx context.Context, capability string) (*driven, *session, error) {
	d, err := s.ready(ctx)
	if err != nil {
		return nil, nil, err
	}
	if !d.hello.can(capability) {
		return nil, nil, skip("sessionCapabilities." + capability + " is not offered")
	}
	return s.session(ctx)
}

// maxPages bounds the pages of a list.
const maxPages = 20

func (s *stage) list(ctx context.Context, d *driven, params object) (ids []string, next string, err error) {
	result, err := d.call(ctx, acp.MethodSessionList, params)
	if err != nil {
		return nil, "", err
	}
	var r struct {
		Sessions   *[]struct{ SessionID string }
		NextCursor string
	}
	if err := json.Unmarshal(result, &r); err != nil || r.Sessions == nil {
		return nil, "", errors.New("the answer to session/list has no list of sessions")
	}
	for _, one := range *r.Sessions {
		ids = append(ids, one.SessionID)
	}
	return ids, r.NextCursor, nil
}

// other returns a value that the option does not have now, nil if there is none.
func (o *option) other() json.RawMessage {
	if o.Type == "boolean" {
		if string(o.CurrentValue) == "true" {
			return json.RawMessage("false")
		}
		return json.RawMessage("true")
	}
	for _, v := range o.Options {
		for _, inner := range append(v.Options, struct{ Value json.RawMessage }{v.Value}) {
			if inner.Value != nil && !bytes.Equal(inner.Value, o.CurrentValue) {
				return inner.Value
			}
		}
	}
	return nil
}

// set changes an option. The answer has to have the value, and all options of before
// that are not of the same group of choices.
func (s *stage) set(ctx context.Context, d *driven, one *session, o option, value json.RawMessage) error {
	params := object{"sessionId": one.id, "configId": o.ID, "value": value}
	if o.Type == "boolean" {
		params["type"] = "boolean"
	}
	result, err := d.call(ctx, acp.MethodSessionSetConfigOption, params)
	if err != nil {
		return err
	}
	var r struct{ ConfigOptions []option }
	json.Unmarshal(result, &r)
	for _, now := range r.ConfigOptions {
		if now.ID == o.ID {
			if !bytes.Equal(now.CurrentValue, value) {
				return fmt.Errorf("%s was set to %s, and the answer says %s", quoted(o.ID), value, quoted(string(now.CurrentValue)))
			}
			return nil
		}
	}
	return fmt.Errorf("the answer does not have the option %s that was set", quoted(o.ID))
}

package agent

import (
	"context"
	"slices"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/store"
)

// The modes say what needs permission.
const (
	modeAsk         acp.SessionModeID = "ask"
	modeAcceptEdits acp.SessionModeID = "accept-edits"
	modePlan        acp.SessionModeID = "plan"
)

var modes = []acp.SessionMode{
	{ID: modeAsk, Name: "Ask", Description: acp.Some("Asks before it changes a file or runs a dangerous command")},
	{ID: modeAcceptEdits, Name: "Accept edits", Description: acp.Some("Changes files without asking; asks before it runs a dangerous command")},
	{ID: modePlan, Name: "Plan only", Description: acp.Some("Reads and plans; changes nothing and runs nothing")},
}

// The settings. Modes are one, too, because some clients know only one of the two.
const (
	optionMode  acp.SessionConfigID = "mode"
	optionModel acp.SessionConfigID = "model"
)

// SetSessionMode changes what needs permission, from the next call on.
func (a *agent) SetSessionMode(ctx context.Context, p *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	s, err := a.sessions.Find(p.SessionID)
	if err != nil {
		return nil, err
	}
	if !isMode(p.ModeID) {
		return nil, acp.Errorf(acp.ErrorCodeInvalidParams, "session/set_mode: there is no mode %q", p.ModeID)
	}
	s.change(func(i *store.Info) { i.Mode = string(p.ModeID) })
	_, options := s.settings()
	rpc.AfterResponse(ctx, func() { s.tell(acp.NewConfigOptionUpdate(options)) })
	return &acp.SetSessionModeResponse{}, nil
}

// SetSessionConfigOption changes a setting of a session.
func (a *agent) SetSessionConfigOption(ctx context.Context, p *acp.SetSessionConfigOptionRequest) (*acp.SetSessionConfigOptionResponse, error) {
	s, err := a.sessions.Find(p.SessionID)
	if err != nil {
		return nil, err
	}
	value, ok := p.Variant.(*acp.SetSessionConfigOptionRequestValueID)
	switch {
	case !ok:
		return nil, acp.Errorf(acp.ErrorCodeInvalidParams, "session/set_config_option: %q is not a switch", p.ConfigID)
	case p.ConfigID == optionMode && isMode(acp.SessionModeID(value.Value)):
		s.change(func(i *store.Info) { i.Mode = string(value.Value) })
		rpc.AfterResponse(ctx, func() { s.tell(acp.NewCurrentModeUpdate(acp.SessionModeID(value.Value))) })
	case p.ConfigID == optionModel && slices.Contains(a.opts.Models.Names(s.info().Model), string(value.Value)):
		s.change(func(i *store.Info) { i.Model = string(value.Value) })
	default:
		return nil, acp.Errorf(acp.ErrorCodeInvalidParams, "session/set_config_option: %q has no value %q", p.ConfigID, value.Value)
	}
	_, options := s.settings()
	return &acp.SetSessionConfigOptionResponse{ConfigOptions: options}, nil
}

func isMode(id acp.SessionModeID) bool {
	return slices.ContainsFunc(modes, func(m acp.SessionMode) bool { return m.ID == id })
}

func (s *session) mode() acp.SessionModeID { return acp.SessionModeID(s.info().Mode) }

// setMode changes the mode from inside a turn.
func (s *session) setMode(id acp.SessionModeID) {
	s.change(func(i *store.Info) { i.Mode = string(id) })
	_, options := s.settings()
	s.tell(acp.NewCurrentModeUpdate(id))
	s.tell(acp.NewConfigOptionUpdate(options))
}

// settings returns the settings of the session and what they can be.
func (s *session) settings() (*acp.SessionModeState, []acp.SessionConfigOption) {
	info := s.info()
	var choices acp.SessionConfigSelectOptionsUngrouped
	for _, m := range modes {
		choices = append(choices, acp.SessionConfigSelectOption{Value: acp.SessionConfigValueID(m.ID), Name: m.Name, Description: m.Description})
	}
	options := []acp.SessionConfigOption{{
		ID: optionMode, Name: "Mode", Description: acp.Some("What needs your permission"), Category: acp.Some(acp.SessionConfigOptionCategoryMode),
		Variant: acp.NewSessionConfigSelect(acp.SessionConfigValueID(info.Mode), choices),
	}}
	if info.Model != "" {
		var names acp.SessionConfigSelectOptionsUngrouped
		for _, name := range s.agent.opts.Models.Names(info.Model) {
			names = append(names, acp.SessionConfigSelectOption{Value: acp.SessionConfigValueID(name), Name: name})
		}
		options = append(options, acp.SessionConfigOption{
			ID: optionModel, Name: "Model", Category: acp.Some(acp.SessionConfigOptionCategoryModel),
			Variant: acp.NewSessionConfigSelect(acp.SessionConfigValueID(info.Model), names),
		})
	}
	return &acp.SessionModeState{CurrentModeID: acp.SessionModeID(info.Mode), AvailableModes: modes}, options
}

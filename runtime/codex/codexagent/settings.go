package codexagent

import (
	"context"
	"slices"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/codex"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

const (
	optionMode   acp.SessionConfigID = "mode"
	optionModel  acp.SessionConfigID = "model"
	optionEffort acp.SessionConfigID = "reasoning_effort"
)

var modeNames = map[codex.Profile]struct{ name, description string }{
	codex.ProfilePlan:         {"Plan", "Reads files and works out a plan with you. Choose another mode to have it carried out."},
	codex.ProfileAsk:          {"Ask", "Reads files. Asks before anything else."},
	codex.ProfileAuto:         {"Auto", "Edits files and runs commands in the project. Asks before it leaves the project or uses the network."},
	codex.ProfileUnrestricted: {"Unrestricted", "Does everything without asking, also outside the project and over the network."},
}

// profile is the current mode.
func (s *session) profile() codex.Profile {
	if p := s.Settings().Profile; slices.Contains(codex.Profiles, p) {
		return p
	}
	return codex.ProfileAuto
}

// profiles are the modes that there are.
func (a *agent) profiles(ctx context.Context) []codex.Profile {
	list, err := a.codex.Profiles(ctx)
	if err != nil { // codex has just died; the next turn starts it again
		return codex.Profiles
	}
	return list
}

func (s *session) modes(ctx context.Context) *acp.SessionModeState {
	m := acp.NewSessionModeState(acp.SessionModeID(s.profile()), nil)
	for _, p := range s.agent.profiles(ctx) {
		mode := acp.NewSessionMode(acp.SessionModeID(p), modeNames[p].name)
		mode.Description = acp.Some(modeNames[p].description)
		m.AvailableModes = append(m.AvailableModes, *mode)
	}
	return m
}

// options are the settings as clients show them. Models that codex cannot list are
// left out.
func (s *session) options(ctx context.Context) []acp.SessionConfigOption {
	set := s.Settings()
	var modes, models, efforts []acp.SessionConfigSelectOption
	for _, p := range s.agent.profiles(ctx) {
		modes = append(modes, choice(string(p), modeNames[p].name, modeNames[p].description))
	}
	effort := set.Effort
	for _, m := range s.agent.modelList(ctx) {
		if !m.Hidden || m.Model == set.Model {
			models = append(models, choice(m.Model, m.DisplayName, m.Description))
		}
		if m.Model != set.Model {
			continue
		}
		if effort == "" {
			effort = string(m.DefaultReasoningEffort)
		}
		for _, e := range m.SupportedReasoningEfforts {
			efforts = append(efforts, choice(string(e.ReasoningEffort), string(e.ReasoningEffort), e.Description))
		}
	}
	if set.Model != "" && !offers(models, set.Model) {
		models = append(models, choice(set.Model, set.Model, ""))
	}
	out := []acp.SessionConfigOption{selection(optionMode, "Mode", acp.SessionConfigOptionCategoryMode, string(s.profile()), modes)}
	if set.Model != "" {
		out = append(out, selection(optionModel, "Model", acp.SessionConfigOptionCategoryModel, set.Model, models))
	}
	if offers(efforts, effort) {
		out = append(out, selection(optionEffort, "Reasoning effort", acp.SessionConfigOptionCategoryThoughtLevel, effort, efforts))
	}
	return out
}

func choice(value, name, description string) acp.SessionConfigSelectOption {
	o := acp.NewSessionConfigSelectOption(acp.SessionConfigValueID(value), name)
	if description != "" {
		o.Description = acp.Some(description)
	}
	return *o
}

func selection(id acp.SessionConfigID, name string, category acp.SessionConfigOptionCategory, current string, options []acp.SessionConfigSelectOption) acp.SessionConfigOption {
	o := acp.NewSessionConfigOption(id, name, acp.NewSessionConfigSelect(acp.SessionConfigValueID(current), acp.SessionConfigSelectOptionsUngrouped(options)))
	o.Category = acp.Some(category)
	return *o
}

func offers(options []acp.SessionConfigSelectOption, value string) bool {
	return slices.ContainsFunc(options, func(o acp.SessionConfigSelectOption) bool { return string(o.Value) == value })
}

// modelList asks codex once.
func (a *agent) modelList(ctx context.Context) []appserver.Model {
	a.mu.Lock()
	models := a.models
	a.mu.Unlock()
	if models != nil {
		return models
	}
	server, err := a.codex.Agent(ctx)
	if err != nil {
		return nil
	}
	r, err := server.ModelList(ctx, &appserver.ModelListParams{})
	if err != nil {
		a.opts.Log.Warn("codex", "models", err)
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.models = r.Data
	return r.Data
}

// SetSessionMode sets what codex may do, from the next turn on.
func (a *agent) SetSessionMode(ctx context.Context, p *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	s, err := a.sessions.Find(p.SessionID)
	if err != nil {
		return nil, err
	}
	profile := codex.Profile(p.ModeID)
	if !slices.Contains(a.profiles(ctx), profile) {
		return nil, acp.Errorf(acp.ErrorCodeInvalidParams, "session/set_mode: no mode %q", p.ModeID)
	}
	s.configure(func(c *codex.Settings) { c.Profile = profile })
	s.afterwards(ctx, func(ctx context.Context) acp.SessionUpdate { return acp.NewConfigOptionUpdate(s.options(ctx)) })
	return &acp.SetSessionModeResponse{}, nil
}

// configure changes settings, not while the client is told of them.
func (s *session) configure(change func(*codex.Settings)) {
	s.telling.Lock()
	defer s.telling.Unlock()
	s.Configure(change)
}

// afterwards tells the client what the settings are behind the answer to a request. The
// answer to the next one never overtakes it.
func (s *session) afterwards(ctx context.Context, what func(context.Context) acp.SessionUpdate) {
	rpc.AfterResponse(ctx, func() {
		s.telling.Lock()
		defer s.telling.Unlock()
		ctx := context.WithoutCancel(ctx)
		_ = s.to().Update(ctx, what(ctx))
	})
}

// SetSessionConfigOption sets the mode, the model or the effort, from the next turn
// on.
func (a *agent) SetSessionConfigOption(ctx context.Context, p *acp.SetSessionConfigOptionRequest) (*acp.SetSessionConfigOptionResponse, error) {
	s, err := a.sessions.Find(p.SessionID)
	if err != nil {
		return nil, err
	}
	value, _ := p.Variant.(*acp.SetSessionConfigOptionRequestValueID)
	found := false
	for _, o := range s.options(ctx) {
		sel, _ := o.Variant.(*acp.SessionConfigSelect)
		list, _ := sel.Options.(acp.SessionConfigSelectOptionsUngrouped)
		found = found || o.ID == p.ConfigID && value != nil && offers(list, string(value.Value))
	}
	if !found {
		return nil, acp.Errorf(acp.ErrorCodeInvalidParams, "session/set_config_option: no such value of %q", p.ConfigID)
	}
	s.configure(func(c *codex.Settings) {
		switch p.ConfigID {
		case optionMode:
			c.Profile = codex.Profile(value.Value)
		case optionModel:
			c.Model, c.Effort = string(value.Value), ""
		case optionEffort:
			c.Effort = string(value.Value)
		}
	})
	if p.ConfigID == optionMode {
		s.afterwards(ctx, func(context.Context) acp.SessionUpdate {
			return acp.NewCurrentModeUpdate(acp.SessionModeID(s.profile()))
		})
	}
	return &acp.SetSessionConfigOptionResponse{ConfigOptions: s.options(ctx)}, nil
}

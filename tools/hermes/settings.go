package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
)

// settings are what the user wants to set before the prompt.
type settings struct {
	mode, model string
	options     list // ID=VALUE
}

// offer is what an agent offers to set in a session.
type offer struct {
	modes   *acp.SessionModeState
	options []acp.SessionConfigOption
	extra   acp.Extra // of the answer that opened the session
}

func (s *settings) check() error {
	for _, o := range s.options {
		if id, _, ok := strings.Cut(o, "="); !ok || id == "" {
			return usageError("--option %q is not ID=VALUE", o)
		}
	}
	return nil
}

// apply sets what the user wants. If the agent does not offer something, the error
// names what it offers.
func (s *settings) apply(ctx context.Context, agent acp.Agent, id acp.SessionID, can *offer) error {
	if s.mode != "" {
		if err := s.applyMode(ctx, agent, id, can); err != nil {
			return err
		}
	}
	if s.model != "" {
		if err := s.applyModel(ctx, agent, id, can); err != nil {
			return err
		}
	}
	for _, o := range s.options {
		name, value, _ := strings.Cut(o, "=")
		if err := can.set(ctx, agent, id, "--option "+o, name, value); err != nil {
			return err
		}
	}
	return nil
}

// applyMode sets the mode by its config option, because modes will go, or as a mode of
// the session if the agent offers only those.
func (s *settings) applyMode(ctx context.Context, agent acp.Agent, id acp.SessionID, can *offer) error {
	for _, o := range can.options {
		if v, ok := o.Variant.(*acp.SessionConfigSelect); ok && o.Category.V == acp.SessionConfigOptionCategoryMode && slices.Contains(choices(v.Options), s.mode) {
			return can.set(ctx, agent, id, "--mode "+s.mode, string(o.ID), s.mode)
		}
	}
	var known []string
	if can.modes != nil {
		for _, m := range can.modes.AvailableModes {
			if string(m.ID) == s.mode {
				_, err := agent.SetSessionMode(ctx, &acp.SetSessionModeRequest{SessionID: id, ModeID: m.ID})
				return err
			}
			known = append(known, string(m.ID))
		}
	}
	return notOffered("--mode "+s.mode, "modes", known)
}

// applyModel sets the model in one of the two ways that agents offer: by a config
// option, or as a model of the session, which is not in any schema. If an agent
// offers both, it uses the option, unless only the session's models have the model.
func (s *settings) applyModel(ctx context.Context, agent acp.Agent, id acp.SessionID, can *offer) error {
	flag := "--model " + s.model
	var models struct {
		AvailableModels []struct{ ModelID string }
	}
	if raw, ok := can.extra.Get("models"); ok && json.Unmarshal(raw, &models) != nil {
		models.AvailableModels = nil
	}
	var known []string
	for _, m := range models.AvailableModels {
		known = append(known, m.ModelID)
	}
	for _, o := range can.options {
		v, ok := o.Variant.(*acp.SessionConfigSelect)
		if !ok || o.Category.V != acp.SessionConfigOptionCategoryModel {
			continue
		}
		values := choices(v.Options)
		if slices.Contains(values, s.model) {
			return can.set(ctx, agent, id, flag, string(o.ID), s.model)
		}
		if !slices.Contains(known, s.model) {
			known = values
		}
		break
	}
	if !slices.Contains(known, s.model) {
		return notOffered(flag, "models", known)
	}
	return agent.Conn.Call(ctx, "session/set_model", &setModel{id, s.model}, new(json.RawMessage))
}

// setModel is the params of session/set_model.
type setModel struct {
	SessionID acp.SessionID `json:"sessionId"`
	ModelID   string        `json:"modelId"`
}

func (m *setModel) AppendJSON(b []byte) []byte {
	text, _ := json.Marshal(m) // strings always encode
	return append(b, text...)
}

// set sets a config option. The answer says what the agent then offers.
func (can *offer) set(ctx context.Context, agent acp.Agent, id acp.SessionID, flag, name, value string) error {
	var known []string
	for _, o := range can.options {
		if string(o.ID) != name {
			known = append(known, string(o.ID))
			continue
		}
		req := &acp.SetSessionConfigOptionRequest{SessionID: id, ConfigID: o.ID}
		switch v := o.Variant.(type) {
		case *acp.SessionConfigSelect:
			values := choices(v.Options)
			if !slices.Contains(values, value) {
				return notOffered(flag, "values", values)
			}
			req.Variant = &acp.SetSessionConfigOptionRequestValueID{Value: acp.SessionConfigValueID(value)}
		case *acp.SessionConfigBoolean:
			if value != "true" && value != "false" {
				return notOffered(flag, "values", []string{"true", "false"})
			}
			req.Variant = &acp.SetSessionConfigOptionRequestBoolean{Value: value == "true"}
		default:
			return &exit{statusUsage, fmt.Errorf("%s: the option is of a type that this version of Hermes does not know", flag)}
		}
		var raw acp.Raw
		if err := agent.Conn.Call(ctx, acp.MethodSessionSetConfigOption, req, &raw); err != nil {
			return err
		}
		if string(raw) == "{}" { // some agents only send the list as an update
			return nil
		}
		var resp acp.SetSessionConfigOptionResponse
		if err := resp.UnmarshalJSON(raw); err != nil {
			return fmt.Errorf("%s: the agent's answer is not valid: %w", flag, err)
		}
		can.options = resp.ConfigOptions
		return nil
	}
	return notOffered(flag, "config options", known)
}

// choices returns the values of a select, without their groups.
func choices(options acp.SessionConfigSelectOptions) (values []string) {
	add := func(list []acp.SessionConfigSelectOption) {
		for _, o := range list {
			values = append(values, string(o.Value))
		}
	}
	switch options := options.(type) {
	case acp.SessionConfigSelectOptionsUngrouped:
		add(options)
	case acp.SessionConfigSelectOptionsGrouped:
		for _, g := range options {
			add(g.Options)
		}
	}
	return values
}

func notOffered(flag, what string, known []string) error {
	if len(known) == 0 {
		return &exit{statusUsage, fmt.Errorf("%s: the agent has no %s", flag, what)}
	}
	return &exit{statusUsage, fmt.Errorf("%s: the agent has the %s %s", flag, what, enumerate(known))}
}

// maxEnumerated bounds a list in a message, in bytes.
const maxEnumerated = 4 << 10

// enumerate lists names that an agent chose.
func enumerate(names []string) string {
	size := 0
	for i, name := range names {
		if size += len(name) + 2; size > maxEnumerated && i > 0 {
			return fmt.Sprintf("%s and %d more", strings.Join(names[:i], ", "), len(names)-i)
		}
	}
	return strings.Join(names, ", ")
}

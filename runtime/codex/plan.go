package codex

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
)

// The plan mode of codex is a collaboration mode. Those are experimental: codex names
// them, and takes one with a turn, only if the client has announced experimentalApi. A
// thread keeps the mode until a turn brings another, also when it is resumed.

// ErrNoPlan is what a turn with ProfilePlan returns when codex has no plan mode.
var ErrNoPlan = errors.New("codex: this version has no plan mode")

const (
	methodModes = "collaborationMode/list"
	memberMode  = "collaborationMode" // of turn/start
	modePlan    = "plan"
	modeDefault = "default"
)

// Profiles returns the profiles that the app-server supports. It starts and
// initializes the app-server if necessary.
func (s *Server) Profiles(ctx context.Context) ([]Profile, error) {
	l, err := s.running(ctx)
	if err != nil {
		return nil, err
	}
	if l.plans {
		return slices.Clone(Profiles), nil
	}
	return slices.DeleteFunc(slices.Clone(Profiles), func(p Profile) bool { return p == ProfilePlan }), nil
}

// hasPlans reports whether codex has the plan mode. A version that does not know how to
// list modes has none.
func hasPlans(ctx context.Context, agent appserver.Agent) (bool, error) {
	var r modes
	err := agent.Conn.Call(ctx, methodModes, acp.Raw(`{}`), &r)
	if refused := (*acp.Error)(nil); errors.As(err, &refused) {
		return false, nil
	}
	return slices.ContainsFunc(r.Data, isPlan), err
}

type modes struct{ Data []mode }

func (m *modes) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, (*struct{ Data []mode })(m)) }

type mode struct {
	Mode     string       `json:"mode"`
	Settings modeSettings `json:"settings"`
}

// modeSettings replace the settings of the thread. They have no instructions, so
// codex uses its own for the mode.
type modeSettings struct {
	Model  string  `json:"model"`
	Effort *string `json:"reasoning_effort"`
}

func isPlan(m mode) bool { return m.Mode == modePlan }

// inPlan reports whether a thread is in the plan mode.
func inPlan(m *appserver.CollaborationMode) bool {
	var v mode
	return m != nil && json.Unmarshal(m.Raw, &v) == nil && isPlan(v)
}

// setMode puts the mode that the settings want into a turn.
func setMode(p *appserver.TurnStartParams, plan bool, model, effort string) {
	m := mode{Mode: modeDefault, Settings: modeSettings{Model: model}}
	if plan {
		m.Mode = modePlan
	}
	if effort != "" {
		m.Settings.Effort = &effort
	}
	raw, _ := json.Marshal(m)
	_ = p.Extra.Set(memberMode, raw) // which fails for values that are not JSON
}

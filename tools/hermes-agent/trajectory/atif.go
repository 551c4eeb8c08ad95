package trajectory

import (
	"encoding/json"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// ATIF is a conversation in the Agent Trajectory Interchange Format of Harbor, version 1.4:
// what an answer of the model called for is in one step with what came of it.
type ATIF struct {
	Version string    `json:"schema_version"`
	Session string    `json:"session_id"`
	Agent   ATIFAgent `json:"agent"`
	Steps   []Step    `json:"steps"`
}

// ATIFAgent is who made a trajectory.
type ATIFAgent struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Model   string `json:"model_name,omitempty"`
}

// Step is a message of the user or the system, or an answer of the model.
type Step struct {
	ID          int          `json:"step_id"` // from 1
	Source      string       `json:"source"`  // system, user or agent
	Message     string       `json:"message"`
	Reasoning   string       `json:"reasoning_content,omitempty"`
	Calls       []StepCall   `json:"tool_calls,omitempty"`
	Observation *Observation `json:"observation,omitempty"`
}

// StepCall is a tool call.
type StepCall struct {
	ID        string          `json:"tool_call_id"`
	Name      string          `json:"function_name"`
	Arguments json.RawMessage `json:"arguments"` // an object
}

// Observation is the results of the calls of a step.
type Observation struct {
	Results []StepResult `json:"results"`
}

// StepResult is the result of a call.
type StepResult struct {
	CallID  string `json:"source_call_id"`
	Content string `json:"content"`
}

// ToATIF turns a history into a trajectory.
func ToATIF(session string, agent ATIFAgent, history []model.Message) ATIF {
	out := ATIF{Version: "ATIF-v1.4", Session: session, Agent: agent, Steps: []Step{}}
	for _, m := range history {
		step := Step{ID: len(out.Steps) + 1, Message: m.Text}
		switch m.Role {
		case model.System, model.User:
			step.Source = string(m.Role)
		case model.Assistant:
			step.Source, step.Reasoning = "agent", m.Reasoning
			for _, c := range m.Calls {
				arguments := json.RawMessage("{}")
				if json.Valid([]byte(c.Arguments)) {
					arguments = json.RawMessage(c.Arguments)
				}
				step.Calls = append(step.Calls, StepCall{c.ID, c.Name, arguments})
			}
		case model.Tool:
			if n := len(out.Steps); n > 0 {
				last := &out.Steps[n-1]
				if last.Observation == nil {
					last.Observation = &Observation{}
				}
				last.Observation.Results = append(last.Observation.Results, StepResult{m.CallID, m.Text})
			}
			continue
		}
		out.Steps = append(out.Steps, step)
	}
	return out
}

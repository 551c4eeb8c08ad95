package trajectory

import (
	"encoding/json"
	"strings"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// ATIF is a conversation in the Agent Trajectory Interchange Format of Harbor, version 1.4:
// what an answer of the model called for is in one step with what came of it.
type ATIF struct {
	Version string    `json:"schema_version"`
	Session string    `json:"session_id"`
	Agent   ATIFAgent `json:"agent"`
	Steps   []Step    `json:"steps"`
	Final   *Total    `json:"final_metrics,omitempty"`
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
	Model       string       `json:"model_name,omitempty"`
	Message     string       `json:"message"`
	Reasoning   string       `json:"reasoning_content,omitempty"`
	Calls       []StepCall   `json:"tool_calls,omitempty"`
	Observation *Observation `json:"observation,omitempty"`
	Metrics     *Metrics     `json:"metrics,omitempty"`
}

// Metrics is what the request for an answer used.
type Metrics struct {
	Prompt int     `json:"prompt_tokens"`
	Output int     `json:"completion_tokens"`
	Cached int     `json:"cached_tokens,omitempty"` // of Prompt
	Cost   float64 `json:"cost_usd,omitempty"`
}

// Total is what a trajectory used.
type Total struct {
	Prompt int     `json:"total_prompt_tokens"`
	Output int     `json:"total_completion_tokens"`
	Cached int     `json:"total_cached_tokens,omitempty"` // of Prompt
	Cost   float64 `json:"total_cost_usd,omitempty"`
	Steps  int     `json:"total_steps"`
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

// ToATIF turns a history into a trajectory. total is what all requests used, also those for
// summaries; zero is what the messages say.
func ToATIF(session string, agent ATIFAgent, history []model.Message, total model.Usage) ATIF {
	out := ATIF{Version: "ATIF-v1.4", Session: session, Agent: agent, Steps: []Step{}}
	sum := model.Usage{}
	for _, m := range history {
		step := Step{ID: len(out.Steps) + 1, Message: m.Text + strings.Repeat("\n[image]", len(m.Images))}
		switch m.Role {
		case model.System, model.User:
			step.Source = string(m.Role)
		case model.Assistant:
			step.Source, step.Reasoning, step.Model = "agent", m.Reasoning, m.Author()
			if u := m.Usage; u != (model.Usage{}) {
				step.Metrics = &Metrics{Prompt: u.Input, Output: u.Output, Cached: u.Cached, Cost: u.Cost}
				sum.Add(u)
			}
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
	if total == (model.Usage{}) {
		total = sum
	}
	if total != (model.Usage{}) {
		out.Final = &Total{Prompt: total.Input, Output: total.Output, Cached: total.Cached, Cost: total.Cost, Steps: len(out.Steps)}
	}
	return out
}

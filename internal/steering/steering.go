// Package steering is how a client adds a message to a turn that runs, without ending it. It is
// not part of the protocol, but the newest agents take it. One that does says so in its answer to
// initialize:
//
//	{"_meta":{"steering":{"supported":true}}}
//
// Then it takes this request, whose prompt has the blocks of session/prompt:
//
//	{"method":"_session/steering","params":{"sessionId":"…","prompt":[…],
//	 "_meta":{"steering":{"idleBehavior":"promptRequired"}}}}
//
// The answer says at once whether the message is in the turn; the turn goes on and ends by the
// answer to its own prompt. With idleBehavior, an agent without a turn does nothing and says so.
// Without it, it would begin a turn that ends by no answer.
//
//	{"outcome":"injected"}
//	{"outcome":"promptRequired","reason":"noRunningTurn"}
package steering

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/jx"
)

// Method is the request of a client that adds a message.
const Method = "_session/steering"

// Announced reports whether an agent says that it takes the request. Nothing else does: not the
// version of the protocol, and not that a request was not refused.
func Announced(agent *acp.InitializeResponse) bool {
	var meta struct {
		Steering struct {
			Supported bool `json:"supported"`
		} `json:"steering"`
	}
	return json.Unmarshal(agent.Meta, &meta) == nil && meta.Steering.Supported
}

// Request adds the blocks of a prompt to the turn of its session. An agent that has no turn is
// asked to leave the message to the client.
type Request struct{ *acp.PromptRequest }

var idleBehavior = json.RawMessage(`{"steering":{"idleBehavior":"promptRequired"}}`)

// AppendJSON appends the params of the request. The _meta of the prompt is left out.
func (r Request) AppendJSON(b []byte) []byte {
	p := acp.PromptRequest{SessionID: r.SessionID, Prompt: r.Prompt, Meta: idleBehavior}
	return p.AppendJSON(b)
}

// Outcome is what an agent did with the message.
type Outcome string

// Outcomes. An agent that has begun a turn has the message, too: the turn just has no prompt that
// it could answer.
const (
	Injected       Outcome = "injected"
	PromptRequired Outcome = "promptRequired" // no turn runs, and the message was not taken
	StartedNewTurn Outcome = "startedNewTurn"
	Failed         Outcome = "failed" // the message was not taken
)

// Result is the answer to a Request.
type Result struct {
	Outcome Outcome
	Reason  string // why the message was not taken, in the agent's words; may be empty
}

// Taken reports whether the agent has the message, so that it must not be sent again.
func (r Result) Taken() bool { return r.Outcome == Injected || r.Outcome == StartedNewTurn }

// Read reads what a call of Method ended with, the result or the error. It fails if that does not
// say what became of the message; the message must then not be sent again, because the agent may
// have it.
//
// An agent that does not know the method, or refuses the params, has not taken the message. Any
// other error may come from an agent that has begun to take it.
func Read(result []byte, err error) (Result, error) {
	var refused *acp.Error
	switch {
	case errors.As(err, &refused) && neverTaken(refused.Code):
		return Result{Failed, refused.Message}, nil
	case err != nil:
		return Result{}, err
	}
	var r Result
	d := jx.New(result)
	if d.Obj() {
		for name, more := d.Next(); more; name, more = d.Next() {
			switch string(name) {
			case "outcome":
				r.Outcome = Outcome(d.Str())
			case "reason":
				if d.Peek() != '"' {
					d.Skip() // null, or something of a later agent
					continue
				}
				r.Reason = d.Str()
			default:
				d.Skip()
			}
		}
	}
	if err := d.Close(); err != nil {
		return Result{}, fmt.Errorf("%s: the agent's answer is not valid: %w", Method, err)
	}
	switch r.Outcome {
	case Injected, PromptRequired, StartedNewTurn, Failed:
		return r, nil
	}
	return Result{}, fmt.Errorf("%s: the agent's answer has the outcome %.40q, which does not say whether it took the message", Method, r.Outcome)
}

func neverTaken(code acp.ErrorCode) bool {
	switch code {
	case acp.ErrorCodeMethodNotFound, acp.ErrorCodeInvalidParams, acp.ErrorCodeInvalidRequest:
		return true
	}
	return false
}

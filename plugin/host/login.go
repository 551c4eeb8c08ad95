package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
)

// loginError is an agent's refusal to work before a login, with the ways out.
type loginError struct {
	err     error
	methods json.RawMessage // the agent's authMethods, nil for none
	hint    string          // how one logs in to this agent; empty when unknown
	ways    []string        // for the person at the editor
}

func (e *loginError) Error() string {
	return strings.Join(append([]string{e.err.Error()}, e.ways...), "; ")
}

func (e *loginError) Unwrap() error { return e.err }

// json returns the member auth of the error that Lua gets.
func (e *loginError) json() []byte {
	return new(object).optional("hint", e.hint).raw("methods", e.methods).json()
}

// Bounds of what an error says about the agent's methods.
const (
	maxWays = 5   // methods
	maxWay  = 400 // bytes of one
)

// needsLogin adds the ways out to an error that asks for a login; any other
// error is returned as it is.
func (c *connection) needsLogin(err error) error {
	if !errors.Is(err, &acp.Error{Code: acp.ErrorCodeAuthenticationRequired}) {
		return err
	}
	e := &loginError{err: err, hint: c.cmd.Auth}
	if e.hint != "" {
		e.ways = append(e.ways, e.hint)
	}
	c.mu.Lock()
	init := c.init
	c.mu.Unlock()
	var agent struct {
		Methods json.RawMessage `json:"authMethods"`
	}
	if json.Unmarshal(init, &agent) == nil {
		e.methods = agent.Methods
	}
	e.ways = append(e.ways, c.methods(e.methods)...)
	if !c.cmd.isRemote() {
		if len(e.ways) == 0 {
			e.ways = append(e.ways, "log in with the agent's own program")
		}
		if !c.cmd.InheritEnv {
			e.ways = append(e.ways, fmt.Sprintf("a variable with a key reaches the agent if setup{agents={[%q]={pass_env}}} names it", c.name))
		}
	}
	return e
}

// methods says how each of the agent's methods is used.
func (c *connection) methods(list json.RawMessage) (ways []string) {
	var methods []struct{ ID, Name, Type string }
	if json.Unmarshal(list, &methods) != nil {
		return nil
	}
	for _, m := range methods {
		if m.ID == "" || m.Type == "terminal" || len(m.ID)+len(m.Name) > maxWay {
			continue // the agent's own program does those of a terminal
		}
		if len(ways) == maxWays {
			return append(ways, "or another of its authMethods")
		}
		ways = append(ways, fmt.Sprintf("hermes.authenticate(%q): %q", m.ID, m.Name))
	}
	return ways
}

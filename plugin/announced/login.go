package announced

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/say"
	"github.com/hermes-nvim/hermes/plugin/setup"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/launch"
)

// loginError is an agent's refusal to work before a login, with the ways out.
type loginError struct {
	err     error
	methods json.RawMessage // the agent's authMethods, nil for none
	hint    string          // how one logs in to this agent; empty when unknown
	ways    []string        // for the person at the editor
}

func (e *loginError) Error() string {
	return strings.Join(append([]string{strings.TrimRight(e.err.Error(), ". ")}, e.ways...), "; ")
}

func (e *loginError) Unwrap() error { return e.err }

// Detail adds the member auth to the error that Lua gets.
func (e *loginError) Detail(o *wire.Object) {
	o.Object("auth", new(wire.Object).Optional("hint", e.hint).Raw("methods", e.methods))
}

// Bounds of what an error says about the agent's methods.
const (
	maxWays = 5   // methods
	maxWay  = 400 // bytes of one
)

// NeedsLogin adds the ways out to an error that asks for a login; any other
// error is returned as it is. init is the agent's answer to initialize.
func NeedsLogin(err error, agent string, cmd *setup.Command, init []byte) error {
	if !errors.Is(err, &acp.Error{Code: acp.ErrorCodeAuthenticationRequired}) {
		return err
	}
	e := &loginError{err: err, hint: cmd.Auth}
	if e.hint != "" {
		e.ways = append(e.ways, e.hint)
	}
	var said struct {
		Methods json.RawMessage `json:"authMethods"`
	}
	if json.Unmarshal(init, &said) == nil {
		e.methods = said.Methods
	}
	e.ways = append(e.ways, waysOf(e.methods)...)
	if !cmd.IsRemote() {
		if len(e.ways) == 0 {
			e.ways = append(e.ways, "log in with the agent's own program")
		}
		if !cmd.InheritEnv && len(cmd.PassEnv) == 0 {
			e.ways = append(e.ways, fmt.Sprintf("a variable with a key reaches the agent if setup{agents={[%q]={pass_env}}} names it", agent))
		}
	}
	return e
}

// waysOf says how each of the agent's methods is used.
func waysOf(list json.RawMessage) (ways []string) {
	var methods []struct{ ID, Name string }
	if json.Unmarshal(list, &methods) != nil {
		return nil
	}
	for _, m := range methods {
		if m.ID == "" || len(m.ID)+len(m.Name) > maxWay {
			continue
		}
		if len(ways) == maxWays {
			return append(ways, "or another of its authMethods")
		}
		ways = append(ways, fmt.Sprintf("hermes.authenticate(%q): %q", m.ID, m.Name))
	}
	return ways
}

// Login is one of an agent's methods. A program signs the user in by those
// that are for a terminal.
type Login struct {
	ID   string            `json:"id"`
	Name string            `json:"name"`
	Type string            `json:"type"`
	Args []string          `json:"args"` // after the agent's own
	Env  map[string]string `json:"env"`
	Meta struct {
		// Agents announced any program this way before the protocol had the type.
		Terminal *struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		} `json:"terminal-auth"`
	} `json:"_meta"`
}

// LoginTerminal has Lua ask the user and then run a program in a terminal. Its exit status ends
// the operation.
type LoginTerminal struct {
	ID       string            `json:"id"`
	Agent    string            `json:"agent"`
	MethodID string            `json:"methodId"`
	Name     string            `json:"name"` // of the method
	Command  []string          `json:"command"`
	Wrapper  []string          `json:"wrapper"` // put before it: the sandbox of the agent
	Env      map[string]string `json:"env"`     // all of it
	Adds     map[string]string `json:"adds"`    // what the method adds to the agent's
	Cwd      string            `json:"cwd,omitempty"`
}

func (LoginTerminal) Kind() string { return wire.KindLogin }

// TerminalLogin returns the method of a request if it is for a terminal. init is the agent's
// answer to initialize.
func TerminalLogin(params acp.Appender, init []byte) *Login {
	p, ok := params.(*acp.AuthenticateRequest)
	if !ok {
		return nil
	}
	var agent struct {
		Methods []json.RawMessage `json:"authMethods"`
	}
	if json.Unmarshal(init, &agent) != nil {
		return nil
	}
	for _, text := range agent.Methods {
		var m Login
		if json.Unmarshal(text, &m) == nil && m.ID == string(p.MethodID) && (m.Type == "terminal" || m.Meta.Terminal != nil && m.Meta.Terminal.Command != "") {
			return &m
		}
	}
	return nil
}

// MayLogIn reports whether the agent may name a program that signs the user in. It
// would run as the user, so it is not for agents that may run elsewhere, nor for those
// that the user does not let run commands as they like.
func MayLogIn(cmd *setup.Command, elsewhere bool) bool {
	return !elsewhere && cmd.Terminal != setup.RunAsked && cmd.Terminal != setup.RunNever
}

// Run has Neovim run the agent's program in a terminal, with what the method
// adds to it once the user has agreed. A program that only the agent names is not
// run.
func (m *Login) Run(e *say.Editor, id, agent string, command *setup.Command, may bool) {
	cmd := command.Process()
	words := append([]string{cmd.Path}, cmd.Args...)
	words = append(words, m.Args...)
	problem := ""
	switch {
	case m.Type != "terminal":
		words = append([]string{m.Meta.Terminal.Command}, m.Meta.Terminal.Args...)
		problem = "names a program for this login, which Hermes does not run"
	case !may:
		problem = "is not allowed to run its login here"
	}
	if problem != "" {
		e.Fail(id, &wire.Error{Kind: wire.ErrorLogin, Message: fmt.Sprintf(
			"agent %q %s; the agent says that this logs in: \"%s\"; run it yourself, where the agent is, only if you know what it does",
			agent, problem, launch.Command{Path: words[0], Args: words[1:]})})
		return
	}
	vars, adds := make(map[string]string), make(map[string]string)
	maps.Copy(adds, m.Env)
	for _, name := range slices.Sorted(maps.Keys(adds)) {
		cmd.Env = append(cmd.Env, name+"="+adds[name])
	}
	for _, v := range cmd.Environ() {
		name, value, _ := strings.Cut(v, "=")
		vars[name] = value
	}
	e.Push(wire.ItemOf(LoginTerminal{id, agent, m.ID, m.Name, words, command.LoginWrapper(), vars, adds, cmd.Dir}))
}

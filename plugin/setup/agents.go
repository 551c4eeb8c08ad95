package setup

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"github.com/hermes-nvim/hermes/internal/jx"
	"github.com/hermes-nvim/hermes/internal/preset"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// presets are the agents that connect knows by name. A user's setup{agents}
// wins over them.
var presets = sync.OnceValue(preset.Builtin)

// Agents are those that connect knows by name: of the configuration, the presets, and a
// registry that was read. The zero value knows the presets. Its methods may be called at the
// same time.
type Agents struct {
	mu       sync.Mutex
	own      map[string]Command
	registry *preset.Set // nil before one was read
}

// Known is an agent that connect knows by name.
type Known struct {
	Name      string   `json:"name"`
	Source    string   `json:"source"` // setup, preset or registry
	Title     string   `json:"title,omitempty"`
	Website   string   `json:"website,omitempty"`
	Install   string   `json:"install,omitempty"`   // what to do when the program is missing
	Login     string   `json:"login,omitempty"`     // how one logs in
	Protocol  string   `json:"protocol,omitempty"`  // of one that runs elsewhere
	Command   []string `json:"command,omitempty"`   // of one that is started here
	Installed *bool    `json:"installed,omitempty"` // the same
}

// Configure replaces the agents of the configuration.
func (a *Agents) Configure(own map[string]Command) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.own = own
}

// Update reads a registry, a file or URL; empty is the registry of the protocol. skipped
// are its agents that cannot be used here, with the reasons.
func (a *Agents) Update(ctx context.Context, url string) (skipped []error, err error) {
	set, skipped, err := preset.LoadRegistry(ctx, cmp.Or(url, preset.RegistryURL))
	if err != nil {
		return nil, &wire.Error{Kind: wire.ErrorRegistry, Message: "the list of agents", Cause: err}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.registry = set
	return skipped, nil
}

// look returns the command of a name in the configuration, and its preset. The preset
// comes from the registry if no other has the name.
func (a *Agents) look(name string) (own Command, isOwn bool, p preset.Preset, isPreset bool) {
	a.mu.Lock()
	own, isOwn = a.own[name]
	registry := a.registry
	a.mu.Unlock()
	p, err := presets().Find(name)
	if err != nil && registry != nil {
		p, err = registry.Find(name)
	}
	return own, isOwn, p, err == nil
}

// Names are the names that connect takes, sorted.
func (a *Agents) Names() []string {
	names := presets().Names()
	a.mu.Lock()
	names = slices.AppendSeq(names, maps.Keys(a.own))
	if a.registry != nil {
		names = append(names, a.registry.Names()...)
	}
	a.mu.Unlock()
	slices.Sort(names)
	return slices.Compact(names)
}

// Describe is what Lua gets of an agent.
func (a *Agents) Describe(name string) Known {
	own, isOwn, p, isPreset := a.look(name)
	source := "registry"
	if _, err := presets().Find(name); err == nil {
		source = "preset"
	}
	c := own
	if isPreset {
		c = fromPreset(p).over(own)
	}
	if isOwn {
		source = "setup"
	}
	known := Known{Name: name, Source: source, Title: p.Title, Website: p.Website, Install: c.Install, Login: c.Auth}
	if c.IsRemote() {
		known.Protocol = c.Protocol
		return known
	}
	_, err := exec.LookPath(c.Command)
	installed := err == nil
	known.Command, known.Installed = append([]string{c.Command}, c.Args...), &installed
	return known
}

// Resolve finds the command for an agent: what connect was given, over what
// setup says, over the preset of that name.
func (a *Agents) Resolve(name string, given Command) (Command, error) {
	own, isOwn, p, isPreset := a.look(name)
	var base Command
	if isPreset {
		base = fromPreset(p)
	}
	c := base.over(own).over(given)
	err := c.Remote.check(name)
	if err != nil {
		return c, err
	}
	if _, err := c.PathRules(); err != nil {
		return c, err
	}
	if Is(c.Shared) {
		if c, err = c.shared(name); err != nil {
			return c, err
		}
	}
	if c.Command == "" && !c.IsRemote() {
		what := "unknown agent"
		if isOwn || isPreset {
			what = "no command for agent"
		}
		list, advice := a.Names(), "give connect a command"
		if meant := jx.Near(name, list); meant != "" {
			advice = fmt.Sprintf("did you mean %q? Otherwise %s", meant, advice)
		}
		return c, &wire.Error{Kind: wire.ErrorUnknownAgent, Message: fmt.Sprintf(
			"%s %q: %s, or add it to setup{agents}; known agents: %s",
			what, name, advice, strings.Join(list, ", "))}
	}
	return c, nil
}

package host

import (
	"cmp"
	"context"
	"maps"
	"os/exec"
	"slices"
	"time"

	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/preset"
)

// registryTime bounds how long a registry may take.
const registryTime = time.Minute

// agentsOp lists the agents that connect knows by name.
type agentsOp struct {
	Update bool   `json:"update"` // read the registry first
	URL    string `json:"url"`    // or file, in place of the registry of the protocol
}

func (h *Host) listAgents(id string, p agentsOp) error {
	if !p.Update && p.URL == "" {
		h.tellAgents(id, nil)
		return nil
	}
	h.start(func() {
		ctx, cancel := context.WithTimeout(h.ctx, registryTime)
		defer cancel()
		set, skipped, err := preset.LoadRegistry(ctx, cmp.Or(p.URL, preset.RegistryURL))
		if err != nil {
			h.fail(id, &wire.Error{Kind: wire.ErrorRegistry, Message: "the list of agents", Cause: err})
			return
		}
		h.mu.Lock()
		h.registry = set
		h.mu.Unlock()
		h.tellAgents(id, skipped)
	})
	return nil
}

// find returns the preset of a name, of the registry when no other has it.
func (h *Host) find(name string) (preset.Preset, bool) {
	p, err := presets().Find(name)
	if err == nil {
		return p, true
	}
	h.mu.Lock()
	registry := h.registry
	h.mu.Unlock()
	if registry == nil {
		return p, false
	}
	p, err = registry.Find(name)
	return p, err == nil
}

// known are the names that connect takes, sorted.
func (h *Host) known() []string {
	names := presets().Names()
	h.mu.Lock()
	names = slices.AppendSeq(names, maps.Keys(h.config.Agents))
	if h.registry != nil {
		names = append(names, h.registry.Names()...)
	}
	h.mu.Unlock()
	slices.Sort(names)
	return slices.Compact(names)
}

// tellAgents ends the operation id with the agents.
func (h *Host) tellAgents(id string, skipped []error) {
	list := []byte{'['}
	for _, name := range h.known() {
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(list, h.describeAgent(name).JSON()...)
	}
	o := new(wire.Object).Raw("agents", append(list, ']'))
	if len(skipped) > 0 {
		lines := make([]string, len(skipped))
		for i, err := range skipped {
			lines[i] = err.Error()
		}
		o.Strs("skipped", lines)
	}
	result := slices.Clone(o.JSON())
	h.queue.Push(o.Str("opId", id).Item(events.AgentList))
	h.done(id, result)
}

func (h *Host) describeAgent(name string) *wire.Object {
	p, isPreset := h.find(name)
	h.mu.Lock()
	own, isOwn := h.config.Agents[name]
	h.mu.Unlock()
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
	o := new(wire.Object).Str("name", name).Str("source", source).Optional("title", p.Title).Optional("website", p.Website).
		Optional("install", c.Install).Optional("login", c.Auth)
	if c.isRemote() {
		return o.Str("protocol", c.Protocol)
	}
	_, err := exec.LookPath(c.Command)
	return o.Strs("command", append([]string{c.Command}, c.Args...)).Flag("installed", err == nil)
}

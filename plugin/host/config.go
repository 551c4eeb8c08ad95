package host

import (
	"context"
	"time"

	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/reviews"
	"github.com/hermes-nvim/hermes/plugin/setup"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// config is what Lua's setup gives the host.
type config struct {
	setup.Config
	Review     *reviews.Config `json:"review,omitempty"`
	Traffic    bool            `json:"traffic"`     // somebody listens to TrafficMessage
	RawTraffic bool            `json:"raw_traffic"` // secrets stay in it
}

func (h *Host) setup(c config) error {
	h.mu.Lock()
	h.config = c
	h.mu.Unlock()
	h.known.Configure(c.Agents)
	h.configureRules(c.Permissions)
	h.reviews.Configure(c.Review)
	h.traffic.Raw.Store(c.RawTraffic)
	h.traffic.On.Store(c.Traffic)
	return nil
}

// configured is what setup says now.
func (h *Host) configured() *setup.Config {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.config.Config
	return &c
}

// registryTime bounds how long a registry may take.
const registryTime = time.Minute

// agentsOp lists the agents that connect knows by name. AgentList follows.
type agentsOp struct {
	Update bool   `json:"update,omitempty"` // read the registry first
	URL    string `json:"url,omitempty"`    // or file, in place of the registry of the protocol
}

type agentList struct {
	Agents  []setup.Known `json:"agents"`
	Skipped []string      `json:"skipped,omitempty"` // entries of the registry, and why
}

func (h *Host) listAgents(id string, p agentsOp) error {
	if !p.Update && p.URL == "" {
		h.tellAgents(id, nil)
		return nil
	}
	h.Start(func() {
		ctx, cancel := context.WithTimeout(h.ctx, registryTime)
		defer cancel()
		skipped, err := h.known.Update(ctx, p.URL)
		if err != nil {
			h.Fail(id, err)
			return
		}
		h.tellAgents(id, skipped)
	})
	return nil
}

// tellAgents ends the operation id with the agents.
func (h *Host) tellAgents(id string, skipped []error) {
	list := agentList{Agents: []setup.Known{}}
	for _, name := range h.known.Names() {
		list.Agents = append(list.Agents, h.known.Describe(name))
	}
	for _, err := range skipped {
		list.Skipped = append(list.Skipped, err.Error())
	}
	h.Push(wire.ObjectOf(list).Str("opId", id).Item(events.AgentList))
	h.Done(id, wire.Encode(list))
}

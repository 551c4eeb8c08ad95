package host

import (
	"github.com/hermes-nvim/hermes/plugin/reviews"
)

// forReviews is what reviews need of the host.
func (h *Host) forReviews() reviews.Host {
	return reviews.Host{
		Editor: h.Editor, Context: h.ctx,
		Agents: func() []string { return h.agents.Names() },
		Sessions: func() (list []reviews.Session) {
			for _, s := range h.agents.Sessions() {
				list = append(list, s)
			}
			return list
		},
		Asks: h.asks, Policy: h.policy, MayAsk: func() bool { return h.configured().Permissions.MayAsk() },
	}
}

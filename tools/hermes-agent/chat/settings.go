package chat

import (
	"context"
	"fmt"
	"slices"

	"github.com/hermes-nvim/hermes/acp"
)

// keep remembers the settings of the session.
func (c *chat) keep(options []acp.SessionConfigOption) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.options = options
}

// choose changes a setting of the session.
func (c *chat) choose(ctx context.Context, id acp.SessionConfigID, value string) error {
	answer, err := c.agent.SetSessionConfigOption(ctx, &acp.SetSessionConfigOptionRequest{
		SessionID: c.id, ConfigID: id, Variant: &acp.SetSessionConfigOptionRequestValueID{Value: acp.SessionConfigValueID(value)},
	})
	if err == nil {
		c.keep(answer.ConfigOptions)
	}
	return err
}

// set changes a setting of the session. Without a value it lists the values.
func (c *chat) set(ctx context.Context, id acp.SessionConfigID, value string) {
	if value != "" {
		if err := c.choose(ctx, id, value); err != nil {
			c.view.say("! "+err.Error(), red)
		}
		return
	}
	c.mu.Lock()
	options := c.options
	c.mu.Unlock()
	at := slices.IndexFunc(options, func(o acp.SessionConfigOption) bool { return o.ID == id })
	if at < 0 {
		c.view.say(fmt.Sprintf("! there is no setting %s", id), red)
		return
	}
	choice, ok := options[at].Variant.(*acp.SessionConfigSelect)
	if !ok {
		return
	}
	values, _ := choice.Options.(acp.SessionConfigSelectOptionsUngrouped)
	for _, v := range values {
		mark := " "
		if v.Value == choice.CurrentValue {
			mark = "*"
		}
		c.view.say(fmt.Sprintf("%s %-12s %s", mark, v.Value, v.Description.V), "")
	}
}

package tool

import (
	"context"
	"fmt"

	"github.com/hermes-nvim/hermes/acp"
)

// Todo keeps the model's list of steps, which the client shows as a plan.
func Todo() *Tool {
	return &Tool{
		Name: "todo", Toolset: "core", Kind: acp.ToolKindThink,
		Description: "Show the user your plan for a task of several steps. Always send the whole list.",
		Schema: []byte(`{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{` +
			`"content":{"type":"string"},"status":{"enum":["pending","in_progress","completed"]}},` +
			`"required":["content","status"],"additionalProperties":false}}},` +
			`"required":["items"],"additionalProperties":false}`),
		Title: func(*Call) string { return "Update the plan" },
		Run: func(_ context.Context, c *Call) (string, error) {
			var args struct {
				Items []struct {
					Content string
					Status  acp.PlanEntryStatus
				}
			}
			if err := c.Decode(&args); err != nil {
				return "", err
			}
			entries, left := []acp.PlanEntry{}, 0
			for _, item := range args.Items {
				entries = append(entries, acp.PlanEntry{Content: item.Content, Status: item.Status, Priority: acp.PlanEntryPriorityMedium})
				if item.Status != acp.PlanEntryStatusCompleted {
					left++
				}
			}
			c.Show(acp.NewPlan(entries))
			return fmt.Sprintf("%s, %d left", count(len(entries), "step"), left), nil
		},
	}
}

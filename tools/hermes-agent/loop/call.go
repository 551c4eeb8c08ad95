package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/tool"
)

// normalize gives a call an id that is new in the session and arguments that every
// endpoint accepts, and returns the arguments as the model wrote them. Ids of models are
// sometimes empty or repeat. Nine letters and digits is what Mistral's endpoints demand.
func normalize(call *model.Call, number int) (wrote string) {
	wrote = call.Arguments
	call.ID = fmt.Sprintf("call%05d", number)
	if call.Name == "" {
		call.Name = "unknown"
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(wrote), &object) != nil || object == nil {
		call.Arguments = "{}"
	}
	return wrote
}

// run runs the call at a place of the model's answer and returns its result. It shows
// every call to the user, also one that fails before it begins.
func (l *Loop) run(ctx context.Context, call model.Call, place int) model.Message {
	result := model.Message{Role: model.Tool, CallID: call.ID}
	most := withDefault(l.Limits.Calls, DefaultCalls)
	if place >= most && ctx.Err() == nil {
		// Not shown: the user learns nothing from a thousand failures.
		result.Failed, result.Text = true, fmt.Sprintf("not run: one answer can have %d calls", most)
		return result
	}
	t, arguments, err := l.Tools.Find(call)
	shown := acp.NewToolCall(acp.ToolCallID(call.ID), call.Name)
	c := &tool.Call{Shown: shown, Arguments: arguments}
	shown.Name = acp.Some(call.Name)
	shown.Status = acp.Some(acp.ToolCallStatusPending)
	if t != nil {
		shown.Kind = acp.Some(t.Kind)
	}
	if err == nil {
		shown.RawInput = arguments
		if t.Title != nil {
			shown.Title = t.Title(c)
		}
	}
	l.Env.Show(shown)
	var text string
	hasContent := false
	switch {
	case err != nil:
	case ctx.Err() != nil:
		err = errors.New("not run: the user cancelled the turn")
	default:
		env := *l.Env
		env.Show = func(u acp.SessionUpdate) {
			if u, ok := u.(*acp.ToolCallUpdate); ok && u.Content != nil {
				hasContent = true
			}
			l.Env.Show(u)
		}
		c.Env = &env
		if !t.Asks {
			c.Begin()
		}
		text, err = l.guarded(ctx, t, c)
	}
	end := acp.NewToolCallUpdate(shown.ToolCallID)
	end.Status = acp.Some(acp.ToolCallStatusCompleted)
	if err != nil {
		result.Failed, text = true, err.Error()
		end.Status = acp.Some(acp.ToolCallStatusFailed)
	}
	result.Images = c.Images
	result.Text = model.Bound(strings.ToValidUTF8(text, "\uFFFD"), withDefault(l.Limits.Result, DefaultResult))
	if !hasContent && result.Text != "" {
		end.Content = []acp.ToolCallContent{acp.NewContent(acp.NewTextContent(result.Text))}
	}
	l.Env.Show(end)
	return result
}

// guarded turns a panic of a tool into a failure of its call.
func (l *Loop) guarded(ctx context.Context, t *tool.Tool, c *tool.Call) (text string, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			l.Log.Error("panic in a tool", "tool", t.Name, "value", fault, "stack", string(debug.Stack()))
			err = fmt.Errorf("the tool %s has a fault: %v", t.Name, fault)
		}
	}()
	return t.Run(ctx, c)
}

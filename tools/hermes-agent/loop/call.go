package loop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/process"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/tool"
)

// number gives a call an id that is new in the session, and a name that people can see. Ids
// of models are sometimes empty or repeat. Nine letters and digits is what Mistral's endpoints
// demand. Opaque members may contain the id.
func number(call *model.Call, n int, opaque model.Opaque) {
	id := fmt.Sprintf("call%05d", n)
	for name, value := range opaque {
		if call.ID != "" {
			opaque[name] = bytes.ReplaceAll(value, fmt.Appendf(nil, "%q", call.ID), fmt.Appendf(nil, "%q", id))
		}
	}
	call.ID = id
	if call.Name == "" {
		call.Name = "unknown"
	}
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
	var content []acp.ToolCallContent // that the tool has shown
	denied := false
	switch {
	case err != nil:
	case ctx.Err() != nil:
		err = errors.New("not run: the user cancelled the turn")
	default:
		env := *l.Env
		env.Show = func(u acp.SessionUpdate) {
			if u, ok := u.(*acp.ToolCallUpdate); ok && u.Content != nil {
				content = u.Content
			}
			l.Env.Show(u)
		}
		env.Gate = witness{l.Env.Gate, func() { denied = ctx.Err() == nil }}
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
	// A call that failed says why, also behind the change that it did not make. A terminal
	// says it itself.
	if result.Text != "" && (content == nil || result.Failed && !slices.ContainsFunc(content, isTerminal)) {
		end.Content = append(slices.Clip(content), acp.NewContent(acp.NewTextContent(result.Text)))
	}
	if denied {
		end.Meta = Denied
	}
	l.Env.Show(end)
	return result
}

// Denied is the extension data of a call that something or somebody did not allow.
var Denied = json.RawMessage(`{"hermes.denied":true}`)

func isTerminal(c acp.ToolCallContent) bool {
	_, is := c.(*acp.Terminal)
	return is
}

// witness notices what a Gate refuses.
type witness struct {
	tool.Gate
	refused func()
}

func (w witness) Read(ctx context.Context, call *acp.ToolCallUpdate, path string) error {
	return w.saw(w.Gate.Read(ctx, call, path))
}

func (w witness) Edit(ctx context.Context, call *acp.ToolCallUpdate, path string) error {
	return w.saw(w.Gate.Edit(ctx, call, path))
}

func (w witness) Command(ctx context.Context, call *acp.ToolCallUpdate, command string, reach process.Reach) error {
	return w.saw(w.Gate.Command(ctx, call, command, reach))
}

func (w witness) Effect(ctx context.Context, call *acp.ToolCallUpdate, e process.Effect) (bool, error) {
	always, err := w.Gate.Effect(ctx, call, e)
	return always, w.saw(err)
}

func (w witness) Use(ctx context.Context, call *acp.ToolCallUpdate, f tool.Foreign) error {
	return w.saw(w.Gate.Use(ctx, call, f))
}

func (w witness) saw(err error) error {
	if err != nil {
		w.refused()
	}
	return err
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

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

// pending is a call that has not run yet.
type pending struct {
	l         *Loop
	call      model.Call
	tool      *tool.Tool // nil: there is none
	arguments json.RawMessage
	fault     error // of the call
	shown     *acp.ToolCall
}

// mostAtOnce is how many calls run side by side.
const mostAtOnce = 8

// run runs the calls of an answer and passes each result to keep, in the order of the calls.
// Neighbours that only read run side by side.
func (l *Loop) run(ctx context.Context, calls []model.Call, keep func(model.Message)) []model.Message {
	var results []model.Message
	done := func(m model.Message) {
		results = append(results, m)
		keep(m)
	}
	list := make([]*pending, len(calls))
	most := withDefault(l.Limits.Calls, DefaultCalls)
	for i, call := range calls[:min(len(calls), most)] {
		list[i] = l.find(call)
	}
	for i := 0; i < len(list); {
		if i >= most {
			if ctx.Err() == nil {
				// Not shown: the user learns nothing from a thousand failures.
				done(model.Message{Role: model.Tool, CallID: calls[i].ID, Failed: true, Text: fmt.Sprintf("not run: one answer can have %d calls", most)})
				i++
				continue
			}
			list[i] = l.find(calls[i])
		}
		group := list[i : i+1]
		for end := i + 1; group[0].reads() && end < min(len(list), most) && list[end].reads(); end++ {
			group = list[i : end+1]
		}
		together(ctx, group, done)
		i += len(group)
	}
	return results
}

// together shows calls to the user, also those that fail before they begin, and runs them.
func together(ctx context.Context, group []*pending, done func(model.Message)) {
	for _, p := range group {
		p.show()
	}
	if len(group) == 1 {
		done(group[0].run(ctx))
		return
	}
	free := make(chan struct{}, mostAtOnce)
	ends := make([]chan model.Message, len(group))
	for i, p := range group {
		ends[i] = make(chan model.Message, 1)
		go func() {
			free <- struct{}{}
			defer func() { <-free }()
			ends[i] <- p.run(ctx)
		}()
	}
	for _, end := range ends {
		done(<-end)
	}
}

func (l *Loop) find(call model.Call) *pending {
	p := &pending{l: l, call: call}
	p.tool, p.arguments, p.fault = l.Tools.Find(call)
	return p
}

func (p *pending) reads() bool { return p.tool != nil && p.tool.Reads && p.fault == nil }

func (p *pending) show() {
	p.shown = acp.NewToolCall(acp.ToolCallID(p.call.ID), p.call.Name)
	p.shown.Name = acp.Some(p.call.Name)
	p.shown.Status = acp.Some(acp.ToolCallStatusPending)
	if p.tool != nil {
		p.shown.Kind = acp.Some(p.tool.Kind)
	}
	if p.fault == nil {
		p.shown.RawInput = p.arguments
		if p.tool.Title != nil {
			p.shown.Title = p.tool.Title(&tool.Call{Shown: p.shown, Arguments: p.arguments})
		}
	}
	p.l.Env.Show(p.shown)
}

// run runs a call that was shown and returns its result.
func (p *pending) run(ctx context.Context) model.Message {
	l, err := p.l, p.fault
	result := model.Message{Role: model.Tool, CallID: p.call.ID}
	c := &tool.Call{Shown: p.shown, Arguments: p.arguments}
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
		env.Gate = witness{l.Env.Gate, l.asking, func() { denied = ctx.Err() == nil }}
		c.Env = &env
		if !p.tool.Asks {
			c.Begin()
		}
		text, err = l.guarded(ctx, p.tool, c)
	}
	end := acp.NewToolCallUpdate(p.shown.ToolCallID)
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

// witness notices what a Gate refuses, and lets it ask one question at a time.
type witness struct {
	tool.Gate
	asking  chan struct{} // is full while somebody asks
	refused func()
}

func (w witness) Read(ctx context.Context, call *acp.ToolCallUpdate, path string) error {
	return w.ask(ctx, func() error { return w.Gate.Read(ctx, call, path) })
}

func (w witness) Edit(ctx context.Context, call *acp.ToolCallUpdate, path string) error {
	return w.ask(ctx, func() error { return w.Gate.Edit(ctx, call, path) })
}

func (w witness) Command(ctx context.Context, call *acp.ToolCallUpdate, command string, reach process.Reach) error {
	return w.ask(ctx, func() error { return w.Gate.Command(ctx, call, command, reach) })
}

func (w witness) Effect(ctx context.Context, call *acp.ToolCallUpdate, e process.Effect) (always bool, err error) {
	err = w.ask(ctx, func() error {
		always, err = w.Gate.Effect(ctx, call, e)
		return err
	})
	return always, err
}

func (w witness) Use(ctx context.Context, call *acp.ToolCallUpdate, f tool.Foreign) error {
	return w.ask(ctx, func() error { return w.Gate.Use(ctx, call, f) })
}

// ask waits until nobody else asks: the answer to an earlier question may spare this one.
func (w witness) ask(ctx context.Context, question func() error) error {
	select {
	case w.asking <- struct{}{}:
		defer func() { <-w.asking }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	err := question()
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

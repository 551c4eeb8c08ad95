package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// Finding is what a small request has shown.
type Finding struct {
	What string // that was tried
	Good bool   // it works
	Need bool   // nothing works without it
	Said string // what is to be known about it
}

// note is a tool for probes.
var note = model.Spec{Name: "note", Description: "Keep a word", Parameters: json.RawMessage(`{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}`)}

// pixel is a picture of one white pixel.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP6DwABBQECz6AuzQAAAABJRU5ErkJggg=="

// Probe learns a model anew by six small requests and reports each to on. It ends with the
// first if that gets no answer. Profile has the
// result.
func (c *Client) Probe(ctx context.Context, name string, on func(Finding)) {
	c.profiles.learn(c.from(name), func(p *Profile) { *p = Profile{} })
	system := model.Message{Role: model.System, Text: "You test tools. Be brief."}
	pieces := 0
	ask := func(what string, need bool, messages []model.Message, good func(model.Message) (said string, good bool)) model.Message {
		pieces = 0
		reply, err := c.Complete(ctx, model.Request{Model: name, Messages: append([]model.Message{system}, messages...), Tools: []model.Spec{note}}, func(d model.Delta) {
			if d.Text+d.Reasoning != "" {
				pieces++
			}
		})
		f := Finding{What: what, Need: need}
		if err != nil {
			f.Said = err.Error()
		} else {
			f.Said, f.Good = good(reply.Message)
		}
		on(f)
		return reply.Message
	}
	say := func(text string) []model.Message { return []model.Message{{Role: model.User, Text: text}} }

	works := false
	ask("an answer", true, say("Count from one to five in words."), func(m model.Message) (string, bool) {
		works = m.Text+m.Reasoning != ""
		if pieces > 1 {
			return "it streams", works
		}
		return "it comes in one piece", works
	})
	if !works {
		return
	}
	first := say("Call the function note once, with the word one.")
	called := ask("a call", true, first, func(m model.Message) (string, bool) {
		return fmt.Sprintf("%d calls", len(m.Calls)), len(m.Calls) > 0 && m.Calls[0].Name == note.Name
	})
	ask("two calls in one answer", false, say("Call the function note twice in one answer, with the words one and two."), func(m model.Message) (string, bool) {
		return fmt.Sprintf("%d calls", len(m.Calls)), len(m.Calls) == 2
	})
	if len(called.Calls) > 0 {
		called.Calls = called.Calls[:1]
		called.Calls[0].ID = "call00001"
		result := model.Message{Role: model.Tool, CallID: "call00001", Text: "kept"}
		ask("a result, with the reasoning before it", true, append(first, called, result), func(m model.Message) (string, bool) {
			return "", m.Text+m.Reasoning != "" || len(m.Calls) > 0
		})
	}
	ask("a picture", false, []model.Message{{Role: model.User, Text: "Which colour is this?", Images: []model.Image{{MimeType: "image/png", Data: pixel}}}}, func(model.Message) (string, bool) {
		return "", !c.Profile(name).refuses(pictures)
	})
	on(c.probeWindow(ctx, name))
}

// probeWindow asks for a longer answer than there can be. Many endpoints refuse that with
// the size of the window.
func (c *Client) probeWindow(ctx context.Context, name string) Finding {
	f := Finding{What: "the size of the context window"}
	body := requestBody(model.Request{Model: name, Messages: []model.Message{{Role: model.User, Text: "Say one."}}}, c.Profile(name), c.from(name))
	body["max_tokens"] = 1_000_000_000
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answer, err := c.send(ctx, http.MethodPost, "/chat/completions", body)
	if err == nil {
		answer.Close()
	}
	var said *failure
	if errors.As(err, &said) && said.full() && said.window() > 0 {
		c.profiles.learn(c.from(name), func(p *Profile) { p.Window = said.window() })
	}
	window := c.Profile(name).Window
	if window == 0 {
		if sizes, err := c.Models(ctx); err == nil {
			window = sizes[name]
		}
	}
	if f.Good = window > 0; f.Good {
		f.Said = fmt.Sprintf("%d tokens", window)
	} else {
		f.Said = "the endpoint does not say it; it is learned when a conversation is too long, or set model.context"
	}
	return f
}

// String describes a profile in a line.
func (p Profile) String() string {
	var list []string
	add := func(what, value string) {
		if value != "" {
			list = append(list, what+" "+value)
		}
	}
	add("reasoning in", p.Reasoning)
	add("gets back", strings.Join(p.Opaque, ", "))
	if p.Window > 0 {
		add("window of", fmt.Sprintf("%d tokens", p.Window))
	}
	add("ids are", p.IDs)
	add("does without", strings.Join(p.Refuses, ", "))
	add("demands", strings.Join(p.Demands, ", "))
	add("tags in the text:", strings.Join(p.Tags, ", "))
	if list == nil {
		return "as OpenAI does it"
	}
	return strings.Join(list, "; ")
}

package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// The faults of an answer.
var (
	errCut     = fmt.Errorf("the answer was cut off: %w", io.ErrUnexpectedEOF)
	errStalled = errors.New("the answer stopped coming")
	errEndless = errors.New("the model kept reasoning without an answer")
	errLong    = errors.New("the answer is too long")
	errFilter  = errors.New("a content filter of the endpoint stopped the answer")
)

// answer makes one request and collects its reply.
func (c *Client) answer(ctx context.Context, r model.Request, p Profile, on func(model.Delta)) (model.Reply, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	stalled := time.AfterFunc(c.opts.Stall, func() { stop(errStalled) })
	defer stalled.Stop()
	collected := newCollector(r, p, c.opts)
	body, err := c.send(ctx, http.MethodPost, completions, requestBody(r, p, c.from(r.Model)))
	if err == nil {
		defer body.Close()
		stalled.Reset(c.opts.Stall)
		err = collected.read(body, func(d model.Delta) {
			stalled.Reset(c.opts.Stall)
			if d != (model.Delta{}) {
				on(d)
			}
		})
	}
	if errors.Is(context.Cause(ctx), errStalled) {
		err = &finalError{errStalled}
	}
	reply := collected.reply(c.from(r.Model))
	if err != nil {
		reply.Message.Calls = nil // half a call is none
		return reply, err
	}
	c.profiles.learn(c.from(r.Model), collected.learn)
	return reply, nil
}

// send makes a request and returns the body of its answer, which the caller closes, or
// what the endpoint says against it.
func (c *Client) send(ctx context.Context, method, path string, what object) (io.ReadCloser, error) {
	var body io.Reader
	if what != nil {
		b, err := bytesOf(what)
		if err != nil {
			return nil, fmt.Errorf("request: %w", err)
		}
		body = bytes.NewReader(b)
	}
	to, err := address(c.opts.BaseURL, path)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, to, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "hermes-agent")
	request.Header.Set("Accept", "text/event-stream, application/json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	authorize(request.Header, c.opts.BaseURL, c.opts.Key)
	for name, value := range c.opts.Headers {
		request.Header.Set(name, value)
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode/100 == 2 {
		return answer.Body, nil
	}
	defer answer.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(answer.Body, failureBytes)) // half of it says something, too
	return nil, readFailure(answer.StatusCode, answer.Header, said)
}

// collector puts the pieces of a reply together.
type collector struct {
	opts Options
	tags *tags

	text, reasoning strings.Builder
	calls           calls
	opaque          model.Opaque
	bytes           int // of text and calls
	usage           model.Usage
	where           string // the member with the reasoning
	finish          string // the reason
	ended           bool   // the endpoint has ended the answer, in one way or another
}

func newCollector(r model.Request, p Profile, opts Options) *collector {
	return &collector{opts: opts, tags: newTags(r.Tools, slices.Contains(p.Tags, tagOpen)), calls: calls{tools: r.Tools}, opaque: model.Opaque{}}
}

// read collects a whole answer.
func (c *collector) read(body io.Reader, on func(model.Delta)) error {
	events := newEvents(body)
	for {
		value, err := events.next()
		if errors.Is(err, errPage) {
			page, _ := io.ReadAll(io.LimitReader(events.lines, failureBytes))
			return readFailure(http.StatusOK, nil, page)
		}
		if errors.Is(err, io.EOF) {
			if !c.ended && !events.done {
				return errCut
			}
			break
		}
		if err == nil {
			var delta model.Delta
			delta, err = c.add(value)
			on(delta)
		}
		if err != nil {
			return err
		}
	}
	text, reasoning, found := c.tags.end()
	on(c.say(text, reasoning))
	c.calls.list = append(c.calls.list, found...)
	return c.stopped()
}

// completion is an answer or a piece of one.
type completion struct {
	Error   json.RawMessage
	Choices []struct {
		Delta, Message map[string]json.RawMessage
		Text           string
		Finish         json.RawMessage `json:"finish_reason"`
	}
	Usage *usage
	Groq  struct{ Usage *usage } `json:"x_groq"`
}

// usage is what an endpoint counts. The names come from OpenAI, OpenRouter and
// DeepSeek.
type usage struct {
	Prompt  int `json:"prompt_tokens"`
	Output  int `json:"completion_tokens"`
	Details struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	Hits int     `json:"prompt_cache_hit_tokens"`
	Cost float64 `json:"cost"`
}

func (c *collector) add(value []byte) (model.Delta, error) {
	var piece completion
	if err := json.Unmarshal(value, &piece); err != nil {
		return model.Delta{}, fmt.Errorf("the answer is not JSON: %w", err)
	}
	if len(piece.Choices) == 0 && faulty(value, piece.Error) || len(piece.Error) > 0 && string(piece.Error) != "null" {
		return model.Delta{}, readFailure(http.StatusOK, nil, value)
	}
	for _, u := range []*usage{piece.Usage, piece.Groq.Usage} {
		if u != nil && u.Prompt+u.Output > 0 {
			c.usage = model.Usage{Input: u.Prompt, Output: u.Output, Cached: max(u.Details.Cached, u.Hits), Cost: u.Cost}
			c.ended = c.ended || len(piece.Choices) == 0 // it is the last that comes
		}
	}
	var delta model.Delta
	for _, choice := range piece.Choices[:min(1, len(piece.Choices))] {
		members := choice.Delta
		if whole := choice.Message; len(whole) > 0 && len(members) == 0 {
			members, c.ended = whole, true
		}
		var finish string
		if json.Unmarshal(choice.Finish, &finish) == nil && finish != "" {
			c.finish, c.ended = finish, true
		}
		text, reasoning := choice.Text, ""
		for _, name := range slices.Sorted(maps.Keys(members)) {
			raw := members[name]
			if string(raw) == "null" {
				continue
			}
			switch name {
			case "role", "annotations", "audio", "function_call", "tool_calls", "index", "token_ids", "logprobs":
			case "content":
				said, thought := contentOf(raw)
				text += said
				if thought != "" {
					reasoning, c.where = thought, "content"
				}
			case "refusal":
				text += wordsOf(raw)
			case "reasoning_content", "reasoning", "reasoning_text", "thinking":
				if thought := wordsOf(raw); thought != "" && reasoning == "" { // some endpoints say it twice
					reasoning, c.where = thought, name
				}
			default:
				c.opaque[name] = merged(c.opaque[name], raw)
			}
		}
		visible, tagged, found := c.tags.feed(text)
		if tagged != "" && c.where == "" {
			c.where = "text"
		}
		delta = c.say(visible, reasoning+tagged)
		c.calls.list = append(c.calls.list, found...)
		c.bytes += c.calls.add(members["tool_calls"], members["function_call"])
	}
	switch {
	case c.bytes > c.opts.MaxReply:
		return delta, &finalError{errLong}
	case c.reasoning.Len() > c.opts.MaxReasoning:
		return delta, &finalError{errEndless}
	}
	return delta, nil
}

// faulty reports whether a value without choices is there to say what went wrong.
func faulty(value, fault json.RawMessage) bool {
	if len(fault) > 0 && string(fault) != "null" {
		return true
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return true
	}
	_, choices := members["choices"]
	_, usage := members["usage"]
	var v any
	return !choices && !usage && json.Unmarshal(value, &v) == nil && words(v) != ""
}

func (c *collector) say(text, reasoning string) model.Delta {
	c.text.WriteString(text)
	c.reasoning.WriteString(reasoning)
	c.bytes += len(text)
	return model.Delta{Text: text, Reasoning: reasoning}
}

// stopped says whether the reason for the end is one of success.
func (c *collector) stopped() error {
	switch strings.ToLower(c.finish) {
	case "", "stop", "tool_calls", "tool_call", "function_call", "tool_use", "end_turn", "stop_sequence", "eos", "eos_token", "end", "complete", "completed", "done":
		return nil
	case "length", "max_tokens", "model_length", "max_output_tokens":
		return nil
	case "content_filter", "safety", "recitation", "blocklist", "prohibited_content", "sensitive", "refusal":
		return &finalError{errFilter}
	}
	return fmt.Errorf("the endpoint ended the answer with the reason %q", c.finish)
}

func (c *collector) reply(from string) model.Reply {
	text, reasoning := c.text.String(), c.reasoning.String()
	if c.tags.stray { // the reasoning began before the first tag
		text, reasoning = strings.TrimLeft(text[c.tags.strayAt:], "\n"), strings.TrimSpace(text[:c.tags.strayAt])
	}
	m := model.Message{Role: model.Assistant, Text: text, Reasoning: reasoning, Calls: c.calls.done(), From: from}
	if len(c.opaque) > 0 {
		m.Opaque = c.opaque
	}
	reply := model.Reply{Message: m, Usage: c.usage}
	switch strings.ToLower(c.finish) {
	case "length", "max_tokens", "model_length", "max_output_tokens":
		reply.Stop = model.StopLength
	}
	return reply
}

// learn keeps how the model answered.
func (c *collector) learn(p *Profile) {
	p.Reasoning = cmp.Or(c.where, p.Reasoning)
	for name := range c.opaque {
		p.Opaque = with(p.Opaque, name)
	}
	c.calls.learn(p)
	p.Tags = c.tags.learn(p.Tags)
	slices.Sort(p.Opaque)
}

// wordsOf reads a text, or a list of parts that are texts.
func wordsOf(raw json.RawMessage) string {
	text, _ := contentOf(raw)
	return text
}

// contentOf reads a content, which is a text or a list of parts, some of which are
// reasoning.
func contentOf(raw json.RawMessage) (text, reasoning string) {
	if json.Unmarshal(raw, &text) == nil {
		return text, ""
	}
	var parts []struct {
		Type                string
		Text                string
		Thinking, Reasoning json.RawMessage
	}
	if json.Unmarshal(raw, &parts) != nil {
		return "", ""
	}
	for _, part := range parts {
		switch {
		case part.Thinking != nil:
			reasoning += wordsOf(part.Thinking)
		case part.Reasoning != nil:
			reasoning += wordsOf(part.Reasoning)
		case part.Type == "thinking" || part.Type == "reasoning":
			reasoning += part.Text
		default:
			text += part.Text
		}
	}
	return text, reasoning
}

// merged adds a piece of an opaque member to what came before. Lists grow; their elements
// with the same index and type are pieces of one.
func merged(old, piece json.RawMessage) json.RawMessage {
	var before, more []map[string]any
	if old == nil || json.Unmarshal(old, &before) != nil || json.Unmarshal(piece, &more) != nil {
		return piece
	}
	for _, m := range more {
		at := -1
		if m["index"] != nil {
			at = slices.IndexFunc(before, func(b map[string]any) bool {
				return b["index"] == m["index"] && b["type"] == m["type"]
			})
		}
		if at < 0 {
			before = append(before, m)
			continue
		}
		for name, value := range m {
			was, isText := before[at][name].(string)
			add, too := value.(string)
			switch {
			case isText && too && slices.Contains([]string{"text", "summary", "data", "thinking"}, name):
				before[at][name] = was + add
			case value != nil:
				before[at][name] = value
			}
		}
	}
	b, err := json.Marshal(before)
	if err != nil {
		return piece
	}
	return b
}

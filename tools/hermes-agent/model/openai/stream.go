package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/respjson"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// The faults of a stream.
var (
	errCut     = fmt.Errorf("the answer was cut off: %w", io.ErrUnexpectedEOF)
	errStalled = errors.New("the answer stopped coming")
	errEndless = errors.New("the model kept reasoning without an answer")
	errLong    = errors.New("the answer is too long")
	errFilter  = errors.New("a content filter of the endpoint stopped the answer")
)

// stream makes one request and collects its reply.
func (c *Client) stream(ctx context.Context, r model.Request, on func(model.Delta)) (model.Reply, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	stalled := time.AfterFunc(c.opts.Stall, func() { stop(errStalled) })
	defer stalled.Stop()
	chunks := c.chat.NewStreaming(ctx, params(r))
	defer chunks.Close()
	reply := collector{limit: c.opts.MaxReply, maxReasoning: c.opts.MaxReasoning}
	var err error
	for err == nil && chunks.Next() {
		stalled.Reset(c.opts.Stall)
		var delta model.Delta
		if delta, err = reply.add(chunks.Current()); delta != (model.Delta{}) {
			on(delta)
		}
	}
	if err == nil {
		err = chunks.Err()
	}
	switch {
	case err == nil && !reply.finished:
		err = errCut
	case errors.Is(context.Cause(ctx), errStalled):
		err = errStalled
	}
	if err != nil {
		if reply.text.Len()+reply.reasoning.Len() > 0 || errors.Is(err, errFilter) || errors.Is(err, errLong) {
			err = &finalError{err}
		}
		reply.calls = nil // half a call is none
	}
	return reply.reply(), err
}

// collector puts the pieces of a reply together.
type collector struct {
	limit, maxReasoning int

	text, reasoning strings.Builder
	calls           []model.Call
	place           map[int64]int // of calls, by the index that the endpoint gave them
	bytes           int           // of text and calls
	finished        bool
	stop            model.Stop
	usage           model.Usage
}

func (c *collector) add(chunk sdk.ChatCompletionChunk) (model.Delta, error) {
	if u := chunk.Usage; u.TotalTokens > 0 {
		c.usage = model.Usage{Input: int(u.PromptTokens), Output: int(u.CompletionTokens)}
	}
	if len(chunk.Choices) == 0 {
		return model.Delta{}, nil
	}
	choice := chunk.Choices[0]
	switch choice.FinishReason {
	case "":
	case "length":
		c.finished, c.stop = true, model.StopLength
	case "content_filter":
		return model.Delta{}, errFilter
	default:
		c.finished = true
	}
	delta := model.Delta{Text: choice.Delta.Content + choice.Delta.Refusal, Reasoning: reasoning(choice.Delta.JSON.ExtraFields)}
	c.text.WriteString(delta.Text)
	c.reasoning.WriteString(delta.Reasoning)
	c.bytes += len(delta.Text)
	for _, piece := range choice.Delta.ToolCalls {
		c.call(piece)
	}
	switch {
	case c.bytes > c.limit:
		return delta, errLong
	case c.reasoning.Len() > c.maxReasoning:
		return delta, errEndless
	}
	return delta, nil
}

// call adds a piece of a call. The first piece has id and name, the others only the
// index. Some endpoints give every call the same index, so a new id begins a new call.
func (c *collector) call(piece sdk.ChatCompletionChunkChoiceDeltaToolCall) {
	if c.place == nil {
		c.place = map[int64]int{}
	}
	at, known := c.place[piece.Index]
	if !known || piece.ID != "" && c.calls[at].ID != "" && piece.ID != c.calls[at].ID {
		at = len(c.calls)
		c.place[piece.Index] = at
		c.calls = append(c.calls, model.Call{})
	}
	call := &c.calls[at]
	if piece.ID != "" {
		call.ID = piece.ID
	}
	if call.Name == "" {
		call.Name = piece.Function.Name
	}
	call.Arguments += piece.Function.Arguments
	c.bytes += len(piece.Function.Arguments) + len(piece.Function.Name)
}

func (c *collector) reply() model.Reply {
	return model.Reply{
		Message: model.Message{Role: model.Assistant, Text: c.text.String(), Reasoning: c.reasoning.String(), Calls: c.calls},
		Usage:   c.usage, Stop: c.stop,
	}
}

// reasoning is not in OpenAI's schema: most endpoints call it reasoning_content,
// OpenRouter and newer ones reasoning.
func reasoning(extra map[string]respjson.Field) string {
	for _, name := range []string{"reasoning_content", "reasoning"} {
		var text string
		if field, ok := extra[name]; ok && json.Unmarshal([]byte(field.Raw()), &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

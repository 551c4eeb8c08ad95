// Package openai is the client of endpoints that speak OpenAI's chat completions,
// such as llama.cpp, ollama, vLLM, OpenRouter and company gateways.
package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// Options configure a Client.
type Options struct {
	BaseURL string // such as http://127.0.0.1:8080/v1
	Key     string // empty: none is sent
	Headers map[string]string

	Retries      int           // of a request that failed before it answered; 0 means 4, negative none
	FirstPause   time.Duration // before the first retry, doubled for each; 0 means 1 s
	Stall        time.Duration // the longest silence in a stream; 0 means 10 min, since local models read long prompts slowly
	MaxReasoning int           // bytes of reasoning in one reply; 0 means 1 MiB
	MaxReply     int           // bytes of text and arguments in one reply; 0 means 1 MiB
}

// longestPause bounds what a Retry-After header can ask for.
const longestPause = 2 * time.Minute

// Client is a model.Model at an endpoint.
type Client struct {
	opts   Options
	chat   sdk.ChatCompletionService
	models sdk.ModelService
	blind  sync.Map // models that refuse pictures, by name
}

// New returns a Client. It sends nothing yet.
func New(opts Options) *Client {
	setDefault(&opts.Retries, 4)
	setDefault(&opts.FirstPause, time.Second)
	setDefault(&opts.Stall, 10*time.Minute)
	setDefault(&opts.MaxReasoning, 1<<20)
	setDefault(&opts.MaxReply, 1<<20)
	request := []option.RequestOption{option.WithBaseURL(opts.BaseURL), option.WithMaxRetries(0)}
	if opts.Key != "" {
		request = append(request, option.WithHeader("Authorization", "Bearer "+opts.Key))
	}
	for name, value := range opts.Headers {
		request = append(request, option.WithHeader(name, value))
	}
	return &Client{opts: opts, chat: sdk.NewChatCompletionService(request...), models: sdk.NewModelService(request...)}
}

func setDefault[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// Models lists the models of the endpoint, each with the size of its context window in
// tokens, or 0 if the endpoint does not say.
func (c *Client) Models(ctx context.Context) (map[string]int, error) {
	page, err := c.models.List(ctx)
	if err != nil {
		return nil, c.explain(err)
	}
	sizes := map[string]int{}
	for _, m := range page.Data {
		sizes[m.ID] = contextSize(m.RawJSON())
	}
	return sizes, nil
}

// contextSize finds the size of the context window under the names that OpenRouter,
// vLLM and llama.cpp use.
func contextSize(raw string) int {
	var m struct {
		ContextLength int `json:"context_length"`
		MaxModelLen   int `json:"max_model_len"`
		Meta          struct {
			Context int `json:"n_ctx"`
		} `json:"meta"`
	}
	if json.Unmarshal([]byte(raw), &m) != nil {
		return 0
	}
	return max(m.ContextLength, m.MaxModelLen, m.Meta.Context)
}

// Complete implements model.Model. A request that fails before it answers anything is
// repeated if that can help; on hears of it.
func (c *Client) Complete(ctx context.Context, r model.Request, on func(model.Delta)) (model.Reply, error) {
	pause := c.opts.FirstPause
	for try := 0; ; try++ {
		seen := r
		if _, blind := c.blind.Load(r.Model); blind {
			seen.Messages = withoutPictures(r.Messages)
		}
		reply, err := c.stream(ctx, seen, on)
		if err == nil {
			return reply, nil
		}
		if ctx.Err() != nil {
			return reply, context.Cause(ctx)
		}
		if refusesPictures(err, seen.Messages) {
			c.blind.Store(r.Model, true)
			on(model.Delta{Notice: fmt.Sprintf("%v; trying again without pictures", c.explain(err))})
			continue
		}
		wait, again := retryAfter(err)
		if !again || try >= c.opts.Retries || wait > longestPause {
			return reply, c.explain(err)
		}
		wait = max(wait, pause)
		pause *= 2
		on(model.Delta{Notice: fmt.Sprintf("%v; trying again in %s", c.explain(err), wait.Round(100*time.Millisecond))})
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return reply, context.Cause(ctx)
		}
	}
}

// finalError is a failure that a retry does not help, or after a part of the reply had
// been reported, so that a retry would repeat what the user has seen.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }
func (e *finalError) Unwrap() error { return e.err }

// retryAfter says whether a request is worth another try, and how long the endpoint
// wants to be left alone.
func retryAfter(err error) (time.Duration, bool) {
	var final *finalError
	var answer *sdk.Error
	switch {
	case errors.As(err, &final):
		return 0, false
	case !errors.As(err, &answer):
		return 0, true // the network, or an answer that makes no sense
	case answer.StatusCode == http.StatusTooManyRequests, answer.StatusCode == http.StatusRequestTimeout, answer.StatusCode >= 500:
	default:
		return 0, false
	}
	if answer.Response == nil {
		return 0, true
	}
	after := answer.Response.Header.Get("Retry-After")
	if seconds, err := time.ParseDuration(after + "s"); err == nil {
		return seconds, true
	}
	if at, err := http.ParseTime(after); err == nil {
		return time.Until(at), true
	}
	return 0, true
}

// explain makes an error of the endpoint readable: which endpoint, and what it said.
func (c *Client) explain(err error) error {
	var answer *sdk.Error
	if !errors.As(err, &answer) {
		if request := (*url.Error)(nil); errors.As(err, &request) {
			err = request.Err // it names the address once more
		}
		return fmt.Errorf("model at %s: %w", c.opts.BaseURL, err)
	}
	said := answer.Message
	if said == "" {
		said = strings.TrimSpace(answer.RawJSON())
	}
	if len(said) > 500 {
		said = strings.ToValidUTF8(said[:500], "") + "…"
	}
	text := fmt.Sprintf("model at %s: %d %s", c.opts.BaseURL, answer.StatusCode, http.StatusText(answer.StatusCode))
	if said != "" {
		text += ": " + said
	}
	switch {
	case answer.StatusCode == http.StatusUnauthorized:
		return &model.LoginError{Err: errors.New(text + "; does OPENAI_API_KEY have the right key?")}
	case answer.StatusCode == http.StatusForbidden:
		text += "; does OPENAI_API_KEY have the right key?"
	case answer.StatusCode == http.StatusNotFound && answer.Message == "": // not about a model
		text += "; many endpoints have an address that ends in /v1"
	}
	return errors.New(text)
}

// Package openai is the client of endpoints that speak OpenAI's chat completions,
// such as llama.cpp, ollama, vLLM, OpenRouter and company gateways.
//
// They all mean the same and say it differently. The client learns from the answers of
// an endpoint what it refuses and how its model answers, and keeps that as a Profile.
package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// Options configure a Client.
type Options struct {
	BaseURL  string // such as http://127.0.0.1:8080/v1
	Key      string // empty: none is sent
	Headers  map[string]string
	Profiles *Profiles // nil: what is learned is forgotten with the Client

	Retries      int           // of a request that failed on its way; 0 means 4, negative none
	FirstPause   time.Duration // before the first retry, doubled for each; 0 means 1 s
	Stall        time.Duration // the longest silence in a stream; 0 means 10 min, since local models read long prompts slowly
	MaxReasoning int           // bytes of reasoning in one reply; 0 means 1 MiB
	MaxReply     int           // bytes of text and arguments in one reply; 0 means 1 MiB
}

// longestPause bounds what a Retry-After header can ask for.
const longestPause = 2 * time.Minute

// repeats is how often an answer that the user has seen a part of begins again.
const repeats = 2

// Client is a model.Model at an endpoint.
type Client struct {
	opts     Options
	http     http.Client
	profiles *Profiles
}

// New returns a Client. It sends nothing yet.
func New(opts Options) *Client {
	setDefault(&opts.Retries, 4)
	setDefault(&opts.FirstPause, time.Second)
	setDefault(&opts.Stall, 10*time.Minute)
	setDefault(&opts.MaxReasoning, 1<<20)
	setDefault(&opts.MaxReply, 1<<20)
	c := &Client{opts: opts, profiles: opts.Profiles}
	if c.profiles == nil {
		c.profiles = OpenProfiles("")
	}
	return c
}

func setDefault[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// Profile returns what is known of a model.
func (c *Client) Profile(name string) Profile { return c.profiles.of(c.from(name)) }

// from names a model and its endpoint.
func (c *Client) from(name string) string { return name + " at " + c.opts.BaseURL }

// Complete implements model.Model. A request that fails before any answer is repeated if
// that can help, and on gets a note about it. If the endpoint refuses a part of a
// request, it is repeated without that part.
func (c *Client) Complete(ctx context.Context, r model.Request, on func(model.Delta)) (model.Reply, error) {
	pause, try := c.opts.FirstPause, 0
	shown := &screen{on: on}
	for {
		shown.begin()
		reply, err := c.answer(ctx, r, c.Profile(r.Model), shown.show)
		if err == nil {
			return reply, nil
		}
		if ctx.Err() != nil {
			return reply, context.Cause(ctx)
		}
		if notice, learned := c.concede(r, err); learned {
			if notice != "" {
				on(model.Delta{Notice: fmt.Sprintf("%v; %s", c.explain(err), notice)})
			}
			continue
		}
		wait, again := retryAfter(err)
		most := c.opts.Retries
		if shown.text != "" {
			most = min(most, repeats)
		}
		if !again || try >= most || wait > longestPause {
			return reply, c.final(r.Model, err)
		}
		try++
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

// screen passes on what the user has not seen yet: an answer that begins again usually
// begins with the same words.
type screen struct {
	on    func(model.Delta)
	text  string // of the answers before this one
	now   string // of this one
	apart bool   // it has become another answer
}

func (s *screen) begin() {
	if len(s.now) > len(s.text) || s.apart {
		s.text = s.now
	}
	s.now, s.apart = "", false
}

func (s *screen) show(d model.Delta) {
	before := len(s.now)
	s.now += d.Text
	switch {
	case s.apart || d.Text == "":
	case strings.HasPrefix(s.text, s.now):
		d.Text = ""
	case strings.HasPrefix(s.now, s.text):
		d.Text = s.now[max(before, len(s.text)):]
	default:
		s.apart = true
		d.Text = "\n\n" + s.now
	}
	if d != (model.Delta{}) {
		s.on(d)
	}
}

// final is the error of a request that is not repeated.
func (c *Client) final(name string, err error) error {
	explained := c.explain(err)
	var said *failure
	switch {
	case !errors.As(err, &said):
	case said.full():
		window := said.window()
		if window > 0 {
			c.profiles.learn(c.from(name), func(p *Profile) { p.Window = window })
		}
		return &model.OverflowError{Err: explained, Window: window}
	case said.login():
		return &model.LoginError{Err: fmt.Errorf("%w; does OPENAI_API_KEY have the right key?", explained)}
	case said.status == http.StatusForbidden:
		return fmt.Errorf("%w; does OPENAI_API_KEY have the right key?", explained)
	case (said.status == http.StatusNotFound || said.status == http.StatusOK) && (said.page || said.said == ""): // not about a model
		return fmt.Errorf("%w; many endpoints have an address that ends in /v1", explained)
	}
	return explained
}

// explain makes an error readable: which endpoint, and its own words.
func (c *Client) explain(err error) error {
	if request := (*url.Error)(nil); errors.As(err, &request) {
		err = request.Err // it names the address once more
	}
	return fmt.Errorf("model at %s: %w", c.opts.BaseURL, err)
}

package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"time"
)

// listBytes is how much of a list of models is read.
const listBytes = 32 << 20

// Models lists the models of the endpoint, each with the size of its context window in
// tokens, or 0 if the endpoint does not say.
func (c *Client) Models(ctx context.Context) (map[string]int, error) {
	body, err := c.send(ctx, http.MethodGet, "/models", nil)
	var raw []byte
	if err == nil {
		raw, err = io.ReadAll(io.LimitReader(body, listBytes))
		body.Close()
	}
	if err == nil && len(raw) > 0 && raw[0] == '<' {
		err = readFailure(http.StatusOK, nil, raw)
	}
	var said *failure
	if name := deployment(c.opts.BaseURL); name != "" && errors.As(err, &said) && said.status == http.StatusNotFound {
		return map[string]int{name: c.Profile(name).Window}, nil // it has no list
	}
	if err != nil {
		return nil, c.final("", err)
	}
	list, err := readModels(raw)
	if err != nil {
		return nil, c.explain(err)
	}
	sizes, known := map[string]int{}, false
	for _, m := range list {
		sizes[m.name()] = m.size()
		known = known || m.size() > 0
	}
	if !known && len(list) > 0 {
		c.askServer(ctx, sizes)
	}
	for name := range sizes {
		if window := c.Profile(name).Window; window > 0 {
			sizes[name] = window
		}
	}
	return sizes, nil
}

// listed is a model in a list. Its context window has another name at each endpoint.
type listed struct {
	ID, Key, Name string
	ModelName     string `json:"model_name"`

	ContextLength int   `json:"context_length"`        // OpenRouter, Together
	MaxModelLen   int   `json:"max_model_len"`         // vLLM, SGLang
	ContextWindow int   `json:"context_window"`        // Groq
	MaxContext    int   `json:"max_context_length"`    // Mistral, LM Studio
	Loaded        int   `json:"loaded_context_length"` // LM Studio
	InputLimit    int   `json:"inputTokenLimit"`       // Google
	Meta          sized `json:"meta"`                  // llama.cpp
	Info          sized `json:"model_info"`            // LiteLLM
	TopProvider   sized `json:"top_provider"`          // OpenRouter
}

type sized struct {
	Context       int `json:"n_ctx"`
	MaxInput      int `json:"max_input_tokens"`
	ContextLength int `json:"context_length"`
}

func (m listed) name() string { return cmp.Or(m.ID, m.Key, m.ModelName, m.Name) }

func (m listed) size() int {
	return cmp.Or(m.Loaded, m.TopProvider.ContextLength, m.ContextLength, m.MaxModelLen, m.ContextWindow, m.Meta.Context, m.Info.MaxInput, m.MaxContext, m.InputLimit)
}

// readModels reads a list of models: below data, below models, or alone.
func readModels(raw []byte) ([]listed, error) {
	var list []listed
	if json.Unmarshal(raw, &list) == nil {
		return list, nil
	}
	var in struct{ Data, Models []listed }
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, fmt.Errorf("the list of models is not JSON: %w", err)
	}
	if in.Data == nil {
		return in.Models, nil
	}
	return in.Data, nil
}

// askTime bounds the questions to one kind of server.
const askTime = 2 * time.Second

// askServer asks for the sizes in the ways of servers that do not list them. An endpoint
// that does not know a question answers it with an error, which says nothing.
func (c *Client) askServer(ctx context.Context, sizes map[string]int) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	base, err := url.Parse(c.opts.BaseURL)
	if err != nil || base.Hostname() == "api.openai.com" {
		return
	}
	base.Path, base.RawPath = "", ""
	ask := func(method, path string, what object, answer any) bool {
		root := *c
		root.opts.BaseURL = base.String()
		body, err := root.send(ctx, method, path, what)
		if err != nil {
			return false
		}
		defer body.Close()
		return json.NewDecoder(io.LimitReader(body, listBytes)).Decode(answer) == nil
	}
	var props struct { // llama.cpp
		Settings sized `json:"default_generation_settings"`
	}
	if ask(http.MethodGet, "/props", nil, &props) && props.Settings.Context > 0 && len(sizes) == 1 {
		for name := range sizes {
			sizes[name] = props.Settings.Context
		}
		return
	}
	for _, path := range []string{"/api/v0/models", "/model/info"} { // LM Studio, LiteLLM
		var in struct{ Data []listed }
		if !ask(http.MethodGet, path, nil, &in) {
			continue
		}
		for _, m := range in.Data {
			if _, has := sizes[m.name()]; has && m.size() > 0 {
				sizes[m.name()] = m.size()
			}
		}
	}
	for name, size := range sizes { // ollama
		if size > 0 {
			continue
		}
		var show struct {
			Parameters string
		}
		if !ask(http.MethodPost, "/api/show", object{"model": name}, &show) {
			return
		}
		var n int
		if at := numCtx.FindStringSubmatch(show.Parameters); at != nil {
			fmt.Sscan(at[1], &n)
		}
		sizes[name] = n
	}
}

// numCtx is the size of the window in the parameters of a model of ollama. The length that
// the model was trained with says nothing: ollama loads most with less.
var numCtx = regexp.MustCompile(`(?m)^num_ctx\s+(\d+)`)

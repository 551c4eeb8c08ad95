package main

import (
	"context"
	"errors"
	"os"
	"reflect"
	"sync"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/agent"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/config"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model/openai"
)

// endpoint is the model that the settings name. Each request reads them, because setup is
// how a user signs in, and not every client starts the agent again after that.
type endpoint struct {
	mu     sync.Mutex
	opts   openai.Options // of client
	client *openai.Client
}

// lacksModel reports whether the only fault of the settings is that they name no endpoint.
func lacksModel(err error) bool { return errors.Is(err, config.ErrNoModel) }

// options is how the settings reach their endpoint.
func options(c config.Config) openai.Options {
	return openai.Options{BaseURL: c.Model.BaseURL, Key: c.Key, Headers: c.Model.Headers}
}

// open returns the client of the settings as they are, and the model that they name.
func (e *endpoint) open() (*openai.Client, string, error) {
	c, err := config.Load(os.Getenv)
	if lacksModel(err) {
		err = &model.LoginError{Err: err}
	}
	if err != nil {
		return nil, "", err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if opts := options(c); e.client == nil || !reflect.DeepEqual(opts, e.opts) {
		e.opts = opts
		e.client = openai.New(e.opts)
	}
	return e.client, c.Model.Name, nil
}

// ready reports whether the settings name an endpoint, and tells models which model new
// sessions have.
func (e *endpoint) ready(models *agent.Models) error {
	_, name, err := e.open()
	if err == nil {
		models.Use(name)
	}
	return err
}

// Complete implements model.Model.
func (e *endpoint) Complete(ctx context.Context, r model.Request, on func(model.Delta)) (model.Reply, error) {
	client, name, err := e.open()
	if err != nil {
		return model.Reply{}, err
	}
	if r.Model == "" {
		r.Model = name
	}
	return client.Complete(ctx, r, on)
}

// Models lists the models of the endpoint. Without one there are none.
func (e *endpoint) Models(ctx context.Context) (map[string]int, error) {
	client, _, err := e.open()
	switch {
	case lacksModel(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return client.Models(ctx)
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

	profiles *openai.Profiles
}

// lacksModel reports whether the only fault of the settings is that they name no endpoint.
func lacksModel(err error) bool { return errors.Is(err, config.ErrNoModel) }

// options is how the settings reach their endpoint.
func options(c config.Config, profiles *openai.Profiles) openai.Options {
	return openai.Options{BaseURL: c.Model.BaseURL, Key: c.Key, Headers: c.Model.Headers, Profiles: profiles}
}

// profiles is what is known of endpoints.
func profiles(c config.Config) *openai.Profiles {
	return openai.OpenProfiles(filepath.Join(c.State, "endpoints.json"))
}

// open returns the settings as they are, and their client.
func (e *endpoint) open() (*openai.Client, config.Config, error) {
	c, err := config.Load(os.Getenv)
	if lacksModel(err) {
		err = &model.LoginError{Err: err}
	}
	if err != nil {
		return nil, c, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.profiles == nil {
		e.profiles = profiles(c)
	}
	if opts := options(c, e.profiles); e.client == nil || !reflect.DeepEqual(opts, e.opts) {
		e.opts = opts
		e.client = openai.New(e.opts)
	}
	return e.client, c, nil
}

// ready checks that the settings name an endpoint, and sets the model of new sessions
// in models.
func (e *endpoint) ready(models *agent.Models) error {
	_, c, err := e.open()
	if err == nil {
		models.Use(c.Model.Name)
	}
	return err
}

// Complete implements model.Model. When a model fails before it has sent anything, the
// fallback of the settings answers. The reply names the model by its name in the settings.
func (e *endpoint) Complete(ctx context.Context, r model.Request, on func(model.Delta)) (model.Reply, error) {
	client, c, err := e.open()
	if err != nil {
		return model.Reply{}, err
	}
	wanted := cmp.Or(r.Model, c.Model.Name)
	r.Model, r.Parameters = c.Named(wanted)
	reply, err := client.Complete(ctx, r, on)
	reply.Model = wanted
	second, parameters := c.Named(c.Model.Fallback)
	if err == nil || ctx.Err() != nil || second == "" || second == r.Model || reply.Message.Text != "" ||
		errors.As(err, new(*model.LoginError)) || errors.As(err, new(*model.OverflowError)) {
		return reply, err
	}
	on(model.Delta{Notice: fmt.Sprintf("%v; %s answers instead", err, c.Model.Fallback)})
	r.Model, r.Parameters = second, parameters
	reply, other := client.Complete(ctx, r, on)
	reply.Model = c.Model.Fallback
	if other != nil {
		return reply, errors.Join(err, other)
	}
	return reply, nil
}

// Models lists the models of the endpoint. Without one there are none.
func (e *endpoint) Models(ctx context.Context) (map[string]int, error) {
	client, c, err := e.open()
	switch {
	case lacksModel(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	sizes, err := client.Models(ctx)
	for name, own := range c.Models {
		if sizes != nil {
			sizes[name] = cmp.Or(own.Context, sizes[cmp.Or(own.Name, name)])
		}
	}
	return sizes, err
}

package agent

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Models is the models of an endpoint, and which one sessions begin with. The endpoint is
// asked once, while the user reads; a session does not wait long for it.
type Models struct {
	name  string
	ready chan struct{}

	mu    sync.Mutex
	sizes map[string]int // context windows in tokens, 0 where unknown
}

// modelsPatience is how long the first session waits for the endpoint to name its models.
const modelsPatience = 3 * time.Second

// ListModels asks for the models in the background. Name is that of the default; empty is
// the first one of the endpoint.
func ListModels(ctx context.Context, name string, list func(context.Context) (map[string]int, error), failed func(error)) *Models {
	m := &Models{name: name, ready: make(chan struct{}), sizes: map[string]int{}}
	go func() {
		defer close(m.ready)
		sizes, err := list(ctx)
		if err != nil {
			failed(err)
			return
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		m.sizes = sizes
	}()
	return m
}

// Default returns the model of new sessions, empty if nobody has named one.
func (m *Models) Default(ctx context.Context) string {
	select {
	case <-m.ready:
	case <-time.After(modelsPatience):
	case <-ctx.Done():
	}
	if names := m.Names(m.name); len(names) > 0 && m.name == "" {
		return names[0]
	}
	return m.name
}

// Names lists the models, with one that may not be among those of the endpoint.
func (m *Models) Names(also string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var names []string
	if _, known := m.sizes[also]; !known && also != "" {
		names = append(names, also)
	}
	for name := range m.sizes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Context returns the size of a model's context window, 0 if it is unknown.
func (m *Models) Context(name string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sizes[name]
}

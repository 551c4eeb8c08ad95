package agent

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// Models is the models of an endpoint, and which one sessions begin with. The endpoint is
// asked in the background, while the user reads; a session does not wait long for it.
type Models struct {
	ask func() // begins to ask; mu is locked

	mu       sync.Mutex
	name     string
	answered chan struct{}  // closed when the endpoint has answered or failed
	sizes    map[string]int // context windows in tokens, 0 where unknown
	refused  map[string]int // those that the endpoint has named in a refusal
}

// modelsPatience is how long a session waits for the endpoint to name its models.
const modelsPatience = 3 * time.Second

// ListModels asks for the models in the background. Name is that of the default; empty is
// the first one of the endpoint.
func ListModels(ctx context.Context, name string, list func(context.Context) (map[string]int, error), failed func(error)) *Models {
	m := &Models{name: name}
	m.ask = func() {
		answered := make(chan struct{})
		m.answered = answered
		go func() {
			defer close(answered)
			sizes, err := list(ctx)
			if err != nil {
				failed(err)
				return
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			m.sizes = sizes
		}()
	}
	m.ask()
	return m
}

// Use changes the default.
func (m *Models) Use(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.name = name
}

// Default returns the model of new sessions, empty if nobody has named one. An endpoint
// that has named no model is asked again.
func (m *Models) Default(ctx context.Context) string {
	m.mu.Lock()
	select {
	case <-m.answered:
		if len(m.sizes) == 0 {
			m.ask()
		}
	default:
	}
	answered, name := m.answered, m.name
	m.mu.Unlock()
	select {
	case <-answered:
	case <-time.After(modelsPatience):
	case <-ctx.Done():
	}
	if names := m.Names(name); len(names) > 0 && name == "" {
		return names[0]
	}
	return name
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

// Learn keeps the size of a context window that the endpoint has named in a refusal, which
// is more than it says in advance.
func (m *Models) Learn(name string, size int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sizes = maps.Clone(m.sizes)
	if m.sizes == nil {
		m.sizes = map[string]int{}
	}
	m.sizes[name] = size
	if m.refused == nil {
		m.refused = map[string]int{}
	}
	m.refused[name] = size
}

// Refused returns the size that Learn has kept, 0 if there is none.
func (m *Models) Refused(name string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.refused[name]
}

// Context returns the size of a model's context window, 0 if it is unknown.
func (m *Models) Context(name string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sizes[name]
}
